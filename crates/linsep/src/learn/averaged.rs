//! The averaged perceptron: the mean of the planes after every visit (Freund and Schapire 1999).
//!
//! Problem: on rows that no plane separates the last plane of a perceptron is whatever the last
//! mistake made of it. Idea: planes that survive many visits count more, w̄ = (1/T) Σ w_t. The
//! engine keeps w̄ with one more addition at each correction and none at the other visits. With
//! every rule of the family; it ends when the run itself ends.

use crate::engine::perceptron::{Perceptron, PerceptronRun, Planes, certificate_of};
use crate::model::LinearModel;
use crate::run::{
    BinaryLearner, Budget, Certificate, Learner, Progress, Remark, State, Status, Task, Training,
};
use linsep_data::error::Result;

/// A perceptron whose model is the average over all visits.
///
/// ```
/// use linsep::learn::averaged::Averaged;
/// use linsep::learn::perceptron::Perceptron;
/// use linsep::{Dataset, Learner, Limits, Task};
/// let rows = [[0., 0.], [0., 1.], [1., 0.], [1., 1.]];
/// let or = Task::new(Dataset::from_rows(&rows, &["0", "1", "1", "1"])?);
/// let fit = Averaged(Perceptron::default()).fit(&or, &Limits::default(), &mut ())?;
/// assert_eq!(fit.model.predict(&[1., 1.])?, "1");
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Averaged(pub Perceptron);

impl Learner for Averaged {
    fn start(&self, task: &Task) -> Result<Box<dyn Training>> {
        self.launch(task, Planes::of(task))
    }
}

impl BinaryLearner for Averaged {
    fn start_binary(&self, task: &Task, positive: u32) -> Result<Box<dyn Training>> {
        self.launch(task, Planes::One(positive))
    }
}

impl Averaged {
    fn launch(&self, task: &Task, planes: Planes) -> Result<Box<dyn Training>> {
        let run = self.0.launch(task, planes, true)?;
        Ok(Box::new(AveragedRun { run, task: task.clone(), planes }))
    }
}

struct AveragedRun {
    run: Box<dyn PerceptronRun>,
    task: Task,
    planes: Planes,
}

impl Training for AveragedRun {
    fn advance(&mut self, budget: Budget) -> Status {
        self.run.advance(budget)
    }

    fn epoch_rows(&self) -> u64 {
        self.run.epoch_rows()
    }

    fn progress(&self) -> Progress {
        self.run.progress()
    }

    fn model(&self) -> LinearModel {
        self.run.averaged_model()
    }

    fn certificate(&self) -> Certificate {
        certificate_of(&self.task, self.planes, &self.model().planes)
    }

    fn save(&self) -> State {
        self.run.save()
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        self.run.restore(state)
    }

    fn remarks(&self) -> Vec<Remark> {
        self.run.remarks()
    }

    crate::training_forwards!(run: traces, carries_on, bounds_margin);
    crate::training_lacks!(warm_starts, bounds_objective, generates, seeks);
}
