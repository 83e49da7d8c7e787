//! Kernels of the closed forms: rows times several planes, sums of rows, tiles of a Gram matrix.

#[cfg_attr(linsep_portable, allow(unused_imports))]
use crate::{Divided, Fused, Quotient, Widest};

/// Rows that the sums of a Gram matrix take up at once.
pub const GRAM_ROWS: usize = 64 * GRAM_WORDS;
/// Words of one bit for each of these rows.
pub const GRAM_WORDS: usize = 4;
/// Columns of a strip.
pub const GRAM_STRIP: usize = 8;

/// tile_il += heads_ri · values_rl, row after row, of tables without zeros: eight by eight sums, which only the
/// registers of AVX-512 hold.
///
/// Written in intrinsics, because the compiler does not keep so many sums in registers by itself.
#[cfg(all(target_arch = "x86_64", not(linsep_portable)))]
#[target_feature(enable = "avx512f")]
fn gram_whole(
    heads: &[[f64; GRAM_STRIP]],
    values: &[[f64; GRAM_STRIP]],
    tile: &mut [f64; GRAM_STRIP * GRAM_STRIP],
) {
    use std::arch::x86_64::{
        _mm512_add_pd, _mm512_loadu_pd, _mm512_mul_pd, _mm512_set1_pd, _mm512_storeu_pd,
    };

    let lines = tile.as_chunks_mut::<GRAM_STRIP>().0;
    // SAFETY: every list has the eight numbers that a register takes.
    let mut sums: [_; GRAM_STRIP] =
        std::array::from_fn(|i| unsafe { _mm512_loadu_pd(lines[i].as_ptr()) });
    for (head, value) in heads.iter().zip(values) {
        // SAFETY: as above.
        let value = unsafe { _mm512_loadu_pd(value.as_ptr()) };
        for i in 0..GRAM_STRIP {
            sums[i] = _mm512_add_pd(sums[i], _mm512_mul_pd(_mm512_set1_pd(head[i]), value));
        }
    }
    for (line, sum) in lines.iter_mut().zip(sums) {
        // SAFETY: as above.
        unsafe { _mm512_storeu_pd(line.as_mut_ptr(), sum) };
    }
}

/// tile_il += heads_ri · values_rl, row after row, for the rows r with a bit in both sets.
#[inline(always)]
fn gram_half<const FROM: usize>(
    rows: [u64; GRAM_WORDS],
    heads: &[[f64; GRAM_STRIP]],
    values: &[[f64; GRAM_STRIP]],
    tile: &mut [f64; GRAM_STRIP * GRAM_STRIP / 2],
) {
    let mut sums = [[0.0; GRAM_STRIP]; GRAM_STRIP / 2];
    for (sums, tile) in sums.iter_mut().zip(tile.as_chunks::<GRAM_STRIP>().0) {
        *sums = *tile;
    }
    if rows == [u64::MAX; GRAM_WORDS] {
        // Tables without zeros: nothing is asked of a row.
        for (head, value) in heads.iter().zip(values) {
            add_row::<FROM>(head, value, &mut sums);
        }
    } else {
        let parts = heads.as_chunks::<64>().0.iter().zip(values.as_chunks::<64>().0);
        for ((heads, values), mut left) in parts.zip(rows) {
            while left != 0 {
                let row = left.trailing_zeros() as usize % 64;
                left &= left - 1;
                add_row::<FROM>(&heads[row], &values[row], &mut sums);
            }
        }
    }
    for (sums, tile) in sums.iter().zip(tile.as_chunks_mut::<GRAM_STRIP>().0) {
        *tile = *sums;
    }
}

#[inline(always)]
fn add_row<const FROM: usize>(
    head: &[f64; GRAM_STRIP],
    value: &[f64; GRAM_STRIP],
    sums: &mut [[f64; GRAM_STRIP]; GRAM_STRIP / 2],
) {
    for (i, sums) in sums.iter_mut().enumerate() {
        for (sum, x) in sums.iter_mut().zip(value) {
            *sum += head[FROM + i] * x;
        }
    }
}

