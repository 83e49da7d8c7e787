//! `linsep inspect DATA`: what is in the data, and what is wrong with it.

mod columns;

use super::data_lines::{DataLines, label_json};
use super::{check_width, json_number, tell_about};
use crate::context::Context;
use crate::exit::Failure;
use crate::input;
use crate::output::{Facts, grouped, print, print_json};
use crate::spelling::spelled;
use clap::ArgMatches;
use linsep::data::Encoding;
use linsep::data::cancel;
use linsep::data::inspect::{Inspection, inspect};
use linsep::data::read::{ReadResult, Survey};
use linsep::{Dataset, Error};
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// Columns listed in the text report.
pub(super) const SHOWN: usize = 20;

pub(crate) fn run(matches: &ArgMatches, context: &Context) -> Result<ExitCode, Failure> {
    crate::context::end_at_once();
    let paths = input::paths(matches);
    let options = input::options(matches, context)?;
    // Standard input can be read once only, and is looked through twice.
    let standard = match paths.iter().any(|path| path.as_os_str() == "-") {
        true => Some(input::standard_input()?),
        false => None,
    };
    let source = || input::source_with(&paths, standard.as_deref(), &options);
    // What a pipe has given is gone, under whatever name it was opened.
    let is_pipe = |path: &PathBuf| path.exists() && !path.is_file() && !path.is_dir();
    let survey = || match paths.iter().any(is_pipe) {
        true => Ok(None),
        false => source().survey(),
    };
    let read = cancel::catch(|| source().read(None)).unwrap_or(Err(Error::Interrupted));
    let read = match read {
        Ok(read) => read,
        // Whatever is wrong with the values of a table, its columns can be told.
        Err(error) if columns::ABOUT_VALUES.contains(&error.code()) => {
            return match survey() {
                Ok(Some(survey)) => columns::print_refused(&error, &survey, &paths, context),
                _ => Err(error.into()),
            };
        }
        Err(error) => return Err(error.into()),
    };
    tell_about(&read, matches, context)?;
    check_width(&read.data, 200, context)?;
    let survey = survey().unwrap_or(None);
    let found = inspect(&read.data);
    let digest = read.data.digest(context.threads);
    let lines = DataLines::new(&paths, &read);
    if context.json {
        let mut value = as_json(&lines, &read, &found, &digest);
        if let Some(survey) = &survey {
            columns::add_to(&mut value, survey, &paths, None);
        }
        print_json(&value)?;
    } else {
        print(&as_text(&lines, &read, &found, &digest, survey.as_ref(), &paths, context))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// How values are held.
fn held_as(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Ones => "all 1",
        Encoding::Table8 => "one-byte codes",
        Encoding::Int32 => "32-bit decimals",
        Encoding::F32 => "binary32",
        _ => "binary64",
    }
}

fn storage(read: &ReadResult) -> &'static str {
    if read.data.is_dense() { "dense" } else { "sparse" }
}

fn as_json(
    lines: &DataLines,
    read: &ReadResult,
    found: &Inspection,
    digest: &str,
) -> serde_json::Value {
    let data = &read.data;
    let names = data.input().feature_names();
    let columns: Vec<_> = found
        .columns
        .iter()
        .zip(&names)
        .map(|(c, name)| {
            json!({
                "name": name,
                "type": c.type_word(),
                "min": json_number(c.min),
                "max": json_number(c.max),
                "mean": json_number(c.mean),
                "nonzeros": c.nonzeros,
            })
        })
        .collect();
    let classes: Vec<_> = data
        .classes()
        .iter()
        .zip(&found.class_counts)
        .map(|(name, rows)| json!({ "name": name, "rows": rows }))
        .collect();
    let (label, label_source) = label_json(&read.choices.label);
    json!({
        "schema": "linsep.result/1",
        "command": "inspect",
        "rows": data.n_rows(),
        "features": data.n_features(),
        "classes": classes,
        "label": label,
        "label_source": label_source,
        "choices": read.choices.notes().iter().map(|note| spelled(note)).collect::<Vec<_>>(),
        "nonzeros": data.nonzeros(),
        "storage": storage(read),
        "encoding": data.encoding().name(),
        "bytes_per_value": json_number(data.bytes_per_value()),
        "bytes": data.feature_bytes(),
        "reading": lines.reading_json,
        "radius": json_number(found.radius),
        "digest": digest,
        "problems": problems(found, data),
        "columns": columns,
    })
}

