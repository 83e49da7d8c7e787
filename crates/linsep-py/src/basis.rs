//! `Basis`: products and Gaussians of columns, as the library makes them.

use crate::arrays::Borrowed;
use crate::data::{Data, options};
use crate::errors::{exception, fault};
use linsep::data::basis::{BasisSpec, Expander};
use linsep::data::door::{ArrayRows, RowEntries, RowsRoom};
use linsep::data::input::InputMap;
use linsep::proof::{Certificate, CertificateFile, InputField};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Basis functions that fit the columns of some data.
#[pyclass(frozen, module = "linsep._linsep")]
pub(crate) struct Basis {
    input: InputMap,
    /// The same as a certificate without claims, which is how it is written down.
    text: String,
}

#[pymethods]
impl Basis {
    /// The basis that a text such as `poly:2`, `x1*x2` or `rbf:10,0.5` means on some data.
    #[new]
    fn new(py: Python<'_>, spec: &str, data: &Data, seed: u64) -> PyResult<Basis> {
        let expand = || -> linsep::Result<_> {
            let spec: BasisSpec = spec.parse()?;
            data.table.as_ref().clone().with_basis(&spec, None, seed, None)
        };
        let expanded = expand().map_err(|error| exception(py, error))?;
        let (identity, reading) = (expanded.identity(1), expanded.reading_field());
        let mut file = CertificateFile::new(identity, reading, true, Certificate::new(Vec::new()));
        file.input = InputField::of(expanded.input());
        file.basis = expanded.input().basis.as_ref().map(linsep::data::basis::Basis::claimed);
        Ok(Basis { input: expanded.input().clone(), text: file.to_json() })
    }

    /// The basis of a text of `to_json`.
    #[staticmethod]
    fn from_json(text: String) -> PyResult<Basis> {
        let refuse = |words: String| PyValueError::new_err(words);
        let file =
            CertificateFile::from_json(text.as_bytes()).map_err(|e| refuse(e.to_string()))?;
        let input = file.input.as_ref().ok_or_else(|| refuse("there is no basis in it".into()))?;
        Ok(Basis { input: InputMap::of_certificate(input).map_err(refuse)?, text })
    }

    /// The basis as text.
    fn to_json(&self) -> &str {
        &self.text
    }

    /// The names of all columns, those of the basis functions last.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.input.feature_names()
    }

    /// Every row with what the basis makes of it.
    fn transform<'py>(
        &self,
        py: Python<'py>,
        matrix: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let Some(basis) = &self.input.basis else { return Err(fault("there is no basis")) };
        let borrowed = Borrowed::of(matrix)?;
        let mut marks = Vec::new();
        let rows = ArrayRows::new(borrowed.matrix(&mut marks)?, &options(None, 1, None));
        let rows = rows.map_err(|error| exception(py, error))?;
        if rows.n_features() != self.input.features {
            let (found, wanted) = (rows.n_features(), self.input.features);
            return Err(PyValueError::new_err(format!(
                "X has {found} features, but BasisExpansion is expecting {wanted} features as input"
            )));
        }
        let (expander, width) = (Expander::new(basis, self.input.features), self.input.width());
        let mut out = Vec::with_capacity(rows.n_rows() * width);
        let mut row = Vec::new();
        let read = rows.for_each(0..rows.n_rows(), &mut RowsRoom::default(), |_, entries| {
            row.clear();
            row.resize(self.input.features, 0.0);
            match entries {
                RowEntries::All(values) => row.copy_from_slice(values),
                RowEntries::Some(columns, values) => {
                    columns.iter().zip(values).for_each(|(j, x)| row[*j as usize] = *x);
                }
            }
            expander.expand(&mut row);
            out.extend_from_slice(&row);
        });
        read.map_err(|error| exception(py, error))?;
        PyArray1::from_vec(py, out).reshape([rows.n_rows(), width])
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (&str,))> {
        Ok((py.get_type::<Basis>().getattr("from_json")?, (self.to_json(),)))
    }
}
