//! What the machines of K classes make small: one plane for each class, one loss for each row.
//!
//! With scores s_k = w_k·x + b_k, costs c, δ = 1 for a row's own class and 0 for the others,
//!
//! ```text
//! P(W, b) = Σ c loss(s) + l2/2 Σ_k |s∘w_k|²,   loss = ln Σ_k exp(s_k − s_own)       (softmax)
//!                                               loss = max_k (s_k − s_own + 1 − δ_k)   (Crammer, Singer)
//! ```
//!
//! Shares p ≥ 0 with Σ_k p_k = 1 for each row bound it from below, with g_k = Σ c (δ_k − p_k) x:
//!
//! ```text
//! P ≥ D(p) = Σ c ψ(p) − ½ Σ_k g_kᵀ Λ⁻¹ g_k,     ψ = −Σ p ln p (softmax), 1 − p_own (Crammer, Singer)
//! ```
//!
//! Free biases ask for d_k = Σ c (δ_k − p_k) = 0. Shares that miss that are mixed with one
//! distribution, p′ = (1 − θ)p + θq with N q_k = Π_k + d_k/θ, Π_k = Σ c p_k, N = Σ c, and the least θ
//! for which q ≥ 0; p′ is balanced. This is what the checker does as well.
//!
//! The planes stand column by column ([`linsep_data::matrix::panel`]). Passes go over fixed pieces of
//! the rows and add up in a fixed order.
//!
//! References: Crammer, Singer, On the algorithmic implementation of multiclass kernel-based vector
//! machines, 2001; Bishop 4.3.4.

use super::compact::Compact;
use crate::model::Plane;
use crate::objective::{Gap, Intercept, Penalty, pieces};
use linsep_data::Dataset;
use linsep_data::buffer::Buffer;
use linsep_data::cancel;
use linsep_data::matrix::panel::{PanelRows, Real, Scratch, stride};
use linsep_data::matrix::with_rows;
use linsep_data::parallel::parallel_map;
use std::ops::Range;
use std::sync::Arc;

/// An objective of K classes on some rows of a data set.
pub struct Joint {
    pub data: Arc<Dataset>,
    /// The rows that take part.
    pub rows: Vec<u32>,
    /// The class of each of them.
    pub own: Vec<u32>,
    /// c of each of them.
    pub costs: Buffer<f64>,
    pub classes: usize,
    pub loss: JointLoss,
    /// l2 alone, or nothing.
    pub penalty: Penalty,
    pub intercept: Intercept,
    pub threads: usize,
}

/// A loss of all scores of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointLoss {
    Softmax,
    CrammerSinger,
}

/// Numbers for each column and class; the last line is that of the biases.
#[derive(Clone, Debug)]
pub struct Lines {
    pub numbers: Vec<f64>,
    pub stride: usize,
}

impl Lines {
    /// All but the biases.
    pub fn columns(&self) -> &[f64] {
        &self.numbers[..self.numbers.len() - self.stride]
    }

    pub fn biases(&self) -> &[f64] {
        &self.numbers[self.numbers.len() - self.stride..]
    }

    pub fn biases_mut(&mut self) -> &mut [f64] {
        let start = self.numbers.len() - self.stride;
        &mut self.numbers[start..]
    }

    /// The lines of columns, each with its number, and then that of the biases.
    fn each(&self) -> impl Iterator<Item = (usize, &[f64])> {
        self.numbers.chunks_exact(self.stride).enumerate()
    }

    pub fn add(&mut self, other: &Lines) {
        self.numbers.iter_mut().zip(&other.numbers).for_each(|(sum, part)| *sum += part);
    }

    /// Adds factors times a row whose bias column is 1.
    #[inline]
    pub fn add_row(&mut self, columns: &[u32], values: &[f64], factors: &[f64]) {
        f64::add_row(columns, values, factors, &mut self.numbers);
        self.biases_mut().iter_mut().zip(factors).for_each(|(sum, factor)| *sum += factor);
    }

