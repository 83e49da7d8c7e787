//! What a parser makes of one piece of text, before classes, categories and gaps are resolved over
//! the whole data set. Every format ends in blocks; everything behind them is the same for all.

use super::long::LongColumns;
use super::scan::Marks;
use crate::error::{Code, Excerpt, Place, Problem, printable};
use crate::matrix::{Planes, Products, Stage, Staging, Store, TableStaging};
use crate::table::labels::Dictionary;
use linsep_kernels::text::Scratch;
use std::collections::BTreeMap;

/// At most this many problems of a block are kept with their details.
const MAX_PROBLEMS: usize = 5;

/// Rows of one piece. Lines and rows are counted from the start of the piece.
pub(crate) struct Block {
    /// The numeric columns.
    pub(crate) store: Store,
    /// Instead of what stands in them: the products of each row with the planes of a model.
    pub(crate) products: Option<Vec<f64>>,
    /// The text columns that become categories.
    pub(crate) categories: Vec<Dictionary>,
    /// Cells (row, numeric column) without a value, for a rule that fills them later.
    pub(crate) missing: Vec<(usize, u32)>,
    /// The label of each row; empty entries when the input has no labels.
    pub(crate) labels: Dictionary,
    /// Row weights, when the input has them.
    pub(crate) weights: Vec<f64>,
    /// Rows at which the line number jumps: (row, line).
    pub(crate) lines: Vec<(u64, u64)>,
    /// Line breaks in the piece.
    pub(crate) line_count: u64,
    /// Records in the piece, bad and dropped ones included.
    pub(crate) records: u64,
    /// Rows left out because a value was missing.
    pub(crate) dropped: u64,
    /// Gaps of each field, in rows that are bad for nothing but gaps.
    pub(crate) gaps: BTreeMap<usize, u64>,
    /// Numbers that the decimal reading does not cover, by numeric column.
    pub(crate) long_columns: LongColumns,
    /// Entries left out because their column lies outside the model.
    pub(crate) outside: u64,
    /// An index 0 came although indices were taken to start at 1.
    pub(crate) index_zero: bool,
    /// A `qid:` was skipped.
    pub(crate) query_ids: bool,
    /// Rows that could not be used.
    pub(crate) bad: Bad,
    /// Where each row's text stands in the piece, if asked for.
    pub(crate) spans: Vec<std::ops::Range<usize>>,
}

/// What a worker needs to parse piece after piece.
pub(crate) struct Buffers {
    /// Rows of a table.
    pub(crate) table: TableStaging,
    /// Rows of pairs.
    pub(crate) pairs: Staging,
    /// The marks of the piece.
    pub(crate) marks: Marks,
    /// Numbers on their way.
    pub(crate) scratch: Scratch,
    /// The products of one row.
    pub(crate) products: Products,
}

impl Default for Buffers {
    fn default() -> Buffers {
        let pairs = Staging::new(0);
        let (table, marks) = (TableStaging::default(), Marks::default());
        let (scratch, products) = (Scratch::default(), Products::of(0));
        Buffers { table, pairs, marks, scratch, products }
    }
}

/// Rows that could not be used.
#[derive(Default)]
pub(crate) struct Bad {
    pub(crate) count: u64,
    /// Those among them that only lack values.
    pub(crate) missing: u64,
    pub(crate) problems: Vec<Problem>,
    /// Their text, if it is to be kept.
    pub(crate) text: Vec<u8>,
}

/// Why one record cannot be used: the code, the field, and where the value stands in the piece.
pub(crate) struct Fault {
    pub(crate) code: Code,
    pub(crate) message: String,
    pub(crate) field: Option<usize>,
    pub(crate) span: std::ops::Range<usize>,
    pub(crate) help: Option<String>,
}

impl Fault {
    pub(crate) fn new(code: Code, field: Option<usize>, span: std::ops::Range<usize>) -> Fault {
        Fault { code, message: code.title().to_owned(), field, span, help: None }
    }

