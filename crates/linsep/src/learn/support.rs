//! The rows that hold a plane: those whose multiplier α is above 0, with w = Σ α y x / l2.
//!
//! Of the plain hinge these are the rows on the margin or behind it, of the squared hinge those closer
//! than the margin. α is what the claim `optimal` says, so nobody has to take it on trust: the checker
//! has computed the bound from the same numbers.
//!
//! Reference: Cortes, Vapnik, Support-vector networks, 1995.

use super::claimed::Claimed;
use super::{Claim, Task};
use crate::error::{Error, Result};

/// A row that holds a plane.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SupportRow {
    /// The row.
    pub row: u32,
    /// The class on the positive side of the plane.
    pub machine: String,
    /// Whether the row is on that side.
    pub positive: bool,
    /// Its multiplier.
    pub alpha: f64,
}

/// The rows with multipliers above 0, plane after plane.
pub fn support_rows(claims: &[Claim], task: &Task) -> Result<Vec<SupportRow>> {
    let mut found = Vec::new();
    for claim in claims {
        let Some(claimed) = Claimed::of(claim, task.data.n_features()) else {
            let words = match claim {
                Claim::Unproved { reason } => {
                    format!("no plane with multipliers is proved: {reason}")
                }
                claim => format!("the claim {} has no multiplier for each row", claim.name()),
            };
            return Err(Error::usage(words));
        };
        let objective = claimed.objective(&task.data, task.threads);
        let machine = claimed.problem.positive.join(", ");
        for (i, alpha) in claimed.alpha(&objective).into_iter().enumerate() {
            if alpha > 0.0 {
                let (row, positive) = (objective.rows[i], objective.signs[i] > 0.0);
                found.push(SupportRow { row, machine: machine.clone(), positive, alpha });
            }
        }
    }
    Ok(found)
}
