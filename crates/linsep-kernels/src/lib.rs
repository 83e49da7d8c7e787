//! The only numeric loops over stored rows, and the only place in this crate for SIMD dispatch.
//!
//! A dot product runs in eight lanes: the term of column j goes to lane j mod 8, in rising order of
//! j, and the lanes are added in one fixed tree. Sparse rows use the same lanes, so dense and sparse
//! storage of the same table give the same bits (a zero term changes no lane). Multiplication and
//! addition stay separate (no fused multiply-add), so every CPU gives the same bits too.
//!
//! Kernels over text are in [`text`] and [`number`].
//!
//! Each kernel exists once, in plain safe Rust; the macro compiles it a second time for AVX2 with fused
//! multiply-add, some of them a third time for AVX-512, and picks at run time. Fused steps stand only where the result is the same number without
//! them: in [`Quotient`].
//!
//! What costs time is not arithmetic but waiting for rows and weights. So zeros of table codes are passed
//! over in blocks of eight (which changes no lane either), and [`prefetch`] asks for rows and weights
//! before they are needed.

#![allow(unsafe_code)]

/// Lanes of a dot product.
pub const LANES: usize = 8;

#[inline(always)]
fn tree(acc: [f64; LANES]) -> f64 {
    ((acc[0] + acc[4]) + (acc[2] + acc[6])) + ((acc[1] + acc[5]) + (acc[3] + acc[7]))
}

/// Up to eight values, with zeros behind them: as a whole block they change no other lane.
#[inline(always)]
fn padded<T: Copy + Default>(rest: &[T]) -> [T; LANES] {
    std::array::from_fn(|lane| rest.get(lane).copied().unwrap_or_default())
}

/// The lanes after a loop over blocks, put down in memory. Where the compiler sees the tree behind the loop,
/// it cuts the lanes into halves and quarters.
#[inline(always)]
fn put_down(lanes: [f64; LANES]) -> [f64; LANES] {
    std::hint::black_box(lanes)
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
    acc = put_down(acc);
    for (lane, (x, w)) in row_rest.iter().zip(w_rest).enumerate() {
        acc[lane] += decode(*x) * w;
    }
    tree(acc)
}

/// Σ value · w[index] over the stored entries of one sparse row.
#[inline(always)]
fn sparse_dot<T: Copy>(indices: &[u32], codes: &[T], w: &[f64], decode: impl Fn(T) -> f64) -> f64 {
    let mut acc = [0.0; LANES];
    for (&index, &code) in indices.iter().zip(codes) {
        let j = index as usize;
        acc[j % LANES] += decode(code) * w[j];
    }
    tree(acc)
}

/// code / ten, correctly rounded, for a power of ten up to 10^22 and |code| < 2^31.
trait Quotient {
    /// Whether a register holds eight numbers of binary64, and there are thirty-two of them.
    const HAS_WIDE_REGISTERS: bool = false;

    /// `inverse` is 1 / ten, correctly rounded.
    fn of(code: f64, ten: f64, inverse: f64) -> f64;
}

/// By division.
struct Divided;

impl Quotient for Divided {
    #[inline(always)]
    fn of(code: f64, ten: f64, _: f64) -> f64 {
        code / ten
    }
}

/// By fused steps (Markstein 1990), a third of the time of a division: with q = code · inverse, which
/// is less than 1.5 units in the last place away, and r = code − q · ten, the answer is q + r · inverse.
///
/// It is the correctly rounded one. r is exact: ten = 5^p 2^p with 5^p < 2^52, so r is a whole multiple,
/// below 2^53, of the last places of both factors. Then q + r · inverse lies within 1.5 · 2^-53 units of
/// code / ten before it is rounded, and code / ten is no closer than 1 / (2 · 5^p) > 1.5 · 2^-53 units to
/// a number half way between two neighbours: the distance is an odd multiple of 2^p over 2 · 10^p, never
/// 0, because such a number has an odd part of 54 bits and the code one of 31.
struct Fused;

impl Quotient for Fused {
    #[inline(always)]
    fn of(code: f64, ten: f64, inverse: f64) -> f64 {
        let near = code * inverse;
        let rest = (-near).mul_add(ten, code);
        rest.mul_add(inverse, near)
    }
}

/// The same on a CPU with AVX-512.
struct Widest;

impl Quotient for Widest {
    const HAS_WIDE_REGISTERS: bool = true;

