//! Reading and writing Parquet and Arrow IPC.
#![cfg(feature = "arrow")]

mod damage;
mod programs;
mod types;
mod written;

#[path = "../support/files.rs"]
mod files;

use arrow_array::RecordBatch;
use arrow_ipc::writer::{FileWriter, StreamWriter};
use linsep_data::read::{ReadOptions, ReadResult, read_from};
use linsep_data::{Dataset, Result};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;

/// A table as Parquet with at most so many rows in a row group.
fn parquet(batch: &RecordBatch, rows: usize) -> Vec<u8> {
    let options = WriterProperties::builder().set_max_row_group_row_count(Some(rows)).build();
    with_properties(batch, options)
}

fn with_properties(batch: &RecordBatch, options: WriterProperties) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(options)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    bytes
}

/// A table as an Arrow file with record batches of so many rows.
fn arrow(batch: &RecordBatch, rows: usize) -> Vec<u8> {
    let mut writer = FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    slices(batch, rows).for_each(|slice| writer.write(&slice).unwrap());
    writer.into_inner().unwrap()
}

/// The same as a stream.
fn stream(batch: &RecordBatch, rows: usize) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    slices(batch, rows).for_each(|slice| writer.write(&slice).unwrap());
    writer.into_inner().unwrap()
}

fn slices(batch: &RecordBatch, rows: usize) -> impl Iterator<Item = RecordBatch> {
    let starts = (0..batch.num_rows()).step_by(rows);
    starts.map(move |start| batch.slice(start, rows.min(batch.num_rows() - start)))
}

/// A table in every form, cut into groups of so many rows.
fn forms(batch: &RecordBatch, rows: usize) -> [(&'static str, Vec<u8>); 3] {
    [
        ("parquet", parquet(batch, rows)),
        ("arrow", arrow(batch, rows)),
        ("stream", stream(batch, rows)),
    ]
}

fn read_bytes(bytes: &[u8], set: impl FnOnce(&mut ReadOptions)) -> Result<ReadResult> {
    read_from(bytes, "t", &files::options(set))
}

/// What two data sets have in common where they are the same table.
#[track_caller]
fn assert_same(found: &Dataset, wanted: &Dataset, what: &str) {
    assert_eq!(found.n_rows(), wanted.n_rows(), "{what}");
    assert_eq!(found.input().feature_names(), wanted.input().feature_names(), "{what}");
    assert_eq!(found.label_names(), wanted.label_names(), "{what}");
    assert_eq!(found.weights(), wanted.weights(), "{what}");
    assert_eq!(found.digest(1), wanted.digest(1), "{what}");
    assert_eq!(found.encoding(), wanted.encoding(), "{what}");
    let row = |data: &Dataset, row| {
        let mut entries = Vec::new();
        data.for_each(row, |column, value: f64| entries.push((column, value.to_bits())));
        (entries, data.label_text(row).to_owned())
    };
    for i in 0..found.n_rows() {
        assert_eq!(row(found, i), row(wanted, i), "{what}, row {i}");
    }
}
