//! Kernels of logistic likelihoods: exponentials and logarithms of many numbers, and what rows of binary64 add up to.
//!
//! **e^x** for x ≤ 0: with k = x/ln 2 to the nearest whole number and r = x − k ln 2, |r| ≤ ½ ln 2, it is 2^k times
//! the first terms of the series of e^r. **ln(1 + e)** for 0 ≤ e ≤ 1: with s = e/(2 + e) ≤ 1/3 it is 2 artanh s, by the
//! first terms of its series. **ln x** likewise, with s = (m − 1)/(m + 1) for x = 2^k m, ½ ≤ m² ≤ 2. All leave out less than 2^-54 of the value; the first two are off by at most 2^-50 of it, the last by 2^-50 of it or of 1. Nothing
//! branches, so that registers hold eight rows at once; no step is fused, so that every CPU gives the same bits.
//!
//! Rows come one after another in one slice, all of one width, and have to be finite.

#[cfg_attr(linsep_portable, allow(unused_imports))]
use crate::{Divided, Fused, LANES, Quotient, Widest, dense_dot, padded};

/// 1/n! for n = 13 down to 0.
const FACTORIALS: [f64; 14] = [
    1.0 / 6_227_020_800.0,
    1.0 / 479_001_600.0,
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    0.5,
    1.0,
    1.0,
];

/// e^x for x ≤ 0; e^-708 for all x below that.
#[inline(always)]
fn exp_one(x: f64) -> f64 {
    /// Adding it leaves whole numbers in the last bits.
    const SHIFT: f64 = 6_755_399_441_055_744.0;
    /// ln 2 in two parts, the first with so few bits that its products with k are exact.
    const LN_2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];
    // Not `max`, which would make a number of what is none.
    let x = if x < -708.0 { -708.0 } else { x };
    let shifted = x * std::f64::consts::LOG2_E + SHIFT;
    let k = shifted - SHIFT;
    let r = (x - k * LN_2[0]) - k * LN_2[1];
    let mut sum = FACTORIALS[0];
    for factor in &FACTORIALS[1..] {
        sum = sum * r + factor;
    }
    sum * f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52)
}

/// ln(1 + e) for 0 ≤ e ≤ 1.
#[inline(always)]
fn ln_1p_one(e: f64) -> f64 {
    let s = e / (2.0 + e);
    let z = s * s;
    let mut sum = 1.0 / 33.0;
    for n in (0..16).rev() {
        sum = sum * z + 1.0 / f64::from(2 * n + 1);
    }
    2.0 * s * sum
}

/// ln x of a normal number above 0: with x = 2^k m and m next to 1, k ln 2 + 2 artanh((m − 1)/(m + 1)).
#[inline(always)]
fn ln_one(x: f64) -> f64 {
    /// The bits of √½, and what lifts exponents above 0.
    const LEAST: u64 = 0x3fe6_a09e_667f_3bcd;
    const LIFT: u64 = 1023 << 52;
    let k = (x.to_bits().wrapping_sub(LEAST).wrapping_add(LIFT)) >> 52;
    let m = f64::from_bits(x.to_bits().wrapping_sub(k.wrapping_sub(1023) << 52));
    // k stands in the last bits of a number of 2^52 and more.
    let k = f64::from_bits(k | 0x4330_0000_0000_0000) - (4_503_599_627_370_496.0 + 1023.0);
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    let mut sum = 1.0 / 21.0;
    for n in (0..10).rev() {
        sum = sum * z + 1.0 / f64::from(2 * n + 1);
    }
    k * std::f64::consts::LN_2 + 2.0 * s * sum
}

/// The eight numbers of a row from a place on. Behind the row are those of the next one, and zeros behind the last.
#[inline(always)]
fn strip(rows: &[f64], at: usize) -> [f64; LANES] {
    match rows[at..].first_chunk::<LANES>() {
        Some(strip) => *strip,
        None => padded(&rows[at..]),
    }
}

