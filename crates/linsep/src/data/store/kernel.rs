//! The only numeric loops over stored rows, and the only place in this crate for SIMD dispatch.
//!
//! A dot product runs in eight lanes: the term of column j goes to lane j mod 8, in rising order of
//! j, and the lanes are added in one fixed tree. Sparse rows use the same lanes, so dense and sparse
//! storage of the same table give the same bits (a zero term changes no lane). Multiplication and
//! addition stay separate (no fused multiply-add), so every CPU gives the same bits too.
//!
//! [`find_marks`] is the one kernel over text. Eight bytes of 0 or 1 become eight bits by one
//! multiplication: the byte i has its bit at 8i, and 2^(56−7i) moves it to 56 + i; no two products meet
//! in one bit.
//!
//! Each kernel exists once, in plain safe Rust; the macro compiles it a second time for AVX2 and
//! picks at run time.

#![allow(unsafe_code)]

/// Lanes of a dot product.
const LANES: usize = 8;

#[inline(always)]
fn add_lanes(acc: [f64; LANES]) -> f64 {
    ((acc[0] + acc[4]) + (acc[2] + acc[6])) + ((acc[1] + acc[5]) + (acc[3] + acc[7]))
}

/// Σ decode(code_j, j) · w_j over the columns of one dense row.
#[inline(always)]
fn dense_dot<T: Copy>(row: &[T], w: &[f64], decode: impl Fn(T) -> f64) -> f64 {
    let w = &w[..row.len()];
    let mut acc = [0.0; LANES];
    let (row_blocks, row_rest) = row.as_chunks::<LANES>();
    let (w_blocks, w_rest) = w.as_chunks::<LANES>();
    for (x, w) in row_blocks.iter().zip(w_blocks) {
        for lane in 0..LANES {
            acc[lane] += decode(x[lane]) * w[lane];
        }
    }
    for (lane, (x, w)) in row_rest.iter().zip(w_rest).enumerate() {
        acc[lane] += decode(*x) * w;
    }
    add_lanes(acc)
}

/// Σ value · w[index] over the stored entries of one sparse row.
#[inline(always)]
fn sparse_dot(indices: &[u32], w: &[f64], value: impl Fn(usize) -> f64) -> f64 {
    let mut acc = [0.0; LANES];
    for (k, &index) in indices.iter().enumerate() {
        let j = index as usize;
        acc[j % LANES] += value(k) * w[j];
    }
    add_lanes(acc)
}

/// Bytes of text that one word of marks covers.
pub(crate) const SPAN: usize = 64;

/// A text has a double quote.
pub(crate) const QUOTE: u8 = 1;
/// A text has a NUL byte.
pub(crate) const NUL: u8 = 2;
/// A text has a byte beyond ASCII.
pub(crate) const BEYOND_ASCII: u8 = 0x80;

/// Compiles a kernel for the baseline and for AVX2 and dispatches between them.
macro_rules! kernels {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $type:ty),*) $(-> $out:ty)? $body:block)*) => {
        $(
            $(#[$doc])*
            #[inline]
            pub(crate) fn $name($($arg: $type),*) $(-> $out)? {
                #[inline(always)]
                fn body($($arg: $type),*) $(-> $out)? $body

                #[cfg(target_arch = "x86_64")]
                {
                    #[target_feature(enable = "avx2")]
                    fn wide($($arg: $type),*) $(-> $out)? { body($($arg),*) }

                    if std::arch::is_x86_feature_detected!("avx2") {
                        // SAFETY: the CPU has AVX2, the one thing that calling `wide` asks for.
                        return unsafe { wide($($arg),*) };
                    }
                }
                body($($arg),*)
            }
        )*
    };
}

