//! How near the best the planes of another program are: the same objective is solved here, and its dual
//! point bounds every model from below.

use crate::certificate::Certificate;
use crate::data::Data;
use crate::errors::exception;
use crate::learn::{diverged, limits, made};
use crate::waiting::wait;
use linsep::learn::least_squares::{LeastSquares, LeftOut};
use linsep::model::Plane;
use linsep::proof::{CertificateFile, InputField};
use linsep::recipe::{Ability, Recipe};
use linsep::select::flips::final_rows;
use linsep::{LinearModel, Rule, Stop, Task, drive};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is proved of planes under the objective of a learner with these settings, and for each row whether no
/// better model can change its class, where that is known.
#[pyfunction]
#[pyo3(signature = (learner, settings, data, weights, biases, *, epochs=None, threads=1))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn certify(
    py: Python<'_>,
    learner: &str,
    settings: BTreeMap<String, String>,
    data: &Data,
    weights: Vec<Vec<f64>>,
    biases: Vec<f64>,
    epochs: Option<u64>,
    threads: usize,
) -> PyResult<(Certificate, Option<Vec<bool>>)> {
    let recipe = Recipe::find(learner).map_err(|error| exception(py, error))?;
    let task = Task::new(Arc::clone(&data.table)).with_threads(threads);
    let learner = recipe.build(&made(settings, 0)).map_err(|error| exception(py, error))?;
    let planes = planes_of(weights, biases);
    wait(py, move || {
        let mut training = learner.start(&task)?;
        let stop = drive(training.as_mut(), &limits(recipe, &task, epochs), &mut ());
        if stop == Stop::Diverged {
            return Err(diverged(recipe.kind));
        }
        let Some(run) = training.bounds_objective() else {
            return Err(recipe.cannot(Ability::Certify));
        };
        let proved = run.certificate_of(&planes);
        Ok(report(proved, planes, &task))
    })
}

/// The same under the objective of ridge regression on targets +1 and -1.
#[pyfunction]
#[pyo3(signature = (data, weights, biases, *, l2, balanced=false, threads=1))]
pub(crate) fn certify_ridge(
    py: Python<'_>,
    data: &Data,
    weights: Vec<Vec<f64>>,
    biases: Vec<f64>,
    l2: f64,
    balanced: bool,
    threads: usize,
) -> PyResult<(Certificate, Option<Vec<bool>>)> {
    let task = Task::new(Arc::clone(&data.table)).with_threads(threads);
    let planes = planes_of(weights, biases);
    let ridge = LeastSquares::default().with_l2(l2).with_class_weights(balanced.into());
    wait(py, move || {
        // Rows that are left out, each in turn, are of no use here.
        let proved = ridge.with_left_out(LeftOut::Never).certificate_of(&task, &planes)?;
        Ok(report(proved, planes, &task))
    })
}

fn planes_of(weights: Vec<Vec<f64>>, biases: Vec<f64>) -> Vec<Plane> {
    weights.into_iter().zip(biases).map(|(weights, bias)| Plane::new(weights, bias)).collect()
}

/// The certificate as a file has it, and which rows are final.
fn report(
    proved: linsep::Certificate,
    planes: Vec<Plane>,
    task: &Task,
) -> (Certificate, Option<Vec<bool>>) {
    let rule = if planes.len() == 1 { Rule::Sign } else { Rule::Rest };
    let (classes, input) = (task.data.classes().to_vec(), task.data.input().clone());
    let model = LinearModel::new(planes, rule, classes, input);
    // Of all classes at once, and of planes of which nothing is proved, it is not known.
    let settled = final_rows(&proved.claims, &model, task).ok();
    let settled = settled.map(|rows| rows.iter().map(|(_, by)| by.is_some()).collect());
    let (identity, reading) = (task.data.identity(task.threads), task.data.reading_field());
    let mut file = CertificateFile::new(identity, reading, true, proved);
    file.input = InputField::of(task.data.input());
    (Certificate { file }, settled)
}
