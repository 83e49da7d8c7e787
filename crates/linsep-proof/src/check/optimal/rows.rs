//! Passes over the rows: fixed blocks on any number of threads, and scores with their errors.
//!
//! A score w·x + b is added up in eight lanes, so that a term is rounded once as a product and at most
//! n/8 + 6 times in sums. As in the parent module, with a = fl(Σ |w x| + |b|), what is computed is within
//! γ_{n/8 + 6 + k} a + n·2^-1072 of the score, k the roundings that the reading and the basis need.

use super::penalty::UNIT;
use crate::check::{Checked, Checker};
use crate::rows::{Entries, RowBuffer};
use crate::threads::side_by_side;
use crate::wide::widest;
use std::borrow::Cow;
use std::ops::Range;

/// A plane whose scores are bounded.
pub(in crate::check) struct Linear<'a> {
    pub(in crate::check) weights: Cow<'a, [f64]>,
    pub(in crate::check) bias: f64,
}

impl Linear<'_> {
    /// The score of a row, and a bound on its error. Not inlined: loops of eight are unrolled in small functions only.
    #[inline(never)]
    pub(in crate::check) fn score(&self, entries: Entries<'_>, roundings: f64) -> (f64, f64) {
        let lanes = widest(
            #[inline(always)]
            || match entries {
                Entries::Dense(values) => self.dense(values),
                Entries::Sparse(columns, values) => sparse(columns, values, |j| self.weights[j]),
            },
        );
        self.bounded(roundings, lanes)
    }

    /// The same, the weights of listed columns being the first of pairs.
    #[inline(never)]
    pub(super) fn score_beside(
        &self,
        pairs: &[[f64; 2]],
        entries: Entries<'_>,
        roundings: f64,
    ) -> (f64, f64) {
        let lanes = widest(
            #[inline(always)]
            || match entries {
                Entries::Dense(values) => self.dense(values),
                Entries::Sparse(columns, values) => sparse(columns, values, |j| pairs[j][0]),
            },
        );
        self.bounded(roundings, lanes)
    }

    fn bounded(&self, roundings: f64, (sums, sizes, terms): Lanes) -> (f64, f64) {
        let sum = tree(&sums) + self.bias;
        let size = tree(&sizes) + self.bias.abs();
        (sum, rounding(terms / 8.0 + 6.0 + roundings, terms, size))
    }

    #[inline(always)]
    fn dense(&self, values: &[f64]) -> Lanes {
        let (mut sums, mut sizes) = ([0.0; 8], [0.0; 8]);
        let (blocks, rest) = values.as_chunks::<8>();
        let (weights, last) = self.weights[..values.len()].as_chunks::<8>();
        for (values, weights) in blocks.iter().zip(weights) {
            let mut products = [0.0; 8];
            for ((product, value), weight) in products.iter_mut().zip(values).zip(weights) {
                *product = value * weight;
            }
            add(&mut sums, &mut sizes, products);
        }
        let mut products = [0.0; 8];
        for ((product, value), weight) in products.iter_mut().zip(rest).zip(last) {
            *product = value * weight;
        }
        add(&mut sums, &mut sizes, products);
        (sums, sizes, values.len() as f64)
    }
}

/// Σ w x and Σ |w x| in lanes, and the number of terms.
type Lanes = ([f64; 8], [f64; 8], f64);

/// Those of a row of which the columns are listed.
#[inline(always)]
fn sparse(columns: &[u32], values: &[f64], weight: impl Fn(usize) -> f64) -> Lanes {
    let (mut sums, mut sizes) = ([0.0; 8], [0.0; 8]);
    let (blocks, rest) = values.as_chunks::<8>();
    let (places, last) = columns[..values.len()].as_chunks::<8>();
    for (values, columns) in blocks.iter().zip(places) {
        let mut products = [0.0; 8];
        for ((product, value), column) in products.iter_mut().zip(values).zip(columns) {
            *product = value * weight(*column as usize);
        }
        add(&mut sums, &mut sizes, products);
    }
    let mut products = [0.0; 8];
    for ((product, value), column) in products.iter_mut().zip(rest).zip(last) {
        *product = value * weight(*column as usize);
    }
    add(&mut sums, &mut sizes, products);
    (sums, sizes, values.len() as f64)
}

#[inline(always)]
fn add(sums: &mut [f64; 8], sizes: &mut [f64; 8], products: [f64; 8]) {
    for lane in 0..8 {
        sums[lane] += products[lane];
        sizes[lane] += products[lane].abs();
    }
}

