//! Exponentials, logarithms and entropies with proved errors, out of additions, products and
//! quotients of binary64 only: the mathematical library of the system is not trusted.
//!
//! With u = 2^-53:
//!
//! **exp**, x ≤ 0. k = round(x / ln 2), r = x − k·ln 2 with ln 2 in two parts, the first of 42 bits so
//! that k times it is exact: |r| < 0.3467 with an error below 0.35 u + 2^-80. The Taylor polynomial of
//! degree 13 leaves r^14/14! < 2^-57 of the sum. Horner's rule 1 + r (1 + r (…)) rounds the last sum once
//! and the rest, at most 0.42 of it, with less than 3 u; the factor 2^k is exact. Together less than 8 u.
//!
//! **ln**, 2 atanh s = ln m for s = (m − 1)/(m + 1), m in [√½, √2], |s| ≤ 0.1716: the series
//! 2 s (1 + s²/3 + …) to s²²  leaves less than 2^-58 of itself, s has 2 roundings, Horner's rule less
//! than 3. With y = 2^k m, ln y = k ln 2 + ln m; for k ≠ 0 the sum is at least 0.3466, its parts have
//! absolute errors of 6 u of at most 0.35 and of u |k| ln 2, and two additions round: below 16 u of the
//! sum. `ln_one_plus` takes s = z/(2 + z) where 1 + z is in that range, which loses nothing by rounding
//! 1 + z; elsewhere rounding 1 + z moves the logarithm by u, at most 3 u of it. All below 2^-48 = 32 u.
//!
//! Reference: Muller, Elementary Functions: Algorithms and Implementation, chapters 4 and 11.

/// exp(x) for x ≤ 0, with a relative error below 2^-50; 0 below −708, where it is less than
/// 2^-1021.
#[inline]
pub(in crate::check) fn exp(x: f64) -> f64 {
    if x.is_nan() || x < -708.0 {
        return if x.is_nan() { x } else { 0.0 };
    }
    // Adding and taking away 1.5 · 2^52 rounds to a whole number.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let k = (x * std::f64::consts::LOG2_E + ROUND) - ROUND;
    let r = (x - k * LN_2_HIGH) - k * LN_2_LOW;
    let mut sum = INVERSE_FACTORIALS[13];
    for inverse in INVERSE_FACTORIALS[..13].iter().rev() {
        sum = inverse + r * sum;
    }
    sum * f64::from_bits(((1023 + k as i64) as u64) << 52)
}

const LN_2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fefa_3800);
const LN_2_LOW: f64 = f64::from_bits(0x3d2e_f357_93c7_6730);
const SQRT_HALF: f64 = std::f64::consts::FRAC_1_SQRT_2;

const INVERSE_FACTORIALS: [f64; 14] = [
    1.0,
    1.0,
    1.0 / 2.0,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5_040.0,
    1.0 / 40_320.0,
    1.0 / 362_880.0,
    1.0 / 3_628_800.0,
    1.0 / 39_916_800.0,
    1.0 / 479_001_600.0,
    1.0 / 6_227_020_800.0,
];

/// ln y for a normal y outside of (0.75, 1.4), within 2^-48 of itself; no number for any that is not
/// normal and positive.
#[inline]
pub(super) fn ln(y: f64) -> f64 {
    if !(y.is_normal() && y > 0.0) {
        return f64::NAN;
    }
    let bits = y.to_bits();
    let mut k = (bits >> 52) as i64 - 1023;
    let mut m = f64::from_bits((bits & ((1 << 52) - 1)) | (1023 << 52));
    if m > 2.0 * SQRT_HALF {
        m *= 0.5;
        k += 1;
    }
    let k = k as f64;
    k * LN_2_HIGH + (twice_atanh((m - 1.0) / (m + 1.0)) + k * LN_2_LOW)
}

/// ln(1 + z) for z ≥ −1/2 and below 2^1000, within 2^-48 of itself.
#[inline]
pub(super) fn ln_one_plus(z: f64) -> f64 {
    match z > SQRT_HALF - 1.0 && z < 2.0 * SQRT_HALF - 1.0 {
        true => twice_atanh(z / (2.0 + z)),
        false => ln(1.0 + z),
    }
}

/// 2 atanh s for |s| ≤ 0.1716.
#[inline]
fn twice_atanh(s: f64) -> f64 {
    const ODD: [f64; 12] = [
        2.0,
        2.0 / 3.0,
        2.0 / 5.0,
        2.0 / 7.0,
        2.0 / 9.0,
        2.0 / 11.0,
        2.0 / 13.0,
        2.0 / 15.0,
        2.0 / 17.0,
        2.0 / 19.0,
        2.0 / 21.0,
        2.0 / 23.0,
    ];
    let square = s * s;
    let mut sum = ODD[11];
    for odd in ODD[..11].iter().rev() {
        sum = odd + square * sum;
    }
    s * sum
}

