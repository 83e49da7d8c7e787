//! From arrays to blocks of rows in binary64, a few thousand values at a time, so that they stay in the
//! cache of a core while they are learned from and encoded. Shapes are checked before anything is
//! allocated; what is wrong with a value is found when its block is loaded.

use super::array::{
    Array, Column, ColumnsArray, DenseArray, Element, Matrix, Validity, Values, with_array,
};
use crate::error::{Code, Place, Problem, Result};
use std::ops::Range;

/// Rows and columns are counted with 32 bits.
const MOST: usize = u32::MAX as usize;

/// About so many values are loaded at a time.
pub(super) const VALUES_AT_ONCE: usize = 1 << 12;

/// Columns that stand apart in memory are loaded at least so many rows at a time, since a line of the
/// cache holds several of their rows.
const ROWS_AT_ONCE: usize = 16;

/// About so many values are one piece of work for a thread.
const VALUES_IN_CHUNK: usize = 1 << 17;

/// An array whose shape has been checked, with the rules for its values.
pub(super) struct Source<'a> {
    matrix: Matrix<'a>,
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// Round integers that have no binary64.
    lossy: bool,
    /// What stands for missing values.
    fill: Option<f64>,
    /// Rows that are one piece of work.
    pub(super) chunk_rows: usize,
    /// Rows of a table that are loaded at a time.
    at_once: usize,
}

/// Some rows in binary64. Buffers are kept for the next rows.
#[derive(Default)]
pub(super) struct Block {
    /// All values of the rows of a table, or the entries that are not 0.
    pub(super) values: Vec<f64>,
    /// The columns of the entries, rising within a row; empty for a table.
    pub(super) columns: Vec<u32>,
    /// Where the entries of each row end; empty for a table.
    pub(super) ends: Vec<usize>,
    /// Where rows start and end in the array, and the entries of a row that is sorted.
    pub(super) bounds: Vec<usize>,
    pub(super) pairs: Vec<(u32, f64)>,
}

impl<'a> Source<'a> {
    pub(super) fn new(matrix: Matrix<'a>, lossy: bool, fill: Option<f64>) -> Result<Source<'a>> {
        let (rows, columns) = match &matrix {
            Matrix::Dense(array) => (array.rows, array.columns),
            Matrix::Csr(array) => (array.offsets.len().saturating_sub(1), array.columns),
            Matrix::Columns(array) => (array.rows(), array.columns.len()),
        };
        check_size(rows, columns)?;
        match &matrix {
            Matrix::Dense(array) => array.check()?,
            Matrix::Csr(array) => array.check()?,
            Matrix::Columns(array) => array.check()?,
        }
        let (values, near) = match &matrix {
            Matrix::Dense(array) => (rows * columns, array.column_stride == 1 || columns == 1),
            Matrix::Columns(_) => (rows * columns, columns == 1),
            Matrix::Csr(array) => (array.indices.len(), true),
        };
        let fewest = if near { 1 } else { ROWS_AT_ONCE };
        let at_once = (VALUES_AT_ONCE / columns).max(fewest).min(rows);
        let by_row = (values / rows).max(1);
        let chunk_rows = (VALUES_IN_CHUNK / by_row).max(1).next_multiple_of(at_once);
        Ok(Source { matrix, rows, columns, lossy, fill, chunk_rows, at_once })
    }

    /// Whether every value stands in the array, zeros too.
    pub(super) fn is_table(&self) -> bool {
        !matches!(self.matrix, Matrix::Csr(_))
    }

    /// Whether values may be missing.
    pub(super) fn may_miss_values(&self) -> bool {
        matches!(self.matrix, Matrix::Columns(_))
    }

    /// Whether the values of a column are of an integer type.
    pub(super) fn is_whole(&self, column: usize) -> bool {
        fn whole<T: Element>(_: &[T]) -> bool {
            T::WHOLE
        }
        let array = match &self.matrix {
            Matrix::Dense(array) => array.values,
            Matrix::Csr(array) => array.values,
            Matrix::Columns(array) => match array.columns[column].values {
                Values::Array(array) => array,
                Values::Bits { .. } => return true,
            },
        };
        with_array!(array, values => whole(values))
    }

    /// The number of pieces of work.
    pub(super) fn chunks(&self) -> usize {
        self.rows.div_ceil(self.chunk_rows)
    }

    /// The rows of a piece of work.
    pub(super) fn chunk(&self, chunk: usize) -> Range<usize> {
        let start = chunk * self.chunk_rows;
        start..(start + self.chunk_rows).min(self.rows)
    }

    /// Hands the rows of `range` on, block by block.
    pub(super) fn for_each_block(
        &self,
        range: Range<usize>,
        block: &mut Block,
        mut each: impl FnMut(&mut Block, Range<usize>) -> Result<()>,
    ) -> Result<()> {
        let mut start = range.start;
        while start < range.end {
            let end = match &self.matrix {
                Matrix::Csr(array) => array.load(start..range.end, self.lossy, block)?,
                _ => {
                    let end = (start + self.at_once).min(range.end);
                    block.columns.clear();
                    block.ends.clear();
                    block.values.resize((end - start) * self.columns, 0.0);
                    self.load_table(start..end, &mut block.values);
                    end
                }
            };
            each(block, start..end)?;
            start = end;
        }
        Ok(())
    }

    /// The rows as they stand in memory, if they stand there as binary64 with nothing between them.
    pub(super) fn plain_f64(&self) -> Option<&'a [f64]> {
        match self.matrix {
            Matrix::Dense(DenseArray { values: Array::F64(values), .. }) if self.is_plain() => {
                values.get(..self.rows * self.columns)
            }
            _ => None,
        }
    }

