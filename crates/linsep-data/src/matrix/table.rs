//! Where a parser puts the rows of one block of a table: every column of every row, zeros too, so
//! that a field goes straight to its place. What the values need is learned a few rows at a time while
//! they are near, in loops over columns that the compiler makes wide; only the codes of a table of
//! distinct values are looked up one by one.

use super::decimals::exact_places;
use super::offsets::Offsets;
use super::profile::{Decimals, Profile, power_of_ten};
use super::rows::{Dense, Sparse};
use super::staging::Stage;
use super::values::{Codes, Kind, Values, integer_code};
use super::{Shape, Store};

/// At most so many rows and about so many values are learned from at a time.
const ROWS_AT_ONCE: usize = 64;
const VALUES_AT_ONCE: usize = 1 << 13;

/// Rows of a table under construction. Buffers are kept for the next block.
#[derive(Debug, Default)]
pub struct TableStaging {
    width: usize,
    rows: usize,
    /// Rows that have been learned from.
    learned: usize,
    /// Rows to learn from at a time.
    at_once: usize,
    /// The values of all finished rows, of the open one, and zeros for some more.
    values: Vec<f64>,
    /// Of the rows that have not been learned from: the decimal places, zeros at the end perhaps among them,
    /// and the powers of ten by which the values are still to be divided.
    places: Vec<u8>,
    divide: Vec<u8>,
    /// Table codes of the rows that have been learned from, while there is a table.
    codes: Vec<u8>,
    /// By column: the largest magnitude and the most places.
    largest: Vec<f64>,
    most_places: Vec<u8>,
    nonzeros: u64,
    profile: Profile,
}

/// A row that is being filled: values, decimal places, and powers of ten still to divide by.
pub struct OpenRow<'a> {
    pub values: &'a mut [f64],
    pub places: &'a mut [u8],
    pub divide: &'a mut [u8],
}

impl Stage for TableStaging {
    fn begin(&mut self, width: usize) {
        self.clear();
        self.width = width;
        self.largest.resize(width, 0.0);
        self.most_places.resize(width, 0);
        self.at_once = (VALUES_AT_ONCE / width.max(1)).clamp(1, ROWS_AT_ONCE);
        self.places.resize(self.at_once * width, 0);
        self.divide.resize(self.at_once * width, 0);
        self.values.resize(self.at_once * width, 0.0);
    }

    fn push(&mut self, column: u32, value: f64, places: u8) {
        let slot = self.open();
        let column = column as usize;
        // Adding 0 makes 0 of −0.
        (slot.values[column], slot.places[column]) = (value + 0.0, places);
    }

    fn push_decimal(&mut self, column: u32, whole: i64, places: u8) {
        let slot = self.open();
        let column = column as usize;
        slot.values[column] = whole as f64;
        (slot.places[column], slot.divide[column]) = (places, places);
    }

    #[inline]
    fn end_row(&mut self) {
        self.rows += 1;
        if self.rows == self.learned + self.at_once {
            self.learn();
            self.values.resize((self.rows + self.at_once) * self.width, 0.0);
        }
    }

    fn drop_row(&mut self) {
        let OpenRow { values, places, divide } = self.open();
        values.fill(0.0);
        places.fill(0);
        divide.fill(0);
    }

    fn rows(&self) -> usize {
        self.rows
    }

    fn pack(&mut self) -> Store {
        self.drop_row();
        self.learn();
        let mut profile = std::mem::take(&mut self.profile);
        let columns = self.largest.iter().zip(&self.most_places);
        profile.see_columns(columns.map(|(&largest, &places)| Decimals { places, largest }));
        let values = &self.values[..self.rows * self.width];
        profile.see_values(values, |value| *value);
        let mut store = Store::shell(self.rows, self.width, self.nonzeros, profile);
        store.shape = if store.prefers_dense() {
            Shape::Dense(self.pack_dense(values, &store.profile))
        } else {
            Shape::Sparse(self.pack_sparse(values, &store.profile))
        };
        self.clear();
        store
    }
}

