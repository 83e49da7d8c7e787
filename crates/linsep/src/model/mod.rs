//! The model: planes, the rule that turns scores into classes, and the map from raw columns.
//!
//! Two classes are one plane with [`Rule::Sign`]; K classes are K planes with [`Rule::ArgMax`], or
//! the planes of separate machines; [`rule`] has them all. A model that exists is fitted, and it always
//! speaks of the user's raw features.

mod bulk;
pub mod decision;
pub mod foreign;
mod lead;
pub(crate) mod parts;
pub mod rule;
mod scorer;
#[cfg(feature = "serde")]
mod serialised;

pub use bulk::ManyRows;
pub use decision::{Costs, Decision, Threshold};
pub use lead::Leads;
pub use rule::{Ballot, Rule};
#[doc(hidden)]
pub use scorer::StreamModel;
pub use scorer::{ChunkScorer, Scorer};

use crate::metrics::{Evaluation, Predictions, Tally};
use linsep_data::cancel;
use linsep_data::error::{Code, Error, Problem, Result};
use linsep_data::input::InputMap;
use linsep_data::matrix::{Store, kernel};
use linsep_data::parallel::parallel_map;
use linsep_data::read::{Chunk, RowSource};
use linsep_data::{Dataset, RowsView};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// A hyperplane w·x + b.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Plane {
    /// w, one weight for each feature.
    pub weights: Vec<f64>,
    /// b.
    pub bias: f64,
}

impl Plane {
    /// w and b.
    pub fn new(weights: Vec<f64>, bias: f64) -> Plane {
        Plane { weights, bias }
    }
}

/// How scores become probabilities.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Link {
    /// They do not.
    None,
    /// The logistic function of the one score of two classes; else the softmax of all scores.
    Softmax,
    /// The logistic function of slope · score + offset, for two classes.
    Sigmoid {
        /// What the score is multiplied by.
        slope: f64,
        /// What is added.
        offset: f64,
    },
    /// For each class the logistic function of its own score, all of them divided by their sum.
    Sigmoids(Vec<Sigmoid>),
}

/// The logistic function of slope · score + offset.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Sigmoid {
    /// What the score is multiplied by.
    pub slope: f64,
    /// What is added.
    pub offset: f64,
}

impl Sigmoid {
    /// Slope and offset.
    pub fn new(slope: f64, offset: f64) -> Sigmoid {
        Sigmoid { slope, offset }
    }
}

impl Sigmoid {
    /// The logarithm of its value, which a score far out does not make infinite.
    fn logarithm(&self, score: f64) -> f64 {
        let z = (self.slope * score + self.offset).clamp(f64::MIN, f64::MAX);
        z.min(0.0) - (-z.abs()).exp().ln_1p()
    }
}

impl Link {
    /// Fills in the probability of each class for the scores of a row; false if there are none.
    fn fill(&self, scores: &[f64], out: &mut [f64]) -> bool {
        let fits = scores.len() == out.len();
        match (self, scores) {
            (Link::Softmax, [score]) if out.len() == 2 => {
                out.copy_from_slice(&two_sided(*score));
            }
            (Link::Sigmoid { slope, offset }, [score]) if out.len() == 2 => {
                out.copy_from_slice(&two_sided(slope * score + offset));
            }
            (Link::Softmax, _) if fits => {
                out.copy_from_slice(scores);
                softmax(out);
            }
            (Link::Sigmoids(each), _) if fits && each.len() == scores.len() => {
                // The shares of values are the softmax of their logarithms.
                for ((place, sigmoid), score) in out.iter_mut().zip(each).zip(scores) {
                    *place = sigmoid.logarithm(*score);
                }
                softmax(out);
            }
            _ => return false,
        }
        true
    }
}

/// exp of each number, divided by the sum.
fn softmax(numbers: &mut [f64]) {
    let highest = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    numbers.iter_mut().for_each(|number| *number = (*number - highest).exp());
    let sum: f64 = numbers.iter().sum();
    numbers.iter_mut().for_each(|number| *number /= sum);
}

/// The probabilities of both classes by the logistic function.
fn two_sided(z: f64) -> [f64; 2] {
    [1.0 / (1.0 + z.exp()), 1.0 / (1.0 + (-z).exp())]
}

/// A fitted linear classifier. With the feature `serde` it has `Serialize` and `Deserialize`, which refuse
/// parts that do not fit together and numbers that are not finite.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LinearModel {
    /// The planes: one for [`Rule::Sign`], one for each class for [`Rule::ArgMax`], and for the other
    /// rules as [`rule`] says.
    pub planes: Vec<Plane>,
    /// How scores become a class.
    pub rule: Rule,
    /// How scores become probabilities.
    pub link: Link,
    /// The class names.
    pub classes: Vec<String>,
    /// How columns become features.
    pub input: InputMap,
    /// What decides instead of the rule, if something does.
    pub decision: Option<Decision>,
}

