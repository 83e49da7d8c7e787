//! The rows of an objective on a few of its columns.
//!
//! Copied row by row they take one pass and no sorting. A row of v values adds v²/2 products to H, which is
//! a few sweeps of descent on columns; sweeps with H at hand cost next to nothing.

use super::columns::Columns;
use crate::algebra::add_square;
use crate::objective::Objective;
use linsep_data::matrix::{Chosen, CodeRows, with_rows};
use linsep_data::parallel::parallel_map;

/// Rows that are copied together.
const BLOCK: usize = 1024;
/// Sets with more columns than this stay without H.
const MOST_COLUMNS: usize = 768;
/// Products that H may cost for each value of the rows.
const MOST_PRODUCTS: usize = 40;
/// Matrices that are summed up side by side, at most.
const MOST_MATRICES: usize = 8;

/// Blocks of rows, positions of the objective in their order.
pub(super) struct Rows {
    blocks: Vec<Block>,
    len: usize,
    /// Columns.
    width: usize,
    threads: usize,
}

/// Rows one after the other: the end of each, places in the set and values.
#[derive(Default)]
struct Block {
    ends: Vec<usize>,
    places: Vec<u32>,
    values: Vec<f64>,
}

impl Block {
    fn rows(&self) -> impl Iterator<Item = (&[u32], &[f64])> + Clone {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let range = std::mem::replace(&mut start, end)..end;
            (&self.places[range.clone()], &self.values[range])
        })
    }
}

impl Rows {
    /// The chosen columns, which ascend, in one pass over the rows.
    pub(super) fn of(objective: &Objective, chosen: &[usize]) -> Rows {
        let columns = chosen.iter().map(|&j| j as u32).collect();
        let chosen = Chosen::new(columns, objective.width());
        let len = objective.len();
        let blocks = with_rows!(objective.store(), rows => {
            parallel_map(len.div_ceil(BLOCK), objective.threads, |block| {
                let range = block * BLOCK..((block + 1) * BLOCK).min(len);
                let mut found = Block::default();
                for &row in &objective.rows[range] {
                    rows.entries_among(row as usize, &chosen, &mut found.places, &mut found.values);
                    found.ends.push(found.places.len());
                }
                found
            })
        });
        Rows { blocks, len, width: chosen.count(), threads: objective.threads }
    }

    /// Whether H is worth its products.
    pub(super) fn are_few(&self) -> bool {
        let values: usize = self.blocks.iter().map(|block| block.values.len()).sum();
        self.width <= MOST_COLUMNS && self.products() <= MOST_PRODUCTS * (values + self.len)
    }

    fn products(&self) -> usize {
        let square = |(places, _): (&[u32], _)| places.len() * places.len() / 2;
        self.blocks.iter().flat_map(Block::rows).map(square).sum()
    }

    /// Σ p (x, 1).
    pub(super) fn sums(&self, p: &[f64]) -> Vec<f64> {
        let parts = parallel_map(self.blocks.len(), self.threads, |block| {
            let mut sums = vec![0.0; self.width + 1];
            for ((places, values), p) in self.blocks[block].rows().zip(&p[block * BLOCK..]) {
                places.iter().zip(values).for_each(|(k, x)| sums[*k as usize] += p * x);
                sums[self.width] += p;
            }
            sums
        });
        total(parts, self.width + 1)
    }

    /// H = Σ h (x, 1)(x, 1)ᵀ.
    pub(super) fn second_derivatives(&self, h: &[f64]) -> Vec<f64> {
        let order = self.width + 1;
        // A matrix of its own has to cost little beside its sums.
        let count = (self.products() / (16 * order * order)).clamp(1, MOST_MATRICES);
        let share = self.blocks.len().div_ceil(count).max(1);
        let groups: Vec<&[Block]> = self.blocks.chunks(share).collect();
        let parts = parallel_map(groups.len(), self.threads, |group| {
            let mut matrix = vec![0.0; order * order];
            let h = &h[group * share * BLOCK..];
            for ((places, values), h) in groups[group].iter().flat_map(Block::rows).zip(h) {
                if *h != 0.0 {
                    add_square(*h, places, values, &mut matrix, order);
                }
            }
            matrix
        });
        let mut matrix = total(parts, order * order);
        for j in 0..order {
            for k in 0..j {
                matrix[k * order + j] = matrix[j * order + k];
            }
        }
        matrix
    }

    /// x·d of every row, for steps of the columns.
    pub(super) fn times(&self, steps: &[f64]) -> Vec<f64> {
        let parts = parallel_map(self.blocks.len(), self.threads, |block| -> Vec<f64> {
            let dot = |(places, values): (&[u32], &[f64])| {
                places.iter().zip(values).map(|(k, x)| steps[*k as usize] * x).sum()
            };
            self.blocks[block].rows().map(dot).collect()
        });
        parts.concat()
    }

    /// The same column by column.
    pub(super) fn columns(&self) -> Columns {
        let rows = self.blocks.iter().flat_map(Block::rows);
        Columns::of(self.width, rows)
    }
}

/// The sum of vectors of one length, in their order.
fn total(parts: Vec<Vec<f64>>, len: usize) -> Vec<f64> {
    let mut parts = parts.into_iter();
    let mut all = parts.next().unwrap_or_else(|| vec![0.0; len]);
    for part in parts {
        all.iter_mut().zip(&part).for_each(|(all, part)| *all += part);
    }
    all
}
