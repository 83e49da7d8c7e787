//! The two storages: dense rows and compressed sparse rows, behind one small trait.

use super::bundle::{Bundle, Products};
use super::kernel;
use super::offsets::Offsets;
use super::values::{Codes, Values};
use crate::buffer::Buffer;
use linsep_proof::Entries;

/// Rows that an engine can walk over. Implemented by [`Dense`] and [`Sparse`] only.
pub trait Rows: Sync {
    /// A decoded row.
    type Row<'a>: Row
    where
        Self: 'a;

    /// Whether rows hold every column.
    const IS_DENSE: bool;

    /// Number of rows.
    fn len(&self) -> usize;

    /// row · w, straight from the codes.
    fn dot(&self, row: usize, w: &[f64]) -> f64;

    /// row · w of several planes, with one look at the row: of a dense row four at a time, of a sparse
    /// one from the bundle of the planes, if there is one. The products are left in `out`.
    fn dot_all<'w>(
        &self,
        row: usize,
        plane: impl Fn(usize) -> &'w [f64],
        bundle: Option<&Bundle>,
        out: &mut Products,
    );

    /// The row with its values decoded into `scratch` where they are not plain already.
    fn row<'a>(&'a self, row: usize, scratch: &'a mut Vec<f64>) -> Self::Row<'a>;

    /// w_j += a · row_j, or (a · scale_j) · row_j where there are scales.
    #[inline]
    fn add_to(
        &self,
        row: usize,
        a: f64,
        scale: Option<&[f64]>,
        w: &mut [f64],
        scratch: &mut Vec<f64>,
    ) {
        match scale {
            None => self.row(row, scratch).add_to(a, w),
            Some(scale) => self.row(row, scratch).add_scaled_to(a, scale, w),
        }
    }

    /// Asks the memory where a row stands that will be visited before long.
    fn prefetch_place(&self, _row: usize) {}

    /// Asks the memory for a row that will be visited soon.
    fn prefetch(&self, row: usize);

    /// Asks the memory for the weights that a row needs soon, if they are far apart: `stride` numbers
    /// for each column.
    fn prefetch_weights(&self, _row: usize, _w: &[f64], _stride: usize) {}
}

/// Weights beyond this are not in the cache of a core by themselves.
const NEAR_WEIGHTS: usize = 1 << 15;

/// One decoded row.
pub trait Row: Copy {
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
pub struct Dense {
    pub rows: usize,
    pub width: usize,
    pub values: Values,
}

/// Rows as lists of the non-zero columns.
#[derive(Clone, Debug)]
pub struct Sparse {
    pub offsets: Offsets,
    pub indices: Buffer<u32>,
    pub values: Values,
}

impl Values {
    #[inline]
    pub(super) fn table(&self) -> &[f64; 256] {
        // Table codes always come with a full table.
        self.table.as_slice().try_into().unwrap_or(&[0.0; 256])
    }

    #[inline]
    fn prefetch(&self, range: std::ops::Range<usize>) {
        match &self.codes {
            Codes::Ones(_) => {}
            Codes::Table8(codes) => kernel::prefetch(&codes[range]),
            Codes::Int32(codes) => kernel::prefetch(&codes[range]),
            Codes::F32(values) => kernel::prefetch(&values[range]),
            Codes::F64(values) => kernel::prefetch(&values[range]),
        }
    }

