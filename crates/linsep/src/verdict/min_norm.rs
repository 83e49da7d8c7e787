//! The point of least length in the convex hull of some points (Wolfe 1976).
//!
//! A corral is a set of affinely independent points whose hull holds the current point x = Σ λ p. A
//! major step adds the point with the least p·x; minor steps move to the point of least length in
//! the affine hull of the corral, dropping points whose weight would turn negative. The square
//! matrix of the corral, P Pᵀ + 1 1ᵀ = Rᵀ R, is kept factored: adding a point costs a triangular
//! solve, dropping one a chain of rotations. When no point has p·x < |x|², x is the answer: either
//! it is 0 and the corral is a short list of points that balance, or every point has p·x ≥ |x|² > 0.
//!
//! With two groups the weights of each group add up to 1: x = p − q goes from one hull to the other,
//! if the points of the second group are −q. The matrix of the corral is P Pᵀ + e₊e₊ᵀ + e₋e₋ᵀ with e
//! the points of a group, each group has its own level p·x on the corral, the levels add up to |x|²,
//! and x is the answer when no point lies below the level of its group.

/// Points and the state of the search.
pub(crate) struct MinNorm {
    dimension: usize,
    points: Vec<f64>,
    /// 0 or 1 for each point.
    group: Vec<u8>,
    two_groups: bool,
    corral: Vec<usize>,
    lambda: Vec<f64>,
    /// Rows of the upper triangle R: row i holds the entries i.. .
    factor: Vec<Vec<f64>>,
    pub(crate) x: Vec<f64>,
    /// The points that were lowest when all were last looked at, where there are many.
    lowest: Vec<usize>,
    /// About how many multiplications it took.
    pub(crate) work: u64,
}

/// Weights below this share of 1 are 0.
const ZERO: f64 = 1e-13;

/// From so many numbers on, a look at all points keeps the lowest of them for the next steps.
const MANY_NUMBERS: usize = 1 << 21;

/// How many it keeps.
const KEPT: usize = 64;

impl MinNorm {
    pub(crate) fn new(dimension: usize) -> MinNorm {
        MinNorm {
            dimension,
            points: Vec::new(),
            group: Vec::new(),
            two_groups: false,
            corral: Vec::new(),
            lambda: Vec::new(),
            factor: Vec::new(),
            x: vec![0.0; dimension],
            lowest: Vec::new(),
            work: 0,
        }
    }

    /// Adds a point of length 1.
    pub(crate) fn push(&mut self, point: &[f64]) {
        self.push_to(point, 0);
    }

    /// Adds a point to the first or second group.
    pub(crate) fn push_to(&mut self, point: &[f64], group: u8) {
        self.points.extend_from_slice(point);
        self.group.push(group);
        self.two_groups |= group != 0;
    }

    pub(crate) fn len(&self) -> usize {
        self.points.len() / self.dimension.max(1)
    }

    fn point(&self, j: usize) -> &[f64] {
        &self.points[j * self.dimension..(j + 1) * self.dimension]
    }

    /// The points of the corral and their weights.
    pub(crate) fn support(&self) -> impl Iterator<Item = (usize, f64)> {
        self.corral.iter().copied().zip(self.lambda.iter().copied())
    }

    /// |x|².
    pub(crate) fn square(&self) -> f64 {
        dot(&self.x, &self.x)
    }

    /// p·x of the corral, group by group: no point may lie below.
    pub(crate) fn levels(&self) -> [f64; 2] {
        if !self.two_groups {
            return [self.square(); 2];
        }
        let mut levels = [0.0; 2];
        let totals = self.totals();
        for (j, l) in self.support() {
            let group = usize::from(self.group[j]);
            levels[group] += l / totals[group] * self.height(j);
        }
        levels
    }

    /// Σ λ of each group.
    fn totals(&self) -> [f64; 2] {
        let mut totals = [0.0; 2];
        for (j, l) in self.support() {
            totals[usize::from(self.group[j])] += l;
        }
        totals
    }

