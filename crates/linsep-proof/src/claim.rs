//! The kinds of claims and their JSON.

use crate::fitted::{Equations, Planes, Statistics};
use crate::optimal::Optimality;
use serde::{Deserialize, Serialize};

/// What was proved, as a list of claims that can each be checked alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Certificate {
    /// The claims, in the order in which a report prints them.
    pub claims: Vec<Claim>,
}

impl Certificate {
    /// A certificate with these claims.
    pub fn new(claims: Vec<Claim>) -> Certificate {
        Certificate { claims }
    }
}

impl Certificate {
    /// A certificate that honestly proves nothing.
    pub fn unproved(reason: impl Into<String>) -> Self {
        Certificate { claims: vec![Claim::Unproved { reason: reason.into() }] }
    }

    /// Whether at least one claim carries a proof.
    pub fn proves_something(&self) -> bool {
        self.claims.iter().any(|claim| !matches!(claim, Claim::Unproved { .. }))
    }
}

/// One statement with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Wire", into = "Wire")]
#[non_exhaustive]
#[allow(clippy::large_enum_variant)] // A file has a handful of claims.
pub enum Claim {
    /// Nothing is proved; the reason says why.
    Unproved {
        /// Why there is no proof, in words for the user.
        reason: String,
    },
    /// The plane has every row strictly on its side.
    Separable {
        /// Which rows, with which signs.
        problem: Question,
        /// The plane.
        plane: ExactPlane,
    },
    /// No plane has every row strictly on its side: Σ λ z = 0.
    Inseparable {
        /// Which rows, with which signs.
        problem: Question,
        /// λ > 0 of some rows.
        witness: Vec<Weighted>,
    },
    /// No strict plane, but one with every row on its side or on the plane, and some off it.
    Touching {
        /// Which rows, with which signs.
        problem: Question,
        /// λ > 0 of some rows: no strict plane.
        witness: Vec<Weighted>,
        /// The weak plane.
        plane: ExactPlane,
    },
    /// Not even a weak plane: rows with Σ λ z = 0 span all rows.
    Overlapping {
        /// Which rows, with which signs.
        problem: Question,
        /// λ > 0 of some rows.
        witness: Vec<Weighted>,
        /// Vectors orthogonal to every row that fill up the rank; none when the rank is full.
        null: Vec<Vec<String>>,
    },
    /// The largest margin of a plane of unit length (w, b/c) is √gamma2.
    Margin {
        /// Which rows, with which signs.
        problem: Question,
        /// c: rows are read as ±(c, x).
        constant: String,
        /// λ > 0 of the rows that hold the margin up.
        support: Vec<Weighted>,
        /// p/q.
        gamma2: String,
    },
    /// The largest margin of a plane with |w| = 1 and free b is √gamma2.
    GeometricMargin {
        /// Which rows, with which signs.
        problem: Question,
        /// λ > 0 of the rows that hold the margin up, on both sides.
        support: Vec<Weighted>,
        /// p/q.
        gamma2: String,
    },
    /// No plane of unit length has a margin above √bound.
    Bracket {
        /// Which rows, with which signs.
        problem: Question,
        /// λ > 0 of some rows.
        weights: Vec<Weighted>,
        /// p/q.
        bound: String,
    },
    /// One plane for each class, and every row scores highest on its own.
    JointSeparable {
        /// A plane for each class.
        planes: Vec<ClassPlane>,
    },
    /// No planes, one for each class, make every row score highest on its own.
    JointInseparable {
        /// λ > 0 of some rows, each against another class.
        witness: Vec<Against>,
    },
    /// The plane errs on this many rows, and every plane errs on one row of each conflict at least.
    Mistakes {
        /// Which rows, with which signs.
        problem: Question,
        /// The plane.
        plane: ExactPlane,
        /// Rows that it does not have strictly on their side.
        mistakes: u64,
        /// Groups of rows without a common row, each with λ > 0 and Σ λ z = 0.
        conflicts: Vec<Vec<Weighted>>,
    },
    /// The weights solve linear equations made of the data, up to a small share of the scores.
    Stationary {
        /// The model.
        planes: Planes,
        /// Which equations.
        equations: Equations,
    },
    /// The weights are what counts of the data make them.
    Counts {
        /// The model.
        planes: Planes,
        /// Which counts.
        statistics: Statistics,
    },
    /// The planes come within a gap of the best of all.
    Optimal {
        /// The model.
        planes: Planes,
        /// Of which objective, how near and why.
        optimality: Optimality,
    },
}

