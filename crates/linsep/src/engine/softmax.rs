//! Softmax regression, and Crammer and Singer's machine on tall data, by Newton's method over all
//! planes at once.
//!
//! Both losses are the loss of a temperature μ and a lift of the other classes,
//!
//! ```text
//! μ ln Σ_k exp((s_k − s_own + lift (1 − δ_k))/μ)          softmax: μ = 1, lift = 0
//! ```
//!
//! which with lift 1 goes to max_k (s_k − s_own + 1 − δ_k) as μ goes to 0 and is above it by at most
//! μ H(p), H the entropy of the shares. So Crammer and Singer's machine is solved for falling μ, each
//! time from where the last one ended, until the shares prove its own objective to be near the best.
//!
//! A step solves H V = −∇P by conjugate gradients. With z = V x and the shares p of a row,
//!
//! ```text
//! (H V)_k = Λ V_k + Σ c/μ p_k (z_k − Σ_l p_l z_l) x
//! ```
//!
//! is one pass for all planes over the rows with more than one share to speak of. It runs in binary32
//! while gaps are large. What preconditions it is one matrix for all classes: the factors of
//! Λ + Σ h x xᵀ over a sample of the rows, with h the mean of the eigenvalues of (diag(p) − p pᵀ)c/μ
//! that are not 0; the diagonal of it for wide data. Tall data is solved on every eighth row first.
//!
//! The shares at the planes are a dual point of their own: for penalised softmax P − D = ½ ∇Pᵀ Λ⁻¹ ∇P where no
//! bias is free, so the gradient tells how near the best the planes are.
//!
//! References: Bishop 4.3.4; Böhning, Multinomial logistic regression algorithm, 1992; Nesterov, Smooth
//! minimization of non-smooth functions, 2005; Nocedal, Wright, Numerical Optimization, 7.1.

mod step;

use super::compact::Compact;
use super::joint::{Joint, JointLoss, Lines, Measured, Mixing, merge};
use super::newton::TALL;
use crate::objective::{Gap, Intercept};
use linsep_data::parallel::parallel_map;
use linsep_kernels::{axpy_dense, dot_f64};
use step::{Curved, Preconditioner, conjugate_gradients};

/// By how much the temperature falls at a time.
const COOLING: f64 = 0.25;
/// From this gap on rows in binary32 are enough on the way.
const ROUGH: f64 = 1e-4;
/// Products with H are made in binary32 above this gap.
const SINGLE: f64 = 1e-5;
/// Above this gap steps without a penalty are rough.
const FAR: f64 = 1e-4;
/// A preconditioner that takes more iterations is made anew, which costs about as much as ten.
const STALE: usize = 25;
/// A gap of more than this share of the objective is far from the best planes.
const REMOTE: f64 = 0.1;
/// Shares that have to be told are whole multiples of 1/GRAINS.
const GRAINS: f64 = 1e9;

/// A run of Newton's method.
pub struct Softmax {
    pub lines: Lines,
    pub gap: Gap,
    pub steps: u64,
    /// No step makes the objective smaller: rounding is all that is left.
    pub exhausted: bool,
    /// μ.
    pub temperature: f64,
    preconditioner: Option<Preconditioner>,
    /// Σ c δ x where biases are free.
    class_sums: Option<Lines>,
    /// Whether rows in binary32 will do until the end.
    is_rough: bool,
    /// The rows in binary32, if there are any, once they are asked for.
    rows: Option<Compact<f32>>,
    /// Whether binary32 has the range for them.
    calm: Option<bool>,
}

/// What one pass over the rows tells of planes.
struct Evaluation {
    /// Of the objective itself, and of the one with this temperature.
    gap: Gap,
    smooth: Gap,
    /// Scores less the own one, lifted, in lines as long as there are classes.
    scores: Vec<f64>,
    shares: Vec<f64>,
    /// g and d of the shares.
    sums: Lines,
}

