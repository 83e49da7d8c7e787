//! Coordinates on columns, for non-smooth penalties and weights with box constraints.
//!
//! Problem: P of [`crate::objective`] with a smooth loss and l1 > 0, or weights between limits. Most
//! weights of the answer rest at 0 or at a limit, and a step has to find out which.
//!
//! A step measures the gap in one pass and then goes to the least of a quadratic model of the losses
//! with the penalty as it is ([`model`]), or as far that way as P falls (proximal Newton):
//!
//! | data | model |
//! |---|---|
//! | few columns | the matrix H of all columns, made in one pass and kept as long as steps with it get ahead |
//! | many columns | a working set: the columns in use and those whose slopes ask most to be used ([`working_set`]) |
//!
//! References: Lee, Sun, Saunders, Proximal Newton-type methods, 2014; Yuan, Ho, Lin, An improved GLMNET
//! for L1-regularized logistic regression, 2012; Massias, Gramfort, Salmon, Celer, 2018;
//! Bertrand and others, Beyond L1: faster and better sparse models with skglm, 2022.

mod bound;
mod columns;
mod factors;
mod model;
mod rows;
mod working_set;

use super::curvature::{MOST_FACTORED, Sampled, second_derivatives};
use crate::loss::Loss;
use crate::model::Plane;
use crate::objective::{Evaluation, Gap, Intercept, Objective};
use model::{Bias, Matrix, Term, descend};
use working_set::FIRST_SET;

/// Sweeps over the coordinates of one model, at most.
const MOST_SWEEPS: usize = 1000;

/// The share of what the model promises by which the objective has to fall.
const ENOUGH: f64 = 1e-4;
/// H is kept where the next model falls by no more than this share of what the one before fell by.
const KEPT: f64 = 0.02;
/// Sweeps that tell whether H is kept.
const FIRST_SWEEPS: usize = 3;
/// Rows for each column in a sample that is worth a start.
const TALL: usize = 12;

/// A run over the columns.
pub struct Coordinates {
    pub plane: Plane,
    pub gap: Gap,
    pub steps: u64,
    /// No step makes the objective smaller: rounding is all that is left.
    pub exhausted: bool,
    /// Columns that the next working set may have beside those in use.
    room: usize,
    /// What a pass told of the plane as it is, where one has been.
    evaluation: Option<Evaluation>,
    /// H for the next step, where one that was made before is good enough.
    made: Option<Made>,
    /// Whether the answer is but a start for a run on more rows.
    is_rough: bool,
}

/// H of all columns at some plane.
struct Made {
    matrix: Vec<f64>,
    at: Plane,
    /// Made of every eighth row, each of which counts eight times.
    of_sample: bool,
    /// How much the last model with it fell.
    fell: f64,
}

impl Made {
    fn new(objective: &Objective, at: Plane, evaluation: &Evaluation) -> Made {
        let curvatures = objective.safe_curvatures(&evaluation.margins, &evaluation.alpha);
        let active: Vec<usize> = (0..objective.len()).filter(|&i| curvatures[i] > 0.0).collect();
        let matrix = second_derivatives(&Sampled::of(objective, &curvatures), &active, 1.0);
        Made { matrix, at, of_sample: false, fell: f64::INFINITY }
    }
}

/// What can be saved of a run.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedCoordinates {
    weights: Vec<u64>,
    numbers: [u64; 3],
    exhausted: bool,
    room: usize,
    steps: u64,
    /// Where the last H was made, weights and bias, whether of a sample, and how much its last model fell.
    last_made: Option<(Vec<u64>, u64, bool, u64)>,
}

impl SavedCoordinates {
    /// Where the run stood.
    pub fn plane(&self) -> Plane {
        let weights = self.weights.iter().map(|w| f64::from_bits(*w)).collect();
        Plane { weights, bias: f64::from_bits(self.numbers[0]) }
    }
}

