//! Passes over the rows for several planes at once: scores p = u·x and the sums Σ q x of columns.
//!
//! Rows are cut into blocks of fixed size; each block has sums of its own, and blocks are merged in the
//! order of the rows, so the number of threads changes no bit. Planes lie side by side (number l of
//! column j stands at j, l), so that one value of a row meets all of them and the values that are 0
//! cost nothing. The scores are plain binary64. The sums of columns come in two kinds:
//!
//! - [`Plain`]: binary64, taken up by two-sums after every run of rows. A run ends when it has seen
//!   [`RUN`] values a column, so that taking it up costs little; with at most n rows in a run, a sum is off by
//!   at most γ_{n+8} Σ |q x|.
//! - [`Long`]: q = q₁ + q₂ and x = x₁ + x₂ with 26 bits in each part, so q₁x₁ is exact. It is added by
//!   an addition that keeps what it loses (Knuth's two-sum); the losses and q₁x₂ + q₂x, at most 2^-25 of
//!   the product, are added to a second sum. What is lost for good is the rounding of that sum: its 4n
//!   operations are off by γ_{4n} (2^-25 + n 2^-53) Σ |q x|, below 2^-60 Σ |q x| for blocks of 2^13 rows.
//!
//! Reference: Higham, Accuracy and Stability of Numerical Algorithms, chapters 3 and 4.

use super::Checker;
use super::elsewhere::{Reader, Sums};
use super::fitted::Fitted;
use super::stationary::gamma;
use crate::double::{Double, two_sum};
use crate::threads::side_by_side;
use crate::wide::widest;

/// Rows of a block.
pub(super) const BLOCK: u64 = 1 << 13;
/// What [`Long`] loses of Σ |q x|.
pub(super) const LONG_LOSS: f64 = 1.0 / (1u64 << 60) as f64;
/// Values a column in a run of plain sums: runs this long have small errors, and are taken up seldom.
const RUN: usize = 64;
/// Planes that are taken along at once, at most.
const MOST_LANES: usize = 12;
/// Numbers in the sums of blocks that wait to be merged.
const WAITING: usize = 1 << 23;

/// A row that takes part.
pub(super) struct Line<'a> {
    pub(super) class: usize,
    pub(super) weight: f64,
    /// Columns that are not 0, or none if all values are there.
    columns: &'a [u32],
    values: &'a [f64],
}

impl Line<'_> {
    /// Calls `each` with the values and their columns; values may be 0.
    #[inline(always)]
    pub(super) fn for_each(&self, mut each: impl FnMut(usize, f64)) {
        if self.columns.is_empty() {
            self.values.iter().enumerate().for_each(|(j, x)| each(j, *x));
        } else {
            self.columns.iter().zip(self.values).for_each(|(j, x)| each(*j as usize, *x));
        }
    }

    /// The values that are not 0, or all of them.
    pub(super) fn values(&self) -> &[f64] {
        self.values
    }

    /// All values of the row, if they are at hand.
    pub(super) fn dense(&self) -> Option<&[f64]> {
        self.columns.is_empty().then_some(self.values)
    }

    /// u·x for each plane.
    #[inline(always)]
    fn dot<const L: usize>(&self, u: &[[f64; L]]) -> [f64; L] {
        let mut sums = [0.0; L];
        match self.dense() {
            Some(values) if L == 1 => {
                // One plane has no neighbours to share a register with, so its columns do.
                let mut lanes = [0.0; 8];
                let (blocks, rest) = values.as_chunks::<8>();
                let (weights, last) = u[..values.len()].as_chunks::<8>();
                for (x, u) in blocks.iter().zip(weights) {
                    for ((lane, x), u) in lanes.iter_mut().zip(x).zip(u) {
                        *lane += x * u[0];
                    }
                }
                let rest: f64 = rest.iter().zip(last).map(|(x, u)| x * u[0]).sum();
                sums[0] = lanes.iter().sum::<f64>() + rest;
            }
            _ => self.for_each(|j, x| {
                for (sum, u) in sums.iter_mut().zip(&u[j]) {
                    *sum += u * x;
                }
            }),
        }
        sums
    }
}

