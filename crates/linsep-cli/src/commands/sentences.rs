//! The sentences about numbers that were proved, one function for each kind of claim.
//!
//! A number is cut to a few digits for people, and a sentence must stay true then: what is said to be at least so
//! much is rounded down, what is said to be at most so much is rounded up, and `=` stands before a number only if
//! all its digits are there. How far an objective is from its optimum is in the checker
//! (`Optimality::distance`), with the same rule.

use super::inspect::short;
use crate::output::{counted, grouped};
use linsep::verdict::{Interval, Ratio};

/// The significant digits that people are shown.
const DIGITS: usize = 6;

/// A lower bound: not above the number.
pub(crate) fn at_least(value: f64) -> String {
    cut(value, DIGITS, false)
}

/// A gap that is proved, in two digits: not below it.
pub(crate) fn gap(share: f64) -> String {
    if !share.is_finite() {
        return share.to_string();
    }
    let (digits, exponent) = digits_of(share, 2, true);
    format!("{}.{}e{exponent}", &digits[..1], &digits[1..])
}

/// A margin: its root, not above the true one, and its square, which is exact.
pub(crate) struct ExactMargin<'a> {
    pub(crate) gamma: Interval,
    pub(crate) gamma2: &'a Ratio,
    /// How many rows hold it.
    pub(crate) rows: u64,
}

impl ExactMargin<'_> {
    /// `γ ≈ 0.353553`, or with `=` where no digit is missing; nothing where the root is out of range.
    pub(crate) fn root(&self) -> Option<String> {
        let gamma = self.gamma.lower?;
        // The root may be a short decimal that binary64 does not have.
        let near = short(gamma);
        Some(match is_square(&near, &self.gamma2.to_string()) {
            true => format!("γ = {near}"),
            false => format!("γ ≈ {}", at_least(gamma)),
        })
    }

    /// `γ² = 1/8`.
    pub(crate) fn square(&self) -> String {
        format!("γ² = {}", shortened(&self.gamma2.to_string()))
    }

    /// `held by 3 rows`.
    pub(crate) fn held(&self) -> String {
        format!("held by {}", counted(self.rows, "row"))
    }
}

/// How many updates a perceptron makes at most, by R²/γ².
pub(crate) enum UpdateBound<'a> {
    /// From exact numbers: the whole number below R²/γ² by its digits, and R².
    Exact { most: &'a str, radius2: &'a Ratio },
    /// From a lower bound on γ in the coordinates of a run, which made so many.
    OfRun { most: f64, radius2: f64, gamma: f64, made: u64, converged: bool },
}

impl UpdateBound<'_> {
    pub(crate) fn words(&self) -> String {
        match self {
            UpdateBound::Exact { most, radius2 } => format!(
                "at most {} updates from 0, in any order of the rows: R²/γ², max row norm R, R² = {}",
                whole(most),
                shortened(&radius2.to_string())
            ),
            UpdateBound::OfRun { most, radius2, gamma, made, converged } => format!(
                "at most {} by R²/γ², with R² = {} and γ ≥ {} in the coordinates of the run; {} {}",
                counted(most.min(1e18) as u64, "update"),
                short(*radius2),
                at_least(*gamma),
                if *converged { "converged after" } else { "not converged:" },
                grouped(*made)
            ),
        }
    }
}

/// A fraction, its numbers cut where they are long; the file and the JSON have all digits.
fn shortened(text: &str) -> String {
    const LONG: usize = 40;
    let cut = |digits: &str| match digits.len() > LONG {
        true => {
            format!("{}…{} ({} digits)", &digits[..8], &digits[digits.len() - 8..], digits.len())
        }
        false => digits.to_owned(),
    };
    match text.split_once('/') {
        Some((p, q)) if p.len() > LONG || q.len() > LONG => format!("{} / {}", cut(p), cut(q)),
        _ => text.to_owned(),
    }
}

/// A whole number in groups of three digits, or in powers of ten where it is very long; rounded up there.
pub(crate) fn whole(digits: &str) -> String {
    if let Ok(number) = digits.parse::<u64>() {
        return grouped(number);
    }
    let (kept, exponent) = rounded(digits, digits.len() as i32 - 1, DIGITS, true);
    format!("about {}.{}e{exponent}", &kept[..1], &kept[1..])
}

