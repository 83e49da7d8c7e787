//! Newton's method for smooth losses with an l2 penalty: few passes over many rows.
//!
//! A step solves H p = −∇P, H = Λ + Σ h x xᵀ with Λ the curvature of the penalty and h = c loss″(m),
//! by conjugate gradients. Each of their iterations is one pass over the rows. They are
//! preconditioned by the factors of an H that only some rows make up: with s rows for D columns the
//! error falls about by √(D/s) an iteration, so tall data needs a handful of them. Wide data takes
//! the diagonal of H. Very tall data is solved on every eighth row first, which is a start close to
//! the answer for an eighth of the price.
//!
//! The multipliers α = −c loss′(m) are a dual point of their own, and P − D = ½ ∇Pᵀ Λ⁻¹ ∇P there, so
//! the gradient tells how near the best a plane is. For the squared hinge H is a generalised second
//! derivative, and the method ends after finitely many steps (Mangasarian; Keerthi, DeCoste).
//!
//! References: Nocedal, Wright, Numerical Optimization, 7.1; Byrd, Chin, Neveitt, Nocedal, On the use
//! of stochastic Hessian information, 2011.

use super::dense::Factor;
use super::objective::{Gap, Intercept, Objective, Penalty, Sides, add};
use crate::data::Dataset;
use crate::data::store::{CodeRows, with_rows};
use crate::model::Plane;
use crate::parallel::parallel_map;

/// More columns than this are preconditioned by the diagonal alone.
pub(crate) const MOST_FACTORED: usize = 1536;
/// Rows for each column in the sample whose second derivatives are factorised.
const SAMPLE: usize = 4;
/// A run on every eighth row comes first where that leaves so many rows for each column.
pub(super) const TALL: usize = 40;
/// Iterations of conjugate gradients in one step.
const MOST_ITERATIONS: usize = 200;

/// A run of Newton's method.
pub(crate) struct Newton {
    pub(crate) plane: Plane,
    pub(crate) gap: Gap,
    pub(crate) steps: u64,
    /// No step makes the objective smaller: rounding is all that is left.
    pub(crate) exhausted: bool,
    preconditioner: Option<Preconditioner>,
}

/// A plane with what one pass over the rows tells of it.
struct Look {
    margins: Vec<f64>,
    alpha: Vec<f64>,
    sides: Sides,
}

impl Newton {
    /// A run that starts at a plane.
    pub(crate) fn new(plane: Plane) -> Newton {
        Newton { plane, gap: Gap::NONE, steps: 0, exhausted: false, preconditioner: None }
    }

    /// Measures the gap and, while it is above `wanted`, takes a step.
    pub(crate) fn step(&mut self, objective: &Objective, wanted: f64) {
        if self.steps == 0 {
            self.start_on_a_sample(objective);
        }
        self.steps += 1;
        let look = objective.look(&self.plane);
        let primal = objective.primal(&self.plane, &look.margins);
        self.gap = Gap { primal, dual: objective.dual(&look.sides, &look.alpha) };
        if self.gap.relative() <= wanted || self.exhausted {
            return;
        }
        let ratio = wanted * primal / (primal - self.gap.dual);
        let tolerance = (0.3 * ratio.sqrt()).clamp(0.003, 0.1);
        let curvatures = objective.curvatures(&look.margins);
        let old = self.preconditioner.take();
        let preconditioner = match old {
            Some(old) if old.still_good => old,
            _ => Preconditioner::new(objective, self.plane.clone(), &curvatures),
        };
        let (direction, moves, iterations) = conjugate_gradients(
            objective,
            &look,
            &self.plane,
            &curvatures,
            &preconditioner,
            tolerance,
        );
        self.preconditioner =
            Some(Preconditioner { still_good: iterations <= 12, ..preconditioner });
        self.exhausted = !self.search(objective, primal, &look.margins, &direction, &moves);
    }

    /// Where the preconditioner was made, and whether it still serves.
    pub(crate) fn preconditioner(&self) -> Option<(&Plane, bool)> {
        self.preconditioner.as_ref().map(|p| (&p.made_at, p.still_good))
    }

    /// Makes the preconditioner of an earlier run again.
    pub(crate) fn precondition(&mut self, objective: &Objective, made_at: Plane, still_good: bool) {
        let curvatures = objective.curvatures(&objective.look(&made_at).margins);
        let made = Preconditioner::new(objective, made_at, &curvatures);
        self.preconditioner = Some(Preconditioner { still_good, ..made });
    }

    fn start_on_a_sample(&mut self, objective: &Objective) {
        const SHARE: usize = 8;
        let fewer = objective.len() / SHARE;
        let at_rest = self.plane.bias == 0.0 && self.plane.weights.iter().all(|w| *w == 0.0);
        if !at_rest || fewer < 2000 || fewer < TALL / 8 * objective.width() {
            return;
        }
        let sample = objective.every(SHARE);
        let mut run = Newton::new(self.plane.clone());
        for _ in 0..12 {
            run.step(&sample, 1e-4);
            if run.gap.relative() <= 1e-4 || run.exhausted {
                break;
            }
        }
        self.plane = run.plane;
    }

