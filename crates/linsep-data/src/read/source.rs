//! Bytes in: files, folders, globs and readers, plain or compressed, cut into pieces that end at the end
//! of a record.
//!
//! Plain files are mapped, so a piece is a slice of the file and nothing is copied. Compressed files
//! and streams are read piece by piece and never held as a whole.

#![allow(unsafe_code)]

use super::columnar::Columnar;
use super::text::{self, Decoded, TextForm};
use super::waiting::{Waiting, was_stopped};
use super::{blanks, glob, ndjson};
use crate::error::{Code, Error, Place, Problem, Result};
use crate::memory;
use crate::packing::Packing;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Bytes of one piece, about. Pieces of small files are smaller, down to an eighth of this, so that
/// what is under way stays small beside the data itself.
pub(super) const PIECE: usize = 1 << 18;

/// The longest record that is accepted.
pub(super) const MAX_RECORD: usize = 256 << 20;

/// One file or stream of a data set, opened.
pub(crate) struct Part<'r> {
    /// As the user named it.
    pub(crate) name: String,
    /// A header was made for a text that has none.
    pub(crate) made_header: bool,
    content: Content<'r>,
}

enum Content<'r> {
    Mapped(memmap2::Mmap),
    Stream { head: Vec<u8>, rest: Box<dyn Read + Send + 'r> },
}

/// The content of a file that is not empty, mapped into memory.
pub fn map_file(file: &File) -> io::Result<impl std::ops::Deref<Target = [u8]>> {
    map(file)
}

fn map(file: &File) -> io::Result<memmap2::Mmap> {
    // SAFETY: the mapping is read-only and private to this process. Another program that cuts the file
    // while it is read could end this process with a signal; the documentation says so.
    unsafe { memmap2::Mmap::map(file) }
}

/// The files that a name stands for: itself, or those of a folder or a pattern in the order of their names.
pub fn files_of(input: &Path) -> Result<Vec<PathBuf>> {
    if input.is_dir() {
        return folder_parts(input);
    }
    if !input.exists() && glob::is_pattern(input.as_os_str()) {
        return glob_parts(input);
    }
    // Opening it gives the system's own reason where it is no file.
    Ok(vec![input.to_path_buf()])
}

fn folder_parts(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).map_err(|e| Error::io("read folder", folder, e))?;
    let mut parts = Vec::new();
    for entry in entries {
        let path = entry.map_err(|e| Error::io("read folder", folder, e))?.path();
        // Engines that write folders of parts leave markers such as _SUCCESS and .crc files.
        let hidden =
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(['.', '_']));
        if path.is_file() && !hidden {
            parts.push(path);
        }
    }
    parts.sort();
    if parts.is_empty() {
        return Err(Error::data(
            Code::EMPTY,
            "the folder holds no files",
            Place::file(folder.display().to_string()),
        ));
    }
    Ok(parts)
}

fn glob_parts(input: &Path) -> Result<Vec<PathBuf>> {
    let parts = glob::matching(input).map_err(|e| Error::io("read", input, e))?;
    if parts.is_empty() {
        let error = io::Error::new(io::ErrorKind::NotFound, "no file matches the pattern");
        return Err(Error::io("read", input, error));
    }
    Ok(parts)
}

