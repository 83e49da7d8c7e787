//! The largest margin, exactly.
//!
//! Problem: γ² = min |Σ λ z / Σ λ|² over λ ≥ 0, the squared length of the shortest point of the hull
//! of the rows z = ±(c, x); or, with the weights of each side adding up to 1, a quarter of the squared
//! distance of the hulls of the two sides. Rational rows have a rational answer: the shortest point of
//! the affine hull of affinely independent rows S solves
//!
//! ```text
//! G λ = μ 1,  G = Z_S Z_Sᵀ                    one group:  γ² = μ / Σ λ
//! G λ = μ₊ e₊ + μ₋ e₋,  e₊·λ = e₋·λ           two groups: γ² = (μ₊ + μ₋) / (4 e₊·λ)
//! ```
//!
//! and λ, μ are the one relation of a few whole vectors, found by p-adic lifting
//! ([`super::lift`]).
//!
//! Floats propose a support ([`Hull`]). From there Wolfe's method goes on with whole numbers: λ is
//! exact; a row with λ ≤ 0 is dropped after a step towards it; a row z with z·X < μ joins, worst first.
//! Floats only choose the rows that are looked at. When none is left the claim goes to the checker, and
//! only what it accepts is returned. It proves z·X ≥ X·X for every row, which is optimality
//! (`docs/theory/theorems.md`, section 5).
//!
//! Reference: Wolfe, Finding the nearest point in a polytope, 1976; Mitchell, Demyanov, Malozemov 1974.

use super::hull::{Hull, Nearest, Shape};
use super::lift::{Combination, combination, eliminate};
use super::proposal::weighted;
use super::ratio::{Ratio, powers, quotient};
use super::search::Effort;
use super::signed::{AlikeRows, Signed};
use super::{Decision, Interval, Judge, Verdict};
use crate::model::Plane;
use dashu_int::IBig;
use linsep_proof::{Claim, Weighted};
use std::sync::Arc;

/// The exact largest margin of a question, accepted by the checker.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Margin {
    /// The proof.
    pub claim: Claim,
    /// γ².
    pub gamma2: Ratio,
    /// γ, rounded down and up.
    pub gamma: Interval,
}

impl Margin {
    /// The rows that hold the margin up, with their multipliers.
    pub fn support(&self) -> &[Weighted] {
        match &self.claim {
            Claim::Margin { support, .. } | Claim::GeometricMargin { support, .. } => support,
            _ => &[],
        }
    }
}

/// Rows of a support beyond which whole numbers are not tried.
const MAX_SUPPORT: usize = 600;

/// Beyond this many columns, and this many numbers, dense points are not tried.
const MAX_DENSE: usize = 2000;
const FEW_NUMBERS: usize = 10_000_000;

/// Steps in whole numbers.
const MAX_STEPS: usize = 2000;

/// Rows that are looked at in whole numbers after a step.
const CANDIDATES: usize = 16;

impl Judge {
    /// The largest margin of a plane (b/c, w) of unit length on rows ±(c, x), with c = `constant`.
    /// `None` if the question is not separable or has no bias, or if it was not found within the
    /// limits.
    pub fn augmented_margin(
        &self,
        decision: &Decision,
        constant: u64,
        stop: &dyn Fn() -> bool,
    ) -> Option<Margin> {
        if constant == 0 {
            return None;
        }
        self.exact_margin(decision, Shape::Augmented(constant), stop)
    }

    /// The largest distance that a plane keeps from all rows: |w| = 1 and any b. `None` as above.
    pub fn geometric_margin(&self, decision: &Decision, stop: &dyn Fn() -> bool) -> Option<Margin> {
        self.exact_margin(decision, Shape::Geometric, stop)
    }

