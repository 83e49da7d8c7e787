//! The learning spine: `Dataset → Learner → Training → Fit`.
//!
//! A [`Training`] is a small state machine that can be paused after every visit of a row; [`drive`]
//! is the only training loop. Progress bars, time limits, Ctrl-C, checkpoints and step-by-step
//! views are all drivers of the same object. Why a run ended ([`Stop`]) and what is proved about
//! the result ([`Certificate`]) are two questions with two types.

pub mod ability;
pub(crate) mod class_weights;
pub(crate) mod epochs;
pub mod reduction;
mod remark;
mod solves;
mod state;
pub mod update;

pub use class_weights::ClassWeights;
pub use linsep_proof::{Certificate, Claim};
pub use remark::{Datum, Remark};
pub use solves::Solves;
#[doc(hidden)]
pub use state::SavedPlane;
pub use state::State;

use crate::density::Density;
use crate::model::LinearModel;
use ability::{BoundsMargin, BoundsObjective, CarriesOn, Generates, Seeks, Traces, WarmStarts};
use linsep_data::Dataset;
use linsep_data::cancel;
use linsep_data::error::{Error, Result};
use std::ops::ControlFlow;
use std::sync::Arc;

/// A way to learn: settings that can start a run on data.
pub trait Learner: Send + Sync {
    /// Starts a run without doing any work yet.
    fn start(&self, task: &Task) -> Result<Box<dyn Training>>;

    /// Runs to the end.
    fn fit(&self, task: &Task, limits: &Limits, watch: &mut dyn Observer) -> Result<Fit> {
        run_to_end(self.start(task)?, task, limits, watch)
    }

    /// What the planes of a run solve, as its claims state it. Who says nothing here makes no claim
    /// `optimal`, `stationary` or `counts`.
    fn solves(&self, _: &Task) -> Result<Solves> {
        Ok(Solves::Nothing)
    }
}

fn run_to_end(
    mut training: Box<dyn Training>,
    task: &Task,
    limits: &Limits,
    watch: &mut dyn Observer,
) -> Result<Fit> {
    let stop = drive(training.as_mut(), limits, watch);
    Fit::of(training.as_ref(), task, stop)
}

/// A way to learn one plane: the given class against all others.
pub trait BinaryLearner: Send + Sync {
    /// Starts a run that separates `positive` from the other classes.
    fn start_binary(&self, task: &Task, positive: u32) -> Result<Box<dyn Training>>;

    /// What the plane of a run solves, see [`Learner::solves`].
    fn solves_binary(&self, _: &Task) -> Result<Solves> {
        Ok(Solves::Nothing)
    }
}

/// Data to learn from: all rows or some of them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Task {
    /// The data, shared and never copied.
    pub data: Arc<Dataset>,
    /// The rows to use; all when `None`.
    pub rows: Option<Arc<[u32]>>,
    /// Threads that may be used. Never changes a bit of the result.
    pub threads: usize,
}

linsep_proof::setters! {
    Task {
        with_rows => rows: Option<Arc<[u32]>>,
        with_threads => threads: usize,
    }
}

impl Task {
    /// Learns from every row on one thread.
    pub fn new(data: impl Into<Arc<Dataset>>) -> Task {
        Task { data: data.into(), rows: None, threads: 1 }
    }

    /// The rows that take part: the given ones, without those of weight 0.
    #[doc(hidden)]
    pub fn active_rows(&self) -> Result<Vec<u32>> {
        self.data.require_two_classes()?;
        let n_rows = self.data.n_rows();
        let given: Vec<u32> = match &self.rows {
            None => (0..n_rows as u32).collect(),
            Some(rows) => rows.to_vec(),
        };
        if let Some(row) = given.iter().find(|&&row| row as usize >= n_rows) {
            return Err(Error::usage(format!(
                "a task asks for row {row} of data that has {n_rows} rows, counted from 0"
            )));
        }
        Ok(given.into_iter().filter(|&row| self.data.weight(row as usize) > 0.0).collect())
    }
}

/// A run that can be paused anywhere.
///
/// These methods are what every run must have, none with a default. What only some runs can do is
/// reached through the accessors at the end, which a run states one by one; see [`ability`].
pub trait Training: Send {
    /// Goes on until the budget is used up or the run ends by its own rule.
    fn advance(&mut self, budget: Budget) -> Status;

