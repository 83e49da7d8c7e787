//! Descent on a loss of the caller's own.

use linsep::data::scale::Scaling;
use linsep::learn::descent::{Descent, Pace};
use linsep::loss::{Criterion, MarginLoss};
use linsep::{Budget, Claim, Dataset, Learner, Limits, Status, Stop, Task};
use std::sync::Arc;

/// A criterion as a caller would write it: the default block loop, nothing known but what it says.
struct Copied(Criterion);

impl MarginLoss for Copied {
    fn value(&self, m: f64) -> f64 {
        self.0.value(m)
    }

    fn slope(&self, m: f64) -> f64 {
        self.0.slope(m)
    }

    fn curvature_bound(&self) -> Option<f64> {
        self.0.curvature()
    }

    fn is_convex(&self) -> bool {
        self.0.is_convex()
    }
}

/// The logistic loss whose value and slope are other numbers at margins below −1.
struct Broken {
    value: f64,
    slope: f64,
}

impl MarginLoss for Broken {
    fn value(&self, m: f64) -> f64 {
        if m < -1.0 { self.value } else { Criterion::Logistic.value(m) }
    }

    fn slope(&self, m: f64) -> f64 {
        if m < -1.0 { self.slope } else { Criterion::Logistic.slope(m) }
    }
}

struct Curved(f64);

impl MarginLoss for Curved {
    fn value(&self, m: f64) -> f64 {
        m * m
    }

    fn slope(&self, m: f64) -> f64 {
        2.0 * m
    }

    fn curvature_bound(&self) -> Option<f64> {
        Some(self.0)
    }
}

/// More rows than a block has, of so many classes, not separable.
fn data(classes: usize) -> Dataset {
    let rows: Vec<[f64; 2]> =
        (0..5000).map(|k| [f64::from(k * 37 % 101) / 10.0, f64::from(k * 53 % 89) / 7.0]).collect();
    let labels: Vec<String> = rows
        .iter()
        .enumerate()
        .map(|(k, [x, y])| if k % 13 == 0 { "0".to_owned() } else { class(x - y, classes) })
        .collect();
    Dataset::from_rows(&rows, &labels).unwrap()
}

fn class(score: f64, classes: usize) -> String {
    let place = ((score + 4.0) / 4.0).clamp(0.0, classes as f64 - 1.0);
    (place as usize).to_string()
}

fn bits(learner: &Descent, task: &Task, epochs: u64) -> Vec<u64> {
    let fit = learner.fit(task, &Limits::default().with_epochs(Some(epochs)), &mut ()).unwrap();
    let planes = fit.model.planes.iter();
    planes.flat_map(|p| p.weights.iter().chain([&p.bias]).map(|w| w.to_bits())).collect()
}

#[test]
fn a_copied_criterion_learns_the_same_planes() {
    // Criteria whose end and link depend on nothing but the loss.
    let criteria =
        [Criterion::Squared, Criterion::Hinge, Criterion::SquaredHinge, Criterion::Logistic];
    for classes in [2, 3] {
        let task = Task::new(data(classes));
        for criterion in criteria {
            let own = Descent::on_loss(Arc::new(Copied(criterion)));
            let expected = bits(&Descent::on(criterion), &task, 7);
            assert_eq!(bits(&own, &task, 7), expected, "{criterion:?}");
            let threads = task.clone().with_threads(4);
            assert_eq!(bits(&own, &threads, 7), expected, "{criterion:?} on threads");
        }
    }
}

#[test]
fn numbers_that_are_not_finite_end_as_diverged() {
    // The first step has a length of 1 and goes to the right, where the last row is far on the wrong side.
    let data = Dataset::from_rows(&[[0.0], [1.0], [40.0], [9.0]], &["a", "b", "b", "a"]).unwrap();
    let bad = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    for (value, slope) in bad.into_iter().flat_map(|x| [(x, -1.0), (1.0, x), (x, x)]) {
        let learner = Descent::on_loss(Arc::new(Broken { value, slope }));
        let learner = learner.with_scale(Scaling::None);
        let fit = learner.fit(&Task::new(data.clone()), &Limits::default(), &mut ()).unwrap();
        assert_eq!(fit.stop, Stop::Diverged, "{value} {slope}");
        assert!(!fit.certificate.proves_something());
    }
    // The same loss with finite numbers is learned.
    let learner = Descent::on_loss(Arc::new(Broken { value: 1.0, slope: -1.0 }));
    let learner = learner.with_scale(Scaling::None);
    let limits = Limits::default().with_epochs(Some(50));
    let fit = learner.fit(&Task::new(data), &limits, &mut ()).unwrap();
    assert_ne!(fit.stop, Stop::Diverged);
}

#[test]
fn separation_is_proved_and_nothing_else_is() {
    let learner = Descent::on_loss(Arc::new(Copied(Criterion::Logistic)));
    let claims = |labels: &[&str]| {
        let data = Dataset::from_rows(&[[0.], [1.], [2.], [3.]], labels).unwrap();
        let limits = Limits::default().with_epochs(Some(200));
        learner.fit(&Task::new(data), &limits, &mut ()).unwrap().certificate.claims
    };
    assert!(matches!(claims(&["a", "a", "b", "b"])[..], [Claim::Separable { .. }]));
    match &claims(&["a", "b", "a", "b"])[..] {
        [Claim::Unproved { reason }] => assert!(reason.contains("custom loss"), "{reason}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_saved_state_needs_the_loss_again() {
    let task = Task::new(data(2));
    let own = Descent::on_loss(Arc::new(Copied(Criterion::Logistic)));
    let mut run = own.start(&task).unwrap();
    assert_eq!(run.advance(Budget::visits(3 * 5000)), Status::Running);
    let state = run.save();
    run.advance(Budget::visits(2 * 5000));

    let mut restored = own.start(&task).unwrap();
    restored.restore(&state).unwrap();
    restored.advance(Budget::visits(2 * 5000));
    assert_eq!(restored.model(), run.model());

    let mut other = Descent::on(Criterion::Logistic).start(&task).unwrap();
    let words = other.restore(&state).unwrap_err().to_string();
    assert!(words.contains("Descent::on_loss"), "{words}");
    let words = restored.restore(&other.save()).unwrap_err().to_string();
    assert!(words.contains("Descent::on`"), "{words}");
}

#[test]
fn curvatures_that_bound_nothing_and_single_rows_are_refused() {
    let task = Task::new(data(2));
    for bound in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let words = Descent::on_loss(Arc::new(Curved(bound))).start(&task).err().unwrap();
        assert!(words.to_string().contains(&format!("curvature bound {bound}")), "{words}");
    }
    let learner = Descent::on(Criterion::Hinge).with_loss(Arc::new(Curved(2.0)));
    let words = learner.clone().with_pace(Pace::Row).start(&task).err().unwrap().to_string();
    assert!(words.contains("pace=row"), "{words}");
    learner.start(&task).unwrap();
}
