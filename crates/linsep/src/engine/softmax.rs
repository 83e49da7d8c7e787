//! Softmax regression by Newton's method over all planes at once.
//!
//! A step solves H V = −∇P by conjugate gradients. With z = V x and the shares p of a row,
//!
//! ```text
//! (H V)_k = Λ V_k + Σ c p_k (z_k − Σ_l p_l z_l) x
//! ```
//!
//! is one pass over the rows for all planes. What preconditions it is one matrix for all classes: the
//! factors of Λ + Σ h x xᵀ over a sample of the rows, with h the mean of the eigenvalues of
//! diag(p) − p pᵀ that are not 0, (1 − Σ p²)/(K − 1); the diagonal of H for wide data. Tall data is
//! solved on every eighth row first.
//!
//! The shares at the planes are a dual point of their own: P − D = ½ ∇Pᵀ Λ⁻¹ ∇P where no bias is free,
//! so the gradient tells how near the best the planes are.
//!
//! References: Bishop 4.3.4; Böhning, Multinomial logistic regression algorithm, 1992; Nocedal, Wright,
//! Numerical Optimization, 7.1.

use super::joint::{Joint, Lines, Measured, Mixing, merge};
use super::newton::{Inverse, MOST_FACTORED, Sampled, TALL};
use super::objective::{Gap, Intercept};
use crate::data::store::kernel::{axpy_dense, dot_f64};
use crate::model::Plane;

/// Iterations of conjugate gradients in one step.
const MOST_ITERATIONS: usize = 200;

/// A run of softmax regression.
pub(crate) struct Softmax {
    pub(crate) lines: Lines,
    pub(crate) gap: Gap,
    pub(crate) steps: u64,
    /// No step makes the objective smaller: rounding is all that is left.
    pub(crate) exhausted: bool,
    /// Whether the gap is that of the planes as they are.
    pub(crate) current: bool,
    preconditioner: Option<Preconditioner>,
    /// Σ c δ x where biases are free.
    class_sums: Option<Lines>,
}

/// What one pass over the rows tells of planes.
struct Look {
    primal: f64,
    /// Scores less the own one, in lines as long as there are classes.
    scores: Vec<f64>,
    shares: Vec<f64>,
    /// g and d of the shares.
    sums: Lines,
}

impl Softmax {
    pub(crate) fn new(lines: Lines) -> Softmax {
        Softmax {
            lines,
            gap: Gap::NONE,
            steps: 0,
            exhausted: false,
            current: false,
            preconditioner: None,
            class_sums: None,
        }
    }

    /// Measures the gap and, while it is above `wanted`, takes a step.
    pub(crate) fn step(&mut self, joint: &Joint, wanted: f64) {
        if self.steps == 0 {
            self.start_on_a_sample(joint);
        }
        self.steps += 1;
        let look = joint.look(&self.lines);
        if joint.intercept == Intercept::Free && self.class_sums.is_none() {
            self.class_sums = Some(joint.class_sums());
        }
        self.gap = Gap { primal: look.primal, dual: joint.dual(&look, self.class_sums.as_ref()) };
        self.current = true;
        if self.gap.relative() <= wanted || self.exhausted {
            return;
        }
        let ratio = wanted * look.primal / (look.primal - self.gap.dual);
        let tolerance = (0.3 * ratio.sqrt()).clamp(0.003, 0.1);
        let preconditioner = match self.preconditioner.take() {
            Some(old) if old.still_good => old,
            _ => Preconditioner::new(joint, &look.shares, self.lines.clone()),
        };
        let (direction, moves, iterations) =
            conjugate_gradients(joint, &look, &self.lines, &preconditioner, tolerance);
        let still_good = iterations <= 15;
        self.preconditioner = Some(Preconditioner { still_good, ..preconditioner });
        self.exhausted = !self.search(joint, &look, &direction, &moves);
        self.current = self.exhausted;
    }