    pub(crate) fn message(mut self, message: impl Into<String>) -> Fault {
        self.message = message.into();
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Fault {
        self.help = Some(help.into());
        self
    }
}

impl Bad {
    /// Notes a bad record that starts at byte `start` of `piece`, in line `line` (from 0).
    pub(crate) fn push(
        &mut self,
        fault: Fault,
        piece: &[u8],
        record: std::ops::Range<usize>,
        line: u64,
        row: u64,
        keep_text: bool,
    ) {
        self.count += 1;
        if keep_text {
            self.text.extend_from_slice(piece[record.clone()].trim_ascii_end());
            self.text.push(b'\n');
        }
        if self.problems.len() >= MAX_PROBLEMS {
            return;
        }
        let span = fault.span.start.max(record.start)..fault.span.end.max(record.start);
        let before = &piece[record.start..span.start.min(piece.len())];
        // A quoted field may have carried the record over line breaks.
        let line_start =
            memchr::memrchr(b'\n', before).map_or(record.start, |at| record.start + at + 1);
        let extra_lines = memchr::memchr_iter(b'\n', before).count() as u64;
        let column = String::from_utf8_lossy(&piece[line_start..span.start]).chars().count();
        let place = Place {
            file: None,
            line: Some(line + extra_lines),
            column: Some(column as u64 + 1),
            row: Some(row),
            field: fault.field.map(|field| (field as u64 + 1, None)),
            excerpt: Some(excerpt(piece, line_start, &span)),
        };
        let value = &piece[span];
        let mut problem = Problem::new(fault.code, fault.message, place).value(value);
        problem.help = fault.help;
        self.problems.push(problem);
    }
}

impl Bad {
    /// Notes a bad record of a file that is no text, with the value and the record as a line of a table.
    #[cfg(feature = "arrow")]
    pub(crate) fn push_value(&mut self, fault: Fault, value: &[u8], row: u64, record: &[u8]) {
        self.count += 1;
        self.text.extend_from_slice(record);
        if self.problems.len() >= MAX_PROBLEMS {
            return;
        }
        let field = fault.field.map(|field| (field as u64 + 1, None));
        let place = Place { row: Some(row), field, ..Place::default() };
        let mut problem = Problem::new(fault.code, fault.message, place).value(value);
        problem.help = fault.help;
        self.problems.push(problem);
    }
}

/// The part of the line around the marked span.
fn excerpt(piece: &[u8], line_start: usize, span: &std::ops::Range<usize>) -> Excerpt {
    const BEFORE: usize = 40;
    const WIDTH: usize = 76;
    let line_end =
        memchr::memchr(b'\n', &piece[line_start..]).map_or(piece.len(), |at| line_start + at);
    let from = if span.start - line_start > BEFORE { span.start - BEFORE } else { line_start };
    let lead = if from > line_start { "…" } else { "" };
    let before = printable(&piece[from..span.start], WIDTH);
    let text = format!(
        "{lead}{before}{}",
        printable(piece[span.start..line_end].trim_ascii_end(), WIDTH - BEFORE)
    );
    let start = lead.chars().count() + before.chars().count();
    let marked =
        printable(&piece[span.start..span.end.min(line_end).max(span.start)], WIDTH - BEFORE);
    Excerpt { text, start, len: marked.chars().count().max(1) }
}

/// A block under construction.
pub(crate) struct BlockBuilder<'a, S> {
    pub(crate) staging: &'a mut S,
    pub(crate) block: Block,
    last_line: u64,
}

impl<'a, S: Stage> BlockBuilder<'a, S> {
    /// Builds a block in `staging`, whose buffers serve block after block.
    pub(crate) fn new(staging: &'a mut S, width: usize, categories: usize) -> Self {
        staging.begin(width);
        let block = Block {
            store: Store::empty(),
            products: None,
            categories: (0..categories).map(|_| Dictionary::default()).collect(),
            missing: Vec::new(),
            labels: Dictionary::default(),
            weights: Vec::new(),
            lines: Vec::new(),
            line_count: 0,
            records: 0,
            dropped: 0,
            gaps: BTreeMap::new(),
            long_columns: LongColumns::default(),
            outside: 0,
            index_zero: false,
            query_ids: false,
            bad: Bad::default(),
            spans: Vec::new(),
        };
        BlockBuilder { staging, block, last_line: u64::MAX }
    }

    /// Closes the open row, which stands in `line` (from 0).
    #[inline]
    pub(crate) fn end_row(&mut self, line: u64) {
        if line != self.last_line.wrapping_add(1) || self.block.lines.is_empty() {
            self.block.lines.push((self.staging.rows() as u64, line));
        }
        self.last_line = line;
        self.end_row_without_line();
    }

    /// Closes the open row of a file that is no text.
    #[inline]
    pub(crate) fn end_row_without_line(&mut self) {
        self.block.long_columns.end_row(self.staging.rows() as u64);
        self.staging.end_row();
    }

    /// Leaves no trace of the open row.
    pub(crate) fn forget_row(&mut self) {
        self.staging.drop_row();
        self.block.long_columns.forget_row();
        let rows = self.staging.rows();
        self.block.labels.codes.truncate(rows);
        self.block.categories.iter_mut().for_each(|c| c.codes.truncate(rows));
        while self.block.missing.last().is_some_and(|&(row, _)| row >= rows) {
            self.block.missing.pop();
        }
    }

    /// Notes that the open row has a number that the decimal reading does not cover.
    #[cold]
    pub(crate) fn long_text(&mut self, column: u32, text: &[u8]) {
        self.block.long_columns.push(column, text);
    }

    pub(crate) fn finish(mut self) -> Block {
        self.block.store = self.staging.pack();
        self.block
    }
}

impl BlockBuilder<'_, Staging> {
    /// A block of rows that are only scored.
    pub(crate) fn finish_scored(mut self, planes: Planes<'_>, room: &mut Products) -> Block {
        let products = self.block.products.insert(Vec::new());
        self.block.store = self.staging.score(planes, room, products);
        self.block
    }
}
