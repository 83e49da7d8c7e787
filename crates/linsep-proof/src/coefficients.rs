//! Claims about the coefficients of a maximum-likelihood fit: which of them are finite, which go to
//! infinity and where to, and the numbers that show it.
//!
//! A coefficient has a **coordinate**. With D = columns + 1 (or the columns alone without a bias) the
//! bias is coordinate 0 and column j is j + 1. For all classes at once every class but the reference has
//! a block of D coordinates, one after the other in the order of `classes`.

use crate::claim::{ExactNumber, ExactPlane};
use serde::{Deserialize, Serialize};

/// Coordinates, rising, with numbers; the others are 0.
pub type SparseVector = Vec<(u32, ExactNumber)>;

/// The evidence of a claim `coefficients`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Estimates {
    /// For all classes at once: the classes, of which the last is the reference.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<String>,
    /// One for each coordinate.
    pub coefficients: Vec<Coefficient>,
    /// Rows that show that the columns without an alias are independent.
    pub independent: Vec<u64>,
    /// Vectors of D numbers that are orthogonal to (1, x) of every row; the last coordinate of each is
    /// the aliased column.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relations: Vec<SparseVector>,
    /// Rows with positive factors that add up to 0: no weak plane has one of them off itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tied: Vec<Multiple>,
    /// Vectors that span what is orthogonal to the tied rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub complement: Vec<SparseVector>,
    /// Weak planes: the fit may go along them for ever.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub directions: Vec<SparseVector>,
}

setters! {
    Estimates {
        with_classes => classes: Vec<String>,
        with_coefficients => coefficients: Vec<Coefficient>,
        with_independent => independent: Vec<u64>,
        with_relations => relations: Vec<SparseVector>,
        with_tied => tied: Vec<Multiple>,
        with_complement => complement: Vec<SparseVector>,
        with_directions => directions: Vec<SparseVector>,
    }
}

/// What becomes of one coefficient.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Coefficient {
    /// The class, for all classes at once: the coefficient is a difference against the reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// The column; the bias has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// Where it goes.
    pub estimate: Estimate,
    /// Rows that add up to a multiple of the unit vector of the coordinate, for one sign of infinity.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub combination: Vec<Multiple>,
}

impl Coefficient {
    /// A coefficient without evidence of its own.
    pub fn new(column: Option<u32>, estimate: Estimate) -> Coefficient {
        Coefficient { class: None, column, estimate, combination: Vec::new() }
    }
}

setters! {
    Coefficient {
        with_class => class: Option<String>,
        with_combination => combination: Vec<Multiple>,
    }
}

/// Where a coefficient goes along every sequence of weights that maximises the likelihood, the aliased
/// ones being 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Estimate {
    /// It has one finite limit.
    #[serde(rename = "finite")]
    Finite,
    /// It grows beyond all bounds.
    #[serde(rename = "+inf")]
    PlusInfinity,
    /// It falls below all bounds.
    #[serde(rename = "-inf")]
    MinusInfinity,
    /// On some sequences it grows, on others it falls beyond all bounds.
    #[serde(rename = "undetermined")]
    Undetermined,
    /// The column is a weighted sum of the bias and the columns before it; its coefficient is fixed at 0.
    #[serde(rename = "aliased")]
    Aliased,
    /// Nothing is claimed.
    #[serde(rename = "undecided")]
    Undecided,
}

impl Estimate {
    /// The word in files and reports.
    pub fn word(self) -> &'static str {
        match self {
            Estimate::Finite => "finite",
            Estimate::PlusInfinity => "+inf",
            Estimate::MinusInfinity => "-inf",
            Estimate::Undetermined => "undetermined",
            Estimate::Aliased => "aliased",
            Estimate::Undecided => "undecided",
        }
    }
}

/// A row times a whole number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Multiple {
    /// 0-based row over all data rows.
    pub row: u64,
    /// For all classes at once: a class that is not the row's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// A whole number in decimal digits, not 0.
    pub factor: String,
}

impl Multiple {
    /// A row of a question on two classes.
    pub fn new(row: u64, factor: String) -> Multiple {
        Multiple { row, against: None, factor }
    }
}

setters! {
    Multiple {
        with_against => against: Option<String>,
    }
}

/// The evidence of a claim `forced`: what separating planes say of a point that is not among the rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ForcedLabel {
    /// The values of the point that are not 0: (column, number), columns rising.
    pub point: SparseVector,
    /// Which side it is on.
    pub side: ForcedSide,
    /// Planes that separate the rows: one, or two that differ on the point.
    pub planes: Vec<ExactPlane>,
    /// Rows with factors > 0 that add up to a multiple of the point, where all planes agree.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub combination: Vec<Multiple>,
}

impl ForcedLabel {
    /// A point with separating planes.
    pub fn new(point: SparseVector, side: ForcedSide, planes: Vec<ExactPlane>) -> ForcedLabel {
        ForcedLabel { point, side, planes, combination: Vec::new() }
    }
}

setters! {
    ForcedLabel {
        with_combination => combination: Vec<Multiple>,
    }
}

/// What all separating planes say of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ForcedSide {
    /// All have it on the positive side.
    Positive,
    /// All have it on the negative side.
    Negative,
    /// Some have it on the one, some on the other.
    Either,
}