    /// Rows in one full pass.
    fn epoch_rows(&self) -> u64;

    /// How far the run is; cheap.
    fn progress(&self) -> Progress;

    /// The model as it is now, in terms of raw features.
    fn model(&self) -> LinearModel;

    /// What is proved about the model as it is now.
    fn certificate(&self) -> Certificate;

    /// What the learner found out on its way, for reports.
    fn remarks(&self) -> Vec<Remark>;

    /// Everything needed to go on later with the same bits.
    fn save(&self) -> State;

    /// Goes back to a saved state of the same run.
    fn restore(&mut self, state: &State) -> Result<()>;

    /// Its updates can be followed.
    fn traces(&self) -> Option<&dyn Traces>;

    /// It can go on with other data than it began with.
    fn carries_on(&mut self) -> Option<&mut dyn CarriesOn>;

    /// It can begin near its optimum.
    fn warm_starts(&mut self) -> Option<&mut dyn WarmStarts>;

    /// It bounds the largest margin while it lasts.
    fn bounds_margin(&self) -> Option<&dyn BoundsMargin>;

    /// It bounds the objective of every model from below.
    fn bounds_objective(&self) -> Option<&dyn BoundsObjective>;

    /// It finds how rows come about.
    fn generates(&self) -> Option<&dyn Generates>;

    /// It seeks something that need not exist.
    fn seeks(&self) -> Option<&dyn Seeks>;
}

/// How much a call of [`Training::advance`] may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Budget {
    /// At most this many visits of a row.
    pub visits: u64,
    /// At most this many updates.
    pub updates: u64,
}

impl Budget {
    /// At most so many visits, and so many updates.
    pub fn new(visits: u64, updates: u64) -> Budget {
        Budget { visits, updates }
    }
}

impl Budget {
    /// No bound at all.
    pub const UNBOUNDED: Budget = Budget { visits: u64::MAX, updates: u64::MAX };

    /// Any number of updates in this many visits.
    pub fn visits(visits: u64) -> Budget {
        Budget { visits, updates: u64::MAX }
    }
}

/// Whether a run can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The budget is used up.
    Running,
    /// The run ended by its own rule.
    Finished,
    /// A number left the range of binary64; going on makes no sense.
    Diverged,
}

/// Counters of a run, and how near the optimum it is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// Full passes over the rows.
    pub epochs: u64,
    /// Visits of a row.
    pub visits: u64,
    /// Corrections of the weights.
    pub updates: u64,
    /// Mistakes in the last full pass, if there was one.
    pub last_mistakes: Option<u64>,
    /// The objective as it was measured last, for a run that makes one small; the sum over all binary
    /// classifiers.
    pub objective: Option<f64>,
    /// The relative gap to the optimum as it was measured last; the largest of all binary classifiers.
    pub gap: Option<f64>,
}

linsep_proof::setters! {
    Progress {
        with_epochs => epochs: u64,
        with_visits => visits: u64,
        with_updates => updates: u64,
        with_last_mistakes => last_mistakes: Option<u64>,
        with_objective => objective: Option<f64>,
        with_gap => gap: Option<f64>,
    }
}

/// What ends a run that has not ended by its own rule. `None` is no limit; a run on data that no
/// plane separates then never ends. The default is 100 epochs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Full passes over the rows.
    pub epochs: Option<u64>,
    /// Corrections of the weights.
    pub updates: Option<u64>,
}

impl Limits {
    /// At most so many full passes, and so many corrections.
    pub const fn new(epochs: Option<u64>, updates: Option<u64>) -> Limits {
        Limits { epochs, updates }
    }
}

linsep_proof::setters! {
    Limits {
        with_epochs => epochs: Option<u64>,
        with_updates => updates: Option<u64>,
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits { epochs: Some(100), updates: None }
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// By its own rule.
    Finished,
    /// The limit on epochs.
    Epochs,
    /// The limit on updates.
    Updates,
    /// The limit on time, enforced by the driver's observer.
    Time,
    /// The observer asked for it.
    Interrupted,
    /// A number left the range of binary64.
    Diverged,
}

impl Stop {
    /// The word in reports and files.
    pub fn word(self) -> &'static str {
        match self {
            Stop::Finished => "finished",
            Stop::Epochs => "epoch-limit",
            Stop::Updates => "update-limit",
            Stop::Time => "time-limit",
            Stop::Interrupted => "interrupted",
            Stop::Diverged => "diverged",
        }
    }

    /// The stop that a word means.
    pub fn parse(word: &str) -> Option<Stop> {
        use Stop::*;
        [Finished, Epochs, Updates, Time, Interrupted, Diverged]
            .into_iter()
            .find(|s| s.word() == word)
    }
}

