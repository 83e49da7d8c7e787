//! The checkpoint file: a run on its way, so that it can be gone on with after whatever ended it.
//!
//! A safetensors file of the format `linsep.checkpoint/2`, as [the container](crate::file::container) writes it,
//! with a checksum inside. It holds the learner with its parameters and seed, the limits, the digest of the
//! data, how the columns are read, and the saved state; no model and no claim. The reader is as strict as
//! that of models. It is written atomically, so what is there is always whole. Version 1, one JSON object, is
//! read as ever and written no more.
//!
//! What is proved: a run that is restored from its state goes through the same bits as one that was
//! never interrupted (`tests/learners/pausing.rs`), so its model file has the same bytes.

mod saved_run;

pub(crate) use saved_run::RunFields;
pub use saved_run::{Earlier, SavedRun};

use crate::file::container::{
    self, Builder, Container, check_format, has_checksum, without_repeats,
};
use linsep_data::atomic::write_atomic;
use linsep_data::error::{Code, Error, Result};
use linsep_data::input::InputMap;
use linsep_proof::{DataIdentity, ReadingField, form};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The format that this version writes.
const FORMAT: &str = "linsep.checkpoint/2";
const FORMAT_1: &str = "linsep.checkpoint/1";

/// A run on its way with everything that it takes to go on.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Checkpoint {
    /// The learner's name.
    pub learner: String,
    /// The learner's parameters, defaults included.
    pub parameters: BTreeMap<String, String>,
    /// The seed of everything random.
    pub seed: u64,
    /// What ends the run.
    pub limits: SavedLimits,
    /// Which data it learns from.
    pub data: DataIdentity,
    /// How exact proofs understand the numbers.
    pub reading: ReadingField,
    /// The class names.
    pub classes: Vec<String>,
    /// How columns become features.
    pub input: InputMap,
    /// How far it is.
    pub run: SavedRun,
}

/// The limits of a run that is saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SavedLimits {
    /// Full passes over the rows.
    pub epochs: Option<u64>,
    /// Corrections of the weights.
    pub updates: Option<u64>,
    /// Whether the limit on epochs was asked for.
    pub given: bool,
}

linsep_proof::setters! {
    SavedLimits {
        with_epochs => epochs: Option<u64>,
        with_updates => updates: Option<u64>,
        with_given => given: bool,
    }
}

impl Checkpoint {
    /// A checkpoint of a run on this data.
    pub fn new(
        (learner, parameters, seed): (&str, BTreeMap<String, String>, u64),
        limits: SavedLimits,
        (data, reading): (DataIdentity, ReadingField),
        (classes, input): (Vec<String>, InputMap),
        run: SavedRun,
    ) -> Checkpoint {
        let learner = learner.to_owned();
        Checkpoint { learner, parameters, seed, limits, data, reading, classes, input, run }
    }

    /// Writes the file in one step: either the whole new file is there afterwards or the old one.
    pub fn save(&self, path: &Path) -> Result<()> {
        let bytes = self.to_bytes().map_err(|reason| {
            let path = path.to_path_buf();
            Error::Model { code: Code::MODEL_CONTENT, path, reason }
        })?;
        write_atomic(path, |out| out.write_all(&bytes))
    }

    /// The content of the file, or why there is none.
    pub fn to_bytes(&self) -> std::result::Result<Vec<u8>, String> {
        let mut parts = Builder::default();
        parts.json("classes", &self.classes);
        parts.json("input", &self.input);
        let metadata = Metadata {
            format: FORMAT.to_owned(),
            learner: self.learner.clone(),
            parameters: self.parameters.clone(),
            seed: self.seed,
            limits: self.limits,
            data: self.data.clone(),
            reading: self.reading.clone(),
            run: self.run.write(&mut parts, &[]),
        };
        parts.seal(&metadata).ok_or_else(|| "the settings are too long for the header".to_owned())
    }

    /// Whether the content of a file says that it is a checkpoint, of whatever version.
    pub fn is_one(bytes: &[u8]) -> bool {
        let is_name = |format: String| format.starts_with("linsep.checkpoint/");
        match container::is_container(bytes) {
            true => container::format_of(bytes).is_some_and(is_name),
            false => is_version_1(bytes),
        }
    }

    /// Reads and checks the content of a file that is called `path` in messages.
    pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<Checkpoint> {
        match container::is_container(bytes) {
            true => read_version_2(bytes, path),
            false => read_version_1(bytes, path),
        }
    }

