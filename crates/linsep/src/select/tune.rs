//! Settings of a learner that do best on rows held out: a grid, one score for each fold and point.
//!
//! Along C runs go on from one value to the next, as in [`path`](super::path): points that differ in nothing else are
//! one path for each fold. Each fold is scored apart by a metric; a point has their mean m and the standard error
//! s = sd/√K. The best mean is chosen, the earlier point of the grid where several are as good, or by the
//! one-standard-error rule the simplest point within s of the best: simplest in one setting that says how strong the
//! penalty is, everything else as in the best.
//!
//! The score of the chosen point was picked as the best of many, so it flatters. The nested estimate does not: each
//! outer fold is scored by a model whose settings were chosen, and which was learned, on the other rows alone.
//!
//! References: Hastie, Tibshirani, Friedman, The Elements of Statistical Learning, 7.10; Varma and Simon, Bias in error
//! estimation when using cross-validation for model selection, 2006.

use super::{Until, fit_until, go_on, training_part};
use crate::metrics::Metric;
use crate::run::{Learner, Limits, Stop, Task, Training, drive};
use linsep_data::error::{Error, Result};
use linsep_data::parallel::parallel_map;
use linsep_data::split::Split;

/// A setting and the values that are tried.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Axis {
    /// Its name.
    pub name: String,
    /// Its values, as they are written in settings.
    pub values: Vec<String>,
    /// Whether it is C, along which a run can go on: then the values are numbers that rise.
    pub is_path: bool,
    /// Which end of the values makes the simpler model, if one does.
    pub simpler: Option<Simpler>,
}

/// The end of a list of values with the stronger penalty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Simpler {
    /// The smaller number.
    Smaller,
    /// The larger number.
    Larger,
}

impl Axis {
    /// Values of a setting in no order.
    pub fn new(name: impl Into<String>, values: Vec<String>) -> Axis {
        Axis { name: name.into(), values, is_path: false, simpler: None }
    }
}

linsep_proof::setters! {
    Axis {
        with_is_path => is_path: bool,
        with_simpler => simpler: Option<Simpler>,
    }
}

/// A point of the grid and its scores.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GridPoint {
    /// The value of each axis, as a place among its values.
    pub places: Vec<usize>,
    /// The score of each fold.
    pub scores: Vec<f64>,
    /// Their mean.
    pub mean: f64,
    /// Its standard error.
    pub error: f64,
    /// Folds on which the run did not end by its own rule.
    pub unfinished: usize,
}

/// How the point is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Choice {
    /// The best mean.
    Best,
    /// The simplest within one standard error of it.
    OneStandardError,
}

/// A grid to search, with what is the same for all of its points.
#[non_exhaustive]
pub struct Search<'a> {
    /// The settings that vary.
    pub axes: &'a [Axis],
    /// The learner of some values of theirs.
    #[allow(clippy::type_complexity)]
    pub learner: &'a (dyn Fn(&[(&str, &str)]) -> Result<Box<dyn Learner>> + Sync),
    /// What is scored.
    pub metric: Metric,
    /// How long runs last.
    pub limits: &'a Limits,
    /// Asked between slices of work; true ends everything.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

impl<'a> Search<'a> {
    /// A grid, the learner of some values, what is scored, how long runs last, and who may end them.
    #[allow(clippy::type_complexity)]
    pub fn new(
        axes: &'a [Axis],
        learner: &'a (dyn Fn(&[(&str, &str)]) -> Result<Box<dyn Learner>> + Sync),
        metric: Metric,
        limits: &'a Limits,
        stop: &'a (dyn Fn() -> bool + Sync),
    ) -> Search<'a> {
        Search { axes, learner, metric, limits, stop }
    }
}

