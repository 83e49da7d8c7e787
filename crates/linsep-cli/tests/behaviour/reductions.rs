//! K classes by separate machines, ballots, and rows on which no class is predicted.

use crate::common::{Room, SPECIES};
use serde_json::Value;

/// Three classes on a line, the middle one between the others; the last two rows lie far outside.
const LINE: &str = "x,label\n0,a\n1,a\n2,a\n10,b\n11,b\n12,b\n20,c\n21,c\n22,c\n";

fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("a JSON object")).collect()
}

/// The answer of a scheme, worked out from the scores that the program prints beside it.
fn check(line: &str, ambiguous: impl Fn(&[f64]) -> bool, class: impl Fn(&[f64]) -> String) -> bool {
    let fields: Vec<&str> = line.split(',').collect();
    let scores: Vec<f64> = fields[1..].iter().map(|s| s.parse().expect("a number")).collect();
    let open = ambiguous(&scores);
    let expected = if open { "?".to_owned() } else { class(&scores) };
    assert_eq!(fields[0], expected, "{line}");
    open
}

fn claims(scores: &[f64]) -> usize {
    scores.iter().filter(|score| **score >= 0.0).count()
}

fn best(scores: &[f64]) -> usize {
    (0..scores.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b]).then(b.cmp(&a))).expect("one")
}

#[test]
fn rows_that_no_machine_or_several_claim_are_left_open() {
    let room = Room::with_examples();
    for learner in ["perceptron", "voted"] {
        let train = format!("train examples/iris.csv --learner {learner} -o m.linsep --multiclass");
        room.run(&format!("{train} ovr")).exits(0);
        let line = "predict m.linsep examples/iris.csv --output scores --abstain";
        let run = room.run(line).exits(0);
        let open = run
            .out
            .lines()
            .skip(1)
            .filter(|line| check(line, |s| claims(s) != 1, |s| SPECIES[best(s)].to_owned()));
        let open = open.count();
        assert!(open > 0 && open < 150, "{open} rows are open");
        assert_eq!(run.err, format!("note: {open} of 150 rows left open (?)\n"));
        let found = room.run("evaluate m.linsep examples/iris.csv --json").exits(0).json();
        assert_eq!(found["ambiguous"]["rows"], open, "{learner}");
        let plain = room.run("predict m.linsep examples/iris.csv").exits(0).silent().out;
        let labels = room.read("examples/iris.csv");
        let abstained: Vec<&str> = run.out.lines().skip(1).collect();
        let wrong = plain.lines().zip(labels.lines()).skip(1).zip(abstained).filter(
            |((predicted, label), abstained)| {
                abstained.starts_with('?') && label.rsplit(',').next() != Some(*predicted)
            },
        );
        assert_eq!(found["ambiguous"]["errors"], wrong.count(), "{learner}");

        room.run(&format!("{train} ovr-k-1")).exits(0);
        let run = room.run(line).exits(0);
        assert!(run.out.starts_with("prediction,score:setosa,score:versicolor\n"));
        for line in run.out.lines().skip(1) {
            let class = |s: &[f64]| SPECIES[if claims(s) == 0 { 2 } else { best(s) }].to_owned();
            check(line, |s| claims(s) > 1, class);
        }

        room.run(&format!("{train} ovo")).exits(0);
        let run = room.run(line).exits(0);
        let [a, b, c] = SPECIES;
        let head = format!("prediction,score:{b}|{a},score:{c}|{a},score:{c}|{b}\n");
        assert!(run.out.starts_with(&head));
        for line in run.out.lines().skip(1) {
            let won = |s: &[f64]| {
                let mut won = [0; 3];
                won[usize::from(s[0] >= 0.0)] += 1;
                won[if s[1] >= 0.0 { 2 } else { 0 }] += 1;
                won[if s[2] >= 0.0 { 2 } else { 1 }] += 1;
                won
            };
            let class = |s: &[f64]| {
                let first = won(s).iter().position(|n| *n == 2);
                first.map_or("nobody", |class| SPECIES[class]).to_owned()
            };
            check(line, |s| !won(s).contains(&2), class);
        }
    }
}

