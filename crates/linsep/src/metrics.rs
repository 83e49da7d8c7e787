//! How good a classifier is on rows whose class is known.
//!
//! All follows from the table of counts `n[t][p]`: rows of class `t` that were given class `p`.
//!
//! * accuracy = Σ `n[c][c]` / rows, with its Wilson score interval, which holds for few rows and
//!   near 0 and 1 too: `(p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n)`, z = 1.96 for 95 %;
//! * precision of `c` = `n[c][c]` / Σ over t of `n[t][c]`, recall = `n[c][c]` / Σ over p of
//!   `n[c][p]`, F1 = 2 tp / (2 tp + fp + fn);
//! * AUC of two classes = the share of pairs (+, -) whose + has the higher score, ties count half;
//! * log loss = the mean of `-ln p` with `p` the probability of the true class, clipped at 1e-15;
//! * Brier score = the mean of (p − y)², p the probability of the second class and y 1 for its rows; of K classes
//!   the mean of the sum over the classes;
//! * balanced accuracy, MCC, kappa and means over the classes: [`Averages`]; what needs every row: [`Predictions`].
//!
//! With row weights a row of weight w counts as w rows in every one of these. Whole weights give what the
//! repeated rows would give; of other weights no interval is known, since they say nothing about how many
//! rows were drawn.
//!
//! Sums over plain rows are sums of integers (losses in units of 2^-80), so they depend neither on
//! the order of the rows nor on how these were split and merged.

mod averages;
mod calibration;
mod confusion;
mod folds;
mod measure;
mod metric;
pub mod paired;
mod predictions;
mod ranking;
mod roc;

pub use averages::{Average, Averages};
pub use calibration::{Bin, Calibration};
pub use confusion::Confusion;
pub use folds::{CrossValidation, Fold};
pub use measure::{Measure, Resampling};
pub use metric::{Averaging, Metric};
pub use predictions::Predictions;
pub use ranking::CurvePoint;

use averages::Sums;
use confusion::Cell;
use linsep_data::error::{grouped, printable, readable};
use roc::{auc, auc_by_weight};
use serde::Serialize;
use std::iter::once;

/// What a [`Tally`] amounts to. `None` stands where a denominator would be zero.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Evaluation {
    /// The number of rows, whatever their weights.
    pub rows: u64,
    /// How many of them were given a wrong class.
    pub errors: u64,
    /// Rows and errors by weight, if some weight is not 1.
    pub weighted: Option<Weighted>,
    /// The share given the right class, by weight; NaN (`null` in JSON) without rows.
    pub accuracy: f64,
    /// The 95 % Wilson interval of the accuracy, unless weights are fractions.
    pub accuracy_interval: Option<[f64; 2]>,
    /// The class with the most rows by weight, and its share: the accuracy of always answering it.
    pub majority: Option<Majority>,
    /// The names of the classes, in the order of their numbers.
    pub classes: Vec<String>,
    /// Numbers of rows, by weight, by true and by predicted class.
    pub confusion: Confusion,
    /// The rates of each class.
    pub per_class: Vec<PerClass>,
    /// What the table says of all classes together.
    #[serde(flatten)]
    pub averages: Averages,
    /// Area under the ROC curve, if there are two classes, both occur, and every row has a score.
    pub auc: Option<f64>,
    /// The mean by weight of `-ln p`, `p` clipped at 1e-15, if every row has probabilities.
    pub log_loss: Option<f64>,
    /// Rows whose class has the probability 0 by the model: without clipping the log loss is infinite.
    pub infinite_losses: u64,
    /// The mean square of the distance between probabilities and what is, if every row has probabilities: of two
    /// classes (p − y)², of more the sum over the classes.
    pub brier: Option<f64>,
    /// Rows on which the machines of the model contradict each other, if it has several.
    pub ambiguous: Option<Ambiguous>,
}

/// Rows and errors, each row counted by its weight.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Weighted {
    /// The sum of the weights of all rows.
    pub rows: f64,
    /// The sum of the weights of the rows that were given a wrong class.
    pub errors: f64,
}

/// The answer that needs no model.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Majority {
    /// The class with the most rows; the first of several.
    pub class: String,
    /// Its share of the rows.
    pub accuracy: f64,
}

/// Rows that no binary classifier claims, or several: see [`crate::model::rule`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Ambiguous {
    /// How many there are.
    pub rows: u64,
    /// How many of them get a wrong class by the rule that resolves them.
    pub errors: u64,
}

