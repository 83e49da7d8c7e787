//! The input map: how the columns of a file become the features of a model. It is stored in the
//! model, so prediction needs nothing but the raw file.

use super::basis::Basis;
use crate::error::{Code, Error, Place, Problem, Result};
use linsep_proof::InputField;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// How columns become features.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct InputMap {
    /// The number of features that the columns make, before basis functions.
    pub features: usize,
    /// The label column of the training file; `None` where the format has a fixed place for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<SourceColumn>,
    /// The number of columns of the training file, if it was a table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_columns: Option<usize>,
    /// Where svmlight indices start, if the training file had them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index_base: Option<u8>,
    /// Of plain indices, the ranges [from, to) of columns that were kept; all when empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<(u32, u32)>,
    /// The column with the row weights, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<SourceColumn>,
    /// Whether the first class stands for every label that is not the second class.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rest: bool,
    /// Whether rows with a gap were left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub drop_missing: bool,
    /// The used columns in the order of the features; empty when features are plain indices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<InputColumn>,
    /// A value above this counts as 1 and any other as 0; values count as they are when `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binarize: Option<f64>,
    /// Basis functions: features that are made of the others and stand behind them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basis: Option<Basis>,
}

linsep_proof::setters! {
    InputMap {
        with_label => label: Option<SourceColumn>,
        with_source_columns => source_columns: Option<usize>,
        with_index_base => index_base: Option<u8>,
        with_kept => kept: Vec<(u32, u32)>,
        with_weight => weight: Option<SourceColumn>,
        with_rest => rest: bool,
        with_drop_missing => drop_missing: bool,
        with_columns => columns: Vec<InputColumn>,
        with_binarize => binarize: Option<f64>,
        with_basis => basis: Option<Basis>,
    }
}

/// A column of the training file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SourceColumn {
    /// Its name, if the file had a header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its 0-based position.
    pub position: usize,
}

impl SourceColumn {
    /// Its name in quotes, or its number.
    pub(crate) fn display(&self) -> String {
        match &self.name {
            Some(name) if !name.is_empty() => format!("\"{name}\""),
            _ => format!("#{}", self.position + 1),
        }
    }

    /// A column by its name, if it has one, and its place.
    pub fn new(name: Option<String>, position: usize) -> SourceColumn {
        SourceColumn { name, position }
    }
}

/// A column that is used, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct InputColumn {
    /// Its name, if the file had a header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its 0-based position in the training file.
    pub position: usize,
    /// The value that stands for a missing one; without it a missing value is an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<f64>,
    /// For a text column: its levels in the order of their features.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<Vec<String>>,
    /// For a text column: the level that sets no feature, if one was left out of the list for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// For a text column: the level that stands for a missing one, if none would set no feature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing_level: Option<String>,
    /// For a text column: a level that is not in the list sets no feature instead of being an error.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unknown_as_zeros: bool,
    /// Another feature follows that is 1 where the value is missing and 0 elsewhere.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub indicator: bool,
}

impl InputColumn {
    /// A numeric column without a name at this place.
    pub fn new(position: usize) -> InputColumn {
        InputColumn {
            position,
            name: None,
            missing: None,
            levels: None,
            reference: None,
            missing_level: None,
            unknown_as_zeros: false,
            indicator: false,
        }
    }

    /// The features that it makes.
    pub(crate) fn n_features(&self) -> usize {
        self.levels.as_ref().map_or(1, Vec::len) + usize::from(self.indicator)
    }

    /// What its features are called.
    fn names(&self) -> Vec<String> {
        let base = self.name.clone().unwrap_or_else(|| format!("x{}", self.position + 1));
        let mut names = match &self.levels {
            Some(levels) => levels.iter().map(|level| format!("{base}={level}")).collect(),
            None => vec![base.clone()],
        };
        if self.indicator {
            names.push(format!("missing({base})"));
        }
        names
    }
}

linsep_proof::setters! {
    InputColumn {
        with_name => name: Option<String>,
        with_missing => missing: Option<f64>,
        with_levels => levels: Option<Vec<String>>,
        with_reference => reference: Option<String>,
        with_missing_level => missing_level: Option<String>,
        with_unknown_as_zeros => unknown_as_zeros: bool,
        with_indicator => indicator: bool,
    }
}

impl InputMap {
    /// Features that are plain indices without names.
    pub fn plain(features: usize) -> InputMap {
        InputMap {
            features,
            label: None,
            source_columns: None,
            index_base: None,
            rest: false,
            drop_missing: false,
            kept: Vec::new(),
            weight: None,
            columns: Vec::new(),
            binarize: None,
            basis: None,
        }
    }

