//! Rows of an array that are looked at once and not kept: what a model scores without a table being built.
//! A few thousand values at a time are made binary64, so that an array of any type is read once.

use super::ArrayOptions;
use super::array::Matrix;
use super::load::{Block, Source};
use super::named;
use crate::error::Result;
use linsep_kernels::widen_f32;
use std::ops::Range;

/// Rows of raw features of an array of any shape and type, without labels.
///
/// ```
/// use linsep_data::door::{ArrayOptions, ArrayRows, DenseArray, RowEntries};
/// let by_columns = DenseArray::column_major(&[1i32, 2, 3, 4, 5, 6], 3, 2);
/// let rows = ArrayRows::new(by_columns, &ArrayOptions::default())?;
/// let mut sums = Vec::new();
/// rows.for_each(0..3, &mut Default::default(), |_, row| match row {
///     RowEntries::All(values) => sums.push(values.iter().sum::<f64>()),
///     RowEntries::Some(_, values) => sums.push(values.iter().sum()),
/// })?;
/// assert_eq!(sums, [5.0, 7.0, 9.0]);
/// # Ok::<(), linsep_data::Error>(())
/// ```
pub struct ArrayRows<'a> {
    source: Source<'a>,
    names: Option<Vec<String>>,
}

/// The values of a row.
#[derive(Clone, Copy, Debug)]
pub enum RowEntries<'a> {
    /// Every column.
    All(&'a [f64]),
    /// Some columns, rising, with their values; all others are 0.
    Some(&'a [u32], &'a [f64]),
}

/// A row that may not have been checked, see [`ArrayRows::for_each_proved`].
#[derive(Clone, Copy, Debug)]
pub enum Unproved<'a> {
    /// In binary64.
    Wide(RowEntries<'a>),
    /// Every column, in single precision as the array has them.
    Single(&'a [f32]),
}

/// Room that is kept from block to block.
#[derive(Default)]
pub struct RowsRoom(Block);

impl<'a> ArrayRows<'a> {
    /// Rows of an array whose shape fits. What is wrong with a value is found when its row is read.
    pub fn new(array: impl Into<Matrix<'a>>, options: &ArrayOptions) -> Result<ArrayRows<'a>> {
        let source = Source::new(array.into(), options.allow_lossy, options.fill)?;
        options.check(source.columns)?;
        Ok(ArrayRows { source, names: options.names.clone() })
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.source.rows
    }

    /// Number of columns.
    pub fn n_features(&self) -> usize {
        self.source.columns
    }

    /// Whether every value stands in the array, zeros too.
    pub fn is_dense(&self) -> bool {
        self.source.is_table()
    }

    /// Calls `each` with the number and the values of every row of a range, in order. A value that is
    /// not finite, missing, or an integer that no binary64 equals is refused with its place; rows before its
    /// block were handed on.
    pub fn for_each(
        &self,
        rows: Range<usize>,
        room: &mut RowsRoom,
        mut each: impl FnMut(usize, RowEntries<'_>),
    ) -> Result<()> {
        self.for_each_proved(rows, room, |row, entries, is_checked| match entries {
            Unproved::Wide(entries) if is_checked => {
                each(row, entries);
                true
            }
            _ => false,
        })
    }

    /// The same for work that sees by its own result whether a row is finite, as a sum of products does:
    /// one value that is not makes it infinite or NaN. Rows come to `each` unchecked at first; where it
    /// answers `false`, the row is checked and, if it is fine, comes again, as binary64.
    pub fn for_each_proved(
        &self,
        rows: Range<usize>,
        room: &mut RowsRoom,
        mut each: impl FnMut(usize, Unproved<'_>, bool) -> bool,
    ) -> Result<()> {
        let width = self.source.columns;
        let range = rows.start * width..rows.end * width;
        if let Some(plain) = self.source.plain_f64() {
            for (row, values) in rows.zip(plain[range].chunks_exact(width)) {
                if !each(row, Unproved::Wide(RowEntries::All(values)), false) {
                    self.check_row(row, values)?;
                    each(row, Unproved::Wide(RowEntries::All(values)), true);
                }
            }
            return Ok(());
        }
        if let Some(plain) = self.source.plain_f32() {
            let wide = &mut room.0.values;
            wide.resize(width, 0.0);
            for (row, values) in rows.zip(plain[range].chunks_exact(width)) {
                if !each(row, Unproved::Single(values), false) {
                    widen_f32(values, wide);
                    self.check_row(row, wide)?;
                    each(row, Unproved::Wide(RowEntries::All(wide)), true);
                }
            }
            return Ok(());
        }
        let is_dense = self.is_dense();
        self.named(self.source.for_each_block(rows, &mut room.0, |block, rows| {
            self.source.check_finite(block, rows.start)?;
            if is_dense {
                for (row, values) in rows.zip(block.values.chunks_exact(width)) {
                    each(row, Unproved::Wide(RowEntries::All(values)), true);
                }
                return Ok(());
            }
            let mut start = 0;
            for (row, &end) in rows.zip(&block.ends) {
                let (columns, values) = (&block.columns[start..end], &block.values[start..end]);
                each(row, Unproved::Wide(RowEntries::Some(columns, values)), true);
                start = end;
            }
            Ok(())
        }))
    }

    /// Refuses a row with a value that is not finite.
    fn check_row(&self, row: usize, values: &[f64]) -> Result<()> {
        // Without a way out the loop goes over several values at a time.
        if values.iter().fold(true, |fine, value| fine & value.is_finite()) {
            return Ok(());
        }
        let block = Block { values: values.to_vec(), ..Block::default() };
        self.named(self.source.check_finite(&block, row))
    }

    fn named(&self, result: Result<()>) -> Result<()> {
        result.map_err(|error| named(error, self.names.as_deref()))
    }
}
