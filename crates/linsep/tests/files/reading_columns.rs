//! Which columns become which features: choosing, weights, gaps, categories; and that the input map
//! of a model leads the same file, or a relative of it, to the same features again.

use crate::files::{Files, error_of, labels_of, options, read_with, rows_of, through};
use linsep_data::Code;
use linsep_data::input::InputMap;
use linsep_data::read::{Categorical, ColumnRange, ReadOptions, read};

fn columns(list: &str) -> Vec<ColumnRange> {
    list.split(',').map(|column| column.parse().unwrap()).collect()
}

const FIVE: &str = "a,b,c,d,label\n1,2,3,4,x\n5,6,7,8,y\n";

#[test]
fn columns_of_a_table_are_chosen_by_name_number_and_range() {
    for (features, drop, expected) in [
        ("", "", vec!["a", "b", "c", "d"]),
        ("c,a", "", vec!["a", "c"]),
        ("#2-#3", "", vec!["b", "c"]),
        ("#1,d", "", vec!["a", "d"]),
        ("", "b", vec!["a", "c", "d"]),
        ("", "#1-#2,d", vec!["c"]),
        ("#1-#4", "#2", vec!["a", "c", "d"]),
        ("#1-#5", "", vec!["a", "b", "c", "d"]),
    ] {
        let set = |o: &mut ReadOptions| {
            o.features = if features.is_empty() { Vec::new() } else { columns(features) };
            o.drop = if drop.is_empty() { Vec::new() } else { columns(drop) };
        };
        let data = read_with(FIVE, set).unwrap().data;
        assert_eq!(data.input().feature_names(), expected, "{features} without {drop}");
        let first: Vec<f64> =
            expected.iter().map(|n| (n.as_bytes()[0] - b'a' + 1).into()).collect();
        assert_eq!(data.row(0), first, "{features} without {drop}");
    }
}

#[test]
fn columns_that_are_not_there_are_refused() {
    for list in ["e", "#9", "#2-#9"] {
        assert_eq!(error_of(FIVE, |o| o.features = columns(list)).code(), Code::NO_COLUMN);
        assert_eq!(error_of(FIVE, |o| o.drop = columns(list)).code(), Code::NO_COLUMN);
    }
    assert_eq!(error_of(FIVE, |o| o.drop = columns("#1-#4")).code(), Code::NO_FEATURES);
    let twice = "a,a,label\n1,2,x\n3,4,y\n";
    assert_eq!(error_of(twice, |o| o.features = columns("a")).code(), Code::DUPLICATE_NAME);
    assert_eq!(error_of("x 1:1\ny 2:1\n", |o| o.drop = columns("a")).code(), Code::NO_COLUMN);
}

const SPARSE: &str = "x 1:1 2:2 3:3 5:5\ny 2:4 4:6\nx 5:7\n";

#[test]
fn columns_of_svmlight_are_chosen_by_number() {
    for (features, drop, expected) in [
        ("#1-#3", "", vec![vec![1., 2., 3.], vec![0., 4., 0.], vec![0., 0., 0.]]),
        ("", "#2-#4", vec![vec![1., 5.], vec![0., 0.], vec![0., 7.]]),
        ("#2-#5", "#3", vec![vec![2., 0., 5.], vec![4., 6., 0.], vec![0., 0., 7.]]),
    ] {
        let set = |o: &mut ReadOptions| {
            o.features = if features.is_empty() { Vec::new() } else { columns(features) };
            o.drop = if drop.is_empty() { Vec::new() } else { columns(drop) };
        };
        let data = read_with(SPARSE, set).unwrap().data;
        assert_eq!(rows_of(&data), expected, "{features} without {drop}");
    }
}

#[test]
fn weights_are_read_from_their_column() {
    let text = "a,w,label\n1,2.5,x\n2,0,y\n3,1,x\n";
    let set = |o: &mut ReadOptions| o.weight = Some("w".parse().unwrap());
    let data = read_with(text, set).unwrap().data;
    assert_eq!(data.weights(), Some(&[2.5, 0.0, 1.0][..]));
    assert_eq!(data.input().feature_names(), ["a"]);
    for bad in ["-1", "nan", "inf", "x", ""] {
        let error = error_of(text.replace("2.5", bad), set);
        assert_eq!(
            (error.code(), error.place().unwrap().line),
            (Code::BAD_WEIGHT, Some(2)),
            "{bad}"
        );
    }
    let zero = error_of("a,w,label\n1,0,x\n2,0,y\n", set);
    assert_eq!(zero.code(), Code::BAD_WEIGHT);
    let none = error_of(text, |o| o.weight = Some("v".parse().unwrap()));
    assert_eq!(none.code(), Code::NO_COLUMN);
}

