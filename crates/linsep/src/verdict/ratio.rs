//! Fractions of whole numbers, and the binary64 on either side of them.

use super::Interval;
use dashu_int::ops::{BitTest, Gcd, SquareRoot};
use dashu_int::{IBig, UBig};
use std::cmp::Ordering;
use std::fmt;

/// A fraction p/q in lowest terms, not negative.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ratio {
    p: UBig,
    q: UBig,
}

impl Ratio {
    /// p/q with p ≥ 0 and q > 0.
    pub(crate) fn new(p: IBig, q: IBig) -> Option<Ratio> {
        let (p, q) = (UBig::try_from(p).ok()?, UBig::try_from(q).ok()?);
        (q != UBig::ZERO).then(|| Ratio::lowest(p, q))
    }

    /// `p/q` or `p`, as claims write it.
    pub fn parse(text: &str) -> Option<Ratio> {
        let (p, q) = text.split_once('/').unwrap_or((text, "1"));
        Ratio::new(p.parse().ok()?, q.parse().ok()?)
    }

    fn lowest(p: UBig, q: UBig) -> Ratio {
        let divisor = (&p).gcd(&q);
        Ratio { p: p / &divisor, q: q / divisor }
    }

    /// p/q · 2^two · 5^five.
    pub(crate) fn scaled(p: IBig, q: IBig, two: i32, five: i32) -> Option<Ratio> {
        let (up, down) = powers(two, five);
        Ratio::new(p * up, q * down)
    }

    /// This divided by another that is not 0.
    pub fn over(&self, other: &Ratio) -> Option<Ratio> {
        let (p, q) = (&self.p * &other.q, &self.q * &other.p);
        (q != UBig::ZERO).then(|| Ratio::lowest(p, q))
    }

    /// The product.
    pub(crate) fn times(&self, other: &Ratio) -> Ratio {
        Ratio::lowest(&self.p * &other.p, &self.q * &other.q)
    }

    /// The sum.
    pub(crate) fn plus(&self, other: &Ratio) -> Ratio {
        Ratio::lowest(&self.p * &other.q + &other.p * &self.q, &self.q * &other.q)
    }

    /// The difference, if it is not negative.
    pub(crate) fn minus(&self, other: &Ratio) -> Option<Ratio> {
        let (own, others) = (&self.p * &other.q, &other.p * &self.q);
        (own >= others).then(|| Ratio::lowest(own - others, &self.q * &other.q))
    }

    /// The largest whole number that is not larger, in decimal digits.
    pub fn floor(&self) -> String {
        (&self.p / &self.q).to_string()
    }

    /// Neighbouring binary64 with the value between them, equal if it is one itself.
    pub fn bounds(&self) -> Interval {
        let (p, q) = (self.p.bit_len() as i64, self.q.bit_len() as i64);
        // The quotient has at least 63 bits.
        let shift = 64 - (p - q);
        let (p, q) = shifted(&self.p, &self.q, shift);
        around(&(&p / &q), p % q == UBig::ZERO, -shift)
    }

    /// The same of its root.
    pub fn root(&self) -> Interval {
        let (p, q) = (self.p.bit_len() as i64, self.q.bit_len() as i64);
        let shift = 128 - (p - q) + ((p - q) & 1);
        let (p, q) = shifted(&self.p, &self.q, shift);
        let square = &p / &q;
        let root = square.sqrt();
        let exact = p % q == UBig::ZERO && &root * &root == square;
        around(&root, exact, -shift / 2)
    }
}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Ratio) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ratio {
    fn cmp(&self, other: &Ratio) -> Ordering {
        (&self.p * &other.q).cmp(&(&other.p * &self.q))
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.q == UBig::ONE {
            true => write!(f, "{}", self.p),
            false => write!(f, "{}/{}", self.p, self.q),
        }
    }
}

/// p/q as the nearest binary64 or its neighbour; signs allowed.
pub(crate) fn quotient(p: &IBig, q: &IBig) -> f64 {
    let negative = (*p < IBig::ZERO) != (*q < IBig::ZERO);
    let size = |x: &IBig| {
        let x = if *x < IBig::ZERO { -x.clone() } else { x.clone() };
        UBig::try_from(x).unwrap_or(UBig::ZERO)
    };
    // In lowest terms or not: only the quotient counts here.
    let ratio = Ratio { p: size(p), q: size(q) };
    let value = if ratio.q == UBig::ZERO { None } else { ratio.bounds().lower };
    value.map_or(f64::NAN, |value| if negative { -value } else { value })
}

