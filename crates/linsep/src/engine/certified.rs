//! What runs with a certified gap have in common, whatever they make small.
//!
//! A [`Optimiser`] works in steps and knows its gap; [`Certified`] makes a [`Training`] of it, which ends
//! when the gap is small enough and claims what the checker confirms.

use crate::claim::optimal::measured;
use crate::claim::planes::class_planes;
use crate::model::{LinearModel, Plane};
use crate::objective::Gap;
use crate::run::ability::{BoundsObjective, WarmStarts};
use crate::run::epochs::{self, ByEpochs};
use crate::run::{
    Budget, Certificate, Datum, HELD_OUT, Progress, Remark, State, Status, Task, Training,
};
use linsep_data::error::{Error, readable};
use linsep_proof::{DualPoint, Objective, Planes};
use serde::{Deserialize, Serialize};

/// Something that makes an objective smaller, step by step.
pub(crate) trait Optimiser: Send {
    fn task(&self) -> &Task;
    /// Rows that take part.
    fn rows(&self) -> usize;
    /// Whether gaps are estimates until the checker has measured them.
    fn estimates(&self) -> bool;
    /// Why nobody knows whether there is an optimum, where that is so.
    fn doubt(&self) -> Option<&str>;
    /// Why the weights are not unique, where that is so and known.
    fn ambiguity(&self) -> Option<Remark>;
    /// The relative gap that is asked for.
    fn wanted(&self) -> f64;
    /// The gap at which the run ends.
    fn aim(&self) -> f64;
    /// Goes on by one step; gaps are measured by the machine as it sees fit.
    fn step(&mut self);
    /// The gap as it was measured last.
    fn gap(&self) -> Gap;
    /// Whether rounding is all that is left.
    fn is_exhausted(&self) -> bool;
    fn is_finite(&self) -> bool;
    fn model(&self) -> LinearModel;
    /// What is to be claimed of the model as it is now, or why there is nothing.
    fn evidence(&self) -> Result<Evidence, &'static str>;
    /// The objective of other planes, one for each class; `None` if they are not of this problem.
    fn primal_of(&self, planes: &[Plane]) -> Option<f64>;
    fn save(&self) -> State;
    fn restore(&mut self, state: &State) -> Result<(), Error>;
    /// Begins where a run on the same rows has ended, C being `factor` times as large; false if that is
    /// of no use here.
    fn warm_start(&mut self, state: &State, factor: f64) -> bool;
    /// Who does the work, and why.
    fn solver(&self) -> &str;
}

/// What a claim is made from.
pub(crate) struct Evidence {
    pub(crate) planes: Planes,
    pub(crate) objective: Objective,
    pub(crate) dual: DualPoint,
    pub(crate) gap: Gap,
}

/// A run of a machine.
pub(crate) struct Certified<M> {
    optimiser: M,
    visits: u64,
}

