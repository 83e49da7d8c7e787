//! Every criterion at the planes of a model: values, gradients, and what is known of each beforehand.
//!
//! A plane of class c is judged on the rows of c against all others. For `jd` the sums of `jp` are
//! divided by ‖w‖, and ∇J_d = ∇J_p/‖w‖ − J_p (0, w)/‖w‖³ in the coordinates (b, w).
//!
//! Where the highest score wins, all planes are also judged together: with m = s_c − max_{k≠c} s_k the
//! lead of the row's own class (Kesler's construction keeps the worst of a row's K − 1 inequalities),
//! `jn`, `jp`, `hinge` and `squared-hinge` are sums over m, and `logistic` is −ln of the softmax of the
//! own class. `jd` has no such form here. The squared error of all planes is that of their own targets, 1
//! for the row's class and 0 for the others:
//!
//! ```text
//! Tr((XW − T)ᵀ(XW − T)) = Σ_n Σ_k (s_k(x_n) − t_nk)²,    gradient 2 Xᵀ(XW − T)
//! ```
//!
//! which is 0 in every direction at the least-squares solution.
//!
//! Rows count by their weights. Sums are made in binary64, in blocks of rows that do not depend on the
//! number of threads.

use crate::geometry::Shape;
use linsep::engine::batch::Batch;
use linsep::loss::Criterion;
use linsep::model::{LinearModel, Plane, Rule};
use linsep_data::error::{Code, Place, Problem, Result};
use linsep_data::scale::Scaler;
use linsep_data::{Dataset, DatasetBuilder};
use std::borrow::Cow;

/// A criterion at a plane.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Measured {
    /// Which one.
    pub criterion: Criterion,
    /// Its value; `None` for a distance from a plane without weights.
    pub value: Option<f64>,
    /// A (sub)gradient by bias and weights; 0 for the flat `jn`.
    pub gradient: Option<Plane>,
}

impl Measured {
    /// The length of the gradient in the coordinates (b, w).
    pub fn gradient_norm(&self) -> Option<f64> {
        let gradient = self.gradient.as_ref()?;
        let mut all = gradient.weights.clone();
        all.push(gradient.bias);
        Some(Shape::of(&Plane::new(all, 0.0)).map_or(0.0, |shape| shape.norm))
    }
}

/// The criteria of one plane.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PlaneCriteria {
    /// The class on its positive side.
    pub class: String,
    /// Every criterion, in the order of [`Criterion::ALL`].
    pub measured: Vec<Measured>,
}

/// The criteria of a model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ModelCriteria {
    /// Plane by plane.
    pub planes: Vec<PlaneCriteria>,
    /// All planes together, in the order of [`Criterion::ALL`], where the highest score wins.
    pub joint: Option<Vec<Option<f64>>>,
    /// The length of the gradient of the squared error of all planes, where the highest score wins.
    pub joint_gradient: Option<f64>,
    /// The rows that took part.
    pub rows: u64,
    /// The sum of their weights.
    pub weight: f64,
}

/// Every criterion at one plane, the rows of `positive` against all others; `None` has no rows.
///
/// ```
/// use linsep_teach::measure::measure;
/// use linsep::{Dataset, Plane};
/// let data = Dataset::from_rows(&[[0.0], [1.0], [3.0]], &["no", "yes", "yes"])?;
/// let plane = Plane::new(vec![1.0], -2.0);
/// let all = measure(&data, &plane, Some(1), 1);
/// assert_eq!(all[0].value, Some(1.0)); // one mistake
/// assert_eq!(all[3].value, Some(5.0)); // (1 - 2)² + (1 + 1)² + (1 - 1)²
/// # Ok::<(), linsep::Error>(())
/// ```
pub fn measure(
    data: &Dataset,
    plane: &Plane,
    positive: Option<u32>,
    threads: usize,
) -> Vec<Measured> {
    let rows: Vec<u32> =
        (0..data.n_rows() as u32).filter(|&row| data.weight(row as usize) > 0.0).collect();
    let scaler = Scaler::default();
    let positive = positive.unwrap_or(u32::MAX);
    let weights = data.weights();
    let batch = Batch { data, rows: &rows, positive, scaler: &scaler, weights, threads };
    let one = |criterion: Criterion| {
        let sums = batch.sums(&criterion, plane);
        let (mut value, mut gradient) = (Some(sums.value), Some(sums.gradient));
        if criterion == Criterion::Distance {
            let shape = Shape::of(plane);
            let norm = shape.as_ref().map(|shape| shape.norm);
            value = norm.map(|norm| sums.value / norm);
            gradient = match (shape, gradient) {
                (Some(shape), Some(mut gradient)) => {
                    let (norm, height) = (shape.norm, sums.value / shape.norm);
                    for (slope, unit) in gradient.weights.iter_mut().zip(&shape.unit) {
                        *slope = (*slope - height * unit) / norm;
                    }
                    gradient.bias /= norm;
                    Some(gradient)
                }
                _ => None,
            };
        }
        Measured { criterion, value, gradient }
    };
    Criterion::ALL.into_iter().map(one).collect()
}

