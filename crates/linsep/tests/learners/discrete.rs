//! Few mistakes, the procedure of Ho and Kashyap, bounds on weights, and descent row by row: against
//! what can be worked out otherwise.

use crate::proofs::example;
use linsep::data::scale::Scaling;
use linsep::learn::descent::search::FewMistakes;
use linsep::learn::descent::{Descent, Pace};
use linsep::learn::ho_kashyap::HoKashyap;
use linsep::learn::optimising::Bound;
use linsep::learn::perceptron::Rate;
use linsep::learn::perceptron::{Order, Perceptron};
use linsep::loss::Criterion;
use linsep::proof::{Finding, check_claim};
use linsep::rng::{Purpose, Stream};
use linsep::{Budget, Claim, Dataset, Learner, Limits, Plane, Stop, Task};

fn holds(data: &Dataset, claim: &Claim) -> bool {
    matches!(check_claim(claim, data, &data.reading_field(), true, 1), Finding::Holds(_))
}

/// A random set of a few rows on a small grid.
fn grid(seed: u64, rows: usize, width: usize) -> Dataset {
    let mut stream = Stream::new(seed, Purpose::Generate(5));
    loop {
        let x: Vec<Vec<f64>> =
            (0..rows).map(|_| (0..width).map(|_| stream.below(4) as f64).collect()).collect();
        let labels: Vec<&str> = (0..rows).map(|_| ["a", "b"][stream.below(2) as usize]).collect();
        if labels.contains(&"a") && labels.contains(&"b") {
            return Dataset::from_rows(&x, &labels).unwrap();
        }
    }
}

/// The fewest mistakes of any plane: the largest set of rows that can be separated, found by trying
/// all of them.
fn fewest_mistakes(data: &Dataset) -> u32 {
    let vector = |row: usize| {
        let whole: Vec<i64> = data.row(row).iter().map(|x| *x as i64).collect();
        crate::brute::signed(&whole, data.class_of(row) == 1, true)
    };
    let vectors: Vec<Vec<i128>> = (0..data.n_rows()).map(vector).collect();
    let mut fewest = u32::MAX;
    for out in 0..1u32 << vectors.len() {
        if out.count_ones() >= fewest {
            continue;
        }
        let kept = (0..vectors.len()).filter(|row| out & (1 << row) == 0);
        let kept: Vec<Vec<i128>> = kept.map(|row| vectors[row].clone()).collect();
        if crate::brute::kind_of(&kept) == crate::brute::Kind::Separable {
            fewest = out.count_ones();
        }
    }
    fewest
}

/// The claim's two numbers enclose the truth, on sets whose truth is known.
#[test]
fn mistakes_and_their_bound_enclose_the_fewest() {
    let (mut met, mut sets) = (0, 0);
    for seed in 0..60 {
        let data = grid(seed, 8, 2);
        let truth = u64::from(fewest_mistakes(&data));
        let fit = FewMistakes::default()
            .fit(&Task::new(data.clone()), &Limits::default(), &mut ())
            .unwrap();
        let claim = &fit.certificate.claims[0];
        assert!(holds(&data, claim), "{seed}");
        match claim {
            Claim::Separable { .. } => assert_eq!(truth, 0, "{seed}"),
            Claim::Mistakes { mistakes, conflicts, .. } => {
                assert!(*mistakes >= truth && conflicts.len() as u64 <= truth, "{seed}");
                assert!(!conflicts.is_empty(), "{seed}");
                met += u64::from(*mistakes == truth);
                sets += 1;
            }
            claim => panic!("{seed}: {claim:?}"),
        }
    }
    // A search along single weights is no proof of the least number, but it mostly finds it.
    assert!(sets > 40 && met * 10 >= sets * 8, "{met} of {sets}");
}

/// The search never has more mistakes than the pocket that it starts from, and says what is proved.
#[test]
fn the_search_on_real_data() {
    for (name, most, least) in [("heart_scale.svm", 40, 5), ("banknote.csv", 12, 2)] {
        let data = example(name);
        let fit = FewMistakes::default()
            .fit(&Task::new(data.clone()), &Limits::default(), &mut ())
            .unwrap();
        let Claim::Mistakes { mistakes, conflicts, .. } = &fit.certificate.claims[0] else {
            panic!("{name}: {:?}", fit.certificate)
        };
        assert!(*mistakes <= most, "{name}: {mistakes}");
        assert!(conflicts.len() >= least, "{name}: {mistakes} {}", conflicts.len());
        assert_eq!(fit.progress.last_mistakes, Some(*mistakes));
        assert!(fit.remarks[0].words.contains(&format!("at least {}", conflicts.len())));
    }
}

