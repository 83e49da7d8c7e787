//! Planes and questions as claims write them.

use crate::model::Plane;
use linsep_data::Dataset;
use linsep_proof::{FloatPlane, Question, Scheme};

/// A plane of binary64 numbers, sparse where that is shorter.
pub fn float_plane(weights: &[f64], bias: Option<f64>) -> FloatPlane {
    if is_sparse(weights) {
        let pairs = weights.iter().enumerate().filter(|(_, w)| **w != 0.0);
        let pairs = pairs.map(|(j, &w)| (j as u32, w)).collect();
        return FloatPlane::default().with_sparse(Some(pairs)).with_bias(bias);
    }
    FloatPlane::default().with_weights(Some(weights.to_vec())).with_bias(bias)
}

/// Planes of binary64 numbers, one for each class.
pub fn class_planes(classes: &[String], planes: &[Plane]) -> Vec<FloatPlane> {
    classes.iter().zip(planes).map(|(class, plane)| class_plane(class, plane)).collect()
}

/// The plane of a class.
pub fn class_plane(class: &str, plane: &Plane) -> FloatPlane {
    float_plane(&plane.weights, Some(plane.bias)).with_class(Some(class.to_owned()))
}

/// Whether a plane is better written as a list of weights that are not 0.
pub fn is_sparse(weights: &[f64]) -> bool {
    weights.len() > 64 && 2 * weights.iter().filter(|w| **w != 0.0).count() < weights.len()
}

/// The label of one class against another, or against all others.
pub fn problem_of(data: &Dataset, positive: &str, negative: Option<&str>) -> Question {
    let others =
        || data.label_names().iter().filter(|name| *name != positive).cloned().collect::<Vec<_>>();
    let (scheme, negative) = match negative {
        _ if data.label_names().len() == 2 => (Scheme::Binary, others()),
        Some(class) => (Scheme::Pair, vec![class.to_owned()]),
        None => (Scheme::Rest, others()),
    };
    Question::new(scheme, vec![positive.to_owned()], negative)
}
