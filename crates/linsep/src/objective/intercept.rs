//! Where the best bias lies, for a free bias of two classes.
//!
//! Take the balanced multipliers (Σ y α = 0) and cut those of the negative rows by the share τ. Then
//! β = Σ y α > 0, and weak duality no longer bounds P alone: for every w and b
//!
//! ```text
//! P(w, b) ≥ D(α cut) − β b,   so   b* ≥ (D(α cut) − P)/β
//! ```
//!
//! because P of the best model is at most P of any. A cut of the positive rows bounds b* from above. A
//! small τ divides the gap by a small β, a large one bends D: the distance from b* is about
//! gap/β + κβ/2, least where β = √(2 gap/κ). One evaluation at some τ tells κ, and the next τ follows.
//!
//! Reference: Boyd, Vandenberghe, Convex Optimization, 5.6 (the multiplier of a constraint is the slope
//! of the optimum).

use crate::objective::{Gap, Objective, Sides};

/// The shares by which to cut the negative rows and the positive ones, so that the best bias is bounded
/// closely, near the bias of the plane that the gap belongs to.
pub fn cuts(
    objective: &Objective,
    alpha: &[f64],
    sides: &Sides,
    gap: Gap,
    bias: f64,
) -> Option<[f64; 2]> {
    let factors = sides.balance(objective.intercept);
    let mass = sides.positive.bias * factors[0];
    if !(mass > 0.0 && mass.is_finite() && objective.penalty.l2 > 0.0) {
        return None;
    }
    let side = |positive: bool, factor: f64| objective.side_psi(alpha, positive, factor);
    let whole = [side(true, factors[0]), side(false, factors[1])];
    // Rounding is going to widen what is claimed by about so much.
    let slack = 3e-13 * gap.primal;
    let distance = (gap.primal - gap.dual).max(0.0) + slack;
    // Cuts the negative rows for the least bias, the positive ones for the most.
    let search = |cut: usize, towards: f64| {
        let bound = |tilt: f64| {
            let mut cut_factors = factors;
            cut_factors[cut] *= 1.0 - tilt;
            let psi = whole[1 - cut] + side(cut == 0, cut_factors[cut]);
            psi - objective.penalty.conjugate(&sides.sum(cut_factors), objective.intercept)
        };
        let mut best: Option<(f64, f64)> = None;
        let mut tilt = gap.relative().sqrt().clamp(1e-6, 0.1);
        for _ in 0..3 {
            let bound = bound(tilt);
            let excess = (gap.primal - bound + slack) / (mass * tilt) - towards;
            if best.is_none_or(|(_, least)| excess < least) {
                best = Some((tilt, excess));
            }
            let bend = (excess - distance / (mass * tilt)) / tilt;
            let next = (distance / (mass * bend)).sqrt().clamp(1e-9, 1.0);
            if !next.is_finite() || (next / tilt - 1.0).abs() < 0.1 {
                break;
            }
            tilt = next;
        }
        best.filter(|(_, excess)| excess.is_finite()).map(|(tilt, _)| tilt)
    };
    Some([search(1, -bias)?, search(0, bias)?])
}

impl Objective {
    /// Σ ψ of one side, its multipliers times a factor.
    fn side_psi(&self, alpha: &[f64], positive: bool, factor: f64) -> f64 {
        self.total(|i| match (self.signs[i] > 0.0) == positive {
            true => self.loss.conjugate_term(factor * alpha[i], self.costs[i]),
            false => 0.0,
        })
    }
}
