//! Scoring many rows: what is the same for all of them is decided once.

use super::{LinearModel, binary_score};
use linsep_data::Dataset;
use linsep_data::cancel;
use linsep_data::matrix::{Bundle, Planes, Products, Rows, Store, with_rows};
use linsep_data::read::Chunk;
use linsep_kernels::{dot_f32, widen_f32};
use linsep_proof::RowBuffer;
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

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
    model: Cow<'a, LinearModel>,
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

/// A model that only scores, as its file holds it. Sparse planes go to the bundle without a dense copy in
/// between: fresh memory takes longer than scoring thousands of rows.
#[doc(hidden)]
#[derive(Debug)]
pub struct StreamModel {
    /// With a bundle from the file, its planes have biases and no weights.
    model: LinearModel,
    bundle: OnceLock<Arc<Bundle>>,
}

impl From<LinearModel> for StreamModel {
    fn from(model: LinearModel) -> StreamModel {
        StreamModel { model, bundle: OnceLock::new() }
    }
}

impl StreamModel {
    /// A model whose weights are in the bundle alone.
    pub(crate) fn bundled(model: LinearModel, bundle: Bundle) -> StreamModel {
        StreamModel { model, bundle: OnceLock::from(Arc::new(bundle)) }
    }

    /// The model, possibly without its weights: classes, rule, link and input.
    pub fn head(&self) -> &LinearModel {
        &self.model
    }

    /// Scores chunks that were read for this model's input.
    pub fn chunk_scorer(&self) -> ChunkScorer<'_> {
        let mut rows = RowScorer::new(&self.model);
        rows.bundle = self.bundle.get().cloned();
        ChunkScorer(rows)
    }

    /// Calls `then` with what finds the products of sparse rows, if those are all that scores need.
    pub fn with_planes<T>(&self, then: impl FnOnce(Option<Planes<'_>>) -> T) -> T {
        let model = &self.model;
        if model.input.binarize.is_some() {
            return then(None);
        }
        let products = |columns: &[u32], values: &[f64], products: &mut Products| {
            let bundle = (model.planes.len() > 1)
                .then(|| self.bundle.get_or_init(|| Arc::new(bundle_of(model))).as_ref());
            products.sparse(columns, values, |k| model.planes[k].weights.as_slice(), bundle);
        };
        then(Some(Planes { count: model.planes.len(), products: &products }))
    }
}

/// The planes of a model side by side.
fn bundle_of(model: &LinearModel) -> Bundle {
    let planes: Vec<&[f64]> = model.planes.iter().map(|plane| plane.weights.as_slice()).collect();
    Bundle::fixed(&planes)
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
        let length = self.row(row).len();
        self.rows.model.class_of(&self.rows.scores[..length])
    }

    /// The same with room of its own, for another thread.
    pub(super) fn beside(&self) -> Self {
        Scorer { rows: self.rows.clone(), data: self.data, fits: self.fits }
    }
}

impl ChunkScorer<'_> {
    /// Calls `each` with the number and the scores of every row, in order.
    pub fn for_each(&mut self, chunk: &Chunk<'_>, mut each: impl FnMut(usize, &[f64])) {
        if let Some(products) = chunk.products() {
            let count = self.0.model.planes.len();
            for (row, sums) in products.chunks_exact(count.max(1)).enumerate() {
                cancel::check();
                self.0.products.sums.copy_from_slice(sums);
                each(row, self.0.finish());
            }
            return;
        }
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
        let (model, row) = (Cow::Borrowed(model), RowBuffer::default());
        RowScorer { model, bundle: None, products, scores, row }
    }

    /// Makes ready for the rows of a store.
    pub(super) fn arrange(&mut self, store: &Store) {
        match store.is_dense() {
            true => self.arrange_dense(),
            false => self.arrange_sparse(),
        }
    }

    /// Makes ready for sparse rows.
    pub(super) fn arrange_sparse(&mut self) {
        if self.bundle.is_none() && self.model.planes.len() > 1 {
            self.bundle = Some(Arc::new(bundle_of(&self.model)));
        }
    }

    /// Makes ready for dense rows: weights that are in the bundle alone get their planes.
    fn arrange_dense(&mut self) {
        let width = self.model.input.width();
        let Some(bundle) = &self.bundle else { return };
        if self.model.planes.iter().any(|plane| plane.weights.len() < width) {
            for (k, plane) in self.model.to_mut().planes.iter_mut().enumerate() {
                plane.weights = bundle.plane(k, width);
            }
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
        let model: &LinearModel = model;
        for ((score, sum), plane) in scores.iter_mut().zip(&products.sums).zip(&model.planes) {
            *score = sum + plane.bias;
        }
        model.rule.poll(scores)
    }
}
