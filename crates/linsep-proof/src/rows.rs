//! What the checker needs to know about data.

use crate::basis::Basis;
use serde::{Deserialize, Serialize};

/// Labelled rows of numbers. The checker reads them and trusts nothing else; what a basis makes of
/// them it computes itself.
pub trait Rows: Sync {
    /// Number of rows.
    fn len(&self) -> u64;

    /// Number of columns.
    fn width(&self) -> usize;

    /// The label of a row in normal form.
    fn label(&self, row: u64) -> &str;

    /// Calls `each` with (column, value) of every value of a row that is not 0, columns rising.
    fn for_each(&self, row: u64, each: &mut dyn FnMut(u32, f64));

    /// The values of a row all at once, for passes that have to be fast; what is not there is 0.
    fn entries<'a>(&'a self, row: u64, buffer: &'a mut RowBuffer) -> Entries<'a> {
        buffer.clear();
        self.for_each(row, &mut |column, value| buffer.push(column, value));
        buffer.entries()
    }

    /// Puts a row into `columns` and `values`, whatever they held: the values that are not 0 with their
    /// columns, rising, or all values of the row without any columns.
    fn load(&self, row: u64, columns: &mut Vec<u32>, values: &mut Vec<f64>) {
        columns.clear();
        values.clear();
        self.for_each(row, &mut |column, value| {
            columns.push(column);
            values.push(value);
        });
    }

    /// All values of a row as decimals, for rows that are held so and are mostly not 0.
    fn decimals(&self, row: u64) -> Option<Decimals<'_>> {
        let _ = row;
        None
    }

    /// Whether a row takes part at all; a row of weight 0 does not.
    fn takes_part(&self, row: u64) -> bool;

    /// How much a row counts in a sum of squares or in counts: 1 without weights.
    fn weight(&self, row: u64) -> f64 {
        f64::from(u8::from(self.takes_part(row)))
    }

    /// What people call a column.
    fn column_name(&self, column: u32) -> String {
        format!("column {column}")
    }

    /// The basis functions that claims about these rows mean; rows and columns are those before it.
    fn basis(&self) -> Option<&Basis> {
        None
    }

    /// Whether there are no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The values of a row in binary64.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Entries<'a> {
    /// One for each column.
    Dense(&'a [f64]),
    /// Columns, rising, and as many values.
    Sparse(&'a [u32], &'a [f64]),
}

/// The values of a row as decimals: value j is the binary64 next to `numbers[j] / tens[j]`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Decimals<'a> {
    /// One for each column.
    pub numbers: &'a [i32],
    /// A power of ten for each column, or one for all of them.
    pub tens: &'a [f64],
}

impl<'a> Decimals<'a> {
    /// These numbers over these powers of ten.
    pub fn new(numbers: &'a [i32], tens: &'a [f64]) -> Decimals<'a> {
        Decimals { numbers, tens }
    }
}

/// Room for the values of a row.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RowBuffer {
    /// Columns, where they are listed.
    pub columns: Vec<u32>,
    /// Values.
    pub values: Vec<f64>,
}

impl RowBuffer {
    /// Forgets what it holds.
    pub fn clear(&mut self) {
        self.columns.clear();
        self.values.clear();
    }

    /// Adds a value.
    pub fn push(&mut self, column: u32, value: f64) {
        self.columns.push(column);
        self.values.push(value);
    }

    /// What it holds, as a row.
    pub fn entries(&self) -> Entries<'_> {
        Entries::Sparse(&self.columns, &self.values)
    }
}

/// What a stored binary64 stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reading {
    /// The decimal of at most 15 significant digits that rounds to it.
    Decimal,
    /// Itself.
    Binary64,
}