/// The rates of one class. Each row counts by its weight, except in `rows`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PerClass {
    /// The name of the class.
    pub class: String,
    /// How many rows truly are of this class.
    pub rows: u64,
    /// The same by weight.
    pub support: f64,
    /// Of what was predicted as this class, the share that is.
    pub precision: Option<f64>,
    /// Of what is this class, the share that was predicted as such.
    pub recall: Option<f64>,
    /// The harmonic mean of precision and recall.
    pub f1: Option<f64>,
}

/// How many classes the text of an [`Evaluation`] shows.
pub const SHOWN_CLASSES: usize = 12;

impl Evaluation {
    /// "25 of 50 wrong, accuracy 50.00 % [36.64, 63.36]", by weight where rows have weights.
    pub fn summary(&self) -> String {
        let interval = self.accuracy_interval.map_or(String::new(), |[low, high]| {
            format!(" [{:.2}, {:.2}]", 100.0 * low, 100.0 * high)
        });
        let counted = shares(self.rows, self.errors, self.weighted);
        match self.accuracy.is_nan() {
            true => counted,
            false => format!("{counted}, accuracy {:.2} %{interval}", 100.0 * self.accuracy),
        }
    }

    /// What to say of a model that is no better than the answer that needs none.
    pub fn against_majority(&self) -> Option<String> {
        let Majority { class, accuracy } = self.majority.as_ref()?;
        let share = 100.0 * accuracy;
        let class = printable(class.as_bytes(), 24);
        match self.accuracy.partial_cmp(accuracy)? {
            std::cmp::Ordering::Less => Some(format!(
                "worse than always predicting the majority class \"{class}\" (accuracy {share:.2} %)"
            )),
            std::cmp::Ordering::Equal if *accuracy < 1.0 => {
                Some(format!("no better than always predicting the majority class \"{class}\""))
            }
            _ => None,
        }
    }

    /// "accuracy 96.00 %, MCC 0.9411, kappa 0.9400": what a rare class cannot hide in.
    fn balanced(&self) -> Option<String> {
        let Averages { balanced_accuracy, mcc, kappa, .. } = self.averages;
        let of =
            |value: Option<f64>| value.map_or("none".to_owned(), |value| format!("{value:.4}"));
        let accuracy = 100.0 * balanced_accuracy?;
        Some(format!("accuracy {accuracy:.2} %, MCC {}, kappa {}", of(mcc), of(kappa)))
    }

    /// Why two classes have no AUC, if one of them has no rows.
    fn without_auc(&self) -> Option<String> {
        let [a, b] = &self.per_class[..] else { return None };
        let alone = match (a.support > 0.0, b.support > 0.0) {
            (true, false) => &a.class,
            (false, true) => &b.class,
            _ => return None,
        };
        Some(format!("none: every row is of class \"{}\"", printable(alone.as_bytes(), 24)))
    }

    /// A table for people, of at most [`SHOWN_CLASSES`] classes.
    pub fn to_text(&self) -> String {
        let mut text = format!("errors      {}", self.summary());
        if self.accuracy_interval.is_some() && !self.accuracy.is_nan() {
            text += " (95 % Wilson)";
        }
        let auc = self.auc.map(|auc| format!("{auc:.6}"));
        let clipped = match self.infinite_losses {
            0 => "probabilities clipped at 1e-15".to_owned(),
            rows => format!(
                "clipped at 1e-15, else infinite: {} of a class of probability 0",
                rows_of(rows)
            ),
        };
        let loss = self.log_loss.map(|loss| format!("{loss:.6} ({clipped})"));
        let brier = self.brier.map(|brier| format!("{brier:.6}"));
        let lines = [
            ("majority", self.against_majority()),
            ("balanced", self.balanced()),
            ("auc", auc.or_else(|| self.without_auc())),
            ("log loss", loss),
            ("brier", brier),
        ];
        for (label, value) in lines {
            text += &value.map_or(String::new(), |value| format!("\n{label:12}{value}"));
        }
        if let Some(Ambiguous { rows, errors }) = self.ambiguous {
            let share = ratio(100.0 * rows as f64, self.rows as f64).unwrap_or(0.0);
            text += &format!(
                "\nambiguous   {rows} of {} ({share:.2} %), {errors} of them wrong when resolved",
                self.rows
            );
        }
        let names =
            self.classes.iter().take(SHOWN_CLASSES).map(|name| printable(name.as_bytes(), 24));
        let mut counts = vec![once("true \\ predicted".into()).chain(names.clone()).collect()];
        let head = match self.weighted {
            Some(_) => "class weight precision recall f1",
            None => "class rows precision recall f1",
        };
        let mut rates = vec![head.split(' ').map(String::from).collect()];
        let cell = |rate: Option<f64>| rate.map_or("-".into(), |rate| format!("{rate:.4}"));
        for ((truth, name), class) in (0..).zip(names).zip(&self.per_class) {
            let row = self.confusion.line(truth).take(SHOWN_CLASSES);
            let row = row.map(amount);
            counts.push(once(name.clone()).chain(row).collect());
            let cells = [class.precision, class.recall, class.f1].map(cell);
            rates.push([name, amount(class.support)].into_iter().chain(cells).collect());
        }
        let Averages { over_classes, weighted, .. } = self.averages;
        let means = [("macro mean", over_classes), ("weighted mean", weighted)];
        for (name, mean) in means.into_iter().filter(|_| self.rows > 0) {
            let total = self.per_class.iter().map(|class| class.support).sum();
            let cells = [mean.precision, mean.recall, mean.f1].map(cell);
            rates.push([name.to_owned(), amount(total)].into_iter().chain(cells).collect());
        }
        text += &format!("\n\n{}\n{}", table(&counts), table(&rates));
        if let more @ 1.. = self.classes.len().saturating_sub(SHOWN_CLASSES) {
            text += &format!("\n{more} more classes\n");
        }
        text
    }
}

