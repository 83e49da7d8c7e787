//! Bounds on weights: what is known beforehand about a plane, such as that a weight is not negative.

use linsep_data::Dataset;
use linsep_data::basis::spec::feature_of;
use linsep_data::error::{Error, Result};
use std::str::FromStr;

/// A lower or an upper bound on weights: one for all columns, and others for some.
///
/// ```
/// use linsep::learn::optimising::Bound;
/// let bound: Bound = "0,age=-1".parse()?;
/// assert_eq!(bound.all, Some(0.0));
/// assert_eq!(bound.columns, [("age".to_owned(), -1.0)]);
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Bound {
    /// For every column that is not named.
    pub all: Option<f64>,
    /// For columns by name, or by their place in the file as `#1`, `#2` and so on.
    pub columns: Vec<(String, f64)>,
}

impl Bound {
    /// The same bound for all weights.
    pub fn on_all(bound: f64) -> Bound {
        Bound { all: Some(bound), columns: Vec::new() }
    }

    /// Whether nothing is bounded.
    pub fn is_none(&self) -> bool {
        self.all.is_none() && self.columns.is_empty()
    }

    /// The bound of each column of the data; `free` where there is none.
    fn of(&self, data: &Dataset, free: f64) -> Result<Vec<f64>> {
        let mut bounds = vec![self.all.unwrap_or(free); data.n_features()];
        let mut named = vec![false; bounds.len()];
        for (name, bound) in &self.columns {
            let column = column_of(data, name)?;
            if named[column] {
                return Err(Error::usage(format!("the column {name} has two bounds")));
            }
            named[column] = true;
            bounds[column] = *bound;
        }
        Ok(bounds)
    }
}

/// The feature that a bound speaks of: by its name, also that of a basis function, or by the place of
/// its column in the file.
fn column_of(data: &Dataset, name: &str) -> Result<usize> {
    let input = data.input();
    let made = || {
        let names = input.basis.as_ref().map_or_else(Vec::new, |_| input.feature_names());
        names.iter().position(|made| made == name)
    };
    match input.feature_called(name).map(|feature| feature as usize).or_else(made) {
        Some(feature) => Ok(feature),
        None => feature_of(&name.parse()?, data).map(|feature| feature as usize),
    }
}

/// `none`, `0`, `age=0,height=1.5`, or `0,age=-1`: a bound for all and another one for a column.
impl FromStr for Bound {
    type Err = Error;

    fn from_str(text: &str) -> Result<Bound> {
        let mut bound = Bound::default();
        if text == "none" {
            return Ok(bound);
        }
        for part in text.split(',') {
            let (name, number) = match part.rsplit_once('=') {
                Some((name, number)) => (Some(name), number),
                None => (None, part),
            };
            let number = number.parse::<f64>().ok().filter(|x| x.is_finite());
            match (name, number) {
                (Some(name), Some(number)) if !name.is_empty() => {
                    bound.columns.push((name.to_owned(), number));
                }
                (None, Some(number)) if bound.all.is_none() => bound.all = Some(number),
                _ => {
                    return Err(Error::usage(format!(
                        "\"{text}\" is none, nor a number, nor a list of COLUMN=NUMBER"
                    )));
                }
            }
        }
        Ok(bound)
    }
}

/// The range of each weight.
#[derive(Clone, Debug)]
pub struct Ranges {
    lower: Vec<f64>,
    upper: Vec<f64>,
}

impl Ranges {
    /// The ranges between two bounds; `None` if nothing is bounded.
    pub(crate) fn between(lower: &Bound, upper: &Bound, data: &Dataset) -> Result<Option<Ranges>> {
        if lower.is_none() && upper.is_none() {
            return Ok(None);
        }
        let (lower, upper) = (lower.of(data, f64::NEG_INFINITY)?, upper.of(data, f64::INFINITY)?);
        match lower.iter().zip(&upper).position(|(lower, upper)| lower > upper) {
            None => Ok(Some(Ranges { lower, upper })),
            Some(j) => Err(Error::usage(format!(
                "no weight of {} lies between {} and {}",
                data.input().feature_name(j),
                lower[j],
                upper[j]
            ))),
        }
    }

    /// The ranges of some columns; the others have none.
    pub(crate) fn of_limits(
        limits: impl Iterator<Item = (u32, Option<f64>, Option<f64>)>,
        data: &Dataset,
    ) -> Ranges {
        let width = data.n_features();
        let mut ranges =
            Ranges { lower: vec![f64::NEG_INFINITY; width], upper: vec![f64::INFINITY; width] };
        for (column, least, most) in limits.filter(|(column, ..)| (*column as usize) < width) {
            ranges.lower[column as usize] = least.unwrap_or(f64::NEG_INFINITY);
            ranges.upper[column as usize] = most.unwrap_or(f64::INFINITY);
        }
        ranges
    }

    /// The least and the most that a weight may be.
    #[inline]
    pub(crate) fn of(&self, column: usize) -> (f64, f64) {
        (self.lower[column], self.upper[column])
    }

    /// The number in the range of a column that is next to a weight.
    #[inline]
    pub(crate) fn nearest(&self, column: usize, weight: f64) -> f64 {
        weight.max(self.lower[column]).min(self.upper[column])
    }

    /// Brings every weight into its range.
    pub(crate) fn bring_in(&self, weights: &mut [f64]) {
        weights.iter_mut().enumerate().for_each(|(j, w)| *w = self.nearest(j, *w));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_read_and_belong_to_columns() {
        let data = Dataset::from_rows(&[[0.0, 1.0, 2.0], [1.0, 0.0, 0.0]], &["a", "b"]).unwrap();
        let bound = |text: &str| text.parse::<Bound>();
        let lower = bound("0,#2=-1").unwrap();
        assert_eq!(lower.of(&data, f64::NEG_INFINITY).unwrap(), [0.0, -1.0, 0.0]);
        assert!(bound("none").unwrap().is_none());
        for wrong in ["", "x", "1,2", "=1", "a=", "a=nan", "inf", "a=1,"] {
            assert!(bound(wrong).is_err(), "{wrong}");
        }
        for (lower, upper) in
            [("#4=1", "none"), ("#0=1", "none"), ("#1=1,#1=2", "none"), ("1", "0")]
        {
            let (lower, upper) = (bound(lower).unwrap(), bound(upper).unwrap());
            assert!(Ranges::between(&lower, &upper, &data).is_err(), "{lower:?} {upper:?}");
        }
        let ranges = Ranges::between(&lower, &bound("1").unwrap(), &data).unwrap().unwrap();
        let mut weights = [-5.0, -5.0, 5.0];
        ranges.bring_in(&mut weights);
        assert_eq!(weights, [0.0, -1.0, 1.0]);
    }
}
