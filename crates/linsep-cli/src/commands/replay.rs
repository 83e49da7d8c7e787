//! `linsep replay TRACE DATA`: every weight vector of a traced run, rebuilt from its rows.

use super::inspect::short;
use super::sentences::at_least;
use super::{check_width, tell_about};
use crate::context::Context;
use crate::exit::Failure;
use crate::files::Output;
use crate::input;
use crate::kinds::FileKind;
use crate::output::{Facts, aligned, counted, grouped, print, print_json};
use clap::ArgMatches;
use linsep::file::ModelFile;
use linsep::{Claim, Dataset, Error, Plane, Progress, Stop};
use linsep_teach::trace::{Line, Replay};
use serde_json::json;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// Updates that are shown unless more are asked for.
const SHOWN: u64 = 20;

/// Weights that are printed of a plane.
const WEIGHTS: usize = 12;

/// What the flags ask for.
struct Plan {
    at: Option<u64>,
    from: u64,
    to: u64,
    check: bool,
    broken: bool,
    model: Option<Output>,
}

/// An update that is to be shown, with the rows that it made wrong.
struct Shown {
    line: Line,
    broken: Vec<u32>,
}

pub(crate) fn run(matches: &ArgMatches, context: &Context) -> Result<ExitCode, Failure> {
    crate::context::end_at_once();
    let Some(path) = &input::subject(matches) else { return Ok(ExitCode::from(2)) };
    let plan = plan(matches)?;
    let file = File::open(path).map_err(|error| Error::io("read", path, error))?;
    let mut replay = Replay::open(path, BufReader::new(file), context.max_memory)?;
    let mut options = input::options(matches, context)?;
    options.positive.clone_from(&replay.header.positive);
    let map = replay.header.input.clone();
    let source = input::source_of(&input::paths(matches), &options);
    let read = source.read(Some(&map))?;
    tell_about(&read, matches, context)?;
    let data = Arc::new(read.data);
    let planes = replay.header.start.len() as u64;
    check_width(&data, 8 * (4 * planes + 2), context)?;
    replay.on(Arc::clone(&data), context.threads)?;
    let first = replay.k() + 1;
    let (mut shown, mut epochs) = (Vec::new(), 0);
    let mut made = 0;
    while plan.at.is_none_or(|at| replay.k() < at) {
        let k = replay.k() + 1;
        let wanted = !plan.check && k >= plan.from && k <= plan.to;
        let before = if wanted && plan.broken { all_margins(&replay) } else { Vec::new() };
        let Some(step) = replay.next_step(plan.check)? else { break };
        made += 1;
        epochs = step.line.epoch;
        if wanted {
            let broken = newly_wrong(&before, step.machine, &replay);
            shown.push(Shown { line: step.line, broken });
        }
    }
    if let Some(at) = plan.at.filter(|at| *at != replay.k()) {
        let words = format!("--at {at}: the trace has the updates {first} to {}", replay.k());
        return Err(Error::usage(words).into());
    }
    if let Some(to) = &plan.model {
        save(to.path(), &replay, &data, epochs, plan.at.is_none(), context)?;
    }
    let result = Outcome { replay: &replay, plan: &plan, shown: &shown, made, data: &data, path };
    if context.json {
        print_json(&result.json())?
    } else {
        print(&result.text(context))?
    };
    Ok(ExitCode::SUCCESS)
}

fn plan(matches: &ArgMatches) -> Result<Plan, Failure> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let whole = |name: &str| text(name).map(|n| input::whole(name, n)).transpose();
    let (from, to) = (whole("from")?, whole("to")?);
    let start = from.unwrap_or(1);
    if to.is_some_and(|to| to < start) {
        return Err(Error::usage(format!("--to is before --from, which is {start}")).into());
    }
    let model = matches.get_one::<Output>("output-file").cloned();
    if model.as_ref().is_some_and(|path| path.is_stdout()) {
        return Err(Error::usage("a model is a file; -o needs a name, not -").into());
    }
    if let Some(model) = &model {
        model.check(FileKind::Model, matches)?;
    }
    Ok(Plan {
        at: whole("at")?,
        from: start,
        to: to.unwrap_or(start.saturating_add(SHOWN - 1)),
        check: matches.get_flag("check"),
        broken: matches.get_flag("broken"),
        model,
    })
}

type Reader = Replay<BufReader<File>>;

/// The margins of the rows of every machine.
fn all_margins(replay: &Reader) -> Vec<Vec<(u32, f64)>> {
    (0..replay.header.machines.len()).map(|machine| replay.margins(machine)).collect()
}

/// Rows that were right before and are not any more.
fn newly_wrong(before: &[Vec<(u32, f64)>], machine: usize, replay: &Reader) -> Vec<u32> {
    let Some(before) = before.get(machine) else { return Vec::new() };
    let after = replay.margins(machine);
    let pairs = before.iter().zip(&after);
    let broken = pairs.filter(|((_, before), (_, after))| {
        let still = *after > 0.0;
        *before > 0.0 && !still
    });
    broken.map(|((row, _), _)| *row).collect()
}

/// Writes the planes as a model. It is proved what it is, not what the run made of it later.
fn save(
    to: &Path,
    replay: &Reader,
    data: &Dataset,
    epochs: u64,
    whole: bool,
    context: &Context,
) -> Result<(), Failure> {
    let certificate = replay.certificate();
    let proved = certificate
        .claims
        .iter()
        .all(|claim| matches!(claim, Claim::Separable { .. } | Claim::JointSeparable { .. }));
    let stop = if whole && proved { Stop::Finished } else { Stop::Updates };
    let progress = Progress::default().with_epochs(epochs).with_updates(replay.k());
    let identity = data.identity(context.threads);
    let header = &replay.header;
    let file = ModelFile::new(
        replay.model(),
        certificate,
        &header.learner,
        header.parameters.clone(),
        header.seed,
        (stop, progress),
        (identity, data.reading_field()),
    );
    Ok(file.save(to)?)
}

