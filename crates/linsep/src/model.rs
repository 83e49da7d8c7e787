//! The model: planes, the rule that turns scores into classes, and the map from raw columns.
//!
//! Two classes are one plane with [`Rule::Sign`]; K classes are K planes with [`Rule::ArgMax`]. A
//! model that exists is fitted, and it always speaks of the user's raw features.

use crate::data::Dataset;
use crate::data::input::InputMap;
use crate::data::read::Chunk;
use crate::data::store::{Rows, Store, kernel, with_rows};
use crate::parallel::parallel_map;
use crate::report::{Evaluation, Tally};
use serde::{Deserialize, Serialize};

/// A hyperplane w·x + b.
#[derive(Clone, Debug, PartialEq)]
pub struct Plane {
    /// w, one weight for each feature.
    pub weights: Vec<f64>,
    /// b.
    pub bias: f64,
}

/// How scores become a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Rule {
    /// One plane: a score of at least 0 means the second class.
    Sign,
    /// One plane for each class: the highest score wins, the earlier class on a tie.
    ArgMax,
}

/// How scores become probabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Link {
    /// They do not.
    None,
    /// The logistic function of the one score of two classes; else the softmax of all scores.
    Softmax,
}

/// A fitted linear classifier.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearModel {
    /// The planes: one for [`Rule::Sign`], one for each class for [`Rule::ArgMax`].
    pub planes: Vec<Plane>,
    /// How scores become a class.
    pub rule: Rule,
    /// How scores become probabilities.
    pub link: Link,
    /// The class names.
    pub classes: Vec<String>,
    /// How columns become features.
    pub input: InputMap,
}

impl LinearModel {
    /// Number of features.
    pub fn n_features(&self) -> usize {
        self.input.features
    }

    /// The scores of a row of raw features: one for two classes, else one for each class. Missing
    /// values on the right are 0; the bits are those of every other way to score the row.
    pub fn scores(&self, row: &[f64]) -> Vec<f64> {
        let row = &row[..row.len().min(self.n_features())];
        if let Some(threshold) = self.input.binarize {
            let entries = || row.iter().enumerate().map(|(j, x)| (j as u32, *x));
            return self.planes.iter().map(|p| binary_score(p, threshold, entries())).collect();
        }
        let score = |plane: &Plane| kernel::dot_f64(row, &plane.weights) + plane.bias;
        self.planes.iter().map(score).collect()
    }

    /// The probability of each class, if the model has probabilities.
    pub fn probabilities(&self, scores: &[f64]) -> Option<Vec<f64>> {
        match (self.link, scores) {
            (Link::None, _) => None,
            (Link::Softmax, [score]) => {
                let positive = 1.0 / (1.0 + (-score).exp());
                Some(vec![1.0 / (1.0 + score.exp()), positive])
            }
            (Link::Softmax, _) => {
                let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let powers: Vec<f64> = scores.iter().map(|s| (s - highest).exp()).collect();
                let sum: f64 = powers.iter().sum();
                Some(powers.iter().map(|power| power / sum).collect())
            }
        }
    }

    /// The class of a row of raw features.
    pub fn predict(&self, row: &[f64]) -> &str {
        &self.classes[self.class_of(&self.scores(row)) as usize]
    }

    /// The class that scores stand for.
    pub fn class_of(&self, scores: &[f64]) -> u32 {
        match self.rule {
            Rule::Sign => u32::from(scores[0] >= 0.0),
            Rule::ArgMax => {
                let mut best = 0;
                for (class, &score) in scores.iter().enumerate() {
                    if score > scores[best] {
                        best = class;
                    }
                }
                best as u32
            }
        }
    }

    /// The names of the score columns: the second class for two, else every class.
    pub fn score_classes(&self) -> &[String] {
        match self.rule {
            Rule::Sign => &self.classes[1..],
            Rule::ArgMax => &self.classes,
        }
    }

    /// The scores of every row of a chunk, in order.
    pub fn score_chunk(&self, chunk: &Chunk<'_>, mut each: impl FnMut(usize, &[f64])) {
        let mut scores = vec![0.0; self.planes.len()];
        for row in 0..chunk.n_rows() {
            self.score_row(&chunk.store, row, &mut scores);
            each(row, &scores);
        }
    }

