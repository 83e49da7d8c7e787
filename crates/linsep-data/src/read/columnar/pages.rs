//! The page headers of a column chunk of Parquet, walked before anything is decoded.
//!
//! A decoder believes the sizes that a page header claims and makes room for them. Here every claim is held against
//! what is there: the bytes of the chunk, what the codec can make of them at most, the rows of the row group.
//! The headers are structs of Thrift's compact protocol; only the few fields that are needed are read, the
//! others are stepped over.

use parquet::basic::Compression;

/// The largest page that is unpacked. Writers make pages of about 1 MiB.
const MOST: u64 = 1 << 30;

/// Encodings of texts that begin with a count which the decoder believes before it has seen the texts.
const COUNTED_TEXTS: [i64; 2] = [6, 7];

/// What is wrong with the pages of a chunk, if anything is. `rows` is the number of rows of the row group.
pub(super) fn check(chunk: &[u8], codec: Compression, rows: u64) -> Result<(), String> {
    let mut rest = chunk;
    let mut page = 0;
    while !rest.is_empty() {
        let header =
            Header::read(&mut rest).ok_or(format!("the header of page {page} is damaged"))?;
        let body = usize::try_from(header.packed).ok().filter(|size| *size <= rest.len());
        let Some(body) = body else {
            return Err(format!(
                "page {page} claims {} bytes, {} are left",
                header.packed,
                rest.len()
            ));
        };
        header.check(codec, rows).map_err(|words| format!("page {page} {words}"))?;
        rest = &rest[body..];
        page += 1;
    }
    Ok(())
}

/// What a page header claims.
#[derive(Debug, Default)]
struct Header {
    is_dictionary: bool,
    unpacked: i64,
    packed: i64,
    values: i64,
    encoding: i64,
}

impl Header {
    fn read(rest: &mut &[u8]) -> Option<Header> {
        let mut header = Header::default();
        each_field(rest, |id, kind, rest| {
            match (id, kind) {
                (1, INT32) => header.is_dictionary = whole(rest)? == 2,
                (2, INT32) => header.unpacked = whole(rest)?,
                (3, INT32) => header.packed = whole(rest)?,
                // The headers of data pages of both versions and of dictionaries.
                (5 | 7 | 8, STRUCT) => each_field(rest, |inner, kind, rest| {
                    match (id, inner, kind) {
                        (_, 1, INT32) => header.values = whole(rest)?,
                        (5 | 7, 2, INT32) | (8, 4, INT32) => header.encoding = whole(rest)?,
                        _ => skip(rest, kind, DEPTH)?,
                    }
                    Some(())
                })?,
                _ => skip(rest, kind, DEPTH)?,
            }
            Some(())
        })?;
        Some(header)
    }

    fn check(&self, codec: Compression, rows: u64) -> Result<(), String> {
        let (Ok(packed), Ok(unpacked), Ok(values)) =
            (u64::try_from(self.packed), u64::try_from(self.unpacked), u64::try_from(self.values))
        else {
            return Err("claims a negative size".into());
        };
        if unpacked > most(codec, packed).min(MOST) {
            return Err(format!("claims {unpacked} bytes unpacked, which {packed} cannot hold"));
        }
        if self.is_dictionary && values > unpacked {
            return Err(format!("claims a dictionary of {values} values in {unpacked} bytes"));
        }
        if !self.is_dictionary && values > rows {
            return Err(format!("claims {values} values, the row group has {rows} rows"));
        }
        if COUNTED_TEXTS.contains(&self.encoding) {
            return Err("has texts in a delta encoding, which is not read here; write them plain or with a dictionary".into());
        }
        Ok(())
    }
}

/// The most bytes that a codec can make of so many.
pub(super) fn most(codec: Compression, packed: u64) -> u64 {
    // A zstd block of 128 KiB takes at least 4 bytes, deflate has at most 1032 bytes for one, LZ4 255 and
    // Snappy 64 for three.
    let ratio = match codec {
        Compression::UNCOMPRESSED => 1,
        Compression::ZSTD(_) => 1 << 15,
        Compression::GZIP(_) => 1032,
        _ => 255,
    };
    packed.saturating_mul(ratio).saturating_add(if ratio > 1 { 1 << 17 } else { 0 })
}

