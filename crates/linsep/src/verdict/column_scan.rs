//! The column scan: one pass over the rows that finds equal rows of both signs and measures the
//! columns, so that everything after it starts from good coordinates.

use super::conflict::{entry_hash, pairs_of, row_hash};
use super::signed::Signed;
use linsep_data::parallel::parallel_map;

/// What one pass tells.
pub(crate) struct ColumnScan {
    /// The largest magnitude in each column.
    pub(crate) largest: Vec<f64>,
    /// The mean of each column.
    pub(crate) mean: Vec<f64>,
    /// The root mean square distance from the mean.
    pub(crate) spread: Vec<f64>,
    /// The root mean square.
    pub(crate) length: Vec<f64>,
    /// One pair (positive row, negative row) for each group of equal rows of both signs.
    pub(crate) equal: Vec<(usize, usize)>,
}

/// Rows in one block; the sums of blocks are added in order, whatever thread made them.
const BLOCK: usize = 8192;

/// With more columns than this only a sample of rows is measured.
const MAX_MEASURED_WIDTH: usize = 4096;

/// The size of that sample.
const SAMPLE: usize = 2000;

impl ColumnScan {
    /// Some rows, spread over all of them, and whether equal ones are among them.
    pub(crate) fn at_sample(view: &Signed) -> (ColumnScan, bool) {
        let mut sums = Sums::new(view.data.n_features());
        let origin = first_row(view);
        let step = view.len().div_ceil(SAMPLE.max(20 * view.dimension()));
        let rows = (0..view.len()).step_by(step);
        let count = rows.len();
        let mut hashes = sums.add_rows(view, rows, &origin);
        hashes.sort_unstable();
        let repeats = hashes.windows(2).any(|pair| pair[0].0 == pair[1].0);
        (sums.finish(count, &origin, pairs_of(view, hashes)), repeats)
    }

    /// Every row.
    pub(crate) fn new(view: &Signed, threads: usize) -> ColumnScan {
        let width = view.data.n_features();
        let origin = first_row(view);
        let blocks = view.len().div_ceil(BLOCK);
        let range = |block: usize| block * BLOCK..((block + 1) * BLOCK).min(view.len());
        let measured = width <= MAX_MEASURED_WIDTH;
        let parts = parallel_map(blocks, threads, |block| {
            let mut sums = Sums::new(if measured { width } else { 0 });
            let hashes = sums.add_rows(view, range(block), &origin);
            (sums, hashes)
        });
        let mut sums = Sums::new(width);
        let mut hashes = Vec::with_capacity(view.len());
        for (part, more) in parts {
            sums.merge(&part);
            hashes.extend(more);
        }
        let mut count = view.len();
        if !measured {
            // Very many columns are measured on a sample: one place of memory for each entry of all
            // rows would cost more than it tells.
            let step = view.len().div_ceil(SAMPLE);
            let sample: Vec<usize> = (0..view.len()).step_by(step).collect();
            count = sample.len();
            sums.add_rows(view, sample.into_iter(), &origin);
        }
        sums.finish(count, &origin, pairs_of(view, hashes))
    }
}

/// Distances from the first row keep the digits of columns far away from 0.
fn first_row(view: &Signed) -> Vec<f64> {
    let mut origin = vec![0.0; view.data.n_features()];
    view.for_each(0, &mut Vec::new(), |j, x| origin[j as usize] = x);
    origin
}

/// One for each column, together in memory because they are touched together.
#[derive(Clone, Copy, Default)]
struct Sum {
    largest: f64,
    /// Σ (x − origin) and Σ (x − origin)² over the entries that are present.
    away: f64,
    square: f64,
    present: f64,
}

struct Sums(Vec<Sum>);

impl Sums {
    fn new(width: usize) -> Sums {
        Sums(vec![Sum::default(); width])
    }

    /// Adds rows, if there is room for their columns, and returns their hashes.
    fn add_rows(
        &mut self,
        view: &Signed,
        rows: impl Iterator<Item = usize>,
        origin: &[f64],
    ) -> Vec<(u64, u32)> {
        let mut scratch = Vec::new();
        if self.0.is_empty() {
            let mut hash = |k: usize| (row_hash(view, k, &mut scratch), k as u32);
            return rows.map(&mut hash).collect();
        }
        let hash = |k: usize| {
            let mut hash = 0u64;
            view.for_each(k, &mut scratch, |column, x| {
                let away = x - origin[column as usize];
                let sum = &mut self.0[column as usize];
                sum.largest = sum.largest.max(x.abs());
                sum.away += away;
                sum.square += away * away;
                sum.present += 1.0;
                hash = hash.wrapping_add(entry_hash(column, x));
            });
            (hash, k as u32)
        };
        rows.map(hash).collect()
    }

    fn merge(&mut self, other: &Sums) {
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            a.largest = a.largest.max(b.largest);
            a.away += b.away;
            a.square += b.square;
            a.present += b.present;
        }
    }
    fn finish(self, count: usize, origin: &[f64], equal: Vec<(usize, usize)>) -> ColumnScan {
        let (width, count) = (origin.len(), count as f64);
        let zeros = || vec![0.0; width];
        let largest = self.0.iter().map(|sum| sum.largest).collect();
        let mut scan =
            ColumnScan { largest, mean: zeros(), spread: zeros(), length: zeros(), equal };
        for (j, sum) in self.0.iter().enumerate() {
            // A row without the column has 0 there, which is −origin away.
            let absent = count - sum.present;
            let away = (sum.away - absent * origin[j]) / count;
            let square = (sum.square + absent * origin[j] * origin[j]) / count;
            scan.mean[j] = origin[j] + away;
            scan.spread[j] = (square - away * away).max(0.0).sqrt();
            scan.length[j] = scan.spread[j].hypot(scan.mean[j]);
            // What rounding leaves of a constant column is no spread.
            if scan.spread[j] <= 1e-12 * away.abs() {
                scan.spread[j] = 0.0;
            }
        }
        scan
    }
}
