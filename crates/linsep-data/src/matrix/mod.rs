//! Rows in memory: dense or compressed sparse, each value in the narrowest exact encoding.
//!
//! Both choices follow from the values alone (number of rows, columns, non-zeros and the
//! [`profile`]), never from the file format, so the same table is held in the same way from any
//! file. Dense rows win while they cost at most one and a half times the bytes of sparse ones,
//! because a dense pass needs no index.

pub mod bundle;
pub(crate) mod decimals;
mod gather;
pub mod layouts;
pub mod offsets;
pub mod panel;
pub mod profile;
pub mod rows;
pub mod staging;
pub mod table;
pub mod values;

pub use bundle::{Bundle, Planes, Products};
pub use gather::{Chosen, CodeRows};
pub use layouts::{Layout, LayoutKey, Layouts, RowCopies};
pub use linsep_kernels as kernel;
pub use offsets::Offsets;
pub use rows::{Dense, Row, Rows, Sparse};
pub use staging::{Stage, Staging};
pub use table::{OpenRow, TableStaging};
pub use values::Kind;

use crate::buffer::Buffer;
use profile::Profile;
use values::{Codes, Values};

/// All rows of a data set, or of a block of one.
#[derive(Clone, Debug)]
pub struct Store {
    pub shape: Shape,
    pub(crate) profile: Profile,
    rows: usize,
    width: usize,
    nonzeros: u64,
    /// The number of rows at which the choice between dense and sparse is looked at again.
    next_look: usize,
}

/// Dense or sparse.
#[derive(Clone, Debug)]
pub enum Shape {
    Dense(Dense),
    Sparse(Sparse),
}

/// Runs `$body` with `$rows` bound to the concrete storage: the one place where an engine branches.
#[macro_export]
#[doc(hidden)]
macro_rules! with_rows {
    ($store:expr, $rows:ident => $body:expr) => {
        match &$store.shape {
            $crate::matrix::Shape::Dense($rows) => $body,
            $crate::matrix::Shape::Sparse($rows) => $body,
        }
    };
}
pub use crate::with_rows;

impl Store {
    /// No rows.
    pub fn empty() -> Store {
        Store::shell(0, 0, 0, Profile::new())
    }

    /// A store of the given size whose rows are still to be put in.
    pub(crate) fn shell(rows: usize, width: usize, nonzeros: u64, profile: Profile) -> Store {
        let values = Values::zeros(Kind::Ones, 0, Vec::new(), vec![1.0]);
        let shape =
            Shape::Sparse(Sparse { offsets: Offsets::new(), indices: Buffer::new(), values });
        Store { shape, profile, rows, width, nonzeros, next_look: 2 * rows }
    }

    #[inline]
    pub fn rows(&self) -> usize {
        self.rows
    }

    #[inline]
    pub fn width(&self) -> usize {
        self.width
    }

    #[inline]
    pub fn nonzeros(&self) -> u64 {
        self.nonzeros
    }

    #[inline]
    pub fn is_dense(&self) -> bool {
        matches!(self.shape, Shape::Dense(_))
    }

    /// The encoding of the values.
    #[inline]
    pub fn kind(&self) -> Kind {
        match &self.shape {
            Shape::Dense(dense) => dense.values.kind(),
            Shape::Sparse(sparse) => sparse.values.kind(),
        }
    }

    /// Bytes that the rows take: values, indices and row starts.
    pub fn bytes(&self) -> u64 {
        match &self.shape {
            Shape::Dense(dense) => dense.values.len() as u64 * dense.values.kind().bytes(),
            Shape::Sparse(sparse) => {
                sparse.indices.len() as u64 * (4 + sparse.values.kind().bytes())
                    + sparse.offsets.bytes()
            }
        }
    }

    /// Those of them that are in temporary files.
    pub fn file_bytes(&self) -> u64 {
        match &self.shape {
            Shape::Dense(dense) => dense.values.file_bytes(),
            Shape::Sparse(sparse) => sparse.indices.file_bytes() + sparse.values.file_bytes(),
        }
    }

    /// Those of them that are in memory.
    pub fn memory_bytes(&self) -> u64 {
        self.bytes() - self.file_bytes()
    }

    /// No value has a larger magnitude.
    pub fn largest(&self) -> f64 {
        match &self.shape {
            Shape::Dense(dense) => dense.values.largest(),
            Shape::Sparse(sparse) => sparse.values.largest(),
        }
    }

    /// For each column a bound on the magnitude of its values, unless there are very many.
    pub fn largest_by_column(&self) -> Option<Vec<f64>> {
        self.profile.largest_by_column(self.width)
    }

