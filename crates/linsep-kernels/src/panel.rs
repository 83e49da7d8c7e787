//! Rows against many planes at once.
//!
//! The weights of K planes stand column by column: a line of K numbers, filled up with zeros to a
//! multiple of eight, for each column. A row's scores on all planes are one sweep over its non-zero
//! values, each of which meets one contiguous line; adding a row to all planes is the same sweep. A
//! score is the sum of two or four sums, by the number of planes, which take the terms in turn, so every
//! CPU gives the same bits.

use std::ops::{Add, AddAssign, Deref, DerefMut, Div, Mul, Sub};

/// binary32 or binary64.
pub trait Real:
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
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// What is no more than rounding, for numbers about 1.
    const FINE: Self;

    /// The nearest number of this type.
    fn of(number: f64) -> Self;
    /// The same number as binary64.
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

    #[inline]
    fn of(number: f64) -> f32 {
        number as f32
    }

    #[inline]
    fn value(self) -> f64 {
        f64::from(self)
    }

    #[inline]
    fn share(self) -> f64 {
        (f64::from(self) * 1e7).round() / 1e7
    }

    fn add_scores(columns: &[u32], values: &[f32], lines: &[f32], scores: &mut [f32]) {
        crate::panel_scores_f32(columns, values, lines, scores);
    }

    fn add_row(columns: &[u32], values: &[f32], factors: &[f32], lines: &mut [f32]) {
        crate::panel_add_f32(columns, values, factors, lines);
    }
}

impl Real for f64 {
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;
    const FINE: f64 = 1e-13;

    #[inline]
    fn of(number: f64) -> f64 {
        number
    }

    #[inline]
    fn value(self) -> f64 {
        self
    }

    #[inline]
    fn share(self) -> f64 {
        self
    }

    fn add_scores(columns: &[u32], values: &[f64], lines: &[f64], scores: &mut [f64]) {
        crate::panel_scores_f64(columns, values, lines, scores);
    }

    fn add_row(columns: &[u32], values: &[f64], factors: &[f64], lines: &mut [f64]) {
        crate::panel_add_f64(columns, values, factors, lines);
    }
}

/// Lines that begin where a line of the cache does, so that no line of 64 bytes lies in two of them.
pub struct Aligned<T> {
    numbers: Vec<T>,
    start: usize,
    count: usize,
}

impl<T: Real> Aligned<T> {
    /// So many zeros.
    pub fn zeros(count: usize) -> Aligned<T> {
        const LINE: usize = 64;
        let room = LINE / size_of::<T>();
        let numbers = vec![T::ZERO; count + room];
        // Where it cannot be told, nothing is lost but time.
        let start = numbers.as_ptr().align_offset(LINE).min(room);
        Aligned { numbers, start, count }
    }
}

impl<T> Deref for Aligned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.numbers[self.start..self.start + self.count]
    }
}

impl<T> DerefMut for Aligned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.numbers[self.start..self.start + self.count]
    }
}

/// Numbers in a line for so many planes.
pub fn stride(planes: usize) -> usize {
    planes.next_multiple_of(LANES)
}

const LANES: usize = 8;

/// The body of the kernels of scores: as many lanes at a time as registers hold the sums of. A number of
/// binary64 takes the place of two.
#[inline(always)]
pub(crate) fn scores<T: Real>(columns: &[u32], values: &[T], lines: &[T], scores: &mut [T]) {
    let stride = scores.len();
    let is_short = size_of::<T>() == size_of::<f32>();
    let mut first = 0;
    while first < stride {
        let part = &mut scores[first..];
        first += match (part.len(), is_short) {
            (32.., true) => sweep::<T, 32, 2>(columns, values, lines, stride, first, part),
            (16.., true) => sweep::<T, 16, 4>(columns, values, lines, stride, first, part),
            (16.., false) => sweep::<T, 16, 2>(columns, values, lines, stride, first, part),
            _ => sweep::<T, LANES, 4>(columns, values, lines, stride, first, part),
        };
    }
}

