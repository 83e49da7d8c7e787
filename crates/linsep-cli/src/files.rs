//! The files that a command reads and writes. No command writes over what it reads, nor twice to one place.
//!
//! A file is written through an [`Output`] and in no other way, and every output goes through the
//! [`Ledger`] before any work begins: those that arguments name because of their type, those that have a
//! default name when it is given to them. So a new flag is checked without being on a list.
//!
//! Two names mean the same file if they have the same device and inode, which sees through symbolic links,
//! hard links and detours; a file that is still to be made is known by its folder and its name in it.

use crate::kinds::FileKind;
use clap::ArgMatches;
use clap::builder::{OsStringValueParser, PathBufValueParser, TypedValueParser};
use linsep::atomic::write_atomic;
use linsep::{Error, Result};
use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A file to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Output(PathBuf);

impl Output {
    /// The argument that names a file to write.
    pub(crate) fn parser() -> impl TypedValueParser<Value = Output> {
        PathBufValueParser::new().map(Output)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Whether standard output is meant.
    pub(crate) fn is_stdout(&self) -> bool {
        self.0.as_os_str() == "-"
    }

    /// As messages show it.
    pub(crate) fn display(&self) -> std::path::Display<'_> {
        self.0.display()
    }

    /// Refuses a place where something else than such a file is, unless `--force` was given.
    pub(crate) fn check(&self, kind: FileKind, matches: &ArgMatches) -> Result<()> {
        match matches.get_flag("force") || self.is_stdout() {
            true => Ok(()),
            false => kind.check_place(&self.0),
        }
    }

    /// Writes the whole file or nothing.
    pub(crate) fn write(&self, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        write_atomic(&self.0, fill)
    }
}

/// A file to go on with, whose place the output may take.
#[derive(Clone, Debug)]
pub(crate) struct Resumed(pub(crate) PathBuf);

impl Resumed {
    pub(crate) fn parser() -> impl TypedValueParser<Value = Resumed> {
        PathBufValueParser::new().map(Resumed)
    }
}

/// What `--bad-rows` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OnBadRows {
    Error,
    Skip,
    /// They go to this file.
    Reject(Output),
    /// A word that means nothing.
    Unknown(String),
}

impl OnBadRows {
    pub(crate) fn parser() -> impl TypedValueParser<Value = OnBadRows> {
        OsStringValueParser::new().map(|word| OnBadRows::of(&word))
    }

    fn of(word: &OsStr) -> OnBadRows {
        match rest_behind(word, "rejects=") {
            Some(path) if !path.is_empty() => OnBadRows::Reject(Output(path.into())),
            _ if word == "error" => OnBadRows::Error,
            _ if word == "skip" => OnBadRows::Skip,
            _ => OnBadRows::Unknown(word.to_string_lossy().into_owned()),
        }
    }
}

/// What stands behind a prefix, in any encoding.
pub(crate) fn rest_behind(text: &OsStr, prefix: &str) -> Option<OsString> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        let rest = text.as_bytes().strip_prefix(prefix.as_bytes())?;
        Some(OsStr::from_bytes(rest).to_owned())
    }
    #[cfg(not(unix))]
    text.to_str()?.strip_prefix(prefix).map(OsString::from)
}

/// What a command reads and writes, as far as it is known.
#[derive(Default)]
pub(crate) struct Ledger(Mutex<Vec<Entry>>);

struct Entry {
    use_: Use,
    path: PathBuf,
    file: Identity,
}

/// What is done with a file.
#[derive(Clone, PartialEq)]
enum Use {
    Read,
    /// A file to go on with: an output of one of these names may take its place.
    Continue(&'static [&'static str]),
    /// By what name messages call the output: a flag, or words.
    Write(String),
}

impl Ledger {
    /// Notes every file that the arguments of a command name, and the standard streams.
    pub(crate) fn note(&self, matches: &ArgMatches) -> Result<()> {
        for id in matches.ids() {
            let id = id.as_str();
            if let Ok(Some(paths)) = matches.try_get_many::<PathBuf>(id) {
                for path in paths {
                    self.read_all(path)?;
                }
            }
            if let Ok(Some(outputs)) = matches.try_get_many::<Output>(id) {
                for output in outputs {
                    let name = if id == "to" { "the output".into() } else { format!("--{id}") };
                    self.write(name, output)?;
                }
            }
            if let Ok(Some(OnBadRows::Reject(output))) = matches.try_get_one::<OnBadRows>(id) {
                self.write(format!("--{id}"), output)?;
            }
        }
        match stream(&Stream::Out) {
            Some(file) => self.add(Use::Write("standard output".into()), "-".into(), file),
            None => Ok(()),
        }
    }

    /// Notes a file that is read.
    pub(crate) fn read(&self, path: &Path) -> Result<()> {
        self.input(Use::Read, path)
    }