fn tree(lanes: &[f64; 8]) -> f64 {
    let [a, b, c, d, e, f, g, h] = *lanes;
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

/// The columns and the values of a row that are not 0.
pub(super) type Nonzeros<'a> = (&'a [u32], &'a [f64]);

pub(super) fn pairs((columns, values): Nonzeros<'_>) -> impl Iterator<Item = (usize, f64)> {
    columns.iter().zip(values).map(|(column, value)| (*column as usize, *value))
}

/// The columns and values of a row that are not 0. Rows that hold all columns are copied without a
/// branch on their values, which no processor could foresee.
pub(super) fn nonzeros<'a>(entries: Entries<'a>, buffer: &'a mut RowBuffer) -> Nonzeros<'a> {
    let all = match entries {
        Entries::Sparse(columns, values) => return (columns, values),
        Entries::Dense(values) => values,
    };
    buffer.columns.resize(all.len(), 0);
    buffer.values.resize(all.len(), 0.0);
    let mut count = 0;
    for (column, &value) in all.iter().enumerate() {
        buffer.columns[count] = column as u32;
        buffer.values[count] = value;
        count += usize::from(value != 0.0);
    }
    (&buffer.columns[..count], &buffer.values[..count])
}

/// γ_k · size, and what underflow may have cost `terms` products.
pub(super) fn rounding(k: f64, terms: f64, size: f64) -> f64 {
    let k = k * UNIT;
    // k · 2^-1074 has the bits of k. A product with a subnormal number would take a hundred cycles.
    let lost = f64::from_bits(4 * (terms as u64 + 2));
    k / (1.0 - k) * size * (1.0 + 8.0 * f64::EPSILON) + lost
}

impl Checker<'_> {
    /// φ(x) of a row.
    pub(in crate::check) fn row<'b>(
        &'b self,
        row: u64,
        buffer: &'b mut RowBuffer,
    ) -> Checked<Entries<'b>> {
        if self.products.is_empty() {
            return Ok(self.rows.entries(row, buffer));
        }
        buffer.clear();
        match self.floats(row, &mut |column, value| buffer.push(column, value)) {
            true => Ok(buffer.entries()),
            false => Err(format!("row {row}: a product of the basis leaves the range of binary64")),
        }
    }

    /// What `work` makes of each block of rows, in their order. The blocks depend on the rows and on the
    /// numbers that a block has to hold, never on the threads: as many as keep the filling and merging
    /// of those numbers a small part of the work.
    pub(super) fn blocks<T: Send>(
        &self,
        held: usize,
        work: impl Fn(Range<u64>) -> Checked<T> + Sync,
    ) -> Checked<Vec<T>> {
        /// Numbers held above which a second block is too much room.
        const MOST_TWICE: usize = 1 << 26;
        let rows = self.rows.len();
        let least = if held <= MOST_TWICE { 2 } else { 1 };
        let worth = self.numbers() / (2 * held.max(1) as u64);
        // Two at a time: of three blocks one thread of two would have twice the work of the other.
        let count = ((worth & !1) as usize).clamp(least, 32).min(rows as usize / 512 + 1);
        let share = rows.div_ceil(count as u64);
        let range = |block: usize| {
            let start = (block as u64 * share).min(rows);
            start..(start + share).min(rows)
        };
        let run = |block: u64| work(range(block as usize));
        side_by_side(self.threads, 0..count as u64, &run).into_iter().collect()
    }

    /// About how many numbers the rows hold, by a few of them.
    fn numbers(&self) -> u64 {
        const LOOKED_AT: u64 = 32;
        let rows = self.rows.len();
        let looked = rows.min(LOOKED_AT);
        let mut buffer = RowBuffer::default();
        let held = |k: u64| match self.rows.entries(k * (rows / looked), &mut buffer) {
            Entries::Dense(values) | Entries::Sparse(_, values) => values.len() as u64,
        };
        let sum: u64 = (0..looked).map(held).sum();
        (sum as f64 / looked.max(1) as f64 * rows as f64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_columns_change_no_bit_of_a_score() {
        for n in 0..20u32 {
            let values: Vec<f64> = (0..n).map(|j| f64::from(j * 7 % 5 + 1) / 3.0).collect();
            let columns: Vec<u32> = (0..n).collect();
            let weights: Vec<f64> = (0..n).map(|j| f64::from(j * 3 % 7) / 7.0 - 0.4).collect();
            let plane = Linear { weights: weights.as_slice().into(), bias: 0.1 };
            let dense = plane.score(Entries::Dense(&values), 4.0);
            assert_eq!(dense, plane.score(Entries::Sparse(&columns, &values), 4.0));
            let sum = weights.iter().zip(&values).map(|(w, x)| w * x).sum::<f64>() + 0.1;
            assert!((dense.0 - sum).abs() <= 2.0 * dense.1 && dense.1 < 1e-13, "{n}: {dense:?}");
        }
    }
}