/// Writes row − shift of a strip, and notes which halves are not 0.
#[inline(always)]
fn lay_strip(
    row: &[f64; GRAM_STRIP],
    shift: &[f64; GRAM_STRIP],
    at: usize,
    place: &mut [f64; GRAM_STRIP],
    halves: &mut [[u64; GRAM_WORDS]; 2],
) {
    let mut values = [0.0; GRAM_STRIP];
    for ((value, x), shift) in values.iter_mut().zip(row).zip(shift) {
        *value = x - shift;
    }
    *place = values;
    for (half, values) in halves.iter_mut().zip(values.as_chunks::<4>().0) {
        let is_filled = u64::from(*values != [0.0; 4]);
        half[at / 64] |= is_filled << (at % 64);
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
    if columns.is_empty() {
        let sums = high.iter_mut().zip(low);
        sums.zip(values).for_each(|((high, low), x)| add_term(high, low, &a, *x));
    } else {
        for (&j, x) in columns.iter().zip(values) {
            add_term(&mut high[j as usize], &mut low[j as usize], &a, *x);
        }
    }
}

/// A function, because what a closure is compiled for does not follow the kernel.
#[inline(always)]
fn add_term<const L: usize>(high: &mut [f64; L], low: &mut [f64; L], a: &[f64; L], x: f64) {
    for lane in 0..L {
        let term = a[lane] * x;
        let sum = high[lane] + term;
        let part = sum - high[lane];
        low[lane] += (high[lane] - (sum - part)) + (term - part);
        high[lane] = sum;
    }
}

/// One bit for each of eight bytes that is not 0.
#[inline(always)]
fn filled(codes: &[u8; 8]) -> u64 {
    const LOW_BITS: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let codes = u64::from_le_bytes(*codes);
    let tops = (((codes & LOW_BITS) + LOW_BITS) | codes) & !LOW_BITS;
    (tops >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

kernels! { widest:
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

    /// The entries of a row of table codes that are not 0, found by words of one bit for each of 64 codes.
    fn nonzeros_table8(
        codes: &[u8],
        table: &[f64; 256],
        columns: &mut Vec<u32>,
        values: &mut Vec<f64>
    ) {
        let count: usize = codes.chunks(128).map(|part| {
            usize::from(part.iter().fold(0u8, |sum, code| sum + u8::from(*code != 0)))
        }).sum();
        let (first, first_value) = (columns.len(), values.len());
        columns.resize(first + count, 0);
        values.resize(first_value + count, 0.0);
        let mut out = columns[first..].iter_mut().zip(&mut values[first_value..]);
        for (word, codes) in codes.chunks(64).enumerate() {
            let (blocks, rest) = codes.as_chunks::<8>();
            let mut left = 0;
            for (k, block) in blocks.iter().enumerate() {
                left |= filled(block) << (8 * k);
            }
            if !rest.is_empty() {
                left |= filled(&crate::padded(rest)) << (8 * blocks.len());
            }
            while left != 0 {
                let at = left.trailing_zeros() as usize;
                left &= left - 1;
                if let (Some((column, value)), Some(&code)) = (out.next(), codes.get(at)) {
                    *column = (64 * word + at) as u32;
                    *value = table[usize::from(code)];
                }
            }
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
        let (mut first, mut second) = (own[0], own[1]);
        for word in 0..GRAM_WORDS {
            let both = other[0][word] | other[1][word];
            first[word] &= both;
            second[word] &= both;
        }
        #[cfg(all(target_arch = "x86_64", not(linsep_portable)))]
        if Q::HAS_WIDE_REGISTERS && [first, second] == [[u64::MAX; GRAM_WORDS]; 2] {
            // SAFETY: whoever has such registers has AVX-512.
            return unsafe { gram_whole(heads, values, sums) };
        }
        let ([upper, lower], _) = sums.as_chunks_mut::<{ GRAM_STRIP * GRAM_STRIP / 2 }>() else {
            return;
        };
        gram_half::<0>(first, heads, values, upper);
        gram_half::<4>(second, heads, values, lower);
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
        let shift = &shift[..row.len()];
        let (whole, rest) = row.as_chunks::<GRAM_STRIP>();
        let (whole_shift, rest_shift) = shift.as_chunks::<GRAM_STRIP>();
        let chunks = whole.iter().zip(whole_shift).zip(halves.iter_mut()).enumerate();
        for (strip, ((row, shift), halves)) in chunks {
            lay_strip(row, shift, at, &mut strips[strip * stride + at], halves);
        }
        // What is missing of a strip is 0.
        if let Some(halves) = halves.get_mut(whole.len()).filter(|_| !rest.is_empty()) {
            let (mut row, mut shift) = ([0.0; GRAM_STRIP], [0.0; GRAM_STRIP]);
            row[..rest.len()].copy_from_slice(rest);
            shift[..rest.len()].copy_from_slice(rest_shift);
            lay_strip(&row, &shift, at, &mut strips[whole.len() * stride + at], halves);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_table_codes_are_those_that_are_not_0() {
        let mut table = [0.0; 256];
        (0..256).for_each(|code| table[code] = code as f64 / 2.0);
        for length in [0, 1, 7, 8, 63, 64, 65, 130, 401] {
            for gap in [1, 2, 3, 9, 70] {
                let code = |j: usize| if j % gap == gap / 2 { (j * 37 % 255 + 1) as u8 } else { 0 };
                let codes: Vec<u8> = (0..length).map(code).collect();
                let (mut columns, mut values) = (vec![7], vec![3.5]);
                nonzeros_table8(&codes, &table, &mut columns, &mut values);
                let filled = (0..length).filter(|&j| codes[j] != 0);
                let expected: Vec<u32> = [7].into_iter().chain(filled.map(|j| j as u32)).collect();
                assert_eq!(columns, expected, "{length} {gap}");
                let value = |j: &u32| table[usize::from(codes[*j as usize])];
                assert_eq!(values[0], 3.5);
                assert_eq!(values[1..], expected[1..].iter().map(value).collect::<Vec<f64>>());
            }
        }
    }

    /// What a plain loop gives, to the last bit, whatever registers the kernels use.
    #[test]
    fn rows_are_added_to_planes_term_by_term() {
        let columns: Vec<u32> = (0..60).map(|k| k * 3 % 64).collect();
        let values: Vec<f64> = (0..60).map(|k| (f64::from(k) * 0.7).sin()).collect();
        let a: [f64; 12] = std::array::from_fn(|l| (l as f64 - 4.3) / 7.0);
        let (mut high, mut low) = (vec![[1.0 / 3.0; 12]; 64], vec![[0.0; 12]; 64]);
        let (mut sums, mut losses) = (high.clone(), low.clone());
        for _ in 0..5 {
            add_twelve(&columns, &values, a, &mut high, &mut low);
            for (&j, x) in columns.iter().zip(&values) {
                for l in 0..12 {
                    let (old, term) = (sums[j as usize][l], a[l] * x);
                    let sum = old + term;
                    let part = sum - old;
                    losses[j as usize][l] += (old - (sum - part)) + (term - part);
                    sums[j as usize][l] = sum;
                }
            }
        }
        assert_eq!((high, low), (sums, losses));
    }
}