/// Every criterion at every plane of a model. The labels must be classes of the model.
pub fn measure_model(model: &LinearModel, data: &Dataset, threads: usize) -> Result<ModelCriteria> {
    let own = classes_of(model, data)?;
    let data = as_seen(model, data)?;
    let data = data.as_ref();
    let place = |class: &String| data.classes().iter().position(|name| name == class);
    let planes = model.planes.iter().zip(model.score_names()).map(|(plane, class)| {
        let positive = place(&class).map(|at| at as u32);
        PlaneCriteria { class, measured: measure(data, plane, positive, threads) }
    });
    let together = (model.rule == Rule::ArgMax).then(|| joint(model, data, &own));
    let (joint, joint_gradient) = together.unzip();
    let taking_part = || (0..data.n_rows()).filter(|&row| data.weight(row) > 0.0);
    Ok(ModelCriteria {
        planes: planes.collect(),
        joint,
        joint_gradient,
        rows: taking_part().count() as u64,
        weight: taking_part().map(|row| data.weight(row)).sum(),
    })
}

/// The class of the model that each class of the data is.
fn classes_of(model: &LinearModel, data: &Dataset) -> Result<Vec<u32>> {
    let class = |name: &String| {
        let found = model.classes.iter().position(|class| class == name).map(|at| at as u32);
        // A model of one class against the rest takes every other label as the rest.
        found.or(model.input.rest.then_some(0))
    };
    let found: Vec<Option<u32>> = data.classes().iter().map(class).collect();
    if let Some(unknown) = found.iter().position(Option::is_none) {
        let row = data.targets().iter().position(|target| *target as usize == unknown);
        let row = row.unwrap_or(0) as u64;
        let origin = data.origin();
        let file = origin.file(row).map(str::to_owned);
        let place =
            Place::default().with_file(file).with_line(origin.line(row)).with_row(Some(row));
        let label = &data.classes()[unknown];
        let words = format!("the model has no class \"{label}\"");
        return Err(Problem::new(Code::UNKNOWN_CLASS, words, place)
            .value(label.as_bytes())
            .help(format!("its classes are {}", model.classes.join(", ")))
            .into());
    }
    Ok(found.into_iter().flatten().collect())
}

/// The data as the planes see it.
fn as_seen<'a>(model: &LinearModel, data: &'a Dataset) -> Result<Cow<'a, Dataset>> {
    let basis = model.input.basis.as_ref().filter(|_| data.input().basis.is_none());
    if model.input.binarize.is_none() && basis.is_none() {
        return Ok(Cow::Borrowed(data));
    }
    let mut builder = DatasetBuilder::new(model.input.width());
    for row in 0..data.n_rows() {
        let entries = match basis {
            None => model.stored_features(data.store(), row),
            Some(basis) => {
                let row = basis.expand_row(&data.row(row), data.n_features());
                (0..).zip(row).filter(|(_, x)| *x != 0.0).collect()
            }
        };
        builder.sparse_row(&entries, &data.classes()[data.class_of(row) as usize])?;
        if data.weights().is_some() {
            builder.weight(data.weight(row))?;
        }
    }
    Ok(Cow::Owned(builder.finish()?))
}

/// The criteria of all planes together, and the length of the gradient of the squared error; `own` is the
/// model's class of each class of the data.
fn joint(model: &LinearModel, data: &Dataset, own: &[u32]) -> (Vec<Option<f64>>, f64) {
    let together = |criterion| !matches!(criterion, Criterion::Distance);
    let (width, planes) = (data.n_features() + 1, model.planes.len());
    let mut gradient = vec![0.0; width * planes];
    let mut sums = [0.0; Criterion::ALL.len()];
    // The data is binarised already where the model asks for it, and values of 0 and 1 stay what they
    // are under any threshold from 0 to below 1, but not under others.
    let plain = model.clone().with_input(data.input().clone());
    let mut scorer = plain.scorer(data);
    for row in (0..data.n_rows()).filter(|&row| data.weight(row) > 0.0) {
        let scores = scorer.row(row);
        let class = own[data.class_of(row) as usize] as usize;
        let rivals = || scores.iter().enumerate().filter(|(k, _)| *k != class).map(|(_, s)| *s);
        let highest = rivals().fold(f64::NEG_INFINITY, f64::max);
        let lead = scores[class] - highest;
        let off = |k: usize| scores[k] - f64::from(u8::from(k == class));
        let squared: f64 = (0..planes).map(|k| off(k) * off(k)).sum();
        for (sum, criterion) in sums.iter_mut().zip(Criterion::ALL) {
            let value = match criterion {
                Criterion::Logistic => {
                    // ln Σ exp(s_k − s_c), by the largest of them.
                    let top = highest.max(scores[class]);
                    let all: f64 = scores.iter().map(|s| (s - top).exp()).sum();
                    all.ln() + (top - scores[class])
                }
                Criterion::Squared => squared,
                criterion => criterion.value(lead),
            };
            *sum += data.weight(row) * value;
        }
        for (k, line) in gradient.chunks_exact_mut(width).enumerate() {
            let slope = 2.0 * data.weight(row) * off(k);
            line[0] += slope;
            data.for_each(row, |j, x| line[j as usize + 1] += slope * x);
        }
    }
    let kept = Criterion::ALL.into_iter().zip(sums);
    let kept = kept.map(|(criterion, sum)| together(criterion).then_some(sum)).collect();
    (kept, gradient.iter().map(|g| g * g).sum::<f64>().sqrt())
}