    /// The scores of a row.
    #[inline]
    pub fn scores(&self, columns: &[u32], values: &[f64], scores: &mut [f64]) {
        scores.copy_from_slice(self.biases());
        f64::add_scores(columns, values, &self.numbers, scores);
    }
}

/// How shares are balanced.
pub struct Mixing {
    pub theta: f64,
    pub q: Vec<f64>,
}

impl Joint {
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn width(&self) -> usize {
        self.data.n_features()
    }

    pub fn stride(&self) -> usize {
        stride(self.classes)
    }

    /// |x̃|² of every position, x̃ = Λ^{-½}x, and whether products of values, costs and weights stay far from the
    /// ends of binary32.
    pub(super) fn squares(&self) -> (Vec<f64>, bool) {
        let fits = |x: f64| x == 0.0 || (1e-6..1e6).contains(&x.abs());
        let units: Vec<f64> =
            (0..self.width()).map(|j| 1.0 / self.penalty.curvature(j).sqrt()).collect();
        let parts = self.light_pass(
            |range| (Vec::with_capacity(range.len()), true),
            |(squares, calm), _, columns, values| {
                let mut sum = 0.0;
                for (column, value) in columns.iter().zip(values) {
                    let scaled = value * units[*column as usize];
                    sum += scaled * scaled;
                    *calm &= fits(*value) && fits(scaled);
                }
                squares.push(sum);
            },
        );
        let mut all = Vec::with_capacity(self.len());
        let mut calm = self.costs.iter().all(|cost| fits(*cost));
        for (squares, is_calm) in parts {
            all.extend(squares);
            calm &= is_calm;
        }
        (all, calm)
    }

    pub fn zero(&self) -> Lines {
        let stride = self.stride();
        Lines { numbers: vec![0.0; (self.width() + 1) * stride], stride }
    }

    /// Whether no weight is penalised.
    pub fn is_unpenalised(&self) -> bool {
        self.penalty.l2 == 0.0
    }

    /// Λ of a line.
    pub fn curvature(&self, line: usize) -> f64 {
        match line < self.width() {
            true => self.penalty.curvature(line),
            false if self.intercept == Intercept::Penalised => self.penalty.l2,
            false => 0.0,
        }
    }

    /// The planes, one for each class.
    pub fn planes(&self, lines: &Lines) -> Vec<Plane> {
        /// Columns that are taken apart together, so that their lines are read once.
        const NEAR: usize = 64;
        let plane = |bias: &f64| Plane { weights: Vec::with_capacity(self.width()), bias: *bias };
        let mut planes: Vec<Plane> = lines.biases()[..self.classes].iter().map(plane).collect();
        for columns in lines.columns().chunks(NEAR * lines.stride) {
            for (class, plane) in planes.iter_mut().enumerate() {
                let own = columns.iter().skip(class).step_by(lines.stride);
                plane.weights.extend(own);
            }
        }
        planes
    }

    /// Goes over the rows with their non-zero values, each piece with a state of its own.
    pub fn pass<S: Send>(
        &self,
        start: impl Fn(Range<usize>) -> S + Sync,
        visit: impl Fn(&mut S, usize, &[u32], &[f64]) + Sync,
    ) -> Vec<S> {
        self.pass_over(&self.all(), None, self.width() * self.stride(), start, visit)
    }

    /// The same where a state holds few numbers, so that there may be many of them.
    pub fn light_pass<S: Send>(
        &self,
        start: impl Fn(Range<usize>) -> S + Sync,
        visit: impl Fn(&mut S, usize, &[u32], &[f64]) + Sync,
    ) -> Vec<S> {
        self.pass_over(&self.all(), None, 1, start, visit)
    }

    fn all(&self) -> Vec<u32> {
        (0..self.len() as u32).collect()
    }

