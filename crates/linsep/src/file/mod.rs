//! The model file `.linsep`, version 2: a safetensors file with a checksum inside, see
//! [the container](crate::file::container). Any safetensors reader loads the weights.
//!
//! | tensor | type | what |
//! |---|---|---|
//! | `weights` | F64 [K, d] | the weights of K planes |
//! | `indptr`, `indices`, `values` | I64 `[K + 1]`, I64 `[n]`, F64 `[n]` | instead of `weights`: compressed sparse rows |
//! | `bias` | F64 `[K]` | the biases |
//! | `votes`, `ballots` | I64 | the votes of each plane, and where the planes of each score begin |
//! | `classes`, `input`, `certificate`, `density` | U8 | JSON texts |
//! | `state`, `rates`, `start_weights`, `start_bias` | U8, F64 | what it takes to go on with a run |
//! | `sha256` | U8 `[32]` | the checksum |
//!
//! The metadata has the rest as one JSON text. Planes stand once: claims about them refer to them.
//!
//! The reader is strict: unknown or repeated fields, other versions, a checksum that does not fit, numbers
//! that are not finite, lengths that disagree and bytes behind the last tensor are all refused. There are no
//! types, code or paths inside. Version 1, one JSON object, is read as ever and written no more.

pub mod checkpoint;
pub(crate) mod container;
mod planes;
mod subjects;
mod version1;
mod version2;

use crate::file::checkpoint::SavedRun;
use linsep_data::atomic::write_atomic;

use crate::density::Density;
use crate::model::{LinearModel, StreamModel};
use crate::run::{Certificate, Progress, Stop};
use linsep_data::basis::Basis;
use linsep_data::error::{Code, Error, Result};
use linsep_data::read::map_file;
pub use linsep_proof::DataIdentity;
use linsep_proof::{CertificateFile, InputField, ReadingField};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
pub use subjects::Subject;

/// The format that this version writes.
pub const FORMAT: &str = "linsep.model/2";

/// A model with everything that is known about how it came to be.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ModelFile {
    /// The model.
    pub model: LinearModel,
    /// What is proved about it, together with the data that the claims speak of.
    pub certificate: CertificateFile,
    /// The learner's name.
    pub learner: String,
    /// The learner's parameters, defaults included.
    pub parameters: BTreeMap<String, String>,
    /// The seed of everything random.
    pub seed: u64,
    /// Why training ended.
    pub stop: Stop,
    /// Full passes over the rows.
    pub epochs: u64,
    /// Corrections of the weights.
    pub updates: u64,
    /// Which data it was trained on.
    pub data: DataIdentity,
    /// How rows come about, if the learner was a generative one.
    pub density: Option<Density>,
    /// What it takes to go on with the run; `None` for learners that solve in one go.
    pub run: Option<SavedRun>,
}

impl ModelFile {
    /// A model file for a finished fit on `data`.
    pub fn new(
        model: LinearModel,
        certificate: Certificate,
        learner: &str,
        parameters: BTreeMap<String, String>,
        seed: u64,
        (stop, progress): (Stop, Progress),
        (data, reading): (DataIdentity, ReadingField),
    ) -> ModelFile {
        let Progress { epochs, updates, .. } = progress;
        let learner = learner.to_owned();
        let mut certificate = CertificateFile::new(data.clone(), reading, true, certificate);
        certificate.basis = model.input.basis.as_ref().map(Basis::claimed);
        subjects::bind(&model, &mut certificate.claims);
        let (density, run) = (None, None);
        ModelFile {
            model,
            certificate,
            learner,
            parameters,
            seed,
            stop,
            epochs,
            updates,
            data,
            density,
            run,
        }
    }

    /// Writes the file in one step: either the whole new file is there afterwards or the old one.
    ///
    /// A claim about other planes than the model's is written as `unproved`.
    pub fn save(&self, path: &Path) -> Result<()> {
        let bytes = self.to_bytes().map_err(|reason| refusal(path, reason))?;
        write_atomic(path, |out| out.write_all(&bytes))
    }

    /// The content of the file, or why there is none.
    pub fn to_bytes(&self) -> std::result::Result<Vec<u8>, String> {
        version2::write(self)
    }

    /// Reads and checks a file. `max_memory` bounds what the file may make this program hold.
    pub fn load(path: &Path, max_memory: Option<u64>) -> Result<ModelFile> {
        with_content(path, max_memory, ModelFile::from_bytes)
    }

