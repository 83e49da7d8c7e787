//! Claims about all classes at once.

use super::{Checked, Checker, Side, Signs, Terms, added_up, difference, is_zero};
use crate::claim::{Against, ClassPlane, ExactPlane};
use crate::exact::positive;
use crate::rank::rank_at_least;
use dashu_int::IBig;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering as Memory};

impl Checker<'_> {
    pub(super) fn joint_separable(&self, planes: &[ClassPlane]) -> Checked<String> {
        let count = self.scores(planes, |row, [own, other], order| match order {
            Ordering::Greater => Ok(()),
            _ => Err(format!("row {row} does not score higher on {own} than on {other}")),
        })?;
        match count {
            0 => Err("no row takes part".into()),
            _ => Ok(format!("every one of {count} rows scores highest on its own class")),
        }
    }

    /// Compares the score of every row on its own class with that on each other, and counts the rows.
    fn scores(
        &self,
        planes: &[ClassPlane],
        judge: impl Fn(u64, [&str; 2], Ordering) -> Checked<()> + Sync,
    ) -> Checked<u64> {
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
        self.every_row(&all, |row, _, buffer| {
            let label = self.rows.label(row);
            let own = sides.get(label).ok_or_else(|| format!("class {label} has no plane"))?;
            for (class, other) in sides.iter().filter(|(class, _)| **class != label) {
                let order = match self.filter_greater(own, other, row, buffer) {
                    true => Ordering::Greater,
                    false => {
                        let terms = [self.terms(own, row)?, self.terms(other, row)?];
                        difference(&terms[0], &terms[1]).cmp(&IBig::ZERO)
                    }
                };
                judge(row, [label, class], order)?;
            }
            Ok(())
        })
    }

    pub(super) fn joint_inseparable(&self, witness: &[Against]) -> Checked<String> {
        self.balances(witness, 1, 1)?;
        Ok(format!("{} weighted rows balance in every class, so no planes separate", witness.len()))
    }

    pub(super) fn joint_touching(
        &self,
        witness: &[Against],
        planes: &[ClassPlane],
    ) -> Checked<String> {
        self.balances(witness, 1, 1)?;
        let off = AtomicU64::new(0);
        self.scores(planes, |row, [own, other], order| match order {
            Ordering::Less => Err(format!("row {row} scores lower on {own} than on {other}")),
            Ordering::Equal => Ok(()),
            Ordering::Greater => {
                off.fetch_add(1, Memory::Relaxed);
                Ok(())
            }
        })?;
        match off.into_inner() {
            0 => Err("every row scores the same on all classes".into()),
            _ => Ok("no planes separate strictly; weak ones have every row at least as high on its own class".into()),
        }
    }

    pub(super) fn joint_overlapping(
        &self,
        witness: &[Against],
        null: &[Vec<String>],
    ) -> Checked<String> {
        let classes = self.balances(witness, 2, 0)?;
        let vectors = self.null_vectors(&Signs::all(self.rows), null)?;
        // One plane may be added to all, so that of the last class counts as 0.
        let (size, blocks) = (self.dimension(), classes.len() - 1);
        let mut matrix = Vec::new();
        for (entry, row) in witness.iter().zip(self.rows_of(witness.iter().map(|e| e.row))?) {
            let mut stacked = vec![IBig::ZERO; size * blocks];
            let place = |class: &str| classes.binary_search(&class).unwrap_or(blocks);
            let (own, other) = (place(self.rows.label(entry.row)), place(&entry.against));
            for (c, x) in row.into_iter().enumerate() {
                if own < blocks {
                    stacked[own * size + c] = x.clone();
                }
                if other < blocks {
                    stacked[other * size + c] = -x;
                }
            }
            matrix.push(stacked);
        }
        let (rank, needed) = (rank_at_least(&matrix), blocks * (size - vectors.len()));
        match rank < needed {
            true => Err(format!("the witness has rank {rank}, {needed} is needed")),
            false => Ok(format!(
                "{} weighted rows balance and span all rows, so no planes separate even weakly",
                witness.len()
            )),
        }
    }

    /// The classes of the data, sorted, after the witness was found to balance in each of them. It has at
    /// most `times` (K − 1) D + `more` entries.
    fn balances(&self, witness: &[Against], times: usize, more: usize) -> Checked<Vec<&str>> {
        let mut classes: Vec<&str> = (0..self.rows.len()).map(|row| self.rows.label(row)).collect();
        classes.sort_unstable();
        classes.dedup();
        let most = times * (classes.len() - 1) * self.dimension() + more;
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
            true => Ok(classes),
            false => Err("the weighted rows do not balance".into()),
        }
    }
}
