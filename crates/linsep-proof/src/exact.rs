//! Numbers without rounding: m · 2^a · 5^b with a whole number m.
//!
//! Every binary64 is m · 2^a, every decimal is m · 10^s = m · 2^s · 5^s. Sums of such numbers are
//! compared after taking out the smallest powers, in whole numbers.

use crate::claim::{ExactNumber, ExactPlane};
use crate::rows::Reading;
use dashu_int::{IBig, UBig};

/// m · 2^two · 5^five.
#[derive(Clone, Debug)]
pub(crate) struct Scaled {
    pub(crate) m: IBig,
    pub(crate) two: i32,
    pub(crate) five: i32,
}

impl Scaled {
    pub(crate) fn whole(m: impl Into<IBig>) -> Scaled {
        Scaled { m: m.into(), two: 0, five: 0 }
    }

    /// The value that a stored number stands for. A value without a decimal of at most 15 digits
    /// has no decimal reading.
    pub(crate) fn read(value: f64, reading: Reading) -> Result<Scaled, String> {
        match reading {
            Reading::Binary64 => Ok(Scaled::binary64(value)),
            Reading::Decimal => decimal(value)
                .ok_or_else(|| format!("{value:?} has no decimal of at most 15 digits")),
        }
    }

    /// The exact value of a finite binary64.
    pub(crate) fn binary64(value: f64) -> Scaled {
        let bits = value.to_bits();
        let exponent = ((bits >> 52) & 0x7ff) as i32;
        let fraction = bits & ((1 << 52) - 1);
        let (m, two) =
            if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
        let zeros = if m == 0 { 0 } else { m.trailing_zeros() };
        let m = IBig::from(m >> zeros);
        let two = if m == IBig::ZERO { 0 } else { two + zeros as i32 };
        Scaled { m: if value < 0.0 { -m } else { m }, two, five: 0 }
    }

    pub(crate) fn times(&self, factor: &IBig) -> Scaled {
        Scaled { m: &self.m * factor, two: self.two, five: self.five }
    }

    pub(crate) fn product(&self, other: &Scaled) -> Scaled {
        Scaled { m: &self.m * &other.m, two: self.two + other.two, five: self.five + other.five }
    }
}

/// Whether a value has a decimal reading.
pub(crate) fn has_decimal(value: f64) -> bool {
    !value.is_subnormal() && (short_decimal(value).is_some() || decimal(value).is_some())
}

/// Whether all of these are decimals of at most six places and 15 digits; without a branch for each, since
/// nearly all values of nearly all data are.
pub(crate) fn are_short_decimals(values: &[f64]) -> bool {
    /// From here to twice as much, the last bit of a number counts ones: adding it rounds.
    const SHIFT: f64 = 4_503_599_627_370_496.0; // 2^52
    values.iter().fold(true, |all, value| {
        let scaled = value.abs() * 1e6;
        let m = (scaled + SHIFT) - SHIFT;
        all & (scaled < 1e15) & (m / 1e6 == value.abs())
    })
}

/// m and p of a decimal m/10^p with few places that rounds to the value. Of at most 15 digits there
/// is only one, however it is found: both m and 10^p are exact, and the division rounds correctly.
fn short_decimal(value: f64) -> Option<(i64, i32)> {
    const TENS: [f64; 7] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6];
    let (places, m) = TENS.into_iter().enumerate().find_map(|(places, ten)| {
        let m = (value * ten).round();
        (m.abs() < 1e15 && m / ten == value).then_some((places, m))
    })?;
    Some((m as i64, places as i32))
}

/// The decimal of at most 15 significant digits that rounds to the value, if there is one.
fn decimal(value: f64) -> Option<Scaled> {
    if value.is_subnormal() {
        return None;
    }
    if let Some((m, places)) = short_decimal(value) {
        return Some(Scaled { m: m.into(), two: -places, five: -places });
    }
    // The shortest text that reads back as the value; if any decimal of at most 15 digits does,
    // there is only one and this is it.
    let text = format!("{value:e}");
    let (mantissa, exponent) = text.split_once('e')?;
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    let places = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len() as i32);
    if digits.trim_start_matches('-').len() > 15 {
        return None;
    }
    let m: i64 = digits.parse().ok()?;
    let ten = exponent.parse::<i32>().ok()? - places;
    Some(Scaled { m: m.into(), two: ten, five: ten })
}

/// Σ of the terms times a positive factor that makes it whole.
pub(crate) fn scaled_sum(terms: &[Scaled]) -> IBig {
    let used = || terms.iter().filter(|term| term.m != IBig::ZERO);
    let two = used().map(|term| term.two).min().unwrap_or(0);
    let five = used().map(|term| term.five).min().unwrap_or(0);
    let mut sum = IBig::ZERO;
    for term in used() {
        let (two, five) = ((term.two - two) as usize, (term.five - five) as usize);
        match five {
            // Most terms have the same powers, and their numbers are long.
            0 if two == 0 => sum += &term.m,
            _ => sum += (&term.m * power_of_five(five)) << two,
        }
    }
    sum
}

