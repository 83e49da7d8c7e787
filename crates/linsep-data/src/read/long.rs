//! Numbers that the decimal reading does not cover: which columns have them, how many, and what they say.
//!
//! Programs write many long numbers, so what is kept of each is bounded: a count for every column, and
//! the texts of the first few. Only rows that become data count. A single wild index of svmlight must
//! not cost a counter for every column before it: the first columns have one each, others are a map.
//! What is kept follows from the order of the file alone, however it was cut into blocks. A block lists
//! its long numbers and counts them only if they are many; counting is for who puts blocks together.

use linsep_kernels::number;
use std::collections::BTreeMap;

/// A column that is read as binary64 because of numbers that the decimal reading does not cover.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LongColumn {
    /// The feature that the column makes.
    pub feature: u32,
    /// Its name.
    pub name: String,
    /// How many of its numbers are too long, or subnormal.
    pub long: u64,
    /// Its numbers that are not 0, filled gaps among them; the number of rows where even that shows that
    /// most of them are long.
    pub numbers: u64,
    /// A value for gaps that no short decimal rounds to, and how many gaps it fills.
    pub filled: Option<(f64, u64)>,
    /// The first of the long numbers, in the order of the rows.
    pub kept: Vec<LongNumber>,
}

/// A number that the decimal reading does not cover.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LongNumber {
    /// Its row, from 0.
    pub row: u64,
    /// What is written there, as far as it is kept.
    pub text: String,
    /// Whether that is all of it.
    pub whole: bool,
}

impl LongColumn {
    pub(crate) fn new(feature: u32, long: u64, kept: Vec<LongNumber>) -> LongColumn {
        LongColumn { feature, name: String::new(), long, numbers: 0, filled: None, kept }
    }

    /// Whether a few long numbers stand among many short ones. Other columns were written by a program
    /// that prints every binary64 in full.
    pub fn is_mixed(&self) -> bool {
        let long = self.long + self.filled.map_or(0, |(_, gaps)| gaps);
        long.saturating_mul(2) < self.numbers
    }

    /// Whether every long number of the column is kept in full.
    pub fn is_complete(&self) -> bool {
        self.long == self.kept.len() as u64 && self.kept.iter().all(|number| number.whole)
    }
}

impl LongNumber {
    /// Its significant digits: those from the first to the last that is not 0.
    pub fn digits(&self) -> usize {
        number::significant_digits(&self.text)
    }
}

/// Long numbers of a column whose texts are kept.
pub(crate) const KEPT: u64 = 1000;
/// Long numbers of all columns whose texts are kept.
const KEPT_IN_ALL: usize = 1 << 16;
/// Columns of which at least the first long number is kept.
const COLUMNS: usize = 1 << 12;
/// Bytes of a text that are kept.
const TEXT: usize = 400;
/// Columns with a counter of their own.
const COUNTERS: usize = 1 << 16;

/// Long numbers by column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LongColumns {
    counts: Counts,
    cells: Vec<Cell>,
    /// The texts of the cells, one behind the other.
    text: Vec<u8>,
    /// Columns of the row that is being read, and where their texts start.
    open: Vec<(u32, usize)>,
    /// The numbers are counted, not only listed.
    counted: bool,
    /// Cells of each column, where several blocks are put together.
    kept: Counts,
}

/// Numbers of columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Counts {
    first: Vec<u64>,
    others: BTreeMap<u32, u64>,
    /// Columns that have any.
    columns: usize,
}

impl Counts {
    fn of(&self, column: u32) -> u64 {
        match self.first.get(column as usize) {
            Some(count) => *count,
            None => self.others.get(&column).copied().unwrap_or(0),
        }
    }

    fn add(&mut self, column: u32, more: u64) {
        let at = column as usize;
        let count = if at >= COUNTERS {
            self.others.entry(column).or_default()
        } else {
            if self.first.len() <= at {
                self.first.resize(at + 1, 0);
            }
            &mut self.first[at]
        };
        self.columns += usize::from(*count == 0 && more > 0);
        *count += more;
    }

