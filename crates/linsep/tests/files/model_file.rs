//! Model files of format 2 that were damaged or forged. The file is taken apart and put together by the text
//! of the format, not by the code that is tested.

use linsep::data::input::InputMap;
use linsep::file::checkpoint::SavedRun;
use linsep::file::{DataIdentity, ModelFile, Subject};
use linsep::proof::digest::Version;
use linsep::proof::{Claim, ExactNumber, ExactPlane, Question, Reading, ReadingField, Scheme};
use linsep::{Certificate, Code, LinearModel, Plane, Progress, Rule, State, Stop};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::path::Path;

/// A file in parts.
#[derive(Clone)]
struct Parts {
    metadata: String,
    tensors: Vec<(String, String, Vec<usize>, Vec<u8>)>,
}

impl Parts {
    fn of(file: &ModelFile) -> Parts {
        let bytes = file.to_bytes().unwrap();
        let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        assert_eq!(length % 8, 0);
        let header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
        let data = &bytes[8 + length..];
        let mut tensors = Vec::new();
        for (name, entry) in header.as_object().unwrap() {
            let Some(offsets) = entry["data_offsets"].as_array() else { continue };
            let place = |k: usize| offsets[k].as_u64().unwrap() as usize;
            let shape = entry["shape"].as_array().unwrap().iter();
            let shape = shape.map(|n| n.as_u64().unwrap() as usize).collect();
            let dtype = entry["dtype"].as_str().unwrap().to_owned();
            tensors.push((name.clone(), dtype, shape, data[place(0)..place(1)].to_vec()));
        }
        let metadata = header["__metadata__"]["linsep"].as_str().unwrap().to_owned();
        Parts { metadata, tensors }
    }

    fn tensor(&mut self, name: &str) -> &mut (String, String, Vec<usize>, Vec<u8>) {
        self.tensors.iter_mut().find(|tensor| tensor.0 == name).unwrap_or_else(|| panic!("{name}"))
    }

    fn set(&mut self, name: &str, dtype: &str, shape: &[usize], bytes: Vec<u8>) {
        self.tensors.retain(|tensor| tensor.0 != name);
        self.tensors.push((name.to_owned(), dtype.to_owned(), shape.to_vec(), bytes));
    }

    fn set_floats(&mut self, name: &str, shape: &[usize], numbers: &[f64]) {
        let bytes = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.set(name, "F64", shape, bytes);
    }

    fn set_integers(&mut self, name: &str, numbers: &[i64]) {
        let bytes = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.set(name, "I64", &[numbers.len()], bytes);
    }

    fn set_text(&mut self, name: &str, text: &str) {
        self.set(name, "U8", &[text.len()], text.as_bytes().to_vec());
    }

    fn text(&mut self, name: &str) -> String {
        String::from_utf8(self.tensor(name).3.clone()).unwrap()
    }

    /// The header and the data behind it.
    fn layout(&self) -> (String, Vec<u8>) {
        let mut header = format!("{{\"__metadata__\":{}", json!({ "linsep": self.metadata }));
        let mut data = Vec::new();
        for (name, dtype, shape, bytes) in &self.tensors {
            let place = [data.len(), data.len() + bytes.len()];
            let entry = json!({ "dtype": dtype, "shape": shape, "data_offsets": place });
            header.push_str(&format!(",{}:{entry}", json!(name)));
            data.extend(bytes);
        }
        header.push('}');
        (header, data)
    }

    fn sealed(&self) -> Vec<u8> {
        let (header, data) = self.layout();
        sealed(&header, data)
    }
}

/// A file of this header and data with the right checksum, wherever the header says that it stands.
fn sealed(header: &str, data: Vec<u8>) -> Vec<u8> {
    let mut header = header.to_owned();
    while !header.len().is_multiple_of(8) {
        header.push(' ');
    }
    let start = header.len() + 8;
    let place = serde_json::from_str::<Value>(&header).ok().and_then(|value| {
        let place = value["sha256"]["data_offsets"][0].as_u64()? as usize + start;
        Some(place)
    });
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    if let Some(sum) = place.map(|place| place..place + 32).filter(|r| r.end <= bytes.len()) {
        bytes[sum.clone()].fill(0);
        let digest = Sha256::digest(&bytes);
        bytes[sum].copy_from_slice(&digest);
    }
    bytes
}