impl Claim {
    /// The name of the claim as it stands in a file.
    pub fn name(&self) -> &'static str {
        match self {
            Claim::Unproved { .. } => "unproved",
            Claim::Separable { .. } | Claim::JointSeparable { .. } => "separable",
            Claim::Inseparable { .. } | Claim::JointInseparable { .. } => "inseparable",
            Claim::Touching { .. } => "touching",
            Claim::Overlapping { .. } => "overlapping",
            Claim::Margin { .. } => "margin",
            Claim::GeometricMargin { .. } => "geometric-margin",
            Claim::Bracket { .. } => "bracket",
            Claim::Mistakes { .. } => "mistakes",
            Claim::Stationary { .. } => "stationary",
            Claim::Counts { .. } => "counts",
            Claim::Optimal { .. } => "optimal",
        }
    }

    /// The two-class problem of the claim, if it speaks of one.
    pub fn problem(&self) -> Option<&Question> {
        match self {
            Claim::Separable { problem, .. }
            | Claim::Inseparable { problem, .. }
            | Claim::Touching { problem, .. }
            | Claim::Overlapping { problem, .. }
            | Claim::Margin { problem, .. }
            | Claim::GeometricMargin { problem, .. }
            | Claim::Bracket { problem, .. }
            | Claim::Mistakes { problem, .. }
            | Claim::Stationary { planes: Planes::Two { problem, .. }, .. }
            | Claim::Counts { planes: Planes::Two { problem, .. }, .. }
            | Claim::Optimal { planes: Planes::Two { problem, .. }, .. } => Some(problem),
            _ => None,
        }
    }
}

/// Which rows take part and with which sign.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Question {
    /// How the problem came out of the classes.
    pub scheme: Scheme,
    /// Labels of the rows with sign +.
    pub positive: Vec<String>,
    /// Labels of the rows with sign −.
    pub negative: Vec<String>,
}

/// How a claim relates to the classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheme {
    /// The data has two classes.
    Binary,
    /// One class against another; other rows do not take part.
    Pair,
    /// One class against all others.
    Rest,
    /// All classes at once.
    Joint,
}

impl Scheme {
    /// The word in files and reports.
    pub fn word(self) -> &'static str {
        match self {
            Scheme::Binary => "binary",
            Scheme::Pair => "pair",
            Scheme::Rest => "rest",
            Scheme::Joint => "joint",
        }
    }
}

/// A row with its multiplier λ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Weighted {
    /// 0-based row over all data rows.
    pub row: u64,
    /// 1-based line of the text file; for people, not checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The file of a data set of several files; for people, not checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// A positive whole number in decimal digits.
    pub lambda: String,
}

/// A row with its multiplier against a class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Against {
    /// 0-based row over all data rows.
    pub row: u64,
    /// 1-based line of the text file; for people, not checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The file of a data set of several files; for people, not checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// A class that is not the row's own.
    pub against: String,
    /// A positive whole number in decimal digits.
    pub lambda: String,
}

/// A number whose value is exact: a JSON number is its binary64, a text is p/q.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ExactNumber {
    /// The binary64 itself.
    Binary64(f64),
    /// `p/q` or `p`.
    Ratio(String),
}

/// A plane with exact numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ExactPlane {
    /// One weight for each feature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<ExactNumber>>,
    /// Instead of `weights`: (column, weight) pairs, columns rising, the others 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sparse: Option<Vec<(u32, ExactNumber)>>,
    /// The bias; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bias: Option<ExactNumber>,
}

/// The plane of a class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ClassPlane {
    /// The class.
    pub class: String,
    /// One weight for each feature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<ExactNumber>>,
    /// Instead of `weights`: (column, weight) pairs, columns rising, the others 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sparse: Option<Vec<(u32, ExactNumber)>>,
    /// The bias; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bias: Option<ExactNumber>,
}

/// A claim as it stands in a file: one flat object whose fields depend on its kind.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
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
    equations: Option<Equations>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    statistics: Option<Statistics>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    optimality: Option<Optimality>,
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
            && self.equations.is_none()
            && self.statistics.is_none()
            && self.optimality.is_none()
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
            Claim::Mistakes { plane, mistakes, conflicts, .. } => {
                wire.plane = Some(plane);
                wire.mistakes = Some(mistakes);
                wire.conflicts = Some(conflicts);
            }
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
