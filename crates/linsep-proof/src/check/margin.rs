//! Claims about the size of the margin.

use super::filter::Filter;
use super::{Checked, Checker, Side, Vector, add, square, total};
use crate::claim::{Question, Weighted};
use crate::exact::{Scaled, positive, ratio, scaled_sum};
use dashu_int::IBig;
use std::collections::HashSet;

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
        self.every_row(&signs, |row, sign, buffer| {
            if filter.beyond(self, row, sign, buffer) {
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
        let edge = |sign: i8| -> Checked<Scaled> {
            let mut best: Option<Scaled> = None;
            for row in part(sign) {
                let score = self.score(&side, row.row)?;
                if best.as_ref().is_none_or(|best| is_nearer(&score, best, sign)) {
                    best = Some(score);
                }
            }
            best.ok_or_else(|| "the support needs rows of both sides".to_owned())
        };
        let (low, high) = (edge(1)?, edge(-1)?);
        // (low − high) · L₊L₋ ≥ V·V, because x·V is L₊L₋ times x·v and V·V is (L₊L₋)² times v·v.
        let minus = square.times(&IBig::from(-1));
        if scaled_sum(&[low.times(&scale), high.times(&-scale.clone()), minus]) < IBig::ZERO {
            return Err("the support rows do not hold the margin".into());
        }
        // The edge with its sign, as the sum that the scores of the side are compared with.
        let filters = [(1, &low), (-1, &high)].map(|(sign, edge)| {
            Filter::new(&side, &scale, &edge.times(&IBig::from(sign)), &scale, self)
        });
        // They were compared with each other.
        let known: HashSet<u64> = support.iter().map(|w| w.row).collect();
        self.every_row(&signs, |row, sign, buffer| {
            if filters[usize::from(sign < 0)].beyond(self, row, sign, buffer)
                || known.contains(&row)
            {
                return Ok(());
            }
            let edge = if sign > 0 { &low } else { &high };
            match is_nearer(&self.score(&side, row)?, edge, sign) {
                false => Ok(()),
                true => Err(format!("row {row} is closer to the plane than the margin")),
            }
        })?;
        Ok(format!("the largest geometric margin is the root of {gamma2}"))
    }

    /// The exact score of a row.
    fn score(&self, side: &Side, row: u64) -> Checked<Scaled> {
        Ok(total(&self.terms(side, row)?))
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

/// Whether a score is on the other side of the edge of its side.
fn is_nearer(score: &Scaled, edge: &Scaled, sign: i8) -> bool {
    let difference = scaled_sum(&[score.clone(), edge.times(&IBig::from(-1))]);
    if sign > 0 { difference < IBig::ZERO } else { difference > IBig::ZERO }
}
