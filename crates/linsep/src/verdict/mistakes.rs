//! How many corrections the perceptron can need at most, before it has made one.
//!
//! With z = ±(c, x), R = β = max |z| and γ the largest margin of a vector of length 1, the run
//! a ← a + z at every a·z ≤ 0 ends, in whatever order the rows come
//! (`docs/theory/theorems.md`, section 7):
//!
//! ```text
//! from 0          M ≤ R²/γ²                                    Novikoff 1962
//! from any a₁     k0 = |a₁ − αâ|²/β²,  α = β²/γ,  |â| = 1      lecture 000
//! rows of length 1, from 0     M ≤ 1/γ₁²                       lecture 002
//! ```
//!
//! k0 from 0 is R²/γ². All of it is rational but the last: γ₁ is the largest margin of the rows
//! z/|z|, whose lengths are roots. Any plane has a margin, so any plane gives a bound; the one used
//! here comes from floats, and its margin is rounded down. That last bound is about another run, the
//! one on rows of length 1.
//!
//! What is proved: R² and γ² are exact, γ² by a claim that the checker accepted; αâ = β² X/γ² with X
//! the blend of that claim, so k0 is exact for any start of binary64. The corrections that a run
//! really makes are counted in floats and are no claim.

use super::hull::{Hull, Shape, squares};
use super::ratio::{Ratio, powers};
use super::search::Effort;
use super::signed::{Signed, as_binary64};
use super::{Decision, Interval, Judge, Margin, bounds};
use crate::engine::perceptron::{Order, Perceptron};
use crate::model::Plane;
use crate::run::{BinaryLearner, Limits, Stop, Task, Training, drive};
use dashu_int::IBig;
use linsep_data::scale::Scaling;
use linsep_proof::Claim;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Bounds on the number of corrections of a run on raw rows.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MistakeBounds {
    /// c of the rows ±(c, x).
    pub constant: u64,
    /// R² = β² = max z·z.
    pub radius2: Ratio,
    /// R, rounded down and up.
    pub radius: Interval,
    /// R²/γ², which is also k0 from 0; a run makes at most its whole part of corrections.
    pub from_zero: Ratio,
    /// α = β²/γ of the proof by distance, rounded down and up.
    pub alpha: Interval,
    /// 1/γ₁², rounded up, for rows (1, x) divided by their lengths; `None` if floats cannot hold it.
    pub unit_sphere: Option<f64>,
}

/// What a run did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Corrections {
    /// Corrections it made.
    pub corrections: u64,
    /// Passes over the rows it took.
    pub epochs: u64,
    /// Whether the last pass was without mistakes.
    pub ended: bool,
}

impl Judge {
    /// The bounds that follow from an augmented margin of a question.
    pub fn mistake_bounds(
        &self,
        decision: &Decision,
        margin: &Margin,
        stop: &dyn Fn() -> bool,
    ) -> Option<MistakeBounds> {
        let view = self.view_of_separable(decision)?;
        let constant = constant_of(margin)?;
        let radius2 = longest_square(&view, constant, self.threads)?;
        let from_zero = radius2.over(&margin.gamma2)?;
        let alpha = radius2.times(&from_zero).root();
        let effort = Effort { threads: self.threads, stop, clock: self.clock };
        // A row of length at most R with margin γ has at least the margin γ/R when its length is 1.
        let known = from_zero.bounds().upper.filter(|_| constant == 1);
        let planes = unit_sphere(&view, decision, &effort);
        let unit_sphere = known.into_iter().chain(planes).reduce(f64::min);
        Some(MistakeBounds {
            constant,
            radius: radius2.root(),
            radius2,
            from_zero,
            alpha,
            unit_sphere,
        })
    }

    /// k0 = |a₁ − αâ|²/β²: the bound for a run that starts at a plane of raw columns.
    pub fn bound_from(
        &self,
        decision: &Decision,
        margin: &Margin,
        bounds: &MistakeBounds,
        start: &Plane,
    ) -> Option<Ratio> {
        let view = self.view_of_separable(decision)?;
        let (width, c) = (view.data.n_features(), IBig::from(bounds.constant));
        let finite = start.bias.is_finite() && start.weights.iter().all(|w| w.is_finite());
        if start.weights.len() != width || !finite {
            return None;
        }
        // c a₁ = (b, c w) in units of 2^-1200, which no binary64 is finer than.
        let whole = |x: f64| {
            let exact = as_binary64(x);
            exact.m << (exact.two + 1200) as usize
        };
        let a: Vec<IBig> = std::iter::once(whole(start.bias))
            .chain(start.weights.iter().map(|&w| whole(w) * &c))
            .collect();
        let (mut rows, mut lambda) = (Vec::new(), Vec::new());
        for entry in margin.support() {
            rows.push(view.rows.iter().position(|row| u64::from(*row) == entry.row)?);
            lambda.push(entry.lambda.parse::<IBig>().ok()?);
        }
        let alike = view.alike_rows(&rows, Some(bounds.constant));
        let total = lambda.iter().fold(IBig::ZERO, |sum, l| sum + l);
        let (mut square, mut product) = (IBig::ZERO, IBig::ZERO);
        a.iter().for_each(|a| square += a * a);
        for (row, l) in alike.rows.iter().zip(&lambda) {
            let columns = alike.columns.iter().map(|column| *column as usize + 1);
            for (at, z) in std::iter::once(0).chain(columns).zip(row) {
                product += &a[at] * z * l;
            }
        }
        // |a₁|²/β² + β²/γ² − 2 a₁·X/γ².
        let positive = Ratio::scaled(square, &c * &c, -2400, 0)?;
        let positive = positive.over(&bounds.radius2)?.plus(&bounds.from_zero);
        let negative = product < IBig::ZERO;
        let size = if negative { -product } else { product } * IBig::from(2);
        let (up, down) = powers(alike.two, alike.five);
        let mixed = Ratio::scaled(size * up, c * total * down, -1200, 0)?.over(&margin.gamma2)?;
        if negative { Some(positive.plus(&mixed)) } else { positive.minus(&mixed) }
    }

