//! The registry of learners as plain data, from which Python makes its classes.

use linsep::recipe::{ALL, Kind, Parameter, Recipe};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Every learner as a dict: name, summary, assumes, kind, abilities, claims, parameters.
#[pyfunction]
pub(crate) fn registry(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let entries = ALL.iter().map(|recipe| entry(py, recipe));
    PyList::new(py, entries.collect::<PyResult<Vec<_>>>()?)
}

fn entry<'py>(py: Python<'py>, recipe: &Recipe) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("name", recipe.name)?;
    dict.set_item("summary", recipe.summary)?;
    dict.set_item("assumes", recipe.assumes)?;
    let kind = match recipe.kind {
        Kind::Online => "online",
        Kind::Direct => "direct",
        _ => "optimising",
    };
    dict.set_item("kind", kind)?;
    let abilities: Vec<&str> = recipe.abilities.can.iter().map(|ability| ability.word()).collect();
    dict.set_item("abilities", abilities)?;
    dict.set_item("claims", recipe.abilities.claims.to_vec())?;
    let only: Vec<(&str, &str, Vec<&str>, bool)> = recipe
        .abilities
        .only
        .iter()
        .map(|only| (only.ability.word(), only.setting, only.values.to_vec(), only.many))
        .collect();
    dict.set_item("only", only)?;
    let parameters = recipe.parameters.iter().map(|parameter| self::parameter(py, parameter));
    dict.set_item("parameters", parameters.collect::<PyResult<Vec<_>>>()?)?;
    Ok(dict)
}

fn parameter<'py>(py: Python<'py>, parameter: &Parameter) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("name", parameter.name)?;
    dict.set_item("value", parameter.value)?;
    dict.set_item("default", parameter.default)?;
    dict.set_item("words", parameter.words.to_vec())?;
    dict.set_item("help", parameter.help)?;
    Ok(dict)
}
