//! Gradient descent on a criterion, all rows at a time: w ← w − η_k ∇J(w).
//!
//! With the perceptron criterion this is the batch perceptron of the lectures: each epoch adds η_k
//! times the sum of the rows on the wrong side. It ends with an empty error set for the criteria that
//! only know mistakes, with a value below `below` for any, and at rest for those that have a minimum:
//! when a step moves the plane by no more than a share `rest` of its length. Bounds on the weights
//! are kept by projection after each step.
//!
//! Without a rate, criteria with a curvature c use 1/(c λ) with λ the largest eigenvalue of Σ z zᵀ
//! (estimated from below, so with some room), the hinge a rate that falls like 1/√k, and the
//! criteria of mistakes the rate 1, because their planes only grow with it.
//!
//! K classes by one-versus-rest. Columns are scaled, not centred.
//!
//! References: Duda, Hart, Stork 5.5; Boyd and Vandenberghe 9.3.

use super::perceptron::{Planes, certificate_of};
use super::rate::Rate;
use super::{BinaryLearner, Budget, Certificate, Learner, Progress, State, Status, Task, Training};
use crate::data::scale::{Scaler, Scaling};
use crate::engine::batch::{Batch, Sums};
use crate::engine::online::{fingerprint, is_count};
use crate::error::{Error, Result};
use crate::loss::Criterion;
use crate::model::{LinearModel, Link, Plane, Rule};
use serde::{Deserialize, Serialize};

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
/// assert_eq!(fit.model.predict(&[0., 0.]), "0");
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Descent {
    /// What is made small.
    pub criterion: Criterion,
    /// The rate of each epoch; chosen from the criterion and the data when `None`.
    pub rate: Option<Rate>,
    /// Scaling of the columns: none, powers of two or largest magnitudes.
    pub scale: Scaling,
    /// Weight each class by n / (K · rows of the class).
    pub balanced: bool,
    /// End when the criterion is below this.
    pub below: Option<f64>,
    /// End when a step moves the plane by no more than this share of its length.
    pub rest: f64,
    /// No weight is smaller.
    pub lower: Option<f64>,
    /// No weight is larger.
    pub upper: Option<f64>,
}

impl Descent {
    /// Descent on a criterion.
    pub fn on(criterion: Criterion) -> Descent {
        Descent {
            criterion,
            rate: None,
            scale: Scaling::Pow2,
            balanced: false,
            below: None,
            rest: 1e-6,
            lower: None,
            upper: None,
        }
    }

    fn check(&self) -> Result<()> {
        let fine = |x: f64| x.is_finite() && x >= 0.0;
        if self.criterion == Criterion::Mistakes {
            return Err(Error::usage(
                "the number of mistakes has no slope to descend; --learner pocket searches for few",
            ));
        }
        if !matches!(self.scale, Scaling::None | Scaling::Pow2 | Scaling::MaxAbs) {
            return Err(Error::usage("descent takes --scale none, pow2 or maxabs"));
        }
        if !fine(self.rest) || self.below.is_some_and(|below| !fine(below)) {
            return Err(Error::usage("the limits of a descent are numbers of at least 0"));
        }
        if let (Some(lower), Some(upper)) = (self.lower, self.upper)
            && lower > upper
        {
            return Err(Error::usage(format!("no weight lies between {lower} and {upper}")));
        }
        self.rate.as_ref().map_or(Ok(()), Rate::check)
    }
}

impl Learner for Descent {
    fn start(&self, task: &Task) -> Result<Box<dyn Training>> {
        super::multiclass::OneVsRest(self.clone()).start(task)
    }
}

impl BinaryLearner for Descent {
    fn start_binary(&self, task: &Task, positive: u32) -> Result<Box<dyn Training>> {
        self.check()?;
        let rows = task.active_rows()?;
        let scaler = Scaler::new(self.scale, &task.data, &rows);
        scaler.check()?;
        let weights = super::perceptron::row_weights(&task.data, &rows, self.balanced);
        let plane = Plane { weights: vec![0.0; task.data.n_features()], bias: 0.0 };
        let fingerprint = fingerprint(&task.data, &rows);
        let mut run = Run {
            settings: self.clone(),
            task: task.clone(),
            positive,
            rows,
            scaler,
            weights,
            rate: Rate::default(),
            now: Now {
                rows: fingerprint,
                plane,
                earlier: 0,
                epoch: 0,
                visits: 0,
                mistakes: None,
                ended: false,
            },
        };
        run.rate = match &self.rate {
            Some(rate) => rate.clone(),
            None => run.own_rate(),
        };
        Ok(Box::new(run))
    }
}

