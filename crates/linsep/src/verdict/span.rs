//! The float side of facial reduction: the span of the rows that balance, and the search for a plane
//! or a balance among the rows outside it.
//!
//! Rows are looked at in orthonormal coordinates of the complement of the span: a row inside has
//! none, and the others are points of fewer dimensions the further the reduction has come.

use super::min_norm::MinNorm;
use super::search::{Effort, EffortSpent};
use super::signed::Signed;
use linsep_data::cancel;
use linsep_kernels::dot_f64 as dot;

/// The span, in coordinates scaled to about 1.
pub(crate) struct Span {
    scale: Vec<f64>,
    /// Orthonormal.
    basis: Vec<Vec<f64>>,
    bias: bool,
    /// Rows known to lie inside; they stay there as the span grows.
    inside: Vec<bool>,
}

/// What the rows outside the span allow.
pub(crate) enum Outside {
    /// There are none.
    Nothing,
    /// A raw plane (bias first, if there is one) with all of them on its positive side.
    Plane(Vec<f64>),
    /// Rows of which a positive combination lies in the span.
    Balance(Vec<usize>),
}

/// Below this share of its length a row counts as lying in the span.
const INSIDE: f64 = 1e-9;

/// Rounds after which floats are given up on.
const ROUNDS: usize = 300;

impl Span {
    pub(crate) fn new(view: &Signed) -> Span {
        let mut largest = vec![0.0f64; view.data.n_features()];
        let mut scratch = Vec::new();
        for k in 0..view.len() {
            view.for_each(k, &mut scratch, |j, x| {
                let max = &mut largest[j as usize];
                *max = max.max(x.abs());
            });
        }
        let scale = largest.iter().map(|max| if *max > 0.0 { 1.0 / max } else { 0.0 }).collect();
        Span { scale, basis: Vec::new(), bias: view.bias, inside: vec![false; view.len()] }
    }

    /// Adds a row to the span; false when it lies in it already.
    pub(crate) fn add(&mut self, view: &Signed, k: usize) -> bool {
        let mut row = vec![0.0; self.dimension()];
        self.for_each(view, k, &mut Vec::new(), |j, x| row[j] = x);
        let length = dot(&row, &row).sqrt();
        orthogonalise(&mut row, &self.basis);
        let rest = dot(&row, &row).sqrt();
        self.inside[k] = true;
        if rest <= INSIDE * length {
            return false;
        }
        row.iter_mut().for_each(|x| *x /= rest);
        self.basis.push(row);
        true
    }

    /// Looks for a plane or a balance among the rows outside. `None` when floats cannot tell.
    pub(crate) fn search(
        &mut self,
        view: &Signed,
        effort: &Effort<'_>,
        work: &mut EffortSpent,
    ) -> Option<Outside> {
        let complement = Complement::new(self);
        let batch = 4 * complement.dimension.max(1) + 8;
        let mut search = MinNorm::new(complement.dimension);
        let mut active = Vec::new();
        let mut is_active = vec![false; view.len()];
        let mut scratch = Vec::new();
        let step = (view.len() / (4 * batch)).max(1);
        let mut wanted: Vec<usize> = (0..view.len()).step_by(step).collect();
        for _ in 0..ROUNDS {
            let before = active.len();
            for &k in &wanted {
                if active.len() - before == batch {
                    break;
                }
                if is_active[k] || self.inside[k] {
                    continue;
                }
                match complement.point(self, view, k, &mut scratch) {
                    None => self.inside[k] = true,
                    Some(point) => {
                        search.push(&point);
                        active.push(k);
                        is_active[k] = true;
                    }
                }
            }
            if active.len() == before {
                if !active.is_empty() {
                    return Some(Outside::Plane(complement.raw(self, &search.x)));
                }
                // Nothing so far lies outside: look at every row before saying so.
                wanted = (0..view.len()).filter(|&k| !self.inside[k]).collect();
                if wanted.is_empty() {
                    return Some(Outside::Nothing);
                }
                continue;
            }
            search.run(200 * complement.dimension + 1000);
            if (effort.stop)() {
                return None;
            }
            if search.square() < 1e-16 {
                return Some(Outside::Balance(search.support().map(|(j, _)| active[j]).collect()));
            }
            work.visits += view.len() as u64;
            let plane = complement.raw(self, &search.x);
            let shift = usize::from(self.bias);
            let bias = if self.bias { plane[0] } else { 0.0 };
            let margins = view.margins(0..view.len(), &plane[shift..], bias, effort.threads);
            let limit = 1e-3 * search.square();
            let open = |k: &usize| margins[*k] <= limit && !is_active[*k] && !self.inside[*k];
            wanted = (0..view.len()).filter(open).collect();
            wanted.sort_unstable_by(|a, b| margins[*a].total_cmp(&margins[*b]));
        }
        None
    }

