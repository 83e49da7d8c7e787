//! H = Λ + Σ h x xᵀ, the second derivative of an objective, as a matrix, and something close to its
//! inverse.
//!
//! Up to [`MOST_FACTORED`] columns the matrix is factorised: of all rows where they hold few values, so that
//! it costs no more than a few passes, else of a sample of them whose diagonal is brought to that of all.
//! More columns take the diagonal alone.

use super::gram::Gram;
use crate::algebra::{Factor, add_square};
use crate::loss::Loss;
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
/// Rows in which one of so many values is not 0 are squared by tiles.
pub(crate) const MOST_ZEROS: u64 = 8;

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

impl Objective {
    /// h of every position with its margin and its multiplier: the logistic loss has α (c − α)/c, without
    /// another exponential.
    pub(super) fn curvatures<'a>(
        &'a self,
        margins: &'a [f64],
        alpha: &'a [f64],
    ) -> impl Iterator<Item = f64> + 'a {
        let one = |((m, a), c): ((&f64, &f64), &f64)| match self.loss {
            // What a cost of 0 would make no number of is 0.
            Loss::Logistic => (a - a * (a / c)).max(0.0),
            _ => c * self.loss.curvature(*m),
        };
        margins.iter().zip(alpha).zip(&self.costs).map(one)
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
        let (factor, is_whole) = self.factor(self.is_cheap());
        let is_exact = is_whole && !factor.is_singular();
        (Inverse::Factored(factor), is_exact)
    }

    /// The same with the matrix of all rows, whatever it costs.
    pub(super) fn inverse_of_all(&self) -> Inverse {
        Inverse::Factored(self.factor(true).0)
    }

    /// The factors of it over all rows or a sample of them, whose h count for all, and whether it was all.
    fn factor(&self, takes_all: bool) -> (Factor, bool) {
        let width = self.store.width();
        let order = width + 1;
        let active: Vec<usize> =
            (0..self.rows.len()).filter(|&i| self.curvatures[i] > 0.0).collect();
        // Rows with few values are cheap enough to be taken more of.
        let values = self.store.nonzeros() as usize / self.store.rows().max(1);
        let cheap = (width / values.max(1)).clamp(1, 2);
        let wanted = (SAMPLE * cheap * order).max(4096);
        let every = if takes_all { 1 } else { (active.len() / wanted).max(1) };
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
    let held = sampled.store.held_values();
    // A matrix for each piece has to cost little beside its sums, most of all where it is fresh memory; and no
    // more pieces than 128 MB hold matrices of.
    let in_row = (held as usize / sampled.store.rows().max(1)).max(1);
    let values = (positions.len() * in_row * in_row / 12).min(1 << 26);
    let pieces = crate::objective::pieces(positions.len(), values, order * order);
    let is_full = held * MOST_ZEROS >= sampled.store.rows() as u64 * order as u64;
    let parts = with_rows!(sampled.store, rows => {
        parallel_map(pieces.len(), sampled.threads, |piece| {
            let mut matrix = vec![0.0; order * order];
            let mut tiles = is_full.then(|| Tiles::new(order));
            let (mut columns, mut entries) = (Vec::new(), Vec::new());
            for &i in &positions[pieces[piece].clone()] {
                rows.entries(sampled.rows[i] as usize, &mut columns, &mut entries);
                let h = times * sampled.curvatures[i];
                match &mut tiles {
                    Some(tiles) => tiles.add(h, &columns, &entries),
                    None => add_square(h, &columns, &entries, &mut matrix, order),
                }
            }
            if let Some(tiles) = tiles {
                tiles.put_below(&mut matrix);
            }
            matrix
        })
    });
    let mut parts = parts.into_iter();
    let mut matrix = parts.next().unwrap_or_else(|| vec![0.0; order * order]);
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

/// The same sums by tiles. Columns stand in reverse, so that of two the later one has the factor, as
/// in [`add_square`]: not a bit differs.
pub(crate) struct Tiles {
    gram: Gram,
    line: Vec<f64>,
    zeros: Vec<f64>,
}

impl Tiles {
    pub(crate) fn new(order: usize) -> Tiles {
        Tiles { gram: Gram::new(order), line: vec![0.0; order], zeros: vec![0.0; order] }
    }

    pub(crate) fn add(&mut self, h: f64, columns: &[u32], entries: &[f64]) {
        let last = self.line.len() - 1;
        self.line.fill(0.0);
        self.line[0] = 1.0;
        columns.iter().zip(entries).for_each(|(j, x)| self.line[last - *j as usize] = *x);
        self.gram.add(h, &self.line, &self.zeros);
    }

    /// Fills the triangle below the diagonal.
    pub(crate) fn put_below(self, matrix: &mut [f64]) {
        let order = self.line.len();
        let triangle = self.gram.finish();
        let places = (0..order).rev().flat_map(|j| (0..=j).rev().map(move |k| j * order + k));
        places.zip(triangle).for_each(|(place, sum)| matrix[place] = sum);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_give_the_same_bits_as_squares_of_rows() {
        let order = 38;
        let (mut tiles, mut plain) = (Tiles::new(order), vec![0.0; order * order]);
        for i in 0..600u32 {
            let columns: Vec<u32> =
                (0..order as u32 - 1).filter(|j| (i * 7 + j * j) % 3 > 0).collect();
            let value = |j: &u32| (f64::from(i * 31 + j * 17) * 0.37).sin();
            let entries: Vec<f64> = columns.iter().map(value).collect();
            let h = 0.1 + f64::from(i % 11) / 3.0;
            tiles.add(h, &columns, &entries);
            add_square(h, &columns, &entries, &mut plain, order);
        }
        let mut found = vec![0.0; order * order];
        tiles.put_below(&mut found);
        assert_eq!(found, plain);
    }
}