impl<'r> Part<'r> {
    /// Opens a file and undoes gzip or zstd, which are known by their first bytes. What may keep waiting is
    /// left when `stop` turns true.
    pub(crate) fn open(path: &Path, stop: Option<&Arc<AtomicBool>>) -> Result<Part<'r>> {
        let failed = |e| Error::io("read", path, e);
        let name = path.display().to_string();
        let is_file = path.metadata().map_err(failed)?.is_file();
        if let Some(stop) = stop.filter(|_| !is_file) {
            // A pipe without a writer cannot even be opened at once.
            let own = path.to_path_buf();
            let reader = Waiting::new(move || File::open(own), Arc::clone(stop));
            let part = reader.and_then(|reader| Part::from_reader(&name, Box::new(reader)));
            return part.map_err(|e| begin_error(&name, e));
        }
        let mut file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        let may_be_mapped = metadata.is_file() && metadata.len() > 0;
        if !may_be_mapped || memory::limit().is_some() && !has_columns(&mut file).map_err(failed)? {
            // Pipes and other special files cannot be mapped, nor can empty ones. Pages of a mapping count as
            // memory of the process, so under a limit only what cannot be read from its beginning on is
            // mapped.
            return Part::from_reader(&name, Box::new(file)).map_err(|e| begin_error(&name, e));
        }
        // Where there is no room for a mapping, the file is read like a stream.
        let plain =
            |map: &memmap2::Mmap| Packing::of(map) == Packing::Plain && !text::needs_decoding(map);
        let Some(map) = map(&file).ok().filter(plain) else {
            return Part::from_reader(&name, Box::new(file)).map_err(|e| begin_error(&name, e));
        };
        #[cfg(unix)]
        let _ = map.advise(memmap2::Advice::Sequential);
        Ok(Part { name, made_header: false, content: Content::Mapped(map) })
    }

    /// Wraps a reader, undoing compression.
    pub(crate) fn from_reader(
        name: &str,
        mut reader: Box<dyn Read + Send + 'r>,
    ) -> io::Result<Part<'r>> {
        let mut magic = Vec::with_capacity(4);
        reader.by_ref().take(4).read_to_end(&mut magic)?;
        let packing = Packing::of(&magic);
        let rest = packing.unpack(Box::new(io::Cursor::new(magic).chain(reader)))?;
        let Decoded { reader, form } = text::decoded(rest)?;
        let content = Content::Stream { head: Vec::new(), rest: reader };
        Ok(Part { name: name.to_owned(), made_header: form == TextForm::Objects, content })
    }

    /// The first bytes, `size` of them if there are as many, for looking at the format, and whether that
    /// is everything.
    pub(crate) fn head(&mut self, size: usize) -> Result<(&[u8], bool)> {
        match &mut self.content {
            Content::Mapped(map) => Ok((&map[..map.len().min(size)], map.len() <= size)),
            Content::Stream { head, rest } => {
                if head.len() < size {
                    fill(rest, head, size).map_err(|e| stream_error(&self.name, e))?;
                }
                Ok((head, head.len() < size))
            }
        }
    }

    /// What `look` makes of the first bytes, of more of them as long as it needs more: a first record, or
    /// what stands before it, may be as long as any.
    pub(crate) fn look<T>(
        &mut self,
        max_memory: Option<u64>,
        look: impl Fn(&[u8], bool) -> Result<Option<T>>,
    ) -> Result<T> {
        let name = self.name.clone();
        let mut size = PIECE;
        loop {
            let (head, whole) = self.head(size)?;
            match look(head, whole)? {
                Some(found) => return Ok(found),
                None => size = longer(&name, size, max_memory)?,
            }
        }
    }

    /// The file of columns that this is, if it is one. Its content then belongs to that.
    #[cfg(feature = "arrow")]
    pub(crate) fn columnar(&mut self, max_memory: Option<u64>) -> Result<Option<Columnar>> {
        if !Columnar::is_one(self.head(8)?.0) {
            return Ok(None);
        }
        let none = Content::Stream { head: Vec::new(), rest: Box::new(io::empty()) };
        let bytes = match std::mem::replace(&mut self.content, none) {
            Content::Mapped(map) => bytes::Bytes::from_owner(map),
            // The end of the file says what is in it.
            Content::Stream { mut head, mut rest } => {
                let mut size = head.len().max(PIECE);
                while !fill(rest.as_mut(), &mut head, size)
                    .map_err(|e| stream_error(&self.name, e))?
                {
                    size *= 2;
                    if let Some(limit) = max_memory.filter(|limit| size as u64 > *limit) {
                        let purpose = format!("the file {}", self.name);
                        return Err(Error::Memory { purpose, needed: size as u64, limit });
                    }
                }
                bytes::Bytes::from(head)
            }
        };
        Columnar::open(bytes, &self.name).map(Some)
    }

    /// Without the feature `arrow` no file is one of columns.
    #[cfg(not(feature = "arrow"))]
    pub(crate) fn columnar(&mut self, _max_memory: Option<u64>) -> Result<Option<Columnar>> {
        Ok(None)
    }

    /// Whether there is nothing at all.
    pub(crate) fn is_empty(&mut self) -> Result<bool> {
        Ok(self.head(1)?.0.is_empty())
    }

    /// Bytes of the text, where they are known before it is read.
    pub(crate) fn size(&self) -> Option<u64> {
        match &self.content {
            Content::Mapped(map) => Some(map.len() as u64),
            Content::Stream { .. } => None,
        }
    }

    /// Cuts the part into pieces from byte `skip` on. in a table with the delimiter `quoted`, a line break
    /// within double quotes does not end a record, `max_memory` how long a record may get.
    pub(crate) fn pieces(
        &mut self,
        skip: usize,
        quoted: Option<u8>,
        max_memory: Option<u64>,
    ) -> Pieces<'_> {
        let size = match &self.content {
            Content::Mapped(map) => (map.len() / 64).clamp(PIECE / 8, PIECE),
            Content::Stream { .. } => PIECE,
        };
        let source = match &mut self.content {
            Content::Mapped(map) => PieceSource::Mapped(&map[skip.min(map.len())..]),
            Content::Stream { head, rest } => {
                head.drain(..skip.min(head.len()));
                PieceSource::Stream {
                    carry: std::mem::take(head),
                    rest: rest.as_mut(),
                    ended: false,
                }
            }
        };
        Pieces { name: &self.name, source, quoted, max_memory, size, blanks: false }
    }
}

