//! What a row counts: its own weight times that of its class.

use linsep_data::Dataset;

/// Row weight × class weight of every row of the data, if any of them is not 1. Balanced classes
/// weigh n / (K · rows of the class) for each row, where K counts the classes that have rows.
pub(crate) fn row_weights(data: &Dataset, rows: &[u32], balanced: bool) -> Option<Vec<f64>> {
    if data.weights().is_none() && !balanced {
        return None;
    }
    let mut class_weight = vec![1.0; data.n_classes()];
    if balanced {
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
