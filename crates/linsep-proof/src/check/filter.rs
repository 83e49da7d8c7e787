//! Which rows are so far from a plane that binary64 tells their side; all others are summed exactly.
//!
//! A score s on a plane of binary64 weights comes with a bound e on its error (module `optimal::rows`): with
//! n terms in eight lanes, a = fl(Σ |v·w|) and γ_k = k·u/(1 − k·u), u = 2^-53,
//!
//! ```text
//! |s − Σ x·w| ≤ e = γ_{n/8 + 6 + k} · a + n · 2^-1072
//! ```
//!
//! with k = 4 for plain columns, of which a decimal x needs one: it differs from its binary64 v by at most u·|v|.
//! With basis functions of degree d a column may be off by γ_{2d−1} instead of u (see the module `basis`), and
//! k = 2d + 2. A sum beyond that bound has the sign of s. Overflow makes e infinite, and the test fails.

use super::optimal::Linear;
use super::{Checked, Checker, Side, Signs};
use crate::exact::{Scaled, approximate};
use crate::rows::RowBuffer;
use crate::threads::side_by_side;
use dashu_int::IBig;
use std::cmp::Ordering;
use std::ops::Range;

/// Rows that are farther than a threshold t from a plane: both are rounded to binary64, each number by at most
/// 2u of itself, so that a term is rounded twice more, and t by 2u |t|.
pub(super) struct Filter {
    plane: Linear<'static>,
    threshold: f64,
}

/// What the roundings of a plane and of a threshold add to those of a score.
const ROUNDED: f64 = 16.0;

impl Filter {
    /// For x·(side / scale) against (threshold / divisor).
    pub(super) fn new(
        side: &Side,
        scale: &IBig,
        threshold: &Scaled,
        divisor: &IBig,
        checker: &Checker<'_>,
    ) -> Filter {
        let column = |j: usize| side.weight(j as u32).map_or(0.0, |w| approximate(&w, scale));
        let weights = (0..checker.width()).map(column).collect();
        let plane = Linear { weights, bias: approximate(&side.bias, scale) };
        Filter { plane, threshold: approximate(threshold, divisor) }
    }

    /// Whether the row is proved to be farther than the threshold, y·(x·v) > t.
    pub(super) fn beyond(
        &self,
        checker: &Checker<'_>,
        row: u64,
        sign: i8,
        buffer: &mut RowBuffer,
    ) -> bool {
        let (sum, bound) = checker.filtered(&self.plane, row, ROUNDED, buffer);
        // Half of it covers the comparison: no subtraction loses more than u of both numbers.
        let slack = 2.0 * bound + ROUNDED * f64::EPSILON * self.threshold.abs();
        f64::from(sign) * sum - self.threshold > slack
    }
}

impl Checker<'_> {
    /// On which side of the plane a row lies.
    pub(super) fn side(&self, side: &Side, row: u64, buffer: &mut RowBuffer) -> Checked<Ordering> {
        if let Some(plane) = &side.floats {
            let (sum, bound) = self.filtered(plane, row, 0.0, buffer);
            if sum > bound {
                return Ok(Ordering::Greater);
            }
            if sum < -bound {
                return Ok(Ordering::Less);
            }
        }
        self.exact_side(side, row)
    }

    /// The score of a row, and a bound on its error with some roundings more.
    fn filtered(
        &self,
        plane: &Linear<'_>,
        row: u64,
        more: f64,
        buffer: &mut RowBuffer,
    ) -> (f64, f64) {
        match self.row(row, buffer) {
            Ok(entries) => plane.score(entries, self.products.roundings() + more),
            // A product of the basis is out of range.
            Err(_) => (0.0, f64::INFINITY),
        }
    }

    /// Whether the filter proves that a row scores higher on one plane than on another.
    pub(super) fn filter_greater(
        &self,
        own: &Side,
        other: &Side,
        row: u64,
        buffer: &mut RowBuffer,
    ) -> bool {
        let (Some(a), Some(b)) = (&own.floats, &other.floats) else { return false };
        let (a, a_bound) = self.filtered(a, row, 0.0, buffer);
        let (b, b_bound) = self.filtered(b, row, 0.0, buffer);
        // The subtraction and the addition round once more each; twice the bounds covers that.
        a - b > 2.0 * (a_bound + b_bound) + f64::EPSILON * (a.abs() + b.abs())
    }

    /// Runs a check on every row that takes part and counts them; it may use the buffer as it likes.
    pub(super) fn every_row(
        &self,
        signs: &Signs,
        check: impl Fn(u64, i8, &mut RowBuffer) -> Checked<()> + Sync,
    ) -> Checked<u64> {
        let rows = self.rows;
        let run = |range: Range<u64>| -> Checked<u64> {
            let (mut count, mut buffer) = (0, RowBuffer::default());
            for row in range {
                if let Some(sign) = signs.of(row) {
                    check(row, sign, &mut buffer)?;
                    count += 1;
                }
            }
            Ok(count)
        };
        let workers = (self.threads as u64).clamp(1, rows.len() / 1000 + 1);
        if workers == 1 {
            return run(0..rows.len());
        }
        let share = rows.len().div_ceil(workers);
        let part = |k: u64| run(k * share..((k + 1) * share).min(rows.len()));
        side_by_side(self.threads, 0..workers, &part).into_iter().sum()
    }
}