    /// The same with values of binary32, of which some rows may be at hand: enough for all but the last digits,
    /// and the same from every storage.
    pub(super) fn pass_near<S: Send>(
        &self,
        at_hand: Option<&Compact<f32>>,
        start: impl Fn(Range<usize>) -> S + Sync,
        visit: impl Fn(&mut S, usize, &[u32], &[f64]) + Sync,
    ) -> Vec<S> {
        let Some(rows) = at_hand else {
            return self.pass(start, visit);
        };
        let parts = self.pass_over(
            &self.all(),
            Some(rows),
            self.width() * self.stride(),
            |range| (start(range), Vec::new()),
            |(state, wide), i, columns, values| {
                wide.clear();
                wide.extend(values.iter().map(|x| f64::from(*x)));
                visit(state, i, columns, wide);
            },
        );
        parts.into_iter().map(|(state, _)| state).collect()
    }

    /// Goes over some positions, whose rows may be at hand already, in pieces that hold so many numbers each.
    pub(super) fn pass_over<T: Real, S: Send>(
        &self,
        positions: &[u32],
        at_hand: Option<&Compact<T>>,
        numbers: usize,
        start: impl Fn(Range<usize>) -> S + Sync,
        visit: impl Fn(&mut S, usize, &[u32], &[T]) + Sync,
    ) -> Vec<S> {
        let held = self.data.store().held_values() as usize;
        let pieces = pieces(positions.len(), held, numbers);
        with_rows!(self.data.store(), rows => {
            let decoder = rows.decoder::<T>(&vec![1.0; self.width()]);
            parallel_map(pieces.len(), self.threads, |piece| {
                let mut state = start(pieces[piece].clone());
                let mut scratch = Scratch::new();
                for &i in &positions[pieces[piece].clone()] {
                    // A row has a score for each of thousands of classes.
                    cancel::check();
                    let i = i as usize;
                    let found = at_hand.and_then(|at_hand| at_hand.row(i));
                    let (columns, values) = match found {
                        Some(row) => row,
                        None => rows.decode(self.rows[i] as usize, &decoder, &mut scratch),
                    };
                    visit(&mut state, i, columns, values);
                }
                state
            })
        })
    }

    /// Σ c δ x: the sums of the rows of each class.
    pub fn class_sums(&self) -> Lines {
        let stride = self.stride();
        let parts = self.pass(
            |_| (self.zero(), vec![0.0; stride]),
            |(sums, factors), i, columns, values| {
                let own = self.own[i] as usize;
                factors[own] = self.costs[i];
                sums.add_row(columns, values, factors);
                factors[own] = 0.0;
            },
        );
        merge(self.zero(), parts.into_iter().map(|(sums, _)| sums))
    }

    /// The loss of a row; the scores become differences to the own one.
    #[inline]
    pub fn loss(&self, scores: &mut [f64], own: usize) -> f64 {
        let base = scores[own];
        let scores = &mut scores[..self.classes];
        scores.iter_mut().for_each(|score| *score -= base);
        match self.loss {
            JointLoss::Softmax => {
                let most = scores.iter().copied().fold(0.0, f64::max);
                most + scores.iter().map(|score| (score - most).exp()).sum::<f64>().ln()
            }
            JointLoss::CrammerSinger => {
                let lack = |(k, score): (usize, &f64)| score + f64::from(u8::from(k != own));
                scores.iter().enumerate().map(lack).fold(0.0, f64::max)
            }
        }
    }

    /// l2/2 |v|².
    pub fn penalty_of(&self, lines: &Lines) -> f64 {
        let square = |line: &[f64]| line.iter().map(|w| w * w).sum::<f64>();
        0.5 * lines.each().map(|(j, line)| self.curvature(j) * square(line)).sum::<f64>()
    }

    /// P.
    pub fn primal(&self, lines: &Lines) -> f64 {
        let parts = self.light_pass(
            |_| (0.0, vec![0.0; lines.stride]),
            |(sum, scores), i, columns, values| {
                lines.scores(columns, values, scores);
                *sum += self.costs[i] * self.loss(scores, self.own[i] as usize);
            },
        );
        parts.into_iter().map(|(sum, _)| sum).sum::<f64>() + self.penalty_of(lines)
    }