kernels! {
    /// Dense row of table codes.
    fn dot_table8(row: &[u8], table: &[f64; 256], w: &[f64]) -> f64 {
        dense_dot(row, w, |code| table[usize::from(code)])
    }

    /// Dense row of integers whose divisors are all 1.
    fn dot_whole(row: &[i32], w: &[f64]) -> f64 {
        dense_dot(row, w, f64::from)
    }

    /// Dense row of binary32.
    fn dot_f32(row: &[f32], w: &[f64]) -> f64 {
        dense_dot(row, w, f64::from)
    }

    /// Dense row of binary64.
    fn dot_f64(row: &[f64], w: &[f64]) -> f64 {
        dense_dot(row, w, |x| x)
    }

    /// Dense row of integers with a divisor for each column.
    fn dot_decimal(row: &[i32], tens: &[f64], w: &[f64]) -> f64 {
        let mut acc = [0.0; LANES];
        let (row_blocks, row_rest) = row.as_chunks::<LANES>();
        let (tens_blocks, tens_rest) = tens[..row.len()].as_chunks::<LANES>();
        let (w_blocks, w_rest) = w[..row.len()].as_chunks::<LANES>();
        for ((x, t), w) in row_blocks.iter().zip(tens_blocks).zip(w_blocks) {
            for lane in 0..LANES {
                acc[lane] += f64::from(x[lane]) / t[lane] * w[lane];
            }
        }
        for (lane, ((x, t), w)) in row_rest.iter().zip(tens_rest).zip(w_rest).enumerate() {
            acc[lane] += f64::from(*x) / t * w;
        }
        add_lanes(acc)
    }

    /// Sparse row of ones.
    fn dot_sparse_ones(indices: &[u32], w: &[f64]) -> f64 {
        sparse_dot(indices, w, |_| 1.0)
    }

    /// Sparse row of table codes.
    fn dot_sparse_table8(indices: &[u32], codes: &[u8], table: &[f64; 256], w: &[f64]) -> f64 {
        sparse_dot(indices, w, |k| table[usize::from(codes[k])])
    }

    /// Sparse row of integers with one divisor.
    fn dot_sparse_int32(indices: &[u32], codes: &[i32], tens: f64, w: &[f64]) -> f64 {
        sparse_dot(indices, w, |k| f64::from(codes[k]) / tens)
    }

    /// Sparse row of binary32.
    fn dot_sparse_f32(indices: &[u32], values: &[f32], w: &[f64]) -> f64 {
        sparse_dot(indices, w, |k| f64::from(values[k]))
    }

    /// Sparse row of binary64.
    fn dot_sparse_f64(indices: &[u32], values: &[f64], w: &[f64]) -> f64 {
        sparse_dot(indices, w, |k| values[k])
    }

    /// w += a · row.
    fn axpy_dense(a: f64, row: &[f64], w: &mut [f64]) {
        for (w, x) in w.iter_mut().zip(row) {
            *w += a * x;
        }
    }

    /// w_j += (a · scale_j) · row_j.
    fn axpy_dense_scaled(a: f64, scale: &[f64], row: &[f64], w: &mut [f64]) {
        for ((w, x), s) in w.iter_mut().zip(row).zip(scale) {
            *w += (a * s) * x;
        }
    }

    /// w[index] += a · value.
    fn axpy_sparse(a: f64, indices: &[u32], values: &[f64], w: &mut [f64]) {
        for (&index, value) in indices.iter().zip(values) {
            w[index as usize] += a * value;
        }
    }

    /// w[index] += (a · scale[index]) · value.
    fn axpy_sparse_scaled(a: f64, scale: &[f64], indices: &[u32], values: &[f64], w: &mut [f64]) {
        for (&index, value) in indices.iter().zip(values) {
            let j = index as usize;
            w[j] += (a * scale[j]) * value;
        }
    }

    /// Decodes table codes.
    fn load_table8(codes: &[u8], table: &[f64; 256], out: &mut [f64]) {
        for (out, &code) in out.iter_mut().zip(codes) {
            *out = table[usize::from(code)];
        }
    }

    /// Decodes integers whose divisors repeat with the columns.
    fn load_int32(codes: &[i32], tens: &[f64], out: &mut [f64]) {
        if let [ten] = tens {
            for (out, &code) in out.iter_mut().zip(codes) {
                *out = f64::from(code) / ten;
            }
        } else {
            for ((out, &code), ten) in out.iter_mut().zip(codes).zip(tens) {
                *out = f64::from(code) / ten;
            }
        }
    }

    /// sum += a · row of table codes.
    fn add_table8(a: f64, row: &[u8], table: &[f64; 256], sum: &mut [f64]) {
        for (sum, &code) in sum.iter_mut().zip(row) {
            *sum += a * table[usize::from(code)];
        }
    }

    /// sum += a · row of integers.
    fn add_whole(a: f64, row: &[i32], sum: &mut [f64]) {
        for (sum, &code) in sum.iter_mut().zip(row) {
            *sum += a * f64::from(code);
        }
    }

    /// sum += a · row of binary32.
    fn add_f32(a: f64, row: &[f32], sum: &mut [f64]) {
        for (sum, &value) in sum.iter_mut().zip(row) {
            *sum += a * f64::from(value);
        }
    }

    /// The scores of a row on many planes; see [`super::panel`].
    fn panel_scores_f32(columns: &[u32], values: &[f32], lines: &[f32], scores: &mut [f32]) {
        super::panel::scores(columns, values, lines, scores, 4);
    }

    /// The same in binary64.
    fn panel_scores_f64(columns: &[u32], values: &[f64], lines: &[f64], scores: &mut [f64]) {
        super::panel::scores(columns, values, lines, scores, 2);
    }

    /// A row added to many planes.
    fn panel_add_f32(columns: &[u32], values: &[f32], factors: &[f32], lines: &mut [f32]) {
        super::panel::add_rows(columns, values, factors, lines);
    }

    /// The same in binary64.
    fn panel_add_f64(columns: &[u32], values: &[f64], factors: &[f64], lines: &mut [f64]) {
        super::panel::add_rows(columns, values, factors, lines);
    }

    /// Decodes binary32.
    fn load_f32(values: &[f32], out: &mut [f64]) {
        for (out, &value) in out.iter_mut().zip(values) {
            *out = f64::from(value);
        }
    }

    /// One bit for each byte that is one of `marks`; returns what other kinds of bytes there are.
    fn find_marks(blocks: &[[u8; SPAN]], marks: [u8; 3], words: &mut [u64]) -> u8 {
        let mut seen = [0u8; SPAN];
        for (word, block) in words.iter_mut().zip(blocks) {
            let mut hits = [0u8; SPAN];
            for ((hit, seen), &byte) in hits.iter_mut().zip(&mut seen).zip(block) {
                let [a, b, c] = marks;
                *hit = u8::from(byte == a) | u8::from(byte == b) | u8::from(byte == c);
                let quote = u8::from(byte == b'"') * QUOTE;
                *seen |= quote | u8::from(byte == 0) * NUL | byte & BEYOND_ASCII;
            }
            let (eights, _) = hits.as_chunks::<8>();
            *word = eights.iter().enumerate().fold(0, |word, (k, eight)| {
                let bits = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
                word | bits << (8 * k)
            });
        }
        seen.iter().fold(0, |all, seen| all | seen)
    }
}

