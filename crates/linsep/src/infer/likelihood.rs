//! The logarithm of the likelihood at coefficients, its gradient and the expected information.
//!
//! Two classes: with η = x·β + offset, p = 1/(1 + e^(−η)), y the share of successes of m trials,
//!
//! ```text
//! l = Σ m (y ln p + (1 − y) ln(1 − p))        ∇l = Σ m (y − p) x        I = Σ m p (1 − p) x xᵀ
//! ```
//!
//! K classes: a β_k for every class but the last, whose scores are 0, and p_k = e^(η_k)/Σ e^η,
//!
//! ```text
//! ∂l/∂β_k = Σ m ([y = k] − p_k) x             I_kl = Σ m p_k ([k = l] − p_l) x xᵀ
//! ```
//!
//! With these (canonical) links the expected information is the observed one. **Firth** adds ½ ln |I| to l,
//! the logarithm of Jeffreys' prior. Its gradient is ½ tr(I⁻¹ ∂I/∂β): with Q = x I⁻¹ xᵀ block by block,
//!
//! ```text
//! two classes   Σ h (½ − p) x,   h = m p (1 − p) xᵀI⁻¹x the leverage
//! K classes     for k:  Σ m ½ Σ_st κ_stk Q_st x,   κ the third cumulants of one draw, ∂W_st/∂η_k
//! ```
//!
//! Rows are visited in blocks of fixed size, so that no number of threads changes a bit.
//!
//! References: McCullagh and Nelder, Generalized Linear Models, 4.4; Firth, Bias reduction of maximum
//! likelihood estimates, 1993; Kosmidis and Firth, Multinomial logit bias reduction via the Poisson log-linear
//! model, 2011.

use super::design::Design;
use super::lines::BLOCK;
use crate::algebra::Factor;
use crate::engine::gram::Gram;
use linsep_data::cancel;
use linsep_data::parallel::parallel_map;
use linsep_kernels::{add_rows, add_scores, axpy_dense, dot_f64, logistic_rows, softmax_rows};
use std::ops::Range;

/// Rows that stay in the first cache between scores, slopes and sums.
const FEW: usize = 128;

/// Whose largest value is looked for.
#[derive(Clone, Copy)]
pub(super) struct Likelihood<'a> {
    pub(super) design: &'a Design,
    /// With Jeffreys' prior.
    pub(super) firth: bool,
    pub(super) threads: usize,
}

/// What coefficients are worth.
pub(super) struct Look {
    /// l, with the prior if there is one.
    pub(super) value: f64,
    /// l alone.
    pub(super) plain: f64,
    pub(super) gradient: Vec<f64>,
    /// I, if it was asked for or is needed.
    pub(super) information: Option<Vec<f64>>,
}

