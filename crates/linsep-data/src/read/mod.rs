//! Files to data sets. The format is found by content; every format ends in the same blocks.
//!
//! [`read`] holds a whole data set in memory, [`stream`] hands its rows on block by block in
//! constant memory; [`RowSource`] is what both read from: files, any reader, or memory. Plain files are mapped into memory: a program that shortens a file while it is
//! being read can end this one.

mod blanks;
pub(crate) mod block;
mod choose;
mod chosen;
mod chunk;
pub(crate) mod collect;
#[cfg_attr(not(feature = "arrow"), path = "columnar_absent.rs")]
mod columnar;
pub(crate) mod columns;
pub(crate) mod csv;
mod fill;
mod forecast;
mod forms;
mod glob;
mod long;
mod ndjson;
mod options;
mod other;
mod parts;
mod pipeline;
mod plan;
mod row_source;
pub(crate) mod scan;
mod sniff;
mod source;
mod survey;
mod svmlight;
mod text;
mod waiting;

#[doc(hidden)]
pub use crate::words;
pub use choose::ColumnNote;
pub use chunk::Chunk;
#[doc(hidden)]
pub use linsep_kernels::number;
pub use long::{LongColumn, LongNumber};
pub use options::{
    BadRows, Categorical, ColumnRange, ColumnRef, Format, Missing, ReadOptions, ReadingChoice,
    UnknownLevel,
};
pub use parts::check_for_parts;
pub use plan::LabelChoice;
pub use row_source::{Input, RowSource};
pub(crate) use sniff::LABEL_NAMES;
#[doc(hidden)]
pub use source::{files_of, map_file};
pub use survey::{ColumnSurvey, Survey};

use crate::Dataset;
use crate::error::{Code, Error, Place, Problem, Result};
use crate::input::InputMap;
use crate::matrix::Planes;
use crate::table::labels::label_name;
use block::{Block, Buffers};
use collect::{Collector, Facts};
use columnar::Columnar;
use forecast::Forecast;
use plan::{ParserPlan, Plan};
use sniff::{Sniffed, SniffedKind};
use source::Part;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// A data set and what was decided while reading it.
#[derive(Debug)]
#[non_exhaustive]
pub struct ReadResult {
    /// The data.
    pub data: Dataset,
    /// What was decided.
    pub choices: Choices,
    /// The text of the rows that were kept apart, header first.
    pub rejects: Vec<u8>,
}

/// What a reader found or decided.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Choices {
    /// The format: a table or svmlight.
    pub format: Format,
    /// The delimiter of a table.
    pub delimiter: Option<u8>,
    /// The column names of a table with a header.
    pub header: Option<Vec<String>>,
    /// How the label was chosen.
    pub label: LabelChoice,
    /// Where svmlight indices start.
    pub index_base: Option<u8>,
    /// Columns were matched with those of the model by position, since one side has no names.
    pub by_position: bool,
    /// Fields are parted by blanks.
    pub blanks: bool,
    /// Numbers are written with a decimal comma.
    pub decimal_comma: bool,
    /// What was decided about columns without being asked.
    pub columns: Vec<ColumnNote>,
    /// Rows that could not be used and were left out.
    pub bad_rows: u64,
    /// Rows left out because a value was missing.
    pub dropped_rows: u64,
    /// Columns with gaps that were filled.
    pub filled: Vec<FilledGaps>,
    /// Columns that are binary64 although the reading is decimal, with the reason.
    pub long: Vec<LongColumn>,
    /// Whether `qid:` entries were skipped.
    pub query_ids: bool,
    /// Entries of svmlight lines that lie outside the model and were left out.
    pub outside: u64,
}

/// The gaps of a column, and what stands for them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FilledGaps {
    /// The name of the feature.
    pub feature: String,
    /// What stands for each gap.
    pub value: f64,
    /// How many gaps there are.
    pub count: u64,
}

