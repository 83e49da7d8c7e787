//! How many mistakes a plane makes, and how many every plane makes.
//!
//! The count is exact: a row is a mistake unless it is strictly on its side. The lower bound rests on
//! conflicts: rows with λ > 0 and Σ λ z = 0 cannot all have z·a > 0, since then Σ λ (z·a) > 0 as well.
//! So each conflict holds a mistake of every plane, and conflicts without a common row hold different
//! ones.

use super::side::Side;
use super::{Checked, Checker};
use crate::claim::{ExactPlane, Question, Weighted};
use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering as Memory};

impl Checker<'_> {
    pub(super) fn mistakes(
        &self,
        problem: &Question,
        plane: &ExactPlane,
        claimed: u64,
        conflicts: &[Vec<Weighted>],
    ) -> Checked<String> {
        let signs = self.signs(problem)?;
        let plane = Side::new(plane, self)?;
        let wrong = AtomicU64::new(0);
        let count = self.every_row(&signs, |row, sign, buffer| {
            let right = if sign > 0 { Ordering::Greater } else { Ordering::Less };
            if self.side(&plane, row, buffer)? != right {
                wrong.fetch_add(1, Memory::Relaxed);
            }
            Ok(())
        })?;
        let wrong = wrong.into_inner();
        if wrong != claimed {
            return Err(format!("the plane errs on {wrong} rows, not on {claimed}"));
        }
        let mut taken = HashSet::new();
        for conflict in conflicts {
            self.zero_sum(&signs, conflict, self.dimension() + 1)?;
            if let Some(entry) = conflict.iter().find(|entry| !taken.insert(entry.row)) {
                return Err(format!("row {} stands in two conflicts", entry.row));
            }
        }
        let least = match conflicts.len() {
            0 => String::new(),
            least => format!("; every plane errs on at least {least}"),
        };
        Ok(format!("the plane errs on {wrong} of {count} rows{least}"))
    }
}
