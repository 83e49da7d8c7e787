//! The program `linsep`, shipped with the package.

use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the program with these arguments and gives its exit code. The process is the program's from now on.
#[pyfunction]
pub(crate) fn run_program(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| linsep_cli::exit_number(&arguments))
}
