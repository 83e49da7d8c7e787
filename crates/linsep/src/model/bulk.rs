//! Scores, classes and probabilities of many rows at once, written where the caller wants them.
//!
//! Rows come as a [`RowsView`]: plain memory, dense or sparse, or a data set. All planes meet a row in one
//! pass, nothing is allocated for a row, and blocks of rows go to several threads. The bits are those of
//! [`LinearModel::scores`] on each row.

use super::LinearModel;
use super::scorer::RowScorer;
use linsep_data::basis::Expander;
use linsep_data::error::{Code, Error, Place, Problem, Result};
use linsep_data::matrix::Store;
use linsep_data::parallel::parallel_chunks;
use linsep_data::{Features, Held, RowsView};

/// Rows of one piece of work.
const ROWS: usize = 1024;

/// ```
/// use linsep::data::RowsView;
/// use linsep::learn::perceptron::Perceptron;
/// use linsep::{Dataset, Learner, Limits, Task};
/// let data = Dataset::from_rows(&[[0.0, 1.0], [2.0, 1.0]], &["a", "b"])?;
/// let model = Perceptron::default().fit(&Task::new(data), &Limits::default(), &mut ())?.model;
/// let rows = RowsView::dense(&[0.5, 1.0, 3.0, 1.0, -1.0, 0.0], 3, 2)?;
/// let mut classes = [0; 3];
/// model.predict_into(rows, 2, &mut classes)?;
/// assert_eq!(classes.map(|class| model.classes[class as usize].as_str()), ["a", "b", "a"]);
/// assert!(model.predict_into(RowsView::dense(&[1.0], 1, 1)?, 1, &mut [0]).is_err());
/// # Ok::<(), linsep::Error>(())
/// ```
impl LinearModel {
    /// Number of scores of a row, and of their [names](LinearModel::score_names).
    pub fn n_scores(&self) -> usize {
        self.rule.n_scores(self.classes.len())
    }

    /// The scores of every row, [`LinearModel::n_scores`] numbers each.
    pub fn scores_into<'a>(
        &self,
        rows: impl Into<RowsView<'a>>,
        threads: usize,
        out: &mut [f64],
    ) -> Result<()> {
        self.each_row(rows.into(), threads, (out, self.n_scores()), |scores, _, place| {
            place.copy_from_slice(scores);
        })
    }

    /// The class of every row, as a position in `classes`.
    pub fn predict_into<'a>(
        &self,
        rows: impl Into<RowsView<'a>>,
        threads: usize,
        out: &mut [u32],
    ) -> Result<()> {
        self.each_row(rows.into(), threads, (out, 1), |scores, room, place| {
            place[0] = self.rule.class_of(scores, self.classes.len(), room) as u32;
        })
    }

    /// The probability of each class for every row, as many numbers as there are classes. A model without
    /// probabilities is refused.
    pub fn probabilities_into<'a>(
        &self,
        rows: impl Into<RowsView<'a>>,
        threads: usize,
        out: &mut [f64],
    ) -> Result<()> {
        let zeros = vec![0.0; self.n_scores()];
        if self.probabilities_of_scores(&zeros).is_none() {
            return Err(Error::usage("this model has scores but no probabilities"));
        }
        self.each_row(rows.into(), threads, (out, self.classes.len()), |scores, _, place| {
            self.link.fill(scores, place);
        })
    }

    /// Refuses rows of another width than that of the model.
    pub(super) fn check_width(&self, rows: &RowsView<'_>) -> Result<()> {
        let (expected, found) = (self.n_features(), rows.n_features());
        if expected == found {
            return Ok(());
        }
        let words = format!("the rows have {found} features, the model {expected}");
        Err(Problem::new(Code::WIDTH, words, Place::default())
            .help("give every feature of the model, in its order, 0 where there is none")
            .into())
    }

    /// Calls `write` with the scores of each row and its places of `out`, `each` of them a row.
    fn each_row<T: Send>(
        &self,
        rows: RowsView<'_>,
        threads: usize,
        (out, each): (&mut [T], usize),
        write: impl Fn(&[f64], &mut Vec<(usize, f64)>, &mut [T]) + Sync,
    ) -> Result<()> {
        self.check_width(&rows)?;
        if rows.n_rows().checked_mul(each) != Some(out.len()) {
            let (count, found) = (rows.n_rows(), out.len());
            let words = format!("{count} rows need room for {each} each, not for {found} in all");
            return Err(Error::usage(words));
        }
        let source = Source::new(self, rows);
        let start = || (source.clone(), Vec::new());
        let size = ROWS * each.max(1);
        parallel_chunks(out, size, threads, start, |(source, room), number, piece| {
            for (place, row) in piece.chunks_mut(each.max(1)).zip(ROWS * number..) {
                write(source.scores(row), room, place);
            }
        });
        Ok(())
    }
}

/// Rows as the planes of a model take them, and room for one of them.
#[derive(Clone)]
struct Source<'a> {
    rows: Taken<'a>,
    scorer: RowScorer<'a>,
    expanded: Vec<f64>,
}

#[derive(Clone)]
enum Taken<'a> {
    /// As they stand in memory.
    Dense {
        values: &'a [f64],
        width: usize,
    },
    Sparse {
        starts: &'a [usize],
        columns: &'a [u32],
        values: &'a [f64],
    },
    /// As a table holds them.
    Stored(&'a Store),
    /// Raw features, of which the basis of the model is still to be made.
    Raw(RowsView<'a>, Expander<'a>),
}

impl<'a> Source<'a> {
    fn new(model: &'a LinearModel, view: RowsView<'a>) -> Source<'a> {
        let raw = || {
            let basis = model.input.basis.as_ref()?;
            Some(Taken::Raw(view, Expander::new(basis, model.n_features())))
        };
        let table = |table: &'a Features| match table.input().basis == model.input.basis {
            true => Taken::Stored(table.store()),
            false => raw().unwrap_or(Taken::Stored(table.raw_store())),
        };
        let rows = match view.held() {
            Held::Data(data) => table(data.features()),
            Held::Features(features) => table(features),
            Held::Dense { values, width, .. } => raw().unwrap_or(Taken::Dense { values, width }),
            Held::Sparse { starts, columns, values, .. } => {
                raw().unwrap_or(Taken::Sparse { starts, columns, values })
            }
        };
        let mut scorer = RowScorer::new(model);
        match &rows {
            Taken::Stored(store) => scorer.arrange(store),
            Taken::Sparse { .. } => scorer.arrange_sparse(),
            Taken::Dense { .. } | Taken::Raw(..) => {}
        }
        Source { rows, scorer, expanded: Vec::new() }
    }

    fn scores(&mut self, row: usize) -> &[f64] {
        let Source { rows, scorer, expanded } = self;
        match rows {
            Taken::Dense { values, width } => scorer.dense(&values[row * *width..][..*width]),
            Taken::Sparse { starts, columns, values } => {
                let range = starts[row]..starts[row + 1];
                scorer.sparse(&columns[range.clone()], &values[range])
            }
            Taken::Stored(store) => scorer.stored(store, row),
            Taken::Raw(view, expander) => {
                expanded.clear();
                expanded.resize(expander.features(), 0.0);
                view.for_each(row, |column, value| expanded[column as usize] = value);
                expander.expand(expanded);
                scorer.dense(expanded)
            }
        }
    }
}
