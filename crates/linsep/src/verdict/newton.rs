//! Planes for many sparse rows of some hundred columns: a finite Newton method on a growing set of rows.
//!
//! On the rows that matter so far it minimises
//!
//! ```text
//! ½|w|² + C/2 Σ max(0, 1 − z·w)²
//! ```
//!
//! with C raised until each of them is on its side. A step solves (I + C Σ z zᵀ) d = −gradient over the rows
//! with z·w < 1, which is cheap to set up from sparse rows, and goes to the lowest point along d. All rows
//! with z·w < 1 change sides at once, where an active set exchanges one row in each step. Then all rows of the
//! question are looked at, and those that the plane gets wrong join, with those next to it.
//!
//! Reference: Keerthi and DeCoste 2005, A modified finite Newton method for fast solution of large scale
//! linear SVMs.

use super::precondition::cholesky;
use super::signed::Signed;
use crate::model::Plane;

/// Rows to begin with, and rows that may join in a round, for each dimension.
const ROWS_PER_DIMENSION: usize = 64;

/// The factor C at the start, by how much it grows, and where it is given up.
const FIRST: f64 = 1e2;
const GROWTH: f64 = 1e2;
const LAST: f64 = 1e14;

/// Steps for each C.
const STEPS: usize = 60;

/// Rows that tell whether all are sparse, and the share of columns that is so.
const SAMPLE: usize = 1000;
const SPARSE: usize = 8;

/// What a round found.
pub(super) enum Found {
    /// The plane has every row on its side, as far as floats can tell.
    Plane(Plane),
    /// Rows joined.
    More,
    /// The rows at hand are not separated.
    Nothing,
}

/// The rows that matter so far and the plane between them.
pub(super) struct FiniteNewton {
    rows: Vec<usize>,
    is_in: Vec<bool>,
    /// What columns are multiplied with, so that they are of one size.
    scale: Vec<f64>,
    /// The bias, then the weights of scaled columns.
    w: Vec<f64>,
    c: f64,
}

/// A row with its sign and its scaled columns, the bias as column 0.
type Entries = Vec<(usize, f64)>;

impl FiniteNewton {
    /// Whether the method is quick on these rows: many of them, sparse, and not too many columns.
    pub(super) fn suits(view: &Signed) -> bool {
        let size = view.dimension();
        if !(100..=2000).contains(&size) || view.len() <= 2 * ROWS_PER_DIMENSION * size {
            return false;
        }
        let (mut entries, mut scratch) = (0, Vec::new());
        let sample = (0..view.len()).step_by((view.len() / SAMPLE).max(1));
        let rows = sample.map(|k| view.for_each(k, &mut scratch, |_, _| entries += 1)).count();
        entries * SPARSE <= rows * size
    }

    /// Begins with some rows and others spread over the data.
    pub(super) fn new(view: &Signed, first: &[usize]) -> FiniteNewton {
        let width = view.data.n_features();
        let mut this = FiniteNewton {
            rows: Vec::new(),
            is_in: vec![false; view.len()],
            scale: vec![1.0; width],
            w: vec![0.0; width + 1],
            c: FIRST,
        };
        let step = (view.len() / this.most(view)).max(1);
        this.join(first.iter().copied().chain((0..view.len()).step_by(step)));
        let (mut squares, mut scratch) = (vec![0.0; width], Vec::new());
        for &k in &this.rows {
            view.for_each(k, &mut scratch, |j, x| squares[j as usize] += x * x);
        }
        let count = this.rows.len() as f64;
        for (scale, square) in this.scale.iter_mut().zip(squares) {
            let reciprocal = (count / square).sqrt();
            *scale = if reciprocal.is_finite() { reciprocal } else { 1.0 };
        }
        this
    }

    fn most(&self, view: &Signed) -> usize {
        ROWS_PER_DIMENSION * view.dimension()
    }

    fn join(&mut self, rows: impl Iterator<Item = usize>) {
        for k in rows {
            if !std::mem::replace(&mut self.is_in[k], true) {
                self.rows.push(k);
            }
        }
    }

