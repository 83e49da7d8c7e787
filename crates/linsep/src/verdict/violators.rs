//! Rounds that find the rows on the wrong side of a plane: the worst of them, in order, and how many there
//! are. The active set asks for them group by group; a cluster asks all of its blocks at once.

use super::signed::Signed;
use crate::model::Plane;
use crate::rounds::{Rounds, Wire};
use linsep_data::error::Result;
use std::cmp::Ordering;
use std::ops::Range;

/// Rows of a block.
const BLOCK: usize = 4096;

/// Some rows of a question, of which at most `most` are wanted.
#[non_exhaustive]
pub struct Violators<'a> {
    pub view: &'a Signed,
    pub rows: Range<usize>,
    pub most: usize,
}

/// The rows that a plane gets wrong.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Wrong {
    /// How many there are.
    pub count: u64,
    /// The worst of them with their margins, the worst first.
    pub worst: Vec<(u64, f64)>,
}

impl Wrong {
    /// Keeps the worst rows only.
    fn keep(&mut self, most: usize) {
        let worst_first = |a: &(u64, f64), b: &(u64, f64)| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0));
        if self.worst.len() > most {
            self.worst.select_nth_unstable_by(most, worst_first);
            self.worst.truncate(most);
        }
        self.worst.sort_unstable_by(worst_first);
    }
}

impl Rounds for Violators<'_> {
    type Broadcast = Plane;
    type Local = Plane;
    type Partial = Wrong;

    fn blocks(&self) -> usize {
        self.rows.len().div_ceil(BLOCK)
    }

    fn accepts(&self, plane: &Plane) -> bool {
        plane.weights.len() == self.view.data.n_features()
    }

    fn fits(&self, found: &Wrong) -> bool {
        found.worst.len() <= self.most
            && found.worst.iter().all(|(k, _)| (*k as usize) < self.view.len())
    }

    fn empty(&self) -> Wrong {
        Wrong::default()
    }

    fn open(&self, plane: &Plane) -> Plane {
        plane.clone()
    }

    fn partial(&self, block: usize, plane: &Plane) -> Wrong {
        let from = self.rows.start + block * BLOCK;
        let rows = from..(from + BLOCK).min(self.rows.end);
        let margins = rows.map(|k| (k as u64, self.view.margin(k, &plane.weights, plane.bias)));
        // A margin that is no number is as wrong as can be.
        let is_wrong = |m: &f64| m.partial_cmp(&0.0) != Some(Ordering::Greater);
        let worst: Vec<(u64, f64)> = margins.filter(|(_, m)| is_wrong(m)).collect();
        let mut found = Wrong { count: worst.len() as u64, worst };
        found.keep(self.most);
        found
    }

    fn merge(&self, all: &mut Wrong, next: Wrong) {
        all.count += next.count;
        all.worst.extend(next.worst);
        all.keep(self.most);
    }
}

impl Wire for Wrong {
    fn write(&self, out: &mut Vec<u8>) {
        self.count.write(out);
        self.worst.write(out);
    }

    fn read(bytes: &mut &[u8]) -> Result<Wrong> {
        Ok(Wrong { count: u64::read(bytes)?, worst: Vec::read(bytes)? })
    }
}
