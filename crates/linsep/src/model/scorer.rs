//! Scoring many rows: what is the same for all of them is decided once.

use super::LinearModel;
use linsep_data::Dataset;
use linsep_data::matrix::{Bundle, Products, Rows, Store, with_rows};
use linsep_data::read::Chunk;
use std::sync::Arc;

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
    rows: RowScorer<'a>,
    data: &'a Dataset,
    /// Whether the stored rows are what the planes take: the same columns and basis functions.
    fits: bool,
}

/// The scores of rows that stream past, block by block.
pub struct ChunkScorer<'a>(RowScorer<'a>);

/// The planes of a model, arranged for many rows, and room for the scores of one.
#[derive(Clone)]
struct RowScorer<'a> {
    model: &'a LinearModel,
    /// The planes side by side, once a sparse row came.
    bundle: Option<Arc<Bundle>>,
    products: Products,
    scores: Vec<f64>,
}

impl LinearModel {
    /// Scores rows of a data set, whose columns begin with those of the model. Basis functions of the
    /// model are taken from the data where it has the same ones.
    pub fn scorer<'a>(&'a self, data: &'a Dataset) -> Scorer<'a> {
        let fits = data.n_features() == self.input.width()
            && data.input().features == self.input.features
            && data.input().basis == self.input.basis;
        let mut rows = RowScorer::new(self);
        if fits {
            rows.arrange(data.store());
        }
        Scorer { rows, data, fits }
    }

    /// Scores chunks that were read for this model's input.
    pub fn chunk_scorer(&self) -> ChunkScorer<'_> {
        ChunkScorer(RowScorer::new(self))
    }
}

impl Scorer<'_> {
    /// The scores of a row.
    pub fn row(&mut self, row: usize) -> &[f64] {
        if self.fits {
            return self.rows.stored(self.data.store(), row);
        }
        self.rows.scores = self.rows.model.scores(&self.data.row(row));
        &self.rows.scores
    }

    /// The class of a row.
    pub fn class(&mut self, row: usize) -> u32 {
        let model = self.rows.model;
        model.class_of(self.row(row))
    }

    /// The same with room of its own, for another thread.
    pub(super) fn beside(&self) -> Self {
        Scorer { rows: self.rows.clone(), data: self.data, fits: self.fits }
    }
}

impl ChunkScorer<'_> {
    /// Calls `each` with the number and the scores of every row, in order.
    pub fn for_each(&mut self, chunk: &Chunk<'_>, mut each: impl FnMut(usize, &[f64])) {
        self.0.arrange(chunk.store());
        for row in 0..chunk.n_rows() {
            each(row, self.0.stored(chunk.store(), row));
        }
    }
}

impl<'a> RowScorer<'a> {
    fn new(model: &'a LinearModel) -> RowScorer<'a> {
        let count = model.planes.len();
        RowScorer { model, bundle: None, products: Products::of(count), scores: vec![0.0; count] }
    }

    /// Makes ready for the rows of a store.
    fn arrange(&mut self, store: &Store) {
        if self.bundle.is_none() {
            let planes = self.model.planes.iter().map(|plane| plane.weights.as_slice());
            self.bundle = Bundle::for_rows(store, planes).map(Arc::new);
        }
    }

    fn stored(&mut self, store: &Store, row: usize) -> &[f64] {
        let RowScorer { model, bundle, products, scores } = self;
        let planes = &model.planes;
        if planes.len() < 2 || model.input.binarize.is_some() {
            return model.score_row(store, row, scores);
        }
        let plane = |k: usize| planes[k].weights.as_slice();
        with_rows!(store, rows => rows.dot_all(row, plane, bundle.as_deref(), products));
        for ((score, sum), plane) in scores.iter_mut().zip(&products.sums).zip(planes) {
            *score = sum + plane.bias;
        }
        model.rule.poll(scores)
    }
}
