//! Numbers of an evaluation: by weight, by probability, and against the answer that needs no model.

use crate::common::Room;
use serde_json::Value;

/// Girls by age, as counts: (age, number, how many answered yes).
const GROUPS: [(f64, u32, u32); 6] = [
    (11.08, 120, 2),
    (12.08, 100, 20),
    (12.83, 97, 51),
    (13.33, 106, 67),
    (14.58, 101, 93),
    (17.58, 40, 40),
];

/// The same table twice: with a weight for each group and answer, and with a row for each girl.
fn room() -> Room {
    let (mut grouped, mut single) = ("age,label,n\n".to_owned(), "age,label\n".to_owned());
    for (age, number, yes) in GROUPS {
        for (label, count) in [("no", number - yes), ("yes", yes)] {
            grouped.push_str(&format!("{age},{label},{count}\n"));
            single.push_str(&format!("{age},{label}\n").repeat(count as usize));
        }
    }
    let room = Room::holding("grouped.csv", grouped);
    room.write("single.csv", single);
    room
}

#[test]
fn a_weight_counts_as_so_many_rows_in_every_metric() {
    let room = room();
    room.run("train grouped.csv --weight n --learner logistic -o g.linsep").exits(0);
    room.run("train single.csv --learner logistic -o s.linsep").exits(0);
    let by_weight = room.run("evaluate g.linsep grouped.csv --json").exits(0).json();
    let by_row = room.run("evaluate s.linsep single.csv --json").exits(0).json();
    for field in ["confusion", "accuracy_interval", "majority"] {
        assert_eq!(by_weight[field], by_row[field], "{field}");
    }
    for field in ["accuracy", "auc", "log_loss"] {
        let [a, b] = [&by_weight, &by_row].map(|found| found[field].as_f64().expect(field));
        assert!((a - b).abs() < 1e-9, "{field}: {a} {b}");
    }
    assert_eq!((&by_weight["rows"], &by_row["rows"]), (&Value::from(12), &Value::from(564)));
    assert_eq!(by_weight["weighted"]["rows"], 564.0);
    let text = room.run("evaluate g.linsep grouped.csv").exits(0).out;
    assert!(text.contains(" of 564 wrong by weight ("), "{text}");
    // The weights may also be asked for, of a model that knows none.
    let asked = room.run("evaluate s.linsep grouped.csv --weight n --json").exits(0).json();
    assert_eq!(asked["confusion"], by_row["confusion"]);
    let none = room.run("evaluate s.linsep grouped.csv --json").exits(0).json();
    assert_eq!((&none["rows"], &none["weighted"]), (&Value::from(12), &Value::Null));
    room.run("evaluate s.linsep grouped.csv --weight age").exits(3).says(&["is a feature"]);
    room.run("evaluate s.linsep grouped.csv --weight nope").exits(3).says(&["nope"]);
    // Cross-validation and the report of a training count alike.
    let run = room.run("train grouped.csv --weight n --learner logistic --cv 3").exits(0);
    assert!(run.fact("training").contains("of 564 wrong by weight"), "{}", run.out);
    assert!(run.fact("cv").contains("of 564 wrong by weight"), "{}", run.out);
}

#[test]
fn the_log_loss_is_that_of_the_probabilities() {
    let room = room();
    room.run("train single.csv --learner logistic -o s.linsep").exits(0);
    let found = room.run("evaluate s.linsep single.csv --json").exits(0).json();
    let answers = room.run("predict s.linsep single.csv --output proba --ndjson").exits(0).out;
    let labels = room.read("single.csv");
    let mut sum = 0.0;
    let (mut rows, labels) = (0, labels.lines().skip(1).map(|line| line.rsplit(',').next()));
    for (answer, label) in answers.lines().zip(labels) {
        let answer: Value = serde_json::from_str(answer).expect("JSON");
        let share = answer[format!("proba:{}", label.expect("a label"))].as_f64();
        sum -= share.expect("a probability").ln();
        rows += 1;
    }
    let wanted = sum / f64::from(rows);
    assert!((found["log_loss"].as_f64().expect("a loss") - wanted).abs() < 1e-9);
    assert!(wanted > 0.1, "{wanted}");
    // Without probabilities there is none.
    room.run("train single.csv --learner svm -o v.linsep").exits(0);
    let found = room.run("evaluate v.linsep single.csv --json").exits(0).json();
    assert_eq!(found["log_loss"], Value::Null);
}

#[test]
fn a_model_that_is_no_better_than_the_majority_is_told_so() {
    let room = Room::holding("xor.csv", "a,b,label\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n");
    let run = room.run("train xor.csv -o x.linsep").exits(0);
    assert!(run.fact("training").contains("always predicting the majority class"), "{}", run.out);
    let text = room.run("evaluate x.linsep xor.csv").exits(0).out;
    assert!(text.contains("always predicting the majority class \"0\""), "{text}");
    let found = room.run("evaluate x.linsep xor.csv --json").exits(0).json();
    assert_eq!(found["majority"], serde_json::json!({ "class": "0", "accuracy": 0.5 }));
    room.write("and.csv", "a,b,label\n0,0,0\n0,1,0\n1,0,0\n1,1,1\n");
    let run = room.run("train and.csv -o a.linsep").exits(0);
    assert!(!run.fact("training").contains("majority"), "{}", run.out);
}

#[test]
fn a_level_may_be_left_out_and_both_ways_say_the_same() {
    let text = "a,kind,label\n1,u,no\n2,v,yes\n3,w,yes\n4,u,no\n2,u,yes\n1,v,no\n";
    let room = Room::holding("f.csv", text);
    let all = room.run("train f.csv --learner logistic -o all.linsep").exits(0);
    assert!(all.fact("f.csv").starts_with("6 rows x 4 features"), "{}", all.out);
    let line = "train f.csv --learner logistic --categorical onehot-drop -o drop.linsep";
    let dropped = room.run(line).exits(0);
    assert!(dropped.fact("f.csv").starts_with("6 rows x 3 features"), "{}", dropped.out);
    let verified = room.run("verify drop.linsep f.csv").exits(0).out;
    assert!(verified.contains("kind is one of v, w or, all 0, u"), "{verified}");
    room.run("predict drop.linsep f.csv").exits(0);
    // The first level sets no feature; a level that was never seen is still an error.
    room.write("new.csv", "a,kind\n1,u\n1,x\n");
    room.run("predict drop.linsep new.csv").exits(3).says(&["\"x\""]);
    // With the intercept the levels of the whole table depend on each other, and that is said.
    let run = room.run("separable f.csv").exits(1).out;
    assert!(run.contains("aliased"), "{run}");
    let run = room.run("separable f.csv --categorical onehot-drop").exits(1).out;
    assert!(!run.contains("aliased"), "{run}");
}

#[test]
fn a_default_budget_is_one_of_work_and_blames_no_flag() {
    let room = Room::with_examples();
    let run = room.run("train examples/heart_scale.svm --learner svm --loss hinge -o h.linsep");
    run.exits(0);
    // Columns from 0.001 to 4,000: more epochs are no help, columns of like size are.
    let line = "train examples/breast_cancer.csv --learner svm --loss hinge -o b.linsep";
    let run = room.run(line).exits(5);
    assert!(
        run.err.contains("the default budget of") && run.err.contains("--scale standard"),
        "{}",
        run.err
    );
    assert!(!run.err.contains("--epochs was reached"), "{}", run.err);
    room.run(&format!("{line} --scale standard")).exits(0);
    let run = room.run(&format!("{line} --epochs 7")).exits(5);
    assert!(run.err.contains("--epochs was reached"), "{}", run.err);
}
