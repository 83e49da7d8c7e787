//! Kernels of the closed forms: rows times several planes, sums of rows, tiles of a Gram matrix.

#[cfg_attr(linsep_portable, allow(unused_imports))]
use crate::{Divided, Fused, Quotient};

/// Rows that the sums of a Gram matrix take up at once.
pub const GRAM_ROWS: usize = 64 * GRAM_WORDS;
/// Words of one bit for each of these rows.
pub const GRAM_WORDS: usize = 4;
/// Columns of a strip.
pub const GRAM_STRIP: usize = 8;

/// tile_il += heads_ri · values_rl, row after row, for the rows r with a bit in both sets.
#[inline(always)]
fn gram_half<const FROM: usize>(
    rows: impl Fn(usize) -> u64,
    heads: &[[f64; GRAM_STRIP]],
    values: &[[f64; GRAM_STRIP]],
    tile: &mut [f64; GRAM_STRIP * GRAM_STRIP / 2],
) {
    let mut sums = [[0.0; GRAM_STRIP]; GRAM_STRIP / 2];
    for (sums, tile) in sums.iter_mut().zip(tile.as_chunks::<GRAM_STRIP>().0) {
        *sums = *tile;
    }
    let parts = heads.as_chunks::<64>().0.iter().zip(values.as_chunks::<64>().0);
    for (word, (heads, values)) in parts.enumerate() {
        let mut left = rows(word);
        while left != 0 {
            let row = left.trailing_zeros() as usize % 64;
            left &= left - 1;
            let (head, value) = (&heads[row], &values[row]);
            for (i, sums) in sums.iter_mut().enumerate() {
                for (sum, x) in sums.iter_mut().zip(value) {
                    *sum += head[FROM + i] * x;
                }
            }
        }
    }
    for (sums, tile) in sums.iter().zip(tile.as_chunks_mut::<GRAM_STRIP>().0) {
        *tile = *sums;
    }
}

/// Calls `each` with the values of a row and their columns: all columns if none are given.
#[inline(always)]
fn entries(columns: &[u32], values: &[f64], mut each: impl FnMut(usize, f64)) {
    if columns.is_empty() {
        values.iter().enumerate().for_each(|(j, x)| each(j, *x));
    } else {
        columns.iter().zip(values).for_each(|(j, x)| each(*j as usize, *x));
    }
}

/// Σ x_j w_jl for each plane l, columns in rising order.
#[inline(always)]
fn planes_dot<const L: usize>(columns: &[u32], values: &[f64], w: &[[f64; L]]) -> [f64; L] {
    let mut sums = [0.0; L];
    entries(columns, values, |j, x| {
        for (sum, w) in sums.iter_mut().zip(&w[j]) {
            *sum += x * w;
        }
    });
    sums
}

/// high_jl + low_jl += a_l x_j, with what each addition to `high` loses in `low`.
#[inline(always)]
fn planes_add<const L: usize>(
    columns: &[u32],
    values: &[f64],
    a: [f64; L],
    high: &mut [[f64; L]],
    low: &mut [[f64; L]],
) {
    let add = |high: &mut [f64; L], low: &mut [f64; L], x: f64| {
        for ((high, low), a) in high.iter_mut().zip(low).zip(a) {
            let term = a * x;
            let sum = *high + term;
            let part = sum - *high;
            *low += (*high - (sum - part)) + (term - part);
            *high = sum;
        }
    };
    if columns.is_empty() {
        let sums = high.iter_mut().zip(low);
        sums.zip(values).for_each(|((high, low), x)| add(high, low, *x));
    } else {
        let entries = columns.iter().zip(values);
        entries.for_each(|(&j, x)| add(&mut high[j as usize], &mut low[j as usize], *x));
    }
}

