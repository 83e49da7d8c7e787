//! What a collection of values needs in order to be held without loss.
//!
//! Every fact only ever turns from true to false (or grows), so the profile of a whole is the merge
//! of the profiles of its parts, in any grouping, and the encoding that follows from it depends on
//! the values alone.

use super::values::Kind;
pub use linsep_kernels::number::{NO_PLACES, power_of_ten};

/// Widths above this track one decimal exponent for all columns instead of one for each.
pub(crate) const MAX_TRACKED_COLUMNS: usize = 1 << 16;

/// What the non-zero values seen so far need.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Every value is 1.
    pub ones: bool,
    /// Every value is a binary32.
    pub single: bool,
    /// The distinct values while there are at most 255 of them (0 is the 256th).
    pub distinct: Option<Distinct>,
    /// Decimal places over all columns.
    pub all: Decimals,
    /// Decimal places by column, while the width allows it.
    pub columns: Option<Vec<Decimals>>,
    /// Columns that are still to be added to those, each at most once. A block of sparse rows uses few
    /// columns of many, and must not cost a slot for every one.
    few: Vec<Few>,
}

/// What some values of one column need.
#[derive(Clone, Copy, Debug)]
struct Few {
    largest: f64,
    column: u32,
    places: u8,
}

impl Few {
    fn decimals(self) -> Decimals {
        Decimals { places: self.places, largest: self.largest }
    }
}

/// Where blocks are looked at; it serves block after block.
#[derive(Debug, Default)]
pub struct Slots {
    columns: Vec<Decimals>,
    few: Vec<Few>,
}

/// The entries of a block: columns, values that are not 0, and decimal places.
#[derive(Clone, Copy, Debug)]
pub struct Entries<'a> {
    pub columns: &'a [u32],
    pub values: &'a [f64],
    pub places: &'a [u8],
}

/// The decimal places and the largest magnitude of some values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decimals {
    /// The most places behind the point, or [`NO_PLACES`].
    pub places: u8,
    /// The largest magnitude.
    pub largest: f64,
}

impl Decimals {
    const NONE_SEEN: Decimals = Decimals { places: 0, largest: 0.0 };

    #[inline(always)]
    fn see(&mut self, value: f64, places: u8) {
        let magnitude = value.abs();
        self.places = self.places.max(places);
        self.largest = if magnitude > self.largest { magnitude } else { self.largest };
    }

    fn merge(&mut self, other: Decimals) {
        self.places = self.places.max(other.places);
        self.largest = self.largest.max(other.largest);
    }

    /// Whether value · 10^places is an `i32` for all of them.
    fn fit_i32(self) -> bool {
        self.places != NO_PLACES
            && self.largest * power_of_ten(self.places) < f64::from(i32::MAX) - 1.0
    }
}

impl Default for Profile {
    fn default() -> Profile {
        Profile::new()
    }
}

impl Profile {
    pub fn new() -> Profile {
        Profile {
            ones: true,
            single: true,
            distinct: Some(Distinct::new()),
            all: Decimals::NONE_SEEN,
            columns: Some(Vec::new()),
            few: Vec::new(),
        }
    }

    /// Takes note of the entries of a block of `width` columns and fills in their codes in the table of
    /// distinct values, if there is one. `slots` serves block after block.
    pub fn see(
        &mut self,
        entries: Entries<'_>,
        width: usize,
        codes: &mut Vec<u8>,
        slots: &mut Slots,
    ) {
        let seen =
            || entries.columns.iter().fold(0, |width, &column| width.max(column + 1)) as usize;
        let width = if width <= MAX_TRACKED_COLUMNS { width } else { seen() };
        if width <= MAX_TRACKED_COLUMNS {
            self.see_by_column(entries, width, slots);
        } else {
            self.columns = None;
            for (&value, &places) in entries.values.iter().zip(entries.places) {
                self.all.see(value, places);
            }
        }
        self.encode(entries.values, |value| *value, codes);
        self.see_values(entries.values, |value| *value);
    }

