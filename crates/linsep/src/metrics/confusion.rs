//! Who was taken for whom: rows by their true and their predicted class.
//!
//! Few classes have a table. Of many thousands nearly all pairs never occur, and a table of their squares would
//! be larger than any data; those have a list of the pairs that do.

use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// Up to so many classes there is a table.
const TABLE: usize = 512;

/// Counts of pairs (true class, predicted class); a row with a weight counts as so many.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Confusion {
    classes: usize,
    cells: Cells,
}

#[derive(Clone, Debug, PartialEq)]
enum Cells {
    Table(Vec<Cell>),
    Pairs(BTreeMap<(u32, u32), Cell>),
}

impl Default for Cells {
    fn default() -> Self {
        Cells::Table(Vec::new())
    }
}

/// The rows of a pair, and the sum of their weights.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cell {
    pub(super) rows: u64,
    pub(super) weight: f64,
}

impl Confusion {
    /// Nothing counted yet.
    pub(super) fn new(classes: usize) -> Confusion {
        let cells = match classes <= TABLE {
            true => Cells::Table(vec![Cell::default(); classes * classes]),
            false => Cells::Pairs(BTreeMap::new()),
        };
        Confusion { classes, cells }
    }

    /// Panics if one of them is not the number of a class.
    pub(super) fn add(&mut self, truth: u32, predicted: u32, cell: Cell) {
        let k = self.classes;
        assert!((truth.max(predicted) as usize) < k, "no class of this number");
        let place = match &mut self.cells {
            Cells::Table(cells) => &mut cells[truth as usize * k + predicted as usize],
            Cells::Pairs(cells) => cells.entry((truth, predicted)).or_default(),
        };
        place.rows += cell.rows;
        place.weight += cell.weight;
    }

    pub(super) fn merge(&mut self, other: &Confusion) {
        other.cells().for_each(|(truth, predicted, cell)| self.add(truth, predicted, cell));
    }

    /// The cells with rows, by true class and then by predicted class.
    pub(super) fn cells(&self) -> impl Iterator<Item = (u32, u32, Cell)> {
        let k = self.classes.max(1) as u32;
        let (table, pairs) = match &self.cells {
            Cells::Table(cells) => (Some((0..).zip(cells)), None),
            Cells::Pairs(cells) => (None, Some(cells.iter())),
        };
        let place = move |(at, cell): (u32, &Cell)| (at / k, at % k, *cell);
        let table = table.into_iter().flatten().map(place);
        let pairs = pairs.into_iter().flatten().map(|((t, p), cell)| (*t, *p, *cell));
        table.chain(pairs).filter(|(.., cell)| cell.rows > 0)
    }

    /// The pairs that occur, with their numbers of rows: (true class, predicted class, rows).
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32, f64)> {
        self.cells().map(|(truth, predicted, cell)| (truth, predicted, cell.weight))
    }

    /// How many rows of a class were given another, or the same.
    pub fn count(&self, truth: u32, predicted: u32) -> f64 {
        match &self.cells {
            Cells::Table(cells) => cells[truth as usize * self.classes + predicted as usize].weight,
            Cells::Pairs(cells) => cells.get(&(truth, predicted)).map_or(0.0, |cell| cell.weight),
        }
    }

    /// A line of the table: the rows of one class by the classes that they were given.
    pub fn line(&self, truth: u32) -> impl Iterator<Item = f64> {
        (0..self.classes as u32).map(move |predicted| self.count(truth, predicted))
    }
}

/// 3, not 3.0.
fn as_number(rows: f64) -> serde_json::Number {
    match rows.fract() == 0.0 && rows < 1e15 {
        true => (rows as u64).into(),
        false => serde_json::Number::from_f64(rows).unwrap_or_else(|| 0.into()),
    }
}

/// A table, line by line for the true classes; of more than 512 classes the list of
/// `[true, predicted, rows]` of the pairs that occur.
impl Serialize for Confusion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.cells {
            Cells::Table(_) => serializer.collect_seq(
                (0..self.classes as u32)
                    .map(|truth| self.line(truth).map(as_number).collect::<Vec<_>>()),
            ),
            Cells::Pairs(_) => serializer.collect_seq(
                self.pairs().map(|(truth, predicted, rows)| (truth, predicted, as_number(rows))),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_pairs_says_what_a_table_says() {
        let of = |classes| {
            let mut found = Confusion::new(classes);
            for (t, p, rows) in [(3, 1, 2), (0, 0, 5), (3, 1, 1), (2, 3, 0), (3, 0, 4)] {
                found.add(t, p, Cell { rows, weight: rows as f64 });
            }
            let mut twice = found.clone();
            twice.merge(&found);
            (found, twice)
        };
        let ((table, two), (list, two_lists)) = (of(4), of(50_000));
        assert!(table.pairs().eq([(0, 0, 5.0), (3, 0, 4.0), (3, 1, 3.0)]));
        assert!(table.pairs().eq(list.pairs()) && two.pairs().eq(two_lists.pairs()));
        assert!(
            table.line(3).eq([4.0, 3.0, 0.0, 0.0])
                && list.count(3, 1) == 3.0
                && list.count(9, 9) == 0.0
        );
        assert_eq!(
            serde_json::to_string(&table).unwrap(),
            "[[5,0,0,0],[0,0,0,0],[0,0,0,0],[4,3,0,0]]"
        );
        assert_eq!(serde_json::to_string(&list).unwrap(), "[[0,0,5],[3,0,4],[3,1,3]]");
    }
}
