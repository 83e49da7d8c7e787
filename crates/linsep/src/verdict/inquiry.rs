//! The verdict in rounds, for a learner that wants to know whether it can succeed: one question for
//! two classes; for K classes the pairs, one after the other, because a pair that no plane separates
//! refutes all classes at once.

use super::joint::against_each_other;
use super::proposal::binary64;
use super::search::{Answer, Effort, Search};
use super::signed::{self, Signed};
use crate::claim::planes::problem_of;
use crate::model::Plane;
use crate::run::Task;
use linsep_data::Dataset;
use linsep_proof::{Claim, Question};
use std::cell::Cell;

/// What an inquiry ends with.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// A plane of two classes, and the claim that it separates the rows of the task.
    Separable(Plane, Claim),
    /// No planes separate the rows.
    Inseparable(Claim),
    /// Nothing that a learner could use: every pair is separable, or a limit was reached.
    Open,
}

/// Whether the checker accepts a claim about the rows of a task.
pub(crate) fn holds_on(task: &Task, claim: &Claim) -> bool {
    signed::holds(claim, &task.data, task.rows.as_deref(), true, task.threads)
}

/// A question, or several, on the way to an answer.
pub(crate) struct Inquiry {
    task: Task,
    joint: bool,
    open: Open,
    search: Option<Search>,
    /// Visits of a row by all searches.
    pub(crate) visits: u64,
}

/// What is still to be asked.
enum Open {
    One(Option<Question>),
    /// The next pair of classes, the smaller number first. A list of all pairs would grow with the square of the
    /// classes.
    Pairs(usize, usize),
}

impl Open {
    fn next(&mut self, data: &Dataset) -> Option<Question> {
        let (first, second) = match self {
            Open::One(question) => return question.take(),
            Open::Pairs(first, second) => (first, second),
        };
        let names = data.label_names();
        if *second >= names.len() {
            (*first, *second) = (*first + 1, *first + 2);
        }
        let (a, b) = (names.get(*first)?, names.get(*second)?);
        *second += 1;
        Some(problem_of(data, b, Some(a)))
    }
}

impl Inquiry {
    /// Can `positive` be separated from all other classes?
    pub(crate) fn one(task: &Task, positive: u32) -> Inquiry {
        let class = &task.data.classes()[positive as usize];
        Inquiry::new(task, false, Open::One(Some(problem_of(&task.data, class, None))))
    }

    /// Can all classes be separated at once?
    pub(crate) fn joint(task: &Task) -> Inquiry {
        Inquiry::new(task, true, Open::Pairs(0, 1))
    }

    fn new(task: &Task, joint: bool, open: Open) -> Inquiry {
        Inquiry { task: task.clone(), joint, open, search: None, visits: 0 }
    }

    /// One round; `None` when another one is needed.
    pub(crate) fn round(&mut self) -> Option<Outcome> {
        if self.task.data.unprovable().is_some() {
            return Some(Outcome::Open);
        }
        let Some(search) = &mut self.search else {
            let Some(problem) = self.open.next(&self.task.data) else {
                return Some(Outcome::Open);
            };
            let (data, part) = (self.task.data.clone(), self.task.rows.as_deref());
            let reading = data.reading_field();
            let view = Signed::on(data, problem, true, part);
            if view.signs.contains(&1) && view.signs.contains(&-1) {
                self.search = Some(Search::new(view, reading, false));
            }
            return None;
        };
        let before = search.work.visits;
        // The exact method asks once for each step; its steps are limited, not its time, so that the
        // answer is the same everywhere.
        let size = search.view.dimension() as u64;
        let steps = Cell::new(EXACT_WORK / (size * size).max(1) + 16);
        let stop = || {
            steps.set(steps.get().saturating_sub(1));
            steps.get() == 0
        };
        let effort = Effort { threads: self.task.threads, stop: &stop, clock: || 0.0 };
        let answer = search.round(&effort);
        self.visits += search.work.visits - before;
        let answer = answer?;
        self.search = None;
        // One pair that stays open says nothing about the others.
        let Answer::Proved(claim) = answer else { return None };
        match claim {
            Claim::Separable { .. } if self.joint => None,
            Claim::Separable { ref plane, .. } => {
                let (weights, bias) = binary64(plane, self.task.data.n_features())?;
                Some(Outcome::Separable(Plane { weights, bias }, claim))
            }
            Claim::Inseparable { ref problem, ref witness } if self.joint => {
                let claim = against_each_other(&self.task.data, problem, witness);
                Some(Outcome::Inseparable(claim))
            }
            claim => Some(Outcome::Inseparable(claim)),
        }
    }
}

/// Steps of the exact method times the square of the dimension, at most, in one round.
const EXACT_WORK: u64 = 2_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn every_pair_of_classes_is_asked_once_and_in_order() {
        let rows: Vec<Vec<f64>> = (0..5).map(|k| vec![f64::from(k)]).collect();
        let data = Dataset::from_rows(&rows, &["a", "b", "c", "d", "e"]).unwrap();
        let mut open = Open::Pairs(0, 1);
        let mut asked = Vec::new();
        while let Some(question) = open.next(&data) {
            asked.push((question.negative[0].clone(), question.positive[0].clone()));
        }
        let names = data.label_names();
        let all = |i: usize| (i + 1..5).map(move |k| (names[i].clone(), names[k].clone()));
        assert_eq!(asked, (0..5).flat_map(all).collect::<Vec<_>>());
        assert!(open.next(&data).is_none());
    }
}
