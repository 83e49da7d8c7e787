//! Runs that end when a certified gap is small enough.
//!
//! A `ConvexProblem` says what two classes are to make small; `OptimisingRun` makes a [`Training`] of it. The
//! solver follows from the shape of the data and is named in a remark with its reason:
//!
//! | rows and columns | solver |
//! |---|---|
//! | smooth loss, no more columns than rows or a free bias | Newton's method (`engine/newton`) |
//! | more columns than rows, or the hinge | dual coordinates (`engine/dual`) |
//! | a penalty with corners, or limits | coordinates on the columns (`engine/coordinates`) |
//!
//! Without a penalty the logistic loss has a least value only where no plane separates the classes, not
//! even weakly; the verdict is asked first (`verdict/existence`). The gap is estimated while the run goes on;
//! in the end a dual point is corrected on a few rows (`objective/correction`), which proves it.
//!
//! Proved: `optimal`. The solver hands over its plane and, where the plane does not tell it, its dual
//! point; the checker computes both objectives anew and bounds their rounding.

pub(crate) mod k_class;
pub(crate) mod one_versus_rest;
mod problem;
pub(crate) mod settings;
mod work;

use crate::claim::optimal::Claiming;
use crate::claim::planes::float_plane;
use crate::engine::certified::unknown_existence;
use crate::loss::Loss;
use crate::model::{LinearModel, Link, Plane, Rule};
pub use crate::objective::box_constraints::Bound;
use crate::objective::{Evaluation, Gap, Intercept, Objective, Sides};
use crate::objective::{correction, intercept};
use crate::run::ability::{BoundsObjective, WarmStarts};
use crate::run::epochs::{self, ByEpochs};
use crate::run::{
    Budget, Certificate, Datum, HELD_OUT, Progress, Remark, SavedPlane, State, Status, Task,
    Training,
};
use crate::verdict::existence::{Existence, ambiguity, logistic_optimum};
use linsep_data::buffer::Buffer;
use linsep_data::error::{Error, Result, readable};
use linsep_proof::DualPoint;
pub(crate) use problem::{ConvexProblem, Terms};
use serde::{Deserialize, Serialize};
pub use settings::{ConvexSettings, Solver};
use std::any::Any;
use work::{SavedWork, Solving};

/// A run on one plane.
pub(crate) struct OptimisingRun {
    problem: ConvexProblem,
    task: Task,
    positive: u32,
    objective: Objective,
    work: Solving,
    why: String,
    /// Why nobody knows whether there is a best plane, where that is so.
    doubt: Option<String>,
    visits: u64,
    /// The plane with the least objective that was looked at, and that objective, where planes on the way may
    /// be worse than earlier ones.
    best: Option<(f64, Plane)>,
}

impl OptimisingRun {
    fn new(problem: ConvexProblem, task: &Task, positive: u32) -> Result<OptimisingRun> {
        problem.check()?;
        let objective = problem.objective(task, positive)?;
        let (work, why) = Solving::new(&problem, &objective);
        let mut doubt = None;
        let in_question = problem.settings.is_unbounded() && problem.loss == Loss::Logistic;
        if in_question && !matches!(work, Solving::Constant(..)) {
            match logistic_optimum(task, positive, objective.has_bias()) {
                Existence::Exists => {}
                Existence::Unknown(words) => doubt = Some(words),
                Existence::Missing(words) => {
                    return Err(Error::usage(format!(
                        "`penalty=none`: no optimum exists, {words}; use `penalty=l2` or l1, or Firth's likelihood (see linsep infer)"
                    )));
                }
            }
        }
        let task = task.clone();
        let (visits, best) = (0, None);
        Ok(OptimisingRun { problem, task, positive, objective, work, why, doubt, visits, best })
    }

    /// The plane of the run, or a better one that it has seen: the objective of multipliers that improve may
    /// rise on the way.
    fn plane(&self) -> Plane {
        let plane = self.work.plane(&self.objective);
        match &self.best {
            Some((least, best)) if !self.is_done() => {
                let primal = self.objective.primal(&plane, &self.objective.margins(&plane));
                if *least < primal { best.clone() } else { plane }
            }
            _ => plane,
        }
    }

