//! The container of model files and checkpoints: a safetensors file with a checksum inside.
//!
//! ```text
//! 8 bytes   N, little-endian
//! N bytes   a JSON object: "__metadata__": {"linsep": "a JSON text"}, and for each tensor
//!           "name": {"dtype": "F64", "shape": [2, 3], "data_offsets": [0, 48]}; blanks up to a multiple of 8
//! the rest  the numbers of the tensors, little-endian, without holes
//! ```
//!
//! The tensor `sha256` has the 32 bytes of the SHA-256 of the whole file, in which these bytes are 0. So
//! the checksum covers every byte of the file but its own.
//!
//! [`Container::open`] refuses everything that [`Builder::seal`] would not write, up to blanks and the
//! order of the JSON: a header of more than [`MAX_HEADER`] bytes, keys that stand twice, other types of
//! numbers, shapes that do not fit the offsets, tensors that overlap or leave holes, bytes behind the last
//! one. Nothing is allocated from a size in the file before the size was compared with the file's length.

mod sealed_json;

pub(crate) use sealed_json::{has_checksum, without_repeats};

use linsep_data::error::{Code, Error, Result};
use linsep_data::sort::sort_by_key;
use linsep_proof::form;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::path::Path;

/// What was asked for, or why the file does not have it.
pub(crate) type Refused<T> = std::result::Result<T, String>;

/// The longest header that is written or read, in bytes.
pub(crate) const MAX_HEADER: usize = 16 << 20;

/// The key of the one entry in the metadata.
const KEY: &str = "linsep";
const METADATA: &str = "__metadata__";
const CHECKSUM: &str = "sha256";

/// The types of numbers that linsep writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Dtype {
    F64,
    I64,
    U8,
}

impl Dtype {
    fn size(self) -> usize {
        match self {
            Dtype::F64 | Dtype::I64 => 8,
            Dtype::U8 => 1,
        }
    }
}

/// What the header says of a tensor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    dtype: Dtype,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

/// A file that is being put together.
#[derive(Default)]
pub(crate) struct Builder {
    tensors: Vec<(&'static str, Dtype, Vec<usize>, Vec<u8>)>,
}

impl Builder {
    /// A tensor of binary64 numbers.
    pub(crate) fn floats<'a>(
        &mut self,
        name: &'static str,
        shape: &[usize],
        numbers: impl Iterator<Item = &'a f64>,
    ) {
        let mut bytes = Vec::with_capacity(8 * shape.iter().product::<usize>());
        // Eight bytes at once; an iterator of bytes takes as long as the checksum.
        numbers.for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()));
        self.tensors.push((name, Dtype::F64, shape.to_vec(), bytes));
    }

    /// A list of whole numbers.
    pub(crate) fn integers(&mut self, name: &'static str, numbers: impl Iterator<Item = u64>) {
        let mut bytes = Vec::with_capacity(8 * numbers.size_hint().0);
        numbers.for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()));
        self.tensors.push((name, Dtype::I64, vec![bytes.len() / 8], bytes));
    }

    /// Bytes.
    pub(crate) fn bytes(&mut self, name: &'static str, bytes: Vec<u8>) {
        self.tensors.push((name, Dtype::U8, vec![bytes.len()], bytes));
    }

    /// A value as JSON text.
    pub(crate) fn json(&mut self, name: &'static str, value: &impl Serialize) {
        self.bytes(name, json(value).into_bytes());
    }

    /// The file with its checksum; `None` if its header would be longer than [`MAX_HEADER`].
    pub(crate) fn seal(mut self, metadata: &impl Serialize) -> Option<Vec<u8>> {
        self.bytes(CHECKSUM, vec![0; 32]);
        // Numbers of eight bytes come first, so that each of them stands at a multiple of 8.
        sort_by_key(&mut self.tensors, |(_, dtype, ..)| std::cmp::Reverse(dtype.size()));
        let mut header = format!("{{\"{METADATA}\":{{\"{KEY}\":{}}}", json(&json(metadata)));
        let mut end = 0;
        for (name, dtype, shape, bytes) in &self.tensors {
            let data_offsets = (end, end + bytes.len());
            let entry = Entry { dtype: *dtype, shape: shape.clone(), data_offsets };
            header.push_str(&format!(",\"{name}\":{}", json(&entry)));
            end += bytes.len();
        }
        header.push('}');
        header.extend(std::iter::repeat_n(' ', header.len().next_multiple_of(8) - header.len()));
        if header.len() > MAX_HEADER {
            return None;
        }
        let mut file = Vec::with_capacity(8 + header.len() + end);
        file.extend((header.len() as u64).to_le_bytes());
        file.extend(header.as_bytes());
        // The checksum was the last to be added, and sorting keeps the order of equals.
        self.tensors.iter().for_each(|(.., bytes)| file.extend(bytes));
        let at = file.len() - 32;
        let sum = Sha256::digest(&file);
        file[at..].copy_from_slice(&sum);
        Some(file)
    }
}

/// A file whose layout and checksum are right.
pub(crate) struct Container<'a> {
    /// The JSON text of the metadata.
    pub(crate) metadata: String,
    tensors: BTreeMap<String, Tensor<'a>>,
}