fn read(bytes: &[u8]) -> linsep::Result<ModelFile> {
    ModelFile::from_bytes(bytes, Path::new("m.linsep"), 1 << 30)
}

#[track_caller]
fn refused(what: &str, bytes: &[u8], code: Code) {
    let error = read(bytes).err().unwrap_or_else(|| panic!("{what} was accepted"));
    assert_eq!(error.code(), code, "{what}: {error}");
}

/// Three classes, a run on its way, and a claim about each plane.
fn file() -> ModelFile {
    let plane = |bias| Plane::new(vec![0.1, -2.5e-8], bias);
    let planes = vec![plane(1.0), plane(2.0), plane(-0.5)];
    let classes = vec!["a".into(), "b \"q\"".into(), "c".into()];
    let input = InputMap::numeric(Some(&["len".into(), "width".into()]), 2);
    let model = LinearModel::new(planes, Rule::Rest, classes, input);
    let claims = (0..3).map(|k| separable(&model, k, k)).collect();
    let progress = Progress::default().with_epochs(3).with_updates(7);
    let data = DataIdentity::new("0".repeat(64), 9).with_digest(Version::One);
    let reading = ReadingField::new(Reading::Decimal, vec![1]);
    let parameters = [("eta".to_owned(), "1".to_owned())].into();
    let end = (Stop::Epochs, progress);
    let about = (data, reading);
    let certificate = Certificate::new(claims);
    let mut file = ModelFile::new(model, certificate, "perceptron", parameters, 5, end, about);
    let mut run = SavedRun::new(27, State::encode(&(vec![7u64; 9], "run")));
    run.rates = Some(vec![1.0, 0.5]);
    run.start = Some(vec![(vec![1.0, 2.0], 0.25); 3]);
    run.held_out = Some(0.25);
    file.run = Some(run);
    file
}

/// That the numbers of one plane separate one class from the others.
fn separable(model: &LinearModel, class: usize, plane: usize) -> Claim {
    let others = model.classes.iter().filter(|name| **name != model.classes[class]);
    let positive = vec![model.classes[class].clone()];
    let problem = Question::new(Scheme::Rest, positive, others.cloned().collect());
    let Plane { weights, bias, .. } = &model.planes[plane];
    let weights = weights.iter().map(|&w| ExactNumber::Binary64(w)).collect();
    let bias = Some(ExactNumber::Binary64(*bias));
    let plane = ExactPlane::default().with_weights(Some(weights)).with_bias(bias);
    Claim::Separable { problem, plane }
}

#[test]
fn a_file_that_is_put_together_by_the_format_is_read() {
    assert_eq!(read(&Parts::of(&file()).sealed()).unwrap(), file());
    assert_eq!(read(&file().to_bytes().unwrap()).unwrap(), file());
    assert_eq!(file().subjects(), [Subject::Plane(0), Subject::Plane(1), Subject::Plane(2)]);
}

#[test]
fn planes_stand_once() {
    let bytes = file().to_bytes().unwrap();
    let number = 0.1f64.to_le_bytes();
    let found = bytes.windows(8).filter(|bytes| *bytes == number).count();
    assert_eq!(found, 3, "one for each plane");
    assert!(!String::from_utf8_lossy(&bytes).contains("0.1"));
    assert_eq!(Parts::of(&file()).text("certificate").matches("\"plane\":").count(), 3);
}

#[test]
fn every_changed_missing_or_doubled_byte_is_refused() {
    let whole = file().to_bytes().unwrap();
    let mut changed = whole.clone();
    for at in 0..whole.len() {
        for bit in 0..8 {
            changed[at] = whole[at] ^ (1 << bit);
            let error = read(&changed).err();
            let error = error.unwrap_or_else(|| panic!("byte {at} changed unnoticed"));
            assert_eq!(error.code().group(), 4, "{error}");
        }
        changed[at] = whole[at];
        let mut other = whole.clone();
        other.remove(at);
        assert!(read(&other).is_err(), "byte {at} taken out unnoticed");
        other.insert(at, whole[at]);
        other.insert(at, whole[at]);
        assert!(read(&other).is_err(), "byte {at} doubled unnoticed");
        assert!(read(&whole[..at]).is_err(), "cut at {at} unnoticed");
    }
}

