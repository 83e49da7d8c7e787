//! Files to data sets. The format is found by content; every format ends in the same blocks.
//!
//! [`read`] holds a whole data set in memory, [`stream`] hands its rows on block by block in
//! constant memory. Plain files are mapped into memory: a program that shortens a file while it is
//! being read can end this one.

pub(crate) mod block;
pub(crate) mod collect;
pub(crate) mod csv;
mod options;
mod parts;
mod pipeline;
mod plan;
pub(crate) mod scan;
mod sniff;
mod source;
mod svmlight;

#[doc(hidden)]
pub use crate::words;
pub(crate) use block::Dictionary;
#[doc(hidden)]
pub use linsep_kernels::number;
pub use options::{
    BadRows, Categorical, ColumnRange, ColumnRef, Format, Missing, ReadOptions, ReadingChoice,
    UnknownLevel,
};
pub use parts::{check_for_parts, read_parts};
pub use plan::LabelChoice;
pub(crate) use sniff::LABEL_NAMES;
#[doc(hidden)]
pub use source::map_file;

use crate::Dataset;
use crate::error::{Code, Error, Place, Problem, Result};
use crate::input::InputMap;
use crate::matrix::Store;
use block::{Block, Buffers};
use collect::{Collector, Facts};
use plan::{ParserPlan, Plan};
use sniff::{Sniffed, SniffedKind};
use source::Part;
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
    /// Rows that could not be used and were left out.
    pub bad_rows: u64,
    /// Rows left out because a value was missing.
    pub dropped_rows: u64,
    /// Whether `qid:` entries were skipped.
    pub query_ids: bool,
    /// Entries of svmlight lines that lie outside the model and were left out.
    pub outside: u64,
}

