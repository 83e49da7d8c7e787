//! The learner that takes turns with the verdict: each of its ends, and the ceiling of the margin
//! while a run lasts.

use linsep::learn::perceptron::Deciding;
use linsep::learn::perceptron::{Order, Perceptron};
use linsep::proof::{Claim, check_claim};
use linsep::rng::{Purpose, Stream};
use linsep::verdict::{Judge, Verdict};
use linsep::{Budget, Dataset, Fit, Learner, Limits, Status, Stop, Task};

fn learner() -> Deciding {
    Deciding(Perceptron::default())
}

fn decide(task: &Task) -> Fit {
    learner().fit(task, &Limits::default(), &mut ()).unwrap()
}

fn holds(claim: &Claim, data: &Dataset) -> bool {
    check_claim(claim, data, &data.reading_field(), true, 1).holds()
}

/// Rows of whole numbers on both sides of a hidden plane through 0, some of them very near to it.
fn narrow(rows: usize, width: usize) -> Dataset {
    let mut stream = Stream::new(5, Purpose::Generate(1));
    let hidden: Vec<f64> = (0..width).map(|_| stream.normal()).collect();
    let mut values = Vec::new();
    let mut labels = Vec::new();
    while labels.len() < rows {
        let row: Vec<f64> = (0..width).map(|_| (stream.normal() * 1000.0).round()).collect();
        let score: f64 = row.iter().zip(&hidden).map(|(x, w)| x * w).sum();
        labels.push(if score > 0.0 { "up" } else { "down" });
        values.push(row);
    }
    Dataset::from_rows(&values, &labels).unwrap()
}

#[test]
fn a_clean_and_checked_epoch_ends_with_the_planes_of_the_perceptron() {
    let rows = [[-3., 1.], [-2., 2.], [2., 0.], [3., 1.]];
    let task = Task::new(Dataset::from_rows(&rows, &["0", "0", "1", "1"]).unwrap());
    let limits = Limits::default().with_epochs(Some(50));
    let plain = Perceptron::default().fit(&task, &limits, &mut ()).unwrap();
    let fit = decide(&task);
    assert!(plain.progress.epochs <= 4, "the verdict has no turn before that");
    assert_eq!(fit.model.planes, plain.model.planes);
    assert!(matches!(fit.certificate.claims[0], Claim::Separable { .. }));
}

#[test]
fn the_plane_of_the_verdict_is_taken_where_the_perceptron_is_slow() {
    let data = narrow(4000, 12);
    let task = Task::new(data.clone());
    let limits = Limits::default().with_epochs(Some(60));
    let plain = Perceptron::default().fit(&task, &limits, &mut ()).unwrap();
    assert_eq!(plain.stop, Stop::Epochs, "the set is meant to be slow");
    let fit = decide(&task);
    assert_eq!(fit.stop, Stop::Finished);
    assert!(fit.progress.last_mistakes > Some(0) && fit.progress.epochs < 30, "{:?}", fit.progress);
    assert!(holds(&fit.certificate.claims[0], &data));
    assert_eq!(fit.model.evaluate(&data, None, 1).errors, 0);
}

#[test]
fn a_proof_that_no_plane_separates_ends_with_the_average_of_ten_epochs() {
    let mut rows = Vec::new();
    let mut labels = Vec::new();
    let mut stream = Stream::new(9, Purpose::Generate(2));
    for k in 0..300 {
        let shift = if k % 2 == 0 { 1.0 } else { -1.0 };
        rows.push([stream.normal() + shift, stream.normal()]);
        labels.push(if k % 2 == 0 { "a" } else { "b" });
    }
    let data = Dataset::from_rows(&rows, &labels).unwrap();
    let fit = decide(&Task::new(data.clone()));
    assert_eq!((fit.stop, fit.progress.epochs), (Stop::Finished, 10));
    assert!(
        matches!(&fit.certificate.claims[0], Claim::Inseparable { witness, .. } if witness.len() <= 4)
    );
    assert!(holds(&fit.certificate.claims[0], &data));
    // Two normal classes two units apart: the best plane is wrong on about 16 %.
    assert!(fit.model.evaluate(&data, None, 1).errors < 75);
}

