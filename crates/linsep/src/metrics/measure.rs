//! Metrics with their intervals, and whether one model does better than another on the same rows.
//!
//! | metric | 95 % interval |
//! |---|---|
//! | accuracy, top-k, precision and recall of one class | Wilson's |
//! | AUC of two classes | DeLong's |
//! | log loss, Brier | mean ± 1.96 standard errors |
//! | all others, and all of them where weights are fractions | percentiles of a bootstrap over the rows |
//!
//! The bootstrap draws as many rows as there are, with repetition and by a seed; draws in which the metric divides by
//! zero are left out and counted. Two models are compared row by row:
//!
//! | metric | paired test |
//! |---|---|
//! | accuracy | McNemar's exact test |
//! | AUC of two classes | DeLong's |
//! | what follows from counts, log loss, Brier | randomisation: each row's two predictions change places with probability one half |
//!
//! Other metrics have none here. References: Efron and Tibshirani 1993; DeLong et al. 1988; Noreen 1989.

use super::averages::Sums;
use super::metric::{Averaging, Metric};
use super::paired::mcnemar;
use super::predictions::{Predictions, Prepared, counted};
use super::wilson;
use linsep_data::parallel::parallel_map;
use linsep_data::rng::{Purpose, Stream};
use serde::Serialize;

/// How often rows are drawn again.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Resampling {
    /// Number of draws.
    pub draws: usize,
    /// The seed of all of them.
    pub seed: u64,
    /// Threads; they change no bit.
    pub threads: usize,
}

impl Resampling {
    /// So many draws on one thread.
    pub fn new(draws: usize, seed: u64) -> Resampling {
        Resampling { draws, seed, threads: 1 }
    }

    /// The same on so many threads.
    pub fn with_threads(self, threads: usize) -> Resampling {
        Resampling { threads, ..self }
    }
}

/// A metric on some rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Measure {
    /// Its name.
    pub metric: String,
    /// Its value, if it has one.
    pub value: Option<f64>,
    /// Why it has none, or what its value leaves out.
    pub note: Option<String>,
    /// The 95 % interval, if one was asked for and there is one.
    pub interval: Option<[f64; 2]>,
    /// How the interval was found.
    pub method: Option<&'static str>,
    /// Whether less is better.
    pub is_loss: bool,
}

const Z: f64 = 1.959963984540054;

impl Predictions {
    /// A metric, with its interval if there is a resampling for those that need one.
    pub fn measure(&self, metric: Metric, interval: Option<Resampling>) -> Measure {
        let mut found = Measure {
            metric: metric.to_string(),
            value: None,
            note: None,
            interval: None,
            method: None,
            is_loss: metric.is_loss(),
        };
        let prepared = match self.prepare(metric) {
            Ok(prepared) => prepared,
            Err(reason) => return Measure { note: Some(reason), ..found },
        };
        found.value = prepared.value(&|row| self.weights[row]);
        let Some(value) = found.value else {
            return Measure { note: Some(self.nothing(metric)), ..found };
        };
        found.note = self.note(metric);
        if let Some(resampling) = interval {
            (found.interval, found.method) = match self.known_interval(metric, &prepared, value) {
                Some((interval, method)) => (Some(interval), Some(method)),
                None => {
                    let (interval, lost) = self.bootstrap(&prepared, resampling);
                    if lost > 0 {
                        let words =
                            format!("in {lost} of {} draws it divided by zero", resampling.draws);
                        found.note = Some(
                            found.note.map_or(words.clone(), |note| format!("{note}; {words}")),
                        );
                    }
                    (interval, interval.map(|_| "bootstrap"))
                }
            };
        }
        found
    }

