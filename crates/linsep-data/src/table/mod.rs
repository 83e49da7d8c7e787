//! Data: rows, classes, names, weights, where they came from and how they were read.

pub mod basis;
pub(crate) mod columns;
mod digest;
mod features;
pub mod generate;
pub mod input;
pub mod inspect;
pub(crate) mod labels;
mod origin;
pub mod scale;
mod selected;
pub mod split;
pub mod terms;
mod view;

pub use digest::Identifying;
pub use features::Features;
pub use origin::Origin;
#[doc(hidden)]
pub use view::Held;
pub use view::RowsView;

use crate::error::{Code, Error, Place, Problem, Result};
use crate::matrix::{Stage, Staging, Store};
use input::InputMap;
use labels::{Dictionary, Parts, assemble, choose_positive, label_name};
use linsep_kernels::number;
use linsep_proof::digest::Version;
use linsep_proof::{DataIdentity, ReadingField};

/// A labelled table: what every learner learns from.
///
/// ```
/// use linsep_data::Dataset;
/// let rows = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
/// let data = Dataset::from_rows(&rows, &["no", "no", "no", "yes"])?;
/// assert_eq!((data.n_rows(), data.n_features(), data.n_classes()), (4, 2, 2));
/// # Ok::<(), linsep_data::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Dataset {
    pub(crate) features: Features,
    pub(crate) classes: Vec<String>,
    pub(crate) targets: Vec<u32>,
    /// Labels as they stand in the file, where classes were put together.
    pub(crate) merged: Option<MergedLabels>,
    pub(crate) weights: Option<Vec<f64>>,
}

/// A data set is features with labels: what can be asked of features can be asked of it.
impl std::ops::Deref for Dataset {
    type Target = Features;

    #[inline]
    fn deref(&self) -> &Features {
        &self.features
    }
}

#[derive(Clone, Debug)]
pub(crate) struct MergedLabels {
    pub(crate) names: Vec<String>,
    pub(crate) codes: Vec<u32>,
}

/// How exact proofs understand the numbers, column by column.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reading {
    /// The reading of every column that is not an exception: true means decimal, false binary64.
    pub decimal: bool,
    /// Columns that are binary64 although the default is decimal, rising.
    pub binary64: Vec<u32>,
}

impl Reading {
    /// A reading with exceptions.
    pub fn new(decimal: bool, binary64: Vec<u32>) -> Reading {
        Reading { decimal, binary64 }
    }
}

impl Reading {
    /// The reading of two parts of one table: a column that is binary64 in one is so in both.
    #[doc(hidden)]
    pub fn joined_with(&self, other: &Reading) -> Reading {
        let mut binary64 = [&self.binary64[..], &other.binary64].concat();
        binary64.sort_unstable();
        binary64.dedup();
        Reading { decimal: self.decimal, binary64 }
    }

    /// The reading as certificates state it.
    pub fn field(&self) -> ReadingField {
        let default = match self.decimal {
            true => linsep_proof::Reading::Decimal,
            false => linsep_proof::Reading::Binary64,
        };
        ReadingField::new(default, self.binary64.clone())
    }
}

impl Dataset {
    /// A data set from rows of equal length and one label for each row.
    pub fn from_rows<R: AsRef<[f64]>, L: AsRef<str>>(rows: &[R], labels: &[L]) -> Result<Dataset> {
        let width = rows.first().map_or(0, |row| row.as_ref().len());
        let mut builder = DatasetBuilder::new(width);
        if rows.len() != labels.len() {
            return Err(Error::usage(format!(
                "there are {} rows but {} labels",
                rows.len(),
                labels.len()
            )));
        }
        for (row, label) in rows.iter().zip(labels) {
            builder.dense_row(row.as_ref(), label.as_ref())?;
        }
        builder.finish()
    }

    /// The numbers without the labels.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// Number of classes.
    #[inline]
    pub fn n_classes(&self) -> usize {
        self.classes.len()
    }

    /// The class names, sorted: numerically if all are numbers, else by bytes. With two classes the
    /// second is the positive one.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// Refuses data with fewer than two classes.
    pub fn require_two_classes(&self) -> Result<()> {
        if self.n_classes() >= 2 {
            return Ok(());
        }
        let class = self.classes.first().map_or("", String::as_str);
        let place = self.origin.files().next().map_or_else(Place::default, Place::file);
        let label = match &self.input().label {
            Some(label) => format!(" (label {})", label.display()),
            None => String::new(),
        };
        let words = format!("every row is of class \"{class}\"{label}");
        Err(Problem::new(Code::ONE_CLASS, words, place)
            .value(class.as_bytes())
            .help(
                "a classifier needs two classes: check `label`, `limit` and the order of the file",
            )
            .into())
    }

