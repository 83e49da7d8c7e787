//! `linsep show MODEL`: classes, rule and weights by name.

use crate::context::Context;
use crate::exit::Failure;
use crate::input;
use crate::output::{Facts, counted, grouped, print, print_json};
use clap::ArgMatches;
use linsep::model_file::ModelFile;
use linsep::{Claim, Plane, Rule};
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

pub(crate) fn run(matches: &ArgMatches, context: &Context) -> Result<ExitCode, Failure> {
    crate::context::end_at_once();
    let top = match matches.get_one::<String>("top") {
        Some(text) => input::whole("top", text)? as usize,
        None => 20,
    };
    let Some(path) = matches.get_one::<PathBuf>("model") else { return Ok(ExitCode::from(2)) };
    let file = ModelFile::load(path, context.max_memory)?;
    if context.json {
        print_json(&as_json(&file))?;
    } else {
        print(&as_text(&file, top, context))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn as_json(file: &ModelFile) -> serde_json::Value {
    let model = &file.model;
    let planes: Vec<_> = model
        .planes
        .iter()
        .map(|plane| json!({ "weights": plane.weights, "bias": plane.bias }))
        .collect();
    json!({
        "schema": "linsep.result/1",
        "command": "show",
        "classes": model.classes,
        "rule": model.rule,
        "features": model.input.feature_names(),
        "planes": planes,
        "learner": file.learner,
        "parameters": file.parameters,
        "seed": file.seed,
        "stop": file.stop.word(),
        "epochs": file.epochs,
        "updates": file.updates,
        "data": file.data,
        "certificate": file.certificate,
        "density": file.density.as_ref().map(|density| {
            json!({ "family": density.name(), "parameters": density.parameters() })
        }),
    })
}

fn as_text(file: &ModelFile, top: usize, context: &Context) -> String {
    let model = &file.model;
    let mut facts = Facts::default();
    facts.add(
        "classes",
        model
            .classes
            .iter()
            .map(|c| linsep::printable(c.as_bytes(), 30))
            .collect::<Vec<_>>()
            .join(", "),
    );
    facts.add(
        "rule",
        match model.rule {
            Rule::Sign => {
                format!("score >= 0 means {}, below means {}", model.classes[1], model.classes[0])
            }
            _ => "the class with the highest score; the earlier one on a tie".to_owned(),
        },
    );
    if let Some(threshold) = model.input.binarize {
        facts.add("values", format!("above {threshold} count as 1, all others as 0"));
    }
    let settings: Vec<String> = file.parameters.iter().map(|(k, v)| format!("{k} {v}")).collect();
    facts.add("learner", format!("{} ({}), seed {}", file.learner, settings.join(", "), file.seed));
    facts.add(
        "stopped",
        format!(
            "{} after {}, {}",
            file.stop.word(),
            counted(file.epochs, "epoch"),
            counted(file.updates, "correction")
        ),
    );
    facts.add("data", format!("{}, sha256 {}", counted(file.data.rows, "row"), file.data.sha256));
    for claim in file.certificate.claims.iter().take(3) {
        facts.add(
            "proved",
            match claim {
                Claim::Unproved { reason } => format!("nothing: {reason}"),
                claim => claim.name().to_owned(),
            },
        );
    }
    if let Some(density) = &file.density {
        let planes = model.planes.len() as u64 * (model.n_features() as u64 + 1);
        facts.add(
            "density",
            format!(
                "{}, {} behind {} of the planes; linsep sample draws rows from it",
                density.name(),
                counted(density.parameters(), "parameter"),
                counted(planes, "number"),
            ),
        );
    }
    let mut text = facts.text(context);
    let names = model.input.feature_names();
    for (plane, class) in model.planes.iter().zip(model.score_classes()) {
        text.push_str(&format!("\nscore of {}\n", linsep::printable(class.as_bytes(), 40)));
        text.push_str(&weights(plane, &names, top));
    }
    text
}

/// The weights of a plane, the largest first, in aligned lines.
fn weights(plane: &Plane, names: &[String], top: usize) -> String {
    let mut order: Vec<usize> =
        (0..plane.weights.len()).filter(|&j| plane.weights[j] != 0.0).collect();
    order.sort_by(|&a, &b| {
        plane.weights[b].abs().total_cmp(&plane.weights[a].abs()).then(a.cmp(&b))
    });
    let shown = &order[..order.len().min(top)];
    let label = |j: usize| linsep::printable(names[j].as_bytes(), 40);
    let width = shown.iter().map(|&j| label(j).chars().count()).max().unwrap_or(0).max(6);
    let mut text = format!("  {:width$}  {}\n", "(bias)", plane.bias);
    for &j in shown {
        text.push_str(&format!("  {:width$}  {}\n", label(j), plane.weights[j]));
    }
    let zeros = plane.weights.len() - order.len();
    if order.len() > shown.len() || zeros > 0 {
        let smaller = order.len() - shown.len();
        text.push_str(&format!(
            "  ({} smaller, {} zero)\n",
            grouped(smaller as u64),
            grouped(zeros as u64)
        ));
    }
    text
}