/// Visits every row that takes part, blocks side by side, and hands the sums of the blocks to `merge`
/// in their order. `size` is how many numbers the sums of a block hold; `length` is how many rows.
pub(super) fn sweep<A: Send>(
    checker: &Checker<'_>,
    fitted: &Fitted<'_>,
    (size, length): (usize, u64),
    start: impl Fn() -> A + Sync,
    visit: impl Fn(&mut A, &Line<'_>) + Sync,
    mut merge: impl FnMut(A),
) {
    let rows = checker.rows.len();
    let run = |block: u64| {
        let own = block * length..(block * length + length).min(rows);
        visited(checker, own.filter_map(|row| Some((row, fitted.class(row)?))), start(), &visit)
    };
    let together = ((WAITING / size.max(1)) as u64).clamp(1, 64).max(checker.threads as u64);
    let blocks = rows.div_ceil(length.max(1));
    for first in (0..blocks).step_by(together as usize) {
        let end = (first + together).min(blocks);
        side_by_side(checker.threads, first..end, &run).into_iter().for_each(&mut merge);
    }
}

/// The same where sums of all classes are too large for every block to have its own: classes, some of them
/// together, are visited side by side.
pub(super) fn sweep_by_class<A: Send>(
    checker: &Checker<'_>,
    fitted: &Fitted<'_>,
    start: impl Fn() -> A + Sync,
    visit: impl Fn(&mut A, &Line<'_>) + Sync,
    merge: impl FnMut(A),
) {
    /// Groups of classes, whatever the number of threads.
    const GROUPS: usize = 8;
    let members = fitted.members(checker);
    let together = members.len().div_ceil(GROUPS).max(1);
    let run = |group: u64| {
        let first = group as usize * together;
        let last = (first + together).min(members.len());
        let own =
            (first..last).flat_map(|class| members[class].iter().map(move |row| (*row, class)));
        visited(checker, own, start(), &visit)
    };
    let groups = members.len().div_ceil(together) as u64;
    side_by_side(checker.threads, 0..groups, &run).into_iter().for_each(merge);
}

/// Rows with their classes, one after the other.
pub(super) fn visited<A>(
    checker: &Checker<'_>,
    rows: impl Iterator<Item = (u64, usize)>,
    mut sums: A,
    visit: &impl Fn(&mut A, &Line<'_>),
) -> A {
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    for (row, class) in rows {
        checker.products.load(checker.rows, row, &mut columns, &mut values);
        let weight = checker.rows.weight(row);
        visit(&mut sums, &Line { class, weight, columns: &columns, values: &values });
    }
    sums
}

/// Sums Σ q x of each column and plane.
pub(super) trait Cells<const L: usize>: Send {
    /// Zeros.
    fn new(width: usize) -> Self;
    /// Adds q · x for every value of a row.
    fn add(&mut self, line: &Line<'_>, q: &[f64; L]);
    /// Called after the last row of a block.
    fn end(&mut self);
    /// Adds the sums of the rows that follow.
    fn merge(&mut self, next: &Self);
    /// The sum of a column.
    fn sum(&self, column: usize, plane: usize) -> Double;
    /// A sum is off by at most this share of Σ |q x|.
    fn loss(&self) -> f64;
}

/// Sums in binary64 of a run of rows, and of all runs before it in two numbers.
pub(super) struct Plain<const L: usize> {
    run: Vec<[f64; L]>,
    taken: Long<L>,
    /// Rows and values of this run, and the most rows that any run had.
    rows: usize,
    values: usize,
    longest: usize,
}

impl<const L: usize> Plain<L> {
    /// Ends the run.
    #[inline(always)]
    fn take_up(&mut self) {
        let taken = self.taken.high.iter_mut().zip(&mut self.taken.low);
        for ((high, low), run) in taken.zip(&mut self.run) {
            for l in 0..L {
                let (sum, loss) = two_sum(high[l], run[l]);
                (high[l], low[l], run[l]) = (sum, low[l] + loss, 0.0);
            }
        }
        self.longest = self.longest.max(self.rows);
        (self.rows, self.values) = (0, 0);
    }
}

impl<const L: usize> Cells<L> for Plain<L> {
    fn new(width: usize) -> Self {
        let (run, taken) = (vec![[0.0; L]; width], Long::new(width));
        Plain { run, taken, rows: 0, values: 0, longest: 0 }
    }

    #[inline(always)]
    fn add(&mut self, line: &Line<'_>, q: &[f64; L]) {
        let add = |sums: &mut [f64; L], x: f64| {
            for (sum, q) in sums.iter_mut().zip(q) {
                *sum += q * x;
            }
        };
        match line.dense() {
            Some(values) => self.run.iter_mut().zip(values).for_each(|(sums, x)| add(sums, *x)),
            None => line.for_each(|j, x| add(&mut self.run[j], x)),
        }
        self.rows += 1;
        self.values += line.values.len();
        if self.values >= RUN * self.run.len() {
            self.take_up();
        }
    }

    fn end(&mut self) {
        self.take_up();
    }

    fn merge(&mut self, next: &Self) {
        self.taken.merge(&next.taken);
        self.longest = self.longest.max(next.longest);
    }

    fn sum(&self, column: usize, plane: usize) -> Double {
        self.taken.sum(column, plane)
    }

    fn loss(&self) -> f64 {
        // A product and its additions in the run; what two-sums lose is far below the eight.
        gamma(self.longest as f64 + 8.0)
    }
}

/// Sums of about 2^-60; see the module.
pub(super) struct Long<const L: usize> {
    high: Vec<[f64; L]>,
    low: Vec<[f64; L]>,
}

impl<const L: usize> Cells<L> for Long<L> {
    fn new(width: usize) -> Self {
        Long { high: vec![[0.0; L]; width], low: vec![[0.0; L]; width] }
    }

    #[inline(always)]
    fn add(&mut self, line: &Line<'_>, q: &[f64; L]) {
        let upper = q.map(upper_half);
        let lower: [f64; L] = std::array::from_fn(|l| q[l] - upper[l]);
        let add = |high: &mut [f64; L], low: &mut [f64; L], x: f64| {
            let first = upper_half(x);
            let second = x - first;
            for l in 0..L {
                let (sum, loss) = two_sum(high[l], upper[l] * first);
                high[l] = sum;
                low[l] += loss + (upper[l] * second + lower[l] * x);
            }
        };
        match line.dense() {
            Some(values) => {
                let sums = self.high.iter_mut().zip(&mut self.low);
                sums.zip(values).for_each(|((high, low), x)| add(high, low, *x));
            }
            None => line.for_each(|j, x| add(&mut self.high[j], &mut self.low[j], x)),
        }
    }

    fn end(&mut self) {}

    fn merge(&mut self, next: &Self) {
        let theirs = next.high.iter().zip(&next.low);
        for ((high, low), (next_high, next_low)) in
            self.high.iter_mut().zip(&mut self.low).zip(theirs)
        {
            for l in 0..L {
                let sum =
                    Double::pair(high[l], low[l]).plus(Double::pair(next_high[l], next_low[l]));
                (high[l], low[l]) = sum.parts();
            }
        }
    }

    fn sum(&self, column: usize, plane: usize) -> Double {
        Double::pair(self.high[column][plane], self.low[column][plane])
    }

    fn loss(&self) -> f64 {
        LONG_LOSS
    }
}

/// The upper 26 bits of a number (Veltkamp).
#[inline(always)]
fn upper_half(x: f64) -> f64 {
    let scaled = 134_217_729.0 * x; // 2^27 + 1
    scaled - (scaled - x)
}

/// A plane on its way over the rows: p = u·x + base of the class, q = p times the factor of the row.
pub(super) struct Rider<'a> {
    pub(super) weights: &'a [f64],
    pub(super) bases: Vec<f64>,
    /// What is added to p to get a score.
    pub(super) lifts: Vec<f64>,
}

/// What a plane brings home.
pub(super) struct Harvest {
    /// Σ q x of each column.
    pub(super) columns: Vec<Double>,
    /// Σ q of each class.
    pub(super) classes: Vec<Double>,
    /// Σ f p² and Σ f (p + lift)².
    pub(super) square: f64,
    pub(super) scores: f64,
    /// What the sums of columns may be off by, as a share of Σ |q x|.
    pub(super) loss: f64,
}

impl Harvest {
    /// As sums that travel.
    pub(super) fn pack_all(all: Vec<Harvest>) -> Sums {
        all.into_iter().fold(Sums::default(), |sums, harvest| {
            let Harvest { columns, classes, square, scores, loss: _ } = harvest;
            sums.long(columns).long(classes).plain(vec![square, scores])
        })
    }

    /// The way back, for so many planes. Sums that travelled may have lost what their kind loses at most.
    pub(super) fn unpack_all<K: Kind>(
        reader: &mut Reader,
        planes: usize,
        width: usize,
        n_classes: usize,
    ) -> Option<Vec<Harvest>> {
        let mut one = || {
            let (columns, classes) = (reader.long(width)?, reader.long(n_classes)?);
            let both = reader.plain(2)?;
            let loss = K::most_lost();
            Some(Harvest { columns, classes, square: both[0], scores: both[1], loss })
        };
        (0..planes).map(|_| one()).collect()
    }
}

/// The kind of the sums, by the type that holds them.
pub(super) trait Kind {
    type Cells<const L: usize>: Cells<L>;

    /// What [`Cells::loss`] is at most, whatever the rows.
    fn most_lost() -> f64;
}

/// Sums in binary64.
pub(super) struct Short;
/// Sums of about 2^-60.
pub(super) struct Exact;

impl Kind for Short {
    type Cells<const L: usize> = Plain<L>;

    fn most_lost() -> f64 {
        gamma(BLOCK as f64 + 8.0)
    }
}

impl Kind for Exact {
    type Cells<const L: usize> = Long<L>;

    fn most_lost() -> f64 {
        LONG_LOSS
    }
}

/// Something that is counted beside the planes.
pub(super) trait Aside: Send {
    fn visit(&mut self, line: &Line<'_>);
    fn merge(&mut self, next: Self);
}

impl Aside for () {
    fn visit(&mut self, _: &Line<'_>) {}
    fn merge(&mut self, (): ()) {}
}

/// Takes planes over the rows, with something else beside the first of them.
pub(super) fn ride<K: Kind, S: Aside>(
    checker: &Checker<'_>,
    fitted: &Fitted<'_>,
    factors: &[f64],
    riders: &[Rider<'_>],
    aside: impl Fn() -> S + Sync,
) -> (Vec<Harvest>, S) {
    let bundles = riders.len().div_ceil(MOST_LANES).max(1);
    let lanes = riders.len().div_ceil(bundles).max(1);
    let mut all = Vec::with_capacity(riders.len());
    let mut counted = None;
    for bundle in riders.chunks(lanes) {
        let tour = Tour { checker, fitted, factors, riders: bundle };
        if counted.is_none() {
            counted = Some(tour.sized::<K, S>(&aside, &mut all));
        } else {
            tour.sized::<K, ()>(&|| (), &mut all);
        }
    }
    (all, counted.unwrap_or_else(aside))
}

struct Tour<'a> {
    checker: &'a Checker<'a>,
    fitted: &'a Fitted<'a>,
    factors: &'a [f64],
    riders: &'a [Rider<'a>],
}

impl Tour<'_> {
    fn sized<K: Kind, S: Aside>(
        &self,
        aside: &(impl Fn() -> S + Sync),
        all: &mut Vec<Harvest>,
    ) -> S {
        match self.riders.len() {
            1 => self.go::<K::Cells<1>, S, 1>(aside, all),
            2 => self.go::<K::Cells<2>, S, 2>(aside, all),
            3 | 4 => self.go::<K::Cells<4>, S, 4>(aside, all),
            5 | 6 => self.go::<K::Cells<6>, S, 6>(aside, all),
            7 | 8 => self.go::<K::Cells<8>, S, 8>(aside, all),
            9 | 10 => self.go::<K::Cells<10>, S, 10>(aside, all),
            _ => self.go::<K::Cells<MOST_LANES>, S, MOST_LANES>(aside, all),
        }
    }

    fn go<C: Cells<L>, S: Aside, const L: usize>(
        &self,
        aside: &(impl Fn() -> S + Sync),
        all: &mut Vec<Harvest>,
    ) -> S {
        struct Sums<C, S, const L: usize> {
            cells: C,
            classes: Vec<[Double; L]>,
            square: [f64; L],
            scores: [f64; L],
            aside: S,
        }
        let (width, n_classes) = (self.checker.width(), self.factors.len());
        let beside = |at: &dyn Fn(&Rider<'_>) -> f64| {
            let mut lanes = [0.0; L];
            lanes.iter_mut().zip(self.riders).for_each(|(lane, rider)| *lane = at(rider));
            lanes
        };
        let u: Vec<[f64; L]> = (0..width).map(|j| beside(&|rider| rider.weights[j])).collect();
        let classes = 0..n_classes;
        let bases: Vec<[f64; L]> = classes.clone().map(|c| beside(&|r| r.bases[c])).collect();
        let lifts: Vec<[f64; L]> = classes.map(|c| beside(&|r| r.lifts[c])).collect();
        let start = || Sums {
            cells: C::new(width),
            classes: vec![[Double::ZERO; L]; n_classes],
            square: [0.0; L],
            scores: [0.0; L],
            aside: aside(),
        };
        let visit = |sums: &mut Sums<C, S, L>, line: &Line<'_>| {
            widest(
                #[inline(always)]
                || {
                    sums.aside.visit(line);
                    let factor = line.weight * self.factors[line.class];
                    let mut q = line.dot(&u);
                    let (base, lift) = (&bases[line.class], &lifts[line.class]);
                    let classes = &mut sums.classes[line.class];
                    for l in 0..L {
                        let p = q[l] + base[l];
                        let score = p + lift[l];
                        sums.square[l] += factor * p * p;
                        sums.scores[l] += factor * score * score;
                        q[l] = factor * p;
                        classes[l] = classes[l].plus(Double::of(q[l]));
                    }
                    sums.cells.add(line, &q);
                },
            );
        };
        let mut total = start();
        let merge = |mut next: Sums<C, S, L>| {
            next.cells.end();
            total.cells.merge(&next.cells);
            total.aside.merge(next.aside);
            for l in 0..L {
                total.square[l] += next.square[l];
                total.scores[l] += next.scores[l];
            }
            for (mine, theirs) in total.classes.iter_mut().zip(&next.classes) {
                (0..L).for_each(|l| mine[l] = mine[l].plus(theirs[l]));
            }
        };
        let size = 2 * width * (L + n_classes);
        sweep(self.checker, self.fitted, (size, BLOCK), start, visit, merge);
        all.extend((0..self.riders.len()).map(|l| Harvest {
            columns: (0..width).map(|j| total.cells.sum(j, l)).collect(),
            classes: total.classes.iter().map(|sums| sums[l]).collect(),
            square: total.square[l],
            scores: total.scores[l],
            loss: total.cells.loss(),
        }));
        total.aside
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_sums_lose_next_to_nothing() {
        assert_eq!(loses_what_it_says::<Long<2>>(), LONG_LOSS);
    }

    #[test]
    fn plain_sums_lose_what_a_run_loses() {
        // Runs of 64 rows, since no value is left out; 4,000 rows in one would lose 50 times as much.
        assert_eq!(loses_what_it_says::<Plain<2>>(), gamma(64.0 + 8.0));
    }

    /// Against sums of twice the length, on values whose sum nearly cancels.
    fn loses_what_it_says<C: Cells<2>>() -> f64 {
        let mut cells = C::new(3);
        let mut plain = [[Double::ZERO; 2]; 3];
        let mut size = [[0.0; 2]; 3];
        let mut state = 12345u64;
        let mut draw = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        for k in 0..4000 {
            let values = [draw() * 1e3, 1.0 / 3.0 + draw() * 1e-9, draw()];
            let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
            let q = [draw(), sign * (1.0 + draw() * 1e-6)];
            cells.add(&Line { class: 0, weight: 1.0, columns: &[], values: &values }, &q);
            for j in 0..3 {
                for l in 0..2 {
                    plain[j][l] = plain[j][l].plus(Double::product(q[l], values[j]));
                    size[j][l] += (q[l] * values[j]).abs();
                }
            }
        }
        cells.end();
        for j in 0..3 {
            for l in 0..2 {
                let off = cells.sum(j, l).minus(plain[j][l]).value().abs();
                assert!(off <= cells.loss() * size[j][l], "{off} of {}", size[j][l]);
            }
        }
        cells.loss()
    }
}