    fn exact_margin(
        &self,
        decision: &Decision,
        shape: Shape,
        stop: &dyn Fn() -> bool,
    ) -> Option<Margin> {
        let view = self.view_of_separable(decision)?;
        let effort = Effort { threads: self.threads, stop, clock: self.clock };
        let hull = Arc::new(Hull::new(view, shape, self.threads)?);
        let start = hull.nearest(&decision.blend_rows(), &effort)?;
        let mut corral = Corral::new(hull, start)?;
        while !stop() {
            match corral.step(self.threads) {
                Step::More => {}
                Step::Found(found) => return Some(found.margin),
                Step::Lost => return None,
            }
        }
        None
    }

    /// The rows of a separable two-class question with a bias, if dense points can hold them.
    pub(super) fn view_of_separable(&self, decision: &Decision) -> Option<Arc<Signed>> {
        let problem = decision.problem.as_ref()?;
        if decision.verdict != Verdict::Separable || !self.bias {
            return None;
        }
        let view = Signed::new(Arc::clone(&self.data), problem.clone(), true);
        is_small(&view).then(|| Arc::new(view))
    }
}

/// Whether dense points can hold the rows.
pub(crate) fn is_small(view: &Signed) -> bool {
    view.dimension() <= MAX_DENSE || view.len().saturating_mul(view.dimension()) <= FEW_NUMBERS
}

impl Decision {
    /// The rows that the search for the verdict ended with.
    pub(super) fn blend_rows(&self) -> Vec<usize> {
        self.blend.iter().map(|(k, _)| *k).collect()
    }
}

/// Affinely independent rows and a point of their hull, as weights that add up to 1 in each group.
pub(crate) struct Corral {
    hull: Arc<Hull>,
    rows: Vec<usize>,
    weights: Vec<f64>,
    /// Rows that are looked at in whole numbers.
    looked_at: usize,
    steps: usize,
}

/// What a step of a corral came to.
// One of them at a time; a box would save nothing.
#[allow(clippy::large_enum_variant)]
pub(crate) enum Step {
    /// Another one is needed.
    More,
    /// No row lies below, and the checker agrees.
    Found(Found),
    /// The limits are reached.
    Lost,
}

/// A margin that the checker accepted, and the plane that has it.
pub(crate) struct Found {
    pub(crate) margin: Margin,
    /// Rounded to binary64, with the scores 1 and −1 on the support; of the geometric margin only.
    pub(crate) plane: Option<Plane>,
}

/// The shortest point of the affine hull of a corral.
struct Shortest {
    lambda: Vec<IBig>,
    /// μ of each group, in units of the whole rows.
    levels: [IBig; 2],
    /// Σ λ of each group; the same for both.
    total: IBig,
}

impl Corral {
    pub(crate) fn new(hull: Arc<Hull>, start: Nearest) -> Option<Corral> {
        let mut support = start.support;
        // Where floats mistook dependent rows for independent ones, the heavier stay.
        support.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let chosen: Vec<usize> = support.iter().map(|(k, _)| *k).collect();
        let mut whole = hull.whole(&chosen).rows;
        for (row, &k) in whole.iter_mut().zip(&chosen) {
            row.extend((0..2).map(|group| IBig::from(u8::from(hull.group(k) == group))));
        }
        let kept: Vec<(usize, f64)> =
            eliminate(&whole).into_iter().map(|(at, _)| support[at]).collect();
        let (rows, weights) = kept.into_iter().unzip();
        let mut corral = Corral { hull, rows, weights, looked_at: CANDIDATES, steps: 0 };
        corral.normalise();
        (corral.rows.len() <= MAX_SUPPORT).then_some(corral)
    }

