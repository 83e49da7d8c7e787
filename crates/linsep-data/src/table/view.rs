//! Rows in plain memory, borrowed: what a model scores in bulk without a data set being built.
//!
//! A view that exists is valid: its lengths fit, its numbers are finite, and the columns of every sparse
//! row rise and stay below the width. So whoever goes over it checks nothing but the width.

use crate::error::{Code, Error, Place, Problem, Result};
use crate::table::{Dataset, Features};

/// Rows of raw features without labels.
///
/// ```
/// use linsep_data::RowsView;
/// let dense = RowsView::dense(&[1.0, 0.0, 2.0, 3.0], 2, 2)?;
/// let sparse = RowsView::csr(&[0, 1, 3], &[0, 0, 1], &[1.0, 2.0, 3.0], 2)?;
/// assert_eq!((dense.n_rows(), dense.n_features()), (sparse.n_rows(), sparse.n_features()));
/// assert!(RowsView::dense(&[1.0, 2.0, 3.0], 2, 2).is_err());
/// # Ok::<(), linsep_data::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RowsView<'a>(Held<'a>);

/// Where the rows are.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum Held<'a> {
    /// One row after the other, every column present.
    Dense { values: &'a [f64], rows: usize, width: usize },
    /// Row i has the entries `starts[i]..starts[i + 1]`.
    Sparse { starts: &'a [usize], columns: &'a [u32], values: &'a [f64], width: usize },
    /// The raw features of a data set.
    Data(&'a Dataset),
    /// Those of a table without labels.
    Features(&'a Features),
}

impl<'a> Held<'a> {
    /// The features of a table, with labels or without.
    pub fn features(self) -> Option<&'a Features> {
        match self {
            Held::Data(data) => Some(data.features()),
            Held::Features(features) => Some(features),
            _ => None,
        }
    }
}

impl<'a> RowsView<'a> {
    /// Rows one after the other, `columns` numbers each.
    pub fn dense(values: &'a [f64], rows: usize, columns: usize) -> Result<RowsView<'a>> {
        check_size(rows, columns)?;
        if rows.checked_mul(columns) != Some(values.len()) {
            let words = format!("{rows} rows of {columns} columns are not {} values", values.len());
            return Err(Error::usage(words));
        }
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            return Err(not_finite(at / columns, at % columns, values[at]));
        }
        Ok(RowsView(Held::Dense { values, rows, width: columns }))
    }

    /// Compressed sparse rows: row i has the entries `starts[i]..starts[i + 1]`, columns rising; what is
    /// not listed is 0.
    pub fn csr(
        starts: &'a [usize],
        columns: &'a [u32],
        values: &'a [f64],
        width: usize,
    ) -> Result<RowsView<'a>> {
        if columns.len() != values.len() {
            let words = format!("there are {} columns for {} values", columns.len(), values.len());
            return Err(Error::usage(words));
        }
        check_size(starts.len().saturating_sub(1), width)?;
        let (first, last) = (starts.first(), starts.last());
        if first != Some(&0) || last != Some(&values.len()) {
            let words = format!("the starts of rows do not go from 0 to {}", values.len());
            return Err(Error::usage(words));
        }
        // All starts rise before any of them is used: the last one is the length.
        if let Some(row) = starts.windows(2).position(|pair| pair[1] < pair[0]) {
            let words = format!("row {row} ends at entry {}, before it starts", starts[row + 1]);
            return Err(Error::usage(words));
        }
        for (row, pair) in starts.windows(2).enumerate() {
            let (columns, values) = (&columns[pair[0]..pair[1]], &values[pair[0]..pair[1]]);
            if let Some(at) = columns.windows(2).position(|pair| pair[1] <= pair[0]) {
                let words = Code::INDEX_ORDER.title();
                return Err(Problem::new(Code::INDEX_ORDER, words, place(row, columns[at + 1]))
                    .help("sort the entries of each row by column and add up repeated ones")
                    .into());
            }
            if let Some(&column) = columns.last().filter(|column| **column as usize >= width) {
                let words = format!("the rows have {width} columns, numbered from 0");
                return Err(Error::data(Code::INDEX_TOO_LARGE, words, place(row, column)));
            }
            if let Some(at) = values.iter().position(|value| !value.is_finite()) {
                return Err(not_finite(row, columns[at] as usize, values[at]));
            }
        }
        Ok(RowsView(Held::Sparse { starts, columns, values, width }))
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        match self.0 {
            Held::Dense { rows, .. } => rows,
            Held::Sparse { starts, .. } => starts.len() - 1,
            Held::Data(data) => data.n_rows(),
            Held::Features(features) => features.n_rows(),
        }
    }

    /// Number of raw features of each row.
    pub fn n_features(&self) -> usize {
        match self.0 {
            Held::Dense { width, .. } | Held::Sparse { width, .. } => width,
            Held::Data(data) => data.raw_store().width(),
            Held::Features(features) => features.raw_store().width(),
        }
    }

    /// Calls `each` with the raw features of a row that are not 0, in rising order of the column.
    pub fn for_each(&self, row: usize, mut each: impl FnMut(u32, f64)) {
        let mut one = |column: u32, value: f64| {
            if value != 0.0 {
                each(column, value);
            }
        };
        match self.0 {
            Held::Dense { values, width, .. } => {
                let row = &values[row * width..(row + 1) * width];
                row.iter().zip(0..).for_each(|(value, column)| one(column, *value));
            }
            Held::Sparse { starts, columns, values, .. } => {
                let entries = starts[row]..starts[row + 1];
                entries.for_each(|at| one(columns[at], values[at]));
            }
            Held::Data(data) => data.raw_store().for_each_entry(row, &mut one),
            Held::Features(features) => features.raw_store().for_each_entry(row, &mut one),
        }
    }

    /// Where the rows are.
    #[doc(hidden)]
    pub fn held(&self) -> Held<'a> {
        self.0
    }
}

