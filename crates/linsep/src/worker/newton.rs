//! Newton's method in rounds: each asks for the gradient and the second derivatives at a plane.
//!
//! With g = −∇P and H = Λ + Σ h (x, 1)(x, 1)ᵀ the next plane is w + H⁻¹ g; where the objective does not fall
//! there, half of the step is tried, and so on. Half of g·H⁻¹g is how far the quadratic model falls, and a
//! run ends when that is a small share of the objective. What is claimed of the plane is computed anew by
//! the checker, as always.
//!
//! Near the end H hardly changes from step to step, so a round may ask for g alone and take the H of an earlier one
//! ([`Course::wants_second`]). With the promise s of the step that left the plane of H, margins have moved by some √s since,
//! and a step with the old H leaves about a share s of what there was to fall.
//!
//! Reference: Boyd, Vandenberghe, Convex Optimization, 9.5.

use super::descent::Descent;
use super::second::Curvature;
use super::{Coordinator, Worker, foreign, merge, partial, require_class};
use crate::algebra::Factor;
use crate::learn::logistic::Logistic;
use crate::model::Plane;
use crate::objective::evaluate::{Evaluate, Evaluated};
use crate::objective::{Intercept, Objective, Penalty, Sides};
use crate::rounds::{Rounds, decode, encode};
use crate::run::Task;
use linsep_data::error::{Error, Result};
use std::sync::Arc;

/// The blocks of a logistic regression of two classes.
pub struct NewtonStep(Arc<Objective>);

impl NewtonStep {
    /// `positive` against the other classes, on the rows of a task.
    pub fn new(learner: &Logistic, task: &Task, positive: u32) -> Result<NewtonStep> {
        require_class(task, positive)?;
        if !learner.is_plain() || learner.settings.is_unbounded() {
            return Err(Error::usage(
                "Newton's method in rounds is for an l2 penalty and weights without bounds",
            ));
        }
        Ok(NewtonStep(Arc::new(learner.objective(task, positive)?)))
    }

    /// Whoever asks them, until a step promises less than this share of the objective.
    pub fn driver(&self, wanted: f64) -> GramNewton {
        let (penalty, intercept) = (self.0.penalty.clone(), self.0.intercept);
        let course = Course::new(penalty, intercept, self.0.width(), wanted);
        GramNewton { objective: Arc::clone(&self.0), course }
    }
}

impl Worker for NewtonStep {
    fn blocks(&self) -> usize {
        Evaluate::<Curvature>::new(&self.0).blocks()
    }

    fn partial(&self, block: usize, broadcast: &[u8]) -> Result<Vec<u8>> {
        partial(&Evaluate::<Curvature>::new(&self.0), block, broadcast)
    }

    fn merge(&self, all: &[u8], next: &[u8]) -> Result<Vec<u8>> {
        merge(&Evaluate::<Curvature>::new(&self.0), all, next)
    }
}

/// A run of Newton's method whose rounds somebody else carries out.
pub struct GramNewton {
    objective: Arc<Objective>,
    course: Course,
}

impl GramNewton {
    /// The plane so far.
    pub fn plane(&self) -> &Plane {
        self.course.plane()
    }

    /// The objective at the plane.
    pub fn objective(&self) -> f64 {
        self.course.primal()
    }

    /// Rounds so far.
    pub fn rounds(&self) -> u64 {
        self.course.rounds()
    }
}

/// Steps with an old H have to leave no more than this share of what there is to fall.
const KEEPS: f64 = 1e-3;
/// What they leave, in units of the promise of the first step with that H.
const LEAVES: f64 = 8.0;

/// Where a run is: it knows the penalty and no rows.
pub(super) struct Course {
    penalty: Penalty,
    intercept: Intercept,
    descent: Descent,
    /// The sums of the multipliers at the plane.
    sides: Option<Sides>,
    /// The factors of the last H, and the share of what there is to fall that steps with it are likely to leave.
    factor: Option<(Factor, f64)>,
}

impl Course {
    /// From the plane of zeros, until a step promises less than the share `wanted` of the objective.
    pub(super) fn new(penalty: Penalty, intercept: Intercept, width: usize, wanted: f64) -> Course {
        let descent = Descent::new(1, width, wanted);
        Course { penalty, intercept, descent, sides: None, factor: None }
    }

    pub(super) fn plane(&self) -> &Plane {
        &self.descent.planes[0]
    }

