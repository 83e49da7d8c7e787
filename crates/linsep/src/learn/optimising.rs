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

use super::closed_form::class_factors;
use super::{Budget, Certificate, Progress, Remark, SavedPlane, State, Status, Task, Training};
use crate::data::scale::{Scaler, Scaling};
use crate::engine::dual::{self, Dual};
use crate::engine::newton::Newton;
use crate::engine::objective::{Gap, Intercept, Loss, Objective, Penalty};
use crate::engine::tilt::Tilts;
use crate::error::{Code, Error, Place, Result};
use crate::model::{LinearModel, Link, Plane, Rule};
use crate::verdict::{float_plane, problem_of};
use linsep_proof::{
    Claim, DualPoint, Finding, Objective as Claimed, Optimality, Planes, check_claim,
};
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
        Ok(Box::new(Run::new(self.clone(), task, positive)?))
    }

    fn objective(&self, task: &Task, positive: u32) -> Result<Objective> {
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
        let sign = |&row: &u32| if class(row) == positive { 1.0 } else { -1.0 };
        let signs = rows.iter().map(sign).collect();
        Ok(Objective {
            data: std::sync::Arc::clone(data),
            signs,
            costs,
            loss: self.loss,
            penalty: Penalty { l1: self.l1, l2: self.l2, scale },
            intercept: self.intercept,
            threads: task.threads,
            rows,
        })
    }
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
    visits: u64,
}

impl Run {
    fn new(problem: Problem, task: &Task, positive: u32) -> Result<Run> {
        let objective = problem.objective(task, positive)?;
        let (work, why) = Work::new(&problem, &objective);
        let task = task.clone();
        Ok(Run { problem, task, positive, objective, work, why, visits: 0 })
    }

    fn is_done(&self) -> bool {
        self.work.gap().relative() <= self.problem.gap || self.work.is_exhausted()
    }

    fn status(&self) -> Status {
        let plane = self.work.plane();
        let finite = plane.bias.is_finite() && plane.weights.iter().all(|w| w.is_finite());
        match (finite, self.is_done()) {
            (false, _) => Status::Diverged,
            (true, true) => Status::Finished,
            (true, false) => Status::Running,
        }
    }

    /// What is claimed, with some slack for what rounding may do to the checker's own sums.
    fn claim(&self, slack: f64, tilts: Option<&Tilts>) -> Claim {
        let (plane, gap) = (self.work.plane(), self.work.gap());
        let data = self.task.data.as_ref();
        let objective = &self.objective;
        let primal = gap.primal + slack * gap.primal.abs();
        let bound = gap.dual - slack * gap.primal.abs();
        let distance = primal - bound;
        let radius = |l2: f64| (2.0 * distance / l2).sqrt() * (1.0 + 1e-12);
        let names = data.classes();
        let class_weights = match self.problem.balanced {
            true => {
                let factors = class_factors(data, &objective.rows, true);
                names.iter().cloned().zip(factors).collect()
            }
            false => Vec::new(),
        };
        let problem = problem_of(data, &names[self.positive as usize], None);
        Claim::Optimal {
            planes: Planes::Two { problem, plane: float_plane(&plane.weights, Some(plane.bias)) },
            optimality: Optimality {
                objective: Claimed {
                    loss: match objective.loss {
                        Loss::Logistic => linsep_proof::Loss::Logistic,
                        Loss::Hinge => linsep_proof::Loss::Hinge,
                        Loss::SquaredHinge => linsep_proof::Loss::SquaredHinge,
                    },
                    c: self.problem.c,
                    l2: self.problem.l2,
                    l1: self.problem.l1,
                    intercept: objective.intercept,
                    class_weights,
                    scale: objective.penalty.scale.clone().unwrap_or_default(),
                    limits: Vec::new(),
                },
                dual: self.dual_point(),
                primal,
                bound,
                gap: distance / primal * (1.0 + 1e-12),
                radius: (self.problem.l2 > 0.0).then(|| radius(self.problem.l2)),
                bias: tilts.map(|tilts| tilts.interval(primal, slack * gap.primal.abs())),
            },
        }
    }