/// "25 of 50 wrong", or by weight "1,350.5 of 3,918 wrong by weight (25 of 50 rows)".
fn shares(rows: u64, errors: u64, weighted: Option<Weighted>) -> String {
    let counted = format!("{} of {}", grouped(errors), grouped(rows));
    match weighted {
        None => format!("{counted} wrong"),
        Some(Weighted { rows, errors }) => format!(
            "{} of {} wrong by weight ({counted} rows)",
            grouped_amount(errors),
            grouped_amount(rows)
        ),
    }
}

/// "1 row", "12 rows".
fn rows_of(rows: u64) -> String {
    format!("{} row{}", grouped(rows), if rows == 1 { "" } else { "s" })
}

/// A sum of weights: whole as a rule.
fn amount(weight: f64) -> String {
    readable(weight, 15.min(weight.log10().max(0.0) as usize + 4))
}

/// A sum of weights for people: whole ones by groups of three digits.
#[doc(hidden)]
pub fn grouped_amount(weight: f64) -> String {
    match weight.fract() == 0.0 && weight < 1e15 {
        true => grouped(weight as u64),
        false => amount(weight),
    }
}

/// Lines of aligned columns, the first one flush left and the others flush right.
fn table(rows: &[Vec<String>]) -> String {
    let cell = |row: &[String], column: usize| {
        let width = rows.iter().filter_map(|row| Some(row.get(column)?.chars().count())).max();
        let (text, width) = (&row[column], width.unwrap_or(0));
        if column == 0 { format!("{text:width$}") } else { format!("  {text:>width$}") }
    };
    let line = |row: &Vec<String>| (0..row.len()).map(|c| cell(row, c)).collect::<String>();
    rows.iter().map(|row| format!("{}\n", line(row).trim_end())).collect()
}

/// Collects predictions row by row.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    classes: Vec<String>,
    counts: Confusion,
    /// The scores of the negative and of the positive rows, if there are two classes.
    scores: [Vec<f64>; 2],
    /// Their weights, from the first one that is not 1.
    weights: [Vec<f64>; 2],
    /// How many rows had no (usable) probabilities, and the sum of the losses of the others.
    without_loss: u64,
    loss: u128,
    /// The same sum by weight, and whether weights differ.
    weighted_loss: f64,
    /// Rows whose class has the probability 0.
    infinite: u64,
    /// Sums of the squares of Brier's score, as those of the losses.
    squares: u128,
    weighted_squares: f64,
    weighted: bool,
    /// Whether some weight is no whole number.
    fractions: bool,
    ambiguous: Option<Ambiguous>,
    /// Whether scores and probabilities are left alone.
    classes_only: bool,
    /// Every row, if it is to be kept.
    kept: Option<Predictions>,
    /// Room for the probabilities of a row.
    pub(crate) probabilities: Vec<f64>,
}

impl Tally {
    /// An empty tally for these classes.
    pub fn new(classes: &[String]) -> Tally {
        let counts = Confusion::new(classes.len());
        Tally { classes: classes.to_vec(), counts, ..Tally::default() }
    }