    /// p·x of a point.
    pub(crate) fn height(&self, j: usize) -> f64 {
        dot(self.point(j), &self.x)
    }

    /// Searches until nothing changes or `steps` major steps are done; true when it is done.
    pub(crate) fn run(&mut self, steps: usize) -> bool {
        if self.corral.is_empty() {
            if self.len() == 0 {
                return true;
            }
            self.add(0);
            self.lambda = vec![1.0];
            if let Some(other) = self.group.iter().position(|&group| group != self.group[0]) {
                self.add(other);
                self.lambda.push(1.0);
            }
            self.update_x();
        }
        let mut best = f64::INFINITY;
        let mut stalled = 0;
        for _ in 0..steps {
            linsep_data::cancel::check();
            let square = self.square();
            // Rounding can make the length creep or rise; a few such steps are enough.
            stalled = if square < best * (1.0 - 1e-12) { 0 } else { stalled + 1 };
            best = best.min(square);
            let level = square * (1.0 - 1e-10) - 1e-30;
            let (j, least) = self.least(level);
            if least >= level || self.corral.contains(&j) || stalled > 20 {
                return true;
            }
            if !self.add(j) {
                return true;
            }
            self.lambda.push(0.0);
            self.shrink_to_corral();
            self.update_x();
            if self.square() < 1e-26 {
                return true;
            }
        }
        false
    }

    /// A point below the level and its p·x, counted from where the level of its group would be |x|². It is
    /// the lowest of all, or, where there are many points, the lowest of those that were so a few steps ago.
    fn least(&mut self, level: f64) -> (usize, f64) {
        let mut from = [0.0; 2];
        if self.two_groups {
            let square = self.square();
            from = self.levels().map(|level| level - square);
        }
        let this = &*self;
        let height = |j: usize| (j, this.height(j) - from[usize::from(this.group[j])]);
        // A height that is no number is never the lowest.
        let lower = |a: (usize, f64), b: (usize, f64)| if b.1 < a.1 { b } else { a };
        let corral = (4 * self.corral.len() * self.corral.len()) as u64;
        let kept = self.lowest.iter().map(|&j| height(j)).fold((0, f64::INFINITY), lower);
        if kept.1 < level && !self.corral.contains(&kept.0) {
            self.work += (self.lowest.len() * self.dimension) as u64 + corral;
            return kept;
        }
        if self.points.len() < MANY_NUMBERS {
            let least = (0..self.len()).map(height).fold((0, f64::INFINITY), lower);
            self.work += self.points.len() as u64 + corral;
            return least;
        }
        let mut heights: Vec<(usize, f64)> = (0..self.len()).map(height).collect();
        self.work += self.points.len() as u64 + corral;
        let kept = KEPT.min(heights.len() - 1);
        heights.select_nth_unstable_by(kept, |a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        heights.truncate(kept);
        let least = heights.iter().copied().fold((0, f64::INFINITY), lower);
        self.lowest = heights.into_iter().map(|(j, _)| j).collect();
        least
    }

    /// Minor steps: until the affine minimiser lies inside.
    fn shrink_to_corral(&mut self) {
        loop {
            linsep_data::cancel::check();
            let affine = self.affine_minimiser();
            if affine.iter().all(|&a| a > ZERO) {
                self.lambda = affine;
                return;
            }
            let mut step = 1.0f64;
            for (l, a) in self.lambda.iter().zip(&affine) {
                if *a <= ZERO && l - a > 0.0 {
                    step = step.min(l / (l - a));
                }
            }
            self.lambda.iter_mut().zip(&affine).for_each(|(l, a)| *l += step * (a - *l));
            let smallest = (0..self.lambda.len())
                .filter(|&i| affine[i] <= ZERO)
                .min_by(|&a, &b| self.lambda[a].total_cmp(&self.lambda[b]));
            let Some(smallest) = smallest else { return };
            self.remove(smallest);
            let mut i = 0;
            while i < self.lambda.len() {
                if self.lambda[i] <= ZERO && self.lambda.len() > 1 {
                    self.remove(i)
                } else {
                    i += 1
                }
            }
            if self.corral.len() == 1 {
                self.lambda = vec![1.0];
                return;
            }
        }
    }

    /// The weights of the point of least length in the affine hull of the corral.
    fn affine_minimiser(&self) -> Vec<f64> {
        if self.two_groups {
            return self.affine_minimiser_of_two();
        }
        let ones = vec![1.0; self.corral.len()];
        let mut v = self.solve_transposed(&ones);
        self.solve(&mut v);
        let sum: f64 = v.iter().sum();
        v.iter_mut().for_each(|v| *v /= sum);
        v
    }

    /// Σ λ p of the corral.
    fn blended(&self, lambda: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; self.dimension];
        for (&j, &l) in self.corral.iter().zip(lambda) {
            x.iter_mut().zip(self.point(j)).for_each(|(x, p)| *x += l * p);
        }
        x
    }