#[test]
fn ndjson_leaves_the_same_rows_open_as_csv() {
    let room = Room::with_examples();
    room.run("train examples/iris.csv --multiclass ovr -o m.linsep").exits(0);
    for abstain in ["--abstain", "--abstain=margin=0.3", "--abstain=margin=0.3"] {
        let line = format!("predict m.linsep examples/iris.csv {abstain}");
        let csv = room.run(&line).exits(0).out;
        let json = room.run(&format!("{line} --ndjson")).exits(0).out;
        let from_json: Vec<Value> =
            objects(&json).iter().map(|o| o["prediction"].clone()).collect();
        let from_csv: Vec<&str> = csv.lines().skip(1).collect();
        assert_eq!(from_json, from_csv, "{abstain}");
        assert!(from_csv.contains(&"?"));
    }
}

#[test]
fn a_margin_leaves_rows_open_that_are_closer_to_the_boundary() {
    let room = Room::with_model();
    let plane = room.run("show two.linsep --json").exits(0).json()["planes"][0].clone();
    let number = |value: &Value| value.as_f64().expect("a number");
    let length = number(&plane["weights"][0]).hypot(number(&plane["weights"][1]));
    let scores = room.run("predict two.linsep two.csv --output scores").exits(0).out;
    let distances: Vec<f64> = scores
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(1).expect("a score").parse::<f64>().expect("a number"))
        .map(|score| score.abs() / length)
        .collect();
    let mut sorted = distances.clone();
    sorted.sort_by(f64::total_cmp);
    let margin = (sorted[2] + sorted[3]) / 2.0;
    let run = room.run(&format!("predict two.linsep two.csv --abstain=margin={margin}")).exits(0);
    let plain = room.run("predict two.linsep two.csv").exits(0).out;
    let rows = run.out.lines().zip(plain.lines()).skip(1).zip(&distances);
    for ((found, class), distance) in rows {
        assert_eq!(found, if *distance < margin { "?" } else { class });
    }
    let all = room.run("predict two.linsep two.csv --abstain=margin=1e9").exits(0);
    assert_eq!(all.out, "prediction\n?\n?\n?\n?\n?\n?\n");
    assert_eq!(all.err, "note: 6 of 6 rows left open (?)\n");
    let none = room.run("predict two.linsep two.csv --abstain").exits(0);
    assert_eq!(none.out, plain);
    room.write("c.toml", "[predict]\nabstain = \"margin=1e9\"\n");
    let run = room.run("predict two.linsep two.csv --config c.toml").exits(0);
    assert_eq!(run.out, all.out);
    for (word, note) in [("true", "note: 0 of 6 rows left open (?)\n"), ("false", "")] {
        room.write("c.toml", format!("[predict]\nabstain = {word}\n"));
        let run = room.run("predict two.linsep two.csv --config c.toml").exits(0);
        assert_eq!((run.out, run.err), (plain.clone(), note.to_owned()));
    }
}

#[test]
fn every_pair_of_a_line_is_separable_and_the_model_says_so() {
    let room = Room::holding("line.csv", LINE);
    let run = room.run("train line.csv --multiclass ovo").exits(0);
    for words in
        ["3 planes, one for each pair", "separable: every row", "0 of 9 wrong", "0 ambiguous"]
    {
        assert!(run.out.contains(words), "{words} in {}", run.out);
    }
    let run = room.run("verify line.linsep line.csv").exits(0);
    for pair in ["b | a", "c | a", "c | b"] {
        assert!(run.out.contains(&format!("separable (pair {pair}): every one of 6 rows")));
    }
    let run = room.run("train line.csv --multiclass ovr -o m.linsep").exits(0);
    assert!(
        run.out.contains("2 of 3 binary classifiers separate their rows, 1 provably cannot"),
        "{}",
        run.out
    );
    assert!(run.out.contains("every binary classifier ended by its own rule"), "{}", run.out);
    room.run("verify m.linsep line.csv").exits(0);
}

