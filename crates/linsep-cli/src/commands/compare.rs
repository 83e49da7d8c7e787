//! `linsep compare DATA`: every learner on the same folds, with a paired test against the best.

use super::data_lines::DataLines;
use super::{check_width, json_number, read_data};
use crate::context::Context;
use crate::exit::Failure;
use crate::files::Output;
use crate::input;
use crate::output::{Facts, aligned, counted, print, print_json};
use crate::spelling::spelled;
use clap::ArgMatches;
use linsep::data::read::ReadResult;
use linsep::data::sort::{sort_by, sort_by_key};
use linsep::data::split::{Split, folds};
use linsep::metrics::paired::{holm, mcnemar};
use linsep::metrics::{CrossValidation, grouped_amount};
use linsep::recipe::{self, Recipe, Settings};
use linsep::select::neighbours::{Neighbours, majority};
use linsep::select::validate::{count, held_out};
use linsep::{Claim, Error, Fit, Learner, Limits, Observer, Stop, Task, Training, escaped};
use serde_json::json;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Instant;

pub(crate) fn run(matches: &ArgMatches, context: &Context) -> Result<ExitCode, Failure> {
    crate::context::end_at_once();
    let plan = Plan::new(matches)?;
    let read = read_data(matches, context)?;
    let lines = DataLines::new(&input::paths(matches), &read);
    let ReadResult { data, .. } = read;
    check_width(&data, 64, context)?;
    data.require_two_classes()?;
    let task = Task::new(Arc::new(data)).with_threads(context.threads);
    let splits = folds(&task.data, plan.folds, context.seed)?;
    let mut contest = Contest { entries: Vec::new(), refused: Vec::new(), task, splits };
    for recipe in &plan.recipes {
        contest.enter(recipe, context)?;
    }
    contest.baselines(plan.neighbours, context)?;
    contest.rank();
    let report = Report { contest: &contest, plan: &plan, lines };
    // The table is printed even if its copy cannot be written.
    let written = match &plan.markdown {
        Some(path) => path.write(|out| out.write_all(report.markdown(context).as_bytes())),
        None => Ok(()),
    };
    match context.json {
        true => print_json(&report.json(context))?,
        false => print(&report.text(context))?,
    }
    written?;
    Ok(ExitCode::SUCCESS)
}

struct Plan {
    recipes: Vec<&'static Recipe>,
    folds: usize,
    neighbours: usize,
    markdown: Option<Output>,
    assumptions: bool,
    times: bool,
}

impl Plan {
    fn new(matches: &ArgMatches) -> Result<Plan, Failure> {
        let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
        let whole = |name: &str, otherwise: u64| {
            text(name).map_or(Ok(otherwise), |n| input::whole(name, n))
        };
        let mut recipes: Vec<&'static Recipe> = match text("learners") {
            None => recipe::ALL.iter().collect(),
            Some(list) => list
                .split(',')
                .map(|name| Recipe::find(name.trim()))
                .collect::<Result<_, _>>()
                .map_err(|error| Error::usage(format!("--learners: {error}")))?,
        };
        sort_by_key(&mut recipes, |recipe| recipe.name);
        recipes.dedup_by_key(|recipe| recipe.name);
        let folds = whole("cv", 5)?;
        if folds < 2 {
            let words = format!("--cv: {folds} is no number of folds; at least 2 are needed");
            return Err(Error::usage(words).into());
        }
        Ok(Plan {
            recipes,
            folds: folds.min(usize::MAX as u64) as usize,
            neighbours: whole("knn", 5)?.min(u64::from(u32::MAX)) as usize,
            markdown: matches.get_one::<Output>("export-markdown").cloned(),
            assumptions: matches.get_flag("assumptions"),
            times: !matches.get_flag("no-time"),
        })
    }
}

/// What came of one learner.
struct Entry {
    name: String,
    baseline: bool,
    /// For each split the predicted classes of its test rows.
    predicted: Vec<Vec<u32>>,
    validation: CrossValidation,
    /// The weight of the training rows that are wrong.
    training_errors: f64,
    /// The median of the times of the folds, in seconds.
    seconds: Option<f64>,
    /// The names of the claims that hold, each once.
    proved: String,
    /// p against the best and the same adjusted, but for the best itself.
    p: Option<(f64, f64)>,
}

/// All learners on the same folds.
struct Contest {
    entries: Vec<Entry>,
    /// Learners that do not take the data, with the reason.
    refused: Vec<(String, String)>,
    task: Task,
    splits: Vec<Split>,
}