impl LinearModel {
    /// A model without probabilities.
    pub fn new(
        planes: Vec<Plane>,
        rule: Rule,
        classes: Vec<String>,
        input: InputMap,
    ) -> LinearModel {
        LinearModel { planes, rule, link: Link::None, classes, input, decision: None }
    }

    /// A model of the classes and columns of a data set.
    pub(crate) fn of(data: &Dataset, planes: Vec<Plane>, rule: Rule, link: Link) -> LinearModel {
        let (classes, input) = (data.classes().to_vec(), data.input().clone());
        LinearModel { planes, rule, link, classes, input, decision: None }
    }
}

linsep_proof::setters! {
    LinearModel {
        with_planes => planes: Vec<Plane>,
        with_rule => rule: Rule,
        with_link => link: Link,
        with_classes => classes: Vec<String>,
        with_input => input: InputMap,
        with_decision => decision: Option<Decision>,
    }
}

impl LinearModel {
    /// How many binary classifiers claim a point with these scores. One for two classes always has one
    /// answer; of those of one class each, every score of at least 0 is a claim; where the last class has
    /// none, it claims what nobody else does. Pairs of classes that contradict each other count as
    /// several.
    pub fn claimants(&self, scores: &[f64]) -> usize {
        let claims = scores.iter().filter(|score| **score >= 0.0).count();
        match self.rule.on_scores() {
            Rule::Sign | Rule::Ballot(_) => 1,
            Rule::ArgMax | Rule::Rest => claims,
            Rule::RestLast => claims.max(1),
            Rule::Vote => 1 + usize::from(self.is_ambiguous(scores)),
        }
    }

    /// Number of raw features: what a row to be scored has.
    pub fn n_features(&self) -> usize {
        self.input.features
    }

    /// The scores of a row of raw features: one for two classes, else one for each binary classifier. The
    /// bits are those of every other way to score the row; many rows are scored by
    /// [`LinearModel::scores_into`]. A row of another width is refused.
    pub fn scores(&self, row: &[f64]) -> Result<Vec<f64>> {
        RowsView::dense(row, 1, row.len()).and_then(|view| self.check_width(view.n_features()))?;
        Ok(self.scores_of(row))
    }

    /// The scores of a row of at most as many features as there are; missing ones on the right are 0.
    #[doc(hidden)]
    pub fn scores_of(&self, row: &[f64]) -> Vec<f64> {
        let row = &row[..row.len().min(self.n_features())];
        let expanded = self.input.basis.as_ref().map(|phi| phi.expand_row(row, self.n_features()));
        let row = expanded.as_deref().unwrap_or(row);
        if let Some(threshold) = self.input.binarize {
            let entries = || row.iter().enumerate().map(|(j, x)| (j as u32, *x));
            let score = |plane: &Plane| binary_score(plane, threshold, entries());
            return self.polled(self.planes.iter().map(score).collect());
        }
        let score = |plane: &Plane| kernel::dot_f64(row, &plane.weights) + plane.bias;
        self.polled(self.planes.iter().map(score).collect())
    }

    /// The probability of each class for a row of raw features, if the model has probabilities.
    pub fn probabilities(&self, row: &[f64]) -> Result<Option<Vec<f64>>> {
        Ok(self.probabilities_of_scores(&self.scores(row)?))
    }

    /// The probability of each class for the scores of a row, if the model has probabilities.
    pub fn probabilities_of_scores(&self, scores: &[f64]) -> Option<Vec<f64>> {
        let mut probabilities = vec![0.0; self.classes.len()];
        self.link.fill(scores, &mut probabilities).then_some(probabilities)
    }

    /// The class of a row of raw features. A row of another width is refused.
    pub fn predict(&self, row: &[f64]) -> Result<&str> {
        Ok(&self.classes[self.class_of(&self.scores(row)?) as usize])
    }

    /// The class that scores stand for.
    pub fn class_of(&self, scores: &[f64]) -> u32 {
        self.class_with(scores, &mut Vec::new())
    }

    /// The same with room for what votes count.
    pub(super) fn class_with(&self, scores: &[f64], standings: &mut Vec<(usize, f64)>) -> u32 {
        let classes = self.classes.len();
        match &self.decision {
            None => self.rule.class_of(scores, classes, standings) as u32,
            Some(decision) => decision.class_of(scores, classes, &self.link) as u32,
        }
    }

