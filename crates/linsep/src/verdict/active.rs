//! Rounds of an active set: the point of least length in the hull of a few rows, in preconditioned
//! coordinates, then a look at the other rows for those that its plane gets wrong.

use super::column_scan::ColumnScan;
use super::min_norm::MinNorm;
use super::precondition::Precondition;
use super::signed::Signed;
use super::violators::Violators;
use crate::model::Plane;
use crate::rounds::{self, Rounds};

/// What a round found.
pub(crate) enum Round {
    /// The plane (w, b) has every row on its side, as far as floats can tell.
    Plane(Vec<f64>, f64),
    /// These rows balance, as far as floats can tell.
    Balance(Vec<usize>),
    /// Rows joined; another round is worth while.
    More,
    /// Floats cannot tell; these rows are the ones that matter.
    Stuck(Vec<usize>),
}

/// Rows looked at before it is asked whether enough wrong ones were found.
const GROUP: usize = 1 << 15;

/// The rows that matter so far.
pub(crate) struct ActiveSet {
    precondition: Precondition,
    search: MinNorm,
    active: Vec<usize>,
    is_active: Vec<bool>,
    /// Where the look at the other rows goes on.
    cursor: usize,
}

impl ActiveSet {
    /// Starts with `seeds` and rows spread over the data.
    pub(crate) fn new(view: &Signed, scan: &ColumnScan, seeds: &[usize]) -> ActiveSet {
        let precondition = Precondition::new(view, scan);
        let mut this = ActiveSet {
            search: MinNorm::new(precondition.dimension()),
            precondition,
            active: Vec::new(),
            is_active: vec![false; view.len()],
            cursor: 0,
        };
        let step = (view.len() / this.batch()).max(1);
        let spread = (0..view.len()).step_by(step);
        this.join(view, seeds.iter().copied().chain(spread));
        this
    }

    /// The rows that matter so far.
    pub(crate) fn rows(&self) -> &[usize] {
        &self.active
    }

    /// Rows that may join in one round.
    fn batch(&self) -> usize {
        (4 * self.precondition.dimension()).max(1)
    }

    /// The rows of the current point and their share of it, in raw coordinates.
    pub(crate) fn blend(&self, view: &Signed) -> Vec<(usize, f64)> {
        let mut scratch = Vec::new();
        let share = |(j, l): (usize, f64)| {
            let k = self.active[j];
            (k, l / self.precondition.length(view, k, &mut scratch))
        };
        self.search.support().map(share).collect()
    }

    /// Starts with rows spread over the data, measured on a sample.
    pub(crate) fn on_sample(view: &Signed) -> ActiveSet {
        ActiveSet::new(view, &ColumnScan::at_sample(view).0, &[])
    }

    /// Rows that may join the active ones of a question in one round.
    pub(crate) fn most_joining(view: &Signed) -> usize {
        4 * view.dimension()
    }

    /// The plane of the point of least length, or the rows that balance where that is nothing.
    pub(crate) fn settle(&mut self) -> Result<Plane, Vec<usize>> {
        self.search.run(200 * self.precondition.dimension() + 1000);
        if self.search.square() < 1e-16 {
            return Err(self.search.support().map(|(j, _)| self.active[j]).collect());
        }
        let (weights, bias) = self.precondition.raw_plane(&self.search.x);
        Ok(Plane { weights, bias })
    }

    /// Takes rows among the active ones. Whether any of them is new.
    pub(crate) fn take(&mut self, view: &Signed, rows: Vec<usize>) -> bool {
        let before = self.active.len();
        self.join(view, rows.into_iter());
        self.active.len() > before
    }

    /// One round; adds the rows it looked at to `visits`.
    pub(crate) fn round(&mut self, view: &Signed, threads: usize, visits: &mut u64) -> Round {
        let plane = match self.settle() {
            Ok(plane) => plane,
            Err(support) => return Round::Balance(support),
        };
        let bias = plane.bias;
        let (wrong, seen) = self.wrong_rows(view, &plane, threads);
        *visits += seen;
        if wrong.is_empty() {
            return Round::Plane(plane.weights, bias);
        }
        match self.take(view, wrong) {
            true => Round::More,
            false => Round::Stuck(self.nearest(view, &plane.weights, bias, threads)),
        }
    }

    /// The worst rows that the plane gets wrong, and how many rows were looked at: all of them, or
    /// as many as it took to find plenty.
    fn wrong_rows(&mut self, view: &Signed, plane: &Plane, threads: usize) -> (Vec<usize>, u64) {
        let (n, most) = (view.len(), self.batch());
        let whole = Violators { view, rows: 0..n, most };
        let (mut wrong, mut seen) = (whole.empty(), 0);
        while seen < n && wrong.count < 4 * most as u64 {
            let from = (self.cursor + seen) % n;
            let to = (from + GROUP).min(n).min(from + n - seen);
            let group = Violators { view, rows: from..to, most };
            whole.merge(&mut wrong, rounds::collect(&group, plane, threads, usize::MAX));
            seen += to - from;
        }
        self.cursor = (self.cursor + seen) % n;
        (wrong.worst.into_iter().map(|(k, _)| k as usize).collect(), seen as u64)
    }

    fn join(&mut self, view: &Signed, rows: impl Iterator<Item = usize>) {
        let mut scratch = Vec::new();
        for k in rows {
            if !self.is_active[k] {
                self.is_active[k] = true;
                self.active.push(k);
                self.search.push(&self.precondition.point(view, k, &mut scratch));
            }
        }
    }

    /// The rows next to a plane that floats cannot improve.
    fn nearest(&self, view: &Signed, weights: &[f64], bias: f64, threads: usize) -> Vec<usize> {
        let margins = view.margins(0..view.len(), weights, bias, threads);
        let mut order: Vec<usize> = (0..view.len()).collect();
        order.sort_unstable_by(|&a, &b| margins[a].total_cmp(&margins[b]).then(a.cmp(&b)));
        order.truncate(self.batch());
        order
    }

    /// The support and the active rows closest to the plane.
    pub(crate) fn around(&self, support: &[usize]) -> Vec<usize> {
        let mut rows = support.to_vec();
        let mut order: Vec<usize> =
            (0..self.active.len()).filter(|&j| !support.contains(&self.active[j])).collect();
        order.sort_by(|&a, &b| self.search.height(a).total_cmp(&self.search.height(b)));
        let more = self.batch().saturating_sub(support.len());
        rows.extend(order.into_iter().take(more).map(|j| self.active[j]));
        rows
    }
}