    fn see_by_column(&mut self, entries: Entries<'_>, width: usize, slots: &mut Slots) {
        let columns = entries.columns;
        let Slots { columns: slots, few } = slots;
        if slots.len() < width {
            slots.resize(width, Decimals::NONE_SEEN);
        }
        for ((&column, &value), &places) in columns.iter().zip(entries.values).zip(entries.places) {
            if let Some(slot) = slots.get_mut(column as usize) {
                slot.see(value, places);
            }
        }
        if 2 * columns.len() >= width {
            self.see_columns(slots[..width].iter().copied());
            slots[..width].fill(Decimals::NONE_SEEN);
            return;
        }
        // No entry is 0, so a slot that has seen none is one that was taken before.
        if few.len() <= columns.len() {
            few.resize(columns.len() + 1, Few { largest: 0.0, column: 0, places: 0 });
        }
        let mut used = 0;
        for &column in columns {
            let slot = &mut slots[column as usize];
            few[used] = Few { largest: slot.largest, column, places: slot.places };
            used += usize::from(slot.largest > 0.0);
            *slot = Decimals::NONE_SEEN;
        }
        self.few = few[..used].to_vec();
        self.few.iter().for_each(|few| self.all.merge(few.decimals()));
        self.columns = Some(Vec::new());
    }

    /// Gives every column its slot.
    pub fn spread(&mut self) {
        let Some(columns) = &mut self.columns else { return self.few.clear() };
        add_few(columns, &self.few);
        self.few = Vec::new();
    }

    /// Takes note of all values of a block, after their codes were looked up.
    pub fn see_values<T>(&mut self, items: &[T], value: impl Fn(&T) -> f64) {
        const AT_ONCE: usize = 256;
        let is_single = |value: f64| f64::from(value as f32) == value;
        if let Some(distinct) = &self.distinct {
            let seen = &distinct.table[1..distinct.len];
            self.ones = seen.iter().all(|&value| value == 1.0);
            self.single = seen.iter().all(|&value| is_single(value));
        } else {
            self.ones = false;
            let single =
                |items: &[T]| items.iter().fold(true, |s, item| s & is_single(value(item)));
            self.single = items.chunks(AT_ONCE).all(single);
        }
    }

    /// Takes note of the decimal places and magnitudes of all columns of a table.
    pub fn see_columns(&mut self, columns: impl ExactSizeIterator<Item = Decimals>) {
        let mut tracked = Vec::with_capacity(columns.len().min(MAX_TRACKED_COLUMNS));
        let mut beyond = false;
        for column in columns {
            self.all.merge(column);
            if tracked.len() < MAX_TRACKED_COLUMNS {
                tracked.push(column);
            } else {
                beyond |= column.largest > 0.0;
            }
        }
        self.columns = (!beyond).then_some(tracked);
    }

    /// Adds the table codes of the values, 0 for 0, while there is a table.
    pub fn encode<T>(&mut self, items: &[T], value: impl Fn(&T) -> f64, codes: &mut Vec<u8>) {
        let Some(distinct) = &mut self.distinct else { return };
        let start = codes.len();
        codes.resize(start + items.len(), 0);
        let codes = &mut codes[start..];
        // Tables may be mostly zeros, which go by in runs.
        const RUN: usize = 16;
        let ((runs, rest), (code_runs, code_rest)) =
            (items.as_chunks::<RUN>(), codes.as_chunks_mut::<RUN>());
        let has_room = code_runs.iter_mut().zip(runs).all(|(codes, items)| {
            let zeros = items.iter().fold(0, |bits, item| bits | value(item).to_bits()) == 0;
            zeros || distinct.encode(items, &value, codes)
        });
        if !has_room || !distinct.encode(rest, &value, code_rest) {
            self.distinct = None;
        }
    }

    /// Adds what `other` saw. Returns how `other`'s table codes translate into the merged table.
    pub fn merge(&mut self, other: &Profile) -> Option<[u8; 256]> {
        self.ones &= other.ones;
        self.single &= other.single;
        self.all.merge(other.all);
        self.spread();
        self.columns = match (self.columns.take(), &other.columns) {
            (Some(mut mine), Some(theirs)) => {
                if mine.len() < theirs.len() {
                    mine.resize(theirs.len(), Decimals::NONE_SEEN);
                }
                mine.iter_mut().zip(theirs).for_each(|(a, &b)| a.merge(b));
                add_few(&mut mine, &other.few);
                Some(mine)
            }
            _ => None,
        };
        let translation = match (&mut self.distinct, &other.distinct) {
            (Some(mine), Some(theirs)) => mine.merge(theirs),
            _ => None,
        };
        if translation.is_none() {
            self.distinct = None;
        }
        translation
    }

    /// The narrowest encoding for dense rows.
    pub fn dense_kind(&self) -> Kind {
        let fits = match &self.columns {
            Some(columns) => {
                let few = self.few.iter().map(|few| few.decimals());
                columns.iter().copied().chain(few).all(Decimals::fit_i32)
            }
            None => self.all.fit_i32(),
        };
        self.kind(fits)
    }

