//! What is written reads back bit for bit, in every format and packing; the digest names the data
//! and nothing else; models survive saving.

use crate::files::{Files, labels_of, options, pack, rows_of};
use linsep::data::input::{InputColumn, InputMap};
use linsep::data::read::{Format, ReadOptions, ReadResult, read};
use linsep::data::write::{OutputFormat, Packing, losses, write};
use linsep::file::{DataIdentity, ModelFile};
use linsep::proof::digest::{Version, digest_of};
use linsep::proof::{Reading, ReadingField};
use linsep::{
    Ballot, Certificate, Dataset, DatasetBuilder, LinearModel, Plane, Progress, Rule, Stop,
};
use linsep::{Result, Task};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::path::Path;

/// The same cases on every machine. `PROPTEST_CASES` asks for more of them.
fn config(cases: u32) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig {
        cases: asked.unwrap_or(cases),
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(20_260_801),
        ..ProptestConfig::default()
    }
}

/// Numbers that are hard to write, to read or to hold.
fn nasty_number() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(0.0),
        Just(-0.0),
        Just(0.1 + 0.2),
        Just(5e-324),
        Just(f64::MIN_POSITIVE),
        Just(-1e300),
        Just(f64::MAX),
        Just(9007199254740992.0),
        (-100i32..100).prop_map(f64::from),
        (-(1i64 << 53)..(1 << 53)).prop_map(|n| n as f64),
        (-2_000_000_000i64..2_000_000_000, 0..12).prop_map(|(m, p)| m as f64 / 10f64.powi(p)),
        any::<f32>().prop_filter("finite", |x| x.is_finite()).prop_map(f64::from),
        any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |x| x.is_finite()),
    ]
}

/// A column-wise alike table: one way of drawing values for all of it, so that every encoding and
/// both storages come up.
fn values(width: usize, rows: usize) -> impl Strategy<Value = Vec<Vec<f64>>> {
    let table = move |cell: BoxedStrategy<f64>| {
        prop::collection::vec(prop::collection::vec(cell, width), rows).boxed()
    };
    prop_oneof![
        table(nasty_number().boxed()),
        table(prop_oneof![4 => Just(0.0), 1 => Just(1.0)].boxed()),
        table((0i32..50).prop_map(|n| f64::from(n) / 4.0).boxed()),
        table((0i32..1_000_000).prop_map(|n| f64::from(n) / 1000.0).boxed()),
        table(prop_oneof![9 => Just(0.0), 1 => nasty_number()].boxed()),
        table(any::<f32>().prop_filter("finite", |x| x.is_finite()).prop_map(f64::from).boxed()),
    ]
}

fn nasty_label() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~\n\r\t]{1,6}",
        "[a-c;,|\"]{1,4}",
        "\\PC{1,4}",
        "-?[0-9]{1,3}(\\.[0-9]{1,2})?",
        Just("a\r\nb".to_owned()),
        Just("\u{a0}x\u{3000}".to_owned()),
        Just("\"".to_owned()),
        Just("nan".to_owned()),
    ]
    .prop_filter("a table takes it for a gap", |label| !is_gap(label))
}

/// What stands for a missing value in a table; see `labels_that_would_not_read_back_are_losses`.
fn is_gap(label: &str) -> bool {
    let text = label.trim_ascii().to_lowercase();
    ["", "?", "na", "n/a", "null"].contains(&text.as_str())
}

fn fit_label() -> impl Strategy<Value = String> {
    prop_oneof!["[!-~&&[^:#]]{1,6}", "[äöü€λ]{1,3}", "[+-]?[0-9]{1,3}"]
        .prop_filter("a table takes it for a gap", |label| !is_gap(label))
}

/// Rows and labels, in a form that prints short when a test fails.
#[derive(Debug)]
struct Plain(Vec<Vec<f64>>, Vec<String>);

impl Plain {
    fn data(&self) -> Dataset {
        Dataset::from_rows(&self.0, &self.1).unwrap()
    }
}

fn table(label: BoxedStrategy<String>) -> impl Strategy<Value = Plain> {
    let names = prop::collection::vec(label, 1..5);
    (1..14usize, 1..50usize, names).prop_flat_map(|(width, rows, names)| {
        let labels = prop::collection::vec(prop::sample::select(names), rows);
        (values(width, rows), labels).prop_map(|(rows, labels)| Plain(rows, labels))
    })
}

/// Writes to a file of the right name and reads it again.
fn there_and_back(
    data: &Dataset,
    format: OutputFormat,
    packing: Packing,
    set: impl FnOnce(&mut ReadOptions),
) -> Result<ReadResult> {
    let name = match format {
        OutputFormat::Table(b',') => "t.csv",
        OutputFormat::Table(_) => "t.tsv",
        _ => "t.svm",
    };
    let files = Files::new(&[(name, b"")]);
    pack(&files.paths[0], packing, |out| write(data, format, out).unwrap());
    read(&files.paths, &options(set))
}