impl<M: Optimiser> Certified<M> {
    /// Why nothing is claimed, whatever was found.
    fn unprovable(&self) -> Option<&'static str> {
        let data = self.optimiser.task().data.as_ref();
        if !self.optimiser.gap().dual.is_finite() {
            return Some("the run ended before its gap was measured");
        }
        let all = (0..data.n_rows()).filter(|&row| data.weight(row) > 0.0).count();
        (self.optimiser.rows() < all).then_some(HELD_OUT)
    }

    /// What the checker measures.
    fn proved(&self, evidence: Evidence) -> Certificate {
        let task = self.optimiser.task();
        let Evidence { planes, objective, dual, gap } = evidence;
        let claim = measured(planes, objective, dual, gap, None, &task.data, task.threads);
        Certificate::new(vec![claim])
    }

    pub(crate) fn new(optimiser: M) -> Certified<M> {
        Certified { optimiser, visits: 0 }
    }

    fn state(&self) -> Status {
        let machine = &self.optimiser;
        let done = machine.gap().reaches(machine.aim()) || machine.is_exhausted();
        match (machine.is_finite(), done) {
            (false, _) => Status::Diverged,
            (true, true) => Status::Finished,
            (true, false) => Status::Running,
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedCertified {
    rows: usize,
    visits: u64,
    machine: State,
}

impl<M: Optimiser> ByEpochs for Certified<M> {
    fn visits(&mut self) -> &mut u64 {
        &mut self.visits
    }

    fn status(&self) -> Status {
        self.state()
    }

    fn work(&mut self) {
        self.optimiser.step();
    }
}

impl<M: Optimiser> Training for Certified<M> {
    /// The work of an epoch is done at its last visit.
    fn advance(&mut self, budget: Budget) -> Status {
        epochs::advance(self, budget)
    }

    fn epoch_rows(&self) -> u64 {
        self.optimiser.rows() as u64
    }

    fn progress(&self) -> Progress {
        let (objective, gap) = self.optimiser.gap().known();
        Progress {
            epochs: self.visits / self.epoch_rows(),
            visits: self.visits,
            updates: 0,
            last_mistakes: None,
            objective,
            gap: gap.filter(|_| !self.optimiser.estimates()),
        }
    }

    fn model(&self) -> LinearModel {
        let mut model = self.optimiser.model();
        // A negative zero would tell one storage from the other.
        for plane in &mut model.planes {
            plane.weights.iter_mut().for_each(|w| *w += 0.0);
        }
        model
    }

    fn certificate(&self) -> Certificate {
        match self.unprovable() {
            Some(reason) => Certificate::unproved(reason),
            None => match self.optimiser.evidence() {
                Ok(evidence) => self.proved(evidence),
                Err(reason) => Certificate::unproved(reason),
            },
        }
    }

    fn save(&self) -> State {
        State::encode(&SavedCertified {
            rows: self.optimiser.rows(),
            visits: self.visits,
            machine: self.optimiser.save(),
        })
    }

    fn restore(&mut self, state: &State) -> Result<(), Error> {
        let saved: SavedCertified = state.decode()?;
        if saved.rows != self.optimiser.rows() {
            return Err(foreign());
        }
        self.optimiser.restore(&saved.machine)?;
        self.visits = saved.visits;
        Ok(())
    }

    fn remarks(&self) -> Vec<Remark> {
        let (gap, wanted) = (self.optimiser.gap(), self.optimiser.wanted());
        let why = self.optimiser.solver();
        let solver = Remark::new("solver", why, [("solver", why.into())]);
        let found = Remark::new(
            "objective",
            format!(
                "{}, {}{} (tolerance {wanted:e})",
                readable(gap.primal, 7),
                if self.optimiser.estimates() { "estimated " } else { "" },
                gap.words()
            ),
            [
                ("primal", gap.primal.into()),
                ("dual", (!self.optimiser.estimates()).then_some(gap.dual).into()),
                ("gap", gap.relative().into()),
                ("wanted", wanted.into()),
            ],
        );
        let doubt = self.optimiser.doubt().map(unknown_existence);
        let ambiguity = self.optimiser.ambiguity();
        [solver, found].into_iter().chain(doubt).chain(ambiguity).collect()
    }

    crate::training_has!(warm_starts, bounds_objective);
    crate::training_lacks!(traces, carries_on, bounds_margin, generates, seeks);
}

impl<M: Optimiser> WarmStarts for Certified<M> {
    fn warm_start(&mut self, state: &State, factor: f64) -> bool {
        match state.decode::<SavedCertified>() {
            Ok(saved) if saved.rows == self.optimiser.rows() => {
                self.optimiser.warm_start(&saved.machine, factor)
            }
            _ => false,
        }
    }
}

impl<M: Optimiser> BoundsObjective for Certified<M> {
    /// The dual point is that of the own planes; the objective is that of the others.
    fn certificate_of(&self, planes: &[Plane]) -> Certificate {
        if let Some(reason) = self.unprovable() {
            return Certificate::unproved(reason);
        }
        let Some(primal) = self.optimiser.primal_of(planes).filter(|primal| primal.is_finite())
        else {
            return Certificate::unproved("the planes are not those of this problem");
        };
        let mut evidence = match self.optimiser.evidence() {
            Ok(evidence) => evidence,
            Err(reason) => return Certificate::unproved(reason),
        };
        let classes = self.optimiser.task().data.classes();
        let others = Planes::Each(class_planes(classes, planes));
        if let Planes::Each(own) = std::mem::replace(&mut evidence.planes, others) {
            evidence.dual.planes = Some(own);
        }
        evidence.gap.primal = primal;
        self.proved(evidence)
    }

    fn gap(&self) -> Option<f64> {
        self.optimiser.gap().known().1
    }
}

/// Why nobody knows whether there is an optimum.
pub(crate) fn unknown_existence(words: &str) -> Remark {
    Remark::new(
        "existence",
        format!("not determined: {words}"),
        [("exists", Datum::Unknown), ("reason", words.into())],
    )
}

/// A saved state of another run.
pub(crate) fn foreign() -> Error {
    Error::usage("the saved state belongs to a run on other data")
}
