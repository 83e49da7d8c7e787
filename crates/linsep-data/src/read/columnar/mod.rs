//! Parquet and Arrow IPC files: tables whose columns are stored one by one, with their types.
//!
//! `parquet` and `ipc` open a file, hold every size that it claims against the bytes that are there, and decode a
//! row group (or a record batch, which is called a group here too) into `cells`. `rows` makes blocks of them, so that
//! everything behind is the same as for text: the label, categories, gaps and columns to leave out are chosen
//! from the texts that a CSV of the same table would have in its first rows. Numbers never become text on the way.
//!
//! `pages` walks the pages of Parquet before they are decoded, `groups` has several groups decoded at a time.

mod cells;
mod groups;
mod ipc;
mod pages;
mod parquet;
mod rows;

use super::block::{Block, Buffers};
use super::csv::{Action, TablePlan, quote};
use super::options::{Format, ReadOptions, ReadingChoice};
use super::sniff::{SAMPLE, Sniffed, SniffedKind, Table, unique_names};
use super::source::PIECE;
use crate::error::{Code, Error, Place, Problem, Result};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use bytes::Bytes;
use cells::Cells;
use rows::Wanted;
use std::ops::ControlFlow;

/// An opened file of columns.
pub(super) struct Columnar {
    file: String,
    format: Format,
    schema: SchemaRef,
    /// The rows of each group.
    groups: Vec<u64>,
    source: Source,
}

enum Source {
    Parquet(parquet::File),
    Ipc(ipc::File),
}

