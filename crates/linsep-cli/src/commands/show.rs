//! `linsep show MODEL`: classes, rule and weights by name, or the boundary of each pair of classes.

use super::{axes, rules};
use crate::context::Context;
use crate::exit::Failure;
use crate::input;
use crate::kinds::FileKind;
use crate::output::{Facts, counted, grouped, print, print_json};
use crate::spelling::spelled;
use clap::ArgMatches;
use linsep::data::memory;
use linsep::data::sort::sort_by_key;
use linsep::file::ModelFile;
use linsep::model::foreign::ForeignModel;
use linsep::{Ballot, Claim, Error, LinearModel, Plane, Rule};
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
    let source = match FileKind::of(path) {
        Some(FileKind::Foreign) => {
            let foreign = ForeignModel::load(path, context.max_memory)?;
            Source::Foreign(Box::new(foreign.to_model()), foreign.form)
        }
        _ => Source::Own(Box::new(ModelFile::load(path, context.max_memory)?)),
    };
    let model = source.model();
    let pairs = matches.get_flag("pairs");
    if pairs && matches!(model.rule, Rule::Ballot(_)) {
        return Err(Error::usage(
            "--pairs: ballots decide here; their boundaries are pieces of many planes",
        )
        .into());
    }
    let axes = match (matches.get_flag("axes"), &source) {
        (false, _) => None,
        (true, Source::Own(file)) => Some(axes::of_file(file)?),
        (true, Source::Foreign(..)) => return Err(axes::foreign().into()),
    };
    if context.json || pairs || axes.is_some() {
        // A name and a number of each feature, as values and as text.
        let (width, planes) = (model.input.width() as u64, model.planes.len() as u64);
        let bytes = width.saturating_mul(planes.saturating_add(2).saturating_mul(64));
        let purpose = format!("the text of {} features", grouped(width));
        if let Some(limit) = context.max_memory.filter(|limit| bytes > *limit) {
            return Err(Error::Memory { purpose, needed: bytes, limit }.into());
        }
        memory::ask(&purpose, bytes)?;
    }
    if context.json {
        let mut value = match &source {
            Source::Own(file) => as_json(file),
            Source::Foreign(model, form) => foreign_as_json(model, form),
        };
        if pairs {
            value["pairs"] = pairs_as_json(model);
        }
        if let Some(axes) = &axes {
            value["axes"] = axes::as_json(model, axes);
        }
        print_json(&value)?;
    } else {
        let mut text = match &source {
            Source::Own(file) => as_text(file, context),
            Source::Foreign(model, form) => foreign_as_text(model, form, context),
        };
        text.push_str(&match &axes {
            Some(axes) => axes::as_text(model, axes, top),
            None if pairs => pairs_as_text(model, top),
            None => planes_as_text(model, top),
        });
        print(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Where a model comes from.
enum Source {
    Own(Box<ModelFile>),
    /// Another program, with what its file is.
    Foreign(Box<LinearModel>, String),
}

impl Source {
    fn model(&self) -> &LinearModel {
        match self {
            Source::Own(file) => &file.model,
            Source::Foreign(model, _) => model,
        }
    }
}

/// Of other programs' models less is known.
fn foreign_as_json(model: &LinearModel, form: &str) -> serde_json::Value {
    json!({
        "schema": "linsep.result/1",
        "command": "show",
        "form": form,
        "classes": model.classes,
        "rule": model.rule,
        "link": model.link,
        "decision": model.decision,
        "input": model.input,
        "features": model.input.feature_names(),
        "planes": planes_as_json(model),
    })
}

fn foreign_as_text(model: &LinearModel, form: &str, context: &Context) -> String {
    let mut facts = Facts::default();
    facts.add("classes", classes(model));
    facts.add("rule", rules::sentence(model));
    add_decision(&mut facts, model);
    facts.add("form", format!("linear in {}", model.input.linear_in()));
    facts.add("file", form);
    facts.add("proved", "nothing; linsep certify proves how near the optimum it is");
    facts.text(context)
}

fn add_decision(facts: &mut Facts, model: &LinearModel) {
    if let Some(sentence) = rules::decision(model) {
        facts.add("decision", sentence);
    }
}

fn planes_as_json(model: &LinearModel) -> Vec<serde_json::Value> {
    let planes = model.planes.iter();
    planes.map(|plane| json!({ "weights": plane.weights, "bias": plane.bias })).collect()
}

fn classes(model: &LinearModel) -> String {
    let names = model.classes.iter().map(|class| linsep::printable(class.as_bytes(), 30));
    names.collect::<Vec<_>>().join(", ")
}

fn as_json(file: &ModelFile) -> serde_json::Value {
    let model = &file.model;
    let planes = planes_as_json(model);
    json!({
        "schema": "linsep.result/1",
        "command": "show",
        "format": linsep::file::FORMAT,
        "classes": model.classes,
        "rule": model.rule,
        "link": model.link,
        "decision": model.decision,
        "input": model.input,
        "basis": model.input.basis.as_ref().map(|basis| basis.claimed()),
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
            json!({ "family": density.name(), "parameters": density.parameters(), "numbers": density })
        }),
        "run": file.run,
    })
}

