//! Newton's method for smooth losses with an l2 penalty: few passes over many rows.
//!
//! A step solves H p = −∇P, H = Λ + Σ h x xᵀ with Λ the curvature of the penalty and h = c loss″(m),
//! by conjugate gradients. Each of their iterations is one pass over the rows. They are
//! preconditioned by the factors of an H that only some rows make up: with s rows for D columns the
//! error falls about by √(D/s) an iteration, so tall data needs a handful of them. Wide data takes
//! the diagonal of H. Very tall data is solved on every eighth row first, which is a start close to
//! the answer for an eighth of the price.
//!
//! Products H p of dense rows use values of one byte ([`super::rough`]) as long as that gets steps ahead.
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

use super::dense::Factor;
use super::objective::{Gap, Intercept, Look, Objective, Penalty, Sides, add};
use super::rough::Rough;
use crate::data::store::{CodeRows, Store, with_rows};
use crate::model::Plane;
use crate::parallel::parallel_map;

/// More columns than this are preconditioned by the diagonal alone.
pub(crate) const MOST_FACTORED: usize = 1536;
/// Rows for each column in the sample whose second derivatives are factorised.
const SAMPLE: usize = 4;
/// A run on every eighth row comes first where that leaves so many rows for each column.
pub(super) const TALL: usize = 30;
/// The sample is every eighth row.
const SHARE: usize = 8;
/// A step that leaves more than this of the gap asks for exact products.
const SLOW: f64 = 0.3;
/// Iterations of conjugate gradients in one step.
const MOST_ITERATIONS: usize = 200;

/// A run of Newton's method.
pub(crate) struct Newton {
    pub(crate) plane: Plane,
    pub(crate) gap: Gap,
    pub(crate) steps: u64,
    /// Passes over all rows.
    pub(crate) passes: u64,
    /// No step makes the objective smaller: rounding is all that is left.
    pub(crate) exhausted: bool,
    preconditioner: Option<Preconditioner>,
    /// What a pass told of the plane; made again where it is missing.
    look: Option<Look>,
    products: Products,
    /// Whether the last step left much of the gap.
    was_slow: bool,
}

/// How products with H are computed.
enum Products {
    /// Nobody has needed one yet.
    Open,
    Rough(Rough),
    Exact,
}

impl Newton {
    /// A run that starts at a plane.
    pub(crate) fn new(plane: Plane) -> Newton {
        Newton {
            plane,
            gap: Gap::NONE,
            steps: 0,
            passes: 0,
            exhausted: false,
            preconditioner: None,
            look: None,
            products: Products::Open,
            was_slow: false,
        }
    }

    /// What a pass told of the plane as it is.
    pub(crate) fn seen(&self) -> Option<&Look> {
        self.look.as_ref()
    }

    /// Takes a step unless the gap is small enough, and measures the gap.
    pub(crate) fn step(&mut self, objective: &Objective, wanted: f64) {
        if self.steps == 0 {
            self.start_on_a_sample(objective);
        }
        self.steps += 1;
        let look = self.look.take().unwrap_or_else(|| objective.look(&self.plane));
        let down = objective.downhill(&self.plane, &look.sides);
        self.gap = objective.gap_at(&look, &down);
        if self.gap.relative() <= wanted || self.exhausted {
            self.look = Some(look);
            return;
        }
        let ratio = wanted * look.primal / (look.primal - self.gap.dual);
        // Far from the end a step is no better than its quadratic model, however exactly it is solved.
        let tolerance = (0.3 * ratio.sqrt()).clamp(0.1, 0.4);
        let curvatures = objective.curvatures(&look.margins);
        let preconditioner = match self.preconditioner.take() {
            Some(old) if old.still_good => old,
            _ => Preconditioner::new(objective, self.plane.clone(), &curvatures),
        };
        if matches!(self.products, Products::Open) {
            self.products = Rough::new(objective).map_or(Products::Exact, Products::Rough);
        }
        let hessian = Hessian { objective, curvatures: &curvatures, products: &self.products };
        let (direction, iterations) =
            conjugate_gradients(&hessian, down.clone(), &preconditioner, tolerance);
        self.preconditioner =
            Some(Preconditioner { still_good: iterations <= 12, ..preconditioner });
        self.passes += iterations as u64;
        let before = self.gap;
        let falls = 0.5 * inner(&down, &direction);
        let look = self.search(objective, look, &direction);
        let down = objective.downhill(&self.plane, &look.sides);
        self.gap = match objective.penalty.is_none() {
            // Nothing bounds P from below but the model: half of what it fell along the step.
            true => Gap { primal: look.primal, dual: look.primal - falls },
            false => objective.gap_at(&look, &down),
        };
        // Far from the end steps may be slow for other reasons, but hardly twice in a row.
        let slow = self.gap.relative() > SLOW * before.relative();
        if slow && self.was_slow {
            self.products = Products::Exact;
        }
        self.was_slow = slow;
        self.look = Some(look);
    }

