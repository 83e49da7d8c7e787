//! Sums and products of twice the length of binary64: an unevaluated sum hi + lo.
//!
//! `two_sum` and `two_product` (Knuth; Veltkamp and Dekker) lose nothing; the operations on
//! [`Double`] have a relative error below 2^-100, products of numbers beyond 1e290 aside, which come
//! out as NaN and fail every comparison.

/// hi + lo, with |lo| at most half a unit in the last place of hi.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Double {
    hi: f64,
    lo: f64,
}

impl Double {
    pub(crate) const ZERO: Double = Double { hi: 0.0, lo: 0.0 };

    #[inline(always)]
    pub(crate) fn of(x: f64) -> Double {
        Double { hi: x, lo: 0.0 }
    }

    /// a · b, without rounding.
    #[inline(always)]
    pub(crate) fn product(a: f64, b: f64) -> Double {
        let (hi, lo) = two_product(a, b);
        Double { hi, lo }
    }

    /// hi and lo.
    #[inline(always)]
    pub(crate) fn parts(self) -> (f64, f64) {
        (self.hi, self.lo)
    }

    /// The nearest binary64, or one next to it.
    pub(crate) fn value(self) -> f64 {
        self.hi + self.lo
    }

    #[inline(always)]
    pub(crate) fn plus(self, other: Double) -> Double {
        let (sum, error) = two_sum(self.hi, other.hi);
        normal(sum, error + (self.lo + other.lo))
    }

    /// hi + lo of numbers that need not be far apart.
    #[inline(always)]
    pub(crate) fn pair(hi: f64, lo: f64) -> Double {
        let (hi, lo) = two_sum(hi, lo);
        Double { hi, lo }
    }

    pub(crate) fn minus(self, other: Double) -> Double {
        self.plus(Double { hi: -other.hi, lo: -other.lo })
    }

    #[inline]
    pub(crate) fn times(self, factor: f64) -> Double {
        let (hi, lo) = two_product(self.hi, factor);
        normal(hi, lo + self.lo * factor)
    }

    pub(crate) fn times_double(self, other: Double) -> Double {
        self.times(other.hi).plus(self.times(other.lo))
    }

    pub(crate) fn over(self, divisor: Double) -> Double {
        let first = self.hi / divisor.hi;
        let rest = self.minus(divisor.times(first));
        let second = rest.hi / divisor.hi;
        let rest = rest.minus(divisor.times(second));
        Double::of(first).plus(Double::of(second)).plus(Double::of(rest.hi / divisor.hi))
    }
}

#[inline]
fn normal(hi: f64, lo: f64) -> Double {
    let sum = hi + lo;
    Double { hi: sum, lo: lo - (sum - hi) }
}

/// The rounded sum and what the rounding dropped.
#[inline(always)]
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

#[inline(always)]
fn two_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    let (a_hi, a_lo) = split(a);
    let (b_hi, b_lo) = split(b);
    (product, a_lo * b_lo - (((product - a_hi * b_hi) - a_lo * b_hi) - a_hi * b_lo))
}

/// Halves of 26 bits.
#[inline]
fn split(a: f64) -> (f64, f64) {
    const FACTOR: f64 = 134_217_729.0; // 2^27 + 1
    let scaled = FACTOR * a;
    let hi = scaled - (scaled - a);
    (hi, a - hi)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_binary64_drops_is_kept() {
        let big = Double::of(1e20).plus(Double::of(1.0)).minus(Double::of(1e20));
        assert_eq!(big.value(), 1.0);
        let square = Double::product(1.0 + 2f64.powi(-40), 1.0 + 2f64.powi(-40));
        assert_eq!(square.minus(Double::of(1.0 + 2f64.powi(-39))).value(), 2f64.powi(-80));
        let third = Double::of(1.0).over(Double::of(3.0));
        assert!((third.times(3.0).minus(Double::of(1.0))).value().abs() < 1e-31);
        assert_eq!(third.times_double(Double::of(6.0)).value(), 2.0);
    }
}
