//! Training: `fit` runs to the end, `partial_fit` goes once over the next rows of a stream.

use crate::data::Data;
use crate::errors::exception;
use crate::model::{Findings, Model};
use crate::waiting::wait;
use linsep::data::cancel::is_requested;
use linsep::file::ModelFile;
use linsep::file::checkpoint::SavedRun;
use linsep::recipe::{Kind, Recipe, Settings};
use linsep::select::stream::OnePass;
use linsep::{Error, Fit, Limits, Observer, Progress, Stop, Task, Training, drive};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Learns from all rows. `settings` has the parameters of the registry that are not as usual.
#[pyfunction]
#[pyo3(signature = (learner, settings, data, *, seed=0, epochs=None, threads=1, callback=None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn fit(
    py: Python<'_>,
    learner: &str,
    settings: BTreeMap<String, String>,
    data: &Data,
    seed: u64,
    epochs: Option<u64>,
    threads: usize,
    callback: Option<Py<PyAny>>,
) -> PyResult<Model> {
    let recipe = Recipe::find(learner).map_err(|error| exception(py, error))?;
    let settings = made(settings, seed);
    let learner = recipe.build(&settings).map_err(|error| exception(py, error))?;
    let task = Task::new(Arc::clone(&data.table)).with_threads(threads);
    let raised = Raised::default();
    let mut teller = Teller { callback, told: 0, raised: raised.clone() };
    let work = move || {
        let began = Instant::now();
        let limits = limits(recipe, &task, epochs);
        let mut training = learner.start(&task)?;
        let stop = drive(training.as_mut(), &limits, &mut teller);
        if stop == Stop::Diverged {
            return Err(diverged(recipe.kind));
        }
        let fit = Fit::of(training.as_ref(), &task, stop)?;
        let gap = training.bounds_objective().and_then(|run| run.gap());
        let (identity, reading) = (task.data.identity(task.threads), task.data.reading_field());
        let findings = Findings::new(&fit, gap);
        let mut file = ModelFile::new(
            fit.model,
            fit.certificate,
            recipe.name,
            recipe.effective(&settings),
            settings.seed,
            (fit.stop, fit.progress),
            (identity, reading),
        );
        file.density = fit.density;
        Ok(Model { file, findings: findings.timed(began) })
    };
    let model = wait(py, work)?;
    raised.raise()?;
    Ok(model)
}

/// Learns from the next rows of a stream, each seen once, and goes on from `before`.
#[pyfunction]
#[pyo3(signature = (learner, settings, data, before=None, *, seed=0, threads=1))]
pub(crate) fn partial_fit(
    py: Python<'_>,
    learner: &str,
    settings: BTreeMap<String, String>,
    data: &Data,
    before: Option<&Model>,
    seed: u64,
    threads: usize,
) -> PyResult<Model> {
    let recipe = Recipe::find(learner).map_err(|error| exception(py, error))?;
    let mut settings = made(settings, seed);
    let run = before.and_then(|model| model.file.run.clone()).filter(|run| run.stream);
    let can_begin = |name: &str, usual: &str| {
        let parameter = recipe.parameters.iter().find(|parameter| parameter.name == name);
        parameter.is_some_and(|parameter| settings.get(parameter) == usual)
    };
    // A model of `fit` is where the stream begins, for learners that can begin with planes.
    let begins = run.is_none() && can_begin("init", "zero") && can_begin("multiclass", "joint");
    if let Some(model) = before.filter(|_| begins) {
        settings.set("init", "model");
        settings.start = Some(model.file.model.planes.clone());
    }
    let classes = data.table.classes().to_vec();
    let earlier = before.map_or((0, 0), |model| (model.file.epochs, model.file.updates));
    let part = data.table.as_ref().clone();
    let work = move || {
        recipe.settle_stream(&mut settings, false)?;
        let mut pass = OnePass::new(recipe.build(&settings)?, None, threads);
        let mut visits = 0;
        match run {
            Some(run) => {
                visits = run.visits;
                pass.carry_on(run.state, &classes, false);
            }
            None => pass.expect_classes(&classes)?,
        }
        if pass.feed(part, &mut ())? == ControlFlow::Break(Stop::Diverged) {
            return Err(diverged(recipe.kind));
        }
        let passed = pass.finish(Stop::Epochs)?;
        let fit = passed.fit;
        let identity = linsep::file::DataIdentity::new(passed.data.1, passed.data.0);
        let findings = Findings::new(&fit, None);
        let progress = Progress::default()
            .with_epochs(earlier.0 + 1)
            .with_updates(earlier.1 + fit.progress.updates);
        let mut file = ModelFile::new(
            fit.model,
            fit.certificate,
            recipe.name,
            recipe.effective(&settings),
            settings.seed,
            (fit.stop, progress),
            (identity, passed.reading.field()),
        );
        let visits = visits + fit.progress.visits;
        file.run = Some(SavedRun::new(visits, passed.state).with_stream(true));
        Ok(Model { file, findings })
    };
    wait(py, work)
}

