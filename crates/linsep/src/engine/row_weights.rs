//! What a row counts: its own weight times that of its class.

use crate::run::ClassWeights;
use linsep_data::Dataset;

/// Row weight × class weight of every row of the data, if any of them is not 1. Balanced classes
/// weigh n / (K · rows of the class) for each row, where K counts the classes that have rows.
pub(crate) fn row_weights(
    data: &Dataset,
    rows: &[u32],
    class_weights: &ClassWeights,
) -> Option<Vec<f64>> {
    if data.weights().is_none() && class_weights.is_none() {
        return None;
    }
    if let ClassWeights::Given(_) = class_weights {
        let factors = label_factors(data, class_weights);
        let weight = |row: usize| data.weight(row) * factors[data.label_id(row) as usize];
        return Some((0..data.n_rows()).map(weight).collect());
    }
    let mut class_weight = vec![1.0; data.n_classes()];
    if *class_weights == ClassWeights::Balanced {
        let mut counts = vec![0.0; data.n_classes()];
        rows.iter().for_each(|&row| {
            counts[data.class_of(row as usize) as usize] += data.weight(row as usize)
        });
        let total: f64 = counts.iter().sum();
        let classes = counts.iter().filter(|&&count| count > 0.0).count() as f64;
        let weight = |&count: &f64| total / (classes * count.max(f64::MIN_POSITIVE));
        class_weight = counts.iter().map(weight).collect();
    }
    let weight = |row: usize| data.weight(row) * class_weight[data.class_of(row) as usize];
    Some((0..data.n_rows()).map(weight).collect())
}

/// What rows with each label of the file count; a label of a class with several has that of the class unless it is
/// named itself.
pub(crate) fn label_factors(data: &Dataset, class_weights: &ClassWeights) -> Vec<f64> {
    let names = data.label_names();
    let mut factors = vec![1.0; names.len()];
    for row in 0..data.n_rows() {
        let label = data.label_id(row) as usize;
        factors[label] =
            class_weights.of(&names[label], &data.classes()[data.class_of(row) as usize]);
    }
    factors
}