    /// Numeric columns in order, with or without names.
    pub fn numeric(names: Option<&[String]>, features: usize) -> InputMap {
        let columns = names.unwrap_or(&[]).iter().enumerate().map(|(position, name)| InputColumn {
            name: Some(name.clone()),
            position,
            missing: None,
            levels: None,
            reference: None,
            missing_level: None,
            unknown_as_zeros: false,
            indicator: false,
        });
        InputMap { columns: columns.collect(), ..InputMap::plain(features) }
    }

    /// The map that a certificate file holds; the words say what is wrong with it.
    pub fn of_certificate(input: &InputField) -> std::result::Result<InputMap, String> {
        let map: InputMap = input.read()?;
        map.check()?;
        Ok(map)
    }

    /// Whether features have names.
    pub fn has_names(&self) -> bool {
        !self.columns.is_empty() && self.columns.iter().all(|column| column.name.is_some())
    }

    /// The number of weights of a plane: the features, and those that basis functions make.
    pub fn width(&self) -> usize {
        let more = self.basis.as_ref().map_or(0, |basis| basis.n_terms(self.features));
        self.features.saturating_add(more)
    }

    /// The name of a feature: the column's, with `=level` behind it for a category, or `x` and the
    /// 1-based number.
    pub fn feature_name(&self, feature: usize) -> String {
        if feature >= self.features && self.basis.is_some() {
            return self.feature_names().swap_remove(feature);
        }
        let mut first = 0;
        for column in &self.columns {
            let count = column.n_features();
            if feature < first + count {
                return column.names().swap_remove(feature - first);
            }
            first += count;
        }
        format!("x{}", feature + 1)
    }

    /// Every feature name in order.
    pub fn feature_names(&self) -> Vec<String> {
        let mut names = Vec::with_capacity(self.features);
        for column in &self.columns {
            names.extend(column.names());
        }
        names.extend((names.len()..self.features).map(|feature| format!("x{}", feature + 1)));
        if let Some(basis) = &self.basis {
            names.extend(basis.names(&names));
        }
        names
    }

    /// What planes are linear in: `x`, or `phi(x)` with the basis functions in words.
    pub fn linear_in(&self) -> String {
        const SHOWN: usize = 8;
        let Some(basis) = &self.basis else { return "x".into() };
        let form = match basis.claimed() {
            linsep_proof::Basis::Named(name) => name,
            linsep_proof::Basis::Terms(terms) => {
                let mut names = self.feature_names().split_off(self.features);
                names.truncate(SHOWN);
                if terms.len() > SHOWN {
                    names.push("…".into());
                }
                names.join(", ")
            }
        };
        let (from, to) = (self.features, self.width());
        format!("phi(x): {form} ({from} columns make {to} features)")
    }

    /// The raw feature with this name.
    #[doc(hidden)]
    pub fn feature_called(&self, wanted: &str) -> Option<u32> {
        if self.columns.is_empty() {
            let number: usize = wanted.strip_prefix('x')?.parse().ok()?;
            let written = wanted == format!("x{number}");
            return (written && (1..=self.features).contains(&number)).then(|| number as u32 - 1);
        }
        let names = self.feature_names();
        names[..self.features].iter().position(|name| name == wanted).map(|j| j as u32)
    }

    /// The raw feature that a column of the file makes, by its 0-based position; `None` also for a
    /// text column, which makes several.
    pub(crate) fn feature_at(&self, position: usize) -> Option<u32> {
        if self.columns.is_empty() {
            let wanted = u32::try_from(position).ok()?;
            let mut first = 0;
            for &(from, to) in &self.kept {
                if (from..to).contains(&wanted) {
                    return Some(first + wanted - from).filter(|j| (*j as usize) < self.features);
                }
                first += to - from;
            }
            return (self.kept.is_empty() && position < self.features).then_some(wanted);
        }
        let mut first = 0;
        for column in &self.columns {
            if column.position == position {
                return column.levels.is_none().then_some(first);
            }
            first += column.n_features() as u32;
        }
        None
    }

    /// The field of the file that a raw feature comes from, for messages.
    pub(crate) fn field_of(&self, feature: usize) -> (u64, Option<String>) {
        let mut first = 0;
        for column in &self.columns {
            first += column.n_features();
            if feature < first {
                return (column.position as u64 + 1, column.name.clone());
            }
        }
        (feature as u64 + 1, None)
    }

