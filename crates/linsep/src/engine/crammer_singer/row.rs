//! The shares of one row: how far they are from the best, and the best ones.
//!
//! Slopes, shares and aims come in lines as long as those of the planes, a multiple of [`LANES`]. Places beyond the
//! last class have a slope of −∞ and no share. Lanes are added up apart and then in one order, so that the
//! loops need no more than the widest registers at hand and every CPU gives the same bits.

use linsep_data::matrix::panel::Real;

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
    if !(strength > T::ZERO) {
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