/// A tensor of a file.
pub(crate) struct Tensor<'a> {
    dtype: Dtype,
    /// The length along each axis.
    pub(crate) shape: Vec<usize>,
    /// Its numbers, little-endian.
    pub(crate) bytes: &'a [u8],
}

/// Whether bytes begin as a container does: a length below 2^32, then an object. Text never has a byte 0.
pub(crate) fn is_container(bytes: &[u8]) -> bool {
    bytes.len() > 8 && bytes[4..8] == [0; 4] && bytes[8] == b'{'
}

/// The format that the metadata of a container names, if bytes are one.
pub(crate) fn format_of(bytes: &[u8]) -> Option<String> {
    let (header, _) = header_of(bytes).ok()?;
    let head: Format = serde_json::from_slice(header.metadata()?.as_bytes()).ok()?;
    Some(head.format)
}

/// Only the format, whatever else is there.
#[derive(Deserialize)]
struct Format {
    format: String,
}

impl<'a> Container<'a> {
    /// The parts of a file of this format, which `path` names in messages.
    pub(crate) fn open(bytes: &'a [u8], format: &str, path: &Path) -> Result<Container<'a>> {
        let refuse = |code, reason: String| Error::Model { code, path: path.to_path_buf(), reason };
        let invalid = |reason: String| refuse(Code::MODEL_SYNTAX, reason);
        let (header, data) = header_of(bytes).map_err(invalid)?;
        let Some(metadata) = header.metadata().map(str::to_owned) else {
            let words = format!("this safetensors file has other metadata than \"{KEY}\" alone");
            return Err(invalid(words));
        };
        let head: Format = serde_json::from_slice(metadata.as_bytes())
            .map_err(|e| invalid(format!("the metadata names no format ({e})")))?;
        check_format(&head.format, format).map_err(|(code, words)| refuse(code, words))?;
        let place = header.entries.get(CHECKSUM).map(|entry| entry.data_offsets.0);
        let mut tensors = header.tensors(data).map_err(invalid)?;
        let sum =
            tensors.remove(CHECKSUM).filter(|sum| sum.dtype == Dtype::U8 && sum.shape == [32]);
        let (Some(place), Some(sum)) = (place, sum) else {
            return Err(invalid(format!("there is no tensor \"{CHECKSUM}\" of 32 bytes")));
        };
        if checksum(bytes, bytes.len() - data.len() + place) != *sum.bytes {
            let words =
                "the checksum does not fit the content: the file was changed after it was written";
            return Err(refuse(Code::MODEL_CHECKSUM, words.into()));
        }
        Ok(Container { metadata, tensors })
    }

    /// The numbers of a tensor of binary64, if it is there.
    pub(crate) fn floats(&mut self, name: &str) -> Refused<Option<Tensor<'a>>> {
        self.take(name, Dtype::F64)
    }

    /// A list of whole numbers that are not negative, if it is there.
    pub(crate) fn integers(&mut self, name: &str) -> Refused<Option<Vec<usize>>> {
        let Some(tensor) = self.take(name, Dtype::I64)? else { return Ok(None) };
        if tensor.shape.len() != 1 {
            return Err(format!("the tensor \"{name}\" is not a list"));
        }
        let number = |bytes: [u8; 8]| usize::try_from(i64::from_le_bytes(bytes)).ok();
        let numbers: Option<Vec<usize>> = tensor.words().map(number).collect();
        numbers.map(Some).ok_or_else(|| format!("the tensor \"{name}\" has a negative number"))
    }

    /// The bytes of a tensor, if it is there.
    pub(crate) fn bytes(&mut self, name: &str) -> Refused<Option<&'a [u8]>> {
        let tensor = self.take(name, Dtype::U8)?;
        match tensor {
            Some(tensor) if tensor.shape.len() != 1 => {
                Err(format!("the tensor \"{name}\" is not a list"))
            }
            tensor => Ok(tensor.map(|tensor| tensor.bytes)),
        }
    }

    /// The value that a tensor holds as JSON text.
    pub(crate) fn json<T: Serialize + DeserializeOwned>(
        &mut self,
        name: &str,
    ) -> Refused<Option<T>> {
        let Some(bytes) = self.bytes(name)? else { return Ok(None) };
        let value = form::strict(bytes);
        value.map(Some).map_err(|e| format!("the tensor \"{name}\" is not valid: {e}"))
    }

    /// Refuses tensors that nobody asked for.
    pub(crate) fn finish(&self) -> Refused<()> {
        match self.tensors.keys().next() {
            Some(name) => Err(format!(
                "the tensor \"{}\" does not belong to the file",
                linsep_data::error::printable(name.as_bytes(), 40)
            )),
            None => Ok(()),
        }
    }

    fn take(&mut self, name: &str, dtype: Dtype) -> Refused<Option<Tensor<'a>>> {
        match self.tensors.remove(name) {
            Some(tensor) if tensor.dtype != dtype => {
                Err(format!("the tensor \"{name}\" is of {:?}, not of {dtype:?}", tensor.dtype))
            }
            found => Ok(found),
        }
    }
}

