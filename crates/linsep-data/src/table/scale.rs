//! Scaling for training that never touches the data and leaves nothing to undo.
//!
//! A learner that runs on z = S(x − μ), S = diag(s), and adds a·z to its weights w' keeps instead
//! the weights u = S w' of the raw features: the step becomes u += a·S²(x − μ), and with
//! m = S² μ the score w'·z + b' is x·u + b, where b absorbs −μ·u. Writing u = v − c·m with
//! c = Σ a, the part that is not sparse stays one number:
//!
//! ```text
//! score   x·v − c·q + b        with q = x·m, computed once for each row
//! step    v += a·S² x,  c += a,  b += a (1 − q + μ·m)
//! model   u = v − c·m, bias b
//! ```
//!
//! Without centring m = 0. `unit` divides the augmented row (1, x) by its length; that scales the
//! step of a row and leaves signs alone.

use super::Dataset;
use crate::error::{Error, Result};
use crate::matrix::with_rows;
use crate::matrix::{Row, Rows};
use crate::words;

words! {
    /// How columns are scaled while learning. The model speaks of raw features in every case.
    Scaling: "scaling" {
        /// As they are.
        None = "none",
        /// By the power of two that brings the largest magnitude next to 1: exact.
        Pow2 = "pow2",
        /// To mean 0 and standard deviation 1.
        Standard = "standard",
        /// By the largest magnitude.
        MaxAbs = "maxabs",
        /// Each row (1, x) to length 1.
        Unit = "unit",
    }
}

/// The numbers behind a [`Scaling`] for some rows of a data set.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct Scaler {
    /// s_j² for each column.
    pub square: Option<Vec<f64>>,
    pub centre: Option<Centre>,
    /// A factor on the step of each row.
    pub row_factor: Option<Vec<f64>>,
}

/// What centring needs.
#[derive(Debug)]
#[doc(hidden)]
pub struct Centre {
    /// m = S² μ.
    pub direction: Vec<f64>,
    /// q = x·m for each row of the data.
    pub offsets: Vec<f64>,
    /// μ·m.
    pub constant: f64,
}

impl Scaler {
    /// Measures `rows` of `data`.
    #[doc(hidden)]
    pub fn new(scaling: Scaling, data: &Dataset, rows: &[u32]) -> Scaler {
        match scaling {
            Scaling::None => Scaler::default(),
            // Nothing has no mean.
            Scaling::Standard if rows.is_empty() => Scaler::default(),
            Scaling::Pow2 => Scaler::columns(largest(data, rows), power_of_two_near),
            Scaling::MaxAbs => Scaler::columns(largest(data, rows), |max| 1.0 / max),
            Scaling::Standard => standard(data, rows),
            Scaling::Unit => {
                let mut scratch = Vec::new();
                let mut factor = |row| {
                    let mut square = 1.0;
                    data.store.for_each(row, &mut scratch, |_, x| square += x * x);
                    1.0 / square.sqrt()
                };
                let factors = (0..data.n_rows()).map(&mut factor).collect();
                Scaler { row_factor: Some(factors), ..Scaler::default() }
            }
        }
    }

    fn columns(largest: Vec<f64>, scale: impl Fn(f64) -> f64) -> Scaler {
        let square = |&max: &f64| if max > 0.0 { scale(max) * scale(max) } else { 1.0 };
        Scaler { square: Some(largest.iter().map(square).collect()), ..Scaler::default() }
    }

    /// s_j.
    #[doc(hidden)]
    #[inline]
    pub fn scale(&self, column: usize) -> f64 {
        self.square.as_ref().map_or(1.0, |square| square[column].sqrt())
    }

    /// What a score has to be multiplied with to be that of the row in the coordinates of the run.
    #[doc(hidden)]
    #[inline]
    pub fn row_scale(&self, row: usize) -> f64 {
        self.row_factor.as_ref().map_or(1.0, |factor| factor[row])
    }

    /// c·q: what centring takes from a score.
    #[doc(hidden)]
    #[inline]
    pub fn shift(&self, c: f64, row: usize) -> f64 {
        self.centre.as_ref().map_or(0.0, |centre| c * centre.offsets[row])
    }

    /// 1 − q + μ·m: what a step of 1 along a row does to the bias.
    #[doc(hidden)]
    #[inline]
    pub fn bias_step(&self, row: usize) -> f64 {
        self.centre.as_ref().map_or(1.0, |centre| 1.0 - centre.offsets[row] + centre.constant)
    }

    /// 1 − 2q + μ·m: what |z|² has beside |S x|².
    #[doc(hidden)]
    #[inline]
    pub fn square_shift(&self, row: usize) -> f64 {
        let shift = |centre: &Centre| 1.0 - 2.0 * centre.offsets[row] + centre.constant;
        self.centre.as_ref().map_or(1.0, shift)
    }

