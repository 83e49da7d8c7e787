//! Tails of the normal and of the chi-square distribution, out to 1e-300, with relative errors of (4 + z²) 2^-52.
//!
//! ```text
//! P(Z > z)    = erfc(z/√2)/2
//! P(χ²_k > x) = erfc(√(x/2)) + e^(−x/2) Σ_{0 < i < k/2, i half} (x/2)^i / Γ(i + 1)      k odd
//! P(χ²_k > x) =                e^(−x/2) Σ_{0 ≤ i < k/2, i whole} (x/2)^i / Γ(i + 1)     k even
//! ```
//!
//! All terms are positive, so nothing cancels: the error is that of `libm`'s erfc (below one unit in the
//! last place) and exp, and one rounding for each term. A rounding of z is z² roundings of the tail of z. The quantile is found by Newton's method on the tail itself.
//!
//! Reference: Abramowitz and Stegun, 7.1 and 26.4.

use std::f64::consts::{FRAC_2_SQRT_PI, PI, SQRT_2};

/// P(|Z| > |z|).
pub fn two_sided(z: f64) -> f64 {
    libm::erfc(z.abs() / SQRT_2)
}

/// P(Z ≤ z).
pub fn normal_below(z: f64) -> f64 {
    0.5 * libm::erfc(-z / SQRT_2)
}

/// P(χ² ≥ x) with this many degrees of freedom.
pub fn chi_square_above(x: f64, freedom: usize) -> f64 {
    match freedom {
        _ if x.is_nan() => return f64::NAN,
        _ if x <= 0.0 => return 1.0,
        0 => return 0.0,
        _ => {}
    }
    let half = x / 2.0;
    // Terms are built on e^(−x/2); where that is too small for a number, the tail is, too, unless there are
    // many degrees of freedom: then logarithms carry the first term.
    let odd = freedom % 2 == 1;
    let terms = freedom / 2;
    let (mut sum, mut i) = (0.0, if odd { 0.5 } else { 0.0 });
    // ln of (x/2)^i e^(−x/2) / Γ(i + 1) at the first i.
    let mut log = if odd { 0.5 * half.ln() - half - (PI.sqrt() / 2.0).ln() } else { -half };
    for _ in 0..terms {
        sum += libm::exp(log);
        i += 1.0;
        log += (half / i).ln();
    }
    if odd { sum + libm::erfc(half.sqrt()) } else { sum }
}

/// The z with P(|Z| > z) = share.
pub fn normal_bound(share: f64) -> f64 {
    // Newton on ln erfc, which is concave and nearly a parabola: it ends from any start.
    let (target, mut t) = (share.ln(), 0.5f64);
    for _ in 0..200 {
        let tail = libm::erfc(t);
        let slope = -FRAC_2_SQRT_PI * libm::exp(-t * t) / tail;
        let step = (tail.ln() - target) / slope;
        t = (t - step).max(0.0);
        if step.abs() <= 4.0 * f64::EPSILON * t {
            break;
        }
    }
    t * SQRT_2
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From R 4.2.2: `options(digits = 17)`, `2 * pnorm(-z)`, `pchisq(x, k, lower = FALSE)`, `qnorm(1 - a/2)`.
    #[test]
    fn tails_agree_with_recorded_ones() {
        let near = |found: f64, right: f64| {
            assert!((found / right - 1.0).abs() < 4e-15, "{found:e} {right:e}");
        };
        for line in include_str!("../../../../testdata/statistics/tails.tsv").lines() {
            let cells: Vec<&str> = line.split('\t').collect();
            let number = |k: usize| -> f64 { cells[k].parse().unwrap() };
            match cells[0] {
                "normal" => {
                    let (found, right) = (two_sided(number(1)), number(2));
                    let bound = (4.0 + number(1) * number(1)) * f64::EPSILON;
                    assert!((found / right - 1.0).abs() < bound, "{line}: {found:e}");
                }
                "chi-square" => {
                    let found = chi_square_above(number(1), number(2) as usize);
                    assert!((found / number(3) - 1.0).abs() < 1e-12, "{line}: {found:e}");
                }
                "bound" => near(normal_bound(number(1)), number(2)),
                "#" => {}
                other => panic!("{other}"),
            }
        }
        assert_eq!((chi_square_above(0.0, 3), chi_square_above(-1.0, 1)), (1.0, 1.0));
        assert_eq!((chi_square_above(0.0, 0), chi_square_above(0.1, 0)), (1.0, 0.0));
        assert!(chi_square_above(f64::NAN, 1).is_nan());
        assert_eq!(normal_below(0.0), 0.5);
    }
}