fn as_text(
    lines: &DataLines,
    read: &ReadResult,
    found: &Inspection,
    digest: &str,
    survey: Option<&Survey>,
    paths: &[PathBuf],
    context: &Context,
) -> String {
    let data = &read.data;
    let mut facts = Facts::default();
    facts.add(&lines.file, &lines.line);
    for note in read.choices.notes() {
        facts.add("read as", spelled(&note));
    }
    let classes: Vec<String> = data
        .classes()
        .iter()
        .zip(&found.class_counts)
        .take(SHOWN)
        .map(|(name, rows)| {
            format!("{} ({})", linsep::printable(name.as_bytes(), 30), grouped(*rows))
        })
        .collect();
    let more = if data.n_classes() > SHOWN { ", …" } else { "" };
    facts.add("classes", format!("{}{more}", classes.join(", ")));
    let share =
        100.0 * data.nonzeros() as f64 / (data.n_rows() as f64 * data.n_features().max(1) as f64);
    facts.add(
        "values",
        format!(
            "{} not zero ({share:.1} %), max row norm {:.6}",
            grouped(data.nonzeros()),
            found.radius
        ),
    );
    facts.add(
        "memory",
        format!(
            "{} rows, {}, {} bytes ({:.2} for each value held)",
            storage(read),
            held_as(data.encoding()),
            grouped(data.feature_bytes()),
            data.bytes_per_value()
        ),
    );
    if !lines.add_reading(&mut facts) {
        facts.add("reading", if data.reading().decimal { "decimal" } else { "binary64" });
    }
    facts.add("digest", digest);
    let problems = problems(found, data);
    if problems.is_empty() {
        facts.add("problems", "none found");
    }
    for problem in problems {
        facts.add("problem", problem);
    }
    if let Some(survey) = survey {
        columns::add_hints(&mut facts, survey, paths, None);
    }
    let mut text = facts.text(context);
    match survey {
        Some(survey) => text.push_str(&columns::table(survey)),
        None => text.push_str(&features(read, found)),
    }
    text
}

/// What is wrong with the data, or may be.
fn problems(found: &Inspection, data: &Dataset) -> Vec<String> {
    found.problems(data).iter().map(|problem| spelled(problem)).collect()
}

/// The features of a format without columns.
fn features(read: &ReadResult, found: &Inspection) -> String {
    let names: Vec<String> = (0..found.columns.len().min(SHOWN))
        .map(|j| linsep::printable(read.data.input().feature_name(j).as_bytes(), 30))
        .collect();
    let width = names.iter().map(|n| n.chars().count()).max().unwrap_or(0).max(6);
    let mut text = format!(
        "\n{:width$}  {:8}  {:>14}  {:>14}  {:>14}  {:>10}\n",
        "column", "type", "min", "max", "mean", "not zero"
    );
    for (name, column) in names.iter().zip(&found.columns) {
        text.push_str(&format!(
            "{name:width$}  {:8}  {:>14}  {:>14}  {:>14}  {:>10}\n",
            column.type_word(),
            short(column.min),
            short(column.max),
            short(column.mean),
            grouped(column.nonzeros)
        ));
    }
    if found.columns.len() > SHOWN {
        text.push_str(&format!(
            "({} more columns; --json lists all)\n",
            grouped((found.columns.len() - SHOWN) as u64)
        ));
    }
    text
}

/// Up to six significant digits.
pub(super) fn short(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if !(1e-4..1e9).contains(&value.abs()) {
        return format!("{value:.5e}");
    }
    let digits = (5 - value.abs().log10().floor() as i32).clamp(0, 9) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}
