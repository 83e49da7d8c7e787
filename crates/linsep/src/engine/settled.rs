//! Equations with nearly dependent columns: the exact answer where it is cheap, and ranks that are proved.
//!
//! A factorisation in binary64 takes columns for dependent when they differ by rounding only, though their exact
//! values may be independent, with an answer far from the one without them. Where the factorisation dropped
//! columns or is nearly singular, the equations are solved in whole numbers as the checker does it, if the data is
//! small enough, and its answer is taken where the first one is not near it. Weights are binary64, and next to
//! columns that agree to sixteen digits even the nearest ones may have other scores; then nothing is claimed. What
//! whole numbers cannot decide is called numerical.

use crate::algebra::Factor;
use crate::claim::part::{Part, marks};
use crate::engine::closed_form::planes_of;
use crate::model::Plane;
use crate::run::Remark;
use linsep_data::Dataset;
use linsep_proof::{Equations, ExactAnswer, columns_are_independent, exact_answer};

/// Factorisations with a larger condition are looked at.
const NEARLY_SINGULAR: f64 = 1e12;

/// The rank of more columns is called numerical: a proof modulo a prime would take as long as the fit.
const MOST_PROVED: usize = 64;

/// What became of planes.
pub(crate) struct Settled {
    /// The exact answer, rounded, where the planes that were found are not near it.
    pub(crate) planes: Option<Vec<Plane>>,
    /// Whether the equations have an answer, where that is known.
    pub(crate) has_answer: Option<bool>,
    /// Whether weights of binary64 near the answer were looked for in vain.
    pub(crate) is_far: bool,
    /// A remark on the columns.
    pub(crate) columns: Remark,
}

impl Settled {
    /// Of planes that were found with a factorisation. `within` says whether its matrix is about the means of
    /// classes.
    pub(crate) fn new(
        data: &Dataset,
        rows: &[u32],
        factor: &Factor,
        planes: &[Plane],
        (equations, within): (&Equations, bool),
    ) -> Settled {
        let marks = marks(data, rows);
        let part = Part::new(data, &marks);
        let width = data.n_features();
        let numerical = factor.taken.len();
        // Columns that are 0 but for rounding look as independent as any others, so floats alone do not tell.
        let full = numerical == width && width <= MOST_PROVED;
        let shown = full && columns_are_independent(&part, &data.reading_field(), within);
        let doubtful =
            factor.is_singular() || factor.condition > NEARLY_SINGULAR || (full && !shown);
        let exact = match doubtful {
            true => {
                let claimed = planes_of(data, planes, 1);
                exact_answer(&claimed, equations, &part, &data.reading_field())
            }
            false => None,
        };
        let rank = match exact.as_ref().and_then(|exact| exact.rank) {
            Some(rank) => (rank, true),
            None => (numerical, shown),
        };
        // A column that was dropped though it is independent is so by less than the factorisation sees.
        let condition = match rank.0 > numerical {
            true => factor.condition.max(1.0 / Factor::smallest_pivot(width)),
            false => factor.condition,
        };
        Settled {
            has_answer: exact.as_ref().map(|exact| exact.has_answer),
            is_far: exact.as_ref().is_some_and(|e| e.distance.min(e.rounded_distance) > 1.0),
            planes: exact.and_then(better),
            columns: columns_remark(rank, width, condition.sqrt(), is_penalised(equations)),
        }
    }
}

/// Why nothing is claimed where binary64 has no weights near the answer.
pub(crate) const TOO_NEAR: &str = "columns are so nearly dependent that the exact answer, rounded to binary64, has other scores; leave one of them out, or use a ridge or shrinkage";

/// The exact answer, rounded, where the planes are not near it and farther than it is.
fn better(exact: ExactAnswer) -> Option<Vec<Plane>> {
    let plane = |(weights, bias)| Plane { weights, bias };
    let is_better = exact.distance > 1.0 && exact.rounded_distance < exact.distance;
    exact.rounded.filter(|_| is_better).map(|planes| planes.into_iter().map(plane).collect())
}

/// A power of ten.
fn power(exponent: f64) -> String {
    match exponent <= 6.0 {
        true => 10f64.powf(exponent).to_string(),
        false => format!("1e{exponent}"),
    }
}

/// Whether the equations have one answer whatever the columns are.
fn is_penalised(equations: &Equations) -> bool {
    match *equations {
        Equations::LeastSquares { l2, .. } => l2 > 0.0,
        Equations::Discriminant { shrinkage, .. } => shrinkage > 0.0,
        _ => false,
    }
}

fn columns_remark(
    (rank, is_exact): (usize, bool),
    width: usize,
    condition: f64,
    penalised: bool,
) -> Remark {
    let exponent = condition.log10().floor().max(0.0);
    let (note, word) = match is_exact {
        true => ("", "exact"),
        false => (" (numerical rank)", "numerical"),
    };
    let unique = rank == width || penalised;
    let ambiguity = if unique { "" } else { "; the weights are not unique" };
    Remark::new(
        "columns",
        format!(
            "{rank} of {width} independent{note}, condition at least {}{ambiguity}",
            power(exponent)
        ),
        [
            ("independent", rank.into()),
            ("columns", width.into()),
            ("rank", word.into()),
            ("condition_at_least", condition.into()),
        ],
    )
}
