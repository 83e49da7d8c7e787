//! Some columns of the rows of an objective, each with its values that are not 0.

use linsep_data::parallel::parallel_map;

/// Columns one after the other; rows are positions of the objective.
pub(super) struct Columns {
    starts: Vec<usize>,
    rows: Vec<u32>,
    values: Vec<f64>,
}

impl Columns {
    /// So many columns of rows, of which each has places and values.
    pub(super) fn of<'a>(
        count: usize,
        all: impl Iterator<Item = (&'a [u32], &'a [f64])> + Clone,
    ) -> Columns {
        let mut starts = vec![0; count + 1];
        for place in all.clone().flat_map(|(places, _)| places) {
            starts[*place as usize + 1] += 1;
        }
        for place in 0..count {
            starts[place + 1] += starts[place];
        }
        let mut next = starts.clone();
        let (mut rows, mut values) = (vec![0; starts[count]], vec![0.0; starts[count]]);
        for (row, (places, entries)) in all.enumerate() {
            for (place, x) in places.iter().zip(entries) {
                let at = &mut next[*place as usize];
                (rows[*at], values[*at]) = (row as u32, *x);
                *at += 1;
            }
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
}
