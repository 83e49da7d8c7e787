//! The shortest point of the hull of all rows, in floats: raw rows, one common scale, because here
//! lengths count and not only signs.
//!
//! Three hulls are asked for. Their shortest points X are the planes of the largest margin
//! (`docs/theory/theorems.md`, section 5), with X·z at its least on the rows of the support.
//!
//! ```text
//! augmented    z = ±(c, x)                      the margin of (b/c, w) of length 1
//! geometric    ±x, each side for itself         half the way between the two hulls
//! unit sphere  z / |z|  with z = ±(1, x)        the margin of rows of length 1
//! ```
//!
//! Wolfe's method ([`MinNorm`]) works on an active set; the rows that lie below its answer join, as
//! many at a time as in the search for a verdict. What comes out is a proposal.

use super::min_norm::MinNorm;
use super::search::Effort;
use super::signed::Signed;
use linsep_data::parallel::parallel_map;
use linsep_kernels as kernel;
use linsep_proof::Entries;
use std::sync::Arc;

/// Rounds after which the answer has to do.
const MAX_ROUNDS: usize = 200;

/// A row lies below the answer if it does so by this share of its squared length.
const BELOW: f64 = 1e-10;

/// Which hull.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// z = ±(c, x).
    Augmented(u64),
    /// The two hulls of x.
    Geometric,
    /// z / |z|.
    UnitSphere,
}

/// The rows of a question as the points of a hull.
pub(crate) struct Hull {
    pub(crate) view: Arc<Signed>,
    pub(crate) shape: Shape,
    /// Every point is a row times this power of two, so that the longest is about 1.
    factor: f64,
    /// A point that is subtracted from every row, where that changes nothing.
    centre: Vec<f64>,
    /// |z| of each row, on the unit sphere.
    lengths: Vec<f64>,
}

/// Where the search for the shortest point ended: X as a plane of raw columns, and its rows.
pub(crate) struct Nearest {
    pub(crate) support: Vec<(usize, f64)>,
    pub(crate) weights: Vec<f64>,
    pub(crate) bias: f64,
    /// X·z on the support, group by group.
    pub(crate) levels: [f64; 2],
}

impl Hull {
    /// `None` if the rows are too long for floats.
    pub(crate) fn new(view: Arc<Signed>, shape: Shape, threads: usize) -> Option<Hull> {
        let constant = match shape {
            Shape::Augmented(constant) => constant as f64,
            Shape::Geometric => 0.0,
            Shape::UnitSphere => 1.0,
        };
        let squares = squares(&view, constant, threads);
        let longest = squares.iter().copied().fold(0.0, f64::max).sqrt();
        if !longest.is_finite() || longest < 1e-140 {
            return None;
        }
        let mut hull = Hull { view, shape, factor: 1.0, centre: Vec::new(), lengths: Vec::new() };
        match shape {
            Shape::UnitSphere => hull.lengths = squares.into_iter().map(f64::sqrt).collect(),
            _ => hull.factor = 2f64.powi(-(longest.log2().round() as i32)),
        }
        if shape == Shape::Geometric {
            hull.centre = hull.middle();
        }
        Some(hull)
    }

    /// Dimension of the points.
    fn dimension(&self) -> usize {
        self.view.data.n_features() + usize::from(self.shape != Shape::Geometric)
    }

    /// The mean of rows spread over the data.
    fn middle(&self) -> Vec<f64> {
        let mut sum = vec![0.0; self.view.data.n_features()];
        let step = self.view.len().div_ceil(1000);
        let (mut scratch, mut count) = (Vec::new(), 0.0);
        for k in (0..self.view.len()).step_by(step) {
            self.view.for_each(k, &mut scratch, |j, x| sum[j as usize] += x);
            count += 1.0;
        }
        sum.iter_mut().for_each(|sum| *sum /= count);
        sum
    }

    fn point(&self, k: usize, scratch: &mut Vec<f64>) -> Vec<f64> {
        let sign = f64::from(self.view.signs[k]);
        let mut factor = sign * self.factor;
        let mut point = vec![0.0; self.dimension()];
        let mut shift = 1;
        match self.shape {
            Shape::Augmented(constant) => point[0] = factor * constant as f64,
            Shape::UnitSphere => {
                factor = sign / self.lengths[k];
                point[0] = factor;
            }
            Shape::Geometric => {
                shift = 0;
                point.iter_mut().zip(&self.centre).for_each(|(p, c)| *p = -factor * c);
            }
        }
        self.view.for_each(k, scratch, |j, x| point[j as usize + shift] += factor * x);
        point
    }