/// The pieces of one part, in order.
pub(crate) struct Pieces<'a> {
    name: &'a str,
    source: PieceSource<'a>,
    quoted: Option<u8>,
    max_memory: Option<u64>,
    size: usize,
    /// Blanks part the fields, and become tabs.
    pub(super) blanks: bool,
}

enum PieceSource<'a> {
    Mapped(&'a [u8]),
    Stream { carry: Vec<u8>, rest: &'a mut (dyn Read + Send + 'a), ended: bool },
}

impl<'a> Pieces<'a> {
    /// The next piece; it ends with a line break unless it is the last.
    pub(crate) fn next(&mut self) -> Result<Option<Cow<'a, [u8]>>> {
        let piece = self.next_as_it_is()?;
        Ok(match self.blanks {
            true => piece.map(|piece| Cow::Owned(blanks::with_tabs(&piece))),
            false => piece,
        })
    }

    fn next_as_it_is(&mut self) -> Result<Option<Cow<'a, [u8]>>> {
        let (name, quoted, max_memory) = (self.name, self.quoted, self.max_memory);
        match &mut self.source {
            PieceSource::Mapped(left) => {
                let mut size = self.size;
                loop {
                    if left.len() <= size {
                        let piece = std::mem::take(left);
                        return Ok((!piece.is_empty()).then_some(Cow::Borrowed(piece)));
                    }
                    if let Some(end) = record_end(&left[..size], quoted) {
                        let (piece, rest) = left.split_at(end);
                        *left = rest;
                        return Ok(Some(Cow::Borrowed(piece)));
                    }
                    size = longer(name, size, max_memory)?;
                }
            }
            PieceSource::Stream { carry, rest, ended } => {
                let mut size = self.size;
                loop {
                    if !*ended && carry.len() < size {
                        *ended = fill(rest, carry, size).map_err(|e| stream_error(name, e))?;
                    }
                    if *ended {
                        let piece = std::mem::take(carry);
                        return Ok((!piece.is_empty()).then_some(Cow::Owned(piece)));
                    }
                    if let Some(end) = record_end(carry, quoted) {
                        let rest_of_it = carry.split_off(end);
                        return Ok(Some(Cow::Owned(std::mem::replace(carry, rest_of_it))));
                    }
                    size = longer(name, size, max_memory)?;
                }
            }
        }
    }
}

