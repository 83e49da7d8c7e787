//! Loading compressed sparse rows: offsets and indices of any integer type, columns in any order.

use super::array::{CsrArray, with_array, with_indices};
use super::load::{Block, VALUES_AT_ONCE, convert, misshapen, place};
use crate::error::{Code, Place, Problem, Result};
use std::ops::Range;

impl CsrArray<'_> {
    pub(super) fn check(&self) -> Result<()> {
        let (indices, values) = (self.indices.len(), self.values.len());
        if indices != values {
            let words = format!("there are {indices} column indices but {values} values");
            return Err(misshapen(words, Place::default())
                .help("give one index for each value")
                .into());
        }
        Ok(())
    }

    /// Loads rows from the start of `rows` on, as many as go well together, and says where it stopped.
    pub(super) fn load(&self, rows: Range<usize>, lossy: bool, block: &mut Block) -> Result<usize> {
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
            return Err(self.index_fault(from, entries.start, block).into());
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
    fn put_in_order(&self, from: usize, block: &mut Block) -> Result<()> {
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
                        .help("add up the values of equal columns first")
                        .into());
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
    pub(super) fn position(&self, row: usize, column: usize) -> usize {
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
) -> Result<usize> {
    let fault = |row: usize, offset: T, words: String, help: &str| {
        let place = Place { row: Some(row as u64), ..Place::default() };
        Err(misshapen(words, place).value(offset.to_string().as_bytes()).help(help).into())
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
indices!(i32, i64, u32, u64, usize);
