//! The penalty of a weight and its conjugate, r*(g) = max over allowed w of g w − r(w), both rounded
//! up.
//!
//! r(w) = l2/2 (w s)² + l1 |w s| between the limits of the column. r* is convex, so where g is known to
//! within e, its largest value is at one of g ± e. Without limits and with l2 > 0 it is
//! max(0, |g|/s − l1)²/(2 l2); each operation rounds once, which factors of 1 + 8u cover.
//!
//! With limits and l2 > 0 the best w is w₀ = soft(g/s, l1)/(l2 s), clipped. Rounding moves it by
//! Δ ≤ 4u (|g|/s + l1)/(l2 s), and at the best point the slope within Δ of it is at most l2 s² Δ, so the
//! value there lacks at most 2 l2 s² Δ² ≤ 32 u² (|g|/s + l1)²/l2, beside the roundings of its terms.
//!
//! With l2 = 0 the function is linear between the limits and 0, one of which is best; where a limit is
//! missing, r* is infinite unless g is at most l1 s in that direction.
//!
//! **Sums over columns.** Penalties are never negative, nor is r* without limits. [`GROUP`] of them are added
//! in [`LANES`] lanes of binary64, each term in at most GROUP/LANES + 3 roundings, which 1 + 16u covers;
//! the sums of groups are added in [`Double`].

use crate::double::Double;
use crate::optimal::Objective;

/// 2^-53.
pub(super) const UNIT: f64 = f64::EPSILON / 2.0;

/// Columns that are added up in lanes.
pub(super) const GROUP: usize = 64;
/// Lanes of a sum over a group.
const LANES: usize = 8;

/// The penalties of all columns.
pub(super) struct Penalty<'a> {
    l1: f64,
    l2: f64,
    scale: &'a [f64],
    /// (column, least, most), columns rising.
    limits: Vec<(u32, f64, f64)>,
}

/// What is special about a column.
#[derive(Clone, Copy)]
pub(super) struct Column {
    scale: f64,
    least: f64,
    most: f64,
}

/// A penalised bias.
pub(super) const BIAS: Column =
    Column { scale: 1.0, least: f64::NEG_INFINITY, most: f64::INFINITY };