/// 2^two · 5^five as a whole numerator and denominator.
pub(crate) fn powers(two: i32, five: i32) -> (IBig, IBig) {
    let power = |two: i32, five: i32| {
        IBig::from(UBig::from(5u8).pow(five.max(0) as usize)) << two.max(0) as usize
    };
    (power(two, five), power(-two, -five))
}

/// p · 2^shift and q, or p and q · 2^-shift.
fn shifted(p: &UBig, q: &UBig, shift: i64) -> (UBig, UBig) {
    match shift >= 0 {
        true => (p << shift as usize, q.clone()),
        false => (p.clone(), q << (-shift) as usize),
    }
}

/// The binary64 around `whole` · 2^exponent, or around something between it and the next whole number
/// if it is not exact.
fn around(whole: &UBig, exact: bool, exponent: i64) -> Interval {
    let down = whole.bit_len().saturating_sub(53);
    let kept = whole >> down;
    let exact = exact && (&kept << down) == *whole;
    let exponent = exponent + down as i64;
    let mantissa = u64::try_from(&kept).unwrap_or(0) as f64;
    // Beyond these exponents binary64 has no room or fewer digits.
    if mantissa == 0.0 || !(-1020..=960).contains(&exponent) {
        return match mantissa == 0.0 && exact {
            true => Interval { lower: Some(0.0), upper: Some(0.0) },
            false => Interval { lower: (exponent < 0).then_some(0.0), upper: None },
        };
    }
    // In two steps, because 2^exponent alone may be too small.
    let half = (exponent / 2) as i32;
    let lower = mantissa * 2f64.powi(half) * 2f64.powi(exponent as i32 - half);
    Interval { lower: Some(lower), upper: Some(if exact { lower } else { lower.next_up() }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(p: i64, q: i64) -> Ratio {
        Ratio::new(p.into(), q.into()).unwrap()
    }

    fn between(interval: Interval) -> (f64, f64) {
        (interval.lower.unwrap(), interval.upper.unwrap())
    }

    #[test]
    fn fractions_are_in_lowest_terms_and_in_order() {
        assert_eq!(ratio(6, 4).to_string(), "3/2");
        assert_eq!(ratio(8, 4).to_string(), "2");
        assert_eq!(Ratio::parse("6/4"), Some(ratio(3, 2)));
        assert_eq!(Ratio::parse("7"), Some(ratio(7, 1)));
        for text in ["", "1/0", "-1/2", "1/2/3", "a"] {
            assert_eq!(Ratio::parse(text), None, "{text}");
        }
        assert_eq!(ratio(7, 2).floor(), "3");
        assert!(ratio(1, 3) < ratio(2, 5) && ratio(2, 4) == ratio(1, 2));
        assert_eq!(ratio(3, 4).over(&ratio(3, 8)), Some(ratio(2, 1)));
        assert_eq!(ratio(3, 4).over(&ratio(0, 8)), None);
        assert_eq!(Ratio::scaled(3.into(), 1.into(), -2, 1), Some(ratio(15, 4)));
    }

    #[test]
    fn floats_stand_on_either_side() {
        assert_eq!(between(ratio(3, 4).bounds()), (0.75, 0.75));
        assert_eq!(between(ratio(0, 4).bounds()), (0.0, 0.0));
        assert_eq!(between(ratio(9, 16).root()), (0.75, 0.75));
        for (p, q) in [(1, 3), (2, 7), (1, 1_000_003), (i64::MAX, 10), (1, i64::MAX), (17, 5)] {
            let (low, high) = between(ratio(p, q).bounds());
            let near = p as f64 / q as f64;
            assert!(low.next_up() == high && low <= near && near <= high, "{p}/{q}");
            let (low, high) = between(ratio(p, q).root());
            let near = near.sqrt();
            assert!(low <= high && low <= near.next_up() && near.next_down() <= high, "{p}/{q}");
        }
        assert_eq!(quotient(&(-3).into(), &4.into()), -0.75);
    }
}
