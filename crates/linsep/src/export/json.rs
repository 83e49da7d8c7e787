//! JSON with every part of a model. It is the form of [`crate::model::foreign`], weights, bias and classes,
//! with what that form leaves open: the names of the features, the rule, the link and the input map.
//!
//! ```text
//! {"format": "linsep.export/1", "classes": ["no", "yes"], "features": ["x1", "x2"], "rule": "sign",
//!  "link": "softmax", "input": {"features": 2}, "bias": 0.25, "weights": [0.5, -1]}
//! ```

use super::refusal;
use crate::model::foreign::ForeignModel;
use crate::model::{Decision, LinearModel, Link, Rule};
use linsep_data::error::Result;
use linsep_data::input::InputMap;
use serde::Serialize;
use std::path::Path;

#[derive(Serialize)]
struct Written<'a> {
    format: &'static str,
    classes: &'a [String],
    features: Vec<String>,
    rule: &'a Rule,
    link: &'a Link,
    input: &'a InputMap,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: &'a Option<Decision>,
    bias: OneOrMore<f64>,
    weights: OneOrMore<&'a [f64]>,
}

/// Two classes have one plane, more have several.
#[derive(Serialize)]
#[serde(untagged)]
enum OneOrMore<T> {
    One(T),
    More(Vec<T>),
}

impl<T> OneOrMore<T> {
    fn of(mut all: Vec<T>) -> OneOrMore<T> {
        match all.len() {
            1 => OneOrMore::One(all.remove(0)),
            _ => OneOrMore::More(all),
        }
    }
}

pub(super) fn write(model: &LinearModel) -> Result<Vec<u8>> {
    let written = Written {
        format: crate::model::foreign::FORMAT,
        classes: &model.classes,
        features: model.input.feature_names(),
        rule: &model.rule,
        link: &model.link,
        input: &model.input,
        decision: &model.decision,
        bias: OneOrMore::of(model.planes.iter().map(|plane| plane.bias).collect()),
        weights: OneOrMore::of(model.planes.iter().map(|p| p.weights.as_slice()).collect()),
    };
    let mut bytes = serde_json::to_vec(&written)
        .map_err(|error| refusal(error.to_string(), "train the model again"))?;
    bytes.push(b'\n');
    Ok(bytes)
}

pub(super) fn read(bytes: &[u8]) -> std::result::Result<LinearModel, String> {
    let foreign = ForeignModel::parse(bytes, Path::new("the export"));
    foreign.map(|foreign| foreign.to_model()).map_err(|error| error.to_string())
}
