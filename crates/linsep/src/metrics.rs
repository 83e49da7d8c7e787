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
//! With row weights a row of weight w counts as w rows in every one of these. Whole weights give what the
//! repeated rows would give; of other weights no interval is known, since they say nothing about how many
//! rows were drawn.
//!
//! Sums over plain rows are sums of integers (losses in units of 2^-80), so they depend neither on
//! the order of the rows nor on how these were split and merged.

mod confusion;
mod folds;
pub mod paired;
mod roc;

pub use confusion::Confusion;
pub use folds::{CrossValidation, Fold};

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
    /// Area under the ROC curve, if there are two classes, both occur, and every row has a score.
    pub auc: Option<f64>,
    /// The mean by weight of `-ln p`, `p` clipped at 1e-15, if every row has probabilities.
    pub log_loss: Option<f64>,
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

    /// A table for people, of at most [`SHOWN_CLASSES`] classes.
    pub fn to_text(&self) -> String {
        let mut text = format!("errors      {}", self.summary());
        if self.accuracy_interval.is_some() && !self.accuracy.is_nan() {
            text += " (95 % Wilson)";
        }
        let auc = self.auc.map(|auc| format!("{auc:.6}"));
        let loss = self.log_loss.map(|loss| format!("{loss:.6} (probabilities clipped at 1e-15)"));
        for (label, value) in
            [("majority", self.against_majority()), ("auc", auc), ("log loss", loss)]
        {
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
    weighted: bool,
    /// Whether some weight is no whole number.
    fractions: bool,
    ambiguous: Option<Ambiguous>,
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
        let score = if self.classes.len() == 2 { scores.first() } else { None };
        if let Some(&score) = score.filter(|score| !score.is_nan()) {
            let side = truth.min(1);
            if self.weighted {
                self.weights[side].resize(self.scores[side].len(), 1.0);
                self.weights[side].push(weight);
            }
            self.scores[side].push(score);
        }
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
            auc: scores.filter(|_| scored),
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
        let lines: Vec<Vec<f64>> = (0..3).map(|c| found.confusion.line(c).collect()).collect();
        assert_eq!(lines, [[99.0, 0.0, 0.0], [2.0, 48.0, 0.0], [1.0, 0.0, 0.0]]);
        let [no, yes, rare] = &found.per_class[..] else { panic!() };
        assert_eq!((no.rows, no.precision, no.recall), (99, Some(99.0 / 102.0), Some(1.0)));
        assert_eq!((yes.rows, yes.recall, yes.f1), (50, Some(0.96), Some(96.0 / 98.0)));
        assert_eq!((rare.precision, rare.recall, rare.f1), (None, Some(0.0), Some(0.0)));
        assert_eq!((found.auc, found.log_loss, found.weighted), (None, None, None));
        assert_eq!(found.majority, Some(Majority { class: "no".into(), accuracy: 0.66 }));
        let expected = "\
errors      3 of 150 wrong, accuracy 98.00 % [94.29, 99.32] (95 % Wilson)

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
        assert!(Tally::new(&[]).finish().to_text().starts_with("errors      0 of 0 wrong\n"));
    }

    #[test]
    fn wilson_intervals() {
        let cases = [(147, 150, 0.9429, 0.9932), (5, 10, 0.2366, 0.7634), (0, 10, 0.0, 0.2775)];
        for (successes, n, low, high) in cases {
            let [a, b] = wilson(successes, n);
            assert!((a - low).abs() < 5e-5 && (b - high).abs() < 5e-5, "{successes} of {n}");
            assert!((wilson(n - successes, n)[0] - (1.0 - b)).abs() < 1e-15);
        }
        assert_eq!(wilson(0, 0), [0.0, 1.0]);
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
        assert_eq!((found.accuracy, found.errors), (0.25, 1));
        assert_eq!(found.weighted, Some(Weighted { rows: 4.0, errors: 3.0 }));
        assert_eq!((found.per_class[1].precision, found.auc), (Some(0.25), Some(1.0)));
        tally.add(0, 0, &[f64::NAN], Some(&[f64::NAN, 0.5]), 0.0);
        let found = tally.finish();
        assert_eq!((found.rows, found.auc, found.log_loss), (3, None, None));
    }

    #[test]
    fn whole_weights_are_repeated_rows() {
        let mut state = 7u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        for _ in 0..100 {
            let [mut weighted, mut late, mut repeated] = [(); 3].map(|()| tally("- +", &[]));
            for k in 0..draw(20) {
                let (truth, score) = (draw(2) as u32, [-1.0, 0.0, 0.5][draw(3) as usize]);
                // Some rows without a weight come first, and some in another part.
                let weight = if k < 3 { 1 } else { draw(4) };
                let (guess, p) = (u32::from(score > 0.0), 1.0 / (1.0 + f64::exp(-score)));
                let part = if draw(2) == 0 { &mut weighted } else { &mut late };
                part.add(truth, guess, &[score], Some(&[1.0 - p, p]), weight as f64);
                (0..weight).for_each(|_| {
                    repeated.add(truth, guess, &[score], Some(&[1.0 - p, p]), 1.0);
                });
            }
            let (found, expected) = (weighted.merge(late).finish(), repeated.finish());
            let rates = |e: &Evaluation| {
                e.per_class
                    .iter()
                    .map(|c| (c.support, c.precision, c.recall, c.f1))
                    .collect::<Vec<_>>()
            };
            assert_eq!(rates(&found), rates(&expected));
            assert_eq!(
                found.confusion.line(0).collect::<Vec<_>>(),
                expected.confusion.line(0).collect::<Vec<_>>()
            );
            assert_eq!(format!("{:?}", found.accuracy), format!("{:?}", expected.accuracy));
            assert_eq!(
                (found.accuracy_interval, found.auc, &found.majority),
                (expected.accuracy_interval, expected.auc, &expected.majority)
            );
            let (a, b) = (found.log_loss.unwrap_or(0.0), expected.log_loss.unwrap_or(0.0));
            assert!((a - b).abs() < 1e-12, "{a} {b}");
        }
    }

    #[test]
    fn fractions_that_add_up_to_whole_numbers_have_no_interval() {
        let mut tally = tally("- +", &[]);
        (0..4).for_each(|_| tally.add(1, 1, &[1.0], None, 0.5));
        let found = tally.finish();
        assert_eq!((found.accuracy, found.accuracy_interval), (1.0, None));
    }

    #[test]
    fn a_model_no_better_than_the_majority_is_told_so() {
        let against = |counts: &[(u32, u32, u64)]| tally("a b", counts).finish().against_majority();
        assert!(against(&[(0, 1, 2), (1, 0, 1), (1, 1, 1)]).unwrap().starts_with("worse than"));
        assert!(against(&[(0, 0, 3), (1, 0, 1)]).unwrap().starts_with("no better than"));
        assert_eq!(against(&[(0, 0, 3), (1, 1, 1)]), None);
        // All of one class, all right: nothing to say.
        assert_eq!(against(&[(0, 0, 3)]), None);
    }
}