    /// The single-sample perceptron on the rows of a question: from 0, in the order of the file, with
    /// η = 1 on raw columns and the constant 1, at most `epochs` passes. `None` without a bias, with
    /// row weights, or if the sides are not one class against others.
    pub fn corrections(
        &self,
        decision: &Decision,
        epochs: u64,
        stop: &dyn Fn() -> bool,
    ) -> Option<Corrections> {
        let problem = decision.problem.as_ref()?;
        let view = Signed::new(Arc::clone(&self.data), problem.clone(), self.bias);
        let class =
            self.data.classes().iter().position(|class| problem.positive == [class.clone()])?;
        let plain = |(&row, &sign): (&u32, &i8)| {
            let own = self.data.class_of(row as usize) as usize == class;
            own == (sign > 0) && self.data.weight(row as usize) == 1.0
        };
        if !self.bias || !view.rows.iter().zip(&view.signs).all(plain) {
            return None;
        }
        let task = Task { rows: Some(view.rows.into()), ..Task::new(Arc::clone(&self.data)) };
        let learner =
            Perceptron { order: Order::Cyclic, scale: Scaling::None, ..Perceptron::default() };
        let mut run = learner.start_binary(&task, class as u32).ok()?;
        let limits = Limits { epochs: Some(epochs), updates: None };
        let mut watch = |_: &dyn Training| match stop() {
            true => ControlFlow::Break(Stop::Interrupted),
            false => ControlFlow::Continue(()),
        };
        let ended = drive(run.as_mut(), &limits, &mut watch) == Stop::Finished;
        let progress = run.progress();
        Some(Corrections { corrections: progress.updates, epochs: progress.epochs, ended })
    }
}

fn constant_of(margin: &Margin) -> Option<u64> {
    match &margin.claim {
        Claim::Margin { constant, .. } => constant.parse().ok(),
        _ => None,
    }
}

/// max z·z, exactly: floats leave the few rows that can be the longest.
fn longest_square(view: &Signed, constant: u64, threads: usize) -> Option<Ratio> {
    const BLOCK: usize = 1000;
    let squares = squares(view, constant as f64, threads);
    let most = squares.iter().copied().fold(0.0, f64::max);
    // Twice the rounding of a sum of positive terms, and of the numbers themselves.
    let terms = 2.0 * view.dimension() as f64 + 32.0;
    let least = most * (1.0 - terms * f64::EPSILON);
    if !most.is_finite() || most < 1e-280 {
        return None;
    }
    let longest: Vec<usize> = (0..squares.len()).filter(|&k| squares[k] >= least).collect();
    let of_block = |rows: &[usize]| {
        let alike = view.alike_rows(rows, Some(constant));
        let square = |row: &Vec<IBig>| row.iter().fold(IBig::ZERO, |sum, x| sum + x * x);
        let square = alike.rows.iter().map(square).max()?;
        Ratio::scaled(square, IBig::ONE, 2 * alike.two, 2 * alike.five)
    };
    longest.chunks(BLOCK).map(of_block).max()?
}

/// The least 1/γ₁² of the planes at hand, rounded up.
fn unit_sphere(view: &Arc<Signed>, decision: &Decision, effort: &Effort<'_>) -> Option<f64> {
    let from_hull = || {
        let hull = Hull::new(Arc::clone(view), Shape::UnitSphere, effort.threads)?;
        let nearest = hull.nearest(&decision.blend_rows(), effort)?;
        Some((nearest.weights, nearest.bias))
    };
    let planes = [from_hull(), bounds::plane_of(view, &decision.claim)];
    let margin = |(weights, bias): (Vec<f64>, f64)| {
        bounds::least(view, &weights, bias, true, effort.threads)
    };
    let margin = planes.into_iter().flatten().filter_map(margin).reduce(f64::max)?;
    let bound = 1.0 / margin / margin * (1.0 + 4.0 * f64::EPSILON);
    bound.is_finite().then_some(bound)
}
