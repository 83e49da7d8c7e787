//! Softmax regression on blocks that are tables of their own, by Newton's method over all planes at once.
//!
//! With the shares p of a row, δ = 1 for its class and x̂ = (x, 1), a block answers
//!
//! ```text
//! Σ c ln Σ_k exp(s_k − s_own)      Σ c (δ_k − p_k) x̂      G_kl = Σ c p_k p_l x̂ x̂ᵀ   (k < l)
//! ```
//!
//! and the second derivatives are H_kl = −G_kl and H_kk = Σ_{l≠k} G_kl + Λ, since shares add up to 1. Shifting all
//! biases alike changes no loss: such a step is no part of the answer of the equations. A message has
//! K (K − 1) (d + 1)²/4 numbers or so, which limits classes and columns.
//!
//! Reference: Bishop, Pattern Recognition and Machine Learning, 4.3.4.

use super::descent::Descent;
use super::foreign;
use crate::algebra::Factor;
use crate::engine::gram::Gram;
use crate::model::Plane;
use crate::objective::{Intercept, Penalty, add};
use crate::rounds::{Wire, decode, encode};
use linsep_data::Dataset;
use linsep_data::error::{Error, Result};

/// Weights of all planes together, at most: the equations of a step take their number to the third.
pub const MOST_WEIGHTS: usize = 3000;

/// Softmax regression of K classes with the penalty ½ Σ |w|².
#[derive(Clone, Debug)]
pub struct SoftmaxLoss {
    c: f64,
    intercept: Intercept,
}

/// What rows answer.
struct Answer {
    loss: f64,
    /// Σ c (δ − p) x̂ of each class.
    sums: Vec<Plane>,
    /// Upper triangles of G for k < l.
    pairs: Vec<Vec<f64>>,
}

impl SoftmaxLoss {
    /// C Σ ln Σ_k exp(s_k − s_own).
    pub fn new(c: f64, intercept: Intercept) -> SoftmaxLoss {
        SoftmaxLoss { c, intercept }
    }

    /// The objective as it is claimed.
    pub fn claimed(&self) -> linsep_proof::Objective {
        linsep_proof::Objective::new(linsep_proof::Loss::Softmax, self.c)
            .with_intercept(self.intercept)
    }

    pub(super) fn c(&self) -> f64 {
        self.c
    }

    pub(super) fn penalty(&self) -> Penalty {
        Penalty { l1: 0.0, l2: 1.0, scale: None, limits: None }
    }

    pub(super) fn intercept(&self) -> Intercept {
        self.intercept
    }

    /// What a block answers at planes, one for each class.
    pub fn partial(&self, block: &Dataset, planes: &[Plane]) -> Result<Vec<u8>> {
        let (classes, width) = (block.n_classes(), block.n_features());
        let fits = |plane: &Plane| plane.weights.len() == width;
        if planes.len() != classes || !planes.iter().all(fits) {
            return Err(foreign());
        }
        let mut sums = vec![Plane { weights: vec![0.0; width], bias: 0.0 }; classes];
        let mut grams: Vec<Gram> =
            (0..classes * (classes - 1) / 2).map(|_| Gram::new(width + 1)).collect();
        let (mut row, zeros) = (vec![0.0; width + 1], vec![0.0; width + 1]);
        let mut shares = vec![0.0; classes];
        let mut loss = 0.0;
        for place in 0..block.n_rows() {
            let cost = self.c * block.weight(place);
            if cost == 0.0 {
                continue;
            }
            row.fill(0.0);
            row[width] = 1.0;
            block.for_each(place, |j, x| row[j as usize] = x);
            for (share, plane) in shares.iter_mut().zip(planes) {
                *share = linsep_kernels::dot_f64(&plane.weights, &row[..width]) + plane.bias;
            }
            let own = block.class_of(place) as usize;
            loss += cost * SoftmaxLoss::shares(&mut shares, own);
            let mut pair = 0;
            for k in 0..classes {
                let q = cost * (f64::from(u8::from(k == own)) - shares[k]);
                linsep_kernels::axpy_dense(q, &row[..width], &mut sums[k].weights);
                sums[k].bias += q;
                for l in k + 1..classes {
                    let factor = cost * shares[k] * shares[l];
                    if factor > 0.0 {
                        grams[pair].add(factor, &row, &zeros);
                    }
                    pair += 1;
                }
            }
        }
        let pairs = grams.into_iter().map(Gram::finish).collect();
        Ok(encode(&Answer { loss, sums, pairs }))
    }

    /// Scores become shares. The loss of the row.
    pub(super) fn shares(scores: &mut [f64], own: usize) -> f64 {
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let own = scores[own];
        let mut all = 0.0;
        for score in scores.iter_mut() {
            *score = (*score - most).exp();
            all += *score;
        }
        scores.iter_mut().for_each(|share| *share /= all);
        all.ln() + (most - own)
    }

    /// The answers of some blocks and of those that follow them.
    pub fn merge(&self, all: &[u8], next: &[u8]) -> Result<Vec<u8>> {
        let (mut all, next): (Answer, Answer) = (decode(all)?, decode(next)?);
        if !all.is_like(&next) {
            return Err(foreign());
        }
        all.loss += next.loss;
        all.sums.iter_mut().zip(&next.sums).for_each(|(all, part)| add(part, all));
        for (all, part) in all.pairs.iter_mut().flatten().zip(next.pairs.iter().flatten()) {
            *all += part;
        }
        Ok(encode(&all))
    }

