//! Which two features a picture shows, and where the others stand.

use super::Pattern;
use linsep_data::Dataset;
use linsep_data::sort::places;

/// The means and standard deviations of the columns, zeros included.
pub(super) fn moments(data: &Dataset) -> (Vec<f64>, Vec<f64>) {
    let (rows, width) = (data.n_rows().max(1) as f64, data.n_features());
    let mut means = vec![0.0; width];
    let mut counts = vec![0.0; width];
    for row in 0..data.n_rows() {
        data.for_each(row, |column, value| {
            means[column as usize] += value / rows;
            counts[column as usize] += 1.0;
        });
    }
    let mut squares: Vec<f64> =
        means.iter().zip(&counts).map(|(mean, count)| (rows - count) * mean * mean).collect();
    for row in 0..data.n_rows() {
        data.for_each(row, |column, value| {
            squares[column as usize] += (value - means[column as usize]).powi(2);
        });
    }
    let deviations = squares.iter().map(|square| (square / rows).sqrt()).collect();
    (means, deviations)
}

/// The features to show: all of one or two; else those with the most weight for a row one standard
/// deviation off, or without a model those whose class means lie farthest apart.
pub(super) fn chosen_axes(
    pattern: &Pattern<'_>,
    truth: &[usize],
    classes: usize,
    means: &[f64],
    deviations: &[f64],
) -> Vec<usize> {
    let features = means.len();
    if features <= 2 {
        return (0..features).collect();
    }
    let mut merit = vec![0.0; features];
    match pattern.model {
        Some(model) => {
            for (j, merit) in merit.iter_mut().enumerate() {
                let weights = model.planes.iter().map(|p| p.weights.get(j).copied().unwrap_or(0.0));
                let (low, high) = weights
                    .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), w| (l.min(w), h.max(w)));
                let size = if model.planes.len() == 1 { high.abs() } else { high - low };
                *merit = size * deviations[j];
            }
        }
        None => {
            let known = classes.min(50);
            let mut sums = vec![vec![0.0; features]; known];
            let mut counts = vec![0.0f64; known];
            for (row, &class) in truth.iter().enumerate().filter(|(_, class)| **class < known) {
                counts[class] += 1.0;
                pattern.data.for_each(row, |column, value| sums[class][column as usize] += value);
            }
            for (class, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0.0) {
                for j in 0..features {
                    let apart = (sums[class][j] / count - means[j]).abs();
                    if deviations[j] > 0.0 {
                        merit[j] += count * apart / deviations[j];
                    }
                }
            }
        }
    }
    let order = places(features, &mut |a, b| merit[b].total_cmp(&merit[a]));
    let mut axes = order[..2].to_vec();
    axes.sort_unstable();
    axes
}
