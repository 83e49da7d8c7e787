//! Claims that a model is nearly the best of all: what it minimises, and a dual point that bounds
//! every model from below.

use crate::fitted::FloatPlane;
use serde::{Deserialize, Serialize};

/// The evidence of a claim `optimal`: primal ≥ P of the planes, bound ≤ D of the dual point, and
/// D ≤ P of every model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Optimality {
    /// What is minimised.
    pub objective: Objective,
    /// From which the checker makes a dual point.
    #[serde(default)]
    pub dual: DualPoint,
    /// No less than the objective of the planes.
    pub primal: f64,
    /// No more than the objective of any planes.
    pub bound: f64,
    /// No less than (primal − bound) / bound; 0 where the two are equal. A bound of 0 below the primal has
    /// no gap.
    pub gap: f64,
    /// No less than √(2 (primal − bound) / l2): how far the best weights can be, all planes
    /// together, in the scale of the penalty. Absent without an l2 term.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radius: Option<f64>,
    /// Where the best bias lies, for a free one of two classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bias: Option<BiasInterval>,
}

/// The evidence of a claim `modified-score`: √(UᵀI⁻¹U) ≤ residual, U the gradient of the logistic likelihood with
/// Jeffreys' prior and I the expected information.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ModifiedScore {
    /// No less than √(UᵀI⁻¹U): how many standard errors a step of scoring moves any direction.
    pub residual: f64,
    /// Columns without a coefficient, rising: their weights are 0, and I is about the others.
    #[serde(default, rename = "left-out", skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<u32>,
}

impl ModifiedScore {
    /// A bound for the coefficients of all columns.
    pub fn new(residual: f64) -> ModifiedScore {
        ModifiedScore { residual, left_out: Vec::new() }
    }
}

setters! {
    ModifiedScore {
        with_left_out => left_out: Vec<u32>,
    }
}

/// How the reason begins why nothing is claimed of an objective whose bound is 0.
pub const VACUOUS: &str = "the bound is vacuous";

impl Optimality {
    /// Evidence without a radius and an interval of the bias.
    pub fn new(
        objective: Objective,
        dual: DualPoint,
        primal: f64,
        bound: f64,
        gap: f64,
    ) -> Optimality {
        Optimality { objective, dual, primal, bound, gap, radius: None, bias: None }
    }

    /// Turns a gap of the first format, (primal − bound)/primal, into one of the second. It is infinite
    /// where the bound shows nothing.
    pub(crate) fn measure_by_bound(&mut self) -> Result<(), String> {
        let Optimality { primal, bound, gap, .. } = *self;
        let right = primal >= bound && primal > 0.0 && gap >= (primal - bound) / primal;
        if !right {
            return Err(format!(
                "the gap {gap:?} does not follow from the primal {primal:?} and the bound {bound:?}"
            ));
        }
        self.gap = match primal > bound {
            // Two roundings of (primal − bound)/bound.
            true if bound > 0.0 => ((primal - bound) / bound).next_up().next_up(),
            true => f64::INFINITY,
            false => 0.0,
        };
        Ok(())
    }

    /// Why there is no gap.
    pub(crate) fn vacuous(&self) -> String {
        let Optimality { primal, bound, .. } = self;
        format!("{VACUOUS}: the objective is at most {primal}, the optimum at least {bound}")
    }
}

setters! {
    Optimality {
        with_radius => radius: Option<f64>,
        with_bias => bias: Option<BiasInterval>,
    }
}

/// Σ c_i loss_i + Σ_j (l2/2 v_j² + l1 |v_j|), v_j = w_j · scale_j, over all planes.
///
/// c_i is the binary64 product (c · weight of the row) · weight of its class, rounded twice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Objective {
    /// The loss of a row.
    pub loss: Loss,
    /// C.
    pub c: f64,
    /// The factor of Σ v²/2.
    pub l2: f64,
    /// The factor of Σ |v|.
    pub l1: f64,
    /// How the bias is treated.
    pub intercept: Intercept,
    /// Weights of classes that are not 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty", rename = "class-weights")]
    pub class_weights: Vec<(String, f64)>,
    /// scale_j of each column; all 1 when empty. A penalised bias has the scale 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scale: Vec<f64>,
    /// Columns whose weights (of the one plane of two classes) must stay between limits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<WeightLimit>,
}

