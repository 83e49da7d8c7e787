//! Gradient descent on a criterion: w ← w − η_k ∇J(w), all rows at a time or row by row.
//!
//! With the perceptron criterion this is the batch perceptron of the lectures: each epoch adds η_k
//! times the sum of the rows on the wrong side. It ends with an empty error set for the criteria that
//! only know mistakes, with a value below `below` for any, and at rest for those that have a minimum:
//! when a step moves the plane by no more than a share `rest` of its length. Bounds on the weights
//! are kept by projection after each step.
//!
//! Without a rate, criteria with a curvature c use 1/(c λ) with λ the largest eigenvalue of Σ z zᵀ
//! (estimated from below, so with some room), the hinge a rate that falls like 1/√k, and the
//! criteria of mistakes the rate 1, because their planes only grow with it. A custom loss without a bound
//! of its curvature is treated like the hinge.
//!
//! With the squared error and half the rate this is batch LMS, w ← w + η Σ (y − w·x − b) x, which is
//! stable for η below 2/λ. Row by row ([`Pace::Row`]) is the business of `learn/sequential.rs`.
//!
//! A loss of the caller's own ([`MarginLoss`]) is minimised in the same way, all rows at a time.
//!
//! Proved: `separable` where the planes separate the rows, else nothing. There is no dual bound here, and
//! of a custom loss nothing is known that could give one. [`crate::learn::logistic`] and
//! [`crate::learn::svm`] prove how near the optimum is.
//!
//! K classes by one-versus-rest. Columns are scaled, not centred.
//!
//! References: Duda, Hart, Stork 5.5; Boyd and Vandenberghe 9.3.

pub mod search;
pub(crate) mod sequential;

use crate::engine::batch::{Batch, Sums};
use crate::engine::online::{fingerprint, is_count};
use crate::engine::perceptron::{Order, Planes, certificate_of};
use crate::engine::rate::Rate;
use crate::engine::resting::Resting;
use crate::loss::{Criterion, MarginLoss, RowLoss};
use crate::model::{LinearModel, Link, Plane, Rule};
use crate::objective::box_constraints::{Bound, Ranges};
use crate::run::ability::{CarriesOn, Traces};
use crate::run::update::{Beginning, Move, StartPlane, Update};
use crate::run::{
    BinaryLearner, Budget, Certificate, ClassWeights, Learner, Progress, Remark, State, Status,
    Task, Training,
};
use linsep_data::error::{Error, Result, readable};
use linsep_data::read::words;
use linsep_data::scale::{Scaler, Scaling};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, OnceLock};

/// The name of the learner that descends on J_p with all rows at a time.
pub const BATCH_PERCEPTRON: &str = "batch-perceptron";

/// The settings of the descent.
///
/// ```
/// use linsep::learn::descent::Descent;
/// use linsep::loss::Criterion;
/// use linsep::{Dataset, Learner, Limits, Task};
/// let rows = [[0., 0.], [0., 1.], [1., 0.], [1., 1.]];
/// let or = Task::new(Dataset::from_rows(&rows, &["0", "1", "1", "1"])?);
/// let batch_perceptron = Descent::on(Criterion::Perceptron);
/// let fit = batch_perceptron.fit(&or, &Limits::default(), &mut ())?;
/// assert_eq!(fit.model.predict(&[0., 0.])?, "0");
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Descent {
    /// What is minimised.
    pub loss: RowLoss,
    /// How many rows there are to a step.
    pub pace: Pace,
    /// The rate of each step; chosen from the criterion and the data when `None`.
    pub rate: Option<Rate>,
    /// The order of the rows, row by row.
    pub order: Order,
    /// The seed of the order.
    pub seed: u64,
    /// Scaling of the columns: none, powers of two or largest magnitudes.
    pub scale: Scaling,
    /// What rows count by their class.
    pub class_weights: ClassWeights,
    /// End when the criterion is below this.
    pub below: Option<f64>,
    /// End when a step moves the plane by no more than this share of its length.
    pub rest: f64,
    /// No weight is smaller.
    pub lower: Bound,
    /// No weight is larger.
    pub upper: Bound,
    /// What rates are multiplied with: ½ where the formula of a step leaves out the 2 of the gradient.
    share: f64,
}

