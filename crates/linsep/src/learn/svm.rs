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
use crate::learn::optimising::{ConvexProblem, Solver};
use crate::loss::Loss;
use crate::objective::box_constraints::Bound;
use crate::run::reduction::OneVsRest;
use crate::run::{BinaryLearner, Learner, Task, Training};
use linsep_data::error::{Error, Result};
use linsep_data::read::words;
use linsep_data::scale::Scaling;
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
    Svm {
        with_loss => loss: HingeLoss,
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
        Svm {
            loss: HingeLoss::Squared,
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

impl Svm {
    fn problem(&self) -> ConvexProblem {
        ConvexProblem {
            loss: match self.loss {
                HingeLoss::Squared => Loss::SquaredHinge,
                HingeLoss::Plain => Loss::Hinge,
            },
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

impl BinaryLearner for Svm {
    fn start_binary(&self, task: &Task, positive: u32) -> Result<Box<dyn Training>> {
        self.problem().start(task, positive)
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

impl Learner for CrammerSinger {
    fn start(&self, task: &Task) -> Result<Box<dyn Training>> {
        if task.data.n_classes() > 2 {
            return crate::learn::optimising::k_class::start(
                self.0.problem(),
                JointLoss::CrammerSinger,
                task,
            );
        }
        let halved = Svm { loss: HingeLoss::Plain, l2: 0.5 * self.0.l2, ..self.0.clone() };
        halved.start(task)
    }
}
