//! What the optimisers of two classes make small, and how near to the best a plane is.
//!
//! With margins m = y(w·x + b) and costs c,
//!
//! ```text
//! P(w, b) = Σ c loss(m) + Σ_j (l2/2 (s_j w_j)² + l1 |s_j w_j|)
//! ```
//!
//! Every α in the domain of the loss bounds it from below, with g = Σ α y x and Σ y α = 0 where the
//! bias is free:
//!
//! ```text
//! P ≥ D(α) = Σ ψ(α) − Σ_j max(0, |g_j|/s_j − l1)² / (2 l2)
//! ```
//!
//! ψ = α (hinge), α − α²/(4c) (squared hinge), c H(α/c) (logistic, H the entropy). Where l2 = 0, α is
//! shrunk until no |g_j| is above l1 s_j. A weight may have limits; what its column takes from the bound
//! is then the most of g w − l2/2 (s w)² − l1 |s w| between them, and only a side without a limit is a
//! wall for g. What is computed here steers a run; what is claimed of its end is computed anew by the
//! checker.
//!
//! Passes go over fixed pieces of the rows and add up in a fixed order, so the number of threads does
//! not change a bit.
//!
//! Reference: Boyd, Vandenberghe, Convex Optimization, 5.

pub mod box_constraints;
pub mod correction;
pub mod evaluate;
pub mod intercept;

use crate::loss::Loss;
use crate::model::Plane;
use crate::objective::box_constraints::Ranges;
use crate::rounds;
use evaluate::{Evaluate, Evaluated, Kept};
use linsep_data::Dataset;
use linsep_data::buffer::Buffer;
use linsep_data::matrix::{CodeRows, LayoutKey, Store, with_rows};
use linsep_data::parallel::parallel_map;
use linsep_kernels::{dot_f64, entropy_rows};
use linsep_proof::WeightLimit;
use std::ops::Range;
use std::sync::Arc;

/// An objective on some rows of a data set.
pub struct Objective {
    pub data: Arc<Dataset>,
    /// The rows once more, where the way they are kept is slow to go over.
    pub sparse_copy: Option<Arc<Store>>,
    /// The rows that take part.
    pub rows: Vec<u32>,
    /// ±1 of each of them.
    pub signs: Buffer<f64>,
    /// c of each of them.
    pub costs: Buffer<f64>,
    pub loss: Loss,
    pub penalty: Penalty,
    pub intercept: Intercept,
    pub threads: usize,
}

/// The threads for passes over so many entries: below some a pass is over before a second one has begun.
pub fn worthwhile(threads: usize, entries: u64) -> usize {
    const LEAST: u64 = 1 << 18;
    if entries < LEAST { 1 } else { threads }
}

/// The factors of the penalty.
#[derive(Clone, Debug)]
pub struct Penalty {
    pub l1: f64,
    pub l2: f64,
    /// s_j; 1 everywhere when absent.
    pub scale: Option<Vec<f64>>,
    /// Where weights have to stay.
    pub limits: Option<Ranges>,
}

impl Penalty {
    /// Whether nothing is penalised.
    pub fn is_none(&self) -> bool {
        self.l1 == 0.0 && self.l2 == 0.0
    }

    /// The least and the most that a weight may be.
    pub fn limits(&self, column: usize) -> (f64, f64) {
        let free = (f64::NEG_INFINITY, f64::INFINITY);
        self.limits.as_ref().map_or(free, |limits| limits.of(column))
    }

    /// The limits as they are claimed.
    pub fn claimed_limits(&self, width: usize) -> Vec<WeightLimit> {
        let columns = if self.limits.is_some() { width } else { 0 };
        let finite = |x: f64| x.is_finite().then_some(x);
        (0..columns)
            .map(|j| (j as u32, self.limits(j)))
            .map(|(j, (least, most))| WeightLimit::new(j, finite(least), finite(most)))
            .filter(|limit| limit.least.is_some() || limit.most.is_some())
            .collect()
    }

    /// By how much g of a column is beyond what bounds it where l2 = 0.
    fn excess(&self, column: usize, g: f64) -> f64 {
        let (least, most) = self.limits(column);
        let wall = self.l1 * self.scale(column);
        let walled = if g > 0.0 { most == f64::INFINITY } else { least == f64::NEG_INFINITY };
        if walled && g.abs() > wall { g.abs() / wall } else { 1.0 }
    }

