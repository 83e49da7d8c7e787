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
    /// The coordinates that count, the bias first.
    kept: Vec<bool>,
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
        Span::over(view, &(0..view.data.n_features() as u32).collect::<Vec<u32>>())
    }

    /// The same in some columns only, rising.
    pub(crate) fn over(view: &Signed, columns: &[u32]) -> Span {
        let mut largest = vec![0.0f64; view.data.n_features()];
        let mut scratch = Vec::new();
        for k in 0..view.len() {
            view.for_each(k, &mut scratch, |j, x| {
                let max = &mut largest[j as usize];
                *max = max.max(x.abs());
            });
        }
        let scale = largest.iter().map(|max| if *max > 0.0 { 1.0 / max } else { 0.0 }).collect();
        let mut kept = vec![false; view.dimension()];
        kept[..usize::from(view.bias)].fill(true);
        columns.iter().for_each(|j| kept[*j as usize + usize::from(view.bias)] = true);
        Span { scale, basis: Vec::new(), bias: view.bias, inside: vec![false; view.len()], kept }
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
        RowsOutside::new(self, view).search(self, view, None, effort, work)
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
            if self.kept[j as usize + shift] {
                each(j as usize + shift, sign * x * self.scale[j as usize]);
            }
        });
    }
}

/// The rows outside a span that matter so far. A search starts with those that the one before left.
pub(crate) struct RowsOutside {
    complement: Complement,
    active: Vec<usize>,
    is_active: Vec<bool>,
    points: Vec<Vec<f64>>,
    /// About how many multiplications all searches took.
    pub(crate) work: u64,
}

impl RowsOutside {
    pub(crate) fn new(span: &Span, view: &Signed) -> RowsOutside {
        RowsOutside {
            complement: Complement::new(span),
            active: Vec::new(),
            is_active: vec![false; view.len()],
            points: Vec::new(),
            work: 0,
        }
    }

    /// A plane with all rows outside on its positive side, or a balance among them. With a coordinate and
    /// a sign, one more vector takes part: the unit vector of the coordinate times the sign; a balance is
    /// then one with it. `None` when floats cannot tell.
    pub(crate) fn search(
        &mut self,
        span: &mut Span,
        view: &Signed,
        unit: Option<(usize, f64)>,
        effort: &Effort<'_>,
        work: &mut EffortSpent,
    ) -> Option<Outside> {
        let batch = 4 * self.complement.dimension.max(1) + 8;
        let mut search = MinNorm::new(self.complement.dimension);
        if let Some((coordinate, sign)) = unit {
            search.push(&self.complement.unit(coordinate, sign)?);
        }
        self.points.iter().for_each(|point| search.push(point));
        let first = usize::from(unit.is_some());
        let step = (view.len() / (4 * batch)).max(1);
        let mut wanted: Vec<usize> = match self.active.is_empty() {
            true => (0..view.len()).step_by(step).collect(),
            false => Vec::new(),
        };
        let mut searched = false;
        for _ in 0..ROUNDS {
            let joined = self.join(span, view, &wanted, batch, &mut search);
            if joined == 0 && searched {
                return Some(Outside::Plane(self.complement.raw(span, &search.x)));
            }
            if self.active.is_empty() {
                // Nothing so far lies outside: look at every row before saying so.
                wanted = (0..view.len()).filter(|&k| !span.inside[k]).collect();
                if wanted.is_empty() {
                    return Some(Outside::Nothing);
                }
                continue;
            }
            let before = search.work;
            search.run(200 * self.complement.dimension + 1000);
            self.work += search.work - before + (view.len() * view.dimension()) as u64;
            searched = true;
            if (effort.stop)() {
                return None;
            }
            if search.square() < 1e-16 {
                let rows = search.support().filter(|(j, _)| *j >= first);
                return Some(Outside::Balance(rows.map(|(j, _)| self.active[j - first]).collect()));
            }
            work.visits += view.len() as u64;
            let plane = self.complement.raw(span, &search.x);
            let shift = usize::from(span.bias);
            let bias = if span.bias { plane[0] } else { 0.0 };
            let margins = view.margins(0..view.len(), &plane[shift..], bias, effort.threads);
            let limit = 1e-3 * search.square();
            let open = |k: &usize| margins[*k] <= limit && !self.is_active[*k] && !span.inside[*k];
            wanted = (0..view.len()).filter(open).collect();
            wanted.sort_unstable_by(|a, b| margins[*a].total_cmp(&margins[*b]));
        }
        None
    }

    /// Adds the first of the wanted rows that lie outside, and says how many they are.
    fn join(
        &mut self,
        span: &mut Span,
        view: &Signed,
        wanted: &[usize],
        batch: usize,
        search: &mut MinNorm,
    ) -> usize {
        let (before, mut scratch) = (self.active.len(), Vec::new());
        for &k in wanted {
            if self.active.len() - before == batch {
                break;
            }
            if self.is_active[k] || span.inside[k] {
                continue;
            }
            match self.complement.point(span, view, k, &mut scratch) {
                None => span.inside[k] = true,
                Some(point) => {
                    search.push(&point);
                    self.points.push(point);
                    self.active.push(k);
                    self.is_active[k] = true;
                }
            }
        }
        self.active.len() - before
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
        let kept = span.kept.iter().filter(|kept| **kept).count();
        for j in (0..width).filter(|&j| span.kept[j]) {
            cancel::check();
            if all.len() == kept {
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

    /// The unit vector of a coordinate times a sign, as a point of length 1, unless it lies in the span.
    fn unit(&self, coordinate: usize, sign: f64) -> Option<Vec<f64>> {
        let part = &self.by_column[coordinate];
        let length = dot(part, part).sqrt();
        (length > INSIDE).then(|| part.iter().map(|x| sign * x / length).collect())
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
