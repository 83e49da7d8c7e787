//! The rows of dense data that is mostly zeros, without the zeros.
//!
//! Dense rows save memory down to a fifth of non-zero values, but an engine that comes back to them a
//! hundred times with K planes had better find the non-zero ones at once.

use super::joint::Joint;
use linsep_data::matrix::panel::{PanelRows, Real, Scratch};
use linsep_data::matrix::with_rows;

/// Rows of an objective by their positions; empty where they are best decoded as they are met.
pub(super) struct Compact<T> {
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<T>,
}

impl<T: Real> Compact<T> {
    /// The rows, each value times the unit of its column.
    pub(super) fn new(joint: &Joint, units: &[f64]) -> Compact<T> {
        let mut compact = Compact { starts: Vec::new(), columns: Vec::new(), values: Vec::new() };
        let store = joint.data.store();
        if !store.is_dense() || 3 * store.nonzeros() > store.held_values() {
            return compact;
        }
        with_rows!(store, rows => {
            let decoder = rows.decoder::<T>(units);
            let mut scratch = Scratch::new();
            compact.starts.push(0);
            for row in &joint.rows {
                let (columns, values) = rows.decode(*row as usize, &decoder, &mut scratch);
                compact.columns.extend_from_slice(columns);
                compact.values.extend_from_slice(values);
                compact.starts.push(compact.columns.len());
            }
        });
        compact
    }

    #[inline]
    pub(super) fn row(&self, i: usize) -> Option<(&[u32], &[T])> {
        let (start, end) = (*self.starts.get(i)?, *self.starts.get(i + 1)?);
        Some((&self.columns[start..end], &self.values[start..end]))
    }
}
