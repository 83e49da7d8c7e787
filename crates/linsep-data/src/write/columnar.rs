//! Rows as columns of Parquet or Arrow IPC: labels as text, everything else as binary64.
//!
//! Rows are held until they make a row group, so that memory is bounded however many there are.

use super::OutputFormat;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use std::io::{self, Write};
use std::sync::Arc;

/// Values and rows of a row group, about.
const VALUES: usize = 1 << 22;
const ROWS: usize = 1 << 17;
/// The footer describes every column of every row group, so wide tables have few of them.
const LEAST: usize = 1 << 10;

/// Columns under construction, and where they go.
pub(super) struct Columns<'a> {
    schema: SchemaRef,
    label_first: bool,
    labels: Vec<String>,
    /// Features, and the weight behind them.
    values: Vec<Vec<f64>>,
    features: usize,
    group: usize,
    target: Target<'a>,
}

enum Target<'a> {
    /// The writer wants to own what it writes to, so its bytes are passed on after every row group.
    Parquet(Box<ArrowWriter<Vec<u8>>>, &'a mut dyn Write),
    Arrow(Box<FileWriter<&'a mut dyn Write>>),
}

impl<'a> Columns<'a> {
    pub(super) fn new(
        out: &'a mut dyn Write,
        format: OutputFormat,
        label: &str,
        names: &[String],
        weight: Option<&str>,
        label_first: bool,
    ) -> io::Result<Columns<'a>> {
        let numbers = names.iter().map(String::as_str).chain(weight);
        let mut fields: Vec<Field> =
            numbers.map(|name| Field::new(name, DataType::Float64, false)).collect();
        let columns = fields.len();
        let label = Field::new(label, DataType::Utf8, false);
        fields.insert(if label_first { 0 } else { columns }, label);
        let schema = Arc::new(Schema::new(fields));
        let target = match format {
            OutputFormat::Arrow => {
                Target::Arrow(Box::new(FileWriter::try_new(out, &schema).map_err(failed)?))
            }
            _ => {
                let options =
                    WriterProperties::builder().set_compression(Compression::SNAPPY).build();
                let writer = ArrowWriter::try_new(Vec::new(), schema.clone(), Some(options));
                Target::Parquet(Box::new(writer.map_err(failed)?), out)
            }
        };
        let group = (VALUES / columns.max(1)).clamp(LEAST, ROWS);
        let (labels, values) = (Vec::new(), vec![Vec::new(); columns]);
        Ok(Columns { schema, label_first, labels, values, features: names.len(), group, target })
    }

    pub(super) fn row(
        &mut self,
        label: &str,
        entries: &[(u32, f64)],
        weight: Option<f64>,
    ) -> io::Result<()> {
        let row = self.labels.len();
        self.labels.push(label.to_owned());
        for &(column, value) in
            entries.iter().filter(|(column, _)| (*column as usize) < self.features)
        {
            let column = &mut self.values[column as usize];
            column.resize(row, 0.0);
            column.push(value);
        }
        if let Some(column) = self.values.get_mut(self.features) {
            column.push(weight.unwrap_or(1.0));
        }
        if self.labels.len() == self.group { self.write_group() } else { Ok(()) }
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        if !self.labels.is_empty() {
            self.write_group()?;
        }
        match self.target {
            Target::Parquet(writer, out) => {
                out.write_all(&writer.into_inner().map_err(failed)?)?;
                out.flush()
            }
            Target::Arrow(mut writer) => {
                writer.finish().map_err(failed)?;
                writer.get_mut().flush()
            }
        }
    }

    /// Writes the rows that are held as one row group.
    fn write_group(&mut self) -> io::Result<()> {
        let rows = self.labels.len();
        let column = |values: &mut Vec<f64>| {
            values.resize(rows, 0.0);
            Arc::new(Float64Array::from(std::mem::take(values))) as ArrayRef
        };
        let mut arrays: Vec<ArrayRef> = self.values.iter_mut().map(column).collect();
        let labels = Arc::new(StringArray::from(std::mem::take(&mut self.labels)));
        arrays.insert(if self.label_first { 0 } else { arrays.len() }, labels);
        let batch = RecordBatch::try_new(self.schema.clone(), arrays).map_err(failed)?;
        match &mut self.target {
            Target::Parquet(writer, out) => {
                writer.write(&batch).map_err(failed)?;
                writer.flush().map_err(failed)?;
                writer.sync()?;
                out.write_all(&std::mem::take(writer.inner_mut()))
            }
            Target::Arrow(writer) => writer.write(&batch).map_err(failed),
        }
    }
}

/// What the system says, or what the writer does.
fn failed(error: impl std::error::Error + Send + Sync + 'static) -> io::Error {
    let system = std::error::Error::source(&error).and_then(|e| e.downcast_ref::<io::Error>());
    match system.map(io::Error::kind) {
        Some(kind) => io::Error::new(kind, error),
        None => io::Error::other(error),
    }
}
