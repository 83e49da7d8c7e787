//! Some columns of the rows of an objective, each with its values that are not 0.

use crate::objective::Objective;
use linsep_data::matrix::{CodeRows, with_rows};
use linsep_data::parallel::parallel_map;

/// Columns one after the other; rows are positions of the objective.
pub(super) struct Columns {
    starts: Vec<usize>,
    rows: Vec<u32>,
    values: Vec<f64>,
}

impl Columns {
    /// The chosen columns, in one pass over the rows.
    pub(super) fn of(objective: &Objective, chosen: &[usize]) -> Columns {
        const NOT: u32 = u32::MAX;
        let mut places = vec![NOT; objective.width()];
        for (place, &column) in chosen.iter().enumerate() {
            places[column] = place as u32;
        }
        let pieces = objective.pieces();
        let parts = with_rows!(objective.store(), rows => {
            parallel_map(pieces.len(), objective.threads, |piece| {
                let mut found: Vec<(u32, u32, f64)> = Vec::new();
                let (mut columns, mut values) = (Vec::new(), Vec::new());
                for i in pieces[piece].clone() {
                    rows.entries(objective.rows[i] as usize, &mut columns, &mut values);
                    for (&column, &x) in columns.iter().zip(&values) {
                        let place = places[column as usize];
                        if place != NOT && x != 0.0 {
                            found.push((place, i as u32, x));
                        }
                    }
                }
                found
            })
        });
        let mut starts = vec![0; chosen.len() + 1];
        for (place, ..) in parts.iter().flatten() {
            starts[*place as usize + 1] += 1;
        }
        for place in 0..chosen.len() {
            starts[place + 1] += starts[place];
        }
        let mut next = starts.clone();
        let count = starts[chosen.len()];
        let (mut rows, mut values) = (vec![0; count], vec![0.0; count]);
        for (place, row, x) in parts.into_iter().flatten() {
            let at = &mut next[place as usize];
            (rows[*at], values[*at]) = (row, x);
            *at += 1;
        }
        Columns { starts, rows, values }
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The rows and the values of a column.
    #[inline]
    pub(super) fn column(&self, k: usize) -> (&[u32], &[f64]) {
        let range = self.starts[k]..self.starts[k + 1];
        (&self.rows[range.clone()], &self.values[range])
    }

    /// Σ p x, Σ h x and Σ h x² of every column.
    pub(super) fn sums(&self, h: &[f64], p: &[f64], threads: usize) -> Vec<[f64; 3]> {
        const BLOCK: usize = 64;
        let one = |k: usize| {
            let (rows, values) = self.column(k);
            let mut sums = [0.0; 3];
            for (&i, x) in rows.iter().zip(values) {
                let (i, hx) = (i as usize, h[i as usize] * x);
                sums[0] += p[i] * x;
                sums[1] += hx;
                sums[2] += hx * x;
            }
            sums
        };
        let block = |block: usize| -> Vec<[f64; 3]> {
            (block * BLOCK..((block + 1) * BLOCK).min(self.len())).map(one).collect()
        };
        parallel_map(self.len().div_ceil(BLOCK), threads, block).concat()
    }

    /// x·d of every row, for steps of the columns.
    pub(super) fn times(&self, steps: &[f64], rows: usize) -> Vec<f64> {
        let mut scores = vec![0.0; rows];
        for (k, by) in steps.iter().enumerate().take(self.len()).filter(|(_, by)| **by != 0.0) {
            let (rows, values) = self.column(k);
            for (&i, x) in rows.iter().zip(values) {
                scores[i as usize] += by * x;
            }
        }
        scores
    }
}