/// Every part of the claim is looked at.
#[test]
fn a_claim_about_mistakes_is_refused_when_anything_is_changed() {
    let data = example("banknote.csv");
    let task = Task::new(data.clone());
    let fit = FewMistakes::default().fit(&task, &Limits::default(), &mut ()).unwrap();
    let claim = &fit.certificate.claims[0];
    let Claim::Mistakes { problem, plane, mistakes, conflicts } = claim else { panic!() };
    let with = |mistakes: u64, conflicts: Vec<Vec<linsep::proof::Weighted>>| Claim::Mistakes {
        problem: problem.clone(),
        plane: plane.clone(),
        mistakes,
        conflicts,
    };
    assert!(holds(&data, &with(*mistakes, conflicts.clone())));
    assert!(holds(&data, &with(*mistakes, Vec::new())), "no bound is a claim too");
    assert!(!holds(&data, &with(mistakes - 1, conflicts.clone())));
    assert!(!holds(&data, &with(mistakes + 1, conflicts.clone())));
    let mut twice = conflicts.clone();
    twice.push(conflicts[0].clone());
    assert!(!holds(&data, &with(*mistakes, twice)), "a conflict that stands twice");
    for (c, conflict) in conflicts.iter().enumerate() {
        for k in 0..conflict.len() {
            let mut other = conflicts.clone();
            other[c][k].lambda.push('1');
            assert!(!holds(&data, &with(*mistakes, other)), "lambda {c} {k}");
            let mut other = conflicts.clone();
            other[c].remove(k);
            assert!(!holds(&data, &with(*mistakes, other)), "row left out {c} {k}");
        }
    }
    // Exchanged sides, and a plane that lets one more row through.
    let Claim::Mistakes { problem: mut exchanged, .. } = claim.clone() else { panic!() };
    std::mem::swap(&mut exchanged.positive, &mut exchanged.negative);
    let (plane, conflicts) = (plane.clone(), conflicts.clone());
    let claim = Claim::Mistakes { problem: exchanged, plane, mistakes: *mistakes, conflicts };
    assert!(!holds(&data, &claim));
    // And it is read back as it was written.
    let written = serde_json::to_string(&fit.certificate).unwrap();
    let read: linsep::Certificate = serde_json::from_str(&written).unwrap();
    assert_eq!(read, fit.certificate);
}

/// It separates what can be separated and refutes the rest, on sets whose truth is known.
#[test]
fn ho_and_kashyap_separate_or_refute() {
    let limits = Limits::default().with_epochs(Some(3000));
    let (mut open, mut refuted, mut separated) = (0, 0, 0);
    for seed in 100..180 {
        let data = grid(seed, 6, 2);
        let truth = fewest_mistakes(&data) == 0;
        let fit = HoKashyap::default().fit(&Task::new(data.clone()), &limits, &mut ()).unwrap();
        let claim = &fit.certificate.claims[0];
        match claim {
            Claim::Separable { .. } => {
                assert!(truth && holds(&data, claim), "{seed}");
                separated += 1;
            }
            Claim::Inseparable { .. } => {
                assert!(!truth && holds(&data, claim), "{seed}");
                assert_eq!(fit.stop, Stop::Finished);
                refuted += 1;
            }
            _ => open += 1,
        }
    }
    assert_eq!(open, 0, "{separated} separated, {refuted} refuted");
    assert!(separated > 5 && refuted > 20, "{separated} {refuted}");
}

/// The first plane is that of least squares with targets +1 and −1.
#[test]
fn ho_and_kashyap_begin_with_least_squares() {
    let data = example("banknote.csv");
    let task = Task::new(data.clone());
    let mut run = HoKashyap::default().start(&task).unwrap();
    run.advance(Budget::new(u64::MAX, 1));
    let first = run.model().planes.remove(0);
    let least = linsep::learn::least_squares::LeastSquares::default();
    let squares = least.fit(&task, &Limits::default(), &mut ()).unwrap().model.planes.remove(0);
    for (a, b) in first.weights.iter().zip(&squares.weights) {
        assert!((a - b).abs() < 1e-12 * b.abs().max(1.0), "{a} {b}");
    }
    assert!((first.bias - squares.bias).abs() < 1e-12);
}

