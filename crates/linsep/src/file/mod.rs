//! The model file `.linsep`: one JSON object, versioned, with a checksum over the rest.
//!
//! The checksum is the SHA-256 of the whole file with the 64 digits of the checksum taken out, so
//! `sed -E '0,/"sha256": "[0-9a-f]{64}"/s//"sha256": ""/' m.linsep | sha256sum` prints it.
//!
//! The reader is strict: unknown or repeated fields, other versions, a checksum that does not fit,
//! numbers that are not finite, lengths that disagree and bytes behind the object are all refused.
//! There are no types, code or paths inside.

pub mod checkpoint;
mod planes;
mod shared;

use crate::density::Density;
use crate::file::checkpoint::SavedRun;
use crate::model::{LinearModel, Link, Plane, Rule};
use crate::run::{Certificate, Progress, Stop};
use linsep_data::atomic::write_atomic;
use linsep_data::basis::Basis;
use linsep_data::error::{Code, Error, Result};
use linsep_data::input::InputMap;
use linsep_data::parallel::parallel_map;
pub use linsep_proof::DataIdentity;
use linsep_proof::digest::hex;
use linsep_proof::{CertificateFile, ReadingField};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// The format that this version writes.
const FORMAT: &str = "linsep.model/1";

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
    pub fn save(&self, path: &Path) -> Result<()> {
        self.save_on(path, 1)
    }

    /// The same, with the numbers of the planes written by so many threads.
    pub fn save_on(&self, path: &Path, threads: usize) -> Result<()> {
        let numbers =
            |plane: &Plane| plane.bias.is_finite() && plane.weights.iter().all(|w| w.is_finite());
        if !self.model.planes.iter().all(numbers) {
            let reason = "a weight is not finite, so the model is not written".to_owned();
            return Err(Error::Model {
                code: Code::MODEL_CONTENT,
                path: path.to_path_buf(),
                reason,
            });
        }
        let pieces = self.pieces(threads);
        write_atomic(path, |out| {
            pieces.iter().try_for_each(|piece| out.write_all(piece.as_bytes()))
        })
    }

    /// The content of the file.
    pub fn to_json(&self) -> String {
        self.pieces(1).concat()
    }

    /// The content of the file in pieces, one line for each field and for each plane.
    fn pieces(&self, threads: usize) -> Vec<String> {
        let model = &self.model;
        let mut lines = vec!["[".to_owned()];
        let plane = |number: usize| json(&planes::Numbers::of(&model.planes[number]));
        for (number, plane) in
            parallel_map(model.planes.len(), threads, plane).into_iter().enumerate()
        {
            lines.push(if number > 0 { ",\n    " } else { "\n    " }.to_owned());
            lines.push(plane);
        }
        lines.push("\n  ]".into());
        let CertificateFile { data, input, reading, bias, basis, claims, .. } = &self.certificate;
        let claims = Certificate::new(shared::leave_out(model, claims));
        let mut certificate = CertificateFile::new(data.clone(), reading.clone(), *bias, claims);
        (certificate.input, certificate.basis) = (input.clone(), basis.clone());
        let mut fields = vec![
            ("format", vec![json(FORMAT)]),
            ("sha256", vec![json("")]),
            ("learner", vec![json(&self.learner)]),
            ("parameters", vec![json(&self.parameters)]),
            ("seed", vec![json(&self.seed)]),
            ("stop", vec![json(self.stop.word())]),
            ("epochs", vec![json(&self.epochs)]),
            ("updates", vec![json(&self.updates)]),
            ("data", vec![json(&self.data)]),
            ("classes", vec![json(&model.classes)]),
            ("rule", vec![json(&model.rule)]),
            ("link", vec![json(&model.link)]),
            ("input", vec![json(&model.input)]),
            ("planes", lines),
        ];
        fields.extend(self.density.as_ref().map(|density| ("density", vec![json(density)])));
        fields.push(("certificate", vec![json(&certificate)]));
        fields.extend(self.run.as_ref().map(|run| ("run", vec![json(run)])));
        sealed(fields)
    }

    /// Reads and checks a file. `max_memory` bounds what the file may make this program hold.
    pub fn load(path: &Path, max_memory: Option<u64>) -> Result<ModelFile> {
        let failed = |e| Error::io("read", path, e);
        let file = std::fs::File::open(path).map_err(failed)?;
        let limit = max_memory.unwrap_or(u64::MAX);
        let length = file.metadata().map_err(failed)?.len();
        if length > limit {
            return Err(Error::Memory { purpose: "the model file".into(), needed: length, limit });
        }
        let mut bytes = Vec::new();
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
        ModelFile::from_json(&bytes, path, limit)
    }

    /// Reads and checks the content of a file that is called `path` in messages.
    pub fn from_json(bytes: &[u8], path: &Path, max_memory: u64) -> Result<ModelFile> {
        let refuse = |code, reason: String| Error::Model { code, path: path.to_path_buf(), reason };
        let wire: Wire<'_> = match serde_json::from_slice(bytes) {
            Ok(wire) => wire,
            Err(e) => {
                // Only a file that is of this version is asked to be valid.
                let head: Head = serde_json::from_slice(bytes).map_err(|e| {
                    refuse(Code::MODEL_SYNTAX, format!("this is not a linsep model file ({e})"))
                })?;
                check_format(&head.format).map_err(|(code, words)| refuse(code, words))?;
                let words = format!("the file is not a valid model: {e}");
                return Err(refuse(Code::MODEL_SYNTAX, words));
            }
        };
        check_format(&wire.format).map_err(|(code, words)| refuse(code, words))?;
        if !has_checksum(bytes, &wire.sha256) {
            let words =
                "the checksum does not fit the content: the file was changed after it was written";
            return Err(refuse(Code::MODEL_CHECKSUM, words.into()));
        }
        let numbers = (wire.input.width() as u64).saturating_mul(wire.planes.len() as u64);
        let needed = numbers.saturating_mul(8);
        if needed > max_memory {
            return Err(Error::Memory { purpose: "the model".into(), needed, limit: max_memory });
        }
        wire.into_model_file().map_err(|reason| refuse(Code::MODEL_CONTENT, reason))
    }
}