    /// Whether the parts fit together; the words say what does not.
    #[doc(hidden)]
    pub fn check(&self) -> std::result::Result<(), String> {
        if !self.columns.is_empty() {
            let features: usize = self.columns.iter().map(InputColumn::n_features).sum();
            if features != self.features {
                return Err(format!(
                    "the columns make {features} features where {} are stated",
                    self.features
                ));
            }
        }
        let mut positions: Vec<usize> = self.columns.iter().map(|c| c.position).collect();
        positions.extend(self.label.iter().chain(&self.weight).map(|column| column.position));
        positions.sort_unstable();
        let width = self.source_columns.unwrap_or(usize::MAX);
        if positions.windows(2).any(|pair| pair[0] == pair[1])
            || positions.last().is_some_and(|&at| at >= width)
        {
            return Err("two columns have one position, or a position is outside the table".into());
        }
        let mut names: Vec<&String> = self.columns.iter().filter_map(|c| c.name.as_ref()).collect();
        names.sort_unstable();
        if self.has_names() && names.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err("two columns have the same name".into());
        }
        if self
            .columns
            .iter()
            .filter_map(|c| c.levels.as_ref())
            .any(|l| !l.is_sorted_by(|a, b| a < b))
        {
            return Err("the levels of a column are not sorted".into());
        }
        let is_wrong = |column: &InputColumn| match (&column.reference, &column.levels) {
            (Some(reference), Some(levels)) => levels.contains(reference),
            (reference, _) => reference.is_some(),
        };
        if self.columns.iter().any(is_wrong) {
            return Err(
                "a reference level is one of the others, or its column has no levels".into()
            );
        }
        let is_strange = |column: &InputColumn| {
            let is_known = |level: &String| {
                let listed = column.levels.as_ref().is_some_and(|levels| levels.contains(level));
                listed || column.reference.as_ref() == Some(level)
            };
            column.missing_level.as_ref().is_some_and(|level| !is_known(level))
        };
        if self.columns.iter().any(is_strange) {
            return Err("the level for missing cells is no level of its column".into());
        }
        if self.columns.iter().any(|c| c.missing.is_some_and(|value| !value.is_finite())) {
            return Err("a value for missing cells is not finite".into());
        }
        let in_order = self.kept.iter().flat_map(|&(from, to)| [from, to]);
        if !in_order.collect::<Vec<_>>().is_sorted() {
            return Err("the kept columns are not rising".into());
        }
        if self.index_base.is_some_and(|base| base > 1) {
            return Err("the index base is neither 0 nor 1".into());
        }
        self.basis.as_ref().map_or(Ok(()), |basis| basis.check(self.features))
    }

    /// The columns split into numeric ones and categories, each with the feature it starts at.
    pub(crate) fn layout(&self) -> Layout {
        let mut layout =
            Layout { numeric: Vec::new(), categories: Vec::new(), features: self.features };
        let mut feature = 0u32;
        for (k, column) in self.columns.iter().enumerate() {
            match &column.levels {
                None => {
                    let indicator = column.indicator.then_some(feature + 1);
                    let missing = column.missing;
                    layout.numeric.push(NumericColumn { feature, missing, indicator });
                }
                Some(levels) => {
                    layout.categories.push(CategoryColumn {
                        column: k,
                        feature,
                        levels: levels.iter().cloned().zip(0..).collect(),
                        reference: column.reference.clone(),
                        missing_level: column.missing_level.clone(),
                        unknown_as_zeros: column.unknown_as_zeros,
                        missing_as_zeros: column.missing.is_some(),
                        indicator: column.indicator.then_some(feature + levels.len() as u32),
                    });
                }
            }
            feature += column.n_features() as u32;
        }
        layout
    }
}

/// Where parsed columns go.
#[derive(Clone)]
pub(crate) struct Layout {
    pub(crate) numeric: Vec<NumericColumn>,
    pub(crate) categories: Vec<CategoryColumn>,
    pub(crate) features: usize,
}

#[derive(Clone, Copy)]
pub(crate) struct NumericColumn {
    pub(crate) feature: u32,
    pub(crate) missing: Option<f64>,
    /// The feature that says that the value is missing.
    pub(crate) indicator: Option<u32>,
}

#[derive(Clone)]
pub(crate) struct CategoryColumn {
    /// Its place in the map.
    pub(crate) column: usize,
    feature: u32,
    levels: HashMap<String, u32>,
    reference: Option<String>,
    missing_level: Option<String>,
    unknown_as_zeros: bool,
    missing_as_zeros: bool,
    /// The feature that says that the level is missing.
    indicator: Option<u32>,
}

