//! Residuals of each observation of two classes.
//!
//! ```text
//! Pearson    √m (y − p)/√(p(1 − p))
//! deviance   the sign of y − p, times √(2m (y ln(y/p) + (1 − y) ln((1 − y)/(1 − p))))
//! leverage   h = m p (1 − p) xᵀI⁻¹x
//! Cook       (Pearson/(1 − h))² h / coefficients
//! ```
//!
//! Rows that push a coefficient to infinity are predicted without any error: all of theirs are 0.
//!
//! Reference: Pregibon, Logistic regression diagnostics, 1981.

use super::likelihood::Likelihood;
use crate::algebra::Factor;

/// What the model leaves of an observation.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Residual {
    /// The data row, the first one of a group.
    pub row: u32,
    /// How often it counts, or its trials.
    pub weight: f64,
    /// The share of successes.
    pub response: f64,
    /// The probability of a success.
    pub fitted: f64,
    /// The deviance residual.
    pub deviance: f64,
    /// The Pearson residual.
    pub pearson: f64,
    /// The diagonal element of the hat matrix.
    pub leverage: f64,
    /// Cook's distance.
    pub cook: f64,
}

impl Residual {
    /// Of an observation that is predicted without error.
    pub(super) fn none(row: u32, weight: f64, response: f64) -> Residual {
        let (fitted, zero) = (response, 0.0);
        Residual {
            row,
            weight,
            response,
            fitted,
            deviance: zero,
            pearson: zero,
            leverage: zero,
            cook: zero,
        }
    }
}

impl Likelihood<'_> {
    pub(super) fn residuals(&self, theta: &[f64], factor: &Factor) -> Vec<Residual> {
        let design = self.design;
        let rank = factor.taken.len() as f64;
        let one = |i: usize| {
            let (m, y) = (design.weight[i], design.y[i]);
            let share = self.share(theta, i);
            let rest = y * share.q - (1.0 - y) * share.p;
            let pearson = m.sqrt() * rest / (share.p * share.q).sqrt();
            let deviance = (2.0 * m * (share.loss(y) - saturated(y)).max(0.0)).sqrt();
            let leverage = m * share.p * share.q * factor.leverage(design.line(i));
            let scaled = pearson / (1.0 - leverage);
            Residual {
                row: design.row[i],
                weight: m,
                response: y,
                fitted: share.p,
                deviance: deviance.copysign(rest),
                pearson,
                leverage,
                cook: scaled * scaled * leverage / rank,
            }
        };
        (0..design.len()).map(one).collect()
    }
}

/// −y ln y − (1 − y) ln(1 − y).
pub(super) fn saturated(y: f64) -> f64 {
    let term = |y: f64| if y > 0.0 { -y * y.ln() } else { 0.0 };
    term(y) + term(1.0 - y)
}
