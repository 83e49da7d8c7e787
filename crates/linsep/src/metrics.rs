//! How good a classifier is on rows whose class is known.
//!
//! All follows from the table of counts `n[t][p]`: rows of class `t` that were given class `p`.
//!
//! * accuracy = Σ `n[c][c]` / rows, with its Wilson score interval, which holds for few rows and
//!   near 0 and 1 too: `(p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n)`, z = 1.96 for 95 %;
//! * precision of `c` = `n[c][c]` / Σ over t of `n[t][c]`, recall = `n[c][c]` / Σ over p of
//!   `n[c][p]`, F1 = 2 tp / (2 tp + fp + fn);
//! * AUC of two classes = the share of pairs (+, -) whose + has the higher score, ties count half;
//! * log loss = the mean of `-ln p` with `p` the probability of the true class, clipped at 1e-15.
//!
//! Sums over plain rows are sums of integers (losses in units of 2^-80), so they depend neither on
//! the order of the rows nor on how these were split and merged.

mod confusion;
pub mod paired;

pub use confusion::Confusion;

use confusion::Cell;
use linsep_data::error::printable;
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
    /// The share of rows given the right class; NaN (`null` in JSON) without rows.
    pub accuracy: f64,
    /// The 95 % Wilson interval of the accuracy.
    pub accuracy_interval: [f64; 2],
    /// The accuracy with each row counted by its weight, if some weight is not 1.
    pub weighted_accuracy: Option<f64>,
    /// The names of the classes, in the order of their numbers.
    pub classes: Vec<String>,
    /// Numbers of rows by true and by predicted class.
    pub confusion: Confusion,
    /// The rates of each class.
    pub per_class: Vec<PerClass>,
    /// Area under the ROC curve, if there are two classes, both occur, and every row has a score.
    pub auc: Option<f64>,
    /// The mean by weight of `-ln p`, `p` clipped at 1e-15, if every row has probabilities.
    pub log_loss: Option<f64>,
    /// Rows on which the machines of the model contradict each other, if it has several.
    pub ambiguous: Option<Ambiguous>,
}

