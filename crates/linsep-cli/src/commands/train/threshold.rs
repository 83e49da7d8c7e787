//! `train --threshold` and `--cost-matrix`: which score, or which costs, decide between the classes.

use super::Input;
use super::plan::Plan;
use crate::commands::costs;
use crate::context::Context;
use crate::exit::Failure;
use crate::output::Facts;
use clap::ArgMatches;
use linsep::data::split::folds;
use linsep::learn::discriminant::Threshold as OfFisher;
use linsep::model::{Costs, Decision, Threshold};
use linsep::select::threshold::{Chosen, Goal, choose};
use linsep::{Error, Fit, LinearModel};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Rows are held out in so many parts.
const FOLDS: usize = 5;

/// What the flags ask for.
pub(super) struct Asked {
    how: Option<How>,
    costs: Option<PathBuf>,
}

#[derive(Clone)]
enum How {
    /// A probability.
    Value(f64),
    Cost,
    Goal(Goal, String),
}

/// Whether a value of the flag is a setting of Fisher's discriminant, which has a threshold of its own.
pub(super) fn is_setting(text: &str) -> bool {
    OfFisher::WORDS.contains(&text)
}

/// What the flags ask for, if anything.
pub(super) fn asked(matches: &ArgMatches) -> Result<Option<Asked>, Failure> {
    let text = matches.get_one::<String>("threshold").map(String::as_str);
    let costs = matches.get_one::<PathBuf>("cost-matrix").cloned();
    let wrong = |words: String| Error::usage(format!("--threshold: {words}"));
    let share = |text: &str| text.parse::<f64>().ok().filter(|x| (0.0..=1.0).contains(x));
    let how = match text.filter(|text| !is_setting(text)) {
        None => None,
        Some("cost") if costs.is_none() => {
            return Err(wrong("cost needs --cost-matrix FILE".into()).into());
        }
        Some("cost") => Some(How::Cost),
        Some("f1") => Some(How::Goal(Goal::F1, "f1".into())),
        Some("youden") => Some(How::Goal(Goal::Youden, "youden".into())),
        Some(text) => match (text.strip_prefix("rate="), share(text)) {
            (Some(rate), _) => match share(rate) {
                Some(rate) => Some(How::Goal(Goal::Rate(rate), format!("rate={rate}"))),
                None => {
                    return Err(wrong(format!("rate=\"{rate}\" is no number from 0 to 1")).into());
                }
            },
            (None, Some(value)) => Some(How::Value(value)),
            (None, None) => {
                let words = format!(
                    "\"{text}\" is neither a probability from 0 to 1 nor cost, f1, youden or rate=R"
                );
                return Err(wrong(words).into());
            }
        },
    };
    let both = matches!(how, Some(How::Value(_) | How::Goal(..))) && costs.is_some();
    if both {
        return Err(wrong("with --cost-matrix only cost makes sense".into()).into());
    }
    Ok((how.is_some() || costs.is_some()).then_some(Asked { how, costs }))
}

/// Refuses, before any work, what the data does not allow.
pub(super) fn check(plan: &Plan, input: &Input, context: &Context) -> Result<(), Failure> {
    let Some(asked) = &plan.threshold else { return Ok(()) };
    let classes = input.task.data.classes();
    if let Some(path) = &asked.costs {
        costs::read(path, classes, context)?;
    }
    if asked.how.is_some() && classes.len() != 2 {
        let words = format!(
            "--threshold: a threshold tells two classes apart, and there are {}; --cost-matrix alone works for more, --positive makes two of them",
            classes.len()
        );
        return Err(Error::usage(words).into());
    }
    Ok(())
}

/// What was chosen, for the report.
pub(super) struct Found(Option<(Goal, Chosen)>);

