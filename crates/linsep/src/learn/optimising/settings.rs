//! What logistic regression and the support vector machine have in common.

use crate::objective::box_constraints::Bound;
use crate::run::ClassWeights;
use linsep_data::error::{Error, Result};
use linsep_data::scale::Scaling;
use linsep_proof::Intercept;

/// The settings of a convex problem beside its loss: with row costs c = C · weight and v_j = s_j w_j (s the
/// scale, 1 by default)
///
/// ```text
/// least  Σ c loss(y(w·x + b)) + l2/2 |v|² + l1 |v|₁
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ConvexSettings {
    /// What the losses count beside the penalty.
    pub c: f64,
    /// The factor of |v|²/2.
    pub l2: f64,
    /// The factor of |v|₁.
    pub l1: f64,
    /// What becomes of the bias.
    pub intercept: Intercept,
    /// No weight is smaller.
    pub lower: Bound,
    /// No weight is larger.
    pub upper: Bound,
    /// The scale in which weights are penalised.
    pub scale: Scaling,
    /// What rows count by their class.
    pub class_weights: ClassWeights,
    /// The relative gap at which a run ends.
    pub gap: f64,
    /// Who does the work.
    pub solver: Solver,
    /// The seed of the order of the rows.
    pub seed: u64,
}

impl Default for ConvexSettings {
    fn default() -> Self {
        ConvexSettings {
            c: 1.0,
            l2: 1.0,
            l1: 0.0,
            intercept: Intercept::Free,
            lower: Bound::default(),
            upper: Bound::default(),
            scale: Scaling::None,
            class_weights: ClassWeights::None,
            gap: 1e-3,
            solver: Solver::Auto,
            seed: 0,
        }
    }
}

/// The setters of these settings, on themselves or on a learner that holds them.
macro_rules! convex_setters {
    ($($target:tt)+) => {
        linsep_proof::setters! {
            $($target)+ {
                with_c => c: f64,
                with_l2 => l2: f64,
                with_l1 => l1: f64,
                with_intercept => intercept: linsep_proof::Intercept,
                with_lower => lower: $crate::learn::optimising::Bound,
                with_upper => upper: $crate::learn::optimising::Bound,
                with_scale => scale: linsep_data::scale::Scaling,
                with_class_weights => class_weights: $crate::run::ClassWeights,
                with_gap => gap: f64,
                with_solver => solver: $crate::learn::optimising::Solver,
                with_seed => seed: u64,
            }
        }
    };
}
pub(crate) use convex_setters;

convex_setters! { ConvexSettings }

linsep_data::read::words! {
    /// Who does the work.
    Solver: "solver" {
        /// Chosen from the shape of the data.
        Auto = "auto",
        /// Newton's method.
        Newton = "newton",
        /// Dual coordinate descent.
        Dual = "dual",
        /// Coordinates on the columns.
        Coordinates = "coordinates",
    }
}

impl ConvexSettings {
    /// Whether a weight has a bound.
    pub(crate) fn has_limits(&self) -> bool {
        !(self.lower.is_none() && self.upper.is_none())
    }

    /// Whether nothing bounds the weights.
    pub(crate) fn is_unbounded(&self) -> bool {
        self.l1 == 0.0 && self.l2 == 0.0 && !self.has_limits()
    }

    /// The gap to aim at. Without a penalty it is estimated, and the dual point of the proof shows less than an
    /// estimate says; Newton's method is then one step from a far smaller one.
    pub(crate) fn aim(&self) -> f64 {
        const CLOSER: f64 = 1e-3;
        if self.is_unbounded() { CLOSER * self.gap } else { self.gap }
    }
}
