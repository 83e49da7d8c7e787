//! The rules of the perceptron family, each against its formula and against what is proved of it.

use linsep::data::scale::Scaling;
use linsep::learn::adaline::Adaline;
use linsep::learn::perceptron::Rate;
use linsep::learn::perceptron::{Aggressive, Response};
use linsep::learn::perceptron::{Order, Perceptron};
use linsep::learn::pocket::Pocket;
use linsep::rng::{Purpose, Stream};
use linsep::run::reduction::OneVsRest;
use linsep::verdict::{Judge, Verdict};
use linsep::{Budget, Dataset, Learner, Limits, Plane, Status, Stop, Task};

fn epochs(epochs: u64) -> Limits {
    Limits::default().with_epochs(Some(epochs))
}

/// Raw columns, rows in the order of the file.
fn plain(response: Response) -> Perceptron {
    let mut perceptron = Perceptron::default();
    perceptron.response = response;
    perceptron.order = Order::Cyclic;
    perceptron.scale = Scaling::None;
    perceptron
}

/// y (w·x + b) of a row.
fn margin(plane: &Plane, data: &Dataset, row: usize) -> f64 {
    let x = data.row(row);
    let score = plane.weights.iter().zip(&x).map(|(w, x)| w * x).sum::<f64>() + plane.bias;
    if data.class_of(row) == 1 { score } else { -score }
}

/// Small whole numbers, labelled by a plane.
fn separable(rows: usize, width: usize, seed: u64) -> Dataset {
    let mut stream = Stream::new(seed, Purpose::Generate(3));
    let hidden: Vec<f64> = (0..=width).map(|_| stream.below(9) as f64 - 4.0).collect();
    let (mut values, mut labels) = (vec![], vec![]);
    while values.len() < rows {
        let row: Vec<f64> = (0..width).map(|_| stream.below(11) as f64 - 5.0).collect();
        let score = hidden[width] + row.iter().zip(&hidden).map(|(x, w)| x * w).sum::<f64>();
        if score != 0.0 {
            labels.push(if score > 0.0 { "yes" } else { "no" });
            values.push(row);
        }
        if stream.below(10_000) == 0 {
            break;
        }
    }
    Dataset::from_rows(&values, &labels).unwrap()
}

fn sets() -> impl Iterator<Item = Dataset> {
    let sets = (0..40).map(|seed| separable(12 + seed as usize % 20, 1 + seed as usize % 4, seed));
    sets.filter(|data| data.n_classes() == 2)
}

/// One visit of each rule, written out by hand.
#[test]
fn a_step_is_what_the_formula_says() {
    let data = Dataset::from_rows(&[[3.0, 4.0], [1.0, 0.0]], &["no", "yes"]).unwrap();
    // The first row has class 0 (no), z = -(1, 3, 4), |z|² = 26, and margin 0 at the start.
    let cases = [
        (Response::Fixed, 1.0),
        (Response::Margin { b: 0.5 }, 1.0),
        (Response::Relaxation { rho: 0.5, b: 2.0 }, 0.5 * 2.0 / 26.0),
        (Response::PassiveAggressive { variant: Aggressive::Pa, c: 1.0 }, 1.0 / 26.0),
        (Response::PassiveAggressive { variant: Aggressive::Pa1, c: 0.01 }, 0.01),
        (Response::PassiveAggressive { variant: Aggressive::Pa2, c: 0.5 }, 1.0 / 27.0),
        (Response::Lms { normalised: false }, 1.0),
        (Response::Lms { normalised: true }, 1.0 / 26.0),
    ];
    for (response, step) in cases {
        let mut perceptron = plain(response);
        perceptron.rate = Rate::Constant(0.5);
        let mut run = perceptron.start(&Task::new(data.clone())).unwrap();
        run.advance(Budget::visits(1));
        let plane = run.model().planes.remove(0);
        let expected = [-3.0, -4.0, -1.0].map(|z| 0.5 * step * z);
        let found = [plane.weights[0], plane.weights[1], plane.bias];
        for (a, b) in found.iter().zip(expected) {
            assert!((a - b).abs() < 1e-15, "{response:?}: {found:?} {expected:?}");
        }
    }
}

