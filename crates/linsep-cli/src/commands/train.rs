//! `linsep train DATA`: read, learn, check, write.

use super::{check_width, describe_input, json_number, read_data};
use crate::args::learner_parameters;
use crate::context::{Context, timed_out};
use crate::exit::{Failure, eprint_all};
use crate::input;
use crate::output::{Facts, counted, grouped, print, print_json};
use crate::progress::Watch;
use clap::ArgMatches;
use linsep::data::read::ReadResult;
use linsep::data::split::{Split, folds, holdout};
use linsep::learn::validate::cross_validate;
use linsep::model_file::{DataIdentity, ModelFile};
use linsep::recipe::{Kind, Recipe, Settings};
use linsep::report::{CrossValidation, Evaluation};
use linsep::{Claim, Code, Error, Fit, Learner, Limits, Stop, Task};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

pub(crate) fn run(matches: &ArgMatches, context: &Context) -> Result<ExitCode, Failure> {
    let plan = Plan::new(matches, context)?;
    let reading = Instant::now();
    let read = read_data(matches, context)?;
    let read_seconds = reading.elapsed().as_secs_f64();
    let (file, input_line) = describe_input(&plan.inputs, &read);
    let planes = if read.data.n_classes() > 2 { read.data.n_classes() as u64 } else { 1 };
    // Weights and scales, and a copy of the weights for the model.
    let more = plan.recipe.bytes_per_feature(read.data.n_features() as u64);
    check_width(&read.data, 8 * (2 * planes + 2) + more, context)?;
    let ReadResult { data, choices, .. } = read;
    let mut task = Task { data: Arc::new(data), rows: None, threads: context.threads };
    let splits = match plan.folds {
        Some(count) => folds(&task.data, count, context.seed)?,
        None => Vec::new(),
    };
    let mut test_rows = None;
    if let Some(TestOn::Share(share)) = plan.test {
        let Split { train, test } = holdout(&task.data, share, context.seed)?;
        task.rows = Some(train.into());
        test_rows = Some(test);
    }
    if plan.dry_run {
        // Starting a run checks the settings against the data.
        plan.learner.start(&task)?;
        print(&format!("{file}  {input_line}\nnothing was learned or written (--dry-run)\n"))?;
        return Ok(ExitCode::SUCCESS);
    }

    let training = Instant::now();
    let fit = plan.learner.fit(&task, &plan.limits, &mut Watch::new(context))?;
    let train_seconds = training.elapsed().as_secs_f64();
    if fit.stop == Stop::Diverged {
        return Err(Error::usage(
            "the weights left the range of binary64; scale the columns with --scale",
        )
        .into());
    }
    let evaluation = fit.model.evaluate(&task.data, task.rows.as_deref(), context.threads);
    let test = match (&plan.test, &test_rows) {
        (Some(TestOn::File(path)), _) => {
            let options = input::options(matches, context)?;
            Some(super::evaluate::on_files(&fit.model, std::slice::from_ref(path), &options)?)
        }
        (_, Some(rows)) => Some(fit.model.evaluate(&task.data, Some(rows), context.threads)),
        _ => None,
    };
    let stop = || context.stopped();
    let validation =
        match cross_validate(plan.learner.as_ref(), &task, &splits, &plan.limits, &stop) {
            _ if splits.is_empty() => None,
            Ok(validation) => Some(validation),
            // The model is there all the same and is written.
            Err(Error::Interrupted) => None,
            Err(error) => return Err(error.into()),
        };

    let digest = task.data.digest(context.threads);
    let writing = Instant::now();
    let identity = DataIdentity { sha256: digest.clone(), rows: task.data.n_rows() as u64 };
    let parameters = plan.recipe.effective(&plan.settings);
    let model_file = ModelFile::new(
        fit.model.clone(),
        fit.certificate.clone(),
        plan.recipe.name,
        parameters.clone(),
        context.seed,
        (fit.stop, fit.progress),
        (identity, task.data.reading_field()),
    );
    model_file.save(&plan.model)?;
    let report = Report {
        file,
        input_line,
        plan: &plan,
        fit: &fit,
        evaluation,
        test,
        validation,
        digest,
        seconds: [read_seconds, train_seconds, writing.elapsed().as_secs_f64()],
        features: task.data.n_features(),
        rows: task.data.n_rows(),
        label: choices.label.to_string(),
    };
    if context.json {
        print_json(&report.json(parameters))?;
    } else {
        print(&report.text(context))?;
    }
    finish(&fit, &plan, context)
}

