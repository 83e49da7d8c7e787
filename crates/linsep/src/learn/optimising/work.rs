//! The solvers of two classes behind one face: who does the work and why, and how it is saved.

use crate::engine::coordinates::{self, Coordinates};
use crate::engine::dual::{self, Dual};
use crate::engine::newton::Newton;
use crate::learn::optimising::{ConvexProblem, Solver};
use crate::loss::Loss;
use crate::model::Plane;
use crate::objective::{Gap, Intercept, Objective};
use crate::run::SavedPlane;
use serde::{Deserialize, Serialize};

/// Who does the work, and why.
pub(crate) enum Solving {
    Newton(Newton),
    Dual(Dual),
    Coordinates(Coordinates),
    /// All rows are of one class, and the bias alone says so.
    Constant(Plane, Gap),
}

impl Solving {
    pub(crate) fn new(problem: &ConvexProblem, objective: &Objective) -> (Solving, String) {
        let (rows, columns) = (objective.len(), objective.width());
        let smooth = objective.loss != Loss::Hinge;
        if let Some(constant) = constant(objective) {
            return (constant, "none: all rows that count are of one class".to_owned());
        }
        let (solver, why) = match problem.settings.solver {
            Solver::Auto if objective.penalty.limits.is_some() => {
                (Solver::Coordinates, "weights have limits".to_owned())
            }
            Solver::Auto if problem.settings.l1 > 0.0 => {
                (Solver::Coordinates, "the penalty has corners".to_owned())
            }
            Solver::Auto if problem.settings.l2 == 0.0 => {
                (Solver::Newton, "there is no penalty".to_owned())
            }
            Solver::Auto if !smooth => (Solver::Dual, "the hinge is a non-smooth loss".to_owned()),
            Solver::Auto if columns <= rows / 2 => {
                (Solver::Newton, format!("few columns ({columns}) for {rows} rows"))
            }
            Solver::Auto if objective.intercept == Intercept::Free => {
                (Solver::Newton, "the bias is free".to_owned())
            }
            Solver::Auto => (Solver::Dual, format!("many columns ({columns}) for {rows} rows")),
            asked => (asked, "as asked".to_owned()),
        };
        match solver {
            Solver::Dual => (
                Solving::Dual(Dual::new(objective, problem.settings.seed)),
                format!("dual coordinates: {why}"),
            ),
            Solver::Coordinates => {
                let run = Coordinates::new(objective, objective.zero());
                (Solving::Coordinates(run), format!("coordinates on the columns: {why}"))
            }
            Solver::Newton | Solver::Auto => {
                (Solving::Newton(Newton::new(objective.zero())), format!("Newton's method: {why}"))
            }
        }
    }

    pub(crate) fn step(&mut self, objective: &Objective, wanted: f64) {
        match self {
            Solving::Newton(run) => run.step(objective, wanted),
            Solving::Dual(run) => run.step(objective, wanted),
            Solving::Coordinates(run) => run.step(objective, wanted),
            Solving::Constant(..) => {}
        }
    }

    pub(crate) fn plane(&self, objective: &Objective) -> Plane {
        match self {
            Solving::Newton(run) => run.plane.clone(),
            Solving::Dual(run) => run.plane(objective),
            Solving::Coordinates(run) => run.plane.clone(),
            Solving::Constant(plane, _) => plane.clone(),
        }
    }

    pub(crate) fn gap(&self) -> Gap {
        match self {
            Solving::Newton(run) => run.gap,
            Solving::Dual(run) => run.gap,
            Solving::Coordinates(run) => run.gap,
            Solving::Constant(_, gap) => *gap,
        }
    }

    pub(crate) fn steps(&self) -> u64 {
        match self {
            Solving::Newton(run) => run.steps,
            Solving::Dual(run) => run.epochs,
            Solving::Coordinates(run) => run.steps,
            Solving::Constant(..) => 0,
        }
    }

    /// How often the rows were gone over, or about so.
    pub(crate) fn passes(&self) -> u64 {
        match self {
            Solving::Newton(run) => run.passes,
            other => other.steps(),
        }
    }

    pub(crate) fn is_exhausted(&self) -> bool {
        match self {
            Solving::Newton(run) => run.exhausted,
            Solving::Coordinates(run) => run.exhausted,
            Solving::Constant(..) => true,
            Solving::Dual(_) => false,
        }
    }