/// A file of one JSON object with a line for each field, whose values come in pieces, and its checksum in
/// the field `sha256`.
pub(crate) fn sealed(fields: Vec<(&str, Vec<String>)>) -> Vec<String> {
    let mut pieces = vec!["{".to_owned()];
    let mut place = 0;
    for (number, (name, value)) in fields.into_iter().enumerate() {
        let comma = if number > 0 { "," } else { "" };
        pieces.push(format!("{comma}\n  \"{name}\": "));
        if name == "sha256" {
            pieces.push("\"".into());
            place = pieces.len();
            pieces.push("\"".into());
        } else {
            pieces.extend(value);
        }
    }
    pieces.push("\n}\n".into());
    let mut sha = Sha256::new();
    pieces.iter().for_each(|piece| sha.update(piece));
    pieces.insert(place, hex(&sha.finalize()));
    pieces
}

fn json<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Where the digits of the checksum stand.
fn checksum_place(text: &[u8]) -> Option<usize> {
    const FIELD: &[u8] = b"\n  \"sha256\": \"";
    memchr::memmem::find(text, FIELD).map(|at| at + FIELD.len())
}

pub(crate) fn has_checksum(text: &[u8], checksum: &str) -> bool {
    let Some(at) = checksum_place(text) else { return false };
    let Some(rest) = text[at..].strip_prefix(checksum.as_bytes()) else { return false };
    let mut sha = Sha256::new();
    sha.update(&text[..at]);
    sha.update(rest);
    hex(&sha.finalize()) == checksum
}

/// Refuses formats other than the one that this version reads.
fn check_format(format: &str) -> std::result::Result<(), (Code, String)> {
    if format == FORMAT {
        return Ok(());
    }
    let (code, words) = match format.strip_prefix("linsep.model/") {
        Some(_) => (Code::MODEL_VERSION, "is not of the version that this program reads, which is"),
        None => (Code::MODEL_SYNTAX, "is not the model format"),
    };
    let found = linsep_data::error::printable(format.as_bytes(), 40);
    Err((code, format!("the format \"{found}\" {words} {FORMAT}")))
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
        self.input.check()?;
        let features = self.input.width();
        let wanted = self.rule.check(self.classes.len())?;
        if self.planes.len() != wanted {
            return Err(format!(
                "there are {} planes where the rule needs {wanted}",
                self.planes.len()
            ));
        }
        let mut sorted = self.classes.clone();
        sorted.sort_unstable();
        sorted.dedup();
        if sorted.len() != self.classes.len() || sorted.len() < 2 {
            return Err("the classes are fewer than two, or one stands twice".into());
        }
        if self.data.sha256.len() != 64 || !self.data.sha256.bytes().all(|b| b.is_ascii_hexdigit())
        {
            return Err("the digest of the data is not a SHA-256".into());
        }
        self.certificate.check_form().map_err(|e| e.to_string())?;
        if self.certificate.data != self.data || self.certificate.input.is_some() {
            return Err("the certificate speaks of other data".into());
        }
        if self.certificate.basis != self.input.basis.as_ref().map(Basis::claimed) {
            return Err("the certificate speaks of another basis".into());
        }
        if matches!(self.link, Link::Sigmoid { .. }) && self.rule != Rule::Sign {
            return Err("a sigmoid link is for the one plane of two classes".into());
        }
        if let Link::Sigmoids(each) = &self.link
            && (self.rule != Rule::Rest || each.len() != self.classes.len())
        {
            let words = "a link of sigmoids needs one for each class, and a machine for each class";
            return Err(words.into());
        }
        let stop =
            Stop::parse(&self.stop).ok_or_else(|| "the stop reason is unknown".to_owned())?;
        let planes: std::result::Result<Vec<Plane>, String> =
            self.planes.iter().map(|plane| plane.read(features)).collect();
        if let Some(density) = &self.density {
            density.check(self.classes.len(), features)?;
        }
        let model = LinearModel {
            planes: planes?,
            rule: self.rule,
            link: self.link,
            classes: self.classes,
            input: self.input,
        };
        let mut certificate = self.certificate;
        shared::put_back(&model, &mut certificate.claims);
        Ok(ModelFile {
            model,
            certificate,
            learner: self.learner,
            parameters: self.parameters,
            seed: self.seed,
            stop,
            epochs: self.epochs,
            updates: self.updates,
            data: self.data,
            density: self.density,
            run: self.run,
        })
    }
}