impl Softmax {
    /// A run from some planes to a relative gap.
    pub fn new(lines: Lines, wanted: f64) -> Softmax {
        Softmax {
            lines,
            is_rough: wanted >= ROUGH,
            gap: Gap::NONE,
            steps: 0,
            exhausted: false,
            temperature: 1.0,
            preconditioner: None,
            class_sums: None,
            rows: None,
            calm: None,
        }
    }

    /// Measures the gap and, while it is above `wanted`, takes a step.
    pub fn step(&mut self, joint: &Joint, wanted: f64) {
        if self.steps == 0 {
            self.start_on_a_sample(joint, wanted);
        }
        self.steps += 1;
        if joint.intercept == Intercept::Free && self.class_sums.is_none() {
            self.class_sums = Some(joint.class_sums());
        }
        if joint.is_unpenalised() {
            let evaluation = self.evaluate(joint, None);
            return self.step_unpenalised(joint, &evaluation, wanted);
        }
        self.bring_rows(joint);
        let mut evaluation = self.evaluate(joint, self.near_rows());
        if evaluation.gap.reaches(wanted) && self.near_rows().is_some() {
            evaluation = self.evaluate(joint, None);
        }
        self.gap = evaluation.gap;
        if self.gap.reaches(wanted) || self.exhausted {
            return;
        }
        // While most of the gap is due to the temperature, nothing is gained by a step.
        let mut distance = evaluation.smooth.primal - evaluation.smooth.dual;
        while joint.loss == JointLoss::CrammerSinger
            && distance < 0.3 * (evaluation.gap.primal - evaluation.gap.dual)
            && self.temperature > 1e-12
        {
            self.temperature *= COOLING;
            self.preconditioner = None;
            evaluation = self.evaluate(joint, self.near_rows());
            distance = evaluation.smooth.primal - evaluation.smooth.dual;
        }
        let aim = match joint.loss {
            JointLoss::Softmax => wanted * evaluation.gap.primal,
            JointLoss::CrammerSinger => (0.1 * (evaluation.gap.primal - evaluation.gap.dual))
                .max(0.3 * wanted * evaluation.gap.primal),
        };
        // The gradient after a step is what is left of the residual, and the gap goes with its square. Far
        // from the best planes a quadratic is a poor picture of the objective, and a rough answer does;
        // with a falling temperature a step has to be right for the next one.
        let is_far = distance > REMOTE * evaluation.smooth.primal;
        let (least, most) = match (joint.loss, is_far) {
            (JointLoss::CrammerSinger, _) => (0.003, 0.1),
            (JointLoss::Softmax, true) => (0.1, 0.25),
            (JointLoss::Softmax, false) => (0.01, 0.25),
        };
        let tolerance = (0.3 * (aim / distance).sqrt()).clamp(least, most);
        let preconditioner = match self.preconditioner.take() {
            Some(old) if old.still_good => old,
            _ => {
                Preconditioner::new(joint, &evaluation.shares, self.temperature, self.lines.clone())
            }
        };
        let curved = Curved::new(joint, &evaluation.shares, self.temperature);
        let residual = joint.downhill(&self.lines, &evaluation.sums);
        let single =
            self.gap.relative() > SINGLE && *self.calm.get_or_insert_with(|| joint.squares().1);
        let (direction, iterations) = match single {
            true => {
                let rows = self.rows.take().unwrap_or_else(|| Compact::new(joint, &ones(joint)));
                let times = |v: &Lines| curved.times(v, Some(&rows));
                let found = conjugate_gradients(joint, residual, &preconditioner, tolerance, times);
                self.rows = Some(rows);
                found
            }
            false => {
                let times = |v: &Lines| curved.times::<f64>(v, None);
                conjugate_gradients(joint, residual, &preconditioner, tolerance, times)
            }
        };
        let still_good = iterations <= STALE;
        self.preconditioner = Some(Preconditioner { still_good, ..preconditioner });
        let down = self.search(joint, &evaluation, &direction);
        match joint.loss {
            JointLoss::CrammerSinger if !down && self.temperature > 1e-12 => {
                self.temperature *= COOLING;
                self.preconditioner = None;
            }
            _ => self.exhausted = !down,
        }
    }