/// Every byte changed and the checksum made to fit: the file is refused, or it is another whole model.
#[test]
fn a_changed_byte_with_the_right_checksum_is_refused_or_makes_another_model() {
    let whole = file().to_bytes().unwrap();
    let end = whole.len() - 32;
    let mut accepted = 0;
    for at in 0..end {
        for bit in [0, 2, 5, 7] {
            let mut changed = whole.clone();
            changed[at] ^= 1 << bit;
            changed[end..].fill(0);
            let digest = Sha256::digest(&changed);
            changed[end..].copy_from_slice(&digest);
            match read(&changed) {
                Ok(other) => {
                    assert_ne!(other, file(), "byte {at} does not count");
                    let again = read(&other.to_bytes().unwrap()).unwrap();
                    assert_eq!(again, other, "byte {at} makes a model that is written otherwise");
                    accepted += 1;
                }
                Err(error) => assert!([4, 6].contains(&error.code().group()), "{at}: {error}"),
            }
        }
    }
    // Digits, names and numbers.
    assert!((200..end).contains(&accepted), "{accepted} of {}", 4 * end);
}

#[test]
fn metadata_that_contradict_the_rest_are_refused_although_the_checksum_fits() {
    for (from, to, code) in [
        ("model/2", "model/3", Code::MODEL_VERSION),
        ("model/2", "model/1", Code::MODEL_VERSION),
        ("model/2", "other/2", Code::MODEL_SYNTAX),
        ("linsep.model/2", "", Code::MODEL_SYNTAX),
        ("\"seed\":5", "\"seed\":5,\"seed\":5", Code::MODEL_SYNTAX),
        ("{\"eta\":\"1\"}", "{\"eta\":\"1\",\"eta\":\"1\"}", Code::MODEL_SYNTAX),
        ("\"seed\":5", "\"seed\":5,\"extra\":1", Code::MODEL_SYNTAX),
        ("\"seed\":5", "\"seed\":-5", Code::MODEL_SYNTAX),
        ("\"seed\":5,", "", Code::MODEL_SYNTAX),
        ("\"visits\":27", "\"visits\":27,\"state\":\"\"", Code::MODEL_SYNTAX),
        ("\"held_out\":0.25", "\"held_out\":1e999", Code::MODEL_SYNTAX),
        ("{\"sha256\":", "[{\"sha256\":", Code::MODEL_SYNTAX),
        ("\"rest\"", "\"sign\"", Code::MODEL_CONTENT),
        ("\"rest\"", "\"rest-last\"", Code::MODEL_CONTENT),
        ("\"rest\"", "\"elect\"", Code::MODEL_SYNTAX),
        (
            "\"rest\"",
            "{\"ballot\":{\"votes\":[[1],[1],[1]],\"rule\":\"rest\"}}",
            Code::MODEL_CONTENT,
        ),
        (
            "\"link\":\"none\"",
            "\"link\":{\"sigmoid\":{\"slope\":1.0,\"offset\":0.0}}",
            Code::MODEL_CONTENT,
        ),
        ("\"link\":\"none\"", "\"link\":{\"sigmoids\":[]}", Code::MODEL_CONTENT),
        ("epoch-limit", "done", Code::MODEL_CONTENT),
        ("\"rows\":9", "\"rows\":8", Code::MODEL_CONTENT),
        ("0000", "000", Code::MODEL_CONTENT),
        ("\"run\":{", "\"ran\":{", Code::MODEL_SYNTAX),
    ] {
        let mut parts = Parts::of(&file());
        assert!(parts.metadata.contains(from), "{from} is not in {}", parts.metadata);
        parts.metadata = parts.metadata.replacen(from, to, 1);
        refused(to, &parts.sealed(), code);
    }
    // A list of the same values is no object, and what nobody checks may be changed.
    let mut parts = Parts::of(&file());
    let data = format!("{{\"sha256\":\"{}\",\"rows\":9}}", "0".repeat(64));
    assert!(parts.metadata.contains(&data));
    parts.metadata = parts.metadata.replace(&data, &format!("[\"{}\",9]", "0".repeat(64)));
    refused("a list", &parts.sealed(), Code::MODEL_SYNTAX);
    let mut parts = Parts::of(&file());
    parts.metadata = parts.metadata.replace("\"seed\":5", "\"seed\":6");
    assert_eq!(read(&parts.sealed()).unwrap().seed, 6);
}

