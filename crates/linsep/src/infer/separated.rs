//! Coefficients that go to infinity: their tests, and the one end of their intervals that is finite.
//!
//! With β_j held at b the others may still run away, but along other directions: those of the weak planes
//! without column j, whatever b is. The exact verdict on the data without the column says which rows these
//! push away; on the others there is a largest likelihood for every b.

use super::Inference;
use super::climb::{Free, LEVEL, NEAR};
use super::design::Design;
use super::existing::{escaped_rows, judge};
use super::likelihood::Likelihood;
use super::profile::{ProfileEnd, Walk};
use super::summary::{LikelihoodRatio, Standing};
use crate::run::Task;
use crate::verdict::Verdict;
use linsep_data::error::{Error, Result};
use std::sync::Arc;

/// A start this far out is given up.
const FARTHEST: f64 = 1e6;

/// A coefficient without a finite estimate.
pub(super) struct Infinite<'a> {
    pub(super) inference: &'a Inference,
    pub(super) task: &'a Task,
    pub(super) design: &'a Design,
    pub(super) standing: &'a [Standing],
    /// Its place among the columns of the design.
    pub(super) at: usize,
    /// The least upper bound of l.
    pub(super) highest: f64,
    pub(super) drop: f64,
}

impl Infinite<'_> {
    /// The test that it is 0, and the ends of its interval.
    pub(super) fn judged(
        &self,
        stop: &dyn Fn() -> bool,
    ) -> Result<(LikelihoodRatio, [ProfileEnd; 2])> {
        let escaped = self.escaped_without(stop)?;
        let rows: Vec<usize> =
            (0..self.design.len()).filter(|&i| !escaped[self.design.row[i] as usize]).collect();
        let is_aliased = |j: &usize| matches!(self.standing[*j], Standing::Aliased(_));
        let others: Vec<usize> =
            (0..self.design.width).filter(|j| *j != self.at && !is_aliased(j)).collect();
        let every: Vec<usize> = (0..self.design.width).collect();
        let kept = self.design.part(&rows, &every).independent(&others);
        let columns: Vec<usize> = std::iter::once(self.at).chain(kept).collect();
        let part = self.design.part(&rows, &columns);
        let likelihood = Likelihood { design: &part, firth: false, threads: self.task.threads };
        let free: Vec<usize> = (1..part.width).collect();
        let at_zero = likelihood.climb(vec![0.0; part.width], &mut Free::new(free.clone()), NEAR);
        let test = LikelihoodRatio::of(self.highest, at_zero.look.plain, 1);
        let side = match self.standing[self.at] {
            Standing::PlusInfinity => -1.0,
            Standing::MinusInfinity => 1.0,
            _ => return Ok((test, [-1.0, 1.0].map(ProfileEnd::infinite))),
        };
        let largest = (0..part.len()).map(|i| part.line(i)[0].abs()).fold(0.0, f64::max);
        let mut ends = [-1.0, 1.0].map(ProfileEnd::infinite);
        if largest > 0.0 {
            ends[usize::from(side > 0.0)] =
                self.end(&likelihood, free, side, 1.0 / largest, at_zero.theta);
        }
        Ok((test, ends))
    }

    /// From so far out that the likelihood is high enough, back to where it is not.
    fn end(
        &self,
        likelihood: &Likelihood<'_>,
        free: Vec<usize>,
        side: f64,
        unit: f64,
        mut start: Vec<f64>,
    ) -> ProfileEnd {
        let mut moving = Free::new(free.clone());
        let mut far = 0.0;
        loop {
            start[0] = -side * far * unit;
            let peak = likelihood.climb(start, &mut moving, LEVEL);
            start = peak.theta;
            if peak.converged && 2.0 * (self.highest - peak.look.value) < 0.5 * self.drop {
                break;
            }
            far = if far == 0.0 { 1.0 } else { 2.0 * far };
            if far > FARTHEST {
                return ProfileEnd::infinite(side);
            }
        }
        let look = likelihood.look(&start, true);
        let Some(information) = look.information else { return ProfileEnd::infinite(side) };
        let walk = Walk {
            likelihood: *likelihood,
            coordinate: 0,
            tangent: vec![0.0; start.len()],
            free,
            highest: self.highest,
            drop: self.drop,
            side,
            start,
            step: unit,
            information: &information,
        };
        walk.end()
    }

    /// The rows that push coefficients away on the data without this column.
    fn escaped_without(&self, stop: &dyn Fn() -> bool) -> Result<Vec<bool>> {
        let data = &self.task.data;
        let is_bias = self.inference.bias && self.at == 0;
        let bias = self.inference.bias && !is_bias;
        if data.n_features() == 0 || (data.n_features() == 1 && !is_bias && !bias) {
            return Ok(vec![false; data.n_rows()]);
        }
        let reduced = match is_bias {
            true => Arc::clone(data),
            false => {
                let column = (self.at - usize::from(self.inference.bias)) as u32;
                let others: Vec<u32> =
                    (0..data.n_features() as u32).filter(|j| *j != column).collect();
                Arc::new(data.selected(None, &others)?)
            }
        };
        let decision =
            judge(&reduced, bias, self.task.threads).class(&reduced.classes()[1], stop)?;
        match decision.verdict {
            Verdict::Overlapping | Verdict::Touching | Verdict::Separable => {
                Ok(escaped_rows(&reduced, &decision))
            }
            _ => Err(Error::usage(
                "whether the classes are separated without one of the columns could not be decided; use `penalty=firth`",
            )),
        }
    }
}
