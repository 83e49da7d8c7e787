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

use crate::engine::moving::{Centring, MovingPlanes, Rates};
use crate::engine::online::{Online, Setup, UpdateRule, Visit};
use crate::engine::rate::Rate;
use crate::engine::response::{
    Aggressively, Fixed, LeastMeanSquares, Relaxing, Respond, Response, WithMargin,
};
use crate::model::{LinearModel, Link, Plane};
use crate::run::ability::{BoundsMargin, CarriesOn, Traces};
use crate::run::update::{Beginning, Update};
use crate::run::{
    BinaryLearner, Budget, Certificate, Learner, Progress, Remark, State, Status, Task, Training,
};
use linsep_data::Dataset;
use linsep_data::error::{Error, Result};
use linsep_data::matrix::Rows;
use linsep_data::rng::{Purpose, Stream};
use linsep_data::scale::{Scaler, Scaling};
use linsep_proof::{Claim, Finding, check_claim};

#[doc(hidden)]
pub use crate::claim::separating::{Planes, certificate_of, claim_of};
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
    /// Weight each class by n / (K · rows of the class).
    pub balanced: bool,
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
            balanced: false,
        }
    }
}

impl Learner for Perceptron {
    fn start(&self, task: &Task) -> Result<Box<dyn Training>> {
        Ok(self.launch(task, Planes::of(task), false)?)
    }
}

impl BinaryLearner for Perceptron {
    fn start_binary(&self, task: &Task, positive: u32) -> Result<Box<dyn Training>> {
        Ok(self.launch(task, Planes::One(positive), false)?)
    }
}

/// A run of the perceptron, with what other learners need of it.
#[doc(hidden)]
pub trait PerceptronRun: Training + CarriesOn {
    /// Whether the run ended by its stop rule.
    fn is_clean(&self) -> bool;

    /// The first plane as it is now, without the rest of the model.
    fn plane(&self) -> Plane;

    /// The claim that the planes separate; not checked.
    fn claim(&self) -> Claim;

    /// The model with its planes averaged over all visits.
    fn averaged_model(&self) -> LinearModel;
}

