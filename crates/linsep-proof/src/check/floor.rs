//! A lower bound of the eigenvalues of M, from some of the rows.
//!
//! In the coordinates of the module `stationary` the rows of B are y = f^½ (1/√Σf, (x − c)/s). The sum of
//! y yᵀ over some rows is at most BᵀB, so its least eigenvalue, with Λ, is a lower bound; a few rows for each
//! column are enough.
//!
//! **Rounding.** The sum M̃ over m rows is off by at most γ_{m+24} in each element, since the norm of every
//! column is at most 1, so by d γ_{m+24} as a matrix. If the Cholesky factorisation of M̃ − c runs to its end
//! in binary64, all eigenvalues of M̃ are above c − 2 γ_{d+2} tr M̃ (Rump, Verification of positive
//! definiteness, BIT 46, 2006). Values that differ from the stored ones by a share o, and centres by a
//! rounding, change the columns of B by at most (o + 4u) X_j/s_j, and no singular value by more than the
//! norm of that.

use super::Checker;
use super::approach::UNIT;
use super::fitted::Fitted;
use super::stationary::gamma;
use crate::double::Double;

/// More columns than this are not worth a matrix.
const MOST_COLUMNS: usize = 512;

/// The coordinates in which M is meant.
pub(super) struct Coordinates<'a> {
    /// The factor of a row of each class.
    pub(super) factors: &'a [f64],
    /// Σ f if there is a constant column, else 0.
    pub(super) constant: f64,
    pub(super) centres: &'a [Vec<Double>],
    pub(super) scales: &'a [f64],
    pub(super) sizes: &'a [f64],
    pub(super) keep: f64,
    pub(super) ridge: f64,
    /// How far a stored value may be from the one that it stands for, as a share of it.
    pub(super) off: f64,
}

/// A number that no eigenvalue of M is below, on the columns that are not 0 altogether; 0 if none is shown.
pub(super) fn floor(
    checker: &Checker<'_>,
    fitted: &Fitted<'_>,
    coordinates: &Coordinates<'_>,
) -> f64 {
    let used: Vec<usize> =
        (0..coordinates.sizes.len()).filter(|&j| coordinates.sizes[j] > 0.0).collect();
    let has_constant = usize::from(coordinates.constant > 0.0);
    let order = used.len() + has_constant;
    if order == 0 || order > MOST_COLUMNS {
        return 0.0;
    }
    let (matrix, rows) = sum(checker, fitted, coordinates, &used);
    let trace: f64 = (0..order).map(|j| matrix[j * order + j]).sum();
    let d = order as f64;
    let lost = 1.1 * d * gamma(rows as f64 + 24.0) + 4.0 * gamma(d + 2.0) * (trace + d);
    let largest = |share: f64, j: &usize| share.max(coordinates.sizes[*j] / coordinates.scales[*j]);
    let moved = 1.1 * (coordinates.off + 4.0 * UNIT) * used.iter().fold(1.0, largest) * d.sqrt();
    // 2^-k, the least k that runs to its end.
    let runs = |k: i32| is_positive(&matrix, order, 2f64.powi(-k));
    let (mut low, mut high) = (0, 40);
    if !runs(high) {
        return 0.0;
    }
    while high - low > 1 {
        let middle = (low + high) / 2;
        if runs(middle) { high = middle } else { low = middle }
    }
    let shown = 2f64.powi(-high) - lost;
    let root = shown.max(0.0).sqrt() - moved;
    if root > 0.0 { 0.99 * root * root } else { 0.0 }
}

/// The sum of y yᵀ over some rows with Λ, its lower triangle, and how many rows these are.
fn sum(
    checker: &Checker<'_>,
    fitted: &Fitted<'_>,
    coordinates: &Coordinates<'_>,
    used: &[usize],
) -> (Vec<f64>, u64) {
    let has_constant = usize::from(coordinates.constant > 0.0);
    let order = used.len() + has_constant;
    let mut matrix = vec![0.0; order * order];
    for (at, &j) in used.iter().enumerate() {
        let place = at + has_constant;
        matrix[place * order + place] =
            coordinates.ridge / (coordinates.scales[j] * coordinates.scales[j]);
    }
    let step = (checker.rows.len() / (4 * order as u64 + 1024)).max(1);
    let mut values = vec![0.0; coordinates.scales.len()];
    let mut y = vec![0.0; order];
    let mut rows = 0;
    for row in (0..checker.rows.len()).step_by(step as usize) {
        let Some(class) = fitted.class(row) else { continue };
        values.fill(0.0);
        checker.floats(row, &mut |j, x| values[j as usize] = x);
        let root =
            (coordinates.keep * coordinates.factors[class] * checker.rows.weight(row)).sqrt();
        if has_constant == 1 {
            y[0] = root / coordinates.constant.sqrt();
        }
        for (y, &j) in y[has_constant..].iter_mut().zip(used) {
            *y = root
                * ((values[j] - coordinates.centres[class][j].value()) / coordinates.scales[j]);
        }
        for (j, first) in y.iter().enumerate() {
            let line = &mut matrix[j * order..][..j + 1];
            line.iter_mut().zip(&y).for_each(|(sum, second)| *sum += first * second);
        }
        rows += 1;
    }
    (matrix, rows)
}

/// Whether the Cholesky factorisation of a matrix less a multiple of the identity runs to its end.
fn is_positive(matrix: &[f64], order: usize, less: f64) -> bool {
    let mut lower = matrix.to_vec();
    for j in 0..order {
        let (above, below) = lower.split_at_mut(j * order);
        let line = &mut below[..order];
        line[j] -= less;
        for k in 0..j {
            let other = &above[k * order..][..k + 1];
            let sum: f64 = line[..k].iter().zip(other).map(|(a, b)| a * b).sum();
            line[k] = (line[k] - sum) / other[k];
        }
        let sum: f64 = line[..j].iter().map(|a| a * a).sum();
        let square = line[j] - sum;
        if square.is_nan() || square <= 0.0 {
            return false;
        }
        line[j] = square.sqrt();
    }
    true
}