    /// The narrowest encoding for sparse rows.
    pub fn sparse_kind(&self) -> Kind {
        if self.ones { Kind::Ones } else { self.kind(self.all.fit_i32()) }
    }

    fn kind(&self, fits_i32: bool) -> Kind {
        if self.distinct.is_some() {
            Kind::Table8
        } else if fits_i32 {
            Kind::Int32
        } else if self.single {
            Kind::F32
        } else {
            Kind::F64
        }
    }

    /// The most decimal places in a column, or over all columns where they are not told apart.
    pub fn places(&self, column: usize) -> u8 {
        match &self.columns {
            Some(_) => self.column(column).places,
            None => self.all.places,
        }
    }

    /// What is known of a column, where columns are told apart.
    fn column(&self, column: usize) -> Decimals {
        let known = self.columns.as_ref().and_then(|columns| columns.get(column)).copied();
        let mut known = known.unwrap_or(Decimals::NONE_SEEN);
        let few = self.few.iter().filter(|few| few.column as usize == column);
        few.for_each(|few| known.merge(few.decimals()));
        known
    }

    /// The largest magnitude of each of `width` columns, where they are told apart.
    pub fn largest_by_column(&self, width: usize) -> Option<Vec<f64>> {
        let mut bounds: Vec<f64> = self.columns.as_ref()?.iter().map(|c| c.largest).collect();
        bounds.resize(width, 0.0);
        for few in &self.few {
            let bound = &mut bounds[few.column as usize];
            *bound = bound.max(few.largest);
        }
        Some(bounds)
    }

    /// The divisors of integer codes in dense rows, one for each of `width` columns.
    pub fn dense_tens(&self, width: usize) -> Vec<f64> {
        match &self.columns {
            Some(columns) => {
                let mut columns = columns.clone();
                add_few(&mut columns, &self.few);
                columns.resize(width, Decimals::NONE_SEEN);
                columns.iter().map(|column| power_of_ten(column.places)).collect()
            }
            None => vec![power_of_ten(self.all.places); width],
        }
    }

    /// The one divisor of integer codes in sparse rows.
    pub fn sparse_tens(&self) -> Vec<f64> {
        vec![power_of_ten(self.all.places)]
    }

    /// The table behind one-byte codes; empty when there is none.
    pub fn table(&self) -> Vec<f64> {
        self.distinct.as_ref().map_or_else(Vec::new, |distinct| distinct.table.to_vec())
    }
}

/// Adds what is known of some columns.
fn add_few(columns: &mut Vec<Decimals>, few: &[Few]) {
    let width = few.iter().fold(0, |width, few| width.max(few.column as usize + 1));
    if columns.len() < width {
        columns.resize(width, Decimals::NONE_SEEN);
    }
    few.iter().for_each(|few| columns[few.column as usize].merge(few.decimals()));
}

/// At most 256 distinct values, 0 first, with a small hash table from value to code.
#[derive(Clone, Debug)]
pub struct Distinct {
    table: Box<[f64; 256]>,
    len: usize,
    slots: Box<[u8; 1024]>,
}

impl Distinct {
    pub(crate) fn new() -> Distinct {
        Distinct { table: Box::new([0.0; 256]), len: 1, slots: Box::new([0; 1024]) }
    }

    /// The code of a non-zero value, entered if it is new; `None` when the table is full.
    #[inline]
    pub fn insert(&mut self, value: f64) -> Option<u8> {
        let mut slot = Self::slot(value);
        loop {
            match self.slots[slot] {
                0 => return self.enter(slot, value),
                code if self.table[usize::from(code)] == value => return Some(code),
                _ => slot = (slot + 1) % 1024,
            }
        }
    }

    /// The values beside 0 in the order in which they were entered.
    pub(crate) fn values(&self) -> &[f64] {
        &self.table[1..self.len]
    }

    /// The code of a value that has been entered, or of 0.
    #[inline]
    pub(crate) fn find(&self, value: f64) -> u8 {
        let mut slot = Self::slot(value);
        loop {
            match self.slots[slot] {
                0 => return 0,
                code if self.table[usize::from(code)] == value => return code,
                _ => slot = (slot + 1) % 1024,
            }
        }
    }

    /// Puts in the codes of the values that are not zero; false when the table is full.
    #[inline(always)]
    fn encode<T>(&mut self, items: &[T], value: &impl Fn(&T) -> f64, codes: &mut [u8]) -> bool {
        items.iter().zip(codes).all(|(item, code)| {
            let value = value(item);
            let found = if value == 0.0 { Some(0) } else { self.insert(value) };
            *code = found.unwrap_or(0);
            found.is_some()
        })
    }

