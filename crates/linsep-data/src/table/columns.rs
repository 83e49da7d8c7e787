//! Columns as people name them, and how exact proofs are to understand their numbers.

use crate::error::{Error, Result};
use crate::words;

words! {
    /// How exact proofs understand the numbers of the input.
    ReadingChoice: "reading" {
        /// Decimal for text formats, binary64 for binary ones.
        Auto = "auto",
        /// 0.1 means one tenth.
        Decimal = "decimal",
        /// 0.1 means the binary64 next to one tenth.
        Binary64 = "binary64",
    }
}

/// A column, as a person names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnRef {
    /// By its name, or as `first` or `last` where no column has that name.
    Name(String),
    /// By its number, 0-based; people write `#1` for the first.
    Number(usize),
}

/// A column, or a range of columns, as people write them: `name`, `#3`, `#3-#7`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnRange {
    /// One column.
    One(ColumnRef),
    /// From a column number to another, both included, 0-based.
    Numbers(usize, usize),
}

impl std::str::FromStr for ColumnRef {
    type Err = Error;

    fn from_str(text: &str) -> Result<ColumnRef> {
        match text.strip_prefix('#') {
            None if text.is_empty() => Err(Error::usage("a column name is empty")),
            None => Ok(ColumnRef::Name(text.to_owned())),
            Some(number) => column_number(number).map(ColumnRef::Number),
        }
    }
}

impl std::str::FromStr for ColumnRange {
    type Err = Error;

    fn from_str(text: &str) -> Result<ColumnRange> {
        if let Some((from, to)) = text.strip_prefix('#').and_then(|rest| rest.split_once("-#")) {
            let (from, to) = (column_number(from)?, column_number(to)?);
            if from > to {
                return Err(Error::usage(format!("the column range {text} runs backwards")));
            }
            return Ok(ColumnRange::Numbers(from, to));
        }
        text.parse().map(ColumnRange::One)
    }
}

fn column_number(text: &str) -> Result<usize> {
    match text.parse::<usize>() {
        Ok(number) if number >= 1 => Ok(number - 1),
        _ => Err(Error::usage(format!("\"#{text}\" is no column number; the first column is #1"))),
    }
}
