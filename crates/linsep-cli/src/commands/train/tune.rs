//! `train --tune GRID`: settings that do best on rows held out.

use super::Input;
use super::plan::Plan;
use crate::commands::plot;
use crate::context::Context;
use crate::exit::Failure;
use crate::files::Output;
use crate::output::{Facts, counted};
use clap::ArgMatches;
use linsep::data::split::{Split, folds};
use linsep::metrics::Metric;
use linsep::recipe::{Ability, Recipe};
use linsep::select::tune::{Axis, Choice, GridPoint, Search, Simpler, mean_and_error};
use linsep::{Error, Limits};
use linsep_teach::plot::{Interval, Intervals, Style};
use serde_json::{Value, json};
use std::time::Instant;

/// The folds where `--cv` does not say how many.
const FOLDS: usize = 5;

/// Points of a grid at most.
const MOST_POINTS: usize = 10_000;

/// Points that are shown at most.
const SHOWN: usize = 40;

/// What the flags ask for.
pub(super) struct Asked {
    axes: Vec<Axis>,
    metric: Metric,
    choice: Choice,
    nested: bool,
    picture: Option<Output>,
}

/// What the flags ask for, if anything; the settings are checked by building the learners.
pub(super) fn asked(matches: &ArgMatches, recipe: &Recipe) -> Result<Option<Asked>, Failure> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let Some(grid) = text("tune") else {
        for flag in ["metric", "tune-rule"] {
            if text(flag).is_some() {
                return Err(Error::usage(format!("--{flag} is for --tune")).into());
            }
        }
        if matches.get_flag("nested") {
            return Err(Error::usage("--nested is for --tune").into());
        }
        if matches.get_one::<Output>("tune-picture").is_some() {
            return Err(Error::usage("--tune-picture is for --tune").into());
        }
        return Ok(None);
    };
    let wrong = |words: String| Failure::from(Error::usage(format!("--tune: {words}")));
    let axes = grid.split(',').map(|part| axis(part, recipe)).collect::<Result<Vec<_>, _>>();
    let axes = axes.map_err(wrong)?;
    for (at, axis) in axes.iter().enumerate() {
        if axes[..at].iter().any(|other| other.name == axis.name) {
            return Err(wrong(format!("{} stands twice", axis.name)));
        }
        if matches.get_one::<String>(&axis.name).is_some() {
            return Err(wrong(format!("--{} is set and tuned", axis.name)));
        }
    }
    let points = axes.iter().try_fold(1usize, |n, axis| n.checked_mul(axis.values.len()));
    if points.is_none_or(|points| points > MOST_POINTS) {
        return Err(wrong(format!("the grid has more than {MOST_POINTS} points")));
    }
    let metric = text("metric").map_or(Ok(Metric::Accuracy), str::parse);
    let metric = metric.map_err(|error| Error::usage(format!("--metric: {error}")))?;
    let choice = match text("tune-rule") {
        Some("1se") => Choice::OneStandardError,
        _ => Choice::Best,
    };
    let picture = plot::beside("tune-picture", matches)?;
    Ok(Some(Asked { axes, metric, choice, nested: matches.get_flag("nested"), picture }))
}

