//! Learn with a loss of your own: the hinge with a rounded kink.
//!
//! ```text
//! f(m) = 0 for m ≥ 1,  (1 − m)²/2 for 0 < m < 1,  ½ − m for m ≤ 0
//! ```

#![allow(clippy::print_stdout)]

use linsep::learn::descent::Descent;
use linsep::loss::MarginLoss;
use linsep::{Claim, Dataset, Learner, Limits, Stop, Task};
use std::sync::Arc;

struct SmoothedHinge;

impl MarginLoss for SmoothedHinge {
    fn value(&self, m: f64) -> f64 {
        let lack = (1.0 - m).clamp(0.0, 1.0);
        0.5 * lack * lack + (-m).max(0.0)
    }

    fn slope(&self, m: f64) -> f64 {
        -(1.0 - m).clamp(0.0, 1.0)
    }

    // The slope is steepest between 0 and 1; the rate of the descent follows from this bound.
    fn curvature_bound(&self) -> Option<f64> {
        Some(1.0)
    }

    fn is_convex(&self) -> bool {
        true
    }
}

pub(crate) fn main() -> linsep::Result<()> {
    let rows = [[0.0, 1.0], [1.0, 3.0], [2.0, 2.0], [4.0, 1.0], [5.0, 3.0], [6.0, 2.0]];
    let labels = ["left", "left", "left", "right", "right", "right"];
    let task = Task::new(Dataset::from_rows(&rows, &labels)?);
    let learner = Descent::on_loss(Arc::new(SmoothedHinge));
    let limits = Limits::default().with_epochs(Some(10_000));
    let fit = learner.fit(&task, &limits, &mut ())?;
    println!("{} epochs, ended by: {}", fit.progress.epochs, fit.stop.word());
    assert_eq!(fit.stop, Stop::Finished);

    // No bound is known for a loss of your own, but that planes separate the rows can be proved.
    for claim in &fit.certificate.claims {
        println!("claim {}", claim.name());
        assert!(matches!(claim, Claim::Separable { .. }));
    }
    assert_eq!(fit.model.predict(&[7.0, 0.0])?, "right");
    Ok(())
}
