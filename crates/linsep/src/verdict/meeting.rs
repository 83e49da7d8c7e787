//! The point that the hulls of the two sides share.
//!
//! With a bias, Σ λ z = 0 over z = ±(1, x) says that the weights of both sides have one sum Λ, and
//!
//! ```text
//! Σ₊ λ x / Λ = Σ₋ λ x / Λ
//! ```
//!
//! a mean of positive rows that is a mean of negative rows too. No plane has both on different sides
//! of it (Radon's argument), so the point shows at a glance why none separates. It is computed from
//! each side in whole numbers, and given only if both agree.

use super::proposal::gcd;
use super::signed::Signed;
use super::{Decision, Judge};
use dashu_int::{IBig, UBig};
use linsep_proof::Claim;
use std::sync::Arc;

/// Decimals longer than this are written as fractions.
const LONGEST: usize = 20;

/// (column, exact value) of the coordinates that are not 0; `None` without a witness or a bias.
pub(crate) fn point(judge: &Judge, decision: &Decision) -> Option<Vec<(u32, String)>> {
    let (Claim::Inseparable { problem, witness }
    | Claim::Touching { problem, witness, .. }
    | Claim::Overlapping { problem, witness, .. }) = &decision.claim
    else {
        return None;
    };
    if !judge.bias {
        return None;
    }
    let view = Signed::new(Arc::clone(&judge.data), problem.clone(), true);
    let place = |row: u64| view.rows.binary_search(&u32::try_from(row).ok()?).ok();
    let chosen: Vec<usize> = witness.iter().map(|w| place(w.row)).collect::<Option<_>>()?;
    let lambda: Vec<IBig> = witness.iter().map(|w| w.lambda.parse().ok()).collect::<Option<_>>()?;
    let whole = view.whole_rows(&chosen);
    // The sum of one side, with its sign taken off again.
    let side = |sign: i8, j: usize| {
        let rows = chosen.iter().zip(&lambda).zip(&whole.rows);
        let mine = rows.filter(|((k, _), _)| view.signs[**k] == sign);
        mine.fold(IBig::ZERO, |sum, ((_, l), row)| sum + l * &row[j] * IBig::from(sign))
    };
    let total = side(1, 0);
    if total != side(-1, 0) || total == IBig::ZERO {
        return None;
    }
    let mut point = Vec::new();
    for (at, &column) in whole.columns.iter().enumerate() {
        let sum = side(1, at + 1);
        if sum != side(-1, at + 1) {
            return None;
        }
        if sum != IBig::ZERO {
            let (two, five) = whole.scale[at];
            let up = power(2, two.max(0)) * power(5, five.max(0));
            let down = power(2, (-two).max(0)) * power(5, (-five).max(0));
            point.push((column, written(sum * up, &total * down)));
        }
    }
    Some(point)
}

fn power(base: u8, exponent: i32) -> IBig {
    UBig::from(base).pow(exponent as usize).into()
}

/// p/q as a decimal where it ends soon, else in lowest terms.
fn written(p: IBig, q: IBig) -> String {
    let divisor = gcd(p.clone(), q.clone());
    let (p, q) = (p / &divisor, q / divisor);
    let (mut rest, mut twos, mut fives) = (q.clone(), 0usize, 0usize);
    for (base, count) in [(2, &mut twos), (5, &mut fives)] {
        let base = IBig::from(base);
        while &rest % &base == IBig::ZERO {
            rest /= &base;
            *count += 1;
        }
    }
    let places = twos.max(fives);
    if rest != IBig::ONE || places > LONGEST {
        return format!("{p}/{q}");
    }
    let digits = (p * power(10, places as i32) / q).to_string();
    let (sign, digits) = digits.strip_prefix('-').map_or(("", &digits[..]), |rest| ("-", rest));
    let digits = format!("{digits:0>width$}", width = places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    match fraction.is_empty() {
        true => format!("{sign}{whole}"),
        false => format!("{sign}{whole}.{fraction}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_written_as_decimals_where_they_end() {
        let text = |p: i64, q: i64| written(IBig::from(p), IBig::from(q));
        assert_eq!(text(6, 3), "2");
        assert_eq!(text(-1, 8), "-0.125");
        assert_eq!(text(350, 100), "3.5");
        assert_eq!(text(-10, 15), "-2/3");
        assert_eq!(text(1, 1 << 40), format!("1/{}", 1u64 << 40));
    }
}