impl Search<'_> {
    /// The number of points.
    pub fn count(&self) -> usize {
        self.axes.iter().map(|axis| axis.values.len()).product()
    }

    /// Scores every point on every fold.
    pub fn points(&self, task: &Task, splits: &[Split]) -> Result<Vec<GridPoint>> {
        if self.count() == 0 {
            return Err(Error::usage("the grid is empty"));
        }
        let path = self.axes.iter().position(|axis| axis.is_path);
        let length = path.map_or(1, |axis| self.axes[axis].values.len());
        // Lines of the grid along the path; without one each point is a line.
        let all: Vec<Vec<usize>> = (0..self.count()).map(|number| self.places(number)).collect();
        let lines: Vec<&Vec<usize>> =
            all.iter().filter(|places| path.is_none_or(|axis| places[axis] == 0)).collect();
        let run = |item: usize| {
            let (line, fold) = (lines[item / splits.len()], item % splits.len());
            self.line(task, (&splits[fold], fold), line, path)
        };
        let done = parallel_map(lines.len() * splits.len(), task.threads, run);
        let done = done.into_iter().collect::<Result<Vec<Vec<(f64, bool)>>>>()?;
        let point = |places: Vec<usize>| {
            let along = path.map_or(0, |axis| places[axis]);
            let is_of = |line: &[usize]| {
                let same = |k: usize| Some(k) == path || line[k] == places[k];
                (0..places.len()).all(same)
            };
            let line = lines.iter().position(|line| is_of(line)).unwrap_or(0);
            let of_fold = |fold: usize| done[line * splits.len() + fold][along.min(length - 1)];
            let folds: Vec<(f64, bool)> = (0..splits.len()).map(of_fold).collect();
            let scores: Vec<f64> = folds.iter().map(|(score, _)| *score).collect();
            let (mean, error) = mean_and_error(&scores);
            let unfinished = folds.iter().filter(|(_, ended)| !ended).count();
            GridPoint { places, scores, mean, error, unfinished }
        };
        Ok(all.iter().cloned().map(point).collect())
    }

    /// The point that is chosen, and the one with the best mean.
    pub fn choose(&self, points: &[GridPoint], choice: Choice) -> Result<(usize, usize)> {
        let better = |a: usize, b: usize| self.metric.is_better(points[a].mean, points[b].mean);
        let best =
            (1..points.len()).fold(0, |best, next| if better(next, best) { next } else { best });
        if choice == Choice::Best {
            return Ok((best, best));
        }
        let simple = self.axes.iter().enumerate();
        let mut simple = simple.filter_map(|(at, axis)| Some((at, axis.simpler?)));
        let Some((axis, end)) = simple.next() else {
            return Err(Error::usage(
                "the one-standard-error rule needs a setting that says how strong the penalty is, such as c or l2",
            ));
        };
        let top = &points[best];
        let near = |point: &GridPoint| {
            (point.mean - top.mean).abs() <= top.error || point.mean == top.mean
        };
        let alike = |point: &GridPoint| {
            (0..self.axes.len()).all(|k| k == axis || point.places[k] == top.places[k])
        };
        let number = |point: &GridPoint| {
            let value =
                self.axes[axis].values[point.places[axis]].parse::<f64>().unwrap_or(f64::NAN);
            if end == Simpler::Smaller { value } else { -value }
        };
        let within = (0..points.len()).filter(|at| alike(&points[*at]) && near(&points[*at]));
        let chosen = within.min_by(|a, b| number(&points[*a]).total_cmp(&number(&points[*b])));
        Ok((chosen.unwrap_or(best), best))
    }

    /// For each outer fold the score of what is chosen and learned on the other rows; `inner` has the splits of those.
    pub fn nested(
        &self,
        task: &Task,
        outer: &[Split],
        inner: &dyn Fn(&Split, usize) -> Vec<Split>,
        choice: Choice,
    ) -> Result<Vec<(f64, Vec<usize>)>> {
        let mut found = Vec::new();
        for (fold, split) in outer.iter().enumerate() {
            let points = self.points(task, &inner(split, fold))?;
            let (chosen, _) = self.choose(&points, choice)?;
            let places = points[chosen].places.clone();
            let learner = (self.learner)(&self.settings(&places))?;
            let fit =
                fit_until(learner.as_ref(), &training_part(task, split), self.limits, self.stop)?;
            let rows = fit.model.predictions(&task.data, &split.test);
            found.push((self.score(&rows, fold)?, places));
        }
        Ok(found)
    }

    /// The values of a point.
    pub fn settings<'s>(&'s self, places: &[usize]) -> Vec<(&'s str, &'s str)> {
        let of =
            |(axis, place): (&'s Axis, &usize)| (axis.name.as_str(), axis.values[*place].as_str());
        self.axes.iter().zip(places).map(of).collect()
    }

    /// The place on each axis of a point; the last axis changes first.
    fn places(&self, mut number: usize) -> Vec<usize> {
        let mut places = vec![0; self.axes.len()];
        for (place, axis) in places.iter_mut().zip(self.axes).rev() {
            *place = number % axis.values.len();
            number /= axis.values.len();
        }
        places
    }

    /// The scores of a fold along a line of the grid, and whether each run ended by its own rule.
    fn line(
        &self,
        task: &Task,
        (split, fold): (&Split, usize),
        line: &[usize],
        path: Option<usize>,
    ) -> Result<Vec<(f64, bool)>> {
        let part = training_part(task, split);
        let mut places = line.to_vec();
        let values = path.map_or(1, |axis| self.axes[axis].values.len());
        let mut before: Option<(Box<dyn Training>, f64)> = None;
        let mut found = Vec::new();
        for value in 0..values {
            if (self.stop)() {
                return Err(Error::Interrupted);
            }
            let mut c = 1.0;
            if let Some(axis) = path {
                places[axis] = value;
                c = self.axes[axis].values[value].parse().unwrap_or(1.0);
            }
            let mut run = (self.learner)(&self.settings(&places))?.start(&part)?;
            if let Some((before, last)) = &mut before {
                go_on(run.as_mut(), before.as_mut(), c / *last);
            }
            let end = drive(run.as_mut(), self.limits, &mut Until(self.stop));
            if end == Stop::Interrupted {
                return Err(Error::Interrupted);
            }
            let rows = run.model().predictions(&task.data, &split.test);
            found.push((self.score(&rows, fold)?, end == Stop::Finished));
            before = path.map(|_| (run, c));
        }
        Ok(found)
    }

    fn score(&self, rows: &crate::metrics::Predictions, fold: usize) -> Result<f64> {
        rows.value(self.metric).map_err(|reason| {
            let metric = self.metric;
            Error::usage(format!("fold {}: there is no {metric}: {reason}", fold + 1))
        })
    }
}

