//! Labels from arrays of every type are the classes that the same labels are in a file.

use linsep_data::door::Labels;
use linsep_data::read::{ColumnRef, ReadOptions, read};
use linsep_data::{Dataset, Features};

fn from_csv(labels: &[&str], weights: Option<&[&str]>) -> Dataset {
    let mut text = String::from("x,w,label\n");
    for (i, label) in labels.iter().enumerate() {
        let weight = weights.map_or("1", |weights| weights[i]);
        text.push_str(&format!("{}.5,{weight},{label}\n", i + 1));
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("labels.csv");
    std::fs::write(&file, text).unwrap();
    let mut options = ReadOptions::default();
    options.label = Some(ColumnRef::Name("label".into()));
    options.weight = Some(ColumnRef::Name("w".into()));
    read(&[file], &options).unwrap().data
}

#[track_caller]
fn assert_same(labels: Labels, texts: &[&str]) {
    let values: Vec<f64> = (0..texts.len()).map(|i| i as f64 + 1.5).collect();
    let features = Features::dense(&values, texts.len(), 1).unwrap();
    let data = Dataset::new(features, labels, None).unwrap();
    let csv = from_csv(texts, None);
    assert_eq!(data.classes(), csv.classes());
    assert_eq!(data.targets(), csv.targets());
    assert_eq!(data.digest(1), csv.digest(1));
}

#[test]
fn labels_of_every_type_are_those_of_text() {
    assert_same(Labels::numbers(&[2, -1, 2, 10]).unwrap(), &["2", "-1", "2", "10"]);
    assert_same(Labels::numbers(&[1.0, -1.0, 1.0]).unwrap(), &["+1", "-1", "1.0"]);
    assert_same(Labels::numbers(&[0.0, -0.0, 0.5]).unwrap(), &["0", "-0", "5e-1"]);
    assert_same(Labels::numbers(&[0.1f32, 2.0]).unwrap(), &["0.10000000149011612", "2"]);
    assert_same(Labels::numbers(&[7u8, 0, 7]).unwrap(), &["7", "0", "7"]);
    assert_same(Labels::numbers(&[true, false, true]).unwrap(), &["true", "false", "true"]);
    let large = [i64::MAX, 1 << 60, i64::MAX - 1];
    let texts = large.map(|x| x.to_string());
    assert_same(Labels::numbers(&large).unwrap(), &texts.each_ref().map(String::as_str));
    let words = ["b", " a ", "b", "1.0", "+1"];
    assert_same(Labels::text(&words).unwrap(), &words);
    let names = ["cold", "warm", "never"];
    assert_same(Labels::ids(&[1u32, 0, 1], &names).unwrap(), &["warm", "cold", "warm"]);
    assert_same(Labels::ids(&[1i8, 0], &["2", "10"]).unwrap(), &["10", "2"]);
}

#[test]
fn weights_of_any_type_are_those_of_text() {
    let labels = ["a", "b", "a"];
    let csv = from_csv(&labels, Some(&["2", "0", "1.5"]));
    let set = |weights| {
        let features = Features::dense(&[1.5, 2.5, 3.5], 3, 1).unwrap();
        Dataset::new(features, Labels::text(&labels).unwrap(), Some(weights)).unwrap()
    };
    assert_eq!(set((&[2.0f32, 0.0, 1.5]).into()).weights(), csv.weights());
    assert_eq!(set((&[2u16, 0, 1]).into()).weights(), Some(&[2.0, 0.0, 1.0][..]));
}
