//! Where a parser puts the rows of one block of text: non-zero entries as they come, nothing
//! allocated for a field. A finished block is packed into the narrowest [`Store`].

use super::profile::Profile;
use super::rows::{Dense, Offsets, Sparse};
use super::values::{Codes, Kind, Values};
use super::{Shape, Store};

/// Rows under construction. Buffers are kept for the next block.
#[derive(Debug)]
pub(crate) struct Staging {
    ends: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
    places: Vec<u8>,
    codes: Vec<u8>,
    profile: Profile,
    width: usize,
}

impl Staging {
    /// Empty; `width` is the least number of columns.
    pub(crate) fn new(width: usize) -> Staging {
        Staging {
            ends: Vec::new(),
            indices: Vec::new(),
            values: Vec::new(),
            places: Vec::new(),
            codes: Vec::new(),
            profile: Profile::new(),
            width,
        }
    }

    /// Ready for a new block of at least `width` columns; buffers are kept.
    pub(crate) fn begin(&mut self, width: usize) {
        self.drop_row();
        self.width = width;
    }

    /// Adds an entry to the open row. Columns must rise within a row. `places` are the decimal
    /// places of the value, or `NO_PLACES`.
    #[inline]
    pub(crate) fn push(&mut self, column: u32, value: f64, places: u8) {
        if value != 0.0 {
            self.indices.push(column);
            self.values.push(value);
            self.places.push(places);
        }
    }

    /// Closes the open row.
    #[inline]
    pub(crate) fn end_row(&mut self) {
        let start = self.row_start();
        for k in start..self.values.len() {
            let code = self.profile.see(self.indices[k], self.values[k], self.places[k]);
            self.codes.push(code);
        }
        if let Some(&last) = self.indices[start..].last() {
            self.width = self.width.max(last as usize + 1);
        }
        self.ends.push(self.indices.len());
    }

    /// Forgets the open row.
    pub(crate) fn drop_row(&mut self) {
        let start = self.row_start();
        self.indices.truncate(start);
        self.values.truncate(start);
        self.places.truncate(start);
    }

    pub(crate) fn rows(&self) -> usize {
        self.ends.len()
    }

    fn row_start(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Moves the finished rows out as a store and is empty again.
    pub(crate) fn pack(&mut self) -> Store {
        let rows = self.rows();
        let profile = std::mem::replace(&mut self.profile, Profile::new());
        let mut store = Store::shell(rows, self.width, self.values.len() as u64, profile);
        store.shape = if store.prefers_dense() {
            Shape::Dense(self.pack_dense(rows, &mut store.profile))
        } else {
            Shape::Sparse(self.pack_sparse(&mut store.profile))
        };
        self.ends.clear();
        self.indices.clear();
        self.values.clear();
        self.places.clear();
        self.codes.clear();
        store
    }

    fn pack_dense(&self, rows: usize, profile: &mut Profile) -> Dense {
        let width = self.width;
        let kind = profile.dense_kind();
        let mut values =
            Values::zeros(kind, rows * width, profile.table(), profile.dense_tens(width));
        let mut start = 0;
        for (row, &end) in self.ends.iter().enumerate() {
            for k in start..end {
                let position = row * width + self.indices[k] as usize;
                match &mut values.codes {
                    Codes::Table8(codes) => codes[position] = self.codes[k],
                    Codes::F64(codes) => codes[position] = self.values[k],
                    _ => values.set(position, self.values[k], profile),
                }
            }
            start = end;
        }
        Dense { rows, width, values }
    }

    fn pack_sparse(&self, profile: &mut Profile) -> Sparse {
        let kind = profile.sparse_kind();
        let mut offsets = Offsets::new();
        let mut start = 0;
        for &end in &self.ends {
            offsets.push(end - start);
            start = end;
        }
        let mut values = Values::zeros(Kind::Ones, 0, profile.table(), profile.sparse_tens());
        values.codes = match kind {
            Kind::Ones => Codes::Ones(self.values.len()),
            Kind::Table8 => Codes::Table8(self.codes.clone()),
            Kind::Int32 => {
                let tens = values.tens[0];
                Codes::Int32(self.values.iter().map(|v| (v * tens).round() as i32).collect())
            }
            Kind::F32 => Codes::F32(self.values.iter().map(|&v| v as f32).collect()),
            Kind::F64 => Codes::F64(self.values.clone()),
        };
        Sparse { offsets, indices: self.indices.clone(), values }
    }
}
