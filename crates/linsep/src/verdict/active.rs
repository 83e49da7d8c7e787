//! Rounds of an active set: the point of least length in the hull of a few rows, in preconditioned
//! coordinates, then a look at the other rows for those that its plane gets wrong.

use super::look::Look;
use super::min_norm::MinNorm;
use super::precondition::Precondition;
use super::signed::Signed;
use std::cmp::Ordering;

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
    pub(crate) fn new(view: &Signed, look: &Look, seeds: &[usize]) -> ActiveSet {
        let precondition = Precondition::new(view, look);
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

    /// Rows that may join in one round.
    fn batch(&self) -> usize {
        4 * self.precondition.dimension()
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

    /// One round; adds the rows it looked at to `visits`.
    pub(crate) fn round(&mut self, view: &Signed, threads: usize, visits: &mut u64) -> Round {
        self.search.run(200 * self.precondition.dimension() + 1000);
        if self.search.square() < 1e-16 {
            let support: Vec<usize> = self.search.support().map(|(j, _)| self.active[j]).collect();
            return Round::Balance(support);
        }
        let (weights, bias) = self.precondition.raw_plane(&self.search.x);
        let (wrong, seen) = self.wrong_rows(view, &weights, bias, threads);
        *visits += seen;
        if wrong.is_empty() {
            return Round::Plane(weights, bias);
        }
        let before = self.active.len();
        self.join(view, wrong.into_iter().map(|(k, _)| k));
        match self.active.len() > before {
            true => Round::More,
            false => Round::Stuck(self.nearest(view, &weights, bias, threads)),
        }
    }

    /// The worst rows that the plane gets wrong, and how many rows were looked at: all of them, or
    /// as many as it took to find plenty.
    fn wrong_rows(
        &mut self,
        view: &Signed,
        weights: &[f64],
        bias: f64,
        threads: usize,
    ) -> (Vec<(usize, f64)>, u64) {
        let (n, batch) = (view.len(), self.batch());
        let mut wrong: Vec<(usize, f64)> = Vec::new();
        let mut seen = 0;
        while seen < n && wrong.len() < 4 * batch {
            let from = (self.cursor + seen) % n;
            let to = (from + GROUP).min(n).min(from + n - seen);
            let margins = view.margins(from..to, weights, bias, threads);
            let is_wrong = |m: &f64| m.partial_cmp(&0.0) != Some(Ordering::Greater);
            wrong.extend((from..to).zip(margins).filter(|(_, m)| is_wrong(m)));
            seen += to - from;
        }
        self.cursor = (self.cursor + seen) % n;
        let worst_first =
            |a: &(usize, f64), b: &(usize, f64)| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0));
        if wrong.len() > batch {
            wrong.select_nth_unstable_by(batch, worst_first);
            wrong.truncate(batch);
        }
        wrong.sort_unstable_by(worst_first);
        (wrong, seen as u64)
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