    /// Adds one row. Without weights `weight` is 1.
    ///
    /// With two classes `scores` is the one raw score of class 1, which is kept for the AUC (8 bytes
    /// a row); with more classes it is not used. `probabilities` has one entry for each class, or
    /// with two classes just that of class 1.
    ///
    /// # Panics
    /// If `truth` or `predicted` is not the number of a class.
    pub fn add(
        &mut self,
        truth: u32,
        predicted: u32,
        scores: &[f64],
        probabilities: Option<&[f64]>,
        weight: f64,
    ) {
        self.counts.add(truth, predicted, Cell { rows: 1, weight });
        let truth = truth as usize;
        self.weighted |= weight != 1.0;
        self.fractions |= weight.fract() != 0.0;
        if self.classes_only {
            self.without_loss += 1;
            return;
        }
        let score = if self.classes.len() == 2 { scores.first() } else { None };
        if let Some(&score) = score.filter(|score| !score.is_nan()) {
            let side = truth.min(1);
            if self.weighted {
                self.weights[side].resize(self.scores[side].len(), 1.0);
                self.weights[side].push(weight);
            }
            self.scores[side].push(score);
        }
        let probabilities = probabilities.unwrap_or(&[]);
        if let Some(kept) = &mut self.kept {
            kept.add(truth as u32, predicted, scores, probabilities, weight);
        }
        let Some((loss, sure)) = loss(truth, probabilities) else {
            self.without_loss += 1;
            return;
        };
        let square = brier(truth, probabilities);
        self.infinite += u64::from(sure);
        self.loss += (loss * LOSS_UNITS).round() as u128;
        self.squares += (square * LOSS_UNITS).round() as u128;
        self.weighted_loss += loss * weight;
        self.weighted_squares += square * weight;
    }

    /// Counts predicted classes alone: no AUC, log loss or Brier score, and nothing is kept of a row.
    pub fn of_classes_only(self) -> Tally {
        Tally { classes_only: true, ..self }
    }

    pub(crate) fn has_classes_only(&self) -> bool {
        self.classes_only
    }

    /// Keeps every row too, for the metrics that need them: 16 bytes a row and 8 for each score and probability.
    pub fn keeping_rows(mut self) -> Tally {
        self.kept = Some(Predictions::new(&self.classes));
        self
    }

    /// The rows, if they were kept.
    pub fn take_rows(&mut self) -> Option<Predictions> {
        self.kept.take()
    }

    /// Counts ambiguous rows too.
    pub fn with_ambiguity(self) -> Tally {
        Tally { ambiguous: Some(Ambiguous::default()), ..self }
    }

    /// Notes that the row added last is ambiguous, and whether it got a wrong class.
    pub fn add_ambiguous(&mut self, wrong: bool) {
        let ambiguous = self.ambiguous.get_or_insert_default();
        ambiguous.rows += 1;
        ambiguous.errors += u64::from(wrong);
    }

    /// Adds what another tally has collected. Panics if it is not one of the same classes.
    pub fn merge(mut self, mut other: Tally) -> Tally {
        assert_eq!(self.classes, other.classes, "tallies of different classes");
        self.counts.merge(&other.counts);
        self.weighted |= other.weighted;
        self.fractions |= other.fractions;
        if self.weighted {
            self.fill_weights();
            other.fill_weights();
            self.weights.iter_mut().zip(&mut other.weights).for_each(|(a, b)| a.append(b));
        }
        self.scores.iter_mut().zip(&mut other.scores).for_each(|(a, b)| a.append(b));
        self.without_loss += other.without_loss;
        self.loss += other.loss;
        self.weighted_loss += other.weighted_loss;
        self.infinite += other.infinite;
        self.squares += other.squares;
        self.weighted_squares += other.weighted_squares;
        if let (Some(kept), Some(more)) = (&mut self.kept, other.kept) {
            kept.append(more);
        }
        if let Some(other) = other.ambiguous {
            let ambiguous = self.ambiguous.get_or_insert_default();
            ambiguous.rows += other.rows;
            ambiguous.errors += other.errors;
        }
        self
    }

    /// Rows before the first weight that is not 1 weigh 1.
    fn fill_weights(&mut self) {
        for (weights, scores) in self.weights.iter_mut().zip(&self.scores) {
            weights.resize(scores.len(), 1.0);
        }
    }

