//! Version 1 of the model file: one JSON object with a line for each field. It is read and never written.

use super::{ModelFile, check_memory, planes, refusal, subjects};
use crate::density::Density;
use crate::file::checkpoint::SavedRun;
use crate::file::container::{check_format, has_checksum, without_repeats};
use crate::model::parts::check_parts;
use crate::model::{LinearModel, Link, Plane, Rule};
use crate::run::Stop;
use linsep_data::error::{Code, Error, Result};
use linsep_data::input::InputMap;
use linsep_proof::{CertificateFile, DataIdentity};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

const FORMAT: &str = "linsep.model/1";

/// Reads and checks the content of a file.
pub(super) fn read(bytes: &[u8], path: &Path, max_memory: u64) -> Result<ModelFile> {
    let refuse = |code, reason: String| Error::Model { code, path: path.to_path_buf(), reason };
    let wire: Wire<'_> = match serde_json::from_slice(bytes) {
        Ok(wire) => wire,
        Err(e) => {
            // Only a file that is of this version is asked to be valid.
            let head: Head = serde_json::from_slice(bytes).map_err(|e| {
                refuse(Code::MODEL_SYNTAX, format!("this is not a linsep model file ({e})"))
            })?;
            check_format(&head.format, FORMAT).map_err(|(code, words)| refuse(code, words))?;
            let words = format!("the file is not a valid model: {e}");
            return Err(refuse(Code::MODEL_SYNTAX, words));
        }
    };
    check_format(&wire.format, FORMAT).map_err(|(code, words)| refuse(code, words))?;
    if !has_checksum(bytes, &wire.sha256) {
        let words =
            "the checksum does not fit the content: the file was changed after it was written";
        return Err(refuse(Code::MODEL_CHECKSUM, words.into()));
    }
    check_memory(wire.planes.len(), wire.input.width(), max_memory)?;
    wire.into_model_file().map_err(|reason| refusal(path, reason))
}

/// Only the format, whatever else is there.
#[derive(Deserialize)]
struct Head {
    format: String,
}

/// The file as it is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire<'a> {
    format: String,
    sha256: String,
    learner: String,
    #[serde(deserialize_with = "without_repeats")]
    parameters: BTreeMap<String, String>,
    seed: u64,
    stop: String,
    epochs: u64,
    updates: u64,
    data: DataIdentity,
    classes: Vec<String>,
    rule: Rule,
    link: Link,
    input: InputMap,
    #[serde(borrow)]
    planes: Vec<planes::Text<'a>>,
    #[serde(default)]
    density: Option<Density>,
    certificate: CertificateFile,
    #[serde(default)]
    run: Option<SavedRun>,
}

impl Wire<'_> {
    fn into_model_file(self) -> std::result::Result<ModelFile, String> {
        let wanted = check_parts(&self.classes, &self.rule, &self.link, &self.input)?;
        if self.planes.len() != wanted {
            return Err(format!(
                "there are {} planes where the rule needs {wanted}",
                self.planes.len()
            ));
        }
        let stop =
            Stop::parse(&self.stop).ok_or_else(|| "the stop reason is unknown".to_owned())?;
        let features = self.input.width();
        let planes: std::result::Result<Vec<Plane>, String> =
            self.planes.iter().map(|plane| plane.read(features)).collect();
        let model = LinearModel {
            planes: planes?,
            rule: self.rule,
            link: self.link,
            classes: self.classes,
            input: self.input,
            decision: None,
        };
        let mut file = ModelFile {
            model,
            certificate: self.certificate,
            learner: self.learner,
            parameters: self.parameters,
            seed: self.seed,
            stop,
            epochs: self.epochs,
            updates: self.updates,
            data: self.data,
            density: self.density,
            run: self.run,
        };
        file.check()?;
        file.certificate = file.certificate.upgraded().map_err(|error| error.to_string())?;
        subjects::put_back(&file.model, &mut file.certificate.claims);
        subjects::bind(&file.model, &mut file.certificate.claims);
        Ok(file)
    }
}