/// `c=log:1e-3..1e3:13` or `penalty=l1|l2`.
fn axis(part: &str, recipe: &Recipe) -> Result<Axis, String> {
    let (name, values) = part.split_once('=').ok_or_else(|| {
        format!("\"{part}\" is not NAME=VALUES, such as c=log:1e-3..1e3:13 or penalty=l1|l2")
    })?;
    let name = name.trim().trim_start_matches("--");
    let known: Vec<&str> = recipe.parameters.iter().map(|parameter| parameter.name).collect();
    if !known.contains(&name) {
        let known = known.join(", ");
        return Err(format!("{} has no setting \"{name}\"; it has {known}", recipe.name));
    }
    let spaced = [("log:", true), ("lin:", false)].into_iter();
    let mut spaced = spaced.filter_map(|(word, log)| Some((values.strip_prefix(word)?, log)));
    let mut values = match spaced.next() {
        Some((range, log)) => range_of(name, range, log)?,
        None => values.split('|').map(|value| value.trim().to_owned()).collect(),
    };
    if let Some(at) = values.iter().position(String::is_empty) {
        return Err(format!("{name}: value {} is empty", at + 1));
    }
    let numbers: Option<Vec<f64>> = values.iter().map(|value| value.parse().ok()).collect();
    let is_path = name == "c" && recipe.has(Ability::WarmStart);
    let simpler = match name {
        "c" => Some(Simpler::Smaller),
        "l2" | "alpha" | "shrinkage" | "smoothing" => Some(Simpler::Larger),
        _ => None,
    };
    if let (true, Some(mut numbers)) = (simpler.is_some(), numbers.clone()) {
        numbers.sort_by(f64::total_cmp);
        values = numbers.iter().map(f64::to_string).collect();
    }
    let distinct = (1..values.len()).all(|at| !values[..at].contains(&values[at]));
    if !distinct {
        return Err(format!("{name}: a value stands twice"));
    }
    let numeric = numbers.is_some_and(|numbers| numbers.iter().all(|x| x.is_finite()));
    if is_path && !numeric {
        return Err(format!("{name}: its values have to be numbers"));
    }
    Ok(Axis::new(name, values).with_is_path(is_path).with_simpler(simpler.filter(|_| numeric)))
}

/// `1e-3..1e3:13`, evenly spaced in the numbers or in their logarithms.
fn range_of(name: &str, range: &str, log: bool) -> Result<Vec<String>, String> {
    let wrong = || format!("{name}: \"{range}\" is not LOW..HIGH:N, such as 1e-3..1e3:13");
    let (ends, count) = range.rsplit_once(':').ok_or_else(wrong)?;
    let (low, high) = ends.split_once("..").ok_or_else(wrong)?;
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite());
    let (low, high) = number(low).zip(number(high)).ok_or_else(wrong)?;
    let count: usize = count.trim().parse().map_err(|_| wrong())?;
    if count == 0 || count > MOST_POINTS {
        return Err(format!("{name}: {count} values; a number from 1 to {MOST_POINTS} is needed"));
    }
    if low > high || (low == high) != (count == 1) {
        return Err(format!("{name}: {count} values from {low} to {high} are not possible"));
    }
    if log && low <= 0.0 {
        return Err(format!("{name}: {low} has no logarithm; use lin:"));
    }
    let value = |k: usize| {
        let share = k as f64 / (count - 1).max(1) as f64;
        match (k, log) {
            (0, _) => low,
            (k, _) if k + 1 == count => high,
            // Powers of ten are the numbers that they look like.
            (_, true) => {
                let power = low.log10() + share * (high.log10() - low.log10());
                match (power - power.round()).abs() < 1e-9 {
                    true => format!("1e{}", power.round()).parse().unwrap_or(10f64.powf(power)),
                    false => 10f64.powf(power),
                }
            }
            (_, false) => low + share * (high - low),
        }
    };
    Ok((0..count).map(|k| value(k).to_string()).collect())
}

/// The grid and what was chosen.
pub(super) struct Tuned {
    asked: Asked,
    points: Vec<GridPoint>,
    chosen: usize,
    best: usize,
    folds: usize,
    nested: Option<Vec<(f64, Vec<usize>)>>,
    pub(super) seconds: f64,
}

