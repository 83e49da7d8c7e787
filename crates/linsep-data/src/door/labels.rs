//! Labels from arrays, and data sets from features, labels and weights.
//!
//! A label is a text in normal form, as in files: numbers in their shortest form (`+1`, `1.0` and `1`
//! are one class), other texts without blanks around them. Booleans are `true` and `false`.

use super::array::{Array, Element, with_array};
use crate::error::{Code, Place, Problem, Result};
use crate::table::labels::{
    Dictionary, MAX_CLASSES, is_missing, label_name, sort_classes, too_many_classes,
};
use crate::{Dataset, Features};
use std::collections::HashMap;

/// The class of each row.
#[derive(Clone, Debug)]
pub struct Labels {
    /// Distinct names in normal form, in the order of their first row.
    names: Vec<String>,
    codes: Vec<u32>,
}

impl Labels {
    /// Labels that are texts.
    pub fn text<S: AsRef<str>>(labels: &[S]) -> Result<Labels> {
        let mut dictionary = Dictionary::default();
        for (row, label) in labels.iter().enumerate() {
            let label = label.as_ref().trim().as_bytes();
            if is_missing(label) {
                return Err(no_label(row, label).into());
            }
            let code = dictionary.number(label, label_name);
            dictionary.codes.push(code);
            check_classes(dictionary.names.len())?;
        }
        Ok(Labels { names: dictionary.names, codes: dictionary.codes })
    }

    /// Labels that are numbers or booleans.
    pub fn numbers<'a>(labels: impl Into<Array<'a>>) -> Result<Labels> {
        with_array!(labels.into(), labels => numbered(labels))
    }

    /// Labels that are places in a list of names.
    pub fn ids<'a, S: AsRef<str>>(ids: impl Into<Array<'a>>, names: &[S]) -> Result<Labels> {
        let ids = Labels::numbers(ids)?;
        let mut places = Vec::with_capacity(ids.names.len());
        for (id, text) in ids.names.iter().enumerate() {
            let name = text.parse::<usize>().ok().and_then(|place| names.get(place));
            let Some(name) = name else {
                let row = ids.codes.iter().position(|code| *code as usize == id);
                let words = format!("the label is no place in the list of {} names", names.len());
                return Err(Problem::new(Code::LABEL_VALUE, words, place_of(row.unwrap_or(0)))
                    .value(text.as_bytes())
                    .help("places are counted from 0")
                    .into());
            };
            places.push(name.as_ref());
        }
        let named = Labels::text(&places)?;
        if named.names.len() < places.len() {
            let words = "two names of classes are the same in normal form";
            let code = named.codes.iter().enumerate().find(|(k, code)| *k != **code as usize);
            let name = code.map_or("", |(k, _)| places[k]);
            return Err(Problem::new(Code::DUPLICATE_NAME, words, Place::default())
                .value(name.as_bytes())
                .help("rename one of them")
                .into());
        }
        Ok(Labels { names: named.names, codes: ids.codes })
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }
}

impl Dataset {
    /// Features with a label for each row and perhaps a weight for each row.
    ///
    /// ```
    /// use linsep_data::door::Labels;
    /// use linsep_data::{Dataset, Features};
    /// let features = Features::dense(&[0i32, 0, 0, 1, 1, 0, 1, 1], 4, 2)?;
    /// let and = Labels::numbers(&[false, false, false, true])?;
    /// let data = Dataset::new(features, and, Some((&[1.0, 1.0, 1.0, 2.5]).into()))?;
    /// assert_eq!(data.classes(), ["false", "true"]);
    /// assert_eq!(data.weight(3), 2.5);
    /// # Ok::<(), linsep_data::Error>(())
    /// ```
    pub fn new(features: Features, labels: Labels, weights: Option<Array<'_>>) -> Result<Dataset> {
        let rows = features.n_rows();
        for (count, name) in
            [(labels.len(), "labels"), (weights.map_or(rows, |weights| weights.len()), "weights")]
        {
            if count != rows {
                let words = format!("there are {rows} rows but {count} {name}");
                return Err(Problem::new(Code::SHAPE, words, Place::default())
                    .help(format!("give as many {name} as rows"))
                    .into());
            }
        }
        let weights = weights.map(|weights| with_array!(weights, weights => weights_of(weights)));
        let (classes, order) = sort_classes(&labels.names);
        let targets = labels.codes.iter().map(|&code| order[code as usize]).collect();
        Ok(Dataset { features, classes, targets, merged: None, weights: weights.transpose()? })
    }
}

fn weights_of<T: Element>(weights: &[T]) -> Result<Vec<f64>> {
    let weights: Vec<f64> = weights.iter().map(|weight| weight.nearest()).collect();
    let help = "weights are finite numbers of at least 0, one of them above 0";
    let is_bad = |weight: &f64| !(weight.is_finite() && *weight >= 0.0);
    if let Some(row) = weights.iter().position(is_bad) {
        let (code, text) = (Code::BAD_WEIGHT, weights[row].to_string());
        let problem = Problem::new(code, code.title(), place_of(row)).value(text.as_bytes());
        return Err(problem.help(help).into());
    }
    if weights.iter().all(|weight| *weight == 0.0) {
        let words = "every row has weight 0";
        return Err(Problem::new(Code::BAD_WEIGHT, words, Place::default()).help(help).into());
    }
    Ok(weights)
}

/// Numbers each distinct value once.
fn numbered<T: Element>(labels: &[T]) -> Result<Labels> {
    let mut dictionary = Dictionary::default();
    let mut by_value: HashMap<u64, u32> = HashMap::new();
    let mut codes = Vec::with_capacity(labels.len());
    let mut last: Option<(u64, u32)> = None;
    for (row, &label) in labels.iter().enumerate() {
        let key = label.bits();
        // Labels are often sorted, so that equal ones follow one another.
        let known = last.filter(|(value, _)| *value == key).map(|(_, code)| code);
        let code = match known.or_else(|| by_value.get(&key).copied()) {
            Some(code) => code,
            None => {
                let code = dictionary.number(&name_of(label, row)?.into_bytes(), label_name);
                check_classes(dictionary.names.len())?;
                by_value.insert(key, code);
                code
            }
        };
        last = Some((key, code));
        codes.push(code);
    }
    Ok(Labels { names: dictionary.names, codes })
}

fn name_of<T: Element>(label: T, row: usize) -> Result<String> {
    if T::WHOLE || label.nearest().is_finite() {
        return Ok(label.text());
    }
    Err(Problem::new(Code::LABEL_VALUE, "the label is no finite number", place_of(row))
        .value(format!("{}", label.nearest()).as_bytes())
        .help("give every row a class, or leave the row out")
        .into())
}

fn check_classes(count: usize) -> Result<()> {
    if count > MAX_CLASSES { Err(too_many_classes(count, "labels")) } else { Ok(()) }
}

fn place_of(row: usize) -> Place {
    Place { row: Some(row as u64), ..Place::default() }
}

fn no_label(row: usize, label: &[u8]) -> Problem {
    Problem::new(Code::MISSING, "the row has no label", place_of(row))
        .value(label)
        .help("give every row a class, or leave the row out")
}
