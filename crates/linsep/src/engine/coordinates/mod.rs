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
//! | many columns | a working set: the columns in use and those whose slopes ask most to be used, 100 at first, then twice those in use; their columns are copied once and serve several models |
//!
//! **Screening.** ψ is strongly concave, so the best multipliers are within a ball of what a gap of
//! P − D allows: |Σ(α* − α) y x_j| ≤ ρ √(Σ c x_j²) with ρ = √((P − D)/2) for the logistic loss and
//! 2 √(P − D) for the squared hinge. A column whose |g_j| + ρ √(Σ c x_j²) is below l1 s_j has the weight
//! 0 in every best plane and is not looked at again.
//!
//! References: Lee, Sun, Saunders, Proximal Newton-type methods, 2014; Yuan, Ho, Lin, An improved GLMNET
//! for L1-regularized logistic regression, 2012; Massias, Gramfort, Salmon, Celer, 2018; Ndiaye, Fercoq,
//! Gramfort, Salmon, Gap safe screening rules, 2017.

mod columns;
mod model;

use super::curvature::{MOST_FACTORED, Sampled, second_derivatives};
use crate::loss::Loss;
use crate::model::Plane;
use crate::objective::{Evaluation, Gap, Intercept, Objective};
use columns::Columns;
use model::{Bias, Matrix, Term, Weighed, descend};

/// Columns in the first working set.
const FIRST_SET: usize = 100;
/// Models that one working set serves, at most.
const MODELS: usize = 12;
/// Sweeps over the coordinates of one model, at most.
const MOST_SWEEPS: usize = 1000;

/// The share of what the model promises by which the objective has to fall.
const ENOUGH: f64 = 1e-4;
/// H is kept where a step has left no more than this of the gap.
const SHARP: f64 = 0.1;

/// A run over the columns.
pub struct Coordinates {
    pub plane: Plane,
    pub gap: Gap,
    pub steps: u64,
    /// No step makes the objective smaller: rounding is all that is left.
    pub exhausted: bool,
    /// Columns that the next working set may have beside those in use.
    room: usize,
    /// Columns that are not screened, where some are.
    left: Option<Vec<u32>>,
    /// √(Σ c x²) of each column, once they are needed.
    lengths: Option<Vec<f64>>,
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
}

