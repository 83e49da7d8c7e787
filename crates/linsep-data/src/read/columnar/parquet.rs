//! Parquet: the footer and the sizes in it, row groups to record batches.

use super::{damaged, pages};
use crate::error::{Code, Error, Place, Problem, Result};
use crate::guard;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Compression;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use std::ops::{ControlFlow, Range};

const MAGIC: &[u8; 4] = b"PAR1";
/// The magic of a file whose footer is encrypted.
const ENCRYPTED: &[u8; 4] = b"PARE";

/// Whether a file that begins so is Parquet.
pub(super) fn is_one(head: &[u8]) -> bool {
    head.starts_with(MAGIC) || head.starts_with(ENCRYPTED)
}

/// An opened Parquet file whose footer fits its content.
pub(super) struct File {
    bytes: Bytes,
    metadata: ArrowReaderMetadata,
}

/// Some columns of a file.
pub(super) struct Reader<'a> {
    file: &'a File,
    name: &'a str,
    used: Vec<usize>,
}

impl File {
    pub(super) fn open(bytes: Bytes, name: &str) -> Result<File> {
        check_footer(&bytes, name)?;
        let options = ArrowReaderOptions::new();
        let metadata = match guard::decode(|| ArrowReaderMetadata::load(&bytes, options)) {
            Ok(Ok(metadata)) => metadata,
            Ok(Err(error)) => {
                return Err(damaged(name, None, format!("the footer is damaged ({error})")));
            }
            Err(panic) => {
                return Err(damaged(name, None, format!("the footer is damaged ({panic})")));
            }
        };
        let file = File { bytes, metadata };
        let fields = file.metadata.schema().fields().len();
        let roots = file.metadata.parquet_schema().root_schema().get_fields().len();
        if fields != roots {
            let words = format!("the footer has {roots} columns, its Arrow schema {fields}");
            return Err(damaged(name, None, words));
        }
        for (number, group) in file.metadata.metadata().row_groups().iter().enumerate() {
            if group.num_rows() < 0 {
                let words = format!("row group {number} claims {} rows", group.num_rows());
                return Err(damaged(name, None, words));
            }
            for leaf in 0..group.num_columns() {
                file.chunk(group, leaf).map_err(|words| file.fault(name, number, leaf, &words))?;
            }
        }
        Ok(file)
    }

    pub(super) fn schema(&self) -> SchemaRef {
        self.metadata.schema().clone()
    }

    /// The rows of each row group.
    pub(super) fn groups(&self) -> Vec<u64> {
        let groups = self.metadata.metadata().row_groups().iter();
        groups.map(|group| group.num_rows() as u64).collect()
    }

    pub(super) fn reader<'a>(&'a self, used: &[usize], name: &'a str) -> Reader<'a> {
        Reader { file: self, name, used: used.to_vec() }
    }

    /// Where the pages of a leaf column stand in the file, which has that many bytes.
    fn chunk(
        &self,
        group: &RowGroupMetaData,
        leaf: usize,
    ) -> std::result::Result<Range<usize>, String> {
        let chunk = group.column(leaf);
        let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
        let (from, len) = (usize::try_from(start), usize::try_from(chunk.compressed_size()));
        let end = from.ok().zip(len.ok()).and_then(|(from, len)| from.checked_add(len));
        let range = end.map(|end| start as usize..end);
        range
            .filter(|range| range.start >= MAGIC.len() && range.end <= self.bytes.len())
            .ok_or_else(|| {
                format!(
                    "its pages are said to be {} bytes from byte {start} on, the file has {}",
                    chunk.compressed_size(),
                    self.bytes.len()
                )
            })
    }

    /// A damaged column of a row group.
    fn fault(&self, name: &str, group: usize, leaf: usize, words: &str) -> Error {
        let schema = self.metadata.parquet_schema();
        let column = (leaf < schema.num_columns()).then(|| schema.get_column_root_idx(leaf));
        let column = column.filter(|f| *f < self.metadata.schema().fields().len());
        let named = column.map(|f| (f, self.metadata.schema().field(f).name().as_str()));
        damaged(name, named, format!("row group {group}: {words}"))
    }
}

