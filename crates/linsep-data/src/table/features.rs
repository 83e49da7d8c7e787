//! Features: the numbers of a table, with the names of its columns and how exact proofs read them,
//! but without labels. [`door`](crate::door) makes them from arrays, [`read`](crate::read) from files.

use crate::basis::Expansion;
use crate::error::Place;
use crate::input::InputMap;
use crate::matrix::{Kind, Layouts, RowCopies, Store};
use crate::{Origin, Reading};
use linsep_proof::ReadingField;
use std::sync::Arc;

/// Rows of numbers without labels.
///
/// ```
/// use linsep_data::Features;
/// let features = Features::dense(&[0.5, 2.0, 1.5, -1.0, 0.0, 3.0], 2, 3)?;
/// assert_eq!((features.n_rows(), features.n_features()), (2, 3));
/// assert_eq!(features.row(1), [-1.0, 0.0, 3.0]);
/// # Ok::<(), linsep_data::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Features {
    /// The values: with basis functions φ(x), else x.
    pub(crate) store: RowCopies,
    /// What they were made of, with basis functions.
    pub(crate) expansion: Option<Expansion>,
    pub(crate) input: InputMap,
    pub(crate) reading: Reading,
    pub(crate) origin: Origin,
}

impl Features {
    /// Number of rows.
    #[inline]
    pub fn n_rows(&self) -> usize {
        self.store.rows()
    }

    /// Number of features, those of basis functions included.
    #[inline]
    pub fn n_features(&self) -> usize {
        self.store.width()
    }

    /// How columns became features.
    pub fn input(&self) -> &InputMap {
        &self.input
    }

    /// How exact proofs understand the numbers.
    pub fn reading(&self) -> &Reading {
        &self.reading
    }

    /// The same numbers with these columns, rising, as binary64; `None` if others have to be so too.
    #[doc(hidden)]
    pub fn with_binary64(mut self, columns: Vec<u32>) -> Option<Features> {
        let listed = |column: &u32| columns.binary_search(column).is_ok();
        if !self.reading.binary64.iter().all(listed) {
            return None;
        }
        if self.reading.decimal {
            self.reading.binary64 = columns;
        }
        Some(self)
    }

    /// The reading as certificates state it.
    pub fn reading_field(&self) -> ReadingField {
        self.reading.field()
    }

    /// Files and lines of the rows; empty for arrays.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Number of values that are not zero.
    pub fn nonzeros(&self) -> u64 {
        self.store.nonzeros()
    }

    /// How the values are encoded.
    pub fn encoding(&self) -> Kind {
        self.store.kind()
    }

    /// Whether rows are held densely.
    #[inline]
    pub fn is_dense(&self) -> bool {
        self.store.is_dense()
    }

    /// Bytes that the features take in memory.
    pub fn feature_bytes(&self) -> u64 {
        self.store.bytes()
    }

    /// Bytes for each value held: every value of dense rows, every non-zero of sparse ones, with
    /// indices and row starts shared out.
    pub fn bytes_per_value(&self) -> f64 {
        self.store.bytes() as f64 / self.store.held_values().max(1) as f64
    }

    /// Calls `each` with the non-zero entries of a row, in rising order of the column.
    #[inline]
    pub fn for_each(&self, row: usize, each: impl FnMut(u32, f64)) {
        self.store.for_each(row, &mut Vec::new(), each);
    }

    /// The values of a row.
    pub fn row(&self, row: usize) -> Vec<f64> {
        let mut values = vec![0.0; self.n_features()];
        self.for_each(row, |column, value| values[column as usize] = value);
        values
    }

    /// Columns that are zero everywhere are added on the right up to `width`.
    #[doc(hidden)]
    pub fn widen_to(&mut self, width: usize) {
        if width > self.store.width() {
            self.store.change().widen_to(width);
        }
        self.input.features = self.input.features.max(width);
    }

    /// Where a row stands in its file.
    #[doc(hidden)]
    pub fn place_of(&self, row: usize) -> Place {
        let row = row as u64;
        Place {
            file: self.origin.file(row).map(str::to_owned),
            line: self.origin.line(row),
            row: Some(row),
            ..Place::default()
        }
    }

    /// The rows as they are held: with basis functions φ(x), else x.
    #[doc(hidden)]
    #[inline]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The rows as sparse ones, where the way they are held is slow to go over; made once and kept.
    #[doc(hidden)]
    pub fn sparse_copy(&self, threads: usize) -> Option<Arc<Store>> {
        self.store.sparse_copy(threads)
    }

    /// The copies of the rows that runs on this data share.
    #[doc(hidden)]
    pub fn layouts(&self) -> &Layouts {
        self.store.layouts()
    }

    /// The rows before basis functions.
    #[doc(hidden)]
    #[inline]
    pub fn raw_store(&self) -> &Store {
        self.expansion.as_ref().map_or(&self.store, |expansion| &expansion.raw)
    }
}