    /// Goes along a direction as far as the objective falls, and says what is there.
    fn search(&mut self, objective: &Objective, before: Look, direction: &Plane) -> Look {
        let mut length = 1.0;
        for _ in 0..40 {
            let mut plane = self.plane.clone();
            push(length, direction, &mut plane);
            let look = objective.look(&plane);
            self.passes += 1;
            if look.primal < before.primal {
                self.plane = plane;
                return look;
            }
            length *= 0.5;
        }
        self.exhausted = true;
        before
    }

    /// Whether products need exact values, and whether the last step was slow.
    pub(crate) fn care(&self) -> [bool; 2] {
        [matches!(self.products, Products::Exact), self.was_slow]
    }

    /// Goes on with the care of an earlier run.
    pub(crate) fn take_care(&mut self, [exact, slow]: [bool; 2]) {
        if exact {
            self.products = Products::Exact;
        }
        self.was_slow = slow;
    }

    /// Where the preconditioner was made, and whether it still serves.
    pub(crate) fn preconditioner(&self) -> Option<(&Plane, [bool; 2])> {
        self.preconditioner.as_ref().map(|p| (&p.made_at, [p.of_sample, p.still_good]))
    }

    /// Makes the preconditioner of an earlier run again.
    pub(crate) fn precondition(
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
        let curvatures = objective.curvatures(&objective.margins(&made_at));
        let made = Preconditioner::new(objective, made_at, &curvatures);
        self.preconditioner = Some(Preconditioner { of_sample, still_good, ..made });
    }

    fn start_on_a_sample(&mut self, objective: &Objective) {
        let at_rest = self.plane.bias == 0.0 && self.plane.weights.iter().all(|w| *w == 0.0);
        let Some(sample) = objective.head_start().filter(|_| at_rest) else { return };
        let mut run = Newton::new(self.plane.clone());
        for _ in 0..12 {
            run.step(&sample, 1e-4);
            if run.gap.relative() <= 1e-4 || run.exhausted {
                break;
            }
        }
        self.plane = run.plane;
        // Its rows count eight times each, so it is as close to H of all rows.
        self.preconditioner = run
            .preconditioner
            .filter(|p| p.still_good)
            .map(|p| Preconditioner { of_sample: true, ..p });
    }
}

impl Objective {
    /// P and D of a look. The multipliers are the slopes of the losses, so P − D is half the square of
    /// the gradient; only a free bias asks for more.
    fn gap_at(&self, look: &Look, down: &Plane) -> Gap {
        let dual = match self.intercept {
            _ if self.penalty.is_none() => f64::NEG_INFINITY,
            Intercept::Free => self.dual(&look.sides, &look.alpha),
            _ => {
                let each = |(j, d): (usize, &f64)| d * d / self.penalty.curvature(j);
                let weights: f64 = down.weights.iter().enumerate().map(each).sum();
                let bias =
                    if self.has_bias() { down.bias * down.bias / self.penalty.l2 } else { 0.0 };
                look.primal - 0.5 * (weights + bias)
            }
        };
        Gap { primal: look.primal, dual }
    }

    /// h of every position.
    fn curvatures(&self, margins: &[f64]) -> Vec<f64> {
        let one = |(m, c): (&f64, &f64)| c * self.loss.curvature(*m);
        margins.iter().zip(&self.costs).map(one).collect()
    }

    /// The same objective on every eighth row, where that is a start close to the answer.
    pub(super) fn head_start(&self) -> Option<Objective> {
        let fewer = self.len() / SHARE;
        (fewer >= 2000 && fewer >= TALL * self.width()).then(|| self.every(SHARE))
    }

    /// The same objective on every n-th row, each of which counts n times.
    fn every(&self, n: usize) -> Objective {
        let places = || (0..self.len()).step_by(n);
        Objective {
            data: std::sync::Arc::clone(&self.data),
            twin: self.twin.clone(),
            rows: places().map(|i| self.rows[i]).collect(),
            signs: places().map(|i| self.signs[i]).collect(),
            costs: places().map(|i| n as f64 * self.costs[i]).collect(),
            loss: self.loss,
            penalty: self.penalty.clone(),
            intercept: self.intercept,
            threads: self.threads,
        }
    }