/// The mean of some scores and its standard error, 0 for a single one.
pub fn mean_and_error(scores: &[f64]) -> (f64, f64) {
    let count = scores.len() as f64;
    let mean = scores.iter().sum::<f64>() / count;
    let squares: f64 = scores.iter().map(|score| (score - mean).powi(2)).sum();
    let error = if scores.len() < 2 { 0.0 } else { (squares / (count - 1.0) / count).sqrt() };
    (mean, error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::least_squares::LeastSquares;
    use crate::learn::logistic::Logistic;
    use linsep_data::Dataset;
    use linsep_data::split::folds;

    fn task() -> Task {
        let row = |k: u32| [f64::from(k % 17), f64::from(k * k % 23), f64::from(k % 5)];
        let rows: Vec<[f64; 3]> = (0..120).map(row).collect();
        let label = |k: u32| if k % 17 + (k * 7919) % 9 > 12 { "yes" } else { "no" };
        let labels: Vec<&str> = (0..120).map(label).collect();
        Task::new(Dataset::from_rows(&rows, &labels).unwrap())
    }

    fn axis(name: &str, values: &[&str]) -> Axis {
        Axis::new(name, values.iter().map(|value| (*value).to_owned()).collect())
    }

    #[test]
    fn every_point_is_scored_the_same_for_any_number_of_threads_and_order_of_axes() {
        let task = task();
        let splits = folds(&task.data, 4, 0).unwrap();
        let learner = |settings: &[(&str, &str)]| {
            let mut logistic = Logistic::default();
            for (name, value) in settings {
                match *name {
                    "c" => logistic.settings.c = value.parse().unwrap(),
                    _ => logistic.settings.gap = value.parse().unwrap(),
                }
            }
            Ok(Box::new(logistic) as Box<dyn Learner>)
        };
        let c = axis("c", &["0.001", "0.1", "10"])
            .with_is_path(true)
            .with_simpler(Some(Simpler::Smaller));
        let gap = axis("gap", &["1e-3", "1e-6"]);
        let search = |axes: &[Axis], threads: usize| {
            let limits = Limits::default();
            let search = Search {
                axes,
                learner: &learner,
                metric: Metric::LogLoss,
                limits: &limits,
                stop: &|| false,
            };
            let points = search.points(&task.clone().with_threads(threads), &splits).unwrap();
            let best = search.choose(&points, Choice::Best).unwrap();
            let simple = search.choose(&points, Choice::OneStandardError).unwrap();
            (points, best, simple)
        };
        let axes = [c.clone(), gap.clone()];
        let (points, (chosen, best), (simple, same)) = search(&axes, 1);
        assert_eq!((points.len(), chosen, best), (6, best, same));
        assert_eq!(points, search(&axes, 3).0);
        assert!(points.iter().all(|point| point.scores.len() == 4 && point.mean > 0.0));
        assert!(points[chosen].mean < points[0].mean, "{points:?}");
        assert!(points[simple].places[0] <= points[chosen].places[0]);
        assert!(points[simple].mean <= points[best].mean + points[best].error);
        // The other way round the same points come in another order.
        let (turned, ..) = search(&[gap, c], 2);
        for point in &points {
            let other = turned.iter().find(|p| p.places == [point.places[1], point.places[0]]);
            assert_eq!(other.unwrap().scores, point.scores);
        }
    }

    #[test]
    fn nested_folds_are_scored_by_what_was_chosen_without_them() {
        let task = task();
        let outer = folds(&task.data, 3, 0).unwrap();
        let learner = |settings: &[(&str, &str)]| {
            let l2 = settings[0].1.parse().unwrap();
            Ok(Box::new(LeastSquares::default().with_l2(l2)) as Box<dyn Learner>)
        };
        let axes = [axis("l2", &["0", "10", "1e9"]).with_simpler(Some(Simpler::Larger))];
        let limits = Limits::default();
        let search = Search {
            axes: &axes,
            learner: &learner,
            metric: Metric::Accuracy,
            limits: &limits,
            stop: &|| false,
        };
        let inner = |split: &Split, fold: usize| {
            let mut splits = folds(&task.data, 3, 1 + fold as u64).unwrap();
            for part in &mut splits {
                part.train.retain(|row| split.train.contains(row));
                part.test.retain(|row| split.train.contains(row));
            }
            splits
        };
        let found = search.nested(&task, &outer, &inner, Choice::Best).unwrap();
        assert!(found.len() == 3 && found.iter().all(|(score, _)| (0.0..=1.0).contains(score)));
        let empty = [axis("l2", &[])];
        assert!(Search { axes: &empty, ..search }.points(&task, &outer).is_err());
        assert_eq!(mean_and_error(&[1.0, 3.0]), (2.0, 1.0));
        assert_eq!(mean_and_error(&[1.0]), (1.0, 0.0));
    }
}
