//! `Data`: features, labels and weights, copied once at the door.

use crate::arrays::{Borrowed, Numbers};
use crate::errors::exception;
use crate::waiting::wait;
use linsep::data::door::{Array, ArrayOptions, Labels};
use linsep::data::matrix::{Rows, Store, with_rows};
use linsep::data::read::{ColumnRef, ReadOptions, RowSource, normal_label};
use linsep::data::terms::{Reference, Terms};
use linsep::proof::digest::{BLOCK_ROWS, Multiset, Version, block_hash, row_hash};
use linsep::{Dataset, Features};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
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
    #[pyo3(signature = (content, label, classes, weight=None, threads=1, terms=None, references=Vec::new()))]
    #[allow(clippy::too_many_arguments)]
    fn of_table(
        py: Python<'_>,
        content: &[u8],
        label: String,
        classes: Vec<String>,
        weight: Option<String>,
        threads: usize,
        terms: Option<&str>,
        references: Vec<(String, String)>,
    ) -> PyResult<(Data, Vec<String>)> {
        let read = || {
            let options = ReadOptions::default()
                .with_label(Some(ColumnRef::Name(label)))
                .with_weight(weight.map(ColumnRef::Name))
                .with_terms(terms.map(str::parse).transpose()?)
                .with_references(levels(&references)?)
                .with_threads(threads);
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

    /// The rows of a file that the program reads, and what was decided about its columns. The label is a
    /// column by name or `#N`, found as the program finds it where none is given.
    #[staticmethod]
    #[pyo3(signature = (path, label=None, threads=1))]
    fn of_file(
        py: Python<'_>,
        path: PathBuf,
        label: Option<&str>,
        threads: usize,
    ) -> PyResult<(Data, Vec<String>)> {
        let label = label.map(str::parse::<ColumnRef>).transpose();
        let label = label.map_err(|error| exception(py, error))?;
        let options = ReadOptions::default().with_label(label).with_threads(threads);
        wait(py, move || {
            let read = RowSource::files(&[path], &options).read(None)?;
            let notes = read.choices.notes();
            Ok((Data { table: Arc::new(read.data) }, notes))
        })
    }

    /// The terms of a formula on these rows. `whole` refuses products of columns that are no terms, of which
    /// nothing can be proved.
    #[pyo3(signature = (terms, references, *, whole=true))]
    fn with_terms(
        &self,
        py: Python<'_>,
        terms: &str,
        references: Vec<(String, String)>,
        whole: bool,
    ) -> PyResult<Data> {
        let made = || {
            let (terms, references) = (terms.parse::<Terms>()?, levels(&references)?);
            match whole {
                true => self.table.as_ref().clone().with_terms(&terms, &references, None),
                false => self.table.design(&terms, &references, None),
            }
        };
        let table = made().map_err(|error| exception(py, error))?;
        Ok(Data { table: Arc::new(table) })
    }

    /// The features as compressed sparse rows.
    fn sparse<'py>(&self, py: Python<'py>) -> SparseRows<'py> {
        let mut rows = Entries::default();
        rows.add(self.table.store());
        rows.into_arrays(py, self.table.n_features())
    }

    /// The features as an array of two dimensions.
    fn dense<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (rows, width) = (self.table.n_rows(), self.table.n_features());
        let mut values = vec![0.0; rows * width];
        for row in 0..rows {
            let line = &mut values[row * width..][..width];
            self.table
                .store()
                .for_each_entry(row, &mut |column, value| line[column as usize] = value);
        }
        PyArray1::from_vec(py, values).reshape([rows, width])
    }

    /// The place of the class of every row.
    fn codes<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_slice(py, self.table.targets())
    }

    /// The weights of the rows, where there are some.
    fn weights<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        self.table.weights().map(|weights| PyArray1::from_slice(py, weights))
    }

    /// The names of the features.
    #[getter]
    fn feature_names(&self) -> Vec<String> {
        let input = self.table.input();
        (0..self.table.n_features()).map(|column| input.feature_name(column)).collect()
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

    /// The hashes of blocks of 4,096 rows, of which the digest is made.
    fn block_hashes<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        let table = self.table.as_ref();
        let blocks = (table.n_rows() as u64).div_ceil(BLOCK_ROWS);
        let hash = |block| PyBytes::new(py, &block_hash(Version::LATEST, table, block));
        (0..blocks).map(hash).collect()
    }

    /// The product of the rows for the digest in any order.
    fn multiset<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let table = Arc::clone(&self.table);
        let bytes = wait(py, move || Ok(Multiset::of(table.as_ref(), 1).to_bytes()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The hash of each row, by which it is found in a table of another order.
    fn row_hashes<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        let table = self.table.as_ref();
        let hash = |row| PyBytes::new(py, &row_hash(table, row));
        (0..table.n_rows() as u64).map(hash).collect()
    }

    /// w·x + b of every row.
    fn scores<'py>(
        &self,
        py: Python<'py>,
        weights: Vec<f64>,
        bias: f64,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        if weights.len() != self.table.n_features() {
            return Err(PyValueError::new_err("weights and columns differ in number"));
        }
        let score = |row: usize| {
            with_rows!(self.table.store(), rows => Rows::dot(rows, row, &weights)) + bias
        };
        Ok(PyArray1::from_vec(py, (0..self.table.n_rows()).map(score).collect()))
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

/// Reference levels of columns.
fn levels(references: &[(String, String)]) -> linsep::Result<Vec<Reference>> {
    references.iter().map(|(column, level)| Reference::of(column, level)).collect()
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

/// Compressed sparse rows: offsets, columns, values and the number of columns.
pub(crate) type SparseRows<'py> =
    (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f64>>, usize);

/// Rows on their way to Python.
pub(crate) struct Entries {
    offsets: Vec<i64>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl Default for Entries {
    fn default() -> Entries {
        Entries { offsets: vec![0], columns: Vec::new(), values: Vec::new() }
    }
}

impl Entries {
    /// Adds the rows of a store.
    pub(crate) fn add(&mut self, store: &Store) {
        for row in 0..store.rows() {
            store.for_each_entry(row, &mut |column, value| {
                self.columns.push(column);
                self.values.push(value);
            });
            self.offsets.push(self.values.len() as i64);
        }
    }

    pub(crate) fn into_arrays(self, py: Python<'_>, width: usize) -> SparseRows<'_> {
        (
            PyArray1::from_vec(py, self.offsets),
            PyArray1::from_vec(py, self.columns),
            PyArray1::from_vec(py, self.values),
            width,
        )
    }
}

/// What errors call a table that comes from Python.
pub(crate) const TABLE: &str = "X";
