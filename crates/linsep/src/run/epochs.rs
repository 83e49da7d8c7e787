//! Runs whose work is done epoch by epoch: visits count up, and the last visit of an epoch does its work.

use super::{Budget, Status, Training};

/// A run that works once an epoch.
pub(crate) trait ByEpochs: Training {
    /// Visits so far.
    fn visits(&mut self) -> &mut u64;

    /// Whether the run can go on.
    fn status(&self) -> Status;

    /// The work of one epoch.
    fn work(&mut self);
}

/// [`Training::advance`] of such a run.
pub(crate) fn advance(run: &mut impl ByEpochs, budget: Budget) -> Status {
    let epoch = run.epoch_rows();
    let mut left = budget.visits;
    while left > 0 && run.status() == Status::Running {
        let to_end = epoch - *run.visits() % epoch;
        let now = left.min(to_end);
        *run.visits() += now;
        left -= now;
        if now == to_end {
            run.work();
        }
    }
    run.status()
}