    fn dimension(&self) -> usize {
        self.scale.len() + usize::from(self.bias)
    }

    /// Calls `each` with the coordinates of the k-th row, signed and scaled, that are not 0.
    fn for_each(
        &self,
        view: &Signed,
        k: usize,
        scratch: &mut Vec<f64>,
        mut each: impl FnMut(usize, f64),
    ) {
        let shift = usize::from(self.bias);
        let sign = f64::from(view.signs[k]);
        if self.bias {
            each(0, sign);
        }
        view.for_each(k, scratch, |j, x| {
            each(j as usize + shift, sign * x * self.scale[j as usize]);
        });
    }
}

/// Orthonormal coordinates of the complement of a span.
struct Complement {
    dimension: usize,
    /// For each coordinate of a row, its part in every coordinate of the complement.
    by_column: Vec<Vec<f64>>,
}

impl Complement {
    fn new(span: &Span) -> Complement {
        let width = span.dimension();
        let mut all = span.basis.clone();
        for j in 0..width {
            cancel::check();
            if all.len() == width {
                break;
            }
            let mut unit = vec![0.0; width];
            unit[j] = 1.0;
            orthogonalise(&mut unit, &all);
            let rest = dot(&unit, &unit).sqrt();
            // What is left of a unit vector is never tiny for all of those that are needed.
            if rest > 1e-5 {
                unit.iter_mut().for_each(|x| *x /= rest);
                all.push(unit);
            }
        }
        let vectors = &all[span.basis.len()..];
        let by_column = (0..width).map(|j| vectors.iter().map(|q| q[j]).collect()).collect();
        Complement { dimension: vectors.len(), by_column }
    }

    /// The k-th row as a point of length 1, unless it lies in the span.
    fn point(
        &self,
        span: &Span,
        view: &Signed,
        k: usize,
        scratch: &mut Vec<f64>,
    ) -> Option<Vec<f64>> {
        let mut point = vec![0.0; self.dimension];
        let mut square = 0.0;
        span.for_each(view, k, scratch, |j, x| {
            square += x * x;
            point.iter_mut().zip(&self.by_column[j]).for_each(|(p, q)| *p += x * q);
        });
        let rest = dot(&point, &point).sqrt();
        if rest <= INSIDE * square.sqrt() {
            return None;
        }
        point.iter_mut().for_each(|x| *x /= rest);
        Some(point)
    }

    /// The raw plane of a vector of the complement.
    fn raw(&self, span: &Span, x: &[f64]) -> Vec<f64> {
        let shift = usize::from(span.bias);
        let mut plane: Vec<f64> = self.by_column.iter().map(|column| dot(column, x)).collect();
        plane[shift..].iter_mut().zip(&span.scale).for_each(|(w, s)| *w *= s);
        plane
    }
}

/// Takes away what lies along orthonormal vectors, twice, so that the rest is orthogonal to them to
/// the last digits.
fn orthogonalise(row: &mut [f64], basis: &[Vec<f64>]) {
    for _ in 0..2 {
        for b in basis {
            let along = dot(b, row);
            row.iter_mut().zip(b).for_each(|(x, b)| *x -= along * b);
        }
    }
}
