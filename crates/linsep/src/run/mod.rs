//! The learning spine: `Dataset → Learner → Training → Fit`.
//!
//! A [`Training`] is a small state machine that can be paused after every visit of a row; [`drive`]
//! is the only training loop. Progress bars, time limits, Ctrl-C, checkpoints and step-by-step
//! views are all drivers of the same object. Why a run ended ([`Stop`]) and what is proved about
//! the result ([`Certificate`]) are two questions with two types.

pub mod reduction;
mod state;
pub mod update;

pub use linsep_proof::{Certificate, Claim};
#[doc(hidden)]
pub use state::SavedPlane;
pub use state::State;

use crate::density::Density;
use crate::model::{LinearModel, Plane};
use linsep_data::Dataset;
use linsep_data::error::{Error, Result};
use std::ops::ControlFlow;
use std::sync::Arc;
use update::{Beginning, Update};

/// A way to learn: settings that can start a run on data.
pub trait Learner: Send + Sync {
    /// Starts a run without doing any work yet.
    fn start(&self, task: &Task) -> Result<Box<dyn Training>>;

    /// Runs to the end.
    fn fit(&self, task: &Task, limits: &Limits, watch: &mut dyn Observer) -> Result<Fit> {
        let mut training = self.start(task)?;
        let stop = drive(training.as_mut(), limits, watch);
        Fit::of(training.as_ref(), task, stop)
    }
}

/// A way to learn one plane: the given class against all others.
pub trait BinaryLearner: Send + Sync {
    /// Starts a run that separates `positive` from the other classes.
    fn start_binary(&self, task: &Task, positive: u32) -> Result<Box<dyn Training>>;
}

/// Data to learn from: all rows or some of them.
#[derive(Clone, Debug)]
pub struct Task {
    /// The data, shared and never copied.
    pub data: Arc<Dataset>,
    /// The rows to use; all when `None`.
    pub rows: Option<Arc<[u32]>>,
    /// Threads that may be used. Never changes a bit of the result.
    pub threads: usize,
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
        let all = 0..self.data.n_rows() as u32;
        let given: Vec<u32> =
            self.rows.as_ref().map_or_else(|| all.collect(), |rows| rows.to_vec());
        Ok(given.into_iter().filter(|&row| self.data.weight(row as usize) > 0.0).collect())
    }
}

/// A run that can be paused anywhere.
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

    /// What is proved of the rows of the task alone, the positive class against all others: for whoever
    /// knows which question of the whole data these rows are.
    fn claims_on_rows(&self) -> Vec<Claim> {
        self.certificate().claims
    }

    /// What is proved of other planes in the place of its own, one for each machine, with the bound that
    /// the run has found.
    fn certificate_of(&self, planes: &[Plane]) -> Certificate {
        let _ = planes;
        Certificate::unproved("this learner does not bound what other planes can reach")
    }

    /// While a run lasts: no plane of unit length has a larger margin, in the coordinates of the
    /// run. `None` where nothing is known.
    fn margin_ceiling(&self) -> Option<f64> {
        None
    }

    /// Everything needed to go on later with the same bits.
    fn save(&self) -> State;

    /// Goes back to a saved state of the same run.
    fn restore(&mut self, state: &State) -> Result<()>;

    /// Where each machine of the run stands, so that what [`Training::last_updates`] tells from now
    /// on rebuilds its planes. Empty where planes are not sums of rows.
    fn beginnings(&self) -> Vec<Beginning> {
        Vec::new()
    }

    /// The last update of each machine. Only after slices of one visit is it certain that none was
    /// missed; one that was told before may be told again.
    fn last_updates(&self) -> Vec<Update> {
        Vec::new()
    }

    /// Takes over what a run of the same learner has learned on other data with the same classes and
    /// columns (or fewer of them): its planes, the average so far, and the counters on which rates and
    /// orders depend. [`Training::progress`] counts from here. Only for a run that has just started.
    fn carry_on(&mut self, state: &State) -> Result<()> {
        let _ = state;
        Err(Error::usage("this learner cannot go on with other rows than those it began with"))
    }

    /// The relative gap to the best of all that is known so far, for a run that makes one small.
    fn gap(&self) -> Option<f64> {
        None
    }

    /// Begins where a run of the same learner on the same rows has ended, C of this one being `factor`
    /// times as large. Only for a run that has just started; it may as well begin from nothing.
    fn warm_start(&mut self, state: &State, factor: f64) -> Result<()> {
        let _ = (state, factor);
        Ok(())
    }

    /// Why a run that has ended has no model to give: the rows rule out what the learner looks for.
    fn refusal(&self) -> Option<Error> {
        None
    }

    /// What the run was to find and has not found although it has ended by its own rule. The model is
    /// the best there is.
    fn shortfall(&self) -> Option<String> {
        None
    }

    /// What the learner found out on its way, for reports.
    fn remarks(&self) -> Vec<Remark> {
        Vec::new()
    }

    /// How rows come about, if the learner is a generative one and has found it.
    fn density(&self) -> Option<Density> {
        None
    }
}

/// Something that a learner found out and that belongs to no other part of a report.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Remark {
    /// What it is about, as at the start of a line of a report.
    pub name: &'static str,
    /// The finding in words.
    pub words: String,
    /// The finding as data.
    pub data: serde_json::Value,
}

impl Remark {
    /// A finding in words and as data.
    pub fn new(name: &'static str, words: String, data: serde_json::Value) -> Remark {
        Remark { name, words, data }
    }
}

/// How much a call of [`Training::advance`] may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// At most this many visits of a row.
    pub visits: u64,
    /// At most this many updates.
    pub updates: u64,
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

/// Counters of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Full passes over the rows.
    pub epochs: u64,
    /// Visits of a row.
    pub visits: u64,
    /// Corrections of the weights.
    pub updates: u64,
    /// Mistakes in the last full pass, if there was one.
    pub last_mistakes: Option<u64>,
}

/// What ends a run that has not ended by its own rule. `None` is no limit; a run on data that no
/// plane separates then never ends. The default is 100 epochs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Full passes over the rows.
    pub epochs: Option<u64>,
    /// Corrections of the weights.
    pub updates: Option<u64>,
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

/// A finished run.
#[derive(Clone, Debug)]
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
        if let Some(refusal) = training.refusal() {
            return Err(refusal);
        }
        let certificate = match task.data.unprovable() {
            Some(reason) => Certificate::unproved(reason),
            None => training.certificate(),
        };
        Ok(Fit {
            model: training.model(),
            certificate,
            stop,
            progress: training.progress(),
            remarks: training.remarks(),
            density: training.density(),
            shortfall: training.shortfall(),
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