/// No more than H(p) / (1 − 2^-46), H(p) = −p ln p − (1 − p) ln(1 − p), for every p between 0 and 1 that
/// is within 16 u of `rounded`, relatively.
///
/// H is concave with H(0) = H(1) = 0, so with s = min(p, 1 − p) and k ≤ 1, H(ks) ≥ k H(s): a relative
/// error of s is no larger in H. For p above ½ the error of 1 − p is 16 u of p, hence 16 u/(1 − p).
#[inline]
pub(super) fn entropy_below(rounded: f64) -> f64 {
    // Smaller shares may have lost digits; 0 is below every entropy.
    if rounded.is_nan() || rounded < 1e-290 {
        return if rounded.is_nan() { rounded } else { 0.0 };
    }
    let (s, keep) = match rounded <= 0.5 {
        true => (rounded, 1.0),
        false => {
            let rest = 1.0 - rounded;
            (rest, 1.0 - 8.0 * f64::EPSILON / rest)
        }
    };
    match keep > 0.0 {
        true => keep * (-s * ln(s) - (1.0 - s) * ln_one_plus(-s)),
        false => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::double::Double;

    const EXP_ERROR: f64 = 4.0 * f64::EPSILON;
    const LN_ERROR: f64 = 16.0 * f64::EPSILON;

    /// exp in numbers of twice the length: the series at x/1024, squared ten times.
    fn exp_double(x: Double) -> Double {
        let small = x.times(1.0 / 1024.0);
        let mut sum = Double::of(1.0);
        for n in (1..=20).rev() {
            sum = Double::of(1.0).plus(small.times_double(sum).over(Double::of(f64::from(n))));
        }
        (0..10).fold(sum, |power, _| power.times_double(power))
    }

    /// ln y by a step of Newton's from binary64: l + (y exp(−l) − 1), with two more terms.
    fn ln_double(y: Double) -> Double {
        let mut l = Double::of(y.value().ln());
        for _ in 0..2 {
            let rest = y.times_double(exp_double(Double::ZERO.minus(l))).minus(Double::of(1.0));
            l = l.plus(rest).minus(rest.times_double(rest).times(0.5));
        }
        l
    }

    fn relative(found: f64, right: Double) -> f64 {
        (Double::of(found).minus(right).value() / right.value()).abs()
    }

    /// Numbers that fill (0, 1) evenly.
    fn even(count: u32) -> impl Iterator<Item = f64> {
        (1..=count).map(|k| (f64::from(k) * 0.618_033_988_749_894_8).fract())
    }

    #[test]
    fn exponentials_are_within_their_bound() {
        let known = exp_double(Double::of(-1.0)).minus(Double::of(0.367_879_441_171_442_33));
        assert!((known.value() + 1.242_875_367_278_836_2e-17).abs() < 1e-30, "{known:?}");
        let mut worst = 0f64;
        for t in even(3_000) {
            for x in [-t, -40.0 * t, -700.0 * t, -0.4 * t, -1e-9 * t] {
                worst = worst.max(relative(exp(x), exp_double(Double::of(x))));
            }
        }
        assert!(worst < EXP_ERROR / 2.0, "{worst:e}");
        assert_eq!((exp(0.0), exp(-709.0), exp(f64::NEG_INFINITY)), (1.0, 0.0, 0.0));
        assert!(exp(-708.0) > 0.0 && exp(f64::NAN).is_nan());
    }

    #[test]
    fn logarithms_are_within_their_bound() {
        let known = ln_double(Double::of(2.0)).minus(Double::of(std::f64::consts::LN_2));
        assert!((known.value() - 2.319_046_813_846_3e-17).abs() < 1e-29, "{known:?}");
        let mut worst = 0f64;
        for t in even(3_000) {
            for y in [0.75 * t, 1.4 + t, 1e-5 * t, 1e-300 * t.max(0.01), 1e9 * t.max(0.01)] {
                worst = worst.max(relative(ln(y), ln_double(Double::of(y))));
            }
            for z in [t, -0.5 * t, 0.4 * t, 1e-3 * t, 30.0 * t] {
                let right = ln_double(Double::of(1.0).plus(Double::of(z)));
                worst = worst.max(relative(ln_one_plus(z), right));
            }
        }
        assert!(worst < LN_ERROR / 2.0, "{worst:e}");
        // Where the reference loses digits the series itself says what is right.
        for z in even(1_000).map(|t| 1e-12 * t) {
            let right = Double::of(z).minus(Double::product(z, z).times(0.5));
            assert!(relative(ln_one_plus(z), right) < LN_ERROR);
        }
        assert_eq!(ln_one_plus(0.0), 0.0);
        assert!(ln_one_plus(f64::NAN).is_nan());
    }

    #[test]
    fn entropies_are_bounded_from_below() {
        let whole = |p: Double| {
            let rest = Double::of(1.0).minus(p);
            Double::ZERO
                .minus(p.times_double(ln_double(p)))
                .minus(rest.times_double(ln_double(rest)))
        };
        for t in even(500) {
            for rounded in [t, 1.0 - 1e-9 * t, 1.0 - 1e-14 * t, 1e-6 * t, 0.5 + 1e-15 * t] {
                let below = entropy_below(rounded) * (1.0 - 2f64.powi(-46));
                for moved in [-16.0, -3.0, 0.0, 3.0, 16.0] {
                    let share = moved * f64::EPSILON / 2.0;
                    let p = Double::of(rounded).plus(Double::product(rounded, share));
                    if p.value() < 1.0 {
                        let right = whole(p).value();
                        assert!(below <= right * (1.0 + 1e-13), "{rounded:e} {moved}");
                        let loss = 40.0 * f64::EPSILON * (2.0 - (1.0 - rounded).max(1e-16).ln());
                        assert!(below >= right * (1.0 - 1e-13) - loss, "{rounded:e} {moved}");
                    }
                }
            }
        }
        assert_eq!(
            (entropy_below(0.0), entropy_below(1.0), entropy_below(1e-300)),
            (0.0, 0.0, 0.0)
        );
        assert!(entropy_below(f64::NAN).is_nan());
    }
}
