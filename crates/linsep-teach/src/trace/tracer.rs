//! The observer that writes a trace while a run goes on.

use super::replica::{Measures, Replica};
use super::{End, FORMAT, Gamma, Header, Line, MachineHeader};
use linsep::loss::Criterion;
use linsep::run::ability::Traces;
use linsep::run::update::{Beginning, Update};
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
    learner: String,
    data: Arc<Dataset>,
    out: &'a mut dyn Write,
    watch: &'a mut dyn Observer,
    machines: Vec<Traced>,
    /// γ of the header.
    found: Option<Gamma>,
    several_files: bool,
    k: u64,
    failed: Option<Error>,
}

/// How γ of the rows of a machine is found.
pub type FindGamma<'a> = Box<dyn Fn(&Beginning) -> Option<Gamma> + 'a>;

struct Traced {
    replica: Replica,
    /// The number of the last update that was written.
    number: u64,
    /// The class of its plane, if there are several machines.
    plane: Option<u32>,
    made: u64,
}

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

fn traces(run: &dyn Training) -> Result<&dyn Traces> {
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
            learner: learner.to_owned(),
            data: Arc::clone(data),
            out,
            watch,
            machines: Vec::new(),
            found: None,
            several_files: data.origin().files().count() > 1,
            k: 0,
            failed: None,
        }
    }

    /// What was written, or why it could not be.
    pub fn finish(mut self) -> Result<Summary> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let model = self.model.take();
        self.write(&End { updates: self.k, model })?;
        self.out.flush().map_err(|error| io_error(&error))?;
        let r2 = self.machines.iter().map(|machine| machine.replica.r2).fold(0.0, f64::max);
        let fixed = matches!(&self.machines[..], [one] if one.replica.is_fixed_increment);
        // Far more room than the few roundings need.
        let quotient = |gamma: Gamma| r2 / gamma.lower / gamma.lower * (1.0 + 1e-12);
        let bound = self.found.filter(|_| fixed).map(quotient);
        let updates = self.machines.iter().map(|machine| machine.made).sum();
        Ok(Summary { updates, r2, gamma: self.found, bound })
    }

    fn begin(&mut self, run: &dyn Training) -> Result<()> {
        let beginnings = traces(run)?.beginnings();
        let [first, ..] = &beginnings[..] else { return Ok(()) };
        if beginnings.iter().any(|one| !one.rows.is_sorted_by(|a, b| a < b)) {
            return Err(Error::usage(
                "a trace needs the rows of the task in the order of the data",
            ));
        }
        if let [one] = &beginnings[..] {
            self.found = (self.gamma)(one);
        }
        self.k = beginnings.iter().map(|beginning| beginning.updates).sum();
        for beginning in &beginnings {
            let gamma = self.found.map(|gamma| gamma.lower);
            self.machines.push(Traced {
                replica: Replica::new(Arc::clone(&self.data), beginning, gamma)?,
                number: beginning.updates,
                plane: beginning.positive.filter(|_| beginnings.len() > 1),
                made: 0,
            });
        }
        if self.machines.iter().any(|machine| !machine.replica.r2.is_finite()) {
            return Err(Error::usage(
                "a row is too long for its square to be a number, so the run cannot be traced; scale the columns",
            ));
        }
        let machine = |beginning: &Beginning| MachineHeader {
            positive: beginning.positive,
            planes: beginning.planes.len() as u64,
            before: beginning.updates,
            left_out: left_out(&self.data, &beginning.rows),
        };
        let header = Header {
            format: FORMAT.to_owned(),
            learner: self.learner.clone(),
            parameters: self.parameters.clone(),
            algorithm_box: self.algorithm_box.clone(),
            seed: self.seed,
            digest: self.data.digest(self.threads),
            rows: self.data.n_rows() as u64,
            features: self.data.n_features() as u64,
            classes: self.data.classes().to_vec(),
            positive: self.positive.clone(),
            scaling: first.scaling.word().to_owned(),
            batch: first.batch,
            machines: beginnings.iter().map(machine).collect(),
            start: beginnings.iter().flat_map(|one| one.planes.clone()).collect(),
            r2: self.machines.iter().map(|machine| machine.replica.r2).fold(0.0, f64::max),
            gamma: self.found,
            criteria: self.criteria.iter().map(|criterion| criterion.word().to_owned()).collect(),
            input: self.data.input().clone(),
        };
        self.write(&header)
    }

    fn follow(&mut self, run: &dyn Training) -> Result<()> {
        for update in traces(run)?.last_updates() {
            let several = self.machines.len() > 1;
            let Some(machine) = self.machines.get_mut(update.machine) else { continue };
            if update.number <= machine.number {
                continue;
            }
            machine.number = update.number;
            machine.made += 1;
            self.k += 1;
            let measures = machine.replica.apply(&update);
            let values = machine.replica.criteria(&self.criteria);
            let words = self.criteria.iter().map(|criterion| criterion.word().to_owned());
            let values = values.into_iter().map(|value| value.is_finite().then_some(value));
            let criteria = (!self.criteria.is_empty()).then(|| words.zip(values).collect());
            let mut line = Line { k: self.k, criteria, ..line_of(&update, measures) };
            if several {
                line.machine = Some(update.machine as u32);
                line.plane = machine.plane.or(line.plane);
            }
            if let Some(row) = line.row.map(u64::from) {
                line.line = self.data.origin().line(row);
                let file = self.data.origin().file(row).filter(|_| self.several_files);
                line.file = file.map(str::to_owned);
            }
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

/// The update and its measures as a line, still without what only the tracer knows.
fn line_of(update: &Update, measures: Measures) -> Line {
    let mut line = Line {
        epoch: update.epoch,
        step: update.rate.unwrap_or(1.0),
        margin_before: measures.margin_before,
        margin_after: measures.margin_after,
        angle_before: measures.angle_before,
        angle_after: measures.angle_after,
        norm: measures.norm,
        mistakes: measures.mistakes,
        bound_upper: measures.bound_upper,
        bound_lower: measures.bound_lower,
        ..Line::default()
    };
    match (update.rate, &update.moves[..]) {
        (None, [one]) => {
            (line.row, line.step, line.rival) = (Some(one.row), one.step, one.rival);
            line.plane = one.rival.map(|_| one.plane);
        }
        (_, moves) => {
            line.rows = Some(moves.iter().map(|one| one.row).collect());
            line.steps = Some(moves.iter().map(|one| one.step).collect());
        }
    }
    line
}

/// The rows that take no part.
fn left_out(data: &Dataset, rows: &[u32]) -> Vec<u32> {
    let absent = |row: &u32| rows.binary_search(row).is_err();
    match rows.len() == data.n_rows() {
        true => Vec::new(),
        false => (0..data.n_rows() as u32).filter(absent).collect(),
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
        let made: u64 = self.machines.iter().map(|machine| machine.number).sum();
        if self.failed.is_none() && now.progress().updates != made {
            // A trace that cannot be written is no reason to give up the run.
            let followed = self.follow(now);
            self.note(followed);
        }
        self.watch.on_step(now)
    }
}