impl<'a> Penalty<'a> {
    /// The penalty of an objective on `width` columns.
    pub(super) fn new(objective: &'a Objective, width: usize) -> Result<Penalty<'a>, String> {
        let Objective { l1, l2, scale, limits, .. } = objective;
        for (name, factor) in [("l1", *l1), ("l2", *l2)] {
            // Factors whose squares leave the range would make the bounds meaningless.
            if !(factor == 0.0 || (1e-100..1e100).contains(&factor)) {
                return Err(format!("{name} is {factor:?}, neither 0 nor from 1e-100 to 1e100"));
            }
        }
        if !(scale.is_empty() || scale.len() == width) {
            return Err(format!("there are {} scales for {width} columns", scale.len()));
        }
        if let Some(wrong) = scale.iter().find(|s| !(1e-100..1e100).contains(*s)) {
            return Err(format!("a scale is {wrong:?}, not from 1e-100 to 1e100"));
        }
        let in_order = limits.is_sorted_by(|a, b| a.column < b.column);
        if !in_order || limits.last().is_some_and(|limit| limit.column as usize >= width) {
            return Err("the columns of the limits are not rising or not there".into());
        }
        let finite = |limit: Option<f64>| limit.is_none_or(f64::is_finite);
        if !limits.iter().all(|limit| finite(limit.least) && finite(limit.most)) {
            return Err("a limit is not finite".into());
        }
        let limits: Vec<(u32, f64, f64)> = limits
            .iter()
            .map(|limit| {
                let least = limit.least.unwrap_or(f64::NEG_INFINITY);
                (limit.column, least, limit.most.unwrap_or(f64::INFINITY))
            })
            .collect();
        if let Some((column, ..)) = limits.iter().find(|(_, least, most)| least > most) {
            return Err(format!("no weight fits the limits of column {column}"));
        }
        Ok(Penalty { l1: *l1, l2: *l2, scale, limits })
    }

    pub(super) fn column(&self, column: usize) -> Column {
        let scale = self.scale.get(column).copied().unwrap_or(1.0);
        if self.limits.is_empty() {
            return Column { scale, ..BIAS };
        }
        match self.limits.binary_search_by_key(&column, |limit| limit.0 as usize) {
            Ok(at) => Column { scale, least: self.limits[at].1, most: self.limits[at].2 },
            Err(_) => Column { scale, ..BIAS },
        }
    }

    /// Whether r* is infinite for large g, so that multipliers may have to shrink.
    pub(super) fn has_walls(&self) -> bool {
        self.l2 == 0.0
    }

    /// Whether all columns have the same r*, with a slope of at most |g|/l2.
    pub(super) fn is_uniform(&self) -> bool {
        !self.has_walls() && self.scale.is_empty() && self.limits.is_empty()
    }

    /// The first column whose weight is beyond its limits.
    pub(super) fn beyond_limits(&self, weights: &[f64]) -> Option<u32> {
        let beyond = |&&(column, least, most): &&(u32, f64, f64)| {
            let weight = weights[column as usize];
            !(least <= weight && weight <= most)
        };
        self.limits.iter().find(beyond).map(|limit| limit.0)
    }

    /// No less than Σ r(w) of weights within the limits.
    pub(super) fn values_above(&self, weights: &[f64]) -> Double {
        let (half, l1) = (0.5 * self.l2, self.l1);
        let mut sum = Double::ZERO;
        for (number, weights) in weights.chunks(GROUP).enumerate() {
            let scale = self.scales(number * GROUP, weights.len());
            let group = group_above(weights.len(), |at| {
                let v = (weights[at] * scale[at]).abs();
                half * v * v + l1 * v
            });
            sum = sum.plus(Double::of(group * (1.0 + 16.0 * UNIT)));
        }
        sum
    }

    /// The factors of a group of columns.
    fn scales(&self, start: usize, count: usize) -> &[f64] {
        match self.scale.is_empty() {
            true => &[1.0; GROUP][..count],
            false => &self.scale[start..][..count],
        }
    }

    /// No less than r(w) of a weight within the limits.
    pub(super) fn value_above(&self, column: Column, weight: f64) -> f64 {
        let v = (weight * column.scale).abs();
        (0.5 * self.l2 * v * v + self.l1 * v) * (1.0 + 16.0 * UNIT)
    }

    /// A factor of at most 1 by which every g within `error` of `g` becomes one of a finite r*.
    pub(super) fn shrink(&self, column: Column, g: f64, error: f64) -> f64 {
        let wall = self.l1 * column.scale;
        let within = |g: f64| match (g + error) * (1.0 + 8.0 * UNIT) <= wall {
            true => 1.0,
            false => wall / (g + error) * (1.0 - 16.0 * UNIT),
        };
        let up = if column.most == f64::INFINITY { within(g) } else { 1.0 };
        let down = if column.least == f64::NEG_INFINITY { within(-g) } else { 1.0 };
        // Whatever is not a number stays one.
        if up < down || up.is_nan() { up } else { down }
    }

    /// No less than r* of any g within `error`; with walls, for g times a factor that `shrink` gave.
    pub(super) fn conjugate_above(&self, column: Column, g: f64, error: f64) -> f64 {
        let Column { scale, least, most } = column;
        if self.has_walls() {
            return self.linear_above(column, g, error);
        }
        if least == f64::NEG_INFINITY && most == f64::INFINITY {
            let slope = (g.abs() + error) / scale * (1.0 + 8.0 * UNIT) - self.l1;
            return match slope <= 0.0 {
                true => 0.0,
                false => slope * slope / (2.0 * self.l2) * (1.0 + 8.0 * UNIT),
            };
        }
        let above = (g + error) + UNIT * 2.0 * (g.abs() + error);
        let below = (g - error) - UNIT * 2.0 * (g.abs() + error);
        let (a, b) = (self.limited_above(column, above), self.limited_above(column, below));
        if a > b || a.is_nan() { a } else { b }
    }

    /// No less than Σ r* of a group of columns from `start` on, each g within its error.
    pub(super) fn conjugates_above(&self, start: usize, g: &[f64], errors: &[f64]) -> Double {
        if self.has_walls() || !self.limits.is_empty() {
            let term = |at: usize| self.conjugate_above(self.column(start + at), g[at], errors[at]);
            return (0..g.len()).fold(Double::ZERO, |sum, at| sum.plus(Double::of(term(at))));
        }
        let errors = &errors[..g.len()];
        if self.scale.is_empty() {
            return self.free_conjugates_above(g.len(), |at| g[at].abs() + errors[at]);
        }
        let scale = self.scales(start, g.len());
        let g = &g[..scale.len()];
        self.free_conjugates_above(g.len(), |at| (g[at].abs() + errors[at]) / scale[at])
    }

    /// No less than Σ r* of one column for several g, each within `error`.
    pub(super) fn column_conjugates_above(&self, column: Column, g: &[f64], error: f64) -> Double {
        let limited = column.least > f64::NEG_INFINITY || column.most < f64::INFINITY;
        let mut sum = Double::ZERO;
        for g in g.chunks(GROUP) {
            sum = sum.plus(match self.has_walls() || limited {
                true => g.iter().fold(Double::ZERO, |sum, g| {
                    sum.plus(Double::of(self.conjugate_above(column, *g, error)))
                }),
                false => {
                    self.free_conjugates_above(g.len(), |at| (g[at].abs() + error) / column.scale)
                }
            });
        }
        sum
    }

    /// No less than Σ r* of a group without limits or walls, by the largest |g|/s of each.
    #[inline(always)]
    fn free_conjugates_above(&self, count: usize, size: impl Fn(usize) -> f64) -> Double {
        let l1 = self.l1;
        let squares = group_above(count, |at| {
            let slope = size(at) * (1.0 + 8.0 * UNIT) - l1;
            // Whatever is not a number stays one.
            let slope = if slope <= 0.0 { 0.0 } else { slope };
            slope * slope
        });
        Double::of(squares / (2.0 * self.l2) * (1.0 + 8.0 * UNIT))
    }

    fn limited_above(&self, Column { scale, least, most }: Column, g: f64) -> f64 {
        let slope = g / scale;
        let soft = (slope.abs() - self.l1).max(0.0).copysign(slope);
        let w = (soft / (self.l2 * scale)).max(least).min(most);
        let v = (w * scale).abs();
        let (gain, square, absolute) = (g * w, 0.5 * self.l2 * v * v, self.l1 * v);
        let size = slope.abs() + self.l1;
        (gain - square - absolute)
            + 16.0 * UNIT * (gain.abs() + square + absolute)
            + 64.0 * UNIT * UNIT * size * size / self.l2
    }

    /// r* without l2, below the walls.
    fn linear_above(&self, Column { scale, least, most }: Column, g: f64, error: f64) -> f64 {
        let at = |w: f64| {
            let (gain, cost) = (g * w, self.l1 * scale * w.abs());
            let doubt = error * w.abs();
            (gain - cost) + doubt + 16.0 * UNIT * (gain.abs() + cost + doubt)
        };
        let zero = if least <= 0.0 && 0.0 <= most { 0.0 } else { f64::NEG_INFINITY };
        [least, most]
            .into_iter()
            .filter(|w| w.is_finite())
            .map(at)
            .fold(zero, |a, b| if b > a || b.is_nan() { b } else { a })
    }
}

/// No less than the sum of up to [`GROUP`] terms, none of which is negative.
#[inline(always)]
fn group_above(count: usize, term: impl Fn(usize) -> f64) -> f64 {
    let mut lanes = [0.0; LANES];
    let whole = count / LANES * LANES;
    for start in (0..whole).step_by(LANES) {
        for (lane, sum) in lanes.iter_mut().enumerate() {
            *sum += term(start + lane);
        }
    }
    (whole..count).for_each(|at| lanes[at - whole] += term(at));
    let [a, b, c, d, e, f, g, h] = lanes;
    (((a + b) + (c + d)) + ((e + f) + (g + h))) * (1.0 + 16.0 * UNIT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optimal::{Intercept, Loss, WeightLimit};

    fn objective(l1: f64, l2: f64, limit: Option<(Option<f64>, Option<f64>)>) -> Objective {
        let limits = limit.map(|(least, most)| WeightLimit { column: 0, least, most });
        Objective {
            loss: Loss::Hinge,
            c: 1.0,
            l2,
            l1,
            intercept: Intercept::None,
            class_weights: Vec::new(),
            scale: vec![1.7],
            limits: limits.into_iter().collect(),
        }
    }

    #[test]
    fn the_conjugate_is_above_every_weight_and_close_to_the_best() {
        let limits = [
            None,
            Some((Some(-0.3), Some(0.6))),
            Some((Some(0.2), None)),
            Some((None, Some(-0.1))),
            Some((Some(0.5), Some(0.5))),
        ];
        for (l1, l2) in [(0.0, 0.7), (0.4, 0.7), (0.4, 0.0), (0.0, 0.0)] {
            for limit in limits {
                let objective = objective(l1, l2, limit);
                let Ok(penalty) = Penalty::new(&objective, 1) else { continue };
                let column = penalty.column(0);
                for k in -60..=60 {
                    let g = f64::from(k) / 20.0;
                    let factor =
                        if penalty.has_walls() { penalty.shrink(column, g, 1e-9) } else { 1.0 };
                    let g = g * factor;
                    let bound = penalty.conjugate_above(column, g, 1e-9);
                    let mut best = f64::NEG_INFINITY;
                    for step in -20_000..=20_000 {
                        let w = f64::from(step) * 1e-3;
                        if column.least <= w && w <= column.most {
                            let v = w * 1.7;
                            best = best.max(g * w - 0.5 * l2 * v * v - l1 * v.abs());
                        }
                    }
                    assert!(bound >= best, "{l1} {l2} {limit:?} {g}: {bound} {best}");
                    assert!(bound <= best + 1e-5, "{l1} {l2} {limit:?} {g}: {bound} {best}");
                }
            }
        }
    }

    /// Groups of columns against the sum of each column's own bound, from above and from near.
    #[test]
    fn groups_of_columns_are_bounded_by_no_less_than_their_columns() {
        let width = 150;
        for limit in [None, Some((Some(-0.3), Some(0.6)))] {
            let mut objective = objective(0.2, 0.7, limit);
            objective.scale = (0..width).map(|j| 0.5 + (j % 7) as f64).collect();
            let penalty = Penalty::new(&objective, width).unwrap();
            let number = |j: usize| ((j * 7919 % 101) as f64 - 50.0) / 37.0;
            let g: Vec<f64> = (0..width).map(number).collect();
            let errors: Vec<f64> = g.iter().map(|g| 1e-9 * g.abs()).collect();
            let (mut groups, mut columns) = (Double::ZERO, 0.0);
            for start in (0..width).step_by(GROUP) {
                let range = start..(start + GROUP).min(width);
                groups =
                    groups.plus(penalty.conjugates_above(start, &g[range.clone()], &errors[range]));
            }
            for j in 0..width {
                columns += penalty.conjugate_above(penalty.column(j), g[j], errors[j]);
            }
            let near = |a: f64, b: f64| a >= b * (1.0 - 1e-14) && a <= b * (1.0 + 1e-12);
            assert!(near(groups.value(), columns), "{limit:?} {groups:?} {columns}");
            let weights: Vec<f64> = (0..width).map(|j| 0.3 * number(j)).collect();
            let values = |j: usize| penalty.value_above(penalty.column(j), weights[j]);
            let values: f64 = (0..width).map(values).sum();
            assert!(near(penalty.values_above(&weights).value(), values));
            let mut broken = g.clone();
            broken[3] = f64::NAN;
            assert!(
                penalty.conjugates_above(0, &broken[..GROUP], &errors[..GROUP]).value().is_nan()
            );
        }
    }

    #[test]
    fn penalties_out_of_range_are_refused() {
        let refused = |objective: &Objective, width| Penalty::new(objective, width).is_err();
        assert!(refused(&objective(-1.0, 1.0, None), 1));
        assert!(refused(&objective(1.0, f64::NAN, None), 1));
        assert!(refused(&objective(1.0, f64::INFINITY, None), 1));
        assert!(refused(&objective(1.0, 1.0, None), 2));
        assert!(refused(&objective(1.0, 1.0, Some((Some(1.0), Some(0.5)))), 1));
        assert!(refused(&objective(1.0, 1.0, Some((Some(f64::NAN), None))), 1));
        let mut scaled = objective(1.0, 1.0, None);
        scaled.scale = vec![0.0];
        assert!(refused(&scaled, 1));
        scaled.scale.clear();
        assert!(!refused(&scaled, 1));
        scaled.limits = vec![WeightLimit { column: 1, least: None, most: None }];
        assert!(refused(&scaled, 1));
    }
}