impl Layout {
    /// Takes gaps for which there is no value for 0.
    pub(crate) fn accept_gaps(&mut self) {
        self.numeric.iter_mut().for_each(|column| column.missing = column.missing.or(Some(0.0)));
        self.categories.iter_mut().for_each(|column| column.missing_as_zeros = true);
    }

    /// The columns in the order in which a file has them: the k-th parsed column of a kind is the
    /// `order`-th of the map.
    pub(crate) fn in_order(mut self, order: &ColumnOrder) -> Layout {
        if self.numeric.is_empty() && self.categories.is_empty() {
            // Plain indices need no layout.
            return self;
        }
        if !order.numeric.is_empty() {
            self.numeric = order.numeric.iter().map(|&k| self.numeric[k]).collect();
        }
        if !order.categories.is_empty() {
            self.categories =
                order.categories.iter().map(|&k| self.categories[k].clone()).collect();
        }
        self
    }
}

/// How the columns of a file are ordered, where that is not the order of the map.
#[derive(Clone, Debug, Default)]
pub(crate) struct ColumnOrder {
    pub(crate) numeric: Vec<usize>,
    pub(crate) categories: Vec<usize>,
}

impl CategoryColumn {
    /// The features that a cell sets: that of its level, or of the one that stands for a gap, and that of gaps.
    pub(crate) fn features_of(
        &self,
        level: Option<&str>,
    ) -> std::result::Result<[Option<u32>; 2], Code> {
        let indicator = if level.is_none() { self.indicator } else { None };
        let feature = match level.or(self.missing_level.as_deref()) {
            None if self.missing_as_zeros => None,
            None => return Err(Code::MISSING),
            Some(level) => match self.levels.get(level) {
                Some(number) => Some(self.feature + number),
                None if self.unknown_as_zeros => None,
                None if self.reference.as_deref() == Some(level) => None,
                None => return Err(Code::UNKNOWN_LEVEL),
            },
        };
        Ok([feature, indicator])
    }
}

/// The position of the one column with this name.
pub(crate) fn find_name(names: &[String], name: &str, file: &str) -> Result<Option<usize>> {
    let mut found = names.iter().enumerate().filter(|(_, n)| *n == name).map(|(at, _)| at);
    let first = found.next();
    if found.next().is_some() {
        return Err(Problem::new(
            Code::DUPLICATE_NAME,
            format!("two columns are named \"{name}\""),
            Place::file(file),
        )
        .help("rename one of them, or choose columns by number with #N")
        .into());
    }
    Ok(first)
}

/// An error about a column that is not there, with the nearest name.
#[doc(hidden)]
pub fn no_column(code: Code, wanted: &str, names: &[String], file: &str) -> Error {
    let nearest = names
        .iter()
        .map(|name| (edit_distance(wanted, name), name))
        .min()
        .filter(|(distance, _)| *distance <= wanted.chars().count().div_ceil(2));
    let help = match nearest {
        Some((_, name)) => format!("did you mean \"{name}\"?"),
        None if names.is_empty() => "the file has no header; use #N".to_owned(),
        None => {
            let shown: Vec<&str> = names.iter().take(12).map(String::as_str).collect();
            let more = if names.len() > 12 { ", …" } else { "" };
            format!("the columns are {}{more}", shown.join(", "))
        }
    };
    Problem::new(code, format!("no column \"{wanted}\""), Place::file(file))
        .value(wanted.as_bytes())
        .help(help)
        .into()
}

/// Levenshtein distance, for suggestions.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &cb) in b.iter().enumerate() {
            let substitute = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = substitute.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_of_categories_carry_their_level() {
        let mut map = InputMap::numeric(Some(&["age".into(), "colour".into()]), 2);
        map.columns[1].levels = Some(vec!["blue".into(), "red".into()]);
        map.features = 3;
        assert!(map.check().is_ok());
        assert_eq!(map.feature_names(), ["age", "colour=blue", "colour=red"]);
        assert_eq!(map.feature_name(2), "colour=red");
        assert_eq!(InputMap::plain(2).feature_names(), ["x1", "x2"]);
        map.features = 4;
        assert!(map.check().is_err());
    }

    #[test]
    fn a_wrong_name_gets_the_nearest_one() {
        let names = ["species".to_owned(), "sepal_len".to_owned()];
        let error = no_column(Code::NO_LABEL, "specie", &names, "f.csv");
        let Error::Data(data) = error else { panic!() };
        assert_eq!(data.problems[0].help.as_deref(), Some("did you mean \"species\"?"));
        assert_eq!(edit_distance("kitten", "sitting"), 3);
    }
}