/// Settings out of those that are not as usual.
pub(crate) fn made(values: BTreeMap<String, String>, seed: u64) -> Settings {
    let mut settings = Settings::default();
    settings.seed = seed;
    values.iter().for_each(|(name, value)| settings.set(name, value));
    settings
}

/// That the weights of a run are no numbers any more.
pub(crate) fn diverged(kind: Kind) -> Error {
    let smaller = if kind == Kind::Optimising { "c" } else { "eta" };
    Error::usage(format!(
        "the weights left the range of binary64: choose a smaller `{smaller}`, scale the columns, or leave out columns of extreme size"
    ))
}

/// The exception of a callback, if it raised one.
#[derive(Clone, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    fn keep(&self, error: PyErr) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }

    fn raise(&self) -> PyResult<()> {
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

/// Tells a callback of each epoch; the callback ends the run by returning true or by raising.
struct Teller {
    callback: Option<Py<PyAny>>,
    told: u64,
    raised: Raised,
}

impl Teller {
    fn tell(&mut self, now: &dyn Training) -> ControlFlow<Stop> {
        let progress = now.progress();
        let Some(callback) = self.callback.as_ref().filter(|_| progress.epochs > self.told) else {
            return ControlFlow::Continue(());
        };
        self.told = progress.epochs;
        // The thread that waits has left; nobody wants to hear more.
        if is_requested() {
            return ControlFlow::Break(Stop::Interrupted);
        }
        let answer = Python::attach(|py| -> PyResult<bool> {
            let answer = callback.call1(py, (as_dict(py, &progress)?,))?;
            Ok(!answer.is_none(py) && answer.is_truthy(py)?)
        });
        match answer {
            Ok(false) => ControlFlow::Continue(()),
            Ok(true) => ControlFlow::Break(Stop::Interrupted),
            Err(error) => {
                self.raised.keep(error);
                ControlFlow::Break(Stop::Interrupted)
            }
        }
    }
}

impl Observer for Teller {
    fn on_step(&mut self, now: &dyn Training) -> ControlFlow<Stop> {
        self.tell(now)
    }

    fn on_end(&mut self, now: &dyn Training) {
        // The run is over, whatever the answer.
        let _ = self.tell(now);
    }
}

/// What a callback sees.
fn as_dict<'py>(py: Python<'py>, progress: &Progress) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("epochs", progress.epochs)?;
    dict.set_item("visits", progress.visits)?;
    dict.set_item("updates", progress.updates)?;
    dict.set_item("mistakes", progress.last_mistakes)?;
    dict.set_item("objective", progress.objective)?;
    dict.set_item("gap", progress.gap)?;
    Ok(dict)
}

/// The limits that are given, or those that fit the learner and its data.
pub(crate) fn limits(recipe: &Recipe, task: &Task, epochs: Option<u64>) -> Limits {
    match epochs {
        Some(epochs) => Limits::default().with_epochs(Some(epochs)),
        None => recipe.default_limits(&task.data),
    }
}