    #[cold]
    fn enter(&mut self, slot: usize, value: f64) -> Option<u8> {
        let code = u8::try_from(self.len).ok()?;
        self.slots[slot] = code;
        self.table[self.len] = value;
        self.len += 1;
        Some(code)
    }

    fn merge(&mut self, other: &Distinct) -> Option<[u8; 256]> {
        let mut translation = [0; 256];
        for (code, &value) in other.table.iter().enumerate().take(other.len).skip(1) {
            translation[code] = self.insert(value)?;
        }
        Some(translation)
    }

    fn slot(value: f64) -> usize {
        (value.to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile_of(values: &[(u32, f64, u8)]) -> Profile {
        let columns: Vec<u32> = values.iter().map(|entry| entry.0).collect();
        let places: Vec<u8> = values.iter().map(|entry| entry.2).collect();
        let values: Vec<f64> = values.iter().map(|entry| entry.1).collect();
        let width = columns.iter().map(|column| *column as usize + 1).max().unwrap_or(0);
        let entries = Entries { columns: &columns, values: &values, places: &places };
        let mut profile = Profile::new();
        profile.see(entries, width, &mut Vec::new(), &mut Slots::default());
        profile
    }

    #[test]
    fn the_narrowest_exact_encoding_wins() {
        assert_eq!(profile_of(&[(0, 1.0, 0), (7, 1.0, 0)]).sparse_kind(), Kind::Ones);
        assert_eq!(profile_of(&[(0, 1.0, 0), (7, 1.0, 0)]).dense_kind(), Kind::Table8);
        let many = |f: &dyn Fn(u32) -> (f64, u8)| {
            let values: Vec<_> = (0..300).map(|i| (i % 3, f(i).0, f(i).1)).collect();
            profile_of(&values)
        };
        assert_eq!(many(&|i| (f64::from(i + 1) / 10.0, 1)).dense_kind(), Kind::Int32);
        assert_eq!(many(&|i| (f64::from(i + 1) * 0.5e9, 0)).dense_kind(), Kind::F64);
        assert_eq!(many(&|i| (f64::from(i + 1) * 2f64.powi(40), 0)).dense_kind(), Kind::F32);
        assert_eq!(many(&|i| (f64::from(i + 1).sqrt(), NO_PLACES)).dense_kind(), Kind::F64);
    }

    #[test]
    fn columns_of_different_scale_fit_integers_only_when_dense() {
        let large_or_small = |i| match i % 2 {
            0 => (0, f64::from(i) * 1e6, 0),
            _ => (1, f64::from(i) / 1e6, 6),
        };
        let profile = profile_of(&(1..300).map(large_or_small).collect::<Vec<_>>());
        assert_eq!(profile.dense_kind(), Kind::Int32);
        assert_eq!(profile.sparse_kind(), Kind::F64);
        assert_eq!(profile.dense_tens(3), [1.0, 1e6, 1.0]);
    }

    #[test]
    fn few_columns_of_many_merge_like_all_of_them() {
        let few = [(9_000, 0.25, 2), (3, 7.5, 1), (9_000, 1e9, 0), (12, 0.5, 1)];
        let (mut sparse, other) = (profile_of(&few[..2]), profile_of(&few[2..]));
        assert_eq!(sparse.columns.as_ref().map(Vec::len), Some(0));
        assert_eq!((sparse.places(9_000), sparse.places(3), sparse.places(4)), (2, 1, 0));
        sparse.merge(&other);
        let places = [3, 12, 9_000, 9_001].map(|column| sparse.places(column));
        assert_eq!(places, [1, 1, 2, 0]);
        let bounds = sparse.largest_by_column(10_000).unwrap();
        assert_eq!((bounds.len(), bounds[3], bounds[12], bounds[9_000]), (10_000, 7.5, 0.5, 1e9));
        assert!(!sparse.all.fit_i32() && sparse.dense_tens(13)[12] == 10.0);
    }

    #[test]
    fn at_most_255_values_beside_zero_fit_the_table() {
        let values: Vec<_> = (1..=256).map(|i| (0, f64::from(i), 0)).collect();
        assert_eq!(profile_of(&values[..255]).dense_kind(), Kind::Table8);
        assert_eq!(profile_of(&values).dense_kind(), Kind::Int32);
        let mut merged = profile_of(&values[..200]);
        let translation = merged.merge(&profile_of(&values[150..255])).unwrap();
        assert_eq!(translation[1], 151);
        assert!(merged.merge(&profile_of(&values[255..])).is_none());
        assert_eq!(merged.dense_kind(), Kind::Int32);
    }
}
