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
use kernel::LANES;
pub use kernel::panel::{Aligned, Real, stride};

/// How codes become numbers.
pub struct Decoder<T> {
    /// One factor for all columns, or one for each.
    units: Vec<T>,
    table: Vec<T>,
}

/// Where a decoded row is put.
pub struct Scratch<T> {
    columns: Vec<u32>,
    values: Vec<T>,
}

impl<T> Scratch<T> {
    #[inline]
    pub fn new() -> Scratch<T> {
        Scratch { columns: Vec::new(), values: Vec::new() }
    }
}

/// Rows that can be decoded to their non-zero values.
pub trait PanelRows: super::CodeRows {
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
    #[inline]
    fn values(&self) -> &Values {
        &self.values
    }

    #[inline]
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
    #[inline]
    fn values(&self) -> &Values {
        &self.values
    }

    #[inline]
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
