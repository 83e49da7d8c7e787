//! Randomness that never depends on the clock or the number of threads. Bits, whole numbers, reals
//! and orders are the same on every machine; normal numbers use the system's logarithm.
//!
//! A [`Stream`] is named by a seed and a purpose number, so every consumer (the order of epoch 7,
//! the split, a random start) draws from its own stream and can be replayed without keeping any
//! generator state. The generator is PCG-64; whole numbers, reals and normals are derived here so
//! that they stay the same for ever.

use rand_core::Rng;
use rand_pcg::Pcg64;

/// What a stream is used for. Each purpose draws independent numbers from the same seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Purpose {
    /// The order of the rows in one epoch.
    Epoch(u64),
    /// The start weights of one plane.
    Start(u64),
    /// The split into training and test rows, or into folds.
    Split,
    /// The centres of Gaussian basis functions.
    Centres,
    /// Rows drawn again, or predictions that change places; the number tells the draws apart.
    Resample(u64),
    /// Synthetic data; the number tells the parts of a generator apart.
    Generate(u64),
}

/// A reproducible stream of random numbers.
pub struct Stream {
    generator: Pcg64,
}

impl Stream {
    /// The stream of `seed` for `purpose`.
    pub fn new(seed: u64, purpose: Purpose) -> Stream {
        let (kind, part) = match purpose {
            Purpose::Epoch(epoch) => (1, epoch),
            Purpose::Start(plane) => (2, plane),
            Purpose::Split => (3, 0),
            Purpose::Generate(part) => (4, part),
            Purpose::Centres => (9, 0),
            Purpose::Resample(draw) => (10, draw),
        };
        let state = (u128::from(seed) << 64) | u128::from(mix(seed ^ mix(part)));
        let mut generator = Pcg64::new(state, (u128::from(part) << 8) | kind);
        // The first outputs of near seeds are alike; a few steps part them.
        for _ in 0..4 {
            generator.next_u64();
        }
        Stream { generator }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// A whole number below `bound`, each equally likely. `bound` must not be 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        debug_assert!(bound > 0);
        // Multiply-shift with rejection of the short remainder keeps it exactly uniform.
        loop {
            let product = u128::from(self.bits()) * u128::from(bound);
            let low = product as u64;
            if low >= bound || low >= bound.wrapping_neg() % bound {
                return (product >> 64) as u64;
            }
        }
    }

    /// A real number in [0, 1) with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A standard normal number, by the polar method of Marsaglia.
    pub fn normal(&mut self) -> f64 {
        loop {
            let u = 2.0 * self.unit() - 1.0;
            let v = 2.0 * self.unit() - 1.0;
            let s = u * u + v * v;
            if s > 0.0 && s < 1.0 {
                return u * (-2.0 * s.ln() / s).sqrt();
            }
        }
    }

    /// Puts `items` into a random order, each order equally likely (Fisher-Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (2..=items.len()).rev() {
            let pick = self.below(end as u64) as usize;
            items.swap(end - 1, pick);
        }
    }
}

/// A bijection of 64 bits that spreads small differences over all of them.
fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_repeat_and_differ_by_seed_and_purpose() {
        let take = |seed, purpose| {
            let mut stream = Stream::new(seed, purpose);
            [stream.bits(), stream.bits()]
        };
        assert_eq!(take(1, Purpose::Split), take(1, Purpose::Split));
        let all = [
            take(0, Purpose::Split),
            take(1, Purpose::Split),
            take(0, Purpose::Epoch(0)),
            take(0, Purpose::Epoch(1)),
            take(0, Purpose::Start(0)),
        ];
        for (i, a) in all.iter().enumerate() {
            assert!(!all[..i].contains(a));
        }
    }

    #[test]
    fn numbers_have_the_right_distribution() {
        let mut stream = Stream::new(7, Purpose::Generate(0));
        let mut counts = [0u32; 5];
        for _ in 0..50_000 {
            counts[stream.below(5) as usize] += 1;
        }
        assert!(counts.iter().all(|&c| (9_500..10_500).contains(&c)), "{counts:?}");
        let normals: Vec<f64> = (0..50_000).map(|_| stream.normal()).collect();
        let mean = normals.iter().sum::<f64>() / 50_000.0;
        let variance = normals.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 50_000.0;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
    }

    #[test]
    fn a_shuffle_is_a_permutation() {
        let mut items: Vec<u32> = (0..1000).collect();
        Stream::new(3, Purpose::Epoch(2)).shuffle(&mut items);
        assert_ne!(items, (0..1000).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..1000).collect::<Vec<_>>());
    }
}
