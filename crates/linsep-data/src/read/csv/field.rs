//! The fields of delimited text: where they end, quotes, and what is wrong with a number.

use crate::error::Code;
use crate::read::block::Fault;
use crate::read::forms::Form;
use crate::read::number;
use std::borrow::Cow;
use std::ops::Range;

/// One field, unquoted, with its place in the piece.
pub(super) struct Field<'a> {
    pub(super) text: Cow<'a, [u8]>,
    pub(super) span: Range<usize>,
    pub(super) end: End,
}

impl<'a> Field<'a> {
    pub(super) fn read(
        piece: &'a [u8],
        start: usize,
        delimiter: u8,
        f: usize,
    ) -> Result<Field<'a>, Fault> {
        let open = skip_blanks(piece, start);
        if piece.get(open) != Some(&b'"') {
            let len = memchr::memchr2(delimiter, b'\n', &piece[start..]);
            let stop = len.map_or(piece.len(), |len| start + len);
            let (text_end, end) = match piece.get(stop) {
                Some(b'\n') => {
                    let before = stop - usize::from(stop > start && piece[stop - 1] == b'\r');
                    (before, End { next: stop + 1, last: true })
                }
                Some(_) => (stop, End { next: stop + 1, last: false }),
                None => (stop, End { next: stop, last: true }),
            };
            return Ok(Field {
                text: Cow::Borrowed(&piece[start..text_end]),
                span: start..text_end,
                end,
            });
        }
        let mut text = Vec::new();
        let mut at = open + 1;
        loop {
            let Some(len) = memchr::memchr(b'"', &piece[at..]) else {
                return Err(Fault::new(
                    Code::OPEN_QUOTE,
                    Some(f),
                    open..piece.len().min(open + 20),
                )
                .help("double every quote inside a quoted field"));
            };
            text.extend_from_slice(&piece[at..at + len]);
            at += len + 1;
            if piece.get(at) != Some(&b'"') {
                break;
            }
            text.push(b'"');
            at += 1;
        }
        let span = open..at;
        match field_end(piece, skip_blanks(piece, at), delimiter) {
            Some(end) => Ok(Field { text: Cow::Owned(text), span, end }),
            None => Err(Fault::new(Code::STRAY_QUOTE, Some(f), span)
                .help("double every quote inside a quoted field")),
        }
    }
}

/// The text of the number in the field at `at`.
pub(super) fn number_at(piece: &[u8], at: usize) -> &[u8] {
    let text = &piece[skip_blanks(piece, at)..];
    let len = text.iter().position(|b| !(b.is_ascii_digit() || b"+-.eE".contains(b)));
    &text[..len.unwrap_or(text.len())]
}

/// The end of a field at `at`, if there is one.
#[inline]
pub(super) fn field_end(piece: &[u8], at: usize, delimiter: u8) -> Option<End> {
    match piece.get(at) {
        None => Some(End { next: at, last: true }),
        Some(&b) if b == delimiter => Some(End { next: at + 1, last: false }),
        Some(b'\n') => Some(End { next: at + 1, last: true }),
        Some(b'\r') => match piece.get(at + 1) {
            None => Some(End { next: at + 1, last: true }),
            Some(b'\n') => Some(End { next: at + 2, last: true }),
            Some(_) => None,
        },
        Some(_) => None,
    }
}

#[inline]
pub(super) fn skip_blanks(piece: &[u8], mut at: usize) -> usize {
    while piece.get(at) == Some(&b' ') {
        at += 1;
    }
    at
}

/// Where the next record starts if this line holds nothing.
pub(crate) fn blank_line(piece: &[u8], start: usize) -> Option<usize> {
    let at = skip_blanks(piece, start);
    match (piece.get(at), piece.get(at + 1)) {
        (None, _) => Some(at),
        (Some(b'\n'), _) => Some(at + 1),
        (Some(b'\r'), None) => Some(at + 1),
        (Some(b'\r'), Some(b'\n')) => Some(at + 2),
        _ => None,
    }
}

/// Where the record after the one at `start` starts, whatever is wrong with this one.
pub(super) fn record_end(piece: &[u8], start: usize, delimiter: u8) -> usize {
    crate::read::source::record_end_after(piece, start, delimiter).unwrap_or(piece.len())
}

/// Writes a field of a table, in double quotes where it needs them.
pub fn quote(field: &str, delimiter: u8, text: &mut Vec<u8>) {
    let plain = !field.bytes().any(|b| b == delimiter || matches!(b, b'"' | b'\n' | b'\r'))
        && field.trim() == field;
    if plain {
        text.extend_from_slice(field.as_bytes());
        return;
    }
    text.push(b'"');
    for byte in field.bytes() {
        if byte == b'"' {
            text.push(b'"');
        }
        text.push(byte);
    }
    text.push(b'"');
}

/// How a field ends: where the next one starts, and whether the record ends too.
#[derive(Clone, Copy)]
pub(super) struct End {
    pub(super) next: usize,
    pub(super) last: bool,
}

/// Why a text is no number, and what to do about it; `{column}` stands for the column's name.
pub(crate) fn number_fault(
    fault: number::Fault,
    text: &[u8],
    field: usize,
    span: Range<usize>,
) -> Fault {
    let form = std::str::from_utf8(text).ok().and_then(Form::of);
    if let Some(form) = form.filter(|_| fault == number::Fault::NotANumber) {
        return Fault::new(Code::NOT_A_NUMBER, Some(field), span)
            .message(format!("{form} in a feature column"))
            .help(form.help("{column}"));
    }
    let code = match fault {
        number::Fault::NotANumber => Code::NOT_A_NUMBER,
        number::Fault::NotFinite => Code::NOT_FINITE,
        number::Fault::OutOfRange => Code::OUT_OF_RANGE,
        number::Fault::InexactInteger => Code::INEXACT_INTEGER,
    };
    let help = match fault {
        number::Fault::NotFinite => {
            "repair the value, or treat NaN as missing with `missing=drop-row|median|mean|zero`"
        }
        number::Fault::OutOfRange => "rescale the column so that it fits binary64",
        number::Fault::InexactInteger => {
            "leave the column out with `drop`, or round with `allow-lossy`"
        }
        number::Fault::NotANumber => {
            "skip such rows with `bad-rows=skip` `allow-bad=N`, or save them with `bad-rows=rejects=FILE`"
        }
    };
    Fault::new(code, Some(field), span).help(help)
}

/// A value that is not there.
pub(crate) fn missing_fault(field: usize, span: Range<usize>) -> Fault {
    Fault::new(Code::MISSING, Some(field), span)
        .help("choose `missing=drop-row`, median, mean, mode or zero")
}