    /// Remembers the plane of the last look, if it is the best so far.
    fn remember(&mut self, before: Gap) {
        let now = self.work.gap();
        let looked = now.primal.to_bits() != before.primal.to_bits();
        let least = self.best.as_ref().map_or(f64::INFINITY, |(least, _)| *least);
        let is_needed = looked && now.primal < least && !self.is_done();
        if is_needed && matches!(self.work, Solving::Dual(_)) {
            self.best = Some((now.primal, self.work.plane(&self.objective)));
        }
    }

    fn is_done(&self) -> bool {
        self.work.gap().reaches(self.problem.settings.aim()) || self.work.is_exhausted()
    }

    /// How near to the best the plane is as it stands; a run that goes on has moved since it knew.
    fn now(&self) -> Gap {
        match self.is_done() || self.problem.settings.is_unbounded() {
            true => self.work.gap(),
            false => self.measured().0,
        }
    }

    fn state(&self) -> Status {
        let gap = self.work.gap();
        let numbers = !gap.primal.is_nan() && !gap.dual.is_nan();
        // A run that cannot go on and does not know how far it is has numbers out of range.
        let lost = self.work.is_exhausted() && !gap.dual.is_finite();
        match (numbers && !lost, self.is_done()) {
            (false, _) => Status::Diverged,
            (true, true) => Status::Finished,
            (true, false) => Status::Running,
        }
    }

    /// How near the best the plane is, measured anew where it has moved since, and a dual point that
    /// shows it with the sums of its multipliers.
    fn measured(&self) -> (Gap, Buffer<f64>, Sides) {
        let (objective, plane) = (&self.objective, &self.plane());
        let fresh = |evaluation: Evaluation| {
            let dual = objective.dual(&evaluation.sides, &evaluation.alpha);
            (Gap { primal: evaluation.primal, dual }, evaluation.alpha, evaluation.sides)
        };
        match &self.work {
            Solving::Newton(run) => match run.seen() {
                Some(evaluation) => (run.gap, evaluation.alpha.clone(), evaluation.sides.clone()),
                None => fresh(objective.evaluate(plane)),
            },
            Solving::Dual(run) => {
                let margins = objective.margins(plane);
                let alpha: Buffer<f64> = run.multipliers().iter().copied().collect();
                let (primal, sides) = (objective.primal(plane, &margins), objective.sides(&alpha));
                fresh(Evaluation { primal, margins, alpha, sides })
            }
            Solving::Coordinates(_) | Solving::Constant(..) => fresh(objective.evaluate(plane)),
        }
    }