    /// Whether scores leave it open which class they stand for: no machine claims the row, or several
    /// do, or the highest score is tied. [`rule`] says when, rule by rule.
    pub fn is_ambiguous(&self, scores: &[f64]) -> bool {
        match &self.decision {
            Some(Decision::Threshold(threshold)) => {
                scores[0].is_nan() || scores[0] == threshold.score
            }
            _ => self.rule.is_ambiguous(scores, self.classes.len()),
        }
    }

    /// The one plane whose sign is the answer, if there is one: that of two classes, or the plane that
    /// holds more than half of the votes of its ballot.
    pub fn deciding_plane(&self) -> Option<&Plane> {
        match &self.rule {
            _ if self.decision.is_some() => None,
            Rule::Sign => self.planes.first(),
            Rule::Ballot(Ballot { votes, rule }) if **rule == Rule::Sign => {
                let votes = votes.first()?;
                let total: u64 = votes.iter().sum();
                let place = votes.iter().position(|&held| held > total - held)?;
                self.planes.get(place)
            }
            _ => None,
        }
    }

    /// The names of the scores: the second class for two, else the class that each machine speaks for;
    /// for a duel both classes, that of a positive score first.
    pub fn score_names(&self) -> Vec<String> {
        let classes = &self.classes;
        match self.rule.on_scores() {
            Rule::ArgMax | Rule::Rest => classes.clone(),
            Rule::RestLast => classes[..classes.len() - 1].to_vec(),
            Rule::Vote => rule::duels(classes.len())
                .map(|(i, j)| format!("{}|{}", classes[j], classes[i]))
                .collect(),
            Rule::Sign | Rule::Ballot(_) => classes[1..].to_vec(),
        }
    }

    /// The same predictions by one plane, or by one plane for each class and the highest score: where
    /// regions have boundaries that a plane describes. Of K − 1 machines the last class gets a plane of
    /// zeros, and a threshold moves the bias. Votes, ballots and costs are refused.
    pub fn with_plane_for_each_class(mut self) -> Result<LinearModel> {
        match (self.decision.take(), &self.rule) {
            (None, _) => {}
            (Some(Decision::Threshold(threshold)), Rule::Sign) => {
                self.planes.iter_mut().for_each(|plane| plane.bias -= threshold.score);
            }
            _ => {
                return Err(Error::usage(
                    "the classes of this model are decided by costs or by a share of votes, so its regions have no planes between them; linsep show says how",
                ));
            }
        }
        match self.rule {
            Rule::Sign | Rule::ArgMax => return Ok(self),
            Rule::Rest => {}
            Rule::RestLast => {
                self.planes.push(Plane { weights: vec![0.0; self.input.width()], bias: 0.0 });
            }
            Rule::Vote | Rule::Ballot(_) => {
                return Err(Error::usage(
                    "the classes of this model are decided by votes of several planes, so its regions have no single planes between them; linsep show lists the planes",
                ));
            }
        }
        self.rule = Rule::ArgMax;
        Ok(self)
    }

    /// The scores of every row of a chunk that was read for this model's input, in order. For many chunks
    /// there is [`LinearModel::chunk_scorer`].
    pub fn score_chunk(&self, chunk: &Chunk<'_>, each: impl FnMut(usize, &[f64])) {
        self.chunk_scorer().for_each(chunk, each);
    }

    /// The features of a row of a chunk as planes see them: the entries that are not 0, columns rising.
    pub fn features(&self, chunk: &Chunk<'_>, row: usize) -> Vec<(u32, f64)> {
        self.stored_features(chunk.store(), row)
    }

    #[doc(hidden)]
    pub fn stored_features(&self, store: &Store, row: usize) -> Vec<(u32, f64)> {
        let mut entries = Vec::new();
        store.for_each_entry(row, &mut |j, x| entries.push((j, x)));
        let Some(threshold) = self.input.binarize else { return entries };
        if threshold >= 0.0 {
            let on = entries.into_iter().filter(|(_, x)| *x > threshold);
            return on.map(|(j, _)| (j, 1.0)).collect();
        }
        // Zeros are on, so only what is below the threshold is off.
        let off: Vec<u32> =
            entries.into_iter().filter(|(_, x)| *x <= threshold).map(|(j, _)| j).collect();
        let all = 0..self.input.width() as u32;
        all.filter(|j| off.binary_search(j).is_err()).map(|j| (j, 1.0)).collect()
    }

    /// How well the model does on some rows of a data set (all of them when `rows` is `None`).
    pub fn evaluate(&self, data: &Dataset, rows: Option<&[u32]>, threads: usize) -> Evaluation {
        self.evaluate_by(data, rows, threads, || self.tally())
    }

