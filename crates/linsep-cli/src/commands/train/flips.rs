//! `train --flips FILE`: which predictions no better solution can change.
//!
//! The run goes on to smaller gaps, a hundred times smaller each time, until nearly all rows are settled
//! or rounding is all that is left. The model that is written is the last one.

use super::plan::{Plan, TestOn};
use super::row_table::RowTable;
use crate::commands::sentences::gap;
use crate::exit::Failure;
use crate::files::Output;
use crate::output::{Facts, grouped};
use clap::ArgMatches;
use linsep::recipe::{Ability, Recipe};
use linsep::select::flips::{Bound, final_rows};
use linsep::{Claim, Error, Fit, Observer, Stop, Task, Training};
use serde_json::{Value, json};

/// The share of final rows with which a run is content, and the gap below which it does not go.
const ENOUGH: f64 = 0.999;
const LEAST_GAP: f64 = 1e-12;

/// The table that the flags ask for.
pub(super) fn asked(
    matches: &ArgMatches,
    recipe: &Recipe,
    runs: Option<usize>,
) -> Result<Option<RowTable>, Failure> {
    let Some(path) = matches.get_one::<Output>("flips") else { return Ok(None) };
    let refuse = |words: String| Err(Error::usage(format!("--flips: {words}")).into());
    if !recipe.has(Ability::Flips) {
        return refuse(recipe.cannot(Ability::Flips).to_string());
    }
    if matches!(TestOn::asked(matches), Some(TestOn::Share(_))) {
        return refuse(
            "what is proved speaks of all rows; test on a file, not on a share of the rows"
                .to_owned(),
        );
    }
    if runs.is_some() {
        return refuse("--runs makes several models, of one of which it would speak".to_owned());
    }
    RowTable::asked("flips", path).map(Some)
}

/// What was found out about the rows.
pub(super) struct Flips {
    rows: Vec<(u32, Option<Bound>)>,
    gap: f64,
}

impl Flips {
    /// Goes on with a run that is done until its bounds say something.
    pub(super) fn settle(
        plan: &Plan,
        task: &Task,
        training: &mut Box<dyn Training>,
        fit: &mut Fit,
        watch: &mut dyn Observer,
    ) -> Result<Option<Flips>, Failure> {
        if plan.flips.is_none() {
            return Ok(None);
        }
        let mut found = Flips::of(fit, task)?;
        let mut wanted = gap_setting(plan);
        while fit.stop == Stop::Finished && wanted > LEAST_GAP && found.share() < ENOUGH {
            let text = format!("{:.0e}", (wanted.min(found.gap) / 100.0).max(LEAST_GAP));
            wanted = text.parse().unwrap_or(LEAST_GAP);
            let mut settings = plan.settings.clone();
            settings.set("gap", &text);
            let mut next = plan.recipe.build(&settings)?.start(task)?;
            // Machines side by side begin anew: they were done together.
            if task.data.n_classes() == 2 {
                next.restore(&training.save())?;
            }
            let stop = linsep::drive(next.as_mut(), &plan.limits, watch);
            let mut deeper = Fit::of(next.as_ref(), task, stop)?;
            let Ok(more) = Flips::of(&deeper, task) else { break };
            if more.gap >= found.gap {
                break;
            }
            // The gap that was asked for is reached, whatever ends the way to a smaller one.
            if matches!(stop, Stop::Epochs | Stop::Updates) {
                deeper.stop = Stop::Finished;
                wanted = LEAST_GAP;
            }
            (*training, *fit, found) = (next, deeper, more);
        }
        Ok(Some(found))
    }

    fn of(fit: &Fit, task: &Task) -> Result<Flips, Failure> {
        let claims = &fit.certificate.claims;
        let rows = final_rows(claims, &fit.model, task)
            .map_err(|error| Error::usage(format!("--flips: {error}")))?;
        let gap = |claim: &Claim| match claim {
            Claim::Optimal { optimality, .. } => optimality.gap,
            _ => f64::INFINITY,
        };
        Ok(Flips { rows, gap: claims.iter().map(gap).fold(0.0, f64::max) })
    }

    fn count(&self, wanted: impl Fn(Option<Bound>) -> bool) -> u64 {
        self.rows.iter().filter(|(_, by)| wanted(*by)).count() as u64
    }

    fn share(&self) -> f64 {
        self.count(|by| by.is_some()) as f64 / self.rows.len().max(1) as f64
    }

    /// Writes the table.
    pub(super) fn write(&self, table: &RowTable, fit: &Fit, task: &Task) -> Result<(), Failure> {
        let rows = (0..).zip(&self.rows).map(|(row, (class, by))| {
            let class = fit.model.classes[*class as usize].as_str();
            let by = by.map_or(Value::Null, |by| Value::from(by.word()));
            (row, vec![Value::from(class), Value::from(!by.is_null()), by])
        });
        table.write(&task.data, &["prediction", "final", "by"], rows)
    }

    pub(super) fn add_to(&self, facts: &mut Facts, table: &RowTable) {
        let (dual, ball) =
            (self.count(|by| by == Some(Bound::Dual)), self.count(|by| by == Some(Bound::Ball)));
        let all = self.rows.len() as u64;
        let (shown, total) = (grouped(dual + ball), grouped(all));
        let words = match 2 * (dual + ball) >= all {
            true => format!(
                "{shown} of {total} predictions ({:.2} %) are those of the best model: {} by the dual, {} by the ball",
                100.0 * self.share(),
                grouped(dual),
                grouped(ball)
            ),
            false => format!(
                "not informative: only {shown} of {total} predictions are known to be those of the best model"
            ),
        };
        facts.add("final", format!("{words}; gap {}; {}", gap(self.gap), table.output.display()));
    }

    pub(super) fn json(&self, table: &RowTable) -> Value {
        let (dual, ball) =
            (self.count(|by| by == Some(Bound::Dual)), self.count(|by| by == Some(Bound::Ball)));
        json!({
            "file": table.output.display().to_string(),
            "rows": self.rows.len(),
            "final": dual + ball,
            "by_dual": dual,
            "by_ball": ball,
            "informative": 2 * (dual + ball) >= self.rows.len() as u64,
            "gap": self.gap,
        })
    }
}

/// The gap that was asked for.
fn gap_setting(plan: &Plan) -> f64 {
    let parameter = plan.recipe.parameters.iter().find(|parameter| parameter.name == "gap");
    parameter.and_then(|parameter| plan.settings.get(parameter).parse().ok()).unwrap_or(LEAST_GAP)
}