impl Contest {
    fn enter(&mut self, recipe: &'static Recipe, context: &Context) -> Result<(), Failure> {
        match self.try_recipe(recipe, context) {
            Ok(entry) => self.entries.push(entry),
            Err(error @ (Error::Interrupted | Error::Io { .. })) => return Err(error.into()),
            Err(error) => self.refused.push((recipe.name.to_owned(), spelled(&error.to_string()))),
        }
        Ok(())
    }

    fn try_recipe(&self, recipe: &Recipe, context: &Context) -> Result<Entry, Error> {
        let data = &self.task.data;
        let mut settings = Settings::default();
        settings.seed = context.seed;
        let learner = Timed { learner: recipe.build(&settings)?, seconds: Mutex::default() };
        let needed = recipe.bytes_per_feature(data.n_features() as u64);
        let needed = needed.saturating_mul(data.n_features() as u64);
        if let Some(limit) = context.max_memory.filter(|limit| needed > *limit) {
            let purpose = format!("{} on {} features", recipe.name, data.n_features());
            return Err(Error::Memory { purpose, needed, limit });
        }
        let stop = || context.stopped();
        let limits = Limits::default();
        let predicted = held_out(&learner, &self.task, &self.splits, &limits, &stop)?;
        let mut watch = |_: &dyn Training| match context.stopped() {
            true => std::ops::ControlFlow::Break(Stop::Interrupted),
            false => std::ops::ControlFlow::Continue(()),
        };
        let fit = learner.learner.fit(&self.task, &limits, &mut watch)?;
        match fit.stop {
            Stop::Interrupted => return Err(Error::Interrupted),
            Stop::Diverged => {
                return Err(Error::usage("the weights left the range of binary64"));
            }
            _ => {}
        }
        let training = fit.model.evaluate(data, None, context.threads);
        let training_errors = training.weighted.map_or(training.errors as f64, |all| all.errors);
        Ok(Entry {
            name: recipe.name.to_owned(),
            baseline: false,
            validation: count(data, &self.splits, &predicted),
            predicted,
            training_errors,
            seconds: learner.median(),
            proved: claims(&fit),
            p: None,
        })
    }

    /// The nearest neighbours and the class with the most rows.
    fn baselines(&mut self, k: usize, context: &Context) -> Result<(), Failure> {
        let data = Arc::clone(&self.task.data);
        let all: Vec<u32> = (0..data.n_rows() as u32).collect();
        let errors = |predicted: &[u32]| {
            let wrong = |row: &usize| predicted[*row] != data.class_of(*row);
            (0..data.n_rows()).filter(wrong).map(|row| data.weight(row)).sum::<f64>()
        };
        let constant = |split: &Split| vec![majority(&data, &split.train); split.test.len()];
        let predicted: Vec<Vec<u32>> = self.splits.iter().map(constant).collect();
        let training_errors = errors(&vec![majority(&data, &all); all.len()]);
        self.baseline("majority class".to_owned(), predicted, training_errors, None);
        if k == 0 {
            return Ok(());
        }
        let name = format!("{k} nearest neighbours");
        let mut seconds = Vec::new();
        let mut predict = |train: &[u32], test: &[u32]| {
            if context.stopped() {
                return Err(Error::Interrupted);
            }
            let begin = Instant::now();
            let predicted = Neighbours::new(k).predict(&data, train, test, context.threads);
            seconds.push(begin.elapsed().as_secs_f64());
            predicted
        };
        let folds: Result<Vec<Vec<u32>>, Error> =
            self.splits.iter().map(|split| predict(&split.train, &split.test)).collect();
        let both = folds.and_then(|folds| {
            let own = Neighbours::new(k).predict(&data, &all, &all, context.threads)?;
            Ok((folds, own))
        });
        match both {
            Ok((folds, own)) => {
                self.baseline(name, folds, errors(&own), median(&mut seconds));
            }
            Err(error @ Error::Interrupted) => return Err(error.into()),
            Err(error) => self.refused.push((name, spelled(&error.to_string()))),
        }
        Ok(())
    }

    fn baseline(
        &mut self,
        name: String,
        predicted: Vec<Vec<u32>>,
        training_errors: f64,
        seconds: Option<f64>,
    ) {
        self.entries.push(Entry {
            name,
            baseline: true,
            validation: count(&self.task.data, &self.splits, &predicted),
            predicted,
            training_errors,
            seconds,
            proved: "baseline".to_owned(),
            p: None,
        });
    }

