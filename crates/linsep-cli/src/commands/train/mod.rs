//! `linsep train DATA`: read, learn, check, write.

mod auto_cost;
mod calibration;
mod checkpoint;
mod flips;
mod held;
pub(super) mod plan;
mod report;
mod resume;
pub(super) mod row_table;
mod runs;
mod stream;
mod support;
mod threshold;
mod trace;
mod tune;

use super::data_lines::DataLines;
use super::sentences::gap;
use super::{check_width, read_data, tell_about};
use crate::context::{Context, timed_out};
use crate::exit::{Failure, eprint_all};
use crate::input;
use crate::output::{Facts, note, print, print_json};
use crate::system;
use auto_cost::AutoCost;
use checkpoint::Keeper;
use clap::ArgMatches;
use flips::Flips;
use held::Held;
use linsep::data::read::{LabelChoice, ReadResult};
use linsep::data::split::{Split, folds, holdout};
use linsep::data::{Identifying, cancel, memory};
use linsep::file::ModelFile;
use linsep::file::checkpoint::Earlier;
use linsep::metrics::{CrossValidation, Evaluation};
use linsep::proof::VACUOUS;
use linsep::recipe::Kind;
use linsep::select::validate::cross_validate;
use linsep::{Certificate, Claim, Code, Error, Fit, Stop, Task, Training};
use linsep_teach::trace::Summary;
use plan::{Plan, TestOn};
use report::{Report, Seconds};
use runs::{Grounds, Runs};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;
use support::Support;

