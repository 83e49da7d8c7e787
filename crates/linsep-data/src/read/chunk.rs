//! Rows on their way through a model, block by block in constant memory.

use super::collect::{self, Facts};
use super::row_source::Input;
use super::sniff::Sniffed;
use super::{Choices, Parts, ReadOptions, csv, note_facts, plan};
use crate::basis::Basis;
use crate::error::{Code, Error, Place, Problem, Result};
use crate::input::InputMap;
use crate::matrix::{Planes, Stage, Staging, Store};
use crate::table::Dataset;
use crate::table::labels::Dictionary;
use crate::{Held, RowsView};
use std::borrow::Cow;
use std::ops::ControlFlow;

/// Some rows on their way through a model.
pub struct Chunk<'a> {
    store: Cow<'a, Store>,
    /// What is there instead of the rows where whoever parsed them scored them, too.
    products: Option<Vec<f64>>,
    /// Rows that lack values for which the model has nothing, rising.
    incomplete: Vec<u64>,
    whence: Whence<'a>,
}

/// Where the rows of a chunk come from.
enum Whence<'a> {
    /// A piece of a text, from the first line on, with the rows where lines jump.
    Text {
        labels: Box<Dictionary>,
        /// None, or one for each row.
        weights: Vec<f64>,
        spans: Vec<std::ops::Range<usize>>,
        text: &'a [u8],
        origin: (&'a str, u64, Vec<(u64, u64)>),
    },
    /// A whole data set.
    Data(&'a Dataset),
    /// Plain memory, from this row on.
    Memory(usize),
}

impl Chunk<'_> {
    /// The features as they are held.
    #[doc(hidden)]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The products of the rows with the planes that [`super::RowSource::scored_blocks`] was given, row by
    /// row; then the store has no rows but their number.
    #[doc(hidden)]
    pub fn products(&self) -> Option<&[f64]> {
        self.products.as_deref()
    }

    /// Whether a row lacks a value for which the model has nothing; what stands there means nothing.
    pub fn is_incomplete(&self, row: usize) -> bool {
        self.incomplete.binary_search(&(row as u64)).is_ok()
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.store.rows()
    }

    /// The label of a row in normal form, if the input has labels.
    pub fn label(&self, row: usize) -> Option<&str> {
        match &self.whence {
            Whence::Text { labels, .. } => {
                let code = *labels.codes.get(row)?;
                Some(&labels.names[code as usize])
            }
            Whence::Data(data) => Some(data.label_text(row)),
            Whence::Memory(_) => None,
        }
    }

    /// How much a row counts: 1 without weights.
    pub fn weight(&self, row: usize) -> f64 {
        match &self.whence {
            Whence::Data(data) => data.weight(row),
            Whence::Text { weights, .. } => weights.get(row).copied().unwrap_or(1.0),
            Whence::Memory(_) => 1.0,
        }
    }

    /// The record of a row as it stands in the file, without the line break; tables only.
    pub fn record(&self, row: usize) -> Option<&[u8]> {
        let Whence::Text { spans, text, .. } = &self.whence else { return None };
        let record = &text[spans.get(row)?.clone()];
        let record = record.strip_suffix(b"\n").unwrap_or(record);
        Some(record.strip_suffix(b"\r").unwrap_or(record))
    }

    /// The fields of a row of a table, unquoted.
    pub fn fields(&self, row: usize, choices: &Choices) -> Vec<String> {
        let delimiter = choices.delimiter.unwrap_or(b',');
        self.record(row)
            .and_then(|record| csv::fields(record, delimiter).ok())
            .map_or_else(Vec::new, |(fields, _)| fields)
    }

    /// The place of a row in its file.
    pub fn place(&self, row: usize) -> Place {
        self.whence.place(row)
    }
}

impl Whence<'_> {
    fn place(&self, row: usize) -> Place {
        match self {
            Whence::Text { origin: (file, lines, jumps), .. } => {
                let after = jumps.partition_point(|(first, _)| *first <= row as u64);
                let line = after.checked_sub(1).map(|at| {
                    let (first, line) = jumps[at];
                    lines + line + 1 + (row as u64 - first)
                });
                Place { line, ..Place::file(*file) }
            }
            Whence::Data(data) => data.place_of(row),
            Whence::Memory(first) => Place { row: Some((first + row) as u64), ..Place::default() },
        }
    }
}

