//! Where a parser puts the rows of one block of text: non-zero entries as they come, nothing
//! allocated for a field. A finished block is packed into the narrowest [`Store`].

use super::offsets::Offsets;
use super::profile::{Entries, Profile, Slots, power_of_ten};
use super::rows::{Dense, Sparse};
use super::values::{Codes, Kind, Values, integer_code};
use super::{Planes, Products, Shape, Store};

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

/// Rows as lists of entries, columns apart from values. Buffers are kept for the next block.
#[derive(Debug)]
pub struct Staging {
    ends: Vec<usize>,
    /// How many entries there are. The lists are longer: what stands behind them is room.
    len: usize,
    columns: Vec<u32>,
    /// The values, before packing still to be divided by 10^places.
    values: Vec<f64>,
    /// Decimal places.
    places: Vec<u8>,
    /// Entries that are not to be divided, and their values.
    finals: Vec<(usize, f64)>,
    codes: Vec<u8>,
    slots: Slots,
    width: usize,
}

/// Room for entries of the open row: columns that rise, numbers and the places of the point in them.
pub struct Room<'a> {
    pub columns: &'a mut [u32],
    pub values: &'a mut [f64],
    pub places: &'a mut [u8],
}

impl Staging {
    /// Empty; `width` is the least number of columns.
    pub fn new(width: usize) -> Staging {
        Staging {
            ends: Vec::new(),
            len: 0,
            columns: Vec::new(),
            values: Vec::new(),
            places: Vec::new(),
            finals: Vec::new(),
            codes: Vec::new(),
            slots: Slots::default(),
            width,
        }
    }

    /// Room for `count` entries behind those that are there; [`Staging::keep`] makes entries of them.
    #[inline]
    pub fn room(&mut self, count: usize) -> Room<'_> {
        let end = self.len + count;
        if self.columns.len() < end {
            self.grow(end);
        }
        let range = self.len..end;
        Room {
            columns: &mut self.columns[range.clone()],
            values: &mut self.values[range.clone()],
            places: &mut self.places[range],
        }
    }

    /// Keeps the first `count` entries of the room.
    #[inline]
    pub fn keep(&mut self, count: usize) {
        self.len += count;
    }

    /// The entry `at` of the room has this value, which is not to be divided.
    pub fn set(&mut self, at: usize, value: f64, places: u8) {
        let at = self.len + at;
        (self.values[at], self.places[at]) = (value, places);
        self.finals.push((at, value));
    }

    /// Leaves out entries of the open row for which `column` has no new number.
    pub fn sift(&mut self, column: impl Fn(u32, f64) -> Option<u32>) {
        let start = self.row_start();
        let mut kept = start;
        let first_final = self.finals.partition_point(|(at, _)| *at < start);
        let mut finals = self.finals.split_off(first_final).into_iter().peekable();
        for at in start..self.len {
            let value = finals.next_if(|(place, _)| *place == at);
            let Some(column) = column(self.columns[at], self.values[at]) else { continue };
            self.columns[kept] = column;
            (self.values[kept], self.places[kept]) = (self.values[at], self.places[at]);
            self.finals.extend(value.map(|(_, value)| (kept, value)));
            kept += 1;
        }
        self.len = kept;
    }

    /// The columns of the open row.
    pub fn open_columns(&self) -> &[u32] {
        &self.columns[self.row_start()..self.len]
    }

    /// Leaves out all entries of the open row but the first `count`.
    pub fn cut(&mut self, count: usize) {
        self.len = self.row_start() + count;
        let kept = self.finals.partition_point(|(at, _)| *at < self.len);
        self.finals.truncate(kept);
    }

    fn row_start(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    #[cold]
    fn grow(&mut self, end: usize) {
        let end = (2 * end).max(1 << 10);
        self.columns.resize(end, 0);
        self.values.resize(end, 0.0);
        self.places.resize(end, 0);
    }
}

impl Stage for Staging {
    fn begin(&mut self, width: usize) {
        self.drop_row();
        self.width = width;
    }

    #[inline]
    fn push(&mut self, column: u32, value: f64, places: u8) {
        if value != 0.0 {
            let room = self.room(1);
            room.columns[0] = column;
            self.set(0, value, places);
            self.keep(1);
        }
    }

