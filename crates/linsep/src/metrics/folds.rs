//! Cross-validation in numbers: each row predicted once, by a model that had not seen it.
//!
//! The folds together are one sample, whose accuracy has a Wilson interval; the standard deviation of the
//! accuracies of single folds tells how much they differ. Rows count by their weights.

use super::{Weighted, shares, wilson};
use serde::Serialize;

/// The result of a cross-validation, every row predicted once by a model that had not seen it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CrossValidation {
    /// The number of folds.
    pub folds: usize,
    /// Wrong predictions of each fold.
    pub fold_errors: Vec<u64>,
    /// Rows of each fold.
    pub fold_rows: Vec<u64>,
    /// Rows of all folds.
    pub rows: u64,
    /// Wrong predictions of all folds.
    pub errors: u64,
    /// Rows and errors by weight, if some weight is not 1.
    pub weighted: Option<Weighted>,
    /// The share given the right class, by weight; NaN (`null` in JSON) without rows.
    pub accuracy: f64,
    /// The 95 % Wilson interval of the accuracy, the folds taken as one sample, unless weights are fractions.
    pub accuracy_interval: Option<[f64; 2]>,
    /// The sample standard deviation of the accuracies of folds with rows; NaN if fewer than two.
    pub accuracy_sd: f64,
}

/// The test rows of one fold.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Fold {
    rows: u64,
    errors: u64,
    weight: f64,
    wrong: f64,
    weighted: bool,
    fractions: bool,
}

impl Fold {
    /// Counts a row of a weight, without weights 1.
    pub fn add(&mut self, wrong: bool, weight: f64) {
        self.rows += 1;
        self.errors += u64::from(wrong);
        self.weight += weight;
        self.wrong += if wrong { weight } else { 0.0 };
        self.weighted |= weight != 1.0;
        self.fractions |= weight.fract() != 0.0;
    }

    fn accuracy(&self) -> f64 {
        (self.weight - self.wrong) / self.weight
    }
}

impl CrossValidation {
    /// Sums up folds.
    pub fn new(folds: &[Fold]) -> CrossValidation {
        let rates: Vec<f64> =
            folds.iter().map(Fold::accuracy).filter(|rate| !rate.is_nan()).collect();
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        let squares: f64 = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
        let mut all = Fold::default();
        for fold in folds {
            all.rows += fold.rows;
            all.errors += fold.errors;
            all.weight += fold.weight;
            all.wrong += fold.wrong;
            all.weighted |= fold.weighted;
            all.fractions |= fold.fractions;
        }
        CrossValidation {
            folds: folds.len(),
            fold_errors: folds.iter().map(|fold| fold.errors).collect(),
            fold_rows: folds.iter().map(|fold| fold.rows).collect(),
            rows: all.rows,
            errors: all.errors,
            weighted: all.weighted.then_some(Weighted { rows: all.weight, errors: all.wrong }),
            accuracy: all.accuracy(),
            accuracy_interval: (!all.fractions)
                .then(|| wilson((all.weight - all.wrong) as u64, all.weight as u64)),
            accuracy_sd: (squares / rates.len().saturating_sub(1) as f64).sqrt(),
        }
    }

    /// "12 of 150 wrong", by weight where rows have weights.
    pub fn summary(&self) -> String {
        shares(self.rows, self.errors, self.weighted)
    }

    /// What counts as wrong: rows, or their weights.
    pub fn wrong(&self) -> f64 {
        self.weighted.map_or(self.errors as f64, |weighted| weighted.errors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_are_summed_up_by_weight() {
        let fold = |rows: u64, errors: u64, weight: f64| {
            let mut fold = Fold::default();
            (0..rows).for_each(|k| fold.add(k < errors, weight));
            fold
        };
        let found = CrossValidation::new(&[fold(10, 1, 1.0), fold(10, 3, 1.0), fold(0, 0, 1.0)]);
        assert_eq!((found.folds, found.rows, found.errors, found.accuracy), (3, 20, 4, 0.8));
        assert_eq!((found.accuracy_interval, found.weighted), (Some(wilson(16, 20)), None));
        assert!((found.accuracy_sd - 0.02f64.sqrt()).abs() < 1e-15);
        let none = CrossValidation::new(&[]);
        assert!(none.accuracy.is_nan() && none.accuracy_sd.is_nan());
        // Whole weights are repeated rows; fractions have no interval.
        let heavy = CrossValidation::new(&[fold(10, 1, 3.0), fold(10, 3, 1.0)]);
        assert_eq!((heavy.rows, heavy.errors, heavy.accuracy), (20, 4, 34.0 / 40.0));
        assert_eq!(heavy.accuracy_interval, Some(wilson(34, 40)));
        assert_eq!(heavy.summary(), "6 of 40 wrong by weight (4 of 20 rows)");
        assert_eq!(CrossValidation::new(&[fold(4, 2, 0.5)]).accuracy_interval, None);
    }
}
