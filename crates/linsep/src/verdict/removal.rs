//! Rows without which a plane separates the others.
//!
//! Conflicts without a common row ([`super::disjoint`]) are a lower bound: every plane errs on one row of each,
//! so every removal takes one row of each. A plane that separates the rows outside of the conflicts errs only on
//! rows of conflicts, and without those it separates. They are put back one after the other, as long as a plane
//! still separates what is there: none of those that stay out can be put back, so no smaller part of them would
//! do. Another set may still be smaller; that this one is the smallest is known where it meets the bound.

use super::disjoint::{Separated, disjoint_conflicts, separated};
use super::signed::Signed;
use super::{Decision, Judge, Verdict};
use crate::model::Plane;
use crate::run::Task;
use std::collections::HashSet;
use std::sync::Arc;

/// Rows times columns times questions, at most.
const MOST_WORK: u64 = 20_000_000_000;

/// A set of rows whose removal makes the others separable.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Removal {
    /// The rows, rising. None of them can be put back.
    pub rows: Vec<u64>,
    /// Every such set has at least so many.
    pub at_least: u64,
}

impl Removal {
    /// Whether no set is smaller.
    pub fn is_smallest(&self) -> bool {
        self.rows.len() as u64 == self.at_least
    }
}

/// `None` for all classes at once, without a bias, and where it would take too long or `stop` said so.
pub(crate) fn of(judge: &Judge, decision: &Decision, stop: &dyn Fn() -> bool) -> Option<Removal> {
    let problem = decision.problem.as_ref().filter(|_| judge.bias)?;
    if decision.verdict == Verdict::Separable {
        return Some(Removal { rows: Vec::new(), at_least: 0 });
    }
    let positive =
        judge.data.classes().iter().position(|name| *name == problem.positive[0])? as u32;
    let view = Signed::new(Arc::clone(&judge.data), problem.clone(), true);
    let task = Task { threads: judge.threads, ..Task::new(Arc::clone(&judge.data)) };
    let (conflicts, plane) = disjoint_conflicts(&task, positive, &view.rows);
    let in_conflict: HashSet<u64> = conflicts.iter().flatten().map(|entry| entry.row).collect();
    let outside = |row: &u32| !in_conflict.contains(&u64::from(*row));
    let stays = |k: &usize| {
        let right = |plane: &Plane| view.margin(*k, &plane.weights, plane.bias) > 0.0;
        outside(&view.rows[*k]) || plane.as_ref().is_some_and(right)
    };
    let mut there: Vec<u32> = (0..view.len()).filter(stays).map(|k| view.rows[k]).collect();
    if separated(&task, positive, &there) != Separated::Yes {
        // Floats have called a row right that is on the plane: the rows outside of conflicts are sure.
        there = view.rows.iter().copied().filter(outside).collect();
        if separated(&task, positive, &there) != Separated::Yes {
            return None;
        }
    }
    let out: Vec<u32> =
        view.rows.iter().copied().filter(|row| there.binary_search(row).is_err()).collect();
    let size = (view.len() * view.dimension()) as u64;
    if size.saturating_mul(out.len() as u64) > MOST_WORK {
        return None;
    }
    let mut rows = Vec::new();
    for row in out {
        if stop() {
            return None;
        }
        there.push(row);
        there.sort_unstable();
        match separated(&task, positive, &there) {
            Separated::Yes => {}
            Separated::No => {
                there.retain(|other| *other != row);
                rows.push(u64::from(row));
            }
            Separated::Unknown => return None,
        }
    }
    Some(Removal { rows, at_least: conflicts.len() as u64 })
}