    /// The class of a row, as a position in [`Dataset::classes`].
    #[inline]
    pub fn class_of(&self, row: usize) -> u32 {
        self.targets[row]
    }

    /// The class of every row.
    #[inline]
    pub fn targets(&self) -> &[u32] {
        &self.targets
    }

    /// The label as it stands in the file, in normal form.
    pub fn label_text(&self, row: usize) -> &str {
        match &self.merged {
            Some(merged) => &merged.names[merged.codes[row] as usize],
            None => &self.classes[self.targets[row] as usize],
        }
    }

    /// The label of a row, as a position in [`Dataset::label_names`].
    #[doc(hidden)]
    pub fn label_id(&self, row: usize) -> u32 {
        self.merged.as_ref().map_or(self.targets[row], |merged| merged.codes[row])
    }

    /// The labels that occur in the file, in normal form.
    pub fn label_names(&self) -> &[String] {
        self.merged.as_ref().map_or(&self.classes, |merged| &merged.names)
    }

    /// Row weights, if there are any.
    #[inline]
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// The weight of a row: 1 without weights.
    #[inline]
    pub fn weight(&self, row: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[row])
    }

    /// Calls `each` with the non-zero entries of a row, in rising order of the column.
    #[inline]
    pub fn for_each(&self, row: usize, each: impl FnMut(u32, f64)) {
        self.features.for_each(row, each);
    }

    /// The SHA-256 by which new models and certificates name this data. [`linsep_proof::digest`] says what
    /// enters; `threads` never changes it.
    pub fn digest(&self, threads: usize) -> String {
        self.digest_of(Version::LATEST, threads)
    }

    /// The SHA-256 by which files with this version of the digest name this data.
    pub fn digest_of(&self, version: Version, threads: usize) -> String {
        digest::digest(self, version, threads)
    }

    /// What new models and certificates say about which data they mean.
    pub fn identity(&self, threads: usize) -> DataIdentity {
        DataIdentity::new(self.digest(threads), self.n_rows() as u64)
    }

    /// The same rows with the classes of a model, which need not all occur. With `rest` the first class
    /// takes every label that is none of them; without it such a label is an error that names the row.
    pub fn with_classes(mut self, classes: &[String], rest: bool) -> Result<Dataset> {
        let names = self.label_names().to_vec();
        let place_of = |name: &String| classes.iter().position(|class| class == name);
        let places: Vec<Option<usize>> = names
            .iter()
            .map(|name| match rest {
                true => Some(usize::from(classes.get(1) == Some(name))),
                false => place_of(name),
            })
            .collect();
        let codes: Vec<u32> = (0..self.n_rows()).map(|row| self.label_id(row)).collect();
        if let Some(row) = codes.iter().position(|&code| places[code as usize].is_none()) {
            let label = &names[codes[row] as usize];
            let words = format!("the model has no class \"{label}\"");
            return Err(Problem::new(Code::UNKNOWN_CLASS, words, self.place_of(row))
                .value(label.as_bytes())
                .help(format!("its classes are {}", classes.join(", ")))
                .into());
        }
        let targets = codes.iter().map(|&code| places[code as usize].unwrap_or(0) as u32);
        self.targets = targets.collect();
        self.classes = classes.to_vec();
        self.features.input.rest = rest;
        self.merged = rest.then_some(MergedLabels { names, codes });
        Ok(self)
    }

    /// One class as the positive one; of more than two, the others become the class `rest`.
    #[doc(hidden)]
    pub fn with_positive(mut self, positive: &str) -> Result<Dataset> {
        let mut targets = std::mem::take(&mut self.targets);
        let file = self.origin.files().next().unwrap_or("").to_owned();
        choose_positive(&mut self, &mut targets, positive, &file)?;
        self.targets = targets;
        Ok(self)
    }

    /// A row without features for each label: nothing but classes.
    #[doc(hidden)]
    pub fn of_labels(labels: &[String]) -> Result<Dataset> {
        Dataset::from_rows(&vec![[0.0; 0]; labels.len()], labels)
    }

    /// Columns that are zero everywhere are added on the right up to `width`.
    #[doc(hidden)]
    pub fn widen_to(&mut self, width: usize) {
        self.features.widen_to(width);
    }

    /// The same data with the other storage, dense or sparse. Every result stays the same to the
    /// last bit; this exists so that tests and benchmarks can say so.
    pub fn with_other_storage(&self) -> Dataset {
        let mut other = self.clone();
        other.features.store.change().change_shape();
        other
    }
}