    /// The values at `range`, decoded into `scratch` unless they are stored as they are.
    #[inline]
    pub(super) fn load<'a>(
        &'a self,
        range: std::ops::Range<usize>,
        scratch: &'a mut Vec<f64>,
    ) -> &'a [f64] {
        if let Codes::F64(values) = &self.codes {
            return &values[range];
        }
        self.load_into(range, scratch);
        scratch
    }

    /// The values at `range`, decoded.
    #[inline]
    fn load_into(&self, range: std::ops::Range<usize>, out: &mut Vec<f64>) {
        out.resize(range.len(), 0.0);
        match &self.codes {
            Codes::Ones(_) => out.fill(1.0),
            Codes::Table8(codes) => kernel::load_table8(&codes[range], self.table(), out),
            // Whole numbers are their codes.
            Codes::Int32(codes) if self.whole => {
                out.iter_mut().zip(&codes[range]).for_each(|(x, code)| *x = f64::from(*code));
            }
            Codes::Int32(codes) => match self.ten {
                Some(ten) => kernel::load_decimal(&codes[range], ten, out),
                None => kernel::load_decimals(&codes[range], &self.tens, out),
            },
            Codes::F32(values) => kernel::load_f32(&values[range], out),
            Codes::F64(values) => out.copy_from_slice(&values[range]),
        }
    }
}

impl Dense {
    /// All values of a row, or with `columns` the entries that are not 0.
    #[inline]
    pub fn load(&self, row: usize, columns: Option<&mut Vec<u32>>, values: &mut Vec<f64>) {
        let range = row * self.width..(row + 1) * self.width;
        let Some(columns) = columns else {
            return self.values.load_into(range, values);
        };
        if let Codes::Table8(codes) = &self.values.codes {
            values.clear();
            return kernel::nonzeros_table8(&codes[range], self.values.table(), columns, values);
        }
        self.values.load_into(range, values);
        let mut kept = 0;
        for column in 0..values.len() {
            let value = values[column];
            if value != 0.0 {
                values[kept] = value;
                columns.push(column as u32);
                kept += 1;
            }
        }
        values.truncate(kept);
    }
}

impl Sparse {
    /// The entries of a row.
    #[inline]
    pub fn load(&self, row: usize, columns: &mut Vec<u32>, values: &mut Vec<f64>) {
        let range = self.offsets.range(row);
        columns.extend_from_slice(&self.indices[range.clone()]);
        self.values.load_into(range, values);
    }
}

impl Rows for Dense {
    type Row<'a> = DenseRow<'a>;

    const IS_DENSE: bool = true;

    #[inline]
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
            Codes::Int32(codes) => match values.ten {
                Some(ten) => kernel::dot_decimal(&codes[range], ten, w),
                None => kernel::dot_decimals(&codes[range], &values.tens, w),
            },
            Codes::F32(codes) => kernel::dot_f32(&codes[range], w),
            Codes::F64(codes) => kernel::dot_f64(&codes[range], w),
            Codes::Ones(_) => w[..self.width].iter().sum(),
        }
    }

    #[inline]
    fn dot_all<'w>(
        &self,
        row: usize,
        plane: impl Fn(usize) -> &'w [f64],
        _: Option<&Bundle>,
        out: &mut Products,
    ) {
        let mut scratch = std::mem::take(&mut out.scratch);
        out.dense(self.row(row, &mut scratch).0, plane);
        out.scratch = scratch;
    }

    #[inline]
    fn row<'a>(&'a self, row: usize, scratch: &'a mut Vec<f64>) -> DenseRow<'a> {
        DenseRow(self.values.load(row * self.width..(row + 1) * self.width, scratch))
    }

    #[inline]
    fn add_to(
        &self,
        row: usize,
        a: f64,
        scale: Option<&[f64]>,
        w: &mut [f64],
        scratch: &mut Vec<f64>,
    ) {
        let range = row * self.width..(row + 1) * self.width;
        match (&self.values.codes, scale) {
            (Codes::Table8(codes), None) => {
                kernel::axpy_table8(a, &codes[range], self.values.table(), w);
            }
            (Codes::Table8(codes), Some(scale)) => {
                kernel::axpy_table8_scaled(a, scale, &codes[range], self.values.table(), w);
            }
            (_, None) => self.row(row, scratch).add_to(a, w),
            (_, Some(scale)) => self.row(row, scratch).add_scaled_to(a, scale, w),
        }
    }

    #[inline]
    fn prefetch(&self, row: usize) {
        self.values.prefetch(row * self.width..(row + 1) * self.width);
    }
}

