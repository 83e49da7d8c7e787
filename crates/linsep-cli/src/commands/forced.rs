//! `linsep forced DATA --row VALUES`: do all planes that separate the classes agree on new points?

use super::data_lines::DataLines;
use super::separable::{certificate_file, normal};
use super::{check_width, read_data};
use crate::context::{Context, timed_out};
use crate::exit::Failure;
use crate::files::Output;
use crate::input;
use crate::kinds::FileKind;
use crate::output::{Facts, counted, print, print_json};
use clap::ArgMatches;
use linsep::data::input::InputMap;
use linsep::data::read::RowSource;
use linsep::proof::{Certificate, Claim, ForcedSide, Question};
use linsep::verdict::{Decision, Forced, Judge, Verdict};
use linsep::{Dataset, Error, Result as LinsepResult, printable};
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

type Point = Vec<(u32, f64)>;

pub(crate) fn run(matches: &ArgMatches, context: &Context) -> Result<ExitCode, Failure> {
    let read = read_data(matches, context)?;
    let lines = DataLines::new(&input::paths(matches), &read);
    let data = Arc::new(read.data);
    check_width(&data, 64, context)?;
    let points = points(matches, &data, context)?;
    let mut judge = Judge::new(Arc::clone(&data));
    judge.threads = context.threads;
    judge.kind = false;
    judge.bias = matches.get_one::<String>("bias").is_none_or(|bias| bias == "on");
    let stop = || context.stopped();
    let decision = ask(matches, &judge, &stop)?;
    let answers = match decision.verdict {
        Verdict::Separable => judge.forced(&decision, &points, &stop)?,
        _ => Vec::new(),
    };
    // The answers are printed even if their proofs cannot be written.
    let mut written = Ok(());
    if let Some(path) = matches.get_one::<Output>("cert") {
        let forced = answers.iter().flatten().map(|answer| answer.claim.clone());
        let claims = std::iter::once(decision.claim.clone()).chain(forced).collect();
        let digest = data.digest(context.threads);
        let file = certificate_file(&judge, Certificate::new(claims), &digest);
        written = path
            .check(FileKind::Certificate, matches)
            .and_then(|()| path.write(|out| out.write_all(file.to_json().as_bytes())));
    }
    if context.json {
        let entries: Vec<_> =
            answers.iter().map(|answer| entry(answer.as_ref(), &decision)).collect();
        print_json(&json!({
            "schema": "linsep.result/1",
            "command": "forced",
            "verdict": decision.verdict.word(),
            "points": entries,
            "reading": lines.reading_json,
        }))?;
    } else {
        let mut facts = Facts::default();
        lines.add_to(&mut facts);
        match decision.verdict {
            Verdict::Separable => {
                for (k, answer) in answers.iter().enumerate() {
                    facts.add(&format!("point {}", k + 1), sentence(answer.as_ref(), &decision));
                }
                facts.add(
                    "proved",
                    match answers.iter().any(Option::is_none) {
                        true => "every answer passed the exact checker, except what says undecided",
                        false => "every answer passed the exact checker",
                    },
                );
            }
            verdict => {
                let words = format!(
                    "{}: no plane separates the rows, so none has to agree",
                    verdict.word()
                );
                facts.add("verdict", words);
            }
        }
        if let Some(path) = matches.get_one::<Output>("cert").filter(|_| written.is_ok()) {
            facts.add("proof", format!("{} (check it with linsep verify)", path.display()));
        }
        print(&facts.text(context))?;
    }
    written?;
    let open = decision.verdict == Verdict::Undecided || answers.iter().any(Option::is_none);
    Ok(ExitCode::from(match decision.verdict {
        _ if open && context.stopped() && !timed_out() => 130,
        _ if open => 5,
        Verdict::Separable => 0,
        _ => 1,
    }))
}

