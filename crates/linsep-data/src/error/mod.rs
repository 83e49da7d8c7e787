//! One error type for the whole library.
//!
//! Every error has a stable code (`E0104`), says what happened in words, and, where the fault lies in
//! the user's data, knows the place: file, line, column, row, field, value. [`Code`] lists all codes
//! with their explanation.

mod code;
mod escape;
mod number;

pub use code::Code;
pub use escape::{escaped, escaped_json, escaped_lines, is_unprintable, printable};
#[doc(hidden)]
pub use number::{grouped, readable};

use linsep_proof::{Claim, Weighted};
use std::fmt;
use std::path::{Path, PathBuf};

/// The result of everything in this library that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Anything that can go wrong, sorted by who has to act on it.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A setting has a value that cannot be used.
    Usage {
        /// The stable code.
        code: Code,
        /// What is wrong and what is accepted.
        message: String,
    },
    /// The input data is wrong. Holds the first problems found, in the order of the file.
    Data(Box<DataError>),
    /// A model file is wrong.
    Model {
        /// The stable code.
        code: Code,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// No plane separates rows of which that was asked.
    Inseparable {
        /// Which classes, and which rows prove it.
        message: String,
        /// The proof.
        claim: Box<Claim>,
    },
    /// A limit was reached before the goal.
    Limit {
        /// The stable code.
        code: Code,
        /// Which limit, and what had been reached.
        message: String,
    },
    /// The memory limit does not allow what was asked for.
    Memory {
        /// What needed the memory.
        purpose: String,
        /// The bytes needed, at least.
        needed: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The operating system refused to read or write.
    Io {
        /// What was tried, as a verb phrase such as "read".
        action: &'static str,
        /// The file or stream.
        path: PathBuf,
        /// The system's own words.
        source: std::io::Error,
    },
    /// The caller asked to stop while data was being read.
    Interrupted,
}

/// Problems in the input data.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DataError {
    /// The first few problems; never empty.
    pub problems: Vec<Problem>,
    /// How many rows are bad altogether, as far as was counted.
    pub bad_rows: u64,
    /// How many rows were read, bad ones included.
    pub rows: u64,
    /// True when counting was given up because too many rows were bad.
    pub more: bool,
}

/// One problem in the input data with its place.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Problem {
    /// The stable code.
    pub code: Code,
    /// What is wrong, without the place.
    pub message: String,
    /// Where.
    pub place: Place,
    /// The offending text, already cut to a printable length.
    pub value: Option<String>,
    /// What to do about it.
    pub help: Option<String>,
}

/// Where in the input something stands. What is not known is `None`.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Place {
    /// The file or stream as the user named it.
    pub file: Option<String>,
    /// 1-based line of the text file.
    pub line: Option<u64>,
    /// 1-based column in characters within that line.
    pub column: Option<u64>,
    /// 0-based data row.
    pub row: Option<u64>,
    /// 1-based field of the record, and its name where there is a header.
    pub field: Option<(u64, Option<String>)>,
    /// The line itself, printable and cut, with the position of the value in it.
    pub excerpt: Option<Excerpt>,
}

linsep_proof::setters! {
    Place {
        with_file => file: Option<String>,
        with_line => line: Option<u64>,
        with_column => column: Option<u64>,
        with_row => row: Option<u64>,
        with_field => field: Option<(u64, Option<String>)>,
        with_excerpt => excerpt: Option<Excerpt>,
    }
}

/// A printable piece of an input line and the part of it that is wrong.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Excerpt {
    /// The text, control characters escaped.
    pub text: String,
    /// Where the marked part starts, in characters.
    pub start: usize,
    /// How many characters are marked.
    pub len: usize,
}

impl Error {
    /// The stable code of this error.
    pub fn code(&self) -> Code {
        match self {
            Error::Usage { code, .. } | Error::Model { code, .. } | Error::Limit { code, .. } => {
                *code
            }
            Error::Data(data) => data.problems[0].code,
            Error::Inseparable { .. } => Code::NOT_SEPARABLE,
            Error::Memory { .. } => Code::MEMORY,
            Error::Io { .. } => Code::IO,
            Error::Interrupted => Code::INTERRUPTED,
        }
    }

