//! Rows on which the sums of a dual point are corrected to 0, where there is no penalty.
//!
//! The checker encloses the correction δ of A δ = −g, A the columns y z of as many rows as z has numbers. It is
//! small where A is far from singular, and α + δ stays in its domain where α is far from 0 and from c. So rows are
//! taken in the order of their curvature α (c − α)/c, each that is not nearly a combination of those before
//! it (modified Gram-Schmidt). The rows of the largest curvature have to be well apart; where they leave columns
//! open, as rare levels of a category do, any row serves that is independent at all.

use crate::loss::Loss;
use crate::objective::{Intercept, Objective};

/// How much of a row has to be left beside the rows before it: of the first rows, so many for each column, and of all.
const WELL_APART: (f64, usize) = (0.1, 32);
const INDEPENDENT: f64 = 1e-8;

/// The rows of the data, rising; `None` if there are not enough independent ones.
pub fn rows(objective: &Objective, margins: &[f64]) -> Option<Vec<u64>> {
    if objective.loss != Loss::Logistic || objective.intercept == Intercept::Penalised {
        return None;
    }
    let width = objective.width();
    let free = objective.intercept == Intercept::Free;
    let order = width + usize::from(free);
    let curvature = |(margin, cost): (&f64, &f64)| {
        let tail = (-margin.abs()).exp();
        cost * tail / ((1.0 + tail) * (1.0 + tail))
    };
    let curvatures: Vec<f64> = margins.iter().zip(&objective.costs).map(curvature).collect();
    let mut by_curvature: Vec<u32> = (0..objective.len() as u32).collect();
    by_curvature
        .sort_by(|a, b| curvatures[*b as usize].total_cmp(&curvatures[*a as usize]).then(a.cmp(b)));
    let scale = scales(objective, width);
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let mut chosen: Vec<u32> = Vec::new();
    let first = by_curvature.len().min(WELL_APART.1 * order);
    for (tolerance, candidates) in [(WELL_APART.0, first), (INDEPENDENT, by_curvature.len())] {
        for &i in &by_curvature[..candidates] {
            if basis.len() == order {
                break;
            }
            let mut z = vec![0.0; order];
            objective.data.store().for_each_entry(
                objective.rows[i as usize] as usize,
                &mut |j, x| {
                    z[j as usize] = x * scale[j as usize];
                },
            );
            if free {
                z[width] = 1.0;
            }
            let length = norm(&z);
            for q in &basis {
                let part: f64 = q.iter().zip(&z).map(|(q, z)| q * z).sum();
                z.iter_mut().zip(q).for_each(|(z, q)| *z -= part * q);
            }
            let left = norm(&z);
            if left > tolerance * length && left > 0.0 {
                z.iter_mut().for_each(|z| *z /= left);
                basis.push(z);
                chosen.push(i);
            }
        }
    }
    (chosen.len() == order).then(|| {
        let mut rows: Vec<u64> =
            chosen.iter().map(|&i| u64::from(objective.rows[i as usize])).collect();
        rows.sort_unstable();
        rows
    })
}

/// One over the largest value of each column.
fn scales(objective: &Objective, width: usize) -> Vec<f64> {
    let mut largest = vec![0.0f64; width];
    for &row in &objective.rows {
        objective.data.store().for_each_entry(row as usize, &mut |j, x| {
            largest[j as usize] = largest[j as usize].max(x.abs());
        });
    }
    largest.into_iter().map(|most| if most > 0.0 { 1.0 / most } else { 1.0 }).collect()
}

fn norm(z: &[f64]) -> f64 {
    z.iter().map(|z| z * z).sum::<f64>().sqrt()
}