    /// Draws the sums.
    pub fn finish(mut self) -> Evaluation {
        let k = self.classes.len();
        let (mut rows, mut right, mut weight, mut right_weight) = (0, 0, 0.0, 0.0);
        let (mut of_class, mut sums) = (vec![Cell::default(); k], Sums::new(k));
        for (truth, predicted, cell) in self.counts.cells() {
            rows += cell.rows;
            weight += cell.weight;
            of_class[truth as usize].rows += cell.rows;
            of_class[truth as usize].weight += cell.weight;
            sums.add(truth as usize, predicted as usize, cell.weight);
            if truth == predicted {
                right += cell.rows;
                right_weight += cell.weight;
            }
        }
        let scored = (self.scores[0].len() + self.scores[1].len()) as u64 == rows;
        let mean = |exact: u128, by_weight: f64| {
            let sum = if self.weighted { by_weight } else { exact as f64 / LOSS_UNITS };
            ratio(sum, weight).filter(|_| self.without_loss == 0)
        };
        let log_loss = mean(self.loss, self.weighted_loss);
        let brier = mean(self.squares, self.weighted_squares);
        let rates = |(c, class): (usize, &String)| {
            let (hits, truth, predicted) = (sums.hits[c], sums.truth[c], sums.predicted[c]);
            PerClass {
                class: class.clone(),
                rows: of_class[c].rows,
                support: truth,
                precision: ratio(hits, predicted),
                recall: ratio(hits, truth),
                f1: ratio(2.0 * hits, truth + predicted),
            }
        };
        // Rows without a weight count by themselves, so that their sum is exact beyond 2^53 too.
        let (all, hit) = match self.weighted {
            true => (weight, right_weight),
            false => (rows as f64, right as f64),
        };
        let most = of_class.iter().map(|cell| cell.weight).fold(0.0, f64::max);
        let majority = of_class.iter().position(|cell| cell.weight == most && most > 0.0);
        self.fill_weights();
        let scores = if self.weighted {
            auc_by_weight(&self.scores, &self.weights)
        } else {
            auc(&mut self.scores)
        };
        Evaluation {
            rows,
            errors: rows - right,
            weighted: self
                .weighted
                .then_some(Weighted { rows: weight, errors: weight - right_weight }),
            accuracy: hit / all,
            accuracy_interval: (!self.fractions).then(|| wilson(hit as u64, all as u64)),
            majority: majority
                .map(|c| Majority { class: self.classes[c].clone(), accuracy: most / all }),
            per_class: self.classes.iter().enumerate().map(rates).collect(),
            averages: sums.averages(),
            auc: scores.filter(|_| scored),
            log_loss,
            infinite_losses: self.infinite,
            brier,
            ambiguous: self.ambiguous,
            classes: self.classes,
            confusion: self.counts,
        }
    }
}

/// Losses are at most 34.6 and so below 2^86 units; 2^42 rows fit.
const LOSS_UNITS: f64 = (1u128 << 80) as f64;

/// The clipped loss, and whether it would be infinite without.
fn loss(truth: usize, probabilities: &[f64]) -> Option<(f64, bool)> {
    let p = match (probabilities, truth) {
        (&[p], 0) => 1.0 - p,
        (&[p], 1) => p,
        _ => *probabilities.get(truth)?,
    };
    (!p.is_nan()).then(|| (-p.clamp(1e-15, 1.0).ln(), p <= 0.0))
}

/// (p − y)² for two classes, else summed over the classes; at most 2.
fn brier(truth: usize, probabilities: &[f64]) -> f64 {
    let own = |class: usize| f64::from(u8::from(class == truth));
    let sum = match *probabilities {
        [p] | [_, p] => (p - own(1)).powi(2),
        _ => probabilities.iter().enumerate().map(|(class, p)| (p - own(class)).powi(2)).sum(),
    };
    sum.clamp(0.0, 2.0)
}

fn ratio(part: f64, whole: f64) -> Option<f64> {
    Some(part / whole).filter(|ratio| ratio.is_finite())
}

/// The 95 % Wilson score interval of a rate; `[0, 1]` if nothing was tried.
pub fn wilson(successes: u64, n: u64) -> [f64; 2] {
    const Z: f64 = 1.959963984540054;
    let (rows, right, zz) = (n as f64, successes.min(n) as f64, Z * Z);
    let half = Z * (right * (rows - right) / rows.max(1.0) + zz / 4.0).sqrt();
    // At the ends of the scale the formula gives 0 and 1 but for rounding.
    let low = if successes == 0 { 0.0 } else { (right + zz / 2.0 - half) / (rows + zz) };
    let high = if successes >= n { 1.0 } else { (right + zz / 2.0 + half) / (rows + zz) };
    [low, high]
}

#[cfg(test)]
mod tests;
