//! Files that are no text of rows: what they are by their first bytes, and what to do with them.

use super::options::Format;
use crate::error::{Code, Error, Place, Problem};

/// What a file is that is no text of rows, and what to do with it.
pub(super) fn other_format(head: &[u8]) -> Option<(&'static str, &'static str)> {
    const EXPORT: &str = "export the table as CSV or svmlight";
    const COLUMNAR: &str = "build linsep with the feature arrow, or export the table as CSV";
    const SHEET: &str = "open it and save the sheet as CSV (UTF-8)";
    let text = head.trim_ascii_start();
    let follows = |rest: &[u8], wanted: &[u8]| {
        rest.trim_ascii_start().first().is_none_or(|byte| wanted.contains(byte))
    };
    match head {
        _ if head.starts_with(b"PK\x03\x04") => {
            Some(("this is an Excel or OpenDocument file, or a zip archive", SHEET))
        }
        _ if head.starts_with(b"\xd0\xcf\x11\xe0") => {
            Some(("this is an Excel file of the old kind", SHEET))
        }
        // A build with the feature `arrow` reads them before anybody asks here.
        _ if head.starts_with(b"PAR1") => Some(("this is a Parquet file", COLUMNAR)),
        _ if head.starts_with(b"ARROW1") => Some(("this is an Arrow file", COLUMNAR)),
        _ if head.starts_with(b"\x93NUMPY") => Some(("this is a NumPy file", EXPORT)),
        _ if text.strip_prefix(b"[").is_some_and(|rest| follows(rest, b"[{]"))
            || text.strip_prefix(b"{").is_some_and(|rest| follows(rest, b"\"}")) =>
        {
            let help = "write one object in each line, for example with jq -c '.[]', or export a table as CSV";
            Some(("this is a JSON document", help))
        }
        _ => None,
    }
}

/// A text where a file of columns was asked for.
pub(super) fn not_columnar(format: Format, file: &str) -> Error {
    let words = format!("this is not {}", format.word());
    let problem = Problem::new(Code::WRONG_FORMAT, words, Place::file(file));
    problem.help("leave `format` away to have the format found by content").into()
}