/// The exit code: an interrupted run or a limit that the user gave is not a plain success.
fn finish(fit: &Fit, plan: &Plan, context: &Context) -> Result<ExitCode, Failure> {
    let limit = match fit.stop {
        Stop::Interrupted => None,
        Stop::Time => Some("--time-limit"),
        Stop::Updates => Some("--updates"),
        Stop::Epochs if plan.epochs_given => Some("--epochs"),
        _ if context.stopped() && timed_out() => Some("--time-limit"),
        _ if context.stopped() => None,
        _ => return Ok(ExitCode::SUCCESS),
    };
    let path = plan.model.display();
    match limit {
        Some(flag) => {
            let message =
                format!("{flag} was reached before the work was done; the model is in {path}");
            Err(Error::Limit { code: Code::LIMIT, message }.into())
        }
        None => {
            eprint_all(&format!("interrupted; the model as it was is in {path}\n"));
            Ok(ExitCode::from(130))
        }
    }
}

/// Everything that the flags ask for, checked before any work.
struct Plan {
    inputs: Vec<PathBuf>,
    recipe: &'static Recipe,
    settings: Settings,
    learner: Box<dyn Learner>,
    limits: Limits,
    epochs_given: bool,
    test: Option<TestOn>,
    folds: Option<usize>,
    model: PathBuf,
    dry_run: bool,
}

enum TestOn {
    File(PathBuf),
    Share(f64),
}

impl Plan {
    fn new(matches: &ArgMatches, context: &Context) -> Result<Plan, Failure> {
        let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
        let recipe = Recipe::find(text("learner").unwrap_or("perceptron"))?;
        let mut settings = Settings::default();
        settings.seed = context.seed;
        for parameter in learner_parameters() {
            if let Some(value) = text(parameter.name) {
                settings.set(parameter.name, value);
            }
        }
        if let Some(file) = text("init").filter(|init| !matches!(*init, "zero" | "random")) {
            settings.start =
                Some(ModelFile::load(Path::new(file), context.max_memory)?.model.planes);
        }
        if let Some(file) = text("eta").and_then(|eta| eta.strip_prefix("table:")) {
            settings.rates = Some(rates(Path::new(file))?);
        }
        let whole = |name: &str| text(name).map(|n| input::whole(name, n)).transpose();
        let mut limits = Limits { updates: whole("updates")?, ..Limits::default() };
        if let Some(epochs) = whole("epochs")? {
            limits.epochs = Some(epochs);
        } else if limits.updates.is_some() || context.time_limited {
            limits.epochs = None;
        }
        let test = match text("test") {
            None => None,
            Some(share) if share.parse::<f64>().is_ok() => {
                Some(TestOn::Share(share.parse().unwrap_or(0.0)))
            }
            Some(file) => {
                // Better to miss the file now than after the work.
                std::fs::metadata(file).map_err(|e| Error::io("read", Path::new(file), e))?;
                Some(TestOn::File(file.into()))
            }
        };
        let inputs = input::paths(matches);
        let model = match matches.get_one::<PathBuf>("output-file") {
            Some(path) if path.as_os_str() == "-" => {
                return Err(Error::usage("a model is a file; -o needs a name, not -").into());
            }
            Some(path) => path.clone(),
            None => default_model_path(&inputs),
        };
        Ok(Plan {
            learner: recipe.build(&settings)?,
            recipe,
            settings,
            limits,
            epochs_given: text("epochs").is_some(),
            test,
            folds: whole("cv")?.map(|folds| folds as usize),
            model,
            dry_run: matches.get_flag("dry-run"),
            inputs,
        })
    }
}

/// Learning rates in a text file, with space or line ends between them.
fn rates(path: &Path) -> Result<Vec<f64>, Failure> {
    const MOST: u64 = 1 << 26;
    let size = std::fs::metadata(path).map_err(|e| Error::io("read", path, e))?.len();
    if size > MOST {
        let words = format!("--eta: {} is larger than {MOST} bytes", path.display());
        return Err(Error::usage(words).into());
    }
    let bytes = std::fs::read(path).map_err(|e| Error::io("read", path, e))?;
    let text = String::from_utf8_lossy(&bytes);
    let mut rates = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for word in line.split_whitespace() {
            match word.parse::<f64>() {
                Ok(rate) if rate.is_finite() && rate >= 0.0 => rates.push(rate),
                _ => {
                    return Err(Error::usage(format!(
                        "--eta: {}:{}: \"{}\" is no rate of at least 0",
                        path.display(),
                        number + 1,
                        linsep::printable(word.as_bytes(), 30)
                    ))
                    .into());
                }
            }
        }
    }
    Ok(rates)
}