fn as_text(file: &ModelFile, context: &Context) -> String {
    let model = &file.model;
    let mut facts = Facts::default();
    facts.add("classes", classes(model));
    facts.add("rule", rules::sentence(model));
    add_decision(&mut facts, model);
    facts.add("form", format!("linear in {}", model.input.linear_in()));
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
            counted(file.updates, "update")
        ),
    );
    facts.add("data", format!("{}, sha256 {}", counted(file.data.rows, "row"), file.data.sha256));
    for claim in file.certificate.claims.iter().take(3) {
        facts.add(
            "proved",
            match claim {
                Claim::Unproved { reason } => format!("nothing: {}", spelled(reason)),
                claim if file.certificate.claims.len() > 1 => super::verify::title(claim),
                claim => claim.name().to_owned(),
            },
        );
    }
    if let Some(density) = &file.density {
        let planes = model.planes.len() as u64 * (model.input.width() as u64 + 1);
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
    facts.text(context)
}

/// Pairs that are printed at most.
const MOST_PAIRS: usize = 66;

/// Planes of a ballot that are printed at most.
const MOST_VOTERS: usize = 3;

fn pairs_as_text(model: &LinearModel, top: usize) -> String {
    let names = model.input.feature_names();
    let mut text = String::from("\n");
    let all = model.classes.len() * (model.classes.len() - 1) / 2;
    for (j, i, plane) in rules::boundaries(model).take(MOST_PAIRS) {
        let (later, earlier) = (rules::name_of(model, j), rules::name_of(model, i));
        let equation = rules::equation(&plane, &names, top);
        text.push_str(&format!("{later} | {earlier}  {equation}\n"));
    }
    if all > MOST_PAIRS {
        let more = grouped((all - MOST_PAIRS) as u64);
        text.push_str(&format!("({more} more pairs; --json has all)\n"));
    }
    text
}

fn pairs_as_json(model: &LinearModel) -> serde_json::Value {
    rules::boundaries(model)
        .map(|(j, i, Plane { weights, bias, .. })| {
            let (positive, negative) = (&model.classes[j], &model.classes[i]);
            json!({ "positive": positive, "negative": negative, "weights": weights, "bias": bias })
        })
        .collect()
}

fn planes_as_text(model: &LinearModel, top: usize) -> String {
    // Names of basis functions follow from those of all features; others are made as they are shown.
    let all = model.input.basis.as_ref().map(|_| model.input.feature_names());
    let names = |j: usize| match &all {
        Some(names) => names[j].clone(),
        None => model.input.feature_name(j),
    };
    let (titles, mut text) = (rules::titles(model), String::new());
    let Rule::Ballot(Ballot { votes, .. }) = &model.rule else {
        for (plane, title) in model.planes.iter().zip(&titles) {
            text.push_str(&format!("\n{title}\n{}", weights(plane, &names, top)));
        }
        return text;
    };
    let mut planes = model.planes.iter();
    for (votes, title) in votes.iter().zip(&titles) {
        let total: u64 = votes.iter().sum();
        let mut voters: Vec<(u64, &Plane)> = votes.iter().copied().zip(planes.by_ref()).collect();
        sort_by_key(&mut voters, |(votes, _)| std::cmp::Reverse(*votes));
        for (votes, plane) in voters.iter().take(MOST_VOTERS) {
            let share = format!("{} of {}", grouped(*votes), counted(total, "vote"));
            text.push_str(&format!("\n{title}, {share}\n{}", weights(plane, &names, top)));
        }
        if let more @ 1.. = voters.len().saturating_sub(MOST_VOTERS) {
            let rest: u64 = voters[MOST_VOTERS..].iter().map(|(votes, _)| votes).sum();
            text.push_str(&format!(
                "\n{title}: {} with {}; --json has all\n",
                counted(more as u64, "more plane"),
                counted(rest, "vote")
            ));
        }
    }
    text
}

/// The weights of a plane, the largest first, in aligned lines.
fn weights(plane: &Plane, names: &dyn Fn(usize) -> String, top: usize) -> String {
    // Only as many as are shown are kept: a plane may have hundreds of millions.
    let keep_largest = |shown: &mut Vec<usize>| {
        let size = |j: usize| plane.weights[j].abs();
        shown.sort_unstable_by(|&a, &b| size(b).total_cmp(&size(a)).then(a.cmp(&b)));
        shown.truncate(top);
    };
    let (mut shown, mut count): (Vec<usize>, usize) = (Vec::new(), 0);
    for j in (0..plane.weights.len()).filter(|&j| plane.weights[j] != 0.0) {
        count += 1;
        shown.push(j);
        if shown.len() >= top.saturating_mul(2).max(1000) {
            keep_largest(&mut shown);
        }
    }
    keep_largest(&mut shown);
    let label = |j: usize| linsep::printable(names(j).as_bytes(), 40);
    let width = shown.iter().map(|&j| label(j).chars().count()).max().unwrap_or(0).max(6);
    let mut text = format!("  {:width$}  {}\n", "(bias)", plane.bias);
    for &j in &shown {
        text.push_str(&format!("  {:width$}  {}\n", label(j), plane.weights[j]));
    }
    let zeros = plane.weights.len() - count;
    if count > shown.len() || zeros > 0 {
        let smaller = count - shown.len();
        text.push_str(&format!(
            "  ({} smaller, {} zero)\n",
            grouped(smaller as u64),
            grouped(zeros as u64)
        ));
    }
    text
}
