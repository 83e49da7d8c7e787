//! The single-sample perceptron (Rosenblatt 1958).
//!
//! Problem: find w, b with y(w·x + b) > 0 for every row, y = ±1.
//!
//! Idea: visit the rows one at a time; a row on the wrong side pulls the plane towards itself:
//!
//! ```text
//! if y(w·x + b) ≤ 0:   w += η y x,   b += η y
//! ```
//!
//! A pass without a correction leaves every row on its side: the run ends. If the rows can be
//! separated with margin γ (unit length of (w, b), |(1, x)| ≤ R), at most (R/γ)² corrections happen
//! from the start 0 (Novikoff 1962). If they cannot, the run never ends by itself.
//!
//! K classes: one plane for each class and the highest score wins. A row of class c whose score does
//! not exceed that of the strongest other class k moves both: plane c by +ηx, plane k by −ηx
//! (Kesler's construction). [`crate::run::reduction::OneVsRest`] makes K two-class problems instead.
//!
//! Reference: Duda, Hart, Stork, Pattern Classification, 5.5 and 5.12; Haykin, chapter 1.

use crate::engine::moving::{MovingPlanes, Rates};
use crate::engine::online::{Judge, Setup, UpdateRule, Visit};
use crate::engine::rate::Rate;
use crate::engine::response::{Aggressively, Fixed, LeastMeanSquares, Relaxing, Respond, Response};
use crate::model::Plane;
use crate::run::{BinaryLearner, ClassWeights, Learner, Task, Training};
use linsep_data::Dataset;
use linsep_data::error::{Error, Result};
use linsep_data::matrix::Rows;
use linsep_data::rng::{Purpose, Stream};
use linsep_data::scale::{Scaler, Scaling};

#[doc(hidden)]
pub use crate::claim::separating::{Planes, certificate_of, claim_of};
#[doc(hidden)]
pub use crate::engine::online::Online;
pub use crate::engine::online::Order;
pub use crate::engine::stopping::StopRule;
pub use ties::Ties;

/// The settings of the perceptron.
///
/// ```
/// use linsep::learn::perceptron::Perceptron;
/// use linsep::{Dataset, Learner, Limits, Task};
/// let and = Dataset::from_rows(&[[0., 0.], [0., 1.], [1., 0.], [1., 1.]], &["0", "0", "0", "1"])?;
/// let fit = Perceptron::default().fit(&Task::new(and), &Limits::default(), &mut ())?;
/// assert_eq!(fit.model.predict(&[1., 1.])?, "1");
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Perceptron {
    /// What a row asks for.
    pub response: Response,
    /// The learning rate η of each correction.
    pub rate: Rate,
    /// The order of the rows.
    pub order: Order,
    /// When a run ends by itself.
    pub stop: StopRule,
    /// The start weights.
    pub init: Init,
    /// Which scores of exactly 0 are mistakes.
    pub ties: Ties,
    /// The seed of orders and random starts.
    pub seed: u64,
    /// Scaling during learning; the model speaks of raw features.
    pub scale: Scaling,
    /// What rows count by their class.
    pub class_weights: ClassWeights,
}

/// The start of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Init {
    /// All weights 0.
    #[default]
    Zero,
    /// Standard normal weights in the coordinates of the run.
    Random,
    /// Given planes in terms of raw features: one for two classes, else one for each class.
    Given(Vec<Plane>),
}

impl Default for Perceptron {
    fn default() -> Self {
        Perceptron {
            response: Response::Fixed,
            rate: Rate::default(),
            order: Order::Shuffle,
            stop: StopRule::CleanEpoch,
            init: Init::Zero,
            ties: Ties::Strict,
            seed: 0,
            scale: Scaling::Pow2,
            class_weights: ClassWeights::None,
        }
    }
}

impl Learner for Perceptron {
    fn start(&self, task: &Task) -> Result<Box<dyn Training>> {
        Ok(Box::new(self.launch(task, Planes::of(task), false)?))
    }
}

