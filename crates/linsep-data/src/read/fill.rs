//! What stands for missing values: means, medians and modes of the values that are there, for every
//! numeric column, since a model meets gaps where training had none.

use super::options::Missing;
use crate::matrix::Store;

/// Numbers that are held at once to be sorted.
const HELD: usize = 1 << 23;

/// The value of each column, or none where the rule needs no look at the rows. `gaps` are the cells (row,
/// column) without a value; the store has 0 there.
pub(super) fn values(rule: Missing, store: &Store, gaps: &[(u64, u32)]) -> Option<Vec<f64>> {
    let mut missing = vec![0usize; store.width()];
    gaps.iter().for_each(|&(_, column)| missing[column as usize] += 1);
    let there = |column: usize| store.rows() - missing[column];
    match rule {
        Missing::Mean => Some(means(store, there)),
        Missing::Median => Some(of_sorted(store, there, median)),
        Missing::Mode => Some(of_sorted(store, there, mode)),
        _ => None,
    }
}

fn means(store: &Store, there: impl Fn(usize) -> usize) -> Vec<f64> {
    let in_units = |unit: f64| {
        let mut sums = vec![0.0; store.width()];
        let mut scratch = Vec::new();
        for row in 0..store.rows() {
            store
                .for_each(row, &mut scratch, |column, value| sums[column as usize] += value / unit);
        }
        let mean = |(j, sum): (usize, &f64)| sum / there(j).max(1) as f64 * unit;
        sums.iter().enumerate().map(mean).collect::<Vec<f64>>()
    };
    let mut means = in_units(1.0);
    if means.iter().any(|mean| !mean.is_finite()) {
        // The sum of numbers next to 1e308 overflows, their mean does not.
        let scaled = in_units(2f64.powi(64));
        let overflown = means.iter_mut().zip(scaled).filter(|(mean, _)| !mean.is_finite());
        overflown.for_each(|(mean, scaled)| *mean = scaled);
    }
    means
}

/// What `pick` makes of the sorted values of each column, some columns at a time.
fn of_sorted(
    store: &Store,
    there: impl Fn(usize) -> usize,
    pick: impl Fn(&[f64]) -> f64,
) -> Vec<f64> {
    let together = (HELD / store.rows().max(1)).max(1);
    let mut picked = Vec::with_capacity(store.width());
    let mut scratch = Vec::new();
    for first in (0..store.width()).step_by(together) {
        let columns = first..(first + together).min(store.width());
        let mut values: Vec<Vec<f64>> = vec![Vec::new(); columns.len()];
        for row in 0..store.rows() {
            store.for_each(row, &mut scratch, |column, value| {
                if columns.contains(&(column as usize)) {
                    values[column as usize - first].push(value);
                }
            });
        }
        for (j, mut values) in columns.zip(values) {
            // What is not stored is 0.
            values.resize(there(j).max(values.len()), 0.0);
            values.sort_unstable_by(f64::total_cmp);
            picked.push(pick(&values));
        }
    }
    picked
}

/// The middle value, or the middle between two.
fn median(sorted: &[f64]) -> f64 {
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[n / 2],
        n => sorted[n / 2 - 1] / 2.0 + sorted[n / 2] / 2.0,
    }
}

/// The most frequent value, the smallest of several.
fn mode(sorted: &[f64]) -> f64 {
    let mut best = (0, 0.0);
    for same in sorted.chunk_by(|a, b| a == b) {
        if same.len() > best.0 {
            best = (same.len(), same[0]);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_and_the_most_frequent() {
        assert_eq!((median(&[]), median(&[3.0]), median(&[1.0, 2.0])), (0.0, 3.0, 1.5));
        assert_eq!(median(&[0.1, 0.3]), 0.2);
        assert_eq!(median(&[f64::MAX, f64::MAX]), f64::MAX);
        assert_eq!((mode(&[]), mode(&[1.0, 2.0, 2.0]), mode(&[1.0, 2.0])), (0.0, 2.0, 1.0));
    }
}