    /// By accuracy, then by name; and the tests against the first.
    fn rank(&mut self) {
        sort_by(&mut self.entries, |a, b| {
            let wrong = |entry: &Entry| entry.validation.wrong();
            wrong(a).total_cmp(&wrong(b)).then_with(|| a.name.cmp(&b.name))
        });
        let Some((best, others)) = self.entries.split_first_mut() else { return };
        let data = &self.task.data;
        // Weights that are not counts of rows have no exact test.
        if (0..data.n_rows()).any(|row| data.weight(row).fract() != 0.0) {
            return;
        }
        let tested = || self.splits.iter().flat_map(|split| &split.test);
        let weights: Vec<u64> = tested().map(|row| data.weight(*row as usize) as u64).collect();
        let right = |entry: &Entry| -> Vec<bool> {
            let pairs = tested().zip(entry.predicted.iter().flatten());
            pairs.map(|(row, class)| data.class_of(*row as usize) == *class).collect()
        };
        let of_best = right(best);
        let plain: Vec<f64> = others
            .iter()
            .map(|other| {
                let of_other = right(other);
                let only = |a: &[bool], b: &[bool]| {
                    let pairs = a.iter().zip(b).zip(&weights);
                    pairs.filter(|((a, b), _)| **a && !**b).map(|(_, weight)| weight).sum()
                };
                mcnemar(only(&of_best, &of_other), only(&of_other, &of_best))
            })
            .collect();
        for ((entry, p), adjusted) in others.iter_mut().zip(&plain).zip(holm(&plain)) {
            entry.p = Some((*p, adjusted));
        }
    }
}

/// A learner that remembers how long it took.
struct Timed {
    learner: Box<dyn Learner>,
    seconds: Mutex<Vec<f64>>,
}

impl Learner for Timed {
    fn start(&self, task: &Task) -> linsep::Result<Box<dyn Training>> {
        self.learner.start(task)
    }

    fn fit(&self, task: &Task, limits: &Limits, watch: &mut dyn Observer) -> linsep::Result<Fit> {
        let begin = Instant::now();
        let fit = self.learner.fit(task, limits, watch);
        if let Ok(mut seconds) = self.seconds.lock() {
            seconds.push(begin.elapsed().as_secs_f64());
        }
        fit
    }
}

impl Timed {
    fn median(&self) -> Option<f64> {
        self.seconds.lock().ok().and_then(|mut seconds| median(&mut seconds))
    }
}

/// What is proved of the planes: one word where all are alike.
fn claims(fit: &Fit) -> String {
    let mut names: Vec<&str> = fit.certificate.claims.iter().map(Claim::name).collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() { "unproved".to_owned() } else { names.join(", ") }
}

fn median(seconds: &mut [f64]) -> Option<f64> {
    seconds.sort_unstable_by(f64::total_cmp);
    seconds.get(seconds.len() / 2).copied()
}

struct Report<'a> {
    contest: &'a Contest,
    plan: &'a Plan,
    lines: DataLines,
}

