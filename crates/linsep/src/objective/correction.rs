//! Rows on which the sums of a dual point are corrected to 0, where there is no penalty.
//!
//! The checker encloses the correction δ of A δ = −g, A the columns y z of as many rows as z has numbers. It is
//! small where A is far from singular, and α + δ stays in its domain where α is far from 0 and from c. So rows are
//! taken in the order of their curvature α (c − α)/c, each that is not nearly a combination of those before
//! it (modified Gram-Schmidt). The rows of the largest curvature have to be well apart; where they leave columns
//! open, as rare levels of a category do, any row serves that is independent at all.

use crate::loss::Loss;
use crate::objective::{Intercept, Objective};
use linsep_data::{Dataset, cancel};

/// How much of a vector has to be left beside those before it: of the first ones, so many for each column, and of all.
const WELL_APART: (f64, usize) = (0.1, 32);
const INDEPENDENT: f64 = 1e-8;

/// Why nothing is proved without a penalty.
pub(crate) const DEPENDENT: &str = "no dual point without a penalty was found: some columns are combinations of others, or some classes hardly meet; `drop` such columns, or use a penalty";

/// The rows of the data, rising; or why there are not enough.
pub fn rows(objective: &Objective, margins: &[f64]) -> Result<Vec<u64>, &'static str> {
    if objective.loss != Loss::Logistic || objective.intercept == Intercept::Penalised {
        return Err("without a penalty nothing bounds the objective from below here");
    }
    let curvature = |(margin, cost): (&f64, &f64)| {
        let tail = (-margin.abs()).exp();
        cost * tail / ((1.0 + tail) * (1.0 + tail))
    };
    let curvatures: Vec<f64> = margins.iter().zip(&objective.costs).map(curvature).collect();
    let mut by_curvature: Vec<u32> = (0..objective.len() as u32).collect();
    by_curvature
        .sort_by(|a, b| curvatures[*b as usize].total_cmp(&curvatures[*a as usize]).then(a.cmp(b)));
    let free = objective.intercept == Intercept::Free;
    let scaled = Scaled::new(&objective.data, &objective.rows, free);
    let vector = |i: &u32| scaled.row(objective.rows[*i as usize]);
    let chosen = independent(scaled.size(), &by_curvature, vector).ok_or(DEPENDENT)?;
    let mut rows: Vec<u64> =
        chosen.iter().map(|&i| u64::from(objective.rows[i as usize])).collect();
    rows.sort_unstable();
    Ok(rows)
}

/// As many candidates as there are dimensions, none nearly a combination of the others; the first are preferred.
pub(crate) fn independent<C: Copy>(
    order: usize,
    candidates: &[C],
    vector: impl Fn(&C) -> Vec<f64>,
) -> Option<Vec<C>> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let mut chosen = Vec::new();
    let first = candidates.len().min(WELL_APART.1 * order);
    for (tolerance, count) in [(WELL_APART.0, first), (INDEPENDENT, candidates.len())] {
        for candidate in &candidates[..count] {
            if basis.len() == order {
                return Some(chosen);
            }
            cancel::check();
            let mut z = vector(candidate);
            let length = norm(&z);
            for q in &basis {
                let part: f64 = q.iter().zip(&z).map(|(q, z)| q * z).sum();
                z.iter_mut().zip(q).for_each(|(z, q)| *z -= part * q);
            }
            let left = norm(&z);
            if left > tolerance * length && left > 0.0 {
                z.iter_mut().for_each(|z| *z /= left);
                basis.push(z);
                chosen.push(*candidate);
            }
        }
    }
    (chosen.len() == order).then_some(chosen)
}

/// Rows z with columns of the same size, and a 1 for a free bias at the end.
pub(crate) struct Scaled<'a> {
    data: &'a Dataset,
    /// One over the largest value of each column.
    factors: Vec<f64>,
    free: bool,
}

impl<'a> Scaled<'a> {
    pub(crate) fn new(data: &'a Dataset, rows: &[u32], free: bool) -> Scaled<'a> {
        let mut largest = vec![0.0f64; data.n_features()];
        for &row in rows {
            data.store().for_each_entry(row as usize, &mut |j, x| {
                largest[j as usize] = largest[j as usize].max(x.abs());
            });
        }
        let factor = |most: f64| if most > 0.0 { 1.0 / most } else { 1.0 };
        Scaled { data, factors: largest.into_iter().map(factor).collect(), free }
    }

    pub(crate) fn size(&self) -> usize {
        self.factors.len() + usize::from(self.free)
    }

    pub(crate) fn row(&self, row: u32) -> Vec<f64> {
        let mut z = vec![0.0; self.size()];
        self.data.store().for_each_entry(row as usize, &mut |j, x| {
            z[j as usize] = x * self.factors[j as usize];
        });
        z[self.factors.len()..].fill(1.0);
        z
    }
}

fn norm(z: &[f64]) -> f64 {
    z.iter().map(|z| z * z).sum::<f64>().sqrt()
}
