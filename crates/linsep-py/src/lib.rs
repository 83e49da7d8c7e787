//! The extension module `linsep._linsep`: the library as Python sees it.
//!
//! One file for each class, thin: arrays come in through the doors of the library, work runs on a thread of
//! its own while Python goes on ([`waiting`]), errors become exceptions ([`errors`]). What is a habit of
//! Python or scikit-learn stands in `python/linsep`.

mod arrays;
mod arrow_table;
mod basis;
mod certificate;
mod certify;
mod cluster;
mod data;
mod errors;
mod infer;
mod learn;
mod model;
mod program;
mod proving;
mod registry;
mod verdict;
mod waiting;
mod wide;

use pyo3::prelude::*;

/// The Rust side of the package.
#[pymodule]
mod _linsep {
    #[pymodule_export]
    use super::arrow_table::ArrowTable;
    #[pymodule_export]
    use super::basis::Basis;
    #[pymodule_export]
    use super::certificate::Certificate;
    #[pymodule_export]
    use super::certify::{certify, certify_ridge};
    #[pymodule_export]
    use super::cluster::{ClosedForm, NewtonRounds, SoftmaxRounds, model_of_planes};
    #[pymodule_export]
    use super::data::Data;
    #[pymodule_export]
    use super::infer::infer;
    #[pymodule_export]
    use super::learn::{fit, partial_fit};
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::program::run_program;
    #[pymodule_export]
    use super::proving::Proof;
    #[pymodule_export]
    use super::registry::registry;
    #[pymodule_export]
    use super::verdict::{Verdict, separable};
    #[pymodule_export]
    use super::wide::{WideRounds, perceptron_epochs};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