    /// A step of Wolfe's method; where no row lies below, the claim goes to the checker.
    pub(crate) fn step(&mut self, threads: usize) -> Step {
        self.steps += 1;
        if self.steps > MAX_STEPS || self.rows.len() > MAX_SUPPORT {
            return Step::Lost;
        }
        let whole = self.hull.whole(&self.rows);
        let Some(shortest) = self.shortest(&whole) else { return Step::Lost };
        if shortest.lambda.iter().any(|l| *l <= IBig::ZERO) {
            self.step_towards(&shortest);
            return Step::More;
        }
        let near = self.lowest(&whole, &shortest, self.looked_at, threads);
        if let Some(row) = self.worst_below(&near, &shortest) {
            self.weights = shortest.lambda.iter().map(|l| quotient(l, &shortest.total)).collect();
            self.rows.push(row);
            self.weights.push(0.0);
            return Step::More;
        }
        let Some((claim, gamma2)) = self.claim(&whole, &shortest) else { return Step::Lost };
        let view = &self.hull.view;
        if view.holds(&claim, &view.data.reading_field(), threads) {
            let plane = self.scored(&whole, &shortest);
            let gamma = gamma2.root();
            return Step::Found(Found { margin: Margin { claim, gamma2, gamma }, plane });
        }
        // Floats showed the wrong rows; look at more of them.
        if self.looked_at >= view.len() {
            return Step::Lost;
        }
        self.looked_at *= 16;
        Step::More
    }

    /// Rows of the corral.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The plane between the two sides, with the scores 1 and −1 on the support: with V = Σ λ z and
    /// V·z = μ on each side it is 2 V / (μ₊ + μ₋), and its bias (μ₋ − μ₊) / (μ₊ + μ₋).
    fn scored(&self, whole: &AlikeRows, shortest: &Shortest) -> Option<Plane> {
        if self.hull.shape != Shape::Geometric {
            return None;
        }
        let [above, below] = &shortest.levels;
        let sum = above + below;
        // V is in units of the whole rows, and so is x·V, but x is not.
        let (down, up) = powers(whole.two, whole.five);
        let under = &sum * down;
        let mut weights = vec![0.0; self.hull.view.data.n_features()];
        for (at, column) in whole.columns.iter().enumerate() {
            let terms = whole.rows.iter().zip(&shortest.lambda);
            let v = terms.fold(IBig::ZERO, |sum, (row, l)| sum + &row[at] * l);
            // A negative zero would tell one side from the other.
            weights[*column as usize] = quotient(&(IBig::from(2) * v * &up), &under) + 0.0;
        }
        let bias = quotient(&(below - above), &sum) + 0.0;
        let finite = bias.is_finite() && weights.iter().all(|w| w.is_finite());
        finite.then_some(Plane { weights, bias })
    }

    /// λ and μ: the one relation of the rows of G and the levels.
    fn shortest(&self, whole: &AlikeRows) -> Option<Shortest> {
        let groups: Vec<usize> = self.rows.iter().map(|&k| self.hull.group(k)).collect();
        let two = self.hull.shape == Shape::Geometric;
        let mut vectors = products(&whole.rows, &whole.rows);
        if two {
            // One more equation: both sides have the same weight.
            let sign = |group: usize| IBig::from(if group == 0 { 1 } else { -1 });
            vectors.iter_mut().zip(&groups).for_each(|(row, &group)| row.push(sign(group)));
        }
        for level in 0..if two { 2 } else { 1 } {
            let member = |&group: &usize| IBig::from(if group == level { -1 } else { 0 });
            let mut vector: Vec<IBig> = groups.iter().map(member).collect();
            vector.resize(vectors[0].len(), IBig::ZERO);
            vectors.push(vector);
        }
        let Combination::One(mut lambda) = combination(&vectors) else { return None };
        let first = |lambda: &[IBig]| {
            let of_first = lambda.iter().zip(&groups).filter(|(_, group)| **group == 0);
            of_first.fold(IBig::ZERO, |sum, (l, _)| sum + l)
        };
        if first(&lambda) < IBig::ZERO {
            lambda.iter_mut().for_each(|l| *l = -&*l);
        }
        let total = first(&lambda);
        let levels = lambda.split_off(self.rows.len());
        let levels = [levels[0].clone(), levels.get(1).cloned().unwrap_or(IBig::ZERO)];
        (total > IBig::ZERO).then_some(Shortest { lambda, levels, total })
    }

