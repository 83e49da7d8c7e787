//! Where a parser puts the rows of one block of a table: every column of every row, zeros too, so
//! that a field goes straight to its place. What the values need is learned row by row while the row
//! is near, in loops over columns that the compiler makes wide; only the codes of a table of distinct
//! values are looked up one by one.

use super::profile::{Decimals, Profile};
use super::rows::{Dense, Offsets, Sparse};
use super::staging::Stage;
use super::values::{Codes, Kind, Values, integer_code};
use super::{Shape, Store};

/// Rows of a table under construction. Buffers are kept for the next block.
#[derive(Debug, Default)]
pub(crate) struct TableStaging {
    width: usize,
    rows: usize,
    /// The values of all finished rows, of the open one, and zeros for some more.
    values: Vec<f64>,
    /// The decimal places of the open row.
    places: Vec<u8>,
    /// Table codes of the finished rows, while there is a table.
    codes: Vec<u8>,
    /// By column: the largest magnitude and the most places.
    largest: Vec<f64>,
    most_places: Vec<u8>,
    nonzeros: u64,
    profile: Profile,
}

impl Stage for TableStaging {
    fn begin(&mut self, width: usize) {
        self.clear();
        self.width = width;
        self.largest.resize(width, 0.0);
        self.most_places.resize(width, 0);
        self.places.resize(width, 0);
        self.open_row();
    }

    #[inline]
    fn push(&mut self, column: u32, value: f64, places: u8) {
        let (values, all_places) = self.open();
        if let (Some(slot), Some(own)) =
            (values.get_mut(column as usize), all_places.get_mut(column as usize))
        {
            // Adding 0 makes 0 of −0.
            (*slot, *own) = (value + 0.0, places);
        }
    }

    #[inline]
    fn end_row(&mut self) {
        let start = self.rows * self.width;
        let row = &self.values[start..start + self.width];
        for (largest, &value) in self.largest.iter_mut().zip(row) {
            let magnitude = value.abs();
            *largest = if magnitude > *largest { magnitude } else { *largest };
        }
        for (most, places) in self.most_places.iter_mut().zip(&mut self.places) {
            *most = (*most).max(*places);
            *places = 0;
        }
        self.nonzeros += row.iter().map(|&value| u64::from(value != 0.0)).sum::<u64>();
        self.profile.encode(row.iter().copied(), &mut self.codes);
        self.rows += 1;
        self.open_row();
    }

    fn drop_row(&mut self) {
        let (values, places) = self.open();
        values.fill(0.0);
        places.fill(0);
    }

    fn rows(&self) -> usize {
        self.rows
    }

    fn pack(&mut self) -> Store {
        let mut profile = std::mem::replace(&mut self.profile, Profile::new());
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
    /// The values and the decimal places of the open row.
    #[inline(always)]
    pub(crate) fn open(&mut self) -> (&mut [f64], &mut [u8]) {
        let start = self.rows * self.width;
        (&mut self.values[start..start + self.width], &mut self.places)
    }

    fn open_row(&mut self) {
        const ROWS_AT_ONCE: usize = 32;
        if self.values.len() < (self.rows + 1) * self.width {
            self.values.resize((self.rows + ROWS_AT_ONCE) * self.width, 0.0);
        }
    }

    fn clear(&mut self) {
        self.rows = 0;
        self.nonzeros = 0;
        self.values.clear();
        self.places.clear();
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
            Kind::Table8 => Codes::Table8(self.codes.clone()),
            Kind::Int32 => {
                let mut codes = Vec::with_capacity(values.len());
                for row in values.chunks_exact(width.max(1)) {
                    codes.extend(row.iter().zip(&packed.tens).map(|(&v, &t)| integer_code(v, t)));
                }
                Codes::Int32(codes)
            }
            Kind::F32 => Codes::F32(values.iter().map(|&value| value as f32).collect()),
            Kind::F64 => Codes::F64(values.to_vec()),
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
        Sparse { offsets, indices, values: packed }
    }
}
