//! What is in a table, column by column, whatever is wrong with it: nothing is refused here but what
//! cannot be taken apart into records.
//!
//! Some pieces of the text at a time are taken apart side by side, then columns are counted side by side:
//! each column meets its fields in the order of the file, so nothing depends on the number of threads, and
//! the values of a column that were counted before are still in the cache.

use super::choose::ColumnNote;
use super::columnar::Columnar;
use super::columns::{ColumnType, Look};
use super::forms::Form;
use super::row_source::{self, Input};
use super::sniff::{Sniffed, SniffedKind, Table};
use super::source::Pieces;
use super::{LabelChoice, ReadOptions, choices_of, csv, plan};
use crate::error::{Error, Result};
use crate::input::InputMap;
use crate::parallel::{parallel_chunks, parallel_map};
use crate::table::labels::is_missing;
use std::borrow::Cow;
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
/// Pieces of the text that are taken apart at a time, for each thread.
const PIECES: usize = 2;
/// Columns that are counted together.
const TOGETHER: usize = 4;

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
        let quoted = if sniffed.blanks { b' ' } else { table.delimiter };
        let mut pieces = part.pieces(sniffed.skip, Some(quoted), options.max_memory);
        pieces.blanks = sniffed.blanks;
        // Values that are counted take most of a small limit.
        let at_a_time = match options.max_memory {
            Some(_) => 1,
            None => PIECES * options.threads.clamp(1, 8),
        };
        while options.limit.is_none_or(|limit| survey.records < limit) {
            check_stop(options)?;
            let texts = some_of(&mut pieces, at_a_time)?;
            if texts.is_empty() {
                break;
            }
            let records = |piece: usize| Records::of(&texts[piece], table.delimiter);
            let mut records = parallel_map(texts.len(), options.threads, records);
            for piece in &mut records {
                if let Some(limit) = options.limit {
                    piece
                        .ends
                        .truncate(usize::try_from(limit - survey.records).unwrap_or(usize::MAX));
                }
                survey.records += piece.ends.len() as u64;
                survey.uneven += piece.uneven(tallies.len());
            }
            let count = |_: &mut (), chunk: usize, tallies: &mut [Tally]| {
                records.iter().for_each(|piece| piece.count(TOGETHER * chunk, tallies, table));
            };
            parallel_chunks(tallies, TOGETHER, options.threads, || (), count);
        }
    }
    Ok(survey.map(|(mut survey, tallies)| {
        let finished = survey.columns.iter_mut().zip(tallies);
        finished.for_each(|(column, tally)| tally.finish(column));
        survey
    }))
}

/// The next pieces of a text; none at its end.
fn some_of<'a>(pieces: &mut Pieces<'a>, count: usize) -> Result<Vec<Cow<'a, [u8]>>> {
    let mut texts = Vec::with_capacity(count);
    while texts.len() < count
        && let Some(piece) = pieces.next()?
    {
        texts.push(piece);
    }
    Ok(texts)
}

/// The records of a piece of the text. One that cannot be taken apart has no fields.
struct Records<'a> {
    fields: Vec<Cow<'a, str>>,
    /// Where the fields of each record end.
    ends: Vec<usize>,
}

impl<'a> Records<'a> {
    fn of(piece: &'a [u8], delimiter: u8) -> Records<'a> {
        let (mut fields, mut ends) = (Vec::new(), Vec::new());
        let mut at = 0;
        while at < piece.len() {
            if let Some(next) = csv::blank_line(piece, at) {
                at = next;
                continue;
            }
            let before = fields.len();
            at += match csv::fields_into(&piece[at..], delimiter, &mut fields) {
                Ok(len) => len.max(1),
                Err(_) => {
                    fields.truncate(before);
                    memchr::memchr(b'\n', &piece[at..]).map_or(piece.len() - at, |n| n + 1)
                }
            };
            ends.push(fields.len());
        }
        Records { fields, ends }
    }

    fn iter(&self) -> impl Iterator<Item = &[Cow<'a, str>]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(&start, &end)| &self.fields[start..end])
    }

    /// Records with another number of fields than the table.
    fn uneven(&self, width: usize) -> u64 {
        self.iter().filter(|fields| fields.len() != width).count() as u64
    }

    /// Counts the fields of the columns from `first` on.
    fn count(&self, first: usize, tallies: &mut [Tally], table: &Table) {
        for fields in self.iter() {
            let own = fields.get(first..).unwrap_or_default();
            tallies.iter_mut().zip(own).for_each(|(tally, field)| tally.add(field, table));
        }
    }
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