impl Coordinates {
    /// A run that starts at a plane, brought between the limits.
    pub fn new(objective: &Objective, mut plane: Plane) -> Coordinates {
        for (j, w) in plane.weights.iter_mut().enumerate() {
            let (least, most) = objective.penalty.limits(j);
            *w = w.max(least).min(most);
        }
        let at_rest = plane.bias == 0.0 && plane.weights.iter().all(|w| *w == 0.0);
        if at_rest && objective.intercept == Intercept::Free {
            plane.bias = objective.best_constant();
        }
        Coordinates {
            plane,
            gap: Gap::NONE,
            steps: 0,
            exhausted: false,
            room: FIRST_SET,
            evaluation: None,
            made: None,
            is_rough: false,
        }
    }

    /// Measures the gap and, while it is above `wanted`, takes a step.
    pub fn step(&mut self, objective: &Objective, wanted: f64) {
        if self.steps == 0 {
            self.start_on_a_sample(objective);
        }
        self.steps += 1;
        let evaluation = match self.evaluation.take() {
            Some(known) => known,
            None => {
                let evaluation = objective.evaluate(&self.plane);
                self.gap = objective.gap_of(&self.plane, &evaluation, wanted);
                evaluation
            }
        };
        if self.gap.reaches(wanted) || self.exhausted {
            self.evaluation = Some(evaluation);
            return;
        }
        match objective.is_narrow() {
            true => self.step_on_matrix(objective, evaluation, wanted),
            false => {
                self.exhausted = !self.step_on_columns(objective, &evaluation, wanted);
                self.evaluation = self.exhausted.then_some(evaluation);
            }
        }
        // No later step will measure it better.
        if self.exhausted
            && let Some(evaluation) = &self.evaluation
        {
            self.gap = objective.exact_gap(evaluation);
        }
    }

    fn start_on_a_sample(&mut self, objective: &Objective) {
        if self.plane.weights.iter().any(|w| *w != 0.0) {
            return;
        }
        let Some(mut sample) = objective.head_start(TALL) else { return };
        // Slopes of a sample are less certain, by the root of how often its rows count. The kinks have to
        // hold against that, or columns with few rows get weights that all rows do not give them.
        sample.penalty.l1 *= (objective.len() as f64 / sample.len() as f64).sqrt();
        // The best of a sample is off the best of all by about half the loss of a row for each column; what it
        // still gains has to be worth a step beside that.
        let each = sample.total(|i| sample.costs[i]) / sample.len() as f64;
        let worth = 0.5 * each * sample.width() as f64;
        let mut run = Coordinates::new(&sample, objective.zero());
        run.is_rough = true;
        for _ in 0..12 {
            let before = run.gap.primal;
            run.step(&sample, 1e-4);
            let gains = before - run.gap.primal > worth;
            if run.gap.relative() <= 1e-4 || run.exhausted || !gains {
                break;
            }
        }
        if let Some(evaluation) = run.evaluation.filter(|_| objective.is_narrow()) {
            let made = Made::new(&sample, run.plane.clone(), &evaluation);
            self.made = Some(Made { of_sample: true, ..made });
        }
        self.plane = run.plane;
    }

    /// A step on all columns, with an H that is kept as long as it serves: it costs more than the pass that
    /// tells where the step has led to. How much its next model falls at least shows in a few sweeps.
    fn step_on_matrix(&mut self, objective: &Objective, evaluation: Evaluation, wanted: f64) {
        let kept = self.made.take().filter(|made| {
            let (_, fell) = self.least(objective, &made.matrix, &evaluation, (0.1, FIRST_SWEEPS));
            fell <= KEPT * made.fell
        });
        let mut is_new = kept.is_none();
        let mut made =
            kept.unwrap_or_else(|| Made::new(objective, self.plane.clone(), &evaluation));
        loop {
            // A model is solved no closer than it is to the losses.
            let precision = match (self.is_rough, is_new) {
                (true, _) => 1e-2,
                (false, true) => 1e-4,
                (false, false) => 1e-3,
            };
            let limits = (precision, MOST_SWEEPS);
            let (target, fell) = self.least(objective, &made.matrix, &evaluation, limits);
            if let Some(there) = self.go_and_look(objective, &evaluation, target, (fell, wanted)) {
                self.gap = objective.gap_of(&self.plane, &there, wanted);
                self.made = Some(Made { fell, ..made });
                self.evaluation = Some(there);
                return;
            }
            if is_new {
                self.exhausted = true;
                self.evaluation = Some(evaluation);
                return;
            }
            is_new = true;
            made = Made::new(objective, self.plane.clone(), &evaluation);
        }
    }

