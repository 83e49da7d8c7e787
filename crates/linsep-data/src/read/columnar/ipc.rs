//! Arrow IPC, as files and as streams: messages with their sizes checked, record batches.
//!
//! Both forms are messages one behind the other; a file has a footer with the places of its batches, a stream is
//! walked from its start.

use super::damaged;
use super::pages::most;
use crate::error::Result;
use crate::guard;
use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::FileDecoder;
use arrow_ipc::{Block, CompressionType, Message, MessageHeader, MetadataVersion};
use arrow_schema::{Schema, SchemaRef};
use bytes::Bytes;
use parquet::basic::{Compression, ZstdLevel};
use std::collections::HashSet;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

const MAGIC: &[u8; 6] = b"ARROW1";
/// What every message of a stream begins with.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// Whether a file that begins so is Arrow IPC.
pub(super) fn is_one(head: &[u8]) -> bool {
    head.starts_with(MAGIC) || head.starts_with(&CONTINUATION)
}

/// An opened file or stream whose messages lie within it.
pub(super) struct File {
    buffer: Buffer,
    schema: SchemaRef,
    version: MetadataVersion,
    dictionaries: Vec<Block>,
    batches: Vec<Batch>,
    /// Dictionaries are replaced on the way, so that each batch has its own.
    replaced: bool,
}

/// A record batch.
struct Batch {
    block: Block,
    rows: u64,
    /// Dictionaries that come before it.
    dictionaries: usize,
}

/// Some columns of a file.
pub(super) struct Reader<'a> {
    file: &'a File,
    name: &'a str,
    used: Vec<usize>,
    decoder: Option<FileDecoder>,
}

type Checked<T> = std::result::Result<T, String>;

impl File {
    pub(super) fn open(bytes: Bytes, name: &str) -> Result<File> {
        let buffer = Buffer::from(bytes);
        let opened = guard::decode(|| match buffer.starts_with(MAGIC) {
            true => of_file(buffer),
            false => of_stream(buffer),
        });
        opened.and_then(|opened| opened).map_err(|words| damaged(name, None, words))
    }

    pub(super) fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// The rows of each record batch.
    pub(super) fn groups(&self) -> Vec<u64> {
        self.batches.iter().map(|batch| batch.rows).collect()
    }

    pub(super) fn reader<'a>(&'a self, used: &[usize], name: &'a str) -> Result<Reader<'a>> {
        let decoder = match self.replaced {
            true => None,
            false => {
                let decoder = self.decoder(used, self.dictionaries.len());
                Some(decoder.map_err(|words| damaged(name, None, words))?)
            }
        };
        Ok(Reader { file: self, name, used: used.to_vec(), decoder })
    }

    /// A decoder of some columns that knows the first dictionaries.
    fn decoder(&self, used: &[usize], dictionaries: usize) -> Checked<FileDecoder> {
        let mut decoder =
            FileDecoder::new(self.schema.clone(), self.version).with_projection(used.to_vec());
        for (number, block) in self.dictionaries[..dictionaries].iter().enumerate() {
            let buffer = self.slice(block)?;
            let read = guard::decode(|| decoder.read_dictionary(block, &buffer));
            flat(read).map_err(|words| format!("dictionary {number}: {words}"))?;
        }
        Ok(decoder)
    }

    fn slice(&self, block: &Block) -> Checked<Buffer> {
        let range = range_of(block, self.buffer.len())?;
        Ok(self.buffer.slice_with_length(range.start, range.len()))
    }

    /// Notes a message that lies at this place.
    fn add(&mut self, block: Block, seen: &mut HashSet<i64>) -> Checked<()> {
        let buffer = self.slice(&block)?;
        let body = buffer.len() - block.metaDataLength() as usize;
        let message = message_of(&buffer[..block.metaDataLength() as usize])?;
        match message.header_type() {
            MessageHeader::RecordBatch => {
                let batch = message.header_as_record_batch().ok_or("a record batch is empty")?;
                let rows = check_batch(&batch, &buffer[buffer.len() - body..])
                    .map_err(|words| format!("record batch {}: {words}", self.batches.len()))?;
                self.batches.push(Batch { block, rows, dictionaries: self.dictionaries.len() });
            }
            MessageHeader::DictionaryBatch => {
                let dictionary =
                    message.header_as_dictionary_batch().ok_or("a dictionary is empty")?;
                let batch = dictionary.data().ok_or("a dictionary has no values")?;
                check_batch(&batch, &buffer[buffer.len() - body..])
                    .map_err(|words| format!("dictionary {}: {words}", self.dictionaries.len()))?;
                let again = !seen.insert(dictionary.id()) && !dictionary.isDelta();
                self.replaced |= again && !self.batches.is_empty();
                self.dictionaries.push(block);
            }
            MessageHeader::NONE => {}
            other => return Err(format!("a message of the kind {other:?} has no place here")),
        }
        Ok(())
    }
}

