//! The checksum of files of version 1, which are one JSON object.
//!
//! It is the SHA-256 of the whole file with the 64 digits of the checksum taken out. For the reader to find
//! them, the field has to stand on a line of its own, indented by two blanks.

use linsep_proof::digest::hex;
use serde::Deserializer;
use serde::de::{MapAccess, Visitor};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;

/// Whether the content of a file fits the checksum in it.
pub(crate) fn has_checksum(text: &[u8], checksum: &str) -> bool {
    let Some(at) = checksum_place(text) else { return false };
    let Some(rest) = text[at..].strip_prefix(checksum.as_bytes()) else { return false };
    let mut sha = Sha256::new();
    sha.update(&text[..at]);
    sha.update(rest);
    hex(&sha.finalize()) == checksum
}

/// Where the digits of the checksum stand.
fn checksum_place(text: &[u8]) -> Option<usize> {
    const FIELD: &[u8] = b"\n  \"sha256\": \"";
    memchr::memmem::find(text, FIELD).map(|at| at + FIELD.len())
}

/// An object of texts in which no key stands twice.
pub(crate) fn without_repeats<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<BTreeMap<String, String>, D::Error> {
    struct Strict;
    impl<'de> Visitor<'de> for Strict {
        type Value = BTreeMap<String, String>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object without repeated keys")
        }

        fn visit_map<A: MapAccess<'de>>(
            self,
            mut map: A,
        ) -> std::result::Result<Self::Value, A::Error> {
            let mut all = BTreeMap::new();
            while let Some((key, value)) = map.next_entry::<String, String>()? {
                if all.insert(key.clone(), value).is_some() {
                    return Err(serde::de::Error::custom(format!(
                        "the key \"{key}\" stands twice"
                    )));
                }
            }
            Ok(all)
        }
    }
    deserializer.deserialize_map(Strict)
}
