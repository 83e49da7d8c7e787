//! Runs that end at rest: rows are visited for as long as an epoch still moves the planes.
//!
//! Rules that take a step at every row, such as least mean squares, have no clean pass to end with.
//! They end when a whole epoch moved the planes by no more than a share of their length, measured in
//! the coordinates of the run, or when the planes are good enough by a criterion.

use crate::engine::online::Online;
use crate::model::{LinearModel, Link, Plane};
use crate::run::ability::{CarriesOn, Traces};
use crate::run::{Budget, Certificate, Remark, SavedPlane, State, Status, Training};
use linsep_data::error::Result;
use serde::{Deserialize, Serialize};

/// Whether planes are good enough.
type Test = Box<dyn Fn(&[Plane]) -> bool + Send>;

/// A run that is watched for rest.
pub(crate) struct Resting {
    run: Online,
    /// The planes at the start of this epoch.
    before: Vec<Plane>,
    /// The share of their length that an epoch may move the planes at rest; `None` for no such end.
    rest: Option<f64>,
    good_enough: Option<Test>,
    remarks: Vec<Remark>,
    /// How scores become probabilities.
    pub(crate) link: Link,
    /// Whether the planes are sums of rows, so that a trace can tell how they came about.
    traced: bool,
    ended: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedResting {
    run: State,
    before: Vec<SavedPlane>,
    at_rest: bool,
}

impl Resting {
    pub(crate) fn new(run: Online, rest: Option<f64>) -> Resting {
        let before = run.model().planes;
        let (good_enough, remarks) = (None, Vec::new());
        let (link, traced, ended) = (Link::None, true, false);
        Resting { run, before, rest, good_enough, remarks, link, traced, ended }
    }

    /// Also ends at the end of an epoch whose planes are good enough.
    pub(crate) fn until(mut self, good_enough: Test) -> Resting {
        self.good_enough = Some(good_enough);
        self
    }

    /// With steps that are more than multiples of rows.
    pub(crate) fn untraced(mut self) -> Resting {
        self.traced = false;
        self
    }

    /// With something to say in the report.
    pub(crate) fn remarking(mut self, remark: Remark) -> Resting {
        self.remarks.push(remark);
        self
    }

    /// Whether the last epoch hardly moved the planes.
    fn rests(&self, now: &[Plane]) -> bool {
        let Some(rest) = self.rest else { return false };
        let (mut moved, mut length) = (0.0, 0.0);
        for (plane, before) in now.iter().zip(&self.before) {
            moved += (plane.bias - before.bias).powi(2);
            length += plane.bias.powi(2);
            for (j, (w, b)) in plane.weights.iter().zip(&before.weights).enumerate() {
                // Weights are measured in the coordinates of the run.
                let s = self.run.scaler.scale(j);
                moved += ((w - b) / s).powi(2);
                length += (w / s).powi(2);
            }
        }
        moved <= rest * rest * length
    }
}

impl Training for Resting {
    fn advance(&mut self, budget: Budget) -> Status {
        let Budget { mut visits, mut updates } = budget;
        let epoch = self.run.epoch_rows().max(1);
        while !self.ended {
            if visits == 0 || updates == 0 {
                return Status::Running;
            }
            let start = self.run.progress();
            let step = visits.min(epoch - start.visits % epoch);
            let status = self.run.advance(Budget { visits: step, updates });
            let end = self.run.progress();
            visits -= end.visits - start.visits;
            updates = updates.saturating_sub(end.updates - start.updates);
            if end.epochs > start.epochs && status != Status::Diverged {
                let planes = self.run.model().planes;
                let good = self.good_enough.as_ref().is_some_and(|good| good(&planes));
                self.ended = good || self.rests(&planes);
                self.before = planes;
            }
            if status != Status::Running {
                return status;
            }
        }
        Status::Finished
    }

    fn model(&self) -> LinearModel {
        LinearModel { link: self.link.clone(), ..self.run.model() }
    }

    fn certificate(&self) -> Certificate {
        self.run.certificate_of(&self.model().planes)
    }

    fn remarks(&self) -> Vec<Remark> {
        self.remarks.clone()
    }

    fn save(&self) -> State {
        State::encode(&SavedResting {
            run: self.run.save(),
            before: self.before.iter().map(SavedPlane::of).collect(),
            at_rest: self.ended,
        })
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        let saved: SavedResting = state.decode()?;
        let before = SavedPlane::all(&saved.before, &self.before)?;
        self.run.restore(&saved.run)?;
        self.before = before;
        self.ended = saved.at_rest;
        Ok(())
    }

    fn traces(&self) -> Option<&dyn Traces> {
        self.run.traces().filter(|_| self.traced)
    }

    crate::training_has!(carries_on);
    crate::training_forwards!(run: epoch_rows, progress);
    // An end at rest promises no margin.
    crate::training_lacks!(warm_starts, bounds_margin, bounds_objective, generates, seeks);
}

impl CarriesOn for Resting {
    fn carry_on(&mut self, state: &State) -> Result<()> {
        let saved: SavedResting = state.decode()?;
        self.run.carry_on(&saved.run)?;
        self.before = self.run.model().planes;
        Ok(())
    }
}
