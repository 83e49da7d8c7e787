//! Newton's method for smooth losses with an l2 penalty: few passes over many rows.
//!
//! A step solves H p = −∇P, H = Λ + Σ h x xᵀ with Λ the curvature of the penalty and h = c loss″(m),
//! by conjugate gradients. Each of their iterations is one pass over the rows. They are
//! preconditioned by the factors of an H that only some rows make up: with s rows for D columns the
//! error falls about by √(D/s) an iteration, so tall data needs a handful of them. Rows of few values
//! are cheap enough for the H of all of them ([`super::curvature`]), which solves a step without any
//! iteration. Wide data takes the diagonal of H. Very tall data is solved on every eighth row first, which is a start close to
//! the answer for an eighth of the price. Where there are few columns, H of that eighth costs less than a pass
//! over all rows, and with s of its rows for each column it is within about √(1/s) of H of all: steps by its
//! factors alone then need no products at all.
//!
//! Products H p of dense rows use values of one byte ([`crate::engine::quantised`]) as long as that gets steps ahead.
//!
//! The multipliers α = −c loss′(m) are a dual point of their own, and P − D = ½ ∇Pᵀ Λ⁻¹ ∇P there, so
//! the gradient tells how near the best a plane is. For the squared hinge H is a generalised second
//! derivative, and the method ends after finitely many steps (Mangasarian; Keerthi, DeCoste).
//!
//! Without any penalty D tells nothing. The model then estimates how far P can fall: by half of
//! −∇P·p along the step p. A run ends with the step that promises less than is wanted.
//!
//! References: Nocedal, Wright, Numerical Optimization, 7.1; Byrd, Chin, Neveitt, Nocedal, On the use
//! of stochastic Hessian information, 2011.

use super::curvature::{Inverse, Sampled};
use crate::engine::quantised::QuantisedRows;
use crate::model::Plane;
use crate::objective::{Evaluation, Gap, Intercept, Objective, add, worthwhile};
use linsep_data::buffer::Buffer;
use linsep_data::matrix::{CodeRows, with_rows};
use linsep_data::parallel::parallel_map;
use std::sync::Arc;

/// A run on every eighth row comes first where that leaves so many rows for each column.
pub(super) const TALL: usize = 30;
/// The sample is every eighth row.
const SHARE: usize = 8;
/// H of an eighth of the rows costs less than a pass over all of them up to this many columns.
const NARROW: usize = 160;
/// Rows of a sample for each column whose H stands for that of all rows.
const MANY: usize = 200;
/// The same where rows hold few values, so that H of all rows is only some passes dearer should steps be slow.
const ENOUGH: usize = 24;
/// A sample need not be solved any closer: its answer is farther from that of all rows.
const CLOSE: f64 = 1e-2;
/// The share of the objective that a step on a sample has to gain, or it is the last.
const WORTH: f64 = 1e-3;
/// A step that leaves more than this of the gap asks for exact products.
const SLOW: f64 = 0.3;
/// Iterations of conjugate gradients in one step.
const MOST_ITERATIONS: usize = 200;

/// A run of Newton's method.
pub struct Newton {
    pub plane: Plane,
    pub gap: Gap,
    pub steps: u64,
    /// Passes over all rows.
    pub passes: u64,
    /// No step makes the objective smaller: rounding is all that is left.
    pub exhausted: bool,
    preconditioner: Option<Preconditioner>,
    /// What a pass told of the plane; made again where it is missing.
    evaluation: Option<Evaluation>,
    products: Products,
    /// Whether the last step left much of the gap.
    was_slow: bool,
}

/// How products with H are computed.
enum Products {
    /// Nobody has needed one yet.
    Open,
    Quantised(Arc<QuantisedRows>),
    Exact,
}

impl Newton {
    /// A run that starts at a plane.
    pub fn new(plane: Plane) -> Newton {
        Newton {
            plane,
            gap: Gap::NONE,
            steps: 0,
            passes: 0,
            exhausted: false,
            preconditioner: None,
            evaluation: None,
            products: Products::Open,
            was_slow: false,
        }
    }

