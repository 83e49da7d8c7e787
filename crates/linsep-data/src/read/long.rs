//! Which columns have a text that the decimal reading does not cover.
//!
//! Tables have few columns and programs write many long numbers, so the first columns have a flag each. A
//! single wild index of svmlight must not cost a flag for every column before it: those are a set.

use std::collections::BTreeSet;

/// Columns with a flag of their own.
const FLAGS: usize = 1 << 16;

/// A set of columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LongColumns {
    flags: Vec<bool>,
    others: BTreeSet<u32>,
}

impl LongColumns {
    pub(crate) fn insert(&mut self, column: u32) {
        let at = column as usize;
        if at >= FLAGS {
            self.others.insert(column);
            return;
        }
        if self.flags.len() <= at {
            self.flags.resize(at + 1, false);
        }
        self.flags[at] = true;
    }

    pub(crate) fn append(&mut self, other: &LongColumns) {
        other.iter().for_each(|column| self.insert(column));
    }

    /// The columns, rising.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> {
        let flagged = (0..).zip(&self.flags).filter(|(_, long)| **long).map(|(column, _)| column);
        flagged.chain(self.others.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_come_back_rising_wherever_they_lie() {
        let mut columns = LongColumns::default();
        for column in [u32::MAX - 5, 70_000, 3, 65_535, 65_536, 3] {
            columns.insert(column);
        }
        let mut all = LongColumns::default();
        all.insert(9);
        all.append(&columns);
        assert_eq!(all.iter().collect::<Vec<_>>(), [3, 9, 65_535, 65_536, 70_000, u32::MAX - 5]);
    }
}