/// What a footer says, held against the file.
fn of_file(buffer: Buffer) -> Checked<File> {
    let tail = buffer.last_chunk::<10>().filter(|_| buffer.len() >= 18);
    let tail = *tail.ok_or("the file ends early: it has no footer")?;
    if &tail[4..] != MAGIC {
        return Err("the file ends early: the footer is not at its end".into());
    }
    let length = u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]) as usize;
    if length > buffer.len() - 18 {
        return Err(format!(
            "the footer is said to have {length} bytes, the file has {}",
            buffer.len()
        ));
    }
    let end = buffer.len() - 10;
    let footer = arrow_ipc::root_as_footer(&buffer[end - length..end])
        .map_err(|error| format!("the footer is damaged ({error})"))?;
    let schema = footer.schema().ok_or("the footer has no schema")?;
    let schema = schema_of(schema)?;
    let mut file = File::of(buffer.clone(), schema, footer.version());
    let mut seen = HashSet::new();
    let blocks = footer.dictionaries().into_iter().flatten();
    for block in blocks.chain(footer.recordBatches().into_iter().flatten()) {
        file.add(*block, &mut seen)?;
    }
    Ok(file)
}

fn schema_of(schema: arrow_ipc::Schema<'_>) -> Checked<Schema> {
    try_fb_to_schema(schema).map_err(|error| format!("the schema is damaged ({error})"))
}

/// The messages of a stream.
fn of_stream(buffer: Buffer) -> Checked<File> {
    let mut at = 0;
    let mut file: Option<File> = None;
    let mut seen = HashSet::new();
    while let Some((block, next)) = next_message(&buffer, at)? {
        match &mut file {
            None => {
                let range = range_of(&block, buffer.len())?;
                let message = message_of(&buffer[range])?;
                let schema =
                    message.header_as_schema().ok_or("the stream begins without a schema")?;
                file = Some(File::of(buffer.clone(), schema_of(schema)?, message.version()));
            }
            Some(file) => file.add(block, &mut seen)?,
        }
        at = next;
    }
    file.ok_or_else(|| "the stream has no schema".into())
}

impl File {
    fn of(buffer: Buffer, schema: Schema, version: MetadataVersion) -> File {
        let (dictionaries, batches) = (Vec::new(), Vec::new());
        File { buffer, schema: Arc::new(schema), version, dictionaries, batches, replaced: false }
    }
}

/// The message at byte `at` and where the next one begins; none at the end.
fn next_message(bytes: &[u8], at: usize) -> Checked<Option<(Block, usize)>> {
    let rest = &bytes[at..];
    let head = rest.first_chunk::<8>();
    let length = match head {
        // A stream may simply end.
        None if rest.is_empty() => return Ok(None),
        Some(head) if head[..4] == CONTINUATION => {
            i32::from_le_bytes([head[4], head[5], head[6], head[7]])
        }
        _ => return Err(format!("the stream is cut or damaged at byte {at}")),
    };
    if length == 0 {
        return Ok(None);
    }
    let metadata = usize::try_from(length).ok().filter(|length| *length <= rest.len() - 8);
    let Some(metadata) = metadata.map(|length| length + 8) else {
        return Err(format!("a message of {length} bytes at byte {at}, {} are left", rest.len()));
    };
    let message = message_of(&rest[..metadata])?;
    let block = Block::new(at as i64, metadata as i32, message.bodyLength());
    let range = range_of(&block, bytes.len())?;
    Ok(Some((block, range.end)))
}

/// The message in the first bytes of a block, without the marks before it.
fn message_of(bytes: &[u8]) -> Checked<Message<'_>> {
    let skipped = if bytes.starts_with(&CONTINUATION) { 8 } else { 4 };
    let message = bytes.get(skipped..).ok_or("a message is cut")?;
    arrow_ipc::root_as_message(message).map_err(|error| format!("a message is damaged ({error})"))
}

/// Where a block lies.
fn range_of(block: &Block, len: usize) -> Checked<Range<usize>> {
    let claimed = || {
        let start = usize::try_from(block.offset()).ok()?;
        let metadata = usize::try_from(block.metaDataLength()).ok()?;
        let end =
            start.checked_add(metadata)?.checked_add(usize::try_from(block.bodyLength()).ok()?)?;
        (end <= len).then_some(start..end)
    };
    claimed().ok_or_else(|| {
        let (metadata, body, from) = (block.metaDataLength(), block.bodyLength(), block.offset());
        format!("a message of {metadata} and {body} bytes at byte {from}, the file has {len}")
    })
}