    /// What a pass told of the plane as it is.
    pub fn seen(&self) -> Option<&Evaluation> {
        self.evaluation.as_ref()
    }

    /// What the last pass told, for a run that goes on from here with another C.
    pub fn hand_over(&mut self) -> Option<Evaluation> {
        self.evaluation.take()
    }

    /// Begins with what a pass told of the same plane under another C, this one being `factor` times as large: margins
    /// are the same, losses and multipliers grow by that factor.
    pub fn take_over(&mut self, objective: &Objective, mut seen: Evaluation, factor: f64) {
        if self.steps > 0 || seen.margins.len() != objective.len() {
            return;
        }
        let penalty = objective.penalty.value(&self.plane, objective.intercept);
        seen.primal = factor * (seen.primal - penalty) + penalty;
        seen.alpha.iter_mut().for_each(|alpha| *alpha *= factor);
        for side in [&mut seen.sides.positive, &mut seen.sides.negative] {
            side.bias *= factor;
            side.weights.iter_mut().for_each(|weight| *weight *= factor);
        }
        self.evaluation = Some(seen);
    }

    /// Takes a step unless the gap is small enough, and measures the gap.
    pub fn step(&mut self, objective: &Objective, wanted: f64) {
        if self.steps == 0 {
            self.start_on_a_sample(objective);
        }
        self.steps += 1;
        // The last step has measured what it left.
        let is_known = self.evaluation.is_some()
            && self.gap.dual > f64::NEG_INFINITY
            && !objective.penalty.is_none();
        let evaluation = self.evaluation.take().unwrap_or_else(|| objective.evaluate(&self.plane));
        let down = objective.downhill(&self.plane, &evaluation.sides);
        if !is_known {
            self.gap = objective.gap_at(&evaluation, &down);
        }
        if self.gap.reaches(wanted) || self.exhausted {
            self.evaluation = Some(evaluation);
            return;
        }
        let ratio = wanted * evaluation.primal / (evaluation.primal - self.gap.dual);
        // Far from the end a step is no better than its quadratic model, however exactly it is solved.
        let tolerance = (0.3 * ratio.sqrt()).clamp(0.1, 0.4);
        let direction = self.direction(objective, &down, &evaluation, tolerance);
        let before = self.gap;
        let falls = 0.5 * inner(&down, &direction);
        let evaluation = self.search(objective, evaluation, &direction);
        let down = objective.downhill(&self.plane, &evaluation.sides);
        self.gap = match objective.penalty.is_none() {
            // Nothing bounds P from below but the model: half of what it fell along the step.
            true => Gap { primal: evaluation.primal, dual: evaluation.primal - falls },
            false => objective.gap_at(&evaluation, &down),
        };
        // Far from the end steps may be slow for other reasons, but hardly twice in a row.
        let slow = self.gap.relative() > SLOW * before.relative();
        if slow && self.was_slow {
            self.products = Products::Exact;
        }
        self.was_slow = slow;
        self.evaluation = Some(evaluation);
    }

