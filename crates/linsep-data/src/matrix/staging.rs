//! Where a parser puts the rows of one block of text: non-zero entries as they come, nothing
//! allocated for a field. A finished block is packed into the narrowest [`Store`].

use super::offsets::Offsets;
use super::profile::{Profile, power_of_ten};
use super::rows::{Dense, Sparse};
use super::values::{Codes, Kind, Values, integer_code};
use super::{Shape, Store};

/// Rows under construction, in one form or another.
pub trait Stage {
    /// Ready for a new block of at least `width` columns; buffers are kept.
    fn begin(&mut self, width: usize);
    /// Adds an entry to the open row. Columns must rise within a row. `places` are the decimal
    /// places of the value, or `NO_PLACES`.
    fn push(&mut self, column: u32, value: f64, places: u8);
    /// Like `push` for the value whole / 10^places.
    fn push_decimal(&mut self, column: u32, whole: i64, places: u8);
    /// Closes the open row.
    fn end_row(&mut self);
    /// Forgets the open row.
    fn drop_row(&mut self);
    /// The number of finished rows.
    fn rows(&self) -> usize;
    /// Moves the finished rows out as a store and is empty again.
    fn pack(&mut self) -> Store;
}

/// Rows as lists of entries. Buffers are kept for the next block.
#[derive(Debug)]
pub struct Staging {
    ends: Vec<usize>,
    entries: Vec<Entry>,
    codes: Vec<u8>,
    width: usize,
}

/// A non-zero value of a row with its decimal places.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The value, before packing perhaps still to be divided.
    pub value: f64,
    pub column: u32,
    pub places: u8,
    /// The power of ten by which the value is still to be divided.
    pub divide: u8,
}

impl Staging {
    /// Empty; `width` is the least number of columns.
    pub fn new(width: usize) -> Staging {
        Staging { ends: Vec::new(), entries: Vec::new(), codes: Vec::new(), width }
    }

    fn row_start(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }
}

impl Stage for Staging {
    fn begin(&mut self, width: usize) {
        self.drop_row();
        self.width = width;
    }

    #[inline(always)]
    fn push(&mut self, column: u32, value: f64, places: u8) {
        if value != 0.0 {
            self.entries.push(Entry { value, column, places, divide: 0 });
        }
    }

    #[inline(always)]
    fn push_decimal(&mut self, column: u32, whole: i64, places: u8) {
        if whole != 0 {
            self.entries.push(Entry { value: whole as f64, column, places, divide: places });
        }
    }

    #[inline]
    fn end_row(&mut self) {
        if let Some(last) = self.entries[self.row_start()..].last() {
            self.width = self.width.max(last.column as usize + 1);
        }
        self.ends.push(self.entries.len());
    }

    fn drop_row(&mut self) {
        self.entries.truncate(self.row_start());
    }

    fn rows(&self) -> usize {
        self.ends.len()
    }

    fn pack(&mut self) -> Store {
        let rows = self.rows();
        self.drop_row();
        for entry in &mut self.entries {
            entry.value /= power_of_ten(entry.divide);
        }
        let mut profile = Profile::new();
        profile.see(&self.entries, self.width, &mut self.codes);
        let mut store = Store::shell(rows, self.width, self.entries.len() as u64, profile);
        store.shape = if store.prefers_dense() {
            Shape::Dense(self.pack_dense(rows, &store.profile))
        } else {
            Shape::Sparse(self.pack_sparse(&store.profile))
        };
        self.ends.clear();
        self.entries.clear();
        self.codes.clear();
        store
    }
}

impl Staging {
    fn pack_dense(&self, rows: usize, profile: &Profile) -> Dense {
        let width = self.width;
        let kind = profile.dense_kind();
        let mut values =
            Values::zeros(kind, rows * width, profile.table(), profile.dense_tens(width));
        let tens = &values.tens;
        match &mut values.codes {
            Codes::Ones(_) => {}
            Codes::Table8(codes) => self.scatter(codes, |k, _| self.codes[k]),
            Codes::Int32(codes) => {
                self.scatter(codes, |_, e| integer_code(e.value, tens[e.column as usize]));
            }
            Codes::F32(codes) => self.scatter(codes, |_, entry| entry.value as f32),
            Codes::F64(codes) => self.scatter(codes, |_, entry| entry.value),
        }
        Dense { rows, width, values }
    }

    /// Puts the code of every entry at its place in dense rows.
    #[inline(always)]
    fn scatter<T>(&self, codes: &mut [T], code: impl Fn(usize, &Entry) -> T) {
        let mut start = 0;
        for (row, &end) in codes.chunks_exact_mut(self.width.max(1)).zip(&self.ends) {
            for (k, entry) in self.entries[start..end].iter().enumerate() {
                row[entry.column as usize] = code(start + k, entry);
            }
            start = end;
        }
    }

    fn pack_sparse(&self, profile: &Profile) -> Sparse {
        let kind = profile.sparse_kind();
        let mut offsets = Offsets::new();
        let mut start = 0;
        for &end in &self.ends {
            offsets.push(end - start);
            start = end;
        }
        let entries = &self.entries;
        let mut values = Values::zeros(Kind::Ones, 0, profile.table(), profile.sparse_tens());
        values.codes = match kind {
            Kind::Ones => Codes::Ones(entries.len()),
            Kind::Table8 => Codes::Table8(self.codes.clone().into()),
            Kind::Int32 => {
                let tens = values.tens[0];
                Codes::Int32(entries.iter().map(|e| integer_code(e.value, tens)).collect())
            }
            Kind::F32 => Codes::F32(entries.iter().map(|e| e.value as f32).collect()),
            Kind::F64 => Codes::F64(entries.iter().map(|e| e.value).collect()),
        };
        Sparse { offsets, indices: entries.iter().map(|e| e.column).collect(), values }
    }
}
