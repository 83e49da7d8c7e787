//! The JSON of claims: one flat object whose fields depend on the kind.

use crate::claim::{Claim, ClassPlane, ExactPlane, Question, Scheme, Weighted};
use crate::coefficients::{Estimates, ForcedLabel};
use crate::fitted::{Equations, Planes, Statistics};
use crate::optimal::{ModifiedScore, Optimality};
use serde::{Deserialize, Serialize};

/// A claim as it stands in a file: one flat object whose fields depend on its kind.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wire {
    claim: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scheme: Option<Scheme>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    positive: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    negative: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    constant: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gamma2: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bound: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    plane: Option<ExactPlane>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    planes: Option<Vec<ClassPlane>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    witness: Option<serde_json::Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    support: Option<Vec<Weighted>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    weights: Option<Vec<Weighted>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    null: Option<Vec<Vec<String>>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mistakes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    conflicts: Option<Vec<Vec<Weighted>>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    estimates: Option<Estimates>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    forced: Option<ForcedLabel>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    equations: Option<Equations>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    statistics: Option<Statistics>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    optimality: Option<Optimality>,
    #[serde(default, rename = "modified-score", skip_serializing_if = "Option::is_none")]
    modified_score: Option<ModifiedScore>,
}

impl Wire {
    fn of(claim: &Claim) -> Wire {
        let mut wire = Wire { claim: claim.name().to_owned(), ..Wire::default() };
        if let Some(problem) = claim.problem() {
            wire.scheme = Some(problem.scheme);
            wire.positive = Some(problem.positive.clone());
            wire.negative = Some(problem.negative.clone());
        }
        wire
    }

    fn take_problem(&mut self) -> Result<Question, String> {
        match (self.scheme.take(), self.positive.take(), self.negative.take()) {
            (Some(scheme), Some(positive), Some(negative)) if scheme != Scheme::Joint => {
                Ok(Question { scheme, positive, negative })
            }
            _ => Err("the claim needs scheme (binary, pair or rest), positive and negative".into()),
        }
    }

    fn take_witness<T: serde::de::DeserializeOwned>(&mut self) -> Result<Vec<T>, String> {
        let value = self.witness.take().ok_or("the claim needs a witness")?;
        serde_json::from_value(value).map_err(|e| format!("the witness is not well formed: {e}"))
    }

    /// Whether every field has been used.
    fn is_empty(&self) -> bool {
        self.scheme.is_none()
            && self.positive.is_none()
            && self.negative.is_none()
            && self.reason.is_none()
            && self.constant.is_none()
            && self.gamma2.is_none()
            && self.bound.is_none()
            && self.plane.is_none()
            && self.planes.is_none()
            && self.witness.is_none()
            && self.support.is_none()
            && self.weights.is_none()
            && self.null.is_none()
            && self.mistakes.is_none()
            && self.conflicts.is_none()
            && self.estimates.is_none()
            && self.forced.is_none()
            && self.equations.is_none()
            && self.statistics.is_none()
            && self.optimality.is_none()
            && self.modified_score.is_none()
    }

    fn put_planes(&mut self, planes: Planes) {
        match planes {
            Planes::Two { plane, .. } => self.plane = Some(plane.into()),
            Planes::Each(planes) => {
                self.scheme = Some(Scheme::Joint);
                self.planes = Some(planes.into_iter().map(ClassPlane::from).collect());
            }
        }
    }

    fn take_planes(&mut self) -> Result<Planes, String> {
        match (self.scheme, self.plane.take(), self.planes.take()) {
            (Some(Scheme::Joint), None, Some(planes)) => {
                let planes: Result<_, String> = planes.into_iter().map(TryInto::try_into).collect();
                Ok(Planes::Each(planes?))
            }
            (_, Some(plane), None) => {
                Ok(Planes::Two { problem: self.take_problem()?, plane: plane.try_into()? })
            }
            _ => Err("the claim needs a plane, or planes with the scheme joint".into()),
        }
    }
}

impl From<Claim> for Wire {
    fn from(claim: Claim) -> Wire {
        let mut wire = Wire::of(&claim);
        // Lists of plain structs always have a JSON form.
        let rows = |rows: Vec<Weighted>| serde_json::to_value(rows).ok();
        match claim {
            Claim::Unproved { reason } => wire.reason = Some(reason),
            Claim::Separable { plane, .. } => wire.plane = Some(plane),
            Claim::Inseparable { witness, .. } => wire.witness = rows(witness),
            Claim::Touching { witness, plane, .. } => {
                wire.witness = rows(witness);
                wire.plane = Some(plane);
            }
            Claim::Overlapping { witness, null, .. } => {
                wire.witness = rows(witness);
                wire.null = (!null.is_empty()).then_some(null);
            }
            Claim::Margin { constant, support, gamma2, .. } => {
                wire.constant = Some(constant);
                wire.support = Some(support);
                wire.gamma2 = Some(gamma2);
            }
            Claim::GeometricMargin { support, gamma2, .. } => {
                wire.support = Some(support);
                wire.gamma2 = Some(gamma2);
            }
            Claim::Bracket { weights, bound, .. } => {
                wire.weights = Some(weights);
                wire.bound = Some(bound);
            }
            Claim::JointSeparable { planes } => {
                wire.scheme = Some(Scheme::Joint);
                wire.planes = Some(planes);
            }
            Claim::JointInseparable { witness } => {
                wire.scheme = Some(Scheme::Joint);
                wire.witness = serde_json::to_value(witness).ok();
            }
            Claim::JointTouching { witness, planes } => {
                wire.scheme = Some(Scheme::Joint);
                wire.witness = serde_json::to_value(witness).ok();
                wire.planes = Some(planes);
            }
            Claim::JointOverlapping { witness, null } => {
                wire.scheme = Some(Scheme::Joint);
                wire.witness = serde_json::to_value(witness).ok();
                wire.null = (!null.is_empty()).then_some(null);
            }
            Claim::Mistakes { plane, mistakes, conflicts, .. } => {
                wire.plane = Some(plane);
                wire.mistakes = Some(mistakes);
                wire.conflicts = Some(conflicts);
            }
            Claim::Coefficients { estimates, .. } => wire.estimates = Some(estimates),
            Claim::JointCoefficients { estimates } => {
                wire.scheme = Some(Scheme::Joint);
                wire.estimates = Some(estimates);
            }
            Claim::Forced { forced, .. } => wire.forced = Some(forced),
            Claim::Stationary { planes, equations } => {
                wire.put_planes(planes);
                wire.equations = Some(equations);
            }
            Claim::Counts { planes, statistics } => {
                wire.put_planes(planes);
                wire.statistics = Some(statistics);
            }
            Claim::Optimal { planes, optimality } => {
                wire.put_planes(planes);
                wire.optimality = Some(optimality);
            }
            Claim::ModifiedScore { planes, modified_score } => {
                wire.put_planes(planes);
                wire.modified_score = Some(modified_score);
            }
        }
        wire
    }
}

