//! Model files that were written once and stay readable for ever: `testdata/models` holds those of format 1
//! and `testdata/models/v2` those of format 2; `models()` says what is in them. Only a new format or a new
//! word of the format may add files there, by running these tests once with `LINSEP_WRITE_GOLDEN=1`.

use crate::files::{Files, options};
use linsep::data::input::{InputColumn, InputMap, SourceColumn};
use linsep::data::read::stream;
use linsep::file::{DataIdentity, ModelFile};
use linsep::proof::digest::Version;
use linsep::proof::{Reading, ReadingField};
use linsep::{Ballot, Certificate, Code, LinearModel, Plane, Progress, Rule, Stop};
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../testdata/models/{name}.linsep"))
}

/// The same model in format 2.
fn v2(name: &str) -> String {
    format!("v2/{name}")
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn load(name: &str) -> ModelFile {
    ModelFile::load(&path(name), None).unwrap()
}

fn read(bytes: &[u8]) -> linsep::Result<ModelFile> {
    ModelFile::from_bytes(bytes, Path::new("m.linsep"), 1 << 30)
}

fn plane(weights: &[f64], bias: f64) -> Plane {
    Plane::new(weights.to_vec(), bias)
}

fn model(planes: Vec<Plane>, classes: &[&str], input: InputMap) -> LinearModel {
    let rule = if planes.len() == 1 { Rule::Sign } else { Rule::ArgMax };
    by_rule(rule, planes, classes, input)
}

fn by_rule(rule: Rule, planes: Vec<Plane>, classes: &[&str], input: InputMap) -> LinearModel {
    let classes = classes.iter().map(|class| (*class).to_owned()).collect();
    LinearModel::new(planes, rule, classes, input)
}

fn file(model: LinearModel, stop: Stop, binary64: Vec<u32>) -> ModelFile {
    let parameters = [("eta", "1"), ("order", "shuffle"), ("scale", "pow2")];
    let parameters = parameters.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let progress = Progress::default()
        .with_epochs(12)
        .with_visits(1800)
        .with_updates(77)
        .with_last_mistakes(Some(0));
    let data = DataIdentity::new("0123456789abcdef".repeat(4), 150).with_digest(Version::One);
    let reading = ReadingField::new(Reading::Decimal, binary64);
    let proof = Certificate::unproved("a \"golden\" file proves nothing");
    let seed = u64::MAX - 1;
    let about = (data, reading);
    ModelFile::new(model, proof, "perceptron", parameters, seed, (stop, progress), about)
}

/// Every golden file: its name and its content.
fn models() -> [(&'static str, ModelFile); 8] {
    let names = ["length".to_owned(), "width, cm".to_owned(), "höhe".to_owned()];
    let binary = model(
        vec![plane(&[0.1, -2.5e-8, 3.0], -1.25)],
        &["-1", "1"],
        InputMap::numeric(Some(&names), 3),
    );
    let three = model(
        vec![
            plane(&[1.0, 0.0], 0.5),
            plane(&[-1.0, 0.30000000000000004], 0.0),
            plane(&[0.0, 5e-324], 0.25),
        ],
        &["setosa", "a \"quoted\"\nname", "λ"],
        InputMap::plain(2),
    );
    let mut weights = vec![0.0; 100];
    (weights[3], weights[64], weights[99]) = (1.5, -0.1, 1e300);
    let mut sparse = model(vec![plane(&weights, 2.0)], &["ham", "spam"], InputMap::plain(100));
    sparse.input.index_base = Some(1);
    let column = |name: &str, position, missing, levels: Option<&[&str]>| {
        InputColumn::new(position)
            .with_name(Some(name.to_owned()))
            .with_missing(missing)
            .with_levels(
                levels.map(|levels| levels.iter().map(|level| (*level).to_owned()).collect()),
            )
            .with_unknown_as_zeros(levels.is_some())
    };
    let mut columns = InputMap::plain(4);
    columns.label = Some(SourceColumn::new(Some("kind".into()), 0));
    columns.source_columns = Some(4);
    columns.columns = vec![
        column("size", 1, Some(2.5), None),
        column("colour", 2, Some(0.0), Some(&["blue", "red"])),
        column("age", 3, Some(-1.0), None),
    ];
    let columns = model(vec![plane(&[2.0, -4.0, 8.0, 0.5], -1.0)], &["no", "yes"], columns);
    let planes = |count: u32| -> Vec<Plane> {
        (0..count).map(|k| plane(&[f64::from(k), -0.5], 0.25 * f64::from(k))).collect()
    };
    let four = ["a", "b", "c", "d"];
    let machines = |rule, count| by_rule(rule, planes(count), &four, InputMap::plain(2));
    let votes = vec![vec![7, 1], vec![1], vec![2, 3, 4], vec![9_007_199_254_740_992]];
    let ballot = Rule::Ballot(Ballot::new(votes, Rule::Rest));
    [
        ("rest", file(machines(Rule::Rest, 4), Stop::Finished, Vec::new())),
        ("rest_last", file(machines(Rule::RestLast, 3), Stop::Finished, Vec::new())),
        ("vote", file(machines(Rule::Vote, 6), Stop::Finished, Vec::new())),
        ("ballot", file(machines(ballot, 7), Stop::Time, Vec::new())),
        ("binary", file(binary, Stop::Finished, vec![1])),
        ("three_classes", file(three, Stop::Epochs, Vec::new())),
        ("sparse", file(sparse, Stop::Interrupted, vec![0, 99])),
        ("columns", file(columns, Stop::Updates, Vec::new())),
    ]
}

#[test]
fn the_golden_files_hold_what_they_are_said_to_hold() {
    let writing = std::env::var_os("LINSEP_WRITE_GOLDEN").is_some();
    let numbers = |file: &ModelFile| -> Vec<u64> {
        let planes = file.model.planes.iter();
        planes.flat_map(|p| p.weights.iter().chain([&p.bias])).map(|x| x.to_bits()).collect()
    };
    for (name, expected) in models() {
        if writing {
            expected.save(&path(&v2(name))).unwrap();
        }
        assert_eq!(load(&v2(name)), expected, "{name}");
        assert_eq!(numbers(&load(&v2(name))), numbers(&expected), "{name}");
        assert_eq!(
            ModelFile::load_model(&path(&v2(name)), None).unwrap(),
            expected.model,
            "{name}"
        );
        // Certificates of format 1 become such of format 2 when they are read.
        assert_eq!(load(name), expected, "{name}");
        assert_eq!(numbers(&load(name)), numbers(&expected), "{name}");
        assert_eq!(ModelFile::load_model(&path(name), None).unwrap(), expected.model, "{name}");
    }
    assert!(!writing, "the files were written; run the tests again without LINSEP_WRITE_GOLDEN");
}

#[test]
fn saving_a_golden_file_again_gives_the_same_bytes_in_format_2() {
    for (name, _) in models() {
        for from in [name, &v2(name)] {
            assert_eq!(load(from).to_bytes().unwrap(), bytes(&v2(name)), "{from}");
        }
    }
}

#[test]
fn format_1_is_text_with_a_name_and_short_numbers() {
    for (name, planes) in [
        (
            "ballot",
            "  \"rule\": {\"ballot\":{\"votes\":[[7,1],[1],[2,3,4],[9007199254740992]],\"rule\":\"rest\"}},\n",
        ),
        ("vote", "  \"rule\": \"vote\",\n"),
        ("rest", "  \"rule\": \"rest\",\n"),
        ("rest_last", "  \"rule\": \"rest-last\",\n"),
        ("binary", "    {\"weights\":[0.1,-2.5e-8,3.0],\"bias\":-1.25}\n"),
        ("three_classes", "    {\"weights\":[0.0,5e-324],\"bias\":0.25}\n"),
        ("sparse", "    {\"sparse\":[[3,1.5],[64,-0.1],[99,1e+300]],\"bias\":2.0}\n"),
        ("columns", "    {\"weights\":[2.0,-4.0,8.0,0.5],\"bias\":-1.0}\n"),
    ] {
        let text = String::from_utf8(bytes(name)).unwrap();
        assert!(
            text.starts_with("{\n  \"format\": \"linsep.model/1\",\n  \"sha256\": \""),
            "{name}"
        );
        assert!(text.contains(planes), "{name}: {text}");
        assert!(text.ends_with("\n}\n"), "{name}");
    }
}

#[test]
fn predictions_of_golden_models_never_change() {
    let binary = load("binary").model;
    for (row, score, class) in [
        ([0.0, 0.0, 0.0], -1.25, "-1"),
        ([12.5, 0.0, 0.0], 0.0, "1"),
        ([0.0, 1e8, 1.0], -0.75, "-1"),
        ([10.0, 0.0, 0.5], 1.25, "1"),
    ] {
        assert_eq!(
            (binary.scores(&row).unwrap(), binary.predict(&row).unwrap()),
            (vec![score], class),
            "{row:?}"
        );
    }
    let three = load("three_classes").model;
    for (row, scores, class) in [
        ([0.0, 0.0], [0.5, 0.0, 0.25], "setosa"),
        ([-1.0, 1.0], [-0.5, 1.3, 0.25], "a \"quoted\"\nname"),
        ([-0.25, -1.0], [0.25, -0.050000000000000044, 0.25], "setosa"),
        ([-0.5, -3.0], [0.0, -0.40000000000000013, 0.25], "λ"),
    ] {
        assert_eq!(
            (&three.scores(&row).unwrap()[..], three.predict(&row).unwrap()),
            (&scores[..], class),
            "{row:?}"
        );
    }
}

/// The scores of a text through a model with the whole input map at work.
fn scores_of(name: &str, text: &str) -> Vec<(f64, String)> {
    let model = load(name).model;
    let files = Files::new(&[("data.txt", text.as_bytes())]);
    let mut found = Vec::new();
    let each = |_: &_, chunk: linsep::data::read::Chunk<'_>| {
        model.score_chunk(&chunk, |_, scores| {
            found.push((scores[0], model.classes[model.class_of(scores) as usize].clone()));
        });
        Ok(())
    };
    stream(&files.paths, &options(|_| ()), &model.input, false, each).unwrap();
    found
}

#[test]
fn golden_input_maps_never_change_their_meaning() {
    let svm = "ham 4:2 65:10\n1:7 2:8\n65:30 200:1\n";
    let expected = [(4.0, "spam"), (2.0, "spam"), (-1.0, "ham")];
    assert_eq!(scores_of("sparse", svm), expected.map(|(s, c)| (s, c.to_owned())));
    let table = "age,extra,colour,size\n\
                 2,x,red,1\n\
                 4,x,blue,0\n\
                 NA,x,red,?\n\
                 6,x,pink,\n\
                 0,x,,0\n";
    let expected = [(10.0, "yes"), (-3.0, "no"), (11.5, "yes"), (7.0, "yes"), (-1.0, "no")];
    assert_eq!(scores_of("columns", table), expected.map(|(s, c)| (s, c.to_owned())));
}

#[test]
fn every_changed_missing_or_doubled_byte_is_refused() {
    for name in ["columns", "sparse"] {
        let golden = bytes(name);
        assert!(read(&golden).is_ok());
        let mut changed = golden.clone();
        for at in 0..golden.len() {
            for bit in 0..8 {
                changed[at] = golden[at] ^ (1 << bit);
                let error = read(&changed).err();
                let error = error.unwrap_or_else(|| panic!("{name}: byte {at} changed unnoticed"));
                assert_eq!(error.code().group(), 4, "{name}: {error}");
            }
            changed[at] = golden[at];
            let mut other = golden.clone();
            other.remove(at);
            assert!(read(&other).is_err(), "{name}: byte {at} taken out unnoticed");
            other.insert(at, golden[at]);
            other.insert(at, golden[at]);
            assert!(read(&other).is_err(), "{name}: byte {at} doubled unnoticed");
            assert!(read(&golden[..at]).is_err(), "{name}: cut at {at} unnoticed");
        }
    }
}

/// A golden file with a change and the right checksum for it.
fn forge(name: &str, from: &str, to: &str) -> Vec<u8> {
    let text = String::from_utf8(bytes(name)).unwrap();
    let at = text.find("\"sha256\": \"").unwrap() + "\"sha256\": \"".len();
    let rest = format!("{}{}", &text[..at], &text[at + 64..]);
    assert!(rest.contains(from), "{from} is not in {name}");
    let changed = rest.replacen(from, to, 1);
    let checksum: String =
        Sha256::digest(changed.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}{checksum}{}", &changed[..at], &changed[at..]).into_bytes()
}

#[test]
fn a_forged_file_is_refused_for_what_it_says() {
    assert_eq!(forge("sparse", "{", "{"), bytes("sparse"), "forging nothing changes nothing");
    for (name, from, to, code) in [
        ("sparse", "model/1", "model/2", Code::MODEL_VERSION),
        ("sparse", "[99,1e+300]", "[100,1e+300]", Code::MODEL_CONTENT),
        ("sparse", "[64,-0.1]", "[3,-0.1]", Code::MODEL_CONTENT),
        ("sparse", "[64,-0.1]", "[64,1e999]", Code::MODEL_CONTENT),
        ("sparse", "\"index_base\":1", "\"index_base\":2", Code::MODEL_CONTENT),
        ("columns", "[\"blue\",\"red\"]", "[\"blue\"]", Code::MODEL_CONTENT),
        ("columns", "\"missing\":2.5", "\"missing\":null,\"more\":1", Code::MODEL_SYNTAX),
        ("three_classes", "\"λ\"", "\"setosa\"", Code::MODEL_CONTENT),
        ("three_classes", "arg-max", "sign", Code::MODEL_CONTENT),
        ("binary", "\"stop\": \"finished\"", "\"stop\": \"done\"", Code::MODEL_CONTENT),
        ("binary", "model/1", "other/1", Code::MODEL_SYNTAX),
        ("binary", "linsep.model/1", "something", Code::MODEL_SYNTAX),
        ("binary", "\"epochs\": 12", "\"epochs\": 12,\n  \"epochs\": 12", Code::MODEL_SYNTAX),
        ("binary", "\"epochs\": 12", "\"epochs\": 12,\n  \"extra\": 12", Code::MODEL_SYNTAX),
        ("binary", "{\"eta\":\"1\"", "{\"eta\":\"1\",\"eta\":\"1\"", Code::MODEL_SYNTAX),
        ("binary", "\"bias\":-1.25", "\"bias\":NaN", Code::MODEL_SYNTAX),
        ("binary", "\"bias\":-1.25", "\"bias\":1e999", Code::MODEL_SYNTAX),
        ("binary", "[0.1,-2.5e-8,3.0]", "[0.1,-2.5e-8]", Code::MODEL_CONTENT),
        ("binary", "\"features\":3", "\"features\":4", Code::MODEL_CONTENT),
        ("binary", "\n}\n", "\n}\n{}", Code::MODEL_SYNTAX),
        ("ballot", "[7,1],[1]", "[7,1]", Code::MODEL_CONTENT),
        ("ballot", "[7,1],[1]", "[7,1,1],[1]", Code::MODEL_CONTENT),
        ("ballot", "[7,1],[1]", "[7,1,1],[]", Code::MODEL_CONTENT),
        ("ballot", "[7,1],[1]", "[7,0],[1]", Code::MODEL_CONTENT),
        ("ballot", "[7,1],[1]", "[7,18446744073709551615],[1]", Code::MODEL_CONTENT),
        ("ballot", "9007199254740992", "9007199254740993", Code::MODEL_CONTENT),
        ("ballot", "[7,1],[1]", "[7,-1],[1]", Code::MODEL_SYNTAX),
        ("ballot", "[7,1],[1]", "[7,1.5],[1]", Code::MODEL_SYNTAX),
        ("ballot", "\"rule\":\"rest\"", "\"rule\":\"sign\"", Code::MODEL_CONTENT),
        ("ballot", "\"rule\":\"rest\"", "\"rule\":\"rest\",\"more\":1", Code::MODEL_SYNTAX),
        (
            "ballot",
            "\"rule\":\"rest\"",
            "\"rule\":{\"ballot\":{\"votes\":[[1]],\"rule\":\"rest\"}}",
            Code::MODEL_CONTENT,
        ),
    ] {
        let error = read(&forge(name, from, to)).err();
        assert_eq!(error.map(|error| error.code()), Some(code), "{to}");
    }
}

/// Widths that overflow when they are turned into bytes must not get past the memory limit.
#[test]
fn no_claimed_width_makes_the_reader_allocate() {
    for features in ["200000000", "2305843009213693952", "18446744073709551615"] {
        let forged = forge("sparse", "\"features\":100", &format!("\"features\":{features}"));
        let error = read(&forged).err().unwrap_or_else(|| panic!("{features} was accepted"));
        assert_eq!(error.code(), Code::MEMORY, "{features}");
    }
}

/// A claim of format 1 has its planes written out. It counts only where they are those of the model.
#[test]
fn a_claim_of_format_1_about_other_planes_is_unproved() {
    let unproved = r#"{"claim":"unproved","reason":"a \"golden\" file proves nothing"}"#;
    let separable = |positive: &str, negative: &str, bias: &str| {
        let sides = format!(r#""positive":["{positive}"],"negative":["{negative}"]"#);
        let plane = format!(r#""plane":{{"weights":[0.1,-2.5e-8,3.0],"bias":{bias}}}"#);
        let claim = format!(r#"{{"claim":"separable","scheme":"binary",{sides},{plane}}}"#);
        let file = read(&forge("binary", unproved, &claim)).unwrap();
        file.certificate.claims[0].name()
    };
    assert_eq!(separable("1", "-1", "-1.25"), "separable");
    assert_eq!(separable("1", "-1", "-1.5"), "unproved");
    assert_eq!(separable("-1", "1", "-1.25"), "unproved");
    assert_eq!(separable("1", "-1", "\"-5/4\""), "separable", "a fraction is a plane of its own");
}
