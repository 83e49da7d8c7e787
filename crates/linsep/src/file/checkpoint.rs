//! The checkpoint file: a run on its way, so that it can be gone on with after whatever ended it.
//!
//! One JSON object of the format `linsep.checkpoint/1`, one line for each field, with the same checksum
//! as [the model file](crate::file). It holds the learner with its parameters and seed, the limits,
//! the digest of the data, how the columns are read, and the saved state; no model and no claim. The
//! reader is as strict as that of models. It is written atomically, so what is there is always whole.
//!
//! What is proved: a run that is restored from its state goes through the same bits as one that was
//! never interrupted (`tests/learners/pausing.rs`), so its model file has the same bytes.

use crate::file::{DataIdentity, has_checksum, sealed, without_repeats};
use crate::model::Plane;
use crate::run::State;
use linsep_data::atomic::write_atomic;
use linsep_data::error::{Code, Error, Result};
use linsep_data::input::InputMap;
use linsep_proof::ReadingField;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The format that this version writes.
const FORMAT: &str = "linsep.checkpoint/1";

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

/// What it takes to go on with a run, beside its learner and its data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SavedRun {
    /// Visits of the rows of its data.
    pub visits: u64,
    /// What was done before on other data.
    #[serde(default, skip_serializing_if = "Earlier::is_nothing")]
    pub earlier: Earlier,
    /// The share of the rows that was set aside for testing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_out: Option<f64>,
    /// Whether each row was seen once, part by part, so that the state is not one of the whole data.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stream: bool,
    /// The rates, where a table of them was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rates: Option<Vec<f64>>,
    /// The start, where planes were given: weights and bias of each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Vec<(Vec<f64>, f64)>>,
    /// The state, as [`crate::Training::save`] gives it.
    pub state: State,
}

linsep_proof::setters! {
    SavedRun {
        with_visits => visits: u64,
        with_earlier => earlier: Earlier,
        with_held_out => held_out: Option<f64>,
        with_stream => stream: bool,
        with_rates => rates: Option<Vec<f64>>,
        with_start => start: Option<Vec<(Vec<f64>, f64)>>,
        with_state => state: State,
    }
}

/// Counters of what a run did on other data before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Earlier {
    /// Full passes.
    pub epochs: u64,
    /// Visits of a row.
    pub visits: u64,
    /// Corrections of the weights.
    pub updates: u64,
}

linsep_proof::setters! {
    Earlier {
        with_epochs => epochs: u64,
        with_visits => visits: u64,
        with_updates => updates: u64,
    }
}

impl Earlier {
    /// Whether there was nothing.
    pub fn is_nothing(&self) -> bool {
        *self == Earlier::default()
    }
}

impl SavedRun {
    /// A run in this state that had no other data before.
    pub fn new(visits: u64, state: State) -> SavedRun {
        let (earlier, held_out, stream) = (Earlier::default(), None, false);
        SavedRun { visits, earlier, held_out, stream, rates: None, start: None, state }
    }

    /// The planes that were given as the start.
    pub fn start_planes(&self) -> Option<Vec<Plane>> {
        let plane =
            |(weights, bias): &(Vec<f64>, f64)| Plane { weights: weights.clone(), bias: *bias };
        self.start.as_ref().map(|planes| planes.iter().map(plane).collect())
    }

    /// Keeps the planes that were given as the start.
    pub fn keep_start(&mut self, planes: Option<&[Plane]>) {
        let pair = |plane: &Plane| (plane.weights.clone(), plane.bias);
        self.start = planes.map(|planes| planes.iter().map(pair).collect());
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
        let text = self.to_json();
        write_atomic(path, |out| out.write_all(text.as_bytes()))
    }

    /// The content of the file.
    pub fn to_json(&self) -> String {
        fn json(value: &impl Serialize) -> Vec<String> {
            vec![serde_json::to_string(value).unwrap_or_default()]
        }
        sealed(vec![
            ("format", json(&FORMAT)),
            ("sha256", json(&"")),
            ("learner", json(&self.learner)),
            ("parameters", json(&self.parameters)),
            ("seed", json(&self.seed)),
            ("limits", json(&self.limits)),
            ("data", json(&self.data)),
            ("reading", json(&self.reading)),
            ("classes", json(&self.classes)),
            ("input", json(&self.input)),
            ("run", json(&self.run)),
        ])
        .concat()
    }

    /// Whether the content of a file says that it is a checkpoint, of whatever version.
    pub fn is_one(bytes: &[u8]) -> bool {
        let head: std::result::Result<Head, _> = serde_json::from_slice(bytes);
        head.is_ok_and(|head| head.format.starts_with("linsep.checkpoint/"))
            || String::from_utf8_lossy(&bytes[..bytes.len().min(200)])
                .contains("linsep.checkpoint/")
    }

    /// Reads and checks the content of a file that is called `path` in messages.
    pub fn from_json(bytes: &[u8], path: &Path) -> Result<Checkpoint> {
        let refuse = |code, reason: String| Error::Model { code, path: path.to_path_buf(), reason };
        let head: Head = serde_json::from_slice(bytes).map_err(|e| {
            refuse(Code::MODEL_SYNTAX, format!("this is not a linsep checkpoint ({e})"))
        })?;
        if head.format != FORMAT {
            let found = linsep_data::error::printable(head.format.as_bytes(), 40);
            let words = "is not of the version that this program reads, which is";
            return Err(refuse(
                Code::MODEL_VERSION,
                format!("the format \"{found}\" {words} {FORMAT}"),
            ));
        }
        let wire: Wire = serde_json::from_slice(bytes).map_err(|e| {
            refuse(Code::MODEL_SYNTAX, format!("the file is not a valid checkpoint: {e}"))
        })?;
        if !has_checksum(bytes, &wire.sha256) {
            let words =
                "the checksum does not fit the content: the file was changed after it was written";
            return Err(refuse(Code::MODEL_CHECKSUM, words.into()));
        }
        if wire.input.features > bytes.len() {
            // Every plane of the state has a number for each of them.
            let words = "there are more features than the state can have weights";
            return Err(refuse(Code::MODEL_CONTENT, words.into()));
        }
        wire.into_checkpoint().map_err(|reason| refuse(Code::MODEL_CONTENT, reason))
    }
}

/// Only the format, whatever else is there.
#[derive(Deserialize)]
struct Head {
    format: String,
}

/// The file as it is read.
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

impl Wire {
    fn into_checkpoint(self) -> std::result::Result<Checkpoint, String> {
        self.input.check()?;
        if self.classes.len() < 2 {
            return Err("there are fewer than two classes".into());
        }
        Ok(Checkpoint {
            learner: self.learner,
            parameters: self.parameters,
            seed: self.seed,
            limits: self.limits,
            data: self.data,
            reading: self.reading,
            classes: self.classes,
            input: self.input,
            run: self.run,
        })
    }
}