    /// One round: a plane for the rows at hand, and a look at all others.
    pub(super) fn round(&mut self, view: &Signed, threads: usize, visits: &mut u64) -> Found {
        if !self.separate(view) {
            return Found::Nothing;
        }
        let plane = self.plane(view);
        *visits += view.len() as u64;
        let margins = view.margins(0..view.len(), &plane.weights, plane.bias, threads);
        if !margins.iter().any(|&m| is_wrong(m)) {
            return Found::Plane(plane);
        }
        let near = |k: &usize| !self.is_in[*k] && (is_wrong(margins[*k]) || margins[*k] < 1.0);
        let mut near: Vec<usize> = (0..view.len()).filter(near).collect();
        near.sort_unstable_by(|&a, &b| margins[a].total_cmp(&margins[b]).then(a.cmp(&b)));
        near.truncate(self.most(view));
        if near.is_empty() {
            return Found::Nothing;
        }
        self.join(near.into_iter());
        Found::More
    }

    /// The plane in raw coordinates.
    fn plane(&self, view: &Signed) -> Plane {
        let weights = self.w[1..].iter().zip(&self.scale).map(|(w, scale)| w * scale).collect();
        Plane { weights, bias: if view.bias { self.w[0] } else { 0.0 } }
    }

    fn entries(&self, view: &Signed) -> Vec<Entries> {
        let mut scratch = Vec::new();
        let row = |&k: &usize| {
            let sign = f64::from(view.signs[k]);
            let mut entries = Vec::new();
            if view.bias {
                entries.push((0, sign));
            }
            view.for_each(k, &mut scratch, |j, x| {
                entries.push((j as usize + 1, sign * x * self.scale[j as usize]));
            });
            entries
        };
        self.rows.iter().map(row).collect()
    }

    /// Raises C until every row at hand is on its side; false if none does it, or if a larger one leaves as
    /// many on the wrong side, as it does where no plane separates them.
    fn separate(&mut self, view: &Signed) -> bool {
        let (rows, mut before) = (self.entries(view), usize::MAX);
        while self.c <= LAST {
            let wrong = self.minimise(&rows).into_iter().filter(|m| is_wrong(*m)).count();
            if wrong == 0 || wrong >= before {
                return wrong == 0;
            }
            before = wrong;
            self.c *= GROWTH;
        }
        false
    }

    /// Newton steps to the minimum for C; the margins there.
    fn minimise(&mut self, rows: &[Entries]) -> Vec<f64> {
        let mut margins: Vec<f64> = rows.iter().map(|row| along(row, &self.w)).collect();
        for _ in 0..STEPS {
            linsep_data::cancel::check();
            let Some(step) = self.newton_step(rows, &margins) else { break };
            let changes: Vec<f64> = rows.iter().map(|row| along(row, &step)).collect();
            let t = self.lowest(&step, &margins, &changes);
            if t.is_nan() || t <= 0.0 {
                break;
            }
            self.w.iter_mut().zip(&step).for_each(|(w, d)| *w += t * d);
            let sides = |margins: &[f64]| margins.iter().map(|m| *m < 1.0).collect::<Vec<_>>();
            let before = sides(&margins);
            margins = rows.iter().map(|row| along(row, &self.w)).collect();
            // A whole step with which no row changes sides ends at the minimum.
            if (t - 1.0).abs() < 1e-3 && before == sides(&margins) {
                break;
            }
        }
        margins
    }

    /// −(I + C Σ z zᵀ)⁻¹ gradient, over the rows with z·w < 1.
    fn newton_step(&self, rows: &[Entries], margins: &[f64]) -> Option<Vec<f64>> {
        let size = self.w.len();
        let mut matrix: Vec<Vec<f64>> = (0..size).map(|i| vec![0.0; i + 1]).collect();
        let mut step: Vec<f64> = self.w.iter().map(|w| -w).collect();
        for (row, margin) in rows.iter().zip(margins).filter(|(_, m)| **m < 1.0) {
            let slack = self.c * (1.0 - margin);
            for (at, &(i, x)) in row.iter().enumerate() {
                step[i] += slack * x;
                let line = &mut matrix[i];
                row[..=at].iter().for_each(|&(j, y)| line[j] += self.c * x * y);
            }
        }
        matrix.iter_mut().enumerate().for_each(|(i, line)| line[i] += 1.0);
        let factor = cholesky(matrix);
        for i in 0..size {
            let (done, rest) = step.split_at_mut(i);
            rest[0] = (rest[0] - linsep_kernels::dot_f64(&factor[i][..i], done)) / factor[i][i];
        }
        for i in (0..size).rev() {
            step[i] /= factor[i][i];
            let value = step[i];
            step[..i].iter_mut().zip(&factor[i]).for_each(|(s, l)| *s -= value * l);
        }
        step.iter().all(|s| s.is_finite()).then_some(step)
    }

