//! How many mistakes every plane makes at least: conflicts that have no row in common.
//!
//! A conflict is a group of rows with Σ λ z = 0, λ > 0: no plane has all of them strictly on their
//! side, so every plane errs on one of them at least. Conflicts without a common row therefore add
//! up: k of them prove k mistakes of any plane. They are found one after the other: refute what is
//! left, take the rows of the refutation out, and again. More and smaller conflicts may exist, so k is
//! a lower bound, not the least number itself, whose search is hard in general.

use super::inquiry::{Inquiry, Outcome};
use crate::model::Plane;
use crate::run::Task;
use linsep_proof::{Claim, Weighted};

/// Conflicts among the rows of a task, `positive` against all other classes, and a plane that separates
/// the rows that are in none of them. The conflicts are at most so many that the search stays in
/// proportion to the data, and the plane is missing where that limit was reached.
pub(crate) fn disjoint_conflicts(
    task: &Task,
    positive: u32,
    rows: &[u32],
) -> (Vec<Vec<Weighted>>, Option<Plane>) {
    let size = (rows.len() * (task.data.n_features() + 1)).max(1);
    let most = (WORK / size).clamp(8, 1000);
    let mut left = rows.to_vec();
    let mut conflicts = Vec::new();
    while conflicts.len() < most {
        let witness = match ask(task, positive, &left) {
            Outcome::Inseparable(Claim::Inseparable { witness, .. }) => witness,
            Outcome::Separable(plane, _) => return (conflicts, Some(plane)),
            _ => break,
        };
        let taken: std::collections::HashSet<u64> = witness.iter().map(|entry| entry.row).collect();
        left.retain(|row| !taken.contains(&u64::from(*row)));
        conflicts.push(witness);
    }
    (conflicts, None)
}

/// A conflict among some rows, checked; `None` if they can be separated or it was not decided.
pub(crate) fn conflict(task: &Task, positive: u32, rows: &[u32]) -> Option<Vec<Weighted>> {
    match ask(task, positive, rows) {
        Outcome::Inseparable(Claim::Inseparable { witness, .. }) => Some(witness),
        _ => None,
    }
}

/// Whether a plane separates some rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Separated {
    Yes,
    No,
    /// It was not decided.
    Unknown,
}

/// Whether a plane separates some rows, checked. Rows of one side always can be.
pub(crate) fn separated(task: &Task, positive: u32, rows: &[u32]) -> Separated {
    let name = &task.data.classes()[positive as usize];
    let is_positive = |row: &u32| task.data.label_text(*row as usize) == name;
    if rows.windows(2).all(|pair| is_positive(&pair[0]) == is_positive(&pair[1])) {
        return Separated::Yes;
    }
    match ask(task, positive, rows) {
        Outcome::Separable(..) => Separated::Yes,
        Outcome::Inseparable(_) => Separated::No,
        Outcome::Open => Separated::Unknown,
    }
}

fn ask(task: &Task, positive: u32, rows: &[u32]) -> Outcome {
    let part = Task { rows: Some(rows.into()), ..task.clone() };
    let mut inquiry = Inquiry::one(&part, positive);
    // Each round ends by its own limits; the rounds are few.
    for _ in 0..ROUNDS {
        if let Some(outcome) = inquiry.round() {
            return outcome;
        }
    }
    Outcome::Open
}

/// Rows times columns, times conflicts, at most.
const WORK: usize = 40_000_000;
const ROUNDS: usize = 10_000;
