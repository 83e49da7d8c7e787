//! Scoring many rows: what is the same for all of them is decided once.

use super::{LinearModel, binary_score};
use linsep_data::Dataset;
use linsep_data::cancel;
use linsep_data::matrix::{Bundle, Products, Rows, Store, with_rows};
use linsep_data::read::Chunk;
use linsep_kernels::{dot_f32, widen_f32};
use linsep_proof::RowBuffer;
use std::sync::Arc;

/// The scores of rows of a data set, one row after the other in one place.
///
/// ```
/// use linsep::learn::perceptron::Perceptron;
/// use linsep::{Dataset, Learner, Limits, Task};
/// let task = Task::new(Dataset::from_rows(&[[1.0], [2.0]], &["a", "b"])?);
/// let model = Perceptron::default().fit(&task, &Limits::default(), &mut ())?.model;
/// let mut scorer = model.scorer(&task.data);
/// assert_eq!(scorer.row(1), model.scores(&[2.0])?);
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
pub(super) struct RowScorer<'a> {
    model: &'a LinearModel,
    /// The planes side by side, once a sparse row came.
    bundle: Option<Arc<Bundle>>,
    products: Products,
    scores: Vec<f64>,
    /// A stored row of which only the entries count.
    row: RowBuffer,
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

/// The scores of rows of a store that was read for a model's input.
#[doc(hidden)]
pub struct StoreScorer<'a>(RowScorer<'a>);

impl LinearModel {
    #[doc(hidden)]
    pub fn store_scorer(&self) -> StoreScorer<'_> {
        StoreScorer(RowScorer::new(self))
    }
}

impl StoreScorer<'_> {
    pub fn row(&mut self, store: &Store, row: usize) -> &[f64] {
        self.0.arrange(store);
        self.0.stored(store, row)
    }
}

impl Scorer<'_> {
    /// The scores of a row.
    pub fn row(&mut self, row: usize) -> &[f64] {
        if self.fits {
            return self.rows.stored(self.data.store(), row);
        }
        self.rows.scores = self.rows.model.scores_of(&self.data.row(row));
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
            cancel::check();
            each(row, self.0.stored(chunk.store(), row));
        }
    }
}

impl<'a> RowScorer<'a> {
    pub(super) fn new(model: &'a LinearModel) -> RowScorer<'a> {
        let count = model.planes.len();
        let (products, scores) = (Products::of(count), vec![0.0; count]);
        RowScorer { model, bundle: None, products, scores, row: RowBuffer::default() }
    }

    /// Makes ready for the rows of a store.
    pub(super) fn arrange(&mut self, store: &Store) {
        if !store.is_dense() {
            self.arrange_sparse();
        }
    }

    /// Makes ready for sparse rows.
    pub(super) fn arrange_sparse(&mut self) {
        if self.bundle.is_none() && self.model.planes.len() > 1 {
            let planes: Vec<&[f64]> =
                self.model.planes.iter().map(|plane| plane.weights.as_slice()).collect();
            self.bundle = Some(Arc::new(Bundle::fixed(&planes)));
        }
    }

    /// The scores of a stored row.
    pub(super) fn stored(&mut self, store: &Store, row: usize) -> &[f64] {
        let planes = &self.model.planes;
        if self.model.input.binarize.is_some() {
            let mut buffer = std::mem::take(&mut self.row);
            store.load(row, &mut buffer.columns, &mut buffer.values);
            let length = match buffer.columns.is_empty() {
                true => self.dense(&buffer.values).len(),
                false => self.sparse(&buffer.columns, &buffer.values).len(),
            };
            self.row = buffer;
            return &self.scores[..length];
        }
        let plane = |k: usize| planes[k].weights.as_slice();
        if let [plane] = &planes[..] {
            self.products.sums[0] = with_rows!(store, rows => rows.dot(row, &plane.weights));
        } else {
            let bundle = self.bundle.as_deref();
            with_rows!(store, rows => rows.dot_all(row, plane, bundle, &mut self.products));
        }
        self.finish()
    }

    /// The scores of a row of features, every one of them in its place.
    pub(super) fn dense(&mut self, values: &[f64]) -> &[f64] {
        let planes = &self.model.planes;
        if let Some(threshold) = self.model.input.binarize {
            let entries = values.iter().enumerate().map(|(j, x)| (j as u32, *x));
            return self.binary(threshold, entries);
        }
        self.products.dense(values, |k| planes[k].weights.as_slice());
        self.finish()
    }

    /// The same of features in single precision.
    pub(super) fn single(&mut self, values: &[f32]) -> &[f64] {
        match &self.model.planes[..] {
            [plane] if self.model.input.binarize.is_none() => {
                self.products.sums[0] = dot_f32(values, &plane.weights);
                self.finish()
            }
            _ => {
                let mut buffer = std::mem::take(&mut self.row);
                buffer.values.resize(values.len(), 0.0);
                widen_f32(values, &mut buffer.values);
                let length = self.dense(&buffer.values).len();
                self.row = buffer;
                &self.scores[..length]
            }
        }
    }

    /// The scores of a row of features that is 0 but for some columns, rising.
    pub(super) fn sparse(&mut self, columns: &[u32], values: &[f64]) -> &[f64] {
        let planes = &self.model.planes;
        if let Some(threshold) = self.model.input.binarize {
            return self.binary(threshold, columns.iter().copied().zip(values.iter().copied()));
        }
        let plane = |k: usize| planes[k].weights.as_slice();
        self.products.sparse(columns, values, plane, self.bundle.as_deref());
        self.finish()
    }

    fn binary(&mut self, threshold: f64, row: impl Iterator<Item = (u32, f64)> + Clone) -> &[f64] {
        for (score, plane) in self.scores.iter_mut().zip(&self.model.planes) {
            *score = binary_score(plane, threshold, row.clone());
        }
        self.model.rule.poll(&mut self.scores)
    }

    /// From the products with the planes to the scores.
    fn finish(&mut self) -> &[f64] {
        let RowScorer { model, products, scores, .. } = self;
        for ((score, sum), plane) in scores.iter_mut().zip(&products.sums).zip(&model.planes) {
            *score = sum + plane.bias;
        }
        model.rule.poll(scores)
    }
}
