//! Mean and covariance of the rows of a run, and the directions that views take from them.
//!
//! They do not change while a run goes on, so they are found once. The direction of most variance at a right
//! angle to any plane is then a matter of the covariance alone, however many rows there are.

use crate::limits;
use crate::vector::{beside, dot, minus, square, unit};
use linsep::learn::discriminant::Lda;
use linsep::{Dataset, Learner, Limits, Task};
use std::sync::{Arc, OnceLock};

/// Mean and covariance.
pub(crate) struct Spread {
    pub(crate) mean: Vec<f64>,
    /// Row by row.
    covariance: Vec<f64>,
    /// How many rows were measured: all, or those that are drawn where all were too much work.
    pub(crate) rows: usize,
    discriminant: OnceLock<Option<[Vec<f64>; 2]>>,
    between: OnceLock<Vec<f64>>,
}

impl Spread {
    /// The spread of all rows, or of the drawn ones where there are too many numbers.
    pub(crate) fn of(data: &Dataset, drawn: &[u32]) -> Spread {
        let width = data.n_features();
        let work = data.n_rows().saturating_mul(width).saturating_mul(width);
        let all: Vec<u32>;
        let rows = match work <= limits::MEASURED {
            true => {
                all = (0..data.n_rows() as u32).collect();
                &all[..]
            }
            false => drawn,
        };
        let count = rows.len().max(1) as f64;
        let mut mean = vec![0.0; width];
        for &row in rows {
            data.for_each(row as usize, |j, x| mean[j as usize] += x);
        }
        mean.iter_mut().for_each(|sum| *sum /= count);
        let mut covariance = vec![0.0; width * width];
        let mut x = vec![0.0; width];
        for &row in rows {
            x.iter_mut().zip(&mean).for_each(|(x, mean)| *x = -mean);
            data.for_each(row as usize, |j, value| x[j as usize] += value);
            for (i, line) in covariance.chunks_mut(width.max(1)).enumerate() {
                let from = x[i];
                // The half above the diagonal is enough.
                line[i..].iter_mut().zip(&x[i..]).for_each(|(c, x)| *c += from * x);
            }
        }
        for i in 0..width {
            for j in i..width {
                let share = covariance[i * width + j] / count;
                (covariance[i * width + j], covariance[j * width + i]) = (share, share);
            }
        }
        Spread {
            mean,
            covariance,
            rows: rows.len(),
            discriminant: OnceLock::new(),
            between: OnceLock::new(),
        }
    }

    /// The variance along a direction of length 1.
    pub(crate) fn along(&self, direction: &[f64]) -> f64 {
        dot(&self.times(direction), direction)
    }

    /// The variance of all features together.
    pub(crate) fn total(&self) -> f64 {
        (0..self.mean.len()).map(|j| self.of_feature(j)).sum()
    }

    /// The variance of a feature.
    pub(crate) fn of_feature(&self, j: usize) -> f64 {
        self.covariance[j * self.mean.len() + j]
    }

    fn times(&self, v: &[f64]) -> Vec<f64> {
        self.covariance.chunks(v.len().max(1)).map(|line| dot(line, v)).collect()
    }

    /// The direction of most variance, at a right angle to another one if there is one.
    pub(crate) fn leading(&self, other: Option<&[f64]>) -> Vec<f64> {
        let clear = |v: Vec<f64>| match other {
            Some(other) => beside(v, other),
            None => v,
        };
        // No symmetric start: it could be at a right angle to the answer.
        let start = (0..self.mean.len()).map(|j| 1.0 + 0.618 * j as f64).collect();
        let mut v = unit(clear(start));
        for _ in 0..200 {
            let next = clear(self.times(&v));
            if square(&next) == 0.0 {
                break;
            }
            let next = unit(next);
            let moved = square(&minus(&next, &v));
            v = next;
            if moved < 1e-24 {
                break;
            }
        }
        v
    }

    /// From the mean of the first class to that of the second one.
    pub(crate) fn between_means(&self, data: &Dataset) -> &[f64] {
        self.between.get_or_init(|| {
            let (means, _) = means_of(data);
            minus(&means[1], &means[0])
        })
    }

    /// The two axes of a discriminant analysis, each of length 1: Fisher's direction, and the next one of
    /// three classes and more; of two classes the direction of most variance beside it.
    pub(crate) fn discriminant(&self, data: &Arc<Dataset>) -> Option<[Vec<f64>; 2]> {
        self.discriminant.get_or_init(|| self.find_discriminant(data)).clone()
    }

