//! Cross-validation: the same learner on every split of one shared copy of the data.

use super::{fit_until, training_part};
use crate::metrics::{CrossValidation, Fold, Predictions};
use crate::run::{Learner, Limits, Task};
use linsep_data::Dataset;
use linsep_data::error::{Error, Result};
use linsep_data::parallel::parallel_map;
use linsep_data::split::Split;

/// Learns from the training rows of each split and counts errors on its test rows. Splits run side
/// by side; `stop` is asked between slices of work and ends everything when it says true.
pub fn cross_validate(
    learner: &dyn Learner,
    task: &Task,
    splits: &[Split],
    limits: &Limits,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<CrossValidation> {
    let predicted = held_out(learner, task, splits, limits, stop)?;
    Ok(count(&task.data, splits, &predicted))
}

/// Learns from the training rows of each split and predicts its test rows: for each split the classes,
/// in the order of its test rows.
pub fn held_out(
    learner: &dyn Learner,
    task: &Task,
    splits: &[Split],
    limits: &Limits,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<Vec<u32>>> {
    let run = |k: usize| -> Result<Vec<u32>> {
        if stop() {
            return Err(Error::Interrupted);
        }
        let split = &splits[k];
        let fit = fit_until(learner, &training_part(task, split), limits, stop)?;
        Ok(fit.model.predict_rows(&task.data, &split.test))
    };
    parallel_map(splits.len(), task.threads, run).into_iter().collect()
}

/// The same with scores and probabilities: the test rows of all splits, one split behind the other.
pub fn held_out_rows(
    learner: &dyn Learner,
    task: &Task,
    splits: &[Split],
    limits: &Limits,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Predictions> {
    let run = |k: usize| -> Result<Predictions> {
        if stop() {
            return Err(Error::Interrupted);
        }
        let split = &splits[k];
        let fit = fit_until(learner, &training_part(task, split), limits, stop)?;
        Ok(fit.model.predictions(&task.data, &split.test))
    };
    let mut all = Predictions::new(task.data.classes());
    for fold in parallel_map(splits.len(), task.threads, run) {
        all.append(fold?);
    }
    Ok(all)
}

/// Predicted classes of the test rows of all splits, for metrics of counts.
pub fn as_rows(data: &Dataset, splits: &[Split], predicted: &[Vec<u32>]) -> Predictions {
    let mut all = Predictions::new(data.classes());
    let rows = splits.iter().flat_map(|split| &split.test);
    for (&row, class) in rows.zip(predicted.iter().flatten()) {
        let row = row as usize;
        all.add(data.class_of(row), *class, &[], &[], data.weight(row));
    }
    all
}

/// The errors of predictions of the test rows of each split.
pub fn count(data: &Dataset, splits: &[Split], predicted: &[Vec<u32>]) -> CrossValidation {
    let fold = |(split, predicted): (&Split, &Vec<u32>)| {
        let mut fold = Fold::default();
        for (&row, class) in split.test.iter().zip(predicted) {
            fold.add(data.class_of(row as usize) != *class, data.weight(row as usize));
        }
        fold
    };
    CrossValidation::new(&splits.iter().zip(predicted).map(fold).collect::<Vec<_>>())
}