    /// An answer of H p = −∇P, up to a share of the length of the gradient.
    fn direction(
        &mut self,
        objective: &Objective,
        down: &Plane,
        evaluation: &Evaluation,
        tolerance: f64,
    ) -> Plane {
        let is_cheap = Sampled::of(objective, &[]).is_cheap();
        // Where the bound says nothing, no step can be seen to be slow. With few rows on one side a sample has hardly
        // any of those, and steps by its H may gain next to nothing for ever.
        if let Some(old) = &self.preconditioner
            && old.is_close
            && !self.was_slow
            && self.gap.relative().is_finite()
        {
            return old.apply(down);
        }
        if self.preconditioner.is_none()
            && !self.was_slow
            && self.gap.relative().is_finite()
            && let Some(close) = self.of_sample(objective)
        {
            let direction = close.apply(down);
            self.preconditioner = Some(close);
            return direction;
        }
        let curvatures = &objective.seen_curvatures(evaluation);
        let preconditioner = match self.preconditioner.take() {
            Some(old) if old.still_good && !(old.of_sample && is_cheap) => old,
            _ => {
                let new = Preconditioner::new(objective, self.plane.clone(), curvatures);
                self.passes += u64::from(is_cheap);
                let direction = new.apply(down);
                if new.is_exact && inner(down, &direction) > 0.0 {
                    self.preconditioner = Some(new);
                    return direction;
                }
                new
            }
        };
        if matches!(self.products, Products::Open) {
            self.products = match is_cheap {
                true => Products::Exact,
                false => QuantisedRows::of(objective).map_or(Products::Exact, Products::Quantised),
            };
        }
        let hessian = Hessian { objective, curvatures, products: &self.products };
        let (direction, iterations) =
            conjugate_gradients(&hessian, down.clone(), &preconditioner, tolerance);
        self.passes += iterations as u64;
        // A new matrix has to be cheaper than the iterations that it saves.
        let still_good = iterations <= if is_cheap { 2 } else { 12 };
        self.preconditioner = Some(Preconditioner { still_good, ..preconditioner });
        direction
    }

    /// H of an eighth of the rows, where that stands for H of all: for runs that begin where another has ended.
    fn of_sample(&self, objective: &Objective) -> Option<Preconditioner> {
        let sample = objective.head_start(TALL).filter(Objective::is_representative)?;
        let curvatures = sample.seen_curvatures(&sample.evaluate(&self.plane));
        Some(Preconditioner::of_all(&sample, self.plane.clone(), &curvatures))
    }

    /// Goes along a direction as far as the objective falls, and says what is there.
    fn search(
        &mut self,
        objective: &Objective,
        before: Evaluation,
        direction: &Plane,
    ) -> Evaluation {
        let mut length = 1.0;
        for _ in 0..40 {
            let mut plane = self.plane.clone();
            push(length, direction, &mut plane);
            let evaluation = objective.evaluate(&plane);
            self.passes += 1;
            if evaluation.primal < before.primal {
                self.plane = plane;
                return evaluation;
            }
            length *= 0.5;
        }
        self.exhausted = true;
        before
    }

    /// Whether products need exact values, and whether the last step was slow.
    pub fn care(&self) -> [bool; 2] {
        [matches!(self.products, Products::Exact), self.was_slow]
    }

    /// Goes on with the care of an earlier run.
    pub fn take_care(&mut self, [exact, slow]: [bool; 2]) {
        if exact {
            self.products = Products::Exact;
        }
        self.was_slow = slow;
    }

    /// Where the preconditioner was made, and whether it still serves.
    pub fn preconditioner(&self) -> Option<(&Plane, [bool; 2])> {
        self.preconditioner.as_ref().map(|p| (&p.made_at, [p.of_sample, p.still_good]))
    }

    /// Makes the preconditioner of an earlier run again.
    pub fn precondition(
        &mut self,
        objective: &Objective,
        made_at: Plane,
        [of_sample, still_good]: [bool; 2],
    ) {
        let sample;
        let objective = match of_sample {
            true => {
                sample = objective.every(SHARE);
                &sample
            }
            false => objective,
        };
        let curvatures = objective.seen_curvatures(&objective.evaluate(&made_at));
        let made = match of_sample && objective.is_representative() {
            true => Preconditioner::of_all(objective, made_at, &curvatures),
            false => Preconditioner::new(objective, made_at, &curvatures),
        };
        self.preconditioner = Some(Preconditioner { of_sample, still_good, ..made });
    }