pub(crate) fn power_of_five(exponent: usize) -> IBig {
    IBig::from(UBig::from(5u8).pow(exponent))
}

/// A positive whole number, as λ must be.
pub(crate) fn positive(text: &str) -> Result<IBig, String> {
    let number = whole(text)?;
    if number > IBig::ZERO { Ok(number) } else { Err(format!("{text} is not positive")) }
}

/// A whole number in decimal digits.
pub(crate) fn whole(text: &str) -> Result<IBig, String> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(format!(
            "\"{}\" is no whole number",
            text.chars().take(30).collect::<String>()
        ));
    }
    text.parse().map_err(|_| "a whole number cannot be read".to_owned())
}

/// p and q of `p/q` or `p`, q positive.
pub(crate) fn ratio(text: &str) -> Result<(IBig, IBig), String> {
    match text.split_once('/') {
        None => Ok((whole(text)?, IBig::ONE)),
        Some((p, q)) => Ok((whole(p)?, positive(q)?)),
    }
}

/// A plane times a positive number that makes every weight whole.
pub(crate) struct WholePlane {
    /// (column, weight), columns rising, only weights that are not 0.
    pub(crate) weights: Vec<(u32, IBig)>,
    pub(crate) bias: IBig,
}

impl WholePlane {
    pub(crate) fn new(plane: &ExactPlane, width: usize, bias: bool) -> Result<WholePlane, String> {
        let pairs = WholePlane::pairs(plane, width)?;
        let bias = WholePlane::bias(plane, bias)?;
        let numbers: Vec<&ExactNumber> = pairs.iter().map(|(_, w)| *w).chain([bias]).collect();
        let mut whole = make_whole(&numbers)?;
        let bias = whole.pop().unwrap_or(IBig::ZERO);
        let weights = pairs.iter().map(|(j, _)| *j).zip(whole).filter(|(_, w)| *w != IBig::ZERO);
        Ok(WholePlane { weights: weights.collect(), bias })
    }

    /// (column, weight) of a plane whose weights fit `width` columns.
    pub(crate) fn pairs(
        plane: &ExactPlane,
        width: usize,
    ) -> Result<Vec<(u32, &ExactNumber)>, String> {
        match (&plane.weights, &plane.sparse) {
            (Some(weights), None) if weights.len() == width => {
                Ok(weights.iter().enumerate().map(|(j, w)| (j as u32, w)).collect())
            }
            (Some(weights), None) => {
                Err(format!("the plane has {} weights for {width} columns", weights.len()))
            }
            (None, Some(pairs)) => {
                let in_order = pairs.is_sorted_by(|a, b| a.0 < b.0);
                if !in_order || pairs.last().is_some_and(|(j, _)| *j as usize >= width) {
                    return Err("the sparse weights are out of order or out of range".into());
                }
                Ok(pairs.iter().map(|(j, w)| (*j, w)).collect())
            }
            _ => Err("the plane needs either weights or sparse".into()),
        }
    }

    /// The bias of a plane, which has one just when the certificate says so.
    pub(crate) fn bias(plane: &ExactPlane, bias: bool) -> Result<&ExactNumber, String> {
        const ZERO: ExactNumber = ExactNumber::Binary64(0.0);
        match (&plane.bias, bias) {
            (Some(number), true) => Ok(number),
            (None, false) => Ok(&ZERO),
            _ => Err("the bias does not fit the certificate".into()),
        }
    }
}

/// The entries of a sparse vector of `width` numbers that are not 0, times a positive number that makes
/// all of them whole.
pub(crate) fn whole_vector(
    vector: &[(u32, ExactNumber)],
    width: usize,
) -> Result<Vec<(u32, IBig)>, String> {
    let in_order = vector.is_sorted_by(|a, b| a.0 < b.0);
    if !in_order || vector.last().is_some_and(|(c, _)| *c as usize >= width) {
        return Err("the numbers of a vector are out of order or out of range".into());
    }
    let numbers: Vec<&ExactNumber> = vector.iter().map(|(_, x)| x).collect();
    let whole = vector.iter().map(|(c, _)| *c).zip(make_whole(&numbers)?);
    Ok(whole.filter(|(_, x)| *x != IBig::ZERO).collect())
}

