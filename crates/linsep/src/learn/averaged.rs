//! The averaged perceptron: the mean of the planes after every visit (Freund and Schapire 1999).
//!
//! Problem: on rows that no plane separates the last plane of a perceptron is whatever the last
//! mistake made of it. Idea: planes that survive many visits count more, w̄ = (1/T) Σ w_t. The
//! engine keeps w̄ with one more addition at each correction and none at the other visits. With
//! every rule of the family; it ends when the run itself ends.

use crate::engine::perceptron::{Online, Perceptron, Planes};
use crate::model::LinearModel;
use crate::run::{BinaryLearner, Certificate, Learner, Task, Training};
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
        Ok(Box::new(AveragedRun { run: self.0.launch(task, planes, true)? }))
    }
}

struct AveragedRun {
    run: Online,
}

impl Training for AveragedRun {
    fn model(&self) -> LinearModel {
        self.run.averaged_model()
    }

    fn certificate(&self) -> Certificate {
        self.run.certificate_of(&self.model().planes)
    }

    crate::training_forwards!(run: advance, epoch_rows, progress, remarks, save, restore);
    crate::training_forwards!(run: traces, carries_on, bounds_margin);
    crate::training_lacks!(warm_starts, bounds_objective, generates, seeks);
}
