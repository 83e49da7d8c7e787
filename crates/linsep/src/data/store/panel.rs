//! Rows against many planes at once.
//!
//! The weights of K planes stand column by column: a line of K numbers, filled up with zeros to a
//! multiple of eight, for each column. A row's scores on all planes are one sweep over its non-zero
//! values, each of which meets one contiguous line; adding a row to all planes is the same sweep. A
//! score is the sum of the terms of even places and that of odd places, in their order, so every CPU
//! gives the same bits.
//!
//! Rows are decoded as they are met, each value times a unit of its column.

use super::values::{Codes, Values};
use super::{Dense, Sparse, kernel};
use std::ops::{Add, AddAssign, Div, Mul, Sub};

/// binary32 or binary64.
pub(crate) trait Real:
    Copy
    + Send
    + Sync
    + PartialOrd
    + Add<Output = Self>
    + AddAssign
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + 'static
{
    const ZERO: Self;
    const ONE: Self;
    /// What is no more than rounding, for numbers about 1.
    const FINE: Self;

    fn of(number: f64) -> Self;
    fn value(self) -> f64;
    /// The shortest share from 0 to 1 that is as good as this one.
    fn share(self) -> f64;
    /// scores += Σ value · line of the column.
    fn add_scores(columns: &[u32], values: &[Self], lines: &[Self], scores: &mut [Self]);
    /// line of the column += value · factors, for every value.
    fn add_row(columns: &[u32], values: &[Self], factors: &[Self], lines: &mut [Self]);
}

impl Real for f32 {
    const ZERO: f32 = 0.0;
    const ONE: f32 = 1.0;
    const FINE: f32 = 2e-6;

    fn of(number: f64) -> f32 {
        number as f32
    }

    fn value(self) -> f64 {
        f64::from(self)
    }

    fn share(self) -> f64 {
        (f64::from(self) * 1e7).round() / 1e7
    }

    fn add_scores(columns: &[u32], values: &[f32], lines: &[f32], scores: &mut [f32]) {
        kernel::panel_scores_f32(columns, values, lines, scores);
    }

    fn add_row(columns: &[u32], values: &[f32], factors: &[f32], lines: &mut [f32]) {
        kernel::panel_add_f32(columns, values, factors, lines);
    }
}

impl Real for f64 {
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;
    const FINE: f64 = 1e-13;

    fn of(number: f64) -> f64 {
        number
    }

    fn value(self) -> f64 {
        self
    }

    fn share(self) -> f64 {
        self
    }

    fn add_scores(columns: &[u32], values: &[f64], lines: &[f64], scores: &mut [f64]) {
        kernel::panel_scores_f64(columns, values, lines, scores);
    }

    fn add_row(columns: &[u32], values: &[f64], factors: &[f64], lines: &mut [f64]) {
        kernel::panel_add_f64(columns, values, factors, lines);
    }
}

/// Numbers in a line for so many planes.
pub(crate) fn stride(planes: usize) -> usize {
    planes.next_multiple_of(LANES)
}

const LANES: usize = 8;

/// The body of the kernels of scores; `most` blocks of eight are summed up at a time.
#[inline(always)]
pub(super) fn scores<T: Real>(
    columns: &[u32],
    values: &[T],
    lines: &[T],
    scores: &mut [T],
    most: usize,
) {
    let stride = scores.len();
    let mut first = 0;
    while first < stride {
        let blocks = ((stride - first) / LANES).clamp(1, most);
        let part = &mut scores[first..first + blocks * LANES];
        match blocks {
            1 => sweep::<T, 1>(columns, values, lines, stride, first, part),
            2 => sweep::<T, 2>(columns, values, lines, stride, first, part),
            3 => sweep::<T, 3>(columns, values, lines, stride, first, part),
            _ => sweep::<T, 4>(columns, values, lines, stride, first, part),
        }
        first += blocks * LANES;
    }
}