/// Builds a [`Dataset`] row by row.
pub struct DatasetBuilder {
    staging: Staging,
    store: Store,
    labels: Dictionary,
    weights: Vec<f64>,
    weighted: bool,
    width: usize,
    names: Option<Vec<String>>,
}

impl DatasetBuilder {
    /// A builder for rows with `width` features; sparse rows may widen it.
    pub fn new(width: usize) -> DatasetBuilder {
        DatasetBuilder {
            staging: Staging::new(width),
            store: Store::empty(),
            labels: Dictionary::default(),
            weights: Vec::new(),
            weighted: false,
            width,
            names: None,
        }
    }

    /// Gives the features names.
    pub fn names(&mut self, names: Vec<String>) {
        self.names = Some(names);
    }

    /// Adds a row with a value for every feature.
    pub fn dense_row(&mut self, values: &[f64], label: &str) -> Result<()> {
        if values.len() != self.width {
            return Err(Problem::new(
                Code::RAGGED,
                format!("the row has {} values, not {}", values.len(), self.width),
                self.place(),
            )
            .into());
        }
        for (j, &value) in values.iter().enumerate() {
            self.push(j as u32, value)?;
        }
        self.end_row(label, 1.0)
    }

    /// Adds a row given by its non-zero entries, columns rising.
    pub fn sparse_row(&mut self, entries: &[(u32, f64)], label: &str) -> Result<()> {
        for pair in entries.windows(2) {
            if pair[1].0 <= pair[0].0 {
                return Err(Error::data(
                    Code::INDEX_ORDER,
                    Code::INDEX_ORDER.title(),
                    self.place(),
                ));
            }
        }
        if entries.last().is_some_and(|(column, _)| *column == u32::MAX) {
            let title = Code::INDEX_TOO_LARGE.title();
            return Err(Error::data(Code::INDEX_TOO_LARGE, title, self.place()));
        }
        for &(column, value) in entries {
            self.push(column, value)?;
        }
        self.end_row(label, 1.0)
    }

    /// Gives the row added last a weight.
    #[inline]
    pub fn weight(&mut self, weight: f64) -> Result<()> {
        if !weight.is_finite() || weight < 0.0 {
            return Err(Error::data(Code::BAD_WEIGHT, Code::BAD_WEIGHT.title(), self.place()));
        }
        if let Some(last) = self.weights.last_mut() {
            *last = weight;
            self.weighted = true;
        }
        Ok(())
    }

    /// The finished data set.
    pub fn finish(mut self) -> Result<Dataset> {
        self.store.append(self.staging.pack());
        self.store.widen_to(self.width);
        let features = self.store.width();
        if let Some(names) = self.names.as_ref().filter(|names| names.len() != features) {
            return Err(Error::usage(format!(
                "there are {} names for {features} features",
                names.len()
            )));
        }
        assemble(Parts {
            store: self.store,
            labels: self.labels,
            weights: self.weighted.then_some(self.weights),
            input: InputMap::numeric(self.names.as_deref(), features),
            reading: Reading { decimal: false, binary64: Vec::new() },
            origin: Origin::default(),
            positive: None,
            file: "data".into(),
            is_part: false,
        })
    }

    fn place(&self) -> Place {
        Place { row: Some(self.labels.codes.len() as u64), ..Place::default() }
    }

    fn push(&mut self, column: u32, value: f64) -> Result<()> {
        if !value.is_finite() {
            let place = Place { field: Some((u64::from(column) + 1, None)), ..self.place() };
            self.staging.drop_row();
            return Err(Error::data(Code::NOT_FINITE, Code::NOT_FINITE.title(), place));
        }
        if value != 0.0 {
            self.staging.push(column, value, number::places_of(value));
        }
        Ok(())
    }

    fn end_row(&mut self, label: &str, weight: f64) -> Result<()> {
        let code = self.labels.number(label.as_bytes(), label_name);
        self.labels.codes.push(code);
        self.weights.push(weight);
        self.staging.end_row();
        if self.staging.rows() >= 1 << 16 {
            self.store.append(self.staging.pack());
        }
        Ok(())
    }
}
