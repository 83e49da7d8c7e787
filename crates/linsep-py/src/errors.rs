//! Errors of the library as exceptions of Python: the type that scikit-learn uses for the same fault, the
//! place as `X[3, 1]`, and what to do about it.

use linsep::{Claim, Code, Error, Problem};
use pyo3::exceptions::{
    PyKeyboardInterrupt, PyMemoryError, PyOSError, PyRuntimeError, PyTypeError, PyValueError,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The exception for an error, with the stable code as its attribute `code`.
pub(crate) fn exception(py: Python<'_>, error: Error) -> PyErr {
    let code = error.code();
    let raised = match &error {
        Error::Data(data) => PyValueError::new_err(in_words(&data.problems[0])),
        Error::Usage { .. } | Error::Model { .. } => PyValueError::new_err(error.to_string()),
        Error::Inseparable { message, claim } => return not_separable(py, message, claim),
        Error::Limit { .. } => PyRuntimeError::new_err(error.to_string()),
        Error::Memory { .. } => PyMemoryError::new_err(error.to_string()),
        Error::Io { source, path, .. } => match source.raw_os_error() {
            Some(number) => {
                PyOSError::new_err((number, source.to_string(), path.display().to_string()))
            }
            None => PyOSError::new_err(error.to_string()),
        },
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        other => PyRuntimeError::new_err(other.to_string()),
    };
    with_code(py, raised, code)
}

/// A wrong argument that no library function was asked about.
pub(crate) fn wrong_type(words: &str) -> PyErr {
    PyTypeError::new_err(words.to_owned())
}

/// That something went wrong that cannot go wrong.
pub(crate) fn fault(words: &str) -> PyErr {
    PyRuntimeError::new_err(format!("{words}; this is a fault of linsep, please report it"))
}

fn with_code(py: Python<'_>, raised: PyErr, code: Code) -> PyErr {
    // An exception without the attribute is still the right one.
    let _ = raised.value(py).setattr("code", code.to_string());
    raised
}

/// The exception of the package that has the rows of the proof.
fn not_separable(py: Python<'_>, message: &str, claim: &Claim) -> PyErr {
    let make = || -> PyResult<PyErr> {
        let class = py.import("linsep._warnings")?.getattr("NotSeparableError")?;
        let options = PyDict::new(py);
        options.set_item("rows", rows_of(claim))?;
        Ok(PyErr::from_value(class.call((message,), Some(&options))?))
    };
    with_code(py, make().unwrap_or_else(|error| error), Code::NOT_SEPARABLE)
}

/// The rows that a proof of inseparability consists of.
pub(crate) fn rows_of(claim: &Claim) -> Vec<u64> {
    match claim {
        Claim::Inseparable { witness, .. }
        | Claim::Touching { witness, .. }
        | Claim::Overlapping { witness, .. } => witness.iter().map(|entry| entry.row).collect(),
        Claim::JointInseparable { witness }
        | Claim::JointTouching { witness, .. }
        | Claim::JointOverlapping { witness, .. } => {
            let mut rows: Vec<u64> = witness.iter().map(|entry| entry.row).collect();
            rows.dedup();
            rows
        }
        _ => Vec::new(),
    }
}

/// What is wrong, where, with which value, and what to do.
fn in_words(problem: &Problem) -> String {
    let place = &problem.place;
    let weight = problem.code == Code::BAD_WEIGHT;
    let mut words = match problem.code {
        Code::ONE_CLASS => {
            let value = problem.value.as_deref().unwrap_or("the same");
            return format!("y has one class, {value}; a classifier needs at least two");
        }
        Code::NEGATIVE_COUNT => "Negative values in data: counts are needed".to_owned(),
        Code::BAD_WEIGHT if place.row.is_none() => "every row has weight zero".to_owned(),
        _ => problem.message.clone(),
    };
    match (place.row, &place.field) {
        (Some(row), Some((column, name))) => {
            words += &format!(" at X[{row}, {}]", column - 1);
            // Columns without names are numbered from 1 by the library, and by their place above.
            if let Some(name) = name.as_ref().filter(|name| **name != format!("x{column}")) {
                words += &format!(" (column \"{}\")", linsep::printable(name.as_bytes(), 40));
            }
        }
        (Some(row), None) if weight => words += &format!(" at sample_weight[{row}]"),
        (Some(row), None) if place.file.is_none() => words += &format!(" at y[{row}]"),
        _ if place.file.is_some() => words += &format!(" at {place}"),
        _ => {}
    }
    if let Some(value) = &problem.value {
        words += &format!(": {value}");
    }
    match &problem.help {
        Some(_) if problem.code == Code::NEGATIVE_COUNT => {
            words += "; SharedVarianceNB and LinearDiscriminantAnalysis are for measurements";
        }
        Some(_) if problem.code == Code::MISSING => {
            words += "; drop such rows or fill them first, for example with sklearn.impute.SimpleImputer";
        }
        Some(help) => words += &format!("; {help}"),
        None => {}
    }
    words
}
