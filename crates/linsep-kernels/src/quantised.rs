//! Kernels of rough rows: one byte for each value, four rows at a time.
//!
//! The plain form and that of AVX2 add up in the same order, so they give the same bits. The compiler does
//! not find the second by itself: it mixes the rows.

/// Values that are added up side by side.
const LANES: usize = 8;

/// Four rows of bytes times one vector. All have the same length, a multiple of eight.
#[inline]
pub fn dot_bytes(rows: [&[u8]; 4], w: &[f32]) -> [f32; 4] {
    let rows = rows.map(|row| row.as_chunks::<LANES>().0);
    let (w, _) = w.as_chunks::<LANES>();
    assert!(rows.iter().all(|row| row.len() == w.len()));
    #[cfg(all(target_arch = "x86_64", not(linsep_portable)))]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the CPU has AVX2.
        return unsafe { wide::dot(rows, w) };
    }
    rows.map(|row| {
        let mut sums = [0f32; LANES];
        for (codes, w) in row.iter().zip(w) {
            for lane in 0..LANES {
                sums[lane] += f32::from(codes[lane]) * w[lane];
            }
        }
        total(sums)
    })
}

/// sum += Σ a_r · row_r of four rows of bytes. All have the same length, a multiple of eight.
#[inline]
pub fn add_bytes(a: [f32; 4], rows: [&[u8]; 4], sum: &mut [f32]) {
    let rows = rows.map(|row| row.as_chunks::<LANES>().0);
    let (sum, _) = sum.as_chunks_mut::<LANES>();
    assert!(rows.iter().all(|row| row.len() == sum.len()));
    #[cfg(all(target_arch = "x86_64", not(linsep_portable)))]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the CPU has AVX2.
        unsafe { wide::add(a, rows, sum) };
        return;
    }
    for (at, sum) in sum.iter_mut().enumerate() {
        for lane in 0..LANES {
            let term = |r: usize| a[r] * f32::from(rows[r][at][lane]);
            sum[lane] += (term(0) + term(1)) + (term(2) + term(3));
        }
    }
}

#[inline]
fn total([a, b, c, d, e, f, g, h]: [f32; LANES]) -> f32 {
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

#[cfg(all(target_arch = "x86_64", not(linsep_portable)))]
mod wide {
    use super::{LANES, total};
    use std::arch::x86_64::{
        __m256, _mm_loadl_epi64, _mm256_add_ps, _mm256_cvtepi32_ps, _mm256_cvtepu8_epi32,
        _mm256_loadu_ps, _mm256_mul_ps, _mm256_set1_ps, _mm256_setzero_ps, _mm256_storeu_ps,
    };

    #[target_feature(enable = "avx2")]
    #[inline]
    fn numbers(codes: &[u8; LANES]) -> __m256 {
        // SAFETY: reads the eight bytes of the array.
        let bytes = unsafe { _mm_loadl_epi64(codes.as_ptr().cast()) };
        _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes))
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn dot(rows: [&[[u8; LANES]]; 4], w: &[[f32; LANES]]) -> [f32; 4] {
        let mut sums = [_mm256_setzero_ps(); 4];
        let rows = rows.map(|row| &row[..w.len()]);
        for (at, w) in w.iter().enumerate() {
            // SAFETY: reads the eight numbers of the array.
            let w = unsafe { _mm256_loadu_ps(w.as_ptr()) };
            for r in 0..4 {
                sums[r] = _mm256_add_ps(sums[r], _mm256_mul_ps(numbers(&rows[r][at]), w));
            }
        }
        sums.map(|sum| {
            let mut lanes = [0f32; LANES];
            // SAFETY: writes the eight numbers of the array.
            unsafe { _mm256_storeu_ps(lanes.as_mut_ptr(), sum) };
            total(lanes)
        })
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn add(a: [f32; 4], rows: [&[[u8; LANES]]; 4], sum: &mut [[f32; LANES]]) {
        let a = a.map(|a| _mm256_set1_ps(a));
        let rows = rows.map(|row| &row[..sum.len()]);
        for (at, sum) in sum.iter_mut().enumerate() {
            let term = |r: usize| _mm256_mul_ps(a[r], numbers(&rows[r][at]));
            let terms =
                _mm256_add_ps(_mm256_add_ps(term(0), term(1)), _mm256_add_ps(term(2), term(3)));
            // SAFETY: reads and writes the eight numbers of the array.
            unsafe {
                let moved = _mm256_add_ps(_mm256_loadu_ps(sum.as_ptr()), terms);
                _mm256_storeu_ps(sum.as_mut_ptr(), moved);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_bytes_are_those_of_their_numbers() {
        let row = |r: usize| (0..40).map(|k| ((k * 37 + r * 101) % 256) as u8).collect::<Vec<u8>>();
        let rows: Vec<Vec<u8>> = (0..4).map(row).collect();
        let lines = [&rows[0][..], &rows[1][..], &rows[2][..], &rows[3][..]];
        let w: Vec<f32> = (0..40).map(|k| (k as f32 - 20.0) / 8.0).collect();
        let products = dot_bytes(lines, &w);
        for (row, product) in rows.iter().zip(products) {
            let exact: f64 = row.iter().zip(&w).map(|(x, w)| f64::from(*x) * f64::from(*w)).sum();
            assert!((f64::from(product) - exact).abs() < 1e-2, "{product} {exact}");
        }
        let a = [0.5, -2.0, 0.0, 3.0];
        let mut sum = vec![1f32; 40];
        add_bytes(a, lines, &mut sum);
        for (k, sum) in sum.iter().enumerate() {
            let terms = rows.iter().zip(a).map(|(row, a)| f64::from(row[k]) * f64::from(a));
            assert_eq!(f64::from(*sum), 1.0 + terms.sum::<f64>(), "small whole numbers are exact");
        }
    }
}