#[test]
fn the_margin_rule_ends_with_the_margin_and_within_its_bound() {
    let mut seen = 0;
    for data in sets() {
        let judge = Judge::new(data.clone());
        let decision = judge.class("yes", &|| false).unwrap();
        assert_eq!(decision.verdict, Verdict::Separable);
        let gamma = judge.margin(&decision).lower.unwrap();
        let square = |row: usize| 1.0 + data.row(row).iter().map(|x| x * x).sum::<f64>();
        let longest = (0..data.n_rows()).map(square).fold(0.0, f64::max);
        for b in [0.0, 1.0, 7.5] {
            let fit = plain(Response::Margin { b });
            let fit = fit.fit(&Task::new(data.clone()), &epochs(100_000), &mut ()).unwrap();
            assert_eq!(fit.stop, Stop::Finished);
            let plane = &fit.model.planes[0];
            assert!((0..data.n_rows()).all(|row| margin(plane, &data, row) > b));
            // (R² + 2b/η)/γ², with a lower bound of γ.
            let bound = (longest + 2.0 * b) / (gamma * gamma);
            assert!(fit.progress.updates as f64 <= bound, "{} {bound}", fit.progress.updates);
            seen += 1;
        }
    }
    assert!(seen > 60);
}

/// Every step of relaxation with 0 < ρ < 2 comes nearer to every plane with all margins at least b.
#[test]
fn relaxation_never_leads_away_from_a_solution() {
    for data in sets().take(15) {
        let task = Task::new(data.clone());
        let solution = plain(Response::Margin { b: 1.0 }).fit(&task, &epochs(100_000), &mut ());
        let solution = solution.unwrap().model.planes.remove(0);
        for rho in [0.3, 1.0, 1.9] {
            let mut run = plain(Response::Relaxation { rho, b: 1.0 }).start(&task).unwrap();
            let away = |plane: &Plane| {
                let pairs = plane.weights.iter().zip(&solution.weights);
                let square: f64 = pairs.map(|(a, b)| (a - b) * (a - b)).sum();
                square + (plane.bias - solution.bias).powi(2)
            };
            let mut before = away(&run.model().planes[0]);
            for _ in 0..200 {
                if run.advance(Budget::new(u64::MAX, 1)) != Status::Running {
                    break;
                }
                let after = away(&run.model().planes[0]);
                assert!(after <= before * (1.0 + 1e-12), "{rho}: {after} {before}");
                before = after;
            }
        }
    }
}

#[test]
fn passive_aggressive_steps_end_on_their_margin() {
    for data in sets().take(15) {
        let response = Response::PassiveAggressive { variant: Aggressive::Pa, c: 1.0 };
        let mut run = plain(response).start(&Task::new(data.clone())).unwrap();
        for row in 0..data.n_rows() {
            run.advance(Budget::visits(1));
            let plane = &run.model().planes[0];
            assert!(margin(plane, &data, row) > 1.0 - 1e-9, "the row just visited has its margin");
        }
    }
}

/// The pocket never gets worse, and what it says of its mistakes is true.
#[test]
fn the_pocket_never_gets_worse() {
    let mut stream = Stream::new(4, Purpose::Generate(5));
    let rows: Vec<[f64; 2]> = (0..60).map(|_| [stream.normal(), stream.normal()]).collect();
    let labels: Vec<&str> = rows
        .iter()
        .map(|row| if row[0] + 0.7 * stream.normal() > 0.0 { "a" } else { "b" })
        .collect();
    let data = Dataset::from_rows(&rows, &labels).unwrap();
    for learner in [
        Box::new(Pocket(Perceptron::default())) as Box<dyn Learner>,
        Box::new(OneVsRest(Pocket(Perceptron::default()))),
    ] {
        let mut run = learner.start(&Task::new(data.clone())).unwrap();
        let mut best = u64::MAX;
        for _ in 0..400 {
            run.advance(Budget::visits(17));
            let errors = run.model().evaluate(&data, None, 1).errors;
            assert!(errors <= best, "{errors} after {best}");
            best = errors;
        }
        let plain = Perceptron::default();
        let last = plain.fit(&Task::new(data.clone()), &epochs(113), &mut ()).unwrap();
        assert!(best <= last.model.evaluate(&data, None, 1).errors);
    }
}

