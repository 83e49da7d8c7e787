//! The hard margin: the widest plane against the exact margin and a soft one that is nearly hard, what its
//! claims refuse, and how it ends where there is no such plane.

use crate::proofs::{example, never};
use linsep::learn::hard_margin::HardMargin;
use linsep::learn::svm::{HingeLoss, Svm};
use linsep::proof::{Claim, check_claim};
use linsep::rng::{Purpose, Stream};
use linsep::run::reduction::OneVsOne;
use linsep::select::support::support_rows;
use linsep::verdict::{Judge, Ratio, Verdict};
use linsep::{
    Code, Dataset, DatasetBuilder, Error, Fit, Learner, Limits, LinearModel, Stop, Task, Training,
};
use std::ops::ControlFlow;

fn fit(task: &Task) -> Fit {
    HardMargin.fit(task, &Limits::default(), &mut ()).unwrap()
}

fn holds(claim: &Claim, data: &Dataset) -> bool {
    check_claim(claim, data, &data.reading_field(), true, 1).holds()
}

/// γ² of the first claim.
fn gamma2(fit: &Fit) -> Ratio {
    let Claim::GeometricMargin { gamma2, .. } = &fit.certificate.claims[0] else { panic!() };
    Ratio::parse(gamma2).unwrap()
}

/// Random separable sets of short decimals.
fn separable_sets(count: usize) -> Vec<Dataset> {
    let mut stream = Stream::new(11, Purpose::Generate(3));
    let mut sets = Vec::new();
    while sets.len() < count {
        let (n, width) = (2 + stream.below(30) as usize, 1 + stream.below(6) as usize);
        let hidden: Vec<f64> = (0..=width).map(|_| stream.normal()).collect();
        let (mut rows, mut labels) = (Vec::new(), Vec::new());
        for _ in 0..n {
            let row: Vec<f64> =
                (0..width).map(|_| stream.below(400) as f64 / 10.0 - 20.0).collect();
            let score: f64 = row.iter().zip(&hidden).map(|(x, w)| x * w).sum();
            labels.push(if score + hidden[width] > 0.0 { "p" } else { "n" });
            rows.push(row);
        }
        let data = Dataset::from_rows(&rows, &labels).unwrap();
        if data.require_two_classes().is_ok()
            && Judge::new(data.clone()).class("p", &never).unwrap().verdict == Verdict::Separable
        {
            sets.push(data);
        }
    }
    sets
}

#[test]
fn the_plane_is_the_one_of_the_exact_margin() {
    for data in separable_sets(60) {
        let judge = Judge::new(data.clone());
        let decision = judge.class("p", &never).unwrap();
        let margin = judge.geometric_margin(&decision, &never).expect("an exact margin");
        let task = Task::new(data);
        let fit = fit(&task);
        assert_eq!((fit.stop, fit.shortfall.as_ref()), (Stop::Finished, None));
        assert_eq!(gamma2(&fit), margin.gamma2);
        let names: Vec<&str> = fit.certificate.claims.iter().map(Claim::name).collect();
        assert_eq!(names, ["geometric-margin", "separable"]);
        assert!(fit.certificate.claims.iter().all(|claim| holds(claim, &task.data)));
        // Scores are at least 1 on the own side, and 1 on the rows that hold the margin.
        let plane = &fit.model.planes[0];
        let score = |row: usize| {
            let sign = if task.data.class_of(row) == 1 { 1.0 } else { -1.0 };
            sign * fit.model.scores(&task.data.row(row)).unwrap()[0]
        };
        let scores: Vec<f64> = (0..task.data.n_rows()).map(score).collect();
        assert!(scores.iter().all(|score| *score >= 1.0 - 1e-9), "{scores:?}");
        let held = support_rows(&fit.certificate.claims, &task).unwrap();
        assert_eq!(held.len(), margin.support().len());
        let mut weights = vec![0.0; plane.weights.len()];
        for found in &held {
            assert!((scores[found.row as usize] - 1.0).abs() < 1e-9);
            let signed = if found.positive { found.alpha } else { -found.alpha };
            let row = task.data.row(found.row as usize);
            weights.iter_mut().zip(row).for_each(|(w, x)| *w += signed * x);
        }
        let length: f64 = plane.weights.iter().map(|w| w * w).sum::<f64>().sqrt();
        let apart = weights.iter().zip(&plane.weights).map(|(a, b)| (a - b).abs());
        assert!(apart.fold(0.0, f64::max) < 1e-9 * length, "w is no sum of rows");
        // 1/|w| is the margin, and the proved interval of the distance holds it.
        assert!((1.0 / length / margin.gamma.lower.unwrap() - 1.0).abs() < 1e-12);
        let distance = fit.remarks[0].data.get("distance").unwrap();
        let (low, high) = (
            distance.get("lower").unwrap().as_f64().unwrap(),
            distance.get("upper").unwrap().as_f64().unwrap(),
        );
        let nearest = scores.iter().copied().fold(f64::INFINITY, f64::min) / length;
        assert!(0.99 * high < low && low <= nearest * (1.0 + 1e-12) && low <= high);
    }
}