    /// Values that the rows hold: all of them when dense, the non-zero ones when sparse.
    #[inline]
    pub fn held_values(&self) -> u64 {
        if self.is_dense() { self.rows as u64 * self.width as u64 } else { self.nonzeros }
    }

    /// The most decimal places in a column (of all columns, where there are very many).
    pub fn places(&self, column: usize) -> u8 {
        self.profile.places(column)
    }

    /// Whether any value may be below 0.
    pub fn has_negative(&self) -> bool {
        match &self.shape {
            Shape::Dense(dense) => dense.values.has_negative(),
            Shape::Sparse(sparse) => sparse.values.has_negative(),
        }
    }

    /// Whether dense rows are the right choice for these values.
    pub(crate) fn prefers_dense(&self) -> bool {
        let dense = self.rows as f64 * self.width as f64 * self.profile.dense_kind().bytes() as f64;
        let sparse = self.nonzeros as f64 * (4 + self.profile.sparse_kind().bytes()) as f64
            + 4.0 * self.rows as f64;
        dense <= 1.5 * sparse
    }

    /// Calls `each` with the non-zero entries of a row.
    #[inline]
    pub fn for_each(&self, row: usize, scratch: &mut Vec<f64>, each: impl FnMut(u32, f64)) {
        crate::cancel::check();
        with_rows!(self, rows => rows.row(row, scratch).for_each(each));
    }

    /// Like [`Store::for_each`], straight from the codes and without a buffer.
    #[inline]
    pub fn for_each_entry(&self, row: usize, each: &mut dyn FnMut(u32, f64)) {
        match &self.shape {
            Shape::Dense(dense) => {
                for column in 0..dense.width {
                    let value = dense.values.at(row * dense.width + column);
                    if value != 0.0 {
                        each(column as u32, value);
                    }
                }
            }
            Shape::Sparse(sparse) => {
                for position in sparse.offsets.range(row) {
                    each(sparse.indices[position], sparse.values.at(position));
                }
            }
        }
    }

    /// Calls `each` with the column of every value that is not 0, row by row.
    pub(crate) fn for_each_column(&self, mut each: impl FnMut(u32)) {
        match &self.shape {
            Shape::Sparse(sparse) => sparse.indices.iter().for_each(|column| each(*column)),
            Shape::Dense(dense) => {
                let mut scratch = Vec::new();
                (0..dense.rows).for_each(|row| {
                    dense.row(row, &mut scratch).for_each(|column, _| each(column))
                });
            }
        }
    }

