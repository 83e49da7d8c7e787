//! Firth's logistic regression: the residual of the modified score, bounded in intervals.
//!
//! With frequencies f, scores s = x·β (x with its 1), p = 1/(1 + e^(−s)), W = f p (1 − p), the expected
//! information I = Σ W x xᵀ and the leverages h = W xᵀI⁻¹x, the gradient of the likelihood with Jeffreys' prior is
//!
//! ```text
//! U = Σ (f (y − p) + h (½ − p)) x
//! ```
//!
//! and 0 at its largest value. Claimed is √(UᵀI⁻¹U) ≤ residual: no direction is moved by a step of scoring by
//! more than so many of its standard errors. I is proved to be regular on the way.
//!
//! **How it is bounded.** Let R be any matrix close to the inverse of a Cholesky factor of I; binary64 makes one, and
//! no rounding in it matters. With z = Rx and M = Σ W z zᵀ, every sum of the intervals below holds the true M. If
//! |M − 1| ≤ ε < ½ in the norm of row sums, no eigenvalue of M is below 1 − ε or above 1 + ε, so
//!
//! ```text
//! h = W zᵀM⁻¹z   is W|z|² up to a share of ε/(1 − ε)
//! UᵀI⁻¹U = (RU)ᵀM⁻¹(RU) ≤ |RU|²/(1 − ε)
//! ```
//!
//! **Rounding.** Each operation on an [`Interval`] is rounded and its ends moved outwards by one place; values
//! that are read as decimals are intervals of one place to each side. exp has the proved error of `optimal::functions`.
//!
//! Reference: Firth, Bias reduction of maximum likelihood estimates, 1993.

use super::{Checked, Checker, Signs};
use crate::basis::Products;
use crate::claim::{Question, Scheme};
use crate::file::ReadingField;
use crate::fitted::{FloatPlane, Planes};
use crate::optimal::ModifiedScore;
use crate::rows::{Reading, Rows};
use crate::threads::side_by_side;

/// More columns than this make matrices that are not worth it.
const MOST_COLUMNS: usize = 1024;
/// Rows of a block.
const BLOCK: u64 = 1 << 10;
/// The share by which exponentials are off, from above.
const EXP_ERROR: f64 = 8.0 * f64::EPSILON;

/// A bound of the residual of the modified score at the planes of a claim, from above.
pub fn measure_modified_score(
    planes: &Planes,
    left_out: &[u32],
    rows: &dyn Rows,
    reading: &ReadingField,
    bias: bool,
    threads: usize,
) -> Result<f64, String> {
    let products = Products::new(rows.basis(), rows.width())?;
    let checker = Checker { rows, products, reading, bias, threads, elsewhere: None };
    checker.residual(planes, left_out)
}

impl Checker<'_> {
    pub(super) fn modified_score(
        &self,
        planes: &Planes,
        claimed: &ModifiedScore,
    ) -> Checked<String> {
        if !(claimed.residual.is_finite() && claimed.residual >= 0.0) {
            return Err("the residual is no number of at least 0".into());
        }
        let shown = self.residual(planes, &claimed.left_out)?;
        if shown.is_nan() || shown > claimed.residual {
            return Err(format!(
                "the modified score has a residual of {shown:.3e} standard errors, not at most {:.3e}",
                claimed.residual
            ));
        }
        Ok(format!(
            "stationary for Firth's likelihood: the modified score, recomputed from the rows, is at most {:.1e} standard errors in every direction{}",
            1.05 * claimed.residual,
            self.row_weights()
        ))
    }

    fn residual(&self, planes: &Planes, left_out: &[u32]) -> Checked<f64> {
        let Planes::Two { problem, plane } = planes else {
            return Err("the modified score is claimed of one plane for two classes".into());
        };
        if !self.products.is_empty() {
            return Err("the modified score is not claimed of basis functions".into());
        }
        if problem.scheme == Scheme::Pair {
            return Err("every row has to belong to a side".into());
        }
        let work = Score::new(self, problem, plane, left_out)?;
        work.residual()
    }
}