pub(crate) fn run(matches: &ArgMatches, context: &Context) -> Result<ExitCode, Failure> {
    let mut plan = Plan::new(matches, context)?;
    let start_seconds = system::seconds_so_far();
    if plan.stream {
        return stream::run(&plan, matches, context);
    }
    let input = given_up_or(|| Input::read(&plan, matches, context))?;
    plan.settle_budget(&input.task.data);
    calibration::check(&plan, input.task.data.n_classes())?;
    threshold::check(&plan, &input, context)?;
    let tuned = given_up_or(|| tune::Tuned::choose(&mut plan, &input, context))?;
    let auto_cost = given_up_or(|| AutoCost::choose(&mut plan, &input, context))?;
    let Input { task, identifying, .. } = &input;
    let clock = Instant::now();
    let mut training = given_up_or(|| input.begin(&plan))?;
    if plan.dry_run {
        // Starting a run checks the settings against the data.
        trace::check(&plan, training.as_ref(), input.task.data.n_classes())?;
        let mut facts = Facts::default();
        input.lines.add_to(&mut facts);
        facts.add("dry run", "nothing was learned or written");
        print(&facts.text(context))?;
        return Ok(ExitCode::SUCCESS);
    }

    let first = checkpoint::first(&plan, input.earlier, input.held_out, training.as_ref());
    let mut keeper = Keeper::new(&plan, context, task, identifying, first);
    keeper.begin(training.as_ref())?;
    let driven =
        cancel::catch(|| trace::drive(&plan, task, training.as_mut(), context, &mut keeper));
    // A run that is given up within a step has its planes, but cannot go on with the same bits.
    let torn = driven.is_none();
    let ended = if timed_out() { Stop::Time } else { Stop::Interrupted };
    let (stop, traced) = driven.unwrap_or(Ok((ended, None)))?;
    let train_seconds = clock.elapsed().as_secs_f64();
    let proving = Instant::now();
    let mut fit = Fit::of(training.as_ref(), task, stop)?;
    let flips = cancel::catch(|| Flips::settle(&plan, task, &mut training, &mut fit, &mut keeper));
    let flips = flips.unwrap_or_else(|| match plan.flips {
        Some(_) => Err(Error::Interrupted.into()),
        None => Ok(None),
    });
    let prove_seconds = proving.elapsed().as_secs_f64();
    if fit.stop == Stop::Diverged {
        return Err(diverged(plan.recipe.kind));
    }
    match given_up_or(|| calibration::link(&plan, &input, &mut fit, context)) {
        Err(Failure::Error(Error::Interrupted)) if !plan.platt => {}
        Err(Failure::Error(Error::Interrupted)) => {
            note(context, "stopped before scores had probabilities; the model has none");
        }
        linked => linked?,
    }
    let threshold = match given_up_or(|| threshold::settle(&plan, &input, &mut fit, context)) {
        Err(Failure::Error(Error::Interrupted)) => {
            note(context, "stopped before a threshold was chosen; the model has none");
            None
        }
        settled => settled?,
    };
    let waiting = Instant::now();
    let identity = identifying.identity();
    let digest_seconds = input.digest_seconds + waiting.elapsed().as_secs_f64();
    // Before everything else that can fail: a model is not lost to a table that cannot be written.
    let writing = Instant::now();
    let parameters = plan.recipe.effective(&plan.settings);
    let ended_early = ended_by(&fit, &plan).is_some();
    // Models and certificates may be larger than the data; these are lent to the file.
    let certificate = Certificate::new(std::mem::take(&mut fit.certificate.claims));
    let mut model_file = ModelFile::new(
        fit.model,
        certificate,
        plan.recipe.name,
        parameters.clone(),
        plan.settings.seed,
        (fit.stop, fit.progress),
        (identity.clone(), task.data.reading_field()),
    );
    model_file.density.clone_from(&fit.density);
    let goes_on = match plan.recipe.kind {
        Kind::Online => true,
        // At its gap there is nothing left to do.
        Kind::Optimising => ended_early,
        _ => false,
    };
    model_file.run = (goes_on && !torn).then(|| keeper.saved(training.as_ref()));
    model_file.save(plan.model.path())?;
    fit.certificate.claims = std::mem::take(&mut model_file.certificate.claims);
    fit.model = model_file.model;
    let resumed = plan.resume.as_ref().filter(|r| r.is_checkpoint()).map(|r| r.path.as_path());
    let saved = match torn {
        true => Ok(keeper.last()),
        false => keeper.end(training.as_ref(), !ended_early, resumed),
    };
    drop(keeper);
    let write_seconds = writing.elapsed().as_secs_f64();
    let model_is_there = |_: &Failure| {
        note(context, &format!("the model is in {}", plan.model.display()));
    };
    let saved = saved.inspect_err(model_is_there)?;
    tuned.as_ref().map_or(Ok(()), tune::Tuned::draw).inspect_err(model_is_there)?;
    let beside = Beside::of(&plan, &input, &fit, traced, flips, matches, context);
    let beside = beside.inspect_err(model_is_there)?;
    let report = Report {
        lines: &input.lines,
        plan: &plan,
        fit: &fit,
        evaluation: beside.evaluation,
        test: beside.test,
        validation: beside.validation,
        runs: beside.runs,
        earlier: input.earlier,
        resumed: plan.resume.as_ref().map(|resume| (resume.path.as_path(), input.same)),
        digest: identity.sha256.clone(),
        seconds: Seconds {
            start: start_seconds,
            read: input.seconds,
            tune: tuned.as_ref().map_or(0.0, |tuned| tuned.seconds),
            digest: digest_seconds,
            train: train_seconds,
            prove: prove_seconds,
            evaluate: beside.evaluate_seconds,
            write: write_seconds,
            rest: 0.0,
        }
        .of(system::seconds_so_far()),
        held: Held::of(&task.data),
        features: task.data.n_features(),
        rows: task.data.n_rows(),
        label: input.label.clone(),
        traced: beside.traced,
        flips: beside.flips,
        support: beside.support,
        auto_cost,
        tuned,
        threshold,
    };
    if context.json {
        print_json(&report.json(parameters))?;
    } else {
        print(&report.text(context))?;
    }
    let gap = || training.bounds_objective().and_then(|run| run.gap());
    let gap = cancel::catch(gap).flatten();
    finish(&fit, &plan, context, (saved.as_deref(), !torn), gap)
}

/// The result of work, or the error of one that was given up.
fn given_up_or<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    cancel::catch(work).unwrap_or(Err(Failure::Error(Error::Interrupted)))
}

/// What is found out and written beside a model that is there already.
struct Beside {
    traced: Option<Summary>,
    flips: Option<Flips>,
    support: Option<Support>,
    evaluation: Option<Evaluation>,
    test: Option<Evaluation>,
    validation: Option<CrossValidation>,
    runs: Option<Runs>,
    evaluate_seconds: f64,
}