    /// Like [`Source::plain_f64`] for binary32.
    pub(super) fn plain_f32(&self) -> Option<&'a [f32]> {
        match self.matrix {
            Matrix::Dense(DenseArray { values: Array::F32(values), .. }) if self.is_plain() => {
                values.get(..self.rows * self.columns)
            }
            _ => None,
        }
    }

    fn is_plain(&self) -> bool {
        let Matrix::Dense(array) = &self.matrix else { return false };
        (array.column_stride == 1 || self.columns == 1) && array.row_stride == self.columns
    }

    fn load_table(&self, rows: Range<usize>, out: &mut [f64]) {
        match &self.matrix {
            Matrix::Dense(array) => {
                with_array!(array.values, values => array.load(values, rows, self.lossy, out));
            }
            Matrix::Columns(array) => {
                let width = self.columns;
                for (j, column) in array.columns.iter().enumerate() {
                    let rows = rows.clone();
                    match column.values {
                        Values::Array(array) => with_array!(array, values => {
                            scatter(&values[rows.clone()], self.lossy, &mut out[j..], width);
                        }),
                        Values::Bits { bits, offset, .. } => {
                            let places = out[j..].iter_mut().step_by(width);
                            let pairs = places.zip(rows.clone());
                            pairs.for_each(|(out, row)| *out = f64::from(bit(bits, offset + row)));
                        }
                    }
                    if column.validity.is_some() {
                        let fill = self.fill.unwrap_or(f64::NAN);
                        for (i, _) in rows.enumerate().filter(|(_, row)| !column.is_valid(*row)) {
                            out[i * width + j] = fill;
                        }
                    }
                }
            }
            Matrix::Csr(_) => {}
        }
    }

    /// Refuses the first value of a block that is no finite number.
    pub(super) fn check_finite(&self, block: &Block, first_row: usize) -> Result<()> {
        let is_bad = |value: &f64| !value.is_finite();
        let bad = block.values.iter().fold(0u64, |bad, value| bad | u64::from(is_bad(value)));
        if bad == 0 {
            return Ok(());
        }
        let at = block.values.iter().position(is_bad).unwrap_or(0);
        let (row, column) = if self.is_table() {
            (first_row + at / self.columns, at % self.columns)
        } else {
            let row = block.ends.partition_point(|end| *end <= at);
            (first_row + row, block.columns[at] as usize)
        };
        Err(self.fault(row, column).into())
    }

    /// What is wrong with the value at a place.
    fn fault(&self, row: usize, column: usize) -> Problem {
        let (array, at) = match &self.matrix {
            Matrix::Dense(array) => {
                (array.values, row * array.row_stride + column * array.column_stride)
            }
            Matrix::Columns(array) => match array.columns[column].values {
                Values::Array(values) if array.columns[column].is_valid(row) => (values, row),
                _ => {
                    let (code, place) = (Code::MISSING, place(row, column));
                    return Problem::new(code, code.title(), place)
                        .help("set fill to what stands for missing values, or leave the row out");
                }
            },
            Matrix::Csr(array) => (array.values, array.position(row, column)),
        };
        let (code, text) = with_array!(array, values => fault_of(values[at]));
        let help = match code {
            Code::INEXACT_INTEGER => "leave the column out, or round with allow_lossy",
            _ => "repair the value, or mark it as missing and set fill",
        };
        Problem::new(code, code.title(), place(row, column)).value(text.as_bytes()).help(help)
    }
}

