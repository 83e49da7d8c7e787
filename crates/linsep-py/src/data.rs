//! `Data`: features, labels and weights, copied once at the door.

use crate::arrays::{Borrowed, Numbers};
use crate::errors::exception;
use linsep::data::door::{Array, ArrayOptions, Labels};
use linsep::data::read::{ColumnRef, ReadOptions, RowSource, normal_label};
use linsep::{Dataset, Features};
use pyo3::prelude::*;
use std::sync::Arc;

/// Labelled rows that belong to Rust: nothing that happens to the arrays they came from changes them.
#[pyclass(frozen, module = "linsep._linsep")]
pub(crate) struct Data {
    pub(crate) table: Arc<Dataset>,
}

#[pymethods]
impl Data {
    /// Rows of a matrix, the place of each label in `classes`, and perhaps a weight for each row.
    #[new]
    #[pyo3(signature = (matrix, codes, classes, weights=None, names=None, threads=1, fill=None))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        matrix: &Bound<'_, PyAny>,
        codes: &Bound<'_, PyAny>,
        classes: Vec<String>,
        weights: Option<&Bound<'_, PyAny>>,
        names: Option<Vec<String>>,
        threads: usize,
        fill: Option<f64>,
    ) -> PyResult<Data> {
        let options = options(names, threads, fill);
        let borrowed = Borrowed::of(matrix)?;
        let mut marks = Vec::new();
        let matrix = borrowed.matrix(&mut marks)?;
        let codes = Numbers::of(codes)?;
        let weights = weights.map(Numbers::of).transpose()?;
        let weights = weights.as_ref().map(Numbers::list).transpose()?;
        let codes = codes.list()?;
        let make = || -> linsep::Result<Dataset> {
            let features = Features::from_array(matrix, &options)?;
            let labels = Labels::ids(codes, &classes)?;
            labelled(features, labels, weights, &classes)
        };
        let table = make().map_err(|error| exception(py, error))?;
        Ok(Data { table: Arc::new(table) })
    }

    /// The rows of a table with columns of any type, as an Arrow stream; one of them has the classes, and
    /// perhaps one the weights. Columns become features as those of files do; the second part says what was
    /// decided about them.
    #[staticmethod]
    #[pyo3(signature = (content, label, classes, weight=None, threads=1))]
    fn of_table(
        py: Python<'_>,
        content: &[u8],
        label: String,
        classes: Vec<String>,
        weight: Option<String>,
        threads: usize,
    ) -> PyResult<(Data, Vec<String>)> {
        let options = ReadOptions::default()
            .with_label(Some(ColumnRef::Name(label)))
            .with_weight(weight.map(ColumnRef::Name))
            .with_threads(threads);
        let read = || {
            let read = RowSource::reader(content, TABLE, &options).read(None)?;
            // What stands in brackets at the end names flags of the program.
            let plain =
                |words: &str| words.rsplit_once(" (").map_or(words, |(words, _)| words).to_owned();
            let notes = read.choices.columns.iter().map(|note| plain(&note.words)).collect();
            let table = read.data.with_classes(&normal(&classes), false)?;
            Ok((Data { table: Arc::new(table) }, notes))
        };
        read().map_err(|error| exception(py, error))
    }

    /// Number of rows.
    #[getter]
    fn rows(&self) -> usize {
        self.table.n_rows()
    }

    /// Number of columns.
    #[getter]
    fn features(&self) -> usize {
        self.table.n_features()
    }

    /// The names of the classes, in their order.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.table.classes().to_vec()
    }

    /// Bytes of one value as it is held, and whether rows are dense.
    #[getter]
    fn encoding(&self) -> (String, bool) {
        (format!("{:?}", self.table.encoding()).to_lowercase(), self.table.is_dense())
    }

    /// The digest of the rows, their labels and weights.
    fn digest(&self) -> String {
        self.table.digest(1)
    }

    fn __repr__(&self) -> String {
        let table = &self.table;
        format!(
            "<linsep data: {} rows, {} columns, {} classes>",
            table.n_rows(),
            table.n_features(),
            table.n_classes()
        )
    }
}

/// How arrays are taken.
pub(crate) fn options(
    names: Option<Vec<String>>,
    threads: usize,
    fill: Option<f64>,
) -> ArrayOptions {
    let mut options = ArrayOptions::default().threads(threads);
    options.names = names;
    options.fill = fill;
    options
}

/// Features with labels whose classes have the order of the caller, not that of their names.
fn labelled(
    features: Features,
    labels: Labels,
    weights: Option<Array<'_>>,
    classes: &[String],
) -> linsep::Result<Dataset> {
    Dataset::new(features, labels, weights)?.with_classes(&normal(classes), false)
}

fn normal(classes: &[String]) -> Vec<String> {
    classes.iter().map(|name| normal_label(name.trim())).collect()
}

/// What errors call a table that comes from Python.
pub(crate) const TABLE: &str = "X";