const PACKINGS: [Packing; 3] = [Packing::Plain, Packing::Gzip, Packing::Zstd];

fn entries(data: &Dataset, row: usize) -> Vec<(u32, u64)> {
    let mut entries = Vec::new();
    data.for_each(row, |column, value| entries.push((column, value.to_bits())));
    entries
}

fn assert_same(found: &Dataset, expected: &Dataset) {
    assert_eq!(found.n_rows(), expected.n_rows());
    for row in 0..expected.n_rows() {
        assert_eq!(entries(found, row), entries(expected, row), "row {row}");
        assert!(entries(found, row).iter().all(|(_, bits)| bits << 1 != 0), "a zero is held");
    }
    assert_eq!(labels_of(found), labels_of(expected));
    assert_eq!(found.classes(), expected.classes());
    assert_eq!(found.digest(2), expected.digest(1));
    if found.n_features() == expected.n_features() {
        assert_eq!(found.encoding(), expected.encoding());
        assert_eq!(found.is_dense(), expected.is_dense());
    }
}

fn claimed(format: Format) -> impl Fn(&mut ReadOptions) {
    move |o| {
        o.format = format;
        o.threads = 2;
        o.label = Some("first".parse().unwrap());
    }
}

proptest! {
    #![proptest_config(config(48))]

    #[test]
    fn tables_read_back_bit_for_bit(plain in table(nasty_label().boxed())) {
        let data = plain.data();
        for (delimiter, format) in [(b',', Format::Csv), (b'\t', Format::Tsv)] {
            let format_out = OutputFormat::Table(delimiter);
            prop_assert!(losses(&data, format_out).is_empty());
            for packing in PACKINGS {
                let found = there_and_back(&data, format_out, packing, claimed(format)).unwrap();
                assert_same(&found.data, &data);
            }
        }
    }

    #[test]
    fn svmlight_reads_back_bit_for_bit(plain in table(fit_label().boxed())) {
        let data = plain.data();
        prop_assert!(losses(&data, OutputFormat::Svmlight).is_empty());
        for packing in PACKINGS {
            let set = claimed(Format::Svmlight);
            let found = there_and_back(&data, OutputFormat::Svmlight, packing, set).unwrap();
            assert_same(&found.data, &data);
        }
    }

    /// Format, delimiter, header and label are found without a word from the user.
    #[test]
    fn what_is_written_is_recognised(plain in table(fit_label().boxed())) {
        let data = plain.data();
        let tables = [OutputFormat::Table(b','), OutputFormat::Table(b'\t')];
        for format in tables.into_iter().chain([OutputFormat::Svmlight]) {
            match there_and_back(&data, format, Packing::Plain, |_| ()) {
                Ok(found) => assert_same(&found.data, &data),
                Err(error) => prop_assert!(false, "{format:?}: {error}"),
            }
        }
    }

    #[test]
    fn files_and_storages_learn_the_same_bits(plain in table(fit_label().boxed())) {
        let data = plain.data();
        if data.n_classes() < 2 {
            return Ok(());
        }
        let (csv, set) = (OutputFormat::Table(b','), claimed(Format::Csv));
        let text = there_and_back(&data, csv, Packing::Plain, set).unwrap().data;
        let (other, text_other) = (data.with_other_storage(), text.with_other_storage());
        let learner = crate::support::variants_of(&[])[0].learner();
        let learned = [data, other, text, text_other]
            .map(|data| crate::support::bits(&crate::support::fit(learner.as_ref(), &Task::new(data)).model));
        // Behind an overflow dense and sparse rows may differ; see the conformance tests.
        if learned.iter().flatten().any(|&bits| !f64::from_bits(bits).is_finite()) {
            return Ok(());
        }
        for bits in &learned[1..] {
            prop_assert_eq!(bits, &learned[0]);
        }
    }

    #[test]
    fn the_digest_changes_with_every_value_label_and_order(
        plain in table(fit_label().boxed()),
        pick: prop::sample::Index,
        other: prop::sample::Index,
    ) {
        let data = plain.data();
        let (row, second) = (pick.index(data.n_rows()), other.index(data.n_rows()));
        let column = other.index(data.n_features());
        let digest_with = |change: &dyn Fn(&mut Plain)| {
            let labels = labels_of(&data).into_iter().map(String::from).collect();
            let mut plain = Plain(rows_of(&data), labels);
            change(&mut plain);
            plain.data().digest(1)
        };
        let digest = data.digest(1);
        prop_assert_eq!(&digest_with(&|_| ()), &digest);
        prop_assert_eq!(&data.with_other_storage().digest(3), &digest);
        let value = digest_with(&|Plain(rows, _)| {
            let old = rows[row][column];
            rows[row][column] = if old == 0.0 { 5e-324 } else { f64::from_bits(old.to_bits() ^ 1) };
        });
        prop_assert_ne!(&value, &digest);
        prop_assert_ne!(&digest_with(&|Plain(_, labels)| labels[row] += "x"), &digest);
        let differ = labels_of(&data)[row] != labels_of(&data)[second]
            || entries(&data, row) != entries(&data, second);
        let swapped = digest_with(&|Plain(rows, labels)| {
            rows.swap(row, second);
            labels.swap(row, second);
        });
        prop_assert_eq!(swapped != digest, differ);
    }
}