fn fault_of<T: Element>(value: T) -> (Code, String) {
    match T::WHOLE {
        true => (Code::INEXACT_INTEGER, value.text()),
        false => (Code::NOT_FINITE, format!("{}", value.nearest())),
    }
}

/// The place of a value.
pub(super) fn place(row: usize, column: usize) -> Place {
    Place { row: Some(row as u64), field: Some((column as u64 + 1, None)), ..Place::default() }
}

/// A problem with the shape.
pub(super) fn misshapen(words: String, place: Place) -> Problem {
    Problem::new(Code::SHAPE, words, place)
}

fn check_size(rows: usize, columns: usize) -> Result<()> {
    if rows == 0 {
        return Err(Problem::new(Code::HEADER_ONLY, "the array has no rows", Place::default())
            .help("give at least one row")
            .into());
    }
    if columns == 0 {
        return Err(Problem::new(Code::NO_FEATURES, "the array has no columns", Place::default())
            .help("give at least one column")
            .into());
    }
    for (count, name) in [(rows, "rows"), (columns, "columns")] {
        if count > MOST {
            let words = format!("the array has {count} {name}");
            return Err(misshapen(words, Place::default())
                .help(format!("there are at most {MOST} {name}; take a part"))
                .into());
        }
    }
    Ok(())
}

impl DenseArray<'_> {
    /// Every entry must lie in the slice and have a value of its own, so that the size of the slice
    /// bounds the size of the result.
    fn check(&self) -> Result<()> {
        let DenseArray { values, rows, columns, row_stride, column_stride } = *self;
        let shape = || {
            format!(
                "{rows} rows and {columns} columns with strides {row_stride} and {column_stride}"
            )
        };
        let last = (rows - 1)
            .checked_mul(row_stride)
            .zip((columns - 1).checked_mul(column_stride))
            .and_then(|(down, across)| down.checked_add(across));
        let len = values.len();
        match last {
            Some(last) if last < len => {}
            _ => {
                let words = format!("{} reach beyond the {len} values of the array", shape());
                return Err(misshapen(words, Place::default())
                    .help("give the shape and strides in values, not in bytes")
                    .into());
            }
        }
        if rows.checked_mul(columns).is_none_or(|entries| entries > len) {
            let words = format!("{} use the {len} values of the array more than once", shape());
            return Err(misshapen(words, Place::default())
                .help("copy the array so that every entry has a value of its own")
                .into());
        }
        Ok(())
    }

    fn load<T: Element>(&self, values: &[T], rows: Range<usize>, lossy: bool, out: &mut [f64]) {
        let width = self.columns;
        if self.column_stride == 1 || width == 1 {
            if self.row_stride == width {
                return convert(&values[rows.start * width..rows.end * width], lossy, out);
            }
            for (row, out) in rows.zip(out.chunks_exact_mut(width)) {
                let start = row * self.row_stride;
                convert(&values[start..start + width], lossy, out);
            }
        } else if self.row_stride == 1 {
            let column = |j: usize| {
                let start = j * self.column_stride;
                &values[start + rows.start..start + rows.end]
            };
            transpose(width, column, lossy, out);
        } else {
            for (row, out) in rows.zip(out.chunks_exact_mut(width)) {
                let from =
                    values[row * self.row_stride..].iter().step_by(self.column_stride.max(1));
                out.iter_mut().zip(from).for_each(|(out, value)| *out = wide(*value, lossy));
            }
        }
    }
}