kernels! { widest:
    /// x ↦ e^x for numbers that are not above 0; e^-708 for those below -708.
    fn exp_rows(numbers: &mut [f64]) {
        for x in numbers {
            *x = exp_one(*x);
        }
    }

    /// x ↦ −x ln x − (1 − x) ln (1 − x) for numbers from 0 to 1.
    fn entropy_rows(numbers: &mut [f64]) {
        for x in numbers {
            let t = if *x > 0.5 { 1.0 - *x } else { *x };
            // −ln (1 − t) = ln (1 + t/(1 − t)).
            let rest = (1.0 - t) * ln_1p_one(t / (1.0 - t));
            let part = t * ln_one(t);
            *x = if t > 0.0 { rest - part } else { 0.0 };
        }
    }

    /// score_i += Σ_j x_ij w_j, in the lanes of a dot product.
    fn add_scores(rows: &[f64], w: &[f64], scores: &mut [f64]) {
        if !w.is_empty() {
            for (score, row) in scores.iter_mut().zip(rows.chunks_exact(w.len())) {
                *score += dense_dot(row, w, |x| x);
            }
        }
    }

    /// sum_j += Σ_i factor_i x_ij, four rows at a time.
    fn add_rows(factors: &[f64], rows: &[f64], sums: &mut [f64]) {
        let width = sums.len();
        for (first, sums) in (0..width).step_by(LANES).zip(sums.chunks_mut(LANES)) {
            let mut all = [0.0; LANES];
            let (fours, rest) = factors.as_chunks::<4>();
            for (four, factors) in fours.iter().enumerate() {
                let at = 4 * four * width + first;
                let [a, b, c, d] = [0, 1, 2, 3].map(|row| strip(rows, at + row * width));
                for lane in 0..LANES {
                    all[lane] += (factors[0] * a[lane] + factors[1] * b[lane])
                        + (factors[2] * c[lane] + factors[3] * d[lane]);
                }
            }
            for (row, factor) in rest.iter().enumerate() {
                let x = strip(rows, (4 * fours.len() + row) * width + first);
                for lane in 0..LANES {
                    all[lane] += factor * x[lane];
                }
            }
            sums.iter_mut().zip(all).for_each(|(sum, x)| *sum += x);
        }
    }

    /// Of scores s, shares of successes y and weights m, with p = 1/(1 + e^(-s)): m (y − p), m p (1 − p), and in
    /// place of the scores −y ln p − (1 − y) ln (1 − p).
    fn logistic_rows(
        scores: &mut [f64],
        y: &[f64],
        weights: &[f64],
        slopes: &mut [f64],
        curvatures: &mut [f64]
    ) {
        for i in 0..scores.len().min(y.len()).min(weights.len()).min(slopes.len()).min(curvatures.len()) {
            let (s, y, m) = (scores[i], y[i], weights[i]);
            let e = exp_one(-s.abs());
            let large = 1.0 / (1.0 + e);
            let small = e * large;
            let is_up = s >= 0.0;
            let (p, q) = if is_up { (large, small) } else { (small, large) };
            slopes[i] = m * (y * q - (1.0 - y) * p);
            curvatures[i] = m * p * q;
            scores[i] = (if is_up { 1.0 - y } else { y }) * s.abs() + ln_1p_one(e);
        }
    }

    /// Of the scores of classes, one class after the other, the last class having 0 everywhere and no place: their
    /// shares; the largest score of each row, and the logarithm of Σ e^(score − the largest).
    fn softmax_rows(scores: &mut [f64], most: &mut [f64], logarithms: &mut [f64]) {
        let rows = most.len();
        if rows > 0 {
            most.fill(0.0);
            for class in scores.chunks_exact(rows) {
                most.iter_mut().zip(class).for_each(|(most, s)| *most = if *s > *most { *s } else { *most });
            }
            logarithms.iter_mut().zip(&*most).for_each(|(sum, most)| *sum = exp_one(-most));
            for class in scores.chunks_exact_mut(rows) {
                for ((s, most), sum) in class.iter_mut().zip(&*most).zip(&mut *logarithms) {
                    *s = exp_one(*s - most);
                    *sum += *s;
                }
            }
            for class in scores.chunks_exact_mut(rows) {
                class.iter_mut().zip(&*logarithms).for_each(|(s, sum)| *s /= sum);
            }
        }
        logarithms.iter_mut().for_each(|sum| *sum = ln_one(*sum));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUND: f64 = 1.0 / (1u64 << 50) as f64;

    #[test]
    fn exponentials_and_logarithms_are_those_of_the_library() {
        let mut x: Vec<f64> = (0..200_000).map(|k| -f64::from(k) * 0.003_537).collect();
        x.extend([-0.0, -1e-300, -1e-17, -0.346_573_59, -0.346_573_6, -707.999]);
        let mut found = x.clone();
        exp_rows(&mut found);
        for (x, found) in x.iter().zip(&found) {
            let expected = x.exp();
            assert!((found - expected).abs() <= BOUND * expected, "e^{x} is not {found}");
            let (logarithm, expected) = (ln_1p_one(*found), found.ln_1p());
            assert!((logarithm - expected).abs() <= BOUND * expected, "ln(1 + {found})");
        }
        for k in -3000..3000 {
            let x = (f64::from(k) * 0.229).exp();
            assert!((ln_one(x) - x.ln()).abs() <= BOUND * x.ln().abs().max(1.0), "ln {x}");
        }
        let mut ends = [f64::NEG_INFINITY, -1e4, f64::NAN];
        exp_rows(&mut ends);
        assert!(ends[0] == ends[1] && ends[0] < 1e-307 && ends[2].is_nan());
    }

    #[test]
    fn entropies_are_sums_of_logarithms() {
        let x: Vec<f64> = (0..=4096).map(|k| f64::from(k) / 4096.0).chain([1e-300, 1e-9]).collect();
        let mut found = x.clone();
        entropy_rows(&mut found);
        for (x, found) in x.iter().zip(&found) {
            let part = |x: f64| if x > 0.0 { -x * x.ln() } else { 0.0 };
            let expected = part(*x) - if *x < 1.0 { (1.0 - x) * (-x).ln_1p() } else { 0.0 };
            assert!((found - expected).abs() <= 8.0 * BOUND * expected, "{x}: {found}");
        }
    }

    #[test]
    fn sums_over_rows_are_those_of_plain_loops() {
        for width in [0, 1, 3, 8, 21, 40] {
            for count in [0, 1, 4, 7, 33] {
                let x: Vec<f64> = (0..width * count).map(|k| (k as f64 * 0.7).sin()).collect();
                let w: Vec<f64> = (0..width).map(|k| (k as f64 * 1.3).cos()).collect();
                let factors: Vec<f64> = (0..count).map(|k| (k as f64 * 0.3).cos()).collect();
                let (mut scores, mut sums) = (vec![0.5; count], vec![0.25; width]);
                add_scores(&x, &w, &mut scores);
                add_rows(&factors, &x, &mut sums);
                for i in 0..count {
                    let row = &x[i * width..][..width];
                    assert_eq!(scores[i], 0.5 + crate::dot_f64(row, &w), "{width} {count}");
                }
                for j in 0..width {
                    let plain: f64 = (0..count).map(|i| factors[i] * x[i * width + j]).sum();
                    assert!((sums[j] - 0.25 - plain).abs() < 1e-13, "{width} {count}");
                }
            }
        }
    }

    #[test]
    fn shares_add_up_and_losses_are_their_logarithms() {
        let scores: Vec<f64> = (-40..41).map(|k| f64::from(k) * 0.9).chain([1e3, -1e3]).collect();
        let count = scores.len();
        for y in [0.0, 0.25, 1.0] {
            let (mut losses, mut slopes, mut curvatures) =
                (scores.clone(), vec![0.0; count], vec![0.0; count]);
            logistic_rows(
                &mut losses,
                &vec![y; count],
                &vec![2.0; count],
                &mut slopes,
                &mut curvatures,
            );
            for (i, s) in scores.iter().enumerate() {
                let (p, q) = (1.0 / (1.0 + (-s).exp()), 1.0 / (1.0 + s.exp()));
                assert!((slopes[i] - 2.0 * (y - p)).abs() < 1e-14, "{s}");
                assert!((curvatures[i] - 2.0 * p * q).abs() < 1e-14, "{s}");
                let expected = s.max(0.0) - y * s + (-s.abs()).exp().ln_1p();
                assert!((losses[i] - expected).abs() <= 4.0 * BOUND * (1.0 + expected), "{s}");
            }
        }
        let mut shares: Vec<f64> = scores.iter().chain(scores.iter().rev()).copied().collect();
        let (mut most, mut logarithms) = (vec![0.0; count], vec![0.0; count]);
        softmax_rows(&mut shares, &mut most, &mut logarithms);
        for i in 0..count {
            let (a, b) = (scores[i], scores[count - 1 - i]);
            assert_eq!(most[i], a.max(b).max(0.0));
            let last = (-most[i] - logarithms[i]).exp();
            assert!((shares[i] + shares[count + i] + last - 1.0).abs() < 1e-14, "{a} {b}");
        }
    }
}