    fn start_on_a_sample(&mut self, objective: &Objective) {
        let at_rest = self.plane.bias == 0.0 && self.plane.weights.iter().all(|w| *w == 0.0);
        let Some(sample) = objective.head_start(TALL).filter(|_| at_rest) else { return };
        let is_cheap = Sampled::of(&sample, &[]).is_cheap();
        let mut run = Newton::new(self.plane.clone());
        for _ in 0..12 {
            let before = run.gap.primal;
            run.step(&sample, CLOSE);
            // Where H of all rows is next anyway, what the sample still gains has to be worth a step.
            let gains = before - run.gap.primal > WORTH * run.gap.primal;
            if run.gap.relative() <= CLOSE || run.exhausted || is_cheap && !gains {
                break;
            }
        }
        self.plane = run.plane;
        if sample.is_representative() {
            let evaluation = run.evaluation.unwrap_or_else(|| sample.evaluate(&self.plane));
            let curvatures = sample.seen_curvatures(&evaluation);
            let made = Preconditioner::of_all(&sample, self.plane.clone(), &curvatures);
            self.preconditioner = Some(made);
            return;
        }
        // Its rows count eight times each, so it is as close to H of all rows.
        self.preconditioner = run
            .preconditioner
            .filter(|p| p.still_good)
            .map(|p| Preconditioner { of_sample: true, ..p });
    }
}

impl Objective {
    /// P and D of an evaluation. The multipliers are the slopes of the losses, so P − D is half the square of
    /// the gradient; only a free bias asks for more.
    fn gap_at(&self, evaluation: &Evaluation, down: &Plane) -> Gap {
        let dual = match self.intercept {
            _ if self.penalty.is_none() => f64::NEG_INFINITY,
            Intercept::Free => self.dual(&evaluation.sides, &evaluation.alpha),
            _ => {
                let each = |(j, d): (usize, &f64)| d * d / self.penalty.curvature(j);
                let weights: f64 = down.weights.iter().enumerate().map(each).sum();
                let bias =
                    if self.has_bias() { down.bias * down.bias / self.penalty.l2 } else { 0.0 };
                evaluation.primal - 0.5 * (weights + bias)
            }
        };
        Gap { primal: evaluation.primal, dual }
    }

    /// h of every position.
    fn seen_curvatures(&self, evaluation: &Evaluation) -> Buffer<f64> {
        self.curvatures(&evaluation.margins, &evaluation.alpha).collect()
    }

    /// The same objective on every eighth row, where that leaves so many rows for each column that its answer
    /// is a start.
    pub(super) fn head_start(&self, tall: usize) -> Option<Objective> {
        let fewer = self.len() / SHARE;
        (fewer >= 2000 && fewer >= tall * self.width()).then(|| self.every(SHARE))
    }

    /// Whether H of these rows, which are a sample of others, can stand for that of all, and has to.
    fn is_representative(&self) -> bool {
        let is_cheap = Sampled::of(self, &[]).is_cheap();
        let (widest, many) = if is_cheap { (usize::MAX, ENOUGH) } else { (NARROW, MANY) };
        self.width() <= widest && self.len() >= many * (self.width() + 1)
    }

    /// The same objective on every n-th row, each of which counts n times.
    fn every(&self, n: usize) -> Objective {
        let places = || (0..self.len()).step_by(n);
        Objective {
            data: Arc::clone(&self.data),
            sparse_copy: self.sparse_copy.clone(),
            rows: places().map(|i| self.rows[i]).collect(),
            signs: places().map(|i| self.signs[i]).collect(),
            costs: places().map(|i| n as f64 * self.costs[i]).collect(),
            loss: self.loss,
            penalty: self.penalty.clone(),
            intercept: self.intercept,
            threads: worthwhile(self.threads, self.store().nonzeros() / n as u64),
        }
    }

    /// Σ h (x·p + b)(x, 1).
    fn curved(&self, p: &Plane, curvatures: &[f64]) -> Plane {
        let bias = if self.has_bias() { p.bias } else { 0.0 };
        let pieces = self.pieces();
        let parts = with_rows!(self.store(), rows => {
            let folded = rows.fold(&p.weights);
            parallel_map(pieces.len(), self.threads, |piece| {
                let mut sum = self.zero();
                for i in pieces[piece].clone() {
                    // Rows beyond the margin of a squared hinge have no curvature.
                    if curvatures[i] != 0.0 {
                        let row = self.rows[i] as usize;
                        let a = curvatures[i] * (rows.code_dot(row, &folded) + bias);
                        sum.bias += a;
                        rows.code_add(row, a, &mut sum.weights);
                    }
                }
                sum
            })
        });
        let mut all = self.zero();
        parts.iter().for_each(|sum| add(sum, &mut all));
        self.unfold(all)
    }
}

