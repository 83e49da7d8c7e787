//! The linear support vector machine.
//!
//! Problem: with y = ±1, m = y(w·x + b), row costs c = C · weight and v_j = s_j w_j,
//!
//! ```text
//! least  Σ c max(0, 1 − m)² + l2/2 |v|² + l1 |v|₁        (squared hinge; the plain hinge without the square)
//! ```
//!
//! Proved: `optimal`, see [`crate::learn::optimising`]. The rows with a multiplier α > 0 hold the plane.
//!
//! Reference: Cortes, Vapnik, Support-vector networks, 1995; Bishop 7.1.

use crate::engine::joint::JointLoss;
use crate::learn::optimising::one_versus_rest::{self, Sweeps};
use crate::learn::optimising::settings::convex_setters;
use crate::learn::optimising::{ConvexProblem, ConvexSettings};
use crate::loss::Loss;
use crate::run::reduction::OneVsRest;
use crate::run::{BinaryLearner, Learner, Solves, Task, Training};
use linsep_data::error::{Error, Result};
use linsep_data::read::words;
pub use linsep_proof::Intercept;

/// The settings of a support vector machine.
///
/// ```
/// use linsep::learn::svm::Svm;
/// use linsep::{Dataset, Learner, Limits, Task};
/// let data = Dataset::from_rows(&[[0.], [1.], [2.], [3.]], &["low", "up", "low", "up"])?;
/// let fit = Svm::default().fit(&Task::new(data), &Limits::default(), &mut ())?;
/// assert_eq!(fit.certificate.claims[0].name(), "optimal");
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Svm {
    /// What a lack of margin costs.
    pub loss: HingeLoss,
    /// The penalty, the bias, the gap and what else is common.
    pub settings: ConvexSettings,
}

linsep_proof::setters! {
    Svm {
        with_loss => loss: HingeLoss,
        with_settings => settings: ConvexSettings,
    }
}
convex_setters! { Svm.settings }

words! {
    /// What a lack of margin costs.
    HingeLoss: "loss" {
        /// max(0, 1 − m)².
        Squared = "squared-hinge",
        /// max(0, 1 − m).
        Plain = "hinge",
    }
}

impl Default for Svm {
    fn default() -> Self {
        Svm { loss: HingeLoss::Squared, settings: ConvexSettings::default() }
    }
}

impl Svm {
    fn problem(&self) -> ConvexProblem {
        let loss = match self.loss {
            HingeLoss::Squared => Loss::SquaredHinge,
            HingeLoss::Plain => Loss::Hinge,
        };
        ConvexProblem { loss, settings: self.settings.clone() }
    }
}

impl BinaryLearner for Svm {
    fn start_binary(&self, task: &Task, positive: u32) -> Result<Box<dyn Training>> {
        self.problem().start(task, positive)
    }

    fn solves_binary(&self, task: &Task) -> Result<Solves> {
        let problem = self.problem();
        problem.solves(task, problem.loss.in_claims())
    }
}

impl Learner for Svm {
    fn start(&self, task: &Task) -> Result<Box<dyn Training>> {
        task.data.require_two_classes()?;
        let problem = self.problem();
        match one_versus_rest::serve(&problem, task)? {
            true => Ok(Box::new(Sweeps::new(problem, task)?)),
            false => OneVsRest(self.clone()).start(task),
        }
    }

    fn solves(&self, task: &Task) -> Result<Solves> {
        self.solves_binary(task)
    }
}

/// The machine of Crammer and Singer: one loss for all scores of a row, whatever loss is set. Two classes
/// are one plane with the plain hinge and half of l2, which is the same objective.
///
/// ```
/// use linsep::learn::svm::{CrammerSinger, Svm};
/// use linsep::{Dataset, Learner, Limits, Task};
/// let data = Dataset::from_rows(&[[0.], [1.], [5.], [6.], [9.]], &["a", "a", "b", "b", "c"])?;
/// let fit = CrammerSinger(Svm::default()).fit(&Task::new(data), &Limits::default(), &mut ())?;
/// assert_eq!(fit.model.planes.len(), 3);
/// # Ok::<(), linsep::Error>(())
/// ```
pub struct CrammerSinger(pub Svm);

impl CrammerSinger {
    fn of_two_classes(&self) -> Svm {
        let halved = 0.5 * self.0.settings.l2;
        self.0.clone().with_loss(HingeLoss::Plain).with_l2(halved)
    }
}

impl Learner for CrammerSinger {
    fn start(&self, task: &Task) -> Result<Box<dyn Training>> {
        if task.data.n_classes() > 2 {
            return crate::learn::optimising::k_class::start(
                self.0.problem(),
                JointLoss::CrammerSinger,
                task,
            );
        }
        self.of_two_classes().start(task)
    }

    fn solves(&self, task: &Task) -> Result<Solves> {
        match task.data.n_classes() > 2 {
            true => self.0.problem().solves(task, linsep_proof::Loss::CrammerSinger),
            false => self.of_two_classes().solves(task),
        }
    }
}
