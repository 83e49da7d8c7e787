//! Results on stdout: text, aligned key-value lines, JSON.

use crate::context::Context;
use crate::exit::Failure;
use crate::spelling::spelled;
use linsep::data::error::{escaped_json, escaped_lines};
use linsep::escaped;
use std::io::{BufWriter, IsTerminal, Write};

/// Writes a report to stdout; nothing in it can steer a terminal.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    print_raw(&escaped_lines(text))
}

/// Writes text to stdout as it is.
pub(crate) fn print_raw(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// A buffered stdout for rows. They are data and leave as they are, but for a terminal.
pub(crate) fn stdout() -> BufWriter<Rows> {
    let out = std::io::stdout();
    let escape = out.is_terminal();
    BufWriter::with_capacity(1 << 16, Rows { out: out.lock(), escape })
}

/// Rows on their way to stdout.
pub(crate) struct Rows {
    out: std::io::StdoutLock<'static>,
    escape: bool,
}

impl Write for Rows {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match std::str::from_utf8(bytes) {
            _ if !self.escape => self.out.write(bytes),
            Ok(text) => self.out.write_all(escaped_lines(text).as_bytes()).map(|()| bytes.len()),
            // A buffer may end within a character.
            Err(error) if error.valid_up_to() > 0 => self.write(&bytes[..error.valid_up_to()]),
            Err(error) => {
                let len = error.error_len().unwrap_or(bytes.len());
                self.out.write_all("\u{fffd}".as_bytes()).map(|()| len)
            }
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

/// Prints one JSON object.
pub(crate) fn print_json(value: &serde_json::Value) -> Result<(), Failure> {
    print_raw(&escaped_json(&format!("{value:#}\n")))
}

/// A note for people, on stderr, unless they asked for quiet.
pub(crate) fn note(context: &Context, text: &str) {
    if !context.quiet {
        crate::exit::eprint_all(&format!("note: {}\n", spelled(text)));
    }
}

/// Lines of `name  value`, the names in one column. Values of several lines are indented.
#[derive(Default)]
pub(crate) struct Facts(Vec<(String, String)>);

impl Facts {
    pub(crate) fn add(&mut self, name: &str, value: impl Into<String>) {
        self.0.push((escaped(name), escaped(&value.into())));
    }

    /// Aligned for people, or tab-separated for programs with `--plain`.
    pub(crate) fn text(&self, context: &Context) -> String {
        let width = self.0.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).max(10);
        let mut text = String::new();
        for (name, value) in &self.0 {
            for (k, line) in value.lines().enumerate() {
                if context.plain {
                    text.push_str(&format!("{name}\t{line}\n"));
                } else {
                    let name = if k == 0 { name.as_str() } else { "" };
                    text.push_str(format!("{name:width$}  {line}").trim_end());
                    text.push('\n');
                }
            }
        }
        text
    }
}

/// A number with separators for thousands.
pub(crate) fn grouped(number: u64) -> String {
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

/// `1 row`, `2 rows`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    let plural = match noun {
        "class" => "classes",
        _ => "",
    };
    match (number, plural) {
        (1, _) => format!("1 {noun}"),
        (_, "") => format!("{} {noun}s", grouped(number)),
        (_, plural) => format!("{} {plural}", grouped(number)),
    }
}

/// A share in per cent with two digits, rounded up.
pub(crate) fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent <= 0.0 {
        return "0 %".to_owned();
    }
    let exponent = percent.log10().floor() as i32 - 1;
    let unit = 10f64.powi(exponent);
    if !(-8..=4).contains(&exponent) {
        return format!("{:.1}e{} %", (percent / unit).ceil() / 10.0, exponent + 1);
    }
    let places = (-exponent).max(0) as usize;
    format!("{:.places$} %", (percent / unit).ceil() * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_counted() {
        assert_eq!(grouped(1234567), "1,234,567");
        assert_eq!(grouped(12), "12");
        assert_eq!(counted(1, "row"), "1 row");
        assert_eq!(counted(3, "class"), "3 classes");
    }

    #[test]
    fn shares_are_rounded_up() {
        for (share, text) in [
            (0.0, "0 %"),
            (0.000_531, "0.054 %"),
            (0.001, "0.10 %"),
            (0.123, "13 %"),
            (2.0, "200 %"),
            (1.0, "100 %"),
            (3.21e-9, "0.00000033 %"),
            (8.62e-12, "8.7e-10 %"),
            (1e9, "1.0e11 %"),
        ] {
            assert_eq!(percent(share), text, "{share}");
        }
    }
}