    /// How well the model does on some rows of a data set (all of them when `rows` is `None`).
    pub fn evaluate(&self, data: &Dataset, rows: Option<&[u32]>, threads: usize) -> Evaluation {
        const BLOCK: usize = 4096;
        let count = rows.map_or(data.n_rows(), <[u32]>::len);
        let tally_block = |block: usize| {
            let mut tally = Tally::new(&self.classes);
            let mut scores = vec![0.0; self.planes.len()];
            for k in block * BLOCK..((block + 1) * BLOCK).min(count) {
                let row = rows.map_or(k, |rows| rows[k] as usize);
                self.score_row(&data.store, row, &mut scores);
                let predicted = self.class_of(&scores);
                tally.add(data.class_of(row), predicted, &scores, None, data.weight(row));
            }
            tally
        };
        let tallies = parallel_map(count.div_ceil(BLOCK), threads, tally_block);
        tallies.into_iter().fold(Tally::new(&self.classes), Tally::merge).finish()
    }

    /// The scores of a row of a data set with the features of the model.
    pub fn scores_of(&self, data: &Dataset, row: usize) -> Vec<f64> {
        let mut scores = vec![0.0; self.planes.len()];
        self.score_row(&data.store, row, &mut scores);
        scores
    }

    /// The classes of some rows of a data set with the features of the model.
    pub fn predict_rows(&self, data: &Dataset, rows: &[u32]) -> Vec<u32> {
        let mut scores = vec![0.0; self.planes.len()];
        let mut class = |row: &u32| {
            self.score_row(&data.store, *row as usize, &mut scores);
            self.class_of(&scores)
        };
        rows.iter().map(&mut class).collect()
    }

    fn score_row(&self, store: &Store, row: usize, scores: &mut [f64]) {
        if let Some(threshold) = self.input.binarize {
            let mut entries = Vec::new();
            store.for_each_entry(row, &mut |j, x| entries.push((j, x)));
            for (score, plane) in scores.iter_mut().zip(&self.planes) {
                *score = binary_score(plane, threshold, entries.iter().copied());
            }
            return;
        }
        with_rows!(store, rows => {
            for (score, plane) in scores.iter_mut().zip(&self.planes) {
                *score = rows.dot(row, &plane.weights) + plane.bias;
            }
        });
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
            assert_eq!(steps.scores(&row), [expected]);
        }
        steps.link = Link::Softmax;
        assert_eq!(steps.probabilities(&[0.0]), Some(vec![0.5, 0.5]));
        assert_eq!(steps.probabilities(&[1e4]), Some(vec![0.0, 1.0]));
        assert_eq!(steps.probabilities(&[1e4, 1e4, 1e4, 1e4]), Some(vec![0.25; 4]));
    }

    fn model(planes: &[(&[f64], f64)], rule: Rule, classes: &[&str]) -> LinearModel {
        LinearModel {
            planes: planes.iter().map(|(w, b)| Plane { weights: w.to_vec(), bias: *b }).collect(),
            rule,
            link: Link::None,
            classes: classes.iter().map(|c| (*c).to_owned()).collect(),
            input: InputMap::plain(planes[0].0.len()),
        }
    }

    #[test]
    fn a_score_of_zero_is_the_second_class() {
        let and = model(&[(&[1.0, 1.0], -2.0)], Rule::Sign, &["0", "1"]);
        assert_eq!(and.predict(&[1.0, 1.0]), "1");
        assert_eq!(and.predict(&[1.0, 0.0]), "0");
    }

    #[test]
    fn ties_of_the_highest_score_go_to_the_earlier_class() {
        let model =
            model(&[(&[1.0], 0.0), (&[0.0], 1.0), (&[-1.0], 2.0)], Rule::ArgMax, &["a", "b", "c"]);
        assert_eq!(model.predict(&[2.0]), "a");
        assert_eq!(model.predict(&[1.0]), "a");
        assert_eq!(model.predict(&[0.0]), "c");
    }
}
