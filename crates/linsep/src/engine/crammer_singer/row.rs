//! The shares of one row: how far they are from the best, and the best ones.
//!
//! Slopes, shares and aims come in lines as long as those of the planes, a multiple of [`LANES`]. Places beyond the
//! last class have a slope of −∞ and no share. Lanes are added up apart and then in one order, so that the
//! loops need no more than the widest registers at hand and every CPU gives the same bits.

use linsep_data::matrix::panel::Real;
use std::cmp::Ordering;

const LANES: usize = 8;

/// By how much a slope is above that of a class which has a share; not above 0 where the shares are the best.
#[inline]
pub(super) fn violation<T: Real>(slopes: &[T], shares: &[T]) -> T {
    let mut most = [T::of(f64::NEG_INFINITY); LANES];
    let mut least = [T::of(f64::INFINITY); LANES];
    let (slopes, _) = slopes.as_chunks::<LANES>();
    let (shares, _) = shares.as_chunks::<LANES>();
    for (slopes, shares) in slopes.iter().zip(shares) {
        for lane in 0..LANES {
            most[lane] = greater(slopes[lane], most[lane]);
            let held = if shares[lane] > T::ZERO { slopes[lane] } else { T::of(f64::INFINITY) };
            least[lane] = if held < least[lane] { held } else { least[lane] };
        }
    }
    let least = least.into_iter().fold(least[0], |a, b| if b < a { b } else { a });
    greatest(most) - least
}

/// The best shares of a row: the projection of p + G/strength onto the simplex.
#[inline]
pub(super) fn project<T: Real>(slopes: &[T], shares: &[T], strength: T, aims: &mut [T]) {
    let (slopes, _) = slopes.as_chunks::<LANES>();
    let (shares, _) = shares.as_chunks::<LANES>();
    let (aims, _) = aims.as_chunks_mut::<LANES>();
    let mut most = [T::of(f64::NEG_INFINITY); LANES];
    for slopes in slopes {
        for lane in 0..LANES {
            most[lane] = greater(slopes[lane], most[lane]);
        }
    }
    let most = greatest(most);
    if strength.partial_cmp(&T::ZERO) != Some(Ordering::Greater) {
        // A row of zeros: everything for the largest slope.
        let best = slopes.as_flattened().iter().position(|slope| *slope == most).unwrap_or(0);
        let aims = aims.as_flattened_mut();
        aims.fill(T::ZERO);
        aims[best] = T::ONE;
        return;
    }
    let mut highest = [T::of(f64::NEG_INFINITY); LANES];
    for ((aims, slopes), shares) in aims.iter_mut().zip(slopes).zip(shares) {
        for lane in 0..LANES {
            // Slopes count from the largest, so that a weak row does not drown the shares.
            aims[lane] = shares[lane] + (slopes[lane] - most) / strength;
            highest[lane] = greater(aims[lane], highest[lane]);
        }
    }
    let mut level = greatest(highest) - T::ONE;
    let mut above = T::ZERO;
    for _ in 0..=LANES * aims.len() {
        let (mut sums, mut counts) = ([T::ZERO; LANES], [T::ZERO; LANES]);
        for aims in aims.iter() {
            for lane in 0..LANES {
                let over = aims[lane] > level;
                sums[lane] += if over { aims[lane] } else { T::ZERO };
                counts[lane] += if over { T::ONE } else { T::ZERO };
            }
        }
        let count = total(counts);
        if count == above || count == T::ZERO {
            break;
        }
        above = count;
        level = (total(sums) - T::ONE) / count;
    }
    let mut sums = [T::ZERO; LANES];
    for aims in aims.iter_mut() {
        for lane in 0..LANES {
            let over = aims[lane] - level;
            aims[lane] = if over > T::ZERO { over } else { T::ZERO };
            sums[lane] += aims[lane];
        }
    }
    let sum = total(sums);
    if sum > T::ZERO {
        aims.as_flattened_mut().iter_mut().for_each(|aim| *aim = *aim / sum);
    }
}

#[inline(always)]
fn greater<T: Real>(a: T, b: T) -> T {
    if a > b { a } else { b }
}

#[inline(always)]
fn greatest<T: Real>(lanes: [T; LANES]) -> T {
    lanes.into_iter().fold(lanes[0], |most, x| greater(x, most))
}

#[inline(always)]
fn total<T: Real>([a, b, c, d, e, f, g, h]: [T; LANES]) -> T {
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The projection by a sorted list, one number at a time.
    fn sorted_projection(points: &[f64]) -> Vec<f64> {
        let mut falling = points.to_vec();
        falling.sort_by(|a, b| b.total_cmp(a));
        let (mut sum, mut level) = (0.0, 0.0);
        for (k, point) in falling.iter().enumerate() {
            sum += point;
            let next = (sum - 1.0) / (k + 1) as f64;
            if *point > next {
                level = next;
            }
        }
        points.iter().map(|point| (point - level).max(0.0)).collect()
    }

    #[test]
    fn best_shares_are_a_projection_onto_the_simplex() {
        for classes in [2, 3, 7, 8, 9, 20] {
            for seed in 0..50 {
                let wave = |k: usize, step: f64| (step * (seed * classes + k) as f64).sin();
                let lanes = classes.next_multiple_of(LANES);
                let mut slopes = vec![f64::NEG_INFINITY; lanes];
                let (mut shares, mut aims) = (vec![0.0; lanes], vec![0.0; lanes]);
                for k in 0..classes {
                    slopes[k] = wave(k, 1.3);
                    shares[k] = wave(k, 0.7).max(0.0);
                }
                let sum: f64 = shares.iter().sum();
                match sum > 0.0 {
                    true => shares.iter_mut().for_each(|share| *share /= sum),
                    false => shares[0] = 1.0,
                }
                let strength = 0.3 + (seed % 5) as f64;
                project(&slopes, &shares, strength, &mut aims);
                let points: Vec<f64> =
                    (0..classes).map(|k| shares[k] + slopes[k] / strength).collect();
                for (aim, right) in aims.iter().zip(sorted_projection(&points)) {
                    assert!((aim - right).abs() < 1e-12, "{classes} {seed}: {aim} {right}");
                }
                assert!(aims[classes..].iter().all(|aim| *aim == 0.0));
                // With steps of the same strength from there, nothing moves.
                let rest: Vec<f64> = (0..lanes)
                    .map(|k| match k < classes {
                        true => slopes[k] - strength * (aims[k] - shares[k]),
                        false => f64::NEG_INFINITY,
                    })
                    .collect();
                assert!(violation(&rest, &aims) < 1e-10, "{classes} {seed}");
            }
        }
    }

    #[test]
    fn a_row_of_zeros_goes_to_the_largest_slope() {
        let slopes = [0.0, 1.0, 0.5, f64::NEG_INFINITY, 0.0, 0.0, 0.0, 0.0];
        let mut aims = [0.5; LANES];
        project(&slopes, &[0.125; LANES], 0.0, &mut aims);
        assert_eq!(aims, [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        assert!(violation(&slopes, &aims) <= 0.0);
        assert!(violation(&slopes, &[0.5, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]) > 0.0);
    }
}