impl Made {
    fn new(objective: &Objective, at: Plane, evaluation: &Evaluation) -> Made {
        let curvatures = objective.safe_curvatures(&evaluation.margins, &evaluation.alpha);
        let active: Vec<usize> = (0..objective.len()).filter(|&i| curvatures[i] > 0.0).collect();
        let matrix = second_derivatives(&Sampled::of(objective, &curvatures), &active, 1.0);
        Made { matrix, at, of_sample: false }
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
    left: Option<Vec<u32>>,
    steps: u64,
    /// Where H for the next step was made, weights and bias, and whether of a sample.
    #[serde(default)]
    made: Option<(Vec<u64>, u64, bool)>,
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
            left: None,
            lengths: None,
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
                self.gap = self.measured(objective, &evaluation);
                evaluation
            }
        };
        if self.gap.reaches(wanted) || self.exhausted {
            self.evaluation = Some(evaluation);
            return;
        }
        match objective.is_narrow() {
            true => self.step_on_matrix(objective, evaluation, wanted),
            false => self.exhausted = !self.step_on_columns(objective, &evaluation),
        }
    }

    fn measured(&self, objective: &Objective, evaluation: &Evaluation) -> Gap {
        let primal = match objective.is_narrow() {
            true => evaluation.primal,
            // Summed up as it is where steps are tried.
            false => objective.primal(&self.plane, &evaluation.margins),
        };
        Gap { primal, dual: objective.dual(&evaluation.sides, &evaluation.alpha) }
    }

    fn start_on_a_sample(&mut self, objective: &Objective) {
        if self.plane.weights.iter().any(|w| *w != 0.0) {
            return;
        }
        let Some(mut sample) = objective.head_start() else { return };
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
    /// tells where the step has led to.
    fn step_on_matrix(&mut self, objective: &Objective, evaluation: Evaluation, wanted: f64) {
        let before = self.gap.relative();
        loop {
            let kept = self.made.take();
            let is_new = kept.is_none();
            let made =
                kept.unwrap_or_else(|| Made::new(objective, self.plane.clone(), &evaluation));
            // A model is solved no closer than it is to the losses.
            let precision = match (self.is_rough, is_new) {
                (true, _) => 1e-2,
                (false, true) => 1e-4,
                (false, false) => 1e-3,
            };
            let (target, fell) = self.least(objective, &made.matrix, &evaluation, precision);
            if let Some(there) = self.go_and_look(objective, &evaluation, target, fell) {
                self.gap = self.measured(objective, &there);
                let after = self.gap.relative();
                let left = after / before;
                if left <= SHARP || after * left <= wanted {
                    self.made = Some(made);
                }
                self.evaluation = Some(there);
                return;
            }
            if is_new {
                self.exhausted = true;
                self.evaluation = Some(evaluation);
                return;
            }
        }
    }

    /// The least of the model with some H, and by how much that falls.
    fn least(
        &self,
        objective: &Objective,
        matrix: &[f64],
        evaluation: &Evaluation,
        precision: f64,
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
        let fell = descend(&mut model, &terms, &mut weights, precision, MOST_SWEEPS);
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
        fell: f64,
    ) -> Option<Evaluation> {
        let there = objective.evaluate(&target);
        let falls = there.primal < here.primal - ENOUGH * fell;
        // What is lost in the rounding of P can still be told by the bound.
        let is_tiny = fell <= 1e-12 * here.primal.abs();
        if falls || is_tiny && self.measured(objective, &there).relative() < self.gap.relative() {
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

    /// A step on a working set; false if the objective does not fall.
    fn step_on_columns(&mut self, objective: &Objective, evaluation: &Evaluation) -> bool {
        self.screen(objective, evaluation);
        let used = self.plane.weights.iter().filter(|w| **w != 0.0).count();
        let chosen = self.choose(objective, evaluation);
        let columns = Columns::of(objective, &chosen);
        let bias = bias_of(objective);
        let mut terms: Vec<Term> = chosen.iter().map(|&j| objective.term(j)).collect();
        if bias == Bias::Coordinate {
            terms.push(objective.bias_term());
        }
        let (mut margins, mut primal) = (evaluation.margins.to_vec(), self.gap.primal);
        // A set that will grow is not worth all the digits.
        let enough = if chosen.len() < used + self.room { 1e-3 } else { 0.05 };
        let (mut first, mut any) = (0.0, false);
        for round in 0..MODELS {
            let slope = |(m, c): (&f64, &f64)| c * objective.loss.negative_gradient(*m);
            let mut negative_gradients: Vec<f64> =
                margins.iter().zip(&objective.costs).map(slope).collect();
            let curvatures = objective.safe_curvatures(&margins, &negative_gradients);
            negative_gradients.iter_mut().zip(&objective.signs).for_each(|(g, sign)| *g *= sign);
            let (mut model, free) =
                Weighed::new(&columns, &curvatures, &negative_gradients, bias, objective.threads);
            let before: Vec<f64> = chosen.iter().map(|&j| self.plane.weights[j]).collect();
            let mut weights = before.clone();
            if bias == Bias::Coordinate {
                weights.push(self.plane.bias);
            }
            let fell = descend(&mut model, &terms, &mut weights, 0.03, 30);
            let steps: Vec<f64> = weights.iter().zip(&before).map(|(next, w)| next - w).collect();
            let mut target = self.plane.clone();
            match bias {
                Bias::Coordinate => target.bias = weights.pop().unwrap_or(0.0),
                Bias::None => {}
                Bias::Free => target.bias += free.step(steps.iter().copied()),
            }
            for (&j, w) in chosen.iter().zip(&weights) {
                target.weights[j] = *w;
            }
            let up = target.bias - self.plane.bias;
            let mut moves = columns.times(&steps, objective.len());
            for (score, sign) in moves.iter_mut().zip(&objective.signs) {
                *score = sign * (*score + up);
            }
            match self.go(objective, primal, &mut margins, &moves, &target, (fell, 1.0)) {
                Some(less) => primal = less,
                None => break,
            }
            any = true;
            if round == 0 {
                first = fell;
            } else if fell <= enough * first {
                break;
            }
        }
        any
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

    /// Columns in use, and those whose slopes ask most to be used.
    fn choose(&mut self, objective: &Objective, evaluation: &Evaluation) -> Vec<usize> {
        let negative_gradient = evaluation.sides.total();
        let all = || 0..objective.width();
        let used = |j: usize| self.plane.weights[j] != 0.0;
        let mut chosen: Vec<usize> = all().filter(|&j| used(j)).collect();
        self.room = self.room.max(2 * chosen.len());
        let asks = |j: usize| {
            let slope = -negative_gradient.weights[j];
            objective.term(j).violation(self.plane.weights[j], slope) / objective.penalty.scale(j)
        };
        let left: Box<dyn Iterator<Item = usize>> = match &self.left {
            Some(left) => Box::new(left.iter().map(|&j| j as usize)),
            None => Box::new(all()),
        };
        let mut asking: Vec<(f64, usize)> =
            left.filter(|&j| !used(j)).map(|j| (asks(j), j)).filter(|(a, _)| *a > 0.0).collect();
        asking.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        chosen.extend(asking.iter().take(self.room).map(|(_, j)| *j));
        chosen.sort_unstable();
        chosen
    }

    /// Leaves out the columns that the gap proves to have the weight 0.
    fn screen(&mut self, objective: &Objective, evaluation: &Evaluation) {
        // No less than what rounding may hide.
        let room = (self.gap.primal - self.gap.dual).max(1e-12 * self.gap.primal);
        let ball = match objective.loss {
            Loss::Logistic => (0.5 * room).sqrt(),
            Loss::SquaredHinge => 2.0 * room.sqrt(),
            Loss::Hinge => return,
        };
        let l1 = objective.penalty.l1;
        if l1 == 0.0 || !ball.is_finite() {
            return;
        }
        let lengths = self.lengths.get_or_insert_with(|| objective.lengths());
        let negative_gradient = objective.feasible(&evaluation.sides);
        let stays = |j: usize| {
            let (least, most) = objective.penalty.limits(j);
            let reach = negative_gradient.weights[j].abs() + ball * lengths[j];
            // Some room for rounding.
            least > 0.0 || most < 0.0 || reach * (1.0 + 1e-9) >= l1 * objective.penalty.scale(j)
        };
        let left: Vec<u32> = match &self.left {
            Some(left) => left.iter().copied().filter(|&j| stays(j as usize)).collect(),
            None => (0..objective.width() as u32).filter(|&j| stays(j as usize)).collect(),
        };
        if left.len() < objective.width() {
            self.left = Some(left);
        }
    }

    pub fn save(&self) -> SavedCoordinates {
        let numbers = [self.plane.bias, self.gap.primal, self.gap.dual];
        SavedCoordinates {
            weights: self.plane.weights.iter().map(|w| w.to_bits()).collect(),
            numbers: numbers.map(f64::to_bits),
            exhausted: self.exhausted,
            room: self.room,
            left: self.left.clone(),
            steps: self.steps,
            made: self.made.as_ref().map(|made| {
                let weights = made.at.weights.iter().map(|w| w.to_bits()).collect();
                (weights, made.at.bias.to_bits(), made.of_sample)
            }),
        }
    }

    /// Goes back to a saved state; false if it does not belong to this objective.
    pub fn restore(&mut self, objective: &Objective, saved: &SavedCoordinates) -> bool {
        let width = self.plane.weights.len();
        let foreign = |left: &Vec<u32>| left.iter().any(|&j| j as usize >= width);
        if saved.weights.len() != width || saved.left.as_ref().is_some_and(foreign) {
            return false;
        }
        let [bias, primal, dual] = saved.numbers.map(f64::from_bits);
        let weights = saved.weights.iter().map(|w| f64::from_bits(*w)).collect();
        self.plane = Plane { weights, bias };
        self.gap = Gap { primal, dual };
        self.exhausted = saved.exhausted;
        self.room = saved.room;
        self.left.clone_from(&saved.left);
        self.steps = saved.steps;
        self.evaluation = None;
        self.made = None;
        if let Some((weights, bias, of_sample)) = &saved.made {
            let weights: Vec<f64> = weights.iter().map(|w| f64::from_bits(*w)).collect();
            let at = Plane { weights, bias: f64::from_bits(*bias) };
            let sample = if *of_sample { objective.head_start() } else { None };
            if at.weights.len() != width || *of_sample != sample.is_some() {
                return false;
            }
            let rows = sample.as_ref().unwrap_or(objective);
            let evaluation = rows.evaluate(&at);
            let made = Made::new(rows, at, &evaluation);
            self.made = Some(Made { of_sample: *of_sample, ..made });
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

    /// √(Σ c x²) of each column.
    fn lengths(&self) -> Vec<f64> {
        let mut squares = vec![0.0; self.width()];
        let mut scratch = Vec::new();
        for (&row, cost) in self.rows.iter().zip(&self.costs) {
            self.store().for_each(row as usize, &mut scratch, |j, x| {
                squares[j as usize] += cost * x * x;
            });
        }
        squares.iter().map(|square: &f64| square.sqrt()).collect()
    }
}
