//! From rows to a summary: the verdict, the fit, and what follows from its information.

use super::climb::{Free, NEAR, Peak};
use super::design::Design;
use super::existing::Known;
use super::likelihood::{Likelihood, inverse_of};
use super::profile::{ProfileEnd, Walk};
use super::residuals::{Residual, saturated};
use super::separated::Infinite;
use super::summary::{InferenceSummary, Inferred, LikelihoodRatio, Standing};
use super::{Inference, InterceptCorrection, StandardErrors, WeightsAs, tails};
use crate::algebra::Factor;
use crate::run::Task;
use linsep_data::error::{Code, Error, Place, Problem, Result};
use linsep_data::parallel::parallel_map;

pub(super) fn summary(
    inference: &Inference,
    task: &Task,
    stop: &dyn Fn() -> bool,
) -> Result<InferenceSummary> {
    task.data.require_two_classes()?;
    inference.check(task)?;
    let rows = task.active_rows()?;
    require_classes(task, &rows)?;
    let design = inference.plan(task, &rows)?.design(&rows)?;
    let known = Known::of(inference, task, &design, stop)?;
    let tries = design.total();
    let observations = match (inference.weights_as, &inference.groups) {
        (WeightsAs::Frequency, None) => tries,
        _ => design.len() as f64,
    };
    let null = null_peak(inference, &design, task.threads);
    let mut work = Work::new(inference, task, design, known)?;
    work.fit()?;
    work.finish(observations, null, stop)
}

/// Refuses rows among which a class does not occur.
fn require_classes(task: &Task, rows: &[u32]) -> Result<()> {
    let data = &task.data;
    let mut seen = vec![false; data.n_classes()];
    rows.iter().for_each(|&row| seen[data.class_of(row as usize) as usize] = true);
    match seen.iter().position(|seen| !seen) {
        None if !rows.is_empty() => Ok(()),
        missing => {
            let name = missing.map_or("", |class| data.classes()[class].as_str());
            let words = format!("no row of class \"{name}\" has a weight above 0");
            Err(Problem::new(Code::ONE_CLASS, words, Place::default())
                .value(name.as_bytes())
                .help("odds need rows of both classes: check the weights or counts")
                .into())
        }
    }
}

/// l of the model without columns: that of the shares of the classes, or beside an offset of a fit.
fn null_peak(inference: &Inference, design: &Design, threads: usize) -> f64 {
    if design.offset.is_empty() {
        let mut totals = vec![0.0; design.classes];
        for (y, weight) in design.y.iter().zip(&design.weight) {
            match design.classes {
                // Of two classes y is the share of successes.
                2 => {
                    totals[0] += weight * (1.0 - y);
                    totals[1] += weight * y;
                }
                _ => totals[*y as usize] += weight,
            }
        }
        let all: f64 = totals.iter().sum();
        let part = |n: &f64| if *n > 0.0 { n * (n / all).ln() } else { 0.0 };
        return match inference.bias {
            true => totals.iter().map(part).sum(),
            false => -all * (design.classes as f64).ln(),
        };
    }
    let rows: Vec<usize> = (0..design.len()).collect();
    let columns: &[usize] = if inference.bias { &[0] } else { &[] };
    let narrow = design.part(&rows, columns);
    let likelihood = Likelihood { design: &narrow, firth: false, threads };
    let free: Vec<usize> = (0..likelihood.order()).collect();
    likelihood.climb(likelihood.start(&free), &mut Free::new(free), NEAR).look.plain
}

/// A fit on its way.
struct Work<'a> {
    inference: &'a Inference,
    task: &'a Task,
    known: Known,
    /// All rows and columns.
    whole: Design,
    /// What is fitted: without aliased columns, and without rows that are predicted without error.
    design: Design,
    /// The columns of `whole` that those of `design` are.
    columns: Vec<usize>,
    /// Columns of `design` that are no coefficients of their own, at its end.
    hidden: usize,
    /// Whether the prior is part of what is maximised.
    firth: bool,
    peak: Option<Peak>,
    information: Vec<f64>,
    /// l with the prior at Firth's estimates.
    penalised: Option<f64>,
}