    /// D of shares whose sums g are known, d among them; `psi` gives ψ of a row whose shares are
    /// mixed. `class_sums` are needed where biases are free.
    pub fn bound(
        &self,
        sums: &Lines,
        class_sums: Option<&Lines>,
        psi: impl Fn(usize, &Mixing) -> f64 + Sync,
    ) -> f64 {
        let nothing = || Mixing { theta: 0.0, q: vec![0.0; self.classes] };
        let (mixing, mixed) = match class_sums.filter(|_| self.intercept == Intercept::Free) {
            None => (nothing(), None),
            Some(totals) => match self.mixing(sums, totals) {
                None => return f64::NEG_INFINITY,
                Some(mixing) => {
                    let mixed = mix(sums, totals, &mixing);
                    (mixing, Some(mixed))
                }
            },
        };
        const BLOCK: usize = 1 << 12;
        let blocks = self.len().div_ceil(BLOCK);
        let block = |block: usize| -> f64 {
            let range = block * BLOCK..((block + 1) * BLOCK).min(self.len());
            range.map(|i| self.costs[i] * psi(i, &mixing)).sum()
        };
        let total: f64 = parallel_map(blocks, self.threads, block).into_iter().sum();
        total - self.conjugate(mixed.as_ref().unwrap_or(sums))
    }

    /// ½ Σ gᵀ Λ⁻¹ g, over lines that are penalised.
    fn conjugate(&self, sums: &Lines) -> f64 {
        let line = |(j, line): (usize, &[f64])| match self.curvature(j) {
            curvature if curvature > 0.0 => line.iter().map(|g| g * g).sum::<f64>() / curvature,
            _ => 0.0,
        };
        0.5 * sums.each().map(line).sum::<f64>()
    }

    fn mixing(&self, sums: &Lines, totals: &Lines) -> Option<Mixing> {
        let pairs = || {
            let classes = sums.biases().iter().zip(totals.biases()).take(self.classes);
            classes.map(|(d, n)| (*d, n - d))
        };
        let total: f64 = totals.biases().iter().sum();
        let need = |(d, share): (f64, f64)| if d < 0.0 { -d / share } else { 0.0 };
        let least = pairs().map(need).fold(0.0, f64::max);
        if least.is_nan() || least > 1.0 {
            return None;
        }
        // A hair more, for what rounding would leave below 0.
        let theta = (least * (1.0 + 1e-6) + 1e-12).min(1.0);
        let q = pairs().map(|(d, share)| ((share + d / theta) / total).max(0.0)).collect();
        Some(Mixing { theta, q })
    }
}

/// g of mixed shares: (1 − θ) g_k + θ (Σ c δ_k x − q_k Σ c x).
fn mix(sums: &Lines, totals: &Lines, mixing: &Mixing) -> Lines {
    let Mixing { theta, q } = mixing;
    let mut mixed = sums.clone();
    let lines = mixed.numbers.chunks_exact_mut(sums.stride);
    for (line, own) in lines.zip(totals.numbers.chunks_exact(sums.stride)) {
        let all: f64 = own.iter().sum();
        for ((g, own), q) in line.iter_mut().zip(own).zip(q) {
            *g = (1.0 - theta) * *g + theta * (own - q * all);
        }
    }
    mixed
}

/// Adds up what pieces have found, in their order.
pub fn merge(zero: Lines, parts: impl Iterator<Item = Lines>) -> Lines {
    let mut parts = parts;
    let Some(mut all) = parts.next() else { return zero };
    parts.for_each(|part| all.add(&part));
    all
}

/// What a machine of K classes has come to.
pub struct Measured {
    pub lines: Lines,
    pub gap: Gap,
    /// p of each position, one for each class.
    pub shares: Vec<f64>,
}
