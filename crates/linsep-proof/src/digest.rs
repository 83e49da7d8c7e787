//! The digest by which certificates and models name their data.
//!
//! Each row is written as: the label's UTF-8 bytes with their number before them (u32), the number
//! of non-zero values (u32), then for each of them the 0-based column (u32) and the bits of the
//! binary64 (u64), in rising order of the columns, everything little-endian. Rows are taken in blocks
//! of 4,096; the digest is the SHA-256 of the concatenated SHA-256 of the blocks, so it can be
//! computed on all cores and by workers that hold only some blocks. Names, width, weights, file
//! format and storage do not enter.

use crate::rows::{Entries, RowBuffer, Rows};
use sha2::{Digest as _, Sha256};

/// Rows in one block of the digest.
pub const BLOCK_ROWS: u64 = 4096;

/// The hash of one block of rows.
pub fn block_hash(rows: &dyn Rows, block: u64) -> [u8; 32] {
    let mut sha = Sha256::new();
    let (mut buffer, mut bytes) = (RowBuffer::default(), Vec::new());
    for row in block * BLOCK_ROWS..((block + 1) * BLOCK_ROWS).min(rows.len()) {
        write_row(rows, row, &mut buffer, &mut bytes);
        sha.update(&bytes);
    }
    sha.finalize().into()
}

/// A row as it enters the hash.
fn write_row(rows: &dyn Rows, row: u64, buffer: &mut RowBuffer, bytes: &mut Vec<u8>) {
    let label = rows.label(row).as_bytes();
    bytes.clear();
    bytes.extend_from_slice(&(label.len() as u32).to_le_bytes());
    bytes.extend_from_slice(label);
    match rows.entries(row, buffer) {
        Entries::Sparse(columns, values) => {
            let pairs = columns.iter().copied().zip(values.iter().copied());
            write_entries(values.len(), pairs, bytes);
        }
        Entries::Dense(values) => {
            let nonzero = values.iter().filter(|value| **value != 0.0).count();
            let pairs = values.iter().copied().enumerate().filter(|(_, value)| *value != 0.0);
            write_entries(nonzero, pairs.map(|(column, value)| (column as u32, value)), bytes);
        }
    }
}

/// The number of entries and their twelve bytes each.
fn write_entries(count: usize, pairs: impl Iterator<Item = (u32, f64)>, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&(count as u32).to_le_bytes());
    let start = bytes.len();
    bytes.resize(start + 12 * count, 0);
    let (entries, _) = bytes[start..].as_chunks_mut::<12>();
    for (entry, (column, value)) in entries.iter_mut().zip(pairs) {
        entry[..4].copy_from_slice(&column.to_le_bytes());
        entry[4..].copy_from_slice(&value.to_bits().to_le_bytes());
    }
}

/// The digest of rows that come part by part, in constant memory.
#[derive(Clone, Default)]
pub struct Digester {
    whole: Sha256,
    block: Sha256,
    rows: u64,
}

impl Digester {
    /// Adds the rows of the next part.
    pub fn add(&mut self, rows: &dyn Rows) {
        let (mut buffer, mut bytes) = (RowBuffer::default(), Vec::new());
        for row in 0..rows.len() {
            write_row(rows, row, &mut buffer, &mut bytes);
            self.block.update(&bytes);
            self.rows += 1;
            if self.rows.is_multiple_of(BLOCK_ROWS) {
                self.whole.update(std::mem::take(&mut self.block).finalize());
            }
        }
    }

    /// The number of rows and their digest.
    pub fn finish(mut self) -> (u64, String) {
        if !self.rows.is_multiple_of(BLOCK_ROWS) {
            self.whole.update(self.block.finalize());
        }
        (self.rows, hex(&self.whole.finalize()))
    }
}

/// The digest that the hashes of all blocks make.
pub fn combine(hashes: &[[u8; 32]]) -> String {
    let mut whole = Sha256::new();
    hashes.iter().for_each(|hash| whole.update(hash));
    hex(&whole.finalize())
}

/// The digest of all rows, on this thread.
pub fn digest(rows: &dyn Rows) -> String {
    let blocks = rows.len().div_ceil(BLOCK_ROWS);
    let hashes: Vec<[u8; 32]> = (0..blocks).map(|block| block_hash(rows, block)).collect();
    combine(&hashes)
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