impl Perceptron {
    /// Starts a run; `average` keeps the averaged planes too.
    #[doc(hidden)]
    pub fn launch(
        &self,
        task: &Task,
        planes: Planes,
        average: bool,
    ) -> Result<Box<dyn PerceptronRun>> {
        let setup = match planes {
            Planes::One(positive) => self.setup(task, 1, |_| Purpose::Start(u64::from(positive))),
            Planes::Joint => self.setup(task, task.data.n_classes(), |k| Purpose::Start(k as u64)),
        };
        let setup = Setup { average, ..setup? };
        match (self.response, self.ties.zero_is_positive()) {
            (Response::Fixed, false) => OnlineRun::boxed(Fixed::<true>, setup, planes),
            (Response::Fixed, true) => OnlineRun::boxed(Fixed::<false>, setup, planes),
            (Response::Margin { b }, _) => OnlineRun::boxed(WithMargin(b), setup, planes),
            (Response::Relaxation { rho, b }, _) => {
                OnlineRun::boxed(Relaxing { rho, b }, setup, planes)
            }
            (Response::PassiveAggressive { variant, c }, _) => {
                OnlineRun::boxed(Aggressively { variant, c }, setup, planes)
            }
            (Response::Lms { normalised: true }, _) => {
                OnlineRun::boxed(LeastMeanSquares::<true>, setup, planes)
            }
            (Response::Lms { normalised: false }, _) => {
                OnlineRun::boxed(LeastMeanSquares::<false>, setup, planes)
            }
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
        let data = task.data.clone();
        let (order, until, seed, scaling) = (self.order, self.stop, self.seed, self.scale);
        let average = false;
        Ok(Setup { data, rows, scaling, scaler, rates, start, order, until, seed, average })
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
        let weights = crate::engine::row_weights::row_weights(data, rows, self.balanced);
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

fn visit_of(answer: &impl Respond, margin: f64) -> Visit {
    if answer.is_mistake(margin) { Visit::Corrected } else { Visit::Improved }
}

/// One plane: the rule of two classes.
struct OnePlane<A> {
    positive: u32,
    answer: A,
}

impl<A: Respond> UpdateRule for OnePlane<A> {
    fn rests_above(&self) -> Option<f64> {
        self.answer.rests_above()
    }

    #[inline]
    fn visit<R: Rows, C: Centring>(
        &self,
        machine: &mut MovingPlanes<'_, C>,
        rows: &R,
        row: usize,
        class: u32,
    ) -> Visit {
        let y = if class == self.positive { 1.0 } else { -1.0 };
        let margin = y * (machine.score(rows, row, 0) * machine.row_scale(row));
        let tie_is_right = class == self.positive;
        match self.answer.respond(margin, tie_is_right, || machine.square(rows, row)) {
            None => Visit::Right,
            Some(step) => {
                machine.correct(rows, row, 0, y * step);
                visit_of(&self.answer, margin)
            }
        }
    }

    fn margin<R: Rows, C: Centring>(
        &self,
        machine: &mut MovingPlanes<'_, C>,
        rows: &R,
        row: usize,
        class: u32,
    ) -> f64 {
        let y = if class == self.positive { 1.0 } else { -1.0 };
        y * (machine.score(rows, row, 0) * machine.row_scale(row))
    }

    fn is_wrong<R: Rows, C: Centring>(
        &self,
        machine: &mut MovingPlanes<'_, C>,
        rows: &R,
        row: usize,
        class: u32,
    ) -> bool {
        let margin = self.margin(machine, rows, row, class);
        self.answer.is_wrong(margin, class == self.positive)
    }

    fn loss<R: Rows, C: Centring>(
        &self,
        machine: &mut MovingPlanes<'_, C>,
        rows: &R,
        row: usize,
        class: u32,
    ) -> f64 {
        let margin = self.margin(machine, rows, row, class);
        self.answer.loss(margin, || machine.square(rows, row))
    }
}

/// All planes at once: the rule of K classes. A tie is right where the earlier class wins it, as in
/// prediction.
struct Kesler<A> {
    answer: A,
}

impl<A> Kesler<A> {
    /// How far the row's own score is above that of the strongest other class, and that class.
    #[inline]
    fn lead<R: Rows, C: Centring>(
        machine: &mut MovingPlanes<'_, C>,
        rows: &R,
        row: usize,
        class: usize,
    ) -> (f64, usize) {
        let mut own = f64::NAN;
        let (mut rival, mut strongest) = (usize::from(class == 0), f64::NEG_INFINITY);
        machine.scores(rows, row, |k, score| {
            if k == class {
                own = score;
            } else if score > strongest {
                (rival, strongest) = (k, score);
            }
        });
        // A difference of two numbers is 0 just when they are equal.
        ((own - strongest) * machine.row_scale(row), rival)
    }
}

impl<A: Respond> UpdateRule for Kesler<A> {
    fn rests_above(&self) -> Option<f64> {
        self.answer.rests_above()
    }

    #[inline]
    fn visit<R: Rows, C: Centring>(
        &self,
        machine: &mut MovingPlanes<'_, C>,
        rows: &R,
        row: usize,
        class: u32,
    ) -> Visit {
        let class = class as usize;
        let (margin, rival) = Self::lead(machine, rows, row, class);
        let square = || 2.0 * machine.square(rows, row);
        match self.answer.respond(margin, class < rival, square) {
            Some(step) if machine.n_planes() > 1 => {
                machine.correct(rows, row, class, step);
                machine.correct(rows, row, rival, -step);
                visit_of(&self.answer, margin)
            }
            Some(_) => Visit::Corrected,
            None => Visit::Right,
        }
    }

    fn margin<R: Rows, C: Centring>(
        &self,
        machine: &mut MovingPlanes<'_, C>,
        rows: &R,
        row: usize,
        class: u32,
    ) -> f64 {
        Self::lead(machine, rows, row, class as usize).0
    }

    fn is_wrong<R: Rows, C: Centring>(
        &self,
        machine: &mut MovingPlanes<'_, C>,
        rows: &R,
        row: usize,
        class: u32,
    ) -> bool {
        let (margin, rival) = Self::lead(machine, rows, row, class as usize);
        self.answer.is_wrong(margin, (class as usize) < rival)
    }

    fn loss<R: Rows, C: Centring>(
        &self,
        machine: &mut MovingPlanes<'_, C>,
        rows: &R,
        row: usize,
        class: u32,
    ) -> f64 {
        let margin = self.margin(machine, rows, row, class);
        self.answer.loss(margin, || 2.0 * machine.square(rows, row))
    }
}

/// A run of the perceptron.
struct OnlineRun<U> {
    online: Online<U>,
    rule: Planes,
}

/// A run of the engine under a rule for one plane.
pub(crate) fn run_of(
    rule: impl UpdateRule + 'static,
    setup: Setup,
    positive: u32,
) -> Result<Box<dyn PerceptronRun>> {
    Ok(Box::new(OnlineRun { online: Online::new(rule, setup)?, rule: Planes::One(positive) }))
}

impl OnlineRun<()> {
    fn boxed(answer: impl Respond, setup: Setup, rule: Planes) -> Result<Box<dyn PerceptronRun>> {
        Ok(match rule {
            Planes::One(positive) => Box::new(OnlineRun {
                online: Online::new(OnePlane { positive, answer }, setup)?,
                rule,
            }),
            Planes::Joint => {
                Box::new(OnlineRun { online: Online::new(Kesler { answer }, setup)?, rule })
            }
        })
    }
}

impl<U: UpdateRule + 'static> OnlineRun<U> {
    fn model_of(&self, planes: Vec<Plane>) -> LinearModel {
        let data = &self.online.data;
        LinearModel {
            planes,
            rule: match self.rule {
                Planes::One(_) => crate::model::Rule::Sign,
                Planes::Joint => crate::model::Rule::ArgMax,
            },
            link: Link::None,
            classes: data.classes().to_vec(),
            input: data.input().clone(),
        }
    }
}

impl<U: UpdateRule + 'static> PerceptronRun for OnlineRun<U> {
    fn is_clean(&self) -> bool {
        self.online.is_clean()
    }

    fn plane(&self) -> Plane {
        self.online.first_plane()
    }

    fn claim(&self) -> Claim {
        claim_of(&self.online.data, self.rule, &self.online.planes())
    }

    fn averaged_model(&self) -> LinearModel {
        self.model_of(self.online.averaged_planes())
    }
}

impl<U: UpdateRule + 'static> Training for OnlineRun<U> {
    fn advance(&mut self, budget: Budget) -> Status {
        self.online.advance(budget)
    }