impl TryFrom<Wire> for Claim {
    type Error = String;

    fn try_from(mut wire: Wire) -> Result<Claim, String> {
        fn need<T>(field: &mut Option<T>, name: &str) -> Result<T, String> {
            field.take().ok_or_else(|| format!("the claim needs {name}"))
        }
        let joint = wire.scheme == Some(Scheme::Joint);
        let claim = match (wire.claim.as_str(), joint) {
            ("unproved", _) => Claim::Unproved { reason: need(&mut wire.reason, "reason")? },
            ("separable", true) => {
                Claim::JointSeparable { planes: need(&mut wire.planes, "planes")? }
            }
            ("inseparable", true) => Claim::JointInseparable { witness: wire.take_witness()? },
            ("touching", true) => Claim::JointTouching {
                witness: wire.take_witness()?,
                planes: need(&mut wire.planes, "planes")?,
            },
            ("overlapping", true) => Claim::JointOverlapping {
                witness: wire.take_witness()?,
                null: wire.null.take().unwrap_or_default(),
            },
            ("separable", false) => Claim::Separable {
                problem: wire.take_problem()?,
                plane: need(&mut wire.plane, "plane")?,
            },
            ("inseparable", false) => {
                Claim::Inseparable { problem: wire.take_problem()?, witness: wire.take_witness()? }
            }
            ("touching", false) => Claim::Touching {
                problem: wire.take_problem()?,
                witness: wire.take_witness()?,
                plane: need(&mut wire.plane, "plane")?,
            },
            ("overlapping", false) => Claim::Overlapping {
                problem: wire.take_problem()?,
                witness: wire.take_witness()?,
                null: wire.null.take().unwrap_or_default(),
            },
            ("margin", false) => Claim::Margin {
                problem: wire.take_problem()?,
                constant: need(&mut wire.constant, "constant")?,
                support: need(&mut wire.support, "support")?,
                gamma2: need(&mut wire.gamma2, "gamma2")?,
            },
            ("geometric-margin", false) => Claim::GeometricMargin {
                problem: wire.take_problem()?,
                support: need(&mut wire.support, "support")?,
                gamma2: need(&mut wire.gamma2, "gamma2")?,
            },
            ("bracket", false) => Claim::Bracket {
                problem: wire.take_problem()?,
                weights: need(&mut wire.weights, "weights")?,
                bound: need(&mut wire.bound, "bound")?,
            },
            ("mistakes", false) => Claim::Mistakes {
                problem: wire.take_problem()?,
                plane: need(&mut wire.plane, "plane")?,
                mistakes: need(&mut wire.mistakes, "mistakes")?,
                conflicts: need(&mut wire.conflicts, "conflicts")?,
            },
            ("coefficients", false) => Claim::Coefficients {
                problem: wire.take_problem()?,
                estimates: need(&mut wire.estimates, "estimates")?,
            },
            ("coefficients", true) => {
                Claim::JointCoefficients { estimates: need(&mut wire.estimates, "estimates")? }
            }
            ("forced", false) => Claim::Forced {
                problem: wire.take_problem()?,
                forced: need(&mut wire.forced, "forced")?,
            },
            ("stationary", _) => Claim::Stationary {
                planes: wire.take_planes()?,
                equations: need(&mut wire.equations, "equations")?,
            },
            ("counts", _) => Claim::Counts {
                planes: wire.take_planes()?,
                statistics: need(&mut wire.statistics, "statistics")?,
            },
            ("optimal", _) => Claim::Optimal {
                planes: wire.take_planes()?,
                optimality: need(&mut wire.optimality, "optimality")?,
            },
            ("modified-score", false) => Claim::ModifiedScore {
                planes: wire.take_planes()?,
                modified_score: need(&mut wire.modified_score, "modified-score")?,
            },
            (name, _) => return Err(format!("there is no claim \"{name}\" of this scheme")),
        };
        if joint {
            wire.scheme = None;
        }
        if !wire.is_empty() {
            return Err(format!("the claim {} has fields that do not belong to it", claim.name()));
        }
        Ok(claim)
    }
}