const GAPS: &str = "a,b,label\n1,,x\n3,4,y\nNA,8,x\n?,null,y\n5,N/A,x\n";

#[test]
fn gaps_follow_the_rule() {
    let with = |rule: &str| {
        let rule = rule.parse().unwrap();
        read_with(GAPS, |o| o.missing = rule)
    };
    assert_eq!(with("error").unwrap_err().code(), Code::MISSING);
    let dropped = with("drop-row").unwrap();
    assert_eq!((rows_of(&dropped.data), dropped.choices.dropped_rows), (vec![vec![3., 4.]], 4));
    assert_eq!(dropped.data.origin().line(0), Some(3));
    let zero = with("zero").unwrap().data;
    assert_eq!(rows_of(&zero), [[1., 0.], [3., 4.], [0., 8.], [0., 0.], [5., 0.]]);
    let mean = with("mean").unwrap().data;
    assert_eq!(rows_of(&mean), [[1., 6.], [3., 4.], [3., 8.], [3., 6.], [5., 6.]]);
    let stored: Vec<Option<f64>> = mean.input().columns.iter().map(|c| c.missing).collect();
    assert_eq!(stored, [Some(3.0), Some(6.0)]);
    let stored: Vec<Option<f64>> = zero.input().columns.iter().map(|c| c.missing).collect();
    assert_eq!(stored, [Some(0.0), Some(0.0)]);
    assert!(dropped.data.input().columns.iter().all(|column| column.missing.is_none()));
}

#[test]
fn nan_is_missing_only_when_there_is_a_rule() {
    let text = "a,label\n1,x\nNaN,y\n3,y\n";
    assert_eq!(error_of(text, |_| ()).code(), Code::NOT_FINITE);
    let mean = read_with(text, |o| o.missing = "mean".parse().unwrap()).unwrap().data;
    assert_eq!(rows_of(&mean).concat(), [1.0, 2.0, 3.0]);
    let infinite = error_of(text.replace("NaN", "inf"), |o| o.missing = "mean".parse().unwrap());
    assert_eq!(infinite.code(), Code::NOT_FINITE);
}

#[test]
fn the_mean_of_a_column_without_values_is_zero() {
    let text = "a,b,label\n1,,x\n2,,y\n";
    let data = read_with(text, |o| o.missing = "mean".parse().unwrap()).unwrap().data;
    assert_eq!(rows_of(&data), [[1.0, 0.0], [2.0, 0.0]]);
}

#[test]
fn a_missing_label_is_never_filled() {
    let text = "a,label\n1,x\n2,\n3,y\n";
    for rule in ["error", "mean", "zero"] {
        let error = error_of(text, |o| o.missing = rule.parse().unwrap());
        assert_eq!((error.code(), error.place().unwrap().line), (Code::MISSING, Some(3)), "{rule}");
    }
}

/// A row that is left out must leave nothing behind: no class, no level, no line.
#[test]
fn rows_that_are_left_out_leave_no_trace() {
    let drop = |o: &mut ReadOptions| o.missing = "drop-row".parse().unwrap();
    for text in ["a,label\n1,x\n2,?\n3,y\n", "a,label\n1,x\n,z\n3,y\n", "label,a\nx,1\nz,NA\ny,3\n"]
    {
        let result = read_with(text, drop).unwrap();
        assert_eq!(result.data.classes(), ["x", "y"], "{text}");
        assert_eq!(result.choices.dropped_rows, 1);
    }
    let skip = |o: &mut ReadOptions| {
        o.bad_rows = "skip".parse().unwrap();
        o.allow_bad = Some(1);
    };
    for text in ["label,a\nx,1\nlabel,a\ny,3\n", "x 1:1\nz 1:abc\ny 1:3\n"] {
        let result = read_with(text, skip).unwrap();
        assert_eq!(result.data.classes(), ["x", "y"], "{text}");
        assert_eq!(result.choices.bad_rows, 1);
    }
    let levels = "colour,a,label\nred,1,x\nrare,,y\nblue,3,y\n";
    let result = read_with(levels, |o| {
        drop(o);
        o.categorical = "onehot".parse().unwrap();
    });
    assert_eq!(result.unwrap().data.input().feature_names(), ["colour=blue", "colour=red", "a"]);
}

const COLOURS: &str = "size,colour,label\n1,red,x\n2,blue,y\n3,Green,x\n4,red,y\n";

fn onehot(o: &mut ReadOptions) {
    o.categorical = "onehot".parse().unwrap();
}