impl Choices {
    /// The choices in words, one line each.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if matches!(self.format, Format::Parquet | Format::Arrow) {
            notes.push(format!("{} table", self.format.word()));
        } else if let Some(base) = self.index_base {
            notes.push(format!("svmlight, indices start at {base} (change with `index-base`)"));
        }
        let text = !matches!(self.format, Format::Parquet | Format::Arrow);
        if let Some(delimiter) = self.delimiter.filter(|_| text) {
            let name = match delimiter {
                _ if self.blanks => "blanks",
                b',' => "comma",
                b';' => "semicolon",
                b'\t' => "tab",
                b'|' => "bar",
                _ => "given character",
            };
            let header = if self.header.is_some() { "with a header" } else { "without a header" };
            let comma = if self.decimal_comma { ", decimal commas" } else { "" };
            notes.push(format!("table, {name} between fields, {header}{comma}"));
        }
        if self.query_ids {
            notes.push("qid: entries were skipped".into());
        }
        if self.bad_rows > 0 {
            notes.push(format!("{} bad rows were left out", self.bad_rows));
        }
        if self.dropped_rows > 0 {
            notes.push(format!("{} rows with missing values were left out", self.dropped_rows));
        }
        if self.outside > 0 {
            notes.push(format!("{} entries outside the model were left out", self.outside));
        }
        notes
    }
}

/// Reads files, folders of parts or globs as one data set.
///
/// ```no_run
/// use linsep_data::read::{ReadOptions, read};
/// let flowers = read(&["flowers.csv".into()], &ReadOptions::default())?.data;
/// println!("{} rows", flowers.n_rows());
/// # Ok::<(), linsep_data::Error>(())
/// ```
pub fn read(inputs: &[PathBuf], options: &ReadOptions) -> Result<ReadResult> {
    RowSource::files(inputs, options).read(None)
}

/// Reads a data set from any reader, plain or compressed; errors call it `name`.
///
/// ```
/// use linsep_data::read::{ReadOptions, read_from};
/// let text = "length,width,label\n1,2,a\n3,4,b\n";
/// let data = read_from(text.as_bytes(), "my table", &ReadOptions::default())?.data;
/// assert_eq!((data.n_rows(), data.n_features()), (2, 2));
/// # Ok::<(), linsep_data::Error>(())
/// ```
pub fn read_from(
    reader: impl Read + Send,
    name: &str,
    options: &ReadOptions,
) -> Result<ReadResult> {
    RowSource::reader(reader, name, options).read(None)
}

/// Like [`read`], but with the columns, levels and fill values of an earlier reading of the same
/// table, such as a model or a certificate holds; with its basis functions, if it has any.
pub fn read_with_map(
    inputs: &[PathBuf],
    options: &ReadOptions,
    map: Option<&InputMap>,
) -> Result<ReadResult> {
    RowSource::files(inputs, options).read(map)
}