/// Floats say the same by another way: the machine with a soft margin that costs a lot.
#[test]
fn a_soft_margin_tends_to_it() {
    // The first two kinds of iris.
    let iris = example("iris.csv");
    let rows: Vec<Vec<f64>> = (0..100).map(|row| iris.row(row)).collect();
    let labels: Vec<&str> = (0..100).map(|row| iris.label_text(row)).collect();
    let task = Task::new(Dataset::from_rows(&rows, &labels).unwrap());
    let hard = fit(&task);
    let mut svm = Svm::default();
    (svm.loss, svm.settings.c, svm.settings.gap) = (HingeLoss::Plain, 1e4, 1e-9);
    let limits = Limits::default().with_epochs(Some(1000));
    let soft = svm.fit(&task, &limits, &mut ()).unwrap();
    let (hard, soft) = (&hard.model.planes[0], &soft.model.planes[0]);
    let length: f64 = hard.weights.iter().map(|w| w * w).sum::<f64>().sqrt();
    for (a, b) in hard.weights.iter().zip(&soft.weights) {
        assert!((a - b).abs() < 1e-3 * length, "{hard:?} {soft:?}");
    }
}

/// Every number that carries the margin, altered by the least there is, and every row that holds it moved
/// by one bit of binary64: refused.
#[test]
fn a_claim_that_is_altered_is_refused() {
    let rows = [[0.0, 0.0], [1.0, 0.25], [0.5, 1.0], [3.0, 2.5], [4.0, 1.0], [3.5, 4.0]];
    let labels = ["a", "a", "a", "b", "b", "b"];
    let data = Dataset::from_rows(&rows, &labels).unwrap();
    let fit = fit(&Task::new(data.clone()));
    let Claim::GeometricMargin { problem, support, gamma2 } = fit.certificate.claims[0].clone()
    else {
        panic!()
    };
    let claim = |support: &[_], gamma2: &str| {
        let (problem, support) = (problem.clone(), support.to_vec());
        Claim::GeometricMargin { problem, support, gamma2: gamma2.to_owned() }
    };
    assert!(holds(&claim(&support, &gamma2), &data) && support.len() >= 2);
    let (p, q) = gamma2.split_once('/').unwrap_or((&gamma2, "1"));
    let next = format!("{}/{q}", p.parse::<u64>().unwrap() + 1);
    assert!(!holds(&claim(&support, &next), &data), "a larger margin");
    for k in 0..support.len() {
        // A side with one row has any multiplier.
        let side = |row: u64| labels[row as usize];
        let alone = support.iter().filter(|w| side(w.row) == side(support[k].row)).count() == 1;
        let mut altered = support.clone();
        altered[k].lambda = (altered[k].lambda.parse::<u64>().unwrap() + 1).to_string();
        assert_eq!(holds(&claim(&altered, &gamma2), &data), alone, "λ of {k}");
        let mut altered = support.clone();
        altered[k].row = (0..6).find(|row| support.iter().all(|w| w.row != *row)).unwrap();
        assert!(!holds(&claim(&altered, &gamma2), &data), "another row in the place of {k}");
        let row = support[k].row as usize;
        for column in 0..2 {
            let mut moved = rows;
            moved[row][column] = f64::from_bits(moved[row][column].to_bits() ^ 1);
            let moved = Dataset::from_rows(&moved, &labels).unwrap();
            assert!(!holds(&claim(&support, &gamma2), &moved), "row {row}, column {column}");
        }
        let mut flipped = labels;
        flipped[row] = if flipped[row] == "a" { "b" } else { "a" };
        let flipped = Dataset::from_rows(&rows, &flipped).unwrap();
        assert!(!holds(&claim(&support, &gamma2), &flipped), "label of {row}");
        assert!(!holds(&fit.certificate.claims[1], &flipped), "separable with label of {row}");
    }
    // The model's own plane: a weight with the sign bit changed is another plane.
    for weight in 0..2 {
        let mut changed = fit.certificate.claims[1].clone();
        let Claim::Separable { plane, .. } = &mut changed else { panic!() };
        let number = &mut plane.weights.as_mut().unwrap()[weight];
        let linsep::proof::ExactNumber::Binary64(w) = number else { panic!() };
        *w = f64::from_bits(w.to_bits() ^ (1 << 63));
        assert!(!holds(&changed, &data), "weight {weight}");
    }
}

