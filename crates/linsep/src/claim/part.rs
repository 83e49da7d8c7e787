//! Some rows of a data set, as the checker sees them.

use linsep_data::Dataset;
use linsep_proof::{Basis, Rows};

/// The data, of whose rows only the marked ones take part.
pub(crate) struct Part<'a> {
    data: &'a Dataset,
    marks: &'a [bool],
}

impl<'a> Part<'a> {
    pub(crate) fn new(data: &'a Dataset, marks: &'a [bool]) -> Part<'a> {
        Part { data, marks }
    }
}

/// A mark for each row of the data: whether it is among the given ones.
pub(crate) fn marks(data: &Dataset, rows: &[u32]) -> Vec<bool> {
    let mut marks = vec![false; data.n_rows()];
    rows.iter().for_each(|&row| marks[row as usize] = true);
    marks
}

impl Rows for Part<'_> {
    fn len(&self) -> u64 {
        self.data.n_rows() as u64
    }

    fn width(&self) -> usize {
        Rows::width(self.data)
    }

    fn label(&self, row: u64) -> &str {
        Rows::label(self.data, row)
    }

    fn for_each(&self, row: u64, each: &mut dyn FnMut(u32, f64)) {
        Rows::for_each(self.data, row, each);
    }

    fn takes_part(&self, row: u64) -> bool {
        self.marks[row as usize] && Rows::takes_part(self.data, row)
    }

    fn weight(&self, row: u64) -> f64 {
        if self.marks[row as usize] { Rows::weight(self.data, row) } else { 0.0 }
    }

    fn column_name(&self, column: u32) -> String {
        Rows::column_name(self.data, column)
    }

    fn basis(&self) -> Option<&Basis> {
        Rows::basis(self.data)
    }
}