#[test]
fn text_columns_are_refused_or_become_sorted_levels() {
    let error = error_of(COLOURS, |o| o.categorical = Categorical::Error);
    assert_eq!(error.code(), Code::TEXT_COLUMN);
    assert_eq!(error.place().unwrap().field, Some((2, Some("colour".into()))));
    let data = read_with(COLOURS, onehot).unwrap().data;
    let names = ["size", "colour=Green", "colour=blue", "colour=red"];
    assert_eq!(data.input().feature_names(), names);
    let rows = [[1., 0., 0., 1.], [2., 0., 1., 0.], [3., 1., 0., 0.], [4., 0., 0., 1.]];
    assert_eq!(rows_of(&data), rows);
    let levels = data.input().columns[1].levels.as_ref().unwrap();
    assert_eq!(levels, &["Green", "blue", "red"]);
    let mixed = read_with("v,label\n1,x\ntwo,y\n1,y\n", onehot).unwrap().data;
    assert_eq!(mixed.input().feature_names(), ["v=1", "v=two"]);
}

#[test]
fn missing_categories_follow_the_rule() {
    let text = COLOURS.replace("blue", "NA");
    assert_eq!(error_of(&text, onehot).code(), Code::MISSING);
    for rule in ["mean", "zero"] {
        let set = |o: &mut ReadOptions| {
            onehot(o);
            o.missing = rule.parse().unwrap();
        };
        let data = read_with(&text, set).unwrap().data;
        assert_eq!(data.row(1), [2.0, 0.0, 0.0], "{rule}");
    }
}

#[test]
fn unknown_levels_are_refused_or_set_nothing() {
    let new = Files::new(&[("new.csv", b"colour,size\nred,5\npink,6\nGreen,7\n")]);
    let strict = read_with(COLOURS, onehot).unwrap().data;
    let error = through(&new, strict.input(), false, |_| ()).unwrap_err();
    assert_eq!((error.code(), error.place().unwrap().line), (Code::UNKNOWN_LEVEL, Some(3)));
    let lenient = read_with(COLOURS, |o| {
        onehot(o);
        o.unknown_level = "zeros".parse().unwrap();
    });
    let seen = through(&new, lenient.unwrap().data.input(), false, |_| ()).unwrap();
    assert_eq!(seen.rows, [[5., 0., 0., 1.], [6., 0., 0., 0.], [7., 1., 0., 0.]]);
    assert_eq!(seen.labels, [None, None, None]);
}

/// The features of a file through the map of its own data set are the rows of that data set.
fn assert_map_leads_back(name: &str, text: &str, set: impl Fn(&mut ReadOptions)) {
    let files = Files::new(&[(name, text.as_bytes())]);
    let data = read(&files.paths, &options(set)).unwrap().data;
    let seen = through(&files, data.input(), true, |_| ()).unwrap();
    assert_eq!(seen.rows, rows_of(&data), "{text}");
    let labels: Vec<Option<&str>> = labels_of(&data).into_iter().map(Some).collect();
    assert_eq!(seen.labels.iter().map(Option::as_deref).collect::<Vec<_>>(), labels, "{text}");
}

#[test]
fn the_input_map_leads_the_training_file_to_the_same_features() {
    assert_map_leads_back("t.csv", FIVE, |_| ());
    assert_map_leads_back("t.csv", FIVE, |o| o.features = columns("#2,d"));
    assert_map_leads_back("t.csv", FIVE, |o| {
        o.label = Some("b".parse().unwrap());
        o.drop = columns("label");
    });
    assert_map_leads_back("t.csv", "1,2,x\n3,4,y\n", |o| o.drop = columns("#1"));
    assert_map_leads_back("t.csv", "x,2,1\ny,4,3\n", |o| o.label = Some("first".parse().unwrap()));
    assert_map_leads_back("t.csv", GAPS, |o| o.missing = "mean".parse().unwrap());
    assert_map_leads_back("t.csv", GAPS, |o| o.missing = "zero".parse().unwrap());
    assert_map_leads_back("t.csv", COLOURS, onehot);
    assert_map_leads_back("t.svm", SPARSE, |_| ());
    assert_map_leads_back("t.svm", "x 0:1 2:3\ny 1:4\n", |_| ());
}

#[test]
fn the_input_map_remembers_which_svmlight_columns_were_chosen() {
    assert_map_leads_back("t.svm", SPARSE, |o| o.drop = columns("#2-#4"));
    assert_map_leads_back("t.svm", SPARSE, |o| o.features = columns("#2,#5"));
}

fn map_of(text: &str) -> InputMap {
    read_with(text, |_| ()).unwrap().data.input().clone()
}