    /// What a value leaves out.
    fn note(&self, metric: Metric) -> Option<String> {
        use Metric::{Auc, AveragePrecision, BalancedAccuracy, LogLoss};
        let empty = self.empty_classes();
        match metric {
            LogLoss => match self.infinite_losses() {
                0 => None,
                rows => Some(format!(
                    "infinite but for clipping at 1e-15: {rows} of {} rows are of a class of probability 0",
                    self.n_rows()
                )),
            },
            Auc(_) | AveragePrecision(_) | BalancedAccuracy if !empty.is_empty() => {
                Some(format!("without classes that have no rows: {}", empty.join(", ")))
            }
            _ => None,
        }
    }

    /// The interval that is known for a metric, if rows are counted by whole weights.
    fn known_interval(
        &self,
        metric: Metric,
        prepared: &Prepared<'_>,
        value: f64,
    ) -> Option<([f64; 2], &'static str)> {
        if self.weights.iter().any(|weight| weight.fract() != 0.0) {
            return None;
        }
        let total: f64 = self.weights.iter().sum();
        let of = |counts: &dyn Fn(usize) -> bool| -> f64 {
            (0..self.n_rows()).filter(|row| counts(*row)).map(|row| self.weights[row]).sum()
        };
        let share =
            |right: f64, all: f64| Some((wilson(right.round() as u64, all as u64), "wilson"));
        match (metric, prepared) {
            (Metric::Accuracy | Metric::Top(_), _) => share(value * total, total),
            (Metric::Precision(Averaging::Positive), _) => {
                let all = of(&|row| self.predicted[row] == 1);
                share(value * all, all)
            }
            (Metric::Recall(Averaging::Positive), _) => {
                let all = of(&|row| self.truth[row] == 1);
                share(value * all, all)
            }
            (Metric::LogLoss | Metric::Brier, Prepared::Mean(values)) => {
                let square = |(v, w): (&f64, &f64)| w * (v - value).powi(2);
                let squares: f64 = values.iter().zip(&self.weights).map(square).sum();
                let error = (squares / (total - 1.0) / total).sqrt();
                let [low, high] = metric.range();
                let ends = [(value - Z * error).max(low), (value + Z * error).min(high)];
                error.is_finite().then_some((ends, "normal"))
            }
            (Metric::Auc(_), Prepared::Ranked { rankings, .. }) if rankings.len() == 1 => {
                let weight = |row: usize| self.weights[row];
                let ranking = &rankings[0].1;
                let placed = ranking.placements(&weight)?;
                let (_, variance) = ranking.delong(&|row| placed[row], &weight)?;
                let half = Z * variance.sqrt();
                Some(([(value - half).max(0.0), (value + half).min(1.0)], "delong"))
            }
            _ => None,
        }
    }

    /// Percentiles over draws of rows, and in how many draws there was no value.
    fn bootstrap(&self, prepared: &Prepared<'_>, how: Resampling) -> (Option<[f64; 2]>, usize) {
        let rows = self.n_rows();
        let draw = |draw: usize| {
            let mut stream = Stream::new(how.seed, Purpose::Resample(draw as u64));
            let mut times = vec![0u32; rows];
            (0..rows).for_each(|_| times[stream.below(rows as u64) as usize] += 1);
            prepared.value(&|row| f64::from(times[row]) * self.weights[row])
        };
        let mut found: Vec<f64> =
            parallel_map(how.draws, how.threads, draw).into_iter().flatten().collect();
        found.sort_unstable_by(f64::total_cmp);
        let lost = how.draws - found.len();
        let quantile = |q: f64| {
            let place = q * found.len().checked_sub(1)? as f64;
            let (low, high) = (found[place.floor() as usize], found[place.ceil() as usize]);
            Some(low + (high - low) * place.fract())
        };
        (quantile(0.025).zip(quantile(0.975)).map(|(low, high)| [low, high]), lost)
    }

