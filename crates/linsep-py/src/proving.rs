//! `Proof`: a claim about rows that workers of a cluster hold, on its way through the passes of the checker.

use crate::certificate::Certificate;
use crate::cluster::{ClosedForm, Planes, Problem, bytes, plain, smooth, softmax};
use crate::data::Data;
use crate::errors::exception;
use crate::waiting::wait;
use linsep::Result;
use linsep::proof::Finding;
use linsep::worker;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;

/// A claim and how far its check has come.
#[pyclass(module = "linsep._linsep")]
pub(crate) struct Proof(Option<worker::Proof>);

#[pymethods]
impl Proof {
    /// How near the optimum the planes of a smooth loss are; primal and bound are about where.
    #[staticmethod]
    fn smooth(
        py: Python<'_>,
        problem: Problem,
        classes: Vec<String>,
        planes: Planes,
        primal: f64,
        bound: f64,
    ) -> PyResult<Proof> {
        let make = || -> Result<worker::Proof> {
            let objective = claimed(&problem)?;
            worker::Proof::optimal(objective, &classes, &plain(planes), (primal, bound))
        };
        Proof::of(py, make())
    }

    /// The same of one class against all others.
    #[staticmethod]
    #[allow(clippy::too_many_arguments)]
    fn against_rest(
        py: Python<'_>,
        problem: Problem,
        classes: Vec<String>,
        positive: usize,
        weights: Vec<f64>,
        bias: f64,
        primal: f64,
        bound: f64,
    ) -> PyResult<Proof> {
        let make = || -> Result<worker::Proof> {
            let plane = plain((vec![weights], vec![bias])).swap_remove(0);
            let (objective, near) = (claimed(&problem)?, (primal, bound));
            worker::Proof::optimal_against_rest(objective, &classes, positive, &plane, near)
        };
        Proof::of(py, make())
    }

    /// That planes are what the sums of a learner make them.
    #[staticmethod]
    fn closed(
        py: Python<'_>,
        form: &ClosedForm,
        classes: Vec<String>,
        planes: Planes,
    ) -> PyResult<Proof> {
        Proof::of(py, worker::Proof::closed(&form.0, &classes, &plain(planes)))
    }

    /// A claim of a certificate, by its place, about rows of so many columns.
    #[staticmethod]
    fn check(certificate: &Certificate, place: usize, width: usize) -> PyResult<Proof> {
        let file = &certificate.file;
        let missing = || PyValueError::new_err(format!("there is no claim {place}"));
        let claim = file.claims.get(place).ok_or_else(missing)?.clone();
        if file.basis.is_some() {
            return Err(PyValueError::new_err(
                "a claim with basis functions is checked on one machine",
            ));
        }
        Ok(Proof(Some(worker::Proof::of(claim, width, file.reading.clone(), file.bias))))
    }

    /// What a block answers.
    #[staticmethod]
    fn partial<'py>(py: Python<'py>, block: &Data, ask: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let (block, ask) = (Arc::clone(&block.table), ask.to_vec());
        bytes(py, wait(py, move || worker::Proof::partial(block.as_ref(), &ask)))
    }

    /// The answers of some blocks and of those that follow.
    #[staticmethod]
    fn merge<'py>(py: Python<'py>, all: &[u8], next: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        bytes(py, worker::Proof::merge(all, next).map_err(|error| exception(py, error)))
    }

    /// What the next round asks, or nothing at the end.
    fn step<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        Ok(self.running()?.step().map(|ask| PyBytes::new(py, &ask)))
    }

    /// Takes the merged answers of a round.
    fn take(&mut self, py: Python<'_>, merged: &[u8]) -> PyResult<()> {
        self.running()?.take(merged).map_err(|error| exception(py, error))
    }

    /// What was found: `true`, `unproved` or `false`, and in what words.
    #[getter]
    fn finding(&mut self) -> PyResult<Option<(&'static str, String)>> {
        let words = |finding: &Finding| match finding {
            Finding::Holds(words) => ("true", words.clone()),
            Finding::Nothing(words) => ("unproved", words.clone()),
            Finding::Fails(words) => ("false", words.clone()),
        };
        Ok(self.running()?.finding().map(words))
    }

    /// A certificate with its claim added, or with why nothing is claimed. The last that is asked.
    fn certificate(&mut self, before: &Certificate) -> PyResult<Certificate> {
        let mut file = before.file.clone();
        file.claims.push(self.0.take().ok_or_else(ended)?.claim());
        Ok(Certificate { file })
    }
}

impl Proof {
    fn of(py: Python<'_>, made: Result<worker::Proof>) -> PyResult<Proof> {
        made.map(|proof| Proof(Some(proof))).map_err(|error| exception(py, error))
    }

    fn running(&mut self) -> PyResult<&mut worker::Proof> {
        self.0.as_mut().ok_or_else(ended)
    }
}

fn claimed(problem: &Problem) -> Result<linsep::proof::Objective> {
    match problem.0.as_str() {
        "softmax" => Ok(softmax(problem)?.claimed()),
        _ => Ok(smooth(problem)?.claimed()),
    }
}

fn ended() -> PyErr {
    PyValueError::new_err("the proof was handed over")
}