impl TableStaging {
    /// The open row.
    #[inline(always)]
    pub fn open(&mut self) -> OpenRow<'_> {
        let start = self.rows * self.width;
        let near = start - self.learned * self.width;
        OpenRow {
            values: &mut self.values[start..start + self.width],
            places: &mut self.places[near..near + self.width],
            divide: &mut self.divide[near..near + self.width],
        }
    }

    /// Takes note of the rows that came since the last time.
    fn learn(&mut self) {
        let width = self.width.max(1);
        let values = &mut self.values[self.learned * self.width..self.rows * self.width];
        let places = &mut self.places[..values.len()];
        let divide = &mut self.divide[..values.len()];
        divide_all(values, divide);
        for row in values.chunks_exact(width) {
            for (largest, &value) in self.largest.iter_mut().zip(row) {
                let magnitude = value.abs();
                *largest = if magnitude > *largest { magnitude } else { *largest };
            }
        }
        for (row, values) in places.chunks_exact(width).zip(values.chunks_exact(width)) {
            let more = |(most, places): (&u8, &u8)| places > most;
            if !self.most_places.iter().zip(row).map(more).fold(false, |any, more| any | more) {
                continue;
            }
            for (most, (&places, &value)) in self.most_places.iter_mut().zip(row.iter().zip(values))
            {
                // Zeros at the end count in the places so far, but not in what the column needs.
                if places > *most {
                    *most = (*most).max(exact_places(value, places));
                }
            }
        }
        places.fill(0);
        divide.fill(0);
        self.nonzeros += values.iter().map(|&value| u64::from(value != 0.0)).sum::<u64>();
        self.profile.encode(values, |value| *value, &mut self.codes);
        self.learned = self.rows;
    }

    fn clear(&mut self) {
        self.rows = 0;
        self.learned = 0;
        self.nonzeros = 0;
        self.values.clear();
        self.places.clear();
        self.divide.clear();
        self.codes.clear();
        self.largest.clear();
        self.most_places.clear();
    }

    fn pack_dense(&self, values: &[f64], profile: &Profile) -> Dense {
        let width = self.width;
        let kind = profile.dense_kind();
        let mut packed = Values::zeros(Kind::Ones, 0, profile.table(), profile.dense_tens(width));
        packed.codes = match kind {
            Kind::Ones => Codes::Ones(values.len()),
            Kind::Table8 => Codes::Table8(self.codes.clone().into()),
            Kind::Int32 => {
                let mut codes = Vec::with_capacity(values.len());
                for row in values.chunks_exact(width.max(1)) {
                    codes.extend(row.iter().zip(&packed.tens).map(|(&v, &t)| integer_code(v, t)));
                }
                Codes::Int32(codes.into())
            }
            Kind::F32 => Codes::F32(values.iter().map(|&value| value as f32).collect()),
            Kind::F64 => Codes::F64(values.to_vec().into()),
        };
        Dense { rows: self.rows, width, values: packed }
    }

    fn pack_sparse(&self, values: &[f64], profile: &Profile) -> Sparse {
        let kind = profile.sparse_kind();
        let mut offsets = Offsets::new();
        let mut indices = Vec::with_capacity(self.nonzeros as usize);
        for row in values.chunks_exact(self.width.max(1)) {
            let before = indices.len();
            let filled = row.iter().enumerate().filter(|(_, value)| **value != 0.0);
            indices.extend(filled.map(|(column, _)| column as u32));
            offsets.push(indices.len() - before);
        }
        let mut packed = Values::zeros(Kind::Ones, 0, profile.table(), profile.sparse_tens());
        let filled = values.iter().filter(|value| **value != 0.0);
        packed.codes = match kind {
            Kind::Ones => Codes::Ones(indices.len()),
            Kind::Table8 => {
                Codes::Table8(self.codes.iter().copied().filter(|code| *code != 0).collect())
            }
            Kind::Int32 => {
                let tens = packed.tens[0];
                Codes::Int32(filled.map(|&value| integer_code(value, tens)).collect())
            }
            Kind::F32 => Codes::F32(filled.map(|&value| value as f32).collect()),
            Kind::F64 => Codes::F64(filled.copied().collect()),
        };
        Sparse { offsets, indices: indices.into(), values: packed }
    }
}

/// Divides each value by its power of ten. Divisions are slow, so runs of whole numbers are left alone.
fn divide_all(values: &mut [f64], powers: &[u8]) {
    const RUN: usize = 8;
    let ((runs, rest), (power_runs, power_rest)) =
        (values.as_chunks_mut::<RUN>(), powers.as_chunks::<RUN>());
    let divide = |values: &mut [f64], powers: &[u8]| {
        values.iter_mut().zip(powers).for_each(|(value, &power)| *value /= power_of_ten(power));
    };
    for (values, powers) in runs.iter_mut().zip(power_runs) {
        if u64::from_le_bytes(*powers) != 0 {
            divide(values, powers);
        }
    }
    divide(rest, power_rest);
}
