//! Naive Bayes: the statistics are counted again and the weights made of them.
//!
//! With ω the weight of a row, W_k = Σ ω over class k, N_kj = Σ ω x_j, π_k the prior:
//!
//! ```text
//! multinomial  w_kj = ln (N_kj + α) − ln (Σ_j N_kj + α d)           b_k = ln π_k
//! bernoulli    N_kj = Σ ω [x_j > T];  w_kj = ln (N_kj + α) − ln (W_k − N_kj + α)
//!              b_k = ln π_k + Σ_j (ln (W_k − N_kj + α) − ln (W_k + 2α))
//! gaussian     m_kj = N_kj / W_k,  v_j = Σ_k π_k Σ ω (x_j − m_kj)² / W_k + ε,  μ_j = Σ_k π_k m_kj
//!              w_kj = (m_kj − μ_j) / v_j,  b_k = ln π_k − ½ Σ_j w_kj (m_kj + μ_j)
//! ```
//!
//! ε is the stated share of the largest variance of a column over all rows. Two classes make one
//! plane, the second minus the first. Sums have twice the length of binary64 (whole numbers below
//! 2^106 are exact), logarithms and the rest are rounded. A weight may differ by 1e-10 of the terms it
//! is made of, which is more than any order of summation of a million rows costs, and the scores of all
//! rows together by `SCORE_SHARE` of their norm.

use super::fitted::{Fitted, SCORE_FLOOR, SCORE_SHARE};
use super::{Checked, Checker};
use crate::double::Double;
use crate::fitted::{Planes, Statistics};

const WEIGHT_SHARE: f64 = 1e-10;

/// The plane that a class should have, and the size of the terms that each number is made of.
struct Expected {
    weights: Vec<(f64, f64)>,
    bias: (f64, f64),
}

