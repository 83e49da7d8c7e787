//! `linsep evaluate MODEL DATA`: predictions against labels.

use crate::context::Context;
use crate::exit::Failure;
use crate::input;
use crate::output::{note, print, print_json};
use clap::ArgMatches;
use linsep::Error;
use linsep::metrics::{Ambiguous, Evaluation, SHOWN_CLASSES};
use std::process::ExitCode;

pub(crate) fn run(matches: &ArgMatches, context: &Context) -> Result<ExitCode, Failure> {
    crate::context::end_at_once();
    let bar = matches.get_one::<String>("fail-under").map(|text| Bar::parse(text)).transpose()?;
    let Some(path) = &input::subject(matches) else { return Ok(ExitCode::from(2)) };
    let model = super::load_model(path, context)?;
    let evaluation = model.evaluate_source(input::source(matches, context)?)?;
    if context.json {
        let mut value = serde_json::to_value(&evaluation).unwrap_or_default();
        value["schema"] = "linsep.result/1".into();
        value["command"] = "evaluate".into();
        print_json(&value)?;
    } else if context.plain {
        print(&plain(&evaluation))?;
    } else {
        let mut text = evaluation.to_text();
        if evaluation.classes.len() > SHOWN_CLASSES {
            text = format!("{}; use --json to get all\n", text.trim_end());
        }
        print(&text)?;
    }
    match bar {
        Some(Bar { auc: true, .. }) if evaluation.auc.is_none() => Err(Error::usage(
            "--fail-under: there is no auc here; it needs two classes and rows of both",
        )
        .into()),
        Some(bar) if !bar.holds(&evaluation) => {
            let (name, found) = match bar.auc {
                true => ("auc", evaluation.auc.unwrap_or(0.0)),
                false => ("accuracy", evaluation.accuracy),
            };
            note(context, &format!("{name} is {found}, below the bar of {}", bar.least));
            Ok(ExitCode::from(1))
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// Of more classes than this only pairs that occur are listed.
const SHOWN_PAIRS: usize = 512;

/// Tab-separated lines.
fn plain(evaluation: &Evaluation) -> String {
    let mut text = format!("rows\t{}\nerrors\t{}\n", evaluation.rows, evaluation.errors);
    if let Some(weighted) = evaluation.weighted {
        text.push_str(&format!(
            "weight\t{}\nweighted_errors\t{}\n",
            weighted.rows, weighted.errors
        ));
    }
    text.push_str(&format!("accuracy\t{}\n", evaluation.accuracy));
    if let Some(majority) = &evaluation.majority {
        text.push_str(&format!("majority_accuracy\t{}\n", majority.accuracy));
    }
    for (name, value) in [("auc", evaluation.auc), ("log_loss", evaluation.log_loss)] {
        if let Some(value) = value {
            text.push_str(&format!("{name}\t{value}\n"));
        }
    }
    if let Some(Ambiguous { rows, errors, .. }) = evaluation.ambiguous {
        text.push_str(&format!("ambiguous\t{rows}\nambiguous_errors\t{errors}\n"));
    }
    let name = |class: u32| linsep::escaped(&evaluation.classes[class as usize]);
    let mut add = |truth: u32, predicted: u32, count: f64| {
        let (truth, predicted) = (name(truth), name(predicted));
        text.push_str(&format!("confusion\t{truth}\t{predicted}\t{count}\n"));
    };
    let classes = evaluation.classes.len() as u32;
    match evaluation.classes.len() > SHOWN_PAIRS {
        true => evaluation.confusion.pairs().for_each(|(t, p, count)| add(t, p, count)),
        false => {
            for truth in 0..classes {
                (0..classes)
                    .zip(evaluation.confusion.line(truth))
                    .for_each(|(p, n)| add(truth, p, n));
            }
        }
    }
    text
}

/// `accuracy=0.9`.
struct Bar {
    auc: bool,
    least: f64,
}

impl Bar {
    fn parse(text: &str) -> Result<Bar, Error> {
        let wrong = || {
            Error::usage(format!(
                "--fail-under: \"{text}\" is not accuracy=X or auc=X with X from 0 to 1"
            ))
        };
        let (metric, least) = text.split_once('=').ok_or_else(wrong)?;
        let least: f64 = least.parse().map_err(|_| wrong())?;
        if !(0.0..=1.0).contains(&least) {
            return Err(wrong());
        }
        match metric {
            "accuracy" | "acc" => Ok(Bar { auc: false, least }),
            "auc" => Ok(Bar { auc: true, least }),
            _ => Err(wrong()),
        }
    }

    fn holds(&self, evaluation: &Evaluation) -> bool {
        let value = if self.auc { evaluation.auc } else { Some(evaluation.accuracy) };
        value.is_some_and(|value| value >= self.least)
    }
}
