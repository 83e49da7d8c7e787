//! Scoring many rows of one data set: what is the same for all of them is decided once.

use super::LinearModel;
use crate::data::Dataset;

/// The scores of rows of a data set, one row after the other in one place.
///
/// ```
/// use linsep::learn::perceptron::Perceptron;
/// use linsep::{Dataset, Learner, Limits, Task};
/// let task = Task::new(Dataset::from_rows(&[[1.0], [2.0]], &["a", "b"])?);
/// let model = Perceptron::default().fit(&task, &Limits::default(), &mut ())?.model;
/// let mut scorer = model.scorer(&task.data);
/// assert_eq!(scorer.row(1), model.scores(&[2.0]));
/// # Ok::<(), linsep::Error>(())
/// ```
pub struct Scorer<'a> {
    model: &'a LinearModel,
    data: &'a Dataset,
    /// Whether the stored rows are what the planes take: the same columns and basis functions.
    fits: bool,
    scores: Vec<f64>,
}

impl LinearModel {
    /// Scores rows of a data set, whose columns begin with those of the model. Basis functions of the
    /// model are taken from the data where it has the same ones.
    pub fn scorer<'a>(&'a self, data: &'a Dataset) -> Scorer<'a> {
        let fits = data.n_features() == self.input.width()
            && data.input().features == self.input.features
            && data.input().basis == self.input.basis;
        Scorer { model: self, data, fits, scores: vec![0.0; self.planes.len()] }
    }
}

impl Scorer<'_> {
    /// The scores of a row.
    pub fn row(&mut self, row: usize) -> &[f64] {
        if self.fits {
            return self.model.score_row(&self.data.store, row, &mut self.scores);
        }
        self.scores = self.model.scores(&self.data.row(row));
        &self.scores
    }

    /// The class of a row.
    pub fn class(&mut self, row: usize) -> u32 {
        let model = self.model;
        model.class_of(self.row(row))
    }
}
