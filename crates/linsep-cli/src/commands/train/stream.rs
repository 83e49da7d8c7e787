//! `train --stream DATA`: every row once, in order, in constant memory.
//!
//! The model is that of `--epochs 1 --order cyclic --scale none --verdict off` on the same rows, bit for
//! bit; nothing is proved about it, because the rows are gone.

use super::plan::{Plan, TestOn};
use super::resume::Resume;
use crate::commands::data_lines::label_json;
use crate::commands::{check_width, json_number};
use crate::context::{Context, timed_out};
use crate::exit::Failure;
use crate::files::Output;
use crate::input;
use crate::output::{Facts, counted, grouped, note, print, print_json};
use crate::spelling::spelled;
use clap::ArgMatches;
use linsep::data::read::{Choices, check_for_parts, normal_label};
use linsep::file::checkpoint::SavedRun;
use linsep::file::{DataIdentity, ModelFile};
use linsep::metrics::Evaluation;
use linsep::recipe::{Ability, Recipe, Settings};
use linsep::select::stream::{OnePass, Passed};
use linsep::{Error, Stop, Training};
use serde_json::json;
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::time::Instant;

/// Settings of a stream: what needs a look at all rows is refused where it was asked for, and left
/// where it was not.
pub(super) fn settle(
    matches: &ArgMatches,
    recipe: &Recipe,
    settings: &mut Settings,
    resume: Option<&Resume>,
) -> Result<(), Failure> {
    let refuse = |words: String| Err(Failure::from(Error::usage(words)));
    for flag in ["basis", "terms", "box"] {
        if matches.get_one::<String>(flag).is_some() {
            return refuse(format!("--{flag} is not for a stream"));
        }
    }
    if matches.get_one::<Output>("trace").is_some() {
        return refuse("--trace is not for a stream, whose rows are gone".to_owned());
    }
    if resume.is_some_and(Resume::is_checkpoint) {
        return refuse("--stream: a checkpoint belongs to data that is held as a whole".to_owned());
    }
    if !recipe.has(Ability::Stream) {
        return refuse(format!("--stream: {}", recipe.cannot(Ability::Stream)));
    }
    // The settings of a run that goes on are what they are, also where nobody asked for them.
    recipe.settle_stream(settings, resume.is_some())?;
    let text = |name: &str| matches.get_one::<String>(name);
    for flag in ["epochs", "updates", "cv", "runs", "checkpoint-every"] {
        if text(flag).is_some() {
            return refuse(format!("--{flag} is not for a stream, which sees every row once"));
        }
    }
    Ok(())
}

pub(super) fn run(
    plan: &Plan,
    matches: &ArgMatches,
    context: &Context,
) -> Result<ExitCode, Failure> {
    if matches!(plan.test, Some(TestOn::Share(_))) {
        let words = "--test: a stream has no rows to set aside; give a file";
        return Err(Error::usage(words).into());
    }
    let mut options = input::options(matches, context)?;
    if let Some(resume) = &plan.resume {
        options = resume.options(options);
    } else {
        check_for_parts(&options)?;
    }
    let learner = plan.recipe.build(&plan.settings)?;
    let mut pass = OnePass::new(learner, options.positive.clone(), context.threads);
    if let Some(resume) = &plan.resume {
        pass.carry_on(resume.run.state.clone(), &resume.classes, resume.input.rest);
    } else if let Some(list) = matches.get_one::<String>("classes") {
        let names: Vec<String> = list.split(',').map(|name| normal_label(name.trim())).collect();
        if names.iter().any(String::is_empty) {
            return Err(Error::usage(format!("--classes: \"{list}\" has an empty name")).into());
        }
        pass.expect_classes(&names).map_err(|e| Error::usage(format!("--classes: {e}")))?;
    }
    if plan.dry_run {
        print("the settings can be used; nothing was read or learned (--dry-run)\n")?;
        return Ok(ExitCode::SUCCESS);
    }
    let started = Instant::now();
    let mut ended = None;
    let mut watch = |_: &dyn Training| match context.stopped() {
        false => ControlFlow::Continue(()),
        true => ControlFlow::Break(if timed_out() { Stop::Time } else { Stop::Interrupted }),
    };
    let map = plan.resume.as_ref().map(|resume| &resume.input);
    let mut seen = None;
    let read = input::source_of(&plan.inputs, &options).parts(map, |choices, part| {
        seen = Some(choices.clone());
        // Weights, their average and their text on the way from part to part.
        check_width(&part, 128, context).map_err(|failure| match failure {
            Failure::Error(error) => error,
            Failure::BrokenPipe => Error::Interrupted,
        })?;
        Ok(match pass.feed(part, &mut watch)? {
            ControlFlow::Continue(()) => ControlFlow::Continue(()),
            ControlFlow::Break(stop) => {
                ended = Some(stop);
                ControlFlow::Break(())
            }
        })
    });
    let choices = match (read, seen) {
        (Ok(choices), _) => choices,
        // A signal ends the waiting for more rows; what was learned so far is kept.
        (Err(Error::Interrupted), Some(choices)) => {
            ended = Some(if timed_out() { Stop::Time } else { Stop::Interrupted });
            choices
        }
        (Err(error), _) => return Err(error.into()),
    };
    if ended == Some(Stop::Diverged) {
        return Err(super::diverged(plan.recipe.kind));
    }
    let passed = pass.finish(ended.unwrap_or(Stop::Epochs))?;
    save(plan, &passed)?;
    let test = match &plan.test {
        Some(TestOn::File(path)) => {
            let options = input::options(matches, context)?;
            let source = input::source_of(std::slice::from_ref(path), &options);
            let tested = passed.fit.model.evaluate_source(source).inspect_err(|_| {
                note(context, &format!("the model is in {}", plan.model.display()));
            });
            Some(tested?)
        }
        _ => None,
    };
    choices.columns.iter().for_each(|column| note(context, &column.words));
    if choices.outside > 0 {
        let words = format!("{} entries outside the columns were left out", choices.outside);
        note(context, &words);
    }
    let report = Report { plan, passed: &passed, choices: &choices, test };
    match context.json {
        true => print_json(&report.json(started.elapsed().as_secs_f64()))?,
        false => print(&report.text(context))?,
    }
    super::finish(&passed.fit, plan, context, (None, true), None)
}

