//! One-versus-rest machines that share their passes over the rows.
//!
//! The same objectives as [`crate::learn::optimising`], one for each class, solved up to sixteen at a time
//! by [`crate::engine::sweep`]. Each machine has its own claim `optimal`; the multipliers in it have a few
//! digits, which prove as much as many.

use crate::claim::optimal::measured;
use crate::claim::planes::{float_plane, problem_of};
use crate::engine::permuted::PermutedObjective;
use crate::engine::sweep::{self, Classifiers, Found, LEAST_GAP};
use crate::learn::optimising::ConvexProblem;
use crate::loss::Loss;
use crate::model::{LinearModel, Link, Plane, Rule};
use crate::objective::{Gap, Penalty};
use crate::run::ability::{BoundsObjective, WarmStarts};
use crate::run::epochs::{self, ByEpochs};
use crate::run::{Budget, Certificate, HELD_OUT, Progress, Remark, State, Status, Task, Training};
use linsep_data::error::{Error, Result, readable};
use linsep_data::parallel::parallel_map;
use linsep_proof::{Claim, DualPoint, Planes};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, OnceLock};

/// A run of all machines.
pub(crate) struct Sweeps {
    problem: ConvexProblem,
    task: Task,
    rows: Vec<u32>,
    sweeps: Vec<Box<dyn Classifiers>>,
    visits: u64,
    /// What [`Sweeps::found`] gave since the last step.
    found: OnceLock<Vec<Found>>,
}

impl Sweeps {
    /// A run of one machine for each class.
    pub(crate) fn new(problem: ConvexProblem, task: &Task) -> Result<Sweeps> {
        let objective = problem.objective(task, 0)?;
        let data = &task.data;
        let classes: Vec<u32> =
            objective.rows.iter().map(|&row| data.class_of(row as usize)).collect();

        let permuted = Arc::new(PermutedObjective::new(&objective, problem.settings.seed));
        let sweeps = sweep::sweeps(&permuted, &classes, data.n_classes());

        let rows = objective.rows;
        let found = OnceLock::new();
        Ok(Sweeps { problem, task: task.clone(), rows, sweeps, visits: 0, found })
    }

    /// Aims a little lower, for what binary32 does not see.
    fn wanted(&self) -> f64 {
        0.95 * self.problem.settings.gap
    }

    fn state(&self) -> Status {
        let nan = self.sweeps.iter().flat_map(|s| s.gaps()).any(|gap| gap.primal.is_nan());
        match (nan, self.sweeps.iter().all(|sweep| sweep.is_done(self.wanted()))) {
            (true, _) => Status::Diverged,
            (false, true) => Status::Finished,
            (false, false) => Status::Running,
        }
    }

    /// The gap of one class against the others; a class without a classifier has none.
    fn gap_of(&self, class: usize) -> Gap {
        let mut gaps = self.sweeps.iter().flat_map(|sweep| sweep.gaps());
        gaps.nth(class).copied().unwrap_or(Gap::NONE)
    }

    /// Every machine as it is now.
    fn found(&self) -> &[Found] {
        self.found.get_or_init(|| {
            let found = |k: usize| self.sweeps[k].found();
            let parts = parallel_map(self.sweeps.len(), self.task.threads, found);
            parts.into_iter().flatten().collect()
        })
    }

