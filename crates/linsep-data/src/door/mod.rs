//! Doors for matrices: arrays become [`Features`] without a detour over text.
//!
//! An array of any number type, order and sparsity is taken as the table of binary64 numbers that equal
//! its values. What is held depends on that table alone, not on the door it came through: the same table
//! from a CSV file that has the shortest text of each value is held in the same bytes and has the same
//! digest. With n rows, d columns, z values that are not 0, and b_D, b_S the bytes of one value in the
//! narrowest encoding that loses nothing (dense and sparse), rows are dense if
//!
//! ```text
//! n · d · b_D  ≤  3/2 · (z · (4 + b_S) + 4 · n)
//! ```
//!
//! | encoding | b | if |
//! |---|---|---|
//! | `ones` | 0 | rows are sparse and every value that is not 0 is 1 |
//! | `table8` | 1 | at most 255 distinct values beside 0 |
//! | `int32` | 4 | values of each column (of all columns, if sparse) are whole numbers below 2^31 − 2 over 10^k, where k are the most decimal places |
//! | `f32` | 4 | every value is a binary32 |
//! | `f64` | 8 | otherwise |
//!
//! A first pass finds the encoding, a second one puts the values in their final places, both in blocks
//! of rows that threads share. Beside the result only blocks of some thousand values are held.
//!
//! ```
//! use linsep_data::door::{ArrayOptions, CsrArray, DenseArray, Labels};
//! use linsep_data::{Dataset, Features};
//!
//! // Three rows of two columns, one row after the other.
//! let lengths = [5.1f32, 3.5, 4.9, 3.0, 6.2, 2.9];
//! let features = Features::dense(&lengths, 3, 2)?;
//! let flowers = Dataset::new(features, Labels::text(&["setosa", "setosa", "virginica"])?, None)?;
//! assert_eq!(flowers.n_classes(), 2);
//!
//! // The same values one column after the other, with names, on two threads.
//! let columns = [5.1f32, 4.9, 6.2, 3.5, 3.0, 2.9];
//! let options = ArrayOptions::default().names(["length", "width"]).threads(2);
//! let same = Features::from_array(DenseArray::column_major(&columns, 3, 2), &options)?;
//! assert_eq!(same.row(2), flowers.row(2));
//!
//! // Compressed sparse rows with two and one entries.
//! let words = CsrArray::new(&[0i64, 2, 3], &[7i32, 2, 4], &[1u8, 1, 1], 10);
//! let words = Features::from_array(words, &ArrayOptions::default())?;
//! assert_eq!(words.nonzeros(), 3);
//! # Ok::<(), linsep_data::Error>(())
//! ```

#[cfg(any(feature = "ndarray", feature = "sprs"))]
mod adapters;
mod array;
mod encode;
mod labels;
mod load;
mod rows;
mod sparse;
mod survey;

pub use array::{Array, Column, ColumnsArray, CsrArray, DenseArray, Indices, Matrix};
pub use labels::Labels;
pub use rows::{ArrayRows, RowEntries, RowsRoom, Unproved};

use crate::error::{Code, Error, Place, Problem, Result};
use crate::input::{InputColumn, InputMap};
use crate::matrix::RowCopies;
use crate::table::columns::ReadingChoice;
use crate::{Features, Origin, Reading};
use linsep_kernels::number;
use load::Source;

/// How an array is taken.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ArrayOptions {
    /// The names of the columns.
    pub names: Option<Vec<String>>,
    /// How exact proofs are to understand the numbers. Without a choice a value means itself, binary64;
    /// with `decimal` it means its shortest decimal, where that has at most 15 digits.
    pub reading: ReadingChoice,
    /// What stands for missing values of columns; without it a missing value is an error.
    pub fill: Option<f64>,
    /// Round integers that have no exact binary64 instead of refusing them.
    pub allow_lossy: bool,
    /// Worker threads. Never changes a bit of the result.
    pub threads: usize,
    /// Refuse to hold more than this many bytes.
    pub max_memory: Option<u64>,
}

impl Default for ArrayOptions {
    fn default() -> ArrayOptions {
        ArrayOptions {
            names: None,
            reading: ReadingChoice::Auto,
            fill: None,
            allow_lossy: false,
            threads: 1,
            max_memory: None,
        }
    }
}

