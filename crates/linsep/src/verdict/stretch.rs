//! The exact decision on some rows by floats in coordinates of whole numbers.
//!
//! Rows may lie so close to a plane, or their columns so close to each other, that floats see nothing but
//! rounding: ±1e-13 off one plane, say. There are coordinates in which they are easy to tell apart, and these
//! can be had exactly. With T a regular matrix of whole numbers, the rows z T are computed without rounding,
//! and only then scaled and rounded to floats P. If R is the triangle of P = Q R, then T R⁻¹, rounded to whole
//! columns, are coordinates without the correlation that P still had: each time up to 14 digits of it are
//! gone. The point of least length in the hull of the points, in coordinates that are good enough, gives a
//! plane T q or a support that balances. Either is checked in whole numbers; where it fails, coordinates that
//! suit the support are next.
//!
//! References: Dunagan and Vempala 2008 (stretching for the perceptron), Gleixner, Steffy and Wolter 2016
//! (floats that propose, exact residuals that are scaled up).

use super::exactly::{Exactly, balance, bits, separates};
use super::lift::eliminate;
use super::min_norm::MinNorm;
use dashu_int::IBig;
use linsep_data::cancel;
use linsep_kernels::dot_f64;

/// Columns of R⁻¹ are rounded to this many bits.
const BITS: i32 = 50;

/// Changes of coordinates in all, each of which makes the numbers longer, and searches.
const MOST_CHANGES: usize = 40;
const MOST_SEARCHES: usize = 12;

/// Diagonals of R farther apart than this are worth another change of coordinates.
const UNEVEN: f64 = 1e-3;

/// What floats can still tell from 0 on the diagonal of R.
const FLOOR: f64 = 1e-14;

/// The weight of rows outside the support of the last search.
const ASIDE: f64 = 1e-6;

/// Decides; `None` where floats propose nothing that is exactly true, or `stop` said so.
pub(crate) fn decide(rows: &[Vec<IBig>], stop: &dyn Fn() -> bool) -> Option<Exactly> {
    if let Some(zero) = rows.iter().position(|row| row.iter().all(|x| *x == IBig::ZERO)) {
        return Some(Exactly::Balanced(vec![(zero, IBig::ONE)]));
    }
    let mut coordinates = Coordinates::new(rows);
    let mut weights = vec![1.0; rows.len()];
    for _ in 0..MOST_SEARCHES {
        let points = coordinates.even(&weights, stop)?;
        let mut search = MinNorm::new(coordinates.len());
        points.iter().for_each(|point| search.push(point));
        search.run(200 * coordinates.len() + 1000);
        let support: Vec<usize> = search.support().map(|(j, _)| j).collect();
        if search.square() < 1e-12
            && let Some(lambda) = balance(rows, &support)
        {
            return Some(Exactly::Balanced(lambda));
        }
        let w = coordinates.raw(&search.x);
        if separates(&w, rows) {
            return Some(Exactly::Separated(w));
        }
        weights.fill(ASIDE);
        support.into_iter().for_each(|j| weights[j] = 1.0);
    }
    None
}

/// The rows in coordinates of whole numbers.
struct Coordinates {
    width: usize,
    /// Columns of the rows that are independent and span all of them: the others need no weight.
    columns: Vec<usize>,
    /// The columns of T, over `columns`.
    t: Vec<Vec<IBig>>,
    /// z T of every row.
    exact: Vec<Vec<IBig>>,
    /// Coordinate c counts in units of 2^unit.
    unit: Vec<i64>,
    changes: usize,
}

impl Coordinates {
    fn new(rows: &[Vec<IBig>]) -> Coordinates {
        let mut columns: Vec<usize> = eliminate(rows).into_iter().map(|(_, at)| at).collect();
        columns.sort_unstable();
        let exact: Vec<Vec<IBig>> =
            rows.iter().map(|row| columns.iter().map(|&at| row[at].clone()).collect()).collect();
        let whole = |yes: bool| if yes { IBig::ONE } else { IBig::ZERO };
        let t = (0..columns.len()).map(|c| (0..columns.len()).map(|at| whole(at == c)).collect());
        let largest = |c: usize| exact.iter().map(|row| bits(&row[c])).max().unwrap_or(0);
        let unit = (0..columns.len()).map(largest).collect();
        Coordinates { width: rows[0].len(), t: t.collect(), exact, unit, columns, changes: 0 }
    }

    fn len(&self) -> usize {
        self.columns.len()
    }

