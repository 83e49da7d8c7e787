//! `infer`: coefficients of a logistic regression with errors, tests and intervals, as JSON: the summary and the residuals.

use crate::data::Data;
use crate::errors::exception;
use crate::waiting::wait;
use linsep::Task;
use linsep::infer::Inference;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Judges the coefficients of a logistic regression. `settings` has words by the name of the setting.
#[pyfunction]
#[pyo3(signature = (data, settings, *, offset=None, residuals=false, threads=1))]
pub(crate) fn infer(
    py: Python<'_>,
    data: &Data,
    settings: BTreeMap<String, String>,
    offset: Option<Vec<f64>>,
    residuals: bool,
    threads: usize,
) -> PyResult<String> {
    let made = inference(&settings).map_err(|error| exception(py, error))?;
    let inference = made.with_offset(offset).with_residuals(residuals);
    let table = Arc::clone(&data.table);
    wait(py, move || {
        let table = Arc::new(table.without_first_levels()?);
        let task = Task::new(Arc::clone(&table)).with_threads(threads);
        let summary = inference.of(&task, &linsep::data::cancel::is_requested)?;
        let (summary, residuals) = (summary.to_json(table.input()), summary.residuals_json());
        Ok(format!("[{summary}, {residuals}]"))
    })
}

fn inference(settings: &BTreeMap<String, String>) -> linsep::Result<Inference> {
    let text = |name: &str| settings.get(name).map(String::as_str);
    let is = |name: &str, word: &str| text(name) == Some(word);
    let mut made = Inference::default()
        .with_firth(is("penalty", "firth"))
        .with_profile(!is("profile", "off"))
        .with_bias(!is("intercept", "none"))
        .with_reference(text("reference").map(str::to_owned));
    if let Some(word) = text("correction") {
        made.correction = word.parse()?;
    }
    if let Some(word) = text("se") {
        made.se = word.parse()?;
    }
    if let Some(word) = text("weights-as") {
        made.weights_as = word.parse()?;
    }
    if let Some(share) = text("confidence").and_then(|share| share.parse().ok()) {
        made.confidence = share;
    }
    Ok(made)
}
