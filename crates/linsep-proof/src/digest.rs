//! The digest by which certificates and models name their data.
//!
//! Rows are taken in blocks of 4,096. Each block is written as bytes and hashed with SHA-256; the digest
//! is the SHA-256 of the hashes of all blocks. So it is computed on all cores, and by workers that hold
//! only some blocks. What the bytes of a row are depends on the [`Version`]: `second` has those of
//! new files, `first` those of files of version 0.1. Either way labels and values that are not 0 enter,
//! with their columns; names, width, weights, file format and storage do not.
//!
//! Beside it there is a digest of the rows in any order, [`Multiset`].

mod first;
mod multiset;
mod second;

pub(crate) use multiset::RowHasher;
pub use multiset::{Multiset, row_hash};
pub(crate) use second::Heads;

use crate::rows::{Decimals, RowBuffer, Rows};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// Rows in one block of the digest.
pub const BLOCK_ROWS: u64 = 4096;

/// How rows become bytes. A file says `"digest": 2` beside the digest; without it the version is 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
#[non_exhaustive]
pub enum Version {
    /// Twelve bytes for each value.
    #[default]
    One,
    /// One byte and the shortest code of each value.
    Two,
}

impl Version {
    /// The version of new files.
    pub const LATEST: Version = Version::Two;

    /// Whether it is the one that files do not name.
    pub(crate) fn is_unnamed(&self) -> bool {
        *self == Version::One
    }

    /// What stands before the hashes of the blocks, so that no digest is one of another version.
    fn prefix(self) -> &'static [u8] {
        match self {
            Version::One => b"",
            Version::Two => b"linsep.digest/2\n",
        }
    }
}

impl TryFrom<u64> for Version {
    type Error = String;

    fn try_from(number: u64) -> Result<Version, String> {
        match number {
            2 => Ok(Version::Two),
            1 => Err("version 1 of the digest is not named".into()),
            _ => Err(format!("version {number} of the digest is not known, only 1 and 2 are")),
        }
    }
}

impl From<Version> for u64 {
    fn from(version: Version) -> u64 {
        match version {
            Version::One => 1,
            Version::Two => 2,
        }
    }
}

/// The hash of one block of rows.
pub fn block_hash(version: Version, rows: &dyn Rows, block: u64) -> [u8; 32] {
    let (mut hash, mut writer) = (Sha256::new(), Writer::new(version));
    for row in block * BLOCK_ROWS..((block + 1) * BLOCK_ROWS).min(rows.len()) {
        writer.write(rows, row, &mut hash);
    }
    writer.flush(&mut hash);
    hash.finalize().into()
}

/// Writes rows as bytes and hashes them, many at a time where they are short.
#[derive(Clone)]
struct Writer {
    version: Version,
    row: RowBuffer,
    heads: Heads,
    bytes: second::Bytes,
}

impl Writer {
    fn new(version: Version) -> Writer {
        let (row, heads) = (RowBuffer::default(), Heads::default());
        Writer { version, row, heads, bytes: second::Bytes::default() }
    }

    fn write(&mut self, rows: &dyn Rows, row: u64, hash: &mut Sha256) {
        const AT_ONCE: usize = 1 << 14;
        let Writer { version, row: RowBuffer { columns, values }, heads, bytes } = self;
        let label = rows.label(row);
        match (version, rows.decimals(row)) {
            (Version::Two, Some(Decimals { numbers, tens }))
                if heads.prepare(tens, numbers.len()) =>
            {
                second::write_decimals(label, numbers, heads, bytes);
            }
            (version, _) => {
                rows.load(row, columns, values);
                match version {
                    Version::One => first::write_row(label, columns, values, bytes),
                    Version::Two => second::write_row(label, columns, values, bytes),
                }
            }
        }
        if self.bytes.written().len() > AT_ONCE {
            self.flush(hash);
        }
    }

    fn flush(&mut self, hash: &mut Sha256) {
        hash.update(self.bytes.written());
        self.bytes.clear();
    }
}

/// The digest of rows that come part by part, in constant memory, of the [latest](Version::LATEST) version.
#[derive(Clone)]
pub struct Digester {
    whole: Sha256,
    block: Sha256,
    writer: Writer,
    rows: u64,
}

impl Default for Digester {
    fn default() -> Digester {
        let version = Version::LATEST;
        let (whole, block) = (Sha256::new_with_prefix(version.prefix()), Sha256::new());
        Digester { whole, block, writer: Writer::new(version), rows: 0 }
    }
}

impl Digester {
    /// Adds the rows of the next part.
    pub fn add(&mut self, rows: &dyn Rows) {
        for row in 0..rows.len() {
            self.writer.write(rows, row, &mut self.block);
            self.rows += 1;
            if self.rows.is_multiple_of(BLOCK_ROWS) {
                self.end_block();
            }
        }
    }

    /// The number of rows and their digest.
    pub fn finish(mut self) -> (u64, String) {
        if !self.rows.is_multiple_of(BLOCK_ROWS) {
            self.end_block();
        }
        (self.rows, hex(&self.whole.finalize()))
    }

    fn end_block(&mut self) {
        self.writer.flush(&mut self.block);
        self.whole.update(std::mem::take(&mut self.block).finalize());
    }
}

/// The digest that the hashes of all blocks make.
pub fn combine(version: Version, hashes: &[[u8; 32]]) -> String {
    let mut whole = Sha256::new_with_prefix(version.prefix());
    hashes.iter().for_each(|hash| whole.update(hash));
    hex(&whole.finalize())
}

/// The digest of all rows in the [latest](Version::LATEST) version, on this thread.
pub fn digest(rows: &dyn Rows) -> String {
    digest_of(Version::LATEST, rows)
}

/// The digest of all rows in a version, on this thread.
pub fn digest_of(version: Version, rows: &dyn Rows) -> String {
    let blocks = rows.len().div_ceil(BLOCK_ROWS);
    let hashes: Vec<[u8; 32]> = (0..blocks).map(|block| block_hash(version, rows, block)).collect();
    combine(version, &hashes)
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
