//! From arrays to blocks of rows in binary64, a few thousand values at a time, so that they stay in the
//! cache of a core while they are learned from and encoded. Shapes are checked before anything is
//! allocated; what is wrong with a value is found when its block is loaded.

use super::array::{
    Array, Column, ColumnsArray, CsrArray, DenseArray, Element, Matrix, Validity, with_array,
    with_indices,
};
use crate::error::{Code, Place, Problem};
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
    /// The value of gaps.
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
    bounds: Vec<usize>,
    pairs: Vec<(u32, f64)>,
}

impl<'a> Source<'a> {
    pub(super) fn new(
        matrix: Matrix<'a>,
        lossy: bool,
        fill: Option<f64>,
    ) -> Result<Source<'a>, Problem> {
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

    /// Whether the values of a column are of an integer type.
    pub(super) fn is_whole(&self, column: usize) -> bool {
        fn whole<T: Element>(_: &[T]) -> bool {
            T::WHOLE
        }
        let array = match &self.matrix {
            Matrix::Dense(array) => array.values,
            Matrix::Csr(array) => array.values,
            Matrix::Columns(array) => array.columns[column].values,
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
        mut each: impl FnMut(&mut Block, Range<usize>) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
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
            self.check_finite(block, start)?;
            each(block, start..end)?;
            start = end;
        }
        Ok(())
    }

    /// The rows as they stand in memory, if they stand there as binary64 without gaps between them.
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
                    with_array!(column.values, values => {
                        scatter(&values[rows.clone()], self.lossy, &mut out[j..], width);
                    });
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
    fn check_finite(&self, block: &Block, first_row: usize) -> Result<(), Problem> {
        let is_bad = |value: &f64| !(value.abs() <= f64::MAX);
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
        Err(self.fault(row, column))
    }