impl Likelihood<'_> {
    /// Coefficients of a class against the reference, and how many such classes there are.
    pub(super) fn blocks(&self) -> usize {
        self.design.classes - 1
    }

    /// The number of coefficients.
    pub(super) fn order(&self) -> usize {
        self.blocks() * self.design.width
    }

    pub(super) fn look(&self, theta: &[f64], with_information: bool) -> Look {
        cancel::check();
        let wanted = with_information || self.firth;
        let count = self.design.len().div_ceil(BLOCK);
        let parts = parallel_map(count, self.threads, |block| {
            let range = block * BLOCK..((block + 1) * BLOCK).min(self.design.len());
            match self.design.classes {
                2 => self.two(theta, range, wanted),
                _ => self.several(theta, range, wanted),
            }
        });
        let mut look = Look {
            value: 0.0,
            plain: 0.0,
            gradient: vec![0.0; self.order()],
            information: wanted.then(|| vec![0.0; self.order() * self.order()]),
        };
        let mut triangles = vec![0.0; parts.first().map_or(0, |part| part.triangles.len())];
        for part in &parts {
            look.plain += part.value;
            axpy_dense(1.0, &part.gradient, &mut look.gradient);
            axpy_dense(1.0, &part.triangles, &mut triangles);
        }
        if let Some(matrix) = &mut look.information {
            self.spread(&triangles, matrix);
        }
        look.value = look.plain;
        if self.firth {
            self.add_prior(theta, &mut look);
        }
        look
    }

    /// Where a climb begins: at 0, and beside an offset, which may be so far off that all shares are 0 or 1 there, at
    /// the weighted least squares on the scores of the shares (y + ½)/2, as `glm` of R does.
    pub(super) fn start(&self, free: &[usize]) -> Vec<f64> {
        let mut theta = vec![0.0; self.order()];
        if self.design.offset.is_empty() || free.is_empty() {
            return theta;
        }
        let order = free.len();
        let (mut matrix, mut right) = (vec![0.0; order * order], vec![0.0; order]);
        for i in 0..self.design.len() {
            let share = 0.5 * (self.design.y[i] + 0.5);
            let weight = self.design.weight[i] * share * (1.0 - share);
            let target = (share / (1.0 - share)).ln() - self.design.offset_of(i);
            let line = self.design.line(i);
            for (a, &j) in free.iter().enumerate() {
                right[a] += weight * target * line[j];
                for (b, &k) in free.iter().enumerate() {
                    matrix[a * order + b] += weight * line[j] * line[k];
                }
            }
        }
        let found = Factor::new(&matrix, order).solve(&right);
        if found.iter().all(|x| x.is_finite()) {
            free.iter().zip(found).for_each(|(&j, x)| theta[j] = x);
        }
        theta
    }

    fn two(&self, theta: &[f64], range: Range<usize>, wanted: bool) -> Part {
        let (design, width) = (self.design, self.design.width);
        let mut part = Part { value: 0.0, gradient: vec![0.0; width], triangles: Vec::new() };
        let mut gram = wanted.then(|| Gram::new(width));
        let zeros = vec![0.0; width];
        let [mut losses, mut slopes, mut curvatures] = [[0.0; FEW]; 3];
        for first in range.clone().step_by(FEW) {
            let rows = first..(first + FEW).min(range.end);
            let (count, lines) = (rows.len(), design.x.rows(&rows));
            let losses = &mut losses[..count];
            self.set_scores(theta, rows.clone(), losses);
            let (y, weight) = (&design.y[rows.clone()], &design.weight[rows]);
            logistic_rows(losses, y, weight, &mut slopes[..count], &mut curvatures[..count]);
            part.value -= dot_f64(weight, losses);
            add_rows(&slopes[..count], lines, &mut part.gradient);
            if let Some(gram) = &mut gram {
                gram.add_rows(&curvatures[..count], lines, &zeros);
            }
        }
        part.triangles = gram.map_or_else(Vec::new, Gram::finish);
        part
    }

    /// x·θ + offset of some rows.
    fn set_scores(&self, theta: &[f64], rows: Range<usize>, scores: &mut [f64]) {
        match self.design.offset.get(rows.clone()) {
            Some(offset) => scores.copy_from_slice(offset),
            None => scores.fill(0.0),
        }
        add_scores(self.design.x.rows(&rows), theta, scores);
    }

    fn several(&self, theta: &[f64], range: Range<usize>, wanted: bool) -> Part {
        let (design, width, blocks) = (self.design, self.design.width, self.blocks());
        let mut part =
            Part { value: 0.0, gradient: vec![0.0; self.order()], triangles: Vec::new() };
        let pairs = if wanted { blocks * (blocks + 1) / 2 } else { 0 };
        let mut grams: Vec<Gram> = (0..pairs).map(|_| Gram::new(width)).collect();
        let (mut shares, zeros) = (vec![0.0; blocks * FEW], vec![0.0; width]);
        let [mut most, mut logarithms, mut factors] = [[0.0; FEW]; 3];
        for first in range.clone().step_by(FEW) {
            let rows = first..(first + FEW).min(range.end);
            let (count, lines) = (rows.len(), design.x.rows(&rows));
            let (own, weight) = (&design.y[rows.clone()], &design.weight[rows.clone()]);
            let shares = &mut shares[..blocks * count];
            for (k, scores) in shares.chunks_exact_mut(count).enumerate() {
                self.set_scores(&theta[k * width..][..width], rows.clone(), scores);
            }
            // The scores of the own classes, before shares take their places.
            let factors = &mut factors[..count];
            for (i, own) in own.iter().enumerate() {
                factors[i] = shares.get(*own as usize * count + i).copied().unwrap_or(0.0);
            }
            softmax_rows(shares, &mut most[..count], &mut logarithms[..count]);
            for (i, weight) in weight.iter().enumerate() {
                part.value -= weight * ((most[i] - factors[i]) + logarithms[i]);
            }
            for (k, shares) in shares.chunks_exact(count).enumerate() {
                for (i, own) in own.iter().enumerate() {
                    let hit = f64::from(u8::from(*own as usize == k));
                    factors[i] = weight[i] * (hit - shares[i]);
                }
                add_rows(factors, lines, &mut part.gradient[k * width..][..width]);
            }
            let of = |k: usize| &shares[k * count..][..count];
            let pairs = (0..blocks).flat_map(|s| (s..blocks).map(move |t| (s, t)));
            for (gram, (s, t)) in grams.iter_mut().zip(pairs) {
                let hit = f64::from(u8::from(s == t));
                for (i, factor) in factors.iter_mut().enumerate() {
                    *factor = weight[i] * of(s)[i] * (hit - of(t)[i]);
                }
                gram.add_rows(factors, lines, &zeros);
            }
        }
        part.triangles = grams.into_iter().flat_map(Gram::finish).collect();
        part
    }

    /// The shares of all classes, the last being the reference; −ln of the own one.
    pub(super) fn shares(&self, theta: &[f64], line: &[f64], own: usize, out: &mut [f64]) -> f64 {
        let blocks = self.blocks();
        for (k, score) in out[..blocks].iter_mut().enumerate() {
            *score = dot_f64(line, &theta[k * line.len()..][..line.len()]);
        }
        out[blocks] = 0.0;
        let base = out[own];
        let most = out.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut sum = 0.0;
        for share in out.iter_mut() {
            *share = (*share - most).exp();
            sum += *share;
        }
        out.iter_mut().for_each(|share| *share /= sum);
        (most - base) + sum.ln()
    }

    /// Upper triangles, one for each pair of blocks, as one symmetric matrix.
    fn spread(&self, triangles: &[f64], matrix: &mut [f64]) {
        let (width, order, blocks) = (self.design.width, self.order(), self.blocks());
        let mut sums = triangles.iter();
        for s in 0..blocks {
            for t in s..blocks {
                for j in 0..width {
                    for k in j..width {
                        let sum = sums.next().copied().unwrap_or(0.0);
                        for (a, b) in [(j, k), (k, j)] {
                            let (row, column) = (s * width + a, t * width + b);
                            matrix[row * order + column] = sum;
                            matrix[column * order + row] = sum;
                        }
                    }
                }
            }
        }
    }

    fn add_prior(&self, theta: &[f64], look: &mut Look) {
        let Some(matrix) = &look.information else { return };
        let factor = Factor::new(matrix, self.order());
        if factor.is_singular() {
            look.value = f64::NEG_INFINITY;
            return;
        }
        look.value = look.plain + 0.5 * factor.log_determinant();
        let inverse = (self.blocks() > 1).then(|| inverse_of(&factor, self.order()));
        let count = self.design.len().div_ceil(BLOCK);
        let parts = parallel_map(count, self.threads, |block| {
            let mut sum = vec![0.0; self.order()];
            for i in block * BLOCK..((block + 1) * BLOCK).min(self.design.len()) {
                match &inverse {
                    None => {
                        let line = self.design.line(i);
                        let share = self.share(theta, i);
                        let h = self.design.weight[i] * share.p * share.q * factor.leverage(line);
                        axpy_dense(h * 0.5 * (share.q - share.p), line, &mut sum);
                    }
                    Some(inverse) => self.add_cumulants(theta, i, inverse, &mut sum),
                }
            }
            sum
        });
        parts.iter().for_each(|sum| axpy_dense(1.0, sum, &mut look.gradient));
    }

    fn add_cumulants(&self, theta: &[f64], i: usize, inverse: &[f64], sum: &mut [f64]) {
        let (width, order, blocks) = (self.design.width, self.order(), self.blocks());
        let (line, m) = (self.design.line(i), self.design.weight[i]);
        let mut p = vec![0.0; blocks + 1];
        self.shares(theta, line, 0, &mut p);
        let q = |s: usize, t: usize| -> f64 {
            let row = |j: usize| &inverse[(s * width + j) * order + t * width..][..width];
            (0..width).map(|j| line[j] * dot_f64(row(j), line)).sum()
        };
        let hit = |a: usize, b: usize| f64::from(u8::from(a == b));
        let mut factors = vec![0.0; blocks];
        for s in 0..blocks {
            for t in 0..blocks {
                let q = q(s, t);
                for (k, factor) in factors.iter_mut().enumerate() {
                    let slope = |a: usize| p[a] * (hit(a, k) - p[k]);
                    let kappa = hit(s, t) * slope(s) - slope(s) * p[t] - p[s] * slope(t);
                    *factor += 0.5 * kappa * q;
                }
            }
        }
        for (k, factor) in factors.iter().enumerate() {
            axpy_dense(m * factor, line, &mut sum[k * width..][..width]);
        }
    }

    /// The share of successes of an observation of two classes.
    pub(super) fn share(&self, theta: &[f64], i: usize) -> Share {
        Share::at(dot_f64(self.design.line(i), theta) + self.design.offset_of(i))
    }
}

