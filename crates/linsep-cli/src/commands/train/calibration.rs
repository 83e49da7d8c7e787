//! `train --probabilities platt`: a link from scores to probabilities, out of rows held out.

use super::Input;
use super::plan::Plan;
use crate::context::Context;
use crate::exit::Failure;
use crate::output::Facts;
use clap::ArgMatches;
use linsep::data::split::folds;
use linsep::model::Sigmoid;
use linsep::recipe::{Ability, Recipe};
use linsep::select::platt::{NEEDS_MACHINES, calibrate};
use linsep::{Error, Fit, Link};
use serde_json::{Value, json};

/// Rows are held out in so many parts.
const FOLDS: usize = 5;

/// Whether the flags ask for it.
pub(super) fn asked(matches: &ArgMatches, recipe: &Recipe) -> Result<bool, Failure> {
    let platt = matches.get_one::<String>("probabilities").is_some_and(|how| how == "platt");
    if platt && !recipe.has(Ability::Calibrate) {
        let words = recipe.cannot(Ability::Calibrate);
        return Err(Error::usage(format!("--probabilities platt: {words}")).into());
    }
    Ok(platt)
}

/// Gives the model its link, if that is asked for.
pub(super) fn link(
    plan: &Plan,
    input: &Input,
    fit: &mut Fit,
    context: &Context,
) -> Result<(), Failure> {
    if !plan.platt {
        return Ok(());
    }
    let count = plan.folds.unwrap_or(FOLDS);
    let splits = input.within(folds(&input.task.data, count, plan.settings.seed)?);
    let stop = || context.stopped();
    let learner = plan.learner.as_ref();
    fit.model.link = calibrate(learner, &input.task, &splits, &plan.limits, &stop).map_err(
        |error| match error {
            Error::Usage { .. } => Error::usage(format!("--probabilities platt: {error}")),
            error => error,
        },
    )?;
    Ok(())
}

/// Refuses, before any work, K classes without a machine for each.
pub(super) fn check(plan: &Plan, classes: usize) -> Result<(), Failure> {
    match plan.recipe.can(Ability::Calibrate, &plan.settings, classes) || !plan.platt {
        true => Ok(()),
        false => Err(Error::usage(format!("--probabilities platt: {NEEDS_MACHINES}")).into()),
    }
}

pub(super) fn add_to(facts: &mut Facts, fit: &Fit) {
    match &fit.model.link {
        Link::Sigmoid { slope, offset } => facts.add(
            "probability",
            format!("1/(1 + exp(-({slope:.6} score + {offset:.6}))), from rows held out"),
        ),
        Link::Sigmoids(each) => facts.add(
            "probability",
            format!(
                "a logistic function for each of {} binary classifiers, from rows held out, divided by their sum",
                each.len()
            ),
        ),
        _ => {}
    }
}

pub(super) fn json(fit: &Fit) -> Option<Value> {
    match &fit.model.link {
        Link::Sigmoid { slope, offset } => Some(json!({ "slope": slope, "offset": offset })),
        Link::Sigmoids(each) => {
            let pairs = fit.model.classes.iter().zip(each);
            let object = |(class, sigmoid): (&String, &Sigmoid)| json!({ "class": class, "slope": sigmoid.slope, "offset": sigmoid.offset });
            Some(json!({ "sigmoids": pairs.map(object).collect::<Vec<_>>() }))
        }
        _ => None,
    }
}