    /// As far towards the shortest point as no weight turns negative; the row that is in the way goes.
    fn step_towards(&mut self, shortest: &Shortest) {
        let goal: Vec<f64> = shortest.lambda.iter().map(|l| quotient(l, &shortest.total)).collect();
        let length = |i: usize| match shortest.lambda[i] <= IBig::ZERO {
            true => self.weights[i] / (self.weights[i] - goal[i]),
            false => f64::INFINITY,
        };
        let first = (0..goal.len()).min_by(|&a, &b| length(a).total_cmp(&length(b))).unwrap_or(0);
        let step = length(first).clamp(0.0, 1.0);
        self.weights.iter_mut().zip(&goal).for_each(|(w, goal)| *w += step * (goal - *w));
        self.rows.remove(first);
        self.weights.remove(first);
        self.normalise();
    }

    fn normalise(&mut self) {
        let mut totals = [0.0; 2];
        for (&k, weight) in self.rows.iter().zip(&mut self.weights) {
            *weight = weight.max(0.0);
            totals[self.hull.group(k)] += *weight;
        }
        for (&k, weight) in self.rows.iter().zip(&mut self.weights) {
            *weight /= totals[self.hull.group(k)];
        }
    }

    /// The rows outside the corral that floats find lowest.
    fn lowest(
        &self,
        whole: &AlikeRows,
        shortest: &Shortest,
        count: usize,
        threads: usize,
    ) -> Vec<usize> {
        let (weights, bias) = self.plane(whole, shortest);
        let heights = self.hull.heights(&weights, bias, threads);
        let (up, down) = powers(2 * whole.two, 2 * whole.five);
        let total = &shortest.total * down;
        let levels = shortest.levels.each_ref().map(|level| quotient(&(level * &up), &total));
        let depth = |k: usize| heights[k] - levels[self.hull.group(k)];
        let deeper = |a: &usize, b: &usize| depth(*a).total_cmp(&depth(*b)).then(a.cmp(b));
        let mut rows: Vec<usize> = (0..heights.len()).collect();
        let count = count + self.rows.len();
        if rows.len() > count {
            rows.select_nth_unstable_by(count, deeper);
            rows.truncate(count);
        }
        rows.retain(|k| !self.rows.contains(k));
        rows
    }

    /// X as a plane of raw columns, correctly rounded or nearly so.
    fn plane(&self, whole: &AlikeRows, shortest: &Shortest) -> (Vec<f64>, f64) {
        let (up, down) = powers(whole.two, whole.five);
        let total = &shortest.total * down;
        let coordinate = |j: usize| {
            let terms = whole.rows.iter().zip(&shortest.lambda);
            let sum = terms.fold(IBig::ZERO, |sum, (row, l)| sum + &row[j] * l);
            quotient(&(sum * &up), &total)
        };
        let (shift, bias) = match self.hull.shape {
            Shape::Augmented(constant) => (1, coordinate(0) * constant as f64),
            _ => (0, 0.0),
        };
        let mut weights = vec![0.0; self.hull.view.data.n_features()];
        for (at, column) in whole.columns.iter().enumerate() {
            weights[*column as usize] = coordinate(at + shift);
        }
        (weights, bias)
    }

    /// The row that lies farthest below the level of its group, in whole numbers.
    fn worst_below(&self, near: &[usize], shortest: &Shortest) -> Option<usize> {
        let together: Vec<usize> = self.rows.iter().chain(near).copied().collect();
        let whole = self.hull.whole(&together);
        let (corral, others) = whole.rows.split_at(self.rows.len());
        let own = self.hull.whole(&self.rows);
        // The levels in the units of the rows looked at, which may be finer.
        let (up, down) = powers(2 * (own.two - whole.two), 2 * (own.five - whole.five));
        let levels = shortest.levels.each_ref().map(|level| level * &up / &down);
        let depths = products(others, corral).into_iter().zip(near).map(|(products, &k)| {
            let terms = products.iter().zip(&shortest.lambda);
            let height = terms.fold(IBig::ZERO, |sum, (product, l)| sum + product * l);
            (height - &levels[self.hull.group(k)], k)
        });
        depths.filter(|(depth, _)| *depth < IBig::ZERO).min().map(|(_, k)| k)
    }

