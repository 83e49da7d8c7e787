//! `train --c auto`: the C that does best on rows held out.

use super::Input;
use super::plan::Plan;
use crate::context::Context;
use crate::exit::Failure;
use crate::output::{Facts, counted, grouped};
use clap::ArgMatches;
use linsep::data::split::folds;
use linsep::recipe::{Ability, Recipe, Settings};
use linsep::select::path::{PathPoint, best, cost_path};
use linsep::{Error, Limits};
use serde_json::{Value, json};

/// The folds where `--cv` does not say how many.
const FOLDS: usize = 5;

/// The word that asks for it.
const WORD: &str = "auto";

/// Whether the settings ask for it; what they say then is a C to begin with.
pub(super) fn asked(
    matches: &ArgMatches,
    recipe: &Recipe,
    settings: &mut Settings,
) -> Result<bool, Failure> {
    let auto = matches.get_one::<String>("c").is_some_and(|c| c == WORD);
    if auto && !recipe.has(Ability::WarmStart) {
        let words = recipe.cannot(Ability::WarmStart);
        return Err(Error::usage(format!("--c {WORD}: {words}")).into());
    }
    if auto {
        settings.set("c", "1");
    }
    Ok(auto)
}

/// The path and what was chosen.
pub(super) struct AutoCost {
    path: Vec<PathPoint>,
    chosen: PathPoint,
    folds: usize,
}

impl AutoCost {
    /// Tries every C on every fold, and sets the plan to the best.
    pub(super) fn choose(
        plan: &mut Plan,
        input: &Input,
        context: &Context,
    ) -> Result<Option<AutoCost>, Failure> {
        if !plan.auto_cost || plan.dry_run {
            return Ok(None);
        }
        let task = &input.task;
        let count = plan.folds.unwrap_or(FOLDS);
        let splits = input.within(folds(&task.data, count, plan.settings.seed)?);
        let (recipe, settings) = (plan.recipe, plan.settings.clone());
        let learner = |c: f64| {
            let mut settings = settings.clone();
            settings.set("c", &c.to_string());
            recipe.build(&settings)
        };
        let limits = Limits::default().with_epochs(plan.limits.epochs.or(Limits::default().epochs));
        let stop = || context.stopped();
        let path = cost_path(&learner, task, &splits, &limits, &stop)?;
        let Some(chosen) = best(&path) else {
            return Err(Error::usage("--c auto: there is nothing to choose from").into());
        };
        plan.settings.set("c", &chosen.c.to_string());
        plan.learner = plan.recipe.build(&plan.settings)?;
        Ok(Some(AutoCost { path, chosen, folds: count }))
    }

    pub(super) fn add_to(&self, facts: &mut Facts) {
        let PathPoint { c, errors, rows, .. } = self.chosen;
        let mut words = format!(
            "{c} of {} values: {} of {} wrong in {} folds",
            self.path.len(),
            grouped(errors),
            grouped(rows),
            self.folds
        );
        for point in &self.path {
            let mark = if point.c == c { " *" } else { "" };
            let late = match point.unfinished {
                0 => String::new(),
                folds => format!(" (gap not reached in {})", counted(folds, "fold")),
            };
            let accuracy = 100.0 * (1.0 - point.errors as f64 / point.rows.max(1) as f64);
            words.push_str(&format!("\n{:>12}  {accuracy:.2} %{late}{mark}", point.c));
        }
        facts.add("c", words);
    }

    pub(super) fn json(&self) -> Value {
        let point = |point: &PathPoint| {
            let PathPoint { c, errors, rows, unfinished, .. } = point;
            json!({ "c": c, "errors": errors, "rows": rows, "unfinished": unfinished })
        };
        let path: Vec<Value> = self.path.iter().map(point).collect();
        json!({ "chosen": self.chosen.c, "folds": self.folds, "path": path })
    }
}