/// The last 8 bytes are the length of the footer and the magic again.
fn check_footer(bytes: &[u8], name: &str) -> Result<()> {
    let tail = bytes.last_chunk::<8>().filter(|_| bytes.len() >= 12);
    let Some((length, magic)) = tail.and_then(|tail| tail.split_first_chunk::<4>()) else {
        return Err(damaged(name, None, "the file ends early: it has no footer"));
    };
    if magic == ENCRYPTED || bytes.starts_with(ENCRYPTED) {
        let words = "this is an encrypted Parquet file";
        let problem = Problem::new(Code::WRONG_FORMAT, words, Place::file(name));
        return Err(problem.help("write it without encryption").into());
    }
    if magic != MAGIC {
        return Err(damaged(name, None, "the file ends early: the footer is not at its end"));
    }
    let length = u64::from(u32::from_le_bytes(*length));
    if length > bytes.len() as u64 - 12 {
        let words =
            format!("the footer is said to have {length} bytes, the file has {}", bytes.len());
        return Err(damaged(name, None, words));
    }
    Ok(())
}

impl Reader<'_> {
    /// Hands the rows of a row group to `each`, so many at a time.
    pub(super) fn group(
        &self,
        group: usize,
        at_once: usize,
        each: &mut dyn FnMut(RecordBatch) -> Result<ControlFlow<()>>,
    ) -> Result<ControlFlow<()>> {
        self.check_pages(group)?;
        let expected = self.file.metadata.metadata().row_group(group).num_rows() as u64;
        let mut rows = 0;
        let mut batches =
            self.decoder(group, &self.used, at_once).map_err(|words| self.blame(group, &words))?;
        while let Some(batch) = next(&mut batches).map_err(|words| self.blame(group, &words))? {
            rows += batch.num_rows() as u64;
            if each(batch)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        if rows != expected {
            let words = format!("row group {group} has {rows} rows, the footer says {expected}");
            return Err(damaged(self.name, None, words));
        }
        Ok(ControlFlow::Continue(()))
    }

    fn decoder(
        &self,
        group: usize,
        used: &[usize],
        at_once: usize,
    ) -> std::result::Result<ParquetRecordBatchReader, String> {
        let (bytes, metadata) = (self.file.bytes.clone(), self.file.metadata.clone());
        let mask = ProjectionMask::roots(metadata.parquet_schema(), used.iter().copied());
        let build = || {
            ParquetRecordBatchReaderBuilder::new_with_metadata(bytes, metadata)
                .with_row_groups(vec![group])
                .with_projection(mask)
                .with_batch_size(at_once)
                .build()
        };
        guard::decode(build)?.map_err(|error| error.to_string())
    }

    /// Holds the pages of every column that is used against what is there.
    fn check_pages(&self, group: usize) -> Result<()> {
        let schema = self.file.metadata.parquet_schema();
        let facts = self.file.metadata.metadata().row_group(group);
        let rows = facts.num_rows() as u64;
        for leaf in (0..schema.num_columns())
            .filter(|&leaf| self.used.contains(&schema.get_column_root_idx(leaf)))
        {
            let chunk = facts.column(leaf);
            let check = || {
                known_codec(chunk)?;
                if chunk.num_values() as u64 != rows {
                    return Err(format!("{} values for {rows} rows", chunk.num_values()));
                }
                let range = self.file.chunk(facts, leaf)?;
                pages::check(&self.file.bytes[range], chunk.compression(), rows)
            };
            check().map_err(|words| self.file.fault(self.name, group, leaf, &words))?;
        }
        Ok(())
    }

    /// The error of a row group that cannot be decoded, with the column, which is the first that cannot be alone.
    fn blame(&self, group: usize, words: &str) -> Error {
        const AT_ONCE: usize = 1 << 10;
        for &f in &self.used {
            let alone = self.decoder(group, &[f], AT_ONCE).and_then(|mut batches| {
                while next(&mut batches)?.is_some() {}
                Ok(())
            });
            if let Err(words) = alone {
                let name = self.file.metadata.schema().field(f).name();
                let words = format!("row group {group}: {words}");
                return damaged(self.name, Some((f, name)), words);
            }
        }
        damaged(self.name, None, format!("row group {group}: {words}"))
    }
}

fn next(
    batches: &mut ParquetRecordBatchReader,
) -> std::result::Result<Option<RecordBatch>, String> {
    guard::decode(|| batches.next())?.transpose().map_err(|error| error.to_string())
}

fn known_codec(chunk: &ColumnChunkMetaData) -> std::result::Result<(), String> {
    match chunk.compression() {
        codec @ (Compression::LZO | Compression::BROTLI(_)) => Err(format!(
            "it is packed with {codec}, which is not read here; write it with snappy, zstd, lz4, gzip or none"
        )),
        _ => Ok(()),
    }
}
