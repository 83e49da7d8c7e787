//! Claims about how a model was fitted: which equations its weights solve, or which counts they are.

use crate::claim::{ClassPlane, ExactNumber, ExactPlane, Question};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The planes of a model and the classes they tell apart.
#[derive(Clone, Debug, PartialEq)]
pub enum Planes {
    /// One plane for two classes: a positive score means the positive side.
    Two {
        /// The two sides.
        problem: Question,
        /// The plane.
        plane: FloatPlane,
    },
    /// One plane for each class: the highest score wins.
    Each(Vec<FloatPlane>),
}

/// A plane of a model. Its numbers are binary64, as those of the model are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct FloatPlane {
    /// The class, where each has a plane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// One weight for each feature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<f64>>,
    /// Instead of `weights`: (column, weight) pairs, columns rising, the others 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sparse: Option<Vec<(u32, f64)>>,
    /// The bias; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bias: Option<f64>,
}

setters! {
    FloatPlane {
        with_class => class: Option<String>,
        with_weights => weights: Option<Vec<f64>>,
        with_sparse => sparse: Option<Vec<(u32, f64)>>,
        with_bias => bias: Option<f64>,
    }
}

impl FloatPlane {
    /// The weights of all columns and the bias.
    pub(crate) fn dense(&self, width: usize, bias: bool) -> Result<(Cow<'_, [f64]>, f64), String> {
        let weights = match (&self.weights, &self.sparse) {
            (Some(weights), None) if weights.len() == width => Cow::Borrowed(&weights[..]),
            (Some(weights), None) => {
                return Err(format!("the plane has {} weights for {width} columns", weights.len()));
            }
            (None, Some(pairs)) => {
                let rising = pairs.is_sorted_by(|a, b| a.0 < b.0);
                if !rising || pairs.last().is_some_and(|(column, _)| *column as usize >= width) {
                    return Err("the sparse weights are out of order or out of range".into());
                }
                let mut weights = vec![0.0; width];
                pairs.iter().for_each(|(column, weight)| weights[*column as usize] = *weight);
                Cow::Owned(weights)
            }
            _ => return Err("the plane needs either weights or sparse".into()),
        };
        let bias = match (self.bias, bias) {
            (Some(bias), true) => bias,
            (None, false) => 0.0,
            _ => return Err("the bias does not fit the certificate".into()),
        };
        // Without an early end, so that several are tested at once.
        match weights.iter().fold(bias.is_finite(), |all, x| all & x.is_finite()) {
            true => Ok((weights, bias)),
            false => Err("a weight is not finite".into()),
        }
    }

    /// The class of a plane that has to have one.
    pub(crate) fn class(&self) -> Result<&str, String> {
        self.class.as_deref().ok_or_else(|| "a plane is of no class".into())
    }
}

/// As claims with other numbers are written, too.
impl From<FloatPlane> for ExactPlane {
    fn from(plane: FloatPlane) -> ExactPlane {
        let number = ExactNumber::Binary64;
        let pairs = |pairs: Vec<(u32, f64)>| pairs.into_iter().map(|(j, w)| (j, number(w)));
        ExactPlane {
            weights: plane.weights.map(|weights| weights.into_iter().map(number).collect()),
            sparse: plane.sparse.map(|sparse| pairs(sparse).collect()),
            bias: plane.bias.map(number),
        }
    }
}

impl From<FloatPlane> for ClassPlane {
    fn from(mut plane: FloatPlane) -> ClassPlane {
        let class = plane.class.take().unwrap_or_default();
        let ExactPlane { weights, sparse, bias } = plane.into();
        ClassPlane { class, weights, sparse, bias }
    }
}

impl TryFrom<ExactPlane> for FloatPlane {
    type Error = String;

    fn try_from(plane: ExactPlane) -> Result<FloatPlane, String> {
        let number = |number: ExactNumber| match number {
            ExactNumber::Binary64(x) => Ok(x),
            ExactNumber::Ratio(_) => Err("the weights of a model are JSON numbers"),
        };
        let ExactPlane { weights, sparse, bias } = plane;
        let dense = |weights: Vec<ExactNumber>| weights.into_iter().map(number).collect();
        let pair = |(column, weight)| Ok((column, number(weight)?));
        let pairs = |pairs: Vec<(u32, ExactNumber)>| pairs.into_iter().map(pair).collect();
        Ok(FloatPlane {
            class: None,
            weights: weights.map(dense).transpose().map_err(str::to_owned)?,
            sparse: sparse.map(pairs).transpose().map_err(str::to_owned)?,
            bias: bias.map(number).transpose()?,
        })
    }
}