/// A file that is ready to give some of its columns.
enum Reader<'a> {
    Parquet(parquet::Reader<'a>),
    Ipc(ipc::Reader<'a>),
}

/// Some rows of the columns that are wanted.
pub(super) struct Batch {
    columns: Vec<Option<Cells>>,
    rows: usize,
}

/// Where a block and the lines of its rows go.
pub(super) type Sink<'a> = dyn FnMut(Block, &[u8]) -> Result<ControlFlow<()>> + 'a;

impl Columnar {
    /// Whether a file that begins so is one of columns.
    pub(super) fn is_one(head: &[u8]) -> bool {
        parquet::is_one(head) || ipc::is_one(head)
    }

    /// Opens the file with this content.
    pub(super) fn open(bytes: Bytes, file: &str) -> Result<Columnar> {
        let (format, schema, groups, source) = if parquet::is_one(&bytes) {
            let opened = parquet::File::open(bytes, file)?;
            (Format::Parquet, opened.schema(), opened.groups(), Source::Parquet(opened))
        } else {
            let opened = ipc::File::open(bytes, file)?;
            (Format::Arrow, opened.schema(), opened.groups(), Source::Ipc(opened))
        };
        if schema.fields().is_empty() {
            let problem = Problem::new(Code::EMPTY, "the table has no columns", Place::file(file));
            return Err(problem.help("check what wrote the file").into());
        }
        Ok(Columnar { file: file.to_owned(), format, schema, groups, source })
    }

    /// The format.
    pub(super) fn format(&self) -> Format {
        self.format
    }

    /// What a CSV of the table would show in its first records.
    pub(super) fn sniffed(&self, options: &ReadOptions) -> Result<Sniffed> {
        self.check_format(options)?;
        let mut sample: Vec<Vec<String>> = Vec::new();
        let mut bytes = 0;
        self.records(|record| {
            bytes += record.iter().map(|field| field.len() + 1).sum::<usize>();
            sample.push(record);
            let enough = sample.len() >= SAMPLE || bytes >= PIECE;
            Ok(if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        let fields = self.schema.fields();
        let written_names: Vec<String> =
            fields.iter().map(|f| f.name().trim().to_owned()).collect();
        let table = Table {
            delimiter: b',',
            header: Some(unique_names(written_names.clone())),
            width: fields.len(),
            decimal_comma: false,
            unclear_comma: None,
            written_names,
            first_line: None,
            sample,
            foreign: fields.iter().map(|field| cells::foreign(field.data_type())).collect(),
        };
        Ok(Sniffed { skip: 0, skip_lines: 0, kind: SniffedKind::Table(table), blanks: false })
    }

    /// Hands every record to `each` as the texts of its fields.
    pub(super) fn records(
        &self,
        mut each: impl FnMut(Vec<String>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let used = self.readable();
        let reader = self.reader(&used)?;
        for group in 0..self.groups.len() {
            let flow = self.batches(&reader, group, &used, &mut |batch| {
                for row in 0..batch.rows {
                    let flow = each(batch.fields(row))?;
                    if flow.is_break() {
                        return Ok(flow);
                    }
                }
                Ok(ControlFlow::Continue(()))
            })?;
            if flow.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Hands all rows to `sink` block by block, in order. Groups are decoded side by side, unless a limit on the rows
    /// says that nothing behind it is looked at.
    pub(super) fn blocks(
        &self,
        plan: &TablePlan,
        options: &ReadOptions,
        rows_left: &mut Option<u64>,
        sink: &mut Sink<'_>,
    ) -> Result<ControlFlow<()>> {
        let lines = options.keep_fields && plan.keep_spans;
        let used: Vec<usize> = match lines || plan.keep_rejects {
            true => self.readable(),
            false => {
                let of_use = |f: &usize| plan.actions[*f] != Action::Skip;
                (0..plan.actions.len()).filter(of_use).collect()
            }
        };
        self.refuse_foreign(&used)?;
        let reader = self.reader(&used)?;
        let wanted =
            Wanted { long: options.reading == ReadingChoice::Decimal, lines, limit: usize::MAX };
        let decode = |group: usize,
                      wanted: &dyn Fn() -> Wanted,
                      buffers: &mut Buffers,
                      sink: &mut groups::Give<'_>| {
            self.batches(&reader, group, &used, &mut |batch| {
                sink(rows::block(&batch, plan, wanted(), buffers))
            })
        };
        let Some(left) = rows_left else {
            return groups::run(
                self.groups.len(),
                options.threads,
                |group, give| decode(group, &|| wanted, &mut Buffers::default(), give),
                |(block, lines)| sink(block, &lines),
            );
        };
        let left = std::cell::Cell::from_mut(left);
        let mut buffers = Buffers::default();
        for group in 0..self.groups.len() {
            let limited =
                || Wanted { limit: usize::try_from(left.get()).unwrap_or(usize::MAX), ..wanted };
            let flow = decode(group, &limited, &mut buffers, &mut |(block, lines)| {
                left.set(left.get() - block.store.rows() as u64);
                let flow = sink(block, &lines)?;
                Ok(if left.get() == 0 { ControlFlow::Break(()) } else { flow })
            })?;
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Refuses a file that is not in the format that was asked for.
    fn check_format(&self, options: &ReadOptions) -> Result<()> {
        if options.format == Format::Auto || options.format == self.format {
            return Ok(());
        }
        let words = format!("this is {}, not {}", self.format.word(), options.format.word());
        let problem = Problem::new(Code::WRONG_FORMAT, words, Place::file(self.file.clone()));
        Err(problem.help("leave `format` away to have the format found by content").into())
    }

    /// The columns that hold numbers or text.
    fn readable(&self) -> Vec<usize> {
        let fields = self.schema.fields().iter().enumerate();
        let readable = fields.filter(|(_, field)| cells::foreign(field.data_type()).is_none());
        readable.map(|(f, _)| f).collect()
    }

    fn refuse_foreign(&self, used: &[usize]) -> Result<()> {
        for &f in used {
            let field = self.schema.field(f);
            let Some(why) = cells::foreign(field.data_type()) else { continue };
            let name = field.name();
            let words = format!("column \"{name}\" cannot be used: {why}");
            let field = Some((f as u64 + 1, Some(name.clone())));
            let place = Place { field, ..Place::file(self.file.clone()) };
            let problem = Problem::new(Code::TEXT_COLUMN, words, place);
            return Err(problem.help("leave it out with `drop`, or write plain columns").into());
        }
        Ok(())
    }

    fn reader(&self, used: &[usize]) -> Result<Reader<'_>> {
        Ok(match &self.source {
            Source::Parquet(file) => Reader::Parquet(file.reader(used, &self.file)),
            Source::Ipc(file) => Reader::Ipc(file.reader(used, &self.file)?),
        })
    }

    /// Hands a group to `each`, some rows at a time.
    fn batches(
        &self,
        reader: &Reader<'_>,
        group: usize,
        used: &[usize],
        each: &mut dyn FnMut(Batch) -> Result<ControlFlow<()>>,
    ) -> Result<ControlFlow<()>> {
        // About two megabytes at a time, however wide the table is.
        let at_once = ((1 << 18) / used.len().max(1)).clamp(64, 1 << 13);
        let mut each = |batch: RecordBatch| {
            let mut columns: Vec<Option<Cells>> =
                self.schema.fields().iter().map(|_| None).collect();
            for (&f, array) in used.iter().zip(batch.columns()) {
                columns[f] = Some(Cells::new(array));
            }
            each(Batch { columns, rows: batch.num_rows() })
        };
        match reader {
            Reader::Parquet(reader) => reader.group(group, at_once, &mut each),
            Reader::Ipc(reader) => reader.group(group, at_once, &mut each),
        }
    }
}

impl Batch {
    /// The texts of a row.
    fn fields(&self, row: usize) -> Vec<String> {
        let text = |cells: &Option<Cells>| {
            let mut text = String::new();
            cells.iter().for_each(|cells| cells.write_text(row, &mut text));
            text.trim().to_owned()
        };
        self.columns.iter().map(text).collect()
    }

    /// A row as a line of a table.
    fn write_line(&self, row: usize, line: &mut Vec<u8>) {
        for (f, field) in self.fields(row).iter().enumerate() {
            if f > 0 {
                line.push(b',');
            }
            quote(field, b',', line);
        }
        line.push(b'\n');
    }
}

/// A file that contradicts itself; the words say where and how.
fn damaged(file: &str, column: Option<(usize, &str)>, words: impl Into<String>) -> Error {
    let field = column.map(|(f, name)| (f as u64 + 1, Some(name.to_owned())));
    let place = Place { field, ..Place::file(file) };
    Problem::new(Code::DAMAGED_COLUMNS, words, place)
        .help("fetch or create the file again, or write the table as CSV")
        .into()
}