    /// How likely so large a difference from other predictions of the same rows is if both are equally good, and the
    /// name of the test; none where there is no test or weights are not counts.
    pub fn against(
        &self,
        other: &Predictions,
        metric: Metric,
        how: Resampling,
    ) -> Option<(f64, &'static str)> {
        let whole = self.weights.iter().all(|weight| weight.fract() == 0.0);
        if !whole || self.truth != other.truth || self.weights != other.weights {
            return None;
        }
        let weight = |row: usize| self.weights[row];
        if metric == Metric::Accuracy {
            let right = |all: &Predictions, row: usize| all.truth[row] == all.predicted[row];
            let only = |a: &Predictions, b: &Predictions| {
                let rows = (0..self.n_rows()).filter(|row| right(a, *row) && !right(b, *row));
                rows.map(weight).sum::<f64>() as u64
            };
            return Some((mcnemar(only(self, other), only(other, self)), "mcnemar"));
        }
        match (self.prepare(metric).ok()?, other.prepare(metric).ok()?) {
            (Prepared::Ranked { rankings: a, .. }, Prepared::Ranked { rankings: b, .. })
                if matches!(metric, Metric::Auc(_)) && a.len() == 1 && b.len() == 1 =>
            {
                let (a, b) = (&a[0].1, &b[0].1);
                let placed = [a.placements(&weight)?, b.placements(&weight)?];
                let apart = |row: usize| placed[0][row] - placed[1][row];
                let (mean, variance) = a.delong(&apart, &weight)?;
                let p = if mean == 0.0 { 1.0 } else { two_sided(mean / variance.sqrt()) };
                Some((p, "delong"))
            }
            (Prepared::Mean(a), Prepared::Mean(b)) => {
                let apart: Vec<f64> = (0..a.len())
                    .map(|row| weight(row) * (a[row] - b[row]))
                    .filter(|d| *d != 0.0)
                    .collect();
                let observed = apart.iter().sum::<f64>().abs();
                let swapped = |stream: &mut Stream| {
                    let mut coins = Coins::default();
                    apart
                        .iter()
                        .map(|d| if coins.toss(stream) { *d } else { -d })
                        .sum::<f64>()
                        .abs()
                };
                Some((randomised(observed, how, &swapped), "randomisation"))
            }
            (Prepared::Counts { .. }, Prepared::Counts { .. }) => {
                let k = self.classes().len();
                let differ = |row: &usize| self.predicted[*row] != other.predicted[*row];
                let rows: Vec<usize> = (0..self.n_rows()).filter(differ).collect();
                let mut alike = Sums::new(k);
                for row in (0..self.n_rows()).filter(|row| !differ(row)) {
                    alike.add(self.truth[row] as usize, self.predicted[row] as usize, weight(row));
                }
                let apart = |swap: &mut dyn FnMut() -> bool| {
                    let mut sums = [alike.clone(), alike.clone()];
                    for &row in &rows {
                        let truth = self.truth[row] as usize;
                        let first = usize::from(swap());
                        sums[first].add(truth, self.predicted[row] as usize, weight(row));
                        sums[1 - first].add(truth, other.predicted[row] as usize, weight(row));
                    }
                    // A rate that divides by zero is the worst there is.
                    let [a, b] =
                        sums.map(|sums| counted(&sums, metric).unwrap_or(metric.range()[0]));
                    (a - b).abs()
                };
                let observed = apart(&mut || false);
                let swapped = |stream: &mut Stream| {
                    let mut coins = Coins::default();
                    apart(&mut || coins.toss(stream))
                };
                Some((randomised(observed, how, &swapped), "randomisation"))
            }
            _ => None,
        }
    }
}

/// Fair coins, 64 from each draw.
#[derive(Default)]
struct Coins {
    bits: u64,
    left: u32,
}

impl Coins {
    fn toss(&mut self, stream: &mut Stream) -> bool {
        if self.left == 0 {
            (self.bits, self.left) = (stream.bits(), 64);
        }
        let coin = self.bits & 1 == 1;
        (self.bits, self.left) = (self.bits >> 1, self.left - 1);
        coin
    }
}

