//! Without a penalty: a dual point whose sums over the columns are 0, exactly.
//!
//! Without a penalty r*(g) is 0 for g = 0 and infinite elsewhere, so a dual point bounds the objective only if
//!
//! ```text
//! g(α) = Σ α y z = 0    for z = (1, x), or x without an intercept
//! ```
//!
//! holds for real numbers. The slopes of the losses at the plane nearly do. The claim names as many correction
//! rows S as there are columns in z. With A the columns y z of S, the equation A δ = −g(α) has one solution if A
//! is regular, and α + δ on S is the point. It is never computed; it is enclosed. For any matrix R,
//!
//! ```text
//! |I − R A|∞ ≤ β < 1   implies that A is regular and |δ|∞ ≤ |R g|∞ / (1 − β)
//! ```
//!
//! (Krawczyk; Rump, Verification methods, 2010, section 10). R is an approximate inverse in binary64, and every
//! sum is bounded outward: a product of n terms errs by γ_n |R||A|, a decimal differs from its binary64 by
//! u, and g comes with the bounds of its careful sums. Columns are multiplied by powers of 2, which changes
//! neither the equations nor any rounding.
//!
//! Then 0 ≤ α ± ε ≤ c on S, and Σ ψ takes on S the smaller of its values at both ends, ψ being concave.
//!
//! With planes for each class, shares move between two classes of a row instead (`joint`); the equations and
//! their enclosure are the same.

use super::penalty::UNIT;
use crate::check::Checked;

/// The most columns whose sums are corrected.
pub(super) const MOST_ORDER: usize = 2000;

/// How far the exact correction of any multiplier can be from 0.
///
/// `rows` has the rows y z of S, one after the other, with a number for each column; `sums` is g with the bounds of
/// its errors; `roundings` are those of reading a number.
pub(super) fn reach(mut rows: Vec<f64>, sums: &[(f64, f64)], roundings: f64) -> Checked<f64> {
    let order = sums.len();
    if rows.len() != order * order {
        return Err(format!("there are not as many correction rows as the {order} columns need"));
    }
    // Powers of 2 make the columns alike.
    let mut factors = vec![1.0; order];
    for (column, factor) in factors.iter_mut().enumerate() {
        let largest =
            (0..order).fold(0.0, |most: f64, row| most.max(rows[row * order + column].abs()));
        if !(largest > 1e-280 && largest < 1e280) {
            return Err(format!("the correction rows leave column {column} open"));
        }
        *factor = 2f64.powi(-(largest.log2().floor() as i32));
        (0..order).for_each(|row| rows[row * order + column] *= *factor);
    }
    // A has the correction rows as its columns.
    let a = |row: usize, column: usize| rows[column * order + row];
    let inverse = inverse(order, a).ok_or("the correction rows are not independent")?;
    let n = order as f64;
    // γ_{n+2} and the reading of A, with room for the rounding of the bounds themselves.
    let unit = (n + 4.0 + roundings) * UNIT * 1.01;
    let (mut beta, mut length) = (0.0f64, 0.0f64);
    for (own, line) in inverse.chunks_exact(order).enumerate() {
        let mut row_sum = 0.0;
        for column in 0..order {
            let (mut sum, mut size) = (0.0, 0.0);
            for (k, r) in line.iter().enumerate() {
                let product = r * a(k, column);
                sum += product;
                size += product.abs();
            }
            let identity = f64::from(u8::from(own == column));
            row_sum += (identity - sum).abs() + unit * (size + 1.0);
        }
        beta = beta.max(row_sum * (1.0 + 2.0 * n * UNIT));
        let far: f64 = line
            .iter()
            .zip(sums)
            .zip(&factors)
            .map(|((r, (sum, error)), factor)| r.abs() * ((sum.abs() + error) * factor))
            .sum();
        length = length.max(far * (1.0 + 2.0 * (n + 4.0) * UNIT));
    }
    let is_regular = beta < 0.5;
    if !is_regular {
        return Err("the correction rows are too nearly dependent".into());
    }
    let reach = length / (1.0 - beta) * (1.0 + 8.0 * UNIT);
    if reach.is_finite() { Ok(reach) } else { Err("the correction is out of range".into()) }
}

/// An approximate inverse by elimination with row exchanges; any matrix would do, a good one proves more.
fn inverse(order: usize, a: impl Fn(usize, usize) -> f64) -> Option<Vec<f64>> {
    let width = 2 * order;
    let mut work = vec![0.0; order * width];
    for row in 0..order {
        for column in 0..order {
            work[row * width + column] = a(row, column);
        }
        work[row * width + order + row] = 1.0;
    }
    for step in 0..order {
        let size = |row: &usize| work[row * width + step].abs();
        let pivot = (step..order).max_by(|a, b| size(a).total_cmp(&size(b)))?;
        if size(&pivot).is_nan() || size(&pivot) == 0.0 {
            return None;
        }
        if pivot != step {
            for column in step..width {
                work.swap(step * width + column, pivot * width + column);
            }
        }
        let (before, rest) = work.split_at_mut(step * width);
        let (own, after) = rest.split_at_mut(width);
        let inverse = 1.0 / own[step];
        own[step..].iter_mut().for_each(|x| *x *= inverse);
        for line in before.chunks_exact_mut(width).chain(after.chunks_exact_mut(width)) {
            let factor = line[step];
            if factor != 0.0 {
                let pairs = line[step..].iter_mut().zip(&own[step..]);
                pairs.for_each(|(x, own)| *x -= factor * own);
            }
        }
    }
    let finite = work.iter().all(|x| x.is_finite());
    finite.then(|| work.chunks_exact(width).flat_map(|line| line[order..].to_vec()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exact_correction_is_within_the_reach() {
        // A = [[2, 1], [1, 3]], g = (0.5, -0.25): δ = −A⁻¹ g = (−0.35, 0.2).
        let reach = reach(vec![2.0, 1.0, 1.0, 3.0], &[(0.5, 0.0), (-0.25, 0.0)], 1.0).unwrap();
        assert!((0.35..0.6).contains(&reach), "{reach}");
    }

    #[test]
    fn what_is_dependent_or_too_few_is_refused() {
        let sums = [(0.1, 0.0), (0.1, 0.0)];
        assert!(reach(vec![1.0, 2.0, 2.0, 4.0], &sums, 1.0).is_err());
        assert!(reach(vec![1.0, 2.0], &sums, 1.0).is_err());
        assert!(reach(vec![0.0, 2.0, 0.0, 4.0], &sums, 1.0).is_err());
        assert!(reach(vec![f64::NAN, 2.0, 0.0, 4.0], &sums, 1.0).is_err());
        assert!(reach(vec![1.0, 2.0, 1.0, 2.0 + 1e-15], &sums, 1.0).is_err());
    }
}
