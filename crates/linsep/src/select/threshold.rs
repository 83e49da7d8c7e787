//! A threshold for two classes, chosen on rows held out.
//!
//! Every row is scored once, by a model of the other folds: a model is too sure of the rows that it has learned, so a
//! threshold chosen on those would be too bold. Between each two scores that follow each other lies a candidate, half
//! way, and one lies on either side of them all. Of several that do as well the one nearest to the old threshold, 0, is
//! taken. The measure at the threshold is printed beside it; it was chosen to be good on these rows, so it flatters a
//! little.
//!
//! References: Youden 1950; Elkan 2001; Lipton, Elkan, Naryanaswamy, Optimal thresholding of classifiers to maximize
//! F1 measure, 2014.

use super::validate::held_out_rows;
use crate::metrics::Predictions;
use crate::model::Costs;
use crate::run::{Learner, Limits, Task};
use linsep_data::error::{Error, Result};
use linsep_data::split::Split;

/// What a threshold is to be good for.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Goal {
    /// The least cost of errors.
    Cost(Costs),
    /// The highest F1 of the second class.
    F1,
    /// The highest difference of true and false positive rate.
    Youden,
    /// The highest recall with a false positive rate of at most this.
    Rate(f64),
}

/// A threshold and what it does on the rows that it was chosen on.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Chosen {
    /// Rows of at least this score are of the second class.
    pub score: f64,
    /// What the goal measures: mean cost, F1, difference of rates, or recall.
    pub value: f64,
    /// The same at the score 0.
    pub before: f64,
    /// The share of the rows of the second class that are found.
    pub recall: f64,
    /// The share of the rows of the first class that are taken for the second.
    pub false_positive_rate: f64,
}

/// Scores every row by a model that has not seen it, and chooses.
pub fn choose(
    goal: &Goal,
    learner: &dyn Learner,
    task: &Task,
    splits: &[Split],
    limits: &Limits,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Chosen> {
    choose_on(goal, &held_out_rows(learner, task, splits, limits, stop)?)
}

/// Chooses on scored rows, which the model should not have learned from.
pub fn choose_on(goal: &Goal, rows: &Predictions) -> Result<Chosen> {
    let Some(scores) = rows.scores_of_two() else {
        return Err(Error::usage("a threshold is chosen for models of two classes"));
    };
    if scores.iter().any(|score| !score.is_finite()) {
        return Err(Error::usage("some score is not finite, so there is no threshold"));
    }
    // (score, weight of the first class, weight of the second), rising.
    let mut sorted: Vec<(f64, [f64; 2])> = Vec::with_capacity(scores.len());
    for ((&score, &class), &weight) in scores.iter().zip(rows.truth()).zip(rows.weights()) {
        let mut sides = [0.0; 2];
        sides[class as usize] = weight;
        sorted.push((score + 0.0, sides));
    }
    sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1[0].total_cmp(&b.1[0])));
    let mut groups: Vec<(f64, [f64; 2])> = Vec::new();
    for (score, sides) in sorted {
        match groups.last_mut() {
            Some(last) if last.0 == score => {
                last.1[0] += sides[0];
                last.1[1] += sides[1];
            }
            _ => groups.push((score, sides)),
        }
    }
    let all = groups.iter().fold([0.0; 2], |sum, (_, s)| [sum[0] + s[0], sum[1] + s[1]]);
    if let Some(class) = all.iter().position(|weight| *weight <= 0.0) {
        let name = &rows.classes()[class];
        let words =
            format!("no row held out is of class \"{name}\", so there is no threshold to choose");
        return Err(Error::usage(words));
    }
    // Above a threshold are first all rows, then fewer.
    let mut above = all;
    let mut best: Option<(f64, Chosen)> = None;
    let mut before = 0.0;
    let mut lower: Option<f64> = None;
    for at in 0..=groups.len() {
        let upper = groups.get(at).map(|(score, _)| *score);
        let candidate = match (lower, upper) {
            (Some(a), Some(b)) => between(a, b),
            (None, Some(b)) => b,
            (Some(a), None) => a.next_up(),
            (None, None) => 0.0,
        };
        let chosen = judged(goal, candidate, above, all);
        // The planes decide at 0: rows of that score and above are of the second class.
        if lower.is_none_or(|score| score < 0.0) && upper.is_none_or(|score| score >= 0.0) {
            before = chosen.value;
        }
        let worth = match goal {
            Goal::Cost(_) => -chosen.value,
            Goal::Rate(most) if chosen.false_positive_rate > *most => f64::NEG_INFINITY,
            _ => chosen.value,
        };
        let better = best.as_ref().is_none_or(|(so_far, other)| {
            worth > *so_far || (worth == *so_far && chosen.score.abs() < other.score.abs())
        });
        if better {
            best = Some((worth, chosen));
        }
        if let Some((score, sides)) = groups.get(at) {
            lower = Some(*score);
            above = [above[0] - sides[0], above[1] - sides[1]];
        }
    }
    match best {
        Some((_, chosen)) => Ok(Chosen { before, ..chosen }),
        None => Err(Error::usage("there are no rows to choose a threshold on")),
    }
}

