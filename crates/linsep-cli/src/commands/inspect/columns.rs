//! The columns of a table for people and programs, whatever is wrong with its rows, and the command that
//! would learn from it.

use super::{SHOWN, short};
use crate::commands::json_number;
use crate::context::Context;
use crate::exit::Failure;
use crate::output::{Facts, aligned, counted, grouped, print, print_json};
use crate::spelling::{quoted, spelled};
use linsep::data::read::{ColumnSurvey, LabelChoice, Survey};
use linsep::{Code, Error, printable};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

/// Errors about values and labels, not about the form of a file.
pub(super) const ABOUT_VALUES: [Code; 12] = [
    Code::NOT_A_NUMBER,
    Code::NOT_FINITE,
    Code::OUT_OF_RANGE,
    Code::INEXACT_INTEGER,
    Code::MISSING,
    Code::TEXT_COLUMN,
    Code::AMBIGUOUS_LABEL,
    Code::ONE_CLASS,
    Code::MANY_CLASSES,
    Code::LABEL_VALUE,
    Code::BAD_WEIGHT,
    Code::NO_FEATURES,
];

/// Prints what a table holds that cannot be read as it is.
pub(super) fn print_refused(
    error: &Error,
    survey: &Survey,
    paths: &[PathBuf],
    context: &Context,
) -> Result<ExitCode, Failure> {
    let problem = words(error);
    if context.json {
        let mut value = json!({
            "schema": "linsep.result/1",
            "command": "inspect",
            "rows": survey.records,
            "choices": survey.notes.iter().map(|note| spelled(note)).collect::<Vec<_>>(),
            "problems": [problem],
            "code": error.code().to_string(),
        });
        add_to(&mut value, survey, paths, Some(error));
        print_json(&value)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut facts = Facts::default();
    let name = paths.first().map(|path| path.file_name().unwrap_or(path.as_os_str()));
    let name = name.map_or("data".into(), |name| name.to_string_lossy());
    let size = format!(
        "{} x {}",
        counted(survey.records, "row"),
        counted(survey.columns.len() as u64, "column")
    );
    facts.add(if name == "-" { "<stdin>" } else { &name }, size);
    survey.notes.iter().for_each(|note| facts.add("read as", spelled(note)));
    facts.add("problem", problem);
    if survey.uneven > 0 {
        facts.add(
            "problem",
            format!("{} with a wrong number of fields", counted(survey.uneven, "record")),
        );
    }
    survey.decisions.iter().for_each(|note| facts.add("note", spelled(&note.words)));
    add_hints(&mut facts, survey, paths, Some(error));
    let mut text = facts.text(context);
    text.push_str(&table(survey));
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Which columns could be the label, and the command to go on with.
pub(super) fn add_hints(
    facts: &mut Facts,
    survey: &Survey,
    paths: &[PathBuf],
    error: Option<&Error>,
) {
    // Who gave the label or named it so knows.
    let known = matches!(survey.label_choice, LabelChoice::Asked(_) | LabelChoice::Named(_));
    let chosen = survey.label_choice.column();
    let mut candidates = candidates(survey);
    candidates.retain(|column| chosen != Some(column.name.as_str()));
    if !candidates.is_empty() && !known {
        let names: Vec<String> = candidates
            .iter()
            .take(8)
            .map(|column| {
                let name = printable(column.name.as_bytes(), 30);
                format!("{name} ({})", counted(column.distinct as u64, "class"))
            })
            .collect();
        let more = if candidates.len() > 8 { ", …" } else { "" };
        let could = if chosen.is_some() { "could also be" } else { "could be" };
        facts.add("label", format!("{could} {}{more}", names.join(", ")));
    }
    facts.add("train", train(survey, paths, error));
}

/// Adds the columns and the command to an object.
pub(super) fn add_to(value: &mut Value, survey: &Survey, paths: &[PathBuf], error: Option<&Error>) {
    let column = |column: &ColumnSurvey| {
        let (min, mean, max) = match column.range {
            Some((min, mean, max)) => (json_number(min), json_number(mean), json_number(max)),
            None => (Value::Null, Value::Null, Value::Null),
        };
        json!({
            "name": column.name,
            "type": column.kind,
            "missing": column.missing,
            "numbers": column.numbers,
            "texts": column.texts,
            "distinct": column.distinct,
            "distinct_more": column.more,
            "min": min,
            "mean": mean,
            "max": max,
            "top": column.top,
            "may_be_label": column.may_be_label,
        })
    };
    value["file_columns"] = survey.columns.iter().map(column).collect();
    value["train"] = train(survey, paths, error).into();
}

/// A line for each column of the file.
pub(super) fn table(survey: &Survey) -> String {
    let head = ["column", "type", "missing", "distinct", "min", "mean", "max", "most frequent"];
    let mut rows = vec![head.map(str::to_owned)];
    for column in survey.columns.iter().take(SHOWN) {
        let number = |pick: fn((f64, f64, f64)) -> f64| {
            column.range.map_or(String::new(), |range| short(pick(range)))
        };
        let more = if column.more { "+" } else { "" };
        // Values that are all different have no frequent one.
        let frequent = column.top.first().is_some_and(|(_, count)| *count > 1);
        let texts = column.texts > 0 || column.distinct <= 10;
        let value = |(text, count): &(String, u64)| {
            format!("{} ({})", printable(text.as_bytes(), 16), grouped(*count))
        };
        let top: Vec<String> = match frequent && texts {
            true => column.top.iter().take(3).map(value).collect(),
            false => Vec::new(),
        };
        rows.push([
            printable(column.name.as_bytes(), 30),
            column.kind.to_owned(),
            grouped(column.missing),
            format!("{}{more}", grouped(column.distinct as u64)),
            number(|range| range.0),
            number(|range| range.1),
            number(|range| range.2),
            top.join(", "),
        ]);
    }
    let mut text = format!("\n{}\n", aligned(&rows, |column| (2..7).contains(&column)).join("\n"));
    if survey.columns.len() > SHOWN {
        let more = grouped((survey.columns.len() - SHOWN) as u64);
        text.push_str(&format!("({more} more columns; --json lists all)\n"));
    }
    text
}

fn candidates(survey: &Survey) -> Vec<&ColumnSurvey> {
    // Whole numbers with many values are rather counts.
    let few = |column: &&ColumnSurvey| {
        column.may_be_label && !column.more && (column.texts > 0 || column.distinct <= 10)
    };
    survey.columns.iter().filter(few).collect()
}

/// The command that learns from the table.
fn train(survey: &Survey, paths: &[PathBuf], error: Option<&Error>) -> String {
    let mut words = vec!["linsep train".to_owned()];
    words.extend(paths.iter().map(|path| quoted(&path.display().to_string())));
    let label = survey.label.or_else(|| {
        let last = survey.columns.iter().rposition(|column| column.may_be_label && !column.more);
        last.inspect(|&at| words.push(format!("--label {}", quoted(&survey.columns[at].name))))
    });
    if label.is_none() {
        words.push("--label COLUMN".to_owned());
    }
    // A column that is empty in most rows would take those rows with it.
    let (mut drop, mut gaps, mut of_label) = (Vec::new(), 0, false);
    let left_out =
        |at: usize| survey.decisions.iter().any(|note| note.position == at && !note.used);
    for (at, column) in survey.columns.iter().enumerate() {
        let amounts = matches!(column.kind, "percent" | "money" | "1,234" | "mixed");
        if Some(at) == label || left_out(at) {
            of_label |= Some(at) == label && column.missing > 0;
        } else if 2 * column.missing > survey.records || amounts && column.numbers < column.texts {
            drop.push(column.name.clone());
        } else {
            gaps += column.missing;
        }
    }
    if !drop.is_empty() && drop.len() <= 8 {
        words.push(format!("--drop {}", quoted(&drop.join(","))));
    }
    // Gaps all over the table would take too many rows with them; labels cannot be filled.
    if of_label || gaps > 0 {
        let fill = !of_label && 2 * gaps > survey.records;
        words.push(if fill { "--missing median" } else { "--missing drop-row" }.to_owned());
    }
    // Rows with a cell that is no number, where most are.
    let bad = [Code::NOT_A_NUMBER, Code::NOT_FINITE, Code::OUT_OF_RANGE, Code::INEXACT_INTEGER];
    if error.is_some_and(|error| bad.contains(&error.code())) {
        words.push("--bad-rows rejects=rejected.csv".to_owned());
    }
    words.join(" ")
}

/// What an error says, with its place, in one line.
fn words(error: &Error) -> String {
    let Error::Data(data) = error else { return spelled(&error.to_string()) };
    let Some(problem) = data.problems.first() else { return spelled(&error.to_string()) };
    let place = match (problem.place.line, problem.place.column) {
        (Some(line), Some(column)) => format!(" (first in line {line}, column {column})"),
        (Some(line), None) => format!(" (first in line {line})"),
        _ => String::new(),
    };
    let help = problem.help.as_ref().map_or(String::new(), |help| format!("; {help}"));
    spelled(&format!("{}{place}{help}", problem.message))
}