/// At rest with a small rate Adaline stands near the least-squares plane: here one of which every
/// number is known, x = ±1 with targets ±1 and one row on the wrong side.
#[test]
fn adaline_comes_to_rest_at_least_squares() {
    let rows = [[1.0], [1.0], [1.0], [-1.0], [-1.0], [-1.0], [-1.0], [1.0]];
    let labels = ["1", "1", "1", "0", "0", "0", "0", "0"];
    let data = Dataset::from_rows(&rows, &labels).unwrap();
    let mut adaline = Adaline::default();
    adaline.rate = Some(Rate::Slowing(20.0));
    adaline.run.scale = Scaling::None;
    adaline.rest = 1e-7;
    let fit = adaline.fit(&Task::new(data), &epochs(200_000), &mut ()).unwrap();
    let plane = &fit.model.planes[0];
    // Means of the targets: 1/2 at x = 1 and -1 at x = -1.
    assert!((plane.weights[0] - 0.75).abs() < 2e-2, "{plane:?}");
    assert!((plane.bias + 0.25).abs() < 2e-2, "{plane:?}");
}

#[test]
fn rates_beyond_the_stability_bound_diverge_and_those_below_do_not() {
    let data = separable(30, 3, 7);
    let task = Task::new(data);
    let mut adaline = Adaline::default();
    adaline.run.scale = Scaling::None;
    adaline.rest = 0.0;
    let bound = adaline.stability_bound(&task).unwrap();
    let mut length = |rate: f64| {
        adaline.rate = Some(Rate::Constant(rate));
        let fit = adaline.fit(&task, &epochs(300), &mut ()).unwrap();
        fit.model.planes[0].weights.iter().map(|w| w * w).sum::<f64>()
    };
    assert!(length(0.9 * bound) < 1e3);
    let far = length(20.0 * bound);
    assert!(far > 1e6 || far.is_nan());
}

/// The worst row first: the first visit of an epoch is the row of the least margin at its start.
#[test]
fn worst_first_visits_the_worst_row_first() {
    let data = separable(25, 3, 11);
    let mut perceptron = plain(Response::Fixed);
    perceptron.order = Order::WorstFirst;
    let task = Task::new(data.clone());
    let mut run = perceptron.start(&task).unwrap();
    for _ in 0..30 {
        let before = run.model().planes.remove(0);
        let margins: Vec<f64> = (0..data.n_rows()).map(|row| margin(&before, &data, row)).collect();
        let worst = (0..data.n_rows()).min_by(|&a, &b| margins[a].total_cmp(&margins[b])).unwrap();
        let wrong = margins[worst] <= 0.0;
        if run.advance(Budget::visits(1)) == Status::Finished {
            return;
        }
        let after = run.model().planes.remove(0);
        assert_eq!(after != before, wrong);
        if wrong && margins.iter().filter(|m| **m == margins[worst]).count() == 1 {
            let y = if data.class_of(worst) == 1 { 1.0 } else { -1.0 };
            assert_eq!(after.bias, before.bias + y);
            for (j, x) in data.row(worst).iter().enumerate() {
                assert_eq!(after.weights[j], before.weights[j] + y * x);
            }
        }
        run.advance(Budget::visits(data.n_rows() as u64 - 1));
    }
}

#[test]
fn settings_without_a_meaning_are_refused() {
    let task = Task::new(separable(10, 2, 1));
    let refused = |response: Response| {
        assert!(plain(response).start(&task).is_err(), "{response:?}");
    };
    refused(Response::Margin { b: -1.0 });
    refused(Response::Margin { b: f64::NAN });
    refused(Response::Relaxation { rho: 2.0, b: 1.0 });
    refused(Response::Relaxation { rho: 0.0, b: 1.0 });
    refused(Response::Relaxation { rho: 1.0, b: 0.0 });
    refused(Response::PassiveAggressive { variant: Aggressive::Pa1, c: 0.0 });
    let mut perceptron = Perceptron::default();
    perceptron.rate = Rate::Constant(f64::INFINITY);
    assert!(perceptron.start(&task).is_err());
    let mut adaline = Adaline::default();
    adaline.rest = -1.0;
    assert!(adaline.start(&task).is_err());
}