    /// −∇P, with the sums of the multipliers.
    fn downhill(&self, plane: &Plane, sides: &Sides) -> Plane {
        let mut down = sides.total();
        for (j, (d, w)) in down.weights.iter_mut().zip(&plane.weights).enumerate() {
            *d -= self.penalty.curvature(j) * w;
        }
        down.bias = match self.intercept {
            Intercept::None => 0.0,
            Intercept::Free => down.bias,
            Intercept::Penalised => down.bias - self.penalty.l2 * plane.bias,
        };
        down
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
            Products::Rough(rough) => rough.product(p, curvatures, objective.threads),
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
    crate::data::store::kernel::dot_f64(&a.weights, &b.weights) + a.bias * b.bias
}

fn push(length: f64, part: &Plane, all: &mut Plane) {
    crate::data::store::kernel::axpy_dense(length, &part.weights, &mut all.weights);
    all.bias += length * part.bias;
}

/// Something close to the inverse of H.
struct Preconditioner {
    kind: Inverse,
    /// The plane whose H it is close to.
    made_at: Plane,
    /// Made of every eighth row, at the end of the run on those.
    of_sample: bool,
    still_good: bool,
}

pub(super) enum Inverse {
    Factored(Factor),
    Diagonal(Plane),
}

impl Preconditioner {
    fn new(objective: &Objective, made_at: Plane, curvatures: &[f64]) -> Preconditioner {
        let kind = Sampled::of(objective, curvatures).inverse();
        Preconditioner { kind, made_at, of_sample: false, still_good: true }
    }

    fn apply(&self, residual: &Plane) -> Plane {
        self.kind.apply(residual)
    }
}

impl Inverse {
    pub(super) fn apply(&self, residual: &Plane) -> Plane {
        match self {
            Inverse::Factored(factor) => {
                let mut rhs = residual.weights.clone();
                rhs.push(residual.bias);
                let mut answer = factor.solve(&rhs);
                let bias = answer.pop().unwrap_or(0.0);
                Plane { weights: answer, bias }
            }
            Inverse::Diagonal(diagonal) => {
                let pair = |(r, d): (&f64, &f64)| if *d > 0.0 { r / d } else { 0.0 };
                let weights = residual.weights.iter().zip(&diagonal.weights).map(pair).collect();
                Plane { weights, bias: pair((&residual.bias, &diagonal.bias)) }
            }
        }
    }
}

/// Rows with the curvatures of their losses.
pub(super) struct Sampled<'a> {
    pub(super) store: &'a Store,
    pub(super) rows: &'a [u32],
    pub(super) curvatures: &'a [f64],
    pub(super) penalty: &'a Penalty,
    pub(super) intercept: Intercept,
    pub(super) threads: usize,
}

impl<'a> Sampled<'a> {
    pub(super) fn of(objective: &'a Objective, curvatures: &'a [f64]) -> Sampled<'a> {
        Sampled {
            store: objective.store(),
            rows: &objective.rows,
            curvatures,
            penalty: &objective.penalty,
            intercept: objective.intercept,
            threads: objective.threads,
        }
    }

    /// Something close to the inverse of Λ + Σ h x xᵀ.
    pub(super) fn inverse(&self) -> Inverse {
        match self.store.width() <= MOST_FACTORED {
            true => Inverse::Factored(self.factor()),
            false => Inverse::Diagonal(self.penalised_diagonal()),
        }
    }

    /// The factors of it over a sample of the rows, whose h count for all.
    fn factor(&self) -> Factor {
        let width = self.store.width();
        let order = width + 1;
        let active: Vec<usize> =
            (0..self.rows.len()).filter(|&i| self.curvatures[i] > 0.0).collect();
        // Rows with few values are cheap enough to be taken more of.
        let values = self.store.nonzeros() as usize / self.store.rows().max(1);
        let cheap = (width / values.max(1)).clamp(1, 2);
        let wanted = (SAMPLE * cheap * order).max(4096);
        let every = (active.len() / wanted).max(1);
        let sample: Vec<usize> = active.iter().copied().step_by(every).collect();
        let mut matrix = second_derivatives(self, &sample, every as f64);
        if every > 1 {
            fit_diagonal(&mut matrix, &self.diagonal());
        }
        for j in 0..width {
            matrix[j * order + j] += self.penalty.curvature(j);
        }
        match self.intercept {
            Intercept::Penalised => matrix[width * order + width] += self.penalty.l2,
            Intercept::Free => {}
            Intercept::None => {
                (0..width).for_each(|j| matrix[width * order + j] = 0.0);
                (0..width).for_each(|j| matrix[j * order + width] = 0.0);
                matrix[width * order + width] = 1.0;
            }
        }
        Factor::new(&matrix, order)
    }

    /// The diagonal of Σ h x xᵀ.
    fn diagonal(&self) -> Plane {
        let width = self.store.width();
        let values = self.store.held_values() as usize;
        let pieces = super::objective::pieces(self.rows.len(), values, width);
        let parts = parallel_map(pieces.len(), self.threads, |piece| {
            let mut diagonal = Plane { weights: vec![0.0; width], bias: 0.0 };
            let mut scratch = Vec::new();
            for i in pieces[piece].clone() {
                let h = self.curvatures[i];
                if h > 0.0 {
                    diagonal.bias += h;
                    self.store.for_each(self.rows[i] as usize, &mut scratch, |j, x| {
                        diagonal.weights[j as usize] += h * x * x;
                    });
                }
            }
            diagonal
        });
        let mut all = Plane { weights: vec![0.0; width], bias: 0.0 };
        parts.iter().for_each(|part| add(part, &mut all));
        all
    }

    /// The same with Λ: all of H that the columns do not share.
    fn penalised_diagonal(&self) -> Plane {
        let mut diagonal = self.diagonal();
        for (j, d) in diagonal.weights.iter_mut().enumerate() {
            *d += self.penalty.curvature(j);
        }
        if self.intercept == Intercept::Penalised {
            diagonal.bias += self.penalty.l2;
        }
        diagonal
    }
}

