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
use crate::learn::optimising::{ConvexProblem, Solver};
use crate::loss::Loss;
use crate::objective::Objective;
use crate::objective::box_constraints::Bound;
use crate::run::{BinaryLearner, Learner, Task, Training};
use linsep_data::error::Result;
use linsep_data::scale::Scaling;
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
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Logistic {
    /// What the losses count beside the penalty.
    pub c: f64,
    /// The factor of |v|²/2.
    pub l2: f64,
    /// The factor of |v|₁.
    pub l1: f64,
    /// What becomes of the bias.
    pub intercept: Intercept,
    /// No weight is smaller.
    pub lower: Bound,
    /// No weight is larger.
    pub upper: Bound,
    /// The scale in which weights are penalised.
    pub scale: Scaling,
    /// Weight each class by n / (K · rows of the class).
    pub balanced: bool,
    /// The relative gap at which a run ends.
    pub gap: f64,
    /// Who does the work.
    pub solver: Solver,
    /// The seed of the order of the rows.
    pub seed: u64,
}

linsep_proof::setters! {
    Logistic {
        with_c => c: f64,
        with_l2 => l2: f64,
        with_l1 => l1: f64,
        with_intercept => intercept: Intercept,
        with_lower => lower: Bound,
        with_upper => upper: Bound,
        with_scale => scale: Scaling,
        with_balanced => balanced: bool,
        with_gap => gap: f64,
        with_solver => solver: Solver,
        with_seed => seed: u64,
    }
}

impl Default for Logistic {
    fn default() -> Self {
        Logistic {
            c: 1.0,
            l2: 1.0,
            l1: 0.0,
            intercept: Intercept::Free,
            lower: Bound::default(),
            upper: Bound::default(),
            scale: Scaling::None,
            balanced: false,
            gap: 1e-3,
            solver: Solver::Auto,
            seed: 0,
        }
    }
}

impl Logistic {
    fn problem(&self) -> ConvexProblem {
        ConvexProblem {
            loss: Loss::Logistic,
            c: self.c,
            l1: self.l1,
            l2: self.l2,
            intercept: self.intercept,
            lower: self.lower.clone(),
            upper: self.upper.clone(),
            scale: self.scale,
            balanced: self.balanced,
            gap: self.gap,
            solver: self.solver,
            seed: self.seed,
        }
    }
}

impl Logistic {
    /// What is made small for one class against the others.
    pub(crate) fn objective(&self, task: &Task, positive: u32) -> Result<Objective> {
        self.problem().objective(task, positive)
    }

    /// Whether one machine for all classes takes these settings.
    pub(crate) fn is_plain(&self) -> bool {
        let limited = !(self.lower.is_none() && self.upper.is_none());
        let solver = matches!(self.solver, Solver::Auto | Solver::Newton);
        self.l1 == 0.0 && self.l2 > 0.0 && !limited && solver
    }
}

impl BinaryLearner for Logistic {
    fn start_binary(&self, task: &Task, positive: u32) -> Result<Box<dyn Training>> {
        self.problem().start(task, positive)
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
}
