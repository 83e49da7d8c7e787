//! Models that only score have the bits of those that are read whole.

use linsep::data::input::InputMap;
use linsep::data::read::{ReadOptions, RowSource};
use linsep::file::{DataIdentity, ModelFile};
use linsep::model::StreamModel;
use linsep::proof::{Reading, ReadingField};
use linsep::{Certificate, LinearModel, Plane, Progress, Rule, Stop};

const WIDTH: usize = 60;

/// So many planes of which a share of the weights is not 0.
fn model(planes: usize, every: usize) -> LinearModel {
    let weight = |k: usize, j: usize| match (j * 7 + k) % every {
        0 => (j as f64 - 20.5) / 3.0 * (k as f64 + 0.7),
        1 if j == 11 => -0.0,
        _ => 0.0,
    };
    let plane = |k| {
        let weights = (0..WIDTH).map(|j| weight(k, j)).collect();
        Plane::new(weights, k as f64 / 7.0 - 0.2)
    };
    let rule = if planes == 1 { Rule::Sign } else { Rule::ArgMax };
    let classes = (0..planes.max(2)).map(|k| k.to_string()).collect();
    let mut input = InputMap::plain(WIDTH);
    input.index_base = Some(1);
    LinearModel::new((0..planes).map(plane).collect(), rule, classes, input)
}

fn saved(model: &LinearModel, path: &std::path::Path) {
    let data = DataIdentity::new("0123456789abcdef".repeat(4), 150);
    let about = (data, ReadingField::new(Reading::Decimal, Vec::new()));
    let (proof, run) = (Certificate::unproved("none"), (Stop::Finished, Progress::default()));
    ModelFile::new(model.clone(), proof, "perceptron", [].into(), 1, run, about)
        .save(path)
        .unwrap();
}

fn bits(scores: &[f64]) -> Vec<u64> {
    scores.iter().map(|score| score.to_bits()).collect()
}

/// The scores of all rows of a text.
fn streamed(model: &StreamModel, text: &str, options: &ReadOptions) -> Vec<Vec<u64>> {
    let (mut scorer, mut found) = (model.chunk_scorer(), Vec::new());
    let source = RowSource::reader(text.as_bytes(), "rows", options);
    let read = model.with_planes(|planes| {
        source.scored_blocks(&model.head().input, false, planes, |_, chunk| {
            let first = found.len();
            scorer.for_each(&chunk, |_, scores| found.push(bits(scores)));
            assert_eq!(found.len() - first, chunk.n_rows());
            Ok(())
        })
    });
    read.unwrap();
    found
}

#[test]
fn rows_that_stream_past_have_the_scores_of_the_model() {
    let value = |i: usize, j: usize| match (i * 31 + j * 17) % 4 {
        0 => (i * j) as f64 / 10.0 - 40.0,
        1 if j.is_multiple_of(9) => 1e-30 * (i as f64 + 1.0),
        _ => 0.0,
    };
    let rows: Vec<Vec<f64>> = (0..300).map(|i| (0..WIDTH).map(|j| value(i, j)).collect()).collect();
    let pairs = |row: &Vec<f64>| {
        let entries = row.iter().enumerate().filter(|(_, x)| **x != 0.0);
        let entries: String = entries.map(|(j, x)| format!(" {}:{x}", j + 1)).collect();
        format!("0{entries}\n")
    };
    let svmlight: String = rows.iter().map(pairs).collect();
    let line = |row: &Vec<f64>| {
        let fields: Vec<String> = row.iter().map(f64::to_string).collect();
        fields.join(",") + "\n"
    };
    let table: String = rows.iter().map(line).collect();
    let path = std::env::temp_dir().join(format!("linsep-stream-{}.linsep", std::process::id()));
    for (planes, every) in [(1, 9), (1, 1), (3, 1), (3, 4), (5, 9), (20, 30)] {
        let model = model(planes, every);
        saved(&model, &path);
        let lean = ModelFile::load_stream_model(&path, None).unwrap();
        let expected: Vec<Vec<u64>> =
            rows.iter().map(|row| bits(&model.scores(row).unwrap())).collect();
        for threads in [1, 3] {
            let mut options = ReadOptions::default();
            options.threads = threads;
            let wanted = (planes, every, threads);
            assert!(streamed(&lean, &svmlight, &options) == expected, "pairs, {wanted:?}");
            assert!(streamed(&lean, &table, &options) == expected, "a table, {wanted:?}");
        }
        options_with_a_limit(&lean, &svmlight, &expected);
    }
    std::fs::remove_file(path).unwrap();
}

fn options_with_a_limit(lean: &StreamModel, text: &str, expected: &[Vec<u64>]) {
    let mut options = ReadOptions::default();
    options.limit = Some(7);
    assert!(streamed(lean, text, &options) == expected[..7]);
}