/// Σ h (x, 1)(x, 1)ᵀ over some positions, each counted so many times.
pub(super) fn second_derivatives(
    sampled: &Sampled<'_>,
    positions: &[usize],
    times: f64,
) -> Vec<f64> {
    let order = sampled.store.width() + 1;
    // No more pieces than 128 MB hold matrices of.
    let values = (positions.len() * order).min(1 << 24);
    let pieces = super::objective::pieces(positions.len(), values, order * order / 4);
    let parts = with_rows!(sampled.store, rows => {
        parallel_map(pieces.len(), sampled.threads, |piece| {
            let mut matrix = vec![0.0; order * order];
            let (mut columns, mut entries) = (Vec::new(), Vec::new());
            for &i in &positions[pieces[piece].clone()] {
                rows.entries(sampled.rows[i] as usize, &mut columns, &mut entries);
                add_square(times * sampled.curvatures[i], &columns, &entries, &mut matrix, order);
            }
            matrix
        })
    });
    let mut matrix = vec![0.0; order * order];
    for part in parts {
        matrix.iter_mut().zip(&part).for_each(|(all, part)| *all += part);
    }
    for j in 0..order {
        for k in 0..j {
            matrix[k * order + j] = matrix[j * order + k];
        }
    }
    matrix
}

/// Adds h (x, 1)(x, 1)ᵀ below the diagonal.
fn add_square(h: f64, columns: &[u32], entries: &[f64], matrix: &mut [f64], order: usize) {
    let dense = columns.len() + 1 == order;
    let last = &mut matrix[(order - 1) * order..];
    for (&column, x) in columns.iter().zip(entries) {
        last[column as usize] += h * x;
    }
    last[order - 1] += h;
    for (k, (&column, x)) in columns.iter().zip(entries).enumerate() {
        let a = h * x;
        if a == 0.0 {
            continue;
        }
        let line = &mut matrix[column as usize * order..][..column as usize + 1];
        if dense {
            crate::data::store::kernel::axpy_dense(a, &entries[..k + 1], line);
        } else {
            for (&other, y) in columns[..k + 1].iter().zip(entries) {
                line[other as usize] += a * y;
            }
        }
    }
}

/// Scales rows and columns until the diagonal is that of all rows: columns that are rarely in use may
/// be missing in a sample.
fn fit_diagonal(matrix: &mut [f64], wanted: &Plane) {
    let order = wanted.weights.len() + 1;
    let mut factors = Vec::with_capacity(order);
    for (j, &d) in wanted.weights.iter().chain([&wanted.bias]).enumerate() {
        let here = matrix[j * order + j];
        factors.push(if here > 0.0 { (d / here).sqrt() } else { 1.0 });
        matrix[j * order + j] = d;
    }
    for j in 0..order {
        for k in 0..j {
            let element = matrix[j * order + k] * factors[j] * factors[k];
            matrix[j * order + k] = element;
            matrix[k * order + j] = element;
        }
    }
}
