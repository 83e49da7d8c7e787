//! `explain`: contributions that add up to the score of `predict`, and changes that really flip it.

use crate::common::Room;
use serde_json::Value;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn iris() -> Room {
    let room = Room::with_examples();
    room.run("train examples/iris.csv --positive setosa -o two.linsep").exits(0);
    room.run("train examples/iris.csv -o three.linsep").exits(0);
    room
}

#[test]
fn the_score_is_that_of_predict_and_the_parts_add_up_to_it() {
    let room = iris();
    for (model, row) in [("two", 3), ("two", 120), ("three", 70), ("three", 149)] {
        let line = format!("explain {model}.linsep examples/iris.csv --row {row} --json");
        let value = room.run(&line).exits(0).silent().json();
        let line = format!("predict {model}.linsep examples/iris.csv --output scores");
        let printed = room.run(&line).exits(0).out;
        let fields: Vec<&str> = printed.lines().nth(row + 1).unwrap().split(',').collect();
        assert_eq!(value["prediction"], fields[0]);
        for (score, text) in value["scores"].as_array().unwrap().iter().zip(&fields[1..]) {
            assert_eq!(number(&score["score"]).to_string(), *text, "the bits of predict");
        }
        let parts = value["contributions"].as_array().unwrap().iter();
        let sum: f64 = parts.map(|part| number(&part["contribution"])).sum();
        let score = number(&value["score"]);
        assert!((sum + number(&value["bias"]) - score).abs() < 1e-12 * (1.0 + score.abs()));
        assert_eq!(value["line"], row + 2);
    }
}

/// Writes the row with one changed value and asks `predict`.
#[test]
fn each_flip_changes_the_prediction_just_beyond_it() {
    let room = iris();
    for (model, row) in [("two", 3), ("three", 70), ("three", 10)] {
        let line = format!("explain {model}.linsep examples/iris.csv --row {row} --json");
        let value = room.run(&line).exits(0).json();
        let text = room.read("examples/iris.csv");
        let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
        let fields: Vec<&str> = text.lines().nth(row + 1).unwrap().split(',').collect();
        let flips = value["flips"].as_array().unwrap();
        assert_eq!(flips.len(), 4);
        let mut lines = vec![header.join(",")];
        for flip in flips {
            let (from, to) = (number(&flip["from"]), number(&flip["to"]));
            for share in [0.999, 1.001] {
                let moved = (from + share * (to - from)).to_string();
                let at = header.iter().position(|name| *name == flip["feature"]).unwrap();
                let mut fields = fields.clone();
                fields[at] = &moved;
                lines.push(fields.join(","));
            }
        }
        let point = value["nearest"]["values"].as_array().unwrap();
        for share in [0.999, 1.001] {
            let mut fields: Vec<String> = fields.iter().map(|f| (*f).to_owned()).collect();
            for value in point {
                let at = header.iter().position(|name| *name == value["feature"]).unwrap();
                let (from, to) = (number(&value["from"]), number(&value["to"]));
                fields[at] = (from + share * (to - from)).to_string();
            }
            lines.push(fields.join(","));
        }
        room.write("moved.csv", lines.join("\n") + "\n");
        let printed = room.run(&format!("predict {model}.linsep moved.csv")).exits(0).out;
        let found: Vec<&str> = printed.lines().skip(1).collect();
        for (pair, class) in found
            .chunks(2)
            .zip(flips.iter().map(|flip| &flip["class"]).chain([&value["nearest"]["class"]]))
        {
            assert_eq!(pair[0], value["prediction"], "{model} {row}");
            assert_eq!(pair[1], class.as_str().unwrap(), "{model} {row}");
        }
    }
}

#[test]
fn a_line_of_the_file_names_the_same_row() {
    let room = iris();
    let by_row = room.run("explain three.linsep examples/iris.csv --row 70").exits(0);
    let by_line = room.run("explain three.linsep examples/iris.csv --line 72").exits(0);
    assert_eq!(by_row.out, by_line.out);
    assert!(by_row.fact("row").starts_with("70 (iris.csv:72), label versicolor"), "{}", by_row.out);
}

#[test]
fn why_not_another_class_compares_with_it() {
    let room = iris();
    let run = room.run("explain three.linsep examples/iris.csv --row 70 --why-not setosa").exits(0);
    assert!(run.out.contains("lead of virginica over setosa"), "{}", run.out);
    let run = room.run("explain three.linsep examples/iris.csv --row 70 --top 1").exits(0);
    assert!(run.out.contains("and 3 more; --top N lists more"), "{}", run.out);
}

#[test]
fn switches_are_explained_as_switches() {
    let room = Room::with_examples();
    room.run("train examples/iris.csv --learner bernoulli-nb --binarize 2 -o b.linsep").exits(0);
    let value = room.run("explain b.linsep examples/iris.csv --row 70 --json").exits(0).json();
    assert!(value["nearest"].is_null());
    for flip in value["flips"].as_array().unwrap() {
        assert_eq!(number(&flip["from"]) + number(&flip["to"]), 1.0);
        assert_ne!(flip["class"], value["prediction"]);
    }
}
