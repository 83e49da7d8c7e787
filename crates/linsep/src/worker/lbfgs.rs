//! Steps of limited-memory BFGS on an objective that somebody else computes, with its gradient and the diagonal of its
//! second derivatives.
//!
//! The direction is −B g, where B begins with the inverse of the diagonal and takes in the last changes of the planes and of
//! the gradient. t = 1 is tried first; where the objective does not fall enough, t goes to where the slopes at both ends say
//! that it is least.
//!
//! Reference: Nocedal, Wright, Numerical Optimization, 7.2.

use crate::model::Plane;
use crate::objective::{Intercept, Penalty};
use linsep_kernels::dot_f64;
use std::collections::VecDeque;

/// The share of what the slope promises that the objective has to fall.
const ENOUGH: f64 = 1e-4;

/// Lengths of a step that are tried before a run ends.
const MOST_TRIES: u32 = 40;

/// Changes that are remembered.
const PAIRS: usize = 20;

/// Where a run is: it knows the penalty and no rows. Planes are one list of numbers, each with its bias at the end.
pub(super) struct Lbfgs {
    pub(super) shape: (usize, usize),
    pub(super) penalty: Penalty,
    pub(super) intercept: Intercept,
    pub(super) point: Vec<f64>,
    gradient: Vec<f64>,
    diagonal: Vec<f64>,
    pub(super) primal: f64,
    pub(super) candidate: Vec<f64>,
    direction: Vec<f64>,
    slope: f64,
    length: f64,
    tries: u32,
    pairs: VecDeque<Pair>,
    pub(super) rounds: u64,
    pub(super) accepted: u64,
    pub(super) wanted: f64,
}

/// A change of the planes, the change of the gradient that it made, and their product.
struct Pair {
    s: Vec<f64>,
    y: Vec<f64>,
    product: f64,
}

impl Lbfgs {
    pub(super) fn new(
        (planes, width): (usize, usize),
        penalty: Penalty,
        intercept: Intercept,
        wanted: f64,
    ) -> Lbfgs {
        let zeros = vec![0.0; planes * (width + 1)];
        Lbfgs {
            shape: (planes, width),
            penalty,
            intercept,
            point: zeros.clone(),
            gradient: zeros.clone(),
            diagonal: zeros.clone(),
            primal: f64::INFINITY,
            candidate: zeros.clone(),
            direction: zeros,
            slope: 0.0,
            length: 1.0,
            tries: 0,
            pairs: VecDeque::new(),
            rounds: 0,
            accepted: 0,
            wanted,
        }
    }

    pub(super) fn planes_of(&self, point: &[f64]) -> Vec<Plane> {
        let plane = |part: &[f64]| match part.split_last() {
            Some((bias, weights)) => Plane { weights: weights.to_vec(), bias: *bias },
            None => Plane { weights: Vec::new(), bias: 0.0 },
        };
        point.chunks_exact(self.shape.1 + 1).map(plane).collect()
    }

    /// Takes what the rows answered at the candidate. Whether there is another round.
    pub(super) fn take(&mut self, loss: f64, sums: &[Plane], diagonal: Vec<f64>) -> bool {
        self.rounds += 1;
        let planes = self.planes_of(&self.candidate);
        let values = planes.iter().map(|plane| self.penalty.value(plane, self.intercept));
        let primal = loss + values.sum::<f64>();
        let gradient = self.gradient_at(&planes, sums);
        if self.accepted > 0 && !self.is_enough(primal, &gradient) {
            return self.nearer(primal, &gradient);
        }
        if self.accepted > 0 {
            self.remember(&gradient);
        }
        (self.primal, self.gradient, self.diagonal) = (primal, gradient, diagonal);
        self.point.copy_from_slice(&self.candidate);
        self.accepted += 1;
        self.set_out();
        self.likely_gap() > self.wanted
    }

    /// ∇P.
    fn gradient_at(&self, planes: &[Plane], sums: &[Plane]) -> Vec<f64> {
        let mut gradient = Vec::with_capacity(self.point.len());
        for (plane, sum) in planes.iter().zip(sums) {
            let pairs = plane.weights.iter().zip(&sum.weights).enumerate();
            gradient.extend(pairs.map(|(j, (w, d))| self.penalty.curvature(j) * w - d));
            gradient.push(match self.intercept {
                Intercept::None => 0.0,
                Intercept::Free => -sum.bias,
                Intercept::Penalised => self.penalty.l2 * plane.bias - sum.bias,
            });
        }
        gradient
    }