/// (1 + draws at least as far apart) / (1 + draws); the observed one is one of the draws.
fn randomised(
    observed: f64,
    how: Resampling,
    swapped: &(dyn Fn(&mut Stream) -> f64 + Sync),
) -> f64 {
    // Sums of the same numbers in other orders differ by rounding.
    let reached = observed * (1.0 - 1e-12);
    let draw = |draw: usize| {
        let mut stream = Stream::new(how.seed, Purpose::Resample(draw as u64));
        swapped(&mut stream) >= reached
    };
    let count = parallel_map(how.draws, how.threads, draw).into_iter().filter(|far| *far).count();
    (1 + count) as f64 / (1 + how.draws) as f64
}

/// The probability of a normal number at least so far from 0.
fn two_sided(z: f64) -> f64 {
    erfc(z.abs() / std::f64::consts::SQRT_2)
}

/// The complementary error function for x of at least 0: its series below 2, its continued fraction above.
fn erfc(x: f64) -> f64 {
    if !x.is_finite() {
        return if x.is_nan() { f64::NAN } else { 0.0 };
    }
    let square = x * x;
    let root = std::f64::consts::PI.sqrt();
    if x < 2.0 {
        let (mut term, mut sum, mut n) = (x, x, 0.0);
        while term.abs() > 1e-17 * sum {
            n += 1.0;
            term *= 2.0 * square / (2.0 * n + 1.0);
            sum += term;
        }
        return 1.0 - 2.0 / root * (-square).exp() * sum;
    }
    let tail = (1..=60).rev().fold(0.0, |tail, k| 0.5 * f64::from(k) / (x + tail));
    (-square).exp() / root / (x + tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &str) -> Vec<String> {
        names.split(' ').map(String::from).collect()
    }

    /// Two classes: (truth, probability of the second, weight).
    fn two(rows: &[(u32, f64, f64)]) -> Predictions {
        let mut found = Predictions::new(&names("no yes"));
        for (truth, p, weight) in rows {
            let score = (p / (1.0 - p)).ln();
            found.add(*truth, u32::from(*p >= 0.5), &[score], &[1.0 - p, *p], *weight);
        }
        found
    }

    const ROWS: [(u32, f64, f64); 6] =
        [(0, 0.1, 1.0), (0, 0.4, 1.0), (0, 0.6, 1.0), (1, 0.4, 1.0), (1, 0.7, 1.0), (1, 0.9, 1.0)];

    #[test]
    fn metrics_by_hand() {
        let rows = two(&ROWS);
        let value = |name: &str| rows.value(name.parse().unwrap()).unwrap();
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-14, "{a} {b}");
        near(value("accuracy"), 4.0 / 6.0);
        near(value("precision"), 2.0 / 3.0);
        near(value("auc"), 7.5 / 9.0);
        near(value("brier"), (0.01 + 0.16 + 0.36 + 0.36 + 0.09 + 0.01) / 6.0);
        let losses = [0.9f64, 0.6, 0.4, 0.4, 0.7, 0.9].map(|p| -p.ln());
        near(value("log-loss"), losses.iter().sum::<f64>() / 6.0);
        near(value("mcc"), 1.0 / 3.0);
        near(value("top-1"), value("accuracy"));
        assert_eq!(value("top-2"), 1.0);
        // 0.4 twice, of which one is so; 0.1, 0.6, 0.7, 0.9 alone.
        near(value("calibration-error"), (0.1 + 2.0 * 0.1 + 0.6 + 0.3 + 0.1) / 6.0);
    }

    #[test]
    fn intervals_are_seeded_and_the_same_for_any_number_of_threads() {
        let rows = two(&ROWS.repeat(20));
        let how = Resampling::new(200, 3);
        for metric in Metric::all() {
            let found = rows.measure(metric, Some(how));
            assert_eq!(found, rows.measure(metric, Some(how.with_threads(4))));
            let ([low, high], value) = (found.interval.unwrap(), found.value.unwrap());
            assert!(low <= value + 1e-12 && value <= high + 1e-12, "{found:?}");
            assert!(high - low < 0.4 && (high > low || metric == Metric::Top(2)), "{found:?}");
        }
        let methods = |name: &str| rows.measure(name.parse().unwrap(), Some(how)).method.unwrap();
        let found = ["accuracy", "recall", "auc", "brier", "mcc", "average-precision"].map(methods);
        assert_eq!(found, ["wilson", "wilson", "delong", "normal", "bootstrap", "bootstrap"]);
        let fractions: Vec<_> = ROWS.iter().map(|(t, p, _)| (*t, *p, 0.5)).collect();
        assert_eq!(two(&fractions).measure(Metric::Accuracy, Some(how)).method, Some("bootstrap"));
    }

    #[test]
    fn what_has_no_value_says_why() {
        let alone = two(&[(1, 0.9, 1.0), (1, 1.0, 1.0)]);
        let why = |name: &str| alone.measure(name.parse().unwrap(), None).note.unwrap();
        assert!(why("auc").contains("every row is of class \"yes\""));
        assert!(why("mcc").contains("every row is of class"));
        assert!(why("kappa").contains("chance"));
        assert!(why("balanced-accuracy").contains("no rows: no"));
        let none = two(&[]);
        assert!(none.value(Metric::Accuracy).unwrap_err().contains("no rows"));
        let sure = two(&[(1, 0.0, 1.0), (0, 0.5, 1.0)]).measure(Metric::LogLoss, None);
        assert!(sure.value.unwrap().is_finite() && sure.note.unwrap().contains("1 of 2 rows"));
        let mut scores = Predictions::new(&names("a b c"));
        scores.add(0, 0, &[1.0, 0.5, 0.2], &[], 1.0);
        scores.add(2, 0, &[1.0, 0.5, 0.7], &[], 1.0);
        assert!(scores.value(Metric::Brier).unwrap_err().contains("no probabilities"));
        assert!(scores.value("recall".parse().unwrap()).unwrap_err().contains("recall-macro"));
        assert_eq!(scores.value(Metric::Top(2)), Ok(1.0));
        let auc = scores.measure("auc".parse().unwrap(), None);
        assert!(auc.value == Some(0.75) && auc.note.unwrap().contains("b"), "ties are half");
    }

    #[test]
    fn paired_tests() {
        let good = two(&ROWS.repeat(30));
        let bad: Vec<_> = ROWS.iter().map(|(t, p, w)| (*t, 1.0 - p, *w)).collect();
        let bad = two(&bad.repeat(30));
        let how = Resampling::new(999, 0);
        for name in ["accuracy", "auc", "log-loss", "brier", "mcc", "f1"] {
            let metric: Metric = name.parse().unwrap();
            let (p, _) = good.against(&bad, metric, how).unwrap();
            assert!(p <= 1.0 / 1000.0, "{name} {p}");
            assert_eq!(good.against(&good, metric, how).unwrap().0, 1.0);
            assert_eq!(
                good.against(&bad, metric, how),
                good.against(&bad, metric, how.with_threads(3))
            );
        }
        assert!(good.against(&bad, Metric::CalibrationError, how).is_none());
        // Three rows on which they differ: of eight swaps two are as far apart.
        let a = two(&[(1, 0.9, 1.0), (1, 0.8, 1.0), (0, 0.1, 1.0)]);
        let b = two(&[(1, 0.6, 1.0), (1, 0.6, 1.0), (0, 0.4, 1.0)]);
        let (p, name) = a.against(&b, Metric::LogLoss, Resampling::new(20_000, 0)).unwrap();
        assert!(name == "randomisation" && (p - 0.25).abs() < 0.01, "{p}");
    }

    #[test]
    fn the_normal_tail() {
        for (z, p) in [
            (0.0, 1.0),
            (1.0, 0.317310507862914),
            (1.959963984540054, 0.05),
            (3.5, 4.652581580710801e-4),
            (8.0, 1.2441921148543573e-15),
        ] {
            assert!((two_sided(z) - p).abs() < 1e-12 * p.max(1e-3), "{z}");
            assert!((two_sided(-z) / p - 1.0).abs() < 1e-9, "{z} {}", two_sided(z));
        }
    }
}
