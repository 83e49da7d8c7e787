//! The rows that hold a plane: those whose multiplier α is above 0, with w = Σ α y x / l2.
//!
//! Of the plain hinge these are the rows on the margin or behind it, of the squared hinge those closer
//! than the margin. α is what the claim `optimal` says, so nobody has to take it on trust: the checker
//! has computed the bound from the same numbers.
//!
//! Of a hard margin they are the rows nearest to the plane, and λ of the claim `geometric-margin` says how
//! much each one holds: α = λ / (2 γ² Σ λ) with the sum over the rows of its side, so that w = Σ α y x.
//!
//! Reference: Cortes, Vapnik, Support-vector networks, 1995.

use crate::claim::recovered::Claimed;
use crate::run::{Claim, Task};
use crate::verdict::Ratio;
use linsep_data::error::{Error, Result};
use linsep_proof::{Question, Weighted};

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
        match claim {
            Claim::GeometricMargin { problem, support, gamma2 } => {
                found.extend(of_margin(problem, support, gamma2, task)?);
            }
            // That the plane separates stands beside its margin.
            Claim::Separable { problem, .. } if claims.iter().any(|c| is_margin(c, problem)) => {}
            claim => found.extend(of_optimum(claim, task)?),
        }
    }
    Ok(found)
}

fn is_margin(claim: &Claim, of: &Question) -> bool {
    matches!(claim, Claim::GeometricMargin { problem, .. } if problem == of)
}

/// The rows that hold an exact margin.
fn of_margin(
    problem: &Question,
    support: &[Weighted],
    gamma2: &str,
    task: &Task,
) -> Result<Vec<SupportRow>> {
    let malformed = || Error::usage("the claim geometric-margin is not well formed");
    let gamma2 = Ratio::parse(gamma2).ok_or_else(malformed)?;
    let sides = support.iter().map(|entry| {
        let row = usize::try_from(entry.row).ok().filter(|&row| row < task.data.n_rows());
        let lambda = Ratio::parse(&entry.lambda).ok_or_else(malformed)?;
        let row = row.ok_or_else(malformed)?;
        let label = task.data.label_text(row);
        Ok((row as u32, problem.positive.iter().any(|name| name == label), lambda))
    });
    let sides: Vec<(u32, bool, Ratio)> = sides.collect::<Result<_>>()?;
    let total = |side: bool| {
        let of_side = sides.iter().filter(|(_, positive, _)| *positive == side);
        of_side.map(|(_, _, lambda)| lambda.clone()).reduce(|sum, lambda| sum.plus(&lambda))
    };
    let totals = [total(false), total(true)];
    let twice = gamma2.plus(&gamma2);
    let row = |(row, positive, lambda): &(u32, bool, Ratio)| {
        let share = lambda.over(totals[usize::from(*positive)].as_ref()?)?;
        // Rounded down; a multiplier that is too small for binary64 is still one.
        let alpha = share.over(&twice)?.bounds().lower?.max(f64::MIN_POSITIVE);
        let machine = problem.positive.join(", ");
        Some(SupportRow { row: *row, machine, positive: *positive, alpha })
    };
    sides.iter().map(|side| row(side).ok_or_else(malformed)).collect()
}

/// The rows that hold the plane of a claim `optimal`.
fn of_optimum(claim: &Claim, task: &Task) -> Result<Vec<SupportRow>> {
    let found = Claimed::of(claim, task.data.n_features())
        .and_then(|claimed| Some((claimed.objective(&task.data, task.threads)?, claimed)));
    let Some((objective, claimed)) = found else {
        let words = match claim {
            Claim::Unproved { reason } => {
                format!("no plane with multipliers is proved: {reason}")
            }
            claim => format!("the claim {} has no multiplier for each row", claim.name()),
        };
        return Err(Error::usage(words));
    };
    let machine = claimed.problem.positive.join(", ");
    let mut found = Vec::new();
    for (i, alpha) in claimed.alpha(&objective).into_iter().enumerate() {
        if alpha > 0.0 {
            let (row, positive) = (objective.rows[i], objective.signs[i] > 0.0);
            found.push(SupportRow { row, machine: machine.clone(), positive, alpha });
        }
    }
    Ok(found)
}