    fn epoch_rows(&self) -> u64 {
        self.online.epoch_rows()
    }

    fn progress(&self) -> Progress {
        self.online.progress()
    }

    fn model(&self) -> LinearModel {
        self.model_of(self.online.planes())
    }

    fn certificate(&self) -> Certificate {
        let rule = self.online.stop_rule();
        if !self.online.is_clean() && rule == StopRule::CleanEpoch {
            return Certificate::unproved("the run ended before a pass without mistakes");
        }
        // A clean pass is a proposal; the checker has the last word.
        let data = self.online.data.as_ref();
        let claim = self.claim();
        match check_claim(&claim, data, &data.reading_field(), true, 1) {
            Finding::Holds(_) => Certificate::new(vec![claim]),
            _ if rule != StopRule::CleanEpoch => {
                Certificate::unproved("some row is not strictly on its side of the planes")
            }
            _ if self.online.epoch_rows() < data.n_rows() as u64 => Certificate::unproved(
                "the last pass over the training rows made no mistake; of the other rows nothing is claimed",
            ),
            _ => Certificate::unproved(
                "the last pass made no mistake, but in exact arithmetic some row is not strictly on its side: it lies on the plane, or rounding hid it",
            ),
        }
    }

    fn save(&self) -> State {
        self.online.save()
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        self.online.restore(state)
    }

    /// By which rule it ended, where that is not the usual one.
    fn remarks(&self) -> Vec<Remark> {
        let rule = self.online.stop_rule();
        if rule == StopRule::CleanEpoch || !self.online.is_clean() {
            return Vec::new();
        }
        vec![Remark::new("stop", rule.words(), [("rule", rule.to_string().into())])]
    }

    crate::training_has!(traces, carries_on, bounds_margin);
    crate::training_lacks!(warm_starts, bounds_objective, generates, seeks);
}

impl<U: UpdateRule + 'static> Traces for OnlineRun<U> {
    fn beginnings(&self) -> Vec<Beginning> {
        let positive = match self.rule {
            Planes::One(positive) => Some(positive),
            Planes::Joint => None,
        };
        vec![self.online.beginning(positive)]
    }

    fn last_updates(&self) -> Vec<Update> {
        self.online.last_update().into_iter().collect()
    }
}

impl<U: UpdateRule + 'static> CarriesOn for OnlineRun<U> {
    fn carry_on(&mut self, state: &State) -> Result<()> {
        self.online.carry_on(state)
    }
}

impl<U: UpdateRule + 'static> BoundsMargin for OnlineRun<U> {
    fn margin_ceiling(&self) -> Option<f64> {
        self.online.margin_ceiling()
    }
}

#[cfg(test)]
mod skipping;
mod ties;