kernels! {
    /// A row times four planes.
    fn dot_four_planes(columns: &[u32], values: &[f64], w: &[[f64; 4]]) -> [f64; 4] {
        planes_dot(columns, values, w)
    }

    /// A row times twelve planes.
    fn dot_twelve(columns: &[u32], values: &[f64], w: &[[f64; 12]]) -> [f64; 12] {
        planes_dot(columns, values, w)
    }

    /// A row added to one sum.
    fn add_one(columns: &[u32], values: &[f64], a: f64, high: &mut [f64], low: &mut [f64]) {
        planes_add(columns, values, [a], high.as_chunks_mut().0, low.as_chunks_mut().0);
    }

    /// A row added to four sums.
    fn add_four(
        columns: &[u32],
        values: &[f64],
        a: [f64; 4],
        high: &mut [[f64; 4]],
        low: &mut [[f64; 4]]
    ) {
        planes_add(columns, values, a, high, low);
    }

    /// A row added to twelve sums.
    fn add_twelve(
        columns: &[u32],
        values: &[f64],
        a: [f64; 12],
        high: &mut [[f64; 12]],
        low: &mut [[f64; 12]]
    ) {
        planes_add(columns, values, a, high, low);
    }

    /// The entries of a row of table codes that are not 0; runs of eight zeros are passed over at once.
    fn nonzeros_table8(
        codes: &[u8],
        table: &[f64; 256],
        columns: &mut Vec<u32>,
        values: &mut Vec<f64>
    ) {
        let (blocks, rest) = codes.as_chunks::<8>();
        let mut take = |column: usize, code: u8| {
            columns.push(column as u32);
            values.push(table[usize::from(code)]);
        };
        for (block, codes) in blocks.iter().enumerate() {
            let mut left = u64::from_le_bytes(*codes);
            while left != 0 {
                let at = left.trailing_zeros() as usize / 8;
                take(8 * block + at, codes[at % 8]);
                left &= !(0xff << (8 * at));
            }
        }
        for (at, &code) in rest.iter().enumerate().filter(|(_, code)| **code != 0) {
            take(8 * blocks.len() + at, code);
        }
    }

    /// sums += factor · (row − shift).
    fn add_shifted(factor: f64, row: &[f64], shift: &[f64], sums: &mut [f64]) {
        for ((sum, x), shift) in sums.iter_mut().zip(row).zip(shift) {
            *sum += factor * (x - shift);
        }
    }

    /// sums += factor · (row − shift)².
    fn add_squares(factor: f64, row: &[f64], shift: &[f64], sums: &mut [f64]) {
        for ((sum, x), shift) in sums.iter_mut().zip(row).zip(shift) {
            let y = x - shift;
            *sum += factor * y * y;
        }
    }

    /// The tiles of two strips of columns: sums_il += heads_ri · values_rl.
    fn gram_pair(
        own: &[[u64; GRAM_WORDS]; 2],
        other: &[[u64; GRAM_WORDS]; 2],
        heads: &[[f64; GRAM_STRIP]],
        values: &[[f64; GRAM_STRIP]],
        sums: &mut [f64; GRAM_STRIP * GRAM_STRIP]
    ) {
        let ([upper, lower], _) = sums.as_chunks_mut::<{ GRAM_STRIP * GRAM_STRIP / 2 }>() else {
            return;
        };
        let both = |word: usize| other[0][word] | other[1][word];
        gram_half::<0>(|word| own[0][word] & both(word), heads, values, upper);
        gram_half::<4>(|word| own[1][word] & both(word), heads, values, lower);
    }

    /// Lays row − shift out over strips that are `stride` rows apart, and notes which halves are not 0.
    fn gram_lay(
        row: &[f64],
        shift: &[f64],
        at: usize,
        stride: usize,
        strips: &mut [[f64; GRAM_STRIP]],
        halves: &mut [[[u64; GRAM_WORDS]; 2]]
    ) {
        let (word, bit) = (at / 64, 1u64 << (at % 64));
        let shift = &shift[..row.len()];
        let chunks = row.chunks(GRAM_STRIP).zip(shift.chunks(GRAM_STRIP)).zip(halves);
        for (strip, ((row, shift), halves)) in chunks.enumerate() {
            let mut values = [0.0; GRAM_STRIP];
            for ((value, x), shift) in values.iter_mut().zip(row).zip(shift) {
                *value = x - shift;
            }
            strips[strip * stride + at] = values;
            for (half, values) in halves.iter_mut().zip(values.as_chunks::<4>().0) {
                if *values != [0.0; 4] {
                    half[word] |= bit;
                }
            }
        }
    }
}