    /// Where in the data the (first) problem stands.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Error::Data(data) => Some(&data.problems[0].place),
            _ => None,
        }
    }

    /// A wrong setting.
    pub fn usage(message: impl Into<String>) -> Error {
        Error::Usage { code: Code::SETTING, message: message.into() }
    }

    /// A problem with the data as a whole.
    pub fn data(code: Code, message: impl Into<String>, place: Place) -> Error {
        Problem::new(code, message, place).into()
    }

    /// Rows that no plane separates, from the claim that proves it.
    pub fn inseparable(claim: Claim) -> Error {
        const SHOWN: usize = 6;
        let quoted = |names: &[String]| {
            let names = names.iter().take(SHOWN).map(|name| printable(name.as_bytes(), 30));
            names.collect::<Vec<_>>().join(", ")
        };
        let classes = claim.problem().map_or_else(
            || "the classes".to_owned(),
            |problem| {
                let more = if problem.negative.len() > SHOWN { ", …" } else { "" };
                format!("{} from {}{more}", quoted(&problem.positive), quoted(&problem.negative))
            },
        );
        let witness: &[Weighted] = match &claim {
            Claim::Inseparable { witness, .. }
            | Claim::Touching { witness, .. }
            | Claim::Overlapping { witness, .. } => witness,
            _ => &[],
        };
        let place = |entry: &Weighted| match (&entry.file, entry.line) {
            (Some(file), Some(line)) => format!("{file}:{line}"),
            (None, Some(line)) => line.to_string(),
            _ => format!("row {}", entry.row),
        };
        let mut places: Vec<String> = witness.iter().take(SHOWN).map(place).collect();
        if witness.len() > SHOWN {
            places.push(format!("and {} more", witness.len() - SHOWN));
        }
        let lines = witness.iter().all(|entry| entry.file.is_none() && entry.line.is_some());
        let what = if lines { "lines " } else { "" };
        let (count, places) = (witness.len(), places.join(", "));
        let message =
            format!("no plane separates {classes}: {count} rows prove it ({what}{places})");
        Error::Inseparable { message, claim: Box::new(claim) }
    }

    /// An error of the operating system while doing `action` on `path`.
    pub fn io(action: &'static str, path: &Path, source: std::io::Error) -> Error {
        Error::Io { action, path: path.to_path_buf(), source }
    }
}

impl Problem {
    /// A problem without value or advice.
    pub fn new(code: Code, message: impl Into<String>, place: Place) -> Problem {
        Problem { code, message: message.into(), place, value: None, help: None }
    }

    /// Adds the offending text, made printable.
    pub fn value(mut self, value: &[u8]) -> Problem {
        self.value = Some(printable(value, 60));
        self
    }

    /// Adds advice.
    pub fn help(mut self, help: impl Into<String>) -> Problem {
        self.help = Some(help.into());
        self
    }
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Error {
        Error::Data(Box::new(DataError {
            problems: vec![problem],
            bad_rows: 0,
            rows: 0,
            more: false,
        }))
    }
}

impl Place {
    /// A place that only names the file.
    pub fn file(name: impl Into<String>) -> Place {
        Place { file: Some(name.into()), ..Place::default() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.file.as_deref().unwrap_or("input"))?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
            if let Some(column) = self.column {
                write!(f, ":{column}")?;
            }
        }
        let row = self.row.map(|row| format!("row {row}"));
        let field = self.field.as_ref().map(|(number, name)| match name {
            Some(name) => format!("column {number} \"{}\"", printable(name.as_bytes(), 40)),
            None => format!("column {number}"),
        });
        let details: Vec<String> = row.into_iter().chain(field).collect();
        if !details.is_empty() {
            write!(f, "  ({})", details.join(", "))?;
        }
        Ok(())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Usage { message, .. }
            | Error::Limit { message, .. }
            | Error::Inseparable { message, .. } => f.write_str(message),
            Error::Data(data) => {
                let first = &data.problems[0];
                write!(f, "{} at {}", first.message, first.place)?;
                match &first.value {
                    Some(value) => write!(f, ": \"{value}\""),
                    None => Ok(()),
                }
            }
            Error::Model { path, reason, .. } => write!(f, "{}: {reason}", path.display()),
            Error::Memory { purpose, needed, limit } => write!(
                f,
                "{purpose} needs at least {} but the memory limit is {}",
                size(*needed),
                size(*limit)
            ),
            Error::Io { action, path, source } => {
                write!(f, "cannot {action} {}: {source}", path.display())
            }
            Error::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// A number of bytes for readers.
#[doc(hidden)]
pub fn size(bytes: u64) -> String {
    match bytes {
        0..=1_048_575 => format!("{bytes} bytes"),
        _ => format!("{:.1} MiB", bytes as f64 / (1024.0 * 1024.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_prints_like_a_compiler_message() {
        let place = Place {
            file: Some("flowers.csv".into()),
            line: Some(37),
            column: Some(12),
            row: Some(35),
            field: Some((3, Some("petal_len".into()))),
            excerpt: None,
        };
        assert_eq!(place.to_string(), "flowers.csv:37:12  (row 35, column 3 \"petal_len\")");
        assert_eq!(Place::default().to_string(), "input");
    }
}