impl Rows for Sparse {
    type Row<'a> = SparseRow<'a>;

    const IS_DENSE: bool = false;

    #[inline]
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

    #[inline]
    fn dot_all<'w>(
        &self,
        row: usize,
        plane: impl Fn(usize) -> &'w [f64],
        bundle: Option<&Bundle>,
        out: &mut Products,
    ) {
        let mut scratch = std::mem::take(&mut out.scratch);
        let SparseRow { indices, values } = self.row(row, &mut scratch);
        out.sparse(indices, values, plane, bundle);
        out.scratch = scratch;
    }

    #[inline]
    fn row<'a>(&'a self, row: usize, scratch: &'a mut Vec<f64>) -> SparseRow<'a> {
        let range = self.offsets.range(row);
        SparseRow {
            indices: &self.indices[range.clone()],
            values: self.values.load(range, scratch),
        }
    }

    #[inline]
    fn prefetch_place(&self, row: usize) {
        kernel::prefetch(&self.offsets.relative[row..=row]);
    }

    #[inline]
    fn prefetch(&self, row: usize) {
        let range = self.offsets.range(row);
        kernel::prefetch(&self.indices[range.clone()]);
        self.values.prefetch(range);
    }

    #[inline]
    fn prefetch_weights(&self, row: usize, w: &[f64], stride: usize) {
        if w.len() > NEAR_WEIGHTS {
            kernel::prefetch_at(&self.indices[self.offsets.range(row)], w, stride);
        }
    }
}

/// A decoded dense row.
#[derive(Clone, Copy)]
pub struct DenseRow<'a>(&'a [f64]);

/// A decoded sparse row.
#[derive(Clone, Copy)]
pub struct SparseRow<'a> {
    indices: &'a [u32],
    values: &'a [f64],
}

impl<'a> DenseRow<'a> {
    #[inline]
    pub fn entries(self) -> Entries<'a> {
        Entries::Dense(self.0)
    }

    /// All values of the row.
    #[inline]
    pub fn values(self) -> &'a [f64] {
        self.0
    }
}

impl<'a> SparseRow<'a> {
    #[inline]
    pub fn entries(self) -> Entries<'a> {
        Entries::Sparse(self.indices, self.values)
    }
}

impl Row for DenseRow<'_> {
    #[inline]
    fn dot(&self, w: &[f64]) -> f64 {
        kernel::dot_f64(self.0, w)
    }

    #[inline]
    fn add_to(&self, a: f64, w: &mut [f64]) {
        kernel::axpy_dense(a, self.0, w);
    }

    #[inline]
    fn add_scaled_to(&self, a: f64, scale: &[f64], w: &mut [f64]) {
        kernel::axpy_dense_scaled(a, scale, self.0, w);
    }

    #[inline]
    fn for_each(&self, mut each: impl FnMut(u32, f64)) {
        for (j, &value) in self.0.iter().enumerate() {
            if value != 0.0 {
                each(j as u32, value);
            }
        }
    }
}

impl Row for SparseRow<'_> {
    #[inline]
    fn dot(&self, w: &[f64]) -> f64 {
        kernel::dot_sparse_f64(self.indices, self.values, w)
    }

    #[inline]
    fn add_to(&self, a: f64, w: &mut [f64]) {
        kernel::axpy_sparse(a, self.indices, self.values, w);
    }

    #[inline]
    fn add_scaled_to(&self, a: f64, scale: &[f64], w: &mut [f64]) {
        kernel::axpy_sparse_scaled(a, scale, self.indices, self.values, w);
    }

    #[inline]
    fn for_each(&self, mut each: impl FnMut(u32, f64)) {
        for (&index, &value) in self.indices.iter().zip(self.values) {
            each(index, value);
        }
    }
}