    pub fn scale(&self, column: usize) -> f64 {
        self.scale.as_ref().map_or(1.0, |scale| scale[column])
    }

    /// l2 s_j²: the curvature of the penalty.
    pub fn curvature(&self, column: usize) -> f64 {
        let scale = self.scale(column);
        self.l2 * scale * scale
    }

    /// Adds the curvature of the penalty to second derivatives by weights and bias, which come last.
    pub fn add_curvature(&self, intercept: Intercept, matrix: &mut [f64], order: usize) {
        let last = order - 1;
        for j in 0..last {
            matrix[j * order + j] += self.curvature(j);
        }
        match intercept {
            Intercept::Penalised => matrix[last * order + last] += self.l2,
            Intercept::Free => {}
            Intercept::None => {
                (0..last).for_each(|j| matrix[last * order + j] = 0.0);
                (0..last).for_each(|j| matrix[j * order + last] = 0.0);
                matrix[last * order + last] = 1.0;
            }
        }
    }

    /// −∇P at a plane, with the sums of the multipliers there.
    pub fn downhill(&self, intercept: Intercept, plane: &Plane, sides: &Sides) -> Plane {
        let mut down = sides.total();
        for (j, (d, w)) in down.weights.iter_mut().zip(&plane.weights).enumerate() {
            *d -= self.curvature(j) * w;
        }
        down.bias = match intercept {
            Intercept::None => 0.0,
            Intercept::Free => down.bias,
            Intercept::Penalised => down.bias - self.l2 * plane.bias,
        };
        down
    }

    /// The penalty of a plane.
    pub fn value(&self, plane: &Plane, intercept: Intercept) -> f64 {
        let one = |v: f64| 0.5 * self.l2 * v * v + self.l1 * v.abs();
        let sum = |(j, w): (usize, &f64)| one(self.scale(j) * w);
        let bias = if intercept == Intercept::Penalised { one(plane.bias) } else { 0.0 };
        plane.weights.iter().enumerate().map(sum).sum::<f64>() + bias
    }

    /// What a sum g within its walls costs the bound.
    pub fn conjugate(&self, sum: &Plane, intercept: Intercept) -> f64 {
        let one = |g: f64| {
            let over = (g.abs() - self.l1).max(0.0);
            if over == 0.0 || self.l2 == 0.0 { 0.0 } else { 0.5 * over * over / self.l2 }
        };
        let each = |(j, g): (usize, &f64)| match &self.limits {
            None => one(g / self.scale(j)),
            Some(_) => self.limited(j, *g),
        };
        let bias = if intercept == Intercept::Penalised { one(sum.bias) } else { 0.0 };
        sum.weights.iter().enumerate().map(each).sum::<f64>() + bias
    }

    /// The most of g w − l2/2 (s w)² − l1 |s w| between the limits of a column.
    fn limited(&self, column: usize, g: f64) -> f64 {
        let ((least, most), scale) = (self.limits(column), self.scale(column));
        let value = |w: f64| {
            let v = scale * w;
            g * w - 0.5 * self.l2 * v * v - self.l1 * v.abs()
        };
        let over = (g.abs() / scale - self.l1).max(0.0).copysign(g);
        // Without l2 the most is at the limit that g points to, or at the weight next to 0.
        let free = match over == 0.0 {
            true => 0.0,
            false => over / (self.l2 * scale),
        };
        match free.max(least).min(most) {
            w if w.is_finite() => value(w),
            _ => 0.0,
        }
    }
}

pub use linsep_proof::Intercept;

/// Σ c loss(m), with one exponential for each logistic loss and its slope, and one logarithm for many:
/// Σ ln(1 + e) = ln Π (1 + e), where each factor is at most 2.
pub struct LossSum {
    loss: Loss,
    sum: f64,
    product: f64,
    /// Factors in the product, all with the same cost.
    factors: u32,
    cost: f64,
}

impl LossSum {
    pub fn new(loss: Loss) -> LossSum {
        LossSum { loss, sum: 0.0, product: 1.0, factors: 0, cost: 0.0 }
    }