    /// The plane of raw columns whose scores are p·x: X in point coordinates.
    fn plane(&self, x: &[f64]) -> (Vec<f64>, f64) {
        let weights = |x: &[f64]| x.iter().map(|x| x * self.factor).collect::<Vec<f64>>();
        match self.shape {
            Shape::Augmented(constant) => (weights(&x[1..]), x[0] * self.factor * constant as f64),
            Shape::UnitSphere => (weights(&x[1..]), x[0]),
            Shape::Geometric => {
                let weights = weights(x);
                let bias = -weights.iter().zip(&self.centre).map(|(w, c)| w * c).sum::<f64>();
                (weights, bias)
            }
        }
    }

    /// p·X of every row.
    pub(crate) fn heights(&self, weights: &[f64], bias: f64, threads: usize) -> Vec<f64> {
        let mut heights = self.view.margins(0..self.view.len(), weights, bias, threads);
        heights.iter_mut().zip(&self.lengths).for_each(|(height, length)| *height /= length);
        heights
    }

    /// Which of the two levels a row is measured by.
    pub(crate) fn group(&self, k: usize) -> usize {
        usize::from(self.shape == Shape::Geometric && self.view.signs[k] < 0)
    }

    /// Searches from `seeds` and rows spread over the data.
    pub(crate) fn nearest(&self, seeds: &[usize], effort: &Effort<'_>) -> Option<Nearest> {
        let mut walk = Walk::new(self, seeds);
        loop {
            let done = walk.step(self, effort.threads);
            if (effort.stop)() {
                return None;
            }
            if done {
                return Some(walk.nearest(self));
            }
        }
    }
}

/// The search for the shortest point on its way.
pub(crate) struct Walk {
    search: MinNorm,
    active: Vec<usize>,
    is_active: Vec<bool>,
    /// Slices of Wolfe's method since rows last joined.
    slices: usize,
    rounds: usize,
    scratch: Vec<f64>,
}

impl Walk {
    pub(crate) fn new(hull: &Hull, seeds: &[usize]) -> Walk {
        let rows = hull.view.len();
        let mut walk = Walk {
            search: MinNorm::new(hull.dimension()),
            active: Vec::new(),
            is_active: vec![false; rows],
            slices: 0,
            rounds: 0,
            scratch: Vec::new(),
        };
        let first = |sign: i8| hull.view.signs.iter().position(|s| *s == sign);
        let spread = (0..rows).step_by((rows / Walk::batch(hull)).max(1));
        let start = first(1).into_iter().chain(first(-1)).chain(seeds.iter().copied());
        start.chain(spread).for_each(|k| walk.join(hull, k));
        walk
    }

    /// Rows that join at a time.
    fn batch(hull: &Hull) -> usize {
        4 * hull.dimension() + 8
    }

    fn join(&mut self, hull: &Hull, k: usize) {
        if !self.is_active[k] {
            self.is_active[k] = true;
            self.active.push(k);
            self.search.push_to(&hull.point(k, &mut self.scratch), hull.group(k) as u8);
        }
    }

    /// A slice of Wolfe's method, because with many columns a single run can take long; at its end a pass
    /// over all rows, of which those below join. Whether that was the last step.
    pub(crate) fn step(&mut self, hull: &Hull, threads: usize) -> bool {
        self.slices += 1;
        if !self.search.run(50) && self.slices < hull.dimension() + 20 {
            return false;
        }
        self.slices = 0;
        self.rounds += 1;
        let (weights, bias) = hull.plane(&self.search.x);
        let heights = hull.heights(&weights, bias, threads);
        let (levels, slack) = (self.search.levels(), BELOW * self.search.square());
        let depth = |k: usize| heights[k] - levels[hull.group(k)];
        let mut below: Vec<usize> = (0..heights.len()).filter(|&k| depth(k) < -slack).collect();
        below.sort_by(|&a, &b| depth(a).total_cmp(&depth(b)).then(a.cmp(&b)));
        let before = self.active.len();
        // Rows that are in already do not come nearer by being named again.
        below.into_iter().take(Walk::batch(hull)).for_each(|k| self.join(hull, k));
        self.active.len() == before || self.rounds == MAX_ROUNDS
    }

    /// Where it stands.
    pub(crate) fn nearest(&self, hull: &Hull) -> Nearest {
        let support = self.search.support().map(|(j, l)| (self.active[j], l)).collect();
        let (weights, bias) = hull.plane(&self.search.x);
        Nearest { support, weights, bias, levels: self.search.levels() }
    }
}

/// c² + x·x of every row, in floats.
pub(crate) fn squares(view: &Signed, constant: f64, threads: usize) -> Vec<f64> {
    const BLOCK: usize = 4096;
    let blocks = parallel_map(view.len().div_ceil(BLOCK), threads, |block| {
        let rows = block * BLOCK..((block + 1) * BLOCK).min(view.len());
        let mut scratch = Vec::new();
        let square = |k: usize| {
            let (Entries::Dense(x) | Entries::Sparse(_, x)) = view.entries(k, &mut scratch);
            constant * constant + kernel::dot_f64(x, x)
        };
        rows.map(square).collect::<Vec<f64>>()
    });
    blocks.concat()
}