    fn evaluate(&self, joint: &Joint, rows: Option<&Compact<f32>>) -> Evaluation {
        joint.evaluate(&self.lines, self.temperature, self.class_sums.as_ref(), rows)
    }

    /// The rows in binary32, where they are enough.
    fn near_rows(&self) -> Option<&Compact<f32>> {
        self.rows.as_ref().filter(|_| self.is_rough)
    }

    fn is_calm(&mut self, joint: &Joint) -> bool {
        *self.calm.get_or_insert_with(|| joint.squares().1)
    }

    /// Copies the rows to binary32, if that is enough until the end.
    fn bring_rows(&mut self, joint: &Joint) {
        if self.is_rough && self.rows.is_none() && self.is_calm(joint) {
            self.rows = Some(Compact::new(joint, &ones(joint)));
        }
    }

    /// Without a penalty the shares at the planes bound nothing. The step tells how far the best planes are, up
    /// to terms of a higher order: P − P* ≈ ½ ∇Pᵀ H⁻¹ ∇P. The same plane may be added to all without a change;
    /// gradients have no part in that direction, nor have steps, as one matrix preconditions every class.
    fn step_unpenalised(&mut self, joint: &Joint, evaluation: &Evaluation, wanted: f64) {
        let made = |lines: &Lines| {
            Preconditioner::new(joint, &evaluation.shares, self.temperature, lines.clone())
        };
        let preconditioner = made(&self.lines);
        // Far away a rough step does; the last ones leave next to nothing for the proof to correct.
        let tolerance = if self.gap.relative() > FAR { 1e-3 } else { 1e-8 };
        let curved = Curved::new(joint, &evaluation.shares, self.temperature);
        let residual = joint.downhill(&self.lines, &evaluation.sums);
        let times = |v: &Lines| curved.times::<f64>(v, None);
        let (direction, _) =
            conjugate_gradients(joint, residual.clone(), &preconditioner, tolerance, times);
        let primal = evaluation.smooth.primal;
        let decrement = 0.5 * dot_f64(&residual.numbers, &direction.numbers);
        self.gap = Gap { primal, dual: primal - decrement };
        // The last step is known already, and taken.
        let down = self.search(joint, evaluation, &direction);
        self.exhausted = !down && !self.gap.reaches(wanted);
    }

    /// The planes with a gap of their own; without a penalty, that of the last step.
    pub fn measured(&self, joint: &Joint) -> Measured {
        let sums = (joint.intercept == Intercept::Free).then(|| joint.class_sums());
        let evaluation = joint.evaluate(&self.lines, self.temperature, sums.as_ref(), None);
        let gap = if joint.is_unpenalised() { self.gap } else { evaluation.gap };
        Measured { lines: self.lines.clone(), gap, shares: evaluation.shares }
    }

    /// Where the preconditioner was made, at which temperature, and whether it still serves.
    pub fn preconditioner(&self) -> Option<(&Lines, f64, bool)> {
        self.preconditioner.as_ref().map(|p| (&p.made_at, p.temperature, p.still_good))
    }

    /// Makes the preconditioner of an earlier run again.
    pub fn precondition(&mut self, joint: &Joint, at: Lines, mu: f64, still_good: bool) {
        if !joint.is_unpenalised() {
            self.bring_rows(joint);
        }
        let shares = joint.evaluate(&at, mu, None, self.near_rows()).shares;
        let made = Preconditioner::new(joint, &shares, mu, at);
        self.preconditioner = Some(Preconditioner { still_good, ..made });
    }