/// The average is that of the planes after each visit, computed here the slow way.
#[test]
fn the_average_is_the_mean_of_all_planes() {
    let rows = [[0., 0.], [0., 1.], [1., 0.], [1., 1.], [0.5, 0.25]];
    let task = Task::new(Dataset::from_rows(&rows, &["0", "1", "1", "0", "1"]).unwrap());
    let mut run = Perceptron::default().start(&task).unwrap();
    let (mut sum, visits) = ([0.0; 3], 50);
    for _ in 0..visits {
        run.advance(Budget::visits(1));
        let plane = run.model().planes.remove(0);
        sum[0] += plane.weights[0];
        sum[1] += plane.weights[1];
        sum[2] += plane.bias;
    }
    let averaged = decide(&task).model.planes.remove(0);
    let found = [averaged.weights[0], averaged.weights[1], averaged.bias];
    for (sum, found) in sum.iter().zip(found) {
        assert!((sum / f64::from(visits) - found).abs() < 1e-12, "{sum} {found}");
    }
}

#[test]
fn rows_that_are_left_out_do_not_count_but_a_refutation_holds_for_all() {
    let rows = [[0., 0.], [0., 1.], [1., 0.], [1., 1.], [7., 7.]];
    let data = Dataset::from_rows(&rows, &["0", "1", "1", "0", "1"]).unwrap();
    let on = |rows: Vec<u32>| Task::new(data.clone()).with_rows(Some(rows.into()));
    let refuted = decide(&on(vec![0, 1, 2, 3]));
    assert!(holds(&refuted.certificate.claims[0], &data));
    // Without the row (1, 1) the others are separable, but not all rows are.
    let part = decide(&on(vec![0, 1, 2, 4]));
    assert_eq!(part.stop, Stop::Finished);
    assert!(!part.certificate.proves_something());
}

/// γ ≤ |w − w₀| / Σ step at every moment, here against the proved lower bound of the verdict, with
/// raw columns so that both speak of the same rows.
#[test]
fn the_ceiling_is_never_below_the_margin() {
    let mut seen = 0;
    for width in [1, 2, 5, 12] {
        let data = narrow(120, width);
        let judge = Judge::new(data.clone());
        let decision = judge.class("up", &|| false).unwrap();
        if decision.verdict != Verdict::Separable {
            continue;
        }
        let lower = judge.margin(&decision).lower.unwrap();
        for order in [Order::Cyclic, Order::Shuffle, Order::Random] {
            let mut perceptron = Perceptron::default();
            perceptron.order = order;
            perceptron.scale = linsep::data::scale::Scaling::None;
            let mut run = perceptron.start(&Task::new(data.clone())).unwrap();
            assert_eq!(
                run.bounds_margin().unwrap().margin_ceiling(),
                None,
                "nothing is known before the first step"
            );
            let mut last = f64::INFINITY;
            while run.progress().epochs < 40 && run.advance(Budget::visits(7)) == Status::Running {
                let ceiling = run.bounds_margin().unwrap().margin_ceiling().unwrap();
                assert!(ceiling >= lower, "{ceiling} < {lower}");
                (last, seen) = (ceiling, seen + 1);
            }
            assert!(last < 1e4, "the rows are about 1,000 long");
        }
    }
    assert!(seen > 500);
}

/// On rows that balance exactly the ceiling sinks towards 0.
#[test]
fn the_ceiling_of_xor_sinks() {
    let rows = [[0., 0.], [0., 1.], [1., 0.], [1., 1.]];
    let task = Task::new(Dataset::from_rows(&rows, &["0", "1", "1", "0"]).unwrap());
    let mut run = Perceptron::default().start(&task).unwrap();
    run.advance(Budget::visits(4000));
    assert!(run.bounds_margin().unwrap().margin_ceiling().unwrap() < 0.01);
}
