//! The planes of a model file of version 1: `{"weights": [w, …], "bias": b}`, or where most weights are 0
//! `{"sparse": [[column, w], …], "bias": b}`.
//!
//! Weights are most of a large file. The JSON reader checks their syntax and leaves the text to
//! [`Text::read`], which knows that nothing but numbers, commas and brackets is in it.

use crate::model::Plane;
use linsep_data::matrix::profile::power_of_ten;
use serde::Deserialize;
use serde_json::value::RawValue;

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
    let mut list = List::new(text)?;
    // A file may have fewer weights than features, but not more than it has room for.
    let mut weights = Vec::with_capacity(features.min(text.len() / 2 + 1));
    while list.goes_on() {
        weights.push(list.number()?);
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
    let mut list = List::new(text)?;
    let mut weights = vec![0.0; features];
    let mut next = 0;
    while list.goes_on() {
        list.expect(b'[')?;
        let column = list.column()?;
        list.expect(b',')?;
        let weight = list.number()?;
        list.expect(b']')?;
        if column < next || column >= features {
            return Err("the sparse weights of a plane are out of order or out of range".into());
        }
        weights[column] = weight;
        next = column + 1;
    }
    Ok(weights)
}

/// What is left of the text of a list, which is valid JSON.
struct List<'a> {
    rest: &'a [u8],
}

impl<'a> List<'a> {
    fn new(text: &'a str) -> Result<List<'a>, String> {
        let mut list = List { rest: text.as_bytes() };
        list.expect(b'[')?;
        Ok(list)
    }

    /// Whether another element follows; its comma is passed.
    fn goes_on(&mut self) -> bool {
        match self.peek() {
            Some(b',') => {
                self.rest = &self.rest[1..];
                true
            }
            Some(byte) => byte != b']',
            None => false,
        }
    }

    /// The next byte that is no white space.
    fn peek(&mut self) -> Option<u8> {
        while let [b' ' | b'\n' | b'\t' | b'\r', rest @ ..] = self.rest {
            self.rest = rest;
        }
        self.rest.first().copied()
    }

    fn expect(&mut self, byte: u8) -> Result<(), String> {
        match self.peek() == Some(byte) {
            true => {
                self.rest = &self.rest[1..];
                Ok(())
            }
            false => Err(not_numbers()),
        }
    }

    /// The digits that come next, added to a number, and how many they are.
    fn digits(&mut self, number: &mut u64) -> usize {
        let mut count = 0;
        while let [digit @ b'0'..=b'9', rest @ ..] = self.rest {
            *number = number.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
            self.rest = rest;
            count += 1;
        }
        count
    }

    fn column(&mut self) -> Result<usize, String> {
        self.peek();
        let mut column = 0;
        match self.digits(&mut column) {
            1..=10 => Ok(column as usize),
            _ => Err(not_numbers()),
        }
    }

    /// The number that comes next. With a whole number m ≤ 2^53 in its digits and a power of ten that
    /// binary64 holds, one product or quotient rounds to it; other numbers take the long way.
    fn number(&mut self) -> Result<f64, String> {
        self.peek();
        let start = self.rest;
        let negative = start.first() == Some(&b'-');
        if negative {
            self.rest = &self.rest[1..];
        }
        let mut whole = 0;
        let mut digits = self.digits(&mut whole);
        let mut ten = 0;
        if let [b'.', rest @ ..] = self.rest {
            self.rest = rest;
            let places = self.digits(&mut whole);
            (digits, ten) = (digits + places, -(places as i64));
        }
        if let [b'e' | b'E', rest @ ..] = self.rest {
            self.rest = rest;
            let sinks = rest.first() == Some(&b'-');
            if let [b'-' | b'+', rest @ ..] = self.rest {
                self.rest = rest;
            }
            let mut exponent = 0;
            self.digits(&mut exponent);
            let exponent = exponent.min(10_000) as i64;
            ten += if sinks { -exponent } else { exponent };
        }
        if digits == 0 {
            return Err(not_numbers());
        }
        if digits <= 19 && whole <= 1 << 53 && (-22..=22).contains(&ten) {
            let power = power_of_ten(ten.unsigned_abs() as u8);
            let value = if ten < 0 { whole as f64 / power } else { whole as f64 * power };
            return Ok(if negative { -value } else { value });
        }
        let text = &start[..start.len() - self.rest.len()];
        let text = std::str::from_utf8(text).map_err(|_| not_numbers())?;
        text.parse().map_err(|_| not_numbers())
    }
}

fn not_numbers() -> String {
    "the weights of a plane are not a list of numbers".into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, features: usize) -> Result<Plane, String> {
        let text: Text<'_> = serde_json::from_slice(text.as_bytes()).map_err(|e| e.to_string())?;
        text.read(features)
    }

    #[test]
    fn what_is_written_is_read_to_the_last_bit() {
        let odd = [
            0.1,
            -2.5e-8,
            1e300,
            f64::MIN_POSITIVE / 8.0,
            -0.0,
            123_456_789.125,
            9_007_199_254_740_993.0,
            1e22,
            1e23,
            -4.35e-22,
            1.0 / 3.0,
            f64::MAX,
        ];
        let mut sparse = vec![0.0; 200];
        sparse[3] = 1.0 / 3.0;
        sparse[199] = -7e-310;
        for weights in [odd.to_vec(), Vec::new(), sparse] {
            let plane = Plane { weights, bias: -1.5 };
            let numbers = crate::claim::planes::float_plane(&plane.weights, Some(plane.bias));
            let text = serde_json::to_string(&numbers).unwrap();
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
    fn numbers_of_every_size_are_read_to_the_last_bit() {
        let mut state = 7u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            state ^ (state >> 29)
        };
        let mut weights: Vec<f64> = (0..20_000).map(|_| f64::from_bits(next())).collect();
        weights.extend((0..20_000).map(|_| (next() % 100_000_000) as f64 / 1e10));
        weights.retain(|w| w.is_finite());
        let text = serde_json::to_string(&weights).unwrap();
        let back = all_weights(&text, weights.len()).unwrap();
        let same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits();
        assert!(weights.iter().zip(&back).all(same));
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