/// Half way, and never below the lower one.
fn between(a: f64, b: f64) -> f64 {
    let middle = a / 2.0 + b / 2.0;
    if middle > a && middle <= b { middle } else { b }
}

fn judged(goal: &Goal, score: f64, above: [f64; 2], all: [f64; 2]) -> Chosen {
    // Differences of sums of weights may be a little below 0.
    let [wrong, found] = above.map(|weight| weight.max(0.0));
    let (rate, recall) = (wrong / all[0], found / all[1]);
    let value = match goal {
        Goal::Cost(costs) => {
            let sum = wrong * costs.of(0, 1)
                + (all[0] - wrong) * costs.of(0, 0)
                + found * costs.of(1, 1)
                + (all[1] - found) * costs.of(1, 0);
            sum / (all[0] + all[1])
        }
        Goal::F1 => 2.0 * found / (found + wrong + all[1]),
        Goal::Youden => recall - rate,
        Goal::Rate(_) => recall,
    };
    Chosen { score, value, before: 0.0, recall, false_positive_rate: rate }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(all: &[(f64, u32)]) -> Predictions {
        let mut found = Predictions::new(&["no".to_owned(), "yes".to_owned()]);
        all.iter().for_each(|(s, t)| found.add(*t, u32::from(*s >= 0.0), &[*s], &[], 1.0));
        found
    }

    const ROWS: [(f64, u32); 8] =
        [(-4.0, 0), (-3.0, 0), (-2.0, 1), (-1.0, 0), (1.0, 1), (2.0, 0), (3.0, 1), (4.0, 1)];

    #[test]
    fn thresholds_by_hand() {
        let of = |goal: Goal| choose_on(&goal, &rows(&ROWS)).unwrap();
        // F1 at -2.5: 4 found, 2 wrong: 8/10; at 0: 3 found, 1 wrong: 6/8.
        let found = of(Goal::F1);
        assert_eq!((found.score, found.value, found.before), (-2.5, 0.8, 0.75));
        let found = of(Goal::Youden);
        // -2.5, 0 and 2.5 are as good: the one nearest to 0 is taken.
        assert_eq!((found.score, found.value), (0.0, 0.5));
        let found = of(Goal::Rate(0.0));
        assert_eq!((found.score, found.recall, found.false_positive_rate), (2.5, 0.5, 0.0));
        let found = of(Goal::Rate(0.5));
        assert_eq!((found.score, found.recall), (-2.5, 1.0));
        // Missing a yes costs ten times as much.
        let costs = Costs::new(vec![vec![0.0, 1.0], vec![10.0, 0.0]]).unwrap();
        let found = of(Goal::Cost(costs));
        assert_eq!((found.score, found.value, found.before), (-2.5, 2.0 / 8.0, 11.0 / 8.0));
        let costs = Costs::new(vec![vec![0.0, 10.0], vec![1.0, 0.0]]).unwrap();
        assert_eq!(of(Goal::Cost(costs)).score, 2.5);
    }

    #[test]
    fn rows_of_one_class_are_refused_and_ties_stay_together() {
        assert!(choose_on(&Goal::F1, &rows(&[(1.0, 1), (2.0, 1)])).is_err());
        assert!(choose_on(&Goal::F1, &rows(&[])).is_err());
        let tied = choose_on(&Goal::Youden, &rows(&[(0.5, 0), (0.5, 1), (0.5, 1)])).unwrap();
        assert_eq!((tied.value, tied.score), (0.0, 0.5));
        let next = choose_on(&Goal::F1, &rows(&[(1.0, 0), (1.0f64.next_up(), 1)])).unwrap();
        assert_eq!((next.score, next.value), (1.0f64.next_up(), 1.0));
    }
}
