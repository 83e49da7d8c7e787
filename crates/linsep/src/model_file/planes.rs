//! The planes of a model file: `{"weights": [w, …], "bias": b}`, or where most weights are 0
//! `{"sparse": [[column, w], …], "bias": b}`.
//!
//! Weights are most of a large file. The JSON reader checks their syntax and leaves the text to
//! [`Text::read`], which knows that nothing but numbers, commas and brackets is in it.

use crate::model::Plane;
use crate::verdict::is_sparse;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A plane as it is written.
#[derive(Serialize)]
pub(super) struct Numbers<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    weights: Option<&'a [f64]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sparse: Option<Vec<(u32, f64)>>,
    bias: f64,
}

impl Numbers<'_> {
    pub(super) fn of(Plane { weights, bias }: &Plane) -> Numbers<'_> {
        if !is_sparse(weights) {
            return Numbers { weights: Some(weights), sparse: None, bias: *bias };
        }
        let pairs = weights.iter().enumerate().filter(|(_, w)| **w != 0.0);
        let pairs = pairs.map(|(j, &w)| (j as u32, w)).collect();
        Numbers { weights: None, sparse: Some(pairs), bias: *bias }
    }
}

/// A plane as it is read: valid JSON whose numbers have not been looked at.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Text<'a> {
    #[serde(default, borrow)]
    weights: Option<&'a RawValue>,
    #[serde(default, borrow)]
    sparse: Option<&'a RawValue>,
    bias: f64,
}

impl Text<'_> {
    /// The plane on so many features.
    pub(super) fn read(&self, features: usize) -> Result<Plane, String> {
        let weights = match (self.weights, self.sparse) {
            (Some(text), None) => all_weights(text.get(), features)?,
            (None, Some(text)) => listed_weights(text.get(), features)?,
            _ => return Err("a plane needs either weights or sparse weights".into()),
        };
        if !self.bias.is_finite() || weights.iter().any(|w| !w.is_finite()) {
            return Err("a weight is not finite".into());
        }
        Ok(Plane { weights, bias: self.bias })
    }
}

/// `[w, w, …]`.
fn all_weights(text: &str, features: usize) -> Result<Vec<f64>, String> {
    let inner = inside(text)?;
    // Attackers may write fewer weights than features, but not more than the file has room for.
    let mut weights = Vec::with_capacity(features.min(inner.len() / 2 + 1));
    if !inner.is_empty() {
        for word in inner.split(',') {
            weights.push(number(word)?);
        }
    }
    match weights.len() == features {
        true => Ok(weights),
        false => {
            Err(format!("a plane has {} weights, the input has {features} features", weights.len()))
        }
    }
}

/// `[[column, w], …]`, columns rising.
fn listed_weights(text: &str, features: usize) -> Result<Vec<f64>, String> {
    let mut weights = vec![0.0; features];
    let mut next = 0;
    let mut rest = inside(text)?;
    while !rest.is_empty() {
        let pair = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let (pair, behind) = pair.ok_or_else(not_numbers)?;
        let (column, weight) = pair.split_once(',').ok_or_else(not_numbers)?;
        let column: usize = column.trim().parse().map_err(|_| not_numbers())?;
        if column < next || column >= features {
            return Err("the sparse weights of a plane are out of order or out of range".into());
        }
        weights[column] = number(weight)?;
        next = column + 1;
        // JSON allows a comma only between two of them.
        rest = behind.trim_start().trim_start_matches(',').trim_start();
    }
    Ok(weights)
}

/// What stands between the brackets of a list.
fn inside(text: &str) -> Result<&str, String> {
    let list = text.trim().strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    list.map(str::trim).ok_or_else(not_numbers)
}

/// A number of JSON. What else may stand between two commas of a list (a word, a quote, a bracket) is none.
fn number(word: &str) -> Result<f64, String> {
    let word = word.trim();
    match word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')) {
        true => word.parse().map_err(|_| not_numbers()),
        false => Err(not_numbers()),
    }
}

fn not_numbers() -> String {
    "the weights of a plane are not a list of numbers".into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, features: usize) -> Result<Plane, String> {
        let text: Text<'_> = serde_json::from_str(text).map_err(|e| e.to_string())?;
        text.read(features)
    }

    #[test]
    fn what_is_written_is_read_to_the_last_bit() {
        let odd = [0.1, -2.5e-8, 1e300, f64::MIN_POSITIVE / 8.0, -0.0, 123_456_789.125];
        let mut sparse = vec![0.0; 200];
        sparse[3] = 1.0 / 3.0;
        sparse[199] = -7e-310;
        for weights in [odd.to_vec(), Vec::new(), sparse] {
            let plane = Plane { weights, bias: -1.5 };
            let text = serde_json::to_string(&Numbers::of(&plane)).unwrap();
            let back = read(&text, plane.weights.len()).unwrap();
            let bits =
                |plane: &Plane| plane.weights.iter().map(|w| w.to_bits()).collect::<Vec<_>>();
            assert_eq!((bits(&back), back.bias), (bits(&plane), plane.bias), "{text}");
        }
        let spaced = "{ \"sparse\" : [ [ 0 , 1 ] , [ 2 , 2.5 ] ] , \"bias\" : 0 }";
        assert_eq!(read(spaced, 3).unwrap().weights, [1.0, 0.0, 2.5]);
        assert_eq!(read("{\"weights\":[ 1 , 2 ],\"bias\":0}", 2).unwrap().weights, [1.0, 2.0]);
    }

    #[test]
    fn what_is_no_list_of_numbers_is_refused() {
        for weights in [
            "1",
            "[1]",
            "[1,2,3]",
            "[1,null]",
            "[1,\"2\"]",
            "[1,[2]]",
            "[[1,2]]",
            "{\"a\":1}",
            "[1,true]",
            "[1,1e999]",
            "\"[1,2]\"",
            "[]",
            "null",
        ] {
            assert!(
                read(&format!("{{\"weights\":{weights},\"bias\":0}}"), 2).is_err(),
                "{weights}"
            );
        }
        for sparse in [
            "1",
            "[1]",
            "[[0]]",
            "[[0,1,2]]",
            "[[0,1],[0,2]]",
            "[[1,1],[0,2]]",
            "[[2,1]]",
            "[[-1,1]]",
            "[[0.0,1]]",
            "[[0,[1]]]",
            "[[0,\"1\"]]",
            "[[0,1e999]]",
            "[\"[0,1]\"]",
            "{}",
            "[[]]",
            "[[18446744073709551616,1]]",
            "[[0,1],2]",
        ] {
            assert!(read(&format!("{{\"sparse\":{sparse},\"bias\":0}}"), 2).is_err(), "{sparse}");
        }
        for text in [
            "{\"bias\":0}",
            "{\"weights\":[1,2]}",
            "{\"weights\":[1,2],\"bias\":1e999}",
            "{\"weights\":[1,2],\"sparse\":[],\"bias\":0}",
            "{\"weights\":[1,2],\"bias\":0,\"c\":1}",
            "{\"weights\":[1,NaN],\"bias\":0}",
            "{\"weights\":[1,+2],\"bias\":0}",
        ] {
            assert!(read(text, 2).is_err(), "{text}");
        }
    }
}