    #[inline]
    fn push_decimal(&mut self, column: u32, whole: i64, places: u8) {
        if whole != 0 {
            let room = self.room(1);
            (room.columns[0], room.values[0], room.places[0]) = (column, whole as f64, places);
            self.keep(1);
        }
    }

    #[inline]
    fn end_row(&mut self) {
        if let Some(last) = self.open_columns().last() {
            self.width = self.width.max(*last as usize + 1);
        }
        self.ends.push(self.len);
    }

    fn drop_row(&mut self) {
        self.cut(0);
    }

    fn rows(&self) -> usize {
        self.ends.len()
    }

    fn pack(&mut self) -> Store {
        let rows = self.rows();
        self.drop_row();
        let (values, places) = (&mut self.values[..self.len], &self.places[..self.len]);
        for (value, places) in values.iter_mut().zip(places) {
            *value /= power_of_ten(*places);
        }
        self.finals.iter().for_each(|(at, value)| values[*at] = *value);
        let entries = Entries { columns: &self.columns[..self.len], values, places };
        let mut profile = Profile::new();
        profile.see(entries, self.width, &mut self.codes, &mut self.slots);
        let mut store = Store::shell(rows, self.width, self.len as u64, profile);
        store.shape = if store.prefers_dense() {
            Shape::Dense(self.pack_dense(rows, &store.profile))
        } else {
            Shape::Sparse(self.pack_sparse(&store.profile))
        };
        self.clear();
        store
    }
}

impl Staging {
    /// Appends the products of the finished rows with planes, row by row, and is empty again. Rows that are
    /// only scored are never packed. The store that comes back has their number and nothing else.
    pub fn score(&mut self, planes: Planes<'_>, room: &mut Products, out: &mut Vec<f64>) -> Store {
        let rows = self.rows();
        self.drop_row();
        if room.sums.len() != planes.count {
            *room = Products::of(planes.count);
        }
        out.reserve_exact(rows * planes.count);
        let mut finals = self.finals.iter().peekable();
        let mut start = 0;
        for &end in &self.ends {
            let values = &mut self.values[start..end];
            for (value, places) in values.iter_mut().zip(&self.places[start..end]) {
                *value /= power_of_ten(*places);
            }
            while let Some((at, value)) = finals.next_if(|(at, _)| *at < end) {
                values[*at - start] = *value;
            }
            (planes.products)(&self.columns[start..end], values, room);
            out.extend_from_slice(&room.sums);
            start = end;
        }
        self.clear();
        Store::shell(rows, self.width, 0, Profile::new())
    }

    fn clear(&mut self) {
        self.ends.clear();
        self.len = 0;
        self.finals.clear();
        self.codes.clear();
    }

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
                self.scatter(codes, |k, column| integer_code(self.values[k], tens[column]));
            }
            Codes::F32(codes) => self.scatter(codes, |k, _| self.values[k] as f32),
            Codes::F64(codes) => self.scatter(codes, |k, _| self.values[k]),
        }
        Dense { rows, width, values }
    }

    /// Puts the code of every entry at its place in dense rows.
    #[inline(always)]
    fn scatter<T>(&self, codes: &mut [T], code: impl Fn(usize, usize) -> T) {
        let mut start = 0;
        for (row, &end) in codes.chunks_exact_mut(self.width.max(1)).zip(&self.ends) {
            for (k, &column) in (start..).zip(&self.columns[start..end]) {
                row[column as usize] = code(k, column as usize);
            }
            start = end;
        }
    }

    fn pack_sparse(&self, profile: &Profile) -> Sparse {
        let kind = profile.sparse_kind();
        let mut offsets = Offsets::with_capacity(self.ends.len());
        let mut start = 0;
        for &end in &self.ends {
            offsets.push(end - start);
            start = end;
        }
        let entries = &self.values[..self.len];
        let mut values = Values::zeros(Kind::Ones, 0, profile.table(), profile.sparse_tens());
        values.codes = match kind {
            Kind::Ones => Codes::Ones(entries.len()),
            Kind::Table8 => Codes::Table8(self.codes.clone().into()),
            Kind::Int32 => {
                let tens = values.tens[0];
                Codes::Int32(entries.iter().map(|&value| integer_code(value, tens)).collect())
            }
            Kind::F32 => Codes::F32(entries.iter().map(|&value| value as f32).collect()),
            Kind::F64 => Codes::F64(entries.to_vec().into()),
        };
        Sparse { offsets, indices: self.columns[..self.len].to_vec().into(), values }
    }
}
