//! `linsep criterion MODEL DATA`: every criterion of the lectures at the planes of a model.

use super::json_number;
use crate::context::Context;
use crate::exit::Failure;
use crate::input;
use crate::output::{Facts, aligned, grouped, print, print_json};
use clap::ArgMatches;
use linsep::loss::Criterion;
use linsep::printable;
use linsep_teach::measure::{Measured, ModelCriteria, measure_model};
use serde_json::{Value, json};
use std::process::ExitCode;

pub(crate) fn run(matches: &ArgMatches, context: &Context) -> Result<ExitCode, Failure> {
    crate::context::end_at_once();
    let Some(path) = &input::subject(matches) else { return Ok(ExitCode::from(2)) };
    let model = super::load_model(path, context)?;
    // The last of K - 1 machines has no plane to measure.
    let machines = model.planes.len();
    let model = model.with_plane_for_each_class()?;
    let data = input::source(matches, context)?.read(Some(&model.input))?.data;
    super::check_width(&data, 64, context)?;
    let mut found = measure_model(&model, &data, context.threads)?;
    found.planes.truncate(machines);
    if context.json {
        print_json(&as_json(&found))?;
    } else {
        print(&as_text(&found, data.weights().is_some(), context))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn as_text(found: &ModelCriteria, weighted: bool, context: &Context) -> String {
    let mut facts = Facts::default();
    let weight = if weighted { format!(" of weight {}", found.weight) } else { String::new() };
    facts.add("rows", format!("{}{weight}; values are sums over them", grouped(found.rows)));
    let mut text = facts.text(context);
    for plane in &found.planes {
        let class = printable(plane.class.as_bytes(), 40);
        text.push_str(&format!("\nscore of {class}, its rows against all others\n"));
        let mut lines = vec![["criterion", "value", "gradient", "meaning"].map(String::from)];
        lines.extend(plane.measured.iter().map(line));
        text.push_str(&table(&lines, context));
    }
    if let Some(joint) = &found.joint {
        text.push_str(
            "\nall planes together, by the lead of the row's own class over the best other one\n",
        );
        let mut lines = vec![["criterion", "value"].map(String::from)];
        for (criterion, value) in Criterion::ALL.into_iter().zip(joint) {
            lines.push([criterion.word().to_owned(), or_none(*value)]);
        }
        text.push_str(&table(&lines, context));
        text.push_str(&format!(
            "mse here is Tr((XW - T)'(XW - T)), T with 1 for the row's class and 0 elsewhere; the length of \
             its gradient 2X'(XW - T) is {}\n",
            or_none(found.joint_gradient)
        ));
    }
    text.push_str("\nwhat each is like, whatever the data\n");
    let heads = ["criterion", "convex", "scale-free", "lectures", "differentiable", "minimum"];
    let mut lines = vec![heads.map(String::from)];
    let yes = |flag: bool| if flag { "yes" } else { "no" };
    for criterion in Criterion::ALL {
        let card = criterion.card();
        lines.push([
            criterion.word().to_owned(),
            yes(card.convex).to_owned(),
            yes(card.scale_invariant).to_owned(),
            card.items.to_owned(),
            card.differentiable.to_owned(),
            card.minimum.to_owned(),
        ]);
    }
    text.push_str(&table(&lines, context));
    text.push_str(
        "all are at least 0; scale-free: a plane times a number above 0 has the same value\n",
    );
    text
}

fn line(measured: &Measured) -> [String; 4] {
    let gradient = match measured.criterion {
        Criterion::Mistakes => "flat".to_owned(),
        _ => or_none(measured.gradient_norm()),
    };
    let meaning = measured.criterion.meaning().to_owned();
    [measured.criterion.word().to_owned(), or_none(measured.value), gradient, meaning]
}

fn or_none(value: Option<f64>) -> String {
    value.map_or("none".to_owned(), |value| value.to_string())
}

/// Columns with a heading; tab-separated with `--plain`.
fn table<const N: usize>(lines: &[[String; N]], context: &Context) -> String {
    let lines = match context.plain {
        true => lines.iter().map(|line| line.join("\t")).collect(),
        false => aligned(lines, |_| false),
    };
    lines.join("\n") + "\n"
}

fn as_json(found: &ModelCriteria) -> Value {
    let number = |value: Option<f64>| value.map_or(Value::Null, json_number);
    let planes: Vec<Value> = found
        .planes
        .iter()
        .map(|plane| {
            let criteria = plane.measured.iter().map(|measured| {
                let value = json!({
                    "value": number(measured.value),
                    "gradient_norm": number(measured.gradient_norm()),
                });
                (measured.criterion.word().to_owned(), value)
            });
            let criteria: serde_json::Map<String, Value> = criteria.collect();
            json!({ "class": plane.class, "criteria": criteria })
        })
        .collect();
    let joint: Option<serde_json::Map<String, Value>> = found.joint.as_ref().map(|joint| {
        let all = Criterion::ALL.into_iter().zip(joint);
        all.map(|(criterion, value)| (criterion.word().to_owned(), number(*value))).collect()
    });
    let cards: serde_json::Map<String, Value> = Criterion::ALL
        .into_iter()
        .map(|criterion| {
            let card = criterion.card();
            let value = json!({
                "convex": card.convex,
                "differentiable_everywhere": criterion.is_differentiable(),
                "differentiable": card.differentiable,
                "bounded_below": card.bounded_below,
                "scale_invariant": card.scale_invariant,
                "minimum": card.minimum,
                "lectures": card.items,
                "meaning": criterion.meaning(),
            });
            (criterion.word().to_owned(), value)
        })
        .collect();
    json!({
        "schema": "linsep.result/1",
        "command": "criterion",
        "rows": found.rows,
        "weight": found.weight,
        "planes": planes,
        "joint": joint,
        "joint_mse_gradient_norm": number(found.joint_gradient),
        "cards": cards,
    })
}