    /// Reads the model of a file and leaves the rest of it alone: certificate, density and run are covered
    /// by the checksum, but not looked at.
    pub fn load_model(path: &Path, max_memory: Option<u64>) -> Result<LinearModel> {
        with_content(path, max_memory, |bytes, path, limit| match container::is_container(bytes) {
            true => version2::read_model(bytes, path, limit),
            false => version1::read(bytes, path, limit).map(|file| file.model),
        })
    }

    /// The same for a model that only scores.
    #[doc(hidden)]
    pub fn load_stream_model(path: &Path, max_memory: Option<u64>) -> Result<StreamModel> {
        with_content(path, max_memory, |bytes, path, limit| match container::is_container(bytes) {
            true => version2::read_stream_model(bytes, path, limit),
            false => version1::read(bytes, path, limit).map(|file| file.model.into()),
        })
    }

    /// Reads and checks the content of a file that is called `path` in messages.
    pub fn from_bytes(bytes: &[u8], path: &Path, max_memory: u64) -> Result<ModelFile> {
        match container::is_container(bytes) {
            true => version2::read(bytes, path, max_memory),
            false => version1::read(bytes, path, max_memory),
        }
    }

    /// Whether the content of a file, or its first 200 bytes, says that it is a model, of whatever version.
    pub fn is_one(bytes: &[u8]) -> bool {
        let start = &bytes[..bytes.len().min(200)];
        let names = memchr::memmem::find(start, b"linsep.model/").is_some();
        let text = start.trim_ascii_start().starts_with(b"{");
        match container::is_container(bytes) {
            true => {
                names || container::format_of(bytes).is_some_and(|f| f.starts_with("linsep.model/"))
            }
            false => text && names,
        }
    }

    /// What each claim of the certificate is about.
    pub fn subjects(&self) -> Vec<Subject> {
        self.certificate.claims.iter().map(|claim| Subject::of(&self.model, claim)).collect()
    }

    /// The certificate with its claims about the planes of the model made about those of another one, which
    /// has as many planes, the same classes and the same columns. Whether they hold is for the checker to say.
    pub(crate) fn certificate_about(&self, other: &LinearModel) -> CertificateFile {
        let mut certificate = self.certificate.clone();
        subjects::turn_to(other, &self.model, &mut certificate.claims);
        certificate.input = InputField::of(&other.input);
        certificate
    }

    /// Refuses parts that do not fit together.
    fn check(&self) -> std::result::Result<(), String> {
        let CertificateFile { data, input, basis, .. } = &self.certificate;
        if self.data.sha256.len() != 64 || !self.data.sha256.bytes().all(|b| b.is_ascii_hexdigit())
        {
            return Err("the digest of the data is not a SHA-256".into());
        }
        self.certificate.check_form().map_err(|e| e.to_string())?;
        if *data != self.data || input.is_some() {
            return Err("the certificate speaks of other data".into());
        }
        if *basis != self.model.input.basis.as_ref().map(Basis::claimed) {
            return Err("the certificate speaks of another basis".into());
        }
        match &self.density {
            Some(density) => density.check(self.model.classes.len(), self.model.input.width()),
            None => Ok(()),
        }
    }
}

/// What `read` makes of the content of a file, which is mapped where that is possible.
fn with_content<T>(
    path: &Path,
    max_memory: Option<u64>,
    read: impl FnOnce(&[u8], &Path, u64) -> Result<T>,
) -> Result<T> {
    let failed = |e| Error::io("read", path, e);
    let file = std::fs::File::open(path).map_err(failed)?;
    let limit = max_memory.unwrap_or(u64::MAX);
    let metadata = file.metadata().map_err(failed)?;
    let length = metadata.len();
    if length > limit {
        return Err(Error::Memory { purpose: "the model file".into(), needed: length, limit });
    }
    if metadata.is_file() && length > 0 {
        return read(&map_file(&file).map_err(failed)?, path, limit);
    }
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    read(&bytes, path, limit)
}

/// The error of a file whose parts contradict each other.
fn refusal(path: &Path, reason: String) -> Error {
    Error::Model { code: Code::MODEL_CONTENT, path: path.to_path_buf(), reason }
}

/// Refuses planes of more memory than is allowed.
fn check_memory(planes: usize, width: usize, max_memory: u64) -> Result<()> {
    let needed = (width as u64).saturating_mul(planes as u64).saturating_mul(8);
    match needed > max_memory {
        true => Err(Error::Memory { purpose: "the model".into(), needed, limit: max_memory }),
        false => Ok(()),
    }
}