    /// The planes with a gap of their own.
    pub(crate) fn measured(&self, joint: &Joint) -> Measured {
        let gap = match self.current {
            true => self.gap,
            false => {
                let look = joint.look(&self.lines);
                let sums = (joint.intercept == Intercept::Free).then(|| joint.class_sums());
                Gap { primal: look.primal, dual: joint.dual(&look, sums.as_ref()) }
            }
        };
        Measured { planes: joint.planes(&self.lines), gap }
    }

    /// Where the preconditioner was made, and whether it still serves.
    pub(crate) fn preconditioner(&self) -> Option<(&Lines, bool)> {
        self.preconditioner.as_ref().map(|p| (&p.made_at, p.still_good))
    }

    /// Makes the preconditioner of an earlier run again.
    pub(crate) fn precondition(&mut self, joint: &Joint, made_at: Lines, still_good: bool) {
        let shares = joint.look(&made_at).shares;
        let made = Preconditioner::new(joint, &shares, made_at);
        self.preconditioner = Some(Preconditioner { still_good, ..made });
    }

    fn start_on_a_sample(&mut self, joint: &Joint) {
        const SHARE: usize = 8;
        let fewer = joint.len() / SHARE;
        let at_rest = self.lines.numbers.iter().all(|w| *w == 0.0);
        if !at_rest || fewer < 2000 || fewer < TALL / 8 * joint.width() {
            return;
        }
        let sample = joint.every(SHARE);
        let mut run = Softmax::new(self.lines.clone());
        for _ in 0..12 {
            run.step(&sample, 1e-3);
            if run.gap.relative() <= 1e-3 || run.exhausted {
                break;
            }
        }
        self.lines = run.lines;
    }

    /// Goes along a direction as far as the objective falls; false if it does not.
    fn search(&mut self, joint: &Joint, look: &Look, direction: &Lines, moves: &[f64]) -> bool {
        let mut length = 1.0;
        for _ in 0..40 {
            let mut lines = self.lines.clone();
            axpy_dense(length, &direction.numbers, &mut lines.numbers);
            let value = joint.losses(&look.scores, moves, length) + joint.penalty_of(&lines);
            if value < look.primal {
                self.lines = lines;
                return true;
            }
            length *= 0.5;
        }
        false
    }
}

impl Joint {
    /// Scores, the shares they ask for and the sums of those, in one pass.
    fn look(&self, lines: &Lines) -> Look {
        let classes = self.classes;
        let parts = self.pass(
            |range| Part::new(self, range.len()),
            |part, i, columns, values| {
                lines.scores(columns, values, &mut part.line);
                let own = self.own[i] as usize;
                let scores = &mut part.line[..classes];
                let base = scores[own];
                scores.iter_mut().for_each(|score| *score -= base);
                part.scores.extend_from_slice(scores);
                part.loss += self.costs[i] * softmax(scores);
                part.shares.extend_from_slice(scores);
                let cost = self.costs[i];
                scores.iter_mut().for_each(|p| *p *= -cost);
                // What the others have, rather than 1 less what rounds to 1.
                let others: f64 = -scores
                    .iter()
                    .enumerate()
                    .filter(|(k, _)| *k != own)
                    .map(|(_, p)| p)
                    .sum::<f64>();
                scores[own] = others;
                part.sums.add_row(columns, values, &part.line);
            },
        );
        let mut primal = self.penalty_of(lines);
        let (mut scores, mut shares) = (Vec::new(), Vec::new());
        let mut sums = Vec::new();
        for part in parts {
            primal += part.loss;
            scores.extend(part.scores);
            shares.extend(part.shares);
            sums.push(part.sums);
        }
        let mut sums = merge(self.zero(), sums.into_iter());
        if self.intercept == Intercept::None {
            sums.biases_mut().fill(0.0);
        }
        Look { primal, scores, shares, sums }
    }

    fn dual(&self, look: &Look, class_sums: Option<&Lines>) -> f64 {
        let psi = |i: usize, mixing: &Mixing| {
            let shares = look.shares[i * self.classes..][..self.classes].iter().zip(&mixing.q);
            let mixed = shares.map(|(p, q)| (1.0 - mixing.theta) * p + mixing.theta * q);
            mixed.map(|p| if p > 0.0 { -p * p.ln() } else { 0.0 }).sum()
        };
        self.bound(&look.sums, class_sums, psi)
    }

