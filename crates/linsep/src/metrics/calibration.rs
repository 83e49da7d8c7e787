//! Probabilities against frequencies: of the rows that a model calls 30 % likely, are 30 % so?
//!
//! Bins of equal width, each but the first without its lower end. With W_b the weight of bin b, p_b the mean
//! probability and y_b the share of rows in it that are so:
//!
//! ```text
//! expected calibration error  Σ W_b |y_b − p_b| / Σ W_b
//! largest                     max |y_b − p_b|
//! ```
//!
//! Reference: Naeini, Cooper, Hauskrecht 2015; Guo, Pleiss, Sun, Weinberger 2017.

use super::{ratio, wilson};
use serde::Serialize;

/// How many bins there are unless otherwise said.
pub(super) const BINS: usize = 10;

/// Probabilities against frequencies, bin by bin.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Calibration {
    /// The mean distance between probability and frequency, by weight; none without rows.
    pub error: Option<f64>,
    /// The largest distance in a bin.
    pub largest: Option<f64>,
    /// The bins, the empty ones too.
    pub bins: Vec<Bin>,
}

/// Rows of similar probability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Bin {
    /// Probabilities above this, or equal to it in the first bin.
    pub low: f64,
    /// And up to this.
    pub high: f64,
    /// How many rows, whatever their weights.
    pub rows: u64,
    /// Their weight.
    pub weight: f64,
    /// The mean probability; none in an empty bin.
    pub probability: Option<f64>,
    /// The share of rows that are so.
    pub frequency: Option<f64>,
    /// The 95 % Wilson interval of that share, if all weights are 1.
    pub interval: Option<[f64; 2]>,
}

/// A probability for each row, and whether it came true.
pub(super) struct Forecasts(Vec<(f64, bool)>);

impl Forecasts {
    pub(super) fn new(rows: impl Iterator<Item = (f64, bool)>) -> Forecasts {
        Forecasts(rows.collect())
    }

    pub(super) fn calibration(&self, bins: usize, weight: &dyn Fn(usize) -> f64) -> Calibration {
        let edge = |k: usize| k as f64 / bins as f64;
        let mut sums = vec![(0u64, 0u64, 0.0, 0.0, 0.0, true); bins];
        for (row, (p, so)) in self.0.iter().enumerate() {
            // The first guess may be off by one where an edge was rounded.
            let mut bin = ((p * bins as f64).ceil() as usize).clamp(1, bins) - 1;
            while bin > 0 && *p <= edge(bin) {
                bin -= 1;
            }
            while bin + 1 < bins && *p > edge(bin + 1) {
                bin += 1;
            }
            let w = weight(row);
            let (rows, right, total, probability, frequency, plain) = &mut sums[bin];
            *rows += 1;
            *right += u64::from(*so);
            *total += w;
            *probability += w * p;
            *frequency += if *so { w } else { 0.0 };
            *plain &= w == 1.0;
        }
        let bin =
            |(k, (rows, right, weight, p, y, plain)): (usize, &(u64, u64, f64, f64, f64, bool))| {
                Bin {
                    low: edge(k),
                    high: edge(k + 1),
                    rows: *rows,
                    weight: *weight,
                    probability: ratio(*p, *weight),
                    frequency: ratio(*y, *weight),
                    interval: (*plain && *rows > 0).then(|| wilson(*right, *rows)),
                }
            };
        let bins: Vec<Bin> = sums.iter().enumerate().map(bin).collect();
        let apart = |bin: &Bin| Some((bin.frequency? - bin.probability?).abs());
        let sum: f64 = bins.iter().filter_map(|bin| Some(bin.weight * apart(bin)?)).sum();
        Calibration {
            error: ratio(sum, bins.iter().map(|bin| bin.weight).sum()),
            largest: bins.iter().filter_map(apart).reduce(f64::max),
            bins,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_by_hand() {
        let rows =
            [(0.0, false), (0.2, true), (0.25, false), (0.6, true), (0.9, true), (1.0, true)];
        let found = Forecasts::new(rows.into_iter()).calibration(5, &|_| 1.0);
        let counts: Vec<u64> = found.bins.iter().map(|bin| bin.rows).collect();
        // An edge belongs to the bin below it.
        assert_eq!(counts, [2, 1, 1, 0, 2]);
        assert_eq!((found.bins[0].frequency, found.bins[3].frequency), (Some(0.5), None));
        let error = (2.0 * 0.4 + 0.25 + 0.4 + 2.0 * 0.05) / 6.0;
        assert!((found.error.unwrap() - error).abs() < 1e-15 && found.largest == Some(0.4));
        assert_eq!(found.bins[1].interval, Some(wilson(0, 1)));
        let none = Forecasts::new([].into_iter()).calibration(5, &|_| 1.0);
        assert_eq!((none.error, none.largest), (None, None));
        let weighted = Forecasts::new(rows.into_iter()).calibration(1, &|row| row as f64);
        assert_eq!((weighted.bins[0].weight, weighted.bins[0].interval), (15.0, None));
        assert_eq!(weighted.bins[0].frequency, Some(13.0 / 15.0));
    }

    #[test]
    fn every_edge_is_in_the_bin_below() {
        for bins in 1..60 {
            for k in 1..=bins {
                let edge = k as f64 / bins as f64;
                let found = Forecasts::new([(edge, true)].into_iter()).calibration(bins, &|_| 1.0);
                assert_eq!(found.bins.iter().position(|bin| bin.rows == 1), Some(k - 1));
            }
        }
    }
}