    /// The columns that have any, rising.
    fn iter(&self) -> impl Iterator<Item = u32> {
        let counted =
            (0..).zip(&self.first).filter(|(_, count)| **count > 0).map(|(column, _)| column);
        counted.chain(self.others.keys().copied())
    }
}

/// A number that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cell {
    column: u32,
    row: u64,
    /// Bytes of its text that are kept.
    len: u32,
    whole: bool,
}

impl LongColumns {
    /// A long number of the row that is being read.
    pub(crate) fn push(&mut self, column: u32, text: &[u8]) {
        self.open.push((column, self.text.len()));
        if !self.counted || self.count(column) < KEPT {
            // One byte more than is kept tells that there is more.
            self.text.extend_from_slice(&text[..text.len().min(TEXT + 1)]);
        }
    }

    /// The row that was being read is data.
    #[inline]
    pub(crate) fn end_row(&mut self, row: u64) {
        if !self.open.is_empty() {
            self.commit(row);
        }
    }

    /// The row that was being read is not data, or is read again.
    #[inline]
    pub(crate) fn forget_row(&mut self) {
        if let Some((_, start)) = self.open.first() {
            self.text.truncate(*start);
            self.open.clear();
        }
    }

    #[cold]
    fn commit(&mut self, row: u64) {
        let mut open = std::mem::take(&mut self.open);
        let ends = open.iter().skip(1).map(|(_, start)| *start).chain([self.text.len()]);
        for (&(column, start), end) in open.iter().zip(ends) {
            if !self.counted || self.counts.of(column) < KEPT {
                let len = end - start;
                self.cells.push(Cell { column, row, len: len as u32, whole: len <= TEXT });
            }
            if self.counted {
                self.counts.add(column, 1);
            }
        }
        open.clear();
        self.open = open;
        if self.cells.len() >= KEPT_IN_ALL {
            self.count_all();
        }
    }

    /// From now on numbers are counted.
    fn count_all(&mut self) {
        if !self.counted {
            self.counted = true;
            self.cells.iter().for_each(|cell| self.counts.add(cell.column, 1));
        }
    }

    /// The long numbers of a column, in blocks that were put together.
    pub(crate) fn count(&self, column: u32) -> u64 {
        self.counts.of(column)
    }

    /// Adds those of a block that starts at this row.
    pub(crate) fn append(&mut self, block: &LongColumns, first: u64) {
        self.count_all();
        let mut start = 0;
        for cell in &block.cells {
            let text = &block.text[start..start + cell.len as usize];
            start += cell.len as usize;
            let kept = self.kept.of(cell.column);
            let room = self.cells.len() < KEPT_IN_ALL;
            if kept < KEPT && room || kept == 0 && self.kept.columns < COLUMNS {
                self.kept.add(cell.column, 1);
                self.cells.push(Cell { row: first + cell.row, ..*cell });
                self.text.extend_from_slice(text);
            }
        }
        match block.counted {
            true => block.iter().for_each(|column| self.counts.add(column, block.count(column))),
            false => block.cells.iter().for_each(|cell| self.counts.add(cell.column, 1)),
        }
    }