    /// The claim of the corral, and its γ².
    fn claim(&self, whole: &AlikeRows, shortest: &Shortest) -> Option<(Claim, Ratio)> {
        let view = &self.hull.view;
        let problem = view.problem.clone();
        let lambda: Vec<(usize, IBig)> =
            self.rows.iter().copied().zip(shortest.lambda.iter().cloned()).collect();
        let (two, five) = (2 * whole.two, 2 * whole.five);
        let [first, second] = &shortest.levels;
        Some(match self.hull.shape {
            Shape::Augmented(constant) => {
                let gamma2 = Ratio::scaled(first.clone(), shortest.total.clone(), two, five)?;
                let support = weighted(view, &lambda);
                let (constant, gamma2_text) = (constant.to_string(), gamma2.to_string());
                (Claim::Margin { problem, constant, support, gamma2: gamma2_text }, gamma2)
            }
            _ => {
                let gamma2 =
                    Ratio::scaled(first + second, IBig::from(4) * &shortest.total, two, five)?;
                // Each side counts for itself, so each is brought to lowest terms for itself.
                let (above, below): (Vec<_>, Vec<_>) =
                    lambda.into_iter().partition(|(k, _)| view.signs[*k] > 0);
                let mut support = weighted(view, &above);
                support.extend(weighted(view, &below));
                support.sort_by_key(|entry| entry.row);
                (Claim::GeometricMargin { problem, support, gamma2: gamma2.to_string() }, gamma2)
            }
        })
    }
}

impl Hull {
    /// Some points as whole vectors.
    fn whole(&self, rows: &[usize]) -> AlikeRows {
        let constant = match self.shape {
            Shape::Augmented(constant) => Some(constant),
            _ => None,
        };
        self.view.alike_rows(rows, constant)
    }
}

/// All products of two lists of vectors, in machine words where they fit.
fn products(left: &[Vec<IBig>], right: &[Vec<IBig>]) -> Vec<Vec<IBig>> {
    let small = |rows: &[Vec<IBig>]| -> Option<Vec<Vec<i64>>> {
        let row = |row: &Vec<IBig>| row.iter().map(|x| i64::try_from(x).ok()).collect();
        rows.iter().map(row).collect()
    };
    let largest = |rows: &[Vec<i64>]| rows.iter().flatten().map(|x| x.unsigned_abs()).max();
    if let (Some(left), Some(right)) = (small(left), small(right)) {
        let most = |rows| u128::from(largest(rows).unwrap_or(0));
        let width = left.first().map_or(0, Vec::len) as u128;
        // At most 2^126, so that half the range is the least there can be.
        let room = most(&left).checked_mul(most(&right)).and_then(|x| x.checked_mul(width));
        if room.is_some_and(|room| room < 1 << 126) {
            let dot = |a: &[i64], b: &[i64]| -> IBig {
                IBig::from(
                    a.iter().zip(b).map(|(x, y)| i128::from(*x) * i128::from(*y)).sum::<i128>(),
                )
            };
            return left.iter().map(|a| right.iter().map(|b| dot(a, b)).collect()).collect();
        }
    }
    let dot = |a: &[IBig], b: &[IBig]| {
        a.iter().zip(b).fold(IBig::ZERO, |sum, (x, y)| match *x == IBig::ZERO {
            true => sum,
            false => sum + x * y,
        })
    };
    left.iter().map(|a| right.iter().map(|b| dot(a, b)).collect()).collect()
}