/// Gives the model its decision, if that is asked for.
pub(super) fn settle(
    plan: &Plan,
    input: &Input,
    fit: &mut Fit,
    context: &Context,
) -> Result<Option<Found>, Failure> {
    let Some(asked) = &plan.threshold else { return Ok(None) };
    let model = &fit.model;
    let costs = match &asked.costs {
        Some(path) => Some(costs::read(path, &model.classes, context)?),
        None => None,
    };
    let (goal, name) = match (asked.how.clone(), costs) {
        (Some(How::Value(value)), _) => {
            let score =
                model.score_of_probability(value).map_err(|error| prefixed("threshold", &error))?;
            let threshold = Threshold::new(score, "value").with_probability(Some(value));
            fit.model.decision = Some(Decision::Threshold(threshold));
            return Ok(Some(Found(None)));
        }
        (None, Some(costs)) => {
            fit.model.decision = Some(by_costs(model, costs)?);
            return Ok(Some(Found(None)));
        }
        (Some(How::Goal(goal, name)), _) => (goal, name),
        (Some(How::Cost), Some(costs)) => (Goal::Cost(costs), "cost".to_owned()),
        (Some(How::Cost) | None, None) => return Ok(None),
    };
    let count = plan.folds.unwrap_or(FOLDS);
    let splits = input.within(folds(&input.task.data, count, plan.settings.seed)?);
    let stop = || context.stopped();
    let chosen = choose(&goal, plan.learner.as_ref(), &input.task, &splits, &plan.limits, &stop)
        .map_err(|error| match error {
            Error::Usage { .. } => prefixed("threshold", &error),
            error => Failure::from(error),
        })?;
    let probability = fit.model.probabilities_of_scores(&[chosen.score]).map(|both| both[1]);
    let threshold = Threshold::new(chosen.score, name)
        .with_probability(probability)
        .with_rows(Some(format!("rows held out in {count} folds")));
    fit.model.decision = Some(Decision::Threshold(threshold));
    Ok(Some(Found(Some((goal, chosen)))))
}

fn prefixed(flag: &str, error: &Error) -> Failure {
    Error::usage(format!(
        "--{flag}: {error}; --probabilities platt gives some learners probabilities"
    ))
    .into()
}

/// The class of least expected cost: of two classes it has a threshold.
fn by_costs(model: &LinearModel, costs: Costs) -> Result<Decision, Failure> {
    match costs.probability() {
        Some(p) => {
            let score =
                model.score_of_probability(p).map_err(|error| prefixed("cost-matrix", &error))?;
            Ok(Decision::Threshold(Threshold::new(score, "costs").with_probability(Some(p))))
        }
        None if model.probabilities_of_scores(&vec![0.0; model.n_scores()]).is_none() => {
            let words = Error::usage("expected costs need probabilities, and this model has none");
            Err(prefixed("cost-matrix", &words))
        }
        None => Ok(Decision::Costs(costs)),
    }
}

impl Found {
    pub(super) fn add_to(&self, facts: &mut Facts, model: &LinearModel) {
        let Some(sentence) = crate::commands::rules::decision(model) else { return };
        facts.add("decision", sentence);
        let Some((goal, chosen)) = &self.0 else { return };
        let name = match goal {
            Goal::Cost(_) => "mean cost",
            Goal::F1 => "F1",
            Goal::Youden => "recall less false positive rate",
            _ => "recall",
        };
        facts.add(
            "held out",
            format!(
                "{name} {:.4} there, {:.4} at a score of 0; recall {:.4}, false positive rate {:.4} (the threshold was chosen on these rows: a little too good)",
                chosen.value, chosen.before, chosen.recall, chosen.false_positive_rate
            ),
        );
    }

    pub(super) fn json(&self, model: &LinearModel) -> Value {
        let mut value = json!({ "decision": model.decision });
        if let Some((_, chosen)) = &self.0 {
            value["held_out"] = json!({
                "value": chosen.value,
                "before": chosen.before,
                "recall": chosen.recall,
                "false_positive_rate": chosen.false_positive_rate,
            });
        }
        value
    }
}
