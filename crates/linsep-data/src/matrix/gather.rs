//! Products with rows for optimisers, straight from the codes.
//!
//! A code means code/10^k; the divisors are folded into the weights once for a pass instead of being
//! divided by at every value: with ŵ_j = w_j/10^{k_j}, x·w = code·ŵ, and a sum of rows is a sum of
//! codes that is folded at its end. That rounds otherwise than the values themselves, which is fine
//! for what is only proposed. Terms of sparse rows go to four sums in the order in which they are
//! stored, so dense and sparse storage may differ in the last bits.

use super::values::{Codes, Values};
use super::{Dense, Sparse, kernel};

/// Rows that optimisers can walk over.
pub trait CodeRows: Sync {
    /// ŵ, or a sum of rows out of a sum of codes.
    fn fold(&self, w: &[f64]) -> Vec<f64>;
    /// codes · ŵ = x · w.
    fn code_dot(&self, row: usize, folded: &[f64]) -> f64;
    /// sum += a · codes.
    fn code_add(&self, row: usize, a: f64, sum: &mut [f64]);
    /// sum_j += a · step_j · code_j.
    fn code_add_scaled(&self, row: usize, a: f64, steps: &[f64], sum: &mut [f64]);
    /// Counts the columns in which a row has an entry.
    fn count(&self, row: usize, counts: &mut [u32]);
    /// Columns and values of a row that are not 0.
    fn entries(&self, row: usize, columns: &mut Vec<u32>, values: &mut Vec<f64>);
    /// Adds what a row has in some columns: places among them and values.
    fn entries_among(
        &self,
        row: usize,
        chosen: &Chosen,
        places: &mut Vec<u32>,
        values: &mut Vec<f64>,
    );
}

/// Some columns, in ascending order.
pub struct Chosen {
    columns: Vec<u32>,
    /// The place of each column among them; 0 where it is not one of them.
    places: Vec<u32>,
    /// Whether a column is one of them, bit by bit: small enough to stay in the nearest cache.
    bits: Vec<u64>,
}

impl Chosen {
    pub fn new(columns: Vec<u32>, width: usize) -> Chosen {
        let (mut places, mut bits) = (vec![0; width], vec![0; width.div_ceil(64)]);
        for (place, &column) in (0..).zip(&columns) {
            places[column as usize] = place;
            bits[column as usize / 64] |= 1 << (column % 64);
        }
        Chosen { columns, places, bits }
    }

    pub fn count(&self) -> usize {
        self.columns.len()
    }

    #[inline]
    fn has(&self, column: u32) -> bool {
        self.bits[column as usize / 64] >> (column % 64) & 1 == 1
    }
}

fn fold(values: &Values, w: &[f64]) -> Vec<f64> {
    match &values.codes {
        Codes::Int32(_) if !values.whole => {
            let tens = values.tens.iter().cycle();
            w.iter().zip(tens).map(|(w, ten)| w / ten).collect()
        }
        _ => w.to_vec(),
    }
}

/// The code at a position, as a number.
#[inline]
fn code(values: &Values, position: usize) -> f64 {
    match &values.codes {
        Codes::Int32(codes) => f64::from(codes[position]),
        _ => values.at(position),
    }
}