    /// Σ c loss at some length along moves of the scores.
    fn losses(&self, scores: &[f64], moves: &[f64], length: f64) -> f64 {
        const BLOCK: usize = 1 << 12;
        let block = |block: usize| {
            let mut line = vec![0.0; self.classes];
            let mut sum = 0.0;
            for i in block * BLOCK..((block + 1) * BLOCK).min(self.len()) {
                let range = i * self.classes..(i + 1) * self.classes;
                let pairs = scores[range.clone()].iter().zip(&moves[range]);
                line.iter_mut().zip(pairs).for_each(|(to, (s, m))| *to = s + length * m);
                sum += self.costs[i] * self.loss(&mut line, self.own[i] as usize);
            }
            sum
        };
        let blocks = self.len().div_ceil(BLOCK);
        crate::parallel::parallel_map(blocks, self.threads, block).into_iter().sum()
    }

    /// The same objective on every n-th row, each of which counts n times.
    fn every(&self, n: usize) -> Joint {
        let places = || (0..self.len()).step_by(n);
        Joint {
            data: std::sync::Arc::clone(&self.data),
            rows: places().map(|i| self.rows[i]).collect(),
            own: places().map(|i| self.own[i]).collect(),
            costs: places().map(|i| n as f64 * self.costs[i]).collect(),
            classes: self.classes,
            loss: self.loss,
            penalty: self.penalty.clone(),
            intercept: self.intercept,
            threads: self.threads,
        }
    }

    /// −∇P.
    fn downhill(&self, lines: &Lines, sums: &Lines) -> Lines {
        let mut down = sums.clone();
        let pairs = down.numbers.chunks_exact_mut(lines.stride);
        for (j, (down, line)) in pairs.zip(lines.numbers.chunks_exact(lines.stride)).enumerate() {
            let curvature = self.curvature(j);
            down.iter_mut().zip(line).for_each(|(d, w)| *d -= curvature * w);
        }
        down
    }

    /// H V, and how the scores move along V, less the own one.
    fn hessian_times(&self, direction: &Lines, shares: &[f64]) -> (Lines, Vec<f64>) {
        let classes = self.classes;
        let parts = self.pass(
            |range| Part::new(self, range.len()),
            |part, i, columns, values| {
                direction.scores(columns, values, &mut part.line);
                let line = &mut part.line[..classes];
                let shares = &shares[i * classes..][..classes];
                let base = line[self.own[i] as usize];
                line.iter_mut().for_each(|z| *z -= base);
                part.scores.extend_from_slice(line);
                let mean: f64 = line.iter().zip(shares).map(|(z, p)| z * p).sum();
                let cost = self.costs[i];
                for (z, p) in line.iter_mut().zip(shares) {
                    *z = cost * p * (*z - mean);
                }
                part.sums.add_row(columns, values, &part.line);
            },
        );
        let mut moves = Vec::with_capacity(self.len() * classes);
        let mut sums = Vec::new();
        for part in parts {
            moves.extend(part.scores);
            sums.push(part.sums);
        }
        let mut image = merge(self.zero(), sums.into_iter());
        if self.intercept == Intercept::None {
            image.biases_mut().fill(0.0);
        }
        let stride = image.stride;
        let pairs = image.numbers.chunks_exact_mut(stride);
        for (j, (image, v)) in pairs.zip(direction.numbers.chunks_exact(stride)).enumerate() {
            let curvature = self.curvature(j);
            image.iter_mut().zip(v).for_each(|(h, v)| *h += curvature * v);
        }
        (image, moves)
    }
}

/// What a piece of the rows tells.
struct Part {
    loss: f64,
    scores: Vec<f64>,
    shares: Vec<f64>,
    sums: Lines,
    line: Vec<f64>,
}

