//! Sums over the columns for K classes: what rows times a factor for each class add up to.
//!
//! Plain sums of n terms err by n u of the sum of their sizes; sums beside which stands what each addition
//! dropped (`two_sum`) err by n² u² of it.

use super::rows::{Nonzeros, pairs};
use super::{Care, Setting};
use crate::check::elsewhere::{Reader, Sums};
use crate::double::two_sum;
use crate::optimal::Intercept;

/// For each column K sums of c (δ − p) x, what their additions dropped unless the sums are plain, and their
/// size; where biases are free also Σ c x of each class, and the size of these.
pub(super) struct Columns {
    pub(super) layout: Line,
    pub(super) numbers: Vec<f64>,
}

/// Where the numbers of a column stand.
#[derive(Clone, Copy)]
pub(super) struct Line {
    /// The classes, and as many more as make a multiple of [`LANES`].
    pub(super) padded: usize,
    /// What was dropped is kept for so many of them: all or none.
    pub(super) kept: usize,
    pub(super) stride: usize,
}

/// Classes that are summed at once.
pub(super) const LANES: usize = 4;

impl Columns {
    /// Of no rows. Zeros of the system would be mapped by the first reading and copied by the first writing.
    pub(super) fn new(layout: Line, width: usize) -> Columns {
        Columns { layout, numbers: vec![-0.0; layout.stride * width] }
    }

    /// Adds a row times one factor for each class; `size` is the largest of them.
    pub(super) fn add(&mut self, row: Nonzeros<'_>, factors: &[f64], size: f64) {
        let (factors, _) = factors.as_chunks::<LANES>();
        let Line { padded, kept, stride } = self.layout;
        for (column, value) in pairs(row) {
            let sums = &mut self.numbers[column * stride..][..stride];
            let (high, others) = sums.split_at_mut(padded);
            let (low, others) = others.split_at_mut(kept);
            let (high, low) = (high.as_chunks_mut::<LANES>().0, low.as_chunks_mut::<LANES>().0);
            if kept == 0 {
                for (high, factors) in high.iter_mut().zip(factors) {
                    for lane in 0..LANES {
                        high[lane] += factors[lane] * value;
                    }
                }
            }
            for ((high, low), factors) in high.iter_mut().zip(low).zip(factors) {
                for lane in 0..LANES {
                    let (total, dropped) = two_sum(high[lane], factors[lane] * value);
                    high[lane] = total;
                    low[lane] += dropped;
                }
            }
            others[0] += (size * value).abs();
        }
    }

    /// Adds a row times its factor to the sums of its class.
    pub(super) fn add_class(&mut self, row: Nonzeros<'_>, class: usize, factor: f64) {
        let Line { padded, kept, stride } = self.layout;
        let (first, last) = (padded + kept + 1, stride - 1);
        for (column, value) in pairs(row) {
            let sums = &mut self.numbers[column * stride..][..stride];
            sums[first + class] += factor * value;
            sums[last] += (factor * value).abs();
        }
    }

    /// As sums that travel.
    pub(super) fn pack(self, all: Sums) -> Sums {
        let Line { padded, kept, stride } = self.layout;
        if kept == 0 {
            return all.plain(self.numbers);
        }
        let lines = || self.numbers.chunks_exact(stride);
        let list = |from: usize, to: usize| lines().flat_map(move |line| line[from..to].to_vec());
        let (sums, dropped) = (list(0, padded).collect(), list(padded, 2 * padded).collect());
        all.kept(sums, dropped).plain(list(2 * padded, stride).collect())
    }

    /// The way back, for so many columns.
    pub(super) fn unpack(reader: &mut Reader, layout: Line, width: usize) -> Option<Columns> {
        let Line { padded, kept, stride } = layout;
        if kept == 0 {
            let numbers = reader.plain(stride * width)?;
            return Some(Columns { layout, numbers });
        }
        let (sums, dropped) = reader.kept(padded * width)?;
        let rest = stride - 2 * padded;
        let others = reader.plain(rest * width)?;
        let line = |j: usize| {
            let own = |list: &[f64], length: usize| list[j * length..][..length].to_vec();
            [own(&sums, padded), own(&dropped, padded), own(&others, rest)].concat()
        };
        Some(Columns { layout, numbers: (0..width).flat_map(line).collect() })
    }

    /// Adds the sums of other rows.
    pub(super) fn merge(&mut self, other: &Columns) {
        let Line { padded, kept, stride } = self.layout;
        if kept == 0 {
            let pairs = self.numbers.iter_mut().zip(&other.numbers);
            return pairs.for_each(|(sum, other)| *sum += other);
        }
        let others = other.numbers.chunks_exact(stride);
        for (sums, other) in self.numbers.chunks_exact_mut(stride).zip(others) {
            let (doubled, plain) = sums.split_at_mut(2 * padded);
            for k in 0..padded {
                let (total, dropped) = two_sum(doubled[k], other[k]);
                doubled[k] = total;
                doubled[padded + k] = (doubled[padded + k] + other[padded + k]) + dropped;
            }
            plain.iter_mut().zip(&other[2 * padded..]).for_each(|(sum, other)| *sum += other);
        }
    }
}

impl Line {
    pub(super) fn new(setting: &Setting<'_>, n_classes: usize) -> Line {
        let padded = n_classes.next_multiple_of(LANES);
        let kept = if setting.care == Care::Careful { padded } else { 0 };
        let free = setting.objective.intercept == Intercept::Free;
        let stride = padded + kept + 1 + if free { n_classes + 1 } else { 0 };
        Line { padded, kept, stride }
    }

    /// Whether there are sums of the classes.
    pub(super) fn is_free(self) -> bool {
        self.stride > self.padded + self.kept + 1
    }
}
