//! Texts in other forms than UTF-8 tables, made into those while they are read: UTF-16 with a byte-order
//! mark, as spreadsheets export it, and lines of JSON objects.

use super::ndjson::Objects;
use std::io::{self, Read};

/// A reader, and what its text was.
pub(super) struct Decoded<'r> {
    pub(super) reader: Box<dyn Read + Send + 'r>,
    pub(super) form: TextForm,
}

/// What a text was before it was decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextForm {
    /// As it is read.
    Plain,
    /// JSON objects, one in each line; a header was made for them.
    Objects,
}

/// Whether these first bytes have to be decoded.
pub(super) fn needs_decoding(head: &[u8]) -> bool {
    is_utf16(head) || starts_with_object(head)
}

/// Makes UTF-8 tables of what a reader gives.
pub(super) fn decoded<'r>(reader: Box<dyn Read + Send + 'r>) -> io::Result<Decoded<'r>> {
    let (head, mut reader) = peeked(reader)?;
    let mut start = head;
    if is_utf16(&start) {
        let big = start[0] == 0xfe;
        (start, reader) = peeked(Box::new(Utf16::new(reader, big)))?;
    }
    match starts_with_object(&start) {
        true => Ok(Decoded { reader: Box::new(Objects::new(reader)), form: TextForm::Objects }),
        false => Ok(Decoded { reader, form: TextForm::Plain }),
    }
}

/// The first bytes, which stay in front.
fn peeked<'r>(
    mut reader: Box<dyn Read + Send + 'r>,
) -> io::Result<(Vec<u8>, Box<dyn Read + Send + 'r>)> {
    const PEEKED: u64 = 1 << 12;
    let mut head = Vec::new();
    reader.by_ref().take(PEEKED).read_to_end(&mut head)?;
    let whole: Box<dyn Read + Send + 'r> = Box::new(io::Cursor::new(head.clone()).chain(reader));
    Ok((head, whole))
}

fn is_utf16(head: &[u8]) -> bool {
    head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff])
}

/// `{"key"`, with the object ending in its line as far as can be seen.
fn starts_with_object(head: &[u8]) -> bool {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let Some(rest) = text.strip_prefix(b"{") else { return false };
    let line_end = memchr::memchr(b'\n', text);
    let closed = line_end.is_none_or(|end| text[..end].trim_ascii_end().ends_with(b"}"));
    closed && matches!(rest.trim_ascii_start().first(), Some(b'"' | b'}'))
}

/// UTF-16 as UTF-8. A half of a pair that stands alone becomes a byte that UTF-8 does not have, so that
/// the parser names its place.
struct Utf16<R> {
    reader: R,
    big: bool,
    bytes: Vec<u8>,
    /// The first half of a pair.
    high: Option<u16>,
    out: io::Cursor<Vec<u8>>,
    ended: bool,
}

const BROKEN: u8 = 0xff;

impl<R: Read> Utf16<R> {
    fn new(reader: R, big: bool) -> Utf16<R> {
        let (bytes, out) = (Vec::new(), io::Cursor::default());
        Utf16 { reader, big, bytes, high: None, out, ended: false }
    }

    fn fill(&mut self) -> io::Result<()> {
        self.out.get_mut().clear();
        self.out.set_position(0);
        let mut buffer = [0; 1 << 14];
        let got = self.reader.read(&mut buffer)?;
        self.ended = got == 0;
        self.bytes.extend_from_slice(&buffer[..got]);
        let even = self.bytes.len() / 2 * 2;
        for pair in self.bytes[..even].chunks_exact(2) {
            let unit = match self.big {
                true => u16::from_be_bytes([pair[0], pair[1]]),
                false => u16::from_le_bytes([pair[0], pair[1]]),
            };
            push(unit, &mut self.high, self.out.get_mut());
        }
        self.bytes.drain(..even);
        if self.ended && (self.high.take().is_some() || !self.bytes.is_empty()) {
            self.bytes.clear();
            self.out.get_mut().push(BROKEN);
        }
        Ok(())
    }
}

fn push(unit: u16, high: &mut Option<u16>, out: &mut Vec<u8>) {
    let encode = |code: u32, out: &mut Vec<u8>| match char::from_u32(code) {
        Some(c) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        None => out.push(BROKEN),
    };
    match (high.take(), unit) {
        (Some(first), 0xdc00..=0xdfff) => {
            let code = 0x10000 + (u32::from(first - 0xd800) << 10) + u32::from(unit - 0xdc00);
            encode(code, out);
        }
        (before, _) => {
            // A half that was not followed by the other.
            if before.is_some() {
                out.push(BROKEN);
            }
            match unit {
                0xd800..=0xdbff => *high = Some(unit),
                0xdc00..=0xdfff => out.push(BROKEN),
                _ => encode(u32::from(unit), out),
            }
        }
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.out.position() == self.out.get_ref().len() as u64 && !self.ended {
            self.fill()?;
        }
        self.out.read(into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: Vec<u8>) -> Vec<u8> {
        let mut text = Vec::new();
        decoded(Box::new(io::Cursor::new(bytes))).unwrap().reader.read_to_end(&mut text).unwrap();
        text
    }

    #[test]
    fn utf_16_of_both_orders_is_read() {
        let text = "größe,κ,𝄞,label\n1,2,3,x\n".repeat(3000);
        let units: Vec<u16> = format!("\u{feff}{text}").encode_utf16().collect();
        let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
        let wanted = format!("\u{feff}{text}").into_bytes();
        assert!(read(little) == wanted && read(big) == wanted);
    }

    #[test]
    fn halves_that_stand_alone_are_broken_bytes() {
        let bytes = |units: &[u16]| units.iter().flat_map(|u| u.to_le_bytes()).collect::<Vec<u8>>();
        let broken = |units: &[u16]| read(bytes(units)).iter().filter(|b| **b == BROKEN).count();
        assert_eq!(broken(&[0xfeff, 0x61, 0xd834]), 1);
        assert_eq!(broken(&[0xfeff, 0xd834, 0x61]), 1);
        assert_eq!(broken(&[0xfeff, 0xdd1e]), 1);
        assert_eq!(broken(&[0xfeff, 0xd834, 0xd834, 0xdd1e]), 1);
        let mut odd = bytes(&[0xfeff, 0x61]);
        odd.push(7);
        assert_eq!(read(odd), "\u{feff}a".bytes().chain([BROKEN]).collect::<Vec<_>>());
    }
}
