//! Predictions in bulk have the bits of single ones: every rule, link and input map, from plain memory and
//! from data sets, dense and sparse, on several threads.

use linsep::data::basis::BasisSpec;
use linsep::data::input::InputMap;
use linsep::data::read::{ReadOptions, RowSource, read_from};
use linsep::data::{Features, RowsView};
use linsep::model::rule::duels;
use linsep::model::{Plane, Sigmoid};
use linsep::rng::{Purpose, Stream};
use linsep::{Ballot, Code, Dataset, LinearModel, Link, Rule};
use std::io::Write as _;

const ROWS: usize = 1100;
const WIDTH: usize = 7;

/// Rows of which many values are 0.
fn rows(stream: &mut Stream) -> Vec<f64> {
    let value = |stream: &mut Stream| match stream.below(5) {
        0 => stream.normal(),
        1 => stream.below(9) as f64 - 4.0,
        _ => 0.0,
    };
    (0..ROWS * WIDTH).map(|_| value(stream)).collect()
}

/// Starts, columns and values of the same rows.
fn sparse(values: &[f64]) -> (Vec<usize>, Vec<u32>, Vec<f64>) {
    let (mut starts, mut columns, mut kept) = (vec![0], Vec::new(), Vec::new());
    for row in values.chunks(WIDTH) {
        let entries = row.iter().zip(0..).filter(|(value, _)| **value != 0.0);
        entries.for_each(|(value, column)| {
            columns.push(column);
            kept.push(*value);
        });
        starts.push(kept.len());
    }
    (starts, columns, kept)
}

fn rules() -> Vec<(Rule, usize)> {
    let ballot = |sizes: &[usize], rule| {
        let votes = sizes.iter().map(|&n| (1..=n as u64).collect()).collect();
        Rule::Ballot(Ballot::new(votes, rule))
    };
    vec![
        (Rule::Sign, 2),
        (Rule::ArgMax, 2),
        (Rule::ArgMax, 9),
        (Rule::Rest, 4),
        (Rule::RestLast, 5),
        (Rule::Vote, 4),
        (ballot(&[3], Rule::Sign), 2),
        (ballot(&[1, 2, 4], Rule::Rest), 3),
        (ballot(&[2, 1, 1, 2, 1, 3], Rule::Vote), 4),
    ]
}

/// The data with basis functions.
fn with_basis(data: &Dataset, words: &str) -> Dataset {
    let spec: BasisSpec = words.parse().unwrap();
    data.clone().with_basis(&spec, None, 5, None).unwrap()
}

/// Input maps, with the data that has the same basis functions.
fn inputs(data: &Dataset) -> Vec<(InputMap, Option<Dataset>)> {
    let plain = |binarize: Option<f64>| {
        let mut input = InputMap::plain(WIDTH);
        input.binarize = binarize;
        (input, None)
    };
    let with = |words: &str| {
        let expanded = with_basis(data, words);
        let mut input = InputMap::plain(WIDTH);
        input.basis = expanded.input().basis.clone();
        (input, Some(expanded))
    };
    vec![
        plain(None),
        plain(Some(0.5)),
        plain(Some(-0.5)),
        with("poly:3"),
        with("x1*x7^2,x3^2"),
        with("rbf:2,1.5"),
    ]
}

fn model(rule: Rule, classes: usize, input: InputMap, stream: &mut Stream) -> LinearModel {
    let planes = match &rule {
        Rule::Ballot(ballot) => ballot.votes.iter().map(Vec::len).sum(),
        rule => rule.n_scores(classes),
    };
    let width = input.width();
    let plane = |stream: &mut Stream| {
        Plane::new((0..width).map(|_| stream.normal()).collect(), stream.normal())
    };
    LinearModel::new(
        (0..planes).map(|_| plane(stream)).collect(),
        rule,
        (0..classes).map(|k| format!("class {k}")).collect(),
        input,
    )
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|x| x.to_bits()).collect()
}