    /// Whoever asks, until a step promises less than this share of the objective.
    pub fn driver(&self, classes: usize, width: usize, wanted: f64) -> Result<SoftmaxDriver> {
        if classes * (width + 1) > MOST_WEIGHTS {
            return Err(Error::usage(format!(
                "a Newton step of softmax regression is for {MOST_WEIGHTS} weights in all; {classes} classes of {width} columns have {}",
                classes * (width + 1)
            )));
        }
        let penalty = self.penalty();
        let descent = Descent::new(classes, width, wanted);
        Ok(SoftmaxDriver { penalty, intercept: self.intercept, descent })
    }
}

/// A run on rows that are elsewhere.
pub struct SoftmaxDriver {
    penalty: Penalty,
    intercept: Intercept,
    descent: Descent,
}

impl SoftmaxDriver {
    /// The planes that the next round asks about.
    pub fn candidate(&self) -> &[Plane] {
        &self.descent.candidate
    }

    /// The best planes so far.
    pub fn planes(&self) -> &[Plane] {
        &self.descent.planes
    }

    /// The objective at the planes.
    pub fn objective(&self) -> f64 {
        self.descent.primal
    }

    /// Rounds so far.
    pub fn rounds(&self) -> u64 {
        self.descent.rounds
    }

    /// Takes the merged answers. Whether there is another round.
    pub fn step(&mut self, merged: &[u8]) -> Result<bool> {
        let answer: Answer = decode(merged)?;
        let SoftmaxDriver { penalty, intercept, descent } = self;
        if !answer.is_of(descent.planes.len(), descent.planes[0].weights.len()) {
            return Err(foreign());
        }
        let values = descent.candidate.iter().map(|plane| penalty.value(plane, *intercept));
        let primal = answer.loss + values.sum::<f64>();
        Ok(descent.take(primal, |planes| answer.newton(penalty, *intercept, planes)))
    }
}

impl Answer {
    fn is_of(&self, classes: usize, width: usize) -> bool {
        self.sums.len() == classes
            && self.sums.iter().all(|sum| sum.weights.len() == width)
            && self.pairs.len() == classes * (classes - 1) / 2
            && self.pairs.iter().all(|pair| pair.len() == (width + 1) * (width + 2) / 2)
    }

    fn is_like(&self, other: &Answer) -> bool {
        let width = self.sums.first().map_or(0, |sum| sum.weights.len());
        let classes = self.sums.len();
        classes > 1 && self.is_of(classes, width) && other.is_of(classes, width)
    }

    /// H⁻¹ (−∇P), and how far the quadratic model falls or, if that is more, about the duality gap.
    fn newton(
        &self,
        penalty: &Penalty,
        intercept: Intercept,
        planes: &[Plane],
    ) -> (Vec<Plane>, f64) {
        let (classes, width) = (planes.len(), planes[0].weights.len());
        let (size, order) = (width + 1, classes * (width + 1));
        let mut matrix = vec![0.0; order * order];
        let mut pairs = self.pairs.iter();
        for k in 0..classes {
            for l in k + 1..classes {
                let mut upper = pairs.next().into_iter().flatten();
                for i in 0..size {
                    for j in i..size {
                        let g = upper.next().copied().unwrap_or(0.0);
                        for (i, j) in if i == j { [(i, j), (i, j)] } else { [(i, j), (j, i)] } {
                            for (a, b, sign) in
                                [(k, l, -1.0), (l, k, -1.0), (k, k, 1.0), (l, l, 1.0)]
                            {
                                let share = if i == j { 0.5 } else { 1.0 };
                                matrix[(a * size + i) * order + b * size + j] += sign * share * g;
                            }
                        }
                    }
                }
            }
        }
        let mut right = Vec::with_capacity(order);
        for (k, (sum, plane)) in self.sums.iter().zip(planes).enumerate() {
            for (j, (d, w)) in sum.weights.iter().zip(&plane.weights).enumerate() {
                right.push(d - penalty.curvature(j) * w);
                matrix[(k * size + j) * (order + 1)] += penalty.curvature(j);
            }
            let at = k * size + width;
            right.push(match intercept {
                Intercept::None => 0.0,
                Intercept::Free => sum.bias,
                Intercept::Penalised => sum.bias - penalty.l2 * plane.bias,
            });
            match intercept {
                Intercept::Free => {}
                Intercept::Penalised => matrix[at * (order + 1)] += penalty.l2,
                Intercept::None => {
                    (0..order).for_each(|j| matrix[at * order + j] = 0.0);
                    (0..order).for_each(|j| matrix[j * order + at] = 0.0);
                    matrix[at * (order + 1)] = 1.0;
                }
            }
        }
        let answer = Factor::new(&matrix, order).solve(&right);
        let mut falls = 0.5 * linsep_kernels::dot_f64(&answer, &right);
        // The gap that the multipliers at the planes show is larger: |g|²/(2 l2), and what the biases add.
        let mut shown = 0.0;
        for (down, plane) in right.chunks_exact(size).zip(planes) {
            let squares = linsep_kernels::dot_f64(&down[..width], &down[..width]);
            shown += squares / (2.0 * penalty.l2) + (down[width] * plane.bias).abs();
        }
        // Where steps change next to nothing, what is left of the slopes is rounding.
        falls = falls.max(shown.min(1e8 * falls));
        let plane = |part: &[f64]| Plane { weights: part[..width].to_vec(), bias: part[width] };
        (answer.chunks_exact(size).map(plane).collect(), falls)
    }
}

impl Wire for Answer {
    fn write(&self, out: &mut Vec<u8>) {
        self.loss.write(out);
        self.sums.write(out);
        self.pairs.write(out);
    }

    fn read(bytes: &mut &[u8]) -> Result<Answer> {
        Ok(Answer { loss: f64::read(bytes)?, sums: Vec::read(bytes)?, pairs: Vec::read(bytes)? })
    }
}
