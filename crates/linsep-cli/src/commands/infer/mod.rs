//! `linsep infer DATA`: coefficients of a logistic regression, with errors, tests and intervals.

mod grouped;
mod table;

use super::data_lines::DataLines;
use super::train::row_table::RowTable;
use super::{check_width, tell_about};
use crate::context::Context;
use crate::exit::Failure;
use crate::files::Output;
use crate::input;
use crate::kinds::FileKind;
use crate::output::{Facts, print, print_json};
use clap::ArgMatches;
use grouped::Counts;
use linsep::data::input::no_column;
use linsep::infer::{Inference, InferenceSummary, Residual};
use linsep::proof::{Certificate, CertificateFile, InputField};
use linsep::{Claim, Code, Dataset, Error, Task};
use linsep_teach::plot::{Intervals, Style};
use serde_json::{Value, json};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;
use table::Report;

pub(crate) fn run(matches: &ArgMatches, context: &Context) -> Result<ExitCode, Failure> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let residuals = matches
        .get_one::<Output>("residuals")
        .map(|output| RowTable::asked("residuals", output))
        .transpose()?;
    let picture = super::plot::beside("picture", matches)?;
    let mut options = input::options(matches, context)?;
    let counts = text("success").zip(text("failure"));
    if let Some((success, _)) = counts {
        options.label = Some(success.parse()?);
    }
    let beside = [text("offset"), text("failure")].into_iter().flatten();
    let beside: Vec<_> = beside.map(str::parse).collect::<Result<_, _>>()?;
    let terms = options.terms.take().map(|terms| terms.with_beside(beside));
    options.terms.clone_from(&terms);
    let source = input::source_of(&input::paths(matches), &options);
    let read =
        linsep::data::cancel::catch(|| source.read(None)).unwrap_or(Err(Error::Interrupted))?;
    tell_about(&read, matches, context)?;
    let lines = DataLines::new(&input::paths(matches), &read);
    let original = read.data;
    let mut data = match &terms {
        Some(terms) => original.design(terms, &options.references, context.max_memory)?,
        None => {
            let expansion = input::basis(matches)?;
            let data = input::expand(original.clone(), expansion.as_ref(), None, context)?;
            // Unless it was said how text columns are to be taken.
            if text("categorical").is_some() { data } else { data.without_first_levels()? }
        }
    };
    let mut inference = settings(matches, &original)?.with_residuals(residuals.is_some());
    // A formula says itself whether such a column is a term.
    let mut taken = |column: &str| -> Result<Vec<f64>, Failure> {
        let from = if terms.is_some() { &original } else { &data };
        let (rest, values) = taken_out(from, &original, column)?;
        if terms.is_none() {
            data = rest;
        }
        Ok(values)
    };
    let offset = text("offset").map(&mut taken).transpose()?;
    let mut rows_of = None;
    if let Some((success, failure)) = counts {
        let failures = taken(failure)?;
        let rest = data;
        let grouped = Counts::of(&rest, &original, [success, failure], &failures)?;
        inference = inference
            .with_offset(
                offset.map(|offset| grouped.rows.iter().map(|&row| offset[row as usize]).collect()),
            )
            .with_groups(Some(grouped.rows.clone()));
        (data, rows_of) = (grouped.data, Some(grouped.rows));
    } else {
        inference = inference.with_offset(offset);
    }
    let data = Arc::new(data);
    check_width(&data, 64, context)?;
    let task = Task::new(Arc::clone(&data)).with_threads(context.threads);
    let start = Instant::now();
    let summary = inference.of(&task, &|| context.stopped())?;
    let seconds = start.elapsed().as_secs_f64();
    // What was found is printed even if the residuals cannot be written.
    let written = match &residuals {
        None => Ok(()),
        Some(table) => write_residuals(table, &original, &summary, rows_of.as_deref()),
    };
    let drawn = picture.as_ref().map_or(Ok(()), |output| draw(output, &summary, &data, &original));
    let proof = matches.get_one::<Output>("cert");
    let certificate = proof.map(|_| summary.certificate(&original, &data, context.threads));
    let proved = match (proof, &certificate) {
        (Some(output), Some(found)) if found.proves_something() => {
            write_certificate(output, found, &original, &inference, matches, context)
        }
        _ => Ok(()),
    };
    if context.json {
        let mut value = json_of(&summary, &data, &inference, &lines);
        if let Some(terms) = &terms {
            value["terms"] = terms.text().into();
        }
        value["seconds"] = json!({ "infer": seconds });
        print_json(&value)?;
    } else {
        let report = Report {
            summary: &summary,
            data: &data,
            inference: &inference,
            context,
            terms: terms.as_ref(),
        };
        let saved = residuals.as_ref().filter(|_| written.is_ok());
        let saved = saved.map(|table| table.output.display().to_string());
        let said = proof.zip(certificate.as_ref()).filter(|_| proved.is_ok());
        let mut text =
            report.text(&lines, saved, said.map(|(output, found)| sentence(output, found)));
        if let Some(output) = picture.as_ref().filter(|_| drawn.is_ok()) {
            let mut facts = Facts::default();
            facts.add("picture", output.display().to_string());
            text.push_str(&facts.text(context));
        }
        print(&text)?;
    }
    written?;
    drawn?;
    proved?;
    let is_missing = certificate.is_some_and(|found| !found.proves_something());
    Ok(ExitCode::from(if is_missing { 5 } else { 0 }))
}

