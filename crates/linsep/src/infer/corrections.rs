//! Corrections of the intercept of Firth's fit, which the prior draws towards even odds.
//!
//! **FLIC**: with the other coefficients as they are, the intercept of the largest likelihood; predictions
//! then have the mean of the data. **FLAC**: Firth's score is that of data to which every row was added once more, half as a
//! success and half as a failure, with its leverage h as its weight; a column that marks the additions keeps them
//! from moving the intercept. The largest likelihood of these data is the fit.
//!
//! Reference: Puhr, Heinze, Nold, Lusa, Geroldinger, Firth's logistic regression with rare events, 2017.

use super::climb::{Free, NEAR, Peak};
use super::design::Design;
use super::likelihood::Likelihood;
use super::lines::Lines;
use crate::algebra::Factor;
use std::sync::Arc;

impl Likelihood<'_> {
    /// FLIC: the intercepts of the largest likelihood, the other coefficients held.
    pub(super) fn with_free_intercepts(&self, theta: Vec<f64>) -> Peak {
        let plain = Likelihood { firth: false, ..*self };
        let intercepts = (0..self.blocks()).map(|k| k * self.design.width).collect();
        plain.climb(theta, &mut Free::new(intercepts), NEAR)
    }

    /// FLAC: the data with what the prior adds, marked in a last column.
    pub(super) fn augmented(&self, theta: &[f64], factor: &Factor) -> Design {
        let design = self.design;
        let (count, width) = (design.len(), design.width);
        let x = Lines::new(2 * count, width + 1, self.threads, |at, wide, _| {
            wide[..width].copy_from_slice(design.line(at % count));
            wide[width] = if at < count { 0.0 } else { 1.0 };
        });
        let mut all = Design {
            x: Arc::new(x),
            width: width + 1,
            classes: 2,
            y: design.y.clone(),
            weight: design.weight.clone(),
            offset: [&design.offset[..], &design.offset].concat(),
            row: [&design.row[..], &design.row].concat(),
        };
        for i in 0..count {
            let share = self.share(theta, i);
            let leverage = factor.leverage(design.line(i));
            all.weight.push(design.weight[i] * share.p * share.q * leverage);
            all.y.push(0.5);
        }
        all
    }
}