struct Run {
    settings: Descent,
    task: Task,
    positive: u32,
    rows: Vec<u32>,
    scaler: Scaler,
    weights: Option<Vec<f64>>,
    rate: Rate,
    now: Now,
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
}

mod plane_bits {
    use super::Plane;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(plane: &Plane, s: S) -> Result<S::Ok, S::Error> {
        let weights: Vec<u64> = plane.weights.iter().map(|w| w.to_bits()).collect();
        (weights, plane.bias.to_bits()).serialize(s)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Plane, D::Error> {
        let (weights, bias) = <(Vec<u64>, u64)>::deserialize(d)?;
        let weights = weights.into_iter().map(f64::from_bits).collect();
        Ok(Plane { weights, bias: f64::from_bits(bias) })
    }
}

impl Run {
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
        match self.settings.criterion.curvature() {
            Some(curvature) => {
                let eigenvalue = self.batch().largest_eigenvalue();
                let rate = 1.0 / (1.1 * curvature * eigenvalue);
                Rate::Constant(if rate.is_finite() && rate > 0.0 { rate } else { 1.0 })
            }
            None => Rate::Constant(1.0),
        }
    }

    /// One step, and whether it was the last.
    fn step(&mut self) {
        let (criterion, epoch) = (self.settings.criterion, self.now.epoch + 1);
        let Sums { mut value, mistakes, mut gradient } =
            self.batch().sums(criterion, &self.now.plane);
        let length = self.batch().length(&self.now.plane);
        if criterion == Criterion::Distance && length > 0.0 {
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
        let only_mistakes = matches!(criterion, Criterion::Perceptron | Criterion::Distance);
        let below = self.settings.below.is_some_and(|below| value < below);
        if below || (only_mistakes && mistakes == 0) {
            self.now.ended = true;
            return;
        }
        let k = self.now.earlier + epoch;
        let mut rate = self.rate.at(k);
        if self.settings.rate.is_none() && criterion == Criterion::Hinge {
            // A subgradient does not shrink towards the minimum, so the step has to: with the root of k.
            let size = self.batch().slope_length(&gradient).max(f64::MIN_POSITIVE);
            rate = length.max(1.0) / size / (k as f64).sqrt();
        }
        let before = self.now.plane.clone();
        for (j, (w, g)) in self.now.plane.weights.iter_mut().zip(&gradient.weights).enumerate() {
            let s = self.scaler.scale(j);
            *w -= rate * s * s * g;
            if let Some(lower) = self.settings.lower {
                *w = w.max(lower);
            }
            if let Some(upper) = self.settings.upper {
                *w = w.min(upper);
            }
        }
        self.now.plane.bias -= rate * gradient.bias;
        let mut moved = self.now.plane.clone();
        moved.weights.iter_mut().zip(&before.weights).for_each(|(w, b)| *w -= b);
        moved.bias -= before.bias;
        let length = self.batch().length(&self.now.plane);
        let rests = self.batch().length(&moved) <= self.settings.rest * length;
        self.now.ended = rests && !only_mistakes;
    }

    fn is_finite(&self) -> bool {
        let plane = &self.now.plane;
        plane.bias.is_finite() && plane.weights.iter().all(|w| w.is_finite())
    }
}

impl Training for Run {
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
        }
    }

    fn model(&self) -> LinearModel {
        LinearModel {
            planes: vec![self.now.plane.clone()],
            rule: Rule::Sign,
            link: Link::None,
            classes: self.task.data.classes().to_vec(),
            input: self.task.data.input().clone(),
        }
    }

    fn certificate(&self) -> Certificate {
        let planes = std::slice::from_ref(&self.now.plane);
        certificate_of(&self.task, Planes::One(self.positive), planes)
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
        self.now = now;
        Ok(())
    }

    fn carry_on(&mut self, state: &State) -> Result<()> {
        let mut before: Now = state.decode()?;
        let width = self.now.plane.weights.len();
        let counts = is_count(before.epoch) && is_count(before.earlier);
        if before.plane.weights.len() > width || !counts {
            return Err(Error::usage("the saved state belongs to planes of other data"));
        }
        before.plane.weights.resize(width, 0.0);
        self.now.plane = before.plane;
        self.now.earlier = before.earlier + before.epoch;
        Ok(())
    }
}
