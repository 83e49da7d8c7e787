//! Runs that end when a certified gap is small enough.
//!
//! A [`Problem`] says what two classes are to make small; [`Run`] makes a [`Training`] of it. The
//! solver follows from the shape of the data and is named in a remark with its reason:
//!
//! | rows and columns | solver |
//! |---|---|
//! | smooth loss, no more columns than rows or a free bias | Newton's method ([`crate::engine::newton`]) |
//! | more columns than rows, or the hinge | dual coordinates ([`crate::engine::dual`]) |
//!
//! Proved: `optimal`. The solver hands over its plane and, where the plane does not tell it, its dual
//! point; the checker computes both objectives anew and bounds their rounding.

use super::certified::{Certified, Evidence, Machine, foreign};
use super::closed_form::class_factors;
use super::{SavedPlane, State, Task, Training};
use crate::data::Dataset;
use crate::data::scale::{Scaler, Scaling};
use crate::engine::dual::{self, Dual};
use crate::engine::newton::Newton;
use crate::engine::objective::{Gap, Intercept, Loss, Objective, Penalty};
use crate::error::{Code, Error, Place, Result};
use crate::model::{LinearModel, Link, Plane, Rule};
use crate::verdict::{float_plane, problem_of};
use linsep_proof::{DualPoint, Objective as Claimed, Planes};
use serde::{Deserialize, Serialize};

/// What two classes make small, and how near to the best is near enough.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) loss: Loss,
    pub(crate) c: f64,
    pub(crate) l1: f64,
    pub(crate) l2: f64,
    pub(crate) intercept: Intercept,
    pub(crate) scale: Scaling,
    pub(crate) balanced: bool,
    pub(crate) gap: f64,
    pub(crate) solver: Solver,
    pub(crate) seed: u64,
}

crate::data::read::words! {
    /// Who does the work.
    Solver: "solver" {
        /// Chosen from the shape of the data.
        Auto = "auto",
        /// Newton's method.
        Newton = "newton",
        /// Dual coordinate descent.
        Dual = "dual",
    }
}

impl Problem {
    /// A run of the class `positive` against the others.
    pub(crate) fn start(&self, task: &Task, positive: u32) -> Result<Box<dyn Training>> {
        Ok(Box::new(Certified::new(Run::new(self.clone(), task, positive)?)))
    }

    fn objective(&self, task: &Task, positive: u32) -> Result<Objective> {
        let Terms { rows, costs, penalty } = self.terms(task)?;
        let data = &task.data;
        let sign = |&row: &u32| if data.class_of(row as usize) == positive { 1.0 } else { -1.0 };
        Ok(Objective {
            data: std::sync::Arc::clone(data),
            signs: rows.iter().map(sign).collect(),
            costs,
            loss: self.loss,
            penalty,
            intercept: self.intercept,
            threads: task.threads,
            rows,
        })
    }

    /// The rows of a task with their costs, and the penalty.
    pub(crate) fn terms(&self, task: &Task) -> Result<Terms> {
        let data = &task.data;
        let rows = task.active_rows()?;
        if rows.is_empty() {
            return Err(Error::data(Code::BAD_WEIGHT, "no row has a weight", Place::default()));
        }
        let factors = class_factors(data, &rows, self.balanced);
        let class = |row: u32| data.class_of(row as usize);
        let cost = |&row: &u32| (self.c * data.weight(row as usize)) * factors[class(row) as usize];
        let costs: Vec<f64> = rows.iter().map(cost).collect();
        if let Some(at) = costs.iter().position(|cost| !(cost.is_finite() && *cost > 0.0)) {
            return Err(Error::usage(format!(
                "--c {}: row {} of the data would cost {}; choose another C or other weights",
                self.c, rows[at], costs[at]
            )));
        }
        let scale = match self.scale {
            Scaling::None => None,
            scaling => {
                let scaler = Scaler::new(scaling, data, &rows);
                scaler.check()?;
                Some((0..data.n_features()).map(|j| 1.0 / scaler.scale(j)).collect())
            }
        };
        Ok(Terms { rows, costs, penalty: Penalty { l1: self.l1, l2: self.l2, scale } })
    }