impl Tuned {
    /// Scores the grid, and sets the plan to what is chosen.
    pub(super) fn choose(
        plan: &mut Plan,
        input: &Input,
        context: &Context,
    ) -> Result<Option<Tuned>, Failure> {
        let Some(asked) = plan.tune.take().filter(|_| !plan.dry_run) else { return Ok(None) };
        let start = Instant::now();
        let task = &input.task;
        let count = plan.folds.unwrap_or(FOLDS);
        let seed = plan.settings.seed;
        let splits = input.within(folds(&task.data, count, seed)?);
        let (recipe, settings) = (plan.recipe, plan.settings.clone());
        let learner = |values: &[(&str, &str)]| {
            let mut settings = settings.clone();
            values.iter().for_each(|(name, value)| settings.set(name, value));
            recipe.build(&settings)
        };
        let limits = Limits::default().with_epochs(plan.limits.epochs.or(Limits::default().epochs));
        let stop = || context.stopped();
        let search = Search::new(&asked.axes, &learner, asked.metric, &limits, &stop);
        let wrong = |error: Error| match error {
            Error::Usage { .. } => Failure::from(Error::usage(format!("--tune: {error}"))),
            error => error.into(),
        };
        let points = search.points(task, &splits).map_err(wrong)?;
        let (chosen, best) = search.choose(&points, asked.choice).map_err(wrong)?;
        let nested = match asked.nested {
            false => None,
            true => {
                let mut inner_splits = Vec::new();
                for (fold, split) in splits.iter().enumerate() {
                    let all = folds(&task.data, count, seed.wrapping_add(1 + fold as u64))?;
                    inner_splits
                        .push(all.into_iter().map(|part| among(part, &split.train)).collect());
                }
                let inner = |_: &Split, fold: usize| -> Vec<Split> {
                    let found: &Vec<Split> = &inner_splits[fold];
                    found.clone()
                };
                Some(search.nested(task, &splits, &inner, asked.choice).map_err(wrong)?)
            }
        };
        for (name, value) in search.settings(&points[chosen].places) {
            plan.settings.set(name, value);
        }
        plan.learner = plan.recipe.build(&plan.settings)?;
        let seconds = start.elapsed().as_secs_f64();
        Ok(Some(Tuned { asked, points, chosen, best, folds: count, nested, seconds }))
    }

    /// Writes the picture, if one was asked for.
    pub(super) fn draw(&self) -> Result<(), Failure> {
        let Some(output) = &self.asked.picture else { return Ok(()) };
        let svg = self.picture().draw(&Style::new("scores of settings on rows held out"))?;
        Ok(output.write(|out| out.write_all(svg.as_bytes()))?)
    }

    fn words(&self, places: &[usize]) -> String {
        let pairs = self.asked.axes.iter().zip(places);
        let pairs = pairs.map(|(axis, place)| format!("{} {}", axis.name, axis.values[*place]));
        pairs.collect::<Vec<_>>().join(", ")
    }

    /// The scores of the points with their standard errors.
    fn picture(&self) -> Intervals {
        let one = |(at, point): (usize, &GridPoint)| {
            let (mean, error) = (point.mean, point.error);
            let ends = [mean - error, mean + error];
            Interval::new(self.words(&point.places), mean, ends).marked(at == self.chosen)
        };
        let list = self.points.iter().enumerate().map(one).collect();
        let metric = self.asked.metric;
        let mut picture = Intervals::of(list, format!("{metric}, mean of {} folds", self.folds));
        picture.mark = "chosen".to_owned();
        picture.notes = vec![format!(
            "One standard error to each side; {} is better.",
            if metric.is_loss() { "less" } else { "more" }
        )];
        picture
    }

    pub(super) fn add_to(&self, facts: &mut Facts) {
        let metric = self.asked.metric;
        let chosen = &self.points[self.chosen];
        let how = match self.asked.choice {
            Choice::OneStandardError => "the simplest within one standard error of the best",
            _ => "the best",
        };
        let mut words = format!(
            "{}: {how} of {} by {metric} {:.6} ± {:.6} in {} folds",
            self.words(&chosen.places),
            counted(self.points.len() as u64, "point"),
            chosen.mean,
            chosen.error,
            self.folds
        );
        // Of many points those around the best are of interest.
        let mut shown: Vec<usize> = (0..self.points.len()).collect();
        if shown.len() > SHOWN {
            let better = |at: &usize| {
                let mean = self.points[*at].mean;
                if metric.is_loss() { mean } else { -mean }
            };
            shown.sort_by(|a, b| better(a).total_cmp(&better(b)).then(a.cmp(b)));
            shown.truncate(SHOWN);
            shown.sort_unstable();
        }
        for at in shown {
            let point = &self.points[at];
            let mark = match (at == self.chosen, at == self.best) {
                (true, _) => " *",
                (false, true) => " (best)",
                _ => "",
            };
            let late = match point.unfinished {
                0 => String::new(),
                folds => format!(" (not converged in {})", counted(folds as u64, "fold")),
            };
            let (mean, error, values) = (point.mean, point.error, self.words(&point.places));
            words.push_str(&format!("\n{mean:10.6} ± {error:.6}  {values}{late}{mark}"));
        }
        if let more @ 1.. = self.points.len().saturating_sub(SHOWN) {
            words.push_str(&format!(
                "\n{} less good; --json has all",
                counted(more as u64, "point")
            ));
        }
        facts.add("tuned", words);
        if let Some(nested) = &self.nested {
            let scores: Vec<f64> = nested.iter().map(|(score, _)| *score).collect();
            let (mean, error) = mean_and_error(&scores);
            facts.add(
                "nested",
                format!(
                    "{metric} {mean:.6} ± {error:.6}: each of {} folds by a model chosen and learned without it",
                    self.folds
                ),
            );
        }
    }