linsep_proof::setters! {
    Descent {
        with_pace => pace: Pace,
        with_rate => rate: Option<Rate>,
        with_order => order: Order,
        with_seed => seed: u64,
        with_scale => scale: Scaling,
        with_class_weights => class_weights: ClassWeights,
        with_below => below: Option<f64>,
        with_rest => rest: f64,
        with_lower => lower: Bound,
        with_upper => upper: Bound,
    }
}

words! {
    /// How many rows there are to a step.
    Pace: "pace" {
        /// All of them.
        Batch = "batch",
        /// One.
        Row = "row",
    }
}

impl Descent {
    /// Batch LMS: w ← w + η Σ (y − w·x − b) x.
    pub fn lms() -> Descent {
        Descent { share: 0.5, ..Descent::on(Criterion::Squared) }
    }

    /// Descent on a criterion.
    pub fn on(criterion: Criterion) -> Descent {
        Descent::on_row_loss(RowLoss::Criterion(criterion))
    }

    /// Descent on a loss of the caller's own, with [`Pace::Batch`].
    ///
    /// The loss is no part of a saved state: give it again to the learner whose run restores one. A state
    /// of a run with a custom loss is refused by a run on a criterion, and the other way round; that it is
    /// the same loss is up to the caller.
    pub fn on_loss(loss: Arc<dyn MarginLoss>) -> Descent {
        Descent::on_row_loss(RowLoss::Custom(loss))
    }

    /// The same on another criterion.
    #[must_use]
    pub fn with_criterion(mut self, criterion: Criterion) -> Self {
        self.loss = RowLoss::Criterion(criterion);
        self
    }

    /// The same on a loss of the caller's own, see [`Descent::on_loss`].
    #[must_use]
    pub fn with_loss(mut self, loss: Arc<dyn MarginLoss>) -> Self {
        self.loss = RowLoss::Custom(loss);
        self
    }

    fn on_row_loss(loss: RowLoss) -> Descent {
        Descent {
            loss,
            pace: Pace::Batch,
            rate: None,
            order: Order::Shuffle,
            seed: 0,
            scale: Scaling::Pow2,
            class_weights: ClassWeights::None,
            below: None,
            rest: 1e-6,
            lower: Bound::default(),
            upper: Bound::default(),
            share: 1.0,
        }
    }

    fn check(&self) -> Result<()> {
        let fine = |x: f64| x.is_finite() && x >= 0.0;
        if self.loss.is(Criterion::Mistakes) {
            return Err(Error::usage(
                "the number of mistakes has no slope to descend; it is searched (learn::descent::search)",
            ));
        }
        if let Some(bound) = self.loss.curvature_bound()
            && !(bound.is_finite() && bound > 0.0)
        {
            return Err(Error::usage(format!(
                "the curvature bound {bound} of the loss is not a finite number above 0; return `None` where there is no bound"
            )));
        }
        if !matches!(self.scale, Scaling::None | Scaling::Pow2 | Scaling::MaxAbs) {
            return Err(Error::usage("descent takes `scale=none`, pow2 or maxabs"));
        }
        if !fine(self.rest) || self.below.is_some_and(|below| !fine(below)) {
            return Err(Error::usage("the limits of a descent are numbers of at least 0"));
        }
        self.rate.as_ref().map_or(Ok(()), Rate::check)
    }
}

impl Learner for Descent {
    fn start(&self, task: &Task) -> Result<Box<dyn Training>> {
        crate::run::reduction::OneVsRest(self.clone()).start(task)
    }
}

impl BinaryLearner for Descent {
    fn start_binary(&self, task: &Task, positive: u32) -> Result<Box<dyn Training>> {
        self.check()?;
        let ranges = Ranges::between(&self.lower, &self.upper, &task.data)?;
        if self.pace == Pace::Row {
            return self.start_row_by_row(task, positive, ranges);
        }
        let rows = task.active_rows()?;
        let scaler = Scaler::new(self.scale, &task.data, &rows);
        scaler.check()?;
        let weights =
            crate::engine::row_weights::row_weights(&task.data, &rows, &self.class_weights);
        let mut plane = Plane { weights: vec![0.0; task.data.n_features()], bias: 0.0 };
        if let Some(ranges) = &ranges {
            ranges.bring_in(&mut plane.weights);
        }
        let fingerprint = fingerprint(&task.data, &rows);
        let mut run = DescentRun {
            settings: self.clone(),
            task: task.clone(),
            positive,
            rows,
            scaler,
            weights,
            ranges,
            rate: Rate::default(),
            eigenvalue: OnceLock::new(),
            now: Now {
                rows: fingerprint,
                plane,
                earlier: 0,
                epoch: 0,
                visits: 0,
                mistakes: None,
                ended: false,
                custom_loss: self.is_custom(),
            },
            last: None,
        };
        run.rate = match &self.rate {
            Some(rate) => rate.clone(),
            None => run.own_rate(),
        };
        Ok(Box::new(run))
    }
}