    /// Notes a file that is read and then continued: an output of one of these names may take its place.
    pub(crate) fn continued(&self, path: &Path, by: &'static [&'static str]) -> Result<()> {
        self.input(Use::Continue(by), path)
    }

    /// An output that no argument names; messages call it `name`.
    pub(crate) fn output(&self, name: &str, path: PathBuf) -> Result<Output> {
        let output = Output(path);
        self.write(name.to_owned(), &output)?;
        Ok(output)
    }

    /// A file, all files of a folder, or all that a pattern means.
    fn read_all(&self, path: &Path) -> Result<()> {
        // What cannot be found is for the reader to complain about.
        let files = linsep::data::read::files_of(path).unwrap_or_default();
        files.iter().try_for_each(|file| self.read(file))
    }

    fn input(&self, use_: Use, path: &Path) -> Result<()> {
        let file = match path.as_os_str() == "-" {
            true => stream(&Stream::In),
            false => identity(path).filter(|file| matches!(file, Identity::Existing { .. })),
        };
        file.map_or(Ok(()), |file| self.add(use_, path.to_path_buf(), file))
    }

    fn write(&self, name: String, output: &Output) -> Result<()> {
        if output.is_stdout() {
            return Ok(());
        }
        match identity(&output.0) {
            Some(file) => self.add(Use::Write(name), output.0.clone(), file),
            None => Ok(()),
        }
    }

    fn add(&self, use_: Use, path: PathBuf, file: Identity) -> Result<()> {
        let mut entries: MutexGuard<'_, Vec<Entry>> =
            self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = Entry { use_, path, file };
        let same = entries.iter().filter(|other| other.file == entry.file);
        let conflict = same.filter_map(|other| conflict(other, &entry)).next();
        if let Some(words) = conflict {
            return Err(Error::usage(words));
        }
        entries.push(entry);
        Ok(())
    }
}

/// Why two uses of the same file do not go together.
fn conflict(a: &Entry, b: &Entry) -> Option<String> {
    let read = |name: &String, path: &Path| {
        let path = path.display();
        Some(format!("{name}: {path} is read by this command; write to another file"))
    };
    match (&a.use_, &b.use_) {
        (Use::Write(x), Use::Write(y)) if x == y => None,
        (Use::Write(x), Use::Write(y)) => {
            let path = if b.path.as_os_str() == "-" { &a.path } else { &b.path };
            Some(format!("{y} and {x} both write to {}; give two names", path.display()))
        }
        (Use::Continue(by), Use::Write(name)) | (Use::Write(name), Use::Continue(by))
            if by.contains(&name.as_str()) =>
        {
            None
        }
        (Use::Write(name), _) => read(name, &a.path),
        (_, Use::Write(name)) => read(name, &b.path),
        _ => None,
    }
}

/// What makes two names the same file.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Identity {
    Existing {
        device: u64,
        inode: u64,
    },
    /// A file that is still to be made, in this folder.
    New {
        device: u64,
        inode: u64,
        name: OsString,
    },
    /// Where files have no numbers: the path without links and detours.
    #[cfg_attr(unix, allow(dead_code))]
    Path(PathBuf),
}

/// The file behind a name; none where nothing can be there, and for devices such as `/dev/null`, which any
/// number of outputs may share.
fn identity(path: &Path) -> Option<Identity> {
    if let Ok(metadata) = std::fs::metadata(path) {
        return of_metadata(&metadata, path);
    }
    // A link whose target is missing leads to the place where the file is going to be.
    let mut end = path.to_path_buf();
    for _ in 0..40 {
        let Ok(next) = std::fs::read_link(&end) else { break };
        end = folder(&end).join(next);
    }
    let metadata = std::fs::metadata(folder(&end)).ok()?;
    let name = end.file_name()?.to_owned();
    match of_metadata(&metadata, folder(&end))? {
        Identity::Existing { device, inode } => Some(Identity::New { device, inode, name }),
        Identity::Path(folder) => Some(Identity::Path(folder.join(name))),
        new => Some(new),
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(unix)]
fn of_metadata(metadata: &Metadata, _: &Path) -> Option<Identity> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let shared = metadata.file_type().is_char_device();
    (!shared).then(|| Identity::Existing { device: metadata.dev(), inode: metadata.ino() })
}

#[cfg(not(unix))]
fn of_metadata(_: &Metadata, path: &Path) -> Option<Identity> {
    path.canonicalize().ok().map(Identity::Path)
}

enum Stream {
    In,
    Out,
}

/// The regular file that a standard stream was redirected to.
#[cfg(unix)]
fn stream(which: &Stream) -> Option<Identity> {
    use std::os::fd::AsFd;
    let own = match which {
        Stream::In => io::stdin().as_fd().try_clone_to_owned(),
        Stream::Out => io::stdout().as_fd().try_clone_to_owned(),
    };
    let metadata = std::fs::File::from(own.ok()?).metadata().ok()?;
    of_metadata(&metadata, Path::new("-")).filter(|_| metadata.is_file())
}

#[cfg(not(unix))]
fn stream(_: &Stream) -> Option<Identity> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_for_bad_rows_are_read() {
        let of = |word: &str| OnBadRows::of(OsStr::new(word));
        assert_eq!(of("skip"), OnBadRows::Skip);
        assert_eq!(of("error"), OnBadRows::Error);
        assert_eq!(of("rejects=a.csv"), OnBadRows::Reject(Output("a.csv".into())));
        for word in ["rejects=", "reject=a", ""] {
            assert_eq!(of(word), OnBadRows::Unknown(word.to_owned()));
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_has_one_identity_under_every_name() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("sub")).expect("a folder");
        std::fs::write(at("a"), "x").expect("a file");
        std::fs::hard_link(at("a"), at("hard")).expect("a link");
        symlink("a", at("soft")).expect("a link");
        symlink("sub/new", at("dangling")).expect("a link");
        for name in ["hard", "soft", "sub/../a", "./a"] {
            assert_eq!(identity(&at(name)), identity(&at("a")), "{name}");
        }
        assert_eq!(identity(&at("dangling")), identity(&at("sub/new")));
        assert_ne!(identity(&at("a")), identity(&at("sub/a")));
        assert_eq!(identity(Path::new("/dev/null")), None);
        assert_eq!(identity(&at("none/a")), None);
    }
}