    /// Where the objective is lowest along a step: its slope rises, so halving finds where it is 0.
    fn lowest(&self, step: &[f64], margins: &[f64], changes: &[f64]) -> f64 {
        let (across, square) = (dot(&self.w, step), dot(step, step));
        let slope = |t: f64| {
            let lacks =
                margins.iter().zip(changes).map(|(m, change)| (1.0 - m - t * change, change));
            let sum: f64 = lacks.filter(|(lack, _)| *lack > 0.0).map(|(lack, c)| lack * c).sum();
            across + t * square - self.c * sum
        };
        let (mut low, mut high) = (0.0, 1.0);
        while slope(high) < 0.0 && high < 1e6 {
            (low, high) = (high, 2.0 * high);
        }
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if slope(middle) < 0.0 { low = middle } else { high = middle }
        }
        0.5 * (low + high)
    }
}

/// A margin that is no number is as wrong as can be.
fn is_wrong(margin: f64) -> bool {
    margin.partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater)
}

fn along(row: &Entries, w: &[f64]) -> f64 {
    row.iter().map(|&(j, x)| x * w[j]).sum()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    linsep_kernels::dot_f64(a, b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use linsep_data::DatasetBuilder;
    use linsep_data::rng::{Purpose, Stream};
    use linsep_proof::{Question, Scheme};
    use std::sync::Arc;

    /// Sparse rows on the sides of a hidden plane; the last row repeats the first, as the other class or not.
    fn rows(contradiction: bool) -> Signed {
        let (columns, count) = (100, 15_000);
        let mut stream = Stream::new(3, Purpose::Generate(0));
        let hidden: Vec<f64> = (0..columns).map(|_| stream.normal()).collect();
        let mut builder = DatasetBuilder::new(columns);
        let mut first = (Vec::new(), "a");
        for k in 0..count {
            let mut at: Vec<u32> = (0..6).map(|_| stream.below(columns as u64) as u32).collect();
            at.sort_unstable();
            at.dedup();
            let entries: Vec<(u32, f64)> = at.into_iter().map(|j| (j, stream.normal())).collect();
            let score: f64 = entries.iter().map(|&(j, x)| x * hidden[j as usize]).sum();
            let label = if score > 0.1 { "b" } else { "a" };
            builder.sparse_row(&entries, label).unwrap();
            if k == 0 {
                first = (entries, label);
            }
        }
        let other = if first.1 == "a" { "b" } else { "a" };
        builder.sparse_row(&first.0, if contradiction { other } else { first.1 }).unwrap();
        let question = Question::new(Scheme::Binary, vec!["b".into()], vec!["a".into()]);
        Signed::new(Arc::new(builder.finish().unwrap()), question, true)
    }

    #[test]
    fn many_sparse_rows_are_separated_in_a_few_rounds() {
        let view = rows(false);
        assert!(FiniteNewton::suits(&view));
        let mut newton = FiniteNewton::new(&view, &[]);
        let mut visits = 0;
        let plane = (0..10).find_map(|_| match newton.round(&view, 1, &mut visits) {
            Found::Plane(plane) => Some(plane),
            Found::More => None,
            Found::Nothing => panic!("the rows are separable"),
        });
        let plane = plane.expect("ten rounds are enough");
        let margins = view.margins(0..view.len(), &plane.weights, plane.bias, 1);
        assert!(margins.iter().all(|m| *m > 0.0));
        assert!(newton.rows.len() < view.len());
    }

    #[test]
    fn a_contradiction_is_not_separated() {
        let view = rows(true);
        let mut newton = FiniteNewton::new(&view, &[0, view.len() - 1]);
        assert!(matches!(newton.round(&view, 1, &mut 0), Found::Nothing));
    }
}