#[inline(always)]
fn wide<T: Element>(value: T, lossy: bool) -> f64 {
    if lossy { value.nearest() } else { value.exact() }
}

pub(super) fn convert<T: Element>(values: &[T], lossy: bool, out: &mut [f64]) {
    let pairs = out.iter_mut().zip(values);
    match lossy {
        true => pairs.for_each(|(out, value)| *out = value.nearest()),
        false => pairs.for_each(|(out, value)| *out = value.exact()),
    }
}

/// Puts columns into rows, several at a time so that a line of the cache is written in one go.
fn transpose<'v, T: Element + 'v>(
    width: usize,
    column: impl Fn(usize) -> &'v [T],
    lossy: bool,
    out: &mut [f64],
) {
    const AT_ONCE: usize = 8;
    let whole = width - width % AT_ONCE;
    for j in (0..whole).step_by(AT_ONCE) {
        let rows = out.len() / width;
        let columns: [&[T]; AT_ONCE] = std::array::from_fn(|k| &column(j + k)[..rows]);
        for (i, row) in out.chunks_exact_mut(width).enumerate() {
            for (out, column) in row[j..j + AT_ONCE].iter_mut().zip(&columns) {
                *out = wide(column[i], lossy);
            }
        }
    }
    for j in whole..width {
        scatter(column(j), lossy, &mut out[j..], width);
    }
}

/// Puts the values of a column at its places in rows.
fn scatter<T: Element>(values: &[T], lossy: bool, out: &mut [f64], width: usize) {
    let places = out.iter_mut().step_by(width);
    places.zip(values).for_each(|(out, value)| *out = wide(*value, lossy));
}

impl ColumnsArray<'_> {
    fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    fn check(&self) -> Result<()> {
        let rows = self.rows();
        for (j, column) in self.columns.iter().enumerate() {
            let place = Place { field: Some((j as u64 + 1, None)), ..Place::default() };
            let len = column.values.len();
            if len != rows {
                let words = format!("the column has {len} values, the first column {rows}");
                return Err(misshapen(words, place).help("give columns of equal length").into());
            }
            let held = |bits: &[u8], offset| bits.len().saturating_mul(8).saturating_sub(offset);
            if let Values::Bits { bits, offset, len } = column.values
                && held(bits, offset) < len
            {
                let words = format!("{} bits are too few for {len} values", held(bits, offset));
                return Err(misshapen(words, place).help("give one bit for each value").into());
            }
            let flags = match column.validity {
                None => rows,
                Some(Validity::Bools(valid)) => valid.len(),
                Some(Validity::Bits(bits, offset)) => held(bits, offset),
            };
            let enough = match column.validity {
                Some(Validity::Bools(_)) => flags == rows,
                _ => flags >= rows,
            };
            if !enough {
                let words = format!("the column has {rows} values but {flags} marks of validity");
                return Err(misshapen(words, place).help("give one mark for each value").into());
            }
        }
        Ok(())
    }
}

impl Column<'_> {
    #[inline]
    fn is_valid(&self, row: usize) -> bool {
        match self.validity {
            None => true,
            Some(Validity::Bools(valid)) => valid[row],
            Some(Validity::Bits(bits, offset)) => bit(bits, offset + row),
        }
    }
}

/// A bit, counted from the lowest of the first byte.
#[inline(always)]
fn bit(bits: &[u8], at: usize) -> bool {
    bits[at / 8] >> (at % 8) & 1 == 1
}
