//! `train --trace FILE` and `train --box NAME`: what they ask for, the traced run, and what the
//! report says of them.

use super::plan::Plan;
use crate::commands::sentences::UpdateBound;
use crate::context::Context;
use crate::exit::Failure;
use crate::files::Output;
use crate::output::{Facts, counted};
use crate::spelling::spelled;
use clap::ArgMatches;
use linsep::loss::Criterion;
use linsep::recipe::{Ability, Settings};
use linsep::{Error, Observer, Stop, Task, Training};
use linsep_teach::boxes::AlgorithmBox;
use linsep_teach::trace::{Summary, Tracer, margin_of_run};
use serde_json::{Value, json};

/// A box that was asked for.
pub(super) struct Chosen {
    pub(super) algorithm_box: &'static AlgorithmBox,
    pub(super) literal: bool,
}

/// The box that the flags ask for, its settings put among the others.
pub(super) fn chosen_box(
    matches: &ArgMatches,
    settings: &mut Settings,
) -> Result<Option<Chosen>, Failure> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let Some(name) = text("box") else { return Ok(None) };
    let algorithm_box = AlgorithmBox::find(name)?;
    if let Some(learner) = text("learner").filter(|learner| *learner != algorithm_box.learner) {
        return Err(Error::usage(format!(
            "--learner {learner} contradicts --box {name}, which is a {}",
            algorithm_box.learner
        ))
        .into());
    }
    let literal = matches.get_flag("literal");
    algorithm_box.settle(settings, literal)?;
    Ok(Some(Chosen { algorithm_box, literal }))
}

impl Chosen {
    /// Whether the loop is run as it is printed, with its errors.
    pub(super) fn is_printed(&self) -> bool {
        self.literal && self.algorithm_box.printed.is_some()
    }

    pub(super) fn words(&self) -> String {
        let AlgorithmBox { name, title, mended, .. } = self.algorithm_box;
        let mut words = format!("{name}, {title}");
        match (mended.is_empty(), self.literal) {
            (true, _) => {}
            (false, true) => words.push_str("; as it is printed, errors included"),
            (false, false) => {
                mended.iter().for_each(|line| words.push_str(&format!("\nmended: {line}")))
            }
        }
        words
    }

    pub(super) fn json(&self) -> Value {
        let AlgorithmBox { name, title, mended, .. } = self.algorithm_box;
        let mended: &[&str] = if self.literal { &[] } else { mended };
        json!({ "name": name, "title": title, "literal": self.literal, "mended": mended })
    }
}

/// Where a trace goes and what it is to hold.
pub(super) struct TraceTo {
    output: Output,
    criteria: Vec<Criterion>,
    /// `None` looks for the margin where it is cheap.
    margin: Option<bool>,
    /// The class that `--positive` names.
    positive: Option<String>,
}

/// The trace that the flags ask for.
pub(super) fn asked(matches: &ArgMatches) -> Result<Option<TraceTo>, Failure> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let Some(output) = matches.get_one::<Output>("trace") else { return Ok(None) };
    if output.is_stdout() {
        return Err(Error::usage("--trace: a trace is a file, - is none").into());
    }
    let words = text("trace-criteria").into_iter().flat_map(|list| list.split(','));
    let criterion = |word: &str| {
        let parsed = word.trim().parse::<Criterion>();
        parsed.map_err(|error| Error::usage(format!("--trace-criteria: {error}")))
    };
    let mut criteria = words.map(criterion).collect::<Result<Vec<_>, _>>()?;
    criteria.dedup();
    let margin = match text("trace-margin") {
        Some("on") => Some(true),
        Some("off") => Some(false),
        _ => None,
    };
    let positive = text("positive").map(str::to_owned);
    Ok(Some(TraceTo { output: output.clone(), criteria, margin, positive }))
}