impl Choices {
    /// The choices in words, one line each.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(base) = self.index_base {
            notes.push(format!("svmlight, indices start at {base} (change with --index-base)"));
        }
        if let Some(delimiter) = self.delimiter {
            let name = match delimiter {
                b',' => "comma",
                b';' => "semicolon",
                b'\t' => "tab",
                b'|' => "bar",
                _ => "given character",
            };
            let header = if self.header.is_some() { "with a header" } else { "without a header" };
            notes.push(format!("table, {name} between fields, {header}"));
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

/// Reads files, folders of parts, globs or standard input (`-`) as one data set.
///
/// ```no_run
/// use linsep::data::read::{ReadOptions, read};
/// let flowers = read(&["flowers.csv".into()], &ReadOptions::default())?.data;
/// println!("{} rows", flowers.n_rows());
/// # Ok::<(), linsep::Error>(())
/// ```
pub fn read(inputs: &[PathBuf], options: &ReadOptions) -> Result<ReadResult> {
    read_with_map(inputs, options, None)
}

/// Like [`read`], but with the columns, levels and fill values of an earlier reading of the same
/// table, such as a model or a certificate holds; with its basis functions, if it has any.
pub fn read_with_map(
    inputs: &[PathBuf],
    options: &ReadOptions,
    map: Option<&InputMap>,
) -> Result<ReadResult> {
    if let Some(InputMap { basis: Some(basis), .. }) = map {
        let plain = map.map(|map| InputMap { basis: None, ..map.clone() });
        let mut result = read_with_map(inputs, options, plain.as_ref())?;
        result.data = result.data.expanded(basis.clone(), options.max_memory)?;
        return Ok(result);
    }
    match read_once(inputs, options, map)? {
        Some(result) => Ok(result),
        None => {
            // Indices were taken to start at 1 until an index 0 came.
            if inputs.iter().any(|input| input.as_os_str() == "-") {
                let words = "an index 0 came late in the stream, after indices had been taken to start at 1";
                return Err(Problem::new(Code::BAD_INDEX, words, Place::file("<stdin>"))
                    .help("use --index-base 0")
                    .into());
            }
            let options = ReadOptions { index_base: Some(0), ..options.clone() };
            read_once(inputs, &options, map)?.ok_or(Error::Interrupted)
        }
    }
}

fn read_once(
    inputs: &[PathBuf],
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
        let flow = part.blocks(options, &mut rows_left, |block, _| {
            index_zero |= block.index_zero;
            let go_on = collector.add(block, &plan, options)? && !index_zero;
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
            super::write::quote(name, delimiter, &mut text);
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
}

/// The normal form of a label: numbers in their shortest form, other texts trimmed.
pub fn normal_label(label: &str) -> String {
    csv::label_name(label.as_bytes())
}

/// Some rows on their way through a model.
pub struct Chunk<'a> {
    pub(crate) store: Store,
    labels: Dictionary,
    spans: Vec<std::ops::Range<usize>>,
    text: &'a [u8],
    origin: (&'a str, u64, Vec<(u64, u64)>),
}

impl Chunk<'_> {
    /// The features as they are held.
    #[doc(hidden)]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.store.rows()
    }

    /// The label of a row in normal form, if the input has labels.
    pub fn label(&self, row: usize) -> Option<&str> {
        let code = *self.labels.codes.get(row)?;
        Some(&self.labels.names[code as usize])
    }

    /// The record of a row as it stands in the file, without the line break; tables only.
    pub fn record(&self, row: usize) -> Option<&[u8]> {
        let span = self.spans.get(row)?;
        let record = &self.text[span.clone()];
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
        let (file, lines, jumps) = &self.origin;
        let after = jumps.partition_point(|(first, _)| *first <= row as u64);
        let line = after.checked_sub(1).map(|at| {
            let (first, line) = jumps[at];
            lines + line + 1 + (row as u64 - first)
        });
        Place { line, ..Place::file(*file) }
    }
}

/// Reads data for a model with the given input map and hands it to `each` block by block, rows in
/// order, in constant memory. `need_label` refuses input without the label column.
pub fn stream(
    inputs: &[PathBuf],
    options: &ReadOptions,
    map: &InputMap,
    need_label: bool,
    mut each: impl FnMut(&Choices, Chunk<'_>) -> Result<()>,
) -> Result<Choices> {
    let planner =
        |sniffed: &Sniffed, file: &str| plan::for_model(sniffed, file, options, map, need_label);
    let mut parts = Parts::new(inputs, options, &planner)?;
    let mut facts = Facts::default();
    let mut rows_left = options.limit;
    while let Some(mut part) = parts.next()? {
        let plan = part.plan.clone();
        let layout = plan.layout();
        let name = part.name.clone();
        let mut lines = part.skip_lines;
        let choices = part.choices.clone();
        let flow = part.blocks(options, &mut rows_left, |mut block, text| {
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
                .help("use --index-base 0")
                .into());
            }
            facts.records += block.records;
            facts.query_ids |= block.query_ids;
            facts.outside += block.outside;
            let missing: Vec<(u64, u32)> =
                block.missing.iter().map(|&(row, column)| (row as u64, column)).collect();
            let origin = (name.as_str(), lines, std::mem::take(&mut block.lines));
            lines += block.line_count;
            let mut chunk = Chunk {
                store: Store::empty(),
                labels: block.labels,
                spans: block.spans,
                text,
                origin,
            };
            let store = if map.columns.is_empty() {
                block.store
            } else {
                collect::lay_out(block.store, &block.categories, &missing, &layout)
                    .map_err(|fault| fault.problem(map, chunk.place(fault.row)))?
            };
            chunk.store = match &map.basis {
                None => store,
                Some(basis) => basis.expand(&store, map, |row| chunk.place(row), |_| Ok(()))?,
            };
            each(&choices, chunk)?;
            Ok(ControlFlow::Continue(()))
        })?;
        if flow.is_break() {
            break;
        }
    }
    if facts.records == 0 && options.limit != Some(0) {
        let file = inputs.first().map_or_else(String::new, |path| path.display().to_string());
        return Err(collect::no_rows(&file));
    }
    let (_, mut choices) = parts.finish();
    note_facts(&mut choices, &facts);
    Ok(choices)
}

