//! Files that were cut or changed: an error that names the place or other values, never a panic, and never an
//! allocation that follows from a claim instead of from bytes that are there.
#![allow(unsafe_code)] // The allocator below is one.

use crate::{arrow, parquet, read_bytes, stream, with_properties};
use arrow_array::*;
use linsep_data::read::Missing;
use linsep_data::{Code, Error, guard};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::{WriterProperties, WriterVersion};
use std::alloc::{GlobalAlloc, Layout, System};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's allocator, which remembers the largest piece that was asked for.
struct Watched;

static LARGEST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on as it is.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract, which is that of the system's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static HEAP: Watched = Watched;

/// No file of a few kilobytes needs a larger piece: pages and buffers are small, and zstd makes at most
/// 32,768 bytes of one.
const MOST: usize = 64 << 20;

fn table() -> RecordBatch {
    let rows = 24;
    let numbers = (0..rows).map(|i| (i % 7 != 3).then_some(f64::from(i) / 4.0));
    let words = (0..rows).map(|i| Some(["red", "green", "blue"][i as usize % 3]));
    let labels: DictionaryArray<types::Int32Type> =
        (0..rows).map(|i| ["no", "yes"][i as usize % 2]).collect();
    RecordBatch::try_from_iter_with_nullable([
        ("x", Arc::new(numbers.collect::<Float64Array>()) as ArrayRef, true),
        ("n", Arc::new(Int32Array::from_iter_values((0..rows).map(|i| i * 3))), true),
        ("t", Arc::new(words.clone().collect::<StringArray>()), true),
        ("v", Arc::new(words.collect::<StringViewArray>()), true),
        ("label", Arc::new(labels), true),
    ])
    .unwrap()
}

/// Small files of every kind.
fn files() -> Vec<(&'static str, Vec<u8>)> {
    let table = table();
    let packed = |codec| WriterProperties::builder().set_compression(codec);
    let plain = packed(Compression::UNCOMPRESSED).set_dictionary_enabled(false);
    let second = packed(Compression::ZSTD(ZstdLevel::default()))
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_column_encoding("n".into(), Encoding::DELTA_BINARY_PACKED)
        .set_column_encoding("x".into(), Encoding::BYTE_STREAM_SPLIT)
        .set_dictionary_enabled(false)
        .set_column_dictionary_enabled("t".into(), true)
        .set_column_dictionary_enabled("v".into(), true)
        .set_column_dictionary_enabled("label".into(), true);
    let zstd = {
        use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
        let options = IpcWriteOptions::default()
            .try_with_compression(Some(arrow_ipc::CompressionType::ZSTD))
            .unwrap();
        let mut writer =
            FileWriter::try_new_with_options(Vec::new(), &table.schema(), options).unwrap();
        writer.write(&table).unwrap();
        writer.into_inner().unwrap()
    };
    vec![
        ("parquet", parquet(&table, 10)),
        ("plain parquet", with_properties(&table, plain.build())),
        ("parquet 2", with_properties(&table, second.build())),
        ("arrow", arrow(&table, 10)),
        ("packed arrow", zstd),
        ("stream", stream(&table, 10)),
    ]
}

/// Reads what may be damaged: anything but a panic, in bounded memory.
fn read_damaged(bytes: &[u8], what: &dyn Fn() -> String) -> Result<(), Error> {
    LARGEST.store(0, Ordering::Relaxed);
    let read = || {
        read_bytes(bytes, |options| {
            options.missing = Missing::Zero;
            options.limit = Some(1000);
        })
    };
    let result = catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| panic!("{}", what()));
    let largest = LARGEST.load(Ordering::Relaxed);
    assert!(largest < MOST, "{}: a piece of {largest} bytes", what());
    result.map(|_| ())
}

/// Panics of decoders are expected; nobody has to read them.
fn quiet() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !guard::is_decoding() {
            usual(panic);
        }
    }));
}

#[test]
fn every_cut_is_an_error() {
    quiet();
    for (kind, bytes) in files() {
        read_damaged(&bytes, &|| kind.to_owned()).unwrap();
        for len in 8..bytes.len() {
            let what = || format!("{kind} cut to {len} of {}", bytes.len());
            let result = read_damaged(&bytes[..len], &what);
            match result {
                Err(error) => assert!(
                    matches!(error.code(), Code::DAMAGED_COLUMNS | Code::HEADER_ONLY),
                    "{}: {error}",
                    what()
                ),
                // A stream that ends between two messages is a shorter stream.
                Ok(()) => assert_eq!(kind, "stream", "{}", what()),
            }
        }
    }
}

/// Flips each bit of every byte, and all eight of them.
fn flip(range: std::ops::Range<usize>) {
    quiet();
    for (kind, bytes) in files().drain(range) {
        let (mut refused, mut read) = (0, 0);
        for at in 0..bytes.len() {
            for mask in [1, 2, 4, 8, 16, 32, 64, 128, 255] {
                let mut changed = bytes.clone();
                changed[at] ^= mask;
                match read_damaged(&changed, &|| format!("{kind} byte {at} mask {mask}")) {
                    Ok(()) => read += 1,
                    Err(_) => refused += 1,
                }
            }
        }
        assert!(refused > 0 && read > 0, "{kind}: {refused} refused, {read} read");
    }
}

