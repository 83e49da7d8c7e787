//! What the first bytes of a file say that it is.

use linsep::file::ModelFile;
use linsep::{Error, Result};
use std::io::{self, Read};
use std::path::Path;

/// A file that has a form of its own; data has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// A model of linsep.
    Model,
    Certificate,
    Trace,
    /// A model of another program: LIBLINEAR's text, or a JSON of weights.
    Foreign,
    /// An SVG picture.
    Picture,
    /// C source or an ONNX file that `export` wrote.
    Export,
}

impl FileKind {
    /// What a file is. Pipes are not asked: what is read is gone.
    pub(crate) fn of(path: &Path) -> Option<FileKind> {
        start_of(path).ok().flatten().and_then(|start| FileKind::of_start(&start))
    }

    /// What messages call a file of this kind.
    fn words(self) -> &'static str {
        match self {
            FileKind::Model => "a model of linsep",
            FileKind::Certificate => "a certificate",
            FileKind::Trace => "a trace",
            FileKind::Foreign => "a model of another program",
            FileKind::Picture => "an SVG picture",
            FileKind::Export => "an export of linsep",
        }
    }

    /// Refuses to write such a file over one that is something else: no command makes that by itself, so it
    /// may be all that there is of it. Nothing is lost with an empty file.
    pub(crate) fn check_place(self, path: &Path) -> Result<()> {
        let start = start_of(path).map_err(|error| Error::io("read", path, error))?;
        match start.filter(|start| !start.is_empty()) {
            Some(start) if FileKind::of_start(&start) != Some(self) => Err(Error::usage(format!(
                "{} exists and is not {}; give another name, or --force to write over it",
                path.display(),
                self.words()
            ))),
            _ => Ok(()),
        }
    }

    fn of_start(start: &[u8]) -> Option<FileKind> {
        let text = start.trim_ascii_start();
        let names = |word: &str| start.windows(word.len()).any(|part| part == word.as_bytes());
        match text.first() {
            _ if ModelFile::is_one(start) => Some(FileKind::Model),
            Some(b'{') if names("\"linsep.certificate/") => Some(FileKind::Certificate),
            Some(b'{') if names("\"linsep.trace/") => Some(FileKind::Trace),
            Some(b'{') if names("\"linsep.export/") => Some(FileKind::Foreign),
            Some(b'{') if names("\"weights\"") && names("\"classes\"") => Some(FileKind::Foreign),
            _ if text.starts_with(b"solver_type ") => Some(FileKind::Foreign),
            Some(b'<') if names("<svg ") => Some(FileKind::Picture),
            _ if text.starts_with(b"/* linsep.export/") => Some(FileKind::Export),
            // The version of the format, then the program that wrote the file.
            _ if start.starts_with(b"\x08\x07\x12\x06linsep") => Some(FileKind::Export),
            _ => None,
        }
    }
}

/// The first bytes of a regular file; nothing of anything else.
fn start_of(path: &Path) -> io::Result<Option<Vec<u8>>> {
    if !path.is_file() {
        return Ok(None);
    }
    let mut start = Vec::new();
    std::fs::File::open(path)?.take(4096).read_to_end(&mut start)?;
    Ok(Some(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_their_first_bytes() {
        for (text, kind) in [
            ("{\"format\":\"linsep.model/1\"", Some(FileKind::Model)),
            ("{\"format\": \"linsep.certificate/2\"", Some(FileKind::Certificate)),
            ("{\"format\":\"linsep.trace/1\"", Some(FileKind::Trace)),
            ("solver_type L2R_LR\nnr_class 2\n", Some(FileKind::Foreign)),
            ("{\"weights\": [1], \"classes\": [\"a\", \"b\"]}", Some(FileKind::Foreign)),
            ("{\"weights\": 1, \"x\": 2}\n", None),
            ("solver_type,a\n1,2\n", None),
            ("<svg xmlns=", Some(FileKind::Picture)),
            ("/* linsep.export/1: a linear", Some(FileKind::Export)),
            ("\u{8}\u{7}\u{12}\u{6}linsep\u{1a}", Some(FileKind::Export)),
            ("{\"format\":\"linsep.export/1\",", Some(FileKind::Foreign)),
            ("<html>", None),
            ("a,b,label\n1,2,x\n", None),
            ("", None),
        ] {
            assert_eq!(FileKind::of_start(text.as_bytes()), kind, "{text}");
        }
    }
}