impl Descent {
    fn start_row_by_row(
        &self,
        task: &Task,
        positive: u32,
        ranges: Option<Ranges>,
    ) -> Result<Box<dyn Training>> {
        let rest = (!self.knows_only_mistakes()).then_some(self.rest);
        let run = sequential::launch(self, task, positive, ranges)?;
        let mut resting = Resting::new(run, rest);
        resting.link = self.link();
        if !self.adds_up_rows() {
            resting = resting.untraced();
        }
        let (Some(below), Some(criterion)) = (self.below, self.loss.criterion()) else {
            return Ok(Box::new(resting));
        };
        let (task, rows) = (task.clone(), task.active_rows()?);
        let scaler = Scaler::new(self.scale, &task.data, &rows);
        let weights =
            crate::engine::row_weights::row_weights(&task.data, &rows, &self.class_weights);
        let good_enough = move |planes: &[Plane]| {
            let batch = Batch {
                data: &task.data,
                rows: &rows,
                positive,
                scaler: &scaler,
                weights: weights.as_deref(),
                threads: task.threads,
            };
            batch.value(criterion, &planes[0]) < below
        };
        Ok(Box::new(resting.until(Box::new(good_enough))))
    }

    /// Whether the plane is a sum of rows. A step on `jd` scales it too, and bounds cut it off.
    fn adds_up_rows(&self) -> bool {
        !self.loss.is(Criterion::Distance) && self.lower.is_none() && self.upper.is_none()
    }

    /// The logistic criterion is minus a log-likelihood, so its scores are log-odds.
    fn link(&self) -> Link {
        if self.loss.is(Criterion::Logistic) { Link::Softmax } else { Link::None }
    }

    /// Whether rows on their side ask for nothing, so that an empty error set is the end.
    fn knows_only_mistakes(&self) -> bool {
        matches!(self.loss.criterion(), Some(Criterion::Perceptron | Criterion::Distance))
    }

    fn is_custom(&self) -> bool {
        self.loss.criterion().is_none()
    }

    /// Whether steps shrink: a subgradient does not towards the minimum, so the rate has to.
    fn shrinks_steps(&self) -> bool {
        let subgradients = self.is_custom() && self.loss.curvature_bound().is_none();
        self.rate.is_none() && (subgradients || self.loss.is(Criterion::Hinge))
    }
}

struct DescentRun {
    settings: Descent,
    task: Task,
    positive: u32,
    rows: Vec<u32>,
    scaler: Scaler,
    weights: Option<Vec<f64>>,
    ranges: Option<Ranges>,
    rate: Rate,
    /// The largest eigenvalue of Σ z zᵀ, once it was asked for.
    eigenvalue: OnceLock<f64>,
    now: Now,
    /// The plane before the last step, and the rate of the step.
    last: Option<(Plane, f64)>,
}

/// Everything that changes.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Now {
    /// Tells lists of rows apart.
    rows: u64,
    #[serde(with = "plane_bits")]
    plane: Plane,
    /// Epochs on other data before.
    earlier: u64,
    epoch: u64,
    /// Visits within the epoch: the step is made at its end.
    visits: u64,
    mistakes: Option<u64>,
    ended: bool,
    /// Whether the loss is the caller's own, which no state can hold.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    custom_loss: bool,
}

mod plane_bits {
    use crate::model::Plane;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(plane: &Plane, s: S) -> Result<S::Ok, S::Error> {
        let weights: Vec<u64> = plane.weights.iter().map(|w| w.to_bits()).collect();
        (weights, plane.bias.to_bits()).serialize(s)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Plane, D::Error> {
        let (weights, bias) = <(Vec<u64>, u64)>::deserialize(d)?;
        let weights = weights.into_iter().map(f64::from_bits).collect();
        Ok(Plane { weights, bias: f64::from_bits(bias) })
    }
}

impl DescentRun {
    fn batch(&self) -> Batch<'_> {
        Batch {
            data: &self.task.data,
            rows: &self.rows,
            positive: self.positive,
            scaler: &self.scaler,
            weights: self.weights.as_deref(),
            threads: self.task.threads,
        }
    }

