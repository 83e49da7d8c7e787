//! Logistic regression with a penalty.
//!
//! Problem: with y = ±1, row costs c = C · weight and v_j = s_j w_j (s the scale, 1 by default),
//!
//! ```text
//! least  Σ c ln(1 + exp(−y(w·x + b))) + l2/2 |v|² + l1 |v|₁
//! ```
//!
//! l2 and l1 are 1 and 0 by default; `penalty` trades one for the other. The bias is free unless it
//! is asked to be penalised or left out.
//!
//! More than two classes: softmax regression (`learn/k_class`), or machines side by side
//! ([`crate::run::reduction`]).
//!
//! Proved: `optimal`, see [`crate::learn::optimising`]. 1/(1 + exp(−score)) is the probability of the
//! positive class.
//!
//! Reference: Bishop 4.3.2; Hastie, Tibshirani, Friedman 4.4.

use crate::engine::joint::JointLoss;
use crate::learn::optimising::settings::convex_setters;
use crate::learn::optimising::{ConvexProblem, ConvexSettings, Solver};
use crate::loss::Loss;
use crate::objective::Objective;
use crate::run::{BinaryLearner, Learner, Solves, Task, Training};
use linsep_data::error::Result;
pub use linsep_proof::Intercept;

/// The settings of logistic regression.
///
/// ```
/// use linsep::learn::logistic::Logistic;
/// use linsep::{Dataset, Learner, Limits, Task};
/// let data = Dataset::from_rows(&[[0.], [1.], [2.], [3.]], &["low", "up", "low", "up"])?;
/// let fit = Logistic::default().fit(&Task::new(data), &Limits::default(), &mut ())?;
/// assert_eq!(fit.certificate.claims[0].name(), "optimal");
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Logistic {
    /// The penalty, the bias, the gap and what else is common.
    pub settings: ConvexSettings,
}

linsep_proof::setters! {
    Logistic {
        with_settings => settings: ConvexSettings,
    }
}
convex_setters! { Logistic.settings }

impl Logistic {
    fn problem(&self) -> ConvexProblem {
        ConvexProblem { loss: Loss::Logistic, settings: self.settings.clone() }
    }

    /// What is made small for one class against the others.
    pub(crate) fn objective(&self, task: &Task, positive: u32) -> Result<Objective> {
        self.problem().objective(task, positive)
    }

    /// Whether one machine for all classes takes these settings.
    pub(crate) fn is_plain(&self) -> bool {
        let settings = &self.settings;
        let solver = matches!(settings.solver, Solver::Auto | Solver::Newton);
        settings.l1 == 0.0 && !settings.has_limits() && solver
    }
}

impl BinaryLearner for Logistic {
    fn start_binary(&self, task: &Task, positive: u32) -> Result<Box<dyn Training>> {
        self.problem().start(task, positive)
    }

    fn solves_binary(&self, task: &Task) -> Result<Solves> {
        self.problem().solves(task, Loss::Logistic.in_claims())
    }
}

impl Learner for Logistic {
    /// One plane for two classes, softmax regression for more.
    fn start(&self, task: &Task) -> Result<Box<dyn Training>> {
        match task.data.n_classes() > 2 {
            true => {
                crate::learn::optimising::k_class::start(self.problem(), JointLoss::Softmax, task)
            }
            false => crate::run::reduction::OneVsRest(self.clone()).start(task),
        }
    }

    fn solves(&self, task: &Task) -> Result<Solves> {
        match task.data.n_classes() > 2 {
            true => self.problem().solves(task, linsep_proof::Loss::Softmax),
            false => self.solves_binary(task),
        }
    }
}
