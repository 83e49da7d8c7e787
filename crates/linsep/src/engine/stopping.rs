//! When an online run ends by itself: the stop rules of the lectures by name.
//!
//! | rule | the run ends | lecture |
//! |---|---|---|
//! | `clean-epoch` | after an epoch without mistakes (m = 0) | 002, 001 |
//! | `empty` | after an epoch whose planes make the error set D_m empty, found by a look at all rows | 000, 004 |
//! | `clean-window` | when the last n presentations were without mistakes, n rows, also within an epoch | 004 |
//! | `below:EPS` | after an epoch at whose end the criterion of the rule is below EPS | 003 |
//! | `limit` | never: only limits end it | |
//!
//! `empty` ends at least one epoch before `clean-epoch`, for the price of a look at all rows after each
//! epoch. A clean window covers every row only if the order repeats (`cyclic`), so in other orders it
//! may end with a row still wrong. What a rule stands for is a proposal: what is proved about the planes
//! is for the exact check to say.

use linsep_data::error::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// When a run ends by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum StopRule {
    /// After an epoch without mistakes.
    #[default]
    CleanEpoch,
    /// After an epoch that leaves no row wrong.
    Empty,
    /// After as many presentations without a mistake as there are rows.
    CleanWindow,
    /// After an epoch that leaves the criterion below this.
    Below(f64),
    /// Never.
    Limit,
}

impl StopRule {
    /// The names of the rules, as in `stop`.
    pub const WORDS: &'static [&'static str] =
        &["clean-epoch", "empty", "clean-window", "below:EPS", "limit"];

    /// What it means that a run ended by this rule.
    pub fn words(self) -> String {
        match self {
            StopRule::CleanEpoch => "a pass without mistakes".to_owned(),
            StopRule::Empty => "the error set is empty".to_owned(),
            StopRule::CleanWindow => {
                "no mistake in as many presentations as there are rows".to_owned()
            }
            StopRule::Below(bound) => format!("the criterion is below {bound}"),
            StopRule::Limit => "a limit".to_owned(),
        }
    }
}

impl fmt::Display for StopRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StopRule::CleanEpoch => f.write_str("clean-epoch"),
            StopRule::Empty => f.write_str("empty"),
            StopRule::CleanWindow => f.write_str("clean-window"),
            StopRule::Below(bound) => write!(f, "below:{bound}"),
            StopRule::Limit => f.write_str("limit"),
        }
    }
}

impl FromStr for StopRule {
    type Err = Error;

    fn from_str(text: &str) -> Result<StopRule> {
        if let Some(bound) = text.strip_prefix("below:") {
            return match bound.parse::<f64>() {
                Ok(bound) if bound.is_finite() && bound > 0.0 => Ok(StopRule::Below(bound)),
                _ => Err(Error::usage(format!("\"{bound}\" behind below: is no number above 0"))),
            };
        }
        match text {
            "clean-epoch" => Ok(StopRule::CleanEpoch),
            "empty" => Ok(StopRule::Empty),
            "clean-window" => Ok(StopRule::CleanWindow),
            "limit" => Ok(StopRule::Limit),
            _ => {
                let words = StopRule::WORDS.join(", ");
                Err(Error::usage(format!("\"{text}\" is no stop rule; there are: {words}")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_as_they_are_written() {
        for text in ["clean-epoch", "empty", "clean-window", "below:0.5", "below:0.001", "limit"] {
            assert_eq!(text.parse::<StopRule>().unwrap().to_string(), text);
        }
        for text in ["", "clean", "below", "below:", "below:0", "below:-1", "below:nan", "below:x"]
        {
            assert!(text.parse::<StopRule>().is_err(), "{text}");
        }
    }
}
