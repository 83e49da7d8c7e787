//! Claims about the size of the margin.

use super::{Checked, Checker, Side, Vector, add, difference, plus, square};
use crate::claim::{Question, Weighted};
use crate::exact::{Scaled, approximate, positive, ratio, scaled_sum};
use dashu_int::IBig;
use std::cmp::Ordering;

/// Rows that are far from the margin, told by floats: with v the vector and t the threshold rounded
/// to binary64 (each by at most 2^-52 of itself), the bound of the module for n terms, with 8 more
/// units for these roundings, shows y·(x·v) > t for all rows but those next to the margin.
struct Filter {
    plane: (Vec<f64>, f64),
    threshold: f64,
}

impl Filter {
    /// For x·(side / scale) against (threshold / divisor).
    fn new(
        side: &Side,
        scale: &IBig,
        threshold: &Scaled,
        divisor: &IBig,
        checker: &Checker<'_>,
    ) -> Filter {
        let column = |j: usize| side.weight(j as u32).map_or(0.0, |w| approximate(&w, scale));
        let plane = ((0..checker.width()).map(column).collect(), approximate(&side.bias, scale));
        Filter { plane, threshold: approximate(threshold, divisor) }
    }

    /// Whether the row is proved to be farther than the threshold.
    fn beyond(&self, checker: &Checker<'_>, row: u64, sign: f64) -> bool {
        let (sum, bound) = checker.filtered(&self.plane, row);
        let (weights, bias) = &self.plane;
        let mut size = bias.abs();
        checker.floats(row, &mut |column, value| {
            size += (value * weights[column as usize]).abs();
        });
        let slack = 2.0 * bound + 16.0 * f64::EPSILON * (size + self.threshold.abs());
        sign * sum - self.threshold > slack
    }
}

