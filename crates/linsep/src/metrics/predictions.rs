//! Rows with what a model said of them, for the metrics that need every row: curves, calibration, intervals.
//!
//! An [`Evaluation`](super::Evaluation) counts and forgets; this keeps class, prediction, weight, scores and
//! probabilities of each row. Of K classes curves and areas are those of each class against the rest, by its
//! probability, or by its score where there are none; their means are over the classes that have rows.

use super::averages::Sums;
use super::calibration::{Calibration, Forecasts};
use super::metric::{Averaging, Metric};
use super::ranking::{CurvePoint, Ranking};
use super::{brier, loss, ratio};

/// Rows whose class is known, with what a model says of them.
#[derive(Clone, Debug, Default)]
pub struct Predictions {
    classes: Vec<String>,
    pub(super) truth: Vec<u32>,
    pub(super) predicted: Vec<u32>,
    pub(super) weights: Vec<f64>,
    /// Scores of each row.
    width: usize,
    scores: Vec<f64>,
    /// Probabilities of each row; none if some row has none.
    probabilities: Option<Vec<f64>>,
}

impl Predictions {
    /// No rows yet.
    pub fn new(classes: &[String]) -> Predictions {
        Predictions {
            classes: classes.to_vec(),
            probabilities: Some(Vec::new()),
            ..Predictions::default()
        }
    }

    /// Adds a row, as [`Tally::add`](super::Tally::add) does. Scores and probabilities may be empty, but then are for
    /// all rows; probabilities are one for each class.
    pub fn add(
        &mut self,
        truth: u32,
        predicted: u32,
        scores: &[f64],
        probabilities: &[f64],
        weight: f64,
    ) {
        self.truth.push(truth);
        self.predicted.push(predicted);
        self.weights.push(weight);
        self.width = scores.len();
        self.scores.extend_from_slice(scores);
        let usable = probabilities.len() == self.classes.len()
            && probabilities.iter().all(|p| (0.0..=1.0).contains(p));
        match (&mut self.probabilities, usable) {
            (Some(all), true) => all.extend_from_slice(probabilities),
            (place, _) => *place = None,
        }
    }

    /// Adds the rows of another list behind those of this one.
    pub fn append(&mut self, mut other: Predictions) {
        self.truth.append(&mut other.truth);
        self.predicted.append(&mut other.predicted);
        self.weights.append(&mut other.weights);
        self.width = self.width.max(other.width);
        self.scores.append(&mut other.scores);
        match (&mut self.probabilities, other.probabilities) {
            (Some(all), Some(mut more)) => all.append(&mut more),
            (place, _) => *place = None,
        }
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.truth.len()
    }

    /// The names of the classes.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// Whether every row has probabilities.
    pub fn has_probabilities(&self) -> bool {
        self.probabilities.is_some()
    }

    /// The true classes, as numbers.
    pub fn truth(&self) -> &[u32] {
        &self.truth
    }

    /// The predicted classes, as numbers.
    pub fn predicted(&self) -> &[u32] {
        &self.predicted
    }

    /// The weights.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The one score of each row of two classes.
    pub fn scores_of_two(&self) -> Option<&[f64]> {
        let one = self.classes.len() == 2 && self.width == 1;
        (one && self.scores.len() == self.n_rows()).then_some(&self.scores)
    }

    /// The value of a metric, or why there is none.
    pub fn value(&self, metric: Metric) -> Result<f64, String> {
        let prepared = self.prepare(metric)?;
        prepared.value(&|row| self.weights[row]).ok_or_else(|| self.nothing(metric))
    }

    /// The ROC curve of a class against the rest, from (0, 0) to (1, 1).
    pub fn roc(&self, class: usize) -> Result<Vec<CurvePoint>, String> {
        let curve = self.ranking(class)?.roc(&|row| self.weights[row]);
        curve.ok_or_else(|| self.one_sided(class))
    }

    /// The precision-recall curve of a class against the rest, by rising recall.
    pub fn precision_recall(&self, class: usize) -> Result<Vec<CurvePoint>, String> {
        let curve = self.ranking(class)?.precision_recall(&|row| self.weights[row]);
        curve.ok_or_else(|| self.one_sided(class))
    }

    /// Area under the ROC curve and average precision of a class against the rest.
    pub fn areas(&self, class: usize) -> Result<(f64, f64), String> {
        let areas = self.ranking(class)?.areas(&|row| self.weights[row]);
        areas.ok_or_else(|| self.one_sided(class))
    }

    /// Probabilities against frequencies in bins of equal width: of two classes the probability of the second, of
    /// more that of the most probable one.
    pub fn calibration(&self, bins: usize) -> Result<Calibration, String> {
        Ok(self.forecasts()?.calibration(bins, &|row| self.weights[row]))
    }

