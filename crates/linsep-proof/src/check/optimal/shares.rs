//! The shares of the classes of a row: where a loss has its slope, as a claim lists them, and mixed with
//! others; and their entropies from below.
//!
//! The share of the own class is what the others leave of 1, so that shares add up to 1 however the
//! others were rounded. With e the bound of the error of a share, −p ln p is off by at most
//! e (|ln p| + 1.3) while p > 4e; smaller shares count as 0, which is below every such term.

use super::functions::{exp, ln, ln_one_plus};
use super::penalty::UNIT;
use crate::check::Checked;
use crate::double::Double;

/// Shares of the classes of a row, the own one apart.
pub(super) struct Shares {
    /// 0 for the own class.
    pub(super) p: Vec<f64>,
    /// The sum of the others.
    pub(super) others: Double,
}

/// p″ = σ ((1 − θ) p + θ q) + (1 − σ) δ.
pub(super) struct Mixing {
    pub(super) theta: f64,
    pub(super) q: Vec<f64>,
    /// How far θ q may be off.
    pub(super) doubt: f64,
    pub(super) sigma: f64,
}

impl Shares {
    /// The loss from above, and the shares where the loss has its slope. Scores become differences to
    /// the own score, raised by what they may lack.
    pub(super) fn at(
        &mut self,
        scores: &mut [f64],
        class: usize,
        error: f64,
        softmax: bool,
    ) -> f64 {
        let own = scores[class];
        let raise = 2.0 * error * (1.0 + 8.0 * UNIT);
        for score in scores.iter_mut() {
            let difference = (*score - own) + raise;
            *score = difference + 4.0 * UNIT * difference.abs();
        }
        scores[class] = 0.0;
        self.p.fill(0.0);
        match softmax {
            true => self.softmax(scores, class),
            false => self.greatest(scores, class),
        }
    }

    fn softmax(&mut self, scores: &[f64], class: usize) -> f64 {
        let (best, most) = greatest(scores);
        let mut rest = 0.0;
        for (k, (p, score)) in self.p.iter_mut().zip(scores).enumerate() {
            *p = exp(score - most);
            rest += if k == best { 0.0 } else { *p };
        }
        let lost = most + ln_one_plus(rest);
        let scale = 1.0 / (1.0 + rest);
        self.p[class] = 0.0;
        self.p.iter_mut().for_each(|p| *p *= scale);
        self.settle();
        lost
    }

    fn greatest(&mut self, scores: &mut [f64], class: usize) -> f64 {
        for (k, score) in scores.iter_mut().enumerate() {
            *score += f64::from(u8::from(k != class));
        }
        let (best, most) = greatest(scores);
        if best != class && most > 0.0 {
            self.p[best] = 1.0;
        }
        self.settle();
        most.max(0.0) * (1.0 + 8.0 * UNIT)
    }

    pub(super) fn listed(&mut self, list: &[(u32, f64)], class: usize) -> Checked<()> {
        self.p.fill(0.0);
        if !list.is_sorted_by(|a, b| a.0 < b.0) {
            return Err("the planes of its shares are not rising".into());
        }
        for (plane, share) in list {
            let plane = *plane as usize;
            if plane == class || plane >= self.p.len() || !(0.0..=1.0).contains(share) {
                return Err("a share is its own, of no plane or not from 0 to 1".into());
            }
            self.p[plane] = *share;
        }
        let sum: f64 = list.iter().map(|(_, share)| share).sum();
        match sum <= 1.0 + 1e-12 {
            true => self.settle(),
            false => return Err("its shares add up to more than 1".into()),
        }
        Ok(())
    }

    /// Adds up the others, and makes them smaller where rounding may have made them more than 1. A sum
    /// of several lacks at most 2^-96 for each.
    fn settle(&mut self) {
        let several = self.p.iter().filter(|p| **p != 0.0).count() > 1;
        let least = if several { self.p.len() as f64 * 2f64.powi(-96) } else { 0.0 };
        loop {
            self.others = self.p.iter().fold(Double::ZERO, |sum, p| sum.plus(Double::of(*p)));
            let own = Double::of(1.0).minus(self.others).value();
            if own >= least || own.is_nan() {
                return;
            }
            self.p.iter_mut().for_each(|p| *p *= 1.0 - 2f64.powi(-45));
        }
    }

    /// No more than −Σ p″ ln p″, but for the relative errors of `functions`. A share that is known to
    /// within e costs at most e (|ln p| + 1) beside.
    pub(super) fn entropy_below(&self, class: usize, mixing: &Mixing) -> f64 {
        let Mixing { theta, q, doubt, sigma } = mixing;
        let keep = 1.0 - theta;
        let mut sum = 0.0;
        for (k, (p, q)) in self.p.iter().zip(q).enumerate() {
            if k != class {
                sum += term_below(sigma * (keep * p + theta * q), *doubt);
            }
        }
        let others = sigma * (keep * self.others.value() + theta * (1.0 - q[class]));
        let own = match others <= 0.5 {
            true => -(1.0 - others) * ln_one_plus(-others) - 16.0 * UNIT * others - doubt,
            false => {
                let others = match mixing.is_nothing() {
                    true => Double::of(1.0).minus(self.others).value(),
                    false => 1.0 - others,
                };
                term_below(others, doubt + 16.0 * UNIT)
            }
        };
        (sum + own).max(0.0)
    }
}

impl Shares {
    /// No more than −Σ p ln p wherever each share is within its reach; `None` if one may leave its domain. The
    /// terms are concave, so they are least at an end.
    pub(super) fn entropy_within(&self, class: usize, reach: &[f64]) -> Option<f64> {
        let own = Double::of(1.0).minus(self.others).value();
        let mut sum = 0.0;
        for (k, (p, reach)) in self.p.iter().zip(reach).enumerate() {
            let (p, doubt) = if k == class { (own, 16.0 * UNIT) } else { (*p, 0.0) };
            let (low, high) = (p - reach, p + reach);
            let stays = *reach == 0.0 || low >= 4.0 * UNIT;
            if !stays {
                return None;
            }
            sum += term_below(low, doubt).min(term_below(high, doubt));
        }
        Some(sum)
    }
}

impl Mixing {
    /// Shares as they are.
    pub(super) fn nothing(classes: usize) -> Mixing {
        Mixing { theta: 0.0, q: vec![0.0; classes], doubt: 0.0, sigma: 1.0 }
    }

    pub(super) fn is_nothing(&self) -> bool {
        self.theta == 0.0 && self.sigma == 1.0
    }
}

/// No more than −p ln p for a share that is known to within 16 u and `doubt`; 0 where that says nothing.
fn term_below(p: f64, doubt: f64) -> f64 {
    if !(p > 1e-30 && p > 4.0 * doubt) {
        return if p.is_nan() { p } else { 0.0 };
    }
    // Near 1 the rest is exact, and its logarithm has no error to speak of.
    let size = if p > 0.75 { -ln_one_plus(p - 1.0) } else { -ln(p) };
    (p * size - (16.0 * UNIT * p + 2.0 * doubt) * (size + 2.0)).max(0.0)
}

/// The first of the greatest numbers.
fn greatest(numbers: &[f64]) -> (usize, f64) {
    let mut best = (0, numbers[0]);
    for (k, &number) in numbers.iter().enumerate().skip(1) {
        if number > best.1 || number.is_nan() {
            best = (k, number);
        }
    }
    best
}