/// Rows that no machine claims, or several: see [`crate::model::rule`].
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
    /// A table for people, of at most [`SHOWN_CLASSES`] classes.
    pub fn to_text(&self) -> String {
        let mut text = format!("errors      {} of {}", self.errors, self.rows);
        if self.rows > 0 {
            let [low, high] = self.accuracy_interval.map(|rate| 100.0 * rate);
            let right = 100.0 * self.accuracy;
            text += &format!(" ({:.2} %), accuracy {right:.2} %", 100.0 - right);
            text += &format!(" [{low:.2}, {high:.2}] (95 % Wilson)");
        }
        let weighted = self.weighted_accuracy.map(|rate| format!("accuracy {:.2} %", 100.0 * rate));
        let auc = self.auc.map(|auc| format!("{auc:.6}"));
        let loss = self.log_loss.map(|loss| format!("{loss:.6} (probabilities clipped at 1e-15)"));
        for (label, value) in [("weighted", weighted), ("auc", auc), ("log loss", loss)] {
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
        let mut rates =
            vec!["class rows precision recall f1".split(' ').map(String::from).collect()];
        let cell = |rate: Option<f64>| rate.map_or("-".into(), |rate| format!("{rate:.4}"));
        for ((truth, name), class) in (0..).zip(names).zip(&self.per_class) {
            let row = self.confusion.line(truth).take(SHOWN_CLASSES);
            let row = row.map(|rows| rows.to_string());
            counts.push(once(name.clone()).chain(row).collect());
            let cells = [class.precision, class.recall, class.f1].map(cell);
            rates.push([name, class.rows.to_string()].into_iter().chain(cells).collect());
        }
        text += &format!("\n\n{}\n{}", table(&counts), table(&rates));
        if let more @ 1.. = self.classes.len().saturating_sub(SHOWN_CLASSES) {
            text += &format!("\n{more} more classes\n");
        }
        text
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
    /// How many rows had no (usable) probabilities, and the sum of the losses of the others.
    without_loss: u64,
    loss: u128,
    /// The same sum by weight, and whether weights differ.
    weighted_loss: f64,
    weighted: bool,
    ambiguous: Option<Ambiguous>,
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
        let score = if self.classes.len() == 2 { scores.first() } else { None };
        self.scores[truth.min(1)].extend(score.filter(|score| !score.is_nan()));
        let loss = loss(truth, probabilities.unwrap_or(&[]));
        self.without_loss += u64::from(loss.is_none());
        self.loss += (loss.unwrap_or(0.0) * LOSS_UNITS).round() as u128;
        self.weighted_loss += loss.unwrap_or(0.0) * weight;
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
        self.scores.iter_mut().zip(&mut other.scores).for_each(|(a, b)| a.append(b));
        self.without_loss += other.without_loss;
        self.loss += other.loss;
        self.weighted_loss += other.weighted_loss;
        self.weighted |= other.weighted;
        if let Some(other) = other.ambiguous {
            let ambiguous = self.ambiguous.get_or_insert_default();
            ambiguous.rows += other.rows;
            ambiguous.errors += other.errors;
        }
        self
    }

    /// Draws the sums.
    pub fn finish(mut self) -> Evaluation {
        let k = self.classes.len();
        let (mut rows, mut right, mut weight, mut right_weight) = (0, 0, 0.0, 0.0);
        // Hits, and sums over the lines and the columns of the table.
        let (mut of_class, mut hits) = (vec![Cell::default(); k], vec![0.0; k]);
        let mut predicted_weight = vec![0.0; k];
        for (truth, predicted, cell) in self.counts.cells() {
            rows += cell.rows;
            weight += cell.weight;
            of_class[truth as usize].rows += cell.rows;
            of_class[truth as usize].weight += cell.weight;
            predicted_weight[predicted as usize] += cell.weight;
            if truth == predicted {
                right += cell.rows;
                right_weight += cell.weight;
                hits[truth as usize] = cell.weight;
            }
        }
        let scored = (self.scores[0].len() + self.scores[1].len()) as u64 == rows;
        let loss = if self.weighted { self.weighted_loss } else { self.loss as f64 / LOSS_UNITS };
        let rates = |(c, class): (usize, &String)| {
            let (hits, truth, predicted) = (hits[c], of_class[c].weight, predicted_weight[c]);
            PerClass {
                class: class.clone(),
                rows: of_class[c].rows,
                precision: ratio(hits, predicted),
                recall: ratio(hits, truth),
                f1: ratio(2.0 * hits, truth + predicted),
            }
        };
        Evaluation {
            rows,
            errors: rows - right,
            accuracy: right as f64 / rows as f64,
            accuracy_interval: wilson(right, rows),
            weighted_accuracy: ratio(right_weight, weight).filter(|_| self.weighted),
            per_class: self.classes.iter().enumerate().map(rates).collect(),
            auc: if scored { auc(&mut self.scores) } else { None },
            log_loss: ratio(loss, weight).filter(|_| self.without_loss == 0),
            ambiguous: self.ambiguous,
            classes: self.classes,
            confusion: self.counts,
        }
    }
}

/// Losses are at most 34.6 and so below 2^86 units; 2^42 rows fit.
const LOSS_UNITS: f64 = (1u128 << 80) as f64;

fn loss(truth: usize, probabilities: &[f64]) -> Option<f64> {
    let p = match (probabilities, truth) {
        (&[p], 0) => 1.0 - p,
        (&[p], 1) => p,
        _ => *probabilities.get(truth)?,
    };
    (!p.is_nan()).then(|| -p.clamp(1e-15, 1.0).ln())
}

fn ratio(part: f64, whole: f64) -> Option<f64> {
    Some(part / whole).filter(|ratio| ratio.is_finite())
}

