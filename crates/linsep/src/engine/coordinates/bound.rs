//! The dual bound of an evaluation without logarithms.
//!
//! ψ, the term of a row in D, is concave with ψ(0) = 0 and, at the multiplier α that a margin m asks for,
//! ψ(α) = c loss(m) + α m and ψ′(α) = m. The dual point has s α, s ≤ 1. For the logistic loss
//! ψ″(a) = −1/(a (1 − a/c)), hence
//!
//! ```text
//! ψ(s α) ≥ s ψ(α)
//! ψ(s α) ≥ ψ(α) − (1 − s) α m − (1 − s)²/(2 s) · α/(1 − α/c)
//! ```
//!
//! The second is close where s is near 1, the first serves far away. The two logarithms that ψ takes are left
//! for where they decide whether the run has converged.

use crate::loss::Loss;
use crate::model::Plane;
use crate::objective::{Evaluation, Gap, Objective};

/// The second bound is asked from this share on.
const NEAR: f64 = 0.5;
/// ψ itself is asked where the bound shows no more than so many times the wanted gap.
const CLOSE: f64 = 30.0;

impl Objective {
    /// The gap at a plane, exact where that decides whether it is the wanted one.
    pub(super) fn gap_of(&self, plane: &Plane, evaluation: &Evaluation, wanted: f64) -> Gap {
        if self.loss == Loss::Logistic {
            let dual = self.lower_dual(plane, evaluation);
            let gap = Gap { primal: evaluation.primal, dual };
            if dual.is_finite() && (gap.reaches(wanted) || !gap.reaches(CLOSE * wanted)) {
                return gap;
            }
        }
        self.exact_gap(evaluation)
    }

    pub(super) fn exact_gap(&self, evaluation: &Evaluation) -> Gap {
        let dual = self.dual(&evaluation.sides, &evaluation.alpha);
        Gap { primal: evaluation.primal, dual }
    }

    /// At most D.
    fn lower_dual(&self, plane: &Plane, evaluation: &Evaluation) -> f64 {
        let Evaluation { primal, margins, alpha, sides } = evaluation;
        let factors = sides.factors(self);
        let sum = sides.total();
        let products = plane.weights.iter().zip(&sum.weights).map(|(w, g)| w * g).sum::<f64>();
        let bias = if self.has_bias() { plane.bias * sum.bias } else { 0.0 };
        let losses = primal - self.penalty.value(plane, self.intercept);
        let least = factors[0].min(factors[1]);
        let mut terms = least * (losses + products + bias);
        if least >= NEAR {
            // 1 − s and (1 − s)²/(2 s) of either side.
            let cuts = factors.map(|s| [1.0 - s, 0.5 * (1.0 - s) * (1.0 - s) / s]);
            let missing = self.total(|i| {
                let [first, second] = cuts[usize::from(self.signs[i] < 0.0)];
                // A cost of 0 has no multiplier; where α = c, nothing is known.
                let rest = self.costs[i] - alpha[i];
                let curved = if alpha[i] > 0.0 { self.costs[i] * alpha[i] / rest } else { 0.0 };
                first * alpha[i] * margins[i] + second * curved
            });
            terms = terms.max(losses + products + bias - missing);
        }
        terms - self.penalty.conjugate(&sides.sum(factors), self.intercept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objective::{Intercept, Penalty};
    use linsep_data::Dataset;
    use std::sync::Arc;

    #[test]
    fn the_bound_without_logarithms_is_below_the_dual_and_near_it_for_small_cuts() {
        let row = |i: usize| vec![(i as f64 * 0.7).sin(), (i as f64 * 1.3).cos() + 0.2];
        let values: Vec<Vec<f64>> = (0..60).map(row).collect();
        let sign = |i: usize| if (i * i) % 7 < 3 { 1.0 } else { -1.0 };
        let labels: Vec<&str> = (0..60).map(|i| if sign(i) > 0.0 { "a" } else { "b" }).collect();
        let data = Arc::new(Dataset::from_rows(&values, &labels).unwrap());
        for intercept in [Intercept::None, Intercept::Free, Intercept::Penalised] {
            for (l1, l2) in [(0.01, 0.0), (1.0, 0.0), (5.0, 0.0), (1.0, 0.5)] {
                let objective = Objective {
                    data: Arc::clone(&data),
                    sparse_copy: None,
                    rows: (0..60).collect(),
                    signs: (0..60).map(sign).collect(),
                    costs: (0..60).map(|i| (i % 4) as f64).collect(),
                    loss: Loss::Logistic,
                    penalty: Penalty { l1, l2, scale: None, limits: None },
                    intercept,
                    threads: 1,
                };
                for weight in [0.0, 0.1, -0.4, 60.0] {
                    let plane = Plane { weights: vec![weight, 0.3 * weight], bias: -0.1 };
                    let seen = objective.evaluate(&plane);
                    let [lower, exact] =
                        [objective.lower_dual(&plane, &seen), objective.exact_gap(&seen).dual];
                    assert!(lower <= exact + 1e-9 * seen.primal, "{lower} {exact}");
                    let [positive, negative] = seen.sides.factors(&objective);
                    let cut = 1.0 - positive.min(negative);
                    let is_near = cut < NEAR && weight.abs() < 1.0;
                    assert!(!is_near || exact - lower <= 2.0 * cut * cut * seen.primal + 1e-9);
                }
            }
        }
    }
}
