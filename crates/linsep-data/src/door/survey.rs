//! The first pass: what the values need in order to be held without loss.
//!
//! Every fact only ever turns one way, so threads learn apart and their facts are merged: a column's
//! largest magnitude and decimal places grow, `single` and the table of distinct values get lost.
//!
//! The places of a value v are those of its shortest decimal. Writing that down for each value would cost
//! a hundred times what the rest does. But let k be the most places of the column so far, and
//! m = round(v · 10^k). If |m| < 10^15 and m / 10^k = v in binary64, then v is the binary64 nearest to the
//! decimal m · 10^−k of at most 15 digits. No two decimals of at most 15 digits have the same nearest
//! binary64, so this one, without zeros at its end, is the shortest decimal of v, and it has at most k
//! places. (The product is off by less than 2^−52 · 10^15 < 1/4, so m is the decimal's own numerator.)
//! Only where the test fails are the places found one by one; and a column that has a value without
//! places has none for good.

use super::load::{Block, Source};
use crate::matrix::decimals::{FIFTEEN_DIGITS, ROUNDING, facts_of, is_decimal};
use crate::matrix::profile::{
    Decimals, Distinct, MAX_TRACKED_COLUMNS, NO_PLACES, Profile, power_of_ten,
};
use std::collections::BTreeSet;

/// Narrow rows are learned from several at a time, with at least so many values.
const FEWEST_LANES: usize = 64;

/// What one thread has learned.
///
/// A lane is a column. Tables of few columns have several lanes for each column, one for each of
/// several rows, so that loops over lanes are long; arrays of entries have one lane for all columns
/// beyond those that have one each.
pub(super) struct Survey {
    columns: usize,
    lanes: Lanes,
    /// The lane of all columns that have none of their own.
    shared: Option<usize>,
    /// Whether each column is of an integer type.
    whole: Vec<bool>,
    single: bool,
    distinct: Option<Distinct>,
    /// Distinct values with the chunk in which this thread met them first.
    met: Vec<(usize, f64)>,
    /// The values of each chunk that are not 0.
    pub(super) nonzeros: Vec<(usize, u64)>,
    /// Asked for the decimal reading: which columns have a value that it does not cover.
    long: Option<BTreeSet<u32>>,
}

struct Lanes {
    largest: Vec<f64>,
    places: Vec<u8>,
    /// 10^places; 1 for columns that are not tested any more.
    tens: Vec<f64>,
    /// 1 for columns that are tested, else 0.
    live: Vec<u64>,
    /// The columns that are tested, and perhaps some that were.
    live_columns: Vec<u32>,
    /// Whether there are such.
    stale: bool,
    /// Whether all places so far are 0.
    integers: bool,
}

impl Survey {
    pub(super) fn new(source: &Source<'_>, decimal: bool) -> Survey {
        let columns = source.columns;
        let (held, copies) = match source.is_table() {
            true => (columns, FEWEST_LANES.div_ceil(columns)),
            false => (columns.min(MAX_TRACKED_COLUMNS + 1), 1),
        };
        let lanes = held * copies;
        Survey {
            columns: held,
            lanes: Lanes {
                largest: vec![0.0; lanes],
                places: vec![0; held],
                tens: vec![1.0; lanes],
                live: vec![1; lanes],
                live_columns: (0..held as u32).collect(),
                stale: false,
                integers: true,
            },
            shared: (!source.is_table() && columns > MAX_TRACKED_COLUMNS)
                .then_some(MAX_TRACKED_COLUMNS),
            whole: (0..held).map(|column| source.is_whole(column)).collect(),
            single: true,
            distinct: Some(Distinct::new()),
            met: Vec::new(),
            nonzeros: Vec::new(),
            long: decimal.then(BTreeSet::new),
        }
    }

    /// Learns from a block of a chunk.
    pub(super) fn see(&mut self, chunk: usize, block: &Block) {
        let nonzeros = count_nonzeros(&block.values);
        match self.nonzeros.last_mut() {
            Some((last, count)) if *last == chunk => *count += nonzeros,
            _ => self.nonzeros.push((chunk, nonzeros)),
        }
        match block.ends.is_empty() {
            true => self.see_table(&block.values),
            false => self.see_entries(&block.columns, &block.values),
        }
        if self.single {
            const RUN: usize = 256;
            let is_single = |run: &[f64]| {
                let other = |value: f64| u64::from(f64::from(value as f32) != value);
                run.iter().fold(0, |others, value| others | other(*value)) == 0
            };
            self.single = block.values.chunks(RUN).all(is_single);
        }
        self.see_distinct(chunk, &block.values);
    }

    fn see_distinct(&mut self, chunk: usize, values: &[f64]) {
        const RUN: usize = 16;
        let Some(distinct) = &mut self.distinct else { return };
        for run in values.chunks(RUN) {
            if run.iter().fold(0, |bits, value| bits | value.to_bits()) == 0 {
                continue;
            }
            for &value in run.iter().filter(|value| **value != 0.0) {
                let before = distinct.values().len();
                if distinct.insert(value).is_none() {
                    self.distinct = None;
                    return;
                }
                if distinct.values().len() > before {
                    self.met.push((chunk, value));
                }
            }
        }
    }