pub(crate) fn without_repeats<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<BTreeMap<String, String>, D::Error> {
    struct Strict;
    impl<'de> Visitor<'de> for Strict {
        type Value = BTreeMap<String, String>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object without repeated keys")
        }

        fn visit_map<A: MapAccess<'de>>(
            self,
            mut map: A,
        ) -> std::result::Result<Self::Value, A::Error> {
            let mut all = BTreeMap::new();
            while let Some((key, value)) = map.next_entry::<String, String>()? {
                if all.insert(key.clone(), value).is_some() {
                    return Err(serde::de::Error::custom(format!(
                        "the key \"{key}\" stands twice"
                    )));
                }
            }
            Ok(all)
        }
    }
    deserializer.deserialize_map(Strict)
}

#[cfg(test)]
mod tests {
    use super::*;
    use linsep_proof::Reading;

    fn file() -> ModelFile {
        let plane = |bias| Plane { weights: vec![0.1, -2.5e-8], bias };
        let model = LinearModel {
            planes: vec![plane(1.0), plane(2.0), plane(-0.5)],
            rule: Rule::ArgMax,
            link: Link::None,
            classes: vec!["a".into(), "b \"q\"".into(), "c".into()],
            input: InputMap::numeric(Some(&["len".into(), "width".into()]), 2),
        };
        let parameters = BTreeMap::from([("eta".to_owned(), "1".to_owned())]);
        let progress = Progress { epochs: 3, updates: 7, ..Progress::default() };
        let data = DataIdentity::new("0".repeat(64), 9);
        let certificate = Certificate::unproved("a test");
        let reading = ReadingField::new(Reading::Decimal, vec![1]);
        ModelFile::new(
            model,
            certificate,
            "perceptron",
            parameters,
            5,
            (Stop::Epochs, progress),
            (data, reading),
        )
    }

    fn read(text: &str) -> Result<ModelFile> {
        ModelFile::from_json(text.as_bytes(), Path::new("m.linsep"), u64::MAX)
    }

    #[test]
    fn a_saved_model_is_the_same_when_loaded() {
        let mut file = file();
        assert_eq!(read(&file.to_json()).unwrap(), file);
        let mut weights = vec![0.0; 100];
        weights[7] = f64::MIN_POSITIVE;
        file.model.planes = vec![Plane { weights, bias: 0.0 }; 3];
        file.model.input = InputMap::plain(100);
        assert!(file.to_json().contains("\"sparse\""));
        assert_eq!(read(&file.to_json()).unwrap(), file);
    }

    #[test]
    fn every_changed_bit_is_refused() {
        let text = file().to_json();
        for at in 0..text.len() {
            for bit in [0x01, 0x02, 0x10] {
                let mut bytes = text.clone().into_bytes();
                bytes[at] ^= bit;
                let result = ModelFile::from_json(&bytes, Path::new("m"), u64::MAX);
                assert!(result.is_err(), "byte {at} changed unnoticed");
            }
        }
        for end in 0..text.len() - 1 {
            assert!(read(&text[..end]).is_err(), "cut at {end} unnoticed");
        }
    }

    /// The text with a change and the right checksum for it.
    fn forge(from: &str, to: &str) -> String {
        let text = file().to_json();
        let at = checksum_place(text.as_bytes()).unwrap();
        let mut blank = format!("{}{}", &text[..at], &text[at + 64..]).replacen(from, to, 1);
        let at = checksum_place(blank.as_bytes()).unwrap();
        let checksum = hex(&Sha256::digest(blank.as_bytes()));
        blank.insert_str(at, &checksum);
        blank
    }