#[test]
fn show_prints_the_boundary_of_each_pair() {
    let room = Room::holding("line.csv", LINE);
    for scheme in ["joint", "ovr", "ovr-k-1", "ovo"] {
        room.run(&format!("train line.csv --multiclass {scheme}")).exits(0);
        let value = room.run("show line.linsep --pairs --json").exits(0).json();
        let text = room.run("show line.linsep --pairs").exits(0).out;
        let pairs = value["pairs"].as_array().expect("a list");
        let names: Vec<(&str, &str)> = pairs
            .iter()
            .map(|p| (p["positive"].as_str().unwrap_or(""), p["negative"].as_str().unwrap_or("")))
            .collect();
        assert_eq!(names, [("b", "a"), ("c", "a"), ("c", "b")], "{scheme}");
        for (pair, (later, earlier)) in pairs.iter().zip(names) {
            let bias = pair["bias"].as_f64().expect("a number");
            assert!(text.contains(&format!("{later} | {earlier}  ")), "{text}");
            assert!(bias == 0.0 || text.contains(&format!("{} = 0\n", bias.abs())), "{text}");
        }
        // Between the two scores of a class and its neighbour the boundary changes its sign.
        let weight = |k: usize| pairs[k]["weights"][0].as_f64().expect("a number");
        if scheme == "ovo" {
            let edge = -pairs[0]["bias"].as_f64().expect("a number") / weight(0);
            assert!(2.0 < edge && edge < 10.0, "the edge of a and b is {edge}");
        }
    }
    let plain = room.run("show line.linsep").exits(0).out;
    assert!(
        plain.contains("score of b against a\n") && plain.contains("score of c against b\n"),
        "{plain}"
    );
}

#[test]
fn ballots_predict_evaluate_show_and_verify() {
    let room = Room::with_model();
    let run = room.run("train two.csv --learner voted -o v.linsep").exits(0);
    assert!(run.out.contains("voted, a ballot of "), "{}", run.out);
    assert!(run.out.contains("100.0 % of all votes"), "{}", run.out);
    let scores = room.run("predict v.linsep two.csv --output scores").exits(0).out;
    for line in scores.lines().skip(1) {
        let score: f64 = line.split(',').nth(1).expect("a score").parse().expect("a number");
        assert!(score.abs() <= 1.0 && line.starts_with(if score >= 0.0 { 'y' } else { 'x' }));
    }
    let value = room.run("show v.linsep --json").exits(0).json();
    let votes = value["rule"]["ballot"]["votes"][0].as_array().expect("votes");
    assert_eq!(Some(votes.len()), value["planes"].as_array().map(Vec::len));
    assert!(room.run("show v.linsep").exits(0).out.contains(" votes\n"));
    room.run("evaluate v.linsep two.csv").exits(0);
    let claim = value["certificate"]["claims"][0]["claim"].as_str();
    let code = if claim == Some("unproved") { 1 } else { 0 };
    room.run("verify v.linsep two.csv").exits(code);
    let run = room.run("train two.csv --learner voted --most 1 -o v.linsep").exits(0);
    assert!(run.out.contains("a ballot of 1 plane\n"), "{}", run.out);
}

#[test]
fn evaluate_tells_ambiguous_rows_in_every_form() {
    let room = Room::holding("line.csv", LINE);
    room.run("train line.csv --multiclass ovr").exits(0);
    let value = room.run("evaluate line.linsep line.csv --json").exits(0).json();
    let (rows, errors) = (&value["ambiguous"]["rows"], &value["ambiguous"]["errors"]);
    let text = room.run("evaluate line.linsep line.csv").exits(0).out;
    assert!(text.contains(&format!("\nambiguous   {rows} of 9 (")), "{text}");
    assert!(text.contains(&format!(" %), {errors} of them wrong when resolved\n")), "{text}");
    let plain = room.run("evaluate line.linsep line.csv --plain").exits(0).out;
    let lines = format!("\nambiguous\t{rows}\nambiguous_errors\t{errors}\n");
    assert!(plain.contains(&lines), "{plain}");
    room.run("train line.csv").exits(0);
    let joint = room.run("evaluate line.linsep line.csv --json").exits(0).json();
    assert_eq!(joint["ambiguous"], Value::Null);
    assert!(!room.run("evaluate line.linsep line.csv").exits(0).out.contains("ambiguous"));
}