    /// Why nothing is claimed, whatever was found.
    fn unprovable(&self) -> Option<&'static str> {
        let data = self.task.data.as_ref();
        if self.sweeps.iter().any(|sweep| sweep.gaps()[0].primal.is_infinite()) {
            return Some("the run ended before its gap was measured");
        }
        let all = (0..data.n_rows()).filter(|&row| data.weight(row) > 0.0).count();
        (self.rows.len() < all).then_some(HELD_OUT)
    }

    /// The gaps as they are now: machines that are stopped have moved since they were measured.
    fn gaps_now(&self) -> Vec<Gap> {
        match self.state() {
            Status::Finished => (0..self.task.data.n_classes()).map(|k| self.gap_of(k)).collect(),
            _ => self.sweeps.iter().flat_map(|sweep| sweep.measured(self.task.threads)).collect(),
        }
    }

    /// The objective of another plane for a class.
    fn primal_of(&self, class: usize, plane: &Plane) -> Result<f64> {
        let objective = self.problem.objective(&self.task, class as u32)?;
        Ok(objective.primal(plane, &objective.margins(plane)))
    }

    /// The multipliers, without those that the plane tells: rows beyond their margin have none.
    fn dual_point(&self, found: &Found, listed: &[u32]) -> DualPoint {
        let pair = |&i: &u32| (u64::from(self.rows[i as usize]), found.alpha[i as usize]);
        DualPoint::default().with_alpha(listed.iter().map(pair).collect())
    }

    /// What the checker measures of a plane for a class.
    fn proved(&self, class: usize, plane: &Plane, listed: &[u32], gap: Gap) -> Claim {
        let data = self.task.data.as_ref();
        let loss = self.problem.loss.in_claims();
        let penalty = Penalty { l1: 0.0, l2: self.problem.settings.l2, scale: None, limits: None };
        let planes = Planes::Two {
            problem: problem_of(data, &data.classes()[class], None),
            plane: float_plane(&plane.weights, Some(plane.bias)),
        };
        let objective = self.problem.claimed(loss, data, &self.rows, &penalty);
        let dual = self.dual_point(&self.found()[class], listed);
        measured(planes, objective, dual, gap, None, data, 1)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedSweeps {
    rows: usize,
    visits: u64,
    sweeps: Vec<sweep::SavedSweep>,
}

impl ByEpochs for Sweeps {
    fn visits(&mut self) -> &mut u64 {
        &mut self.visits
    }

    fn status(&self) -> Status {
        self.state()
    }

    fn work(&mut self) {
        self.found = OnceLock::new();
        let wanted = self.wanted();
        let sweeps: Vec<Mutex<&mut Box<dyn Classifiers>>> =
            self.sweeps.iter_mut().map(Mutex::new).collect();
        parallel_map(sweeps.len(), self.task.threads, |k| {
            if let Ok(mut sweep) = sweeps[k].lock()
                && !sweep.is_done(wanted)
            {
                sweep.step(wanted, 1);
            }
        });
    }
}

impl Training for Sweeps {
    /// The work of an epoch is done at its last visit.
    fn advance(&mut self, budget: Budget) -> Status {
        epochs::advance(self, budget)
    }

    fn epoch_rows(&self) -> u64 {
        self.rows.len() as u64
    }

    fn progress(&self) -> Progress {
        let known = || self.sweeps.iter().flat_map(|sweep| sweep.gaps()).map(|gap| gap.known());
        Progress {
            epochs: self.visits / self.epoch_rows(),
            visits: self.visits,
            updates: 0,
            last_mistakes: None,
            objective: known().try_fold(0.0, |sum, (objective, _)| Some(sum + objective?)),
            gap: known().try_fold(0.0, |most: f64, (_, gap)| Some(most.max(gap?))),
        }
    }

    fn model(&self) -> LinearModel {
        let planes = self.found().iter().map(|found| found.plane.clone()).collect();
        LinearModel::of(&self.task.data, planes, Rule::Rest, Link::None)
    }

    fn certificate(&self) -> Certificate {
        if let Some(reason) = self.unprovable() {
            return Certificate::unproved(reason);
        }
        let (found, gaps) = (self.found(), self.gaps_now());
        let listed = |k: usize| self.sweeps[k].listed();
        let listed = parallel_map(self.sweeps.len(), self.task.threads, listed);
        let listed: Vec<Vec<u32>> = listed.into_iter().flatten().collect();
        let prove =
            |class: usize| self.proved(class, &found[class].plane, &listed[class], gaps[class]);
        Certificate::new(parallel_map(found.len(), self.task.threads, prove))
    }

    fn save(&self) -> State {
        let sweeps = self.sweeps.iter().map(|sweep| sweep.save()).collect();
        State::encode(&SavedSweeps { rows: self.rows.len(), visits: self.visits, sweeps })
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        let saved: SavedSweeps = state.decode()?;
        let foreign = || Error::usage("the saved state belongs to a run on other data");
        if saved.rows != self.rows.len() || saved.sweeps.len() != self.sweeps.len() {
            return Err(foreign());
        }
        for (sweep, saved) in self.sweeps.iter_mut().zip(&saved.sweeps) {
            if !sweep.restore(saved) {
                return Err(foreign());
            }
        }
        self.visits = saved.visits;
        self.found = OnceLock::new();
        Ok(())
    }

    fn remarks(&self) -> Vec<Remark> {
        let count = self.task.data.n_classes();
        let primal: f64 = (0..count).map(|class| self.gap_of(class).primal).sum();
        let worst = (0..count).map(|class| self.gap_of(class).relative()).fold(0.0, f64::max);
        let words =
            format!("dual coordinates, {count} binary classifiers in {} sweeps", self.sweeps.len());
        vec![
            Remark::new(
                "solver",
                words.as_str(),
                [
                    ("solver", words.as_str().into()),
                    ("passes", (self.visits / self.epoch_rows()).into()),
                ],
            ),
            Remark::new(
                "objective",
                format!(
                    "{} of all binary classifiers, largest gap {worst:.1e} (tolerance {:e})",
                    readable(primal, 7),
                    self.problem.settings.gap
                ),
                [
                    ("primal", primal.into()),
                    ("gap", worst.into()),
                    ("wanted", self.problem.settings.gap.into()),
                ],
            ),
        ]
    }

    crate::training_has!(warm_starts, bounds_objective);
    crate::training_lacks!(traces, carries_on, bounds_margin, generates, seeks);
}

impl WarmStarts for Sweeps {
    fn warm_start(&mut self, state: &State, factor: f64) -> bool {
        let saved = state.decode::<SavedSweeps>().ok().filter(|saved| {
            saved.rows == self.rows.len() && saved.sweeps.len() == self.sweeps.len()
        });
        let Some(saved) = saved else { return false };
        self.found = OnceLock::new();
        let mut pairs = self.sweeps.iter_mut().zip(&saved.sweeps);
        pairs.all(|(sweep, saved)| sweep.warm_start(saved, factor))
    }
}

impl BoundsObjective for Sweeps {
    /// The dual points are those of the own planes; the objectives are those of the others.
    fn certificate_of(&self, planes: &[Plane]) -> Certificate {
        if let Some(reason) = self.unprovable() {
            return Certificate::unproved(reason);
        }
        let width = self.task.data.n_features();
        let fits = planes.len() == self.task.data.n_classes()
            && planes.iter().all(|plane| plane.weights.len() == width);
        if !fits {
            return Certificate::unproved("the planes are not those of this problem");
        }
        let gaps = self.gaps_now();
        let prove = |class: usize| {
            let plane = &planes[class];
            match self.primal_of(class, plane) {
                Ok(primal) => {
                    let every: Vec<u32> = (0..self.rows.len() as u32).collect();
                    self.proved(class, plane, &every, Gap { primal, ..gaps[class] })
                }
                Err(error) => Claim::Unproved { reason: error.to_string() },
            }
        };
        Certificate::new(parallel_map(planes.len(), self.task.threads, prove))
    }

    fn gap(&self) -> Option<f64> {
        let gaps = self.gaps_now().into_iter();
        gaps.map(|gap| gap.known().1).try_fold(0.0, |most: f64, gap| Some(most.max(gap?)))
    }
}

/// Whether sweeps serve a problem: enough machines, columns for dual coordinates, and numbers and a gap
/// that binary32 can hold.
pub(crate) fn serve(problem: &ConvexProblem, task: &Task) -> Result<bool> {
    Ok(task.data.n_classes() > 2
        && problem.loss != Loss::Logistic
        && problem.settings.gap >= LEAST_GAP
        && problem.prefers_dual(task)
        && problem.settings.l1 == 0.0
        && !problem.settings.has_limits()
        && PermutedObjective::serves(&problem.objective(task, 0)?))
}