fn longer(name: &str, size: usize, max_memory: Option<u64>) -> Result<usize> {
    let (purpose, needed) = (format!("a record of {name}"), 4 * size as u64);
    if let Some(limit) = max_memory.filter(|limit| needed > *limit) {
        return Err(Error::Memory { purpose, needed, limit });
    }
    if size >= MAX_RECORD {
        return Err(Error::data(
            Code::LONG_RECORD,
            format!("a record is longer than {} MiB", MAX_RECORD >> 20),
            Place::file(name),
        ));
    }
    Ok(size * 4)
}

/// One past the last line break of `bytes` that ends a record.
fn record_end(bytes: &[u8], quoted: Option<u8>) -> Option<usize> {
    match quoted {
        Some(delimiter) if memchr::memchr(b'"', bytes).is_some() => {
            let ends = std::iter::successors(record_end_after(bytes, 0, delimiter), |&at| {
                record_end_after(bytes, at, delimiter)
            });
            ends.last()
        }
        _ => memchr::memrchr(b'\n', bytes).map(|at| at + 1),
    }
}

/// One past the line break that ends the record at `start`. A quote opens only at the start of a
/// field; inside quotes a doubled one stands for itself.
pub(crate) fn record_end_after(bytes: &[u8], start: usize, delimiter: u8) -> Option<usize> {
    let mut inside = false;
    let mut skip = usize::MAX;
    for offset in memchr::memchr2_iter(b'"', b'\n', &bytes[start..]) {
        let at = start + offset;
        match bytes[at] {
            _ if at == skip => {}
            b'"' if inside => {
                if bytes.get(at + 1) == Some(&b'"') {
                    skip = at + 1;
                } else {
                    inside = false;
                }
            }
            b'"' => {
                let before = bytes[start..at].iter().rposition(|b| *b != b' ');
                inside = before.is_none_or(|b| bytes[start + b] == delimiter);
            }
            _ if !inside => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Whether a file is one of columns, which is read from its end and in any order.
fn has_columns(file: &mut File) -> io::Result<bool> {
    let mut head = Vec::with_capacity(8);
    file.by_ref().take(8).read_to_end(&mut head)?;
    file.rewind()?;
    Ok(Columnar::is_one(&head))
}

/// Reads until `buffer` holds `size` bytes; true at the end of the stream.
fn fill(reader: &mut dyn Read, buffer: &mut Vec<u8>, size: usize) -> io::Result<bool> {
    let wanted = size.saturating_sub(buffer.len()) as u64;
    buffer.reserve(wanted as usize);
    let got = reader.take(wanted).read_to_end(buffer)? as u64;
    Ok(got < wanted)
}

/// A file that cannot even be begun: its packing is not in this build, or the system refuses.
pub(super) fn begin_error(name: &str, error: io::Error) -> Error {
    match error.kind() {
        _ if was_stopped(&error) => Error::Interrupted,
        io::ErrorKind::Unsupported => {
            let words = "the file is packed in a way that this build cannot undo";
            Problem::new(Code::WRONG_FORMAT, words, Place::file(name))
                .help(error.to_string())
                .into()
        }
        // The first bytes are unpacked at once.
        _ => stream_error(name, error),
    }
}

/// A decoder reports damage as an error of its own kinds; anything else is the system's.
fn stream_error(name: &str, error: io::Error) -> Error {
    use io::ErrorKind::{InvalidData, InvalidInput, Other, UnexpectedEof};
    if let Some(problem) = ndjson::problem_of(&error, name) {
        return problem.into();
    }
    if was_stopped(&error) {
        Error::Interrupted
    } else if matches!(error.kind(), InvalidData | InvalidInput | Other | UnexpectedEof) {
        let words = if error.kind() == UnexpectedEof {
            "the compressed stream ends early".to_owned()
        } else {
            format!("the compressed stream is damaged ({error})")
        };
        Problem::new(Code::DAMAGED, words, Place::file(name))
            .help("fetch or create the file again; gzip -t or zstd -t tells whether it is whole")
            .into()
    } else {
        Error::io("read", Path::new(name), error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces_of(part: &mut Part<'_>, quoted: Option<u8>) -> Vec<Vec<u8>> {
        let mut pieces = part.pieces(0, quoted, None);
        let mut all = Vec::new();
        while let Some(piece) = pieces.next().unwrap() {
            all.push(piece.into_owned());
        }
        all
    }

    #[test]
    fn pieces_end_at_records_and_lose_nothing() {
        let plain: Vec<u8> = (0..400_000).flat_map(|i| format!("{i},x\n").into_bytes()).collect();
        let quoted: Vec<u8> =
            (0..200_000).flat_map(|i| format!("{i},\"a\n\"\"b\"\n").into_bytes()).collect();
        for (text, is_quoted) in [(&plain, false), (&quoted, true)] {
            let reader = Box::new(io::Cursor::new(text.clone()));
            let mut stream = Part::from_reader("t", reader).unwrap();
            assert!(!stream.head(PIECE).unwrap().0.is_empty());
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("t.csv");
            std::fs::write(&path, text).unwrap();
            let mut mapped = Part::open(&path, None).unwrap();
            let from_stream = pieces_of(&mut stream, is_quoted.then_some(b','));
            let from_map = pieces_of(&mut mapped, is_quoted.then_some(b','));
            assert_eq!(from_stream.concat(), *text);
            assert_eq!(from_map.concat(), *text);
            assert!(from_map.len() > 2);
            for piece in &from_map {
                let ending: &[u8] = if is_quoted { b"b\"\n" } else { b"x\n" };
                assert!(piece.ends_with(ending));
            }
        }
    }

    #[test]
    #[cfg(not(feature = "gzip"))]
    fn a_packed_file_is_refused_by_the_name_of_the_feature() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv.gz");
        std::fs::write(&path, [0x1f, 0x8b, 8, 0, 0, 0, 0, 0]).unwrap();
        let Err(Error::Data(error)) = Part::open(&path, None) else { panic!("it was opened") };
        let problem = &error.problems[0];
        assert_eq!(problem.code, Code::WRONG_FORMAT);
        assert!(problem.help.as_ref().unwrap().contains("the feature gzip"), "{problem:?}");
    }

    #[test]
    #[cfg(feature = "gzip")]
    fn a_cut_gzip_is_damaged_data_not_a_system_error() {
        use std::io::Write;
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(&b"1,2,a\n".repeat(10_000)).unwrap();
        let mut bytes = encoder.finish().unwrap();
        bytes.truncate(bytes.len() / 2);
        let mut part = Part::from_reader("t.gz", Box::new(io::Cursor::new(bytes))).unwrap();
        assert_eq!(part.head(PIECE).unwrap_err().code(), Code::DAMAGED);
    }

    #[test]
    fn folders_are_read_in_the_order_of_names_without_markers() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["part-2.csv", "part-1.csv", "_SUCCESS", ".part-1.csv.crc"] {
            std::fs::write(folder.path().join(name), "x").unwrap();
        }
        let names: Vec<String> = files_of(folder.path())
            .unwrap()
            .iter()
            .map(|p| p.file_name().unwrap().to_string_lossy().into_owned())
            .collect();
        assert_eq!(names, ["part-1.csv", "part-2.csv"]);
        let glob = folder.path().join("part-*.csv");
        assert_eq!(files_of(&glob).unwrap().len(), 2);
        assert!(files_of(&folder.path().join("none-*")).is_err());
    }
}
