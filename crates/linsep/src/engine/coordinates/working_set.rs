//! A step on the columns in use and those whose slopes ask most to be used.
//!
//! The rows are copied on those columns alone, and P is made smaller on them by several models. Columns outside
//! have the weight 0 and cost nothing. Sets are small at first, as the slopes of the first pass tell little, and
//! have up to twice as many new columns as are in use. Where that is room for all that ask, those which are
//! near to asking are taken too: with them the set is likely to be the last.
//!
//! Models end once no column of the set asks for more than a share of what the most asking column of all did
//! when the set was chosen, or than a share of what the wanted gap allows: where columns that ask are left out,
//! the set will change and is not worth all the digits.
//!
//! Where H of the set is cheap, models have it as a matrix ([`Rows`]), else as columns ([`Columns`]).

use super::columns::Columns;
use super::model::{Bias, FreeBias, Matrix, Term, Weighed, descend};
use super::rows::Rows;
use super::{Coordinates, ENOUGH, MOST_SWEEPS, bias_of};
use crate::objective::{Evaluation, Intercept, Objective};

/// Columns in the first working set.
pub(super) const FIRST_SET: usize = 20;
/// Models that one working set serves, at most.
const MODELS: usize = 12;
/// The share of what was asked for, or of what the wanted gap allows, that a set may still ask for.
const LEFT: f64 = 0.1;
/// The same share of that where a set has all columns that ask.
const LEFT_AT_LAST: f64 = 0.01;
/// Columns are near to asking where no more than this share of l1 is missing, and no more than what is asked for
/// at most, as slopes will change by about that.
const NEAR: f64 = 0.3;
/// H is kept where a model fell by no more than this share of the one before.
const KEPT: f64 = 0.3;

/// Where a run on a working set is.
struct Here {
    weights: Vec<f64>,
    bias: f64,
    margins: Vec<f64>,
    primal: f64,
}

/// A working set.
struct Set<'a> {
    objective: &'a Objective,
    terms: Vec<Term>,
    /// The columns in their order.
    chosen: &'a [usize],
    rows: Rows,
    /// The rows column by column, where H is too dear.
    columns: Option<Columns>,
    bias: Bias,
}

impl Coordinates {
    /// A step on a working set; false if the objective does not fall.
    pub(super) fn step_on_columns(
        &mut self,
        objective: &Objective,
        evaluation: &Evaluation,
        wanted: f64,
    ) -> bool {
        let (chosen, asked) = self.choose(objective, evaluation);
        let rows = Rows::of(objective, &chosen);
        let columns = (!rows.are_few()).then(|| rows.columns());
        let terms = chosen.iter().map(|&j| objective.term(j)).collect();
        let set =
            Set { objective, terms, chosen: &chosen, rows, columns, bias: bias_of(objective) };
        let mut here = Here {
            weights: chosen.iter().map(|&j| self.plane.weights[j]).collect(),
            bias: self.plane.bias,
            margins: evaluation.margins.to_vec(),
            primal: 0.0,
        };
        here.primal = set.primal(&here.weights, here.bias, &here.margins);
        let fell = set.lower(&mut here, LEFT * asked.max(wanted * objective.penalty.l1));
        for (&j, w) in chosen.iter().zip(&here.weights) {
            self.plane.weights[j] = *w;
        }
        self.plane.bias = here.bias;
        fell
    }

    /// Columns in use, and those whose slopes ask most to be used, in their order; and how much is asked at most,
    /// or the share of it that stands for a set with all of them.
    fn choose(&mut self, objective: &Objective, evaluation: &Evaluation) -> (Vec<usize>, f64) {
        let sides = &evaluation.sides;
        let (mut chosen, mut asking, mut most) = (Vec::new(), Vec::new(), 0f64);
        for (j, &weight) in self.plane.weights.iter().enumerate() {
            let slope = -(sides.positive.weights[j] + sides.negative.weights[j]);
            let (term, scale) = (objective.term(j), objective.penalty.scale(j));
            let asks = term.asks(weight, slope) / scale;
            most = most.max(asks);
            match weight != 0.0 {
                true => chosen.push(j),
                false if asks > -NEAR * objective.penalty.l1 => asking.push((asks, j)),
                false => {}
            }
        }
        asking.retain(|(asks, _)| *asks > -most);
        self.room = self.room.max(2 * chosen.len());
        let order = |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        let mut left_out = 0.0;
        if asking.len() > self.room {
            left_out = asking.select_nth_unstable_by(self.room, order).1.0;
            asking.truncate(self.room);
        }
        chosen.extend(asking.iter().map(|(_, j)| *j));
        chosen.sort_unstable();
        (chosen, if left_out > 0.0 { most } else { LEFT_AT_LAST * most })
    }
}

