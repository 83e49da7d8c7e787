//! The digest of a data set: what certificates and models name their data by.
//!
//! Each row is written as: the label's UTF-8 bytes with their number before them (u32), the number
//! of non-zero values (u32), then for each of them the 0-based column (u32) and the bits of the
//! binary64 (u64), in rising order of the columns, everything little-endian. Rows are taken in blocks
//! of 4,096; the digest is the SHA-256 of the concatenated SHA-256 of the blocks, so it can be
//! computed on all cores and by workers that hold only some blocks. Names, width, weights, file
//! format and storage do not enter.

use super::Dataset;
use crate::parallel::parallel_map;
use sha2::{Digest as _, Sha256};

/// Rows in one block of the digest.
const BLOCK: usize = 4096;

/// The digest in hexadecimal.
pub(crate) fn digest(data: &Dataset, threads: usize) -> String {
    let blocks = data.n_rows().div_ceil(BLOCK);
    let hashes = parallel_map(blocks, threads, |block| block_hash(data, block));
    let mut whole = Sha256::new();
    hashes.iter().for_each(|hash| whole.update(hash));
    hex(&whole.finalize())
}

/// Bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn block_hash(data: &Dataset, block: usize) -> [u8; 32] {
    let mut sha = Sha256::new();
    let mut bytes = Vec::new();
    let mut scratch = Vec::new();
    let rows = block * BLOCK..((block + 1) * BLOCK).min(data.n_rows());
    for row in rows {
        let label = data.label_text(row).as_bytes();
        bytes.clear();
        bytes.extend_from_slice(&(label.len() as u32).to_le_bytes());
        bytes.extend_from_slice(label);
        let count_at = bytes.len();
        bytes.extend_from_slice(&[0; 4]);
        let mut count = 0u32;
        data.store.for_each(row, &mut scratch, |column, value| {
            bytes.extend_from_slice(&column.to_le_bytes());
            bytes.extend_from_slice(&value.to_bits().to_le_bytes());
            count += 1;
        });
        bytes[count_at..count_at + 4].copy_from_slice(&count.to_le_bytes());
        sha.update(&bytes);
    }
    sha.finalize().into()
}