impl Checker<'_> {
    pub(super) fn margin(
        &self,
        problem: &Question,
        constant: &str,
        support: &[Weighted],
        gamma2: &str,
    ) -> Checked<String> {
        let signs = self.signs(problem)?;
        if !self.bias {
            return Err("the augmented margin needs a bias".into());
        }
        let constant = positive(constant)?;
        let (sum, total) = self.blend(&signs, support, &constant)?;
        let square = square(&sum);
        self.expect_ratio(&square, &(&total * &total), gamma2)?;
        // z·X·L ≥ X·X for every row, with X the sum of the blend and L its weights.
        let side = Side::vector(&sum, &constant);
        let filter = Filter::new(&side, &total, &square, &(&total * &total), self);
        self.every_row(&signs, |row, sign| {
            if filter.beyond(self, row, f64::from(sign)) {
                return Ok(());
            }
            let mut terms = self.terms(&side, row)?;
            let factor = if sign > 0 { total.clone() } else { -total.clone() };
            terms.iter_mut().for_each(|term| *term = term.times(&factor));
            terms.push(square.times(&IBig::from(-1)));
            match scaled_sum(&terms) >= IBig::ZERO {
                true => Ok(()),
                false => Err(format!("row {row} is closer to the plane than the margin")),
            }
        })?;
        Ok(format!("the largest margin with constant {constant} is the root of {gamma2}"))
    }

    pub(super) fn geometric_margin(
        &self,
        problem: &Question,
        support: &[Weighted],
        gamma2: &str,
    ) -> Checked<String> {
        let signs = self.signs(problem)?;
        if !self.bias {
            return Err("the geometric margin needs a bias".into());
        }
        support.iter().try_for_each(|w| self.check_row(w.row))?;
        let part = |sign: i8| -> Vec<Weighted> {
            let of_sign = |w: &&Weighted| signs.of(w.row) == Some(sign);
            support.iter().filter(of_sign).cloned().collect()
        };
        let (above, above_total) = self.blend(&signs, &part(1), &IBig::ONE)?;
        let (below, below_total) = self.blend(&signs, &part(-1), &IBig::ONE)?;
        if part(1).len() + part(-1).len() != support.len() {
            return Err("a support row does not take part".into());
        }
        // V = L₋ Σ₊ λx − L₊ Σ₋ λx; the blend of the negative side already has the sign −.
        let mut v = Vector::new();
        for (column, value) in above.iter().filter(|(column, _)| column.is_some()) {
            add(&mut v, *column, value.times(&below_total));
        }
        for (column, value) in below.iter().filter(|(column, _)| column.is_some()) {
            add(&mut v, *column, value.times(&above_total));
        }
        let square = square(&v);
        let scale = &above_total * &below_total;
        self.expect_ratio(&square, &(IBig::from(4) * &scale * &scale), gamma2)?;
        let side = Side::vector(&v, &IBig::ZERO);
        // The lowest positive and the highest negative support row bound all others.
        let edge = |sign: i8| -> Checked<Vec<Scaled>> {
            let mut best: Option<Vec<Scaled>> = None;
            for row in part(sign) {
                let terms = self.terms(&side, row.row)?;
                let nearer = match &best {
                    None => true,
                    Some(other) => {
                        let order = difference(&terms, other).cmp(&IBig::ZERO);
                        order == if sign > 0 { Ordering::Less } else { Ordering::Greater }
                    }
                };
                if nearer {
                    best = Some(terms);
                }
            }
            best.ok_or_else(|| "the support needs rows of both sides".to_owned())
        };
        let (low, high) = (edge(1)?, edge(-1)?);
        // (low − high) · L₊L₋ ≥ V·V, because x·V is L₊L₋ times x·v and V·V is (L₊L₋)² times v·v.
        let mut gap: Vec<Scaled> = low.iter().map(|term| term.times(&scale)).collect();
        gap.extend(high.iter().map(|term| term.times(&-scale.clone())));
        gap.push(square.times(&IBig::from(-1)));
        if scaled_sum(&gap) < IBig::ZERO {
            return Err("the support rows do not hold the margin".into());
        }
        let edges = [(1, &low), (-1, &high)].map(|(sign, edge)| {
            // The edge with its sign, as the sum that the scores of the side are compared with.
            let edge: Vec<Scaled> = edge.iter().map(|term| term.times(&IBig::from(sign))).collect();
            let sum = edge.iter().fold(Scaled::whole(0), |sum, term| plus(&sum, term));
            Filter::new(&side, &scale, &sum, &scale, self)
        });
        self.every_row(&signs, |row, sign| {
            if edges[usize::from(sign < 0)].beyond(self, row, f64::from(sign)) {
                return Ok(());
            }
            let edge = if sign > 0 { &low } else { &high };
            let order = difference(&self.terms(&side, row)?, edge).cmp(&IBig::ZERO);
            match order == if sign > 0 { Ordering::Less } else { Ordering::Greater } {
                false => Ok(()),
                true => Err(format!("row {row} is closer to the plane than the margin")),
            }
        })?;
        Ok(format!("the largest geometric margin is the root of {gamma2}"))
    }

    pub(super) fn bracket(
        &self,
        problem: &Question,
        weights: &[Weighted],
        bound: &str,
    ) -> Checked<String> {
        let signs = self.signs(problem)?;
        let (sum, total) = self.blend(&signs, weights, &IBig::ONE)?;
        let (p, q) = ratio(bound)?;
        // X·X · q ≤ p · L².
        let left = square(&sum).times(&q);
        let right = Scaled::whole(-(p * &total * &total));
        match scaled_sum(&[left, right]) <= IBig::ZERO {
            true => Ok(format!("no plane of unit length has a margin above the root of {bound}")),
            false => Err("the blend of rows is longer than the bound".into()),
        }
    }

    /// Whether numerator/denominator equals the claimed positive ratio.
    pub(super) fn expect_ratio(
        &self,
        numerator: &Scaled,
        denominator: &IBig,
        claimed: &str,
    ) -> Checked<()> {
        let (p, q) = ratio(claimed)?;
        if p <= IBig::ZERO {
            return Err("the squared margin is not positive".into());
        }
        let terms = [numerator.times(&q), Scaled::whole(-(p * denominator))];
        match scaled_sum(&terms) == IBig::ZERO {
            true => Ok(()),
            false => Err(format!("the squared margin is not {claimed}")),
        }
    }
}