    pub(crate) fn save(&self) -> SavedWork {
        match self {
            Solving::Newton(run) => SavedWork::Newton(SavedNewton {
                plane: SavedPlane::of(&run.plane),
                gap: [run.gap.primal.to_bits(), run.gap.dual.to_bits()],
                steps: run.steps,
                exhausted: run.exhausted,
                passes: run.passes,
                care: run.care(),
                made: run.preconditioner().map(|(at, good)| (SavedPlane::of(at), good)),
            }),
            Solving::Dual(run) => SavedWork::Dual(Box::new(run.save())),
            Solving::Coordinates(run) => SavedWork::Coordinates(run.save()),
            Solving::Constant(..) => SavedWork::Constant,
        }
    }

    /// Goes back to a saved state; false if it does not belong to this objective.
    pub(crate) fn restore(&mut self, objective: &Objective, saved: SavedWork) -> bool {
        match (self, saved) {
            (Solving::Newton(run), SavedWork::Newton(saved)) => {
                match saved.run(&run.plane, objective) {
                    Some(saved) => {
                        *run = saved;
                        true
                    }
                    None => false,
                }
            }
            (Solving::Dual(run), SavedWork::Dual(saved)) => run.restore(objective, &saved),
            (Solving::Coordinates(run), SavedWork::Coordinates(saved)) => {
                run.restore(objective, &saved)
            }
            (Solving::Constant(..), SavedWork::Constant) => true,
            _ => false,
        }
    }

    /// Begins where another run has ended, C being `factor` times as large; from nothing where that was
    /// another solver, which is told by false.
    pub(crate) fn warm_start(
        &mut self,
        objective: &Objective,
        saved: SavedWork,
        factor: f64,
    ) -> bool {
        let fitting = |plane: &Plane| plane.weights.len() == objective.width();
        match (self, saved) {
            (Solving::Newton(run), SavedWork::Newton(saved)) => {
                let plane = saved.plane.plane();
                let fits = fitting(&plane);
                if fits {
                    *run = Newton::new(plane);
                }
                fits
            }
            (Solving::Coordinates(run), SavedWork::Coordinates(saved)) => {
                let plane = saved.plane();
                let fits = fitting(&plane);
                if fits {
                    *run = Coordinates::new(objective, plane);
                }
                fits
            }
            (Solving::Dual(run), SavedWork::Dual(saved)) => {
                run.warm_start(objective, &saved, factor)
            }
            // All rows are of one class: there is nowhere to begin.
            (Solving::Constant(..), SavedWork::Constant) => true,
            _ => false,
        }
    }
}

/// A solver in a saved state.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SavedWork {
    Newton(SavedNewton),
    Dual(Box<dual::SavedDual>),
    Coordinates(coordinates::SavedCoordinates),
    Constant,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedNewton {
    plane: SavedPlane,
    gap: [u64; 2],
    steps: u64,
    exhausted: bool,
    passes: u64,
    /// Whether products need exact values, and whether the last step was slow.
    #[serde(default)]
    care: [bool; 2],
    /// Where the preconditioner was made, and whether it still serves.
    made: Option<(SavedPlane, [bool; 2])>,
}

impl SavedNewton {
    fn run(self, there: &Plane, objective: &Objective) -> Option<Newton> {
        let one = |saved: SavedPlane| {
            SavedPlane::all(&[saved], std::slice::from_ref(there))
                .ok()
                .and_then(|mut all| all.pop())
        };
        let mut run = Newton::new(one(self.plane)?);
        if let Some((at, good)) = self.made {
            run.precondition(objective, one(at)?, good);
        }
        let [primal, dual] = self.gap.map(f64::from_bits);
        run.steps = self.steps;
        run.gap = Gap { primal, dual };
        run.exhausted = self.exhausted;
        run.passes = self.passes;
        run.take_care(self.care);
        Some(run)
    }
}

/// The plane of rows that are all of one class, if they are and the bias is free: no loss for the
/// hinges, next to none for the logistic loss, which has no least value there.
fn constant(objective: &Objective) -> Option<Solving> {
    let sign = *objective.signs.first()?;
    if objective.intercept != Intercept::Free || objective.signs.iter().any(|s| *s != sign) {
        return None;
    }
    let mut plane = objective.zero();
    for (j, w) in plane.weights.iter_mut().enumerate() {
        let (least, most) = objective.penalty.limits(j);
        *w = w.max(least).min(most);
    }
    plane.bias = sign * if objective.loss == Loss::Logistic { 40.0 } else { 1.0 };
    let primal = objective.primal(&plane, &objective.margins(&plane));
    Some(Solving::Constant(plane, Gap { primal, dual: 0.0 }))
}
