//! What there is to choose from: sets, learners with their settings, criteria, lessons.

use crate::spec::{MODEL, TWO_WEIGHTS};
use crate::{Lab, limits, sets};
use linsep::loss::Criterion;
use linsep::recipe::{self, Ability, Kind, Parameter, Recipe};
use linsep::{Error, Result};
use linsep_teach::boxes;
use serde_json::{Value, json};

/// The lessons, in the order of the lectures; the page has their texts.
pub(crate) const LESSONS: &[&str] = &[
    "plane",
    "neuron",
    "gates",
    "update",
    "spaces",
    "cone",
    "order",
    "ties",
    "bound",
    "xor",
    "criteria",
    "outlier",
    "classes",
    "projection",
    "left-or-right",
];

/// Refuses a lesson that there is not.
pub(crate) fn check_lesson(name: Option<&str>) -> Result<()> {
    match name {
        Some(name) if !LESSONS.contains(&name) => Err(Error::usage(format!(
            "there is no lesson \"{}\"; there are: {}",
            linsep::printable(name.as_bytes(), 40),
            LESSONS.join(", ")
        ))),
        _ => Ok(()),
    }
}

/// Everything that the page offers.
pub(crate) fn catalogue(lab: &Lab) -> Value {
    let mut learners: Vec<Value> = recipe::ALL.iter().map(learner).collect();
    learners.insert(1, two_weights());
    let opening = lab.subject.as_ref().and_then(|subject| subject.opening.as_ref());
    if opening.is_some_and(|opening| opening.model.is_some()) {
        learners.insert(0, model());
    }
    let criteria = Criterion::ALL
        .map(|criterion| json!({ "name": criterion.word(), "meaning": criterion.meaning() }));
    let preset = |one: &boxes::AlgorithmBox| {
        json!({
            "name": one.name,
            "title": one.title,
            "text": one.text,
            "learner": one.learner,
            "settings": one.fixed.iter().chain(one.open).map(|(k, v)| json!([k, v])).collect::<Vec<_>>(),
            "stop": one.stop,
        })
    };
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "sets": sets::listed(lab.subject.as_ref()),
        "learners": learners,
        "criteria": criteria,
        "boxes": boxes::ALL.iter().map(preset).collect::<Vec<_>>(),
        "lessons": LESSONS,
        "limits": {
            "frames": limits::FRAMES,
            "points": limits::POINTS,
            "rows": limits::MADE_ROWS,
            "updates": limits::UPDATES,
        },
    })
}

fn learner(recipe: &Recipe) -> Value {
    let kind = match recipe.kind {
        Kind::Online => "online",
        Kind::Direct => "direct",
        _ => "optimising",
    };
    json!({
        "name": recipe.name,
        "summary": recipe.summary,
        "kind": kind,
        "traces": recipe.has(Ability::Trace),
        "parameters": recipe.parameters.iter().map(parameter).collect::<Vec<_>>(),
    })
}

fn parameter(parameter: &Parameter) -> Value {
    let Parameter { name, value, default, words, help, .. } = parameter;
    json!({ "name": name, "value": value, "default": default, "words": words, "help": help })
}

fn model() -> Value {
    json!({
        "name": MODEL,
        "summary": "the model that was named at the start, drawn as it is: nothing is learned",
        "kind": "direct",
        "traces": false,
        "parameters": [],
    })
}

fn two_weights() -> Value {
    let criteria: Vec<&str> =
        std::iter::once("off").chain(Criterion::WORDS.iter().copied()).collect();
    json!({
        "name": TWO_WEIGHTS,
        "summary": "perceptron with two weights in all: two features without a bias, or one with it",
        "kind": "online",
        "traces": false,
        "parameters": [
            {
                "name": "batch", "value": "CRITERION", "default": "off", "words": criteria,
                "help": "Row by row (off), or a step down the slope of a criterion after each pass",
            },
            { "name": "eta", "value": "X", "default": "auto", "words": [], "help": "Learning rate: a number, or auto" },
        ],
    })
}
