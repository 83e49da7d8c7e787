//! What is in a table, column by column, whatever is wrong with it: nothing is refused here but what
//! cannot be taken apart into records.

use super::choose::ColumnNote;
use super::columnar::Columnar;
use super::columns::{ColumnType, Look};
use super::forms::Form;
use super::row_source::{self, Input};
use super::sniff::{Sniffed, SniffedKind, Table};
use super::{LabelChoice, ReadOptions, choices_of, csv, plan};
use crate::error::{Error, Result};
use crate::input::InputMap;
use crate::table::labels::is_missing;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

/// What was seen in the columns of a table.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Survey {
    /// Records, those with a wrong number of fields included.
    pub records: u64,
    /// Records with a wrong number of fields.
    pub uneven: u64,
    /// What the file was read as, in words.
    pub notes: Vec<String>,
    /// The columns of the file, in order.
    pub columns: Vec<ColumnSurvey>,
    /// The position of the label that would be taken, if there is one.
    pub label: Option<usize>,
    /// How it would be chosen.
    pub label_choice: LabelChoice,
    /// What would be decided about columns without being asked.
    pub decisions: Vec<ColumnNote>,
}

/// What was seen in a column.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ColumnSurvey {
    /// Its name, or its number.
    pub name: String,
    /// What it holds: `integer`, `real`, `text`, `dates` and the like.
    pub kind: &'static str,
    /// Fields without a value.
    pub missing: u64,
    /// Fields that are numbers.
    pub numbers: u64,
    /// Fields that are neither numbers nor missing.
    pub texts: u64,
    /// Different values, as far as they were counted.
    pub distinct: usize,
    /// Whether there are more than were counted.
    pub more: bool,
    /// The smallest number, the mean and the largest, where there are numbers.
    pub range: Option<(f64, f64, f64)>,
    /// The most frequent values with their counts.
    pub top: Vec<(String, u64)>,
    /// Whether the values may be classes.
    pub may_be_label: bool,
}

/// Different values of a column that are counted.
const COUNTED: usize = 10_000;
/// Bytes of a value that are told apart.
const TOLD: usize = 100;
/// Frequent values that are kept.
const TOP: usize = 5;

/// Looks through tables; `None` for other formats.
pub(super) fn of_texts(inputs: Vec<Input<'_>>, options: &ReadOptions) -> Result<Option<Survey>> {
    let mut survey: Option<(Survey, Vec<Tally>)> = None;
    for input in row_source::expand(inputs)? {
        let mut part = input.open(options.stop.as_ref())?;
        let name = part.name.clone();
        let columnar = part.columnar(options.max_memory)?;
        let sniffed = super::look(&mut part, columnar.as_ref(), options)?;
        let SniffedKind::Table(table) = &sniffed.kind else { return Ok(None) };
        let (survey, tallies) =
            survey.get_or_insert_with(|| begun(&sniffed, columnar.as_ref(), table, &name, options));
        if let Some(columnar) = &columnar {
            columnar.records(|record| {
                if options.limit.is_some_and(|limit| survey.records >= limit) {
                    return Ok(ControlFlow::Break(()));
                }
                check_stop(options)?;
                survey.records += 1;
                tallies.iter_mut().zip(&record).for_each(|(tally, field)| tally.add(field, table));
                Ok(ControlFlow::Continue(()))
            })?;
            continue;
        }
        let delimiter = table.delimiter;
        let quoted = if sniffed.blanks { b' ' } else { delimiter };
        let mut pieces = part.pieces(sniffed.skip, Some(quoted), options.max_memory);
        pieces.blanks = sniffed.blanks;
        while let Some(piece) = pieces.next()? {
            check_stop(options)?;
            let mut at = 0;
            while at < piece.len() && options.limit.is_none_or(|limit| survey.records < limit) {
                if let Some(next) = csv::blank_line(&piece, at) {
                    at = next;
                    continue;
                }
                survey.records += 1;
                let Ok((fields, len)) = csv::fields(&piece[at..], delimiter) else {
                    survey.uneven += 1;
                    at += memchr::memchr(b'\n', &piece[at..]).map_or(piece.len() - at, |n| n + 1);
                    continue;
                };
                at += len.max(1);
                survey.uneven += u64::from(fields.len() != tallies.len());
                for (tally, field) in tallies.iter_mut().zip(&fields) {
                    tally.add(field, table);
                }
            }
        }
    }
    Ok(survey.map(|(mut survey, tallies)| {
        let finished = survey.columns.iter_mut().zip(tallies);
        finished.for_each(|(column, tally)| tally.finish(column));
        survey
    }))
}