/// Adds the scores of N planes, in C sums each that do not wait for each other; gives back N.
#[inline(always)]
fn sweep<T: Real, const N: usize, const C: usize>(
    columns: &[u32],
    values: &[T],
    lines: &[T],
    stride: usize,
    first: usize,
    scores: &mut [T],
) -> usize {
    let mut sums = [[T::ZERO; N]; C];
    let (groups, last) = columns.as_chunks::<C>();
    let (value_groups, last_values) = values[..columns.len()].as_chunks::<C>();
    for (columns, values) in groups.iter().zip(value_groups) {
        for chain in 0..C {
            let line = line_of::<T, N>(lines, columns[chain] as usize * stride + first);
            for lane in 0..N {
                sums[chain][lane] += values[chain] * line[lane];
            }
        }
    }
    for (chain, (column, value)) in last.iter().zip(last_values).enumerate() {
        let line = line_of::<T, N>(lines, *column as usize * stride + first);
        for lane in 0..N {
            sums[chain][lane] += *value * line[lane];
        }
    }
    for lane in 0..N {
        let mut total = sums[0][lane] + sums[1][lane];
        if C == 4 {
            total += sums[C - 2][lane] + sums[C - 1][lane];
        }
        scores[lane] += total;
    }
    N
}

#[inline(always)]
fn line_of<T: Real, const N: usize>(lines: &[T], start: usize) -> &[T; N] {
    let (line, _) = lines[start..start + N].as_chunks::<N>();
    &line[0]
}

/// The body of the kernels of sums. Blocks of eight whose factors are all 0 are left alone; up to four
/// others are added with one look at the row.
#[inline(always)]
pub(crate) fn add_rows<T: Real>(columns: &[u32], values: &[T], factors: &[T], lines: &mut [T]) {
    let stride = factors.len();
    let (blocks, _) = factors.as_chunks::<LANES>();
    let counts = |block: &[T; LANES]| block.iter().any(|factor| *factor != T::ZERO);
    let mut first = 0;
    while first < blocks.len() {
        let run = blocks[first..].iter().take(4).take_while(|block| counts(block)).count();
        let at = first * LANES;
        match run {
            0 => {}
            1 => add::<T, 8>(columns, values, factors, lines, stride, at),
            2 => add::<T, 16>(columns, values, factors, lines, stride, at),
            3 => add::<T, 24>(columns, values, factors, lines, stride, at),
            _ => add::<T, 32>(columns, values, factors, lines, stride, at),
        }
        first += run.max(1);
    }
}

#[inline(always)]
fn add<T: Real, const N: usize>(
    columns: &[u32],
    values: &[T],
    factors: &[T],
    lines: &mut [T],
    stride: usize,
    first: usize,
) {
    let factors = *line_of::<T, N>(factors, first);
    for (&column, &value) in columns.iter().zip(values) {
        let start = column as usize * stride + first;
        let (line, _) = lines[start..start + N].as_chunks_mut::<N>();
        for lane in 0..N {
            line[0][lane] += value * factors[lane];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two or four sums that take the terms in turn, to the last bit, whatever registers the kernels use.
    fn check<T: Real + std::fmt::Debug>(chains_of: impl Fn(usize, usize) -> usize) {
        let columns: Vec<u32> = (0..41).map(|k| k * 5 % 83).collect();
        let number = |k: usize| T::of((k as f64 * 0.37).sin());
        let values: Vec<T> = (0..41).map(number).collect();
        for stride in [8, 16, 24, 32, 40, 56] {
            let mut lines: Vec<T> = (0..83 * stride).map(|k| number(k + 9)).collect();
            let mut scores = vec![T::ONE; stride];
            T::add_scores(&columns, &values, &lines, &mut scores);
            for (lane, score) in scores.iter().enumerate() {
                let mut sums = [T::ZERO; 4];
                let chains = chains_of(stride, lane);
                for (k, (&column, &value)) in columns.iter().zip(&values).enumerate() {
                    sums[k % chains] += value * lines[column as usize * stride + lane];
                }
                let mut total = sums[0] + sums[1];
                if chains == 4 {
                    total += sums[2] + sums[3];
                }
                assert_eq!(*score, T::ONE + total, "{stride} {lane}");
            }
            let factor = |lane: usize| if lane / 8 == 1 { T::ZERO } else { number(lane + 3) };
            let factors: Vec<T> = (0..stride).map(factor).collect();
            let mut expected = lines.clone();
            for (&column, &value) in columns.iter().zip(&values) {
                for (lane, &factor) in factors.iter().enumerate() {
                    expected[column as usize * stride + lane] += value * factor;
                }
            }
            T::add_row(&columns, &values, &factors, &mut lines);
            assert_eq!(lines, expected, "{stride}");
        }
    }

    #[test]
    fn scores_and_sums_are_those_of_plain_loops() {
        check::<f32>(|stride, lane| if lane < stride / 32 * 32 { 2 } else { 4 });
        check::<f64>(|stride, lane| if lane < stride / 16 * 16 { 2 } else { 4 });
    }
}