// The types of the compact protocol that occur here.
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const INT16: u8 = 4;
const INT32: u8 = 5;
const INT64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const STRUCT: u8 = 12;

/// Structs within structs that are stepped over.
const DEPTH: u32 = 8;

/// Hands the fields of a struct to `each`, which has to read or skip the value.
fn each_field(
    rest: &mut &[u8],
    mut each: impl FnMut(i64, u8, &mut &[u8]) -> Option<()>,
) -> Option<()> {
    let mut id: i64 = 0;
    loop {
        let head = take(rest, 1)?[0];
        if head == 0 {
            return Some(());
        }
        id = match head >> 4 {
            0 => whole(rest)?,
            step => id.saturating_add(i64::from(step)),
        };
        each(id, head & 15, rest)?;
    }
}

fn skip(rest: &mut &[u8], kind: u8, depth: u32) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    match kind {
        TRUE | FALSE => {}
        BYTE => drop(take(rest, 1)?),
        INT16 | INT32 | INT64 => drop(varint(rest)?),
        DOUBLE => drop(take(rest, 8)?),
        BINARY => {
            let len = usize::try_from(varint(rest)?).ok()?;
            take(rest, len)?;
        }
        LIST | SET => {
            let head = take(rest, 1)?[0];
            let len = match head >> 4 {
                15 => varint(rest)?,
                len => u64::from(len),
            };
            // Each element takes a byte at least, truths among them.
            usize::try_from(len).ok().filter(|len| *len <= rest.len())?;
            for _ in 0..len {
                match head & 15 {
                    TRUE | FALSE => drop(take(rest, 1)?),
                    kind => skip(rest, kind, depth)?,
                }
            }
        }
        STRUCT => each_field(rest, |_, kind, rest| skip(rest, kind, depth))?,
        _ => return None,
    }
    Some(())
}

fn take<'a>(rest: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(len)?;
    *rest = left;
    Some(taken)
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = take(rest, 1)?[0];
        value |= u64::from(byte & 127) << shift;
        if byte < 128 {
            return Some(value);
        }
    }
    None
}

/// A whole number in zigzag form.
fn whole(rest: &mut &[u8]) -> Option<i64> {
    let value = varint(rest)?;
    Some((value >> 1) as i64 ^ -((value & 1) as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A data page with one byte and so many values.
    fn page(unpacked: u8, packed: u8, values: u8, encoding: u8) -> Vec<u8> {
        let zigzag = |n: u8| n << 1;
        let mut bytes = vec![0x15, 0, 0x15, zigzag(unpacked), 0x15, zigzag(packed)];
        bytes.extend([0x2c, 0x15, zigzag(values), 0x15, zigzag(encoding), 0x15, 6, 0x15, 6, 0, 0]);
        bytes.resize(bytes.len() + usize::from(packed), 7);
        bytes
    }

    #[test]
    fn claims_are_held_against_what_is_there() {
        let plain = Compression::UNCOMPRESSED;
        let two = [page(3, 3, 5, 0), page(1, 1, 2, 0)].concat();
        assert_eq!(check(&two, plain, 5), Ok(()));
        let words = |bytes: &[u8], rows| check(bytes, plain, rows).unwrap_err();
        assert!(words(&two, 4).contains("5 values, the row group has 4 rows"));
        assert!(words(&two[..two.len() - 1], 9).contains("page 1 claims 1 bytes, 0 are left"));
        assert!(words(&two[..8], 9).contains("header of page 0 is damaged"));
        assert!(words(&page(9, 3, 5, 0), 9).contains("9 bytes unpacked"));
        assert!(words(&page(3, 3, 5, 7), 9).contains("delta encoding"));
    }

    #[test]
    fn no_bytes_make_the_walk_panic_or_last() {
        let mut state = 7u64;
        for _ in 0..100_000 {
            let bytes: Vec<u8> = (0..24)
                .map(|_| {
                    state =
                        state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    (state >> 40) as u8 & [0xff, 0x1f, 0x9f][(state >> 60) as usize % 3]
                })
                .collect();
            let _ = check(&bytes, Compression::SNAPPY, 100);
        }
    }
}