/// Reads data for a model with the given input map and hands it to `each` block by block, rows in
/// order, in constant memory. `need_label` refuses input without the label column.
pub fn stream(
    inputs: &[PathBuf],
    options: &ReadOptions,
    map: &InputMap,
    need_label: bool,
    each: impl FnMut(&Choices, Chunk<'_>) -> Result<()>,
) -> Result<Choices> {
    RowSource::files(inputs, options).blocks(map, need_label, each)
}

/// Like [`stream`], from any reader.
pub fn stream_from(
    reader: impl Read + Send,
    name: &str,
    options: &ReadOptions,
    map: &InputMap,
    need_label: bool,
    each: impl FnMut(&Choices, Chunk<'_>) -> Result<()>,
) -> Result<Choices> {
    RowSource::reader(reader, name, options).blocks(map, need_label, each)
}

/// Reads data for learning and hands it to `each` part by part, as [`RowSource::parts`] says.
pub fn read_parts(
    inputs: &[PathBuf],
    options: &ReadOptions,
    map: Option<&InputMap>,
    each: impl FnMut(&Choices, Dataset) -> Result<ControlFlow<()>>,
) -> Result<Choices> {
    RowSource::files(inputs, options).parts(map, each)
}

/// All rows in memory; `None` where an index 0 came after indices had been taken to start at 1.
fn read_once(
    inputs: Vec<Input<'_>>,
    options: &ReadOptions,
    map: Option<&InputMap>,
) -> Result<Option<ReadResult>> {
    let mut collector: Option<Collector> = None;
    let mut index_zero = false;
    let mut rows_left = options.limit;
    let planner = |sniffed: &Sniffed, file: &str| match map {
        None => plan::for_training(sniffed, file, options),
        Some(map) => plan::for_model(sniffed, file, options, map, true),
    };
    let mut parts = Parts::new(inputs, options, &planner)?;
    while let Some(mut part) = parts.next()? {
        let plan = part.plan.clone();
        let collector = collector.get_or_insert_with(|| {
            Collector::new(match &plan.parser {
                ParserPlan::Table(table) => table.categories,
                ParserPlan::Svmlight(_) => 0,
            })
        });
        collector.start_file(&part.name, part.skip_lines);
        // Under a limit on the rows most of the text may not be read.
        let mut forecast = Forecast::new(part.part.size().filter(|_| options.limit.is_none()));
        let flow = part.blocks(options, &mut rows_left, None, |block, text| {
            index_zero |= block.index_zero;
            let go_on = collector.add(block, &plan, options)? && !index_zero;
            if let Some(times) = forecast.after(text.len()) {
                collector.expect(times);
            }
            Ok(if go_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
        if index_zero {
            return Ok(None);
        }
        if flow.is_break() {
            break;
        }
    }
    let (plan, mut choices) = parts.finish();
    let (Some(collector), Some(plan)) = (collector, plan) else {
        return Err(Error::data(Code::EMPTY, "there is no input", Place::default()));
    };
    let (data, facts, mut rejects) = collector.finish(plan, options)?;
    note_facts(&mut choices, &facts);
    if let (Some(header), false) = (&choices.header, rejects.is_empty()) {
        let delimiter = choices.delimiter.unwrap_or(b',');
        let mut text = Vec::new();
        for (k, name) in header.iter().enumerate() {
            if k > 0 {
                text.push(delimiter);
            }
            csv::quote(name, delimiter, &mut text);
        }
        text.push(b'\n');
        text.append(&mut rejects);
        rejects = text;
    }
    Ok(Some(ReadResult { data, choices, rejects }))
}

fn note_facts(choices: &mut Choices, facts: &Facts) {
    choices.bad_rows = facts.bad;
    choices.dropped_rows = facts.dropped;
    choices.query_ids = facts.query_ids;
    choices.outside = facts.outside;
    choices.filled.clone_from(&facts.filled);
    choices.long.clone_from(&facts.long);
    choices.columns.extend(facts.columns.iter().cloned());
}

/// The normal form of a label: numbers in their shortest form, other texts trimmed.
pub fn normal_label(label: &str) -> String {
    label_name(label.as_bytes())
}

/// The files of an input, one after the other, checked against the first.
struct Parts<'a, 'r> {
    inputs: std::vec::IntoIter<Input<'r>>,
    options: &'a ReadOptions,
    planner: &'a dyn Fn(&Sniffed, &str) -> Result<Plan>,
    first: Option<(Plan, Choices)>,
    several: bool,
}

/// An opened file with its plan.
struct PlannedPart<'r> {
    name: String,
    part: Part<'r>,
    columnar: Option<Columnar>,
    plan: Plan,
    choices: Choices,
    skip: usize,
    skip_lines: u64,
    blanks: bool,
}

impl<'a, 'r> Parts<'a, 'r> {
    fn new(
        inputs: Vec<Input<'r>>,
        options: &'a ReadOptions,
        planner: &'a dyn Fn(&Sniffed, &str) -> Result<Plan>,
    ) -> Result<Parts<'a, 'r>> {
        let inputs = row_source::expand(inputs)?.into_iter();
        let several = inputs.len() > 1;
        Ok(Parts { inputs, options, planner, first: None, several })
    }

    fn next(&mut self) -> Result<Option<PlannedPart<'r>>> {
        let mut part = loop {
            let Some(input) = self.inputs.next() else { return Ok(None) };
            let mut part = input.open(self.options.stop.as_ref())?;
            // Engines write parts without rows.
            if !self.several || !part.is_empty()? {
                break part;
            }
        };
        let name = part.name.clone();
        let columnar = part.columnar(self.options.max_memory)?;
        let mut sniffed = look(&mut part, columnar.as_ref(), self.options)?;
        if part.made_header {
            // The header stands in no line of the file.
            sniffed.skip_lines = sniffed.skip_lines.saturating_sub(1);
        }
        let choices = choices_of(&sniffed, columnar.as_ref());
        let (plan, choices) = match &self.first {
            None => {
                let plan = (self.planner)(&sniffed, &name)?;
                let choices = Choices {
                    label: plan.label.clone(),
                    index_base: base_of(&plan),
                    columns: plan.notes.clone(),
                    by_position: plan.by_position,
                    ..choices
                };
                self.first = Some((plan.clone(), choices.clone()));
                (plan, choices)
            }
            Some((plan, first)) => {
                let same = choices.delimiter == first.delimiter
                    && choices.header == first.header
                    && choices.format == first.format;
                let width = match (&sniffed.kind, &plan.parser) {
                    (SniffedKind::Table(table), ParserPlan::Table(plan)) => {
                        table.width == plan.actions.len()
                    }
                    (SniffedKind::Svmlight { .. }, ParserPlan::Svmlight(_)) => true,
                    _ => false,
                };
                if !same || !width {
                    return Err(Problem::new(
                        Code::PARTS_DIFFER,
                        "this part does not fit the first one",
                        Place::file(name),
                    )
                    .help("all parts need the same format, header and number of columns")
                    .into());
                }
                (plan.clone(), first.clone())
            }
        };
        Ok(Some(PlannedPart {
            name,
            part,
            columnar,
            plan,
            choices,
            skip: sniffed.skip,
            skip_lines: sniffed.skip_lines,
            blanks: sniffed.blanks,
        }))
    }

    fn finish(self) -> (Option<Plan>, Choices) {
        match self.first {
            Some((plan, choices)) => (Some(plan), choices),
            None => (None, Choices::nothing()),
        }
    }
}

impl PlannedPart<'_> {
    /// Parses the part and gives block after block, with its text, to `sink`. A limit on the rows
    /// makes the parsing serial, so that nothing behind the limit is looked at. With planes, rows of pairs
    /// come as their products.
    fn blocks(
        &mut self,
        options: &ReadOptions,
        rows_left: &mut Option<u64>,
        planes: Option<Planes<'_>>,
        mut sink: impl FnMut(Block, &[u8]) -> Result<ControlFlow<()>>,
    ) -> Result<ControlFlow<()>> {
        let stop = options.stop.clone();
        let mut checked = |block: Block, text: &[u8]| {
            if stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return Err(Error::Interrupted);
            }
            sink(block, text)
        };
        if let (Some(columnar), ParserPlan::Table(plan)) = (&self.columnar, &self.plan.parser) {
            return columnar.blocks(plan, options, rows_left, &mut checked);
        }
        let quoted = match &self.plan.parser {
            ParserPlan::Table(_) if self.blanks => Some(b' '),
            ParserPlan::Table(plan) => Some(plan.delimiter),
            ParserPlan::Svmlight(_) => None,
        };
        let mut pieces = self.part.pieces(self.skip, quoted, options.max_memory);
        pieces.blanks = self.blanks;
        let parser = &self.plan.parser;
        let parse = |piece: &[u8], limit, buffers: &mut Buffers| match parser {
            ParserPlan::Table(plan) => csv::parse(piece, plan, limit, buffers),
            ParserPlan::Svmlight(plan) => svmlight::parse(piece, plan, planes, limit, buffers),
        };
        let Some(left) = rows_left else {
            return pipeline::run(
                &mut pieces,
                options.threads,
                |p, b| parse(p, usize::MAX, b),
                checked,
            );
        };
        let mut buffers = Buffers::default();
        while *left > 0 {
            let Some(piece) = pieces.next()? else { return Ok(ControlFlow::Continue(())) };
            let block = parse(&piece, usize::try_from(*left).unwrap_or(usize::MAX), &mut buffers);
            *left -= block.store.rows() as u64;
            if checked(block, &piece)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Break(()))
    }
}

fn base_of(plan: &Plan) -> Option<u8> {
    match &plan.parser {
        ParserPlan::Svmlight(plan) => Some(plan.base as u8),
        ParserPlan::Table(_) => None,
    }
}

/// What the first bytes of a part show.
fn look(
    part: &mut Part<'_>,
    columnar: Option<&Columnar>,
    options: &ReadOptions,
) -> Result<Sniffed> {
    let name = part.name.clone();
    match columnar {
        Some(columnar) => columnar.sniffed(options),
        None => {
            part.look(options.max_memory, |head, whole| sniff::sniff(head, whole, &name, options))
        }
    }
}

fn choices_of(sniffed: &Sniffed, columnar: Option<&Columnar>) -> Choices {
    match &sniffed.kind {
        SniffedKind::Table(table) => Choices {
            format: columnar.map_or(Format::Csv, Columnar::format),
            delimiter: Some(table.delimiter),
            header: table.header.clone(),
            blanks: sniffed.blanks,
            decimal_comma: table.decimal_comma,
            ..Choices::nothing()
        },
        SniffedKind::Svmlight { .. } => Choices { format: Format::Svmlight, ..Choices::nothing() },
    }
}

impl Choices {
    fn nothing() -> Choices {
        Choices {
            format: Format::Auto,
            delimiter: None,
            header: None,
            label: LabelChoice::None,
            index_base: None,
            by_position: false,
            blanks: false,
            decimal_comma: false,
            columns: Vec::new(),
            bad_rows: 0,
            dropped_rows: 0,
            filled: Vec::new(),
            long: Vec::new(),
            query_ids: false,
            outside: 0,
        }
    }
}