impl Checker<'_> {
    pub(super) fn counts(&self, planes: &Planes, statistics: &Statistics) -> Checked<String> {
        let fitted = Fitted::new(planes, self)?;
        let (classes, on): (Vec<Expected>, Box<dyn Fn(f64) -> f64>) = match *statistics {
            Statistics::Multinomial { alpha, priors } => {
                positive(alpha)?;
                (self.multinomial(&fitted, alpha, priors)?, Box::new(|x| x))
            }
            Statistics::Bernoulli { alpha, binarize, priors } => {
                positive(alpha)?;
                let on = move |x: f64| f64::from(u8::from(x > binarize));
                (self.bernoulli(&fitted, alpha, on, priors), Box::new(on))
            }
            Statistics::Gaussian { smoothing, priors } => {
                if !(smoothing.is_finite() && smoothing >= 0.0) {
                    return Err("the smoothing is below 0".into());
                }
                (self.gaussian(&fitted, smoothing, priors), Box::new(|x| x))
            }
        };
        let minus = |a: &(f64, f64), b: &(f64, f64)| (a.0 - b.0, a.1 + b.1);
        let expected = fitted.per_plane(classes, |one, zero| Expected {
            weights: one.weights.iter().zip(&zero.weights).map(|(a, b)| minus(a, b)).collect(),
            bias: minus(&one.bias, &zero.bias),
        });
        for ((weights, bias), expected) in fitted.planes.iter().zip(&expected) {
            // Written so that what is not a number is refused.
            let near = |found: f64, (value, size): (f64, f64)| {
                (found - value).abs() <= WEIGHT_SHARE * (size + f64::MIN_POSITIVE)
            };
            let wrong = weights.iter().zip(&expected.weights).position(|(w, e)| !near(*w, *e));
            if let Some(column) = wrong {
                return Err(format!(
                    "the weight of column {column} is not what the counts make it"
                ));
            }
            if !near(*bias, expected.bias) {
                return Err("the bias is not what the counts make it".into());
            }
            self.scores_agree(&fitted, (weights, *bias), expected, on.as_ref())?;
        }
        Ok("the statistics were counted again and make these weights".into())
    }

    fn multinomial(
        &self,
        fitted: &Fitted,
        alpha: f64,
        priors: crate::fitted::Priors,
    ) -> Checked<Vec<Expected>> {
        let mut negative = None;
        fitted.for_rows(self, |row, _, _| {
            self.floats(row, &mut |_, x| {
                if x < 0.0 {
                    negative = Some(row);
                }
            });
        });
        if let Some(row) = negative {
            return Err(format!("row {row} has a value below 0, which is no count"));
        }
        let priors = fitted.priors(&fitted.class_weights, priors);
        let width = self.width() as f64;
        let class = |(sums, prior): (Vec<Double>, &f64)| {
            let total = sums.iter().fold(Double::ZERO, |sum, n| sum.plus(*n));
            let all = total.plus(Double::product(alpha, width)).value().ln();
            let weight = |sum: &Double| {
                let own = sum.plus(Double::of(alpha)).value().ln();
                (own - all, own.abs() + all.abs() + 1.0)
            };
            let bias = (prior.ln(), prior.ln().abs() + 1.0);
            Expected { weights: sums.iter().map(weight).collect(), bias }
        };
        Ok(fitted.column_sums(self, Double::of).into_iter().zip(&priors).map(class).collect())
    }

    fn bernoulli(
        &self,
        fitted: &Fitted,
        alpha: f64,
        on: impl Fn(f64) -> f64,
        priors: crate::fitted::Priors,
    ) -> Vec<Expected> {
        let class_weights = fitted.class_weights.clone();
        let priors = fitted.priors(&class_weights, priors);
        // Values that are 0 are on too where the threshold is below 0; only the others are seen.
        let zero = on(0.0);
        let sums = fitted.column_sums(self, |x| Double::of(on(x) - zero));
        let class = |((sums, prior), total): ((Vec<Double>, &f64), &f64)| {
            let total = Double::of(*total);
            let all = total.plus(Double::of(2.0 * alpha)).value().ln();
            let mut bias = (prior.ln(), prior.ln().abs() + 1.0);
            let mut weight = |sum: &Double| {
                let count = sum.plus(total.times(zero));
                let own = count.plus(Double::of(alpha)).value().ln();
                let other = total.minus(count).plus(Double::of(alpha)).value().ln();
                bias.0 += other - all;
                bias.1 += other.abs() + all.abs();
                (own - other, own.abs() + other.abs() + 1.0)
            };
            let weights = sums.iter().map(&mut weight).collect();
            Expected { weights, bias }
        };
        sums.into_iter().zip(&priors).zip(&class_weights).map(class).collect()
    }

    fn gaussian(
        &self,
        fitted: &Fitted,
        smoothing: f64,
        priors: crate::fitted::Priors,
    ) -> Vec<Expected> {
        let class_weights = fitted.class_weights.clone();
        let priors = fitted.priors(&class_weights, priors);
        let sums = fitted.column_sums(self, Double::of);
        let squares = fitted.column_sums(self, |x| Double::product(x, x));
        let total = class_weights.iter().fold(Double::ZERO, |sum, w| sum.plus(Double::of(*w)));
        // Σ ω (x − m)² / W, from sums that are long enough to stand the cancellation.
        let variance = |sum: Double, square: Double, weight: Double| {
            let mean = sum.over(weight);
            square.minus(mean.times_double(sum)).over(weight).value().max(0.0)
        };
        let width = self.width();
        let add = |all: &[Vec<Double>], j: usize| {
            all.iter().fold(Double::ZERO, |sum, class| sum.plus(class[j]))
        };
        let largest = (0..width)
            .map(|j| variance(add(&sums, j), add(&squares, j), total))
            .fold(0.0, f64::max);
        let mut planes: Vec<Expected> = (priors.iter())
            .map(|p| Expected { weights: Vec::new(), bias: (p.ln(), p.ln().abs() + 1.0) })
            .collect();
        for j in 0..width {
            let mut pooled = smoothing * largest;
            let mut mean = Double::ZERO;
            let mut means = Vec::new();
            for (k, prior) in priors.iter().enumerate() {
                let weight = Double::of(class_weights[k]);
                pooled += prior * variance(sums[k][j], squares[k][j], weight);
                means.push(sums[k][j].over(weight));
                mean = mean.plus(means[k].times(*prior));
            }
            for (plane, m) in planes.iter_mut().zip(&means) {
                let difference = m.minus(mean).value();
                let size = m.value().abs() + mean.value().abs();
                let weight = if pooled > 0.0 { difference / pooled } else { 0.0 };
                let error = if pooled > 0.0 { size / pooled } else { 0.0 };
                plane.weights.push((weight, 10.0 * weight.abs() + 0.01 * error));
                plane.bias.0 -= 0.5 * weight * m.plus(mean).value();
                plane.bias.1 += (10.0 * weight.abs() + 0.01 * error) * size;
            }
        }
        planes
    }

    /// The scores of a plane and of the plane it should be, over all rows.
    fn scores_agree(
        &self,
        fitted: &Fitted,
        (weights, bias): (&[f64], f64),
        expected: &Expected,
        on: &dyn Fn(f64) -> f64,
    ) -> Checked<()> {
        let zero = on(0.0);
        let offset = |w: &dyn Fn(usize) -> f64| match zero == 0.0 {
            true => 0.0,
            false => zero * (0..weights.len()).map(w).sum::<f64>(),
        };
        let moved = |j: usize| weights[j] - expected.weights[j].0;
        let (base, base_move) =
            (bias + offset(&|j| weights[j]), bias - expected.bias.0 + offset(&moved));
        let (mut norm, mut change, mut count) = (0.0, 0.0, 0.0);
        fitted.for_rows(self, |row, _, weight| {
            let (mut score, mut difference) = (base, base_move);
            self.floats(row, &mut |column, x| {
                let value = on(x) - zero;
                score += weights[column as usize] * value;
                difference += moved(column as usize) * value;
            });
            norm += weight * score * score;
            change += weight * difference * difference;
            count += weight;
        });
        match change.sqrt() <= SCORE_SHARE * norm.sqrt() + SCORE_FLOOR * count.sqrt() {
            true => Ok(()),
            false => Err("the scores are not those that the counts make".into()),
        }
    }
}

fn positive(alpha: f64) -> Checked<()> {
    match alpha.is_finite() && alpha > 0.0 {
        true => Ok(()),
        false => Err("alpha is not above 0".into()),
    }
}
