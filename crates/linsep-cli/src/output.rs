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

/// Lines of cells in columns, two blanks between them; `right` says which columns are flush right. A column
/// without any text is left out.
pub(crate) fn aligned<R: AsRef<[String]>>(
    rows: &[R],
    right: impl Fn(usize) -> bool,
) -> Vec<String> {
    let count = rows.iter().map(|row| row.as_ref().len()).max().unwrap_or(0);
    let mut widths = vec![0; count];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row.as_ref()) {
            *width = cell.chars().count().max(*width);
        }
    }
    let line = |row: &R| {
        let cells = row.as_ref().iter().zip(&widths).enumerate();
        let cells = cells.filter(|(_, (_, width))| **width > 0).map(|(column, (cell, width))| {
            if right(column) { format!("{cell:>width$}") } else { format!("{cell:width$}") }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

pub(crate) use linsep::data::error::grouped;

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
    fn cells_stand_in_columns() {
        let rows =
            [["name", "", "3"], ["n", "", "12"], ["µ", "", ""]].map(|row| row.map(String::from));
        assert_eq!(aligned(&rows, |column| column == 2), ["name   3", "n     12", "µ"]);
        assert_eq!(aligned(&rows, |_| false), ["name  3", "n     12", "µ"]);
        assert!(aligned::<Vec<String>>(&[], |_| true).is_empty());
    }
}
