//! The two storages: dense rows and compressed sparse rows, behind one small trait.

use super::kernel;
use super::values::{Codes, Values};

/// Rows that an engine can walk over. Implemented by [`Dense`] and [`Sparse`] only.
pub(crate) trait Rows: Sync {
    /// A decoded row.
    type Row<'a>: Row
    where
        Self: 'a;

    /// Number of rows.
    fn len(&self) -> usize;

    /// row · w, straight from the codes.
    fn dot(&self, row: usize, w: &[f64]) -> f64;

    /// The row with its values decoded into `scratch` where they are not plain already.
    fn row<'a>(&'a self, row: usize, scratch: &'a mut Vec<f64>) -> Self::Row<'a>;
}

/// One decoded row.
pub(crate) trait Row: Copy {
    /// row · w.
    fn dot(&self, w: &[f64]) -> f64;
    /// w += a · row.
    fn add_to(&self, a: f64, w: &mut [f64]);
    /// w_j += (a · scale_j) · row_j.
    fn add_scaled_to(&self, a: f64, scale: &[f64], w: &mut [f64]);
    /// Calls `each` with every non-zero entry in rising order of the column.
    fn for_each(&self, each: impl FnMut(u32, f64));
}

/// Rows one after the other, every column present.
#[derive(Clone, Debug)]
pub(crate) struct Dense {
    pub(crate) rows: usize,
    pub(crate) width: usize,
    pub(crate) values: Values,
}

/// Rows as lists of the non-zero columns.
#[derive(Clone, Debug)]
pub(crate) struct Sparse {
    pub(crate) offsets: Offsets,
    pub(crate) indices: Vec<u32>,
    pub(crate) values: Values,
}

/// Where each sparse row starts: 64 bits for each 4,096 rows and 32 bits for each row, so that a
/// row costs 4 bytes and the number of entries has no limit of 2^32.
#[derive(Clone, Debug)]
pub(crate) struct Offsets {
    base: Vec<u64>,
    relative: Vec<u32>,
}

const OFFSET_BLOCK: usize = 4096;

impl Offsets {
    pub(crate) fn new() -> Offsets {
        Offsets { base: vec![0], relative: vec![0] }
    }

    pub(crate) fn rows(&self) -> usize {
        self.relative.len() - 1
    }

    /// Ends the next row after `len` more entries. Saturates only beyond 2^32 entries in one block
    /// of rows, which the limits on a record rule out.
    pub(crate) fn push(&mut self, len: usize) {
        let end = (self.start(self.rows()) + len) as u64;
        if self.relative.len().is_multiple_of(OFFSET_BLOCK) {
            self.base.push(end);
            self.relative.push(0);
        } else {
            let base = self.base[self.base.len() - 1];
            self.relative.push(u32::try_from(end - base).unwrap_or(u32::MAX));
        }
    }

    #[inline]
    pub(crate) fn start(&self, row: usize) -> usize {
        (self.base[row / OFFSET_BLOCK] + u64::from(self.relative[row])) as usize
    }

    #[inline]
    pub(crate) fn range(&self, row: usize) -> std::ops::Range<usize> {
        self.start(row)..self.start(row + 1)
    }

    pub(crate) fn append(&mut self, other: &Offsets) {
        for row in 0..other.rows() {
            self.push(other.range(row).len());
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        (8 * self.base.len() + 4 * self.relative.len()) as u64
    }
}

impl Values {
    fn table(&self) -> &[f64; 256] {
        // Table codes always come with a full table.
        self.table.as_slice().try_into().unwrap_or(&[0.0; 256])
    }

    /// The values at `range`, decoded into `scratch` unless they are stored as they are.
    pub(super) fn load<'a>(
        &'a self,
        range: std::ops::Range<usize>,
        scratch: &'a mut Vec<f64>,
    ) -> &'a [f64] {
        if let Codes::F64(values) = &self.codes {
            return &values[range];
        }
        scratch.resize(range.len(), 0.0);
        match &self.codes {
            Codes::Ones(_) => scratch.fill(1.0),
            Codes::Table8(codes) => kernel::load_table8(&codes[range], self.table(), scratch),
            Codes::Int32(codes) => kernel::load_int32(&codes[range], &self.tens, scratch),
            Codes::F32(values) => kernel::load_f32(&values[range], scratch),
            Codes::F64(_) => {}
        }
        scratch
    }
}

