//! Claims about how a model was fitted: which equations its weights solve, or which counts they are.

use crate::claim::{ClassPlane, ExactPlane, Problem};
use serde::{Deserialize, Serialize};

/// The planes of a model and the classes they tell apart.
#[derive(Clone, Debug, PartialEq)]
pub enum Planes {
    /// One plane for two classes: a positive score means the positive side.
    Two {
        /// The two sides.
        problem: Problem,
        /// The plane.
        plane: ExactPlane,
    },
    /// One plane for each class: the highest score wins.
    Each(Vec<ClassPlane>),
}

/// The linear equations that weights solve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Equations {
    /// Least Σ f (w·x + b − t)² + l2 |w|². Targets t are +1 and −1 for two classes, else 1 for a
    /// row's own class and 0 for the others; f is the row's weight, times its class's.
    LeastSquares {
        /// The factor of |w|².
        l2: f64,
        /// How classes are weighted.
        #[serde(rename = "class-weight")]
        class_weight: ClassWeight,
    },
    /// S w = difference of means, S the shrunk covariance within the classes.
    Discriminant {
        /// The share of the mean variance, times the identity, in S.
        shrinkage: f64,
        /// The weights of the classes in S and in the bias.
        priors: Priors,
        /// What the bias is.
        bias: Offset,
    },
}

/// The counts or sums that weights are made of, in the sense of naive Bayes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Statistics {
    /// Draws of columns in proportion to their values.
    Multinomial {
        /// Added to every count.
        alpha: f64,
        /// How often each class is expected.
        priors: Priors,
    },
    /// Each column is on or off.
    Bernoulli {
        /// Added to every count.
        alpha: f64,
        /// A value above this is on.
        binarize: f64,
        /// How often each class is expected.
        priors: Priors,
    },
    /// Normal columns whose variance does not depend on the class.
    Gaussian {
        /// The share of the largest variance that is added to every variance.
        smoothing: f64,
        /// How often each class is expected.
        priors: Priors,
    },
}

/// Weights of classes in a sum of squares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClassWeight {
    /// Every row counts as its weight says.
    None,
    /// Classes count alike: total / (classes · weight of the class).
    Balanced,
}

/// How often each class is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Priors {
    /// As often as in the data.
    Data,
    /// All alike.
    Uniform,
}

/// What the bias of a discriminant is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Offset {
    /// Half way between the means.
    Midpoint,
    /// Half way, moved by the logarithms of the priors.
    Prior,
    /// Nothing is claimed about it.
    Free,
}