impl Beside {
    fn of(
        plan: &Plan,
        input: &Input,
        fit: &Fit,
        traced: trace::Traced,
        flips: Result<Option<Flips>, Failure>,
        matches: &ArgMatches,
        context: &Context,
    ) -> Result<Beside, Failure> {
        let Input { task, test_rows, splits, .. } = input;
        let traced = traced.transpose()?;
        let flips = flips.and_then(|flips| {
            if let (Some(flips), Some(table)) = (&flips, &plan.flips) {
                flips.write(table, fit, task)?;
            }
            Ok(flips)
        });
        let flips = nothing_if_ended(flips, "flips", fit, plan, context)?;
        let support = Support::write(plan.support.as_ref(), fit, task);
        let support = nothing_if_ended(support, "support", fit, plan, context)?;
        let evaluating = Instant::now();
        let evaluate = |rows| fit.model.evaluate(&task.data, rows, context.threads);
        let (rows, threads) = (task.rows.as_deref(), context.threads);
        let evaluation = cancel::catch(|| fit.model.evaluate_classes(&task.data, rows, threads));
        let test = given_up_or(|| match (&plan.test, test_rows) {
            (Some(TestOn::File(path)), _) => {
                let options = input::options(matches, context)?;
                let source = input::source_of(std::slice::from_ref(path), &options);
                Ok(Some(fit.model.evaluate_source(source)?))
            }
            (_, Some(rows)) => Ok(Some(evaluate(Some(rows)))),
            _ => Ok(None),
        });
        let test = if_not_stopped(test)?.flatten();
        let evaluate_seconds = evaluating.elapsed().as_secs_f64();
        let stopped = || context.stopped();
        let validation = given_up_or(|| match splits.is_empty() {
            true => Ok(None),
            false => cross_validate(plan.learner.as_ref(), task, splits, &plan.limits, &stopped)
                .map(Some)
                .map_err(Failure::from),
        });
        let validation = if_not_stopped(validation)?.flatten();
        let grounds = Grounds { matches, context, task, test_rows: test_rows.as_deref(), splits };
        let runs = given_up_or(|| Runs::beside(fit, plan, &grounds));
        let runs = if_not_stopped(runs)?.flatten();
        Ok(Beside { traced, flips, support, evaluation, test, validation, runs, evaluate_seconds })
    }
}

/// A table that follows from what is proved. A run that was ended early may have proved nothing: then there is
/// a note instead, and the exit code is that of every other run that was ended.
fn nothing_if_ended<T>(
    table: Result<Option<T>, Failure>,
    flag: &str,
    fit: &Fit,
    plan: &Plan,
    context: &Context,
) -> Result<Option<T>, Failure> {
    let ended = ended_by(fit, plan).is_some();
    match table {
        Err(Failure::Error(Error::Interrupted)) => {
            note(context, &format!("stopped before there was a table for --{flag}"));
            Ok(None)
        }
        Err(Failure::Error(error)) if ended && error.code().group() == 2 => {
            note(context, &format!("there is no table: {error}"));
            Ok(None)
        }
        table => table,
    }
}

/// Nothing where the work was stopped: the model is there all the same.
fn if_not_stopped<T>(result: Result<T, Failure>) -> Result<Option<T>, Failure> {
    match result {
        Err(Failure::Error(Error::Interrupted)) => Ok(None),
        result => result.map(Some),
    }
}

/// The data of a run, and which rows of it are for what.
struct Input {
    task: Task,
    test_rows: Option<Vec<u32>>,
    held_out: Option<f64>,
    splits: Vec<Split>,
    /// The digest, which is computed beside the training.
    identifying: Identifying,
    /// Whether a resumed run learned from this data before.
    same: bool,
    earlier: Earlier,
    lines: DataLines,
    label: LabelChoice,
    seconds: f64,
    /// The time in which nothing else was done.
    digest_seconds: f64,
}