/// The decision on the two sides.
fn ask(matches: &ArgMatches, judge: &Judge, stop: &dyn Fn() -> bool) -> LinsepResult<Decision> {
    if let Some(pair) = matches.get_one::<String>("pair") {
        let Some((a, b)) = pair.split_once(',') else {
            let words = format!("--pair: \"{pair}\" is not two classes such as A,B");
            return Err(Error::usage(words));
        };
        return judge.pair(&normal(a), &normal(b), stop);
    }
    if let Some(class) = matches.get_one::<String>("class") {
        return judge.class(&normal(class), stop);
    }
    match judge.data.classes() {
        [_, positive] => judge.class(positive, stop),
        classes => Err(Error::usage(format!(
            "there are {} classes; --pair A,B or --positive C says which two sides are meant",
            classes.len()
        ))),
    }
}

/// The points of the flags and of the file, as the data's columns.
fn points(matches: &ArgMatches, data: &Dataset, context: &Context) -> Result<Vec<Point>, Failure> {
    let mut points = Vec::new();
    for text in matches.get_many::<String>("row").into_iter().flatten() {
        points.push(point(text, data)?);
    }
    if let Some(path) = matches.get_one::<PathBuf>("points") {
        let options = input::options(matches, context)?;
        let source = input::source_of(std::slice::from_ref(path), &options);
        collect(source, data.input(), &mut points)?;
    }
    match points.is_empty() {
        true => Err(Error::usage("which points? --row V1,V2,... or --points FILE").into()),
        false => Ok(points),
    }
}

fn collect(source: RowSource<'_>, map: &InputMap, points: &mut Vec<Point>) -> LinsepResult<()> {
    source.blocks(map, false, |_, chunk| {
        for at in 0..chunk.n_rows() {
            let mut point = Vec::new();
            chunk.store().for_each_entry(at, &mut |j, x| point.push((j, x)));
            points.push(point);
        }
        Ok(())
    })?;
    Ok(())
}

/// One number for each feature.
fn point(text: &str, data: &Dataset) -> LinsepResult<Point> {
    let cells: Vec<&str> = text.split(',').map(str::trim).collect();
    if cells.len() != data.n_features() {
        return Err(Error::usage(format!(
            "--row: {} for {}; a file of points goes with --points",
            counted(cells.len() as u64, "value"),
            counted(data.n_features() as u64, "feature")
        )));
    }
    let number = |(j, cell): (u32, &&str)| match cell.parse::<f64>() {
        Ok(x) if x.is_finite() => Ok((j, x)),
        _ => {
            let name = data.input().feature_name(j as usize);
            let name = printable(name.as_bytes(), 30);
            let cell = printable(cell.as_bytes(), 30);
            Err(Error::usage(format!("--row: \"{cell}\" of {name} is no finite number")))
        }
    };
    (0..).zip(&cells).map(number).filter(|x| !matches!(x, Ok((_, 0.0)))).collect()
}

/// The classes of a side.
fn side_of<'a>(answer: &Forced, problem: &'a Question) -> Option<&'a [String]> {
    match answer.side {
        ForcedSide::Positive => Some(&problem.positive),
        ForcedSide::Negative => Some(&problem.negative),
        ForcedSide::Either => None,
    }
}

fn rows_of(answer: &Forced) -> u64 {
    match &answer.claim {
        Claim::Forced { forced, .. } => forced.combination.len() as u64,
        _ => 0,
    }
}

fn sentence(answer: Option<&Forced>, decision: &Decision) -> String {
    let (Some(answer), Some(problem)) = (answer, &decision.problem) else {
        return "undecided; the search ended first, or the point lies on every plane".into();
    };
    match side_of(answer, problem) {
        None => "either; two planes that separate the rows differ on it".into(),
        Some(classes) => format!(
            "{}; every plane that separates the rows says so, shown by {}",
            printable(classes.join(", ").as_bytes(), 60),
            counted(rows_of(answer), "row")
        ),
    }
}

fn entry(answer: Option<&Forced>, decision: &Decision) -> serde_json::Value {
    let (Some(answer), Some(problem)) = (answer, &decision.problem) else {
        return json!({ "forced": null });
    };
    let classes = side_of(answer, problem);
    json!({ "forced": classes.is_some(), "classes": classes, "rows": rows_of(answer) })
}