fn check_stop(options: &ReadOptions) -> Result<()> {
    match options.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
        true => Err(Error::Interrupted),
        false => Ok(()),
    }
}

/// A survey of no records yet.
fn begun(
    sniffed: &Sniffed,
    columnar: Option<&Columnar>,
    table: &Table,
    file: &str,
    options: &ReadOptions,
) -> (Survey, Vec<Tally>) {
    let looks: Vec<Look> = (0..table.width).map(|j| Look::new(table, j)).collect();
    let column = |(j, look): (usize, &Look)| ColumnSurvey {
        name: table.column_name(j),
        kind: kind(look),
        missing: 0,
        numbers: 0,
        texts: 0,
        distinct: 0,
        more: false,
        range: None,
        top: Vec::new(),
        may_be_label: look.may_be_label() && look.repeats(),
    };
    let columns = looks.iter().enumerate().map(column).collect();
    let planned = plan::for_training(sniffed, file, options).ok();
    let of_map = |map: &InputMap| map.label.as_ref().map(|label| label.position);
    let survey = Survey {
        records: 0,
        uneven: 0,
        notes: choices_of(sniffed, columnar).notes(),
        columns,
        label: planned.as_ref().and_then(|plan| of_map(&plan.map)),
        label_choice: planned.as_ref().map_or(LabelChoice::None, |plan| plan.label.clone()),
        decisions: planned.map_or_else(Vec::new, |plan| plan.notes),
    };
    (survey, looks.iter().map(|_| Tally::default()).collect())
}

fn kind(look: &Look) -> &'static str {
    match (look.kind, look.form) {
        _ if look.is_index() => "index",
        (ColumnType::Empty, _) => "empty",
        (ColumnType::Integer, _) => "integer",
        (ColumnType::Real, _) => "real",
        (ColumnType::Mixed, _) => "mixed",
        (ColumnType::Text, Some(Form::Date)) => "dates",
        (ColumnType::Text, Some(Form::Percent)) => "percent",
        (ColumnType::Text, Some(Form::Currency)) => "money",
        (ColumnType::Text, Some(Form::Thousands | Form::DecimalComma)) => "1,234",
        (ColumnType::Text, None) => "text",
    }
}

/// A column on its way to a summary.
#[derive(Default)]
struct Tally {
    counts: HashMap<String, u64>,
    missing: u64,
    numbers: u64,
    texts: u64,
    more: bool,
    sum: f64,
    range: Option<(f64, f64)>,
}

impl Tally {
    fn add(&mut self, field: &str, table: &Table) {
        if is_missing(field.as_bytes()) {
            self.missing += 1;
            return;
        }
        match table.number(field) {
            Ok(number) => {
                self.numbers += 1;
                self.sum += number.value;
                let (least, most) = self.range.unwrap_or((number.value, number.value));
                self.range = Some((least.min(number.value), most.max(number.value)));
            }
            Err(_) => self.texts += 1,
        }
        let told = field.char_indices().nth(TOLD).map_or(field, |(end, _)| &field[..end]);
        if let Some(count) = self.counts.get_mut(told) {
            *count += 1;
        } else if self.counts.len() < COUNTED {
            self.counts.insert(told.to_owned(), 1);
        } else {
            self.more = true;
        }
    }

    fn finish(self, column: &mut ColumnSurvey) {
        column.missing = self.missing;
        column.numbers = self.numbers;
        column.texts = self.texts;
        column.distinct = self.counts.len();
        column.kind = match (column.kind, self.range) {
            ("integer" | "real", _) if column.distinct == 1 => "constant",
            ("integer", Some((0.0, 1.0))) => "0/1",
            (kind, _) => kind,
        };
        column.more = self.more;
        let mean = self.sum / self.numbers.max(1) as f64;
        column.range = self.range.map(|(least, most)| (least, mean, most));
        let mut top: Vec<(String, u64)> = self.counts.into_iter().collect();
        top.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        top.truncate(TOP);
        column.top = top;
    }
}
