//! `linsep train DATA`: read, learn, check, write.

pub(super) mod plan;
mod report;

use super::{check_width, describe_input, evaluate, read_data};
use crate::context::{Context, timed_out};
use crate::exit::{Failure, eprint_all};
use crate::input;
use crate::output::{print, print_json};
use crate::progress::Watch;
use clap::ArgMatches;
use linsep::data::read::ReadResult;
use linsep::data::split::{Split, folds, holdout};
use linsep::learn::validate::cross_validate;
use linsep::model_file::{DataIdentity, ModelFile};
use linsep::{Code, Error, Fit, Stop, Task};
use plan::{Plan, TestOn};
use report::Report;
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
            Some(evaluate::on_files(&fit.model, std::slice::from_ref(path), &options)?)
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