/// The table of docs/reference/digest.md.
#[test]
fn both_versions_of_the_digest_have_their_documented_values() {
    let data = Dataset::from_rows(&[[0.5, 0.0], [1.0, -2.0]], &["no", "yes"]).unwrap();
    let first = "91ea72fa97c2a9a8427ca4c162034f5a3b42e355b1a4c30a0f222dcb6c157529";
    let second = "37df3ff04f90885b0b20e53b23f929258dc35e1321399a1649f7ea85f4ec1a26";
    assert_eq!(data.digest_of(Version::One, 1), first);
    assert_eq!(data.digest_of(Version::Two, 1), second);
    assert_eq!(data.identity(1), DataIdentity::new(second.into(), 2));
}

#[test]
fn blocks_threads_and_storage_do_not_change_the_digest() {
    let value = |k: usize| match k % 7 {
        0..3 => 0.0,
        3 => k as f64,
        4 => k as f64 / 1000.0,
        5 => -f64::from(1.0f32 / k as f32),
        _ => (k as f64).sqrt(),
    };
    let rows: Vec<[f64; 5]> =
        (0..9000).map(|i| std::array::from_fn(|j| value(31 * i + 11 * j))).collect();
    let labels: Vec<String> = (0..9000).map(|i| format!("class {}", i % 3)).collect();
    let data = Dataset::from_rows(&rows, &labels).unwrap();
    let other = data.with_other_storage();
    for version in [Version::One, Version::Two] {
        let alone = digest_of(version, &data);
        for threads in [1, 2, 5] {
            assert_eq!(data.digest_of(version, threads), alone);
            assert_eq!(other.digest_of(version, threads), alone);
        }
    }
    assert_ne!(data.digest_of(Version::One, 1), data.digest(1));
}

fn weight() -> impl Strategy<Value = f64> {
    prop_oneof![3 => Just(0.0), 2 => nasty_number()]
}

fn model_file() -> impl Strategy<Value = ModelFile> {
    let shape = (1..150usize, 2..5usize, 0..7usize);
    shape.prop_flat_map(|(width, classes, kind)| {
        let ballot = |classes: usize, rule: Rule| {
            let votes = (1..=rule.n_scores(classes) as u64).map(|k| vec![k; k as usize]).collect();
            Rule::Ballot(Ballot::new(votes, rule))
        };
        let (classes, rule) = match kind {
            0 => (2, Rule::Sign),
            1 => (classes, Rule::ArgMax),
            2 => (classes.max(3), Rule::Rest),
            3 => (classes.max(3), Rule::RestLast),
            4 => (classes.max(3), Rule::Vote),
            5 => (2, ballot(2, Rule::Sign)),
            _ => (3, ballot(3, Rule::Vote)),
        };
        let planes = match &rule {
            Rule::Ballot(ballot) => ballot.votes.concat().len(),
            rule => rule.n_scores(classes),
        };
        let plane = (prop::collection::vec(weight(), width), nasty_number());
        let names = prop::collection::hash_set("\\PC{0,5}", classes);
        let file =
            (any::<u64>(), any::<u32>(), "[a-z\"\\\\\n]{0,9}", "[0-9a-f]{64}", any::<bool>());
        (prop::collection::vec(plane, planes), names, file).prop_map(
            move |(planes, names, (seed, count, words, sha256, named))| {
                let column = |position| {
                    InputColumn::new(position)
                        .with_name((position % 2 == 0).then(|| format!("{words}{position}")))
                        .with_missing((position % 3 == 0).then_some(planes[0].1))
                };
                let columns = if named { (0..width).map(column).collect() } else { Vec::new() };
                let planes = planes.iter();
                let model = LinearModel::new(
                    planes.map(|(w, b)| Plane::new(w.clone(), *b)).collect(),
                    rule.clone(),
                    names.into_iter().collect(),
                    InputMap::plain(width).with_columns(columns),
                );
                let counts = Progress::default().with_epochs(seed).with_updates(count.into());
                let parameters = [("eta".to_owned(), words.clone())].into();
                let identity = DataIdentity::new(sha256, seed / 3);
                let (end, proof) = ((Stop::Updates, counts), Certificate::unproved(&words));
                let default = if named { Reading::Decimal } else { Reading::Binary64 };
                let reading = ReadingField::new(default, vec![0; named.into()]);
                let about = (identity, reading);
                ModelFile::new(model, proof, &words, parameters, seed, end, about)
            },
        )
    })
}