#[test]
fn no_flipped_bit_of_parquet_panics() {
    flip(0..1);
}

#[test]
fn no_flipped_bit_of_plain_parquet_panics() {
    flip(1..2);
}

#[test]
fn no_flipped_bit_of_parquet_2_panics() {
    flip(2..3);
}

#[test]
fn no_flipped_bit_of_arrow_panics() {
    flip(3..6);
}

#[test]
fn random_damage_is_survived() {
    quiet();
    let mut state = 20_261_117u64;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    };
    for (kind, bytes) in files() {
        for round in 0..3000 {
            let mut changed = bytes.clone();
            for _ in 0..1 + random(6) {
                let at = random(changed.len());
                match random(4) {
                    0 => changed[at] = random(256) as u8,
                    1 => changed[at] = [0, 0xff, 0x7f, 0x80][random(4)],
                    // Sizes are whole numbers of four or eight bytes.
                    2 => changed[at..].iter_mut().take(4).for_each(|byte| *byte = 0xff),
                    _ => {
                        let more = bytes.iter().copied().skip(at).take(random(16));
                        drop(changed.splice(at..at, more));
                    }
                }
            }
            let _ = read_damaged(&changed, &|| format!("{kind} round {round}"));
        }
    }
}

#[test]
fn damage_is_named_with_row_group_and_column() {
    quiet();
    let rows = 3000;
    let column = |k: usize| -> ArrayRef {
        Arc::new(Float64Array::from_iter_values(
            (0..rows).map(|i| ((i * 31 + k) % 977) as f64 / 7.0),
        ))
    };
    let labels: ArrayRef =
        Arc::new((0..rows).map(|i| Some(["no", "yes"][i % 2])).collect::<StringArray>());
    let table = RecordBatch::try_from_iter([("a", column(1)), ("b", column(2)), ("label", labels)])
        .unwrap();
    let options = WriterProperties::builder()
        .set_max_row_group_row_count(Some(1000))
        .set_dictionary_enabled(false)
        .set_compression(Compression::SNAPPY);
    let bytes = with_properties(&table, options.build());
    let reader = parquet::file::serialized_reader::SerializedFileReader::new(bytes::Bytes::from(
        bytes.clone(),
    ));
    use parquet::file::reader::FileReader;
    let metadata = reader.unwrap().metadata().clone();
    let chunk = metadata.row_group(2).column(1);
    let (start, len) = chunk.byte_range();
    let middle = (start + len / 2) as usize;
    let mut changed = bytes.clone();
    changed[middle..middle + 200].fill(0xff);
    for threads in [1, 3] {
        let Err(Error::Data(error)) = read_bytes(&changed, |options| options.threads = threads)
        else {
            panic!("it was read")
        };
        let problem = &error.problems[0];
        assert_eq!(problem.code, Code::DAMAGED_COLUMNS);
        assert!(problem.message.contains("row group 2"), "{}", problem.message);
        assert_eq!(problem.place.field, Some((2, Some("b".into()))));
    }
    // A page that claims more than there is.
    let mut changed = bytes;
    changed[start as usize + 5] = 0xff;
    let error = read_bytes(&changed, |_| ()).unwrap_err().to_string();
    assert!(error.contains("row group 2") && error.contains("\"b\""), "{error}");
}

#[test]
fn footers_are_held_against_the_file() {
    quiet();
    let whole = parquet(&table(), 10);
    for length in [u32::MAX, 1 << 31, whole.len() as u32, whole.len() as u32 - 11, 0, 1] {
        let mut bytes = whole.clone();
        let at = bytes.len() - 8;
        bytes[at..at + 4].copy_from_slice(&length.to_le_bytes());
        let error = read_damaged(&bytes, &|| format!("footer of {length}")).unwrap_err();
        assert_eq!(error.code(), Code::DAMAGED_COLUMNS, "{length}: {error}");
    }
    let whole = arrow(&table(), 10);
    for length in [u32::MAX, 1 << 31, whole.len() as u32, whole.len() as u32 - 17, 0, 1] {
        let mut bytes = whole.clone();
        let at = bytes.len() - 10;
        bytes[at..at + 4].copy_from_slice(&length.to_le_bytes());
        let error = read_damaged(&bytes, &|| format!("footer of {length}")).unwrap_err();
        assert_eq!(error.code(), Code::DAMAGED_COLUMNS, "{length}: {error}");
    }
    for head in [&b"PAR1"[..], b"PAR1PAR1", b"ARROW1", b"ARROW1\0\0ARROW1", &[0xff; 4], &[0xff; 40]]
    {
        assert!(read_damaged(head, &|| format!("{head:?}")).is_err());
    }
}
