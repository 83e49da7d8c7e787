//! Decisions that are not those of the planes: a threshold for two classes, costs of errors for more.
//!
//! Planes and what is proved of them stay as they were learned; a decision only says which class their scores stand
//! for. Of two classes a row is of the second one where its score is at least t, instead of 0. With probabilities and
//! costs c_tp of giving class p to a row of class t, the class of least expected cost is
//!
//! ```text
//! argmin over p of Σ_t P(t | x) c_tp,    of two classes  P(1 | x) ≥ (c_01 − c_00) / (c_01 − c_00 + c_10 − c_11)
//! ```
//!
//! A threshold on a probability is kept as the least score whose probability, as it is computed, reaches it: scores
//! decide, without an exponential.
//!
//! Reference: Elkan, The foundations of cost-sensitive learning, 2001.

use super::{LinearModel, Link, Rule};
use linsep_data::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// How scores become a class where the rule of the planes does not say it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Decision {
    /// Of two classes the second one from a score on.
    Threshold(Threshold),
    /// The class of least expected cost.
    Costs(Costs),
}

/// A score that decides between two classes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Threshold {
    /// The least score of the second class.
    pub score: f64,
    /// Its probability, if the model has probabilities.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
    /// What it was chosen by: `value`, `costs`, `cost`, `f1`, `youden` or `rate=0.05`.
    pub by: String,
    /// The rows that it was chosen on; none if it follows from what was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<String>,
}

impl Threshold {
    /// A score, and what it was chosen by.
    pub fn new(score: f64, by: impl Into<String>) -> Threshold {
        Threshold { score, probability: None, by: by.into(), rows: None }
    }
}

linsep_proof::setters! {
    Threshold {
        with_probability => probability: Option<f64>,
        with_rows => rows: Option<String>,
    }
}

/// What errors cost: line t, column p for giving class p to a row of class t.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Costs(Vec<Vec<f64>>);

impl Costs {
    /// One line for each true class, in the order of the classes. Every error has to cost more than the right answer.
    pub fn new(lines: Vec<Vec<f64>>) -> Result<Costs> {
        let costs = Costs(lines);
        costs.check(costs.0.len()).map_err(Error::usage)?;
        Ok(costs)
    }

    /// The cost of giving class `predicted` to a row of class `truth`.
    pub fn of(&self, truth: usize, predicted: usize) -> f64 {
        self.0[truth][predicted]
    }

    /// The least probability of the second of two classes with which it is the cheaper one.
    pub fn probability(&self) -> Option<f64> {
        let [a, b] = &self.0[..] else { return None };
        let (first, second) = (a[1] - a[0], b[0] - b[1]);
        Some(first / (first + second))
    }

    fn check(&self, classes: usize) -> std::result::Result<(), String> {
        if self.0.len() != classes || self.0.iter().any(|line| line.len() != classes) {
            return Err(format!("costs need {classes} lines of {classes} numbers"));
        }
        if self.0.iter().flatten().any(|cost| !cost.is_finite() || cost.abs() > 1e100) {
            return Err("a cost is not a finite number below 1e100".into());
        }
        let cheap = |t: usize| (0..classes).any(|p| p != t && self.0[t][p] <= self.0[t][t]);
        match (0..classes).find(|t| cheap(*t)) {
            Some(t) => Err(format!(
                "line {} of the costs has an error that costs no more than the right answer",
                t + 1
            )),
            None => Ok(()),
        }
    }

    fn cheapest(&self, probabilities: &[f64]) -> usize {
        let expected = |p: usize| -> f64 {
            probabilities.iter().zip(&self.0).map(|(share, line)| share * line[p]).sum()
        };
        let mut best = (0, expected(0));
        for class in 1..self.0.len() {
            let cost = expected(class);
            if cost < best.1 {
                best = (class, cost);
            }
        }
        best.0
    }
}

