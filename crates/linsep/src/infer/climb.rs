//! The largest value of a likelihood, with some coefficients held where they are.
//!
//! Steps of Newton's method with halving; for Firth's likelihood the expected information stands in for
//! its second derivatives (Fisher scoring). A factorisation serves as long as steps contract well, so that a
//! climb near a known peak takes passes over the rows without another matrix.
//!
//! How far a point is from the peak is said in units of standard errors: the decrement λ² = gᵀI⁻¹g.

use super::likelihood::{Likelihood, Look};
use crate::algebra::Factor;

/// A peak is as near as this, in standard errors squared.
pub(super) const NEAR: f64 = 1e-20;
/// On a profile, where the height counts and not the place.
pub(super) const LEVEL: f64 = 1e-10;
/// A factorisation is made anew where a step leaves more than this of λ².
const SLOW: f64 = 0.05;
/// Expected information is up to half of the second derivatives of Firth's likelihood (where observations are as few
/// as coefficients), so that steps of scoring swing around the peak: where the slope turns by more than this share,
/// steps are shortened by the secant.
const TOO_FAR: f64 = -0.5;
const LEAST_SCALE: f64 = 0.125;
/// Where λ² is below this, another step with the information of the place leaves next to nothing.
const CLOSE: f64 = 1e-2;
const MOST_STEPS: usize = 200;
const MOST_HALVINGS: usize = 30;

/// Where a climb has ended.
pub(super) struct Peak {
    pub(super) theta: Vec<f64>,
    pub(super) look: Look,
    /// λ² of the coefficients that were free.
    pub(super) decrement: f64,
    pub(super) steps: usize,
    /// Whether it is as near as was wanted, or as near as rounding lets it come.
    pub(super) converged: bool,
}

/// Coefficients that may move, and a factorisation of their information.
pub(super) struct Free {
    pub(super) at: Vec<usize>,
    factor: Option<Factor>,
    /// Whether information of the place itself takes over where it is close to that of the peak.
    renews: bool,
}

impl Free {
    pub(super) fn new(at: Vec<usize>) -> Free {
        Free { at, factor: None, renews: false }
    }

    /// With factors of the information at a point near by.
    pub(super) fn with(at: Vec<usize>, information: &[f64], order: usize) -> Free {
        let factor = Some(factor_of(information, order, &at));
        Free { at, factor, renews: false }
    }

    /// With factors of the information of other rows, until that of these rows is worth its price.
    pub(super) fn of_sample(at: Vec<usize>, information: &[f64], order: usize) -> Free {
        Free { renews: true, ..Free::with(at, information, order) }
    }

    fn part(&self, vector: &[f64]) -> Vec<f64> {
        self.at.iter().map(|&j| vector[j]).collect()
    }
}

fn factor_of(information: &[f64], order: usize, at: &[usize]) -> Factor {
    let part: Vec<f64> =
        at.iter().flat_map(|&j| at.iter().map(move |&k| information[j * order + k])).collect();
    Factor::new(&part, at.len())
}

impl Likelihood<'_> {
    /// Climbs from a point until λ² is at most `wanted`.
    pub(super) fn climb(&self, theta: Vec<f64>, free: &mut Free, wanted: f64) -> Peak {
        let order = self.order();
        let look = self.look(&theta, free.factor.is_none());
        let mut peak = Peak { theta, look, decrement: 0.0, steps: 0, converged: true };
        if free.at.is_empty() {
            return peak;
        }
        let (mut before, mut fresh) = (f64::INFINITY, free.factor.is_none());
        // Where Firth's steps are too long, how long they are to be, and the last one.
        let (mut scale, mut last): (f64, Vec<f64>) = (1.0, Vec::new());
        loop {
            if let (Some(information), true) = (&peak.look.information, fresh || self.firth) {
                free.factor = Some(factor_of(information, order, &free.at));
            }
            let Some(factor) = &free.factor else { return peak };
            let down = free.part(&peak.look.gradient);
            let step = factor.solve(&down);
            peak.decrement = down.iter().zip(&step).map(|(d, s)| d * s).sum();
            if self.firth && !last.is_empty() {
                // What is left of the slope along the last step: below 0 it went too far.
                let left = down.iter().zip(&last).map(|(d, s)| d * s).sum::<f64>() / before;
                if left < TOO_FAR {
                    scale = (scale / (1.0 - left)).max(LEAST_SCALE);
                }
            }
            // Rounding leaves nothing where λ² no longer falls.
            let stalled = peak.decrement < 1e-14 && peak.decrement > 0.5 * before;
            let lost = !peak.decrement.is_finite() || !peak.look.value.is_finite();
            if peak.decrement <= wanted || stalled || lost || peak.steps == MOST_STEPS {
                peak.converged = !lost && (peak.decrement <= wanted || stalled);
                return peak;
            }
            // Firth's steps contract by themselves, not by a better matrix.
            let slow = !fresh && peak.decrement > SLOW * before;
            if slow && !self.firth {
                peak.look = self.look(&peak.theta, true);
                (fresh, before) = (true, f64::INFINITY);
                continue;
            }
            // What a step leaves if it leaves no larger share than the last one did.
            let left = peak.decrement * (peak.decrement / before);
            let is_time = free.renews && !fresh && before.is_finite() && left < CLOSE;
            before = peak.decrement;
            fresh = self.wants_matrix(before, fresh) || is_time;
            let moved = self.forward(&peak, &free.at, &step, scale, fresh);
            last = step;
            peak.steps += 1;
            match moved {
                Some((theta, look)) => (peak.theta, peak.look) = (theta, look),
                None if !fresh && !self.firth => {
                    peak.look = self.look(&peak.theta, true);
                    (fresh, before) = (true, f64::INFINITY);
                }
                None => {
                    peak.converged = peak.decrement < 1e-8;
                    return peak;
                }
            }
        }
    }

    /// Whether the next step is worth another matrix: far from the peak it changes much.
    fn wants_matrix(&self, decrement: f64, is_newton: bool) -> bool {
        is_newton && decrement > 1e-16
    }

    fn forward(
        &self,
        peak: &Peak,
        at: &[usize],
        step: &[f64],
        mut length: f64,
        with_information: bool,
    ) -> Option<(Vec<f64>, Look)> {
        let slack = 1e-13 * (1.0 + peak.look.value.abs());
        for _ in 0..MOST_HALVINGS {
            let mut theta = peak.theta.clone();
            at.iter().zip(step).for_each(|(&j, s)| theta[j] += length * s);
            let look = self.look(&theta, with_information);
            if look.value >= peak.look.value - slack {
                return Some((theta, look));
            }
            length *= 0.5;
        }
        None
    }
}