/// Rows that the sums of a Gram matrix take up at once.
pub(crate) const GRAM_ROWS: usize = 64 * GRAM_WORDS;
/// Words of one bit for each of these rows.
pub(crate) const GRAM_WORDS: usize = 4;
/// Columns of a strip.
pub(crate) const GRAM_STRIP: usize = 8;

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
    fn dot_four(columns: &[u32], values: &[f64], w: &[[f64; 4]]) -> [f64; 4] {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_and_sparse_rows_give_the_same_bits() {
        let w: Vec<f64> =
            (0..37).map(|j| (f64::from(j) * 0.37).sin() * 1e3f64.powi(j % 5 - 2)).collect();
        let dense: Vec<f64> =
            (0..37).map(|j| if j % 3 == 0 { 0.0 } else { f64::from(j).sqrt() - 3.3 }).collect();
        let indices: Vec<u32> = (0..37).filter(|j| j % 3 != 0).collect();
        let values: Vec<f64> = indices.iter().map(|&j| dense[j as usize]).collect();
        let expected = dot_f64(&dense, &w);
        assert_eq!(dot_sparse_f64(&indices, &values, &w).to_bits(), expected.to_bits());
        let plain: f64 = dense.iter().zip(&w).map(|(x, w)| x * w).sum();
        assert!((expected - plain).abs() <= 1e-12 * plain.abs());
    }

    #[test]
    fn the_encodings_agree_on_integers() {
        let codes: Vec<u8> = (0..50).map(|j| (j * 7 % 11) as u8).collect();
        let mut table = [0.0; 256];
        (0..256).for_each(|c| table[c] = c as f64);
        let w: Vec<f64> = (0..50).map(|j| f64::from(j % 9 - 4)).collect();
        let whole: Vec<i32> = codes.iter().map(|&c| i32::from(c)).collect();
        let single: Vec<f32> = codes.iter().map(|&c| f32::from(c)).collect();
        let tens = vec![1.0; 50];
        let expected: f64 = codes.iter().zip(&w).map(|(&c, w)| f64::from(c) * w).sum();
        assert_eq!(dot_table8(&codes, &table, &w), expected);
        assert_eq!(dot_whole(&whole, &w), expected);
        assert_eq!(dot_f32(&single, &w), expected);
        assert_eq!(dot_decimal(&whole, &tens, &w), expected);
    }
}
