//! What the columns of a table look like, by its first records: numbers or words, how many different
//! ones, an index, dates.

use super::forms::Form;
use super::number;
use super::sniff::Table;
use crate::table::labels::is_missing;
use std::collections::HashSet;

/// Levels up to which a text column becomes one column for each of them unasked.
pub(crate) const MOST_LEVELS: usize = 50;

/// The type that the sample of a column suggests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnType {
    /// No value at all.
    Empty,
    /// Whole numbers.
    Integer,
    /// Numbers.
    Real,
    /// Numbers and text.
    Mixed,
    /// Text.
    Text,
}

/// What the sample shows of a column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) kind: ColumnType,
    /// Values that are not missing, and different ones among them.
    pub(crate) values: usize,
    pub(crate) distinct: usize,
    /// What nearly all texts look like.
    pub(crate) form: Option<Form>,
    /// Whole numbers that rise by 1.
    pub(crate) counts_rows: bool,
    /// The name is one that an index has, or there is none in a header.
    pub(crate) index_name: bool,
    /// The name is the one by which pandas stores the index of a data frame.
    pub(crate) stored_index: bool,
    /// There is no name.
    unnamed: bool,
    /// Records that were looked at.
    rows: usize,
}

impl Look {
    pub(crate) fn new(table: &Table, column: usize) -> Look {
        let (mut numbers, mut reals, mut texts) = (0, 0, 0);
        let mut distinct = HashSet::new();
        let mut forms: Vec<(Form, usize)> = Vec::new();
        let mut last: Option<f64> = None;
        let mut counts_rows = true;
        let mut values = 0;
        for field in table.sample.iter().filter_map(|record| record.get(column)) {
            if is_missing(field.as_bytes()) {
                counts_rows = false;
                continue;
            }
            values += 1;
            distinct.insert(field.as_str());
            match table.number(field) {
                Ok(number) => {
                    numbers += 1;
                    reals += usize::from(number.value.fract() != 0.0);
                    counts_rows &= last.is_none_or(|last| number.value == last + 1.0);
                    last = Some(number.value);
                }
                Err(number::Fault::NotANumber) => {
                    texts += 1;
                    counts_rows = false;
                    if let Some(form) = Form::of(field) {
                        match forms.iter_mut().find(|(known, _)| *known == form) {
                            Some((_, count)) => *count += 1,
                            None => forms.push((form, 1)),
                        }
                    }
                }
                Err(_) => {
                    numbers += 1;
                    counts_rows = false;
                }
            }
        }
        let kind = match (numbers, reals, texts) {
            (0, _, 0) => ColumnType::Empty,
            (0, _, _) => ColumnType::Text,
            (_, 0, 0) => ColumnType::Integer,
            (_, _, 0) => ColumnType::Real,
            _ => ColumnType::Mixed,
        };
        let form = forms.into_iter().find(|(_, count)| 10 * count >= 9 * texts);
        Look {
            kind,
            values,
            distinct: distinct.len(),
            form: form.map(|(form, _)| form),
            counts_rows: counts_rows && values > 0,
            unnamed: table.names().get(column).is_none_or(|name| name.is_empty()),
            stored_index: table.names().get(column).is_some_and(|name| is_stored_index(name)),
            rows: table.sample.len(),
            index_name: table.names().get(column).is_some_and(|name| is_index_name(name)),
        }
    }

    pub(crate) fn is_text(&self) -> bool {
        self.kind == ColumnType::Text
    }

    /// Every value is another one.
    fn is_unique(&self) -> bool {
        self.values > 1 && self.distinct == self.values
    }

    /// There are several values, and some occur more than once.
    pub(crate) fn repeats(&self) -> bool {
        (2..self.values).contains(&self.distinct)
    }

    /// A column without values and without a name, as a delimiter at the end of each line makes it.
    pub(crate) fn is_nothing(&self) -> bool {
        self.kind == ColumnType::Empty && self.unnamed && self.rows > 0
    }

    /// A number or a name for each row.
    pub(crate) fn is_index(&self) -> bool {
        let named = self.index_name && self.is_unique() && self.kind != ColumnType::Real;
        named || self.stored_index
    }

    /// Nearly every value is another one.
    pub(crate) fn is_near_unique(&self) -> bool {
        self.values >= 5 && 10 * self.distinct >= 9 * self.values
    }

    pub(crate) fn is_date(&self) -> bool {
        self.is_text() && self.form == Some(Form::Date)
    }

    /// Whether the values may be classes.
    pub(crate) fn may_be_label(&self) -> bool {
        let many = match self.kind {
            ColumnType::Text => self.is_near_unique(),
            ColumnType::Integer => {
                self.distinct > MOST_LEVELS || self.is_near_unique() && self.distinct > 9
            }
            ColumnType::Mixed => self.is_near_unique() && self.distinct > 9,
            ColumnType::Empty | ColumnType::Real => true,
        };
        let amount = self.is_text() && self.form.is_some();
        !many && !amount && !self.is_index()
    }
}

/// Names that are given to a column that numbers or names the rows.
fn is_index_name(name: &str) -> bool {
    const NAMES: [&str; 7] = ["", "id", "index", "row", "rownames", "row.names", "row_names"];
    let name = name.trim().to_ascii_lowercase();
    // What pandas calls a column without a name.
    let unnamed = name.strip_prefix("unnamed: ").is_some_and(|n| n.parse::<u32>().is_ok());
    unnamed || NAMES.contains(&name.as_str())
}

/// `__index_level_0__`, which stands last in Parquet and Arrow files of pandas.
fn is_stored_index(name: &str) -> bool {
    let level = name.strip_prefix("__index_level_").and_then(|rest| rest.strip_suffix("__"));
    level.is_some_and(|level| level.parse::<u32>().is_ok())
}
