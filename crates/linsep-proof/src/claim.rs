//! The kinds of claims.

use crate::coefficients::{Estimates, ForcedLabel};
use crate::fitted::{Equations, Planes, Statistics};
use crate::optimal::{ModifiedScore, Optimality};
use crate::wire::Wire;
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
    /// No planes, one for each class, make every row score highest on its own, but some make every row score
    /// at least as high on its own as on any other, and some row higher.
    JointTouching {
        /// λ > 0 of some rows, each against another class: no strict planes.
        witness: Vec<Against>,
        /// A plane for each class.
        planes: Vec<ClassPlane>,
    },
    /// Not even such weak planes: rows with λ > 0 that balance span all rows against all classes.
    JointOverlapping {
        /// λ > 0 of some rows, each against another class.
        witness: Vec<Against>,
        /// Vectors orthogonal to (1, x) of every row that fill up the rank; none when the rank is full.
        null: Vec<Vec<String>>,
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
    /// What becomes of each coefficient of the maximum-likelihood fit of two classes.
    Coefficients {
        /// Which rows, with which signs.
        problem: Question,
        /// One estimate for each coefficient, and why.
        estimates: Estimates,
    },
    /// The same for all classes at once.
    JointCoefficients {
        /// One estimate for each coefficient, and why.
        estimates: Estimates,
    },
    /// What all planes that separate two classes say of a point that is not among the rows.
    Forced {
        /// Which rows, with which signs.
        problem: Question,
        /// The point, its side, and why.
        forced: ForcedLabel,
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
    /// The gradient of Firth's likelihood is next to 0.
    ModifiedScore {
        /// The model.
        planes: Planes,
        /// How far from 0 it is at most.
        modified_score: ModifiedScore,
    },
}

impl Claim {
    /// The name of the claim as it stands in a file.
    pub fn name(&self) -> &'static str {
        match self {
            Claim::Unproved { .. } => "unproved",
            Claim::Separable { .. } | Claim::JointSeparable { .. } => "separable",
            Claim::Inseparable { .. } | Claim::JointInseparable { .. } => "inseparable",
            Claim::Touching { .. } | Claim::JointTouching { .. } => "touching",
            Claim::Overlapping { .. } | Claim::JointOverlapping { .. } => "overlapping",
            Claim::Margin { .. } => "margin",
            Claim::GeometricMargin { .. } => "geometric-margin",
            Claim::Bracket { .. } => "bracket",
            Claim::Mistakes { .. } => "mistakes",
            Claim::Coefficients { .. } | Claim::JointCoefficients { .. } => "coefficients",
            Claim::Forced { .. } => "forced",
            Claim::Stationary { .. } => "stationary",
            Claim::Counts { .. } => "counts",
            Claim::Optimal { .. } => "optimal",
            Claim::ModifiedScore { .. } => "modified-score",
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
            | Claim::Coefficients { problem, .. }
            | Claim::Forced { problem, .. }
            | Claim::Stationary { planes: Planes::Two { problem, .. }, .. }
            | Claim::Counts { planes: Planes::Two { problem, .. }, .. }
            | Claim::Optimal { planes: Planes::Two { problem, .. }, .. }
            | Claim::ModifiedScore { planes: Planes::Two { problem, .. }, .. } => Some(problem),
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