    /// |z|² of a row (1, x) in the coordinates of the run.
    #[doc(hidden)]
    pub fn square_of(&self, data: &Dataset, row: usize) -> f64 {
        let mut sum = 1.0;
        data.store
            .for_each(row, &mut Vec::new(), |j, x| sum += (x * self.scale(j as usize)).powi(2));
        if let Some(centre) = &self.centre {
            sum += centre.constant - 2.0 * centre.offsets[row];
        }
        self.row_factor.as_ref().map_or(sum, |factor| sum * factor[row] * factor[row])
    }

    /// Refuses scales outside the range of binary64.
    #[doc(hidden)]
    pub fn check(&self) -> Result<()> {
        let squares = self.square.iter().flatten();
        let numbers = squares.chain(self.row_factor.iter().flatten());
        let centre = self.centre.iter().flat_map(|c| c.direction.iter().chain(&c.offsets));
        if numbers.chain(centre).all(|x| x.is_finite()) {
            return Ok(());
        }
        Err(Error::usage(
            "a column is too large or too small to be scaled; use `scale=none` or pow2",
        ))
    }
}

/// 2^-e for a number around 2^e, kept where its square is a normal number.
fn power_of_two_near(max: f64) -> f64 {
    let exponent = (max.log2().round() as i32).clamp(-500, 500);
    2f64.powi(-exponent)
}

/// The largest magnitude of each column among some rows. Of all rows the storage knows it.
fn largest(data: &Dataset, rows: &[u32]) -> Vec<f64> {
    match data.store.largest_by_column().filter(|_| rows.len() == data.n_rows()) {
        Some(known) => {
            debug_assert_eq!(known, measured(data, rows));
            known
        }
        None => measured(data, rows),
    }
}

fn measured(data: &Dataset, rows: &[u32]) -> Vec<f64> {
    let mut largest = vec![0.0f64; data.n_features()];
    let mut scratch = Vec::new();
    for &row in rows {
        data.store.for_each(row as usize, &mut scratch, |j, x| {
            let max = &mut largest[j as usize];
            *max = max.max(x.abs());
        });
    }
    largest
}

fn standard(data: &Dataset, rows: &[u32]) -> Scaler {
    let width = data.n_features();
    let total: f64 = rows.iter().map(|&row| data.weight(row as usize)).sum();
    let mut mean = vec![0.0; width];
    let mut scratch = Vec::new();
    for &row in rows {
        let weight = data.weight(row as usize);
        data.store.for_each(row as usize, &mut scratch, |j, x| mean[j as usize] += weight * x);
    }
    mean.iter_mut().for_each(|mean| *mean /= total);
    // Σ weight (x − μ)² over all rows; the zeros count μ² each.
    let mut spread = vec![0.0; width];
    let mut present = vec![0.0; width];
    for &row in rows {
        let weight = data.weight(row as usize);
        data.store.for_each(row as usize, &mut scratch, |j, x| {
            let j = j as usize;
            spread[j] += weight * (x - mean[j]) * (x - mean[j]);
            present[j] += weight;
        });
    }
    let square: Vec<f64> = (0..width)
        .map(|j| {
            let variance = (spread[j] + (total - present[j]) * mean[j] * mean[j]) / total;
            // A constant column has no scale; rounding may leave a trace of one.
            if variance > 1e-24 * mean[j] * mean[j] { 1.0 / variance } else { 1.0 }
        })
        .collect();
    let direction: Vec<f64> =
        mean.iter().zip(&square).map(|(mean, square)| mean * square).collect();
    let offsets = with_rows!(data.store, rows => {
        (0..rows.len()).map(|row| rows.row(row, &mut scratch).dot(&direction)).collect()
    });
    let constant = mean.iter().zip(&direction).map(|(mean, m)| mean * m).sum();
    Scaler {
        square: Some(square),
        centre: Some(Centre { direction, offsets, constant }),
        row_factor: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_measured_on_the_given_rows_only() {
        let data = Dataset::from_rows(&[[1.0, -6.0], [3.0, 2.0], [100.0, 100.0]], &["a", "b", "a"])
            .unwrap();
        let scaler = |scaling| Scaler::new(scaling, &data, &[0, 1]);
        assert_eq!(scaler(Scaling::MaxAbs).scale(0), 1.0 / 3.0);
        assert_eq!(scaler(Scaling::Pow2).scale(1), 0.125);
        let standard = scaler(Scaling::Standard);
        assert_eq!((standard.scale(0), standard.scale(1)), (1.0, 0.25));
        let unit = scaler(Scaling::Unit);
        assert_eq!(unit.row_factor.unwrap()[0], 1.0 / 38f64.sqrt());
    }

    #[test]
    fn constant_and_empty_columns_keep_their_scale() {
        let data =
            Dataset::from_rows(&[[0.1, 0.0], [0.1, 0.0], [0.1, 0.0]], &["a", "b", "b"]).unwrap();
        for scaling in [Scaling::Pow2, Scaling::MaxAbs, Scaling::Standard] {
            let scaler = Scaler::new(scaling, &data, &[0, 1, 2]);
            assert!(scaler.check().is_ok());
            assert!(scaler.scale(1) == 1.0);
        }
    }
}