    /// The least of the model with some H, and by how much that falls.
    fn least(
        &self,
        objective: &Objective,
        matrix: &[f64],
        evaluation: &Evaluation,
        (precision, most_sweeps): (f64, usize),
    ) -> (Plane, f64) {
        let mut negative_gradient = evaluation.sides.total();
        negative_gradient.weights.push(negative_gradient.bias);
        let bias = bias_of(objective);
        let (mut model, free) = Matrix::new(matrix.to_vec(), &negative_gradient.weights, bias);
        let mut terms: Vec<Term> = (0..objective.width()).map(|j| objective.term(j)).collect();
        let mut weights = self.plane.weights.clone();
        if bias == Bias::Coordinate {
            terms.push(objective.bias_term());
            weights.push(self.plane.bias);
        }
        let fell = descend(&mut model, &terms, &mut weights, precision, most_sweeps);
        let mut target = self.plane.clone();
        match bias {
            Bias::Coordinate => target.bias = weights.pop().unwrap_or(0.0),
            Bias::None => {}
            Bias::Free => {
                let by = weights.iter().zip(&self.plane.weights).map(|(next, w)| next - w);
                target.bias += free.step(by);
            }
        }
        target.weights = weights;
        (target, fell)
    }

    /// Goes towards a plane as far as the objective falls, and says what is there; or that it does not fall.
    fn go_and_look(
        &mut self,
        objective: &Objective,
        here: &Evaluation,
        target: Plane,
        (fell, wanted): (f64, f64),
    ) -> Option<Evaluation> {
        let there = objective.evaluate(&target);
        let falls = there.primal < here.primal - ENOUGH * fell;
        // What is lost in the rounding of P can still be told by the bound.
        let is_tiny = fell <= 1e-12 * here.primal.abs();
        let gap = || objective.gap_of(&target, &there, wanted).relative();
        if falls || is_tiny && gap() < self.gap.relative() {
            self.plane = target;
            return Some(there);
        }
        let moves: Vec<f64> =
            there.margins.iter().zip(&here.margins).map(|(there, here)| there - here).collect();
        drop(there);
        let mut margins = here.margins.to_vec();
        self.go(objective, here.primal, &mut margins, &moves, &target, (fell, 0.5))
            .map(|_| objective.evaluate(&self.plane))
    }

    /// Goes towards a plane as far as the objective falls, from some share of the way on, and tells how low it
    /// is there.
    fn go(
        &mut self,
        objective: &Objective,
        primal: f64,
        margins: &mut Vec<f64>,
        moves: &[f64],
        target: &Plane,
        (fell, first): (f64, f64),
    ) -> Option<f64> {
        let mut length = first;
        for _ in 0..40 {
            let part = |(w, next): (&f64, &f64)| w + length * (next - w);
            let plane = match length == 1.0 {
                true => target.clone(),
                false => Plane {
                    weights: self.plane.weights.iter().zip(&target.weights).map(part).collect(),
                    bias: part((&self.plane.bias, &target.bias)),
                },
            };
            let moved: Vec<f64> =
                margins.iter().zip(moves).map(|(m, by)| m + length * by).collect();
            let value = objective.primal(&plane, &moved);
            if value < primal - ENOUGH * length * fell {
                self.plane = plane;
                *margins = moved;
                return Some(value);
            }
            length *= 0.5;
        }
        None
    }