impl BinaryLearner for Perceptron {
    fn start_binary(&self, task: &Task, positive: u32) -> Result<Box<dyn Training>> {
        Ok(Box::new(self.launch(task, Planes::One(positive), false)?))
    }
}

impl Perceptron {
    /// Starts a run; `average` keeps the averaged planes too.
    #[doc(hidden)]
    pub fn launch(&self, task: &Task, planes: Planes, average: bool) -> Result<Online> {
        let setup = match planes {
            Planes::One(positive) => self.setup(task, 1, |_| Purpose::Start(u64::from(positive))),
            Planes::Joint => self.setup(task, task.data.n_classes(), |k| Purpose::Start(k as u64)),
        };
        let setup = Setup { average, ..setup? };
        match self.response {
            Response::Fixed => {
                run_of(Fixed { b: 0.0, strict: !self.ties.zero_is_positive() }, setup, planes)
            }
            Response::Margin { b } => run_of(Fixed { b, strict: true }, setup, planes),
            Response::Relaxation { rho, b } => run_of(Relaxing { rho, b }, setup, planes),
            Response::PassiveAggressive { variant, c } => {
                run_of(Aggressively { variant, c }, setup, planes)
            }
            Response::Lms { normalised } => run_of(LeastMeanSquares { normalised }, setup, planes),
        }
    }

    fn check(&self) -> Result<()> {
        let above_0 = |name: &str, x: f64| match x.is_finite() && x > 0.0 {
            true => Ok(()),
            false => Err(Error::usage(format!("{name} is {x}, it must be above 0"))),
        };
        match self.response {
            Response::Margin { b } if !b.is_finite() || b < 0.0 => {
                return Err(Error::usage(format!("the margin b is {b}, it must be at least 0")));
            }
            Response::Relaxation { rho, b } => {
                above_0("rho", rho)?;
                above_0("the margin b", b)?;
                if rho >= 2.0 {
                    return Err(Error::usage(format!("rho is {rho}, it must be below 2")));
                }
            }
            Response::PassiveAggressive { c, .. } => above_0("C", c)?,
            _ => {}
        }
        self.rate.check()
    }

    pub(crate) fn setup(
        &self,
        task: &Task,
        planes: usize,
        purpose: impl Fn(usize) -> Purpose,
    ) -> Result<Setup> {
        self.check()?;
        let rows = task.active_rows()?;
        let data = &task.data;
        let scaler = Scaler::new(self.scale, data, &rows);
        let start = self.start_planes(data, &rows, planes, &scaler, purpose)?;
        let factors = self.row_factors(data, &rows, &scaler);
        let rates = Rates { rate: self.rate.clone(), factors };
        let task = task.clone();
        let (order, until, seed, scaling) = (self.order, self.stop, self.seed, self.scale);
        let average = false;
        Ok(Setup { task, rows, scaling, scaler, rates, start, order, until, seed, average })
    }

    fn start_planes(
        &self,
        data: &Dataset,
        rows: &[u32],
        planes: usize,
        scaler: &Scaler,
        purpose: impl Fn(usize) -> Purpose,
    ) -> Result<Vec<Plane>> {
        let width = data.n_features();
        match &self.init {
            Init::Zero => Ok(vec![Plane { weights: vec![0.0; width], bias: 0.0 }; planes]),
            Init::Random => {
                let used = used_columns(data, rows);
                // A column without values has no unit, and no row would ever move its weight.
                let scale = |j: usize| if used[j] { scaler.scale(j) } else { 0.0 };
                let plane = |k| {
                    let mut stream = Stream::new(self.seed, purpose(k));
                    let bias = stream.normal();
                    let weights = (0..width).map(|j| stream.normal() * scale(j) + 0.0).collect();
                    Plane { weights, bias }
                };
                Ok((0..planes).map(plane).collect())
            }
            Init::Given(given) => {
                if given.len() != planes || given.iter().any(|p| p.weights.len() != width) {
                    return Err(Error::usage(format!(
                        "the start needs {planes} plane(s) of {width} weights, it has {} of {}",
                        given.len(),
                        given.first().map_or(0, |plane| plane.weights.len())
                    )));
                }
                // A negative zero would tell dense from sparse rows.
                let plain = |plane: &Plane| Plane {
                    weights: plane.weights.iter().map(|w| w + 0.0).collect(),
                    bias: plane.bias + 0.0,
                };
                Ok(given.iter().map(plain).collect())
            }
        }
    }