    /// Why nothing can be proved, if that is so.
    fn unprovable(&self) -> Option<&'static str> {
        let data = self.task.data.as_ref();
        if matches!(self.work, Solving::Constant(..)) {
            return Some("all rows that count are of one class");
        }
        if self.problem.settings.is_unbounded() && self.problem.loss != Loss::Logistic {
            return Some("without a penalty nothing bounds the objective from below here");
        }
        let all = (0..data.n_rows()).filter(|&row| data.weight(row) > 0.0).count();
        if self.objective.len() < all {
            return Some(HELD_OUT);
        }
        None
    }

    /// What the checker confirms of this plane.
    fn proved(&self) -> Certificate {
        let gap = self.now();
        if !gap.dual.is_finite() {
            return Certificate::unproved("the run ended before it knew of any gap");
        }
        let (objective, plane) = (&self.objective, self.plane());
        let cuts = (objective.intercept == Intercept::Free)
            .then(|| {
                let (gap, alpha, sides) = self.measured();
                intercept::cuts(objective, &alpha, &sides, gap, plane.bias)
            })
            .flatten();
        match self.dual_point(&plane) {
            Ok(dual) => self.claiming(&plane, gap, dual, cuts).certificate(),
            Err(reason) => Certificate::unproved(reason),
        }
    }

    /// What the checker confirms of another plane, with the dual point of this run.
    fn proved_of(&self, other: &Plane) -> Certificate {
        let (gap, ..) = self.measured();
        let primal = self.objective.primal(other, &self.objective.margins(other));
        let mut dual = match self.dual_point(&self.plane()) {
            Ok(dual) => dual,
            Err(reason) => return Certificate::unproved(reason),
        };
        if !matches!(self.work, Solving::Dual(_)) {
            let plane = self.plane();
            dual.plane = Some(float_plane(&plane.weights, Some(plane.bias)));
        }
        self.claiming(other, Gap { primal, ..gap }, dual, None).certificate()
    }

    fn claiming<'a>(
        &'a self,
        plane: &'a Plane,
        gap: Gap,
        dual: DualPoint,
        cuts: Option<[f64; 2]>,
    ) -> Claiming<'a> {
        let OptimisingRun { problem, objective, positive, task, .. } = self;
        let Objective { loss, data, rows, penalty, .. } = objective;
        Claiming {
            claimed: problem.claimed(loss.in_claims(), data, rows, penalty),
            objective,
            positive: *positive,
            plane,
            gap,
            dual,
            cuts,
            threads: task.threads,
        }
    }

    /// The multipliers that the plane does not give, or the rows that correct those it gives.
    fn dual_point(&self, plane: &Plane) -> std::result::Result<DualPoint, &'static str> {
        if self.problem.settings.is_unbounded() {
            let rows = correction::rows(&self.objective, &self.objective.margins(plane))?;
            return Ok(DualPoint::default().with_correction(rows));
        }
        let Solving::Dual(run) = &self.work else { return Ok(DualPoint::default()) };
        let rows = self.objective.rows.iter().zip(run.multipliers());
        let alpha = rows.map(|(row, alpha)| (u64::from(*row), *alpha)).collect();
        Ok(DualPoint::default().with_alpha(alpha))
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedOptimising {
    rows: usize,
    visits: u64,
    work: SavedWork,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    best: Option<(u64, SavedPlane)>,
}

impl ByEpochs for OptimisingRun {
    fn visits(&mut self) -> &mut u64 {
        &mut self.visits
    }

    fn status(&self) -> Status {
        self.state()
    }

    fn work(&mut self) {
        let (wanted, before) = (self.problem.settings.aim(), self.work.gap());
        self.work.step(&self.objective, wanted);
        self.remember(before);
    }
}

impl Training for OptimisingRun {
    /// The work of an epoch is done at its last visit.
    fn advance(&mut self, budget: Budget) -> Status {
        epochs::advance(self, budget)
    }

    fn epoch_rows(&self) -> u64 {
        self.objective.len() as u64
    }

    fn progress(&self) -> Progress {
        let (objective, gap) = self.work.gap().known();
        Progress {
            epochs: self.visits / self.epoch_rows(),
            visits: self.visits,
            updates: 0,
            last_mistakes: None,
            objective,
            // Without a penalty it is estimated, and proves nothing.
            gap: gap.filter(|_| !self.problem.settings.is_unbounded()),
        }
    }

    fn model(&self) -> LinearModel {
        let mut plane = self.plane();
        // A negative zero would tell one storage from the other.
        plane.weights.iter_mut().for_each(|w| *w += 0.0);
        let link = match self.problem.loss {
            Loss::Logistic => Link::Softmax,
            _ => Link::None,
        };
        LinearModel::of(&self.task.data, vec![plane], Rule::Sign, link)
    }

    fn certificate(&self) -> Certificate {
        match self.unprovable() {
            Some(reason) => Certificate::unproved(reason),
            None => self.proved(),
        }
    }

