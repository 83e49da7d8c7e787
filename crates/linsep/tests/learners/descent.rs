//! Batch learning against its formulas.

use linsep::data::scale::Scaling;
use linsep::learn::descent::Descent;
use linsep::learn::optimising::Bound;
use linsep::learn::perceptron::Rate;
use linsep::loss::Criterion;
use linsep::{Budget, Dataset, Learner, Limits, Plane, Status, Stop, Task};

fn data() -> Dataset {
    let rows = [[1.0, 2.0], [0.0, -1.0], [2.0, 2.0], [-1.0, 0.5], [0.5, 0.5], [-2.0, 1.0]];
    Dataset::from_rows(&rows, &["b", "a", "b", "a", "a", "b"]).unwrap()
}

fn descent(criterion: Criterion, rate: f64) -> Descent {
    let mut descent = Descent::on(criterion);
    descent.rate = Some(Rate::Constant(rate));
    descent.scale = Scaling::None;
    descent
}

/// J of a plane, row by row.
fn criterion_of(criterion: Criterion, plane: &Plane, data: &Dataset) -> f64 {
    let mut sum = 0.0;
    for row in 0..data.n_rows() {
        let x = data.row(row);
        let score = x[0] * plane.weights[0] + x[1] * plane.weights[1] + plane.bias;
        sum += criterion.value(if data.class_of(row) == 1 { score } else { -score });
    }
    let square: f64 = plane.weights.iter().map(|w| w * w).sum::<f64>() + plane.bias * plane.bias;
    if criterion == Criterion::Distance { sum / square.sqrt() } else { sum }
}

/// A step of length η is −η times the gradient, here by differences of J.
#[test]
fn steps_go_down_the_gradient_of_the_criterion() {
    let data = data();
    for criterion in Criterion::ALL.into_iter().filter(|c| *c != Criterion::Mistakes) {
        let mut run = descent(criterion, 1e-3).start(&Task::new(data.clone())).unwrap();
        // Some way from 0, where the distance has no gradient.
        let mut first = descent(Criterion::Squared, 0.05).start(&Task::new(data.clone())).unwrap();
        first.advance(Budget::visits(18));
        run.restore(&first.save()).unwrap();
        let before = run.model().planes.remove(0);
        run.advance(Budget::visits(6));
        let after = run.model().planes.remove(0);
        let numbers = |plane: &Plane| [plane.weights[0], plane.weights[1], plane.bias];
        for k in 0..3 {
            let moved = |h: f64| {
                let mut plane = before.clone();
                match k {
                    2 => plane.bias += h,
                    k => plane.weights[k] += h,
                }
                criterion_of(criterion, &plane, &data)
            };
            let slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
            let step = numbers(&after)[k] - numbers(&before)[k];
            assert!((step + 1e-3 * slope).abs() < 1e-8, "{criterion:?} {k}: {step} {slope}");
        }
    }
}

/// Every row is on the plane at first, so the first step adds all of them with their signs.
#[test]
fn the_batch_perceptron_adds_the_rows_on_the_wrong_side() {
    let mut run = descent(Criterion::Perceptron, 1.0).start(&Task::new(data())).unwrap();
    run.advance(Budget::visits(6));
    let plane = run.model().planes.remove(0);
    assert_eq!((plane.weights, plane.bias), (vec![1.0 + 0.5, 5.0], 0.0));
    assert_eq!(run.progress().last_mistakes, Some(6));
}

#[test]
fn it_ends_with_an_empty_error_set_below_a_value_or_at_rest() {
    let rows = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
    let and = Task::new(Dataset::from_rows(&rows, &["0", "0", "0", "1"]).unwrap());
    let limits = Limits::default().with_epochs(Some(20_000));
    for criterion in [Criterion::Perceptron, Criterion::Distance] {
        let fit = Descent::on(criterion).fit(&and, &limits, &mut ()).unwrap();
        assert_eq!(fit.stop, Stop::Finished, "{criterion:?}");
        assert_eq!(fit.progress.last_mistakes, Some(0));
        assert!(fit.certificate.proves_something());
    }
    // The least-squares plane of AND with targets ±1 is w = (1, 1), b = -3/2.
    let mut squared = Descent::on(Criterion::Squared);
    squared.rest = 1e-10;
    let fit = squared.fit(&and, &limits, &mut ()).unwrap();
    assert_eq!(fit.stop, Stop::Finished);
    let plane = &fit.model.planes[0];
    assert!((plane.weights[0] - 1.0).abs() < 1e-6 && (plane.weights[1] - 1.0).abs() < 1e-6);
    assert!((plane.bias + 1.5).abs() < 1e-6, "{plane:?}");
    let mut below = Descent::on(Criterion::Logistic);
    below.below = Some(0.5);
    let fit = below.fit(&and, &limits, &mut ()).unwrap();
    assert_eq!(fit.stop, Stop::Finished);
    assert!(fit.certificate.proves_something(), "a logistic loss below ln 2 leaves no mistake");
}