    /// Adds the loss of a margin and gives minus its slope, for the cost 1.
    #[inline]
    pub fn add(&mut self, m: f64, cost: f64) -> f64 {
        if self.loss != Loss::Logistic {
            self.sum += cost * self.loss.value(m);
            return self.loss.negative_gradient(m);
        }
        if self.factors == 500 || cost != self.cost {
            self.fold();
            self.cost = cost;
        }
        let e = (-m.abs()).exp();
        self.product *= 1.0 + e;
        self.factors += 1;
        self.sum += cost * (-m).max(0.0);
        if m > 0.0 { e / (1.0 + e) } else { 1.0 / (1.0 + e) }
    }

    fn fold(&mut self) {
        self.sum += self.cost * self.product.ln();
        (self.product, self.factors) = (1.0, 0);
    }

    pub fn total(mut self) -> f64 {
        self.fold();
        self.sum
    }
}

/// How near to the best a plane is, as far as a dual point tells.
#[derive(Clone, Copy, Debug)]
pub struct Gap {
    pub primal: f64,
    pub dual: f64,
}

impl Gap {
    pub const NONE: Gap = Gap { primal: f64::INFINITY, dual: f64::NEG_INFINITY };

    /// (P − D)/D: how far P is above the optimum at most.
    pub fn relative(&self) -> f64 {
        match self.primal - self.dual {
            gap if gap <= 0.0 => 0.0,
            gap if self.dual > 0.0 => gap / self.dual,
            _ => f64::INFINITY,
        }
    }

    /// Whether the gap is so small that the checker will measure no more than `wanted`: its sums are
    /// rounded outward.
    pub fn reaches(&self, wanted: f64) -> bool {
        const ROOM: f64 = 0.99;
        self.relative() <= ROOM * wanted
    }

    /// The gap in a report.
    pub(crate) fn words(&self) -> String {
        match self.relative() {
            0.0 => "gap 0".to_owned(),
            gap if gap.is_finite() => format!("gap {gap:.1e}"),
            _ => "no gap, as the bound shows nothing".to_owned(),
        }
    }

    /// The objective and the relative gap, as far as they were measured.
    pub(crate) fn known(&self) -> (Option<f64>, Option<f64>) {
        let finite = |x: f64| x.is_finite().then_some(x);
        (finite(self.primal), finite(self.relative()))
    }
}

/// A plane with what one pass over the rows tells of it.
pub struct Evaluation {
    /// P.
    pub primal: f64,
    pub margins: Buffer<f64>,
    pub alpha: Buffer<f64>,
    pub sides: Sides,
}

/// Sums of α y x of the two sides, the bias column among them.
#[derive(Clone)]
pub struct Sides {
    pub positive: Plane,
    pub negative: Plane,
}

impl Sides {
    /// The factors of the two sides: the heavier one is shrunk until both weigh alike, then all where
    /// only l1 bounds.
    pub fn factors(&self, objective: &Objective) -> [f64; 2] {
        let mut factors = self.balance(objective.intercept);
        if objective.penalty.l2 == 0.0 {
            let (penalty, sum) = (&objective.penalty, self.sum(factors));
            let over = |(j, g): (usize, &f64)| penalty.excess(j, *g);
            let mut most = sum.weights.iter().enumerate().map(over).fold(1.0, f64::max);
            if objective.intercept == Intercept::Penalised {
                most = most.max(sum.bias.abs() / penalty.l1);
            }
            // A hair more, for what rounding would leave above the bound.
            let shrink = if most > 1.0 { (1.0 - 1e-12) / most } else { 1.0 };
            factors = factors.map(|factor| factor * shrink);
        }
        factors
    }

    /// D of what is left.
    fn bound(&self, objective: &Objective, alpha: &[f64]) -> f64 {
        let factors = self.factors(objective);
        let sum = self.sum(factors);
        let loss = objective.loss;
        let weighed =
            |i: usize| alpha[i] * if objective.signs[i] > 0.0 { factors[0] } else { factors[1] };
        let psi = match loss {
            Loss::Logistic => objective.entropies(weighed),
            _ => objective.total(|i| loss.conjugate_term(weighed(i), objective.costs[i])),
        };
        psi - objective.penalty.conjugate(&sum, objective.intercept)
    }