    /// The columns with long numbers, rising, in blocks that were put together.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> {
        self.counts.iter()
    }

    /// What is kept of each column, in the order of the rows.
    pub(crate) fn numbers(&self) -> BTreeMap<u32, Vec<LongNumber>> {
        let mut numbers: BTreeMap<u32, Vec<LongNumber>> = BTreeMap::new();
        let mut start = 0;
        for cell in &self.cells {
            let text = &self.text[start..start + cell.len as usize];
            start += cell.len as usize;
            let text = String::from_utf8_lossy(&text[..text.len().min(TEXT)]).into_owned();
            let number = LongNumber { row: cell.row, text, whole: cell.whole };
            numbers.entry(cell.column).or_default().push(number);
        }
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rows: &[(u64, &[(u32, &str)])]) -> LongColumns {
        let mut columns = LongColumns::default();
        for (row, numbers) in rows {
            numbers.iter().for_each(|(column, text)| columns.push(*column, text.as_bytes()));
            columns.end_row(*row);
        }
        columns
    }

    #[test]
    fn columns_come_back_rising_wherever_they_lie() {
        let wild = [u32::MAX - 5, 70_000, 3, 65_535, 65_536, 3];
        let rows: Vec<_> = wild.iter().map(|column| [(*column, "1.5")]).collect();
        let rows: Vec<_> = rows.iter().enumerate().map(|(i, row)| (i as u64, &row[..])).collect();
        let columns = of(&rows);
        let mut all = of(&[(0, &[(9, "2.5")])]);
        all.append(&columns, 1);
        assert_eq!(all.iter().collect::<Vec<_>>(), [3, 9, 65_535, 65_536, 70_000, u32::MAX - 5]);
        assert_eq!((all.count(3), all.count(70_000), all.count(4)), (2, 1, 0));
        let rows: Vec<u64> = all.numbers()[&3].iter().map(|number| number.row).collect();
        assert_eq!(rows, [3, 6]);
    }

    #[test]
    fn rows_that_are_forgotten_leave_no_trace() {
        let mut columns = of(&[(0, &[(1, "0.1")])]);
        let before = columns.clone();
        columns.push(1, b"0.2");
        columns.push(2, b"0.3");
        columns.forget_row();
        assert_eq!(columns, before);
        columns.end_row(1);
        assert_eq!(columns, before);
    }

    #[test]
    fn cutting_into_blocks_changes_nothing() {
        let long = |i: u64| format!("0.{}", 1_000_000_000_000_000_001 + i);
        let texts: Vec<String> = (0..2500).map(long).collect();
        let row = |i: usize| [((i % 2) as u32, texts[i].as_str()), (7, "9e-320")];
        let rows: Vec<_> = (0..2500).map(row).collect();
        let cut = |size: usize| {
            let mut all = LongColumns::default();
            for (k, block) in rows.chunks(size).enumerate() {
                let rows: Vec<_> =
                    block.iter().enumerate().map(|(i, row)| (i as u64, &row[..])).collect();
                all.append(&of(&rows), (k * size) as u64);
            }
            all
        };
        let whole = cut(2500);
        assert_eq!(whole.numbers()[&7].len() as u64, KEPT);
        assert_eq!((whole.count(0), whole.count(7)), (1250, 2500));
        for size in [1, 7, 1000, 2499] {
            assert_eq!(cut(size), whole, "{size}");
        }
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let endless = "1".repeat(5000);
        let columns = of(&[(0, &[(0, &endless), (1, "1.25")])]);
        let numbers = columns.numbers();
        assert_eq!((numbers[&0][0].text.len(), numbers[&0][0].whole), (TEXT, false));
        assert_eq!((numbers[&1][0].text.as_str(), numbers[&1][0].whole), ("1.25", true));
        let mut all = LongColumns::default();
        for row in 0..100 {
            let block: Vec<(u32, &str)> = (0..1000).map(|column| (column, "0.1")).collect();
            all.append(&of(&[(0, &block)]), row);
        }
        assert_eq!((all.cells.len(), all.count(999)), (KEPT_IN_ALL, 100));
    }

    #[test]
    fn significant_digits_are_those_between_the_outer_zeros() {
        for (text, digits) in [
            ("9.00000000000000001", 18),
            ("-0.00123400", 4),
            ("100", 1),
            ("1.0e22", 1),
            ("30000000000000004e-17", 17),
            ("0", 0),
        ] {
            let number = LongNumber { row: 0, text: text.into(), whole: true };
            assert_eq!(number.digits(), digits, "{text}");
        }
    }
}