    /// The classes without rows.
    pub fn empty_classes(&self) -> Vec<&str> {
        let mut found = vec![false; self.classes.len()];
        let rows = self.truth.iter().zip(&self.weights).filter(|(_, weight)| **weight > 0.0);
        rows.for_each(|(class, _)| found[*class as usize] = true);
        let names = self.classes.iter().zip(found).filter(|(_, found)| !found);
        names.map(|(name, _)| name.as_str()).collect()
    }

    /// How many rows are of a class to which the model gives the probability 0: their log loss is infinite.
    pub fn infinite_losses(&self) -> usize {
        let own = |(row, class): (usize, &u32)| Some(self.probabilities_of(row)?[*class as usize]);
        self.truth.iter().enumerate().filter(|pair| own(*pair) == Some(0.0)).count()
    }

    fn probabilities_of(&self, row: usize) -> Option<&[f64]> {
        let k = self.classes.len();
        self.probabilities.as_ref()?.get(row * k..(row + 1) * k)
    }

    fn forecasts(&self) -> Result<Forecasts, String> {
        if self.probabilities.is_none() {
            return Err(NO_PROBABILITIES.into());
        }
        let two = self.classes.len() == 2;
        let row = |row: usize| {
            let p = self.probabilities_of(row).unwrap_or(&[]);
            let truth = self.truth[row] as usize;
            match two {
                true => (p[1], truth == 1),
                false => {
                    let top = first_highest(p);
                    (p[top], truth == top)
                }
            }
        };
        Ok(Forecasts::new((0..self.n_rows()).map(row)))
    }

    /// Rows ranked by how much speaks for a class.
    pub(super) fn ranking(&self, class: usize) -> Result<Ranking, String> {
        let (rows, k) = (self.n_rows(), self.classes.len());
        let scores: Vec<f64> = if let Some(scores) = self.scores_of_two() {
            scores.iter().map(|score| if class == 1 { *score } else { -score }).collect()
        } else if let Some(all) = &self.probabilities {
            (0..rows).map(|row| all[row * k + class]).collect()
        } else if self.width == k && self.scores.len() == rows * k {
            (0..rows).map(|row| self.scores[row * k + class]).collect()
        } else {
            return Err("the model has neither probabilities nor a score for each class".into());
        };
        match scores.iter().any(|score| score.is_nan()) {
            true => Err("some row has a score that is not a number".into()),
            false => {
                let own = self.truth.iter().map(|truth| *truth as usize == class).collect();
                Ok(Ranking::new(scores, own))
            }
        }
    }

    /// What a metric needs of every row, so that it can be had for many weights of the rows.
    pub(super) fn prepare(&self, metric: Metric) -> Result<Prepared<'_>, String> {
        let k = self.classes.len();
        let rows = 0..self.n_rows();
        let positive = |averaging: Averaging| match averaging {
            Averaging::Positive if k != 2 => Err(format!(
                "{metric} is of the second of two classes; of {k} say {metric}-macro or {metric}-weighted"
            )),
            _ => Ok(()),
        };
        match metric {
            Metric::Accuracy => {
                let right =
                    |row: usize| f64::from(u8::from(self.truth[row] == self.predicted[row]));
                return Ok(Prepared::Mean(rows.map(right).collect()));
            }
            Metric::Precision(averaging) | Metric::Recall(averaging) | Metric::F1(averaging) => {
                positive(averaging)?;
            }
            Metric::BalancedAccuracy | Metric::Mcc | Metric::Kappa => {}
            Metric::Auc(averaging) | Metric::AveragePrecision(averaging) => {
                let area = matches!(metric, Metric::Auc(_));
                let of = if k == 2 { 1..2 } else { 0..k };
                let ranked = of.map(|class| Ok((class, self.ranking(class)?)));
                let rankings = ranked.collect::<Result<Vec<_>, String>>()?;
                let weighted = averaging == Averaging::Weighted;
                return Ok(Prepared::Ranked { rows: self, rankings, area, weighted });
            }
            Metric::LogLoss | Metric::Brier => {
                if self.probabilities.is_none() {
                    return Err(NO_PROBABILITIES.into());
                }
                let value = |row: usize| {
                    let p = self.probabilities_of(row).unwrap_or(&[]);
                    let truth = self.truth[row] as usize;
                    match metric {
                        Metric::LogLoss => loss(truth, p).map_or(0.0, |(loss, _)| loss),
                        _ => brier(truth, p),
                    }
                };
                return Ok(Prepared::Mean(rows.map(value).collect()));
            }
            Metric::CalibrationError => return Ok(Prepared::Calibration(self.forecasts()?)),
            Metric::Top(top) => {
                let values = rows.map(|row| self.is_in_top(row, top)).collect::<Option<_>>();
                let missing = "the model has neither probabilities nor a score for each class";
                return values.map(Prepared::Mean).ok_or_else(|| missing.to_owned());
            }
        }
        Ok(Prepared::Counts { rows: self, metric })
    }

    /// Whether the class of a row is among so many that the model likes best; of equal ones the earlier.
    fn is_in_top(&self, row: usize, top: usize) -> Option<f64> {
        let k = self.classes.len();
        let truth = self.truth[row] as usize;
        let before = |likes: &[f64]| {
            let better = |(class, p): (usize, &f64)| {
                *p > likes[truth] || (*p == likes[truth] && class < truth)
            };
            likes.iter().enumerate().filter(|pair| better(*pair)).count()
        };
        let rank = match (self.probabilities_of(row), self.scores_of_two()) {
            (_, Some(scores)) => usize::from((scores[row] >= 0.0) != (truth == 1)),
            (Some(p), None) => before(p),
            (None, None) if self.width == k => before(self.scores.get(row * k..(row + 1) * k)?),
            _ => return None,
        };
        Some(f64::from(u8::from(rank < top)))
    }

    /// Why there is no number although nothing is missing.
    pub(super) fn nothing(&self, metric: Metric) -> String {
        let empty = self.empty_classes();
        let some: Vec<&String> =
            self.classes.iter().filter(|name| !empty.contains(&name.as_str())).collect();
        match (&some[..], metric) {
            ([], _) => "there are no rows".into(),
            ([one], Metric::Auc(_) | Metric::Mcc) => {
                format!("every row is of class \"{one}\"")
            }
            (_, Metric::Mcc | Metric::Precision(_)) => {
                "it divides by zero: no row, or every row, was given the class that counts".into()
            }
            (_, Metric::Kappa) => "chance alone agrees on every row".into(),
            (_, Metric::Recall(_) | Metric::F1(_) | Metric::AveragePrecision(_)) => {
                format!("no row is of class \"{}\"", empty.first().unwrap_or(&""))
            }
            _ => "it divides by zero".into(),
        }
    }

    fn one_sided(&self, class: usize) -> String {
        let name = &self.classes[class];
        match self.empty_classes().contains(&name.as_str()) {
            true => format!("no row is of class \"{name}\""),
            false => format!("every row is of class \"{name}\""),
        }
    }
}

