//! Bounds on the largest margin of a plane of unit length (w, b), by floats that are rounded outward.
//!
//! A plane has a margin, which is a lower bound; a blend Σ λ z / Σ λ with λ ≥ 0 has a length, which
//! is an upper bound, because z·(w, b) ≥ γ for every row gives γ ≤ Σ λ z·(w, b) / Σ λ ≤ |Σ λ z / Σ λ|.
//! Of the distance, where |w| = 1 and b is free, the bounds are the least distance of a row, and half the
//! way between a blend of one side and a blend of the other.

use super::proposal::binary64;
use super::signed::Signed;
use crate::model::Plane;
use linsep_data::parallel::parallel_map;
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
    over_length(least_score(view, weights, bias, on_sphere, threads), weights, bias)
}

/// The distance of a plane from the row that is nearest to it, rounded down. `None` if it is not above 0:
/// some row may be on the other side.
pub(crate) fn distance(view: &Signed, plane: &Plane, threads: usize) -> Option<f64> {
    let least = least_score(view, &plane.weights, plane.bias, false, threads);
    over_length(least, &plane.weights, 0.0)
}

/// A score over the length of (w, b), rounded down.
fn over_length(score: f64, weights: &[f64], bias: f64) -> Option<f64> {
    let square: f64 = weights.iter().map(|w| w * w).sum::<f64>() + bias * bias;
    let length = square.sqrt() * (1.0 + (weights.len() as f64 + 8.0) * f64::EPSILON);
    let lower = score / length * (1.0 - 4.0 * f64::EPSILON);
    // Squares that are lost below the range of binary64 would make the length too short.
    (lower.is_finite() && lower > 0.0 && square > 1e-280).then_some(lower)
}

/// The least z·(w, b) of all rows, rounded down.
///
/// Of each block of rows the plain scores say which rows may be the least: those within the errors that any score
/// can have. Only these are added up again with a bound of their own.
fn least_score(view: &Signed, weights: &[f64], bias: f64, on_sphere: bool, threads: usize) -> f64 {
    const BLOCK: usize = 4096;
    let error = score_error(view, weights, bias).filter(|_| !on_sphere);
    let least = parallel_map(view.len().div_ceil(BLOCK), threads, |block| {
        let rows = block * BLOCK..((block + 1) * BLOCK).min(view.len());
        let mut scratch = Vec::new();
        let mut bounded = |k| bounded_score(view, k, weights, bias, on_sphere, &mut scratch);
        let Some(error) = error else {
            return rows.map(bounded).fold(f64::INFINITY, f64::min);
        };
        let plain: Vec<f64> = rows.clone().map(|k| view.margin(k, weights, bias)).collect();
        // A plain score and a bound are off by an error each, a bound is lowered by another; so it goes for the
        // row with the least bound and for the one with the least plain score.
        let reach = plain.iter().copied().fold(f64::INFINITY, f64::min) + 8.0 * error;
        let near = rows.zip(&plain).filter(|(_, plain)| **plain <= reach);
        near.map(|(k, _)| bounded(k)).fold(f64::INFINITY, f64::min)
    });
    least.into_iter().fold(f64::INFINITY, f64::min)
}

/// What the rounding of a score can be in any row, where the store knows how large values are.
fn score_error(view: &Signed, weights: &[f64], bias: f64) -> Option<f64> {
    let store = view.data.store();
    let size = match store.largest_by_column() {
        Some(largest) => largest.iter().zip(weights).map(|(x, w)| x * w.abs()).sum::<f64>(),
        None => store.largest() * weights.iter().map(|w| w.abs()).sum::<f64>(),
    };
    let error = (weights.len() as f64 + 16.0) * f64::EPSILON * (bias.abs() + size);
    error.is_finite().then_some(error)
}

/// z·(w, b) of a row, rounded down by a bound of its own.
fn bounded_score(
    view: &Signed,
    k: usize,
    weights: &[f64],
    bias: f64,
    on_sphere: bool,
    scratch: &mut Vec<f64>,
) -> f64 {
    let (mut sum, mut size, mut terms) = (bias, bias.abs(), 8.0);
    let mut square = if view.bias { 1.0 } else { 0.0 };
    view.for_each(k, scratch, |j, x| {
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
}

/// Half the way between a blend of one side and a blend of the other, rounded up: no plane stays farther
/// from every row. `None` if one side has no share.
pub(crate) fn half_way(view: &Signed, blend: &[(usize, f64)]) -> Option<f64> {
    let mut totals = [0.0; 2];
    let side = |k: usize| usize::from(view.signs[k] < 0);
    let taken = || blend.iter().filter(|(_, share)| *share > 0.0);
    taken().for_each(|&(k, share)| totals[side(k)] += share);
    if !totals.iter().all(|total| *total > 0.0 && total.is_finite()) {
        return None;
    }
    let mut sums = vec![(0.0, 0.0); view.data.n_features()];
    let mut scratch = Vec::new();
    for &(k, share) in taken() {
        let (sign, share) = (f64::from(view.signs[k]), share / totals[side(k)]);
        view.for_each(k, &mut scratch, |j, x| {
            let (sum, size) = &mut sums[j as usize];
            *sum += sign * share * x;
            *size += share * x.abs();
        });
    }
    // The shares of a side add up to 1 but for their roundings, which count like those of the sum.
    let slack = (2.0 * blend.len() as f64 + 12.0) * f64::EPSILON;
    let square: f64 = sums.iter().map(|(s, a)| (s.abs() + slack * a).powi(2)).sum();
    let roundings = sums.len() as f64 + 16.0;
    let upper = square.sqrt() / 2.0 * (1.0 + roundings * f64::EPSILON);
    (upper.is_finite() && square > 1e-280).then_some(upper)
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
