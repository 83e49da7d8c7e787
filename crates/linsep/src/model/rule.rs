//! How scores become a class, and when they contradict each other.
//!
//! | rule | planes | a plane speaks for | class | ambiguous |
//! |---|---|---|---|---|
//! | [`Rule::Sign`] | 1 | the second class | by the sign; 0 is the second class | the score is 0 |
//! | [`Rule::ArgMax`] | K | its class | the highest score, the earlier class on a tie | the highest score is tied |
//! | [`Rule::Rest`] | K | its class, if its score is at least 0 | as above | not exactly one plane speaks |
//! | [`Rule::RestLast`] | K − 1 | its class, if its score is at least 0 | the highest score of those that speak; the last class if none does | several planes speak |
//! | [`Rule::Vote`] | K(K − 1)/2 | one class of a pair | the most duels won | no class won all its duels |
//! | [`Rule::Ballot`] | any | a machine, with its votes | by another rule on the sums of votes | by that rule |
//!
//! Planes of one machine ([`Rule::ArgMax`]) cannot contradict each other: their regions are convex and
//! fill the space. Separate machines can, and each of the three schemes leaves regions that no machine
//! or several claim (Bishop 4.1.2). A score that is not a number is ambiguous under every rule.

use serde::{Deserialize, Serialize};

/// How scores become a class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Rule {
    /// One plane: a score of at least 0 means the second class.
    Sign,
    /// One plane for each class, learned together: the highest score wins, the earlier class on a
    /// tie.
    ArgMax,
    /// One plane for each class, each learned alone against the rest: it claims a row by a score of at
    /// least 0. The highest score wins, the earlier class on a tie.
    Rest,
    /// As [`Rule::Rest`] without a plane for the last class, which gets the rows that no plane claims.
    RestLast,
    /// One plane for each pair of classes, in the order of [`duels`]: a score of at least 0 means the
    /// later class of the pair, as it does for two classes. The most duels won win; among equals the
    /// larger sum of the scores in favour (those of lost duels count as negative), then the earlier
    /// class.
    Vote,
    /// Several planes for each score.
    Ballot(Ballot),
}

/// Planes that vote (Freund and Schapire 1999): the score of a machine is the votes of its planes with
/// a score of at least 0 less the votes of the others, as a share of all its votes, so that machines
/// with few votes and with many can be compared. Its sign is exact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Ballot {
    /// For each machine, the votes of each of its planes; the planes stand in the same order.
    pub votes: Vec<Vec<u64>>,
    /// How the scores of the machines become a class.
    pub rule: Box<Rule>,
}

impl Ballot {
    /// A ballot whose scores become a class by `rule`.
    pub fn new(votes: Vec<Vec<u64>>, rule: Rule) -> Ballot {
        Ballot { votes, rule: Box::new(rule) }
    }
}

/// The pairs of classes in the order of the planes of [`Rule::Vote`]: (0, 1), (0, 2), …, (1, 2), ….
pub fn duels(classes: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..classes).flat_map(move |i| (i + 1..classes).map(move |j| (i, j)))
}

/// The place of a pair i < j in [`duels`].
pub(crate) fn duel_place(classes: usize, (i, j): (usize, usize)) -> usize {
    i * (2 * classes - i - 1) / 2 + j - i - 1
}

impl Rule {
    /// The rule on the scores: that of a ballot, or this one.
    pub fn on_scores(&self) -> &Rule {
        match self {
            Rule::Ballot(ballot) => &ballot.rule,
            rule => rule,
        }
    }

    /// Whether the classes come from several machines that know nothing of each other.
    pub fn has_machines(&self) -> bool {
        matches!(self.on_scores(), Rule::Rest | Rule::RestLast | Rule::Vote)
    }

    /// The number of scores.
    pub fn n_scores(&self, classes: usize) -> usize {
        match self.on_scores() {
            Rule::Sign | Rule::Ballot(_) => 1,
            Rule::ArgMax | Rule::Rest => classes,
            Rule::RestLast => classes.saturating_sub(1),
            Rule::Vote => classes * classes.saturating_sub(1) / 2,
        }
    }