    /// Goes along a direction as far as the objective falls; false if it does not.
    fn search(
        &mut self,
        objective: &Objective,
        primal: f64,
        margins: &[f64],
        direction: &Plane,
        moves: &[f64],
    ) -> bool {
        let mut length = 1.0;
        for _ in 0..40 {
            let mut plane = self.plane.clone();
            for (w, p) in plane.weights.iter_mut().zip(&direction.weights) {
                *w += length * p;
            }
            plane.bias += length * direction.bias;
            let loss = |i: usize| {
                objective.costs[i] * objective.loss.value(margins[i] + length * moves[i])
            };
            let value =
                objective.total(loss) + objective.penalty.value(&plane, objective.intercept);
            if value < primal {
                self.plane = plane;
                return true;
            }
            length *= 0.5;
        }
        false
    }
}

impl Objective {
    /// Margins, the multipliers they ask for and the sums of those, in one pass.
    fn look(&self, plane: &Plane) -> Look {
        let bias = if self.has_bias() { plane.bias } else { 0.0 };
        let pieces = self.pieces();
        let parts = with_rows!(self.data.store, rows => {
            let folded = rows.fold(&plane.weights);
            parallel_map(pieces.len(), self.threads, |piece| {
                let mut sides = [self.zero(), self.zero()];
                let mut found = Vec::with_capacity(pieces[piece].len());
                for i in pieces[piece].clone() {
                    let row = self.rows[i] as usize;
                    let margin = self.signs[i] * (rows.code_dot(row, &folded) + bias);
                    let alpha = self.costs[i] * self.loss.pull(margin);
                    found.push((margin, alpha));
                    if alpha != 0.0 {
                        let a = self.signs[i] * alpha;
                        let side = &mut sides[usize::from(a < 0.0)];
                        side.bias += a;
                        rows.code_add(row, a, &mut side.weights);
                    }
                }
                (found, sides)
            })
        });
        let mut all = [self.zero(), self.zero()];
        let (mut margins, mut alpha) = (Vec::new(), Vec::new());
        margins.reserve(self.len());
        alpha.reserve(self.len());
        for (found, part) in parts {
            margins.extend(found.iter().map(|(margin, _)| *margin));
            alpha.extend(found.iter().map(|(_, alpha)| *alpha));
            all.iter_mut().zip(&part).for_each(|(all, part)| add(part, all));
        }
        let [positive, negative] = all.map(|side| self.unfold(side));
        Look { margins, alpha, sides: Sides { positive, negative } }
    }

    /// h of every position.
    fn curvatures(&self, margins: &[f64]) -> Vec<f64> {
        let one = |(m, c): (&f64, &f64)| c * self.loss.curvature(*m);
        margins.iter().zip(&self.costs).map(one).collect()
    }

