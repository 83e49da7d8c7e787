//! Numbers to text: the shortest that reads back as the same number.
//!
//! Most numbers have at most six places and fifteen digits, which makes them their own shortest text. They
//! are written as integers: eight digits are made in one word, halves and then pairs at a time, by
//! multiplications with inverses, and zeros in front or at the end are left out by counting them.

use linsep_kernels::number;

/// The shortest text that reads back as the same number.
pub(super) fn push_number(value: f64, text: &mut Vec<u8>) {
    // Adding and taking away 1.5 · 2^52 rounds; the division shows whether the number has more places.
    const ROUNDING: f64 = 6_755_399_441_055_744.0;
    let millionths = (value * 1e6 + ROUNDING) - ROUNDING;
    if millionths.abs() < 1e15 && millionths / 1e6 == value {
        push_millionths(millionths as i64, text);
    } else {
        text.extend_from_slice(number::shortest(value).as_bytes());
    }
}

/// A whole number.
#[inline]
pub(super) fn push_whole(number: u64, text: &mut Vec<u8>) {
    if number < 10 {
        text.push(b'0' + number as u8);
    } else if number < 100_000_000 {
        let digits = eight_digits(number as u32);
        let zeros = digits.trailing_zeros() / 8;
        push_word((digits | ZEROS) >> (8 * zeros), 8 - zeros as usize, text);
    } else {
        push_whole(number / 100_000_000, text);
        push_word(eight_digits((number % 100_000_000) as u32) | ZEROS, 8, text);
    }
}

fn push_millionths(number: i64, text: &mut Vec<u8>) {
    let magnitude = number.unsigned_abs();
    if number < 0 {
        text.push(b'-');
    }
    push_whole(magnitude / 1_000_000, text);
    let fraction = (magnitude % 1_000_000) as u32;
    if fraction != 0 {
        // Six digits, and as many bytes as there are up to the last that is not 0.
        let digits = eight_digits(fraction) >> 16;
        let used = (71 - digits.leading_zeros()) / 8;
        push_word((digits | ZEROS) << 8 | u64::from(b'.'), used as usize + 1, text);
    }
}

const ZEROS: u64 = 0x3030_3030_3030_3030;

/// The digits of a number below 10^8, the first in the lowest byte.
#[inline]
fn eight_digits(number: u32) -> u64 {
    let (high, low) = (u64::from(number / 10_000), u64::from(number % 10_000));
    // Two numbers of four digits, then four of two, then eight of one.
    let fours = high | low << 32;
    let hundreds = (fours * 10_486) >> 20 & 0x0000_007f_0000_007f;
    let twos = hundreds | (fours - 100 * hundreds) << 16;
    let tens = (twos * 103) >> 10 & 0x000f_000f_000f_000f;
    tens | (twos - 10 * tens) << 8
}

/// The first `len` bytes of a word.
#[inline]
fn push_word(word: u64, len: usize, text: &mut Vec<u8>) {
    let end = text.len() + len;
    text.extend_from_slice(&word.to_le_bytes());
    text.truncate(end);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text_of(value: f64) -> String {
        let mut text = Vec::new();
        push_number(value, &mut text);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn numbers_are_written_short() {
        for (value, text) in [
            (0.0, "0"),
            (-0.5, "-0.5"),
            (12.000001, "12.000001"),
            (100.0, "100"),
            (1e15, "1000000000000000"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1e300, "1e300"),
        ] {
            assert_eq!(text_of(value), text);
        }
    }

    proptest! {
        #[test]
        fn the_fast_text_is_the_shortest_one(m in -2_000_000_000_000i64..2_000_000_000_000) {
            let value = m as f64 / 1e6;
            prop_assert_eq!(text_of(value), number::shortest(value));
        }
    }

    proptest! {
        #[test]
        fn whole_numbers_are_those_of_the_standard_library(number: u64, shift in 0u32..64) {
            let mut text = Vec::new();
            push_whole(number >> shift, &mut text);
            prop_assert_eq!(String::from_utf8(text).unwrap(), (number >> shift).to_string());
        }
    }
}