impl ArrayOptions {
    /// With names for the columns.
    pub fn names<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> ArrayOptions {
        self.names = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// With a choice how exact proofs understand the numbers.
    pub fn reading(mut self, reading: ReadingChoice) -> ArrayOptions {
        self.reading = reading;
        self
    }

    /// With a number that stands for missing values of columns.
    pub fn fill(mut self, value: f64) -> ArrayOptions {
        self.fill = Some(value);
        self
    }

    /// Rounding integers that have no exact binary64, or refusing them.
    pub fn allow_lossy(mut self, allow: bool) -> ArrayOptions {
        self.allow_lossy = allow;
        self
    }

    /// With so many worker threads.
    pub fn threads(mut self, threads: usize) -> ArrayOptions {
        self.threads = threads;
        self
    }

    /// With a limit on the bytes that are held.
    pub fn max_memory(mut self, bytes: u64) -> ArrayOptions {
        self.max_memory = Some(bytes);
        self
    }

    fn check(&self, columns: usize) -> Result<()> {
        if self.fill.is_some_and(|fill| !fill.is_finite()) {
            return Err(Error::usage(
                "fill: what stands for missing values must be a finite number",
            ));
        }
        let Some(names) = &self.names else { return Ok(()) };
        if names.len() != columns {
            let words = format!("names: there are {} names for {columns} columns", names.len());
            return Err(Error::usage(words));
        }
        let mut sorted: Vec<&String> = names.iter().collect();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            None => Ok(()),
            Some(pair) => {
                let words = format!("two columns are named \"{}\"", pair[0]);
                Err(Problem::new(Code::DUPLICATE_NAME, words, Place::default())
                    .value(pair[0].as_bytes())
                    .help("rename one of them")
                    .into())
            }
        }
    }

    /// The map with the names, and with what stands for missing values where there can be some.
    fn input_map(&self, source: &Source<'_>) -> InputMap {
        let columns = source.columns;
        let mut map = InputMap::numeric(self.names.as_deref(), columns);
        if self.fill.is_some() && source.may_miss_values() {
            let unnamed = |position| InputColumn {
                name: None,
                position,
                missing: None,
                levels: None,
                reference: None,
                missing_level: None,
                indicator: false,
                unknown_as_zeros: false,
            };
            if map.columns.is_empty() {
                map.columns = (0..columns).map(unnamed).collect();
            }
            map.columns.iter_mut().for_each(|column| column.missing = self.fill);
        }
        map
    }
}

impl Features {
    /// The rows of an array that has one row after the other.
    pub fn dense<'a>(
        values: impl Into<Array<'a>>,
        rows: usize,
        columns: usize,
    ) -> Result<Features> {
        let array = DenseArray::row_major(values, rows, columns);
        Features::from_array(array, &ArrayOptions::default())
    }

    /// The rows of an array of any shape.
    pub fn from_array<'a>(
        array: impl Into<Matrix<'a>>,
        options: &ArrayOptions,
    ) -> Result<Features> {
        let source = Source::new(array.into(), options.allow_lossy, options.fill)?;
        options.check(source.columns)?;
        let decimal = options.reading == ReadingChoice::Decimal;
        let (store, binary64) =
            encode::store(&source, decimal, options.threads, options.max_memory)
                .map_err(|error| named(error, options.names.as_deref()))?;
        Ok(Features {
            store: RowCopies::new(store),
            expansion: None,
            input: options.input_map(&source),
            reading: Reading { decimal, binary64 },
            origin: Origin::default(),
        })
    }
}

/// Gives the columns in an error their names.
fn named(mut error: Error, names: Option<&[String]>) -> Error {
    if let (Error::Data(data), Some(names)) = (&mut error, names) {
        for (number, name) in data.problems.iter_mut().filter_map(|p| p.place.field.as_mut()) {
            *name = names.get(*number as usize - 1).cloned();
        }
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{ReadOptions, read};
    use crate::rng::{Purpose, Stream};

    /// Not only what can be asked of both: codes, tables, divisors and profiles are the same.
    #[test]
    fn storage_is_that_of_text_to_the_last_bit() {
        let draws: [fn(&mut Stream, usize) -> f64; 6] = [
            |s, _| s.below(50) as f64 / 4.0,
            |s, j| s.below(90_000) as f64 / 10f64.powi(j as i32 % 3),
            |s, _| if s.unit() < 0.05 { 1.0 } else { 0.0 },
            |s, j| if s.unit() < 0.1 { s.below(9000) as f64 * 0.01 } else { j as f64 % 2.0 * -0.0 },
            |s, j| if j == 2 { s.normal() } else { s.below(7) as f64 * 1e-4 },
            |s, j| if j == 4 { 9_007_199_254_740_992.0 } else { f64::from(s.normal() as f32) },
        ];
        let (rows, columns) = (120, 9);
        for (seed, draw) in draws.into_iter().enumerate() {
            let mut stream = Stream::new(seed as u64, Purpose::Generate(6));
            let values: Vec<f64> =
                (0..rows * columns).map(|k| draw(&mut stream, k % columns)).collect();
            let line = |row: &[f64]| {
                let texts: Vec<String> = row.iter().map(|x| number::shortest(*x)).collect();
                format!("{},yes\n", texts.join(","))
            };
            let text: String = values.chunks(columns).map(line).collect();
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("table.csv");
            std::fs::write(&file, text).unwrap();
            let csv = read(&[file], &ReadOptions::default()).unwrap().data;
            let array = Features::dense(&values, rows, columns).unwrap();
            let held = |features: &Features| {
                let store = features.store();
                format!("{:?} {:?}", store.shape, store.profile)
            };
            assert_eq!(held(&array), held(&csv), "draw {seed}");
        }
    }
}