/// Every tensor taken away, of another type, of another shape or shorter, and one that nobody knows.
#[test]
fn tensors_of_the_wrong_form_are_refused_although_the_checksum_fits() {
    let whole = Parts::of(&file());
    let names: Vec<String> = whole.tensors.iter().map(|tensor| tensor.0.clone()).collect();
    assert_eq!(names.len(), 10, "{names:?}");
    for name in &names {
        let fails = |what: &str, change: &dyn Fn(&mut Parts)| {
            let mut parts = whole.clone();
            change(&mut parts);
            let error = read(&parts.sealed()).err();
            let error = error.unwrap_or_else(|| panic!("{name}: {what} was accepted"));
            assert_eq!(error.code().group(), 4, "{name}: {what}: {error}");
        };
        let is_optional = name == "rates";
        if !is_optional {
            fails("taken away", &|parts| parts.tensors.retain(|tensor| tensor.0 != *name));
        }
        fails("twice", &|parts| {
            let again = parts.tensor(name).clone();
            parts.tensors.push(again);
        });
        fails("another name", &|parts| parts.tensor(name).0.push('2'));
        fails("another type", &|parts| {
            let tensor = parts.tensor(name);
            tensor.1 = if tensor.1 == "U8" { "I8" } else { "U64" }.to_owned();
        });
        fails("a type of ours in its place", &|parts| {
            let tensor = parts.tensor(name);
            (tensor.1, tensor.2) = match tensor.1.as_str() {
                "U8" => {
                    tensor.3.resize(tensor.3.len().next_multiple_of(8), b' ');
                    ("F64".to_owned(), vec![tensor.3.len() / 8])
                }
                _ => ("U8".to_owned(), vec![tensor.3.len()]),
            };
        });
        fails("one axis more", &|parts| parts.tensor(name).2.insert(0, 1));
        fails("a shape for more bytes", &|parts| parts.tensor(name).2[0] += 1);
        fails("a shape that overflows", &|parts| {
            parts.tensor(name).2 = vec![usize::MAX, 8, usize::MAX];
        });
        fails("nothing in it", &|parts| {
            let tensor = parts.tensor(name);
            (tensor.2, tensor.3) = (vec![0], Vec::new());
            // An empty state is refused by the run that it is given to.
            if name == "state" || name == "rates" {
                tensor.2 = vec![0, 0];
            }
        });
        if name == "sha256" {
            continue;
        }
        fails("one number less", &|parts| {
            let tensor = parts.tensor(name);
            let (size, last) = (if tensor.1 == "U8" { 1 } else { 8 }, tensor.2.len() - 1);
            tensor.3.truncate(tensor.3.len() - size);
            tensor.2[last] -= 1;
            if name == "state" || name == "rates" {
                tensor.2[last] += 1; // Any list will do for these; not one of the wrong length.
            }
        });
    }
    for dtype in ["U8", "F64", "BF16"] {
        let mut parts = whole.clone();
        parts.set("more", dtype, &[0], Vec::new());
        refused("more", &parts.sealed(), Code::MODEL_SYNTAX);
    }
}

#[test]
fn offsets_that_overlap_or_leave_holes_are_refused() {
    let (header, data) = Parts::of(&file()).layout();
    let fields: Value = serde_json::from_str(&header).unwrap();
    let names = fields.as_object().unwrap().keys().filter(|name| *name != "__metadata__");
    for name in names {
        let entry = |from: i64, to: i64| {
            let mut entry = fields[name].clone();
            for (k, change) in [from, to].into_iter().enumerate() {
                let offset = &mut entry["data_offsets"][k];
                *offset = json!(offset.as_i64().unwrap() + change);
            }
            header.replace(&fields[name].to_string(), &entry.to_string())
        };
        for (from, to) in [(1, 1), (-1, -1), (0, 1), (0, -1), (1, 0), (8, 8), (1 << 40, 1 << 40)] {
            let changed = entry(from, to);
            assert_ne!(changed, header);
            refused(name, &sealed(&changed, data.clone()), Code::MODEL_SYNTAX);
        }
    }
    for more in [1, 8, 4096] {
        let long = [data.clone(), vec![0; more]].concat();
        refused("bytes behind", &sealed(&header, long), Code::MODEL_SYNTAX);
    }
    let cut = data[..data.len() - 1].to_vec();
    refused("a byte less", &sealed(&header, cut), Code::MODEL_SYNTAX);
}