    /// The same of predicted classes alone: without AUC, log loss and Brier score, which take longer than scores.
    pub fn evaluate_classes(
        &self,
        data: &Dataset,
        rows: Option<&[u32]>,
        threads: usize,
    ) -> Evaluation {
        self.evaluate_by(data, rows, threads, || self.tally().of_classes_only())
    }

    fn evaluate_by(
        &self,
        data: &Dataset,
        rows: Option<&[u32]>,
        threads: usize,
        empty: impl Fn() -> Tally + Sync,
    ) -> Evaluation {
        const BLOCK: usize = 4096;
        let count = rows.map_or(data.n_rows(), <[u32]>::len);
        let scorer = self.scorer(data);
        let tally_block = |block: usize| {
            let (mut tally, mut scorer) = (empty(), scorer.beside());
            for k in block * BLOCK..((block + 1) * BLOCK).min(count) {
                // A row may have thousands of planes.
                cancel::check();
                let row = rows.map_or(k, |rows| rows[k] as usize);
                let scores = scorer.row(row);
                self.count(&mut tally, data.class_of(row), scores, data.weight(row));
            }
            tally
        };
        let tallies = parallel_map(count.div_ceil(BLOCK), threads, tally_block);
        tallies.into_iter().fold(empty(), Tally::merge).finish()
    }

    /// How well the model does on labelled rows, wherever they come from. A label that is no class of the
    /// model is an error with its place.
    pub fn evaluate_source(&self, source: RowSource<'_>) -> Result<Evaluation> {
        Ok(self.tally_source(source, self.tally())?.finish())
    }

    /// Adds such rows to a tally.
    pub fn tally_source(&self, source: RowSource<'_>, mut tally: Tally) -> Result<Tally> {
        let ids: HashMap<&str, u32> = self.classes.iter().map(String::as_str).zip(0..).collect();
        // A model of one class against the rest takes every other label as the rest.
        let rest = self.input.rest.then_some(0);
        // Programs write the same number in several ways: +1, 1 and 1.0.
        let mut numbers: HashMap<String, Option<u32>> = HashMap::new();
        let mut same_number = |label: &str| {
            if let Some(known) = numbers.get(label) {
                return *known;
            }
            let same = |class: &&String| foreign::same_class(class, label);
            let found = match self.classes.iter().filter(same).count() {
                1 => self.classes.iter().position(|class| same(&class)).map(|at| at as u32),
                _ => None,
            };
            numbers.insert(label.to_owned(), found);
            found
        };
        let mut scorer = self.chunk_scorer();
        source.blocks(&self.input, true, |_, chunk| {
            let mut unknown = None;
            scorer.for_each(&chunk, |row, scores| {
                let label = chunk.label(row).unwrap_or("");
                match ids.get(label).copied().or(rest).or_else(|| same_number(label)) {
                    Some(truth) => self.count(&mut tally, truth, scores, chunk.weight(row)),
                    None => _ = unknown.get_or_insert(row),
                }
            });
            let Some(row) = unknown else { return Ok(()) };
            let label = chunk.label(row).unwrap_or("");
            let words = format!("the model has no class \"{label}\"");
            Err(Problem::new(Code::UNKNOWN_CLASS, words, chunk.place(row))
                .value(label.as_bytes())
                .help(format!("its classes are {}", self.classes.join(", ")))
                .into())
        })?;
        Ok(tally)
    }

    /// What the model says of some rows of a data set, with scores and probabilities.
    pub fn predictions(&self, data: &Dataset, rows: &[u32]) -> Predictions {
        let (mut tally, mut scorer) = (self.tally().keeping_rows(), self.scorer(data));
        for &row in rows {
            cancel::check();
            let row = row as usize;
            let scores = scorer.row(row);
            self.count(&mut tally, data.class_of(row), scores, data.weight(row));
        }
        tally.take_rows().unwrap_or_default()
    }

    /// An empty tally for this model. It counts ambiguous rows where machines can contradict each other.
    pub fn tally(&self) -> Tally {
        match self.rule.has_machines() {
            true => Tally::new(&self.classes).with_ambiguity(),
            false => Tally::new(&self.classes),
        }
    }

