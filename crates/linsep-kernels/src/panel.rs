//! Rows against many planes at once.
//!
//! The weights of K planes stand column by column: a line of K numbers, filled up with zeros to a
//! multiple of eight, for each column. A row's scores on all planes are one sweep over its non-zero
//! values, each of which meets one contiguous line; adding a row to all planes is the same sweep. A
//! score is the sum of the terms of even places and that of odd places, in their order, so every CPU
//! gives the same bits.

use std::ops::{Add, AddAssign, Div, Mul, Sub};

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

/// Numbers in a line for so many planes.
pub fn stride(planes: usize) -> usize {
    planes.next_multiple_of(LANES)
}

const LANES: usize = 8;

/// The body of the kernels of scores; `most` blocks of eight are summed up at a time.
#[inline(always)]
pub(crate) fn scores<T: Real>(
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
        match run {
            0 => {}
            1 => add::<T, 1>(columns, values, blocks, lines, stride, first),
            2 => add::<T, 2>(columns, values, blocks, lines, stride, first),
            3 => add::<T, 3>(columns, values, blocks, lines, stride, first),
            _ => add::<T, 4>(columns, values, blocks, lines, stride, first),
        }
        first += run.max(1);
    }
}

#[inline(always)]
fn add<T: Real, const B: usize>(
    columns: &[u32],
    values: &[T],
    blocks: &[[T; LANES]],
    lines: &mut [T],
    stride: usize,
    first: usize,
) {
    let factors: [[T; LANES]; B] = std::array::from_fn(|block| blocks[first + block]);
    for (&column, &value) in columns.iter().zip(values) {
        let line = &mut lines[column as usize * stride + first * LANES..][..B * LANES];
        let (line, _) = line.as_chunks_mut::<LANES>();
        for block in 0..B {
            for lane in 0..LANES {
                line[block][lane] += value * factors[block][lane];
            }
        }
    }
}