/// Whether a fraction is the square of a decimal, as far as their digits are few.
fn is_square(root: &str, fraction: &str) -> bool {
    let (above, below) = fraction.split_once('/').unwrap_or((fraction, "1"));
    let places = root.split_once('.').map_or(0, |(_, places)| places.len() as u32);
    let same = || {
        let digits: u128 = root.replace('.', "").parse().ok()?;
        let (above, below): (u128, u128) = (above.parse().ok()?, below.parse().ok()?);
        let square = digits.checked_mul(digits)?.checked_mul(below)?;
        Some(square == above.checked_mul(10u128.checked_pow(2 * places)?)?)
    };
    same().unwrap_or(false)
}

/// A number in some significant digits, rounded up or down.
fn cut(value: f64, digits: usize, up: bool) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let (kept, exponent) = digits_of(value.abs(), digits, up != (value < 0.0));
    let sign = if value < 0.0 { "-" } else { "" };
    let kept = kept.trim_end_matches('0');
    let text = match exponent {
        -4..=-1 => format!("0.{}{kept}", "0".repeat(-exponent as usize - 1)),
        0..=8 => {
            let before = exponent as usize + 1;
            match kept.len() > before {
                true => format!("{}.{}", &kept[..before], &kept[before..]),
                false => format!("{kept:0<before$}"),
            }
        }
        _ if kept.len() == 1 => format!("{kept}e{exponent}"),
        _ => format!("{}.{}e{exponent}", &kept[..1], &kept[1..]),
    };
    format!("{sign}{text}")
}

/// The first digits of a number that is not below 0, and its power of ten.
fn digits_of(value: f64, digits: usize, up: bool) -> (String, i32) {
    // So many decimal digits has no binary64, so this is the number itself.
    const ALL: usize = 800;
    let text = format!("{value:.ALL$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let all = mantissa.replace('.', "");
    rounded(&all, exponent.parse().unwrap_or(0), digits, up)
}

fn rounded(all: &str, exponent: i32, digits: usize, up: bool) -> (String, i32) {
    let mut kept: Vec<u8> = all.bytes().chain(std::iter::repeat(b'0')).take(digits).collect();
    let is_whole = all.bytes().skip(digits).all(|digit| digit == b'0');
    let mut exponent = exponent;
    if up && !is_whole {
        let mut at = digits;
        loop {
            match at.checked_sub(1) {
                None => {
                    // 9.99 becomes 10.0.
                    kept.insert(0, b'1');
                    kept.truncate(digits);
                    exponent += 1;
                    break;
                }
                Some(before) if kept[before] == b'9' => {
                    kept[before] = b'0';
                    at = before;
                }
                Some(before) => {
                    kept[before] += 1;
                    break;
                }
            }
        }
    }
    (String::from_utf8(kept).unwrap_or_default(), exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_rounded_to_the_safe_side() {
        for (value, text) in [
            (0.5, "0.5"),
            (0.0, "0"),
            (12.0, "12"),
            (1234567.0, "1234560"),
            (0.123046875, "0.123046"),
            (1.0f64.next_down(), "0.999999"),
            (-0.5, "-0.5"),
            (-1.0f64.next_down(), "-1"),
            (3e-7, "2.99999e-7"),
            (1e300, "1e300"),
        ] {
            assert_eq!(at_least(value), text, "{value}");
        }
        for (share, text) in
            [(0.01, "1.1e-2"), (0.5, "5.0e-1"), (0.999, "1.0e0"), (1e-300, "1.1e-300")]
        {
            assert_eq!(gap(share), text, "{share}");
        }
    }

    #[test]
    fn long_numbers_are_cut_for_people() {
        assert_eq!(whole("1234567"), "1,234,567");
        assert_eq!(whole("123456789012345678901234"), "about 1.23457e23");
        assert_eq!(whole("999999900000000000000000"), "about 1.00000e24");
    }

    #[test]
    fn only_a_number_with_all_its_digits_is_called_equal() {
        for (square, root) in [
            ("1/4", "γ = 0.5"),
            ("1/25", "γ = 0.2"),
            ("16", "γ = 4"),
            ("1/17", "γ ≈ 0.242535"),
            ("2", "γ ≈ 1.41421"),
            // 0.123046875²
            ("3969/262144", "γ ≈ 0.123046"),
        ] {
            let gamma2 = Ratio::parse(square).expect("a fraction");
            let margin = ExactMargin { gamma: gamma2.root(), gamma2: &gamma2, rows: 2 };
            assert_eq!(margin.root().as_deref(), Some(root), "{square}");
        }
    }
}
