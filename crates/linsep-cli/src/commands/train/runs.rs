//! `train --runs N`: the learner N times over seeds and starts, and how much the models differ.
//!
//! The first run is the one that `train` makes without the flag, and its model is the one that is
//! written. The others have the next seeds and, unless `--init` is given, random starts.

use super::plan::{Plan, TestOn};
use crate::commands::json_number;
use crate::context::Context;
use crate::exit::Failure;
use crate::input;
use crate::output::{Facts, counted, grouped};
use clap::ArgMatches;
use linsep::data::split::Split;
use linsep::select::runs::{Spread, repeat};
use linsep::select::validate::cross_validate;
use linsep::{Error, Fit, Learner, LinearModel, Stop, Task};
use serde_json::json;

/// Rows that are listed one by one with `--json`, and in the text.
const LISTED: usize = 1000;
const SHOWN: usize = 8;

/// What came of all runs.
pub(super) struct Runs {
    each: Vec<OneRun>,
    spread: Spread,
    first_disputed: Vec<serde_json::Value>,
    lines: Vec<String>,
    random_starts: bool,
}

struct OneRun {
    seed: u64,
    init: Option<String>,
    stop: Stop,
    epochs: u64,
    updates: u64,
    training: u64,
    test: Option<u64>,
    cv: Option<u64>,
}

/// What the runs are compared on.
pub(super) struct Grounds<'a> {
    pub(super) matches: &'a ArgMatches,
    pub(super) context: &'a Context,
    pub(super) task: &'a Task,
    pub(super) test_rows: Option<&'a [u32]>,
    pub(super) splits: &'a [Split],
}