impl Report<'_> {
    fn text(&self, context: &Context) -> String {
        let mut facts = Facts::default();
        self.lines.add_to(&mut facts);
        facts
            .add("folds", format!("{}, the same for all (seed {})", self.plan.folds, context.seed));
        let mut text = facts.text(context);
        let rows = self.table(context);
        if context.plain {
            rows.iter().for_each(|row| text.push_str(&format!("{}\n", row.join("\t"))));
        } else {
            text.push('\n');
            text.push_str(&in_columns(&rows));
            text.push('\n');
        }
        let mut facts = Facts::default();
        for (name, reason) in &self.contest.refused {
            facts.add("refused", format!("{name}: {reason}"));
        }
        for (name, note) in self.notes() {
            facts.add(name, note);
        }
        text + &facts.text(context)
    }

    fn head(&self) -> Vec<&'static str> {
        let mut head =
            vec!["learner", "accuracy", "95 % interval", "wrong", "training wrong", "p (Holm)"];
        if self.plan.times {
            head.push("fit");
        }
        head.push("proved");
        head
    }

    fn table(&self, context: &Context) -> Vec<Vec<String>> {
        let mut rows = vec![self.head().into_iter().map(str::to_owned).collect::<Vec<_>>()];
        for (at, entry) in self.contest.entries.iter().enumerate() {
            let cv = &entry.validation;
            let interval = cv.accuracy_interval.map_or("-".to_owned(), |[low, high]| {
                format!("[{:.2}, {:.2}]", 100.0 * low, 100.0 * high)
            });
            let mut row = vec![
                entry.name.clone(),
                format!("{:.2} %", 100.0 * cv.accuracy),
                interval,
                grouped_amount(cv.wrong()),
                grouped_amount(entry.training_errors),
                match entry.p {
                    Some((_, p)) => probability(p),
                    None if at == 0 => "best".to_owned(),
                    None => "-".to_owned(),
                },
            ];
            if self.plan.times {
                row.push(entry.seconds.map_or("-".to_owned(), duration));
            }
            row.push(entry.proved.clone());
            if context.plain {
                row.iter_mut().for_each(|cell| *cell = escaped(cell));
            }
            rows.push(row);
        }
        rows
    }

    fn notes(&self) -> Vec<(&'static str, String)> {
        let tests = self.contest.entries.len().saturating_sub(1) as u64;
        let tested = self.contest.entries.iter().any(|entry| entry.p.is_some());
        let test = match tested || tests == 0 {
            true => format!(
                "McNemar's exact test against the best on the same rows, adjusted for {} by Holm; \
                 the folds share training rows and the best was picked by its errors, so it is a guide",
                counted(tests, "test")
            ),
            false => "none: weights that are not counts of rows have no exact test".to_owned(),
        };
        let rows = counted(self.contest.task.data.n_rows() as u64, "row");
        let accuracy = format!(
            "each of the {rows} predicted once by a model that had not seen it; 95 % Wilson interval"
        );
        let mut notes = vec![("accuracy", accuracy), ("p", test)];
        if self.contest.entries.iter().any(|e| e.name.ends_with("neighbours")) {
            let words = "columns divided by their standard deviation; ties of distance go to the earlier \
                         row, of votes to the class of the closest";
            notes.push(("neighbours", words.to_owned()));
        }
        if self.plan.times {
            notes.push(("fit", "median over the folds, which run side by side".to_owned()));
        }
        if self.plan.assumptions {
            for entry in self.contest.entries.iter().filter(|entry| !entry.baseline) {
                let assumes = Recipe::find(&entry.name).map_or("", |recipe| recipe.assumes);
                notes.push(("assumes", format!("{}: {assumes}", entry.name)));
            }
        }
        notes
    }

    fn markdown(&self, context: &Context) -> String {
        let escape = |cell: &String| escaped(cell).replace('\\', "\\\\").replace('|', "\\|");
        let rows = self.table(context);
        let mut text = format!(
            "# {}\n\n{}; {} folds, seed {}.\n\n",
            escape(&self.lines.file),
            escape(&self.lines.line),
            self.plan.folds,
            context.seed
        );
        for (k, row) in rows.iter().enumerate() {
            let cells: Vec<String> = row.iter().map(escape).collect();
            text.push_str(&format!("| {} |\n", cells.join(" | ")));
            if k == 0 {
                let numbers = |name: &String| !matches!(name.as_str(), "learner" | "proved");
                let rule: Vec<&str> =
                    row.iter().map(|name| if numbers(name) { "---:" } else { "---" }).collect();
                text.push_str(&format!("| {} |\n", rule.join(" | ")));
            }
        }
        text.push('\n');
        for (name, reason) in &self.contest.refused {
            text.push_str(&format!("- refused: {}: {}\n", escape(name), escape(reason)));
        }
        for (name, note) in self.notes() {
            text.push_str(&format!("- {name}: {}\n", escape(&note)));
        }
        text
    }

    fn json(&self, context: &Context) -> serde_json::Value {
        let entry = |entry: &Entry| {
            let mut value = json!({
                "learner": entry.name,
                "baseline": entry.baseline,
                "cv": entry.validation,
                "training_errors": match entry.training_errors {
                    whole if whole.fract() == 0.0 => json!(whole as u64),
                    part => json_number(part),
                },
                "proved": entry.proved,
                "p": entry.p.map(|(p, _)| json_number(p)),
                "p_holm": entry.p.map(|(_, p)| json_number(p)),
            });
            if self.plan.times {
                value["fit_seconds"] = entry.seconds.map_or(serde_json::Value::Null, json_number);
            }
            value
        };
        json!({
            "schema": "linsep.result/1",
            "command": "compare",
            "rows": self.contest.task.data.n_rows(),
            "features": self.contest.task.data.n_features(),
            "classes": self.contest.task.data.classes(),
            "folds": self.plan.folds,
            "seed": context.seed,
            "reading": self.lines.reading_json,
            "best": self.contest.entries.first().map(|entry| &entry.name),
            "entries": self.contest.entries.iter().map(entry).collect::<Vec<_>>(),
            "refused": self.contest.refused.iter()
                .map(|(name, reason)| json!({ "learner": name, "reason": reason }))
                .collect::<Vec<_>>(),
        })
    }
}

fn probability(p: f64) -> String {
    if p < 0.0001 { "< 0.0001".to_owned() } else { format!("{p:.4}") }
}

fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 0.001 => format!("{:.0} µs", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

/// Columns side by side: words flush left, numbers flush right.
fn in_columns(rows: &[Vec<String>]) -> String {
    let last = rows.first().map_or(0, Vec::len).saturating_sub(1);
    aligned(rows, |column| column != 0 && column != last).join("\n") + "\n"
}