fn write_certificate(
    output: &Output,
    certificate: &Certificate,
    data: &Dataset,
    inference: &Inference,
    matches: &ArgMatches,
    context: &Context,
) -> Result<(), Failure> {
    let identity = data.identity(context.threads);
    let (reading, bias) = (data.reading_field(), inference.bias);
    let mut file = CertificateFile::new(identity, reading, bias, certificate.clone());
    file.input = InputField::of(data.input());
    output.check(FileKind::Certificate, matches)?;
    Ok(output.write(|out| out.write_all(file.to_json().as_bytes()))?)
}

/// What a certificate shows.
fn sentence(output: &Output, certificate: &Certificate) -> (&'static str, String) {
    match &certificate.claims[..] {
        [Claim::ModifiedScore { modified_score, .. }] => (
            "proof",
            format!(
                "{} (check it with linsep verify): the modified score is at most {:.1e} standard errors in every direction",
                output.display(),
                1.05 * modified_score.residual
            ),
        ),
        [Claim::Unproved { reason }] => ("proved", format!("nothing: {reason}")),
        _ => ("proved", "nothing".to_owned()),
    }
}

/// The class that the others are compared with. What has a = in it may as well be a level of a column, which
/// was seen to when the data was read.
fn reference(matches: &ArgMatches, data: &Dataset) -> Result<Option<String>, Failure> {
    let mut classes = Vec::new();
    let has_column = |name: &str| {
        let columns = &data.input().columns;
        let number = name.strip_prefix('#').and_then(|number| number.parse::<usize>().ok());
        columns.iter().any(|column| {
            column.name.as_deref() == Some(name) || number == Some(column.position + 1)
        })
    };
    let is_label = |name: &str| match &data.input().label {
        Some(label) => {
            let number = name.strip_prefix('#').and_then(|number| number.parse::<usize>().ok());
            label.name.as_deref() == Some(name) || number == Some(label.position + 1)
        }
        None => matches!(name, "label" | "first" | "#1"),
    };
    for text in matches.get_many::<String>("reference").into_iter().flatten() {
        let mut parts = text.match_indices('=').map(|(at, _)| (&text[..at], &text[at + 1..]));
        let is_level = parts.clone().any(|(column, _)| has_column(column.trim()));
        let of_label = parts.find(|(column, _)| is_label(column.trim()));
        match of_label {
            Some((_, class)) => classes.push(class.to_owned()),
            None if is_level => {}
            None if !text.contains('=') || data.classes().contains(text) => {
                classes.push(text.clone());
            }
            None => {
                let names: Vec<String> =
                    data.input().columns.iter().filter_map(|column| column.name.clone()).collect();
                let file = data.origin().files().next().unwrap_or("").to_owned();
                let column = text.split('=').next().unwrap_or_default();
                return Err(no_column(Code::NO_COLUMN, column, &names, &file).into());
            }
        }
    }
    match &classes[..] {
        [] => Ok(None),
        [class] => Ok(Some(linsep::data::read::normal_label(class))),
        [one, other, ..] => {
            let words = format!(
                "--reference: \"{one}\" and \"{other}\" cannot both be the class of comparison"
            );
            Err(Error::usage(words).into())
        }
    }
}

