//! Cross-validation: the same learner on every split of one shared copy of the data.

use super::{Learner, Limits, Stop, Task, Training};
use crate::data::split::Split;
use crate::error::{Error, Result};
use crate::parallel::parallel_map;
use crate::report::CrossValidation;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Learns from the training rows of each split and counts errors on its test rows. Splits run side
/// by side; `stop` is asked between slices of work and ends everything when it says true.
pub fn cross_validate(
    learner: &dyn Learner,
    task: &Task,
    splits: &[Split],
    limits: &Limits,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<CrossValidation> {
    let run = |k: usize| -> Result<(u64, u64)> {
        let split = &splits[k];
        let part = Task { rows: Some(Arc::from(&split.train[..])), threads: 1, ..task.clone() };
        let mut watch = |_: &dyn Training| match stop() {
            true => ControlFlow::Break(Stop::Interrupted),
            false => ControlFlow::Continue(()),
        };
        let fit = learner.fit(&part, limits, &mut watch)?;
        if fit.stop == Stop::Interrupted {
            return Err(Error::Interrupted);
        }
        let evaluation = fit.model.evaluate(&task.data, Some(&split.test), 1);
        Ok((evaluation.rows, evaluation.errors))
    };
    let folds: Result<Vec<(u64, u64)>> =
        parallel_map(splits.len(), task.threads, run).into_iter().collect();
    Ok(CrossValidation::new(&folds?))
}