#[test]
fn rows_that_no_plane_separates_are_refused_with_the_proof() {
    let rows = [[0., 0.], [0., 1.], [1., 0.], [1., 1.]];
    let xor = Dataset::from_rows(&rows, &["0", "1", "1", "0"]).unwrap();
    let touching = Dataset::from_rows(&[[0.0], [1.0], [1.0], [2.0]], &["a", "a", "b", "b"]);
    for data in [xor, touching.unwrap(), example("breast_cancer.csv").with_flipped_label()] {
        let error = HardMargin.fit(&Task::new(data.clone()), &Limits::default(), &mut ());
        let error = error.expect_err("no plane");
        assert_eq!(error.code(), Code::NOT_SEPARABLE);
        assert!(error.to_string().contains("rows prove it ("), "{error}");
        let Error::Inseparable { claim, .. } = error else { panic!("{error}") };
        assert!(holds(&claim, &data), "{claim:?}");
    }
}

/// One label of the other class, in the midst of its own.
trait Flipped {
    fn with_flipped_label(&self) -> Dataset;
}

impl Flipped for Dataset {
    fn with_flipped_label(&self) -> Dataset {
        let mut builder = DatasetBuilder::new(self.n_features());
        for row in 0..self.n_rows() {
            let label = self.label_text(row);
            builder.dense_row(&self.row(row), label).unwrap();
            if row == 7 {
                let other = if label == "0" { "1" } else { "0" };
                builder.dense_row(&self.row(row), other).unwrap();
            }
        }
        builder.finish().unwrap()
    }
}

#[test]
fn of_k_classes_every_machine_has_its_margin_or_the_pair_that_has_none_is_named() {
    let wine = Task::new(example("wine.csv"));
    let (rest, pairs): (Fit, Fit) =
        (fit(&wine), OneVsOne(HardMargin).fit(&wine, &Limits::default(), &mut ()).unwrap());
    for fit in [&rest, &pairs] {
        let names: Vec<&str> = fit.certificate.claims.iter().map(Claim::name).collect();
        assert_eq!(names, ["geometric-margin", "separable"].repeat(3));
        assert!(fit.certificate.claims.iter().all(|claim| holds(claim, &wine.data)));
        assert_eq!(fit.model.evaluate(&wine.data, None, 1).errors, 0);
        assert!(!support_rows(&fit.certificate.claims, &wine).unwrap().is_empty());
    }
    // A machine of fewer rows can only have a wider margin.
    assert!(gamma2(&pairs) >= gamma2(&rest));
    let iris = Task::new(example("iris.csv"));
    for (learner, words) in [
        (&HardMargin as &dyn Learner, "separates versicolor from setosa, virginica:"),
        (&OneVsOne(HardMargin), "separates virginica from versicolor:"),
    ] {
        let error = learner.fit(&iris, &Limits::default(), &mut ()).err().unwrap();
        assert!(error.to_string().contains(words), "{error}");
        let Error::Inseparable { claim, .. } = error else { panic!() };
        assert!(holds(&claim, &iris.data));
    }
    // On a line the middle class is not separable from the rest, but every pair is.
    let line = [[0.0], [1.0], [4.0], [5.0], [8.0], [9.5]];
    let data = Dataset::from_rows(&line, &["low", "low", "middle", "middle", "top", "top"]);
    let task = Task::new(data.unwrap());
    let fit = OneVsOne(HardMargin).fit(&task, &Limits::default(), &mut ()).unwrap();
    let roots = |model: &LinearModel| -> Vec<f64> {
        model.planes.iter().map(|plane| -plane.bias / plane.weights[0]).collect()
    };
    assert_eq!(roots(&fit.model), [2.5, 4.5, 6.5]);
}