    /// Cuts of the multipliers that bound a free bias.
    fn tilts(&self) -> Option<Tilts> {
        let objective = &self.objective;
        if objective.intercept != Intercept::Free || objective.penalty.l2 == 0.0 {
            return None;
        }
        let (alpha, sides) = match &self.work {
            Work::Newton(run) => run.dual_point(objective),
            Work::Dual(run) => (run.alpha.clone(), objective.sides(&run.alpha)),
        };
        Tilts::find(objective, &alpha, &sides, self.work.gap(), self.work.plane().bias)
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
    rows: usize,
    visits: u64,
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

impl Training for Run {
    /// The work of an epoch is done at its last visit.
    fn advance(&mut self, budget: Budget) -> Status {
        let epoch = self.epoch_rows();
        let mut left = budget.visits;
        while left > 0 && self.status() == Status::Running {
            let to_end = epoch - self.visits % epoch;
            let now = left.min(to_end);
            self.visits += now;
            left -= now;
            if now == to_end {
                self.work.step(&self.objective, self.problem.gap);
            }
        }
        self.status()
    }

    fn epoch_rows(&self) -> u64 {
        self.objective.len() as u64
    }

    fn progress(&self) -> Progress {
        Progress {
            epochs: self.visits / self.epoch_rows(),
            visits: self.visits,
            updates: self.work.steps(),
            last_mistakes: None,
        }
    }

    fn model(&self) -> LinearModel {
        let data = &self.task.data;
        let mut plane = self.work.plane().clone();
        // A negative zero would tell one storage from the other.
        plane.weights.iter_mut().for_each(|w| *w += 0.0);
        LinearModel {
            planes: vec![plane],
            rule: Rule::Sign,
            link: match self.problem.loss {
                Loss::Logistic => Link::Softmax,
                _ => Link::None,
            },
            classes: data.classes().to_vec(),
            input: data.input().clone(),
        }
    }

    fn certificate(&self) -> Certificate {
        let data = self.task.data.as_ref();
        if !self.work.gap().dual.is_finite() {
            return Certificate::unproved("the run ended before its gap was measured");
        }
        let all = (0..data.n_rows()).filter(|&row| data.weight(row) > 0.0).count();
        if self.objective.len() < all {
            return Certificate::unproved(
                "learned from some of the rows; of the whole data nothing is claimed",
            );
        }
        let mut words = String::new();
        let tilts = self.tilts();
        for slack in [1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-7] {
            let claim = self.claim(slack, tilts.as_ref());
            match check_claim(&claim, data, &data.reading_field(), true, self.task.threads) {
                Finding::Holds(_) => return Certificate { claims: vec![claim] },
                Finding::Nothing(reason) | Finding::Fails(reason) => words = reason,
            }
        }
        Certificate::unproved(format!("the checker does not confirm it: {words}"))
    }

    fn save(&self) -> State {
        let mut saved = Saved {
            rows: self.objective.len(),
            visits: self.visits,
            steps: self.work.steps(),
            newton: None,
            dual: None,
        };
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
        let foreign = || Error::usage("the saved state belongs to a run on other data");
        if saved.rows != self.objective.len() {
            return Err(foreign());
        }
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
        self.visits = saved.visits;
        Ok(())
    }

    fn remarks(&self) -> Vec<Remark> {
        let gap = self.work.gap();
        let solver = Remark {
            name: "solver",
            words: self.why.clone(),
            data: serde_json::json!({ "solver": self.why }),
        };
        let found = Remark {
            name: "objective",
            words: format!(
                "{:.6e}, gap {:.1e} (wanted {:e})",
                gap.primal,
                gap.relative(),
                self.problem.gap
            ),
            data: serde_json::json!({
                "primal": gap.primal, "dual": gap.dual, "gap": gap.relative(), "wanted": self.problem.gap,
            }),
        };
        vec![solver, found]
    }
}