    fn save(&self) -> State {
        let (rows, visits) = (self.objective.len(), self.visits);
        let best =
            self.best.as_ref().map(|(least, plane)| (least.to_bits(), SavedPlane::of(plane)));
        State::encode(&SavedOptimising { rows, visits, work: self.work.save(), best })
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        let saved: SavedOptimising = state.decode()?;
        if saved.rows != self.objective.len() || !self.work.restore(&self.objective, saved.work) {
            return Err(Error::usage("the saved state belongs to a run on other data"));
        }
        self.visits = saved.visits;
        let width = self.objective.width();
        let best = saved.best.map(|(least, plane)| (f64::from_bits(least), plane.plane()));
        self.best = best.filter(|(_, plane)| plane.weights.len() == width);
        Ok(())
    }

    fn remarks(&self) -> Vec<Remark> {
        let gap = self.now();
        let solver = Remark::new(
            "solver",
            self.why.as_str(),
            [("solver", self.why.as_str().into()), ("passes", self.work.passes().into())],
        );
        let estimated = self.problem.settings.is_unbounded();
        let found = Remark::new(
            "objective",
            format!(
                "{}, {}{} (tolerance {:e})",
                readable(gap.primal, 7),
                if estimated { "estimated " } else { "" },
                gap.words(),
                self.problem.settings.gap
            ),
            [
                ("primal", gap.primal.into()),
                ("dual", (!estimated).then_some(gap.dual).into()),
                ("gap", gap.relative().into()),
                ("wanted", self.problem.settings.gap.into()),
            ],
        );
        let mut remarks = vec![solver, found];
        if self.is_done() {
            let words = match gap.reaches(self.problem.settings.aim()) {
                _ if matches!(self.work, Solving::Constant(..)) => "nothing to do".to_owned(),
                true if estimated => {
                    format!("converged (estimated gap {})", readable(gap.relative(), 2))
                }
                true => format!("converged (duality gap {})", readable(gap.relative(), 2)),
                false => "rounding leaves nothing to gain".to_owned(),
            };
            remarks.push(Remark::new("stop", words.as_str(), words.as_str()));
        }
        if let Some(words) = &self.doubt {
            remarks.push(unknown_existence(words));
        }
        if estimated && !matches!(self.work, Solving::Constant(..)) {
            remarks.extend(ambiguity(&self.task, self.objective.has_bias()));
        }
        let weights = self.plane().weights;
        if self.problem.settings.l1 > 0.0 && weights.iter().all(|w| *w == 0.0) {
            remarks.push(Remark::new(
                "weights",
                "the penalty leaves no weight: all are 0, and the bias alone decides; a larger `c` leaves more",
                [("nonzero", Datum::Count(0))],
            ));
        }
        remarks
    }

    crate::training_has!(warm_starts, bounds_objective);
    crate::training_lacks!(traces, carries_on, bounds_margin, generates, seeks);
}

impl WarmStarts for OptimisingRun {
    fn warm_start(&mut self, state: &State, factor: f64) -> bool {
        match state.decode::<SavedOptimising>() {
            Ok(saved) if saved.rows == self.objective.len() => {
                // What was best under another objective is not known to be so here.
                self.best = None;
                self.work.warm_start(&self.objective, saved.work, factor)
            }
            _ => false,
        }
    }

    fn hand_over(&mut self) -> Option<Box<dyn Any + Send>> {
        let Solving::Newton(run) = &mut self.work else { return None };
        Some(Box::new(run.hand_over()?))
    }

    fn take_over(&mut self, known: Box<dyn Any + Send>, factor: f64) {
        if let (Solving::Newton(run), Ok(seen)) = (&mut self.work, known.downcast::<Evaluation>()) {
            run.take_over(&self.objective, *seen, factor);
        }
    }
}

impl BoundsObjective for OptimisingRun {
    fn certificate_of(&self, planes: &[Plane]) -> Certificate {
        match (self.unprovable(), planes) {
            (Some(reason), _) => Certificate::unproved(reason),
            (None, [plane]) if plane.weights.len() == self.objective.width() => {
                self.proved_of(plane)
            }
            _ => Certificate::unproved("the planes are not those of this problem"),
        }
    }

    fn gap(&self) -> Option<f64> {
        self.now().known().1
    }
}