    fn see_table(&mut self, values: &[f64]) {
        for run in values.chunks(self.lanes.largest.len()) {
            raise(&mut self.lanes.largest, run);
        }
        self.lanes.refresh();
        let live = self.lanes.live_columns.len();
        if live == 0 {
            return;
        }
        if live * 4 <= self.columns {
            for row in values.chunks_exact(self.columns) {
                for k in 0..live {
                    let column = self.lanes.live_columns[k];
                    self.check(column as usize, column, row[column as usize]);
                }
            }
            return;
        }
        for run in values.chunks(self.lanes.largest.len()) {
            if self.lanes.misses(run) {
                for (lane, &value) in run.iter().enumerate() {
                    let column = lane % self.columns;
                    self.check(column, column as u32, value);
                }
            }
        }
    }

    fn see_entries(&mut self, columns: &[u32], values: &[f64]) {
        for (&column, &value) in columns.iter().zip(values) {
            let lane = (column as usize).min(MAX_TRACKED_COLUMNS);
            let largest = &mut self.lanes.largest[lane];
            *largest = if value.abs() > *largest { value.abs() } else { *largest };
            // A division is the dearest part, and 0 places need none.
            if self.lanes.tens[lane] != 1.0 || !is_short_integer(value) {
                self.check(lane, column, value);
            }
        }
    }

    /// Tests a value whose column counts.
    #[inline(always)]
    fn check(&mut self, lane: usize, column: u32, value: f64) {
        let lanes = &self.lanes;
        if lanes.live[lane] != 0 && !is_decimal(value, lanes.tens[lane]) {
            self.learn(lane, column, value);
        }
    }

    /// Finds the places of a value for which the test failed.
    #[cold]
    fn learn(&mut self, lane: usize, column: u32, value: f64) {
        if value == 0.0 {
            return;
        }
        let facts = facts_of(value, self.whole[lane]);
        let places = &mut self.lanes.places[lane];
        *places = (*places).max(facts.places);
        let places = *places;
        // With the decimal reading a column counts until it has a value that is no short decimal.
        let mut live = places != NO_PLACES;
        if let Some(long) = &mut self.long {
            if facts.long {
                long.insert(column);
            }
            // A lane of many columns always counts.
            live |= self.shared == Some(lane) || !long.contains(&column);
        }
        self.lanes.set(lane, self.columns, places, live);
    }

    /// Adds what another thread learned.
    pub(super) fn merge(&mut self, other: Survey) {
        raise(&mut self.lanes.largest, &other.lanes.largest);
        for (mine, theirs) in self.lanes.places.iter_mut().zip(&other.lanes.places) {
            *mine = (*mine).max(*theirs);
        }
        self.single &= other.single;
        if other.distinct.is_none() {
            self.distinct = None;
        }
        self.met.extend(other.met);
        self.nonzeros.extend(other.nonzeros);
        if let (Some(mine), Some(theirs)) = (&mut self.long, other.long) {
            mine.extend(theirs);
        }
    }

    /// The profile of all values.
    pub(super) fn profile(&mut self) -> Profile {
        let mut profile = Profile::new();
        let columns = (0..self.columns).map(|column| {
            let lanes = self.lanes.largest[column..].iter().step_by(self.columns);
            let largest = lanes.fold(0.0, |most: f64, lane| most.max(*lane));
            Decimals { places: self.lanes.places[column], largest }
        });
        profile.see_columns(columns);
        // In the order of their first appearance in the table, whichever thread met them.
        self.met.sort_by_key(|(chunk, _)| *chunk);
        profile.distinct = self.distinct.take().and_then(|_| {
            let mut distinct = Distinct::new();
            self.met.iter().all(|(_, value)| distinct.insert(*value).is_some()).then_some(distinct)
        });
        profile.single = self.single;
        profile.ones = profile
            .distinct
            .as_ref()
            .is_some_and(|distinct| distinct.values().iter().all(|value| *value == 1.0));
        profile
    }

    /// The columns that the decimal reading does not cover, rising.
    pub(super) fn long_columns(&self) -> Vec<u32> {
        self.long.iter().flatten().copied().collect()
    }
}

impl Lanes {
    /// Whether the test of the module's documentation fails for some value of a column that counts.
    fn misses(&self, run: &[f64]) -> bool {
        let lanes = run.iter().zip(&self.live);
        let fails = if self.integers {
            lanes.fold(0, |fails, (&value, live)| {
                fails | (u64::from(!is_short_integer(value)) & live)
            })
        } else {
            lanes.zip(&self.tens).fold(0, |fails, ((&value, live), &ten)| {
                fails | (u64::from(!is_decimal(value, ten)) & live)
            })
        };
        fails != 0
    }

    fn set(&mut self, column: usize, columns: usize, places: u8, live: bool) {
        let ten = if live { power_of_ten(places) } else { 1.0 };
        for lane in (column..self.tens.len()).step_by(columns) {
            self.tens[lane] = ten;
            self.live[lane] = u64::from(live);
        }
        self.integers &= ten == 1.0;
        self.stale |= !live;
    }

    /// Forgets the columns that are not tested any more.
    fn refresh(&mut self) {
        if std::mem::take(&mut self.stale) {
            self.live_columns.retain(|column| self.live[*column as usize] != 0);
        }
    }
}

/// [`is_decimal`] without places.
#[inline(always)]
fn is_short_integer(value: f64) -> bool {
    let whole = (value + ROUNDING) - ROUNDING;
    (whole == value) & (whole.abs() < FIFTEEN_DIGITS)
}

fn raise(largest: &mut [f64], run: &[f64]) {
    for (largest, value) in largest.iter_mut().zip(run) {
        let magnitude = value.abs();
        *largest = if magnitude > *largest { magnitude } else { *largest };
    }
}

fn count_nonzeros(values: &[f64]) -> u64 {
    values.iter().map(|value| u64::from(*value != 0.0)).sum()
}