#[test]
fn columns_are_matched_by_name_and_others_passed_over() {
    let map = map_of(FIVE);
    let other = Files::new(&[("t.csv", b"new,d,label,c,b,a\nq,4,y,3,2,1\nr,8,x,7,6,5\n")]);
    let seen = through(&other, &map, true, |_| ()).unwrap();
    assert_eq!(seen.rows, [[1., 2., 3., 4.], [5., 6., 7., 8.]]);
    assert_eq!(seen.labels, [Some("y".to_owned()), Some("x".to_owned())]);
    let short = Files::new(&[("t.csv", b"a,b,d\n1,2,4\n5,6,8\n")]);
    let error = through(&short, &map, false, |_| ()).unwrap_err();
    assert_eq!(error.code(), Code::NO_COLUMN);
    let unlabelled = Files::new(&[("t.csv", b"a,b,c,d\n1,2,3,4\n5,6,7,8\n")]);
    assert_eq!(through(&unlabelled, &map, false, |_| ()).unwrap().labels, [None, None]);
    let error = through(&unlabelled, &map, true, |_| ()).unwrap_err();
    assert_eq!(error.code(), Code::NO_LABEL);
}

#[test]
fn without_names_columns_are_matched_by_place() {
    let map = map_of("9,1,2,x\n9,3,4,y\n");
    for (text, label) in [("9,1,2,x\n9,3,4,y\n", Some("#4")), ("9,1,2\n9,3,4\n", None)] {
        let files = Files::new(&[("t.csv", text.as_bytes())]);
        let told = |o: &mut ReadOptions| o.label = label.map(|label| label.parse().unwrap());
        let seen = through(&files, &map, false, told).unwrap();
        assert_eq!(seen.rows, [[9., 1., 2.], [9., 3., 4.]]);
        assert!(seen.choices.by_position);
    }
    // One column more may be anything; who knows that it is the label says so.
    let labelled = Files::new(&[("t.csv", b"9,1,2,x\n9,3,4,y\n")]);
    assert_eq!(through(&labelled, &map, false, |_| ()).unwrap_err().code(), Code::WIDTH);
    let label_first = read_with("x,1,2\ny,3,4\n", |o| o.label = Some("first".parse().unwrap()));
    let map = label_first.unwrap().data.input().clone();
    let bare = Files::new(&[("t.csv", b"1,2\n3,4\n")]);
    assert_eq!(through(&bare, &map, false, |_| ()).unwrap().rows, [[1., 2.], [3., 4.]]);
    let wide = Files::new(&[("t.csv", b"1,2,3,4,5\n6,7,8,9,0\n")]);
    assert_eq!(through(&wide, &map, false, |_| ()).unwrap_err().code(), Code::WIDTH);
}

#[test]
fn svmlight_entries_outside_the_model_are_left_out_and_counted() {
    let map = map_of(SPARSE);
    let new = Files::new(&[("t.svm", b"x 1:9 6:1 7:2\n2:8 5:3\n")]);
    let seen = through(&new, &map, false, |_| ()).unwrap();
    assert_eq!(seen.rows, [[9., 0., 0., 0., 0.], [0., 8., 0., 0., 3.]]);
    assert_eq!(seen.choices.outside, 2);
}

/// Forty columns in another order, five of them set in a row, so that rows are held sparsely, and
/// all five in one lane of the sum: it must run in the order of the model, not of the file.
#[test]
fn the_order_of_named_columns_does_not_touch_a_bit_of_a_score() {
    let value =
        |i: usize, j: usize| if i % 8 == j % 8 { 1.0 / (40 * i + j + 3) as f64 } else { 0.0 };
    let table = |order: &dyn Fn(usize) -> usize| {
        let names: Vec<String> = (0..40).map(|k| format!("v{}", order(k))).collect();
        let mut text = format!("{},label\n", names.join(","));
        for i in 0..90 {
            let cells: Vec<String> = (0..40).map(|k| value(i, order(k)).to_string()).collect();
            text += &format!("{},{}\n", cells.join(","), ["x", "y"][i % 2]);
        }
        text
    };
    let (plain, mixed) = (table(&|k| k), table(&|k| (k * 17 + 5) % 40));
    let mut model = crate::files::mirror(&map_of(&plain));
    for plane in &mut model.planes {
        let weight = |j: usize| ((j * j) as f64).sin() * 10f64.powi(j as i32 % 7 - 3);
        plane.weights = (0..40).map(weight).collect();
    }
    let scores = |text: &str| {
        let files = Files::new(&[("t.csv", text.as_bytes())]);
        let mut bits: Vec<u64> = Vec::new();
        let each = |_: &_, chunk: linsep_data::read::Chunk<'_>| {
            model.score_chunk(&chunk, |_, scores| bits.push(scores[0].to_bits()));
            Ok(())
        };
        linsep_data::read::stream(&files.paths, &options(|_| ()), &model.input, true, each)
            .unwrap();
        bits
    };
    assert_eq!(scores(&plain), scores(&mixed));
}