impl<'a> Work<'a> {
    fn new(
        inference: &'a Inference,
        task: &'a Task,
        whole: Design,
        known: Known,
    ) -> Result<Work<'a>> {
        let is = |j: usize, finite: bool| match known.standing[j] {
            Standing::Finite => finite,
            Standing::Aliased(_) => false,
            _ => !finite,
        };
        let finite: Vec<usize> = (0..whole.width).filter(|&j| is(j, true)).collect();
        let (design, columns) = match &known.escape {
            None => (whole.clone().columns(&finite), finite),
            Some((escaped, _)) => {
                let rows: Vec<usize> =
                    (0..whole.len()).filter(|&i| !escaped[whole.row[i] as usize]).collect();
                let every: Vec<usize> = (0..whole.width).collect();
                let order =
                    [&finite[..], &(0..whole.width).filter(|&j| is(j, false)).collect::<Vec<_>>()]
                        .concat();
                let mut columns = whole.part(&rows, &every).independent(&order);
                columns.sort_unstable();
                if finite.iter().any(|j| columns.binary_search(j).is_err()) {
                    return Err(nearly_dependent());
                }
                (whole.part(&rows, &columns), columns)
            }
        };
        let firth = inference.firth;
        Ok(Work {
            inference,
            task,
            known,
            whole,
            design,
            columns,
            hidden: 0,
            firth,
            peak: None,
            information: Vec::new(),
            penalised: None,
        })
    }

    fn likelihood(&self) -> Likelihood<'_> {
        Likelihood { design: &self.design, firth: self.firth, threads: self.task.threads }
    }

    fn fit(&mut self) -> Result<()> {
        let likelihood = self.likelihood();
        let (start, mut free) = self.head_start(&likelihood);
        let mut peak = likelihood.climb(start, &mut free, NEAR);
        if !peak.converged {
            return Err(no_end(self.firth));
        }
        let mut penalised = None;
        if self.firth {
            penalised = Some(peak.look.value);
            match self.inference.correction {
                InterceptCorrection::None => {}
                InterceptCorrection::Flic => {
                    let steps = peak.steps;
                    peak = likelihood.with_free_intercepts(peak.theta);
                    peak.steps += steps;
                }
                InterceptCorrection::Flac => {
                    let look = likelihood.look(&peak.theta, true);
                    let information = look.information.unwrap_or_default();
                    let factor = Factor::new(&information, likelihood.order());
                    self.design = likelihood.augmented(&peak.theta, &factor);
                    (self.hidden, self.firth) = (1, false);
                    let mut start = peak.theta;
                    start.push(0.0);
                    let likelihood = self.likelihood();
                    let free = (0..likelihood.order()).collect();
                    peak = likelihood.climb(start, &mut Free::new(free), NEAR);
                }
            }
        }
        let look = match peak.look.information.is_some() && peak.decrement <= NEAR {
            true => None,
            false => Some(self.likelihood().look(&peak.theta, true)),
        };
        if let Some(look) = look {
            peak.look = look;
        }
        self.information = peak.look.information.clone().unwrap_or_default();
        self.peak = Some(peak);
        self.penalised = penalised;
        Ok(())
    }

    /// A start, and who may move: where there are many rows the peak of every eighth one, close to that of all for an
    /// eighth of the price, and from there steps with eight times its information until the peak is close, which take no
    /// matrix of all rows.
    fn head_start(&self, likelihood: &Likelihood<'_>) -> (Vec<f64>, Free) {
        const SHARE: usize = 8;
        const EACH: usize = 100;
        let all: Vec<usize> = (0..likelihood.order()).collect();
        let zeros = likelihood.start(&all);
        let rows: Vec<usize> = (0..self.design.len()).step_by(SHARE).collect();
        if self.firth || rows.len() < 2000 || rows.len() < EACH * zeros.len() {
            return (zeros, Free::new(all));
        }
        let every: Vec<usize> = (0..self.design.width).collect();
        let sample = self.design.part(&rows, &every);
        let of_sample = Likelihood { design: &sample, ..*likelihood };
        let peak = of_sample.climb(zeros.clone(), &mut Free::new(all.clone()), 1e-2);
        // A sample may be separated where the rows are not.
        if !(peak.converged && peak.theta.iter().all(|theta| theta.is_finite())) {
            return (zeros, Free::new(all));
        }
        let share = self.design.total() / sample.total();
        let Some(information) = &peak.look.information else {
            return (peak.theta, Free::new(all));
        };
        let grown: Vec<f64> = information.iter().map(|x| x * share).collect();
        (peak.theta, Free::of_sample(all, &grown, likelihood.order()))
    }

    fn finish(
        self,
        observations: f64,
        null: f64,
        stop: &dyn Fn() -> bool,
    ) -> Result<InferenceSummary> {
        let Some(peak) = &self.peak else { return Err(no_end(self.firth)) };
        let likelihood = self.likelihood();
        let order = likelihood.order();
        let factor = Factor::new(&self.information, order);
        if factor.is_singular() {
            return Err(nearly_dependent());
        }
        let inverse = inverse_of(&factor, order);
        let covariance = match self.inference.se {
            StandardErrors::Expected => inverse.clone(),
            StandardErrors::Robust => {
                let frequencies = self.inference.weights_as == WeightsAs::Frequency
                    && self.inference.groups.is_none();
                likelihood.sandwich(&peak.theta, &inverse, frequencies)
            }
        };
        let drop = tails::normal_bound(1.0 - self.inference.confidence).powi(2);
        let profiles = self.profiles(peak, &inverse, drop);
        let blocks = self.whole.classes - 1;
        let classes = self.task.data.classes();
        let places = self.inference.places(self.task)?;
        let named =
            |k: usize| places.iter().position(|&place| place == k).map_or("", |at| &classes[at]);
        let mut coefficients = Vec::new();
        let mut chosen = Vec::new();
        for k in 0..blocks {
            for j in 0..self.whole.width {
                let class = (blocks > 1).then(|| named(k).to_owned());
                let mut one = self.bare(class, j);
                let at = self.columns.binary_search(&j).ok().map(|at| k * self.design.width + at);
                match (&self.known.standing[j], at) {
                    (Standing::Finite, Some(at)) => {
                        one.estimate = peak.theta[at];
                        one.standard_error = Some(covariance[at * order + at].max(0.0).sqrt());
                        chosen.push(at);
                        if let Some((test, ends)) =
                            profiles.get(at).and_then(|found| found.as_ref())
                        {
                            (one.test, one.profile) = (Some(*test), Some(*ends));
                        }
                    }
                    (Standing::Aliased(_), _) => {}
                    _ if self.inference.profile => {
                        let infinite = Infinite {
                            inference: self.inference,
                            task: self.task,
                            design: &self.whole,
                            standing: &self.known.standing,
                            at: j,
                            highest: peak.look.plain,
                            drop,
                        };
                        let (test, ends) = infinite.judged(stop)?;
                        (one.test, one.profile) = (Some(test), Some(ends));
                    }
                    _ => {}
                }
                coefficients.push(one);
            }
        }
        let is_free = |standing: &Standing| !matches!(standing, Standing::Aliased(_));
        let rank = blocks * self.known.standing.iter().filter(|s| is_free(s)).count();
        let intercepts = blocks * usize::from(self.inference.bias);
        // Of data that were added to, or of a corrected intercept, the likelihood is that of the data.
        let plain = self.plain(peak);
        let (constant, saturated) = self.constants();
        let whole = match self.penalised {
            Some(high)
                if self.hidden == 0 && self.inference.correction == InterceptCorrection::None =>
            {
                LikelihoodRatio::of(high, self.penalised_null(), rank - intercepts)
            }
            _ => LikelihoodRatio::of(plain, null, rank - intercepts),
        };
        let mut notes = self.known.notes.clone();
        if observations <= rank as f64 {
            notes.push(format!(
                "{observations} observations for {rank} coefficients: standard errors, tests and intervals mean little"
            ));
        }
        let covariance = chosen
            .iter()
            .flat_map(|&j| chosen.iter().map(move |&k| (j, k)))
            .map(|(j, k)| covariance[j * order + k]);
        Ok(InferenceSummary {
            classes: classes.to_vec(),
            reference: named(blocks).to_owned(),
            firth: self.inference.firth,
            is_corrected: self.is_corrected(),
            confidence: self.inference.confidence,
            covariance: covariance.collect(),
            columns: if blocks > 1 && self.inference.profile {
                self.column_tests(peak, &inverse)
            } else {
                Vec::new()
            },
            coefficients,
            log_likelihood: plain + constant,
            penalised_log_likelihood: self.penalised,
            null_log_likelihood: null + constant,
            deviance: (-2.0 * (plain + saturated)).max(0.0),
            null_deviance: (-2.0 * (null + saturated)).max(0.0),
            rank,
            observations,
            whole,
            separation: self.known.escape.as_ref().map(|(_, separation)| separation.clone()),
            notes,
            steps: peak.steps,
            residuals: if self.inference.residuals {
                self.residuals(peak, &factor)
            } else {
                Vec::new()
            },
        })
    }

    fn is_corrected(&self) -> bool {
        let inference = self.inference;
        let is_weighted = self.task.data.weights().is_some();
        inference.offset.is_some()
            || inference.groups.is_some()
            || inference.correction != InterceptCorrection::None
            || is_weighted && inference.weights_as == WeightsAs::Analytic
    }

    /// A coefficient of which only its standing is known.
    fn bare(&self, class: Option<String>, j: usize) -> Inferred {
        let shift = usize::from(self.inference.bias);
        let standing = self.known.standing[j].clone();
        let estimate = match standing {
            Standing::PlusInfinity => f64::INFINITY,
            Standing::MinusInfinity => f64::NEG_INFINITY,
            _ => f64::NAN,
        };
        let column = j.checked_sub(shift).map(|column| column as u32);
        Inferred {
            class,
            column,
            standing,
            estimate,
            standard_error: None,
            profile: None,
            test: None,
        }
    }

    /// l of the data alone.
    fn plain(&self, peak: &Peak) -> f64 {
        if self.hidden == 0 {
            return peak.look.plain;
        }
        let design = self.whole.clone().columns(&self.columns);
        let likelihood = Likelihood { design: &design, firth: false, threads: self.task.threads };
        likelihood.look(&peak.theta[..design.width], false).plain
    }

    /// ln of the numbers of ways to get the counts of groups, and l of the saturated model with its sign turned.
    fn constants(&self) -> (f64, f64) {
        if self.inference.groups.is_none() {
            return (0.0, 0.0);
        }
        let ways = |(m, y): (&f64, &f64)| {
            let hits = (m * y).round();
            libm::lgamma(m + 1.0) - libm::lgamma(hits + 1.0) - libm::lgamma(m - hits + 1.0)
        };
        let pairs = || self.whole.weight.iter().zip(&self.whole.y);
        (pairs().map(ways).sum(), pairs().map(|(m, y)| m * saturated(*y)).sum())
    }

    /// Test and interval of each coefficient of the fit, by its place.
    fn profiles(
        &self,
        peak: &Peak,
        inverse: &[f64],
        drop: f64,
    ) -> Vec<Option<(LikelihoodRatio, [ProfileEnd; 2])>> {
        let order = self.likelihood().order();
        let corrected = self.inference.correction == InterceptCorrection::Flic;
        if !self.inference.profile || corrected {
            return Vec::new();
        }
        // One walk has one thread, unless there are fewer walks than threads and rows for all of them.
        let inner = (self.task.threads / (3 * order).max(1)).max(1);
        let likelihood = Likelihood { threads: inner, ..self.likelihood() };
        let wanted = |at: usize| {
            let column = at % self.design.width;
            let j = self.columns.get(column);
            j.is_some_and(|&j| self.known.standing[j] == Standing::Finite)
        };
        let highest = peak.look.value;
        let work = |item: usize| -> Option<(f64, ProfileEnd)> {
            let (at, part) = (item / 3, item % 3);
            if !wanted(at) {
                return None;
            }
            let variance = inverse[at * order + at];
            let free: Vec<usize> = (0..order).filter(|j| *j != at).collect();
            let tangent: Vec<f64> =
                (0..order).map(|j| inverse[j * order + at] / variance).collect();
            if part == 2 {
                let low = self.held(&likelihood, peak, &[at], inverse)?;
                return Some((low, ProfileEnd::infinite(1.0)));
            }
            let walk = Walk {
                likelihood,
                coordinate: at,
                free,
                highest,
                drop,
                side: [-1.0, 1.0][part],
                start: peak.theta.clone(),
                tangent,
                step: (drop * variance).sqrt(),
                information: &self.information,
            };
            Some((0.0, walk.end()))
        };
        let found = parallel_map(3 * order, self.task.threads, work);
        let triple = |three: &[Option<(f64, ProfileEnd)>]| match three {
            [Some(lower), Some(upper), Some(low)] => {
                Some((LikelihoodRatio::of(highest, low.0, 1), [lower.1, upper.1]))
            }
            _ => None,
        };
        found.chunks(3).map(triple).collect()
    }

    /// The largest value with some coefficients held at 0.
    fn held(
        &self,
        likelihood: &Likelihood<'_>,
        peak: &Peak,
        held: &[usize],
        inverse: &[f64],
    ) -> Option<f64> {
        let order = likelihood.order();
        let mut theta = peak.theta.clone();
        if let [at] = held {
            // Where the parabola at the peak says that the others go.
            let share = theta[*at] / inverse[at * order + at];
            for (j, theta) in theta.iter_mut().enumerate() {
                *theta -= share * inverse[j * order + at];
            }
        }
        held.iter().for_each(|&at| theta[at] = 0.0);
        let free: Vec<usize> = (0..order).filter(|j| !held.contains(j)).collect();
        let mut moving = Free::with(free, &self.information, order);
        let found = likelihood.climb(theta, &mut moving, 1e-14);
        found.converged.then_some(found.look.value)
    }

    /// Each column in all classes at once.
    fn column_tests(&self, peak: &Peak, inverse: &[f64]) -> Vec<(Option<u32>, LikelihoodRatio)> {
        let shift = usize::from(self.inference.bias);
        let blocks = self.whole.classes - 1;
        let likelihood = Likelihood { threads: 1, ..self.likelihood() };
        let one = |at: usize| {
            let held: Vec<usize> = (0..blocks).map(|k| k * self.design.width + at).collect();
            let low = self.held(&likelihood, peak, &held, inverse)?;
            let column = self.columns[at].checked_sub(shift).map(|column| column as u32);
            Some((column, LikelihoodRatio::of(peak.look.value, low, blocks)))
        };
        let found = parallel_map(self.columns.len(), self.task.threads, one);
        found.into_iter().flatten().collect()
    }

    /// l with the prior of the whole model where every column is held at 0.
    fn penalised_null(&self) -> f64 {
        let likelihood = self.likelihood();
        let width = self.design.width;
        let free: Vec<usize> = match self.inference.bias {
            true => (0..likelihood.blocks()).map(|k| k * width).collect(),
            false => Vec::new(),
        };
        likelihood.climb(likelihood.start(&free), &mut Free::new(free), NEAR).look.value
    }

    fn residuals(&self, peak: &Peak, factor: &Factor) -> Vec<Residual> {
        let mut found = self.likelihood().residuals(&peak.theta, factor).into_iter();
        if self.hidden > 0 {
            return found.take(self.whole.len()).collect();
        }
        let escaped = self.known.escape.as_ref().map(|(escaped, _)| escaped);
        let one = |i: usize| {
            let row = self.whole.row[i];
            match escaped.is_some_and(|escaped| escaped[row as usize]) {
                true => Some(Residual::none(row, self.whole.weight[i], self.whole.y[i])),
                false => found.next(),
            }
        };
        (0..self.whole.len()).filter_map(one).collect()
    }
}

fn no_end(firth: bool) -> Error {
    let remedy = if firth { "" } else { ", or use `penalty=firth`" };
    Error::Limit {
        code: Code::LIMIT,
        message: format!(
            "the likelihood was still growing after 200 steps; scale the columns{remedy}"
        ),
    }
}

fn nearly_dependent() -> Error {
    Error::Limit {
        code: Code::LIMIT,
        message: "columns are so nearly dependent that binary64 does not tell their coefficients apart; leave one out with `drop`".to_owned(),
    }
}
