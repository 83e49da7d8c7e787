//! `WideRounds`: smooth losses of many columns, a round for each step, and epochs of perceptrons on blocks
//! (`linsep::worker`).

use crate::cluster::{Planes, Problem, apart, bytes, plain, smooth, softmax};
use crate::data::Data;
use crate::errors::exception;
use crate::waiting::wait;
use linsep::Result;
use linsep::worker::{WideDriver, WideLoss, epochs_on};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;

/// L-BFGS on a smooth loss of two classes, or on softmax regression of more.
#[pyclass(module = "linsep._linsep")]
pub(crate) struct WideRounds(WideDriver);

#[pymethods]
impl WideRounds {
    /// For `logistic`, `squared-hinge` or `softmax` of so many classes, until the gap is likely to be below the share
    /// `tol` of the objective.
    #[new]
    fn new(
        py: Python<'_>,
        problem: Problem,
        classes: usize,
        width: usize,
        tol: f64,
    ) -> PyResult<WideRounds> {
        let loss = wide(&problem, 1).map_err(|error| exception(py, error))?;
        Ok(WideRounds(loss.driver(classes, width, tol)))
    }

    /// What a block answers at planes; `positive` is against the other classes where there is one plane.
    #[staticmethod]
    #[pyo3(signature = (block, problem, planes, positive=1))]
    fn partial<'py>(
        py: Python<'py>,
        block: &Data,
        problem: Problem,
        planes: Planes,
        positive: u32,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let block = Arc::clone(&block.table);
        bytes(py, wait(py, move || wide(&problem, positive)?.partial(&block, &plain(planes))))
    }

    /// The answers of some blocks and of those that follow.
    #[staticmethod]
    fn merge<'py>(py: Python<'py>, all: &[u8], next: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        bytes(py, WideLoss::merge(all, next).map_err(|error| exception(py, error)))
    }

    /// Begins at these planes in place of zeros.
    fn begin(&mut self, py: Python<'_>, planes: Planes) -> PyResult<()> {
        self.0.begin(&plain(planes)).map_err(|error| exception(py, error))
    }

    /// The planes that the next round asks about.
    #[getter]
    fn candidate(&self) -> Planes {
        apart(&self.0.candidate())
    }

    /// Takes the merged answers. Whether there is another round.
    fn step(&mut self, py: Python<'_>, merged: &[u8]) -> PyResult<bool> {
        self.0.step(merged).map_err(|error| exception(py, error))
    }

    /// The best planes so far.
    #[getter]
    fn planes(&self) -> Planes {
        apart(&self.0.planes())
    }

    /// The objective at the planes.
    #[getter]
    fn objective(&self) -> f64 {
        self.0.objective()
    }

    /// What the gap is likely to be, as a share of the objective.
    #[getter]
    fn likely_gap(&self) -> f64 {
        self.0.likely_gap()
    }

    /// Rounds so far.
    #[getter]
    fn rounds(&self) -> u64 {
        self.0.rounds()
    }

    /// The factors of the sides for the round of the bound.
    #[getter]
    fn factors(&self) -> [f64; 2] {
        self.0.factors()
    }

    /// The lower bound of the optimum with Σ ψ of all blocks, in binary64.
    fn bound(&self, psi: f64) -> f64 {
        self.0.bound(psi)
    }
}

/// Planes after at most so many epochs of the perceptron on the rows of a block, and how many updates it took.
#[pyfunction]
pub(crate) fn perceptron_epochs(
    py: Python<'_>,
    block: &Data,
    planes: Planes,
    epochs: u64,
) -> PyResult<(Planes, u64)> {
    let block = Arc::clone(&block.table);
    let (planes, updates) = wait(py, move || epochs_on(&block, plain(planes), epochs))?;
    Ok((apart(&planes), updates))
}

fn wide(problem: &Problem, positive: u32) -> Result<WideLoss> {
    match problem.0.as_str() {
        "softmax" => Ok(WideLoss::Joint(softmax(problem)?)),
        _ => Ok(WideLoss::One(smooth(problem)?.against_rest(positive))),
    }
}
