//! Adaline: least mean squares, row by row (Widrow and Hoff 1960).
//!
//! Problem: the plane with the least squared error Σ (y − w·x − b)², without any matrix. Idea: each
//! visit takes a step of steepest descent on the error of one row, w += η (y − w·x − b) x, whether
//! the row is on its side or not. It comes to rest near the least-squares plane: the nearer the
//! smaller η, and at it if η falls like 1/k.
//!
//! Stability: a step at a row of squared length q = |z|² multiplies its error by 1 − ηq, so every
//! η below 2 / max q keeps each step from overshooting; beyond it a run may diverge. Normalised LMS
//! divides by q and is stable for 0 < η < 2 whatever the rows.
//!
//! It ends when a whole epoch moved the planes by no more than a share `rest` of their length. All rows
//! at a time is batch LMS: [`crate::learn::descent::Descent::lms`].
//!
//! Reference: Haykin, Neural Networks, 3.

use crate::engine::perceptron::{Perceptron, Planes};
use crate::engine::rate::Rate;
use crate::engine::response::Response;
use crate::engine::resting::Resting;
use crate::run::{BinaryLearner, Learner, Remark, Task, Training};
use linsep_data::error::{Error, Result, readable};
use linsep_data::scale::{Scaler, Scaling};

/// The settings of Adaline.
///
/// ```
/// use linsep::learn::adaline::Adaline;
/// use linsep::{Dataset, Learner, Limits, Task};
/// let rows = [[0., 0.], [0., 1.], [1., 0.], [1., 1.]];
/// let and = Task::new(Dataset::from_rows(&rows, &["0", "0", "0", "1"])?);
/// let fit = Adaline::default().fit(&and, &Limits::default(), &mut ())?;
/// assert_eq!(fit.model.predict(&[1., 1.])?, "1");
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Adaline {
    /// Order, start, scaling, seed and class weights; its own rule and rate are not used.
    pub run: Perceptron,
    /// The rate; half the stability bound when `None`.
    pub rate: Option<Rate>,
    /// Whether steps are divided by the squared length of the row.
    pub normalised: bool,
    /// The share of their length that an epoch may move the planes at rest.
    pub rest: f64,
}

linsep_proof::setters! {
    Adaline {
        with_run => run: Perceptron,
        with_rate => rate: Option<Rate>,
        with_normalised => normalised: bool,
        with_rest => rest: f64,
    }
}

impl Default for Adaline {
    fn default() -> Self {
        let run = Perceptron { scale: Scaling::Standard, ..Perceptron::default() };
        Adaline { run, rate: None, normalised: false, rest: 1e-4 }
    }
}

impl Adaline {
    /// The rate below which no step overshoots: 2 / max |z|² in the coordinates of the run, and 2
    /// for normalised steps.
    pub fn stability_bound(&self, task: &Task) -> Result<f64> {
        if self.normalised {
            return Ok(2.0);
        }
        let rows = task.active_rows()?;
        let scaler = Scaler::new(self.run.scale, &task.data, &rows);
        scaler.check()?;
        let longest = rows.iter().map(|&row| scaler.square_of(&task.data, row as usize));
        Ok(2.0 / longest.fold(f64::MIN_POSITIVE, f64::max))
    }

    fn launch(&self, task: &Task, planes: Planes) -> Result<Box<dyn Training>> {
        if !self.rest.is_finite() || self.rest < 0.0 {
            return Err(Error::usage(format!("rest is {}, it must be at least 0", self.rest)));
        }
        let bound = self.stability_bound(task)?;
        let rate = self.rate.clone().unwrap_or(Rate::Constant(0.5 * bound));
        let remark = rate_remark(rate.at(1), bound);
        let response = Response::Lms { normalised: self.normalised };
        let run = Perceptron { rate, response, ..self.run.clone() }.launch(task, planes, false)?;
        Ok(Box::new(Resting::new(run, Some(self.rest)).remarking(remark)))
    }
}

/// A rate against the bound beyond which steps overshoot.
pub(crate) fn rate_remark(rate: f64, bound: f64) -> Remark {
    let [shown, limit] = [rate, bound].map(|number| readable(number, 4));
    let words = match rate < bound {
        true => format!("{shown}, below the bound {limit} at which steps overshoot"),
        false => format!("{shown} is not below {limit}: steps overshoot, and may diverge"),
    };
    Remark::new("rate", words, [("rate", rate.into()), ("bound", bound.into())])
}

impl Learner for Adaline {
    /// One plane for two classes; K classes need [`crate::run::reduction::OneVsRest`].
    fn start(&self, task: &Task) -> Result<Box<dyn Training>> {
        match Planes::of(task) {
            planes @ Planes::One(_) => self.launch(task, planes),
            Planes::Joint => crate::run::reduction::OneVsRest(self.clone()).start(task),
        }
    }
}

impl BinaryLearner for Adaline {
    fn start_binary(&self, task: &Task, positive: u32) -> Result<Box<dyn Training>> {
        self.launch(task, Planes::One(positive))
    }
}
