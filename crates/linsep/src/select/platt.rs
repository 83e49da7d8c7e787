//! Probabilities for a machine that has none: a logistic function of its scores.
//!
//! Problem: P(positive | s) = 1/(1 + exp(−(slope s + offset))), where slope and offset make
//!
//! ```text
//! least  −Σ t ln p + (1 − t) ln(1 − p),   t = (n₊ + 1)/(n₊ + 2) of positive rows, 1/(n₋ + 2) of others
//! ```
//!
//! The scores are those of rows held out, each by the machine of the other folds: a machine is too sure
//! of the rows that it has learned. The model that is kept is the one of all rows. The targets t keep
//! the solution finite where the scores separate the classes. Newton's method with a line search finds
//! it; the problem is convex with two unknowns.
//!
//! K classes have one machine for each class against the rest, and a logistic function for each of them;
//! the K values are divided by their sum. The machines were learned apart, so nothing else makes the sum 1.
//! The class that is predicted is still the one of the highest score: where slopes differ the most
//! probable class may be another one.
//!
//! References: Platt, Probabilistic outputs for support vector machines, 1999; Lin, Lin, Weng, A note on
//! Platt's probabilistic outputs, 2007.

use super::{fit_until, training_part};
use crate::model::{Link, Rule, Sigmoid};
use crate::run::{Learner, Limits, Task};
use linsep_data::error::{Error, Result};
use linsep_data::parallel::parallel_map;
use linsep_data::split::Split;

/// The link of the scores of rows held out: of the one machine of two classes, or of the machines of K
/// classes that each stand against the rest.
pub fn calibrate(
    learner: &dyn Learner,
    task: &Task,
    splits: &[Split],
    limits: &Limits,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Link> {
    let fold = |k: usize| -> Result<Vec<HeldOut>> {
        let split = &splits[k];
        let fit = fit_until(learner, &training_part(task, split), limits, stop)?;
        if !matches!(fit.model.rule, Rule::Sign | Rule::Rest) {
            return Err(Error::usage(NEEDS_MACHINES));
        }
        let counts = split.test.iter().filter(|row| task.data.weight(**row as usize) > 0.0);
        let mut scorer = fit.model.scorer(&task.data);
        Ok(counts
            .map(|&row| HeldOut {
                scores: scorer.row(row as usize).to_vec(),
                class: task.data.class_of(row as usize) as usize,
            })
            .collect())
    };
    let folds = parallel_map(splits.len(), task.threads, fold).into_iter();
    let rows: Vec<HeldOut> = folds.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
    let sigmoid = |machine: usize, class: usize| -> Result<Sigmoid> {
        let scores: Vec<(f64, bool)> =
            rows.iter().map(|row| (row.scores[machine], row.class == class)).collect();
        let (slope, offset) = fit_sigmoid(&scores);
        match slope.is_finite() && offset.is_finite() {
            true => Ok(Sigmoid { slope, offset }),
            false => {
                Err(Error::usage("the scores are out of range, so they have no probabilities"))
            }
        }
    };
    match task.data.n_classes() {
        // A positive score speaks for the second class.
        2 => sigmoid(0, 1).map(|Sigmoid { slope, offset }| Link::Sigmoid { slope, offset }),
        classes => (0..classes).map(|k| sigmoid(k, k)).collect::<Result<_>>().map(Link::Sigmoids),
    }
}

/// What is said of learners whose scores have no machine for each class.
pub const NEEDS_MACHINES: &str = "probabilities by calibration of K classes need a machine for each \
    class; use `multiclass=ovr`, or choose one class with `positive`";

/// A row that its machines have not learned from.
struct HeldOut {
    scores: Vec<f64>,
    class: usize,
}

/// Slope and offset for scores and whether their rows are positive.
fn fit_sigmoid(scores: &[(f64, bool)]) -> (f64, f64) {
    let positive = scores.iter().filter(|(_, positive)| *positive).count() as f64;
    let negative = scores.len() as f64 - positive;
    let (high, low) = ((positive + 1.0) / (positive + 2.0), 1.0 / (negative + 2.0));
    let target = |positive: bool| if positive { high } else { low };
    // −t ln p − (1 − t) ln(1 − p) without overflow, z = slope · s + offset.
    let loss = |z: f64, t: f64| (-z.abs()).exp().ln_1p() + z.max(0.0) - t * z;
    let value = |slope: f64, offset: f64| -> f64 {
        scores.iter().map(|(s, positive)| loss(slope * s + offset, target(*positive))).sum()
    };
    let (mut slope, mut offset) = (0.0, ((positive + 1.0) / (negative + 1.0)).ln());
    let mut best = value(slope, offset);
    for _ in 0..100 {
        // A little of the identity keeps equal scores from a singular matrix.
        let (mut h, mut g) = ([1e-12, 0.0, 1e-12], [0.0, 0.0]);
        for (s, positive) in scores {
            let z = slope * s + offset;
            let p = if z >= 0.0 { 1.0 / (1.0 + (-z).exp()) } else { z.exp() / (1.0 + z.exp()) };
            let (d, w) = (p - target(*positive), p * (1.0 - p));
            g = [g[0] + d * s, g[1] + d];
            h = [h[0] + w * s * s, h[1] + w * s, h[2] + w];
        }
        let determinant = h[0] * h[2] - h[1] * h[1];
        let step = [
            -(h[2] * g[0] - h[1] * g[1]) / determinant,
            -(h[0] * g[1] - h[1] * g[0]) / determinant,
        ];
        let downhill = g[0] * step[0] + g[1] * step[1];
        let mut length = 1.0;
        let moved = loop {
            let (a, b) = (slope + length * step[0], offset + length * step[1]);
            let next = value(a, b);
            if next < best + 1e-4 * length * downhill {
                (slope, offset, best) = (a, b, next);
                break true;
            }
            length *= 0.5;
            if length < 1e-10 {
                break false;
            }
        };
        if !moved || g[0].abs().max(g[1].abs()) < 1e-8 {
            break;
        }
    }
    (slope, offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_solution_has_no_slope_left() {
        let scores: Vec<(f64, bool)> =
            (0..200).map(|k| (f64::from(k) / 20.0 - 5.0, (k * 7919) % 200 < k)).collect();
        let (slope, offset) = fit_sigmoid(&scores);
        assert!(slope > 0.2 && offset.abs() < 1.0, "{slope} {offset}");
        let positive = scores.iter().filter(|(_, positive)| *positive).count() as f64;
        let (high, low) =
            ((positive + 1.0) / (positive + 2.0), 1.0 / (scores.len() as f64 - positive + 2.0));
        // At the best the probabilities add up to the targets.
        let sum: f64 =
            scores.iter().map(|(s, _)| 1.0 / (1.0 + (-(slope * s + offset)).exp())).sum();
        let wanted = positive * high + (scores.len() as f64 - positive) * low;
        assert!((sum - wanted).abs() < 1e-6, "{sum} {wanted}");
    }

    #[test]
    fn separated_scores_and_equal_ones_have_a_finite_solution() {
        let apart: Vec<(f64, bool)> = (0..20).map(|k| (f64::from(k) - 9.5, k > 9)).collect();
        let (slope, offset) = fit_sigmoid(&apart);
        assert!(slope > 0.0 && slope.is_finite() && offset.abs() < 1e-6, "{slope} {offset}");
        let alike = [(1.0, true), (1.0, false), (1.0, true)];
        let (slope, offset) = fit_sigmoid(&alike);
        assert!(slope.is_finite() && offset.is_finite());
    }
}