    fn own_rate(&self) -> Rate {
        match self.settings.loss.curvature_bound() {
            Some(curvature) => {
                let rate = 1.0 / (1.1 * curvature * self.eigenvalue() * self.settings.share);
                Rate::Constant(if rate.is_finite() && rate > 0.0 { rate } else { 1.0 })
            }
            None => Rate::Constant(1.0),
        }
    }

    fn eigenvalue(&self) -> f64 {
        *self.eigenvalue.get_or_init(|| self.batch().largest_eigenvalue())
    }

    /// One step, and whether it was the last.
    fn step(&mut self) {
        let epoch = self.now.epoch + 1;
        let Sums { mut value, mistakes, mut gradient } =
            self.batch().sums(&self.settings.loss, &self.now.plane);
        let length = self.batch().length(&self.now.plane);
        if self.settings.loss.is(Criterion::Distance) && length > 0.0 {
            // J_d = J_p/‖w‖: the gradient of a quotient, in the coordinates of the run.
            for (j, g) in gradient.weights.iter_mut().enumerate() {
                let s = self.scaler.scale(j);
                *g = *g / length - value * self.now.plane.weights[j] / (s * s) / length.powi(3);
            }
            gradient.bias = gradient.bias / length - value * self.now.plane.bias / length.powi(3);
            value /= length;
        }
        self.now.mistakes = Some(mistakes);
        self.now.epoch = epoch;
        self.last = None;
        let only_mistakes = self.settings.knows_only_mistakes();
        let below = self.settings.below.is_some_and(|below| value < below);
        // Where the gradient is 0 a convex loss has its minimum.
        let flat = self.settings.loss.is_convex() && self.batch().slope_length(&gradient) == 0.0;
        if flat || below || (only_mistakes && mistakes == 0) {
            self.now.ended = true;
            return;
        }
        let k = self.now.earlier + epoch;
        let mut rate = self.settings.share * self.rate.at(k);
        if self.settings.shrinks_steps() {
            let size = self.batch().slope_length(&gradient).max(f64::MIN_POSITIVE);
            rate = length.max(1.0) / size / (k as f64).sqrt();
        }
        let before = self.now.plane.clone();
        self.now.plane.descend(rate, &self.scaler, &gradient);
        if let Some(ranges) = &self.ranges {
            ranges.bring_in(&mut self.now.plane.weights);
        }
        let mut moved = self.now.plane.clone();
        moved.weights.iter_mut().zip(&before.weights).for_each(|(w, b)| *w -= b);
        moved.bias -= before.bias;
        let length = self.batch().length(&self.now.plane);
        let rests = self.batch().length(&moved) <= self.settings.rest * length;
        self.now.ended = rests && !only_mistakes;
        self.last = Some((before, rate));
    }

    /// Refuses a state whose loss has to be given again, or of which there was none.
    fn check_loss_of(&self, state: &Now) -> Result<()> {
        match (state.custom_loss, self.now.custom_loss) {
            (true, false) => Err(Error::usage(
                "the saved state belongs to a run with a custom loss, which a state cannot hold; give the loss again with `Descent::on_loss`",
            )),
            (false, true) => Err(Error::usage(
                "the saved state belongs to a run on a criterion; name it with `Descent::on`",
            )),
            _ => Ok(()),
        }
    }

    fn is_finite(&self) -> bool {
        let plane = &self.now.plane;
        plane.bias.is_finite() && plane.weights.iter().all(|w| w.is_finite())
    }
}

impl Training for DescentRun {
    fn advance(&mut self, budget: Budget) -> Status {
        let Budget { mut visits, mut updates } = budget;
        let epoch = self.rows.len() as u64;
        while visits > 0 && updates > 0 && !self.now.ended {
            let step = visits.min(epoch - self.now.visits);
            visits -= step;
            self.now.visits += step;
            if self.now.visits == epoch {
                self.now.visits = 0;
                self.step();
                updates -= u64::from(!self.now.ended);
                if !self.is_finite() {
                    return Status::Diverged;
                }
            }
        }
        if self.now.ended { Status::Finished } else { Status::Running }
    }