/// A claim on its way to a bound.
struct Score<'a> {
    checker: &'a Checker<'a>,
    signs: Signs,
    weights: Vec<f64>,
    bias: f64,
    /// The place of each column in I, or none.
    places: Vec<Option<usize>>,
    order: usize,
}

impl<'a> Score<'a> {
    fn new(
        checker: &'a Checker<'a>,
        problem: &Question,
        plane: &FloatPlane,
        left_out: &[u32],
    ) -> Checked<Score<'a>> {
        let width = checker.width();
        let (weights, bias) = plane.dense(width, checker.bias)?;
        let rises = left_out.is_sorted_by(|a, b| a < b);
        if !rises || left_out.last().is_some_and(|column| *column as usize >= width) {
            return Err("the columns that are left out are out of order or out of range".into());
        }
        if let Some(column) = left_out.iter().find(|column| weights[**column as usize] != 0.0) {
            return Err(format!("column {column} is left out, and its weight is not 0"));
        }
        let mut order = usize::from(checker.bias);
        let mut places = vec![None; width];
        for (column, place) in places.iter_mut().enumerate() {
            if left_out.binary_search(&(column as u32)).is_err() {
                *place = Some(order);
                order += 1;
            }
        }
        if order == 0 || order > MOST_COLUMNS {
            return Err(format!("there are {order} coefficients, 1 to {MOST_COLUMNS} are checked"));
        }
        let signs = checker.signs(problem)?;
        Ok(Score { checker, signs, weights: weights.into_owned(), bias, places, order })
    }

    /// x of a row with its 1, or nothing where the row does not take part.
    fn line(&self, row: u64, line: &mut [Interval]) -> Option<(f64, f64)> {
        let sign = self.signs.of(row)?;
        line.fill(Interval::of(0.0));
        if self.checker.bias {
            line[0] = Interval::of(1.0);
        }
        self.checker.rows.for_each(row, &mut |column, value| {
            if let Some(place) = self.places[column as usize] {
                line[place] = match self.checker.reading.of(column) {
                    Reading::Binary64 => Interval::of(value),
                    // The nearest binary64 of a decimal; whole numbers are both.
                    Reading::Decimal if value.fract() == 0.0 && value.abs() < 9e15 => {
                        Interval::of(value)
                    }
                    Reading::Decimal => Interval::around(value),
                };
            }
        });
        let y = if sign > 0 { 1.0 } else { 0.0 };
        Some((self.checker.rows.weight(row), y))
    }

    /// p and 1 − p of a row.
    fn shares(&self, line: &[Interval]) -> (Interval, Interval) {
        let mut score = Interval::of(self.bias);
        for (column, place) in self.places.iter().enumerate() {
            if let Some(place) = place {
                score = score.plus(line[*place].times(Interval::of(self.weights[column])));
            }
        }
        let (least, most) = (sigmoid(score.lo), sigmoid(score.hi));
        let (other_least, other_most) = (sigmoid(-score.hi), sigmoid(-score.lo));
        (Interval { lo: least.lo, hi: most.hi }, Interval { lo: other_least.lo, hi: other_most.hi })
    }

    fn blocks<T: Send>(&self, block: impl Fn(std::ops::Range<u64>) -> T + Sync) -> Vec<T> {
        let rows = self.checker.rows.len();
        let one = |k: u64| block(k * BLOCK..(k * BLOCK + BLOCK).min(rows));
        side_by_side(self.checker.threads, 0..rows.div_ceil(BLOCK), &one)
    }

    fn residual(&self) -> Checked<f64> {
        let order = self.order;
        // I, roughly, and R.
        let parts = self.blocks(|rows| {
            let mut sum = vec![0.0; order * order];
            let mut line = vec![Interval::of(0.0); order];
            for row in rows {
                let Some((weight, _)) = self.line(row, &mut line) else { continue };
                let (p, q) = self.shares(&line);
                let w = weight * p.middle() * q.middle();
                for j in 0..order {
                    let a = w * line[j].middle();
                    (0..=j).for_each(|k| sum[j * order + k] += a * line[k].middle());
                }
            }
            sum
        });
        let mut matrix = vec![0.0; order * order];
        for part in &parts {
            matrix.iter_mut().zip(part).for_each(|(all, part)| *all += part);
        }
        let root = inverse_root(&matrix, order)
            .ok_or("the information is singular, or too nearly so to be told")?;
        let parts = self.blocks(|rows| self.sums(rows, &root));
        let mut all = Sums::new(order);
        parts.iter().for_each(|part| all.add(part));
        let mut epsilon = 0.0f64;
        for j in 0..order {
            let mut sum = Interval::of(0.0);
            for k in 0..order {
                let (high, low) = (j.max(k), j.min(k));
                let one = Interval::of(if j == k { 1.0 } else { 0.0 });
                let off = all.matrix[high * order + low].minus(one);
                sum = sum.plus(Interval::of(off.largest()));
            }
            if sum.hi.is_nan() || sum.hi >= 0.5 {
                return Err("the information is too nearly singular for its bound".into());
            }
            epsilon = epsilon.max(sum.hi);
        }
        let keep = Interval::of(1.0).minus(Interval::of(epsilon)).lo;
        let spread = (epsilon / keep).next_up();
        let mut square = Interval::of(0.0);
        for k in 0..order {
            let off = Interval::of(all.score[k].largest())
                .plus(Interval::of(spread).times(Interval::of(all.leverage[k].hi)));
            square = square.plus(Interval::of(off.hi).times(Interval::of(off.hi)));
        }
        Ok((square.hi / keep).next_up().sqrt().next_up())
    }

    fn sums(&self, rows: std::ops::Range<u64>, root: &[f64]) -> Sums {
        let order = self.order;
        let mut sums = Sums::new(order);
        let mut line = vec![Interval::of(0.0); order];
        let mut z = vec![Interval::of(0.0); order];
        for row in rows {
            let Some((weight, y)) = self.line(row, &mut line) else { continue };
            let (p, q) = self.shares(&line);
            let weight = Interval::of(weight);
            let w = weight.times(p).times(q);
            let mut square = Interval::of(0.0);
            for j in 0..order {
                let mut sum = Interval::of(0.0);
                for k in 0..=j {
                    sum = sum.plus(line[k].times(Interval::of(root[j * order + k])));
                }
                z[j] = sum;
                square = square.plus(sum.times(sum));
            }
            for j in 0..order {
                let a = w.times(z[j]);
                let to = &mut sums.matrix[j * order..][..j + 1];
                to.iter_mut().zip(&z).for_each(|(to, z)| *to = to.plus(a.times(*z)));
            }
            // y − p without cancellation.
            let rest = if y > 0.5 { q } else { Interval::of(0.0).minus(p) };
            let half = q.minus(p).times(Interval::of(0.5));
            let leverage = w.times(square);
            let pull = weight.times(rest).plus(leverage.times(half));
            let size = Interval::of(leverage.largest()).times(Interval::of(half.largest()));
            for (k, z) in z.iter().enumerate() {
                sums.score[k] = sums.score[k].plus(pull.times(*z));
                let part = size.times(Interval::of(z.largest()));
                sums.leverage[k] = sums.leverage[k].plus(part);
            }
        }
        sums
    }
}

