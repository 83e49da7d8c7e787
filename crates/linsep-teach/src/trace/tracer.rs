//! The observer that writes a trace while a run goes on.

use super::{Follower, Gamma};
use linsep::loss::Criterion;
use linsep::run::ability::Traces;
use linsep::run::update::Beginning;
use linsep::run::{Budget, Observer, Stop, Training};
use linsep_data::Dataset;
use linsep_data::error::{Error, Result};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Writes every update of a run and hands everything else on to another observer.
///
/// ```
/// use linsep::engine::perceptron::Perceptron;
/// use linsep_teach::trace::Tracer;
/// use linsep::{Dataset, Learner, Limits, Task};
/// let rows = [[0., 0.], [0., 1.], [1., 0.], [1., 1.]];
/// let task = Task::new(Dataset::from_rows(&rows, &["0", "0", "0", "1"])?);
/// let (mut file, mut nobody) = (Vec::new(), ());
/// let mut tracer = Tracer::new(&task.data, "perceptron", &mut file, &mut nobody);
/// let fit = Perceptron::default().fit(&task, &Limits::default(), &mut tracer)?;
/// assert_eq!(tracer.finish()?.updates, fit.progress.updates);
/// let lines = String::from_utf8_lossy(&file).lines().count() as u64;
/// // One line before the updates and one behind them.
/// assert_eq!(lines, 2 + fit.progress.updates);
/// # Ok::<(), linsep::Error>(())
/// ```
pub struct Tracer<'a> {
    /// Parameters of the learner, for the header.
    pub parameters: BTreeMap<String, String>,
    /// The seed, for the header.
    pub seed: u64,
    /// The algorithm box, for the header.
    pub algorithm_box: Option<String>,
    /// The class that was chosen as positive, for the header.
    pub positive: Option<String>,
    /// Threads that may be used. Never changes a bit of the trace.
    pub threads: usize,
    /// The criteria that every line is to have.
    pub criteria: Vec<Criterion>,
    /// Where the weights of the model come from, if not from the last update; known when the run has ended.
    pub model: Option<String>,
    /// Finds γ for the rows of a machine.
    pub gamma: FindGamma<'a>,
    out: &'a mut dyn Write,
    watch: &'a mut dyn Observer,
    follower: Follower,
    failed: Option<Error>,
}

/// How γ of the rows of a machine is found.
pub type FindGamma<'a> = Box<dyn Fn(&Beginning) -> Option<Gamma> + 'a>;

/// What a finished trace holds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// Updates that were written.
    pub updates: u64,
    /// R² of the rows in the coordinates of the run.
    pub r2: f64,
    /// γ, where it is known.
    pub gamma: Option<Gamma>,
    /// R²/γ² with the lower end of γ, if that bound speaks of this run: one plane from 0, equal
    /// steps, at mistakes only.
    pub bound: Option<f64>,
}

/// Whether the planes of a run are sums of rows, so that it can be traced; why not, if not.
pub fn traceable(run: &dyn Training) -> Result<()> {
    traces(run).map(|_| ())
}

pub(super) fn traces(run: &dyn Training) -> Result<&dyn Traces> {
    run.traces().ok_or_else(|| {
        Error::usage(
            "the updates of this learner are not sums of rows, so there is nothing to trace",
        )
    })
}

impl<'a> Tracer<'a> {
    /// A tracer of one run of a learner on all or some rows of `data`.
    pub fn new(
        data: &Arc<Dataset>,
        learner: &str,
        out: &'a mut dyn Write,
        watch: &'a mut dyn Observer,
    ) -> Tracer<'a> {
        Tracer {
            parameters: BTreeMap::new(),
            seed: 0,
            algorithm_box: None,
            positive: None,
            threads: 1,
            criteria: Vec::new(),
            model: None,
            gamma: Box::new(|_| None),
            out,
            watch,
            follower: Follower::new(data, learner),
            failed: None,
        }
    }

    /// What was written, or why it could not be.
    pub fn finish(mut self) -> Result<Summary> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let last = self.follower.last_line(self.model.take());
        self.out.write_all(last.as_bytes()).map_err(|error| io_error(&error))?;
        self.out.write_all(b"\n").map_err(|error| io_error(&error))?;
        self.out.flush().map_err(|error| io_error(&error))?;
        Ok(self.follower.summary())
    }

    fn begin(&mut self, run: &dyn Training) -> Result<()> {
        let follower = &mut self.follower;
        follower.parameters.clone_from(&self.parameters);
        follower.seed = self.seed;
        follower.algorithm_box.clone_from(&self.algorithm_box);
        follower.positive.clone_from(&self.positive);
        follower.threads = self.threads;
        follower.criteria.clone_from(&self.criteria);
        let header = follower.begin(run, &self.gamma)?;
        self.write(&header)
    }

    fn follow(&mut self, run: &dyn Training) -> Result<()> {
        for line in self.follower.follow(run)? {
            self.write(&line)?;
        }
        Ok(())
    }

    fn write(&mut self, value: &impl serde::Serialize) -> Result<()> {
        serde_json::to_writer(&mut self.out, value).map_err(|error| io_error(&error.into()))?;
        self.out.write_all(b"\n").map_err(|error| io_error(&error))
    }

    fn note(&mut self, result: Result<()>) {
        self.failed = self.failed.take().or(result.err());
    }
}

fn io_error(error: &io::Error) -> Error {
    let copy = io::Error::new(error.kind(), error.to_string());
    Error::io("write", std::path::Path::new("the trace"), copy)
}

impl Observer for Tracer<'_> {
    fn on_start(&mut self, now: &dyn Training) -> ControlFlow<Stop> {
        let begun = self.begin(now);
        self.note(begun);
        match &self.failed {
            // What cannot be traced is refused before the work.
            Some(error) if !matches!(error, Error::Io { .. }) => {
                ControlFlow::Break(Stop::Interrupted)
            }
            _ => self.watch.on_start(now),
        }
    }

    /// One visit at a time, so that no update is missed.
    fn pace(&self) -> Budget {
        let Budget { visits, updates, .. } = self.watch.pace();
        let visits = if self.failed.is_some() { visits } else { visits.min(1) };
        Budget::new(visits, updates)
    }

    fn on_end(&mut self, now: &dyn Training) {
        if self.failed.is_none() {
            let followed = self.follow(now);
            self.note(followed);
        }
        self.watch.on_end(now);
    }

    fn on_step(&mut self, now: &dyn Training) -> ControlFlow<Stop> {
        // Asking is cheaper than telling.
        if self.failed.is_none() && self.follower.is_behind(now) {
            // A trace that cannot be written is no reason to give up the run.
            let followed = self.follow(now);
            self.note(followed);
        }
        self.watch.on_step(now)
    }
}