impl TryFrom<ClassPlane> for FloatPlane {
    type Error = String;

    fn try_from(plane: ClassPlane) -> Result<FloatPlane, String> {
        let ClassPlane { class, weights, sparse, bias } = plane;
        let plane = FloatPlane::try_from(ExactPlane { weights, sparse, bias })?;
        Ok(FloatPlane { class: Some(class), ..plane })
    }
}

/// The linear equations that weights solve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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

impl Equations {
    /// The equations and their settings by name.
    pub fn words(&self) -> String {
        match self {
            Equations::LeastSquares { l2, class_weight } => {
                let weight = match class_weight {
                    ClassWeight::None => "none".to_owned(),
                    ClassWeight::Balanced => "balanced".to_owned(),
                    ClassWeight::Given(weights) => listed(weights),
                };
                format!("least squares, l2 = {}, class weight {weight}", short(*l2))
            }
            Equations::Discriminant { shrinkage, priors, bias } => {
                let bias = match bias {
                    Offset::Midpoint => "bias at the midpoint of the means",
                    Offset::Prior => "bias from midpoint and priors",
                    Offset::Free => "nothing claimed of the bias",
                };
                format!(
                    "discriminant, shrinkage = {}, {}, {bias}",
                    short(*shrinkage),
                    priors.words()
                )
            }
        }
    }
}

/// The counts or sums that weights are made of, in the sense of naive Bayes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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

impl Statistics {
    /// The model and its settings by name.
    pub fn words(&self) -> String {
        match self {
            Statistics::Multinomial { alpha, priors } => {
                format!("multinomial naive Bayes, alpha = {}, {}", short(*alpha), priors.words())
            }
            Statistics::Bernoulli { alpha, binarize, priors } => {
                let (alpha, binarize, priors) = (short(*alpha), short(*binarize), priors.words());
                format!("Bernoulli naive Bayes, alpha = {alpha}, on above {binarize}, {priors}")
            }
            Statistics::Gaussian { smoothing, priors } => {
                let (smoothing, priors) = (short(*smoothing), priors.words());
                format!("naive Bayes of shared variances, smoothing = {smoothing}, {priors}")
            }
        }
    }
}

/// A number in the shorter of its two forms.
fn short(x: f64) -> String {
    let (plain, power) = (x.to_string(), format!("{x:e}"));
    if power.len() < plain.len() { power } else { plain }
}

/// Numbers in the order of the classes.
fn listed(numbers: &[f64]) -> String {
    numbers.iter().map(|x| short(*x)).collect::<Vec<_>>().join(":")
}

/// Weights of classes in a sum of squares.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ClassWeight {
    /// Every row counts as its weight says.
    None,
    /// Classes count alike: total / (classes · weight of the class).
    Balanced,
    /// These, in the order of the classes of the claim (of two the negative one first).
    Given(Vec<f64>),
}

/// How often each class is expected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Priors {
    /// As often as in the data.
    Data,
    /// All alike.
    Uniform,
    /// In proportion to these, in the order of the classes of the claim (of two the negative one first).
    Given(Vec<f64>),
}

impl Priors {
    fn words(&self) -> String {
        match self {
            Priors::Data => "priors of the data".to_owned(),
            Priors::Uniform => "uniform priors".to_owned(),
            Priors::Given(numbers) => format!("priors {}", listed(numbers)),
        }
    }

    /// Refuses numbers that are no priors of so many classes.
    pub(crate) fn check(&self, classes: usize) -> Result<(), String> {
        match self {
            Priors::Given(numbers) => factors_of(numbers, classes, "priors"),
            _ => Ok(()),
        }
    }
}

impl ClassWeight {
    /// Refuses numbers that are no weights of so many classes.
    pub(crate) fn check(&self, classes: usize) -> Result<(), String> {
        match self {
            ClassWeight::Given(numbers) => factors_of(numbers, classes, "class weights"),
            _ => Ok(()),
        }
    }
}

fn factors_of(numbers: &[f64], classes: usize, what: &str) -> Result<(), String> {
    let sound = numbers.iter().all(|x| (1e-100..1e100).contains(x));
    match numbers.len() == classes && sound {
        true => Ok(()),
        false => Err(format!("the {what} are not a number above 0 for each of {classes} classes")),
    }
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