struct Sums {
    /// M below the diagonal.
    matrix: Vec<Interval>,
    /// RU with W|z|² for h.
    score: Vec<Interval>,
    /// Σ W|z|² |½ − p| |z|.
    leverage: Vec<Interval>,
}

impl Sums {
    fn new(order: usize) -> Sums {
        let zero = Interval::of(0.0);
        Sums {
            matrix: vec![zero; order * order],
            score: vec![zero; order],
            leverage: vec![zero; order],
        }
    }

    fn add(&mut self, other: &Sums) {
        let pairs = [
            (&mut self.matrix, &other.matrix),
            (&mut self.score, &other.score),
            (&mut self.leverage, &other.leverage),
        ];
        for (to, from) in pairs {
            to.iter_mut().zip(from).for_each(|(to, from)| *to = to.plus(*from));
        }
    }
}

/// Numbers between two ends. What is not a number makes ends that are none, and fails every comparison.
#[derive(Clone, Copy, Debug)]
struct Interval {
    lo: f64,
    hi: f64,
}

impl Interval {
    fn of(x: f64) -> Interval {
        Interval { lo: x, hi: x }
    }

    fn around(x: f64) -> Interval {
        Interval { lo: x.next_down(), hi: x.next_up() }
    }

    fn middle(self) -> f64 {
        0.5 * (self.lo + self.hi)
    }