#[test]
fn headers_of_the_wrong_form_are_refused() {
    let (header, data) = Parts::of(&file()).layout();
    for (from, to) in [
        ("{\"__metadata__\"", " {\"__metadata__\""),
        ("{\"__metadata__\":", "{\"__metadata__\":{},\"__metadata__\":"),
        ("{\"linsep\":", "{\"other\":\"\",\"linsep\":"),
        ("{\"linsep\":", "{\"other\":"),
        ("{\"linsep\":", "[{\"linsep\":"),
        ("\"shape\":[3]", "\"shape\":[3.0]"),
        ("\"shape\":[3]", "\"shape\":[-3]"),
        ("\"shape\":[3]", "\"shape\":3"),
        ("\"shape\":[3]", "\"shape\":[3],\"shape\":[3]"),
        ("\"shape\":[3]", "\"shape\":[3],\"more\":1"),
        ("\"dtype\":\"F64\"", "\"dtype\":\"f64\""),
        ("\"dtype\":\"F64\"", "\"dtype\":\"F32\""),
    ] {
        assert!(header.contains(from), "{from} is not in {header}");
        refused(to, &sealed(&header.replacen(from, to, 1), data.clone()), Code::MODEL_SYNTAX);
    }
    refused("text behind", &sealed(&format!("{header}x"), data.clone()), Code::MODEL_SYNTAX);
    // Blanks are free, as long as they fill up a multiple of 8.
    assert!(read(&sealed(&format!("{header}{}", " ".repeat(80)), data.clone())).is_ok());
    let bytes = sealed(&header, data);
    for length in [0, 1, 7, 9, bytes.len() as u64, (16 << 20) + 8, 1 << 31, u64::MAX] {
        let changed = [&length.to_le_bytes(), &bytes[8..]].concat();
        refused(&format!("a header of {length} bytes"), &changed, Code::MODEL_SYNTAX);
    }
}

#[test]
fn numbers_that_cannot_be_weights_are_refused() {
    let change = |what: &str, change: &dyn Fn(&mut Parts)| {
        let mut parts = Parts::of(&file());
        change(&mut parts);
        refused(what, &parts.sealed(), Code::MODEL_CONTENT);
    };
    for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for name in ["weights", "bias", "rates", "start_weights", "start_bias"] {
            change(name, &|parts| {
                parts.tensor(name).3[8..16].copy_from_slice(&wrong.to_le_bytes());
            });
        }
        let mut broken = file();
        broken.model.planes[1].weights[1] = wrong;
        assert!(broken.to_bytes().is_err());
    }
    change("two planes", &|parts| parts.set_floats("weights", &[2, 3], &[1.0; 6]));
    change("four planes", &|parts| parts.set_floats("bias", &[4], &[1.0; 4]));
    change("a class less", &|parts| parts.set_text("classes", "[\"a\",\"c\"]"));
    change("a class twice", &|parts| parts.set_text("classes", "[\"a\",\"c\",\"c\"]"));
    change("other starts", &|parts| parts.set_floats("start_bias", &[2], &[1.0; 2]));
    for (name, text) in [
        ("classes", "[\"a\",\"b\",1]"),
        ("classes", "[\"a\",\"b\",\"c\"] x"),
        ("classes", "{}"),
        ("input", "[2]"),
        ("input", "{\"features\":2,\"features\":2}"),
        ("input", "{\"features\":2,\"other\":2}"),
    ] {
        let mut parts = Parts::of(&file());
        parts.set_text(name, text);
        refused(text, &parts.sealed(), Code::MODEL_SYNTAX);
    }
}

