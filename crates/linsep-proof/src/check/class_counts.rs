//! Multinomial naive Bayes with a plane for each class: a cheap check, one class after the other.
//!
//! The counts of one class fit the cache of a core where those of all classes do not, and they are done with once
//! its plane is compared. Values x ≥ 0 and weights of rows have to be whole: sums of such numbers never fall, so
//! a total below 2^52 says that neither it nor any sum of a column was rounded.
//!
//! Let e be the plane that the counts make and s = [`ROUNDING`]. Where w_j ≤ 0, |w_j − e_j| ≤ s |w_j|, and the same
//! of the bias, no term of a score takes anything from another, so that for every row
//!
//! ```text
//! |(w − e)·x + b − e_b|  ≤  Σ |w_j − e_j| x_j + |b − e_b|  ≤  s (Σ |w_j| x_j + |b|)  =  s |w·x + b|
//! ```
//!
//! and all scores together differ by at most s of their norm, of which no row has to be asked. It is below what
//! `counts` allows to a weight and to the scores. What is not sure here, `counts` decides.

use super::Checker;
use super::counts::Logs;
use super::fitted::Fitted;
use super::sweep::{Line, visited};
use crate::double::Double;
use crate::fitted::Priors;
use crate::threads::side_by_side;

/// What a number may differ by, for its size: some thousand times what rounding does to it.
const ROUNDING: f64 = 1e-11;

/// Sums of whole numbers that stay below this are exact.
pub(super) const MOST: f64 = (1u64 << 52) as f64;

impl Checker<'_> {
    /// Whether each class has a plane that is surely made of its counts.
    pub(super) fn surely_multinomial(
        &self,
        fitted: &Fitted<'_>,
        alpha: f64,
        priors: &Priors,
    ) -> bool {
        if self.in_one_place().is_err() {
            return false;
        }
        // Small tables of all classes fit the cache together, and many rows are better shared out in blocks.
        if fitted.planes.len() != fitted.n_classes || fitted.block(self) != self.rows.len() {
            return false;
        }
        let priors = fitted.priors(&fitted.class_weights, priors);
        let (logs, members) = (Logs::new(alpha), fitted.members(self));
        let class = |class: u64| {
            let class = class as usize;
            let (weights, bias) = &fitted.planes[class];
            let rows = members[class].iter().map(|row| (*row, class));
            let counts = visited(self, rows, Counts::new(self.width()), &Counts::add);
            let smooth = Double::product(alpha, weights.len() as f64);
            let all = Double::of(counts.total).plus(smooth).value().ln();
            counts.whole
                && counts.total < MOST
                && is_rounded(*bias, priors[class].ln())
                && are_rounded(weights, &counts.sums, |count| logs.of_whole(count) - all)
        };
        side_by_side(self.threads, 0..fitted.n_classes as u64, &class).into_iter().all(|sure| sure)
    }
}

/// What a class has of each column.
struct Counts {
    sums: Vec<f64>,
    total: f64,
    /// Whether all values and weights were whole and none was below 0.
    whole: bool,
}

impl Counts {
    fn new(width: usize) -> Counts {
        Counts { sums: vec![0.0; width], total: 0.0, whole: true }
    }

    fn add(&mut self, line: &Line<'_>) {
        let (sums, weight) = (&mut self.sums[..], line.weight);
        line.for_each(|j, x| sums[j] += weight * x);
        self.total += weight * sum(line.values());
        let lost = line.values().iter().fold(not_counted(weight), |all, x| all | not_counted(*x));
        self.whole &= lost == 0;
    }
}

/// Sums in lanes, so that no addition waits for the one before.
fn sum(values: &[f64]) -> f64 {
    let (blocks, rest) = values.as_chunks::<8>();
    let mut lanes = [0.0; 8];
    for block in blocks {
        lanes.iter_mut().zip(block).for_each(|(lane, x)| *lane += x);
    }
    lanes.iter().chain(rest).sum()
}

/// 0 only of numbers that are whole and not below 0. Next to 2^52 there are only whole numbers, so a sum with it
/// loses what is not, and bits are put together many at once.
fn not_counted(x: f64) -> u64 {
    const SIGN: u64 = 1 << 63;
    (((x + MOST) - MOST) - x).to_bits() | (x.to_bits() & SIGN)
}

/// Whether a number is what it should be up to rounding, and not above 0.
fn is_rounded(found: f64, expected: f64) -> bool {
    (found <= 0.0) & ((found - expected).abs() <= ROUNDING * found.abs())
}

/// The same of all weights of a plane, whose sums are whole and below 2^52.
fn are_rounded(weights: &[f64], sums: &[f64], expected: impl Fn(u64) -> f64) -> bool {
    const LANES: usize = 8;
    let none = expected(0);
    // What a number adds to 2^52 are the last bits of the sum.
    let count = |sum: f64| (sum + MOST).to_bits() - MOST.to_bits();
    let each = |weights: &[f64], sums: &[f64]| {
        let pairs = weights.iter().zip(sums);
        pairs.fold(true, |all, (w, sum)| all & is_rounded(*w, expected(count(*sum))))
    };
    let ((weights, last_weights), (sums, last_sums)) =
        (weights.as_chunks::<LANES>(), sums.as_chunks::<LANES>());
    let mut all = is_rounded(none, none) & each(last_weights, last_sums);
    for (weights, sums) in weights.iter().zip(sums) {
        // Most columns have no count in a class.
        let is_empty = sums.iter().fold(true, |empty, sum| empty & (*sum == 0.0));
        let is_none = weights.iter().fold(true, |none_yet, w| none_yet & (*w == none));
        all &= (is_empty & is_none) || each(weights, sums);
    }
    all
}