/// H of an objective at some plane.
struct Hessian<'a> {
    objective: &'a Objective,
    curvatures: &'a [f64],
    products: &'a Products,
}

impl Hessian<'_> {
    /// H p.
    fn times(&self, p: &Plane) -> Plane {
        let Hessian { objective, curvatures, products } = self;
        let mut image = match products {
            Products::Quantised(quantised) => quantised.product(p, curvatures, objective.threads),
            Products::Open | Products::Exact => objective.curved(p, curvatures),
        };
        for (j, (h, p)) in image.weights.iter_mut().zip(&p.weights).enumerate() {
            *h += objective.penalty.curvature(j) * p;
        }
        image.bias = match objective.intercept {
            Intercept::None => 0.0,
            Intercept::Free => image.bias,
            Intercept::Penalised => image.bias + objective.penalty.l2 * p.bias,
        };
        image
    }
}

/// Solves H p = −∇P up to a share of the length of the gradient.
fn conjugate_gradients(
    hessian: &Hessian<'_>,
    mut residual: Plane,
    preconditioner: &Preconditioner,
    tolerance: f64,
) -> (Plane, usize) {
    let mut answer = hessian.objective.zero();
    let mut z = preconditioner.apply(&residual);
    let mut direction = z.clone();
    let mut size = inner(&residual, &z);
    // The gap is the plain length of the gradient, so that is what has to become small.
    let enough = tolerance * tolerance * inner(&residual, &residual);
    let mut iterations = 0;
    while iterations < MOST_ITERATIONS && size > 0.0 {
        let image = hessian.times(&direction);
        let curvature = inner(&direction, &image);
        if curvature.is_nan() || curvature <= 0.0 {
            break;
        }
        let length = size / curvature;
        push(length, &direction, &mut answer);
        push(-length, &image, &mut residual);
        iterations += 1;
        if inner(&residual, &residual) <= enough {
            break;
        }
        z = preconditioner.apply(&residual);
        let next = inner(&residual, &z);
        let turn = next / size;
        size = next;
        for (d, z) in direction.weights.iter_mut().zip(&z.weights) {
            *d = z + turn * *d;
        }
        direction.bias = z.bias + turn * direction.bias;
    }
    (answer, iterations)
}

fn inner(a: &Plane, b: &Plane) -> f64 {
    linsep_kernels::dot_f64(&a.weights, &b.weights) + a.bias * b.bias
}

fn push(length: f64, part: &Plane, all: &mut Plane) {
    linsep_kernels::axpy_dense(length, &part.weights, &mut all.weights);
    all.bias += length * part.bias;
}

/// Something close to the inverse of H.
struct Preconditioner {
    kind: Inverse,
    /// Whether it was the inverse itself where it was made.
    is_exact: bool,
    /// The plane whose H it is close to.
    made_at: Plane,
    /// Made of every eighth row, at the end of the run on those.
    of_sample: bool,
    /// Made of all rows of a sample that is large enough to stand for all.
    is_close: bool,
    still_good: bool,
}

impl Preconditioner {
    fn new(objective: &Objective, made_at: Plane, curvatures: &[f64]) -> Preconditioner {
        let (kind, is_exact) = Sampled::of(objective, curvatures).inverse();
        let (of_sample, is_close, still_good) = (false, false, true);
        Preconditioner { kind, is_exact, made_at, of_sample, is_close, still_good }
    }

    /// Of a sample that stands for all rows.
    fn of_all(objective: &Objective, made_at: Plane, curvatures: &[f64]) -> Preconditioner {
        let kind = Sampled::of(objective, curvatures).inverse_of_all();
        let (of_sample, is_close, still_good) = (true, true, true);
        Preconditioner { kind, is_exact: false, made_at, of_sample, is_close, still_good }
    }

    fn apply(&self, residual: &Plane) -> Plane {
        self.kind.apply(residual)
    }
}
