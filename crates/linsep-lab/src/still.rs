//! A model that was learned elsewhere, as a run without updates: so that it can be looked at like every run.

use linsep::run::ability::{
    BoundsMargin, BoundsObjective, CarriesOn, Generates, Seeks, Traces, WarmStarts,
};
use linsep::run::{Certificate, Remark};
use linsep::{
    Budget, Error, Learner, LinearModel, Progress, Result, State, Status, Task, Training,
};

/// The learner that only holds a model.
pub(crate) struct Still(LinearModel);

impl Still {
    pub(crate) fn new(model: LinearModel) -> Still {
        Still(model)
    }
}

impl Learner for Still {
    fn start(&self, task: &Task) -> Result<Box<dyn Training>> {
        let width = task.data.n_features();
        if self.0.planes.iter().any(|plane| plane.weights.len() != width) {
            return Err(Error::usage(format!(
                "the model has {} features and the data {width}",
                self.0.n_features()
            )));
        }
        Ok(Box::new(Standing { model: self.0.clone(), rows: task.data.n_rows() as u64 }))
    }
}

/// The run, which is at its end when it begins.
struct Standing {
    model: LinearModel,
    rows: u64,
}

impl Training for Standing {
    fn advance(&mut self, _: Budget) -> Status {
        Status::Finished
    }

    fn epoch_rows(&self) -> u64 {
        self.rows
    }

    fn progress(&self) -> Progress {
        Progress::default()
    }

    fn model(&self) -> LinearModel {
        self.model.clone()
    }

    fn certificate(&self) -> Certificate {
        Certificate::unproved("the model was learned elsewhere")
    }

    fn remarks(&self) -> Vec<Remark> {
        Vec::new()
    }

    fn save(&self) -> State {
        State::from_bytes(Vec::new())
    }

    fn restore(&mut self, _: &State) -> Result<()> {
        Ok(())
    }

    fn traces(&self) -> Option<&dyn Traces> {
        None
    }

    fn carries_on(&mut self) -> Option<&mut dyn CarriesOn> {
        None
    }

    fn warm_starts(&mut self) -> Option<&mut dyn WarmStarts> {
        None
    }

    fn bounds_margin(&self) -> Option<&dyn BoundsMargin> {
        None
    }

    fn bounds_objective(&self) -> Option<&dyn BoundsObjective> {
        None
    }

    fn generates(&self) -> Option<&dyn Generates> {
        None
    }

    fn seeks(&self) -> Option<&dyn Seeks> {
        None
    }
}