    #[inline(always)]
    fn of(code: f64, ten: f64, inverse: f64) -> f64 {
        Fused::of(code, ten, inverse)
    }
}

/// Calls `each` with the number of every block of eight codes that are not all 0, rising; the codes
/// behind the last whole block are left to the caller.
#[inline(always)]
fn for_each_block(codes: &[[u8; LANES]], mut each: impl FnMut(usize)) {
    for (group, codes) in codes.chunks(64).enumerate() {
        let mut filled = 0u64;
        for (k, block) in codes.iter().enumerate() {
            filled |= u64::from(u64::from_ne_bytes(*block) != 0) << k;
        }
        while filled != 0 {
            each(64 * group + filled.trailing_zeros() as usize);
            filled &= filled - 1;
        }
    }
}

/// w_j += factor_j · row_j of table codes, from the codes themselves; `factors` gives those of a block.
#[inline(always)]
fn add_table8(
    row: &[u8],
    table: &[f64; 256],
    w: &mut [f64],
    factors: impl Fn(usize) -> [f64; LANES],
) {
    let (row_blocks, row_rest) = row.as_chunks::<LANES>();
    let (w_blocks, w_rest) = w[..row.len()].as_chunks_mut::<LANES>();
    let add = |block: usize, codes: &[u8; LANES], w: &mut [f64; LANES]| {
        let factors = factors(block);
        for lane in 0..LANES {
            w[lane] += factors[lane] * table[usize::from(codes[lane])];
        }
    };
    for_each_block(row_blocks, |block| add(block, &row_blocks[block], &mut w_blocks[block]));
    if !row_rest.is_empty() {
        let mut last = padded(w_rest);
        add(row_blocks.len(), &padded(row_rest), &mut last);
        w_rest.iter_mut().zip(last).for_each(|(w, new)| *w = new);
    }
}

/// lanes_k += x · line_k for four planes at a time.
#[inline(always)]
fn add_line(x: f64, line: &[f64], lane: &mut [f64]) {
    for (sums, weights) in lane.as_chunks_mut::<4>().0.iter_mut().zip(line.as_chunks::<4>().0) {
        for k in 0..4 {
            sums[k] += x * weights[k];
        }
    }
}

/// Asks for values that will soon be read. Changes nothing but time.
#[inline(always)]
pub fn prefetch<T>(values: &[T]) {
    #[cfg(all(target_arch = "x86_64", not(linsep_portable)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        const LINE: usize = 64;
        /// More would drive out what is needed before.
        const MOST: usize = 32 * LINE;
        let start = values.as_ptr().cast::<i8>();
        for offset in (0..size_of_val(values).min(MOST)).step_by(LINE) {
            // SAFETY: a hint to the cache, which every x86-64 CPU has and which may name any address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(offset)) };
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(linsep_portable))))]
    let _ = values;
}

/// Asks for the weights of the columns of a sparse row that will soon be read.
#[inline(always)]
pub fn prefetch_at<T>(indices: &[u32], w: &[T], stride: usize) {
    if stride == 1 {
        // A size that is known costs one instruction.
        let one = |&index: &u32| w.get(index as usize).map(std::slice::from_ref);
        return indices.iter().filter_map(one).for_each(prefetch);
    }
    for &index in indices {
        let start = index as usize * stride;
        if let Some(weights) = w.get(start..start + stride) {
            prefetch(weights);
        }
    }
}

