//! How a data set is to be read: the choices that every command with data input shares.

use crate::error::{Error, Result};
pub use crate::table::columns::{ColumnRange, ColumnRef, ReadingChoice};
use crate::table::terms::{Reference, Terms};
use crate::words;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The choices of a reader. [`ReadOptions::default`] reads what most files need.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The file format; found by content when [`Format::Auto`].
    pub format: Format,
    /// The label column; found by name and type when `None`.
    pub label: Option<ColumnRef>,
    /// The class that counts as positive. With more than two classes the others become one.
    pub positive: Option<String>,
    /// The columns to use; all when empty.
    pub features: Vec<ColumnRange>,
    /// The columns to leave out.
    pub drop: Vec<ColumnRange>,
    /// The columns to use although they look like an index, dates or names.
    pub keep: Vec<ColumnRange>,
    /// The column with row weights.
    pub weight: Option<ColumnRef>,
    /// Whether the first record is a header; found by content when `None`.
    pub header: Option<bool>,
    /// The delimiter of a table, a blank for any number of them; found by content when `None`.
    pub delimiter: Option<u8>,
    /// The decimal mark of a table, a point or a comma; found by content when `None`.
    pub decimal: Option<u8>,
    /// What to do where a value is missing.
    pub missing: Missing,
    /// Add a feature for each column with missing values that says where they are.
    pub missing_indicator: bool,
    /// Hand rows with missing values on, marked, to a model that was trained without such rows.
    pub mark_gaps: bool,
    /// Hand rows on with the texts of all fields, also where the file is no text: see
    /// [`Chunk::fields`](super::Chunk::fields).
    pub keep_fields: bool,
    /// What to do with text columns.
    pub categorical: Categorical,
    /// The levels that text columns have no feature for.
    pub references: Vec<Reference>,
    /// The terms for which columns are wanted: those that it names are read, no others.
    pub terms: Option<Terms>,
    /// What a model does with a category that training did not see.
    pub unknown_level: UnknownLevel,
    /// What to do with rows that cannot be used.
    pub bad_rows: BadRows,
    /// How many bad rows are accepted when they are skipped; `None` accepts any number of rows that
    /// are kept apart and none that are only skipped.
    pub allow_bad: Option<u64>,
    /// Where svmlight indices start; found by content when `None`.
    pub index_base: Option<u8>,
    /// Read at most this many rows.
    pub limit: Option<u64>,
    /// How exact proofs are to understand the numbers.
    pub reading: ReadingChoice,
    /// Round integers that have no exact binary64 instead of refusing them.
    pub allow_lossy: bool,
    /// Worker threads. Never changes a bit of the result.
    pub threads: usize,
    /// Refuse to hold more than this many bytes in memory; see [`crate::memory::set_share`] for what may go
    /// to temporary files.
    pub max_memory: Option<u64>,
    /// Stop reading when this turns true.
    pub stop: Option<Arc<AtomicBool>>,
}

linsep_proof::setters! {
    ReadOptions {
        with_format => format: Format,
        with_label => label: Option<ColumnRef>,
        with_positive => positive: Option<String>,
        with_features => features: Vec<ColumnRange>,
        with_drop => drop: Vec<ColumnRange>,
        with_keep => keep: Vec<ColumnRange>,
        with_weight => weight: Option<ColumnRef>,
        with_header => header: Option<bool>,
        with_delimiter => delimiter: Option<u8>,
        with_decimal => decimal: Option<u8>,
        with_missing => missing: Missing,
        with_missing_indicator => missing_indicator: bool,
        with_mark_gaps => mark_gaps: bool,
        with_keep_fields => keep_fields: bool,
        with_categorical => categorical: Categorical,
        with_references => references: Vec<Reference>,
        with_terms => terms: Option<Terms>,
        with_unknown_level => unknown_level: UnknownLevel,
        with_bad_rows => bad_rows: BadRows,
        with_allow_bad => allow_bad: Option<u64>,
        with_index_base => index_base: Option<u8>,
        with_limit => limit: Option<u64>,
        with_reading => reading: ReadingChoice,
        with_allow_lossy => allow_lossy: bool,
        with_threads => threads: usize,
        with_max_memory => max_memory: Option<u64>,
        with_stop => stop: Option<Arc<AtomicBool>>,
    }
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            format: Format::Auto,
            label: None,
            positive: None,
            features: Vec::new(),
            drop: Vec::new(),
            keep: Vec::new(),
            weight: None,
            header: None,
            delimiter: None,
            decimal: None,
            missing: Missing::Error,
            missing_indicator: false,
            mark_gaps: false,
            keep_fields: false,
            categorical: Categorical::Auto,
            references: Vec::new(),
            terms: None,
            unknown_level: UnknownLevel::Error,
            bad_rows: BadRows::Error,
            allow_bad: None,
            index_base: None,
            limit: None,
            reading: ReadingChoice::Auto,
            allow_lossy: false,
            threads: 1,
            max_memory: None,
            stop: None,
        }
    }
}

words! {
    /// The format of a file.
    Format: "format" {
        /// Content first, extension second.
        Auto = "auto",
        /// A table with any delimiter.
        Csv = "csv",
        /// A table delimited by tabs.
        Tsv = "tsv",
        /// Lines of `label index:value ...`.
        Svmlight = "svmlight",
        /// Apache Parquet.
        Parquet = "parquet",
        /// Arrow IPC, as a file or a stream.
        Arrow = "arrow",
    }
}

words! {
    /// What to do where a value is missing.
    Missing: "rule for missing values" {
        /// Refuse the row.
        Error = "error",
        /// Leave the row out.
        DropRow = "drop-row",
        /// Put the mean of the column's other values.
        Mean = "mean",
        /// Put the median of the column's other values.
        Median = "median",
        /// Put the most frequent of the column's other values, the smallest of several.
        Mode = "mode",
        /// Put 0.
        Zero = "zero",
    }
}

words! {
    /// What to do with text columns.
    Categorical: "rule for text columns" {
        /// One column of 0 and 1 for each of at most 50 levels; dates and names are left out.
        Auto = "auto",
        /// Refuse them.
        Error = "error",
        /// One column of 0 and 1 for each level.
        OneHot = "onehot",
        /// The same without the first level, so that a bias goes with them.
        OneHotDrop = "onehot-drop",
    }
}

words! {
    /// What a model does with a category that training did not see.
    UnknownLevel: "rule for unknown categories" {
        /// Refuse the row.
        Error = "error",
        /// No level is set.
        Zeros = "zeros",
    }
}

words! {
    /// What to do with rows that cannot be used.
    BadRows: "rule for bad rows" {
        /// Refuse the file.
        Error = "error",
        /// Leave them out.
        Skip = "skip",
        /// Leave them out and keep their text apart.
        Reject = "reject",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_named_numbered_or_ranged() {
        assert_eq!("age".parse::<ColumnRef>().unwrap(), ColumnRef::Name("age".into()));
        assert_eq!("#1".parse::<ColumnRef>().unwrap(), ColumnRef::Number(0));
        assert_eq!("#3-#7".parse::<ColumnRange>().unwrap(), ColumnRange::Numbers(2, 6));
        for bad in ["#0", "#x", "#3-#1", ""] {
            assert!(bad.parse::<ColumnRange>().is_err(), "{bad}");
        }
    }

    #[test]
    fn words_are_parsed_and_wrong_ones_listed() {
        assert_eq!("drop-row".parse::<Missing>().unwrap(), Missing::DropRow);
        let message = "middle".parse::<Missing>().unwrap_err().to_string();
        assert!(message.contains("error, drop-row, mean, median, mode, zero"), "{message}");
    }
}