    pub fn save(&self) -> SavedCoordinates {
        let numbers = [self.plane.bias, self.gap.primal, self.gap.dual];
        SavedCoordinates {
            weights: self.plane.weights.iter().map(|w| w.to_bits()).collect(),
            numbers: numbers.map(f64::to_bits),
            exhausted: self.exhausted,
            room: self.room,
            steps: self.steps,
            last_made: self.made.as_ref().map(|made| {
                let weights = made.at.weights.iter().map(|w| w.to_bits()).collect();
                (weights, made.at.bias.to_bits(), made.of_sample, made.fell.to_bits())
            }),
        }
    }

    /// Goes back to a saved state; false if it does not belong to this objective.
    pub fn restore(&mut self, objective: &Objective, saved: &SavedCoordinates) -> bool {
        let width = self.plane.weights.len();
        if saved.weights.len() != width {
            return false;
        }
        let [bias, primal, dual] = saved.numbers.map(f64::from_bits);
        let weights = saved.weights.iter().map(|w| f64::from_bits(*w)).collect();
        self.plane = Plane { weights, bias };
        self.gap = Gap { primal, dual };
        self.exhausted = saved.exhausted;
        self.room = saved.room;
        self.steps = saved.steps;
        self.evaluation = None;
        self.made = None;
        if let Some((weights, bias, of_sample, fell)) = &saved.last_made {
            let weights: Vec<f64> = weights.iter().map(|w| f64::from_bits(*w)).collect();
            let at = Plane { weights, bias: f64::from_bits(*bias) };
            let sample = if *of_sample { objective.head_start(TALL) } else { None };
            if at.weights.len() != width || *of_sample != sample.is_some() {
                return false;
            }
            let rows = sample.as_ref().unwrap_or(objective);
            let evaluation = rows.evaluate(&at);
            let made = Made::new(rows, at, &evaluation);
            let fell = f64::from_bits(*fell);
            self.made = Some(Made { of_sample: *of_sample, fell, ..made });
        }
        true
    }
}

fn bias_of(objective: &Objective) -> Bias {
    match objective.intercept {
        Intercept::Free => Bias::Free,
        Intercept::Penalised => Bias::Coordinate,
        Intercept::None => Bias::None,
    }
}

impl Objective {
    fn term(&self, column: usize) -> Term {
        let (least, most) = self.penalty.limits(column);
        Term {
            ridge: self.penalty.curvature(column),
            kink: self.penalty.l1 * self.penalty.scale(column),
            least,
            most,
        }
    }

    fn bias_term(&self) -> Term {
        let (least, most) = (f64::NEG_INFINITY, f64::INFINITY);
        Term { ridge: self.penalty.l2, kink: self.penalty.l1, least, most }
    }

    /// Whether H of all columns is at hand.
    fn is_narrow(&self) -> bool {
        self.width() <= MOST_FACTORED
    }

    /// h of every position, and enough of it where a row is far on the wrong side that a step stays
    /// within reason.
    fn safe_curvatures(&self, margins: &[f64], alpha: &[f64]) -> Vec<f64> {
        let floor = |m: f64| if m < 0.0 { 1e-4 } else { 0.0 };
        let safe = |((h, m), c): ((f64, &f64), &f64)| h.max(c * floor(*m));
        self.curvatures(margins, alpha).zip(margins).zip(&self.costs).map(safe).collect()
    }

    /// The best bias of a plane without weights, both sides having rows.
    fn best_constant(&self) -> f64 {
        let side =
            |sign: f64| self.total(|i| if self.signs[i] == sign { self.costs[i] } else { 0.0 });
        let (up, down) = (side(1.0), side(-1.0));
        let best = match self.loss {
            Loss::Logistic => (up / down).ln(),
            Loss::SquaredHinge | Loss::Hinge => (up - down) / (up + down),
        };
        if best.is_finite() { best } else { 0.0 }
    }
}