/// Everything that is printed.
struct Outcome<'a> {
    replay: &'a Reader,
    plan: &'a Plan,
    shown: &'a [Shown],
    made: u64,
    data: &'a Dataset,
    path: &'a Path,
}

impl Outcome<'_> {
    fn text(&self, context: &Context) -> String {
        let header = &self.replay.header;
        let mut facts = Facts::default();
        let learner = match &header.algorithm_box {
            Some(name) => format!("{}, box {name}", header.learner),
            None => header.learner.clone(),
        };
        facts.add("run", format!("{learner}, scale {}, R² = {}", header.scaling, short(header.r2)));
        if let Some(gamma) = &header.gamma {
            facts.add(
                "margin",
                format!("γ ≥ {} in the coordinates of the run", at_least(gamma.lower)),
            );
        }
        facts.add(
            "replayed",
            format!("{} of {}", counted(self.made, "update"), self.path.display()),
        );
        let checked = match self.plan.check {
            true => "rows, margins, lengths, angles, bounds and criteria are those of the planes",
            false => "rows, margins and lengths are those of the planes, to the last bit",
        };
        facts.add("checked", checked);
        for (k, plane) in self.replay.planes().iter().enumerate() {
            let name = match k {
                0 => format!("at {}", self.replay.k()),
                _ => String::new(),
            };
            facts.add(&name, plane_words(plane));
        }
        if let Some(model) = &self.plan.model {
            facts.add("model", model.display().to_string());
        }
        let mut text = facts.text(context);
        if !self.shown.is_empty() {
            text.push('\n');
            text.push_str(&self.table(context));
        }
        let last = self.shown.last().map_or(0, |shown| shown.line.k);
        if !self.plan.check && last < self.replay.k() {
            let more =
                self.replay.k() - last.max(self.plan.from.saturating_sub(1)).min(self.replay.k());
            if more > 0 && !context.plain {
                text.push_str(&format!("({} more; --from and --to show them)\n", grouped(more)));
            }
        }
        text
    }

    fn table(&self, context: &Context) -> String {
        let batch = self.replay.header.batch;
        let mut rows = vec![[
            "k".to_owned(),
            "epoch".into(),
            if batch { "rows" } else { "row" }.into(),
            if batch { "" } else { "line" }.into(),
            "step".into(),
            "margin before".into(),
            "after".into(),
            "|w|".into(),
        ]];
        let number = |x: Option<f64>| x.map_or("-".to_owned(), short);
        for Shown { line, .. } in self.shown {
            let count = line.rows.as_ref().map(|rows| rows.len().to_string());
            rows.push([
                line.k.to_string(),
                line.epoch.to_string(),
                line.row.map(|row| row.to_string()).or(count).unwrap_or_default(),
                line.line.map(|line| line.to_string()).unwrap_or_default(),
                short(line.step),
                number(line.margin_before),
                number(line.margin_after),
                number(line.norm),
            ]);
        }
        let lines = match context.plain {
            true => rows.iter().map(|row| row.join("\t")).collect(),
            false => aligned(&rows, |_| true),
        };
        let mut text = String::new();
        for (i, mut line) in lines.into_iter().enumerate() {
            if let Some(shown) = i.checked_sub(1).and_then(|i| self.shown.get(i))
                && !shown.broken.is_empty()
            {
                let gap = if context.plain { "\t" } else { "  " };
                line.push_str(&format!("{gap}broke {}", self.places(&shown.broken)));
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    /// Rows by the lines that they stand in.
    fn places(&self, rows: &[u32]) -> String {
        const MOST: usize = 8;
        let place = |row: &u32| match self.data.origin().line(u64::from(*row)) {
            Some(line) => format!("line {line}"),
            None => format!("row {row}"),
        };
        let mut places: Vec<String> = rows.iter().take(MOST).map(place).collect();
        if rows.len() > MOST {
            places.push(format!("and {} more", rows.len() - MOST));
        }
        places.join(", ")
    }

    fn json(&self) -> serde_json::Value {
        let header = &self.replay.header;
        let planes: Vec<_> = self
            .replay
            .planes()
            .iter()
            .map(|plane| json!({ "weights": plane.weights, "bias": plane.bias }))
            .collect();
        let updates: Vec<_> = self
            .shown
            .iter()
            .map(|shown| {
                let mut line = serde_json::to_value(&shown.line).unwrap_or_default();
                if self.plan.broken {
                    line["broken"] = json!(shown.broken);
                }
                line
            })
            .collect();
        json!({
            "schema": "linsep.result/1",
            "command": "replay",
            "learner": header.learner,
            "box": header.algorithm_box,
            "digest": header.digest,
            "r2": header.r2,
            "gamma": header.gamma,
            "replayed": self.made,
            "at": self.replay.k(),
            "planes": planes,
            "updates": updates,
            "model": self.plan.model.as_ref().map(|path| path.display().to_string()),
        })
    }
}

/// `b = -1, w = (2, 0.5)`.
fn plane_words(plane: &Plane) -> String {
    let mut weights: Vec<String> =
        plane.weights.iter().take(WEIGHTS).map(|w| w.to_string()).collect();
    if plane.weights.len() > WEIGHTS {
        weights.push("…".into());
    }
    format!("b = {}, w = ({})", plane.bias, weights.join(", "))
}