#[inline(always)]
fn sweep<T: Real, const B: usize>(
    columns: &[u32],
    values: &[T],
    lines: &[T],
    stride: usize,
    first: usize,
    scores: &mut [T],
) {
    let mut sums = [[[T::ZERO; LANES]; B]; 2];
    let add = |sum: &mut [[T; LANES]; B], column: u32, value: T| {
        let line = &lines[column as usize * stride + first..][..B * LANES];
        let (line, _) = line.as_chunks::<LANES>();
        for block in 0..B {
            for lane in 0..LANES {
                sum[block][lane] += value * line[block][lane];
            }
        }
    };
    let (pairs, last) = columns.as_chunks::<2>();
    let (value_pairs, last_value) = values[..columns.len()].as_chunks::<2>();
    for (pair, value) in pairs.iter().zip(value_pairs) {
        add(&mut sums[0], pair[0], value[0]);
        add(&mut sums[1], pair[1], value[1]);
    }
    for (column, value) in last.iter().zip(last_value) {
        add(&mut sums[0], *column, *value);
    }
    let (scores, _) = scores.as_chunks_mut::<LANES>();
    for block in 0..B {
        for lane in 0..LANES {
            scores[block][lane] += sums[0][block][lane] + sums[1][block][lane];
        }
    }
}

/// The body of the kernels of sums. Blocks of eight whose factors are all 0 are left alone.
#[inline(always)]
pub(super) fn add_rows<T: Real>(columns: &[u32], values: &[T], factors: &[T], lines: &mut [T]) {
    let stride = factors.len();
    let (blocks, _) = factors.as_chunks::<LANES>();
    for (block, factors) in blocks.iter().enumerate() {
        if factors.iter().all(|factor| *factor == T::ZERO) {
            continue;
        }
        for (&column, &value) in columns.iter().zip(values) {
            let line = &mut lines[column as usize * stride + block * LANES..][..LANES];
            for lane in 0..LANES {
                line[lane] += value * factors[lane];
            }
        }
    }
}

/// How codes become numbers.
pub(crate) struct Decoder<T> {
    /// One factor for all columns, or one for each.
    units: Vec<T>,
    table: Vec<T>,
}

/// Where a decoded row is put.
pub(crate) struct Scratch<T> {
    columns: Vec<u32>,
    values: Vec<T>,
}

impl<T> Scratch<T> {
    pub(crate) fn new() -> Scratch<T> {
        Scratch { columns: Vec::new(), values: Vec::new() }
    }
}

/// Rows that can be decoded to their non-zero values.
pub(crate) trait PanelRows: super::CodeRows {
    fn values(&self) -> &Values;

    /// A decoder of values times a factor for each column.
    fn decoder<T: Real>(&self, factors: &[f64]) -> Decoder<T> {
        let units = self.fold(factors);
        let alike = units.windows(2).all(|pair| pair[0] == pair[1]);
        let count = if alike { units.len().min(1) } else { units.len() };
        Decoder {
            units: units[..count].iter().map(|unit| T::of(*unit)).collect(),
            table: self.values().table.iter().map(|value| T::of(*value)).collect(),
        }
    }

    /// Columns and values of a row that are not 0; sparse rows may hold zeros.
    fn decode<'a, T: Real>(
        &'a self,
        row: usize,
        decoder: &Decoder<T>,
        scratch: &'a mut Scratch<T>,
    ) -> (&'a [u32], &'a [T]);
}

/// Puts down the values that are not 0, without a branch for each.
#[inline(always)]
fn compact<T: Real, C: Copy>(
    codes: &[C],
    is_zero: impl Fn(C) -> bool,
    scratch: &mut Scratch<T>,
    number: impl Fn(usize, C) -> T,
) -> usize {
    scratch.columns.resize(codes.len(), 0);
    scratch.values.resize(codes.len(), T::ZERO);
    let (columns, values) = (&mut scratch.columns[..], &mut scratch.values[..]);
    let mut count = 0;
    for (place, part) in codes.chunks(LANES).enumerate() {
        if part.iter().all(|code| is_zero(*code)) {
            continue;
        }
        for (lane, &code) in part.iter().enumerate() {
            let column = place * LANES + lane;
            columns[count] = column as u32;
            values[count] = number(column, code);
            count += usize::from(!is_zero(code));
        }
    }
    count
}

impl PanelRows for Dense {
    fn values(&self) -> &Values {
        &self.values
    }