    /// The number of planes, or what is wrong with the rule.
    pub(crate) fn check(&self, classes: usize) -> Result<usize, String> {
        if *self.on_scores() == Rule::Sign && classes != 2 {
            return Err("one plane tells two classes apart, not more".into());
        }
        if self.has_machines() && classes == 2 {
            return Err("two classes need one machine, not several".into());
        }
        let scores = self.n_scores(classes);
        let Rule::Ballot(Ballot { votes, rule }) = self else { return Ok(scores) };
        if matches!(**rule, Rule::Ballot(_)) {
            return Err("a ballot of ballots".into());
        }
        if votes.len() != scores {
            return Err(format!("there are {} ballots where the rule needs {scores}", votes.len()));
        }
        let total = |votes: &Vec<u64>| votes.iter().try_fold(0u64, |sum, &n| sum.checked_add(n));
        let fine = |votes: &Vec<u64>| {
            !votes.is_empty()
                && votes.iter().all(|&n| n > 0)
                && total(votes).is_some_and(|total| total <= 1 << 53)
        };
        match votes.iter().all(fine) {
            true => Ok(votes.iter().map(Vec::len).sum()),
            false => Err("a ballot is empty, or its votes are 0 or too many".into()),
        }
    }

    /// Turns the scores of the planes into those of the machines, in place.
    pub(super) fn poll<'a>(&self, planes: &'a mut [f64]) -> &'a [f64] {
        let Rule::Ballot(Ballot { votes, .. }) = self else { return planes };
        let mut from = 0;
        for (machine, votes) in votes.iter().enumerate() {
            let (mut lead, mut total) = (0i64, 0i64);
            for (score, &votes) in planes[from..].iter().zip(votes) {
                total += votes as i64;
                lead += if *score >= 0.0 { votes as i64 } else { -(votes as i64) };
            }
            // Every machine has a plane, so this place is no longer needed.
            planes[machine] = lead as f64 / total as f64;
            from += votes.len();
        }
        &planes[..votes.len()]
    }

    /// The class that scores stand for; `standings` is room for what [`Rule::Vote`] counts.
    pub(super) fn class_of(
        &self,
        scores: &[f64],
        classes: usize,
        standings: &mut Vec<(usize, f64)>,
    ) -> usize {
        match self.on_scores() {
            Rule::ArgMax | Rule::Rest => highest(scores),
            Rule::RestLast => match highest(scores) {
                best if scores[best] >= 0.0 => best,
                _ => classes - 1,
            },
            Rule::Vote => {
                count_duels(scores, classes, standings);
                let mut best = 0;
                for class in 1..classes {
                    if standings[class] > standings[best] {
                        best = class;
                    }
                }
                best
            }
            Rule::Sign | Rule::Ballot(_) => usize::from(scores[0] >= 0.0),
        }
    }

    /// Whether the scores leave it open which class they stand for.
    pub(super) fn is_ambiguous(&self, scores: &[f64], classes: usize) -> bool {
        if scores.iter().any(|score| score.is_nan()) {
            return true;
        }
        let claims = || scores.iter().filter(|score| **score >= 0.0).count();
        match self.on_scores() {
            Rule::ArgMax => {
                let best = scores[highest(scores)];
                scores.iter().filter(|score| **score == best).count() > 1
            }
            Rule::Rest => claims() != 1,
            Rule::RestLast => claims() > 1,
            Rule::Vote => {
                let mut standings = Vec::new();
                count_duels(scores, classes, &mut standings);
                standings.iter().all(|(won, _)| won + 1 < classes)
            }
            Rule::Sign | Rule::Ballot(_) => scores[0] == 0.0,
        }
    }
}

/// The place of the highest score, the first one on a tie.
fn highest(scores: &[f64]) -> usize {
    let mut best = 0;
    for (class, &score) in scores.iter().enumerate() {
        if score > scores[best] {
            best = class;
        }
    }
    best
}

/// Duels won and the sum of the scores in favour, class by class.
fn count_duels(scores: &[f64], classes: usize, standings: &mut Vec<(usize, f64)>) {
    standings.clear();
    standings.resize(classes, (0, 0.0));
    for ((i, j), &score) in duels(classes).zip(scores) {
        standings[if score >= 0.0 { j } else { i }].0 += 1;
        standings[i].1 -= score;
        standings[j].1 += score;
    }
}
