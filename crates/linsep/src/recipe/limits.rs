//! What ends a run where nobody gave a limit.

use super::{Kind, Recipe};
use crate::run::Limits;
use linsep_data::Dataset;

/// Epochs of a learner that ends at a gap, at least, where nobody gave a limit.
pub const LEAST_EPOCHS: u64 = 1000;

/// Values that such a run may visit: a few seconds of work on small data.
const OPTIMISING_WORK: u64 = 2_000_000_000;

impl Recipe {
    /// The limits of a run on this data where none are given. Those of a learner that ends at a gap are
    /// limits on work: of few rows many epochs are cheap.
    pub fn default_limits(&self, data: &Dataset) -> Limits {
        if self.kind != Kind::Optimising {
            return Limits::default();
        }
        let values = data.nonzeros() + data.n_rows() as u64;
        let epochs = OPTIMISING_WORK / values.max(1);
        let epochs = epochs.clamp(LEAST_EPOCHS, 100 * LEAST_EPOCHS);
        Limits::default().with_epochs(Some(epochs))
    }
}
