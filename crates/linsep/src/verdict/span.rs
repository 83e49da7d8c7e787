//! The float side of facial reduction: the span of the rows that balance, and the search for a plane
//! or a balance among the rows outside it.

use super::min_norm::MinNorm;
use super::search::{Effort, Work};
use super::signed::Signed;
use crate::data::store::kernel::dot_f64 as dot;

/// An orthonormal basis of the span, in coordinates scaled to about 1.
pub(crate) struct Span {
    scale: Vec<f64>,
    basis: Vec<Vec<f64>>,
    bias: bool,
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
    pub(crate) fn new(view: &Signed<'_>) -> Span {
        let mut largest = vec![0.0f64; view.data.n_features()];
        let mut scratch = Vec::new();
        for k in 0..view.len() {
            view.for_each(k, &mut scratch, |j, x| {
                let max = &mut largest[j as usize];
                *max = max.max(x.abs());
            });
        }
        let scale = largest.iter().map(|max| if *max > 0.0 { 1.0 / max } else { 0.0 }).collect();
        Span { scale, basis: Vec::new(), bias: view.bias }
    }

    /// Adds a row to the span; false when it lies in it already.
    pub(crate) fn add(&mut self, view: &Signed<'_>, k: usize) -> bool {
        match self.outside(view, k, &mut Vec::new()) {
            Some(direction) => {
                self.basis.push(direction);
                true
            }
            None => false,
        }
    }

    /// Looks for a plane or a balance among the rows outside. `None` when floats cannot tell.
    pub(crate) fn search(
        &self,
        view: &Signed<'_>,
        effort: &Effort<'_>,
        work: &mut Work,
    ) -> Option<Outside> {
        let shift = usize::from(self.bias);
        let dimension = self.scale.len() + shift;
        let batch = 4 * (dimension - self.basis.len()).max(1) + 8;
        let mut search = MinNorm::new(dimension);
        let mut active = Vec::new();
        // Rows that are active, or inside the span.
        let mut settled = vec![false; view.len()];
        let mut scratch = Vec::new();
        let step = (view.len() / (4 * batch)).max(1);
        let mut wanted: Vec<usize> = (0..view.len()).step_by(step).collect();
        for _ in 0..ROUNDS {
            let before = active.len();
            for &k in &wanted {
                if active.len() - before < batch && !settled[k] {
                    settled[k] = true;
                    if let Some(direction) = self.outside(view, k, &mut scratch) {
                        search.push(&direction);
                        active.push(k);
                    }
                }
            }
            if active.len() == before {
                if !active.is_empty() {
                    return Some(Outside::Plane(self.raw(&search.x)));
                }
                // Nothing so far lies outside: look at every row before saying so.
                wanted = (0..view.len()).filter(|&k| !settled[k]).collect();
                if wanted.is_empty() {
                    return Some(Outside::Nothing);
                }
                continue;
            }
            search.run(200 * dimension + 1000);
            if (effort.stop)() {
                return None;
            }
            if search.square() < 1e-16 {
                return Some(Outside::Balance(search.support().map(|(j, _)| active[j]).collect()));
            }
            work.passes += 1;
            let plane = self.raw(&search.x);
            let bias = if self.bias { plane[0] } else { 0.0 };
            let margins = view.margins(&plane[shift..], bias, effort.threads);
            let limit = 1e-3 * search.square();
            wanted = (0..view.len()).filter(|&k| margins[k] <= limit && !settled[k]).collect();
            wanted.sort_unstable_by(|a, b| margins[*a].total_cmp(&margins[*b]));
        }
        None
    }

    /// The direction of the k-th row outside the span, unless it lies inside.
    fn outside(&self, view: &Signed<'_>, k: usize, scratch: &mut Vec<f64>) -> Option<Vec<f64>> {
        let shift = usize::from(self.bias);
        let sign = f64::from(view.signs[k]);
        let mut row = vec![0.0; self.scale.len() + shift];
        if self.bias {
            row[0] = sign;
        }
        view.for_each(k, scratch, |j, x| {
            row[j as usize + shift] = sign * x * self.scale[j as usize];
        });
        let length = dot(&row, &row).sqrt();
        // Twice is enough to be orthogonal to the last digits.
        for _ in 0..2 {
            for b in &self.basis {
                let along = dot(b, &row);
                row.iter_mut().zip(b).for_each(|(x, b)| *x -= along * b);
            }
        }
        let rest = dot(&row, &row).sqrt();
        if rest <= INSIDE * length {
            return None;
        }
        row.iter_mut().for_each(|x| *x /= rest);
        Some(row)
    }

    /// The raw plane of scaled coordinates.
    fn raw(&self, x: &[f64]) -> Vec<f64> {
        let shift = usize::from(self.bias);
        let mut plane = x.to_vec();
        plane[shift..].iter_mut().zip(&self.scale).for_each(|(w, s)| *w *= s);
        plane
    }
}
