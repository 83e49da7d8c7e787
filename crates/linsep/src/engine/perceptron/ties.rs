//! Which rows on the plane count as mistakes in training.

use linsep_data::error::{Error, Result};
use linsep_data::read::words;

words! {
    /// Which rows on the plane are mistakes in training. The lectures disagree; each rule is there.
    Ties: "rule for ties" {
        /// Every row with score 0 is a mistake.
        Strict = "strict",
        /// Lecture 000: y(a·z) ≤ 0 is a mistake.
        Lecture000 = "000",
        /// Lecture 001: 0 is a mistake of the negative class only.
        Lecture001 = "001",
        /// Lecture 002: w·x ≤ 0 for positive and ≥ 0 for negative rows.
        Lecture002 = "002",
        /// Lecture 003: 0 is a mistake of the negative class only.
        Lecture003 = "003",
        /// Lecture 004: every row with score 0 is a mistake.
        Lecture004 = "004",
    }
}

impl Ties {
    pub(super) fn zero_is_positive(self) -> bool {
        matches!(self, Ties::Lecture001 | Ties::Lecture003)
    }
}