    /// A row as the checker of proofs reads it, decoded into `scratch` unless it is stored as it is.
    #[inline]
    pub fn entries<'a>(
        &'a self,
        row: usize,
        scratch: &'a mut Vec<f64>,
    ) -> linsep_proof::Entries<'a> {
        with_rows!(self, rows => rows.row(row, scratch).entries())
    }

    /// The entries of a row that are not 0, or all its values without columns where most are not 0.
    #[inline]
    pub fn load(&self, row: usize, columns: &mut Vec<u32>, values: &mut Vec<f64>) {
        columns.clear();
        match &self.shape {
            Shape::Dense(dense) => {
                let mostly_zeros = 2 * self.nonzeros < self.rows as u64 * self.width as u64;
                dense.load(row, mostly_zeros.then_some(columns), values);
            }
            Shape::Sparse(sparse) => sparse.load(row, columns, values),
        }
    }

    /// The numbers of a dense row, if it is held as decimals and mostly not 0.
    #[inline]
    pub fn decimals(&self, row: usize) -> Option<linsep_proof::Decimals<'_>> {
        let Shape::Dense(dense) = &self.shape else { return None };
        let Codes::Int32(codes) = &dense.values.codes else { return None };
        if 2 * self.nonzeros < self.rows as u64 * self.width as u64 {
            return None;
        }
        let numbers = &codes[row * dense.width..(row + 1) * dense.width];
        let tens = match &dense.values.ten {
            Some(ten) => std::slice::from_ref(ten),
            None => dense.values.tens.as_slice(),
        };
        Some(linsep_proof::Decimals::new(numbers, tens))
    }

    /// row · w.
    #[cfg(test)]
    fn dot(&self, row: usize, w: &[f64]) -> f64 {
        with_rows!(self, rows => rows.dot(row, w))
    }

    /// Makes room for so many times the entries that there are, where a guess may ask for that much.
    pub(crate) fn expect(&mut self, times: f64) {
        match &mut self.shape {
            Shape::Dense(dense) => dense.values.expect(times),
            Shape::Sparse(sparse) => {
                sparse.values.expect(times);
                sparse.indices.expect(times);
            }
        }
    }

    /// Adds the rows of `other` below.
    pub fn append(&mut self, mut other: Store) {
        if self.rows == 0 {
            other.widen_to(self.width);
            *self = other;
            self.profile.spread();
            return;
        }
        if other.rows == 0 {
            self.widen_to(other.width);
            return;
        }
        let width = self.width.max(other.width);
        self.widen_to(width);
        other.widen_to(width);
        if self.is_dense() != other.is_dense() {
            other.change_shape();
        }
        let translation = self.profile.merge(&other.profile);
        self.rows += other.rows;
        self.nonzeros += other.nonzeros;
        let profile = &mut self.profile;
        match (&mut self.shape, &other.shape) {
            (Shape::Dense(mine), Shape::Dense(theirs)) => {
                mine.values.widen(profile.dense_kind(), profile.dense_tens(width), profile);
                mine.values.append(&theirs.values, translation.as_ref(), profile);
                mine.rows += theirs.rows;
            }
            (Shape::Sparse(mine), Shape::Sparse(theirs)) => {
                mine.values.widen(profile.sparse_kind(), profile.sparse_tens(), profile);
                mine.values.append(&theirs.values, translation.as_ref(), profile);
                mine.offsets.append(&theirs.offsets);
                mine.indices.extend_from_slice(&theirs.indices);
            }
            _ => debug_assert!(false, "both sides have the same shape by now"),
        }
        if self.rows >= self.next_look {
            self.next_look = 2 * self.rows;
            self.settle();
        }
    }

    /// Makes the final choice between dense and sparse and gives back spare memory.
    pub fn finish(&mut self) {
        self.settle();
        match &mut self.shape {
            Shape::Dense(dense) => dense.values.trim(),
            Shape::Sparse(sparse) => {
                sparse.values.trim();
                sparse.indices.shrink_to_fit();
            }
        }
    }

    /// Columns that are zero everywhere are added on the right up to `width`.
    pub fn widen_to(&mut self, width: usize) {
        if width <= self.width {
            return;
        }
        if let Shape::Dense(dense) = &mut self.shape {
            dense.values.restride(dense.rows, dense.width, width);
            dense.width = width;
        }
        self.width = width;
    }

    fn settle(&mut self) {
        if self.prefers_dense() != self.is_dense() {
            self.change_shape();
        }
    }

    /// Turns dense rows into sparse ones or the other way round.
    pub fn change_shape(&mut self) {
        let nothing = Store::shell(0, 0, 0, Profile::new()).shape;
        let profile = &mut self.profile;
        self.shape = match std::mem::replace(&mut self.shape, nothing) {
            Shape::Dense(dense) => Shape::Sparse(to_sparse(&dense, profile)),
            Shape::Sparse(sparse) => Shape::Dense(to_dense(sparse, self.width, profile)),
        };
    }
}

fn to_sparse(dense: &Dense, profile: &mut Profile) -> Sparse {
    const AT_ONCE: usize = 1 << 16;
    let mut scratch = Vec::new();
    let mut offsets = Offsets::new();
    let mut indices = Buffer::new();
    let mut values =
        Values::zeros(profile.sparse_kind(), 0, profile.table(), profile.sparse_tens());
    let (mut some_columns, mut some_values) = (Vec::new(), Vec::new());
    for row in 0..dense.rows {
        let before = some_columns.len();
        dense.row(row, &mut scratch).for_each(|j, value| {
            some_columns.push(j);
            some_values.push(value);
        });
        offsets.push(some_columns.len() - before);
        if some_columns.len() >= AT_ONCE || row + 1 == dense.rows {
            indices.extend_from_slice(&some_columns);
            values.push_all(&some_values, profile);
            some_columns.clear();
            some_values.clear();
        }
    }
    Sparse { offsets, indices, values }
}