/// Refuses a trace of a run that cannot be traced.
pub(super) fn check(plan: &Plan, run: &dyn Training, classes: usize) -> Result<(), Failure> {
    if plan.trace.is_none() {
        return Ok(());
    }
    let Some(traces) = run.traces() else {
        let error = plan.recipe.require(Ability::Trace, &plan.settings, classes).err();
        let error = error.unwrap_or_else(|| plan.recipe.cannot(Ability::Trace));
        return Err(Error::usage(format!("--trace: {error}")).into());
    };
    if traces.beginnings().len() > 1 && plan.limits.updates.is_some() {
        // The limit is shared out plane after plane, in slices that a trace would change.
        let words = "--trace does not go with --updates where several binary classifiers learn side by side; \
                     use --epochs";
        return Err(Error::usage(words).into());
    }
    Ok(())
}

/// What came of a trace that was asked for.
pub(super) type Traced = Option<Result<Summary, Error>>;

/// Drives the run, with a trace if there is to be one. The trace appears whole, also that of a run that
/// was interrupted. One that cannot be written to the end is told of beside the run, which is not lost.
pub(super) fn drive(
    plan: &Plan,
    task: &Task,
    training: &mut dyn Training,
    context: &Context,
    watch: &mut dyn Observer,
) -> Result<(Stop, Traced), Failure> {
    let Some(to) = &plan.trace else {
        return Ok((linsep::drive(training, &plan.limits, watch), None));
    };
    check(plan, training, task.data.n_classes())?;
    let mut outcome = None;
    let written = to.output.write(|out| {
        let mut tracer = Tracer::new(&task.data, plan.recipe.name, out, watch);
        tracer.parameters = plan.recipe.effective(&plan.settings);
        tracer.algorithm_box =
            plan.algorithm_box.as_ref().map(|chosen| chosen.algorithm_box.name.to_owned());
        tracer.seed = plan.settings.seed;
        tracer.positive.clone_from(&to.positive);
        tracer.threads = context.threads;
        tracer.criteria.clone_from(&to.criteria);
        if to.margin != Some(false) {
            let wanted = to.margin == Some(true);
            let stop = || context.stopped();
            tracer.gamma = Box::new(move |start| {
                margin_of_run(&task.data, start, wanted, context.threads, &stop)
            });
        }
        let stop = linsep::drive(training, &plan.limits, &mut tracer);
        let of_model = training.remarks().into_iter().find(|remark| remark.name == "weights");
        tracer.model = of_model.map(|remark| spelled(&remark.words));
        let result = tracer.finish();
        let failed = result.is_err();
        outcome = Some((stop, result));
        if failed { Err(std::io::Error::other("there is no trace")) } else { Ok(()) }
    });
    match outcome {
        Some((stop, Ok(summary))) => Ok((stop, Some(written.map(|()| summary)))),
        Some((stop, Err(Error::Io { action, source, .. }))) => {
            Ok((stop, Some(Err(Error::io(action, to.output.path(), source)))))
        }
        Some((_, Err(error))) => Err(error.into()),
        None => Err(written.err().unwrap_or(Error::Interrupted).into()),
    }
}

/// The lines about the trace; `converged` tells whether the run itself came to an end without mistakes.
pub(super) fn report(facts: &mut Facts, to: &TraceTo, traced: &Summary, converged: bool) {
    facts.add("trace", format!("{}, {}", to.output.display(), counted(traced.updates, "update")));
    if let (Some(gamma), Some(bound)) = (&traced.gamma, traced.bound) {
        let (radius2, made) = (traced.r2, traced.updates);
        let bound =
            UpdateBound::OfRun { most: bound, radius2, gamma: gamma.lower, made, converged };
        facts.add("bound", bound.words());
    }
}

pub(super) fn json(to: &TraceTo, traced: &Summary) -> Value {
    json!({
        "file": to.output.display().to_string(),
        "updates": traced.updates,
        "r2": traced.r2,
        "gamma": traced.gamma,
        "bound": traced.bound,
    })
}