impl Input {
    fn read(plan: &Plan, matches: &ArgMatches, context: &Context) -> Result<Input, Failure> {
        let clock = Instant::now();
        let read = match &plan.resume {
            None => read_data(matches, context)?,
            Some(resume) => {
                let read = resume.read(&plan.inputs, input::options(matches, context)?)?;
                tell_about(&read, matches, context)?;
                read
            }
        };
        if let Some(words) = read.data.looks_measured() {
            note(context, &words);
        }
        let seconds = clock.elapsed().as_secs_f64();
        let lines = DataLines::new(&plan.inputs, &read);
        let ReadResult { data, choices, .. } = read;
        let mut digest_seconds = 0.0;
        let seed = plan.settings.seed;
        let mut held_out = match plan.test {
            Some(TestOn::Share(share)) => Some(share),
            _ => None,
        };
        let (mut same, mut earlier) = (false, Earlier::default());
        if let Some(resume) = &plan.resume {
            let clock = Instant::now();
            same = resume.is_same(&data, context.threads)?;
            digest_seconds = clock.elapsed().as_secs_f64();
            earlier = resume.earlier(same);
            held_out = resume.held_out(same, held_out)?;
            if !same && plan.folds.is_some() {
                let words =
                    "--cv learns from the start; it is not for a run that goes on with new data";
                return Err(Error::usage(words).into());
            }
        }
        let splits = match plan.folds {
            Some(count) if plan.tune.is_none() => folds(&data, count, seed)?,
            _ => Vec::new(),
        };
        let (mut rows, mut test_rows) = (None, None);
        if let Some(share) = held_out {
            let Split { train, test, .. } = holdout(&data, share, seed)?;
            rows = Some(train);
            test_rows = Some(test);
        }
        let data = input::expand(data, plan.basis.as_ref(), rows.as_deref(), context)?;
        let planes = plan.recipe.most_planes(&plan.settings, data.n_classes() as u64);
        // Weights and scales, and a copy of the weights for the model.
        let more = plan.recipe.bytes_per_feature(data.n_features() as u64);
        check_width(&data, planes.saturating_mul(16).saturating_add(16 + more), context)?;
        if plan.recipe.kind == Kind::Optimising {
            // A multiplier or a margin of each row for each plane.
            let bytes = (data.n_rows() as u64).saturating_mul(8);
            // Those of very many rows go to temporary files.
            if bytes <= memory::share() {
                memory::ask("the multipliers of the rows", planes.saturating_mul(bytes))?;
            }
        }
        let rows = rows.map(Into::into);
        let task = Task::new(Arc::new(data)).with_rows(rows).with_threads(context.threads);
        let identifying = Identifying::start(&task.data, context.threads);
        let label = choices.label.clone();
        Ok(Input {
            task,
            test_rows,
            held_out,
            splits,
            identifying,
            same,
            earlier,
            lines,
            label,
            seconds,
            digest_seconds,
        })
    }

    /// The splits without the rows that are set aside for testing, which have no say in any choice.
    fn within(&self, mut splits: Vec<Split>) -> Vec<Split> {
        if let Some(rows) = &self.task.rows {
            let within = |list: &mut Vec<u32>| list.retain(|row| rows.binary_search(row).is_ok());
            for split in &mut splits {
                within(&mut split.train);
                within(&mut split.test);
            }
        }
        splits
    }

    fn begin(&self, plan: &Plan) -> Result<Box<dyn Training>, Failure> {
        match &plan.resume {
            None => Ok(plan.learner.start(&self.task)?),
            Some(resume) => resume.begin(plan, &self.task, self.same),
        }
    }
}

fn diverged(kind: Kind) -> Failure {
    let smaller = if kind == Kind::Optimising { "--c" } else { "--eta" };
    Error::usage(format!("the weights left the range of binary64: choose a smaller {smaller}, another --scale where the learner has one, or leave out columns of extreme size with --drop")).into()
}