impl Decision {
    /// The class of scores.
    pub(super) fn class_of(&self, scores: &[f64], classes: usize, link: &Link) -> usize {
        match self {
            Decision::Threshold(threshold) => usize::from(scores[0] >= threshold.score),
            Decision::Costs(costs) => {
                let mut probabilities = vec![0.0; classes];
                link.fill(scores, &mut probabilities);
                costs.cheapest(&probabilities)
            }
        }
    }

    /// Refuses a decision that the other parts of a model do not allow.
    pub(crate) fn check(
        &self,
        classes: usize,
        rule: &Rule,
        link: &Link,
    ) -> std::result::Result<(), String> {
        match self {
            Decision::Threshold(_) if classes != 2 || *rule.on_scores() != Rule::Sign => {
                Err("a threshold is for the one score of two classes".into())
            }
            Decision::Threshold(Threshold { score, probability, .. }) => {
                let fine = probability.is_none_or(|p| (0.0..=1.0).contains(&p));
                match score.is_finite() && fine {
                    true => Ok(()),
                    false => Err("the threshold is not a finite number".into()),
                }
            }
            Decision::Costs(_) if *link == Link::None => {
                Err("costs need probabilities, and the model has none".into())
            }
            Decision::Costs(costs) => costs.check(classes),
        }
    }
}

impl LinearModel {
    /// The score that decides between two classes: 0, or that of the threshold.
    pub fn cut(&self) -> f64 {
        match &self.decision {
            Some(Decision::Threshold(threshold)) => threshold.score,
            _ => 0.0,
        }
    }

