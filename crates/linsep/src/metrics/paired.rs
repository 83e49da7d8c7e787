//! Two classifiers on the same rows: McNemar's exact test, and Holm's adjustment for several tests.
//!
//! Only rows on which one is right and the other wrong say which is better. If both are equally good,
//! each such row is a fair coin: with n of them the smaller count m has the two-sided probability
//!
//! ```text
//! p = min(1, 2 Σ_{i ≤ m} C(n, i) / 2ⁿ)
//! ```
//!
//! Of several tests Holm (1979) multiplies the smallest p by their number, the next by one less and so
//! on, never below an earlier one; the chance of any false alarm is then at most the level. The sums
//! use only additions, products and quotients, so they have the same bits on every machine.
//!
//! References: McNemar 1947; Holm 1979, A simple sequentially rejective multiple test procedure.

use linsep_data::sort::places;

/// The two-sided exact p of `a` rows for one classifier and `b` for the other.
pub fn mcnemar(a: u64, b: u64) -> f64 {
    let (n, m) = (a + b, a.min(b));
    if 2 * m == n {
        return 1.0;
    }
    // Binomial coefficients relative to the middle one; far from it they vanish, as they should.
    let middle = n / 2;
    let (mut term, mut tail, mut below) = (1.0f64, 0.0f64, 0.0f64);
    for i in (0..=middle).rev() {
        if i < middle {
            term *= (i + 1) as f64 / (n - i) as f64;
        }
        below += term;
        if i <= m {
            tail += term;
        }
        if term == 0.0 {
            break;
        }
    }
    // By symmetry the upper half is the lower one, but for the middle of an even n.
    let total = if n.is_multiple_of(2) { 2.0 * below - 1.0 } else { 2.0 * below };
    (2.0 * tail / total).min(1.0)
}

/// Holm's adjusted p-values, in the order given.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let order = places(p.len(), &mut |a, b| p[a].total_cmp(&p[b]));
    let mut adjusted = vec![0.0; p.len()];
    let mut least = 0.0f64;
    for (rank, k) in order.into_iter().enumerate() {
        least = least.max(((p.len() - rank) as f64 * p[k]).min(1.0));
        adjusted[k] = least;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-12 * b.abs()
    }

    #[test]
    fn the_exact_test_counts_coins() {
        // 2 (C(9,0) + C(9,1)) / 2^9 and the like, by hand.
        assert!(near(mcnemar(1, 8), 20.0 / 512.0));
        assert!(near(mcnemar(8, 1), 20.0 / 512.0));
        assert!(near(mcnemar(0, 5), 2.0 / 32.0));
        assert!(near(mcnemar(2, 10), 2.0 * (1.0 + 12.0 + 66.0) / 4096.0));
        assert!(near(mcnemar(3, 4), 1.0));
        assert_eq!(mcnemar(0, 0), 1.0);
        assert_eq!(mcnemar(7, 7), 1.0);
        assert!(near(mcnemar(0, 1), 1.0));
        assert!(near(mcnemar(0, 40), 2.0f64.powi(-39)));
        // Agrees with the recursion in whole numbers for every pair up to 20.
        for n in 0u64..=20 {
            for m in 0..=n {
                let choose = |i: u64| (0..i).fold(1u64, |c, k| c * (n - k) / (k + 1));
                let tail: u64 = (0..=m.min(n - m)).map(choose).sum();
                let exact = (2.0 * tail as f64 / 2f64.powi(n as i32)).min(1.0);
                assert!(near(mcnemar(m, n - m), exact), "{m} of {n}");
            }
        }
        assert!(mcnemar(0, 1_000_000) == 0.0 && mcnemar(499_000, 501_000) < 0.05);
    }

    #[test]
    fn holm_multiplies_and_never_falls() {
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
        let expected = [0.03, 0.06, 0.06, 0.02];
        assert!(adjusted.iter().zip(expected).all(|(a, b)| near(*a, b)), "{adjusted:?}");
        assert_eq!(holm(&[0.5, 0.9]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }
}