/// Writes the picture of the coefficients.
fn draw(
    output: &Output,
    summary: &InferenceSummary,
    data: &Dataset,
    original: &Dataset,
) -> Result<(), Failure> {
    let file = original.origin().files().next().unwrap_or("data");
    let title = format!("{}: coefficients with intervals", linsep::escaped(file));
    let svg = Intervals::of_coefficients(summary, data).draw(&Style::new(title))?;
    Ok(output.write(|out| out.write_all(svg.as_bytes()))?)
}

fn settings(matches: &ArgMatches, data: &Dataset) -> Result<Inference, Failure> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let mut inference = Inference::default()
        .with_firth(text("penalty") == Some("firth"))
        .with_profile(!matches.get_flag("wald"))
        .with_bias(text("intercept") != Some("none"))
        .with_reference(reference(matches, data)?);
    if let Some(word) = text("correction") {
        inference.correction = word.parse()?;
    }
    if let Some(word) = text("se") {
        inference.se = word.parse()?;
    }
    if let Some(word) = text("weights-as") {
        inference.weights_as = word.parse()?;
    }
    if let Some(share) = text("confidence") {
        let wrong = || Error::usage(format!("--confidence: \"{share}\" is no number such as 0.95"));
        inference.confidence = share.parse().map_err(|_| wrong())?;
    }
    Ok(inference)
}

/// The data without a column, and its numbers.
fn taken_out(
    data: &Dataset,
    original: &Dataset,
    name: &str,
) -> Result<(Dataset, Vec<f64>), Failure> {
    let by_number = || {
        let number: u32 = name.strip_prefix('#')?.parse().ok()?;
        number.checked_sub(1).filter(|at| (*at as usize) < data.n_features())
    };
    let Some(column) = data.input().feature_called(name).or_else(by_number) else {
        let names = data.input().feature_names();
        let file = original.origin().files().next().unwrap_or("").to_owned();
        return Err(no_column(Code::NO_COLUMN, name, &names, &file).into());
    };
    let mut values = vec![0.0; data.n_rows()];
    for (row, value) in values.iter_mut().enumerate() {
        data.for_each(row, |j, x| {
            if j == column {
                *value = x;
            }
        });
    }
    let others: Vec<u32> = (0..data.n_features() as u32).filter(|j| *j != column).collect();
    Ok((data.selected(None, &others)?, values))
}

fn write_residuals(
    table: &RowTable,
    data: &Dataset,
    summary: &InferenceSummary,
    rows_of: Option<&[u32]>,
) -> Result<(), Failure> {
    let rows = summary.residuals.iter().map(|one| {
        let row = rows_of.map_or(one.row, |rows| rows[one.row as usize]);
        (row, one.values().map(Value::from).to_vec())
    });
    table.write(data, &Residual::NAMES, rows)
}

fn json_of(
    summary: &InferenceSummary,
    data: &Dataset,
    inference: &Inference,
    lines: &DataLines,
) -> Value {
    let mut value: Value = serde_json::from_str(&summary.to_json(data.input())).unwrap_or_default();
    value["schema"] = "linsep.result/1".into();
    value["command"] = "infer".into();
    value["se"] = inference.se.word().into();
    value["weights_as"] = inference.weights_as.word().into();
    value["correction"] = inference.correction.word().into();
    value["reading"] = json!(lines.reading_json);
    value
}
