//! The values of observations, in blocks of rows that threads make side by side. No block is filled with zeros by
//! one thread before another fills it again: on fresh memory that took longer than a fit.

use linsep_data::parallel::parallel_map;
use std::ops::Range;

/// Rows of a block.
pub(super) const BLOCK: usize = 1 << 12;

/// Rows of numbers.
#[derive(Debug, Default)]
pub(super) struct Lines {
    width: usize,
    blocks: Vec<Vec<f64>>,
}

impl Lines {
    /// So many rows; `set` fills a row of zeros, with a list that it may use.
    pub(super) fn new(
        rows: usize,
        width: usize,
        threads: usize,
        set: impl Fn(usize, &mut [f64], &mut Vec<f64>) + Sync,
    ) -> Lines {
        let make = |block: usize| {
            let rows = block * BLOCK..((block + 1) * BLOCK).min(rows);
            let (mut values, mut scratch) = (vec![0.0; rows.len() * width], Vec::new());
            let lines = values.chunks_exact_mut(width.max(1));
            lines.zip(rows).for_each(|(line, row)| set(row, line, &mut scratch));
            values
        };
        Lines { width, blocks: parallel_map(rows.div_ceil(BLOCK), threads, make) }
    }

    #[inline]
    pub(super) fn row(&self, row: usize) -> &[f64] {
        &self.blocks[row / BLOCK][row % BLOCK * self.width..][..self.width]
    }

    /// Rows of one block, one after the other.
    #[inline]
    pub(super) fn rows(&self, rows: &Range<usize>) -> &[f64] {
        let block = &self.blocks[rows.start / BLOCK];
        &block[rows.start % BLOCK * self.width..][..rows.len() * self.width]
    }

    /// The row and the column of the first number of which this holds.
    pub(super) fn find(&self, is: impl Fn(f64) -> bool) -> Option<(usize, usize)> {
        self.blocks.iter().enumerate().find_map(|(block, values)| {
            let at = values.iter().position(|x| is(*x))?;
            Some((block * BLOCK + at / self.width, at % self.width))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_where_they_belong_for_any_number_of_threads() {
        for (rows, width) in [(0, 3), (1, 1), (BLOCK, 2), (2 * BLOCK + 5, 3), (7, 0)] {
            for threads in [1, 3] {
                let set = |row: usize, line: &mut [f64], _: &mut Vec<f64>| {
                    line.iter_mut().enumerate().for_each(|(j, x)| *x = (row * width + j) as f64);
                };
                let lines = Lines::new(rows, width, threads, set);
                let number = |row: usize, j: usize| (row * width + j) as f64;
                for row in 0..rows {
                    let expected: Vec<f64> = (0..width).map(|j| number(row, j)).collect();
                    assert_eq!(lines.row(row), expected);
                }
                if rows > 2 * BLOCK {
                    let part = BLOCK + 3..BLOCK + 7;
                    assert_eq!(lines.rows(&part)[0], number(part.start, 0));
                    assert_eq!(lines.rows(&part).len(), part.len() * width);
                    let far = number(2 * BLOCK + 1, 1);
                    assert_eq!(lines.find(|x| x == far), Some((2 * BLOCK + 1, 1)));
                }
            }
        }
    }
}
