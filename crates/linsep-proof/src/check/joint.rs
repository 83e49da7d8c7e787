//! Claims about all classes at once.

use super::{Checked, Checker, Side, Signs, Terms, added_up, difference, is_zero};
use crate::claim::{Against, ClassPlane, ExactPlane};
use crate::exact::positive;
use dashu_int::IBig;
use std::collections::HashMap;

impl Checker<'_> {
    pub(super) fn joint_separable(&self, planes: &[ClassPlane]) -> Checked<String> {
        let mut sides: HashMap<&str, Side> = HashMap::new();
        for plane in planes {
            let ClassPlane { class, weights, sparse, bias } = plane;
            let exact =
                ExactPlane { weights: weights.clone(), sparse: sparse.clone(), bias: bias.clone() };
            if sides.insert(class, Side::new(&exact, self)?).is_some() {
                return Err(format!("class {class} has two planes"));
            }
        }
        // Planes are only comparable when they were made whole by the same factor.
        let sides = Side::common(planes, self, sides)?;
        let all = Signs::all(self.rows);
        let count = self.every_row(&all, |row, _| {
            let label = self.rows.label(row);
            let own = sides.get(label).ok_or_else(|| format!("class {label} has no plane"))?;
            for (class, other) in sides.iter().filter(|(class, _)| **class != label) {
                if self.filter_greater(own, other, row) {
                    continue;
                }
                if difference(&self.terms(own, row)?, &self.terms(other, row)?) <= IBig::ZERO {
                    return Err(format!(
                        "row {row} does not score higher on {label} than on {class}"
                    ));
                }
            }
            Ok(())
        })?;
        match count {
            0 => Err("no row takes part".into()),
            _ => Ok(format!("every one of {count} rows scores highest on its own class")),
        }
    }

    pub(super) fn joint_inseparable(&self, witness: &[Against]) -> Checked<String> {
        let mut classes: Vec<&str> = (0..self.rows.len()).map(|row| self.rows.label(row)).collect();
        classes.sort_unstable();
        classes.dedup();
        let most = (classes.len() - 1) * self.dimension() + 1;
        if witness.is_empty() || witness.len() > most {
            return Err(format!(
                "the witness has {} entries, at least 1 and at most {most} are allowed",
                witness.len()
            ));
        }
        let mut sums: HashMap<&str, Terms> = HashMap::new();
        let mut seen = std::collections::HashSet::new();
        for entry in witness {
            self.check_row(entry.row)?;
            if !seen.insert((entry.row, entry.against.as_str())) {
                return Err("an entry stands twice".into());
            }
            let own = self.rows.label(entry.row);
            let against = entry.against.as_str();
            let Ok(against) = classes.binary_search(&against).map(|at| classes[at]) else {
                return Err(format!("there is no class {against}"));
            };
            if against == own {
                return Err(format!("row {} is against its own class", entry.row));
            }
            let lambda = positive(&entry.lambda)?;
            self.add_row(sums.entry(own).or_default(), entry.row, &lambda, &IBig::ONE)?;
            self.add_row(sums.entry(against).or_default(), entry.row, &-lambda, &IBig::ONE)?;
        }
        match sums.into_values().all(|terms| is_zero(&added_up(terms))) {
            true => Ok(format!(
                "{} weighted rows balance in every class, so no planes separate",
                witness.len()
            )),
            false => Err("the weighted rows do not balance".into()),
        }
    }
}