    fn largest(self) -> f64 {
        if self.lo.is_nan() || self.hi.is_nan() {
            f64::NAN
        } else {
            self.lo.abs().max(self.hi.abs())
        }
    }

    fn plus(self, other: Interval) -> Interval {
        Interval { lo: (self.lo + other.lo).next_down(), hi: (self.hi + other.hi).next_up() }
    }

    fn minus(self, other: Interval) -> Interval {
        Interval { lo: (self.lo - other.hi).next_down(), hi: (self.hi - other.lo).next_up() }
    }

    fn times(self, other: Interval) -> Interval {
        let (a, b) = (self.lo * other.lo, self.lo * other.hi);
        let (c, d) = (self.hi * other.lo, self.hi * other.hi);
        if (a + b + c + d).is_nan() {
            return Interval::of(f64::NAN);
        }
        Interval { lo: a.min(b).min(c.min(d)).next_down(), hi: a.max(b).max(c.max(d)).next_up() }
    }
}

/// 1/(1 + e^(−s)), between two ends.
fn sigmoid(s: f64) -> Interval {
    let size = s.abs();
    // Below e^−708 the function says 0; the truth is a little more.
    let e = super::optimal::exp(-size);
    let least = (e * (1.0 - EXP_ERROR)).next_down().max(0.0);
    let most = (e * (1.0 + EXP_ERROR)).next_up().max(2.0 * f64::MIN_POSITIVE);
    let over = |x: f64| Interval {
        lo: (1.0 / (1.0 + x).next_up()).next_down(),
        hi: (1.0 / (1.0 + x).next_down()).next_up(),
    };
    match s >= 0.0 {
        true => Interval { lo: over(most).lo, hi: over(least).hi.min(1.0) },
        false if s < 0.0 => Interval {
            lo: (least * over(least).lo).next_down().max(0.0),
            hi: (most * over(most).hi).next_up(),
        },
        false => Interval::of(f64::NAN),
    }
}

/// The inverse of the Cholesky factor of a matrix given below its diagonal, or nothing where it is singular.
fn inverse_root(matrix: &[f64], order: usize) -> Option<Vec<f64>> {
    let mut lower = vec![0.0; order * order];
    for j in 0..order {
        for k in 0..=j {
            let dot: f64 = (0..k).map(|i| lower[j * order + i] * lower[k * order + i]).sum();
            let rest = matrix[j * order + k] - dot;
            if j == k {
                if !(rest.is_finite() && rest > 0.0) {
                    return None;
                }
                lower[j * order + j] = rest.sqrt();
            } else {
                lower[j * order + k] = rest / lower[k * order + k];
            }
        }
    }
    let mut inverse = vec![0.0; order * order];
    for column in 0..order {
        for j in column..order {
            let unit = if j == column { 1.0 } else { 0.0 };
            let dot: f64 =
                (column..j).map(|k| lower[j * order + k] * inverse[k * order + column]).sum();
            inverse[j * order + column] = (unit - dot) / lower[j * order + j];
        }
    }
    Some(inverse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_hold_what_they_should() {
        for s in [-900.0, -40.0, -1.0, -1e-9, 0.0, 0.3, 7.0, 50.0, 900.0] {
            let found = sigmoid(s);
            let near = if s < 0.0 { s.exp() / (1.0 + s.exp()) } else { 1.0 / (1.0 + (-s).exp()) };
            assert!(found.lo <= near && near <= found.hi, "{s} {found:?}");
            assert!(found.hi - found.lo <= 1e-14 * near + f64::MIN_POSITIVE * 4.0, "{s} {found:?}");
        }
        assert!(sigmoid(f64::NAN).lo.is_nan());
    }
}
