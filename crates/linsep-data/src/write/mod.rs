//! Data sets to files: tables and svmlight, plain or compressed, every value in its shortest exact
//! text; Parquet and Arrow, every value as binary64.

#[cfg_attr(not(feature = "arrow"), path = "columnar_absent.rs")]
mod columnar;
mod numbers;

use super::Dataset;
use crate::error::{Code, Error, Result};
pub use crate::packing::{Packer, Packing};
use crate::read::LABEL_NAMES;
pub use crate::read::csv::quote;
use crate::table::labels::is_missing;
use columnar::Columns;
use numbers::{push_number, push_whole};
use std::io::{self, Write};
use std::path::Path;

/// A format that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputFormat {
    /// A table with this delimiter.
    Table(u8),
    /// Lines of `label index:value ...`, indices from 1.
    Svmlight,
    /// Apache Parquet, values as binary64 and labels as text. Needs the feature `arrow`.
    Parquet,
    /// An Arrow IPC file, the same. Needs the feature `arrow`.
    Arrow,
}

impl OutputFormat {
    /// The format and packing that a file name asks for, such as `data.csv.gz`.
    pub fn of_path(path: &Path) -> (Option<OutputFormat>, Packing) {
        let name = path.file_name().map(|n| n.to_string_lossy().to_lowercase()).unwrap_or_default();
        let (name, packing) = if let Some(inner) = name.strip_suffix(".gz") {
            (inner, Packing::Gzip)
        } else if let Some(inner) = name.strip_suffix(".zst") {
            (inner, Packing::Zstd)
        } else {
            (name.as_str(), Packing::Plain)
        };
        let format = match name.rsplit_once('.').map(|(_, extension)| extension) {
            Some("csv") => Some(OutputFormat::Table(b',')),
            Some("tsv" | "tab") => Some(OutputFormat::Table(b'\t')),
            Some("svm" | "svmlight" | "libsvm") => Some(OutputFormat::Svmlight),
            Some("parquet" | "pq") => Some(OutputFormat::Parquet),
            Some("arrow" | "feather" | "ipc") => Some(OutputFormat::Arrow),
            _ => None,
        };
        (format, packing)
    }

    /// Whether the columns have names in it.
    pub fn has_names(self) -> bool {
        self != OutputFormat::Svmlight
    }
}

/// What of a data set a format cannot hold, in words; empty when nothing is lost.
pub fn losses(data: &Dataset, format: OutputFormat) -> Vec<String> {
    let mut losses = Vec::new();
    if format == OutputFormat::Svmlight && data.weights().is_some() {
        losses.push("svmlight has no place for row weights".to_owned());
    }
    losses.extend(unfit_label(data.label_names(), format));
    losses
}

/// The first of these labels that a format cannot hold, in words.
pub fn unfit_label(names: &[String], format: OutputFormat) -> Option<String> {
    let in_table = |name: &&String| is_missing(name.as_bytes()) || name.contains('\0');
    let in_lines = |name: &&String| {
        name.is_empty()
            || name.starts_with('#')
            || name.contains([':', '\n', '\r', '\0'])
            || name.contains(char::is_whitespace)
    };
    match format {
        OutputFormat::Table(_) | OutputFormat::Parquet | OutputFormat::Arrow => names
            .iter()
            .find(in_table)
            .map(|name| format!("in a table the label \"{name}\" would read as a missing value")),
        OutputFormat::Svmlight => names
            .iter()
            .find(in_lines)
            .map(|name| format!("svmlight cannot hold the label \"{name}\"")),
    }
}

/// Writes all rows. Losses are the caller's decision: see [`losses`].
pub fn write(data: &Dataset, format: OutputFormat, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = match format.has_names() {
        true => {
            let names = data.input().feature_names();
            let label = data.input().label.as_ref().and_then(|label| label.name.clone());
            let label = label.unwrap_or_else(|| free_name("label", &names));
            let weight = data.weights().map(|_| free_name("weight", &names));
            RowWriter::new(out, format, &label, &names, weight.as_deref())?
        }
        false => RowWriter::svmlight(out),
    };
    let mut entries = Vec::new();
    // A label alone could be anything; one explicit 0 shows what the lines are.
    let is_zero = format == OutputFormat::Svmlight && data.nonzeros() == 0;
    for row in 0..data.n_rows() {
        entries.clear();
        data.for_each(row, |column, value| entries.push((column, value)));
        if is_zero && row == 0 {
            entries.push((0, 0.0));
        }
        let weight = data.weights().map(|weights| weights[row]);
        writer.row(data.label_text(row), &entries, weight)?;
    }
    writer.finish()
}

fn free_name(wanted: &str, names: &[String]) -> String {
    let mut name = wanted.to_owned();
    while names.contains(&name) {
        name.insert(0, '_');
    }
    name
}

/// Writes row after row in constant memory. [`RowWriter::finish`] must be called at the end.
pub struct RowWriter<'a>(Rows<'a>);

enum Rows<'a> {
    Lines(Lines<'a>),
    Columns(Columns<'a>),
}

/// Rows as lines of text.
struct Lines<'a> {
    out: &'a mut dyn Write,
    delimiter: Option<u8>,
    label_first: bool,
    width: usize,
    text: Vec<u8>,
}