/// p and 1 − p, each to its last bits.
#[derive(Clone, Copy)]
pub(super) struct Share {
    pub(super) score: f64,
    pub(super) p: f64,
    pub(super) q: f64,
    /// e^(−|score|).
    e: f64,
}

impl Share {
    #[inline]
    pub(super) fn at(score: f64) -> Share {
        let e = (-score.abs()).exp();
        let (large, small) = (1.0 / (1.0 + e), e / (1.0 + e));
        let (p, q) = if score >= 0.0 { (large, small) } else { (small, large) };
        Share { score, p, q, e }
    }

    /// −y ln p − (1 − y) ln(1 − p).
    #[inline]
    pub(super) fn loss(&self, y: f64) -> f64 {
        let linear = (1.0 - y) * self.score.max(0.0) + y * (-self.score).max(0.0);
        self.e.ln_1p() + linear
    }
}

struct Part {
    value: f64,
    gradient: Vec<f64>,
    triangles: Vec<f64>,
}

/// The inverse of a matrix by its factors.
pub(super) fn inverse_of(factor: &Factor, order: usize) -> Vec<f64> {
    let mut inverse = Vec::with_capacity(order * order);
    let mut unit = vec![0.0; order];
    for j in 0..order {
        unit[j] = 1.0;
        inverse.extend(factor.solve(&unit));
        unit[j] = 0.0;
    }
    inverse
}