impl Objective {
    /// A loss with the penalty Σ v²/2 and a free bias.
    pub fn new(loss: Loss, c: f64) -> Objective {
        Objective {
            loss,
            c,
            l2: 1.0,
            l1: 0.0,
            intercept: Intercept::Free,
            class_weights: Vec::new(),
            scale: Vec::new(),
            limits: Vec::new(),
        }
    }
}

setters! {
    Objective {
        with_l2 => l2: f64,
        with_l1 => l1: f64,
        with_intercept => intercept: Intercept,
        with_class_weights => class_weights: Vec<(String, f64)>,
        with_scale => scale: Vec<f64>,
        with_limits => limits: Vec<WeightLimit>,
    }
}

/// The loss of a row: of its margin m = ±(w·x + b) for two classes, else of all scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Loss {
    /// ln(1 + exp(−m)).
    Logistic,
    /// max(0, 1 − m).
    Hinge,
    /// max(0, 1 − m)².
    SquaredHinge,
    /// (1 − m)², least squares with the targets +1 and −1.
    Squared,
    /// ln Σ_k exp(s_k − s_own).
    Softmax,
    /// max_k (s_k − s_own + 1 for k ≠ own).
    CrammerSinger,
}

/// How the bias is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Intercept {
    /// Not penalised.
    Free,
    /// Penalised as the weight of a column of ones.
    Penalised,
    /// Always 0.
    None,
}

/// The least and the most that a weight may be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct WeightLimit {
    /// 0-based column.
    pub column: u32,
    /// w ≥ this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least: Option<f64>,
    /// w ≤ this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<f64>,
}

impl WeightLimit {
    /// Limits of the weight of a column.
    pub fn new(column: u32, least: Option<f64>, most: Option<f64>) -> WeightLimit {
        WeightLimit { column, least, most }
    }
}

/// What a dual point is made from. Every point bounds the objective; a good one bounds it closely.
///
/// Rows that are not listed take the slope of their loss at the planes: two classes
/// α = c/(1 + exp(m)), 2c max(0, 1 − m), 2c (1 − m), or c where m < 1 and 0 elsewhere; K classes the shares
/// exp(s_k)/Σ exp(s), or the whole share for the class of the greatest s_k + 1 (k ≠ own) or s_own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct DualPoint {
    /// Instead of the claim's own plane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plane: Option<FloatPlane>,
    /// Instead of the claim's own planes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planes: Option<Vec<FloatPlane>>,
    /// (row, α) of rows with a multiplier of their own; rows rising.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alpha: Vec<(u64, f64)>,
    /// (row, [(plane, share), …]) of rows with shares of their own: shares of other classes than the
    /// own, which has what is left of 1; rows and planes rising.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<(u64, Vec<(u32, f64)>)>,
    /// Without a penalty: rows whose multipliers are corrected until the sums over all columns are 0, as many as
    /// there are columns, an intercept counted; rows rising.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub correction: Vec<u64>,
    /// The same with planes for each class: (row, plane, plane) where share moves from the second to the first, as
    /// many as there are columns in all planes but the last, intercepts counted; rising.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<(u64, u32, u32)>,
}

impl DualPoint {
    /// Whether it speaks of rows by their numbers.
    pub(crate) fn names_rows(&self) -> bool {
        let DualPoint { alpha, shares, correction, moves, .. } = self;
        !(alpha.is_empty() && shares.is_empty() && correction.is_empty() && moves.is_empty())
    }
}

setters! {
    DualPoint {
        with_plane => plane: Option<FloatPlane>,
        with_planes => planes: Option<Vec<FloatPlane>>,
        with_alpha => alpha: Vec<(u64, f64)>,
        with_shares => shares: Vec<(u64, Vec<(u32, f64)>)>,
        with_correction => correction: Vec<u64>,
        with_moves => moves: Vec<(u64, u32, u32)>,
    }
}

/// Where the best bias lies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct BiasInterval {
    /// No best bias is below.
    pub least: f64,
    /// No best bias is above.
    pub most: f64,
    /// The share by which the balanced α of the negative rows is cut for `least`, and that of the
    /// positive rows for `most`.
    pub tilt: [f64; 2],
}

impl BiasInterval {
    /// An interval and the shares that prove it.
    pub fn new(least: f64, most: f64, tilt: [f64; 2]) -> BiasInterval {
        BiasInterval { least, most, tilt }
    }
}