    /// The objective as it is claimed.
    pub(crate) fn claimed(
        &self,
        loss: linsep_proof::Loss,
        data: &Dataset,
        rows: &[u32],
        penalty: &Penalty,
    ) -> Claimed {
        let class_weights = match self.balanced {
            true => {
                let factors = class_factors(data, rows, true);
                data.classes().iter().cloned().zip(factors).collect()
            }
            false => Vec::new(),
        };
        Claimed {
            loss,
            c: self.c,
            l2: self.l2,
            l1: self.l1,
            intercept: self.intercept,
            class_weights,
            scale: penalty.scale.clone().unwrap_or_default(),
            limits: Vec::new(),
        }
    }
}

/// The rows of a task with their costs, and the penalty.
pub(crate) struct Terms {
    pub(crate) rows: Vec<u32>,
    pub(crate) costs: Vec<f64>,
    pub(crate) penalty: Penalty,
}

/// Who does the work, and why.
enum Work {
    Newton(Newton),
    Dual(Dual),
}

impl Work {
    fn new(problem: &Problem, objective: &Objective) -> (Work, String) {
        let (rows, columns) = (objective.len(), objective.width());
        let smooth = objective.loss != Loss::Hinge;
        let (newton, why) = match problem.solver {
            Solver::Newton => (true, "as asked".to_owned()),
            Solver::Dual => (false, "as asked".to_owned()),
            Solver::Auto if !smooth => (false, "the hinge has a kink".to_owned()),
            Solver::Auto if columns <= rows / 2 => {
                (true, format!("{rows} rows for {columns} columns"))
            }
            Solver::Auto if objective.intercept == Intercept::Free => {
                (true, "the bias is free".to_owned())
            }
            Solver::Auto => (false, format!("{columns} columns for {rows} rows")),
        };
        match newton {
            true => {
                (Work::Newton(Newton::new(objective.zero())), format!("Newton's method: {why}"))
            }
            false => {
                (Work::Dual(Dual::new(objective, problem.seed)), format!("dual coordinates: {why}"))
            }
        }
    }

    fn step(&mut self, objective: &Objective, wanted: f64) {
        match self {
            Work::Newton(run) => run.step(objective, wanted),
            Work::Dual(run) => run.step(objective, wanted),
        }
    }

    fn plane(&self) -> &Plane {
        match self {
            Work::Newton(run) => &run.plane,
            Work::Dual(run) => &run.plane,
        }
    }

    fn gap(&self) -> Gap {
        match self {
            Work::Newton(run) => run.gap,
            Work::Dual(run) => run.gap,
        }
    }

    fn steps(&self) -> u64 {
        match self {
            Work::Newton(run) => run.steps,
            Work::Dual(run) => run.epochs,
        }
    }

    fn is_exhausted(&self) -> bool {
        matches!(self, Work::Newton(Newton { exhausted: true, .. }))
    }
}

/// A run on one plane.
pub(crate) struct Run {
    problem: Problem,
    task: Task,
    positive: u32,
    objective: Objective,
    work: Work,
    why: String,
}

impl Run {
    fn new(problem: Problem, task: &Task, positive: u32) -> Result<Run> {
        let objective = problem.objective(task, positive)?;
        let (work, why) = Work::new(&problem, &objective);
        let task = task.clone();
        Ok(Run { problem, task, positive, objective, work, why })
    }

