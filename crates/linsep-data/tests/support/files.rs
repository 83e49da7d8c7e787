//! Texts as files: reading them, and sending them through the input map of a model.
#![allow(dead_code)] // Each test file uses its own part of this one.

use linsep_data::read::{ReadOptions, ReadResult, read};
use linsep_data::write::{Packer, Packing};
use linsep_data::{Dataset, Error, Result};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A folder with files, removed at the end of the test.
pub(crate) struct Files {
    folder: tempfile::TempDir,
    pub(crate) paths: Vec<PathBuf>,
}

impl Files {
    pub(crate) fn new(files: &[(&str, &[u8])]) -> Files {
        let folder = tempfile::tempdir().unwrap();
        let write = |(name, bytes): &(&str, &[u8])| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        };
        let paths = files.iter().map(write).collect();
        Files { folder, paths }
    }

    /// The folder itself.
    pub(crate) fn folder(&self) -> PathBuf {
        self.folder.path().to_path_buf()
    }

    pub(crate) fn read(&self, set: impl FnOnce(&mut ReadOptions)) -> Result<ReadResult> {
        read(&self.paths, &options(set))
    }
}

/// Writes a file through a packer.
pub(crate) fn pack(path: &Path, packing: Packing, fill: impl FnOnce(&mut dyn Write)) {
    let mut packer = Packer::new(std::fs::File::create(path).unwrap(), packing).unwrap();
    fill(&mut packer);
    packer.finish().unwrap();
}

/// The default options with some changes.
pub(crate) fn options(set: impl FnOnce(&mut ReadOptions)) -> ReadOptions {
    let mut options = ReadOptions::default();
    set(&mut options);
    options
}

/// Reads one text with the default options.
pub(crate) fn read_text(text: &str) -> ReadResult {
    read_with(text, |_| ()).unwrap_or_else(|e| panic!("{e}\nin {text}"))
}

pub(crate) fn read_with(
    text: impl AsRef<[u8]>,
    set: impl FnOnce(&mut ReadOptions),
) -> Result<ReadResult> {
    Files::new(&[("data.txt", text.as_ref())]).read(set)
}

/// The error of reading a text.
pub(crate) fn error_of(text: impl AsRef<[u8]>, set: impl FnOnce(&mut ReadOptions)) -> Error {
    let shown = String::from_utf8_lossy(text.as_ref()).into_owned();
    read_with(text, set).err().unwrap_or_else(|| panic!("accepted: {shown}"))
}

pub(crate) fn rows_of(data: &Dataset) -> Vec<Vec<f64>> {
    (0..data.n_rows()).map(|row| data.row(row)).collect()
}

pub(crate) fn labels_of(data: &Dataset) -> Vec<&str> {
    (0..data.n_rows()).map(|row| data.label_text(row)).collect()
}
