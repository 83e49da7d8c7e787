//! Numbers in sentences, as people write them.

/// A number in so many significant digits: 28.88634, and powers of ten only where there would be many
/// zeros. For sentences, not for data: digits are lost.
pub fn readable(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let places = digits.saturating_sub(1);
    let text = format!("{value:.places$e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    match exponent.parse::<i32>() {
        Ok(exponent @ -4..=8) => {
            let places = (places as i32 - exponent).max(0) as usize;
            trimmed(&format!("{value:.places$}")).to_owned()
        }
        _ => format!("{}e{exponent}", trimmed(mantissa)),
    }
}

/// A number with separators for thousands: 1,234.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Without zeros at the end of decimals.
fn trimmed(text: &str) -> &str {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_people_do() {
        for (value, digits, text) in [
            (28.886_341_2, 7, "28.88634"),
            (53.794_61, 4, "53.79"),
            (0.655_931_6, 7, "0.6559316"),
            (-0.008_808_2, 4, "-0.008808"),
            (0.2, 4, "0.2"),
            (1.0, 4, "1"),
            (9.999_96, 4, "10"),
            (123_456_789.0, 4, "123456789"),
            (999_999_999.0, 4, "1e9"),
            (1.5e12, 4, "1.5e12"),
            (8e-14, 2, "8e-14"),
            (0.0, 3, "0"),
            (f64::NAN, 3, "NaN"),
            (f64::INFINITY, 3, "inf"),
        ] {
            assert_eq!(readable(value, digits), text, "{value}");
        }
    }
}