    pub(super) fn json(&self) -> Value {
        let settings = |places: &[usize]| -> Value {
            let pairs = self.asked.axes.iter().zip(places);
            pairs.map(|(axis, place)| (axis.name.clone(), json!(axis.values[*place]))).collect()
        };
        let point = |point: &GridPoint| {
            json!({
                "settings": settings(&point.places),
                "mean": point.mean,
                "standard_error": point.error,
                "folds": point.scores,
                "unfinished": point.unfinished,
            })
        };
        let nested = self.nested.as_ref().map(|nested| {
            let scores: Vec<f64> = nested.iter().map(|(score, _)| *score).collect();
            let (mean, error) = mean_and_error(&scores);
            let chosen: Vec<Value> = nested.iter().map(|(_, places)| settings(places)).collect();
            json!({ "mean": mean, "standard_error": error, "folds": scores, "chosen": chosen })
        });
        json!({
            "metric": self.asked.metric.to_string(),
            "rule": if self.asked.choice == Choice::Best { "best" } else { "1se" },
            "folds": self.folds,
            "chosen": settings(&self.points[self.chosen].places),
            "best": settings(&self.points[self.best].places),
            "points": self.points.iter().map(point).collect::<Vec<_>>(),
            "nested": nested,
        })
    }
}

/// The part of a split that is among some rows.
fn among(mut split: Split, rows: &[u32]) -> Split {
    split.train.retain(|row| rows.binary_search(row).is_ok());
    split.test.retain(|row| rows.binary_search(row).is_ok());
    split
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_read_and_errors_say_what_is_wrong() {
        let has = |recipe: &&Recipe| {
            recipe.has(Ability::WarmStart) && recipe.parameters.iter().any(|p| p.name == "l1-ratio")
        };
        let recipe = linsep::recipe::ALL.iter().find(has).unwrap();
        let found = axis("c=log:1e-3..1e3:7", recipe).unwrap();
        assert_eq!(found.values, ["0.001", "0.01", "0.1", "1", "10", "100", "1000"]);
        assert!(found.is_path && found.simpler == Some(Simpler::Smaller));
        assert_eq!(axis("c=10|1|0.1", recipe).unwrap().values, ["0.1", "1", "10"]);
        assert_eq!(axis("l1-ratio=lin:0..1:3", recipe).unwrap().values, ["0", "0.5", "1"]);
        let found = axis("penalty=l1|l2", recipe).unwrap();
        assert!(!found.is_path && found.simpler.is_none() && found.values.len() == 2);
        for (text, words) in [
            ("c", "is not NAME=VALUES"),
            ("depth=1|2", " has no setting \"depth\"; it has c, "),
            ("c=", "value 1 is empty"),
            ("c=1||2", "value 2 is empty"),
            ("c=a|b", "have to be numbers"),
            ("c=1|1", "stands twice"),
            ("c=log:0..1:3", "no logarithm"),
            ("c=log:1..0.1:3", "not possible"),
            ("c=log:1..10:0", "a number from 1"),
            ("c=log:1-10:3", "is not LOW..HIGH:N"),
        ] {
            let error = axis(text, recipe).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