    #[test]
    fn what_contradicts_itself_is_refused_even_with_a_right_checksum() {
        for (from, to, code) in [
            ("model/1", "model/2", Code::MODEL_VERSION),
            ("model/1", "other/1", Code::MODEL_SYNTAX),
            ("linsep.model/1", "something", Code::MODEL_SYNTAX),
            ("\"seed\": 5", "\"seed\": 5,\n  \"seed\": 5", Code::MODEL_SYNTAX),
            ("{\"eta\":\"1\"}", "{\"eta\":\"1\",\"eta\":\"1\"}", Code::MODEL_SYNTAX),
            ("\"seed\": 5", "\"seed\": 5,\n  \"extra\": 1", Code::MODEL_SYNTAX),
            ("\"bias\":1.0", "\"bias\":NaN", Code::MODEL_SYNTAX),
            ("\"bias\":1.0", "\"bias\":1e999", Code::MODEL_SYNTAX),
            ("[0.1,-2.5e-8]", "[0.1]", Code::MODEL_CONTENT),
            ("arg-max", "sign", Code::MODEL_CONTENT),
            ("\"features\":2", "\"features\":3", Code::MODEL_CONTENT),
            ("[\"a\",", "[\"c\",", Code::MODEL_CONTENT),
            ("epoch-limit", "done", Code::MODEL_CONTENT),
            ("\n}\n", "\n}\n{}", Code::MODEL_SYNTAX),
        ] {
            let forged = forge(from, to);
            assert_ne!(forged, file().to_json(), "{from} is not in the file");
            let error = read(&forged).err().unwrap_or_else(|| panic!("{to} was accepted"));
            assert_eq!(error.code(), code, "{to}: {error}");
        }
        assert_eq!(read(&forge("\"bias\":1.0", "\"bias\":1.5")).unwrap().model.planes[0].bias, 1.5);
    }

    #[test]
    fn ballots_that_cannot_vote_are_refused() {
        let ballot = |votes: &str, rule: &str| {
            forge("\"arg-max\"", &format!("{{\"ballot\":{{\"votes\":{votes},\"rule\":{rule}}}}}"))
        };
        assert!(read(&ballot("[[1],[2],[3]]", "\"rest\"")).is_ok());
        assert!(read(&ballot("[[1],[2],[3]]", "\"vote\"")).is_ok());
        assert!(read(&ballot("[[1,2],[3]]", "\"rest-last\"")).is_ok());
        let (one, nested) =
            ("[[1,2,3]]", "{\"ballot\":{\"votes\":[[1],[2],[3]],\"rule\":\"rest\"}}");
        for (votes, rule, code) in [
            ("[[1],[2]]", "\"rest\"", Code::MODEL_CONTENT),
            ("[[1],[2],[3,4]]", "\"rest\"", Code::MODEL_CONTENT),
            ("[[1],[2],[0]]", "\"rest\"", Code::MODEL_CONTENT),
            ("[[1,1],[1],[]]", "\"rest\"", Code::MODEL_CONTENT),
            ("[[1],[2],[9007199254740993]]", "\"rest\"", Code::MODEL_CONTENT),
            ("[[1],[18446744073709551615,1]]", "\"rest-last\"", Code::MODEL_CONTENT),
            ("[[1],[2],[-3]]", "\"rest\"", Code::MODEL_SYNTAX),
            ("[[1],[2],[1.5]]", "\"rest\"", Code::MODEL_SYNTAX),
            (one, "\"sign\"", Code::MODEL_CONTENT),
            ("[[1],[2],[3]]", nested, Code::MODEL_CONTENT),
            ("[[1],[2],[3]]", "\"rest\",\"more\":1", Code::MODEL_SYNTAX),
        ] {
            let error = read(&ballot(votes, rule)).err();
            let error = error.unwrap_or_else(|| panic!("{votes} {rule} was accepted"));
            assert_eq!(error.code(), code, "{votes} {rule}: {error}");
        }
        for (rule, fine) in [("rest", true), ("vote", true), ("rest-last", false), ("elect", false)]
        {
            assert_eq!(read(&forge("arg-max", rule)).is_ok(), fine, "{rule}");
        }
    }

    #[test]
    fn a_claimed_size_does_not_make_memory_disappear() {
        let forged = forge("\"features\":2", "\"features\":900000000000");
        let error = ModelFile::from_json(forged.as_bytes(), Path::new("m"), 1 << 30).unwrap_err();
        assert_eq!(error.code(), Code::MEMORY);
    }
}