    /// What is wrong with the value at a place.
    fn fault(&self, row: usize, column: usize) -> Problem {
        let (array, at) = match &self.matrix {
            Matrix::Dense(array) => {
                (array.values, row * array.row_stride + column * array.column_stride)
            }
            Matrix::Columns(array) => {
                if !array.columns[column].is_valid(row) {
                    return Problem::new(Code::MISSING, Code::MISSING.title(), place(row, column))
                        .help("give a value for gaps, or leave the row out");
                }
                (array.columns[column].values, row)
            }
            Matrix::Csr(array) => (array.values, array.position(row, column)),
        };
        let (code, text) = with_array!(array, values => fault_of(values[at]));
        let help = match code {
            Code::INEXACT_INTEGER => "leave the column out, or allow rounding",
            _ => "repair the value, or give it as a gap with a value to fill in",
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
fn misshapen(words: String, place: Place) -> Problem {
    Problem::new(Code::SHAPE, words, place)
}

fn check_size(rows: usize, columns: usize) -> Result<(), Problem> {
    if rows == 0 {
        return Err(Problem::new(Code::HEADER_ONLY, "the array has no rows", Place::default())
            .help("give at least one row"));
    }
    if columns == 0 {
        return Err(Problem::new(Code::NO_FEATURES, "the array has no columns", Place::default())
            .help("give at least one column"));
    }
    for (count, name) in [(rows, "rows"), (columns, "columns")] {
        if count > MOST {
            let words = format!("the array has {count} {name}");
            return Err(misshapen(words, Place::default())
                .help(format!("there are at most {MOST} {name}; take a part")));
        }
    }
    Ok(())
}

impl DenseArray<'_> {
    /// Every entry must lie in the slice and have a value of its own, so that the size of the slice
    /// bounds the size of the result.
    fn check(&self) -> Result<(), Problem> {
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
                    .help("give the shape and strides in values, not in bytes"));
            }
        }
        if rows.checked_mul(columns).is_none_or(|entries| entries > len) {
            let words = format!("{} use the {len} values of the array more than once", shape());
            return Err(misshapen(words, Place::default())
                .help("copy the array so that every entry has a value of its own"));
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
            for j in 0..width {
                let start = j * self.column_stride;
                let column = &values[start + rows.start..start + rows.end];
                scatter(column, lossy, &mut out[j..], width);
            }
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

fn convert<T: Element>(values: &[T], lossy: bool, out: &mut [f64]) {
    let pairs = out.iter_mut().zip(values);
    match lossy {
        true => pairs.for_each(|(out, value)| *out = value.nearest()),
        false => pairs.for_each(|(out, value)| *out = value.exact()),
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

    fn check(&self) -> Result<(), Problem> {
        let rows = self.rows();
        for (j, column) in self.columns.iter().enumerate() {
            let place = Place { field: Some((j as u64 + 1, None)), ..Place::default() };
            let len = column.values.len();
            if len != rows {
                let words = format!("the column has {len} values, the first column {rows}");
                return Err(misshapen(words, place).help("give columns of equal length"));
            }
            let flags = match column.validity {
                None => rows,
                Some(Validity::Bools(valid)) => valid.len(),
                Some(Validity::Bits(bits, offset)) => {
                    bits.len().saturating_mul(8).saturating_sub(offset)
                }
            };
            let enough = match column.validity {
                Some(Validity::Bools(_)) => flags == rows,
                _ => flags >= rows,
            };
            if !enough {
                let words = format!("the column has {rows} values but {flags} marks of validity");
                return Err(misshapen(words, place).help("give one mark for each value"));
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
            Some(Validity::Bits(bits, offset)) => {
                let bit = offset + row;
                bits[bit / 8] >> (bit % 8) & 1 == 1
            }
        }
    }
}

impl CsrArray<'_> {
    fn check(&self) -> Result<(), Problem> {
        let (indices, values) = (self.indices.len(), self.values.len());
        if indices != values {
            let words = format!("there are {indices} column indices but {values} values");
            return Err(misshapen(words, Place::default()).help("give one index for each value"));
        }
        Ok(())
    }

    /// Loads rows from the start of `rows` on, as many as go well together, and says where it stopped.
    fn load(&self, rows: Range<usize>, lossy: bool, block: &mut Block) -> Result<usize, Problem> {
        block.bounds.clear();
        let from = rows.start;
        let end = with_indices!(self.offsets, offsets => {
            bounds(&offsets[from..=rows.end], from, self.indices.len(), &mut block.bounds)?
        });
        let entries = block.bounds[0]..block.bounds[end - from];
        block.columns.clear();
        with_indices!(self.indices, indices => {
            block.columns.extend(indices[entries.clone()].iter().map(|index| index.column()));
        });
        block.values.resize(entries.len(), 0.0);
        with_array!(self.values, values => {
            convert(&values[entries.clone()], lossy, &mut block.values);
        });
        block.ends.clear();
        block.ends.extend(block.bounds[1..].iter().map(|end| end - entries.start));
        let too_large = block.columns.iter().fold(0, |most: u32, column| most.max(*column));
        if too_large as usize >= self.columns {
            return Err(self.index_fault(from, entries.start, block));
        }
        self.put_in_order(from, block)?;
        block.drop_zeros();
        Ok(end)
    }

    /// The first index that is no column.
    fn index_fault(&self, from: usize, start: usize, block: &Block) -> Problem {
        let at = block.columns.iter().position(|c| *c as usize >= self.columns).unwrap_or(0);
        let row = from + block.ends.partition_point(|end| *end <= at);
        let text = with_indices!(self.indices, indices => indices[start + at].to_string());
        let words = format!("the column index is none of 0 to {}", self.columns - 1);
        let place = Place { row: Some(row as u64), ..Place::default() };
        Problem::new(Code::BAD_INDEX, words, place)
            .value(text.as_bytes())
            .help("indices are counted from 0; give the right number of columns")
    }

    /// Sorts the columns of each row and refuses a column that stands twice.
    fn put_in_order(&self, from: usize, block: &mut Block) -> Result<(), Problem> {
        let Block { values, columns, ends, pairs, .. } = block;
        let mut start = 0;
        for (row, &end) in ends.iter().enumerate() {
            let columns = &mut columns[start..end];
            let rises = columns.windows(2).fold(true, |rises, pair| rises & (pair[0] < pair[1]));
            if !rises {
                let values = &mut values[start..end];
                pairs.clear();
                pairs.extend(columns.iter().copied().zip(values.iter().copied()));
                pairs.sort_unstable_by_key(|pair| pair.0);
                if let Some(twice) = pairs.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                    let column = twice[0].0 as usize;
                    let words = "the column stands twice in the row";
                    return Err(Problem::new(Code::INDEX_ORDER, words, place(from + row, column))
                        .value(column.to_string().as_bytes())
                        .help("add up the values of equal columns first"));
                }
                for ((column, value), pair) in columns.iter_mut().zip(values).zip(&*pairs) {
                    (*column, *value) = *pair;
                }
            }
            start = end;
        }
        Ok(())
    }

    /// Where the value of an entry stands.
    fn position(&self, row: usize, column: usize) -> usize {
        let bound = |at: usize| with_indices!(self.offsets, offsets => offsets[at].place());
        let entries = bound(row).unwrap_or(0)..bound(row + 1).unwrap_or(0);
        let is_it = |at: &usize| {
            with_indices!(self.indices, indices => indices[*at].column()) as usize == column
        };
        entries.clone().find(is_it).unwrap_or(entries.start)
    }
}

/// The bounds of rows, from the first on until there are enough entries; the row after the last.
fn bounds<T: Index>(
    offsets: &[T],
    from: usize,
    entries: usize,
    out: &mut Vec<usize>,
) -> Result<usize, Problem> {
    let fault = |row: usize, offset: T, words: String, help: &str| {
        let place = Place { row: Some(row as u64), ..Place::default() };
        Err(misshapen(words, place).value(offset.to_string().as_bytes()).help(help))
    };
    for (k, &offset) in offsets.iter().enumerate() {
        // A row is named by the offset it ends at; only the first has one to start with.
        let row = from + k.saturating_sub(1);
        let Some(bound) = offset.place().filter(|bound| *bound <= entries) else {
            let words = format!("the row offset is none of 0 to {entries}, the number of entries");
            return fault(row, offset, words, "offsets lie within the entries");
        };
        if out.last().is_some_and(|last| bound < *last) {
            let words = "the row ends before it starts: its offset is below the one before".into();
            return fault(row, offset, words, "offsets do not fall from row to row");
        }
        out.push(bound);
        if k > 0 && bound - out[0] >= VALUES_AT_ONCE {
            return Ok(from + k);
        }
    }
    Ok(from + offsets.len() - 1)
}

impl Block {
    /// Leaves out entries that are 0.
    fn drop_zeros(&mut self) {
        let zeros = self.values.iter().fold(0u64, |zeros, v| zeros + u64::from(*v == 0.0));
        if zeros == 0 {
            return;
        }
        let (mut kept, mut start) = (0, 0);
        for end in &mut self.ends {
            for at in start..*end {
                if self.values[at] != 0.0 {
                    (self.values[kept], self.columns[kept]) = (self.values[at], self.columns[at]);
                    kept += 1;
                }
            }
            start = std::mem::replace(end, kept);
        }
        self.values.truncate(kept);
        self.columns.truncate(kept);
    }
}

/// An integer type of offsets and indices.
trait Index: Copy + std::fmt::Display {
    /// As a place in memory, if it is one.
    fn place(self) -> Option<usize>;
    /// As a column; 2^32 − 1, which is none, where it is too large or negative.
    fn column(self) -> u32;
}

macro_rules! indices {
    ($($type:ty),*) => {$(
        impl Index for $type {
            #[inline(always)]
            fn place(self) -> Option<usize> {
                usize::try_from(self).ok()
            }

            #[inline(always)]
            fn column(self) -> u32 {
                u32::try_from(self).unwrap_or(u32::MAX)
            }
        }
    )*};
}
indices!(i32, i64, u32, u64);