/// What ended a run before it was done: a signal, or a limit that the user gave.
fn ended_by(fit: &Fit, plan: &Plan) -> Option<Option<String>> {
    match fit.stop {
        Stop::Interrupted => Some(None),
        Stop::Time => Some(Some("--time-limit".to_owned())),
        Stop::Updates => Some(Some("--updates".to_owned())),
        Stop::Epochs if plan.epochs_given => Some(Some("--epochs".to_owned())),
        // A learner that ends at a gap is not done before, whoever set the limit.
        Stop::Epochs if plan.recipe.kind == Kind::Optimising => {
            let epochs = crate::output::counted(plan.limits.epochs.unwrap_or(0), "epoch");
            Some(Some(format!("the default budget of {epochs} (more: --epochs)")))
        }
        _ => None,
    }
}

/// Why a learner that ends at a gap is not done: what is proved of its planes is less than was asked for.
fn missed_gap(fit: &Fit, plan: &Plan) -> Option<String> {
    let parameter = plan.recipe.parameters.iter().find(|parameter| parameter.name == "gap")?;
    let wanted: f64 = plan.settings.get(parameter).parse().ok()?;
    let claims = &fit.certificate.claims;
    let vacuous = claims.iter().find_map(|claim| match claim {
        Claim::Unproved { reason } if reason.starts_with(VACUOUS) => Some(reason),
        _ => None,
    });
    if let Some(reason) = vacuous {
        return Some(format!(
            "not converged: {reason}; columns of like size help (--scale standard, or divide them), and so does a smaller --c"
        ));
    }
    let optima = claims.iter().filter_map(report::optimality);
    let worst = optima.max_by(|a, b| a.gap.total_cmp(&b.gap))?;
    (worst.gap > wanted).then(|| {
        format!(
            "not converged: the objective is proved to be {} (a gap of {}), and a gap of {wanted:e} was asked for",
            worst.distance(),
            gap(worst.gap)
        )
    })
}

/// Why a default budget was not enough, and what would help more than a larger one.
fn why_not_yet(fit: &Fit, plan: &Plan) -> String {
    let mut words = missed_gap(fit, plan).map_or(String::new(), |words| format!("; {words}"));
    let scale = plan.recipe.parameters.iter().find(|parameter| parameter.name == "scale");
    let unscaled = scale.is_some_and(|scale| plan.settings.get(scale) == "none");
    if unscaled && !words.contains("--scale") {
        words.push_str("; columns of like size converge sooner (--scale standard, or divide them)");
    }
    words
}

/// The exit code: an interrupted run or a limit that the user gave is not a plain success.
fn finish(
    fit: &Fit,
    plan: &Plan,
    context: &Context,
    (saved, goes_on): (Option<&Path>, bool),
    found: Option<f64>,
) -> Result<ExitCode, Failure> {
    let limit = match ended_by(fit, plan) {
        Some(limit) => limit,
        None if context.stopped() && timed_out() => Some("--time-limit".to_owned()),
        None if context.stopped() => None,
        None => match fit.shortfall.clone().or_else(|| missed_gap(fit, plan)) {
            Some(words) => {
                let message = format!("{words}; the model is in {}", plan.model.display());
                return Err(Error::Limit { code: Code::LIMIT, message }.into());
            }
            None => return Ok(ExitCode::SUCCESS),
        },
    };
    let path = plan.model.display();
    let in_model = plan.recipe.kind == Kind::Optimising && goes_on;
    let in_model = in_model.then_some(plan.model.path());
    let resume = match saved.or(in_model) {
        Some(saved) => {
            let inputs: Vec<String> = plan.inputs.iter().map(|p| p.display().to_string()).collect();
            let (saved, inputs) = (saved.display(), inputs.join(" "));
            format!("; resume with: linsep train --resume {saved} {inputs}")
        }
        None => String::new(),
    };
    match limit {
        Some(flag) => {
            let reached = match found {
                Some(share) => format!("at a relative gap of {}, ", gap(share)),
                None => String::new(),
            };
            let why = match fit.stop == Stop::Epochs && !plan.epochs_given {
                true => why_not_yet(fit, plan),
                false => String::new(),
            };
            let message = format!(
                "{flag} was reached {reached}before the work was done{why}; the model is in {path}{resume}"
            );
            Err(Error::Limit { code: Code::LIMIT, message }.into())
        }
        None => {
            eprint_all(&format!("interrupted; the model as it was is in {path}{resume}\n"));
            Ok(ExitCode::from(130))
        }
    }
}