/// Hands the rows of texts to `each` block by block, as [`super::RowSource::blocks`] says.
pub(super) fn from_texts(
    inputs: Vec<Input<'_>>,
    options: &ReadOptions,
    map: &InputMap,
    need_label: bool,
    planes: Option<Planes<'_>>,
    each: &mut dyn FnMut(&Choices, Chunk<'_>) -> Result<()>,
) -> Result<Choices> {
    let planes = planes.filter(|_| map.columns.is_empty() && map.basis.is_none());
    let first = inputs.first().map_or_else(String::new, Input::name);
    let planner =
        |sniffed: &Sniffed, file: &str| plan::for_model(sniffed, file, options, map, need_label);
    let mut parts = Parts::new(inputs, options, &planner)?;
    let mut facts = Facts::default();
    let mut rows_left = options.limit;
    while let Some(mut part) = parts.next()? {
        let plan = part.plan.clone();
        let mut layout = plan.layout();
        if plan.marks_gaps {
            layout.accept_gaps();
        }
        let name = part.name.clone();
        let mut lines = part.skip_lines;
        let choices = part.choices.clone();
        let flow = part.blocks(options, &mut rows_left, planes, |mut block, text| {
            if let Some(mut problem) = block.bad.problems.drain(..).next() {
                collect::locate(&mut problem, &name, lines, facts.records, &plan);
                if matches!(problem.code, Code::NOT_A_NUMBER | Code::NOT_FINITE | Code::MISSING) {
                    problem.help =
                        Some("a model answers every row or none: repair or remove this one".into());
                }
                return Err(problem.into());
            }
            if block.index_zero {
                return Err(Problem::new(
                    Code::BAD_INDEX,
                    "index 0 although indices start at 1",
                    Place::file(name.clone()),
                )
                .help("use `index-base=0`")
                .into());
            }
            facts.records += block.records;
            facts.query_ids |= block.query_ids;
            facts.outside += block.outside;
            let missing: Vec<(u64, u32)> =
                block.missing.iter().map(|&(row, column)| (row as u64, column)).collect();
            let origin = (name.as_str(), lines, std::mem::take(&mut block.lines));
            lines += block.line_count;
            let (labels, weights, spans) = (Box::new(block.labels), block.weights, block.spans);
            let whence = Whence::Text { labels, weights, spans, text, origin };
            let incomplete = match plan.marks_gaps {
                true => gaps(&missing, &block.categories),
                false => Vec::new(),
            };
            let store = if map.columns.is_empty() {
                block.store
            } else {
                collect::lay_out(block.store, &block.categories, &missing, &layout)
                    .map_err(|fault| fault.problem(map, whence.place(fault.row)))?
            };
            let store = match &map.basis {
                None => store,
                Some(basis) => expanded(basis, &store, map, &whence)?,
            };
            let products = block.products;
            let chunk = Chunk { store: Cow::Owned(store), products, incomplete, whence };
            each(&choices, chunk)?;
            Ok(ControlFlow::Continue(()))
        })?;
        if flow.is_break() {
            break;
        }
    }
    if facts.records == 0 && options.limit != Some(0) {
        return Err(collect::no_rows(&first));
    }
    let (_, mut choices) = parts.finish();
    note_facts(&mut choices, &facts);
    Ok(choices)
}

/// Hands rows in memory to `each`, as [`super::RowSource::blocks`] says: a data set in one block, plain
/// memory in blocks of some thousand rows.
pub(super) fn from_memory(
    rows: RowsView<'_>,
    map: &InputMap,
    need_label: bool,
    each: &mut dyn FnMut(&Choices, Chunk<'_>) -> Result<()>,
) -> Result<Choices> {
    const ROWS: usize = 4096;
    if rows.n_features() != map.features {
        let (found, expected) = (rows.n_features(), map.features);
        let words = format!("the rows have {found} features, the model {expected}");
        return Err(Error::data(Code::WIDTH, words, Place::default()));
    }
    let choices = Choices::nothing();
    let whence = match rows.held() {
        Held::Data(data) => Whence::Data(data),
        _ if need_label => {
            return Err(Error::data(Code::NO_LABEL, "these rows have no labels", Place::default()));
        }
        _ => Whence::Memory(0),
    };
    if let Some(table) = rows.held().features() {
        let store = match &map.basis {
            basis if *basis == table.input().basis => Cow::Borrowed(table.store()),
            None => Cow::Borrowed(table.raw_store()),
            Some(basis) => Cow::Owned(expanded(basis, table.raw_store(), map, &whence)?),
        };
        each(&choices, Chunk { store, products: None, incomplete: Vec::new(), whence })?;
        return Ok(choices);
    }
    for first in (0..rows.n_rows()).step_by(ROWS) {
        let mut staging = Staging::new(map.features);
        for row in first..(first + ROWS).min(rows.n_rows()) {
            rows.for_each(row, |column, value| {
                staging.push(column, value, super::number::places_of(value));
            });
            staging.end_row();
        }
        let mut store = staging.pack();
        store.widen_to(map.features);
        let whence = Whence::Memory(first);
        let store = match &map.basis {
            None => store,
            Some(basis) => expanded(basis, &store, map, &whence)?,
        };
        let store = Cow::Owned(store);
        each(&choices, Chunk { store, products: None, incomplete: Vec::new(), whence })?;
    }
    Ok(choices)
}

/// The rows with a gap, rising.
fn gaps(missing: &[(u64, u32)], categories: &[Dictionary]) -> Vec<u64> {
    let mut rows: Vec<u64> = missing.iter().map(|(row, _)| *row).collect();
    for texts in categories {
        let none = texts.codes.iter().enumerate().filter(|(_, code)| **code == csv::NO_LEVEL);
        rows.extend(none.map(|(row, _)| row as u64));
    }
    rows.sort_unstable();
    rows.dedup();
    rows
}

/// What basis functions make of raw rows.
fn expanded(basis: &Basis, raw: &Store, map: &InputMap, whence: &Whence<'_>) -> Result<Store> {
    basis.expand(raw, map, |row| whence.place(row), |_| Ok(()))
}