const NO_PROBABILITIES: &str = "the model has no probabilities";

fn first_highest(p: &[f64]) -> usize {
    (0..p.len()).fold(0, |best, class| if p[class] > p[best] { class } else { best })
}

/// A metric of rows whose weights are still open.
pub(super) enum Prepared<'a> {
    /// The mean of a number for each row.
    Mean(Vec<f64>),
    /// What follows from the table of counts.
    Counts { rows: &'a Predictions, metric: Metric },
    /// Areas of curves, the mean over several classes.
    Ranked { rows: &'a Predictions, rankings: Vec<(usize, Ranking)>, area: bool, weighted: bool },
    /// Probabilities against frequencies.
    Calibration(Forecasts),
}

impl Prepared<'_> {
    pub(super) fn value(&self, weight: &dyn Fn(usize) -> f64) -> Option<f64> {
        match self {
            Prepared::Mean(values) => {
                let sum: f64 = values.iter().enumerate().map(|(row, v)| v * weight(row)).sum();
                ratio(sum, (0..values.len()).map(weight).sum())
            }
            Prepared::Counts { rows, metric } => {
                let mut sums = Sums::new(rows.classes.len());
                for (row, (t, p)) in rows.truth.iter().zip(&rows.predicted).enumerate() {
                    sums.add(*t as usize, *p as usize, weight(row));
                }
                counted(&sums, *metric)
            }
            Prepared::Ranked { rows, rankings, area, weighted } => {
                let (mut sum, mut total) = (0.0, 0.0);
                for (class, ranking) in rankings {
                    let Some((roc, precision)) = ranking.areas(weight) else { continue };
                    let own = rows.truth.iter().enumerate();
                    let own = own.filter(|(_, truth)| **truth as usize == *class);
                    let share = if *weighted { own.map(|(row, _)| weight(row)).sum() } else { 1.0 };
                    sum += share * if *area { roc } else { precision };
                    total += share;
                }
                ratio(sum, total)
            }
            Prepared::Calibration(forecasts) => {
                forecasts.calibration(super::calibration::BINS, weight).error
            }
        }
    }
}

/// A metric of the table of counts.
pub(super) fn counted(sums: &Sums, metric: Metric) -> Option<f64> {
    let averages = sums.averages();
    let one = |averaging: Averaging| match averaging {
        Averaging::Macro => averages.over_classes,
        _ => averages.weighted,
    };
    let Sums { truth, predicted, hits } = sums;
    match metric {
        Metric::Precision(Averaging::Positive) => ratio(hits[1], predicted[1]),
        Metric::Recall(Averaging::Positive) => ratio(hits[1], truth[1]),
        Metric::F1(Averaging::Positive) => ratio(2.0 * hits[1], truth[1] + predicted[1]),
        Metric::Precision(averaging) => one(averaging).precision,
        Metric::Recall(averaging) => one(averaging).recall,
        Metric::F1(averaging) => one(averaging).f1,
        Metric::BalancedAccuracy => averages.balanced_accuracy,
        Metric::Mcc => averages.mcc,
        Metric::Kappa => averages.kappa,
        _ => averages.micro.recall,
    }
}