    /// Changes the coordinates until they are uncorrelated enough in the weighted rows; the points of length 1.
    fn even(&mut self, weights: &[f64], stop: &dyn Fn() -> bool) -> Option<Vec<Vec<f64>>> {
        loop {
            let points = self.points();
            if self.changes == MOST_CHANGES {
                return Some(points);
            }
            let (triangle, order) = triangle(&points, weights);
            let diagonal = (0..order.len()).map(|i| triangle[i][order[i]].abs());
            let (most, least) = diagonal
                .fold((0.0f64, f64::INFINITY), |(most, least), r| (most.max(r), least.min(r)));
            if least > UNEVEN * most {
                return Some(points);
            }
            self.change(&triangle, &order, FLOOR * most);
            self.changes += 1;
            if stop() {
                return None;
            }
        }
    }

    /// The rows as floats, each of length 1.
    fn points(&self) -> Vec<Vec<f64>> {
        let point = |row: &Vec<IBig>| {
            cancel::check();
            let parts: Vec<(f64, i64)> =
                row.iter().zip(&self.unit).map(|(x, unit)| float(x, *unit)).collect();
            let largest = parts.iter().filter(|part| part.0 != 0.0).map(|part| part.1).max();
            let largest = largest.unwrap_or(0);
            let scaled = |(m, e): (f64, i64)| m * 2f64.powi((e - largest).max(-1000) as i32);
            let mut point: Vec<f64> = parts.into_iter().map(scaled).collect();
            let length = dot_f64(&point, &point).sqrt();
            point.iter_mut().for_each(|x| *x /= length);
            point
        };
        self.exact.iter().map(point).collect()
    }

    /// T ← T R⁻¹, column by column with units of their own; diagonals below `floor` count as `floor`.
    fn change(&mut self, triangle: &[Vec<f64>], order: &[usize], floor: f64) {
        let size = order.len();
        let (mut t, mut exact, mut unit) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..size {
            // R v = e_i in the order of the pivots; v is a column of the inverse.
            let mut v = vec![0.0; size];
            for k in (0..=i).rev() {
                let own = triangle[k][order[k]];
                let own = if own.abs() < floor { floor.copysign(own) } else { own };
                let right = if k == i { 1.0 } else { 0.0 };
                let sum: f64 = (k + 1..=i).map(|m| triangle[k][order[m]] * v[m]).sum();
                v[k] = (right - sum) / own;
            }
            let largest = v.iter().fold(0.0f64, |most, x| most.max(x.abs()));
            let exponent = i64::from(exponent(largest));
            // All coordinates in the smallest of their units, of which there are the most.
            let most = order[..=i].iter().map(|&c| self.unit[c]).max().unwrap_or(0);
            let factors: Vec<(usize, IBig)> = order[..=i]
                .iter()
                .zip(&v)
                .filter_map(|(&c, x)| {
                    let whole = (x * 2f64.powi(BITS) * 2f64.powi(-(exponent as i32))).round();
                    let whole = IBig::try_from(whole).ok().filter(|x| *x != IBig::ZERO)?;
                    Some((c, whole << (most - self.unit[c]) as usize))
                })
                .collect();
            let combined = |row: &Vec<IBig>| -> IBig {
                cancel::check();
                factors.iter().map(|(c, factor)| &row[*c] * factor).sum()
            };
            exact.push(self.exact.iter().map(combined).collect::<Vec<IBig>>());
            t.push(
                (0..size)
                    .map(|at| factors.iter().map(|(c, f)| &self.t[*c][at] * f).sum())
                    .collect(),
            );
            unit.push(most + i64::from(BITS) - exponent);
        }
        let rows = self.exact.len();
        self.exact = (0..rows)
            .map(|k| exact.iter_mut().map(|column| std::mem::take(&mut column[k])).collect())
            .collect();
        (self.t, self.unit) = (t, unit);
    }

    /// The whole plane of a plane in these coordinates, over all columns of the rows.
    fn raw(&self, q: &[f64]) -> Vec<IBig> {
        let largest = q.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        let exponent = exponent(largest);
        let most = self.unit.iter().copied().max().unwrap_or(0);
        let mut w = vec![IBig::ZERO; self.width];
        for ((q, t), unit) in q.iter().zip(&self.t).zip(&self.unit) {
            let whole = (q * 2f64.powi(BITS - exponent)).round();
            let Ok(whole) = IBig::try_from(whole) else { continue };
            let factor = whole << (most - unit) as usize;
            self.columns.iter().zip(t).for_each(|(&at, t)| w[at] += t * &factor);
        }
        w
    }
}

