//! What becomes of each coefficient, by the exact verdict, before anything is fitted.

use super::Inference;
use super::design::Design;
use super::summary::{Aliased, Separation, Standing};
use crate::run::Task;
use crate::verdict::existence::{Existence, softmax_optimum};
use crate::verdict::{Decision, Judge, Verdict, rank};
use linsep_data::Dataset;
use linsep_data::error::{Error, Result};
use linsep_proof::Estimate;
use std::sync::Arc;

/// What is known of the columns and rows of a fit.
pub(super) struct Known {
    /// Of the bias, if there is one, and each column.
    pub(super) standing: Vec<Standing>,
    /// Data rows that push coefficients away, and the kind; of two classes without a fit.
    pub(super) escape: Option<(Vec<bool>, Separation)>,
    pub(super) notes: Vec<String>,
}

impl Known {
    /// Asks the exact judge, for two classes about each coefficient.
    pub(super) fn of(
        inference: &Inference,
        task: &Task,
        design: &Design,
        stop: &dyn Fn() -> bool,
    ) -> Result<Known> {
        let data = &task.data;
        let mut known = Known {
            standing: vec![Standing::Finite; design.width],
            escape: None,
            notes: Vec::new(),
        };
        let mut unique = false;
        if !inference.firth {
            match data.n_classes() {
                2 => unique = known.judge_two(inference, task, stop)?,
                _ => match softmax_optimum(task, inference.bias) {
                    Existence::Exists => {}
                    Existence::Unknown(words) => known.doubt(&words),
                    Existence::Missing(words) => return Err(no_fit(&words)),
                },
            }
        }
        if known.escape.is_none() && !unique {
            known.find_aliases(inference, task, design, stop);
        }
        Ok(known)
    }

    /// Whether the fit of two classes is known to be the only one.
    fn judge_two(
        &mut self,
        inference: &Inference,
        task: &Task,
        stop: &dyn Fn() -> bool,
    ) -> Result<bool> {
        let data = &task.data;
        let judge = judge(data, inference.bias, task.threads);
        let decision = judge.class(&data.classes()[1], stop)?;
        let complete = match decision.verdict {
            Verdict::Overlapping => {
                return Ok(judge.logistic(&decision).is_some_and(|logistic| logistic.unique));
            }
            Verdict::Separable => true,
            Verdict::Touching => false,
            Verdict::Inseparable => {
                self.doubt("whether a plane touches the classes was not asked on so many columns");
                return Ok(false);
            }
            Verdict::Undecided => {
                let words = decision.limit.map_or("the search ended", |limit| limit.words());
                self.doubt(words);
                return Ok(false);
            }
        };
        let Some(found) = judge.coefficients(&decision, stop) else {
            return Err(no_fit("and there is too much data to say where each coefficient goes"));
        };
        let shift = usize::from(inference.bias);
        for (_, column, estimate) in &found.list {
            let at = column.map_or(0, |column| column as usize + shift);
            self.standing[at] = match estimate {
                Estimate::Finite => Standing::Finite,
                Estimate::PlusInfinity => Standing::PlusInfinity,
                Estimate::MinusInfinity => Standing::MinusInfinity,
                Estimate::Aliased => Standing::Aliased(Aliased::default()),
                _ => Standing::Undetermined,
            };
        }
        let escaped = escaped_rows(data, &decision);
        let rows = escaped.iter().filter(|escapes| **escapes).count() as u64;
        self.escape = Some((escaped, Separation { complete, rows }));
        if self.standing.iter().any(|standing| matches!(standing, Standing::Aliased(_))) {
            self.name_aliases(inference, task, stop);
        }
        Ok(false)
    }

    fn doubt(&mut self, words: &str) {
        self.notes.push(format!("whether the fit exists is not known: {words}"));
    }

    /// Columns that are sums of others: exactly, or in binary64 where that is too much work.
    fn find_aliases(
        &mut self,
        inference: &Inference,
        task: &Task,
        design: &Design,
        stop: &dyn Fn() -> bool,
    ) {
        if self.name_aliases(inference, task, stop) {
            return;
        }
        let all: Vec<usize> = (0..design.width).collect();
        let kept = design.independent(&all);
        self.notes.push("dependent columns were looked for in binary64 only".to_owned());
        for j in all.into_iter().filter(|j| !kept.contains(j)) {
            self.standing[j] = Standing::Aliased(Aliased::default());
        }
    }

    fn name_aliases(
        &mut self,
        inference: &Inference,
        task: &Task,
        stop: &dyn Fn() -> bool,
    ) -> bool {
        let shift = usize::from(inference.bias);
        let Some(found) = rank::aliases(task, inference.bias, stop) else { return false };
        for (column, sum) in found {
            self.standing[column as usize + shift] = Standing::Aliased(Aliased { sum });
        }
        true
    }
}

pub(super) fn judge(data: &Arc<Dataset>, bias: bool, threads: usize) -> Judge {
    Judge::new(Arc::clone(data)).with_bias(bias).with_threads(threads)
}

/// The rows that some weak plane has off itself.
pub(super) fn escaped_rows(data: &Dataset, decision: &Decision) -> Vec<bool> {
    let complete = decision.verdict == Verdict::Separable;
    let mut escaped = vec![complete; data.n_rows()];
    if let Some(escape) = &decision.escape {
        escape.rows.iter().for_each(|&row| escaped[row as usize] = true);
    }
    escaped
}

fn no_fit(words: &str) -> Error {
    Error::usage(format!(
        "`penalty=none`: no optimum exists, {words}; `penalty=firth` has finite estimates"
    ))
}
