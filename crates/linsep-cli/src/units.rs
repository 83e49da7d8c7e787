//! Sizes and times as people write them.

use linsep::{Error, Result};
use std::time::Duration;

/// `512MiB`, `4GiB`, `2G`, `1000000`.
pub(crate) fn bytes(text: &str) -> Result<u64> {
    let (number, unit) = split(text);
    let factor: f64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kib" => 1024.0,
        "m" | "mib" => 1024.0 * 1024.0,
        "g" | "gib" => 1024.0 * 1024.0 * 1024.0,
        "t" | "tib" => 1024.0f64.powi(4),
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        "tb" => 1e12,
        _ => return Err(wrong(text, "a size such as 512MiB or 4GiB")),
    };
    match number.parse::<f64>() {
        Ok(number) if number > 0.0 && number * factor < 1e18 => Ok((number * factor) as u64),
        _ => Err(wrong(text, "a size such as 512MiB or 4GiB")),
    }
}

/// `60s`, `500ms`, `2m`, `1h`, or seconds without a unit.
pub(crate) fn duration(text: &str) -> Result<Duration> {
    let (number, unit) = split(text);
    let factor = match unit {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(wrong(text, "a time such as 60s, 500ms or 2m")),
    };
    match number.parse::<f64>() {
        Ok(number) if number > 0.0 && number * factor < 1e9 => {
            Ok(Duration::from_secs_f64(number * factor))
        }
        _ => Err(wrong(text, "a time such as 60s, 500ms or 2m")),
    }
}

fn split(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text.split_at(end)
}

fn wrong(text: &str, wanted: &str) -> Error {
    Error::usage(format!("\"{text}\" is not {wanted}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_are_read() {
        assert_eq!(bytes("4GiB").unwrap(), 4 << 30);
        assert_eq!(bytes("1.5k").unwrap(), 1536);
        assert_eq!(bytes("1000").unwrap(), 1000);
        assert_eq!(duration("500ms").unwrap(), Duration::from_millis(500));
        assert_eq!(duration("2m").unwrap(), Duration::from_secs(120));
        for bad in ["", "x", "4 GiB", "-1", "0", "1y", "1e3s"] {
            assert!(duration(bad).is_err(), "{bad}");
            assert!(bytes(bad).is_err(), "{bad}");
        }
    }
}