    /// The factors of the positive and the negative rows that make both sides weigh alike, where the
    /// bias is free.
    pub fn balance(&self, intercept: Intercept) -> [f64; 2] {
        let (up, down) = (self.positive.bias, -self.negative.bias);
        match intercept == Intercept::Free {
            true if up > down => [down / up, 1.0],
            true if down > 0.0 => [1.0, up / down],
            _ => [1.0, 1.0],
        }
    }

    /// Σ α y x, the positive and the negative rows times a factor each.
    pub fn sum(&self, factors: [f64; 2]) -> Plane {
        let pair = |(a, b): (&f64, &f64)| factors[0] * a + factors[1] * b;
        Plane {
            weights: self.positive.weights.iter().zip(&self.negative.weights).map(pair).collect(),
            bias: pair((&self.positive.bias, &self.negative.bias)),
        }
    }

    /// Σ α y x, as it is.
    pub fn total(&self) -> Plane {
        self.sum([1.0, 1.0])
    }
}

impl Objective {
    /// The rows to go over.
    pub fn store(&self) -> &Store {
        self.sparse_copy.as_deref().unwrap_or(self.data.store())
    }

    /// What layouts of these rows depend on: not signs, costs or penalty.
    pub(crate) fn layout_key(&self) -> LayoutKey {
        LayoutKey::new(&self.rows, self.data.n_rows()).of_sparse_copy(self.sparse_copy.is_some())
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn width(&self) -> usize {
        self.data.n_features()
    }

    /// Whether there is a bias to find.
    pub fn has_bias(&self) -> bool {
        self.intercept != Intercept::None
    }

    pub fn zero(&self) -> Plane {
        Plane { weights: vec![0.0; self.width()], bias: 0.0 }
    }

    /// Positions cut into pieces: enough for all threads, few enough that a vector for each is cheap.
    pub fn pieces(&self) -> Vec<Range<usize>> {
        pieces(self.len(), self.store().held_values() as usize, self.width())
    }

    /// Σ f(i) over all positions.
    pub fn total(&self, f: impl Fn(usize) -> f64 + Sync) -> f64 {
        const BLOCK: usize = 1 << 14;
        let blocks = self.len().div_ceil(BLOCK);
        let sum = |block: usize| -> f64 {
            (block * BLOCK..((block + 1) * BLOCK).min(self.len())).map(&f).sum()
        };
        parallel_map(blocks, self.threads, sum).into_iter().sum()
    }

    /// Σ c (−p ln p − (1 − p) ln (1 − p)) over all positions, p = α/c: ψ of the logistic loss.
    fn entropies(&self, alpha: impl Fn(usize) -> f64 + Sync) -> f64 {
        const BLOCK: usize = 1 << 14;
        const FEW: usize = 256;
        let sum = |block: usize| -> f64 {
            let (mut shares, mut sum) = ([0.0; FEW], 0.0);
            let end = ((block + 1) * BLOCK).min(self.len());
            for first in (block * BLOCK..end).step_by(FEW) {
                let costs = &self.costs[first..(first + FEW).min(end)];
                let shares = &mut shares[..costs.len()];
                for (k, (share, cost)) in shares.iter_mut().zip(costs).enumerate() {
                    *share = (alpha(first + k) / cost).clamp(0.0, 1.0);
                }
                entropy_rows(shares);
                sum += dot_f64(costs, shares);
            }
            sum
        };
        parallel_map(self.len().div_ceil(BLOCK), self.threads, sum).into_iter().sum()
    }

    /// y(w·x + b) of every position.
    pub fn margins(&self, plane: &Plane) -> Buffer<f64> {
        let bias = if self.has_bias() { plane.bias } else { 0.0 };
        let pieces = self.pieces();
        let mut margins = Buffer::with_capacity(self.len());
        with_rows!(self.store(), rows => {
            let folded = rows.fold(&plane.weights);
            for pieces in pieces.chunks(rounds::together(self.threads)) {
                let parts = parallel_map(pieces.len(), self.threads, |piece| {
                    let margin = |i: usize| {
                        self.signs[i] * (rows.code_dot(self.rows[i] as usize, &folded) + bias)
                    };
                    pieces[piece].clone().map(margin).collect::<Vec<f64>>()
                });
                parts.iter().for_each(|part| margins.extend_from_slice(part));
            }
        });
        margins
    }

    /// Σ α y x of each side.
    pub fn sides(&self, alpha: &[f64]) -> Sides {
        let pieces = self.pieces();
        let parts = with_rows!(self.store(), rows => {
            parallel_map(pieces.len(), self.threads, |piece| {
                let mut sides = [self.zero(), self.zero()];
                for i in pieces[piece].clone() {
                    let a = self.signs[i] * alpha[i];
                    if a != 0.0 {
                        let side = &mut sides[usize::from(a < 0.0)];
                        side.bias += a;
                        rows.code_add(self.rows[i] as usize, a, &mut side.weights);
                    }
                }
                sides
            })
        });
        let mut all = [self.zero(), self.zero()];
        for part in parts {
            all.iter_mut().zip(&part).for_each(|(all, part)| add(part, all));
        }
        self.unfolded(all)
    }

    /// Margins, the multipliers they ask for and the sums of those, in one pass.
    pub fn evaluate(&self, plane: &Plane) -> Evaluation {
        let work = Evaluate::<Kept>::new(self);
        let Evaluated { loss, sides, beside } =
            rounds::collect(&work, plane, self.threads, rounds::together(self.threads));
        let primal = loss + self.penalty.value(plane, self.intercept);
        let Kept { margins, alpha } = beside;
        Evaluation { primal, margins, alpha, sides: self.unfolded(sides) }
    }

    /// The sums of both sides out of sums of codes.
    pub fn unfolded(&self, [positive, negative]: [Plane; 2]) -> Sides {
        Sides { positive: self.unfold(positive), negative: self.unfold(negative) }
    }

    /// A sum of rows out of a sum of codes.
    pub fn unfold(&self, codes: Plane) -> Plane {
        let weights = with_rows!(self.store(), rows => rows.fold(&codes.weights));
        Plane { weights, ..codes }
    }

    /// P of a plane whose margins are known.
    pub fn primal(&self, plane: &Plane, margins: &[f64]) -> f64 {
        self.losses(margins) + self.penalty.value(plane, self.intercept)
    }

    /// Σ c loss(m).
    pub fn losses(&self, margins: &[f64]) -> f64 {
        const BLOCK: usize = 1 << 14;
        let part = |block: usize| {
            let mut losses = LossSum::new(self.loss);
            let range = block * BLOCK..((block + 1) * BLOCK).min(self.len());
            for (margin, cost) in margins[range.clone()].iter().zip(&self.costs[range]) {
                losses.add(*margin, *cost);
            }
            losses.total()
        };
        let losses = parallel_map(self.len().div_ceil(BLOCK), self.threads, part);
        losses.into_iter().sum()
    }

    /// −∇P, with the sums of the multipliers.
    pub fn downhill(&self, plane: &Plane, sides: &Sides) -> Plane {
        self.penalty.downhill(self.intercept, plane, sides)
    }

    /// Σ α y x of the dual point that the bound is of.
    pub fn feasible(&self, sides: &Sides) -> Plane {
        sides.sum(sides.factors(self))
    }

    /// D of a dual point whose sums are known.
    pub fn dual(&self, sides: &Sides, alpha: &[f64]) -> f64 {
        sides.bound(self, alpha)
    }
}

/// all += part.
pub fn add(part: &Plane, all: &mut Plane) {
    all.bias += part.bias;
    all.weights.iter_mut().zip(&part.weights).for_each(|(all, part)| *all += part);
}

/// `count` positions in pieces, for passes that end in a vector of `width` numbers for each piece.
pub fn pieces(count: usize, values: usize, width: usize) -> Vec<Range<usize>> {
    const LEAST: usize = 4096;
    const MOST: usize = 32;
    let most = (values / (4 * width.max(1))).clamp(1, MOST);
    let number = count.div_ceil(LEAST).clamp(1, most);
    let size = count.div_ceil(number).max(1);
    (0..number).map(|k| (k * size).min(count)..((k + 1) * size).min(count)).collect()
}