/// The number divided by a positive whole number, as the nearest binary64 but for a relative error
/// of 2^-52; not a number where that is out of reach.
pub(crate) fn approximate(number: &Scaled, divisor: &IBig) -> f64 {
    let five = power_of_five(number.five.unsigned_abs() as usize);
    let (mut n, mut d) = match number.five >= 0 {
        true => (&number.m * five, divisor.clone()),
        false => (number.m.clone(), divisor * five),
    };
    if n == IBig::ZERO {
        return 0.0;
    }
    let bits = |x: &IBig| {
        let size = dashu_int::ops::UnsignedAbs::unsigned_abs(x.clone());
        dashu_int::ops::BitTest::bit_len(&size) as i64
    };
    // A quotient of at least 65 bits loses less than 2^-64 of itself.
    let shift = 66 + bits(&d) - bits(&n);
    match shift >= 0 {
        true => n <<= shift as usize,
        false => d <<= -shift as usize,
    }
    let exponent = i64::from(number.two) - shift;
    if !(-900..900).contains(&exponent) {
        return f64::NAN;
    }
    (n / d).to_f64().value() * 2f64.powi(exponent as i32)
}

/// The numbers times one positive number that makes all of them whole.
fn make_whole(numbers: &[&ExactNumber]) -> Result<Vec<IBig>, String> {
    let mut parts = Vec::new();
    let mut denominator = IBig::ONE;
    for number in numbers {
        match number {
            ExactNumber::Binary64(x) if x.is_finite() => {
                parts.push((Scaled::binary64(*x), IBig::ONE))
            }
            ExactNumber::Binary64(_) => return Err("a weight is not finite".into()),
            ExactNumber::Ratio(text) => {
                let (p, q) = ratio(text)?;
                denominator *= &q;
                parts.push((Scaled::whole(p), q));
            }
        }
    }
    let two = parts.iter().map(|(part, _)| part.two).min().unwrap_or(0).min(0);
    let whole =
        |(part, q): &(Scaled, IBig)| (&part.m * (&denominator / q)) << (part.two - two) as usize;
    Ok(parts.iter().map(whole).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(s: &Scaled) -> (String, i32, i32) {
        (s.m.to_string(), s.two, s.five)
    }

    #[test]
    fn what_is_short_at_a_glance_has_a_decimal() {
        let tenths = (0..20_000).map(|n| f64::from(n) / 10f64.powi(n % 7));
        for value in tenths.flat_map(|x| [x, -x, x.next_up(), -x.next_down()]) {
            let is_short = are_short_decimals(&[0.5, value, 3.0]);
            assert!(!is_short || has_decimal(value), "{value:?}");
            assert_eq!(is_short, short_decimal(value).is_some(), "{value:?}");
        }
        for value in [f64::NAN, f64::INFINITY, f64::MAX, 5e-324, 1e-7, 0.1 + 0.2, 1e9 + 1e-7] {
            assert!(!are_short_decimals(&[value]), "{value:?}");
        }
        assert!(
            are_short_decimals(&[]) && are_short_decimals(&[0.0, -0.0, 1e-6, -999_999_999.999_999])
        );
    }

    #[test]
    fn numbers_are_read_as_the_reading_says() {
        assert_eq!(text(&Scaled::read(0.1, Reading::Decimal).unwrap()), ("1".into(), -1, -1));
        assert_eq!(
            text(&Scaled::read(0.1, Reading::Binary64).unwrap()),
            ("3602879701896397".into(), -55, 0)
        );
        let large = ("-25000000000".into(), 0, 0);
        assert_eq!(text(&Scaled::read(-2.5e10, Reading::Decimal).unwrap()), large);
        assert_eq!(text(&Scaled::read(2.5e-9, Reading::Decimal).unwrap()), ("25".into(), -10, -10));
        assert_eq!(text(&Scaled::read(-3e30, Reading::Decimal).unwrap()), ("-3".into(), 30, 30));
        assert!(Scaled::read(0.1 + 0.2, Reading::Decimal).is_err());
        assert!(Scaled::read(5e-324, Reading::Decimal).is_err());
        assert_eq!(text(&Scaled::read(5e-324, Reading::Binary64).unwrap()), ("1".into(), -1074, 0));
    }

    #[test]
    fn a_tie_of_decimals_is_none_in_binary64() {
        let sum = |reading| {
            let read = |x| Scaled::read(x, reading).unwrap();
            scaled_sum(&[read(0.1), read(0.2), read(-0.3)])
        };
        assert_eq!(sum(Reading::Decimal), IBig::ZERO);
        assert!(sum(Reading::Binary64) > IBig::ZERO);
    }

    #[test]
    fn ratios_and_wholes_are_strict() {
        assert_eq!(ratio("-3/7").unwrap(), (IBig::from(-3), IBig::from(7)));
        for bad in ["", "-", "1/0", "1/-2", "+1", "1.5", "1/2/3", " 1"] {
            assert!(ratio(bad).is_err(), "{bad}");
        }
        assert!(positive("0").is_err());
    }
}
