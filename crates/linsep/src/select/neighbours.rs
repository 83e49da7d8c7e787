//! k nearest neighbours, and the majority class: baselines to compare learners with, not learners.
//!
//! A row is given the class that most of the k closest training rows have. Columns are divided by their
//! standard deviation over the training rows, because a distance in mixed units means nothing; columns
//! without spread do not count. Ties of distance go to the earlier row, ties of votes to the class of
//! the closest row among the tied ones. A row of weight 2 has two votes, one of weight 0 is absent.
//!
//! Every pair of rows is looked at, so the work is rows × rows × features and has a limit.
//!
//! Reference: Cover and Hart 1967, Nearest neighbor pattern classification.

use linsep_data::Dataset;
use linsep_data::error::{Error, Result};
use linsep_data::parallel::parallel_map;

/// The settings of the nearest neighbours.
///
/// ```
/// use linsep::Dataset;
/// use linsep::select::neighbours::Neighbours;
/// let data = Dataset::from_rows(&[[0.], [1.], [9.], [10.], [2.]], &["a", "a", "b", "b", "b"])?;
/// let classes = Neighbours::new(2).predict(&data, &[0, 1, 2, 3], &[4], 1)?;
/// assert_eq!(data.classes()[classes[0] as usize], "a");
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Neighbours {
    /// How many rows vote.
    pub k: usize,
}

impl Neighbours {
    /// The k nearest rows vote.
    pub fn new(k: usize) -> Neighbours {
        Neighbours { k }
    }
}

/// Products that a prediction may take, and numbers that it may hold.
const MOST_WORK: u128 = 8_000_000_000;
const MOST_NUMBERS: u128 = 50_000_000;

impl Neighbours {
    /// The classes of `test` rows by the closest `train` rows; `threads` never changes one.
    pub fn predict(
        &self,
        data: &Dataset,
        train: &[u32],
        test: &[u32],
        threads: usize,
    ) -> Result<Vec<u32>> {
        let train: Vec<u32> =
            train.iter().copied().filter(|row| data.weight(*row as usize) > 0.0).collect();
        if self.k == 0 || train.is_empty() {
            return Err(Error::usage("nearest neighbours need at least one row that votes"));
        }
        let width = data.n_features();
        let numbers = (train.len() + test.len()) as u128 * width as u128;
        let work = train.len() as u128 * test.len() as u128 * width as u128;
        if work > MOST_WORK || numbers > MOST_NUMBERS {
            return Err(Error::usage(format!(
                "{} times {} rows of {width} features are too many pairs to look at",
                train.len(),
                test.len()
            )));
        }
        let factors = inverse_deviations(data, &train);
        let dense = |rows: &[u32]| {
            let mut values = vec![0.0; rows.len() * width];
            for (k, row) in rows.iter().enumerate() {
                let target = &mut values[k * width..(k + 1) * width];
                data.for_each(*row as usize, |column, value| {
                    target[column as usize] = value;
                });
            }
            values
        };
        let (known, asked) = (dense(&train), dense(test));
        let classes = parallel_map(test.len(), threads, |t| {
            let point = &asked[t * width..(t + 1) * width];
            let mut nearest: Vec<(f64, usize)> = Vec::with_capacity(self.k.min(train.len()) + 1);
            for k in 0..train.len() {
                let row = &known[k * width..(k + 1) * width];
                // Differences first, so that rows equally far to both sides are so to the bit.
                let pairs = row.iter().zip(point).zip(&factors);
                let square: f64 = pairs.map(|((a, b), f)| ((a - b) * f) * ((a - b) * f)).sum();
                let full = nearest.len() == self.k;
                if full && nearest.last().is_some_and(|(farthest, _)| square >= *farthest) {
                    continue;
                }
                let at = nearest.partition_point(|(other, _)| *other <= square);
                nearest.insert(at, (square, k));
                nearest.truncate(self.k);
            }
            vote(data, &train, &nearest)
        });
        Ok(classes)
    }
}

/// The class with the most votes; of several the one whose row comes first.
fn vote(data: &Dataset, train: &[u32], nearest: &[(f64, usize)]) -> u32 {
    let mut votes: Vec<(u32, f64)> = Vec::new();
    for (_, k) in nearest {
        let row = train[*k] as usize;
        match votes.iter_mut().find(|(class, _)| *class == data.class_of(row)) {
            Some((_, votes)) => *votes += data.weight(row),
            None => votes.push((data.class_of(row), data.weight(row))),
        }
    }
    let most = votes.iter().map(|(_, votes)| *votes).fold(0.0, f64::max);
    votes.iter().find(|(_, votes)| *votes == most).map_or(0, |(class, _)| *class)
}

/// One over the standard deviation of each column; 0 for columns without spread.
fn inverse_deviations(data: &Dataset, rows: &[u32]) -> Vec<f64> {
    let count = rows.len() as f64;
    let mut means = vec![0.0; data.n_features()];
    let mut filled = vec![0.0; data.n_features()];
    for row in rows {
        data.for_each(*row as usize, |column, value| {
            means[column as usize] += value / count;
            filled[column as usize] += 1.0;
        });
    }
    let mut squares: Vec<f64> =
        means.iter().zip(&filled).map(|(mean, filled)| (count - filled) * mean * mean).collect();
    let mut largest = vec![0.0f64; data.n_features()];
    for row in rows {
        data.for_each(*row as usize, |column, value| {
            squares[column as usize] += (value - means[column as usize]).powi(2);
            largest[column as usize] = largest[column as usize].max(value.abs());
        });
    }
    let factor = |(square, largest): (&f64, &f64)| {
        let deviation = (square / count).sqrt();
        // The mean of equal numbers may be off by a rounding.
        if deviation > 1e-14 * largest && deviation.is_finite() { 1.0 / deviation } else { 0.0 }
    };
    squares.iter().zip(&largest).map(factor).collect()
}

/// The class with the most weight in some rows, the earlier one on a tie.
pub fn majority(data: &Dataset, rows: &[u32]) -> u32 {
    let mut weights = vec![0.0; data.n_classes()];
    for row in rows {
        weights[data.class_of(*row as usize) as usize] += data.weight(*row as usize);
    }
    let mut best = 0;
    for (class, weight) in weights.iter().enumerate() {
        if *weight > weights[best] {
            best = class;
        }
    }
    best as u32
}
