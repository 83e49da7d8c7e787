//! What is done with learners and with what they have learned: cross-validation, paths of C, grids of settings, repeated
//! runs, calibration, thresholds, predictions that no better solution changes, support vectors, streams.

pub mod flips;
pub mod neighbours;
pub mod path;
pub mod platt;
pub mod runs;
pub mod stream;
pub mod support;
pub mod threshold;
pub mod tune;
pub mod validate;

use crate::run::{Fit, Learner, Limits, Observer, Stop, Task, Training};
use linsep_data::error::{Error, Result};
use linsep_data::split::Split;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Ends a run when a question is answered with true; it is asked between slices of work.
struct Until<'a>(&'a (dyn Fn() -> bool + Sync));

impl Observer for Until<'_> {
    fn on_step(&mut self, _: &dyn Training) -> ControlFlow<Stop> {
        match (self.0)() {
            true => ControlFlow::Break(Stop::Interrupted),
            false => ControlFlow::Continue(()),
        }
    }
}

/// Begins a run where the one of another C has ended, its own being `factor` times as large; from nothing where it
/// cannot.
fn go_on(run: &mut dyn Training, before: &mut dyn Training, factor: f64) {
    let Some(run) = run.warm_starts() else { return };
    if run.warm_start(&before.save(), factor)
        && let Some(known) = before.warm_starts().and_then(|before| before.hand_over())
    {
        run.take_over(known, factor);
    }
}

/// Runs to the end; one that `stop` has ended is an error.
fn fit_until(
    learner: &dyn Learner,
    task: &Task,
    limits: &Limits,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Fit> {
    let fit = learner.fit(task, limits, &mut Until(stop))?;
    match fit.stop {
        Stop::Interrupted => Err(Error::Interrupted),
        _ => Ok(fit),
    }
}

/// The training rows of a split, for one thread.
fn training_part(task: &Task, split: &Split) -> Task {
    Task { rows: Some(Arc::from(&split.train[..])), threads: 1, ..task.clone() }
}