/// `flowers.linsep` in this folder for `data/flowers.csv.gz`.
fn default_model_path(inputs: &[PathBuf]) -> PathBuf {
    let name = inputs.first().and_then(|path| path.file_name()).map(|name| name.to_string_lossy());
    let name = name.unwrap_or_default();
    let stem = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
    let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
    let stem: String = stem.chars().filter(|c| !matches!(c, '*' | '?' | '[' | ']')).collect();
    PathBuf::from(format!(
        "{}.linsep",
        if stem.is_empty() || stem == "-" { "model" } else { &stem }
    ))
}

/// What is printed at the end.
struct Report<'a> {
    file: String,
    input_line: String,
    plan: &'a Plan,
    fit: &'a Fit,
    evaluation: Evaluation,
    test: Option<Evaluation>,
    validation: Option<CrossValidation>,
    digest: String,
    seconds: [f64; 3],
    features: usize,
    rows: usize,
    label: String,
}

impl Report<'_> {
    fn text(&self, context: &Context) -> String {
        let mut facts = Facts::default();
        facts.add(&self.file, &self.input_line);
        let classes: Vec<String> = self
            .evaluation
            .per_class
            .iter()
            .map(|c| format!("{} ({})", linsep::printable(c.class.as_bytes(), 30), grouped(c.rows)))
            .collect();
        let shown = classes.len().min(12);
        let more = if classes.len() > shown {
            format!(", and {} more", classes.len() - shown)
        } else {
            String::new()
        };
        facts.add("classes", format!("{}{more}", classes[..shown].join(", ")));
        facts.add("learner", self.learner());
        facts.add("stopped", self.stop());
        facts.add("proved", self.proved());
        for remark in &self.fit.remarks {
            facts.add(remark.name, &remark.words);
        }
        facts.add("training", errors(&self.evaluation));
        if let Some(test) = &self.test {
            facts.add("test", errors(test));
        }
        if let Some(cv) = &self.validation {
            facts.add(
                "cv",
                format!(
                    "{} of {} wrong in {} folds, accuracy {:.2} % [{:.2}, {:.2}], sd {:.2}",
                    grouped(cv.errors),
                    grouped(cv.rows),
                    cv.folds,
                    100.0 * cv.accuracy,
                    100.0 * cv.accuracy_interval[0],
                    100.0 * cv.accuracy_interval[1],
                    100.0 * cv.accuracy_sd
                ),
            );
        }
        facts.add("model", self.plan.model.display().to_string());
        if context.verbose {
            let [read, train, write] = self.seconds;
            facts.add("seconds", format!("read {read:.3}, train {train:.3}, write {write:.3}"));
            facts.add("digest", &self.digest);
        }
        facts.text(context)
    }

    fn learner(&self) -> String {
        let settings: Vec<String> = self
            .plan
            .recipe
            .parameters
            .iter()
            .filter(|p| self.plan.settings.has(p.name))
            .map(|p| format!("{} {}", p.name, self.plan.settings.get(p)))
            .collect();
        let kind = match self.fit.model.planes.len() {
            1 => "one plane".to_owned(),
            planes => format!("{planes} planes, the highest score wins"),
        };
        let settings =
            if settings.is_empty() { String::new() } else { format!(" ({})", settings.join(", ")) };
        format!("{}{settings}, {kind}", self.plan.recipe.name)
    }

    fn stop(&self) -> String {
        if self.fit.stop == Stop::Finished && self.plan.recipe.kind == Kind::Direct {
            return "solved directly (one look at the rows)".to_owned();
        }
        let progress = self.fit.progress;
        let effort = format!(
            "{}, {}",
            counted(progress.epochs, "epoch"),
            counted(progress.updates, "correction")
        );
        let why = match self.fit.stop {
            Stop::Finished if progress.last_mistakes == Some(0) => {
                "a pass without mistakes".to_owned()
            }
            Stop::Finished if self.refuted().is_some() => {
                "proved that no planes separate".to_owned()
            }
            Stop::Finished => match self.plan.recipe.name {
                "perceptron" => "the verdict found a plane".to_owned(),
                "adaline" => "at rest".to_owned(),
                "descent" => "at rest, or below the value asked for".to_owned(),
                _ => "planes without mistakes were found".to_owned(),
            },
            Stop::Epochs if self.plan.epochs_given => "the epoch limit".to_owned(),
            Stop::Epochs if self.plan.recipe.parameters.iter().any(|p| p.name == "rest") => {
                "the default limit on epochs, not at rest".to_owned()
            }
            Stop::Epochs => "the default limit on epochs, no pass without mistakes".to_owned(),
            Stop::Updates => "the limit on corrections".to_owned(),
            Stop::Time => "the time limit".to_owned(),
            Stop::Interrupted => "interrupted".to_owned(),
            _ => self.fit.stop.word().to_owned(),
        };
        format!("{why} ({effort})")
    }

    /// The number of rows that refute a plane, if that is what was proved.
    fn refuted(&self) -> Option<usize> {
        self.fit.certificate.claims.iter().find_map(|claim| match claim {
            Claim::Inseparable { witness, .. } => Some(witness.len()),
            Claim::JointInseparable { witness } => Some(witness.len()),
            _ => None,
        })
    }

    /// What is proved, each statement once.
    fn proved(&self) -> String {
        let mut lines: Vec<String> = Vec::new();
        for claim in &self.fit.certificate.claims {
            let line = match claim {
                Claim::Unproved { reason } => format!("nothing: {reason}"),
                Claim::Separable { .. } | Claim::JointSeparable { .. } => {
                    "separable: every row is strictly on its side, checked in exact arithmetic"
                        .to_owned()
                }
                Claim::Inseparable { .. } | Claim::JointInseparable { .. } => format!(
                    "not separable: {} prove it; the weights are the average of all visits",
                    counted(self.refuted().unwrap_or(0) as u64, "row")
                ),
                Claim::Stationary { .. } => {
                    "stationary: the weights solve their equations, recomputed from the rows"
                        .to_owned()
                }
                Claim::Counts { .. } => {
                    "counts: the weights are what the counts make them, counted again".to_owned()
                }
                claim => claim.name().to_owned(),
            };
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        // Of several planes the one that falls short decides what can be said.
        lines.sort_by_key(|line| !line.contains("before a pass"));
        lines.into_iter().next().unwrap_or_else(|| "nothing".to_owned())
    }

    fn json(&self, parameters: std::collections::BTreeMap<String, String>) -> serde_json::Value {
        let mut value = json!({
            "schema": "linsep.result/1",
            "command": "train",
            "rows": self.rows,
            "features": self.features,
            "classes": self.fit.model.classes,
            "label": self.label,
            "learner": self.plan.recipe.name,
            "parameters": parameters,
            "stop": self.fit.stop.word(),
            "epochs": self.fit.progress.epochs,
            "updates": self.fit.progress.updates,
            "training": short_json(&self.evaluation),
            "certificate": { "claim": self.fit.certificate.claims.first().map_or("unproved", Claim::name) },
            "seconds": { "read": self.seconds[0], "train": self.seconds[1], "write": self.seconds[2] },
            "model": self.plan.model.display().to_string(),
            "digest": self.digest,
        });
        if let Some(test) = &self.test {
            value["test"] = short_json(test);
        }
        for remark in &self.fit.remarks {
            value["remarks"][remark.name] = remark.data.clone();
        }
        if let Some(cv) = &self.validation {
            value["cv"] = serde_json::to_value(cv).unwrap_or_default();
        }
        value
    }
}

fn short_json(evaluation: &Evaluation) -> serde_json::Value {
    json!({
        "rows": evaluation.rows,
        "errors": evaluation.errors,
        "accuracy": json_number(evaluation.accuracy),
        "accuracy_interval": evaluation.accuracy_interval,
    })
}

fn errors(evaluation: &Evaluation) -> String {
    format!(
        "{} of {} wrong, accuracy {:.2} % [{:.2}, {:.2}]",
        grouped(evaluation.errors),
        grouped(evaluation.rows),
        100.0 * evaluation.accuracy,
        100.0 * evaluation.accuracy_interval[0],
        100.0 * evaluation.accuracy_interval[1]
    )
}
