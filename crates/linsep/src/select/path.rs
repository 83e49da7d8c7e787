//! Solutions for one C after the other, and the C that does best on rows held out.
//!
//! C rises by factors of 2 from 2⁻¹⁰ to 2¹⁰. On each fold every run starts where the one before has
//! ended: at its plane, or at its multipliers times the factor by which C has grown, which is where most
//! of them stay. Folds are shared out to threads; the data is never copied. The C with the fewest
//! mistakes on the rows held out is chosen, the smallest one where several make as many, because a
//! stronger penalty is the simpler model.
//!
//! Reference: Hastie, Tibshirani, Friedman, The Elements of Statistical Learning, 7.10; Chu, Ho, Tsai,
//! Lin, Warm start for parameter selection of linear classifiers, 2015.

use super::{Until, go_on, training_part};
use crate::run::{Learner, Limits, Stop, Task, Training, drive};
use linsep_data::error::{Error, Result};
use linsep_data::parallel::parallel_map;
use linsep_data::split::Split;

/// What came of one C on all folds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PathPoint {
    /// C.
    pub c: f64,
    /// Rows held out that were predicted wrongly.
    pub errors: u64,
    /// Rows held out.
    pub rows: u64,
    /// Folds on which the gap was not reached within the limits.
    pub unfinished: u64,
}

/// The values of C that are tried, rising.
pub fn costs() -> impl Iterator<Item = f64> + Clone {
    (-10..=10).map(|power| 2f64.powi(power))
}

/// Learns for every C on every fold, each run from where the one before has ended. `learner` makes the
/// learner of a C; `stop` is asked between slices of work and ends everything when it says true.
pub fn cost_path(
    learner: &(dyn Fn(f64) -> Result<Box<dyn Learner>> + Sync),
    task: &Task,
    splits: &[Split],
    limits: &Limits,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<PathPoint>> {
    let fold = |k: usize| -> Result<Vec<(u64, bool)>> {
        let split = &splits[k];
        let part = training_part(task, split);
        let mut before: Option<(Box<dyn Training>, f64)> = None;
        let mut found = Vec::new();
        for c in costs() {
            let mut run = learner(c)?.start(&part)?;
            if let Some((before, last)) = &mut before {
                go_on(run.as_mut(), before.as_mut(), c / *last);
            }
            let end = drive(run.as_mut(), limits, &mut Until(stop));
            if end == Stop::Interrupted {
                return Err(Error::Interrupted);
            }
            let predicted = run.model().predict_rows(&task.data, &split.test);
            let pairs = split.test.iter().zip(&predicted);
            let wrong = pairs.filter(|(row, class)| task.data.class_of(**row as usize) != **class);
            found.push((wrong.count() as u64, end == Stop::Finished));
            before = Some((run, c));
        }
        Ok(found)
    };
    let folds = parallel_map(splits.len(), task.threads, fold).into_iter();
    let folds = folds.collect::<Result<Vec<Vec<(u64, bool)>>>>()?;
    let rows = splits.iter().map(|split| split.test.len() as u64).sum();
    let point = |(k, c): (usize, f64)| PathPoint {
        c,
        errors: folds.iter().map(|fold| fold[k].0).sum(),
        rows,
        unfinished: folds.iter().filter(|fold| !fold[k].1).count() as u64,
    };
    Ok(costs().enumerate().map(point).collect())
}

/// The point with the fewest errors, the smallest C where several have as many.
pub fn best(path: &[PathPoint]) -> Option<PathPoint> {
    path.iter().copied().min_by_key(|point| point.errors)
}
