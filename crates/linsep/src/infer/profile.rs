//! Ends of profile-likelihood intervals: where the largest likelihood with one coefficient held at b has
//! fallen by half a quantile of χ².
//!
//! With PL(b) that largest likelihood, the signed root r(b) = √(2(l − PL(b))) is a straight line where l is a
//! parabola, so Newton's method on r needs few steps; its slope is −∂l/∂β_j / r at the point of the profile.
//! Points are guessed by a parabola through the peak and the last point, so that most climbs are one look.
//!
//! **The bracket.** An end is reported with a bracket around it, and both of its ends were tried. The inner one
//! lies in the interval: a point was found there whose likelihood is high enough. At the outer one, climbing
//! ended λ² away from the peak, which bounds PL(b) by l + λ² (twice what a parabola says), and that is too low.
//!
//! References: Venzon and Moolgavkar, A method for computing profile-likelihood-based confidence intervals, 1988;
//! Heinze and Schemper, A solution to the problem of separation in logistic regression, 2002.

use super::climb::{Free, LEVEL, Peak};
use super::likelihood::Likelihood;

/// Half the width of a bracket, as a share of the distance from the estimate.
const WIDTH: f64 = 1e-7;
const MOST_TRIES: usize = 80;
/// Beyond so many standard errors there is no end.
const FAR: f64 = 1e9;

/// An end of a profile-likelihood interval.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ProfileEnd {
    /// The end, in the middle of its bracket; infinite where the likelihood never falls so far.
    pub value: f64,
    /// The width of the bracket that was tried on both sides.
    pub width: f64,
    /// Whether the bracket was found.
    pub found: bool,
}

impl ProfileEnd {
    pub(super) fn infinite(side: f64) -> ProfileEnd {
        ProfileEnd { value: side * f64::INFINITY, width: 0.0, found: true }
    }

    fn lost() -> ProfileEnd {
        ProfileEnd { value: f64::NAN, width: f64::INFINITY, found: false }
    }
}

/// A profile of one coefficient, walked from a start to one side.
pub(super) struct Walk<'a> {
    pub(super) likelihood: Likelihood<'a>,
    /// The coefficient that is held.
    pub(super) coordinate: usize,
    /// The others that may move.
    pub(super) free: Vec<usize>,
    /// l.
    pub(super) highest: f64,
    /// The quantile.
    pub(super) drop: f64,
    /// −1 or +1.
    pub(super) side: f64,
    /// A point that is high enough.
    pub(super) start: Vec<f64>,
    /// How the others move with the coefficient there.
    pub(super) tangent: Vec<f64>,
    /// The first step.
    pub(super) step: f64,
    /// The information near the start.
    pub(super) information: &'a [f64],
}

/// A point of the profile.
struct Point {
    at: f64,
    /// 2(l − PL), from above and from below.
    depth: f64,
    least_depth: f64,
    slope: f64,
    theta: Vec<f64>,
}

impl Walk<'_> {
    pub(super) fn end(&self) -> ProfileEnd {
        let origin = self.start[self.coordinate];
        let order = self.likelihood.order();
        let mut free = Free::with(self.free.clone(), self.information, order);
        let root = self.drop.sqrt();
        let (mut inside, mut outside): (f64, Option<f64>) = (0.0, None);
        let mut last: Option<Point> = None;
        // All distances are from the origin, to the side.
        let mut distance = self.step;
        for _ in 0..MOST_TRIES {
            let Some(point) = self.point(distance, last.as_ref(), &mut free) else {
                // Too far: nothing is known there.
                distance = 0.5 * (inside + distance);
                continue;
            };
            let r = point.depth.max(0.0).sqrt();
            if r <= root {
                inside = inside.max(distance)
            } else {
                outside = Some(distance)
            }
            // dr/d distance = −side · ∂l/∂β / r.
            let slope = -self.side * point.slope / r.max(1e-8);
            let mut next = distance + (root - r) / slope;
            let most = outside.unwrap_or(inside * 4.0 + self.step);
            if !(next > inside && next < most) {
                let near = (next - distance).abs() <= WIDTH * distance;
                next = match outside {
                    _ if near => next,
                    Some(outside) => 0.5 * (inside + outside),
                    None => inside * 3.0 + self.step,
                };
            }
            let moved = (next - distance).abs();
            distance = next;
            last = Some(point);
            if moved <= 0.3 * WIDTH * distance {
                return self.bracket(origin, distance, last.as_ref(), &mut free);
            }
            if distance > FAR * self.step {
                return ProfileEnd::infinite(self.side);
            }
        }
        ProfileEnd::lost()
    }

    /// Tries both ends of a bracket around a distance.
    fn bracket(
        &self,
        origin: f64,
        distance: f64,
        last: Option<&Point>,
        free: &mut Free,
    ) -> ProfileEnd {
        let mut half = WIDTH * distance;
        for _ in 0..8 {
            let inner = self.point(distance - half, last, free);
            let outer = self.point(distance + half, last, free);
            let (Some(inner), Some(outer)) = (inner, outer) else { return ProfileEnd::lost() };
            if inner.depth <= self.drop && outer.least_depth >= self.drop {
                let value = origin + self.side * distance;
                // Rounding of the sum is part of the width.
                let width = 2.0 * half + f64::EPSILON * (origin.abs() + value.abs());
                return ProfileEnd { value, width, found: true };
            }
            half *= 8.0;
        }
        ProfileEnd::lost()
    }

    fn point(&self, distance: f64, last: Option<&Point>, free: &mut Free) -> Option<Point> {
        let mut theta = self.start.clone();
        theta[self.coordinate] += self.side * distance;
        let moved = self.side * distance;
        for &j in &self.free {
            theta[j] += self.tangent[j] * moved;
            if let Some(last) = last {
                let before = self.side * last.at;
                let bend = last.theta[j] - self.start[j] - self.tangent[j] * before;
                theta[j] += bend * (moved / before) * (moved / before);
            }
        }
        let peak = self.likelihood.climb(theta, free, LEVEL);
        if !peak.converged {
            return None;
        }
        let Peak { theta, look, decrement, .. } = peak;
        Some(Point {
            at: distance,
            depth: 2.0 * (self.highest - look.value),
            least_depth: 2.0 * (self.highest - look.value - decrement),
            slope: look.gradient[self.coordinate],
            theta,
        })
    }
}