    fn start_on_a_sample(&mut self, joint: &Joint, wanted: f64) {
        const SHARE: usize = 8;
        let fewer = joint.len() / SHARE;
        let at_rest = self.lines.numbers.iter().all(|w| *w == 0.0);
        if !at_rest || fewer < 2000 || fewer < TALL * joint.width() {
            return;
        }
        let sample = joint.every(SHARE);
        let enough = wanted.max(1e-3);
        let mut run = Softmax::new(self.lines.clone(), enough);
        for _ in 0..20 {
            run.step(&sample, enough);
            if run.gap.relative() <= enough || run.exhausted {
                break;
            }
        }
        self.lines = run.lines;
        self.temperature = run.temperature;
    }

    /// Goes along a direction as far as the objective falls; false if it does not.
    fn search(&mut self, joint: &Joint, evaluation: &Evaluation, direction: &Lines) -> bool {
        let moves = joint.moves(direction, self.near_rows());
        let mut length = 1.0;
        for _ in 0..40 {
            let mut lines = self.lines.clone();
            axpy_dense(length, &direction.numbers, &mut lines.numbers);
            let losses = joint.losses(&evaluation.scores, &moves, length, self.temperature);
            if losses + joint.penalty_of(&lines) < evaluation.smooth.primal {
                self.lines = lines;
                return true;
            }
            length *= 0.5;
        }
        false
    }
}

/// Factors of 1.
fn ones(joint: &Joint) -> Vec<f64> {
    vec![1.0; joint.width()]
}

impl Joint {
    /// By how much other classes are lifted.
    fn lift(&self) -> f64 {
        match self.loss {
            JointLoss::Softmax => 0.0,
            JointLoss::CrammerSinger => 1.0,
        }
    }

    /// Scores, the shares they ask for and the sums of those, in one pass.
    fn evaluate(
        &self,
        lines: &Lines,
        mu: f64,
        class_sums: Option<&Lines>,
        rows: Option<&Compact<f32>>,
    ) -> Evaluation {
        let (classes, lift) = (self.classes, self.lift());
        let parts = self.pass_near(
            rows,
            |range| Part::new(self, range.len()),
            |part, i, columns, values| {
                lines.scores(columns, values, &mut part.line);
                let own = self.own[i] as usize;
                let (cost, scores) = (self.costs[i], &mut part.line[..classes]);
                let base = scores[own] - lift;
                scores.iter_mut().for_each(|score| *score -= base);
                scores[own] = 0.0;
                part.scores.extend_from_slice(scores);
                part.greatest += cost * scores.iter().copied().fold(0.0, f64::max);
                part.loss += cost * softmax(scores, mu);
                if lift > 0.0 {
                    round(scores, own);
                }
                part.shares.extend_from_slice(scores);
                scores.iter_mut().for_each(|p| *p *= -cost);
                // What the others have, rather than 1 less what rounds to 1.
                scores[own] = 0.0;
                let others: f64 = scores.iter().sum();
                if others != 0.0 {
                    scores[own] = -others;
                    part.sums.add_row(columns, values, &part.line);
                }
            },
        );
        let penalty = self.penalty_of(lines);
        let (mut smooth, mut greatest) = (penalty, penalty);
        let (mut scores, mut shares) = (Vec::new(), Vec::new());
        let mut sums = Vec::new();
        for part in parts {
            smooth += part.loss;
            greatest += part.greatest;
            scores.extend(part.scores);
            shares.extend(part.shares);
            sums.push(part.sums);
        }
        let mut sums = merge(self.zero(), sums.into_iter());
        if self.intercept == Intercept::None {
            sums.biases_mut().fill(0.0);
        }
        // ψ of the objective itself and of the one with the temperature.
        let bound = |mu: f64| {
            let psi = |i: usize, mixing: &Mixing| self.psi(i, &shares, mixing, mu);
            self.bound(&sums, class_sums, psi)
        };
        let smooth = Gap { primal: smooth, dual: bound(mu) };
        let gap = match self.loss {
            JointLoss::Softmax => smooth,
            JointLoss::CrammerSinger => Gap { primal: greatest, dual: bound(0.0) },
        };
        Evaluation { gap, smooth, scores, shares, sums }
    }