    /// Counts a row by its scores.
    pub fn count(&self, tally: &mut Tally, truth: u32, scores: &[f64], weight: f64) {
        let predicted = self.class_of(scores);
        if tally.has_classes_only() {
            tally.add(truth, predicted, &[], None, weight);
        } else {
            let mut probabilities = std::mem::take(&mut tally.probabilities);
            probabilities.resize(self.classes.len(), 0.0);
            let has_them = self.link.fill(scores, &mut probabilities);
            tally.add(truth, predicted, scores, has_them.then_some(&probabilities), weight);
            tally.probabilities = probabilities;
        }
        if self.rule.has_machines() && self.is_ambiguous(scores) {
            tally.add_ambiguous(truth != predicted);
        }
    }

    fn polled(&self, mut scores: Vec<f64>) -> Vec<f64> {
        let length = self.rule.poll(&mut scores).len();
        scores.truncate(length);
        scores
    }

    /// The classes of some rows of a data set with the columns of the model.
    pub fn predict_rows(&self, data: &Dataset, rows: &[u32]) -> Vec<u32> {
        let mut scorer = self.scorer(data);
        rows.iter().map(|&row| scorer.class(row as usize)).collect()
    }
}

/// The score of a row whose values count as 1 above the threshold and as 0 elsewhere. Zeros may be
/// left out: where they count as 1, the values that do not are taken away from the sum of all.
fn binary_score(plane: &Plane, threshold: f64, row: impl Iterator<Item = (u32, f64)>) -> f64 {
    let zeros_count = threshold < 0.0;
    let start = if zeros_count { plane.weights.iter().sum() } else { 0.0 };
    let step = |sum: f64, (j, x): (u32, f64)| match (x > threshold, zeros_count) {
        (true, false) => sum + plane.weights[j as usize],
        (false, true) => sum - plane.weights[j as usize],
        _ => sum,
    };
    row.fold(start, step) + plane.bias
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_are_binarised_count_as_one_or_nothing() {
        let mut steps = model(&[(&[1.0, 10.0], 0.5)], Rule::Sign, &["a", "b"]);
        for (threshold, row, expected) in
            [(0.0, [7.0, -3.0], 1.5), (2.0, [2.0, 3.0], 10.5), (-1.0, [0.0, -2.0], 1.5)]
        {
            steps.input.binarize = Some(threshold);
            assert_eq!(steps.scores(&row).unwrap(), [expected]);
        }
        steps.link = Link::Softmax;
        assert_eq!(steps.probabilities_of_scores(&[0.0]), Some(vec![0.5, 0.5]));
        assert_eq!(steps.probabilities_of_scores(&[1e4]), Some(vec![0.0, 1.0]));
        steps.classes = ["a", "b", "c", "d"].map(str::to_owned).into();
        assert_eq!(steps.probabilities_of_scores(&[1e4, 1e4, 1e4, 1e4]), Some(vec![0.25; 4]));
        steps.classes.pop();
        let sigmoid = Sigmoid { slope: 2.0, offset: -1.0 };
        steps.link = Link::Sigmoids(vec![sigmoid; 3]);
        assert_eq!(steps.probabilities_of_scores(&[0.5; 3]), Some(vec![1.0 / 3.0; 3]));
        assert_eq!(
            steps.probabilities_of_scores(&[-1e300, -1e308, f64::MIN]),
            Some(vec![1.0, 0.0, 0.0])
        );
        assert_eq!(steps.probabilities_of_scores(&[0.5; 2]), None);
        let far = steps.probabilities_of_scores(&[0.5, -800.0, 0.5]).unwrap();
        assert_eq!(far, [0.5, 0.0, 0.5]);
    }

    fn model(planes: &[(&[f64], f64)], rule: Rule, classes: &[&str]) -> LinearModel {
        LinearModel {
            planes: planes.iter().map(|(w, b)| Plane { weights: w.to_vec(), bias: *b }).collect(),
            rule,
            link: Link::None,
            decision: None,
            classes: classes.iter().map(|c| (*c).to_owned()).collect(),
            input: InputMap::plain(planes[0].0.len()),
        }
    }

    #[test]
    fn a_score_of_zero_is_the_second_class() {
        let and = model(&[(&[1.0, 1.0], -2.0)], Rule::Sign, &["0", "1"]);
        assert_eq!(and.predict(&[1.0, 1.0]).unwrap(), "1");
        assert_eq!(and.predict(&[1.0, 0.0]).unwrap(), "0");
    }

    #[test]
    fn ties_of_the_highest_score_go_to_the_earlier_class() {
        let model =
            model(&[(&[1.0], 0.0), (&[0.0], 1.0), (&[-1.0], 2.0)], Rule::ArgMax, &["a", "b", "c"]);
        assert_eq!(model.predict(&[2.0]).unwrap(), "a");
        assert_eq!(model.predict(&[1.0]).unwrap(), "a");
        assert_eq!(model.predict(&[0.0]).unwrap(), "c");
    }
}