    pub(super) fn candidate(&self) -> &Plane {
        &self.descent.candidate[0]
    }

    pub(super) fn primal(&self) -> f64 {
        self.descent.primal
    }

    pub(super) fn rounds(&self) -> u64 {
        self.descent.rounds
    }

    /// Begins at a plane in place of zeros.
    pub(super) fn begin(&mut self, mut plane: Plane) {
        if self.intercept == Intercept::None {
            plane.bias = 0.0;
        }
        self.descent.begin(vec![plane]);
        (self.sides, self.factor) = (None, None);
    }

    /// Whether the next round is to answer second derivatives.
    pub(super) fn wants_second(&self) -> bool {
        self.factor.as_ref().is_none_or(|(_, leaves)| *leaves > KEEPS)
    }

    /// Takes the answers at the candidate, without second derivatives if `below` is empty. Whether there is another round.
    pub(super) fn take(&mut self, loss: f64, sides: Sides, below: &[f64]) -> bool {
        let Course { penalty, intercept, descent, sides: seen, factor: held } = self;
        let primal = loss + penalty.value(&descent.candidate[0], *intercept);
        let fell = primal < descent.primal;
        let more = descent.take(primal, |planes| {
            let down = penalty.downhill(*intercept, &planes[0], &sides);
            *seen = Some(sides);
            let mut right = down.weights.clone();
            right.push(down.bias);
            let is_new = !below.is_empty();
            if is_new {
                let factor = second_derivatives(penalty, *intercept, below, right.len());
                *held = Some((factor, f64::INFINITY));
            }
            let Some((factor, leaves)) = held else {
                return (vec![down], f64::INFINITY);
            };
            let mut weights = factor.solve(&right);
            let bias = weights.pop().unwrap_or(0.0);
            let direction = Plane { weights, bias };
            let pairs = down.weights.iter().zip(&direction.weights);
            // How far the quadratic model falls.
            let falls = 0.5 * (pairs.map(|(d, p)| d * p).sum::<f64>() + down.bias * direction.bias);
            if is_new {
                *leaves = LEAVES * falls / primal;
            }
            (vec![direction], falls)
        });
        // A step that has to be halved was not what H promised.
        if !fell && let Some((_, leaves)) = held {
            *leaves = f64::INFINITY;
        }
        more
    }

    /// What the gap is likely to be, as a share of the objective: the sides that are made to weigh alike change the
    /// conjugates in the second order only, and ½ |w − Σ α y x|² is what is left.
    pub(super) fn likely_gap(&self) -> f64 {
        let Some(sides) = &self.sides else { return f64::INFINITY };
        let (l2, sum) = (self.penalty.l2, sides.sum(self.factors()));
        let pairs = self.plane().weights.iter().zip(&sum.weights);
        pairs.map(|(w, v)| (l2 * w - v).powi(2)).sum::<f64>() / (2.0 * l2 * self.primal())
    }

    /// The factors of the two sides that make the multipliers at the plane a dual point.
    pub(super) fn factors(&self) -> [f64; 2] {
        self.sides.as_ref().map_or([1.0, 1.0], |sides| sides.balance(self.intercept))
    }

    /// D of that point, with Σ ψ of its multipliers.
    pub(super) fn dual(&self, psi: f64) -> f64 {
        let cost =
            |sides: &Sides| self.penalty.conjugate(&sides.sum(self.factors()), self.intercept);
        psi - self.sides.as_ref().map_or(0.0, cost)
    }
}

/// The factors of H.
fn second_derivatives(
    penalty: &Penalty,
    intercept: Intercept,
    below: &[f64],
    order: usize,
) -> Factor {
    let mut matrix = below.to_vec();
    for j in 0..order {
        for k in 0..j {
            matrix[k * order + j] = matrix[j * order + k];
        }
    }
    penalty.add_curvature(intercept, &mut matrix, order);
    Factor::new(&matrix, order)
}

impl Coordinator for GramNewton {
    fn broadcast(&self) -> Vec<u8> {
        encode(self.course.candidate())
    }

    fn step(&mut self, merged: &[u8]) -> Result<bool> {
        let merged = decode(merged)?;
        if !Evaluate::<Curvature>::new(&self.objective).fits(&merged) {
            return Err(foreign());
        }
        let Evaluated { loss, sides, beside } = merged;
        Ok(self.course.take(loss, self.objective.unfolded(sides), &beside.below))
    }
}
