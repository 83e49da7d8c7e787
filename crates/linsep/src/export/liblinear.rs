//! The text file of LIBLINEAR.
//!
//! Labels are whole numbers there. Of two classes the first label has positive scores, and a score of 0 is
//! of the second one. So the first class goes first with all signs turned: then a score of 0 is of the
//! second class in both programs. LIBLINEAR adds the terms in the order of the features and the bias last.
//!
//! `solver_type` says which probabilities the program gives: `L2R_LR` gives the logistic function of each
//! score, divided by their sum, so that it stands where the model has the same ones. Else it is one of the
//! solvers that give none: `MCSVM_CS` where the planes of K classes were learned together.

use super::{refusal, refuse_more_than_planes};
use crate::model::foreign::ForeignModel;
use crate::model::{LinearModel, Link, Rule, Sigmoid};
use linsep_data::error::{Result, printable};
use std::collections::HashSet;
use std::fmt::Write;
use std::path::Path;

pub(super) fn write(model: &LinearModel) -> Result<Vec<u8>> {
    refuse_more_than_planes(model, "a LIBLINEAR model")?;
    let labels = labels(model)?;
    let solver = solver(model);
    let model = model.clone().with_plane_for_each_class()?;
    if i32::try_from(model.input.width()).is_err() {
        let words = "LIBLINEAR counts features in 32 bits; this model has more";
        return Err(refusal(words, "train with fewer features"));
    }
    let has_bias = model.planes.iter().any(|plane| plane.bias != 0.0);
    let mut text = format!("solver_type {solver}\nnr_class {}\nlabel", labels.len());
    labels.iter().for_each(|label| _ = write!(text, " {label}"));
    let (features, bias) = (model.input.width(), if has_bias { "1" } else { "-1" });
    _ = write!(text, "\nnr_feature {features}\nbias {bias}\nw\n");
    let sign = if model.rule == Rule::Sign { -1.0 } else { 1.0 };
    let mut line = |number: &dyn Fn(usize) -> f64| {
        (0..model.planes.len()).for_each(|k| _ = write!(text, "{:?} ", sign * number(k)));
        text.push('\n');
    };
    for j in 0..features {
        line(&|k| model.planes[k].weights[j]);
    }
    if has_bias {
        line(&|k| model.planes[k].bias);
    }
    Ok(text.into_bytes())
}

/// The classes as the whole numbers that they are.
fn labels(model: &LinearModel) -> Result<Vec<i32>> {
    let mut labels = Vec::with_capacity(model.classes.len());
    let mut seen = HashSet::new();
    for class in &model.classes {
        let shown = printable(class.as_bytes(), 30);
        let help = "export to onnx, c or json, or train with classes such as 1, 2, 3";
        let Ok(label) = class.parse::<i32>() else {
            let words = format!("labels of LIBLINEAR are whole numbers; class \"{shown}\" is none");
            return Err(refusal(words, help));
        };
        if !seen.insert(label) {
            let words = format!("two classes are the number {label}, one of them \"{shown}\"");
            return Err(refusal(words, help));
        }
        labels.push(label);
    }
    Ok(labels)
}

fn solver(model: &LinearModel) -> &'static str {
    let plain = |each: &[Sigmoid]| each.iter().all(|s| *s == Sigmoid::new(1.0, 0.0));
    match (&model.link, model.classes.len()) {
        (Link::Softmax, 2) => "L2R_LR",
        (Link::Sigmoid { slope, offset }, 2) if plain(&[Sigmoid::new(*slope, *offset)]) => "L2R_LR",
        (Link::Sigmoids(each), _) if plain(each) => "L2R_LR",
        _ if model.rule == Rule::ArgMax => "MCSVM_CS",
        _ => "L2R_L2LOSS_SVC",
    }
}

/// The planes of the file in the order of the model's classes.
pub(super) fn read(bytes: &[u8], model: &LinearModel) -> std::result::Result<LinearModel, String> {
    let wrong = |error: linsep_data::error::Error| error.to_string();
    let foreign = ForeignModel::parse(bytes, Path::new("the export")).map_err(wrong)?;
    let planes = foreign.planes_for(&model.classes, model.input.width()).map_err(wrong)?;
    let rule = if planes.len() == 1 { Rule::Sign } else { Rule::ArgMax };
    Ok(model.clone().with_planes(planes).with_rule(rule).with_link(Link::None))
}

/// The class of a row as LIBLINEAR finds it: terms in the order of the features, the bias last. Of two
/// classes all signs are turned in the file, which changes no rounding.
pub(super) fn class_of(model: &LinearModel, row: &[(u32, f64)], scores: &mut Vec<f64>) -> u32 {
    scores.clear();
    for plane in &model.planes {
        let add = |sum: f64, &(j, x): &(u32, f64)| sum + plane.weights[j as usize] * x;
        scores.push(row.iter().fold(0.0, add) + plane.bias);
    }
    model.class_of(scores)
}