#[test]
fn sparse_planes_are_refused_where_their_lists_do_not_fit() {
    let mut file = file();
    let mut weights = vec![0.0; 100];
    (weights[7], weights[8]) = (f64::MIN_POSITIVE, -0.0);
    file.model.planes = vec![Plane::new(weights, 0.0); 3];
    file.model.input = InputMap::plain(100);
    file.certificate.claims = Certificate::unproved("a test").claims;
    let whole = Parts::of(&file);
    let read_back = read(&whole.sealed()).unwrap();
    assert_eq!(read_back, file);
    assert!(read_back.model.planes[2].weights[8].is_sign_negative());
    assert!(whole.tensors.iter().any(|tensor| tensor.0 == "indptr"));
    let indices = [7, 8, 7, 8, 7, 8];
    for (what, indptr, indices, values) in [
        ("a column that is not there", &[0, 2, 4, 6][..], &[7, 8, 7, 8, 7, 100][..], 6),
        ("columns that fall", &[0, 2, 4, 6], &[7, 8, 8, 7, 7, 8], 6),
        ("a column twice", &[0, 2, 4, 6], &[7, 8, 7, 7, 7, 8], 6),
        ("starts that fall", &[0, 4, 2, 6], &indices, 6),
        ("a late start", &[1, 2, 4, 6], &indices, 6),
        ("an early end", &[0, 2, 4, 5], &indices, 6),
        ("an end behind the list", &[0, 2, 4, 7], &indices, 6),
        ("a plane less", &[0, 2, 6], &indices, 6),
        ("a plane more", &[0, 2, 4, 6, 6], &indices, 6),
        ("no planes", &[], &indices, 6),
        ("fewer values", &[0, 2, 4, 6], &indices, 5),
        ("fewer columns", &[0, 2, 4, 6], &indices[..5], 6),
    ] {
        let mut parts = whole.clone();
        parts.set_integers("indptr", indptr);
        parts.set_integers("indices", indices);
        parts.set_floats("values", &[values], &vec![1.0; values]);
        refused(what, &parts.sealed(), Code::MODEL_CONTENT);
    }
    let mut parts = whole.clone();
    parts.set_integers("indices", &[7, 8, 7, 8, 7, -8]);
    refused("a negative column", &parts.sealed(), Code::MODEL_SYNTAX);
    let mut parts = whole.clone();
    parts.set_floats("weights", &[3, 100], &[1.0; 300]);
    refused("both forms", &parts.sealed(), Code::MODEL_SYNTAX);
    let mut parts = whole.clone();
    parts.set_floats("values", &[6], &[1.0, 1.0, 1.0, 1.0, 1.0, f64::NAN]);
    refused("no number", &parts.sealed(), Code::MODEL_CONTENT);
    for features in ["200000000", "900000000000", "2305843009213693952", "18446744073709551615"] {
        let mut parts = whole.clone();
        parts.set_text("input", &format!("{{\"features\":{features}}}"));
        refused(features, &parts.sealed(), Code::MEMORY);
    }
    // Without a limit the width is still one that columns can have.
    let mut parts = whole.clone();
    parts.set_text("input", "{\"features\":900000000000}");
    let error = ModelFile::from_bytes(&parts.sealed(), Path::new("m"), u64::MAX).unwrap_err();
    assert_eq!(error.code(), Code::MODEL_CONTENT);
}

#[test]
fn ballots_that_cannot_vote_are_refused() {
    let ballot = |votes: &[i64], starts: &[i64], rule: &str| {
        let mut bare = file();
        bare.certificate.claims = Certificate::unproved("a test").claims;
        let mut parts = Parts::of(&bare);
        parts.metadata = parts.metadata.replacen("\"rest\"", &format!("\"{rule}\""), 1);
        parts.set_integers("votes", votes);
        parts.set_integers("ballots", starts);
        parts
    };
    assert!(read(&ballot(&[1, 2, 3], &[0, 1, 2, 3], "rest").sealed()).is_ok());
    assert!(read(&ballot(&[1, 2, 3], &[0, 1, 2, 3], "vote").sealed()).is_ok());
    assert!(read(&ballot(&[1, 2, 3], &[0, 2, 3], "rest-last").sealed()).is_ok());
    for (votes, starts, rule, code) in [
        (&[1, 2][..], &[0, 1, 2][..], "rest", Code::MODEL_CONTENT),
        (&[1, 2, 3, 4], &[0, 1, 2, 4], "rest", Code::MODEL_CONTENT),
        (&[1, 2, 0], &[0, 1, 2, 3], "rest", Code::MODEL_CONTENT),
        (&[1, 1, 1], &[0, 2, 3, 3], "rest", Code::MODEL_CONTENT),
        (&[1, 2, 3], &[0, 2, 1, 3], "rest", Code::MODEL_CONTENT),
        (&[1, 2, 9_007_199_254_740_993], &[0, 1, 2, 3], "rest", Code::MODEL_CONTENT),
        (&[1, i64::MAX, i64::MAX], &[0, 1, 3], "rest-last", Code::MODEL_CONTENT),
        (&[1, 2, -3], &[0, 1, 2, 3], "rest", Code::MODEL_SYNTAX),
        (&[1, 2, 3], &[0, 3], "sign", Code::MODEL_CONTENT),
    ] {
        refused(rule, &ballot(votes, starts, rule).sealed(), code);
    }
    for name in ["votes", "ballots"] {
        let mut parts = ballot(&[1, 2, 3], &[0, 1, 2, 3], "rest");
        parts.tensors.retain(|tensor| tensor.0 != name);
        refused(name, &parts.sealed(), Code::MODEL_SYNTAX);
    }
}