    /// The checkpoint, if its parts fit together.
    fn checked(self) -> std::result::Result<Checkpoint, String> {
        self.input.check()?;
        match self.classes.len() < 2 {
            true => Err("there are fewer than two classes".into()),
            false => Ok(self),
        }
    }
}

fn is_version_1(bytes: &[u8]) -> bool {
    let head: std::result::Result<Head, _> = serde_json::from_slice(bytes);
    let start = &bytes[..bytes.len().min(200)];
    head.is_ok_and(|head| head.format.starts_with("linsep.checkpoint/"))
        || memchr::memmem::find(start, b"linsep.checkpoint/").is_some()
}

/// The metadata: everything that is short.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Metadata {
    format: String,
    learner: String,
    parameters: BTreeMap<String, String>,
    seed: u64,
    limits: SavedLimits,
    data: DataIdentity,
    reading: ReadingField,
    run: RunFields,
}

fn read_version_2(bytes: &[u8], path: &Path) -> Result<Checkpoint> {
    let refuse = |code, reason: String| Error::Model { code, path: path.to_path_buf(), reason };
    let invalid = |reason: String| {
        refuse(Code::MODEL_SYNTAX, format!("the file is not a valid checkpoint: {reason}"))
    };
    let mut parts = Container::open(bytes, FORMAT, path)?;
    let metadata: Metadata = form::strict(parts.metadata.as_bytes()).map_err(invalid)?;
    let missing = |name: &str| invalid(format!("there is no tensor \"{name}\""));
    let classes = parts.json("classes").map_err(invalid)?.ok_or_else(|| missing("classes"))?;
    let input: InputMap = parts.json("input").map_err(invalid)?.ok_or_else(|| missing("input"))?;
    let contradicts = |reason| refuse(Code::MODEL_CONTENT, reason);
    let run = SavedRun::read(metadata.run, &mut parts, &[]).map_err(contradicts)?;
    parts.finish().map_err(invalid)?;
    let checkpoint = Checkpoint {
        learner: metadata.learner,
        parameters: metadata.parameters,
        seed: metadata.seed,
        limits: metadata.limits,
        data: metadata.data,
        reading: metadata.reading,
        classes,
        input,
        run,
    };
    check_width(&checkpoint.input, bytes).and_then(|()| checkpoint.checked()).map_err(contradicts)
}

/// Every plane of the state has a number for each feature, so that a file has no fewer bytes than those.
fn check_width(input: &InputMap, bytes: &[u8]) -> std::result::Result<(), String> {
    match input.features > bytes.len() {
        true => Err("there are more features than the state can have weights".into()),
        false => Ok(()),
    }
}

fn read_version_1(bytes: &[u8], path: &Path) -> Result<Checkpoint> {
    let refuse = |code, reason: String| Error::Model { code, path: path.to_path_buf(), reason };
    let head: Head = serde_json::from_slice(bytes).map_err(|e| {
        refuse(Code::MODEL_SYNTAX, format!("this is not a linsep checkpoint ({e})"))
    })?;
    check_format(&head.format, FORMAT_1).map_err(|(code, words)| refuse(code, words))?;
    let wire: Wire = serde_json::from_slice(bytes).map_err(|e| {
        refuse(Code::MODEL_SYNTAX, format!("the file is not a valid checkpoint: {e}"))
    })?;
    if !has_checksum(bytes, &wire.sha256) {
        let words =
            "the checksum does not fit the content: the file was changed after it was written";
        return Err(refuse(Code::MODEL_CHECKSUM, words.into()));
    }
    let checkpoint = check_width(&wire.input, bytes).and_then(|()| {
        Checkpoint {
            learner: wire.learner,
            parameters: wire.parameters,
            seed: wire.seed,
            limits: wire.limits,
            data: wire.data,
            reading: wire.reading,
            classes: wire.classes,
            input: wire.input,
            run: wire.run,
        }
        .checked()
    });
    checkpoint.map_err(|reason| refuse(Code::MODEL_CONTENT, reason))
}

/// Only the format, whatever else is there.
#[derive(Deserialize)]
struct Head {
    format: String,
}

/// A file of version 1 as it is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    #[serde(rename = "format")]
    _format: String,
    sha256: String,
    learner: String,
    #[serde(deserialize_with = "without_repeats")]
    parameters: BTreeMap<String, String>,
    seed: u64,
    limits: SavedLimits,
    data: DataIdentity,
    reading: ReadingField,
    classes: Vec<String>,
    input: InputMap,
    run: SavedRun,
}
