//! Values of settings, read as what they are meant to be; a wrong one is named by its name.

use super::parameters::ETA;
use super::{Parameter, Settings, named};
use crate::engine::rate::Rate;
use linsep_data::error::{Error, Result};

impl Settings {
    #[doc(hidden)]
    pub fn word<T: std::str::FromStr<Err = Error>>(&self, parameter: &Parameter) -> Result<T> {
        let text = self.get(parameter);
        text.parse().map_err(|error: Error| named(parameter, &error.to_string()))
    }

    pub(super) fn rate(&self, parameter: &Parameter) -> Result<Rate> {
        let text = self.get(parameter);
        let rate = match (&self.rates, text.strip_prefix("table:")) {
            (Some(rates), Some(_)) => Rate::table(rates.clone()),
            (None, Some(file)) => {
                return Err(named(&ETA, &format!("the rates of \"{file}\" were not given")));
            }
            _ => text.parse(),
        };
        rate.map_err(|error| named(&ETA, &error.to_string()))
    }

    pub(super) fn positive(&self, parameter: &Parameter) -> Result<f64> {
        match self.get(parameter).parse::<f64>() {
            Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
            _ => {
                Err(named(parameter, &format!("\"{}\" is no number above 0", self.get(parameter))))
            }
        }
    }

    /// A number of at least `least`.
    pub(super) fn number(&self, parameter: &Parameter, least: f64) -> Result<f64> {
        let text = self.get(parameter);
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() && value >= least => Ok(value),
            _ => Err(named(parameter, &format!("\"{text}\" is no number of at least {least}"))),
        }
    }

    /// A finite number, or nothing for `none`.
    #[doc(hidden)]
    pub fn optional(&self, parameter: &Parameter) -> Result<Option<f64>> {
        match self.get(parameter) {
            "none" => Ok(None),
            text => match text.parse::<f64>() {
                Ok(value) if value.is_finite() => Ok(Some(value)),
                _ => Err(named(parameter, &format!("\"{text}\" is no number, nor none"))),
            },
        }
    }

    /// A whole number of at least 1.
    pub(super) fn count(&self, parameter: &Parameter) -> Result<usize> {
        match self.get(parameter).parse::<u32>() {
            Ok(value) if value > 0 => Ok(value as usize),
            _ => {
                let text = self.get(parameter);
                Err(named(parameter, &format!("\"{text}\" is no whole number from 1 on")))
            }
        }
    }

    pub(super) fn finite(&self, parameter: &Parameter) -> Result<f64> {
        match self.get(parameter).parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => Err(named(parameter, &format!("\"{}\" is no number", self.get(parameter)))),
        }
    }

    pub(super) fn at_least_zero(&self, parameter: &Parameter) -> Result<f64> {
        match self.finite(parameter)? {
            value if value >= 0.0 => Ok(value),
            value => Err(named(parameter, &format!("{value} is below 0"))),
        }
    }

    pub(super) fn choice(&self, parameter: &Parameter) -> Result<&str> {
        let text = self.get(parameter);
        if parameter.words.contains(&text) {
            return Ok(text);
        }
        Err(named(parameter, &format!("\"{text}\" is none of {}", parameter.words.join(", "))))
    }
}