impl<'a> Tensor<'a> {
    /// Its numbers of eight bytes.
    fn words(&self) -> impl ExactSizeIterator<Item = [u8; 8]> + use<'a> {
        self.bytes.chunks_exact(8).map(|bytes| {
            let mut word = [0; 8];
            word.copy_from_slice(bytes);
            word
        })
    }

    /// Its binary64 numbers, in the order of the last axis first.
    pub(crate) fn numbers(&self) -> impl ExactSizeIterator<Item = f64> + use<'a> {
        self.words().map(f64::from_le_bytes)
    }

    /// Those at some places of a list, which has them.
    pub(crate) fn numbers_in(
        &self,
        places: std::ops::Range<usize>,
    ) -> impl ExactSizeIterator<Item = f64> + use<'a> {
        let bytes = &self.bytes[8 * places.start..8 * places.end];
        let part = Tensor { dtype: self.dtype, shape: vec![places.len()], bytes };
        part.numbers()
    }
}

/// The header of a file, and the bytes behind it.
fn header_of(bytes: &[u8]) -> Refused<(Header, &[u8])> {
    let (length, rest) = match bytes.split_first_chunk::<8>() {
        Some((length, rest)) => (u64::from_le_bytes(*length), rest),
        None => return Err("this is not a linsep file: it is too short".into()),
    };
    if length > MAX_HEADER as u64 {
        return Err(format!("the header has {length} bytes, {MAX_HEADER} is the most"));
    }
    let Some((header, data)) = rest.split_at_checked(length as usize) else {
        return Err("the file is cut off within its header".into());
    };
    if header.first() != Some(&b'{') || length % 8 != 0 {
        return Err("the header is no JSON object that is padded to a multiple of 8 bytes".into());
    }
    let Value::Object(fields) = form::parsed(header).map_err(|e| format!("the header: {e}"))?
    else {
        return Err("the header is no JSON object".into());
    };
    let mut header = Header::default();
    for (name, value) in fields {
        let shown = linsep_data::error::printable(name.as_bytes(), 40);
        let wrong = |e| format!("the header says of \"{shown}\": {e}");
        if name == METADATA {
            header.metadata = form::typed(&value).map_err(wrong)?;
        } else {
            let entry = form::typed(&value).map_err(wrong)?;
            header.entries.insert(name, entry);
        }
    }
    Ok((header, data))
}

/// The header as it is read.
#[derive(Default)]
struct Header {
    metadata: BTreeMap<String, String>,
    entries: BTreeMap<String, Entry>,
}

impl Header {
    /// The one text of the metadata.
    fn metadata(&self) -> Option<&str> {
        let text = self.metadata.get(KEY)?;
        (self.metadata.len() == 1).then_some(text)
    }

    /// The tensors, which have to fill the data without a hole.
    fn tensors(self, data: &[u8]) -> Refused<BTreeMap<String, Tensor<'_>>> {
        let mut places: Vec<(usize, usize)> = Vec::with_capacity(self.entries.len());
        let mut tensors = BTreeMap::new();
        for (name, Entry { dtype, shape, data_offsets: (from, to) }) in self.entries {
            let shown = linsep_data::error::printable(name.as_bytes(), 40);
            let size = shape.iter().try_fold(dtype.size(), |size, n| size.checked_mul(*n));
            let Some(bytes) = data.get(from..to) else {
                return Err(format!("the file is cut off, or \"{shown}\" is outside of it"));
            };
            if size != Some(bytes.len()) {
                return Err(format!("the shape of \"{shown}\" is not that of its bytes"));
            }
            places.push((from, to));
            tensors.insert(name, Tensor { dtype, shape, bytes });
        }
        places.sort_unstable();
        let mut end = 0;
        for (from, to) in places {
            if from != end {
                return Err("tensors overlap, or there are bytes between them".into());
            }
            end = to;
        }
        match end == data.len() {
            true => Ok(tensors),
            false => Err("there are bytes behind the last tensor".into()),
        }
    }
}

/// The SHA-256 of a file whose 32 bytes at a place are taken for zeros.
fn checksum(file: &[u8], at: usize) -> [u8; 32] {
    let mut sha = Sha256::new();
    sha.update(&file[..at]);
    sha.update([0; 32]);
    sha.update(&file[at + 32..]);
    sha.finalize().into()
}

/// Refuses formats other than this one.
pub(crate) fn check_format(found: &str, format: &str) -> std::result::Result<(), (Code, String)> {
    if found == format {
        return Ok(());
    }
    let kind = |name: &str| name.split('/').next().unwrap_or_default().to_owned();
    let (code, words) = match kind(found) == kind(format) && found.contains('/') {
        true => (Code::MODEL_VERSION, "is not of the version that this program reads, which is"),
        false => (Code::MODEL_SYNTAX, "is not the format"),
    };
    let found = linsep_data::error::printable(found.as_bytes(), 40);
    Err((code, format!("the format \"{found}\" {words} {format}")))
}

fn json<T: Serialize + ?Sized>(value: &T) -> String {
    // Plain data with finite numbers always has a JSON form.
    serde_json::to_string(value).unwrap_or_default()
}