/// The raw features of a data set; what basis functions made of them is used where a model has the same.
impl<'a> From<&'a Dataset> for RowsView<'a> {
    fn from(data: &'a Dataset) -> RowsView<'a> {
        RowsView(Held::Data(data))
    }
}

/// Rows and columns are numbered by 32 bits.
fn check_size(rows: usize, columns: usize) -> Result<()> {
    let most = u32::MAX as usize - 1;
    match rows.max(columns) > most {
        true => Err(Error::usage(format!("{rows} rows of {columns} columns: {most} are the most"))),
        false => Ok(()),
    }
}

impl<'a> From<&'a Features> for RowsView<'a> {
    fn from(features: &'a Features) -> RowsView<'a> {
        RowsView(Held::Features(features))
    }
}

fn not_finite(row: usize, column: usize, value: f64) -> Error {
    let place = place(row, u32::try_from(column).unwrap_or(u32::MAX));
    let words = Code::NOT_FINITE.title();
    Problem::new(Code::NOT_FINITE, words, place).value(value.to_string().as_bytes()).into()
}

fn place(row: usize, column: u32) -> Place {
    Place { row: Some(row as u64), field: Some((u64::from(column) + 1, None)), ..Place::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The code of an error, with 0-based row and 1-based field.
    fn refused(view: Result<RowsView<'_>>) -> (Code, Option<u64>, Option<u64>) {
        let error = view.unwrap_err();
        match &error {
            Error::Data(data) => {
                let place = &data.problems[0].place;
                (error.code(), place.row, place.field.as_ref().map(|field| field.0))
            }
            _ => (error.code(), None, None),
        }
    }

    #[test]
    fn views_that_do_not_fit_are_refused_with_the_place() {
        let usage = Error::usage("").code();
        assert_eq!(refused(RowsView::dense(&[1.0; 5], 2, 2)), (usage, None, None));
        assert_eq!(refused(RowsView::dense(&[], usize::MAX, 2)), (usage, None, None));
        assert_eq!(refused(RowsView::dense(&[], 0, 1 << 32)), (usage, None, None));
        assert_eq!(refused(RowsView::csr(&[0], &[], &[], 1 << 32)), (usage, None, None));
        let infinite = [1.0, 2.0, 3.0, f64::INFINITY];
        assert_eq!(refused(RowsView::dense(&infinite, 2, 2)), (Code::NOT_FINITE, Some(1), Some(2)));
        let starts_refused =
            [&[][..], &[1, 2], &[0, 1], &[0, 3, 2], &[0, 2, 1, 2], &[0, usize::MAX]];
        for starts in starts_refused {
            let view = RowsView::csr(starts, &[0, 1], &[1.0, 2.0], 2);
            assert_eq!(refused(view), (usage, None, None), "{starts:?}");
        }
        assert_eq!(refused(RowsView::csr(&[0, 1], &[0, 1], &[1.0], 2)), (usage, None, None));
        for (columns, values, expected) in [
            ([0, 0], [1.0, 2.0], (Code::INDEX_ORDER, Some(1), Some(1))),
            ([1, 0], [1.0, 2.0], (Code::INDEX_ORDER, Some(1), Some(1))),
            ([1, 2], [1.0, 2.0], (Code::INDEX_TOO_LARGE, Some(1), Some(3))),
            ([0, u32::MAX], [1.0, 2.0], (Code::INDEX_TOO_LARGE, Some(1), Some(1 << 32))),
            ([0, 1], [1.0, f64::NAN], (Code::NOT_FINITE, Some(1), Some(2))),
        ] {
            let view = RowsView::csr(&[0, 0, 2], &columns, &values, 2);
            assert_eq!(refused(view), expected, "{columns:?}");
        }
    }

    #[test]
    fn rows_without_columns_and_no_rows_at_all_are_rows() {
        assert_eq!(RowsView::dense(&[], 3, 0).unwrap().n_rows(), 3);
        assert_eq!(RowsView::dense(&[], 0, 3).unwrap().n_features(), 3);
        assert_eq!(RowsView::csr(&[0], &[], &[], 7).unwrap().n_rows(), 0);
    }
}
