//! What separating planes say of a point that is not among the rows.
//!
//! Let p = (1, x) be the point, or x without a bias, and z the rows of the question. If Σ μ z = k p with
//! μ > 0 and k > 0, every plane with z·w > 0 for all rows has k p·w = Σ μ z·w > 0: the point is forced to the
//! positive side; with k < 0 to the negative one. If there is no such sum, two planes that separate the rows
//! differ on the point, and they are the evidence. The first plane shows that there are any.

use super::side::Side;
use super::{Checked, Checker, Terms, added_up, difference};
use crate::claim::{ExactNumber, Question};
use crate::coefficients::{ForcedLabel, ForcedSide, SparseVector};
use crate::exact::{Scaled, positive, scaled_sum, whole_vector};
use dashu_int::IBig;
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};

impl Checker<'_> {
    pub(super) fn forced(&self, problem: &Question, forced: &ForcedLabel) -> Checked<String> {
        let ForcedLabel { point, side, planes, combination } = forced;
        let either = *side == ForcedSide::Either;
        if planes.len() != if either { 2 } else { 1 } || either != combination.is_empty() {
            return Err("a forced point has one plane and a combination, another two planes".into());
        }
        let point = self.point(point)?;
        let mut on = Vec::new();
        for plane in planes {
            self.separable(problem, plane)?;
            let plane = Side::new(plane, self)?;
            on.push(self.at(&point, &plane));
        }
        if either {
            return match on[..] {
                [Ordering::Greater, Ordering::Less] | [Ordering::Less, Ordering::Greater] => {
                    Ok("two planes that separate the rows differ on the point".into())
                }
                _ => Err("the planes do not differ on the point".into()),
            };
        }
        let (wanted, name) = match side {
            ForcedSide::Positive => (Ordering::Greater, "positive"),
            _ => (Ordering::Less, "negative"),
        };
        if self.multiple(problem, forced, &point)? != wanted {
            return Err(format!("the rows do not add up to a multiple of the {name} side"));
        }
        Ok(format!(
            "every plane that separates the rows has the point on the {name} side, shown by {} of them",
            combination.len()
        ))
    }

    /// The point with its constant, times a positive number that makes it whole.
    fn point(&self, values: &SparseVector) -> Checked<BTreeMap<Option<u32>, IBig>> {
        let shift = u32::from(self.bias);
        let constant = self.bias.then_some((0, ExactNumber::Binary64(1.0)));
        if values.iter().any(|(column, _)| *column as usize >= self.width()) {
            return Err("the point has a column that the data has not".into());
        }
        let values = values.iter().map(|(column, x)| (column + shift, x.clone()));
        let all: SparseVector = constant.into_iter().chain(values).collect();
        let whole = whole_vector(&all, self.dimension())?;
        Ok(whole.into_iter().map(|(c, x)| (c.checked_sub(shift), x)).collect())
    }

    /// On which side of a plane the point is.
    fn at(&self, point: &BTreeMap<Option<u32>, IBig>, plane: &Side) -> Ordering {
        let term = |(key, x): (&Option<u32>, &IBig)| match key {
            None => Some(plane.bias.times(x)),
            Some(column) => Some(plane.weight(*column)?.times(x)),
        };
        let terms: Vec<Scaled> = point.iter().filter_map(term).collect();
        scaled_sum(&terms).cmp(&IBig::ZERO)
    }

    /// The sign of k in Σ μ z = k p.
    fn multiple(
        &self,
        problem: &Question,
        forced: &ForcedLabel,
        point: &BTreeMap<Option<u32>, IBig>,
    ) -> Checked<Ordering> {
        let signs = self.signs(problem)?;
        let (mut terms, mut seen) = (Terms::new(), HashSet::new());
        for multiple in &forced.combination {
            let (row, factor) = (multiple.row, positive(&multiple.factor)?);
            self.check_row(row)?;
            if !seen.insert(row) || multiple.against.is_some() {
                return Err(format!("row {row} stands twice or is against a class"));
            }
            let sign = signs.of(row).ok_or_else(|| format!("row {row} does not take part"))?;
            self.add_row(&mut terms, row, &(factor * IBig::from(sign)), &IBig::ONE)?;
        }
        let sum = added_up(terms);
        let Some((key, x)) = point.iter().next() else { return Err("the point is 0".into()) };
        let zero = Scaled::whole(0);
        let part = |key: &Option<u32>| sum.get(key).unwrap_or(&zero);
        // All of sum and point have the ratio of their first coordinate: sum_c · x = sum_key · point_c.
        let mut keys: HashSet<&Option<u32>> = sum.keys().collect();
        keys.extend(point.keys());
        let nothing = IBig::ZERO;
        let along = keys.into_iter().all(|c| {
            let of_point = point.get(c).unwrap_or(&nothing);
            difference(&[part(c).times(x)], &[part(key).times(of_point)]) == IBig::ZERO
        });
        let k = scaled_sum(&[part(key).times(x)]).cmp(&IBig::ZERO);
        match along && k != Ordering::Equal {
            true => Ok(k),
            false => Err("the rows do not add up to a multiple of the point".into()),
        }
    }
}
