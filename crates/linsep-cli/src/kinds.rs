//! What the first bytes of a file say that it is.

use linsep::file::ModelFile;
use std::io::Read;
use std::path::Path;

/// A file that has a form of its own; data has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A model of linsep.
    Model,
    Certificate,
    Trace,
    /// A model of another program: LIBLINEAR's text, or a JSON of weights.
    Foreign,
}

impl Kind {
    /// What a file is. Pipes are not asked: what is read is gone.
    pub(crate) fn of(path: &Path) -> Option<Kind> {
        start_of(path).and_then(|start| Kind::of_start(&start))
    }

    fn of_start(start: &[u8]) -> Option<Kind> {
        let text = start.trim_ascii_start();
        let names = |word: &str| start.windows(word.len()).any(|part| part == word.as_bytes());
        match text.first() {
            _ if ModelFile::is_one(start) => Some(Kind::Model),
            Some(b'{') if names("\"linsep.certificate/") => Some(Kind::Certificate),
            Some(b'{') if names("\"linsep.trace/") => Some(Kind::Trace),
            Some(b'{') if names("\"weights\"") && names("\"classes\"") => Some(Kind::Foreign),
            _ if text.starts_with(b"solver_type ") => Some(Kind::Foreign),
            _ => None,
        }
    }
}

/// The first bytes of a regular file.
fn start_of(path: &Path) -> Option<Vec<u8>> {
    if !path.is_file() {
        return None;
    }
    let mut start = Vec::new();
    let file = std::fs::File::open(path).ok()?;
    file.take(4096).read_to_end(&mut start).ok().map(|_| start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_their_first_bytes() {
        for (text, kind) in [
            ("{\"format\":\"linsep.model/1\"", Some(Kind::Model)),
            ("{\"format\": \"linsep.certificate/2\"", Some(Kind::Certificate)),
            ("{\"format\":\"linsep.trace/1\"", Some(Kind::Trace)),
            ("solver_type L2R_LR\nnr_class 2\n", Some(Kind::Foreign)),
            ("{\"weights\": [1], \"classes\": [\"a\", \"b\"]}", Some(Kind::Foreign)),
            ("{\"weights\": 1, \"x\": 2}\n", None),
            ("solver_type,a\n1,2\n", None),
            ("a,b,label\n1,2,x\n", None),
            ("", None),
        ] {
            assert_eq!(Kind::of_start(text.as_bytes()), kind, "{text}");
        }
    }
}