    fn epoch_rows(&self) -> u64 {
        self.rows.len() as u64
    }

    fn progress(&self) -> Progress {
        Progress {
            epochs: self.now.epoch,
            visits: self.now.epoch * self.epoch_rows() + self.now.visits,
            updates: self.now.epoch - u64::from(self.now.ended && self.now.epoch > 0),
            last_mistakes: self.now.mistakes,
            objective: None,
            gap: None,
        }
    }

    fn model(&self) -> LinearModel {
        let planes = vec![self.now.plane.clone()];
        LinearModel::of(&self.task.data, planes, Rule::Sign, self.settings.link())
    }

    fn certificate(&self) -> Certificate {
        let planes = std::slice::from_ref(&self.now.plane);
        let found = certificate_of(&self.task, Planes::One(self.positive), planes);
        match self.settings.is_custom() && !found.proves_something() {
            true => Certificate::unproved(
                "the planes do not separate all rows, and of a custom loss no bound is known",
            ),
            false => found,
        }
    }

    /// The rate against the bound beyond which steps overshoot, where the criterion has a curvature. The
    /// eigenvalue is an estimate from below, so the bound is one from above.
    fn remarks(&self) -> Vec<Remark> {
        let Some(curvature) = self.settings.loss.curvature_bound() else { return Vec::new() };
        let rate = self.rate.at(1);
        let bound = 2.0 / (curvature * self.eigenvalue() * self.settings.share);
        let [shown, limit] = [rate, bound].map(|number| readable(number, 4));
        let words = match rate < bound {
            true => format!("{shown}; steps overshoot from about {limit} on"),
            false => format!("{shown} is above about {limit}: steps overshoot and may diverge"),
        };
        vec![Remark::new("rate", words, [("rate", rate.into()), ("bound", bound.into())])]
    }

    fn save(&self) -> State {
        State::encode(&self.now)
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        let now: Now = state.decode()?;
        let fits = now.rows == self.now.rows
            && now.plane.weights.len() == self.now.plane.weights.len()
            && now.visits < self.rows.len().max(1) as u64
            && is_count(now.epoch)
            && is_count(now.earlier);
        if !fits {
            return Err(Error::usage("the saved state belongs to a run on other data"));
        }
        self.check_loss_of(&now)?;
        (self.now, self.last) = (now, None);
        Ok(())
    }

    fn traces(&self) -> Option<&dyn Traces> {
        self.settings.adds_up_rows().then_some(self)
    }

    crate::training_has!(carries_on);
    crate::training_lacks!(warm_starts, bounds_margin, bounds_objective, generates, seeks);
}

impl Traces for DescentRun {
    fn beginnings(&self) -> Vec<Beginning> {
        vec![Beginning {
            positive: Some(self.positive),
            planes: vec![StartPlane::of(&self.now.plane)],
            scaling: self.settings.scale,
            rows: self.rows.clone(),
            batch: true,
            // The step that found nothing to do is none.
            updates: self.progress().updates,
        }]
    }

    fn last_updates(&self) -> Vec<Update> {
        let Some((before, rate)) = &self.last else { return Vec::new() };
        let gradients = self.batch().gradients(&self.settings.loss, before);
        let step =
            |(row, gradient): (u32, f64)| Move { row, plane: 0, rival: None, step: -gradient };
        let (epoch, moves) = (self.now.epoch, gradients.into_iter().map(step).collect());
        vec![Update { machine: 0, number: epoch, epoch, rate: Some(*rate), moves }]
    }
}

impl CarriesOn for DescentRun {
    fn carry_on(&mut self, state: &State) -> Result<()> {
        let mut before: Now = state.decode()?;
        let width = self.now.plane.weights.len();
        let counts = is_count(before.epoch) && is_count(before.earlier);
        if before.plane.weights.len() > width || !counts {
            return Err(Error::usage("the saved state belongs to planes of other data"));
        }
        self.check_loss_of(&before)?;
        before.plane.weights.resize(width, 0.0);
        self.now.plane = before.plane;
        self.now.earlier = before.earlier + before.epoch;
        Ok(())
    }
}