/// Real sets of both kinds: breast cancer can be separated, heart cannot.
#[test]
fn ho_and_kashyap_on_real_data() {
    let limits = Limits::default().with_epochs(Some(20_000));
    for (name, claimed) in [("iris.csv", "separable"), ("heart_scale.svm", "inseparable")] {
        let data = example(name);
        let fit = HoKashyap::default().fit(&Task::new(data), &limits, &mut ()).unwrap();
        assert_eq!(fit.certificate.claims[0].name(), claimed, "{name}");
    }
}

/// Row by row with J_p is the perceptron, bit for bit.
#[test]
fn descent_on_the_perceptron_criterion_row_by_row_is_the_perceptron() {
    let data = example("sonar.csv");
    for order in [Order::Cyclic, Order::Shuffle, Order::Blocks, Order::Random, Order::WorstFirst] {
        let mut descent = Descent::on(Criterion::Perceptron);
        (descent.pace, descent.order, descent.seed) = (Pace::Row, order, 3);
        let mut perceptron = Perceptron::default();
        (perceptron.order, perceptron.seed) = (order, 3);
        let limits = Limits::default().with_epochs(Some(20));
        let task = Task::new(data.clone());
        let a = descent.fit(&task, &limits, &mut ()).unwrap();
        let b = perceptron.fit(&task, &limits, &mut ()).unwrap();
        assert_eq!(a.model.planes, b.model.planes, "{order:?}");
        assert_eq!(a.progress, b.progress, "{order:?}");
    }
}

fn points() -> Dataset {
    let rows = [[1.0, 2.0], [0.0, -1.0], [2.0, 2.0], [-1.0, 0.5], [0.5, 0.5], [-2.0, 1.0]];
    Dataset::from_rows(&rows, &["b", "a", "b", "a", "a", "b"]).unwrap()
}

/// One visit moves the plane by −η times the gradient of the row's part of J, by differences.
#[test]
fn a_visit_goes_down_the_gradient_of_its_row() {
    let start = Plane::new(vec![0.3, -0.7], 0.25);
    let data = points();
    for criterion in Criterion::ALL.into_iter().filter(|c| *c != Criterion::Mistakes) {
        let mut descent = Descent::on(criterion);
        descent.pace = Pace::Row;
        descent.order = Order::Cyclic;
        descent.scale = Scaling::None;
        descent.rate = Some(Rate::Constant(1e-3));
        for row in 0..data.n_rows() {
            // A task of this row alone, after a step that brings the plane off 0.
            let one = Task::new(data.clone()).with_rows(Some([row as u32].into()));
            let mut run = descent.start(&one).unwrap();
            let state = run.save();
            run.restore(&with_plane(&state, &start)).unwrap();
            run.advance(Budget::visits(1));
            let after = run.model().planes.remove(0);
            let value = |plane: &Plane| {
                let x = data.row(row);
                let score = x[0] * plane.weights[0] + x[1] * plane.weights[1] + plane.bias;
                let m = if data.class_of(row) == 1 { score } else { -score };
                let square =
                    plane.weights[0].powi(2) + plane.weights[1].powi(2) + plane.bias.powi(2);
                let length = if criterion == Criterion::Distance { square.sqrt() } else { 1.0 };
                criterion.value(m) / length
            };
            for k in 0..3 {
                let moved = |h: f64| {
                    let mut plane = start.clone();
                    *(if k == 2 { &mut plane.bias } else { &mut plane.weights[k] }) += h;
                    value(&plane)
                };
                let slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                let number = |p: &Plane| if k == 2 { p.bias } else { p.weights[k] };
                let step = number(&after) - number(&start);
                // J_d takes two steps at once; they agree to first order.
                assert!(
                    (step + 1e-3 * slope).abs() < 2e-6,
                    "{criterion:?} {row} {k}: {step} {slope}"
                );
            }
        }
    }
}