/// Counts twice the pairs won, in integers.
fn auc([negative, positive]: &mut [Vec<f64>; 2]) -> Option<f64> {
    negative.sort_unstable_by(f64::total_cmp);
    positive.sort_unstable_by(f64::total_cmp);
    let (mut below, mut up_to, mut wins) = (0, 0, 0u128);
    for &score in positive.iter() {
        below += negative[below..].iter().take_while(|&&other| other < score).count();
        up_to += negative[up_to..].iter().take_while(|&&other| other <= score).count();
        wins += (below + up_to) as u128;
    }
    let pairs = negative.len() as u128 * positive.len() as u128;
    (pairs > 0).then(|| wins as f64 / (2 * pairs) as f64)
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
    /// The share of rows given the right class; NaN (`null` in JSON) without rows.
    pub accuracy: f64,
    /// The 95 % Wilson interval of the accuracy, the folds taken as one sample.
    pub accuracy_interval: [f64; 2],
    /// The sample standard deviation of the accuracies of folds with rows; NaN if fewer than two.
    pub accuracy_sd: f64,
}

impl CrossValidation {
    /// Sums up folds given as (rows, errors).
    pub fn new(folds: &[(u64, u64)]) -> CrossValidation {
        let (fold_rows, fold_errors): (Vec<u64>, Vec<u64>) = folds.iter().copied().unzip();
        let (rows, errors) = (fold_rows.iter().sum(), fold_errors.iter().sum());
        let share = |&(rows, errors): &(u64, u64)| rows.saturating_sub(errors) as f64 / rows as f64;
        let rates: Vec<f64> = folds.iter().map(share).filter(|rate| !rate.is_nan()).collect();
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        let squares: f64 = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
        CrossValidation {
            folds: folds.len(),
            fold_errors,
            fold_rows,
            rows,
            errors,
            accuracy: share(&(rows, errors)),
            accuracy_interval: wilson(u64::saturating_sub(rows, errors), rows),
            accuracy_sd: (squares / rates.len().saturating_sub(1) as f64).sqrt(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(classes: &str, counts: &[(u32, u32, u64)]) -> Tally {
        let classes: Vec<String> = classes.split(' ').map(String::from).collect();
        let mut tally = Tally::new(&classes);
        for &(truth, predicted, n) in counts {
            (0..n).for_each(|_| tally.add(truth, predicted, &[], None, 1.0));
        }
        tally
    }

    #[test]
    fn counts_rates_and_text_by_hand() {
        let found = tally("no yes ?", &[(0, 0, 99), (1, 1, 48), (1, 0, 2), (2, 0, 1)]).finish();
        assert_eq!((found.rows, found.errors, found.accuracy), (150, 3, 0.98));
        let lines: Vec<Vec<u64>> = (0..3).map(|c| found.confusion.line(c).collect()).collect();
        assert_eq!(lines, [[99, 0, 0], [2, 48, 0], [1, 0, 0]]);
        let [no, yes, rare] = &found.per_class[..] else { panic!() };
        assert_eq!((no.rows, no.precision, no.recall), (99, Some(99.0 / 102.0), Some(1.0)));
        assert_eq!((yes.rows, yes.recall, yes.f1), (50, Some(0.96), Some(96.0 / 98.0)));
        assert_eq!((rare.precision, rare.recall, rare.f1), (None, Some(0.0), Some(0.0)));
        assert_eq!((found.auc, found.log_loss, found.weighted_accuracy), (None, None, None));
        let expected = "\
errors      3 of 150 (2.00 %), accuracy 98.00 % [94.29, 99.32] (95 % Wilson)

true \\ predicted  no  yes  ?
no                99    0  0
yes                2   48  0
?                  1    0  0

class  rows  precision  recall      f1
no       99     0.9706  1.0000  0.9851
yes      50     1.0000  0.9600  0.9796
?         1          -  0.0000  0.0000
";
        assert_eq!(found.to_text(), expected);
        let many = tally("a b c d e f g h i j k l m n o", &[]).finish();
        assert!(many.to_text().ends_with("\n3 more classes\n"));
        assert_eq!(many.to_text().lines().count(), 31);
        let json = serde_json::to_value(&many).unwrap();
        assert!(json["accuracy"].is_null() && json["per_class"][14]["f1"].is_null());
        assert!(Tally::new(&[]).finish().to_text().starts_with("errors      0 of 0\n"));
    }

    #[test]
    fn wilson_intervals_and_folds() {
        let cases = [(147, 150, 0.9429, 0.9932), (5, 10, 0.2366, 0.7634), (0, 10, 0.0, 0.2775)];
        for (successes, n, low, high) in cases {
            let [a, b] = wilson(successes, n);
            assert!((a - low).abs() < 5e-5 && (b - high).abs() < 5e-5, "{successes} of {n}");
            assert!((wilson(n - successes, n)[0] - (1.0 - b)).abs() < 1e-15);
        }
        assert_eq!(wilson(0, 0), [0.0, 1.0]);
        let found = CrossValidation::new(&[(10, 1), (10, 3), (0, 0)]);
        assert_eq!((found.folds, found.rows, found.errors, found.accuracy), (3, 20, 4, 0.8));
        assert_eq!(found.accuracy_interval, wilson(16, 20));
        assert!((found.accuracy_sd - 0.02f64.sqrt()).abs() < 1e-15);
        let none = CrossValidation::new(&[]);
        assert!(none.accuracy.is_nan() && none.accuracy_sd.is_nan());
    }

    #[test]
    fn auc_is_the_share_of_pairs_won_and_merging_changes_nothing() {
        let mut state = 1u64;
        let mut draw = |below: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % below
        };
        for _ in 0..200 {
            let [mut whole, a, b] = [(); 3].map(|()| tally("- +", &[]));
            let (mut parts, mut scores) = ([a, b], [vec![], vec![]]);
            for _ in 0..draw(30) {
                let (truth, score) = (draw(2), [-1.0, -0.0, 0.0, 0.5, f64::INFINITY][draw(5)]);
                let p = 1.0 / (1.0 + f64::exp(-score));
                let (class, guess, both) = (truth as u32, u32::from(score > 0.0), [1.0 - p, p]);
                for tally in [&mut whole, &mut parts[draw(2)]] {
                    tally.add(class, guess, &[score], Some(&both), 1.0);
                }
                scores[truth].push(score);
            }
            let [negative, positive] = &scores;
            let win = |a: f64, b: f64| (f64::from(a > b) + f64::from(a >= b)) / 2.0;
            let wins = positive.iter().flat_map(|&a| negative.iter().map(move |&b| win(a, b)));
            let merged = parts.into_iter().rev().reduce(Tally::merge).unwrap().finish();
            let pairs = negative.len() * positive.len();
            assert_eq!(merged.auc, ratio(wins.sum(), pairs as f64));
            assert_eq!(format!("{merged:?}"), format!("{:?}", whole.finish()));
        }
    }

    #[test]
    fn losses_and_weights() {
        let mut tally = tally("- +", &[]);
        tally.add(1, 1, &[2.0], Some(&[0.75]), 1.0);
        let (small, large) = (-0.75f64.ln(), -1e-15f64.ln());
        assert_eq!(tally.clone().finish().log_loss, Some(small));
        tally.add(0, 1, &[1.0], Some(&[0.0, 1.0]), 3.0);
        let found = tally.clone().finish();
        assert!((found.log_loss.unwrap() - (small + 3.0 * large) / 4.0).abs() < 1e-14);
        assert_eq!((found.accuracy, found.weighted_accuracy), (0.5, Some(0.25)));
        assert_eq!((found.per_class[1].precision, found.auc), (Some(0.25), Some(1.0)));
        tally.add(0, 0, &[f64::NAN], Some(&[f64::NAN, 0.5]), 0.0);
        let found = tally.finish();
        assert_eq!((found.rows, found.auc, found.log_loss), (3, None, None));
    }
}
