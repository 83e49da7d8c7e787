//! H = Λ + Σ h x xᵀ, the second derivative of an objective, as a matrix, and something close to its
//! inverse.
//!
//! Up to [`MOST_FACTORED`] columns the matrix is factorised: of all rows where they hold few values, so that
//! it costs no more than a few passes, else of a sample of them whose diagonal is brought to that of all.
//! More columns take the diagonal alone.

use crate::algebra::{Factor, add_square};
use crate::model::Plane;
use crate::objective::{Intercept, Objective, Penalty, add};
use linsep_data::matrix::{CodeRows, Store, with_rows};
use linsep_data::parallel::parallel_map;

/// More columns than this are preconditioned by the diagonal alone.
pub const MOST_FACTORED: usize = 1536;
/// Rows for each column in the sample whose second derivatives are factorised.
const SAMPLE: usize = 4;
/// Passes over the rows that a matrix of all of them may cost.
const CHEAP: f64 = 8.0;

/// Something close to the inverse of H.
pub(super) enum Inverse {
    Factored(Factor),
    Diagonal(Plane),
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

    /// Whether the matrix of all rows costs no more than a few passes over them: with v values in a row
    /// there are v²/2 products to add and D³/3 for the factors, and a pass has 2 v.
    pub(super) fn is_cheap(&self) -> bool {
        let (rows, width) = (self.rows.len() as f64, self.store.width() as f64);
        let values = (self.store.held_values() as f64 / self.store.rows().max(1) as f64).max(1.0);
        let passes = values / 4.0 + width.powi(3) / (6.0 * rows * values);
        self.store.width() <= MOST_FACTORED && passes <= CHEAP
    }

    /// Something close to the inverse of Λ + Σ h x xᵀ, and whether it is the inverse itself but for
    /// rounding.
    pub(super) fn inverse(&self) -> (Inverse, bool) {
        if self.store.width() > MOST_FACTORED {
            return (Inverse::Diagonal(self.penalised_diagonal()), false);
        }
        let (factor, is_whole) = self.factor();
        let is_exact = is_whole && !factor.is_singular();
        (Inverse::Factored(factor), is_exact)
    }

    /// The factors of it over all rows or a sample of them, whose h count for all, and whether it was all.
    fn factor(&self) -> (Factor, bool) {
        let width = self.store.width();
        let order = width + 1;
        let active: Vec<usize> =
            (0..self.rows.len()).filter(|&i| self.curvatures[i] > 0.0).collect();
        // Rows with few values are cheap enough to be taken more of.
        let values = self.store.nonzeros() as usize / self.store.rows().max(1);
        let cheap = (width / values.max(1)).clamp(1, 2);
        let wanted = (SAMPLE * cheap * order).max(4096);
        let every = if self.is_cheap() { 1 } else { (active.len() / wanted).max(1) };
        let sample: Vec<usize> = active.iter().copied().step_by(every).collect();
        let mut matrix = second_derivatives(self, &sample, every as f64);
        if every > 1 {
            fit_diagonal(&mut matrix, &self.diagonal());
        }
        self.penalty.add_curvature(self.intercept, &mut matrix, order);
        (Factor::new(&matrix, order), every == 1)
    }

    /// The diagonal of Σ h x xᵀ.
    fn diagonal(&self) -> Plane {
        let width = self.store.width();
        let values = self.store.held_values() as usize;
        let pieces = crate::objective::pieces(self.rows.len(), values, width);
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
    let pieces = crate::objective::pieces(positions.len(), values, order * order / 4);
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
