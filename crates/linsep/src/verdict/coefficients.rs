//! What becomes of each coefficient of a maximum-likelihood logistic fit, with a proof for each.
//!
//! Let C be the cone of the weak planes: z·w ≥ 0 for every row. Where it is more than the planes that have
//! every row on themselves, the fit goes away along C for ever (docs/theory/theorems.md, section 6):
//!
//! ```text
//! aliased       the column is a sum of the bias and of columns before it; its coefficient is fixed at 0
//! finite        w_j = 0 for all of C
//! +inf, -inf    w_j ≥ 0 (≤ 0) for all of C, but not always 0
//! undetermined  w_j has both signs in C; which one a fit runs away with depends on its path
//! ```
//!
//! [`Recession`] finds out, and the checker confirms the claim before it leaves.

use super::rank::independence;
use super::recession::Recession;
use super::search::Effort;
use super::signed::Signed;
use super::stacked::Stacked;
use super::{Decision, Judge, Verdict};
use dashu_int::IBig;
use linsep_proof::{Claim, Coefficient, Estimate, Weighted};
use std::sync::Arc;

/// Beyond this many numbers it is not looked for.
const MOST_NUMBERS: usize = 8_000_000;

/// The coefficients of a fit, the bias first if there is one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Coefficients {
    /// For all classes at once: the class that the others are compared with.
    pub reference: Option<String>,
    /// Class (of all classes at once), column (`None` is the bias) and estimate.
    pub list: Vec<(Option<String>, Option<u32>, Estimate)>,
    /// The proof, accepted by the checker.
    pub claim: Claim,
}

impl Coefficients {
    /// What a claim says, if the checker accepts it.
    pub(crate) fn checked(judge: &Judge, view: &Signed, claim: Claim) -> Option<Coefficients> {
        let (Claim::Coefficients { estimates, .. } | Claim::JointCoefficients { estimates }) =
            &claim
        else {
            return None;
        };
        let entry = |c: &Coefficient| (c.class.clone(), c.column, c.estimate);
        let list = estimates.coefficients.iter().map(entry).collect();
        let reference = estimates.classes.last().cloned();
        let holds = view.holds(&claim, &judge.reading(), judge.threads);
        holds.then_some(Coefficients { reference, list, claim })
    }
}

/// `None` where the kind of the rows is not known, there is too much data, or `stop` said so.
pub(crate) fn of(
    judge: &Judge,
    decision: &Decision,
    stop: &dyn Fn() -> bool,
) -> Option<Coefficients> {
    if let Some(stacked) = &decision.stacked {
        return Stacked::new(judge, true)?.coefficients(stacked, stop);
    }
    let problem = decision.problem.as_ref().filter(|_| judge.kind)?;
    let view = Signed::new(Arc::clone(&judge.data), problem.clone(), judge.bias);
    if view.len().saturating_mul(view.dimension()) > MOST_NUMBERS {
        return None;
    }
    let face = face_of(&view, decision)?;
    let independence = independence(&view, judge.threads, stop)?;
    let effort = Effort { threads: judge.threads, stop, clock: judge.clock };
    for exactly in [false, true] {
        let Some(mut recession) = Recession::new(&view, &independence, &face, exactly) else {
            continue;
        };
        let Some(estimates) = recession.run(&effort) else { continue };
        let claim = Claim::Coefficients { problem: problem.clone(), estimates };
        if let Some(found) = Coefficients::checked(judge, &view, claim) {
            return Some(found);
        }
    }
    None
}

/// The rows that lie on every weak plane, as far as they are needed to span all of them, with positive
/// weights that add up to 0.
fn face_of(view: &Signed, decision: &Decision) -> Option<Vec<(usize, IBig)>> {
    let entry = |entry: &Weighted| {
        let at = view.rows.binary_search(&u32::try_from(entry.row).ok()?).ok()?;
        Some((at, entry.lambda.parse().ok()?))
    };
    match (decision.verdict, &decision.claim) {
        (Verdict::Separable, _) => Some(Vec::new()),
        (Verdict::Touching, _) => Some(decision.face.clone()),
        (Verdict::Overlapping, Claim::Overlapping { witness, .. }) => {
            witness.iter().map(entry).collect()
        }
        _ => None,
    }
}