proptest! {
    #![proptest_config(config(96))]

    /// Bit for bit, weights of −0 too.
    #[test]
    fn a_model_reads_back_as_it_was_saved(file in model_file()) {
        let bytes = file.to_bytes().unwrap();
        let loaded = ModelFile::from_bytes(&bytes, Path::new("m"), u64::MAX).unwrap();
        prop_assert_eq!(&loaded, &file);
        let numbers = |file: &ModelFile| -> Vec<u64> {
            let planes = file.model.planes.iter();
            planes.flat_map(|p| p.weights.iter().chain([&p.bias])).map(|x| x.to_bits()).collect()
        };
        prop_assert_eq!(numbers(&loaded), numbers(&file));
        prop_assert_eq!(loaded.to_bytes().unwrap(), bytes);
    }
}

#[test]
fn row_weights_go_through_tables_and_are_a_loss_in_svmlight() {
    let mut builder = DatasetBuilder::new(2);
    for (i, label) in ["x", "y", "x"].into_iter().enumerate() {
        builder.dense_row(&[i as f64, 0.1], label).unwrap();
        builder.weight([0.25, 0.0, 1e300][i]).unwrap();
    }
    let data = builder.finish().unwrap();
    let weight = |o: &mut ReadOptions| o.weight = Some("weight".parse().unwrap());
    let found = there_and_back(&data, OutputFormat::Table(b','), Packing::Plain, weight).unwrap();
    assert_same(&found.data, &data);
    assert_eq!(found.data.weights(), data.weights());
    assert!(losses(&data, OutputFormat::Table(b',')).is_empty());
    assert_eq!(losses(&data, OutputFormat::Svmlight).len(), 1);
}

/// A format either holds a label or says that it cannot.
#[test]
fn labels_that_would_not_read_back_are_losses() {
    for label in ["NA", "?", "null", "n/a", "", "a\0b", "a b", "a:b", "a#b"] {
        let data = Dataset::from_rows(&[[1.0], [2.0]], &["ok", label]).unwrap();
        for format in [OutputFormat::Table(b','), OutputFormat::Svmlight] {
            let back = there_and_back(&data, format, Packing::Plain, |_| ());
            let same = back.is_ok_and(|found| labels_of(&found.data) == labels_of(&data));
            assert_eq!(same, losses(&data, format).is_empty(), "{label:?} in {format:?}");
        }
    }
}

/// A converted file is as easy to read as the original: the same label is found in it, whatever its
/// name is and wherever it stood.
#[test]
fn the_label_is_found_again_in_a_converted_table() {
    for text in ["len,kind,species\n1.5,7,a\n2.5,8,b\n", "species,len,kind\na,1.5,7\nb,2.5,8\n"] {
        let set = |o: &mut ReadOptions| o.label = Some("species".parse().unwrap());
        let data = crate::files::read_with(text, set).unwrap().data;
        let found =
            there_and_back(&data, OutputFormat::Table(b','), Packing::Plain, |_| ()).unwrap();
        assert_eq!(labels_of(&found.data), ["a", "b"], "{}", found.choices.label);
        assert_eq!(found.data.digest(1), data.digest(1));
    }
}

#[test]
fn the_examples_read_back_from_every_format_without_a_word() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let files = std::fs::read_dir(examples).unwrap().map(|entry| entry.unwrap().path());
    let data_files =
        files.filter(|path| path.extension().is_some_and(|e| e == "csv" || e == "svm"));
    let mut count = 0;
    for path in data_files {
        count += 1;
        let data = read(std::slice::from_ref(&path), &ReadOptions::default()).unwrap().data;
        for format in
            [OutputFormat::Svmlight, OutputFormat::Table(b','), OutputFormat::Table(b'\t')]
        {
            let found = there_and_back(&data, format, Packing::Zstd, |_| ())
                .unwrap_or_else(|error| panic!("{} as {format:?}: {error}", path.display()));
            assert_eq!(found.data.digest(1), data.digest(2), "{} as {format:?}", path.display());
        }
    }
    assert!(count >= 5);
}