    /// The same objective on every n-th row, each of which counts n times.
    fn every(&self, n: usize) -> Objective {
        let places = || (0..self.len()).step_by(n);
        Objective {
            data: std::sync::Arc::clone(&self.data),
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

    /// H p, and p·x + p_b with the sign of each row.
    fn hessian_times(&self, p: &Plane, curvatures: &[f64]) -> (Plane, Vec<f64>) {
        let bias = if self.has_bias() { p.bias } else { 0.0 };
        let pieces = self.pieces();
        let parts = with_rows!(self.data.store, rows => {
            let folded = rows.fold(&p.weights);
            parallel_map(pieces.len(), self.threads, |piece| {
                let mut sum = self.zero();
                let mut moves = Vec::with_capacity(pieces[piece].len());
                for i in pieces[piece].clone() {
                    let row = self.rows[i] as usize;
                    let score = rows.code_dot(row, &folded) + bias;
                    moves.push(self.signs[i] * score);
                    let a = curvatures[i] * score;
                    if a != 0.0 {
                        sum.bias += a;
                        rows.code_add(row, a, &mut sum.weights);
                    }
                }
                (sum, moves)
            })
        });
        let mut all = self.zero();
        let mut moves = Vec::with_capacity(self.len());
        for (sum, part) in parts {
            add(&sum, &mut all);
            moves.extend(part);
        }
        let mut image = self.unfold(all);
        for (j, (h, p)) in image.weights.iter_mut().zip(&p.weights).enumerate() {
            *h += self.penalty.curvature(j) * p;
        }
        image.bias = match self.intercept {
            Intercept::None => 0.0,
            Intercept::Free => image.bias,
            Intercept::Penalised => image.bias + self.penalty.l2 * p.bias,
        };
        (image, moves)
    }
}

/// Solves H p = −∇P up to a share of the first residual; also gives how the margins move along p.
fn conjugate_gradients(
    objective: &Objective,
    look: &Look,
    plane: &Plane,
    curvatures: &[f64],
    preconditioner: &Preconditioner,
    tolerance: f64,
) -> (Plane, Vec<f64>, usize) {
    let mut residual = objective.downhill(plane, &look.sides);
    let mut answer = objective.zero();
    let mut moves = vec![0.0; objective.len()];
    let mut z = preconditioner.kind.apply(&residual);
    let mut direction = z.clone();
    let mut size = inner(&residual, &z);
    // The gap is the plain length of the gradient, so that is what has to become small.
    let enough = tolerance * tolerance * inner(&residual, &residual);
    let mut iterations = 0;
    while iterations < MOST_ITERATIONS && size > 0.0 {
        let (image, shift) = objective.hessian_times(&direction, curvatures);
        let curvature = inner(&direction, &image);
        if curvature.is_nan() || curvature <= 0.0 {
            break;
        }
        let length = size / curvature;
        push(length, &direction, &mut answer);
        push(-length, &image, &mut residual);
        moves.iter_mut().zip(&shift).for_each(|(m, s)| *m += length * s);
        iterations += 1;
        if inner(&residual, &residual) <= enough {
            break;
        }
        z = preconditioner.kind.apply(&residual);
        let next = inner(&residual, &z);
        let turn = next / size;
        size = next;
        for (d, z) in direction.weights.iter_mut().zip(&z.weights) {
            *d = z + turn * *d;
        }
        direction.bias = z.bias + turn * direction.bias;
    }
    (answer, moves, iterations)
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
    still_good: bool,
}

pub(super) enum Inverse {
    Factored(Factor),
    Diagonal(Plane),
}

impl Preconditioner {
    fn new(objective: &Objective, made_at: Plane, curvatures: &[f64]) -> Preconditioner {
        let sampled = Sampled {
            data: &objective.data,
            rows: &objective.rows,
            curvatures,
            penalty: &objective.penalty,
            intercept: objective.intercept,
            threads: objective.threads,
        };
        let kind = sampled.inverse(objective.width() <= MOST_FACTORED);
        Preconditioner { kind, made_at, still_good: true }
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
    pub(super) data: &'a Dataset,
    pub(super) rows: &'a [u32],
    pub(super) curvatures: &'a [f64],
    pub(super) penalty: &'a Penalty,
    pub(super) intercept: Intercept,
    pub(super) threads: usize,
}

impl Sampled<'_> {
    pub(super) fn inverse(&self, factored: bool) -> Inverse {
        match factored {
            true => Inverse::Factored(factor(self)),
            false => Inverse::Diagonal(diagonal(self)),
        }
    }
}

/// The factors of Λ + Σ h x xᵀ over a sample of the rows, whose h count for all.
fn factor(sampled: &Sampled<'_>) -> Factor {
    let (data, curvatures) = (sampled.data, sampled.curvatures);
    let width = data.n_features();
    let order = width + 1;
    let active: Vec<usize> = (0..curvatures.len()).filter(|&i| curvatures[i] > 0.0).collect();
    // Rows with few values are cheap enough to be taken more of.
    let values = data.store.nonzeros() as usize / data.n_rows().max(1);
    let cheap = (width / values.max(1)).clamp(1, 8);
    let wanted = (SAMPLE * cheap * order).max(4096);
    let every = (active.len() / wanted).max(1);
    let sample: Vec<usize> = active.iter().copied().step_by(every).collect();
    let pieces = super::objective::pieces(sample.len(), sample.len() * order, order * order / 4);
    let parts = with_rows!(data.store, rows => {
        parallel_map(pieces.len(), sampled.threads, |piece| {
            let mut matrix = vec![0.0; order * order];
            let (mut columns, mut entries) = (Vec::new(), Vec::new());
            for &i in &sample[pieces[piece].clone()] {
                rows.entries(sampled.rows[i] as usize, &mut columns, &mut entries);
                add_square(every as f64 * curvatures[i], &columns, &entries, &mut matrix, order);
            }
            matrix
        })
    });
    let mut matrix = vec![0.0; order * order];
    for part in parts {
        matrix.iter_mut().zip(&part).for_each(|(all, part)| *all += part);
    }
    for j in 0..width {
        matrix[j * order + j] += sampled.penalty.curvature(j);
    }
    match sampled.intercept {
        Intercept::Penalised => matrix[width * order + width] += sampled.penalty.l2,
        Intercept::Free => {}
        Intercept::None => {
            (0..width).for_each(|j| matrix[width * order + j] = 0.0);
            matrix[width * order + width] = 1.0;
        }
    }
    for j in 0..order {
        for k in 0..j {
            matrix[k * order + j] = matrix[j * order + k];
        }
    }
    Factor::new(&matrix, order)
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

/// The diagonal of H.
fn diagonal(sampled: &Sampled<'_>) -> Plane {
    let mut diagonal = Plane { weights: vec![0.0; sampled.data.n_features()], bias: 0.0 };
    let mut scratch = Vec::new();
    for (i, &row) in sampled.rows.iter().enumerate() {
        let h = sampled.curvatures[i];
        if h > 0.0 {
            diagonal.bias += h;
            sampled.data.store.for_each(row as usize, &mut scratch, |j, x| {
                diagonal.weights[j as usize] += h * x * x;
            });
        }
    }
    for (j, d) in diagonal.weights.iter_mut().enumerate() {
        *d += sampled.penalty.curvature(j);
    }
    if sampled.intercept == Intercept::Penalised {
        diagonal.bias += sampled.penalty.l2;
    }
    diagonal
}