#[test]
fn claims_that_refer_to_what_they_are_not_about_are_refused() {
    let whole = Parts::of(&file()).text("certificate");
    for (what, from, to) in [
        ("the plane of another class", "\"plane\":0", "\"plane\":1"),
        ("a plane that is not there", "\"plane\":0", "\"plane\":3"),
        ("a negative number", "\"plane\":0", "\"plane\":-1"),
        ("all planes", "\"plane\":0", "\"planes\":\"model\""),
        ("no plane", ",\"plane\":0", ""),
        ("an empty plane", "\"plane\":0", "\"plane\":{}"),
        ("both", "\"plane\":0", "\"plane\":0,\"planes\":\"model\""),
        ("twice", "\"plane\":0", "\"plane\":0,\"plane\":0"),
        ("its own numbers", "\"plane\":0", "\"plane\":{\"weights\":[0.1,-2.5e-8],\"bias\":1.0}"),
        ("other numbers", "\"plane\":0", "\"plane\":{\"weights\":[0.1,-2.5e-8],\"bias\":2.0}"),
        ("another class", "\"positive\":[\"a\"]", "\"positive\":[\"c\"]"),
        ("a class that is not there", "\"positive\":[\"a\"]", "\"positive\":[\"z\"]"),
        ("two classes", "\"positive\":[\"a\"]", "\"positive\":[\"a\",\"c\"]"),
        ("certificate/1", "certificate/2", "certificate/1"),
        ("certificate/3", "certificate/2", "certificate/3"),
        ("no bias", "\"bias\":true", "\"bias\":false"),
        ("other data", "\"rows\":9", "\"rows\":8"),
        ("an input", "\"basis\":null", "\"basis\":null,\"input\":{\"features\":2}"),
        ("a basis", "\"basis\":null", "\"basis\":\"poly:2\""),
        ("more", "\"basis\":null", "\"basis\":null,\"more\":1"),
        ("readings that fall", "\"binary64\":[1]", "\"binary64\":[1,0]"),
        ("another claim", "\"claim\":\"separable\"", "\"claim\":\"inseparable\""),
    ] {
        assert!(whole.contains(from), "{from} is not in {whole}");
        let mut parts = Parts::of(&file());
        parts.set_text("certificate", &whole.replacen(from, to, 1));
        refused(what, &parts.sealed(), Code::MODEL_CONTENT);
    }
}

#[test]
fn exact_planes_stay_in_their_claim() {
    let mut exact = file();
    let Claim::Separable { plane, .. } = &mut exact.certificate.claims[1] else { panic!() };
    plane.bias = Some(ExactNumber::Ratio("5/2".into()));
    let back = read(&exact.to_bytes().unwrap()).unwrap();
    assert_eq!(back, exact);
    assert_eq!(back.subjects(), [Subject::Plane(0), Subject::Exact, Subject::Plane(2)]);
}

#[test]
fn a_claim_about_other_planes_is_written_as_unproved() {
    let unproved = |file: &ModelFile| -> Vec<bool> {
        let back = read(&file.to_bytes().unwrap()).unwrap();
        back.certificate.claims.iter().map(|c| matches!(c, Claim::Unproved { .. })).collect()
    };
    assert_eq!(unproved(&file()), [false; 3]);
    let mut moved = file();
    moved.model.planes[1].weights[0] = 0.25;
    assert_eq!(unproved(&moved), [false, true, false]);
    let mut turned = file();
    turned.model.classes.swap(0, 2);
    assert_eq!(unproved(&turned), [true, false, true]);
    let mut swapped = file();
    swapped.certificate.claims[0] = separable(&swapped.model, 0, 1);
    assert_eq!(unproved(&swapped), [true, false, false]);
    let mut joint = file();
    joint.model.rule = Rule::ArgMax;
    assert_eq!(unproved(&joint), [true; 3]);
    let ModelFile { model, certificate, data, .. } = swapped;
    let (end, reading) = ((Stop::Finished, Progress::default()), certificate.reading.clone());
    let proof = Certificate::new(certificate.claims);
    let new = ModelFile::new(model, proof, "any", Default::default(), 0, end, (data, reading));
    assert!(matches!(new.certificate.claims[0], Claim::Unproved { .. }));
}