    /// With the planes w_k = S⁻¹(m_k − c) of the analysis the axes are combinations of d_k = w_k − Σ π_j w_j:
    /// v = Σ α_k d_k with π_j Σ_k G_jk α_k = λ α_j and G_jk = (m_j − m)·d_k. No covariance is inverted here.
    fn find_discriminant(&self, data: &Arc<Dataset>) -> Option<[Vec<f64>; 2]> {
        let fit = Lda::default().fit(&Task::new(Arc::clone(data)), &Limits::default(), &mut ());
        let planes = fit.ok()?.model.planes;
        if planes.len() == 1 {
            let first = unit(planes[0].weights.clone());
            let second = self.leading(Some(&first));
            return Some([first, second]);
        }
        let width = data.n_features();
        let classes = planes.len();
        let (means, counts) = means_of(data);
        let total: f64 = counts.iter().sum();
        let blend = |of: &dyn Fn(usize) -> Vec<f64>| -> Vec<f64> {
            let mut sum = vec![0.0; width];
            for (k, count) in counts.iter().enumerate() {
                sum.iter_mut().zip(of(k)).for_each(|(s, x)| *s += count / total * x);
            }
            sum
        };
        let (mean, middle) = (blend(&|k| means[k].clone()), blend(&|k| planes[k].weights.clone()));
        let apart: Vec<Vec<f64>> = means.iter().map(|m| minus(m, &mean)).collect();
        let d: Vec<Vec<f64>> = planes.iter().map(|p| minus(&p.weights, &middle)).collect();
        let gram: Vec<Vec<f64>> =
            apart.iter().map(|a| d.iter().map(|d| dot(a, d)).collect()).collect();
        let product = |a: &[f64], b: &[f64]| {
            a.iter().zip(&gram).map(|(a, line)| a * dot(line, b)).sum::<f64>()
        };
        let mut found: Vec<Vec<f64>> = Vec::new();
        for start in 0..2 {
            let mut alpha: Vec<f64> =
                (0..classes).map(|k| 1.0 + (k * (start + 2)) as f64).collect();
            for _ in 0..200 {
                let mut next: Vec<f64> =
                    gram.iter().zip(&counts).map(|(g, n)| n / total * dot(g, &alpha)).collect();
                for known in &found {
                    let along = product(&next, known) / product(known, known);
                    next.iter_mut().zip(known).for_each(|(x, k)| *x -= along * k);
                }
                if square(&next) == 0.0 {
                    return None;
                }
                alpha = unit(next);
            }
            found.push(alpha);
        }
        let axis = |alpha: &Vec<f64>| {
            let mut sum = vec![0.0; width];
            for (a, d) in alpha.iter().zip(&d) {
                sum.iter_mut().zip(d).for_each(|(s, x)| *s += a * x);
            }
            unit(sum)
        };
        Some([axis(&found[0]), axis(&found[1])])
    }
}

/// The mean of every class, and its rows.
fn means_of(data: &Dataset) -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut means = vec![vec![0.0; data.n_features()]; data.n_classes()];
    let mut counts = vec![0.0; data.n_classes()];
    for row in 0..data.n_rows() {
        let class = data.class_of(row) as usize;
        counts[class] += 1.0;
        data.for_each(row, |j, x| means[class][j as usize] += x);
    }
    for (mean, count) in means.iter_mut().zip(&counts) {
        mean.iter_mut().for_each(|sum| *sum /= f64::max(*count, 1.0));
    }
    (means, counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> (Vec<Vec<f64>>, Vec<&'static str>) {
        // Far apart along x₁ + x₂ for their spread, which is large along x₁ − x₂; x₃ tells the third class.
        let mut rows = Vec::new();
        let mut labels = Vec::new();
        for (class, at) in [("a", [0.0, 0.0, 0.0]), ("b", [1.0, 1.0, 0.0]), ("c", [0.0, 0.0, 4.0])]
        {
            for i in 0..40 {
                let t = f64::from(i % 8) - 3.5;
                let s = f64::from(i / 8) - 2.0;
                let noise = [t + 0.1 * s, -t + 0.1 * s, 0.3 * s * t.signum()];
                rows.push(at.iter().zip(noise).map(|(a, n)| a + n).collect());
                labels.push(class);
            }
        }
        (rows, labels)
    }

    #[test]
    fn the_direction_of_most_variance_is_found_and_the_share_is_a_share() {
        let (rows, labels) = rows();
        let data = Arc::new(Dataset::from_rows(&rows, &labels).unwrap());
        let spread = Spread::of(&data, &[]);
        let first = spread.leading(None);
        assert!((first[0] + first[1]).abs() < 0.2 && first[0].abs() > 0.6, "{first:?}");
        let second = spread.leading(Some(&first));
        assert!(dot(&first, &second).abs() < 1e-9);
        let third = unit(beside(beside(vec![1.0, 2.0, 3.0], &first), &second));
        let sum: f64 = [&first, &second, &third].map(|v| spread.along(v)).iter().sum();
        assert!((sum - spread.total()).abs() < 1e-9 * sum);
        assert!(spread.along(&first) >= spread.along(&second));
    }

    #[test]
    fn discriminant_axes_part_the_classes_and_not_the_spread() {
        let (rows, labels) = rows();
        let data = Arc::new(Dataset::from_rows(&rows, &labels).unwrap());
        let spread = Spread::of(&data, &[]);
        let axes = spread.discriminant(&data).unwrap();
        for axis in &axes {
            // The direction of most spread within the classes is no direction of theirs.
            assert!((axis[0] - axis[1]).abs() < 0.2, "{axis:?}");
            assert!((square(axis) - 1.0).abs() < 1e-9);
        }
        assert!(dot(&axes[0], &axes[1]).abs() < 0.999, "{axes:?}");
    }
}