/// Σ value_k · w[index_k].
#[inline(always)]
fn gather(indices: &[u32], w: &[f64], value: impl Fn(usize) -> f64) -> f64 {
    let mut sums = [0.0; 4];
    let (fours, rest) = indices.as_chunks::<4>();
    for (block, four) in fours.iter().enumerate() {
        for lane in 0..4 {
            sums[lane] += value(4 * block + lane) * w[four[lane] as usize];
        }
    }
    let start = indices.len() - rest.len();
    for (lane, &index) in rest.iter().enumerate() {
        sums[lane] += value(start + lane) * w[index as usize];
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}

/// w[index_k] += a · value_k.
#[inline(always)]
fn scatter(indices: &[u32], a: f64, w: &mut [f64], value: impl Fn(usize) -> f64) {
    for (k, &index) in indices.iter().enumerate() {
        w[index as usize] += a * value(k);
    }
}

impl CodeRows for Dense {
    fn fold(&self, w: &[f64]) -> Vec<f64> {
        fold(&self.values, w)
    }

    #[inline]
    fn code_dot(&self, row: usize, w: &[f64]) -> f64 {
        let range = row * self.width..(row + 1) * self.width;
        match &self.values.codes {
            Codes::Ones(_) => w[..self.width].iter().sum(),
            Codes::Table8(codes) => kernel::dot_table8(&codes[range], self.values.table(), w),
            Codes::Int32(codes) => kernel::dot_whole(&codes[range], w),
            Codes::F32(codes) => kernel::dot_f32(&codes[range], w),
            Codes::F64(codes) => kernel::dot_f64(&codes[range], w),
        }
    }

    #[inline]
    fn code_add(&self, row: usize, a: f64, sum: &mut [f64]) {
        let range = row * self.width..(row + 1) * self.width;
        match &self.values.codes {
            Codes::Ones(_) => sum.iter_mut().for_each(|s| *s += a),
            Codes::Table8(codes) => {
                kernel::axpy_table8(a, &codes[range], self.values.table(), sum);
            }
            Codes::Int32(codes) => kernel::add_whole(a, &codes[range], sum),
            Codes::F32(codes) => kernel::add_f32(a, &codes[range], sum),
            Codes::F64(codes) => kernel::axpy_dense(a, &codes[range], sum),
        }
    }

    #[inline]
    fn code_add_scaled(&self, row: usize, a: f64, steps: &[f64], sum: &mut [f64]) {
        for (j, (sum, step)) in sum.iter_mut().zip(steps).enumerate() {
            *sum += a * step * code(&self.values, row * self.width + j);
        }
    }

    #[inline]
    fn count(&self, row: usize, counts: &mut [u32]) {
        for (column, count) in counts.iter_mut().enumerate().take(self.width) {
            *count += u32::from(self.values.at(row * self.width + column) != 0.0);
        }
    }

    #[inline]
    fn entries(&self, row: usize, columns: &mut Vec<u32>, values: &mut Vec<f64>) {
        columns.clear();
        values.clear();
        for column in 0..self.width {
            let value = self.values.at(row * self.width + column);
            if value != 0.0 {
                columns.push(column as u32);
                values.push(value);
            }
        }
    }

    fn entries_among(
        &self,
        row: usize,
        chosen: &Chosen,
        places: &mut Vec<u32>,
        values: &mut Vec<f64>,
    ) {
        for (place, &column) in (0..).zip(&chosen.columns) {
            let value = self.values.at(row * self.width + column as usize);
            if value != 0.0 {
                places.push(place);
                values.push(value);
            }
        }
    }
}

impl CodeRows for Sparse {
    fn fold(&self, w: &[f64]) -> Vec<f64> {
        fold(&self.values, w)
    }

    #[inline]
    fn code_dot(&self, row: usize, w: &[f64]) -> f64 {
        let range = self.offsets.range(row);
        let indices = &self.indices[range.clone()];
        match &self.values.codes {
            Codes::Ones(_) => gather(indices, w, |_| 1.0),
            Codes::Table8(codes) => {
                let (codes, table) = (&codes[range], self.values.table());
                gather(indices, w, |k| table[usize::from(codes[k])])
            }
            Codes::Int32(codes) => {
                let codes = &codes[range];
                gather(indices, w, |k| f64::from(codes[k]))
            }
            Codes::F32(codes) => {
                let codes = &codes[range];
                gather(indices, w, |k| f64::from(codes[k]))
            }
            Codes::F64(codes) => {
                let codes = &codes[range];
                gather(indices, w, |k| codes[k])
            }
        }
    }

    #[inline]
    fn code_add(&self, row: usize, a: f64, sum: &mut [f64]) {
        let range = self.offsets.range(row);
        let indices = &self.indices[range.clone()];
        match &self.values.codes {
            Codes::Ones(_) => scatter(indices, a, sum, |_| 1.0),
            Codes::Table8(codes) => {
                let (codes, table) = (&codes[range], self.values.table());
                scatter(indices, a, sum, |k| table[usize::from(codes[k])]);
            }
            Codes::Int32(codes) => {
                let codes = &codes[range];
                scatter(indices, a, sum, |k| f64::from(codes[k]));
            }
            Codes::F32(codes) => {
                let codes = &codes[range];
                scatter(indices, a, sum, |k| f64::from(codes[k]));
            }
            Codes::F64(codes) => {
                let codes = &codes[range];
                scatter(indices, a, sum, |k| codes[k]);
            }
        }
    }

    #[inline]
    fn code_add_scaled(&self, row: usize, a: f64, steps: &[f64], sum: &mut [f64]) {
        for position in self.offsets.range(row) {
            let j = self.indices[position] as usize;
            sum[j] += a * steps[j] * code(&self.values, position);
        }
    }

    #[inline]
    fn count(&self, row: usize, counts: &mut [u32]) {
        let columns = &self.indices[self.offsets.range(row)];
        columns.iter().for_each(|column| counts[*column as usize] += 1);
    }

    #[inline]
    fn entries(&self, row: usize, columns: &mut Vec<u32>, values: &mut Vec<f64>) {
        let range = self.offsets.range(row);
        columns.clear();
        columns.extend_from_slice(&self.indices[range.clone()]);
        values.clear();
        match &self.values.codes {
            Codes::Ones(_) => values.resize(range.len(), 1.0),
            _ => values.extend(range.map(|p| self.values.at(p))),
        }
    }

    fn entries_among(
        &self,
        row: usize,
        chosen: &Chosen,
        places: &mut Vec<u32>,
        values: &mut Vec<f64>,
    ) {
        let range = self.offsets.range(row);
        let (start, indices) = (range.start, &self.indices[range]);
        // Which entries are wanted is hard to foretell, so all are written and the wanted ones kept.
        let first = places.len();
        places.resize(first + indices.len(), 0);
        let hits = &mut places[first..];
        let mut count = 0;
        for (at, &column) in indices.iter().enumerate() {
            hits[count] = at as u32;
            count += usize::from(chosen.has(column));
        }
        places.truncate(first + count);
        values.extend(places[first..].iter().map(|at| self.values.at(start + *at as usize)));
        for at in &mut places[first..] {
            *at = chosen.places[indices[*at as usize] as usize];
        }
    }
}