    /// The same with two groups: ν₊ M⁻¹e₊ + ν₋ M⁻¹e₋, with ν such that each group adds up to 1.
    fn affine_minimiser_of_two(&self) -> Vec<f64> {
        let [(first, a), (second, b)] = [0, 1].map(|group| {
            let of_group = |&j: &usize| f64::from(u8::from(self.group[j] == group));
            let member: Vec<f64> = self.corral.iter().map(of_group).collect();
            let mut v = self.solve_transposed(&member);
            self.solve(&mut v);
            (v, member)
        });
        let (aa, ab) = (dot(&a, &first), dot(&a, &second));
        let (ba, bb) = (dot(&b, &first), dot(&b, &second));
        let determinant = aa * bb - ab * ba;
        let (s, t) = ((bb - ab) / determinant, (aa - ba) / determinant);
        let mut v: Vec<f64> = first.iter().zip(&second).map(|(x, y)| s * x + t * y).collect();
        let (first, second) = (dot(&a, &v), dot(&b, &v));
        for (v, a) in v.iter_mut().zip(&a) {
            *v /= if *a == 1.0 { first } else { second };
        }
        v
    }

    fn update_x(&mut self) {
        let totals = self.totals();
        let shares: Vec<f64> =
            self.support().map(|(j, l)| l / totals[usize::from(self.group[j])]).collect();
        self.x = self.blended(&shares);
    }

    /// Appends a point to the corral; false when it is (numerically) dependent on it.
    fn add(&mut self, j: usize) -> bool {
        let column: Vec<f64> = self.corral.iter().map(|&i| self.product(i, j)).collect();
        let r = self.solve_transposed(&column);
        let size = 1.0 + dot(self.point(j), self.point(j));
        let rest = size - dot(&r, &r);
        if rest <= 1e-14 * size {
            return false;
        }
        self.factor.iter_mut().zip(&r).for_each(|(row, &value)| row.push(value));
        self.factor.push(vec![rest.sqrt()]);
        self.corral.push(j);
        true
    }

    /// An entry of the matrix of the corral.
    fn product(&self, i: usize, j: usize) -> f64 {
        let alike = f64::from(u8::from(self.group[i] == self.group[j]));
        alike + dot(self.point(i), self.point(j))
    }

