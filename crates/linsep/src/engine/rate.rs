//! Learning rates: how far the k-th correction goes.
//!
//! The lectures use a fixed rate, one that is high, then reduced, then fixed, and rates that fall
//! with k. A perceptron with variable increments still ends on separable rows if Σ η = ∞ and
//! Σ η² / (Σ η)² → 0, which holds for every rate here but a table that ends in 0.
//!
//! Reference: Duda, Hart, Stork, Pattern Classification, 5.5.2.

use linsep_data::error::{Error, Result};
use std::str::FromStr;

/// The rate of the k-th correction (of the k-th epoch in batch learning), k from 1.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Rate {
    /// Always the same.
    Constant(f64),
    /// a / k.
    Harmonic(f64),
    /// c / (c + k).
    Slowing(f64),
    /// From `high` at the first correction in a straight line to `low` at the `until`-th, then `low`.
    Reduced {
        /// The first rate.
        high: f64,
        /// The last rate.
        low: f64,
        /// When it is reached.
        until: u64,
    },
    /// Given rates, one after the other; the last one stays.
    Table(Vec<f64>),
}

impl Default for Rate {
    fn default() -> Self {
        Rate::Constant(1.0)
    }
}

impl Rate {
    /// The rate of the k-th correction.
    #[inline]
    pub fn at(&self, k: u64) -> f64 {
        match self {
            Rate::Constant(rate) => *rate,
            Rate::Harmonic(a) => a / k as f64,
            Rate::Slowing(c) => c / (c + k as f64),
            Rate::Reduced { low, until, .. } if k >= *until => *low,
            Rate::Reduced { high, low, until } => {
                let share = (k - 1) as f64 / (until - 1) as f64;
                high + share * (low - high)
            }
            Rate::Table(rates) => {
                let last = rates.len().saturating_sub(1);
                rates.get((k - 1).min(last as u64) as usize).copied().unwrap_or(1.0)
            }
        }
    }

    /// A table of rates, which must be finite and not negative; the last one stays and is above 0.
    pub fn table(rates: Vec<f64>) -> Result<Rate> {
        let fine = rates.iter().all(|rate| rate.is_finite() && *rate >= 0.0);
        match rates.last() {
            Some(last) if fine && *last > 0.0 => Ok(Rate::Table(rates)),
            _ => Err(Error::usage(
                "a table of rates needs numbers of at least 0, the last one above 0",
            )),
        }
    }

    /// Refuses numbers that are no rates.
    pub(crate) fn check(&self) -> Result<()> {
        let above_0 = |x: f64| x.is_finite() && x > 0.0;
        let fine = match self {
            Rate::Constant(x) | Rate::Harmonic(x) | Rate::Slowing(x) => above_0(*x),
            Rate::Reduced { high, low, until } => above_0(*high) && above_0(*low) && *until > 1,
            Rate::Table(rates) => return Rate::table(rates.clone()).map(|_| ()),
        };
        match fine {
            true => Ok(()),
            false => Err(Error::usage(format!("the learning rate {self:?} is not above 0"))),
        }
    }
}

/// `0.5`, `1/k`, `10/(10+k)`, `step:1,0.1,100`.
impl FromStr for Rate {
    type Err = Error;

    fn from_str(text: &str) -> Result<Rate> {
        let number = |text: &str| text.parse::<f64>().ok().filter(|x| x.is_finite() && *x > 0.0);
        let refuse = || {
            Error::usage(format!(
                "\"{text}\" is no number above 0, nor 1/k, C/(C+k), step:HIGH,LOW,K or table:FILE"
            ))
        };
        if let Some(parts) = text.strip_prefix("step:") {
            let parts: Vec<&str> = parts.split(',').collect();
            let [high, low, until] = parts[..] else { return Err(refuse()) };
            let (high, low) = (number(high).ok_or_else(refuse)?, number(low).ok_or_else(refuse)?);
            let until = until.parse().ok().filter(|k| *k > 1).ok_or_else(refuse)?;
            return Ok(Rate::Reduced { high, low, until });
        }
        if let Some(a) = text.strip_suffix("/k") {
            return number(a).map(Rate::Harmonic).ok_or_else(refuse);
        }
        if let Some((above, below)) = text.split_once("/(") {
            let below = below.strip_suffix("+k)").and_then(number);
            let c = number(above).filter(|c| Some(*c) == below).ok_or_else(refuse)?;
            return Ok(Rate::Slowing(c));
        }
        number(text).map(Rate::Constant).ok_or_else(refuse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_and_follow_their_formulas() {
        let at = |text: &str, k| text.parse::<Rate>().unwrap().at(k);
        assert_eq!((at("0.5", 1), at("0.5", 9)), (0.5, 0.5));
        assert_eq!((at("1/k", 1), at("3/k", 4)), (1.0, 0.75));
        assert_eq!((at("10/(10+k)", 10), at("1/(1+k)", 3)), (0.5, 0.25));
        assert_eq!(at("step:1,0.5,5", 1), 1.0);
        assert_eq!(at("step:1,0.5,5", 3), 0.75);
        assert_eq!((at("step:1,0.5,5", 5), at("step:1,0.5,5", 500)), (0.5, 0.5));
        let table = Rate::table(vec![4.0, 0.0, 2.0]).unwrap();
        assert_eq!([1, 2, 3, 4, 900].map(|k| table.at(k)), [4.0, 0.0, 2.0, 2.0, 2.0]);
    }

    #[test]
    fn what_is_no_rate_is_refused() {
        for text in [
            "",
            "0",
            "-1",
            "nan",
            "inf",
            "k",
            "/k",
            "0/k",
            "1/(2+k)",
            "1/(1+k",
            "x/(x+k)",
            "step:",
            "step:1,2",
            "step:1,0,9",
            "step:1,1,1",
            "step:1,1,x",
            "1e999",
        ] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
        for table in [vec![], vec![1.0, 0.0], vec![-1.0, 1.0], vec![f64::NAN]] {
            assert!(Rate::table(table).is_err());
        }
    }
}