    fn decode<'a, T: Real>(
        &'a self,
        row: usize,
        decoder: &Decoder<T>,
        scratch: &'a mut Scratch<T>,
    ) -> (&'a [u32], &'a [T]) {
        let range = row * self.width..(row + 1) * self.width;
        let units = &decoder.units;
        let unit = |column: usize| match units.len() {
            1 => units[0],
            _ => units[column],
        };
        let count = match &self.values.codes {
            Codes::Ones(_) => {
                compact(&vec![1u8; self.width], |_| false, scratch, |column, _| unit(column))
            }
            Codes::Table8(codes) => {
                let table = &decoder.table[..256];
                let number = |column, code: u8| table[usize::from(code)] * unit(column);
                compact(&codes[range], |code| code == 0, scratch, number)
            }
            Codes::Int32(codes) => {
                let number = |column, code: i32| T::of(f64::from(code)) * unit(column);
                compact(&codes[range], |code| code == 0, scratch, number)
            }
            Codes::F32(codes) => {
                let number = |column, code: f32| T::of(f64::from(code)) * unit(column);
                compact(&codes[range], |code| code == 0.0, scratch, number)
            }
            Codes::F64(codes) => {
                let number = |column, code: f64| T::of(code) * unit(column);
                compact(&codes[range], |code| code == 0.0, scratch, number)
            }
        };
        (&scratch.columns[..count], &scratch.values[..count])
    }
}

impl PanelRows for Sparse {
    fn values(&self) -> &Values {
        &self.values
    }

    fn decode<'a, T: Real>(
        &'a self,
        row: usize,
        decoder: &Decoder<T>,
        scratch: &'a mut Scratch<T>,
    ) -> (&'a [u32], &'a [T]) {
        let range = self.offsets.range(row);
        let columns = &self.indices[range.clone()];
        let values = &mut scratch.values;
        values.clear();
        match &self.values.codes {
            Codes::Ones(_) => values.resize(columns.len(), T::ONE),
            Codes::Table8(codes) => {
                let table = &decoder.table[..256];
                values.extend(codes[range].iter().map(|code| table[usize::from(*code)]));
            }
            Codes::Int32(codes) => {
                values.extend(codes[range].iter().map(|code| T::of(f64::from(*code))));
            }
            Codes::F32(codes) => {
                values.extend(codes[range].iter().map(|code| T::of(f64::from(*code))));
            }
            Codes::F64(codes) => values.extend(codes[range].iter().map(|code| T::of(*code))),
        }
        match decoder.units[..] {
            [] => {}
            [unit] => values.iter_mut().for_each(|value| *value = *value * unit),
            _ => {
                for (value, column) in values.iter_mut().zip(columns) {
                    *value = *value * decoder.units[*column as usize];
                }
            }
        }
        (columns, &scratch.values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_is_the_sum_of_its_terms() {
        for planes in [1, 8, 10, 20, 33, 70] {
            let stride = stride(planes);
            let number = |k: usize| ((k * 7919 % 101) as f64 - 50.0) / 8.0;
            let lines: Vec<f64> = (0..9 * stride).map(number).collect();
            let (columns, values) = ([0u32, 3, 4, 8, 7], [0.5, -2.0, 4.0, 1.0, 0.25]);
            let mut found = vec![1.0; stride];
            f64::add_scores(&columns, &values, &lines, &mut found);
            let narrow: Vec<f32> = lines.iter().map(|x| *x as f32).collect();
            let mut single = vec![1.0; stride];
            f32::add_scores(&columns, &values.map(|x| x as f32), &narrow, &mut single);
            for k in 0..stride {
                let term = |(j, v): (&u32, &f64)| v * lines[*j as usize * stride + k];
                let expected = 1.0 + columns.iter().zip(&values).map(term).sum::<f64>();
                assert_eq!((found[k], f64::from(single[k])), (expected, expected));
            }
            let mut sums = lines.clone();
            let mut factors = vec![0.0; stride];
            factors[planes - 1] = 2.0;
            f64::add_row(&columns, &values, &factors, &mut sums);
            for (place, (sum, before)) in sums.iter().zip(&lines).enumerate() {
                let value = columns.iter().position(|j| *j as usize == place / stride);
                let moved = value.filter(|_| place % stride == planes - 1);
                assert_eq!(*sum, before + moved.map_or(0.0, |at| 2.0 * values[at]));
            }
        }
    }
}