/// The saved state of a run with another plane in it.
fn with_plane(state: &linsep::State, plane: &Plane) -> linsep::State {
    let mut value = serde_json::to_value(state).unwrap();
    let bits: Vec<u64> = plane.weights.iter().map(|w| w.to_bits()).collect();
    let run = &mut value["run"];
    run["planes"][0]["v"] = bits.into();
    run["planes"][0]["b"] = plane.bias.to_bits().into();
    linsep::State::from_bytes(serde_json::to_vec(&value).unwrap())
}

/// Small falling steps, row by row, end where batch descent ends.
#[test]
fn row_by_row_comes_to_where_the_batch_comes() {
    let rows = [[-2.0], [-1.0], [0.5], [1.0], [2.0], [-0.5]];
    let overlapping = Dataset::from_rows(&rows, &["a", "b", "a", "b", "b", "a"]).unwrap();
    let task = Task::new(overlapping);
    let limits = Limits::default().with_epochs(Some(40_000));
    for criterion in [Criterion::Squared, Criterion::Logistic] {
        let mut batch = Descent::on(criterion);
        batch.rest = 1e-9;
        let mut rows = batch.clone();
        (rows.pace, rows.rest) = (Pace::Row, 0.0);
        rows.rate = Some(Rate::Slowing(20.0));
        let a = batch.fit(&task, &limits, &mut ()).unwrap().model.planes.remove(0);
        let b = rows.fit(&task, &limits, &mut ()).unwrap().model.planes.remove(0);
        for (x, y) in a.weights.iter().chain([&a.bias]).zip(b.weights.iter().chain([&b.bias])) {
            assert!((x - y).abs() < 2e-3, "{criterion:?}: {x} {y}");
        }
    }
}

/// Weights stay in their ranges at every visit, whatever the pace and the criterion.
#[test]
fn bounds_hold_at_every_step() {
    let data = points();
    for pace in [Pace::Batch, Pace::Row] {
        for criterion in Criterion::ALL.into_iter().filter(|c| *c != Criterion::Mistakes) {
            let mut descent = Descent::on(criterion);
            descent.pace = pace;
            descent.lower = "0.1,#2=-0.2".parse().unwrap();
            descent.upper = Bound::on_all(0.3);
            let mut run = descent.start(&Task::new(data.clone())).unwrap();
            for _ in 0..60 {
                let weights = run.model().planes.remove(0).weights;
                let inside =
                    (0.1..=0.3).contains(&weights[0]) && (-0.2..=0.3).contains(&weights[1]);
                assert!(inside, "{pace:?} {criterion:?}: {weights:?}");
                run.advance(Budget::visits(1));
            }
        }
    }
}

/// Batch LMS: w += η Σ (y − w·x − b) x, and it is at rest at the least-squares plane.
#[test]
fn batch_lms_follows_its_formula_and_rests_at_least_squares() {
    let task = Task::new(points());
    let mut lms = Descent::lms();
    lms.scale = Scaling::None;
    lms.rate = Some(Rate::Constant(0.125));
    let mut run = lms.start(&task).unwrap();
    run.advance(Budget::new(u64::MAX, 1));
    // From 0 the first step adds η Σ y x.
    let plane = run.model().planes.remove(0);
    assert_eq!((plane.weights, plane.bias), (vec![0.125 * 1.5, 0.125 * 5.0], 0.0));
    let remark = &run.remarks()[0];
    assert_eq!(remark.name, "rate");
    let bound = remark.data.get("bound").unwrap().as_f64().unwrap();
    // The largest eigenvalue of Σ z zᵀ of these rows is 15.88524; twelve steps come close to it.
    assert!((bound / (2.0 / 15.88524) - 1.0).abs() < 1e-3, "{bound}");
    let mut lms = Descent::lms();
    lms.rest = 1e-12;
    let limits = Limits::default().with_epochs(Some(100_000));
    let fit = lms.fit(&task, &limits, &mut ()).unwrap();
    let least = linsep::learn::least_squares::LeastSquares::default();
    let squares = least.fit(&task, &Limits::default(), &mut ()).unwrap();
    let (a, b) = (&fit.model.planes[0], &squares.model.planes[0]);
    for (x, y) in a.weights.iter().chain([&a.bias]).zip(b.weights.iter().chain([&b.bias])) {
        assert!((x - y).abs() < 1e-8, "{x} {y}");
    }
}