/// Goes from the last row to the first and frees the sparse rows behind it, so that both forms are
/// never in memory as a whole.
fn to_dense(mut sparse: Sparse, width: usize, profile: &mut Profile) -> Dense {
    const FREE_EVERY: usize = 1 << 20;
    let rows = sparse.len();
    let mut values = Values::zeros(
        profile.dense_kind(),
        rows * width,
        profile.table(),
        profile.dense_tens(width),
    );
    for row in (0..rows).rev() {
        let range = sparse.offsets.range(row);
        for k in range.clone() {
            values.set(row * width + sparse.indices[k] as usize, sparse.values.at(k), profile);
        }
        if sparse.indices.len() - range.start > FREE_EVERY {
            sparse.indices.truncate(range.start);
            sparse.values.resize(range.start);
        }
    }
    Dense { rows, width, values }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    /// A random table in which `density` of the values are not zero.
    fn table(
        rows: usize,
        width: usize,
        density: f64,
        seed: u64,
        draw: Draw,
    ) -> Vec<Vec<(f64, u8)>> {
        let mut stream = Stream::new(seed, Purpose::Generate(9));
        let mut row = || {
            (0..width)
                .map(|_| if stream.unit() < density { draw(&mut stream) } else { (0.0, 0) })
                .collect()
        };
        (0..rows).map(|_| row()).collect()
    }

    fn pack(table: &[Vec<(f64, u8)>], width: usize) -> Store {
        let mut staging = Staging::new(width);
        for row in table {
            for (j, &(value, places)) in row.iter().enumerate() {
                staging.push(j as u32, value, places);
            }
            staging.end_row();
        }
        staging.pack()
    }

    fn assert_holds(store: &Store, table: &[Vec<(f64, u8)>]) {
        assert_eq!(store.rows(), table.len());
        let mut scratch = Vec::new();
        for (i, row) in table.iter().enumerate() {
            let mut found = vec![0.0; row.len()];
            store.for_each(i, &mut scratch, |j, value| found[j as usize] = value);
            let expected: Vec<f64> = row.iter().map(|&(value, _)| value).collect();
            assert_eq!(found, expected, "row {i}");
            let mut proof = vec![0.0; row.len()];
            match store.entries(i, &mut scratch) {
                linsep_proof::Entries::Dense(values) => proof.copy_from_slice(values),
                linsep_proof::Entries::Sparse(columns, values) => {
                    let pairs = columns.iter().zip(values);
                    pairs.for_each(|(j, value)| proof[*j as usize] = *value);
                }
            }
            assert_eq!(proof, expected, "row {i} as the checker reads it");
        }
    }

    /// Draws a value with its decimal places.
    type Draw = fn(&mut Stream) -> (f64, u8);

    const DRAWS: [Draw; 5] = [
        |_| (1.0, 0),
        |s| (s.below(40) as f64 - 20.0, 0),
        |s| (s.below(100_000) as f64 / 1000.0, 3),
        |s| (f64::from(s.normal() as f32), profile::NO_PLACES),
        |s| (s.normal(), profile::NO_PLACES),
    ];

    #[test]
    fn blocks_put_together_hold_the_same_as_one_block() {
        for (d, draw) in DRAWS.into_iter().enumerate() {
            for density in [0.03, 0.9] {
                let table = table(157, 23, density, d as u64, draw);
                let mut whole = pack(&table, 23);
                whole.finish();
                assert_holds(&whole, &table);
                for size in [1, 10, 50] {
                    let mut parts = Store::empty();
                    for block in table.chunks(size) {
                        parts.append(pack(block, 0));
                    }
                    parts.widen_to(23);
                    parts.finish();
                    assert_eq!(parts.is_dense(), whole.is_dense());
                    assert_eq!(parts.kind(), whole.kind());
                    assert_eq!(parts.bytes(), whole.bytes());
                    assert_holds(&parts, &table);
                }
            }
        }
    }

    #[test]
    fn dense_and_sparse_rows_give_the_same_bits() {
        let mut stream = Stream::new(5, Purpose::Generate(1));
        let w: Vec<f64> = (0..23).map(|_| stream.normal()).collect();
        for (d, draw) in DRAWS.into_iter().enumerate() {
            let table = table(60, 23, 0.4, d as u64, draw);
            let store = pack(&table, 23);
            let mut other = store.clone();
            other.change_shape();
            assert_ne!(store.is_dense(), other.is_dense());
            assert_holds(&other, &table);
            for i in 0..60 {
                assert_eq!(store.dot(i, &w).to_bits(), other.dot(i, &w).to_bits());
            }
        }
    }

    #[test]
    fn row_starts_pass_the_block_size() {
        let mut offsets = Offsets::new();
        (0..10_000).for_each(|i| offsets.push(i % 3));
        let mut expected = 0;
        for i in 0..10_000 {
            assert_eq!(offsets.range(i), expected..expected + i % 3);
            expected += i % 3;
        }
    }

    #[test]
    fn values_move_from_kind_to_kind_without_loss() {
        let mut store = Store::empty();
        let mut all = Vec::new();
        for (d, draw) in DRAWS.into_iter().enumerate() {
            let block = table(40, 7, 0.8, d as u64, draw);
            store.append(pack(&block, 7));
            all.extend(block);
            assert_holds(&store, &all);
        }
        assert_eq!(store.kind(), Kind::F64);
    }
}