    /// Row weight × class weight × row scale, if any of them is not 1.
    fn row_factors(&self, data: &Dataset, rows: &[u32], scaler: &Scaler) -> Option<Vec<f64>> {
        let weights = crate::engine::row_weights::row_weights(data, rows, &self.class_weights);
        match (&scaler.row_factor, weights) {
            (None, weights) => weights,
            (Some(scale), None) => Some(scale.clone()),
            (Some(scale), Some(weights)) => {
                Some(weights.iter().zip(scale).map(|(weight, scale)| weight * scale).collect())
            }
        }
    }
}

/// Which columns have a value in some of these rows.
fn used_columns(data: &Dataset, rows: &[u32]) -> Vec<bool> {
    let (mut used, mut scratch) = (vec![false; data.n_features()], Vec::new());
    for &row in rows {
        data.store().for_each(row as usize, &mut scratch, |j, _| used[j as usize] = true);
    }
    used
}

/// A run of the engine under a rule of the family.
fn run_of(answer: impl Respond, setup: Setup, planes: Planes) -> Result<Online> {
    match planes {
        Planes::One(positive) => Online::new(OnePlane { positive, answer }, setup, planes),
        Planes::Joint => Online::new(Kesler { answer }, setup, planes),
    }
}

fn visit_of(answer: &impl Respond, margin: f64) -> Visit {
    if answer.is_mistake(margin) { Visit::Corrected } else { Visit::Improved }
}

/// One plane: the rule of two classes.
struct OnePlane<A> {
    positive: u32,
    answer: A,
}

impl<A: Respond> UpdateRule for OnePlane<A> {
    const RESTS: bool = A::RESTS;

    fn judge(&self) -> &dyn Judge {
        &self.answer
    }

    #[inline]
    fn visit<R: Rows>(
        &self,
        moving: &mut MovingPlanes<'_>,
        rows: &R,
        row: usize,
        class: u32,
    ) -> Visit {
        let is_positive = class == self.positive;
        let (margin, y) = moving.margin(rows, row, is_positive);
        match self.answer.respond(margin, is_positive, || moving.square(rows, row)) {
            None => Visit::Right,
            Some(step) => {
                moving.correct(rows, row, 0, y * step);
                visit_of(&self.answer, margin)
            }
        }
    }
}

/// All planes at once: the rule of K classes. A tie is right where the earlier class wins it, as in
/// prediction.
struct Kesler<A> {
    answer: A,
}

impl<A: Respond> UpdateRule for Kesler<A> {
    const RESTS: bool = A::RESTS;

    fn judge(&self) -> &dyn Judge {
        &self.answer
    }

    #[inline]
    fn visit<R: Rows>(
        &self,
        moving: &mut MovingPlanes<'_>,
        rows: &R,
        row: usize,
        class: u32,
    ) -> Visit {
        let class = class as usize;
        let (margin, rival) = moving.lead(rows, row, class);
        match self.answer.respond(margin, class < rival, || 2.0 * moving.square(rows, row)) {
            Some(step) if moving.n_planes() > 1 => {
                moving.correct(rows, row, class, step);
                moving.correct(rows, row, rival, -step);
                visit_of(&self.answer, margin)
            }
            Some(_) => Visit::Corrected,
            None => Visit::Right,
        }
    }
}

#[cfg(test)]
mod skipping;
mod ties;