/// Compiles a kernel for the baseline and for AVX2 and dispatches between them; for AVX-512, too, in lists
/// that begin with `widest`. Bodies may call `Q::of`, the [`Quotient`] that suits the CPU.
macro_rules! kernels {
    (widest: $($kernels:tt)*) => { kernels! { @yes $($kernels)* } };
    (@$widest:ident $($(#[$doc:meta])* fn $name:ident($($arg:ident: $type:ty),*) $(-> $out:ty)? $body:block)*) => {
        $(
            $(#[$doc])*
            #[inline]
            pub fn $name($($arg: $type),*) $(-> $out)? {
                #[inline(always)]
                fn body<Q: Quotient>($($arg: $type),*) $(-> $out)? $body

                #[cfg(all(target_arch = "x86_64", not(linsep_portable)))]
                {
                    widest! { $widest body($($arg: $type),*) $(-> $out)? }

                    #[target_feature(enable = "avx2,fma")]
                    fn wide($($arg: $type),*) $(-> $out)? { body::<Fused>($($arg),*) }

                    if std::arch::is_x86_feature_detected!("avx2")
                        && std::arch::is_x86_feature_detected!("fma")
                    {
                        // SAFETY: the CPU has AVX2 and FMA, all that calling `wide` asks for.
                        return unsafe { wide($($arg),*) };
                    }
                }
                body::<Divided>($($arg),*)
            }
        )*
    };
    ($($kernels:tt)*) => { kernels! { @no $($kernels)* } };
}

/// The form of a kernel for AVX-512, or nothing. Registers of eight numbers of binary64 hold all lanes.
#[cfg(all(target_arch = "x86_64", not(linsep_portable)))]
macro_rules! widest {
    (no $($kernel:tt)*) => {};
    (yes $body:ident($($arg:ident: $type:ty),*) $(-> $out:ty)?) => {
        #[target_feature(enable = "avx512f,avx512vl,avx512dq,fma")]
        fn widest($($arg: $type),*) $(-> $out)? { $body::<Widest>($($arg),*) }

        if std::arch::is_x86_feature_detected!("avx512f")
            && std::arch::is_x86_feature_detected!("avx512vl")
            && std::arch::is_x86_feature_detected!("avx512dq")
            && std::arch::is_x86_feature_detected!("fma")
        {
            // SAFETY: the CPU has all that calling `widest` asks for.
            return unsafe { widest($($arg),*) };
        }
    };
}

kernels! {
    /// Dense row of table codes.
    fn dot_table8(row: &[u8], table: &[f64; 256], w: &[f64]) -> f64 {
        let w = &w[..row.len()];
        let mut acc = [0.0; LANES];
        let (row_blocks, row_rest) = row.as_chunks::<LANES>();
        let (w_blocks, w_rest) = w.as_chunks::<LANES>();
        for_each_block(row_blocks, |block| {
            let (x, w) = (&row_blocks[block], &w_blocks[block]);
            for lane in 0..LANES {
                acc[lane] += table[usize::from(x[lane])] * w[lane];
            }
        });
        for (lane, (x, w)) in row_rest.iter().zip(w_rest).enumerate() {
            acc[lane] += table[usize::from(*x)] * w;
        }
        tree(put_down(acc))
    }

    /// Dense row of integers whose divisors are all 1.
    fn dot_whole(row: &[i32], w: &[f64]) -> f64 {
        dense_dot(row, w, f64::from)
    }

    /// Dense row of binary32.
    fn dot_f32(row: &[f32], w: &[f64]) -> f64 {
        dense_dot(row, w, f64::from)
    }

    /// A row of binary32 as binary64.
    fn widen_f32(row: &[f32], out: &mut [f64]) {
        out.iter_mut().zip(row).for_each(|(out, value)| *out = f64::from(*value));
    }

    /// Dense row of binary64.
    fn dot_f64(row: &[f64], w: &[f64]) -> f64 {
        dense_dot(row, w, |x| x)
    }

    /// Dense row of integers with one divisor.
    fn dot_decimal(row: &[i32], ten: f64, w: &[f64]) -> f64 {
        let inverse = 1.0 / ten;
        dense_dot(row, w, |code| Q::of(f64::from(code), ten, inverse))
    }

    /// Dense row of integers with a divisor for each column.
    fn dot_decimals(row: &[i32], tens: &[f64], w: &[f64]) -> f64 {
        let mut acc = [0.0; LANES];
        let (row_blocks, row_rest) = row.as_chunks::<LANES>();
        let (tens_blocks, tens_rest) = tens[..row.len()].as_chunks::<LANES>();
        let (w_blocks, w_rest) = w[..row.len()].as_chunks::<LANES>();
        for ((x, t), w) in row_blocks.iter().zip(tens_blocks).zip(w_blocks) {
            for lane in 0..LANES {
                acc[lane] += f64::from(x[lane]) / t[lane] * w[lane];
            }
        }
        acc = put_down(acc);
        for (lane, ((x, t), w)) in row_rest.iter().zip(tens_rest).zip(w_rest).enumerate() {
            acc[lane] += f64::from(*x) / t * w;
        }
        tree(acc)
    }

    /// Sparse row of ones.
    fn dot_sparse_ones(indices: &[u32], w: &[f64]) -> f64 {
        sparse_dot(indices, indices, w, |_| 1.0)
    }

    /// Sparse row of table codes.
    fn dot_sparse_table8(indices: &[u32], codes: &[u8], table: &[f64; 256], w: &[f64]) -> f64 {
        sparse_dot(indices, codes, w, |code| table[usize::from(code)])
    }

    /// Sparse row of integers with one divisor.
    fn dot_sparse_int32(indices: &[u32], codes: &[i32], tens: f64, w: &[f64]) -> f64 {
        let inverse = 1.0 / tens;
        sparse_dot(indices, codes, w, |code| Q::of(f64::from(code), tens, inverse))
    }

    /// Sparse row of binary32.
    fn dot_sparse_f32(indices: &[u32], values: &[f32], w: &[f64]) -> f64 {
        sparse_dot(indices, values, w, f64::from)
    }

    /// Sparse row of binary64.
    fn dot_sparse_f64(indices: &[u32], values: &[f64], w: &[f64]) -> f64 {
        sparse_dot(indices, values, w, |x| x)
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

    /// w += a · row of table codes.
    fn axpy_table8(a: f64, row: &[u8], table: &[f64; 256], w: &mut [f64]) {
        add_table8(row, table, w, |_| [a; LANES]);
    }

    /// w_j += (a · scale_j) · row_j of table codes.
    fn axpy_table8_scaled(a: f64, scale: &[f64], row: &[u8], table: &[f64; 256], w: &mut [f64]) {
        let (blocks, rest) = scale[..row.len()].as_chunks::<LANES>();
        add_table8(row, table, w, |block| {
            let scale = blocks.get(block).copied().unwrap_or_else(|| padded(rest));
            scale.map(|s| a * s)
        });
    }

    /// `w[index] += a · value`.
    fn axpy_sparse(a: f64, indices: &[u32], values: &[f64], w: &mut [f64]) {
        for (&index, value) in indices.iter().zip(values) {
            w[index as usize] += a * value;
        }
    }

    /// `w[index] += (a · scale[index]) · value`.
    fn axpy_sparse_scaled(a: f64, scale: &[f64], indices: &[u32], values: &[f64], w: &mut [f64]) {
        for (&index, value) in indices.iter().zip(values) {
            let j = index as usize;
            w[j] += (a * scale[j]) * value;
        }
    }

    /// row · w for four planes at once: the sums of one wait for each other, those of four do not.
    fn dot_four(row: &[f64], planes: [&[f64]; 4]) -> [f64; 4] {
        let planes = planes.map(|w| w[..row.len()].as_chunks::<LANES>());
        let (blocks, rest) = row.as_chunks::<LANES>();
        let mut acc = [[0.0; LANES]; 4];
        for (block, x) in blocks.iter().enumerate() {
            for (acc, (w, _)) in acc.iter_mut().zip(&planes) {
                for lane in 0..LANES {
                    acc[lane] += x[lane] * w[block][lane];
                }
            }
        }
        for (acc, (_, w)) in acc.iter_mut().zip(&planes) {
            for (lane, (x, w)) in rest.iter().zip(*w).enumerate() {
                acc[lane] += x * w;
            }
        }
        acc.map(|acc| tree(put_down(acc)))
    }

    /// A sparse row · w for many planes at once, which stand side by side in lines of `stride` weights
    /// for each column, a multiple of four. The sums of lane l begin at l · stride; [`add_plane_lanes`]
    /// ends them.
    fn dots_sparse(indices: &[u32], values: &[f64], planes: &[f64], stride: usize, lanes: &mut [f64]) {
        for (&index, &x) in indices.iter().zip(values) {
            let j = index as usize;
            let start = j % LANES * stride;
            let line = &planes[j * stride..(j + 1) * stride];
            add_line(x, line, &mut lanes[start..start + stride]);
        }
    }

    /// The sums of the lanes of each plane, in the same order.
    fn add_plane_lanes(lanes: &[f64], stride: usize, sums: &mut [f64]) {
        let mut parts = lanes.chunks_exact(stride);
        let lanes: [&[f64]; LANES] =
            std::array::from_fn(|_| &parts.next().unwrap_or_default()[..sums.len()]);
        for (k, sum) in sums.iter_mut().enumerate() {
            *sum = tree(lanes.map(|lane| lane[k]));
        }
    }

    /// Decodes table codes.
    fn load_table8(codes: &[u8], table: &[f64; 256], out: &mut [f64]) {
        for (out, &code) in out.iter_mut().zip(codes) {
            *out = table[usize::from(code)];
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

    /// Decodes binary32.
    fn load_f32(values: &[f32], out: &mut [f64]) {
        for (out, &value) in out.iter_mut().zip(values) {
            *out = f64::from(value);
        }
    }
}

kernels! { widest:
    /// The scores of a row on many planes; see [`panel`].
    fn panel_scores_f32(columns: &[u32], values: &[f32], lines: &[f32], scores: &mut [f32]) {
        panel::scores(columns, values, lines, scores);
    }

    /// The same in binary64.
    fn panel_scores_f64(columns: &[u32], values: &[f64], lines: &[f64], scores: &mut [f64]) {
        panel::scores(columns, values, lines, scores);
    }

    /// A row added to many planes.
    fn panel_add_f32(columns: &[u32], values: &[f32], factors: &[f32], lines: &mut [f32]) {
        panel::add_rows(columns, values, factors, lines);
    }

    /// The same in binary64.
    fn panel_add_f64(columns: &[u32], values: &[f64], factors: &[f64], lines: &mut [f64]) {
        panel::add_rows(columns, values, factors, lines);
    }

    /// Decodes integers with one divisor.
    fn load_decimal(codes: &[i32], ten: f64, out: &mut [f64]) {
        let inverse = 1.0 / ten;
        for (out, &code) in out.iter_mut().zip(codes) {
            *out = Q::of(f64::from(code), ten, inverse);
        }
    }

    /// Decodes integers with a divisor for each column.
    fn load_decimals(codes: &[i32], tens: &[f64], out: &mut [f64]) {
        for ((out, &code), ten) in out.iter_mut().zip(codes).zip(tens) {
            *out = f64::from(code) / ten;
        }
    }
}

mod blocks;
pub mod lanes;
mod logistic;
pub mod number;
pub mod panel;
pub mod quantised;
pub mod text;

pub use blocks::*;
pub use logistic::*;

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
        assert_eq!(dot_decimals(&whole, &tens, &w), expected);
        assert_eq!(dot_decimal(&whole, 1.0, &w), expected);
    }

    /// All powers, and codes at the ends, around powers of two and of ten, and in between.
    #[test]
    fn fused_quotients_are_those_of_a_division() {
        let mut codes: Vec<i32> = vec![0, i32::MAX, i32::MIN + 1];
        codes.extend((0..31).flat_map(|e| [-1, 0, 1].map(|d| (1i64 << e) as i32 - d)));
        codes.extend((0..10).flat_map(|e| [-1, 0, 1].map(|d| 10i32.pow(e) + d)));
        let mut state = 1u64;
        codes.extend((0..20_000).map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as i32 >> (state % 31)
        }));
        for places in 0..=22 {
            let ten = crate::number::power_of_ten(places);
            for &code in &codes {
                for code in [f64::from(code), -f64::from(code)] {
                    let (fused, divided) = (Fused::of(code, ten, 1.0 / ten), code / ten);
                    assert_eq!(fused + 0.0, divided, "{code} / {ten}");
                }
            }
        }
    }

    #[test]
    fn table_codes_are_added_as_their_values() {
        let codes: Vec<u8> =
            (0..1061).map(|j| if j % 40 < 23 { 0 } else { (j * 31 % 256) as u8 }).collect();
        let mut table = [0.0; 256];
        (1..256).for_each(|c| table[c] = (c as f64).sqrt() - 7.7);
        let values: Vec<f64> = codes.iter().map(|&c| table[usize::from(c)]).collect();
        let start: Vec<f64> = (0..1061).map(|j| (f64::from(j) * 0.3).sin()).collect();
        let scale: Vec<f64> = (0..1061).map(|j| f64::from(j % 7) + 0.5).collect();
        for len in [0, 1, 7, 8, 63, 512, 513, 1061] {
            let bits = |w: &[f64]| w.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
            assert_eq!(
                dot_table8(&codes[..len], &table, &start).to_bits(),
                dot_f64(&values[..len], &start).to_bits()
            );
            let (mut plain, mut coded) = (start.clone(), start.clone());
            axpy_dense(0.37, &values[..len], &mut plain);
            axpy_table8(0.37, &codes[..len], &table, &mut coded);
            assert_eq!(bits(&plain), bits(&coded), "{len}");
            axpy_dense_scaled(-1.3, &scale, &values[..len], &mut plain);
            axpy_table8_scaled(-1.3, &scale, &codes[..len], &table, &mut coded);
            assert_eq!(bits(&plain), bits(&coded), "{len}");
        }
    }
}