impl Part {
    fn new(joint: &Joint, rows: usize) -> Part {
        Part {
            loss: 0.0,
            scores: Vec::with_capacity(rows * joint.classes),
            shares: Vec::new(),
            sums: joint.zero(),
            line: vec![0.0; joint.stride()],
        }
    }
}

/// Turns scores less the own one into shares; the loss.
#[inline]
fn softmax(scores: &mut [f64]) -> f64 {
    let most = scores.iter().copied().fold(0.0, f64::max);
    let mut sum = 0.0;
    for score in scores.iter_mut() {
        *score = (*score - most).exp();
        sum += *score;
    }
    scores.iter_mut().for_each(|p| *p /= sum);
    most + sum.ln()
}

/// Solves H V = −∇P up to a share of the first residual; also gives how the scores move along V.
fn conjugate_gradients(
    joint: &Joint,
    look: &Look,
    lines: &Lines,
    preconditioner: &Preconditioner,
    tolerance: f64,
) -> (Lines, Vec<f64>, usize) {
    let inner = |a: &Lines, b: &Lines| dot_f64(&a.numbers, &b.numbers);
    let mut residual = joint.downhill(lines, &look.sums);
    let mut answer = joint.zero();
    let mut moves = vec![0.0; joint.len() * joint.classes];
    let mut z = preconditioner.apply(joint, &residual);
    let mut direction = z.clone();
    let mut size = inner(&residual, &z);
    let enough = tolerance * tolerance * inner(&residual, &residual);
    let mut iterations = 0;
    while iterations < MOST_ITERATIONS && size > 0.0 {
        let (image, shift) = joint.hessian_times(&direction, &look.shares);
        let curvature = inner(&direction, &image);
        if curvature.is_nan() || curvature <= 0.0 {
            break;
        }
        let length = size / curvature;
        axpy_dense(length, &direction.numbers, &mut answer.numbers);
        axpy_dense(-length, &image.numbers, &mut residual.numbers);
        axpy_dense(length, &shift, &mut moves);
        iterations += 1;
        if inner(&residual, &residual) <= enough {
            break;
        }
        z = preconditioner.apply(joint, &residual);
        let next = inner(&residual, &z);
        let turn = next / size;
        size = next;
        for (d, z) in direction.numbers.iter_mut().zip(&z.numbers) {
            *d = z + turn * *d;
        }
    }
    (answer, moves, iterations)
}

/// Something close to the inverse of H: the same for every class.
struct Preconditioner {
    inverse: Inverse,
    made_at: Lines,
    still_good: bool,
}

impl Preconditioner {
    fn new(joint: &Joint, shares: &[f64], made_at: Lines) -> Preconditioner {
        let others = (joint.classes - 1) as f64;
        let curvature = |(shares, cost): (&[f64], &f64)| {
            cost * (1.0 - shares.iter().map(|p| p * p).sum::<f64>()).max(0.0) / others
        };
        let pairs = shares.chunks_exact(joint.classes).zip(&joint.costs);
        let curvatures: Vec<f64> = pairs.map(curvature).collect();
        let sampled = Sampled {
            data: &joint.data,
            rows: &joint.rows,
            curvatures: &curvatures,
            penalty: &joint.penalty,
            intercept: joint.intercept,
            threads: joint.threads,
        };
        let inverse = sampled.inverse(joint.width() <= MOST_FACTORED);
        Preconditioner { inverse, made_at, still_good: true }
    }

    fn apply(&self, joint: &Joint, residual: &Lines) -> Lines {
        let mut answer = joint.zero();
        let planes = joint.planes(residual);
        let solve = |k: usize| self.inverse.apply(&planes[k]);
        let solved = crate::parallel::parallel_map(joint.classes, joint.threads, solve);
        for (k, Plane { weights, bias }) in solved.into_iter().enumerate() {
            let places = answer.numbers.iter_mut().skip(k).step_by(residual.stride);
            places.zip(weights).for_each(|(to, w)| *to = w);
            answer.biases_mut()[k] = bias;
        }
        answer
    }
}