    /// Drops the i-th point of the corral.
    fn remove(&mut self, i: usize) {
        self.corral.remove(i);
        self.lambda.remove(i);
        // Without column i the rows from i on have one entry too many on the left; rotations of
        // neighbouring rows clear it.
        for (k, row) in self.factor.iter_mut().enumerate().take(i) {
            row.remove(i - k);
        }
        let tail: Vec<Vec<f64>> = self.factor.drain(i..).collect();
        // Row k of the tail has entries for columns i+k.. ; column i is gone from row 0.
        let size = tail.len() - 1;
        let mut full: Vec<Vec<f64>> = tail
            .into_iter()
            .enumerate()
            .map(|(k, row)| {
                let mut wide = vec![0.0; size];
                for (offset, value) in row.into_iter().enumerate() {
                    if k + offset >= 1 {
                        wide[k + offset - 1] = value;
                    }
                }
                wide
            })
            .collect();
        for k in 0..size {
            let (a, b) = (full[k][k], full[k + 1][k]);
            let length = a.hypot(b);
            let (c, s) = if length == 0.0 { (1.0, 0.0) } else { (a / length, b / length) };
            let (head, rest) = full.split_at_mut(k + 1);
            for (x, y) in head[k][k..].iter_mut().zip(&mut rest[0][k..]) {
                (*x, *y) = (c * *x + s * *y, c * *y - s * *x);
            }
        }
        self.factor
            .extend(full.into_iter().take(size).enumerate().map(|(k, row)| row[k..].to_vec()));
    }

    /// Rᵀ y = b.
    fn solve_transposed(&self, b: &[f64]) -> Vec<f64> {
        let mut y = b.to_vec();
        for i in 0..b.len() {
            y[i] /= self.factor[i][0];
            let value = y[i];
            y[i + 1..].iter_mut().zip(&self.factor[i][1..]).for_each(|(y, r)| *y -= value * r);
        }
        y
    }

    /// R y = b, in place.
    fn solve(&self, b: &mut [f64]) {
        for i in (0..b.len()).rev() {
            let (head, tail) = b.split_at_mut(i + 1);
            head[i] = (head[i] - dot(&self.factor[i][1..], tail)) / self.factor[i][0];
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    linsep_kernels::dot_f64(a, b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use linsep_data::rng::{Purpose, Stream};

    fn search(points: &[Vec<f64>]) -> MinNorm {
        let mut search = MinNorm::new(points[0].len());
        points.iter().for_each(|point| search.push(point));
        assert!(search.run(10_000));
        search
    }

    #[test]
    fn the_nearest_point_of_a_segment_and_a_triangle() {
        let segment = search(&[vec![1.0, 1.0], vec![1.0, -1.0]]);
        assert!((segment.x[0] - 1.0).abs() < 1e-12 && segment.x[1].abs() < 1e-12);
        let around_zero = search(&[vec![1.0, 0.0], vec![-1.0, 1.0], vec![-1.0, -1.0]]);
        assert!(around_zero.square() < 1e-24);
        assert_eq!(around_zero.support().count(), 3);
    }

    #[test]
    fn the_shortest_way_between_two_squares() {
        let mut search = MinNorm::new(2);
        for (x, y) in [(0.0, 0.0), (0.0, 2.0), (-1.0, 0.0), (-1.0, 2.0)] {
            search.push_to(&[x, y], 0);
            search.push_to(&[-(x + 4.0), -(y + 1.0)], 1);
        }
        assert!(search.run(1000));
        assert!((search.x[0] + 3.0).abs() < 1e-12 && search.x[1].abs() < 1e-12, "{:?}", search.x);
        let [first, second] = search.levels();
        assert!((first + second - search.square()).abs() < 1e-12);
    }

    #[test]
    fn no_point_lies_below_the_answer() {
        let mut stream = Stream::new(1, Purpose::Generate(0));
        for shift in [0.0, 0.3, 2.0] {
            let points: Vec<Vec<f64>> = (0..300)
                .map(|_| {
                    (0..12).map(|j| stream.normal() + if j == 0 { shift } else { 0.0 }).collect()
                })
                .collect();
            let found = search(&points);
            let square = found.square();
            let least = points.iter().map(|p| dot(p, &found.x)).fold(f64::INFINITY, f64::min);
            assert!(least >= square * (1.0 - 1e-8) - 1e-12, "{least} {square}");
            assert!(found.support().count() <= 13);
        }
    }
}