#[test]
fn bounds_on_the_weights_are_kept() {
    let mut bounded = Descent::on(Criterion::Logistic);
    bounded.lower = Bound::on_all(0.0);
    bounded.upper = Bound::on_all(0.25);
    let task = Task::new(data());
    let mut run = bounded.start(&task).unwrap();
    for _ in 0..50 {
        if run.advance(Budget::visits(6)) == Status::Finished {
            break;
        }
        assert!(run.model().planes[0].weights.iter().all(|w| (0.0..=0.25).contains(w)));
    }
    bounded.upper = Bound::on_all(-1.0);
    assert!(bounded.start(&task).is_err());
    assert!(Descent::on(Criterion::Mistakes).start(&task).is_err());
}

/// Weight 2 is the row twice, for every criterion.
#[test]
fn a_row_of_weight_two_counts_twice() {
    let twice = |weighted: bool| {
        let mut builder = linsep::DatasetBuilder::new(1);
        for (x, label) in [(1.0, "b"), (-0.5, "a"), (0.25, "a"), (2.0, "b")] {
            let copies = if x == 0.25 && !weighted { 2 } else { 1 };
            for _ in 0..copies {
                builder.dense_row(&[x], label).unwrap();
                builder.weight(if x == 0.25 && weighted { 2.0 } else { 1.0 }).unwrap();
            }
        }
        Task::new(builder.finish().unwrap())
    };
    for criterion in Criterion::ALL.into_iter().filter(|c| *c != Criterion::Mistakes) {
        let plane = |task: &Task| {
            let limits = Limits::default().with_epochs(Some(25));
            descent(criterion, 0.05).fit(task, &limits, &mut ()).unwrap().model.planes.remove(0)
        };
        let (a, b) = (plane(&twice(true)), plane(&twice(false)));
        assert!((a.weights[0] - b.weights[0]).abs() < 1e-12, "{criterion:?}");
        assert!((a.bias - b.bias).abs() < 1e-12, "{criterion:?}");
    }
}

/// Where every margin is at least 1 the hinge has its minimum, and no step leads anywhere.
#[test]
fn the_hinge_ends_at_its_minimum() {
    for gate in [["0", "0", "0", "1"], ["0", "1", "1", "1"]] {
        let rows = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
        let task = Task::new(Dataset::from_rows(&rows, &gate).unwrap());
        let limits = Limits::default().with_epochs(Some(20_000));
        let fit = Descent::on(Criterion::Hinge).fit(&task, &limits, &mut ()).unwrap();
        assert_eq!(fit.stop, Stop::Finished);
        assert_eq!(fit.model.evaluate(&task.data, None, 1).errors, 0);
    }
}

/// The logistic criterion gives probabilities of two classes, whatever the pace.
#[test]
fn logistic_scores_are_log_odds() {
    for pace in [linsep::learn::descent::Pace::Batch, linsep::learn::descent::Pace::Row] {
        let mut descent = Descent::on(Criterion::Logistic);
        descent.pace = pace;
        let fit = descent.fit(&Task::new(data()), &Limits::default(), &mut ()).unwrap();
        let scores = fit.model.scores(&[1.0, 2.0]).unwrap();
        let odds = fit.model.probabilities_of_scores(&scores).unwrap();
        assert!((odds[1] - 1.0 / (1.0 + (-scores[0]).exp())).abs() < 1e-15, "{pace:?}");
        assert!((odds[0] + odds[1] - 1.0).abs() < 1e-15, "{pace:?}");
    }
}