/// A driver may end the run between two steps: the plane of the verdict is there before the widest is.
#[test]
fn a_run_that_is_cut_short_says_what_it_has() {
    let task = Task::new(example("breast_cancer.csv"));
    let mut seen = Vec::new();
    for steps in 0..2000 {
        let mut left = steps;
        let mut watch = |_: &dyn Training| {
            left -= 1;
            if left < 0 { ControlFlow::Break(Stop::Time) } else { ControlFlow::Continue(()) }
        };
        let fit = HardMargin.fit(&task, &Limits::default(), &mut watch).unwrap();
        let names: Vec<&str> = fit.certificate.claims.iter().map(Claim::name).collect();
        assert!(
            fit.certificate.claims.iter().all(|claim| {
                matches!(claim, Claim::Unproved { .. }) || holds(claim, &task.data)
            })
        );
        if names.contains(&"separable") {
            assert_eq!(fit.model.evaluate(&task.data, None, 1).errors, 0);
        }
        seen.push(names.join(" "));
        if fit.stop == Stop::Finished {
            break;
        }
    }
    seen.dedup();
    assert_eq!(seen, ["unproved", "separable unproved", "geometric-margin separable"]);
}

/// Too many numbers for whole-number points: the best plane at hand, and between which bounds it stands.
#[test]
fn beyond_the_limits_the_best_plane_is_given_with_its_interval() {
    let width = 2100;
    let mut builder = DatasetBuilder::new(width);
    for row in 0..5000u32 {
        let label = if row.is_multiple_of(2) { "even" } else { "odd" };
        let side = if row.is_multiple_of(2) { 1.0 } else { -1.0 };
        builder.sparse_row(&[(0, side), (1 + row % 2099, 0.5)], label).unwrap();
    }
    let task = Task::new(builder.finish().unwrap());
    let fit = fit(&task);
    let reason = fit.shortfall.as_ref().expect("no exact margin");
    let [separable, Claim::Unproved { reason: stated }] = &fit.certificate.claims[..] else {
        panic!("{:?}", fit.certificate.claims)
    };
    assert_eq!(reason, stated);
    assert!(separable.name() == "separable" && holds(separable, &task.data));
    let distance = fit.remarks[0].data.get("distance").unwrap();
    let (low, high) = (
        distance.get("lower").unwrap().as_f64().unwrap(),
        distance.get("upper").unwrap().as_f64().unwrap(),
    );
    // Columns 1 and on carry nothing: the rows are at ±1 of column 0, or a little more.
    assert!(0.0 < low && low <= 1.2 && high >= 1.0 && low <= high, "{low} {high}");
    assert!(support_rows(&fit.certificate.claims, &task).is_err());
}

#[test]
fn what_cannot_be_proved_or_has_one_side_is_refused_at_once() {
    let classes = ["setosa", "versicolor", "virginica"].map(str::to_owned);
    let data = example("iris.csv").with_classes(&classes, false).unwrap();
    let only: Vec<u32> = (0..50).collect();
    let part = Task::new(data).with_rows(Some(only.into()));
    assert_eq!(HardMargin.start(&part).err().unwrap().code(), Code::FOLD);
}