/// Watches a run and may end it. `()` watches nothing.
pub trait Observer {
    /// Called before the first slice of work; breaking ends the run for the given reason.
    fn on_start(&mut self, _: &dyn Training) -> ControlFlow<Stop> {
        ControlFlow::Continue(())
    }

    /// The most that a slice of work may be. Slices never change a bit of the result.
    fn pace(&self) -> Budget {
        Budget::UNBOUNDED
    }

    /// Called after the slice in which the run ended by its own rule.
    fn on_end(&mut self, _: &dyn Training) {}

    /// Called between slices of work; breaking ends the run for the given reason.
    fn on_step(&mut self, now: &dyn Training) -> ControlFlow<Stop>;
}

impl Observer for () {
    fn on_step(&mut self, _: &dyn Training) -> ControlFlow<Stop> {
        ControlFlow::Continue(())
    }
}

impl<F: FnMut(&dyn Training) -> ControlFlow<Stop>> Observer for F {
    fn on_step(&mut self, now: &dyn Training) -> ControlFlow<Stop> {
        self(now)
    }
}

/// Why nothing is claimed where some rows were not learned from.
pub(crate) const HELD_OUT: &str = "rows were held out, and claims are about all rows of the data";

/// A finished run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Fit {
    /// What was learned.
    pub model: LinearModel,
    /// What is proved about it.
    pub certificate: Certificate,
    /// Why the run ended.
    pub stop: Stop,
    /// What it took.
    pub progress: Progress,
    /// What the learner found out on its way.
    pub remarks: Vec<Remark>,
    /// How rows come about, if the learner is a generative one.
    pub density: Option<Density>,
    /// What the run was to find and has not found, although it has ended by its own rule.
    pub shortfall: Option<String>,
}

impl Fit {
    /// What a run on the rows of a task came to when it ended; its refusal, if there is no model.
    pub fn of(training: &dyn Training, task: &Task, stop: Stop) -> Result<Fit> {
        let seeks = training.seeks();
        if let Some(refusal) = seeks.and_then(|run| run.refusal()) {
            return Err(refusal);
        }
        let certificate = match task.data.unprovable() {
            Some(reason) => Certificate::unproved(reason),
            None => cancel::catch(|| training.certificate()).unwrap_or_else(|| {
                Certificate::unproved("the run was stopped before there was a proof")
            }),
        };
        Ok(Fit {
            model: training.model(),
            certificate,
            stop,
            progress: training.progress(),
            remarks: training.remarks(),
            density: training.generates().and_then(|run| run.density()),
            shortfall: seeks.and_then(|run| run.shortfall()),
        })
    }
}

/// Visits between two looks at the observer, at most.
const SLICE: u64 = 1 << 14;

/// The training loop: advances until the run ends, a limit is reached or the observer breaks off.
pub fn drive(training: &mut dyn Training, limits: &Limits, watch: &mut dyn Observer) -> Stop {
    let epoch = training.epoch_rows().max(1);
    if let ControlFlow::Break(stop) = watch.on_start(training) {
        return stop;
    }
    loop {
        let now = training.progress();
        let to_epoch_end = epoch - now.visits % epoch;
        let pace = watch.pace();
        let mut budget = Budget { visits: to_epoch_end.min(SLICE).min(pace.visits), ..pace };
        if limits.epochs.is_some_and(|epochs| now.epochs >= epochs) {
            return Stop::Epochs;
        }
        if let Some(updates) = limits.updates {
            if now.updates >= updates {
                return Stop::Updates;
            }
            budget.updates = budget.updates.min(updates - now.updates);
        }
        let ended = match training.advance(budget) {
            Status::Running => None,
            Status::Finished => Some(Stop::Finished),
            Status::Diverged => Some(Stop::Diverged),
        };
        if let Some(stop) = ended {
            watch.on_end(training);
            return stop;
        }
        if let ControlFlow::Break(stop) = watch.on_step(training) {
            return stop;
        }
    }
}