    /// The least score of two classes whose probability of the second class, as it is computed, reaches `p`.
    pub fn score_of_probability(&self, p: f64) -> Result<f64> {
        if !(0.0..=1.0).contains(&p) {
            return Err(Error::usage(format!("{p} is no probability: it has to be from 0 to 1")));
        }
        if self.classes.len() != 2 || self.n_scores() != 1 {
            return Err(Error::usage("a threshold is for models of two classes"));
        }
        let of = |score: f64| match self.probabilities_of_scores(&[score]) {
            Some(both) => Ok(both[1]),
            None => Err(Error::usage(
                "a threshold on probabilities needs some, and this model has none",
            )),
        };
        let (mut low, mut high) = (f64::MIN, f64::MAX);
        if of(low)? > of(high)? {
            return Err(Error::usage("higher scores have lower probabilities in this model"));
        }
        if of(low)? >= p {
            // Every row, whatever its score.
            return Ok(low);
        }
        if of(high)? < p {
            return Err(Error::usage(format!("no score has a probability of {p}")));
        }
        // Scores in order are whole numbers in order.
        let whole = |x: f64| -> i64 {
            let bits = x.to_bits() as i64;
            if bits < 0 { i64::MIN - bits } else { bits }
        };
        let number = |n: i64| f64::from_bits(if n < 0 { i64::MIN - n } else { n } as u64);
        while i128::from(whole(high)) - i128::from(whole(low)) > 1 {
            let middle = number(((i128::from(whole(low)) + i128::from(whole(high))) >> 1) as i64);
            match of(middle)? >= p {
                true => high = middle,
                false => low = middle,
            }
        }
        Ok(high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Plane, Sigmoid};
    use linsep_data::input::InputMap;

    fn model(classes: usize, link: Link) -> LinearModel {
        let names = ["a", "b", "c"][..classes].iter().map(|name| (*name).to_owned()).collect();
        let plane = |k: usize| Plane::new(vec![k as f64 - 1.0], 0.0);
        let (planes, rule) = match classes {
            2 => (vec![plane(2)], Rule::Sign),
            _ => ((0..classes).map(plane).collect(), Rule::ArgMax),
        };
        LinearModel::new(planes, rule, names, InputMap::plain(1)).with_link(link)
    }

    #[test]
    fn the_score_of_a_probability_is_the_least_that_reaches_it() {
        for link in [Link::Softmax, Link::Sigmoid { slope: 2.5, offset: -0.75 }] {
            let model = model(2, link);
            let p_of = |score: f64| model.probabilities_of_scores(&[score]).unwrap()[1];
            for p in [1e-300, 1e-9, 0.05, 0.3, 0.5, 0.7, 0.999, 1.0] {
                let score = model.score_of_probability(p).unwrap();
                assert!(p_of(score) >= p && p_of(score.next_down()) < p, "{p} {score}");
            }
            assert_eq!(model.score_of_probability(0.0).unwrap(), f64::MIN);
            for wrong in [-0.1, 1.1, f64::NAN] {
                assert!(model.score_of_probability(wrong).is_err());
            }
        }
        // A score just below 0 has a probability that rounds to one half.
        let half = model(2, Link::Softmax).score_of_probability(0.5).unwrap();
        assert!(half <= 0.0 && half > -1e-15, "{half}");
        assert!(model(2, Link::None).score_of_probability(0.5).is_err());
        let falling = model(2, Link::Sigmoid { slope: -1.0, offset: 0.0 });
        assert!(falling.score_of_probability(0.5).is_err());
    }

    #[test]
    fn thresholds_and_costs_decide() {
        let mut two = model(2, Link::Softmax);
        assert_eq!(two.predict(&[0.5]).unwrap(), "b");
        two.decision = Some(Decision::Threshold(Threshold::new(1.0, "value")));
        assert_eq!((two.predict(&[0.5]).unwrap(), two.predict(&[1.0]).unwrap()), ("a", "b"));
        assert!(two.is_ambiguous(&[1.0]) && !two.is_ambiguous(&[0.0]));
        let mut classes = [0; 2];
        let rows = linsep_data::RowsView::dense(&[0.5, 1.5], 2, 1).unwrap();
        two.predict_into(rows, 1, &mut classes).unwrap();
        assert_eq!(classes, [0, 1]);
        let shifted = two.clone().with_plane_for_each_class().unwrap();
        assert_eq!((shifted.decision, shifted.planes[0].bias), (None, -1.0));

        let costs = Costs::new(vec![vec![0.0, 1.0], vec![9.0, 0.0]]).unwrap();
        assert_eq!(costs.probability(), Some(0.1));
        let mut three = model(3, Link::Softmax);
        assert_eq!(three.predict(&[0.2]).unwrap(), "c");
        let costs = vec![vec![0.0, 5.0, 50.0], vec![1.0, 0.0, 50.0], vec![1.0, 1.0, 0.0]];
        three.decision = Some(Decision::Costs(Costs::new(costs).unwrap()));
        assert_eq!(three.predict(&[0.2]).unwrap(), "a");
        assert_eq!(three.predict(&[20.0]).unwrap(), "c");
        assert!(three.clone().with_plane_for_each_class().is_err());
        assert!(Costs::new(vec![vec![0.0, 0.0], vec![1.0, 0.0]]).is_err());
        assert!(Costs::new(vec![vec![0.0, 1.0]]).is_err());
        assert!(Costs::new(vec![vec![0.0, f64::INFINITY], vec![1.0, 0.0]]).is_err());
    }

    #[test]
    fn a_decision_has_to_fit_the_model() {
        let threshold = Decision::Threshold(Threshold::new(f64::NAN, "value"));
        assert!(threshold.check(2, &Rule::Sign, &Link::None).is_err());
        let threshold = Decision::Threshold(Threshold::new(0.0, "value"));
        assert!(threshold.check(3, &Rule::ArgMax, &Link::Softmax).is_err());
        assert!(threshold.check(2, &Rule::Sign, &Link::None).is_ok());
        let costs = Decision::Costs(Costs(vec![vec![0.0, 1.0], vec![1.0, 0.0]]));
        assert!(costs.check(2, &Rule::Sign, &Link::None).is_err());
        assert!(costs.check(3, &Rule::ArgMax, &Link::Softmax).is_err());
        let each = vec![Sigmoid::new(1.0, 0.0); 2];
        assert!(costs.check(2, &Rule::Rest, &Link::Sigmoids(each)).is_ok());
    }
}
