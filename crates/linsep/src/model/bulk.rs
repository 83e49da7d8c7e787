//! Scores, classes and probabilities of many rows at once, written where the caller wants them.
//!
//! Rows come as a [`RowsView`]: plain memory, dense or sparse, or a data set; or as [`ArrayRows`]: an array of
//! any type and order. All planes meet a row in one pass, nothing is allocated for a row, and blocks of rows go to several threads. The bits are those of
//! [`LinearModel::scores`] on each row.

use super::scorer::RowScorer;
use super::{LinearModel, Rule};
use linsep_data::basis::Expander;
use linsep_data::door::{ArrayRows, RowEntries, RowsRoom, Unproved};
use linsep_data::error::{Code, Error, Place, Problem, Result};
use linsep_data::matrix::Store;
use linsep_data::parallel::parallel_chunks;
use linsep_data::{Dataset, Features, Held, RowsView};
use std::sync::{Mutex, PoisonError};

/// Rows of one piece of work.
const ROWS: usize = 1024;

/// Rows that a model scores: a [`RowsView`], a table, or an array of any type and order.
pub struct ManyRows<'a>(Many<'a>);

enum Many<'a> {
    View(RowsView<'a>),
    Array(&'a ArrayRows<'a>),
}

impl<'a> From<RowsView<'a>> for ManyRows<'a> {
    fn from(rows: RowsView<'a>) -> ManyRows<'a> {
        ManyRows(Many::View(rows))
    }
}

impl<'a> From<&'a Dataset> for ManyRows<'a> {
    fn from(data: &'a Dataset) -> ManyRows<'a> {
        RowsView::from(data).into()
    }
}

impl<'a> From<&'a Features> for ManyRows<'a> {
    fn from(features: &'a Features) -> ManyRows<'a> {
        RowsView::from(features).into()
    }
}

impl<'a> From<&'a ArrayRows<'a>> for ManyRows<'a> {
    fn from(rows: &'a ArrayRows<'a>) -> ManyRows<'a> {
        ManyRows(Many::Array(rows))
    }
}

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
        rows: impl Into<ManyRows<'a>>,
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
        rows: impl Into<ManyRows<'a>>,
        threads: usize,
        out: &mut [u32],
    ) -> Result<()> {
        self.each_row(rows.into(), threads, (out, 1), |scores, room, place| {
            place[0] = self.class_with(scores, room);
        })
    }

    /// The probability of each class for every row, as many numbers as there are classes. A model without
    /// probabilities is refused.
    pub fn probabilities_into<'a>(
        &self,
        rows: impl Into<ManyRows<'a>>,
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
    pub(super) fn check_width(&self, found: usize) -> Result<()> {
        let expected = self.n_features();
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
        rows: ManyRows<'_>,
        threads: usize,
        (out, each): (&mut [T], usize),
        write: impl Fn(&[f64], &mut Vec<(usize, f64)>, &mut [T]) + Sync,
    ) -> Result<()> {
        let (count, width) = match &rows.0 {
            Many::View(view) => (view.n_rows(), view.n_features()),
            Many::Array(array) => (array.n_rows(), array.n_features()),
        };
        self.check_width(width)?;
        if count.checked_mul(each) != Some(out.len()) {
            let found = out.len();
            let words = format!("{count} rows need room for {each} each, not for {found} in all");
            return Err(Error::usage(words));
        }
        let rows = match rows.0 {
            Many::View(view) => view,
            Many::Array(array) => return self.each_array_row(array, threads, (out, each), write),
        };
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

    /// The same for an array, whose values are looked at as they come.
    fn each_array_row<T: Send>(
        &self,
        array: &ArrayRows<'_>,
        threads: usize,
        (out, each): (&mut [T], usize),
        write: impl Fn(&[f64], &mut Vec<(usize, f64)>, &mut [T]) + Sync,
    ) -> Result<()> {
        let (count, each) = (array.n_rows(), each.max(1));
        let expander =
            self.input.basis.as_ref().map(|basis| Expander::new(basis, self.n_features()));
        // A score that is a sum over all features is finite only if they all are; 0 times infinity is NaN.
        let proves = expander.is_none()
            && self.input.binarize.is_none()
            && !matches!(self.rule, Rule::Ballot(_));
        let mut scorer = RowScorer::new(self);
        if !array.is_dense() && expander.is_none() {
            scorer.arrange_sparse();
        }
        let start = || (scorer.clone(), RowsRoom::default(), Vec::new(), Vec::new());
        // The fault of the first row that has one, whichever thread meets it first.
        let fault: Mutex<Option<(usize, Error)>> = Mutex::new(None);
        parallel_chunks(out, ROWS * each, threads, start, |state, number, piece| {
            let (scorer, room, expanded, standings) = state;
            let first = ROWS * number;
            let rows = first..(first + ROWS).min(count);
            let read = array.for_each_proved(rows, room, |row, entries, is_checked| {
                if !is_checked && !proves {
                    return false;
                }
                let scores = match (&expander, entries) {
                    (Some(expander), Unproved::Wide(entries)) => {
                        expand(expander, entries, expanded);
                        scorer.dense(expanded)
                    }
                    (None, Unproved::Wide(RowEntries::All(values))) => scorer.dense(values),
                    (None, Unproved::Wide(RowEntries::Some(columns, values))) => {
                        scorer.sparse(columns, values)
                    }
                    (None, Unproved::Single(values)) => scorer.single(values),
                    // What a basis is made of comes again, in binary64.
                    (Some(_), Unproved::Single(_)) => return false,
                };
                let is_fine = is_checked || scores[0].is_finite();
                if is_fine {
                    write(scores, standings, &mut piece[(row - first) * each..][..each]);
                }
                is_fine
            });
            if let Err(error) = read {
                let mut fault = fault.lock().unwrap_or_else(PoisonError::into_inner);
                if fault.as_ref().is_none_or(|(at, _)| number < *at) {
                    *fault = Some((number, error));
                }
            }
        });
        match fault.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some((_, error)) => Err(error),
            None => Ok(()),
        }
    }
}

/// The raw features of a row, and what the basis makes of them.
fn expand(expander: &Expander<'_>, entries: RowEntries<'_>, row: &mut Vec<f64>) {
    row.clear();
    row.resize(expander.features(), 0.0);
    match entries {
        RowEntries::All(values) => row.copy_from_slice(values),
        RowEntries::Some(columns, values) => {
            columns.iter().zip(values).for_each(|(j, x)| row[*j as usize] = *x);
        }
    }
    expander.expand(row);
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