impl<'a> RowWriter<'a> {
    /// Rows in a format, with the names of the columns where it has those.
    pub fn new(
        out: &'a mut dyn Write,
        format: OutputFormat,
        label: &str,
        names: &[String],
        weight: Option<&str>,
    ) -> io::Result<RowWriter<'a>> {
        match format {
            OutputFormat::Table(delimiter) => {
                RowWriter::table(out, delimiter, label, names, weight)
            }
            OutputFormat::Svmlight => Ok(RowWriter::svmlight(out)),
            OutputFormat::Parquet | OutputFormat::Arrow => {
                let columns = Columns::new(out, format, label, names, weight, label_first(label))?;
                Ok(RowWriter(Rows::Columns(columns)))
            }
        }
    }

    /// A table: features and weight, with the label before them if its name alone tells that it is
    /// one, else behind them, so that a reader finds it without being told. Writes the header.
    pub fn table(
        out: &'a mut dyn Write,
        delimiter: u8,
        label: &str,
        names: &[String],
        weight: Option<&str>,
    ) -> io::Result<RowWriter<'a>> {
        let label_first = label_first(label);
        let (before, after) = if label_first { (Some(label), None) } else { (None, Some(label)) };
        let mut text = Vec::new();
        let columns = names.iter().map(String::as_str).chain(weight);
        for (k, name) in before.into_iter().chain(columns).chain(after).enumerate() {
            if k > 0 {
                text.push(delimiter);
            }
            quote(name, delimiter, &mut text);
        }
        text.push(b'\n');
        out.write_all(&text)?;
        let (delimiter, width) = (Some(delimiter), names.len());
        Ok(RowWriter(Rows::Lines(Lines { out, delimiter, label_first, width, text })))
    }

    /// svmlight lines.
    pub fn svmlight(out: &'a mut dyn Write) -> RowWriter<'a> {
        let (label_first, width, text) = (true, 0, Vec::new());
        RowWriter(Rows::Lines(Lines { out, delimiter: None, label_first, width, text }))
    }

    /// Writes what the underlying writer holds back. Rows of Parquet and Arrow wait for their group.
    pub fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Rows::Lines(lines) => lines.out.flush(),
            Rows::Columns(_) => Ok(()),
        }
    }

    /// Writes what is still held back, and the footer where the format has one.
    pub fn finish(self) -> io::Result<()> {
        match self.0 {
            Rows::Lines(lines) => lines.out.flush(),
            Rows::Columns(columns) => columns.finish(),
        }
    }

    /// Writes one row given by its non-zero entries, columns rising.
    pub fn row(
        &mut self,
        label: &str,
        entries: &[(u32, f64)],
        weight: Option<f64>,
    ) -> io::Result<()> {
        match &mut self.0 {
            Rows::Lines(lines) => lines.row(label, entries, weight),
            Rows::Columns(columns) => columns.row(label, entries, weight),
        }
    }
}

/// Whether the name alone tells that a column is the label, so that it stands before the others.
fn label_first(label: &str) -> bool {
    LABEL_NAMES.iter().any(|name| label.eq_ignore_ascii_case(name))
}

impl Lines<'_> {
    fn row(&mut self, label: &str, entries: &[(u32, f64)], weight: Option<f64>) -> io::Result<()> {
        self.text.clear();
        match self.delimiter {
            None => {
                self.text.extend_from_slice(label.as_bytes());
                for &(column, value) in entries {
                    self.text.push(b' ');
                    push_whole(u64::from(column) + 1, &mut self.text);
                    self.text.push(b':');
                    push_number(value, &mut self.text);
                }
            }
            Some(delimiter) => {
                if self.label_first {
                    quote(label, delimiter, &mut self.text);
                }
                let mut next = entries.iter().peekable();
                for column in 0..self.width as u32 {
                    if self.label_first || column > 0 {
                        self.text.push(delimiter);
                    }
                    match next.next_if(|(j, _)| *j == column) {
                        Some(&(_, value)) => push_number(value, &mut self.text),
                        None => self.text.push(b'0'),
                    }
                }
                if let Some(weight) = weight {
                    self.text.push(delimiter);
                    push_number(weight, &mut self.text);
                }
                if !self.label_first {
                    self.text.push(delimiter);
                    quote(label, delimiter, &mut self.text);
                }
            }
        }
        self.text.push(b'\n');
        self.out.write_all(&self.text)
    }
}

/// An error that refuses a conversion that loses something.
pub fn refuse_losses(losses: &[String]) -> Result<()> {
    if losses.is_empty() {
        return Ok(());
    }
    let message = format!("{}; `allow-lossy` converts all the same", losses.join("; "));
    Err(Error::Usage { code: Code::LOSSY, message })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_format_and_packing() {
        let of = |name: &str| OutputFormat::of_path(Path::new(name));
        assert_eq!(of("a.csv.gz"), (Some(OutputFormat::Table(b',')), Packing::Gzip));
        assert_eq!(of("a.TSV"), (Some(OutputFormat::Table(b'\t')), Packing::Plain));
        assert_eq!(of("a.svm.zst"), (Some(OutputFormat::Svmlight), Packing::Zstd));
        assert_eq!(of("a.parquet"), (Some(OutputFormat::Parquet), Packing::Plain));
        assert_eq!(of("a.arrow"), (Some(OutputFormat::Arrow), Packing::Plain));
        assert_eq!(of("a"), (None, Packing::Plain));
    }
}