/// Holds the sizes of a batch against its body, and gives the number of its rows.
fn check_batch(batch: &arrow_ipc::RecordBatch<'_>, body: &[u8]) -> Checked<u64> {
    let codec = batch.compression().map(|compression| match compression.codec() {
        CompressionType::LZ4_FRAME => Ok(Compression::LZ4),
        CompressionType::ZSTD => Ok(Compression::ZSTD(ZstdLevel::default())),
        other => Err(format!("it is packed in an unknown way ({other:?})")),
    });
    let codec = codec.transpose()?;
    let mut unpacked: u64 = 0;
    for (number, buffer) in batch.buffers().into_iter().flatten().enumerate() {
        let (start, length) = (buffer.offset(), buffer.length());
        let (from, len) = (usize::try_from(start).ok(), usize::try_from(length).ok());
        let range = from.zip(len).and_then(|(from, len)| Some(from..from.checked_add(len)?));
        let Some(bytes) = range.and_then(|range| body.get(range)) else {
            let words = format!(
                "buffer {number} is said to be {length} bytes at byte {start} of {}",
                body.len()
            );
            return Err(words);
        };
        unpacked = unpacked.saturating_add(match codec.filter(|_| !bytes.is_empty()) {
            None => bytes.len() as u64,
            Some(codec) => {
                unpacked_size(bytes, codec).map_err(|words| format!("buffer {number}{words}"))?
            }
        });
    }
    let rows = u64::try_from(batch.length()).map_err(|_| "a negative number of rows")?;
    for node in batch.nodes().into_iter().flatten() {
        if u64::try_from(node.length()).is_err() || u64::try_from(node.null_count()).is_err() {
            return Err("a column of a negative length".into());
        }
    }
    // A row takes one bit at least, unless every value is missing.
    if rows > unpacked.saturating_mul(8).max(1 << 20) {
        return Err(format!("{rows} rows in {unpacked} bytes"));
    }
    Ok(rows)
}

/// How long a packed buffer claims to be.
fn unpacked_size(bytes: &[u8], codec: Compression) -> Checked<u64> {
    const MOST: u64 = 1 << 30;
    let Some((prefix, packed)) = bytes.split_first_chunk::<8>() else {
        return Err(" is cut".into());
    };
    match i64::from_le_bytes(*prefix) {
        -1 => Ok(packed.len() as u64),
        claimed => match u64::try_from(claimed) {
            Ok(size) if size <= most(codec, packed.len() as u64).min(MOST) => Ok(size),
            _ => {
                Err(format!(" claims {claimed} bytes unpacked, which {} cannot hold", packed.len()))
            }
        },
    }
}

impl Reader<'_> {
    /// Hands the rows of a record batch to `each`, so many at a time.
    pub(super) fn group(
        &self,
        group: usize,
        at_once: usize,
        each: &mut dyn FnMut(RecordBatch) -> Result<ControlFlow<()>>,
    ) -> Result<ControlFlow<()>> {
        let decoded = match &self.decoder {
            Some(decoder) => self.decode(group, decoder),
            None => self.decode_alone(group, &self.used),
        };
        let batch = decoded.map_err(|words| self.blame(group, &words))?;
        for start in (0..batch.num_rows()).step_by(at_once) {
            let rows = at_once.min(batch.num_rows() - start);
            if each(batch.slice(start, rows))?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn decode(&self, group: usize, decoder: &FileDecoder) -> Checked<RecordBatch> {
        let block = &self.file.batches[group].block;
        let buffer = self.file.slice(block)?;
        let batch = flat(guard::decode(|| decoder.read_record_batch(block, &buffer)))?;
        batch.ok_or_else(|| "it is empty".into())
    }

    fn decode_alone(&self, group: usize, used: &[usize]) -> Checked<RecordBatch> {
        let decoder = self.file.decoder(used, self.file.batches[group].dictionaries)?;
        self.decode(group, &decoder)
    }

    /// The error of a batch that cannot be decoded, with the column, which is the first that cannot be alone.
    fn blame(&self, group: usize, words: &str) -> crate::Error {
        for &f in &self.used {
            if let Err(words) = self.decode_alone(group, &[f]) {
                let name = self.file.schema.field(f).name();
                return damaged(
                    self.name,
                    Some((f, name)),
                    format!("record batch {group}: {words}"),
                );
            }
        }
        damaged(self.name, None, format!("record batch {group}: {words}"))
    }
}

/// The words of an error or a panic.
fn flat<T, E: std::fmt::Display>(result: Checked<std::result::Result<T, E>>) -> Checked<T> {
    result?.map_err(|error| error.to_string())
}