impl Runs {
    /// Makes the other runs beside the first; `None` if that is what a limit or a signal ended.
    pub(super) fn beside(
        first: &Fit,
        plan: &Plan,
        grounds: &Grounds<'_>,
    ) -> Result<Option<Runs>, Failure> {
        let Some(count) = plan.runs else { return Ok(None) };
        match Runs::make(count, first, plan, grounds) {
            Ok(runs) => Ok(Some(runs)),
            // The model is there all the same and is written.
            Err(Failure::Error(Error::Interrupted)) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    fn make(
        count: usize,
        first: &Fit,
        plan: &Plan,
        grounds: &Grounds<'_>,
    ) -> Result<Runs, Failure> {
        let has_init = plan.recipe.parameters.iter().any(|p| p.name == "init");
        let random_starts = has_init && !plan.settings.has("init");
        let mut settings = vec![plan.settings.clone()];
        for number in 1..count as u64 {
            let mut other = plan.settings.clone();
            other.seed = plan.settings.seed.wrapping_add(number);
            if random_starts {
                other.set("init", "random");
            }
            settings.push(other);
        }
        let learners: Result<Vec<Box<dyn Learner>>, Error> =
            settings.iter().map(|settings| plan.recipe.build(settings)).collect();
        let learners = learners?;
        let stop = || grounds.context.stopped();
        let mut fits = vec![first.clone()];
        fits.extend(repeat(&learners[1..], grounds.task, &plan.limits, &stop)?);
        if fits.iter().any(|fit| fit.stop == Stop::Diverged) {
            return Err(super::diverged(plan.recipe.kind));
        }
        let mut each = Vec::new();
        for ((fit, settings), learner) in fits.iter().zip(&settings).zip(&learners) {
            let validation = match grounds.splits {
                [] => None,
                splits => Some(cross_validate(
                    learner.as_ref(),
                    grounds.task,
                    splits,
                    &plan.limits,
                    &stop,
                )?),
            };
            each.push(OneRun {
                seed: settings.seed,
                init: has_init.then(|| plan.recipe.effective(settings)["init"].clone()),
                stop: fit.stop,
                epochs: fit.progress.epochs,
                updates: fit.progress.updates,
                training: grounds.training_errors(&fit.model),
                test: grounds.test_errors(&fit.model, plan)?,
                cv: validation.map(|cv| cv.errors),
            });
        }
        let models: Vec<LinearModel> = fits.into_iter().map(|fit| fit.model).collect();
        let spread = Spread::of(&models, grounds.task);
        let (first_disputed, lines) = grounds.disputed(&spread, &models[0].classes);
        Ok(Runs { each, spread, first_disputed, lines, random_starts })
    }

    /// The lines of the report.
    pub(super) fn add_to(&self, facts: &mut Facts) {
        let (count, seed) = (self.each.len() as u64, self.each[0].seed);
        let last = self.each[self.each.len() - 1].seed;
        let starts = if self.random_starts { ", random starts but for the first" } else { "" };
        facts.add(
            "runs",
            format!(
                "{} with the seeds {seed} to {last}{starts}; the model is that of the first",
                counted(count, "run")
            ),
        );
        let angles = match self.spread.angles {
            Some([least, mean, most]) => {
                format!(", normals {least:.2} to {most:.2} degrees apart (mean {mean:.2})")
            }
            None => String::new(),
        };
        facts.add("planes", format!("{} of {count} distinct{angles}", self.spread.distinct));
        let updates = self.each.iter().map(|run| run.updates);
        facts.add("effort", format!("updates {}", range(updates)));
        let mut errors = format!("training {}", range(self.each.iter().map(|run| run.training)));
        let tests: Vec<u64> = self.each.iter().filter_map(|run| run.test).collect();
        if !tests.is_empty() {
            errors.push_str(&format!("; test {}", range(tests)));
        }
        let folds: Vec<u64> = self.each.iter().filter_map(|run| run.cv).collect();
        if !folds.is_empty() {
            errors.push_str(&format!("; cv {}", range(folds)));
        }
        facts.add("errors", errors);
        let margins = &self.spread.margins;
        let least = margins.iter().copied().fold(f64::INFINITY, f64::min);
        let most = margins.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if !margins.is_empty() {
            facts.add("margins", format!("{least:.4} to {most:.4}"));
        }
        let disputed = self.spread.disputed.len();
        let more = if disputed > self.lines.len() { ", …" } else { "" };
        let place = match disputed {
            0 => String::new(),
            _ => format!(": {}{more}", self.lines.join(", ")),
        };
        facts.add(
            "disputed",
            format!(
                "{} of {}{place}",
                grouped(disputed as u64),
                counted(self.spread.rows as u64, "row")
            ),
        );
    }

    /// The part of the JSON object.
    pub(super) fn json(&self) -> serde_json::Value {
        let each: Vec<_> = self
            .each
            .iter()
            .enumerate()
            .map(|(k, run)| {
                let margin = self.spread.margins.get(k).copied().unwrap_or(f64::NAN);
                json!({
                    "seed": run.seed,
                    "init": run.init,
                    "stop": run.stop.word(),
                    "epochs": run.epochs,
                    "updates": run.updates,
                    "training_errors": run.training,
                    "test_errors": run.test,
                    "cv_errors": run.cv,
                    "margin": json_number(margin),
                })
            })
            .collect();
        json!({
            "runs": each,
            "model": 0,
            "distinct": self.spread.distinct,
            "angles": self.spread.angles.map(|[least, mean, most]| json!({
                "least": least, "mean": mean, "most": most,
            })),
            "rows": self.spread.rows,
            "disputed": self.spread.disputed.len(),
            "disputed_rows": self.first_disputed,
        })
    }
}

impl Grounds<'_> {
    fn training_errors(&self, model: &LinearModel) -> u64 {
        let (task, threads) = (self.task, self.context.threads);
        model.evaluate(&task.data, task.rows.as_deref(), threads).errors
    }

    fn test_errors(&self, model: &LinearModel, plan: &Plan) -> Result<Option<u64>, Failure> {
        Ok(match (&plan.test, self.test_rows) {
            (Some(TestOn::File(path)), _) => {
                let options = input::options(self.matches, self.context)?;
                let paths = std::slice::from_ref(path);
                Some(model.evaluate_source(input::source_of(paths, &options))?.errors)
            }
            (_, Some(rows)) => {
                Some(model.evaluate(&self.task.data, Some(rows), self.context.threads).errors)
            }
            _ => None,
        })
    }

    /// The disputed rows as data, and the first of them in words.
    fn disputed(
        &self,
        spread: &Spread,
        classes: &[String],
    ) -> (Vec<serde_json::Value>, Vec<String>) {
        let origin = self.task.data.origin();
        let several = origin.files().count() > 1;
        let as_json = |disputed: &linsep::select::runs::Disputed| {
            let row = disputed.row;
            let votes: serde_json::Map<String, serde_json::Value> = classes
                .iter()
                .zip(&disputed.votes)
                .filter(|(_, votes)| **votes > 0)
                .map(|(class, votes)| (class.clone(), (*votes).into()))
                .collect();
            json!({
                "row": row,
                "line": origin.line(u64::from(row)),
                "file": origin.file(u64::from(row)),
                "label": self.task.data.label_text(row as usize),
                "predictions": votes,
            })
        };
        let in_words = |disputed: &linsep::select::runs::Disputed| {
            let row = u64::from(disputed.row);
            match (origin.line(row), origin.file(row)) {
                (Some(line), Some(file)) if several => format!("{file}:{line}"),
                (Some(line), _) => format!("line {line}"),
                _ => format!("row {row}"),
            }
        };
        let listed = spread.disputed.iter().take(LISTED).map(as_json).collect();
        (listed, spread.disputed.iter().take(SHOWN).map(in_words).collect())
    }
}

/// Smallest, median and largest.
fn range(numbers: impl IntoIterator<Item = u64>) -> String {
    let mut numbers: Vec<u64> = numbers.into_iter().collect();
    numbers.sort_unstable();
    let (Some(&least), Some(&most)) = (numbers.first(), numbers.last()) else {
        return "none".to_owned();
    };
    let half = numbers.len() / 2;
    // The mean of the two in the middle where there are two.
    let median = match numbers.len() % 2 {
        1 => grouped(numbers[half]),
        _ if (numbers[half - 1] + numbers[half]) % 2 == 1 => {
            format!("{}.5", grouped((numbers[half - 1] + numbers[half]) / 2))
        }
        _ => grouped((numbers[half - 1] + numbers[half]) / 2),
    };
    format!("{} to {} (median {median})", grouped(least), grouped(most))
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn a_range_has_its_median() {
        assert_eq!(range([3, 1, 2]), "1 to 3 (median 2)");
        assert_eq!(range([4, 1, 2, 9]), "1 to 9 (median 3)");
        assert_eq!(range([4, 1]), "1 to 4 (median 2.5)");
        assert_eq!(range([]), "none");
    }
}
