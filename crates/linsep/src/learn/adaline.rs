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
//! It ends when a whole epoch moved the planes by no more than a share `rest` of their length.
//!
//! Reference: Haykin, Neural Networks, 3.

use super::perceptron::{Perceptron, PerceptronRun, Planes, certificate_of};
use super::rate::Rate;
use super::response::Response;
use super::{
    BinaryLearner, Budget, Certificate, Learner, Progress, Remark, SavedPlane, State, Status, Task,
    Training,
};
use crate::data::scale::{Scaler, Scaling};
use crate::error::{Error, Result};
use crate::model::{LinearModel, Plane};
use serde::{Deserialize, Serialize};

/// The settings of Adaline.
///
/// ```
/// use linsep::learn::adaline::Adaline;
/// use linsep::{Dataset, Learner, Limits, Task};
/// let rows = [[0., 0.], [0., 1.], [1., 0.], [1., 1.]];
/// let and = Task::new(Dataset::from_rows(&rows, &["0", "0", "0", "1"])?);
/// let fit = Adaline::default().fit(&and, &Limits::default(), &mut ())?;
/// assert_eq!(fit.model.predict(&[1., 1.]), "1");
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
        let rates = (rate.at(1), bound);
        let response = Response::Lms { normalised: self.normalised };
        let run = Perceptron { rate, response, ..self.run.clone() }.launch(task, planes, false)?;
        let before = run.model().planes;
        let scaler = Scaler::new(self.run.scale, &task.data, &task.active_rows()?);
        let scale = (0..task.data.n_features()).map(|j| scaler.scale(j)).collect();
        let (task, rest) = (task.clone(), self.rest);
        Ok(Box::new(Run { run, task, planes, rates, before, scale, rest, at_rest: false }))
    }
}

impl Learner for Adaline {
    /// One plane for two classes; K classes need [`super::multiclass::OneVsRest`].
    fn start(&self, task: &Task) -> Result<Box<dyn Training>> {
        match Planes::of(task) {
            planes @ Planes::One(_) => self.launch(task, planes),
            Planes::Joint => super::multiclass::OneVsRest(self.clone()).start(task),
        }
    }
}

impl BinaryLearner for Adaline {
    fn start_binary(&self, task: &Task, positive: u32) -> Result<Box<dyn Training>> {
        self.launch(task, Planes::One(positive))
    }
}

struct Run {
    run: Box<dyn PerceptronRun>,
    task: Task,
    planes: Planes,
    /// The first rate, and the bound below which no step overshoots.
    rates: (f64, f64),
    /// The planes at the start of this epoch.
    before: Vec<Plane>,
    /// s of each column: weights are measured in the coordinates of the run.
    scale: Vec<f64>,
    rest: f64,
    at_rest: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    run: State,
    before: Vec<SavedPlane>,
    at_rest: bool,
}

impl Run {
    /// Whether the last epoch hardly moved the planes.
    fn rests(&self, now: &[Plane]) -> bool {
        let (mut moved, mut length) = (0.0, 0.0);
        for (plane, before) in now.iter().zip(&self.before) {
            moved += (plane.bias - before.bias).powi(2);
            length += plane.bias.powi(2);
            for ((w, b), s) in plane.weights.iter().zip(&before.weights).zip(&self.scale) {
                moved += ((w - b) / s).powi(2);
                length += (w / s).powi(2);
            }
        }
        moved <= self.rest * self.rest * length
    }
}

impl Training for Run {
    fn advance(&mut self, budget: Budget) -> Status {
        let Budget { mut visits, mut updates } = budget;
        let epoch = self.run.epoch_rows().max(1);
        while !self.at_rest {
            if visits == 0 || updates == 0 {
                return Status::Running;
            }
            let start = self.run.progress();
            let step = visits.min(epoch - start.visits % epoch);
            let status = self.run.advance(Budget { visits: step, updates });
            let end = self.run.progress();
            visits -= end.visits - start.visits;
            updates = updates.saturating_sub(end.updates - start.updates);
            if end.epochs > start.epochs {
                let planes = self.run.model().planes;
                self.at_rest = self.rests(&planes) && status != Status::Diverged;
                self.before = planes;
            }
            if status != Status::Running {
                return status;
            }
        }
        Status::Finished
    }

    fn epoch_rows(&self) -> u64 {
        self.run.epoch_rows()
    }

    fn progress(&self) -> Progress {
        self.run.progress()
    }

    fn model(&self) -> LinearModel {
        self.run.model()
    }

    fn certificate(&self) -> Certificate {
        certificate_of(&self.task, self.planes, &self.model().planes)
    }

    fn remarks(&self) -> Vec<Remark> {
        let (rate, bound) = self.rates;
        let words = match rate < bound {
            true => format!("{rate:.3e}, below the bound {bound:.3e} at which steps overshoot"),
            false => {
                format!("{rate:.3e} is not below {bound:.3e}: steps overshoot, and may diverge")
            }
        };
        let data = serde_json::json!({ "rate": rate, "bound": bound });
        vec![Remark { name: "rate", words, data }]
    }

    fn save(&self) -> State {
        State::encode(&Saved {
            run: self.run.save(),
            before: self.before.iter().map(SavedPlane::of).collect(),
            at_rest: self.at_rest,
        })
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        let saved: Saved = state.decode()?;
        let before = SavedPlane::all(&saved.before, &self.before)?;
        self.run.restore(&saved.run)?;
        self.before = before;
        self.at_rest = saved.at_rest;
        Ok(())
    }

    fn carry_on(&mut self, state: &State) -> Result<()> {
        let saved: Saved = state.decode()?;
        self.run.carry_on(&saved.run)?;
        self.before = self.run.model().planes;
        Ok(())
    }
}