/// The files of an input, one after the other, checked against the first.
struct Parts<'a> {
    paths: std::vec::IntoIter<PathBuf>,
    options: &'a ReadOptions,
    planner: &'a dyn Fn(&Sniffed, &str) -> Result<Plan>,
    first: Option<(Plan, Choices)>,
    several: bool,
}

/// An opened file with its plan.
struct PlannedPart {
    name: String,
    part: Part,
    plan: Plan,
    choices: Choices,
    skip: usize,
    skip_lines: u64,
}

impl<'a> Parts<'a> {
    fn new(
        inputs: &[PathBuf],
        options: &'a ReadOptions,
        planner: &'a dyn Fn(&Sniffed, &str) -> Result<Plan>,
    ) -> Result<Parts<'a>> {
        let paths = source::expand(inputs)?.into_iter();
        let several = paths.len() > 1;
        Ok(Parts { paths, options, planner, first: None, several })
    }

    fn next(&mut self) -> Result<Option<PlannedPart>> {
        let Some(path) = self.paths.next() else { return Ok(None) };
        let mut part = Part::open(&path)?;
        let name = part.name.clone();
        let (head, whole) = part.head()?;
        if head.is_empty() && self.several {
            // Engines write parts without rows.
            return self.next();
        }
        let sniffed = sniff::sniff(head, whole, &name, self.options)?;
        let choices = choices_of(&sniffed);
        let (plan, choices) = match &self.first {
            None => {
                let plan = (self.planner)(&sniffed, &name)?;
                let choices =
                    Choices { label: plan.label.clone(), index_base: base_of(&plan), ..choices };
                self.first = Some((plan.clone(), choices.clone()));
                (plan, choices)
            }
            Some((plan, first)) => {
                let same = choices.delimiter == first.delimiter && choices.header == first.header;
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
            plan,
            choices,
            skip: sniffed.skip,
            skip_lines: sniffed.skip_lines,
        }))
    }

    fn finish(self) -> (Option<Plan>, Choices) {
        match self.first {
            Some((plan, choices)) => (Some(plan), choices),
            None => (None, Choices::nothing()),
        }
    }
}

impl PlannedPart {
    /// Parses the part and gives block after block, with its text, to `sink`. A limit on the rows
    /// makes the parsing serial, so that nothing behind the limit is looked at.
    fn blocks(
        &mut self,
        options: &ReadOptions,
        rows_left: &mut Option<u64>,
        mut sink: impl FnMut(Block, &[u8]) -> Result<ControlFlow<()>>,
    ) -> Result<ControlFlow<()>> {
        let quoted = match &self.plan.parser {
            ParserPlan::Table(plan) => Some(plan.delimiter),
            ParserPlan::Svmlight(_) => None,
        };
        let mut pieces = self.part.pieces(self.skip, quoted, options.max_memory);
        let parser = &self.plan.parser;
        let parse = |piece: &[u8], limit, buffers: &mut Buffers| match parser {
            ParserPlan::Table(plan) => csv::parse(piece, plan, limit, buffers),
            ParserPlan::Svmlight(plan) => svmlight::parse(piece, plan, limit, buffers),
        };
        let stop = options.stop.clone();
        let mut checked = |block: Block, text: &[u8]| {
            if stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return Err(Error::Interrupted);
            }
            sink(block, text)
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

fn choices_of(sniffed: &Sniffed) -> Choices {
    match &sniffed.kind {
        SniffedKind::Table(table) => Choices {
            format: Format::Csv,
            delimiter: Some(table.delimiter),
            header: table.header.clone(),
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
            bad_rows: 0,
            dropped_rows: 0,
            query_ids: false,
            outside: 0,
        }
    }
}