fn save(plan: &Plan, passed: &Passed) -> Result<(), Failure> {
    let fit = &passed.fit;
    let (rows, sha256) = passed.data.clone();
    let mut file = ModelFile::new(
        fit.model.clone(),
        fit.certificate.clone(),
        plan.recipe.name,
        plan.recipe.effective(&plan.settings),
        plan.settings.seed,
        (fit.stop, fit.progress),
        (DataIdentity::new(sha256, rows), passed.reading.field()),
    );
    let mut run = SavedRun::new(fit.progress.visits, passed.state.clone());
    run.stream = true;
    run.rates = plan.settings.rates.clone();
    run.keep_start(plan.settings.start.as_deref());
    if let Some(resume) = &plan.resume {
        run.earlier = resume.earlier(false);
    }
    file.run = Some(run);
    Ok(file.save(plan.model.path())?)
}

struct Report<'a> {
    plan: &'a Plan,
    passed: &'a Passed,
    choices: &'a Choices,
    test: Option<Evaluation>,
}

impl Report<'_> {
    fn text(&self, context: &Context) -> String {
        let (plan, fit, model) = (self.plan, &self.passed.fit, &self.passed.fit.model);
        let mut facts = Facts::default();
        let name = match &plan.inputs[..] {
            [one] if one.as_os_str() == "-" => "<stdin>".to_owned(),
            [one] => one.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            _ => format!("{} inputs", plan.inputs.len()),
        };
        facts.add(
            &name,
            format!(
                "{} x {}, {}, {}",
                counted(self.passed.data.0, "row"),
                counted(model.n_features() as u64, "feature"),
                spelled(&self.choices.label.to_string()),
                counted(model.classes.len() as u64, "class"),
            ),
        );
        facts.add("learner", plan.learner_in_words(model));
        let why = match fit.stop {
            Stop::Epochs => "the end of the stream",
            Stop::Time => "the time limit",
            _ => "interrupted",
        };
        facts.add("stopped", format!("{why} ({})", counted(fit.progress.updates, "update")));
        facts.add("proved", "nothing: every row was seen once and is gone");
        if let Some(mistakes) = self.mistakes() {
            let rows = fit.progress.visits;
            let share = 100.0 * mistakes as f64 / rows.max(1) as f64;
            let words = format!(
                "{} of {} wrong before they were learned from ({share:.2} %)",
                grouped(mistakes),
                grouped(rows)
            );
            facts.add("pass", words);
        }
        if let Some(test) = &self.test {
            facts.add("test", super::report::errors(test));
        }
        facts.add("model", plan.model.display().to_string());
        facts.text(context)
    }

    /// Mistakes of the pass, where they are counted.
    fn mistakes(&self) -> Option<u64> {
        let mistakes = self.passed.fit.progress.last_mistakes;
        mistakes.filter(|_| self.plan.recipe.has(Ability::CountMistakes))
    }

    fn json(&self, seconds: f64) -> serde_json::Value {
        let (fit, model) = (&self.passed.fit, &self.passed.fit.model);
        let (label, label_source) = label_json(&self.choices.label);
        let mut value = json!({
            "schema": "linsep.result/1",
            "command": "train",
            "stream": true,
            "rows": self.passed.data.0,
            "features": model.n_features(),
            "classes": model.classes,
            "label": label,
            "label_source": label_source,
            "learner": self.plan.recipe.name,
            "parameters": self.plan.recipe.effective(&self.plan.settings),
            "stop": fit.stop.word(),
            "epochs": fit.progress.epochs,
            "updates": fit.progress.updates,
            "mistakes": self.mistakes(),
            "certificate": { "claim": "unproved" },
            "seconds": { "train": json_number(seconds) },
            "model": self.plan.model.display().to_string(),
            "digest": self.passed.data.1,
        });
        if let Some(test) = &self.test {
            value["test"] = super::report::short_json(test);
        }
        value
    }
}
