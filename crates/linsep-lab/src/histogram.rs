//! Rows projected on a direction between that of the means and Fisher's.

use crate::answer::{Wrong, number};
use crate::run::Run;
use linsep::learn::discriminant::Fisher;
use linsep::{Learner, Limits, Task};
use serde_json::{Value, json};
use std::sync::Arc;

/// Histograms of both classes along a direction: that of the means at share 0, Fisher's at 1.
pub(crate) fn projected(run: &Run, share: f64, bins: usize) -> Result<Value, Wrong> {
    let data = &run.data;
    if data.n_classes() != 2 || data.n_features() > 64 || !(2..=100).contains(&bins) {
        return Err(Wrong::Missing("projections are those of two classes and at most 64 features"));
    }
    if !(0.0..=1.0).contains(&share) {
        return Err(Wrong::usage("`share` is not between 0 and 1"));
    }
    let fit = Fisher::default().fit(&Task::new(Arc::clone(data)), &Limits::default(), &mut ())?;
    let fisher = unit(&fit.model.planes[0].weights);
    // All rows count, not only those that are drawn.
    let mut means = [vec![0.0; data.n_features()], vec![0.0; data.n_features()]];
    let mut sizes = [0.0; 2];
    for row in 0..data.n_rows() {
        let class = data.class_of(row) as usize;
        sizes[class] += 1.0;
        data.for_each(row, |j, x| means[class][j as usize] += x);
    }
    for (mean, size) in means.iter_mut().zip(sizes) {
        mean.iter_mut().for_each(|sum| *sum /= f64::max(size, 1.0));
    }
    let apart: Vec<f64> = means[1].iter().zip(&means[0]).map(|(a, b)| a - b).collect();
    let start = unit(&apart);
    let mixed: Vec<f64> =
        start.iter().zip(&fisher).map(|(s, f)| (1.0 - share) * s + share * f).collect();
    let direction = unit(&mixed);
    let place = |row: usize| {
        let mut sum = 0.0;
        data.for_each(row, |j, x| sum += x * direction[j as usize]);
        (data.class_of(row), sum)
    };
    let along: Vec<(u32, f64)> = (0..data.n_rows()).map(place).collect();
    let low = along.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
    let high = along.iter().map(|p| p.1).fold(f64::NEG_INFINITY, f64::max);
    let mut counts = vec![vec![0u32; bins]; 2];
    let mut spread = 0.0;
    for (class, x) in &along {
        let place = ((x - low) / (high - low) * bins as f64) as usize;
        counts[*class as usize][place.min(bins - 1)] += 1;
        spread += (x - dot(&means[*class as usize], &direction)).powi(2);
    }
    let between = dot(&apart, &direction).powi(2);
    Ok(json!({
        "direction": direction.iter().copied().map(number).collect::<Vec<_>>(),
        "low": number(low),
        "high": number(high),
        "counts": counts,
        "criterion": number(between / spread),
    }))
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn unit(a: &[f64]) -> Vec<f64> {
    let length = dot(a, a).sqrt();
    a.iter().map(|x| if length > 0.0 { x / length } else { 0.0 }).collect()
}