/// All views of the rows give what single rows give.
fn assert_same(model: &LinearModel, values: &[f64], views: &[(&str, RowsView<'_>)]) {
    let single = |row: usize| &values[row * WIDTH..(row + 1) * WIDTH];
    let scores: Vec<Vec<f64>> = (0..ROWS).map(|row| model.scores(single(row)).unwrap()).collect();
    let classes: Vec<&str> = (0..ROWS).map(|row| model.predict(single(row)).unwrap()).collect();
    let shares: Vec<Option<Vec<f64>>> =
        (0..ROWS).map(|row| model.probabilities(single(row)).unwrap()).collect();
    for (name, view) in views {
        for threads in [1, 3] {
            let words = format!("{name}, {threads} threads, {:?} {:?}", model.rule, model.input);
            let mut found = vec![f64::NAN; ROWS * model.n_scores()];
            model.scores_into(*view, threads, &mut found).unwrap();
            assert_eq!(bits(&found), bits(&scores.concat()), "{words}");
            let mut found = vec![u32::MAX; ROWS];
            model.predict_into(*view, threads, &mut found).unwrap();
            let found: Vec<&str> =
                found.iter().map(|&class| model.classes[class as usize].as_str()).collect();
            assert_eq!(found, classes, "{words}");
            let mut found = vec![f64::NAN; ROWS * model.classes.len()];
            match model.probabilities_into(*view, threads, &mut found) {
                Ok(()) => {
                    let shares: Option<Vec<Vec<f64>>> = shares.iter().cloned().collect();
                    assert_eq!(bits(&found), bits(&shares.unwrap().concat()), "{words}");
                }
                Err(_) => assert!(shares.iter().all(Option::is_none), "{words}"),
            }
        }
    }
}

#[test]
fn many_rows_have_the_bits_of_single_rows() {
    let mut stream = Stream::new(11, Purpose::Generate(1));
    let values = rows(&mut stream);
    let (starts, columns, kept) = sparse(&values);
    let lines: Vec<&[f64]> = values.chunks(WIDTH).collect();
    let labels: Vec<&str> = (0..ROWS).map(|row| ["a", "b"][row % 2]).collect();
    let data = Dataset::from_rows(&lines, &labels).unwrap();
    let other = data.with_other_storage();
    assert_ne!(data.is_dense(), other.is_dense());
    let foreign = with_basis(&data, "poly:2");
    let features = Features::dense(&values, ROWS, WIDTH).unwrap();
    for (input, own) in inputs(&data) {
        let mut views = vec![
            ("dense memory", RowsView::dense(&values, ROWS, WIDTH).unwrap()),
            ("sparse memory", RowsView::csr(&starts, &columns, &kept, WIDTH).unwrap()),
            ("data", RowsView::from(&data)),
            ("data, other storage", RowsView::from(&other)),
            ("features", RowsView::from(&features)),
            ("data with another basis", RowsView::from(&foreign)),
        ];
        views.extend(own.as_ref().map(|own| ("data with the basis", RowsView::from(own))));
        for (rule, classes) in rules() {
            let model = model(rule, classes, input.clone(), &mut stream);
            assert_same(&model, &values, &views);
        }
    }
}

#[test]
fn probabilities_in_bulk_have_the_bits_of_single_ones() {
    let mut stream = Stream::new(12, Purpose::Generate(2));
    let values = rows(&mut stream);
    let views = [("dense memory", RowsView::dense(&values, ROWS, WIDTH).unwrap())];
    let sigmoid = |k: usize| Sigmoid::new(1.0 + k as f64, -0.3);
    let cases = [
        (Rule::Sign, 2, Link::Softmax),
        (Rule::Sign, 2, Link::Sigmoid { slope: -1.5, offset: 0.25 }),
        (Rule::ArgMax, 5, Link::Softmax),
        (Rule::Rest, 3, Link::Sigmoids((0..3).map(sigmoid).collect())),
    ];
    for (rule, classes, link) in cases {
        let mut model = model(rule, classes, InputMap::plain(WIDTH), &mut stream);
        model.link = link;
        let some = model.probabilities(&values[..WIDTH]).unwrap().unwrap();
        assert!((some.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert_same(&model, &values, &views);
    }
}

#[test]
fn rows_and_rooms_that_do_not_fit_are_refused() {
    let mut stream = Stream::new(13, Purpose::Generate(3));
    let model = model(Rule::Vote, 4, InputMap::plain(3), &mut stream);
    assert_eq!(model.n_scores(), duels(4).count());
    for row in [&[][..], &[1.0], &[1.0, 2.0], &[1.0, 2.0, 3.0, 4.0]] {
        assert_eq!(model.predict(row).unwrap_err().code(), Code::WIDTH, "{row:?}");
        assert_eq!(model.scores(row).unwrap_err().code(), Code::WIDTH, "{row:?}");
        assert_eq!(model.probabilities(row).unwrap_err().code(), Code::WIDTH, "{row:?}");
        let view = RowsView::dense(row, 1, row.len()).unwrap();
        assert_eq!(model.predict_into(view, 1, &mut [0]).unwrap_err().code(), Code::WIDTH);
        let sparse = RowsView::csr(&[0, 0], &[], &[], row.len()).unwrap();
        assert_eq!(model.predict_into(sparse, 1, &mut [0]).unwrap_err().code(), Code::WIDTH);
    }
    assert_eq!(model.predict(&[1.0, f64::NAN, 0.0]).unwrap_err().code(), Code::NOT_FINITE);
    let data = Dataset::from_rows(&[[1.0, 2.0], [3.0, 4.0]], &["a", "b"]).unwrap();
    assert_eq!(model.predict_into(&data, 1, &mut [0; 2]).unwrap_err().code(), Code::WIDTH);
    let two = RowsView::dense(&[0.0; 6], 2, 3).unwrap();
    assert!(model.predict_into(two, 1, &mut [0; 3]).is_err());
    assert!(model.scores_into(two, 1, &mut [0.0; 11]).is_err());
    let error = model.probabilities_into(two, 1, &mut [0.0; 8]).unwrap_err();
    assert!(error.to_string().contains("no probabilities"), "{error}");
    let none = RowsView::dense(&[], 0, 3).unwrap();
    model.scores_into(none, 4, &mut []).unwrap();
}

#[test]
fn rows_are_evaluated_alike_wherever_they_come_from() {
    let mut stream = Stream::new(14, Purpose::Generate(4));
    let values = rows(&mut stream);
    let lines: Vec<&[f64]> = values.chunks(WIDTH).collect();
    let labels: Vec<String> = (0..ROWS).map(|row| format!("class {}", row % 4)).collect();
    let data = Dataset::from_rows(&lines, &labels).unwrap();
    let mut text = Vec::new();
    for (line, label) in lines.iter().zip(&labels) {
        let cells = line.iter().map(f64::to_string).chain([label.clone()]);
        writeln!(text, "{}", cells.collect::<Vec<_>>().join(",")).unwrap();
    }
    let options = ReadOptions::default();
    let input = read_from(&text[..], "table", &options).unwrap().data.input().clone();
    for (rule, classes) in rules().into_iter().filter(|(_, classes)| *classes >= 4) {
        let model = model(rule, classes, input.clone(), &mut stream);
        let from_data = model.evaluate_source((&data).into()).unwrap();
        let read = data.clone().with_classes(&model.classes, false).unwrap();
        assert_eq!(from_data, model.evaluate(&read, None, 2));
        let file = RowSource::reader(&text[..], "table", &options);
        assert_eq!(model.evaluate_source(file).unwrap(), from_data);
    }
    let model = model(Rule::ArgMax, 3, input, &mut stream);
    let error = model.evaluate_source(RowSource::reader(&text[..], "table", &options)).unwrap_err();
    assert_eq!(error.code(), Code::UNKNOWN_CLASS);
    assert!(error.to_string().contains("table:4"), "{error}");
    let view = RowsView::dense(&values, ROWS, WIDTH).unwrap();
    assert_eq!(model.evaluate_source(view.into()).unwrap_err().code(), Code::NO_LABEL);
}