    /// The multipliers that the plane does not tell.
    fn dual_point(&self) -> DualPoint {
        let Work::Dual(run) = &self.work else { return DualPoint::default() };
        let rows = self.objective.rows.iter().zip(&run.alpha);
        DualPoint {
            alpha: rows.map(|(row, alpha)| (u64::from(*row), *alpha)).collect(),
            ..DualPoint::default()
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    steps: u64,
    newton: Option<SavedNewton>,
    dual: Option<dual::Saved>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedNewton {
    plane: SavedPlane,
    gap: [u64; 2],
    exhausted: bool,
    /// Where the preconditioner was made, and whether it still serves.
    made: Option<(SavedPlane, bool)>,
}

impl Machine for Run {
    fn task(&self) -> &Task {
        &self.task
    }

    fn rows(&self) -> usize {
        self.objective.len()
    }

    fn wanted(&self) -> f64 {
        self.problem.gap
    }

    fn step(&mut self) {
        self.work.step(&self.objective, self.problem.gap);
    }

    fn gap(&self) -> Gap {
        self.work.gap()
    }

    fn steps(&self) -> u64 {
        self.work.steps()
    }

    fn is_exhausted(&self) -> bool {
        self.work.is_exhausted()
    }

    fn is_finite(&self) -> bool {
        let plane = self.work.plane();
        plane.bias.is_finite() && plane.weights.iter().all(|w| w.is_finite())
    }

    fn solver(&self) -> &str {
        &self.why
    }

    fn model(&self) -> LinearModel {
        let data = &self.task.data;
        LinearModel {
            planes: vec![self.work.plane().clone()],
            rule: Rule::Sign,
            link: match self.problem.loss {
                Loss::Logistic => Link::Softmax,
                _ => Link::None,
            },
            classes: data.classes().to_vec(),
            input: data.input().clone(),
        }
    }

    fn evidence(&self) -> Evidence {
        let (plane, gap) = (self.work.plane(), self.work.gap());
        let data = self.task.data.as_ref();
        let objective = &self.objective;
        let problem = problem_of(data, &data.classes()[self.positive as usize], None);
        let loss = match objective.loss {
            Loss::Logistic => linsep_proof::Loss::Logistic,
            Loss::Hinge => linsep_proof::Loss::Hinge,
            Loss::SquaredHinge => linsep_proof::Loss::SquaredHinge,
        };
        Evidence {
            planes: Planes::Two { problem, plane: float_plane(&plane.weights, Some(plane.bias)) },
            objective: self.problem.claimed(loss, data, &objective.rows, &objective.penalty),
            dual: self.dual_point(),
            gap,
        }
    }

    fn save(&self) -> State {
        let mut saved = Saved { steps: self.work.steps(), newton: None, dual: None };
        match &self.work {
            Work::Newton(run) => {
                saved.newton = Some(SavedNewton {
                    plane: SavedPlane::of(&run.plane),
                    gap: [run.gap.primal.to_bits(), run.gap.dual.to_bits()],
                    exhausted: run.exhausted,
                    made: run.preconditioner().map(|(at, good)| (SavedPlane::of(at), good)),
                });
            }
            Work::Dual(run) => saved.dual = Some(run.save()),
        }
        State::encode(&saved)
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        let saved: Saved = state.decode()?;
        match (&mut self.work, saved.newton, saved.dual) {
            (Work::Newton(run), Some(newton), None) => {
                let there = std::slice::from_ref(&run.plane);
                let one = |saved: SavedPlane| -> Result<Plane> {
                    SavedPlane::all(&[saved], there)?.pop().ok_or_else(foreign)
                };
                let mut next = Newton::new(one(newton.plane)?);
                if let Some((at, good)) = newton.made {
                    next.precondition(&self.objective, one(at)?, good);
                }
                let [primal, dual] = newton.gap.map(f64::from_bits);
                next.steps = saved.steps;
                next.gap = Gap { primal, dual };
                next.exhausted = newton.exhausted;
                *run = next;
            }
            (Work::Dual(run), None, Some(saved)) => {
                if !run.restore(&saved) {
                    return Err(foreign());
                }
            }
            _ => return Err(foreign()),
        }
        Ok(())
    }
}
