//! Pictures of data, models and runs as SVG text. Nothing here reads or writes a file.
//!
//! | view | what it shows |
//! |---|---|
//! | [`Pattern`] | rows and decision regions over two features or directions, boundary, normal, margin |
//! | [`Weight`] | the weight space of two weights, or of two and a bias: a half-plane for each row, the cone of solutions, a run |
//! | [`CriterionView`] | level curves of a criterion over two weights, its gradient, a descent |
//! | [`Curves`] | a run against the bounds of the convergence proofs, and against batch learning |
//! | [`Histogram`] | rows projected on a direction, by class |
//! | [`Confusion`] | a confusion matrix |
//! | [`Rates`] | ROC, precision against recall, calibration |
//! | [`Coefficients`] | the weights of a model for columns in standard deviations, the largest first |
//! | [`Intervals`] | coefficients, or scores of settings, with their intervals |
//! | [`Neuron`] | a model drawn as a neuron or a layer of neurons |
//!
//! Classes are told by shape and by colour (ten of each, beginning with the palette of Okabe and Ito),
//! ambiguous regions by hatching. The same input gives the same bytes.

mod axes;
mod biased;
mod canonical;
mod coefficients;
mod columns;
mod confusion;
mod contour;
mod criterion;
mod curves;
mod cut;
mod histogram;
mod intervals;
mod neuron;
mod pattern;
mod project;
mod rates;
mod regions;
mod rows;
mod svg;
mod weight;

pub use biased::edges_of_cone;
pub use coefficients::Coefficients;
pub use confusion::Confusion;
pub use criterion::CriterionView;
pub use curves::Curves;
pub use histogram::{Direction, Histogram};
pub use intervals::{Interval, Intervals};
pub use neuron::Neuron;
pub use pattern::Pattern;
pub use rates::{Rates, RatesOf};
pub use weight::{Cone, Weight, cone};

use linsep::model::LinearModel;
use linsep_data::Dataset;
use linsep_data::error::{Code, Error, Place, Problem, Result};

/// What every picture has.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Style {
    /// The words above the picture.
    pub title: String,
    /// How wide it is shown, in pixels.
    pub width: u32,
}

impl Style {
    /// A picture with this title, 800 pixels wide.
    pub fn new(title: impl Into<String>) -> Style {
        Style { title: title.into(), width: 800 }
    }
}

/// The two features that a text such as `width,length` or `#1,#3` names.
pub fn axes_named(data: &Dataset, text: &str) -> Result<[usize; 2]> {
    let names = data.input().feature_names();
    let file = data.origin().files().next().unwrap_or("data").to_owned();
    let number = |name: &str| -> Option<usize> {
        let by_name = names.iter().position(|known| known == name);
        let by_number = name.strip_prefix('#').and_then(|n| n.parse::<usize>().ok());
        by_name.or(by_number.filter(|n| (1..=names.len()).contains(n)).map(|n| n - 1))
    };
    // A name may hold a comma, so every comma is tried.
    let cuts: Vec<(&str, &str)> =
        text.match_indices(',').map(|(at, _)| (text[..at].trim(), text[at + 1..].trim())).collect();
    for (a, b) in &cuts {
        if let (Some(a), Some(b)) = (number(a), number(b)) {
            if a == b {
                return Err(Error::usage("`axes`: the two features are the same"));
            }
            return Ok([a, b]);
        }
    }
    match cuts.first() {
        None => Err(Error::usage(format!("`axes`: \"{text}\" is not two features such as A,B"))),
        Some((a, b)) => {
            let missing = if number(a).is_none() { a } else { b };
            Err(linsep_data::input::no_column(Code::NO_COLUMN, missing, &names, &file))
        }
    }
}

/// Rows beyond which only some are drawn.
pub const MOST_ROWS: usize = 5000;

/// The rows that are drawn: all, or evenly spaced ones.
fn drawn_rows(count: usize) -> Vec<usize> {
    if count <= MOST_ROWS {
        return (0..count).collect();
    }
    (0..MOST_ROWS).map(|k| (k as u128 * count as u128 / MOST_ROWS as u128) as usize).collect()
}

/// What a caption says where not all rows are drawn.
fn thinning(count: usize) -> Option<String> {
    (count > MOST_ROWS)
        .then(|| format!("{MOST_ROWS} of the {count} rows are drawn, evenly spaced in the file."))
}

/// The class of every row in the numbering of a model.
fn numbered(data: &Dataset, model: &LinearModel) -> Result<Vec<usize>> {
    if data.n_features() != model.n_features() {
        let words = format!(
            "the data has {} features, the model {}",
            data.n_features(),
            model.n_features()
        );
        return Err(Error::data(Code::WIDTH, words, file_of(data)));
    }
    let number = |name: &String| {
        model.classes.iter().position(|class| class == name).ok_or_else(|| -> Error {
            let words = format!("the model has no class \"{name}\"");
            Problem::new(Code::UNKNOWN_CLASS, words, file_of(data))
                .value(name.as_bytes())
                .help(format!("its classes are {}", model.classes.join(", ")))
                .into()
        })
    };
    let numbers: Vec<usize> = data.classes().iter().map(number).collect::<Result<_>>()?;
    Ok(data.targets().iter().map(|class| numbers[*class as usize]).collect())
}

fn file_of(data: &Dataset) -> Place {
    data.origin().files().next().map_or_else(Place::default, Place::file)
}

/// Refuses data of any other number of classes than two.
fn require_two(data: &Dataset, view: &str) -> Result<()> {
    data.require_two_classes()?;
    match data.n_classes() {
        2 => Ok(()),
        classes => Err(Error::usage(format!(
            "the view {view} needs two classes and there are {classes}; choose one with `positive=CLASS`"
        ))),
    }
}

/// A number for people: four significant digits.
fn short(x: f64) -> String {
    if !x.is_finite() {
        return "?".to_owned();
    }
    if x == 0.0 {
        return "0".to_owned();
    }
    let power = x.abs().log10().floor() as i32;
    let plain = |text: String| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    };
    if !(-4..6).contains(&power) {
        let text = format!("{x:.3e}");
        return match text.split_once('e') {
            Some((mantissa, power)) => format!("{}e{power}", plain(mantissa.to_owned())),
            None => text,
        };
    }
    plain(format!("{x:.*}", (3 - power).max(0) as usize))
}

/// `1 row`, `2 rows`.
fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_numbers_keep_four_digits() {
        for (x, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (-2.5, "-2.5"),
            (123456.7, "123457"),
            (0.00012345, "0.0001234"),
            (1.0e-9, "1e-9"),
            (123456789.0, "1.235e8"),
            (f64::NAN, "?"),
        ] {
            assert_eq!(short(x), text);
        }
    }

    #[test]
    fn thinned_rows_are_evenly_spaced_and_none_is_drawn_twice() {
        assert_eq!(drawn_rows(3), [0, 1, 2]);
        let rows = drawn_rows(12_345);
        assert_eq!(rows.len(), MOST_ROWS);
        assert!(rows.windows(2).all(|pair| (2..=3).contains(&(pair[1] - pair[0]))));
        assert!(thinning(5000).is_none() && thinning(5001).is_some());
    }
}
