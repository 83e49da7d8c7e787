//! Bounds on the largest margin of a plane of unit length (w, b), by floats that are rounded outward.
//!
//! A plane has a margin, which is a lower bound; a blend Σ λ z / Σ λ with λ ≥ 0 has a length, which
//! is an upper bound, because z·(w, b) ≥ γ for every row gives γ ≤ Σ λ z·(w, b) / Σ λ ≤ |Σ λ z / Σ λ|.

use super::proposal::binary64;
use super::signed::Signed;
use crate::parallel::parallel_map;
use linsep_proof::Claim;

/// The margin of the plane of a claim, rounded down; `None` for planes that are not binary64.
pub(crate) fn lower(view: &Signed, claim: &Claim, threads: usize) -> Option<f64> {
    let (weights, bias) = plane_of(view, claim)?;
    least(view, &weights, bias, false, threads)
}

/// The plane of a claim, if it is of binary64.
pub(crate) fn plane_of(view: &Signed, claim: &Claim) -> Option<(Vec<f64>, f64)> {
    let Claim::Separable { plane, .. } = claim else { return None };
    binary64(plane, view.data.n_features())
}

/// The margin of a plane, rounded down; with every row divided by its own length if `on_sphere`.
/// `None` if it is not above 0.
pub(crate) fn least(
    view: &Signed,
    weights: &[f64],
    bias: f64,
    on_sphere: bool,
    threads: usize,
) -> Option<f64> {
    let square: f64 = weights.iter().map(|w| w * w).sum::<f64>() + bias * bias;
    let length = square.sqrt() * (1.0 + (weights.len() as f64 + 8.0) * f64::EPSILON);
    let constant = if view.bias { 1.0 } else { 0.0 };
    const BLOCK: usize = 4096;
    let least = parallel_map(view.len().div_ceil(BLOCK), threads, |block| {
        let rows = block * BLOCK..((block + 1) * BLOCK).min(view.len());
        let mut scratch = Vec::new();
        let margin = |k: usize| {
            let (mut sum, mut size, mut terms) = (bias, bias.abs(), 8.0);
            let mut square = constant;
            view.for_each(k, &mut scratch, |j, x| {
                let product = x * weights[j as usize];
                sum += product;
                size += product.abs();
                square += x * x;
                terms += 1.0;
            });
            let margin = f64::from(view.signs[k]) * sum - terms * f64::EPSILON * size;
            match on_sphere {
                // Only a positive margin is of use, and a longer row makes it smaller.
                true => margin / (square.sqrt() * (1.0 + terms * f64::EPSILON)),
                false => margin,
            }
        };
        rows.map(margin).fold(f64::INFINITY, f64::min)
    });
    let least = least.into_iter().fold(f64::INFINITY, f64::min);
    let lower = least / length * (1.0 - 4.0 * f64::EPSILON);
    (lower.is_finite() && lower > 0.0).then_some(lower)
}

/// The length of a blend of rows, rounded up.
pub(crate) fn upper(view: &Signed, blend: &[(usize, f64)]) -> Option<f64> {
    let shift = usize::from(view.bias);
    let mut sum = vec![0.0; view.dimension()];
    let mut size = vec![0.0; view.dimension()];
    let (mut total, mut scratch) = (0.0, Vec::new());
    for &(k, share) in blend.iter().filter(|(_, share)| *share > 0.0) {
        let signed = f64::from(view.signs[k]) * share;
        total += share;
        if view.bias {
            sum[0] += signed;
            size[0] += share;
        }
        view.for_each(k, &mut scratch, |j, x| {
            sum[j as usize + shift] += signed * x;
            size[j as usize + shift] += share * x.abs();
        });
    }
    let slack = (blend.len() as f64 + 8.0) * f64::EPSILON;
    let square: f64 = sum.iter().zip(&size).map(|(s, a)| s.abs() + slack * a).map(|x| x * x).sum();
    let roundings = (view.dimension() + blend.len()) as f64 + 16.0;
    let upper = square.sqrt() / total * (1.0 + roundings * f64::EPSILON);
    upper.is_finite().then_some(upper)
}