    /// lift (1 − p_own) + μ H(p) of mixed shares.
    fn psi(&self, i: usize, shares: &[f64], mixing: &Mixing, mu: f64) -> f64 {
        let shares = &shares[i * self.classes..][..self.classes];
        let mixed = |(p, q): (&f64, &f64)| (1.0 - mixing.theta) * p + mixing.theta * q;
        let own = self.own[i] as usize;
        let others = shares.iter().zip(&mixing.q).enumerate().filter(|(k, _)| *k != own);
        let lifted = match self.lift() {
            0.0 => 0.0,
            lift => lift * others.map(|(_, pair)| mixed(pair)).sum::<f64>(),
        };
        if mu == 0.0 {
            return lifted;
        }
        let term = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
        let entropy: f64 = shares.iter().zip(&mixing.q).map(|pair| term(mixed(pair))).sum();
        lifted + mu * entropy
    }

    /// How the scores move along a direction, less the own one.
    fn moves(&self, direction: &Lines, rows: Option<&Compact<f32>>) -> Vec<f64> {
        let classes = self.classes;
        let parts = self.pass_near(
            rows,
            |range| (Vec::with_capacity(range.len() * classes), vec![0.0; direction.stride]),
            |(moves, line), i, columns, values| {
                direction.scores(columns, values, line);
                let base = line[self.own[i] as usize];
                moves.extend(line[..classes].iter().map(|z| z - base));
            },
        );
        parts.into_iter().flat_map(|(moves, _)| moves).collect()
    }

    /// Σ c loss at some length along moves of the scores.
    fn losses(&self, scores: &[f64], moves: &[f64], length: f64, mu: f64) -> f64 {
        const BLOCK: usize = 1 << 12;
        let block = |block: usize| {
            let mut line = vec![0.0; self.classes];
            let mut sum = 0.0;
            for i in block * BLOCK..((block + 1) * BLOCK).min(self.len()) {
                let range = i * self.classes..(i + 1) * self.classes;
                let pairs = scores[range.clone()].iter().zip(&moves[range]);
                line.iter_mut().zip(pairs).for_each(|(to, (s, m))| *to = s + length * m);
                sum += self.costs[i] * softmax(&mut line, mu);
            }
            sum
        };
        let blocks = self.len().div_ceil(BLOCK);
        parallel_map(blocks, self.threads, block).into_iter().sum()
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
}

/// What a piece of the rows tells.
struct Part {
    loss: f64,
    greatest: f64,
    scores: Vec<f64>,
    shares: Vec<f64>,
    sums: Lines,
    line: Vec<f64>,
}

impl Part {
    fn new(joint: &Joint, rows: usize) -> Part {
        Part {
            loss: 0.0,
            greatest: 0.0,
            scores: Vec::with_capacity(rows * joint.classes),
            shares: Vec::with_capacity(rows * joint.classes),
            sums: joint.zero(),
            line: vec![0.0; joint.stride()],
        }
    }
}

/// Turns scores less the own one into shares; the loss.
#[inline]
fn softmax(scores: &mut [f64], mu: f64) -> f64 {
    let most = scores.iter().copied().fold(0.0, f64::max);
    let mut sum = 0.0;
    for score in scores.iter_mut() {
        let below = (*score - most) / mu;
        *score = if below < -700.0 { 0.0 } else { below.exp() };
        sum += *score;
    }
    scores.iter_mut().for_each(|p| *p /= sum);
    most + mu * sum.ln()
}

/// Makes shares short, so that they can be told.
#[inline]
fn round(shares: &mut [f64], own: usize) {
    shares[own] = 0.0;
    let mut sum = 0.0;
    for p in shares.iter_mut() {
        *p = (*p * GRAINS).round() / GRAINS;
        sum += *p;
    }
    if sum > 1.0 {
        shares.iter_mut().for_each(|p| *p /= sum);
        sum = 1.0;
    }
    shares[own] = 1.0 - sum;
}
