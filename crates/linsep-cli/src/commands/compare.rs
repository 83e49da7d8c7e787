//! `linsep compare DATA`: every learner on the same folds, with a paired test against the best.

mod report;

use super::data_lines::DataLines;
use super::{check_width, read_data};
use crate::context::Context;
use crate::exit::Failure;
use crate::files::Output;
use crate::input;
use crate::output::{print, print_json};
use crate::spelling::spelled;
use clap::ArgMatches;
use linsep::data::read::ReadResult;
use linsep::data::sort::{sort_by, sort_by_key};
use linsep::data::split::{Split, folds};
use linsep::metrics::paired::holm;
use linsep::metrics::{CrossValidation, Measure, Metric, Predictions, Resampling};
use linsep::recipe::{self, Recipe, Settings};
use linsep::select::neighbours::{Neighbours, majority};
use linsep::select::validate::{as_rows, count, held_out, held_out_rows};
use linsep::{Claim, Error, Fit, Learner, Limits, Observer, Stop, Task, Training};
use report::Report;
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
    let metric = plan.metric.unwrap_or(Metric::Accuracy);
    let how = Resampling::new(DRAWS, context.seed).with_threads(context.threads);
    let mut contest =
        Contest { entries: Vec::new(), refused: Vec::new(), task, splits, metric, how, test: None };
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

/// Draws of the bootstrap and of the tests by randomisation.
const DRAWS: usize = 1000;

struct Plan {
    recipes: Vec<&'static Recipe>,
    folds: usize,
    /// What to rank by, if it was said.
    metric: Option<Metric>,
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
        let metric = text("metric").map(str::parse::<Metric>).transpose();
        Ok(Plan {
            recipes,
            metric: metric.map_err(|error| Error::usage(format!("--metric: {error}")))?,
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
    /// What it says of the test rows, split by split.
    rows: Predictions,
    /// The metric that is ranked by, with its interval.
    measure: Measure,
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
    metric: Metric,
    how: Resampling,
    /// The name of the paired test, if one was made.
    test: Option<&'static str>,
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
        let rows = match self.metric.needs_scores() {
            true => held_out_rows(&learner, &self.task, &self.splits, &limits, &stop)?,
            false => {
                let predicted = held_out(&learner, &self.task, &self.splits, &limits, &stop)?;
                as_rows(data, &self.splits, &predicted)
            }
        };
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
            validation: self.count(&rows),
            measure: rows.measure(self.metric, Some(self.how)),
            rows,
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
        let rows = as_rows(&self.task.data, &self.splits, &predicted);
        self.entries.push(Entry {
            name,
            baseline: true,
            validation: self.count(&rows),
            measure: rows.measure(self.metric, Some(self.how)),
            rows,
            training_errors,
            seconds,
            proved: "baseline".to_owned(),
            p: None,
        });
    }

    fn count(&self, rows: &Predictions) -> CrossValidation {
        let mut rest = rows.predicted();
        let fold = |split: &Split| {
            let (fold, others) = rest.split_at(split.test.len());
            rest = others;
            fold.to_vec()
        };
        let predicted: Vec<Vec<u32>> = self.splits.iter().map(fold).collect();
        count(&self.task.data, &self.splits, &predicted)
    }

    /// By the metric, then by name; and the tests against the first.
    fn rank(&mut self) {
        let metric = self.metric;
        // Fewer errors and a higher accuracy are the same, but for rounding.
        let place = |entry: &Entry| match (metric, entry.measure.value) {
            (Metric::Accuracy, _) => entry.validation.wrong(),
            (_, None) => f64::INFINITY,
            (metric, Some(value)) => {
                if metric.is_loss() {
                    value
                } else {
                    -value
                }
            }
        };
        sort_by(&mut self.entries, |a, b| {
            place(a).total_cmp(&place(b)).then_with(|| a.name.cmp(&b.name))
        });
        let Some((best, others)) = self.entries.split_first_mut() else { return };
        let tests: Vec<Option<(f64, &'static str)>> =
            others.iter().map(|other| best.rows.against(&other.rows, metric, self.how)).collect();
        self.test = tests.iter().flatten().next().map(|(_, name)| *name);
        let plain: Vec<f64> = tests.iter().flatten().map(|(p, _)| *p).collect();
        let mut adjusted = holm(&plain).into_iter();
        for (entry, test) in others.iter_mut().zip(tests) {
            entry.p = test.and_then(|(p, _)| Some((p, adjusted.next()?)));
        }
    }

    /// How many times as many rows the largest class has as the smallest, if accuracy flatters: from two times on.
    fn imbalance(&self) -> Option<f64> {
        let data = &self.task.data;
        let mut weights = vec![0.0; data.n_classes()];
        (0..data.n_rows()).for_each(|row| weights[data.class_of(row) as usize] += data.weight(row));
        let most = weights.iter().copied().fold(0.0, f64::max);
        let least = weights.into_iter().filter(|weight| *weight > 0.0).fold(most, f64::min);
        (most >= 2.0 * least).then(|| most / least)
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