/// R of the weighted points, by Householder's reflections with column pivots, and the order of the columns.
fn triangle(points: &[Vec<f64>], weights: &[f64]) -> (Vec<Vec<f64>>, Vec<usize>) {
    let size = points.first().map_or(0, Vec::len);
    let mut columns: Vec<Vec<f64>> = (0..size)
        .map(|c| points.iter().zip(weights).map(|(point, weight)| weight * point[c]).collect())
        .collect();
    let mut order: Vec<usize> = (0..size).collect();
    let mut triangle = vec![vec![0.0; size]; size];
    for i in 0..size.min(points.len()) {
        cancel::check();
        let rest = |c: usize| dot_f64(&columns[c][i..], &columns[c][i..]);
        let pivot =
            (i..size).max_by(|&a, &b| rest(order[a]).total_cmp(&rest(order[b]))).unwrap_or(i);
        order.swap(i, pivot);
        let mut mirror = columns[order[i]][i..].to_vec();
        let length = dot_f64(&mirror, &mirror).sqrt();
        if length == 0.0 {
            break;
        }
        let own = -length.copysign(mirror[0]);
        mirror[0] -= own;
        let square = dot_f64(&mirror, &mirror);
        triangle[i][order[i]] = own;
        for &c in &order[i + 1..] {
            let column = &mut columns[c][i..];
            let along = 2.0 * dot_f64(&mirror, column) / square;
            column.iter_mut().zip(&mirror).for_each(|(x, m)| *x -= along * m);
            triangle[i][c] = column[0];
        }
    }
    (triangle, order)
}

/// x · 2^-unit as m · 2^e, with m about 1.
fn float(x: &IBig, unit: i64) -> (f64, i64) {
    let down = bits(x) - 64;
    let top = if down > 0 { x >> down as usize } else { x.clone() };
    let (m, e) = (top.to_f64().value(), down.max(0) - unit);
    let own = exponent(m);
    (m * 2f64.powi(-own), e + i64::from(own))
}

/// The binary exponent of a number of moderate size; 0 of 0.
fn exponent(x: f64) -> i32 {
    if x == 0.0 { 0 } else { x.abs().log2().floor() as i32 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linsep_data::rng::{Purpose, Stream};

    /// Rows `gap` off a plane, on its sides in turn, in units of 2^-60.
    fn slab(rows: usize, size: usize, gap: f64, stream: &mut Stream) -> Vec<Vec<IBig>> {
        let mut normal: Vec<f64> = (0..size).map(|_| stream.normal()).collect();
        let length = dot_f64(&normal, &normal).sqrt();
        normal.iter_mut().for_each(|x| *x /= length);
        let row = |k: usize, stream: &mut Stream| {
            let sign = if k.is_multiple_of(2) { 1.0 } else { -1.0 };
            let x: Vec<f64> = (0..size).map(|_| stream.normal()).collect();
            let off = dot_f64(&x, &normal);
            let whole = |x: f64| IBig::try_from((x * 2f64.powi(60)).round()).unwrap();
            let x =
                x.iter().zip(&normal).map(|(x, n)| whole(sign * (x - off * n + sign * gap * n)));
            std::iter::once(whole(sign)).chain(x).collect::<Vec<IBig>>()
        };
        (0..rows).map(|k| row(k, stream)).collect()
    }

    #[test]
    fn rows_next_to_a_plane_are_told_apart() {
        let mut stream = Stream::new(7, Purpose::Generate(0));
        for gap in [1e-9, 1e-13, 3e-15] {
            let rows = slab(200, 12, gap, &mut stream);
            let Some(Exactly::Separated(w)) = decide(&rows, &|| false) else { panic!("{gap}") };
            let right = |row: &Vec<IBig>| row.iter().zip(&w).map(|(x, w)| x * w).sum::<IBig>();
            assert!(rows.iter().all(|row| right(row) > IBig::ZERO));
        }
    }

    #[test]
    fn a_sum_that_is_nothing_is_found_next_to_a_plane() {
        let mut stream = Stream::new(8, Purpose::Generate(0));
        let mut rows = slab(60, 6, 1e-13, &mut stream);
        let sum: Vec<IBig> = (0..7).map(|c| -(&rows[0][c] + &rows[5][c] * IBig::from(3))).collect();
        rows.push(sum);
        let Some(Exactly::Balanced(lambda)) = decide(&rows, &|| false) else { panic!() };
        let part = |c: usize| lambda.iter().map(|(k, l)| &rows[*k][c] * l).sum::<IBig>();
        assert!((0..7).all(|c| part(c) == IBig::ZERO));
        assert!(lambda.iter().all(|(_, l)| *l > IBig::ZERO));
    }
}