impl Set<'_> {
    /// Makes P smaller until no column asks for more than `left`; whether it fell at all.
    fn lower(&self, here: &mut Here, left: f64) -> bool {
        let (objective, bias) = (self.objective, self.bias);
        let (mut matrix, mut last, mut any) = (None, f64::INFINITY, false);
        for _ in 0..MODELS {
            let slope = |(m, c): (&f64, &f64)| c * objective.loss.negative_gradient(*m);
            let mut p: Vec<f64> = here.margins.iter().zip(&objective.costs).map(slope).collect();
            let h = objective.safe_curvatures(&here.margins, &p);
            p.iter_mut().zip(&objective.signs).for_each(|(p, sign)| *p *= sign);
            let g = self.rows.sums(&p);
            if any && self.asks(here, &g) <= left {
                break;
            }
            let mut terms = self.terms.clone();
            let mut weights = here.weights.clone();
            if bias == Bias::Coordinate {
                terms.push(objective.bias_term());
                weights.push(here.bias);
            }
            let (fell, free) = match &self.columns {
                Some(columns) => {
                    let (mut model, free) = Weighed::new(columns, &h, &p, bias, objective.threads);
                    (descend(&mut model, &terms, &mut weights, 0.03, 30), free)
                }
                None => {
                    let made = matrix.take().unwrap_or_else(|| self.rows.second_derivatives(&h));
                    let (mut model, free) = Matrix::new(made.clone(), &g, bias);
                    let fell = descend(&mut model, &terms, &mut weights, 1e-3, MOST_SWEEPS);
                    // It serves as long as it gets ahead.
                    matrix = (fell <= KEPT * last).then_some(made);
                    (fell, free)
                }
            };
            last = fell;
            if !self.go(here, weights, &free, fell) {
                break;
            }
            any = true;
        }
        any
    }

    /// What is asked for most, with the slopes of weights and bias.
    fn asks(&self, here: &Here, g: &[f64]) -> f64 {
        let one = |k: usize| {
            let violation = self.terms[k].violation(here.weights[k], -g[k]);
            violation / self.objective.penalty.scale(self.chosen[k])
        };
        let most = (0..self.terms.len()).map(one).fold(0.0, f64::max);
        let last = g[self.terms.len()];
        match self.bias {
            Bias::None => most,
            Bias::Free => most.max(last.abs()),
            Bias::Coordinate => most.max(self.objective.bias_term().violation(here.bias, -last)),
        }
    }

    /// Goes towards the least of a model as far as P falls; whether it does.
    fn go(&self, here: &mut Here, mut target: Vec<f64>, free: &FreeBias, fell: f64) -> bool {
        let bias = match self.bias {
            Bias::Coordinate => target.pop().unwrap_or(0.0),
            Bias::None => here.bias,
            Bias::Free => {
                let by = target.iter().zip(&here.weights).map(|(next, w)| next - w);
                here.bias + free.step(by)
            }
        };
        let steps: Vec<f64> = target.iter().zip(&here.weights).map(|(next, w)| next - w).collect();
        let mut moves = self.rows.times(&steps);
        for (score, sign) in moves.iter_mut().zip(&self.objective.signs) {
            *score = sign * (*score + (bias - here.bias));
        }
        let mut length = 1.0;
        for _ in 0..40 {
            let part = |(w, next): (&f64, &f64)| {
                if length == 1.0 { *next } else { w + length * (next - w) }
            };
            let weights: Vec<f64> = here.weights.iter().zip(&target).map(part).collect();
            let bias = part((&here.bias, &bias));
            let margins: Vec<f64> =
                here.margins.iter().zip(&moves).map(|(m, by)| m + length * by).collect();
            let primal = self.primal(&weights, bias, &margins);
            if primal < here.primal - ENOUGH * length * fell {
                *here = Here { weights, bias, margins, primal };
                return true;
            }
            length *= 0.5;
        }
        false
    }

    /// P: weights outside are 0.
    fn primal(&self, weights: &[f64], bias: f64, margins: &[f64]) -> f64 {
        let penalty: f64 = self.terms.iter().zip(weights).map(|(term, w)| term.value(*w)).sum();
        let of_bias = match self.objective.intercept {
            Intercept::Penalised => self.objective.bias_term().value(bias),
            Intercept::Free | Intercept::None => 0.0,
        };
        self.objective.losses(margins) + penalty + of_bias
    }
}