    /// Whether the objective has fallen, as far as its digits can say so.
    fn is_enough(&self, primal: f64, gradient: &[f64]) -> bool {
        if primal <= self.primal + ENOUGH * self.length * self.slope {
            return true;
        }
        // Near the optimum differences drown in rounding; slopes do not.
        let slope = dot_f64(gradient, &self.direction);
        primal <= self.primal + 1e-12 * self.primal.abs() && slope.abs() <= 0.9 * self.slope.abs()
    }

    /// A shorter step.
    fn nearer(&mut self, primal: f64, gradient: &[f64]) -> bool {
        let slope = dot_f64(gradient, &self.direction);
        let share = match primal.is_finite() && slope > 0.0 {
            true => self.slope / (self.slope - slope),
            false => 0.5,
        };
        self.length *= share.clamp(0.1, 0.5);
        self.tries += 1;
        self.walk();
        self.tries < MOST_TRIES
    }

    fn remember(&mut self, gradient: &[f64]) {
        let change = |to: &[f64], from: &[f64]| -> Vec<f64> {
            to.iter().zip(from).map(|(to, from)| to - from).collect()
        };
        let (s, y) = (change(&self.candidate, &self.point), change(gradient, &self.gradient));
        let product = dot_f64(&s, &y);
        if product > f64::EPSILON * (dot_f64(&s, &s) * dot_f64(&y, &y)).sqrt() {
            if self.pairs.len() == PAIRS {
                self.pairs.pop_front();
            }
            self.pairs.push_back(Pair { s, y, product });
        }
    }

    /// The direction −B g, in two loops over the changes.
    fn set_out(&mut self) {
        let scale = self.inverse_diagonal();
        let times = |list: &[f64]| list.iter().zip(&scale).map(|(v, d)| v * d).collect::<Vec<_>>();
        let mut q = self.gradient.clone();
        let mut shares = Vec::with_capacity(self.pairs.len());
        for pair in self.pairs.iter().rev() {
            let share = dot_f64(&pair.s, &q) / pair.product;
            linsep_kernels::axpy_dense(-share, &pair.y, &mut q);
            shares.push(share);
        }
        let mut r = times(&q);
        if let Some(last) = self.pairs.back() {
            let unit = last.product / dot_f64(&last.y, &times(&last.y));
            r.iter_mut().for_each(|r| *r *= unit);
        }
        for (pair, share) in self.pairs.iter().zip(shares.iter().rev()) {
            let other = dot_f64(&pair.y, &r) / pair.product;
            linsep_kernels::axpy_dense(share - other, &pair.s, &mut r);
        }
        r.iter_mut().for_each(|r| *r = -*r);
        self.slope = dot_f64(&self.gradient, &r);
        (self.direction, self.length, self.tries) = (r, 1.0, 0);
        self.walk();
    }

    fn inverse_diagonal(&self) -> Vec<f64> {
        let (_, width) = self.shape;
        let one = |(place, h): (usize, &f64)| {
            let penalised = match (place % (width + 1) == width, self.intercept) {
                (false, _) => self.penalty.curvature(place % (width + 1)),
                (true, Intercept::Penalised) => self.penalty.l2,
                (true, _) => 0.0,
            };
            let sum = h + penalised;
            if sum > 0.0 { 1.0 / sum } else { 1.0 }
        };
        self.diagonal.iter().enumerate().map(one).collect()
    }

    fn walk(&mut self) {
        self.candidate.copy_from_slice(&self.point);
        linsep_kernels::axpy_dense(self.length, &self.direction, &mut self.candidate);
    }

    pub(super) fn likely_gap(&self) -> f64 {
        let size = self.shape.1 + 1;
        let (mut squares, mut biases) = (0.0, 0.0);
        for (gradient, point) in self.gradient.chunks_exact(size).zip(self.point.chunks_exact(size))
        {
            squares += dot_f64(&gradient[..size - 1], &gradient[..size - 1]);
            let (g, b) = (gradient[size - 1], point[size - 1]);
            match self.intercept {
                Intercept::Penalised => squares += g * g,
                _ => biases += (b * g).abs(),
            }
        }
        (squares / (2.0 * self.penalty.l2) + biases) / self.primal
    }
}
