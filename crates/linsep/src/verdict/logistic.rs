//! What a verdict means for logistic regression without a penalty.
//!
//! The fit maximises l(w) = −Σ log(1 + exp(−z·w)) over the rows z = ±(1, x) of a question. A largest
//! value is attained exactly if the rows overlap, and at one place only if they have full rank
//! (Albert and Anderson, Biometrika 71, 1984). Otherwise let L be the span of the rows that lie on
//! every weak plane: nothing when the rows are separable, what the reduction of [`super::kind`] found
//! when they touch. Along every sequence of weights on which l goes to its least upper bound, the
//! coefficient j has a finite limit, the same for all of them, if the unit vector e_j lies in L; if
//! not, there are such sequences on which it is as large as one likes. Both are proved in
//! docs/theory/theorems.md, section 6. What is listed here rests on exact ranks, not on a fit.

use super::signed::Signed;
use super::{Decision, Judge, Verdict};
use linsep_proof::Claim;
use std::sync::Arc;

/// Rows that are listed at most.
const LISTED: usize = 100;

/// Whether a maximum-likelihood fit exists, and what stands in its way.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Logistic {
    /// Whether the likelihood has a largest value.
    pub exists: bool,
    /// Whether it is attained at one place only.
    pub unique: bool,
    /// The coefficients that nothing bounds where no fit exists; `None` is the bias.
    pub infinite: Vec<Option<u32>>,
    /// The rows that push them away, the first hundred.
    pub rows: Vec<u64>,
    /// How many there are.
    pub row_count: u64,
}

/// `None` where the kind of the rows is not known.
pub(crate) fn meaning(judge: &Judge, decision: &Decision) -> Option<Logistic> {
    let problem = decision.problem.as_ref()?;
    let none = Logistic {
        exists: false,
        unique: false,
        infinite: Vec::new(),
        rows: Vec::new(),
        row_count: 0,
    };
    match (decision.verdict, &decision.claim) {
        (Verdict::Overlapping, Claim::Overlapping { null, .. }) => {
            // Fewer rows than dimensions never have full rank.
            let view = Signed::new(Arc::clone(&judge.data), problem.clone(), judge.bias);
            let unique = null.is_empty() && view.dimension() <= view.len();
            Some(Logistic { exists: true, unique, ..none })
        }
        (Verdict::Touching, _) => {
            let escape = decision.escape.as_ref()?;
            let rows = escape.rows.iter().copied().take(LISTED).collect();
            let (infinite, row_count) = (escape.coefficients.clone(), escape.rows.len() as u64);
            Some(Logistic { infinite, rows, row_count, ..none })
        }
        (Verdict::Separable, _) => {
            let view = Signed::new(Arc::clone(&judge.data), problem.clone(), judge.bias);
            let columns = (0..judge.data.n_features() as u32).map(Some);
            let infinite = judge.bias.then_some(None).into_iter().chain(columns).collect();
            let rows = view.rows.iter().map(|&row| u64::from(row)).take(LISTED).collect();
            Some(Logistic { infinite, rows, row_count: view.len() as u64, ..none })
        }
        _ => None,
    }
}