impl Rows for Dense {
    type Row<'a> = DenseRow<'a>;

    fn len(&self) -> usize {
        self.rows
    }

    #[inline]
    fn dot(&self, row: usize, w: &[f64]) -> f64 {
        let range = row * self.width..(row + 1) * self.width;
        let values = &self.values;
        match &values.codes {
            Codes::Table8(codes) => kernel::dot_table8(&codes[range], values.table(), w),
            Codes::Int32(codes) if values.whole => kernel::dot_whole(&codes[range], w),
            Codes::Int32(codes) => kernel::dot_decimal(&codes[range], &values.tens, w),
            Codes::F32(codes) => kernel::dot_f32(&codes[range], w),
            Codes::F64(codes) => kernel::dot_f64(&codes[range], w),
            Codes::Ones(_) => w[..self.width].iter().sum(),
        }
    }

    fn row<'a>(&'a self, row: usize, scratch: &'a mut Vec<f64>) -> DenseRow<'a> {
        DenseRow(self.values.load(row * self.width..(row + 1) * self.width, scratch))
    }
}

impl Rows for Sparse {
    type Row<'a> = SparseRow<'a>;

    fn len(&self) -> usize {
        self.offsets.rows()
    }

    #[inline]
    fn dot(&self, row: usize, w: &[f64]) -> f64 {
        let range = self.offsets.range(row);
        let indices = &self.indices[range.clone()];
        let values = &self.values;
        match &values.codes {
            Codes::Ones(_) => kernel::dot_sparse_ones(indices, w),
            Codes::Table8(codes) => {
                kernel::dot_sparse_table8(indices, &codes[range], values.table(), w)
            }
            Codes::Int32(codes) => {
                kernel::dot_sparse_int32(indices, &codes[range], values.tens[0], w)
            }
            Codes::F32(codes) => kernel::dot_sparse_f32(indices, &codes[range], w),
            Codes::F64(codes) => kernel::dot_sparse_f64(indices, &codes[range], w),
        }
    }

    fn row<'a>(&'a self, row: usize, scratch: &'a mut Vec<f64>) -> SparseRow<'a> {
        let range = self.offsets.range(row);
        SparseRow {
            indices: &self.indices[range.clone()],
            values: self.values.load(range, scratch),
        }
    }
}

/// A decoded dense row.
#[derive(Clone, Copy)]
pub(crate) struct DenseRow<'a>(&'a [f64]);

/// A decoded sparse row.
#[derive(Clone, Copy)]
pub(crate) struct SparseRow<'a> {
    indices: &'a [u32],
    values: &'a [f64],
}

impl Row for DenseRow<'_> {
    fn dot(&self, w: &[f64]) -> f64 {
        kernel::dot_f64(self.0, w)
    }

    fn add_to(&self, a: f64, w: &mut [f64]) {
        kernel::axpy_dense(a, self.0, w);
    }

    fn add_scaled_to(&self, a: f64, scale: &[f64], w: &mut [f64]) {
        kernel::axpy_dense_scaled(a, scale, self.0, w);
    }

    fn for_each(&self, mut each: impl FnMut(u32, f64)) {
        for (j, &value) in self.0.iter().enumerate() {
            if value != 0.0 {
                each(j as u32, value);
            }
        }
    }
}

impl Row for SparseRow<'_> {
    fn dot(&self, w: &[f64]) -> f64 {
        kernel::dot_sparse_f64(self.indices, self.values, w)
    }

    fn add_to(&self, a: f64, w: &mut [f64]) {
        kernel::axpy_sparse(a, self.indices, self.values, w);
    }

    fn add_scaled_to(&self, a: f64, scale: &[f64], w: &mut [f64]) {
        kernel::axpy_sparse_scaled(a, scale, self.indices, self.values, w);
    }

    fn for_each(&self, mut each: impl FnMut(u32, f64)) {
        for (&index, &value) in self.indices.iter().zip(self.values) {
            each(index, value);
        }
    }
}
