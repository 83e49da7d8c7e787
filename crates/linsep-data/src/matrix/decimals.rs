//! The decimal places of numbers that come without a text: those of their shortest decimal.

use super::profile::{NO_PLACES, power_of_ten};
use linsep_kernels::number::{self, Number};

/// Decimals of at most 15 digits have numerators below this.
pub(crate) const FIFTEEN_DIGITS: f64 = 1e15;

/// Adding and taking away 1.5 · 2^52 rounds to a whole number.
pub(crate) const ROUNDING: f64 = 6_755_399_441_055_744.0;

/// Whether a value is a decimal of at most 15 digits with places that the power of ten allows.
#[inline(always)]
pub(crate) fn is_decimal(value: f64, ten: f64) -> bool {
    let whole = (value * ten + ROUNDING) - ROUNDING;
    // Both tests at once keep loops free of branches.
    (whole / ten == value) & (whole.abs() < FIFTEEN_DIGITS)
}

/// The decimal places of a decimal of at most 15 digits that is written with so many, without the zeros at
/// the end.
pub(crate) fn exact_places(value: f64, mut places: u8) -> u8 {
    if places > 22 {
        return places;
    }
    let mut whole = (value * power_of_ten(places)).round() as i64;
    if whole == 0 {
        return 0;
    }
    while places > 0 && whole % 10 == 0 {
        whole /= 10;
        places -= 1;
    }
    places
}

/// What a reader of text finds in the shortest text of a value.
pub(crate) fn facts_of(value: f64, whole: bool) -> Number {
    if value.abs() < FIFTEEN_DIGITS {
        let places = (0..=22).find(|places| is_decimal(value, power_of_ten(*places)));
        if let Some(places) = places {
            return Number { value, places, long: false };
        }
    }
    let text = match whole {
        true => format!("{}", value as i128),
        false => number::shortest(value),
    };
    number::parse(text.as_bytes()).unwrap_or(Number { value, places: NO_PLACES, long: true })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn zeros_at_the_end_do_not_count(m in 1i64..1_000_000_000_000_000, k in 0u8..=22, short in 0u32..15) {
            let m = (m / 10i64.pow(short)).max(1);
            let value = m as f64 / power_of_ten(k);
            let exact = exact_places(value, k);
            let zeros = (0..=k).take_while(|&z| m % 10i64.pow(u32::from(z.min(15))) == 0).last();
            prop_assert_eq!(Some(exact), zeros.map(|zeros| k - zeros));
            prop_assert_eq!(exact_places(-value, exact), exact);
        }

        #[test]
        fn the_quick_test_agrees_with_the_text(
            m in -1_200_000_000_000_000i64..1_200_000_000_000_000, short in 0u32..16, k in 0u8..25,
            bits: u64,
        ) {
            let near = (m / 10i64.pow(short)) as f64 / 10f64.powi(i32::from(k));
            for value in [near, f64::from_bits(near.to_bits() + 1), f64::from_bits(bits)] {
                prop_assume!(value.is_finite() && value != 0.0);
                let text = number::parse(number::shortest(value).as_bytes()).unwrap();
                let facts = facts_of(value, false);
                prop_assert_eq!((facts.places, facts.long), (text.places, text.long), "{}", value);
                for places in 0..=22 {
                    if is_decimal(value, power_of_ten(places)) {
                        prop_assert!(text.places <= places && !text.long, "{}", value);
                    }
                }
            }
        }
    }
}
