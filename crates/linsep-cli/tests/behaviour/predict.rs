//! `predict` and `evaluate`: rows in order, columns by name, every input.

use crate::common::{Room, SPECIES, TWO, gzip, zstd};

#[test]
fn predictions_come_in_the_order_of_the_rows_under_the_header_prediction() {
    let room = Room::with_model();
    let run = room.run("predict two.linsep two.csv").exits(0).silent();
    assert_eq!(run.out, "prediction\nx\nx\nx\ny\ny\ny\n");
    room.write("many.csv", {
        let rows = (0..100_000).map(|i| if i % 3 == 0 { "5,5,y\n" } else { "1,1,x\n" });
        format!("a,b,label\n{}", rows.collect::<String>())
    });
    let wanted: String = (0..100_000).map(|i| if i % 3 == 0 { "y\n" } else { "x\n" }).collect();
    for threads in [1, 2, 5] {
        let run = room.run(&format!("predict two.linsep many.csv --threads {threads}")).exits(0);
        assert!(run.out == format!("prediction\n{wanted}"), "the order on {threads} threads");
    }
}

#[test]
fn the_label_column_may_be_there_or_not() {
    let room = Room::with_model();
    room.write("without.csv", "a,b\n1,1\n5,5\n");
    room.write("bare.csv", "1,1\n5,5\n");
    room.write("bare_with.csv", "1,1,x\n5,5,x\n");
    for name in ["without.csv", "bare.csv", "bare_with.csv --label #3"] {
        let run = room.run(&format!("predict two.linsep {name}")).exits(0);
        assert_eq!(run.out, "prediction\nx\ny\n", "{name}");
        assert_eq!(run.err.contains("by position"), name.starts_with("bare"), "{}", run.err);
    }
    let run = room.run("predict two.linsep bare_with.csv").exits(3);
    run.says(&["error[E0133]", "only if the label is among them", "--label '#3'"]);
}

#[test]
fn columns_are_matched_by_name_in_any_order_with_others_between_them() {
    let room = Room::holding("f.csv", "a,b,label\n0,1,x\n1,0,y\n0,2,x\n2,0,y\n");
    room.run("train f.csv").exits(0);
    room.write("turned.csv", "note,b,more,a\nfree text,1,,0\n\"one, two\",0,7,1\n");
    let run = room.run("predict f.linsep turned.csv").exits(0).silent();
    assert_eq!(run.out, "prediction\nx\ny\n");
    let evaluated = room.run("evaluate f.linsep turned.csv").exits(3);
    evaluated.says(&["error[E0114]: no column \"label\""]);
}

#[test]
fn a_column_that_the_model_needs_and_the_file_lacks_is_an_error() {
    let room = Room::with_model();
    room.write("f.csv", "a,c\n1,1\n");
    let run = room.run("predict two.linsep f.csv -o out.csv").exits(3);
    run.says(&["error[E0118]: no column \"b\"\n", "--> f.csv\n", "help: "]);
    assert!(!room.exists("out.csv"));
}

#[test]
fn scores_have_one_column_for_two_classes_and_one_each_for_more() {
    let room = Room::with_examples();
    room.run("train examples/banknote.csv").exits(0);
    let run = room.run("predict banknote.linsep examples/banknote.csv --output scores").exits(0);
    let mut lines = run.out.lines();
    assert_eq!(lines.next(), Some("prediction,score:1"));
    for line in lines {
        let (class, score) = line.split_once(',').expect("two fields");
        let score: f64 = score.parse().expect("a number");
        assert_eq!(class, if score >= 0.0 { "1" } else { "-1" }, "{line}");
    }
    room.run("train examples/iris.csv").exits(0);
    let run = room.run("predict iris.linsep examples/iris.csv --output all").exits(0);
    let mut lines = run.out.lines();
    assert_eq!(lines.next(), Some("prediction,score:setosa,score:versicolor,score:virginica"));
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let scores: Vec<f64> = fields[1..].iter().map(|s| s.parse().expect("a number")).collect();
        let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let class = SPECIES.iter().position(|name| *name == fields[0]).expect("a class");
        assert_eq!(scores[class], best, "{line}");
    }
}

#[test]
fn scores_are_the_weights_of_the_model_applied_to_the_row() {
    let room = Room::with_model();
    let plane = room.run("show two.linsep --json").exits(0).json()["planes"][0].clone();
    let number = |value: &serde_json::Value| value.as_f64().expect("a number");
    let (w0, w1) = (number(&plane["weights"][0]), number(&plane["weights"][1]));
    room.write("f.csv", "a,b\n3,0.5\n");
    let run = room.run("predict two.linsep f.csv --output scores").exits(0);
    let score: f64 = run.out.trim().rsplit(',').next().expect("a score").parse().expect("a number");
    let wanted = 3.0 * w0 + 0.5 * w1 + number(&plane["bias"]);
    assert!((score - wanted).abs() <= 1e-12 * wanted.abs().max(1.0), "{score} is not {wanted}");
}

#[test]
fn the_input_columns_can_be_kept_in_front() {
    let room = Room::with_model();
    room.write("f.csv", "b,\"the, note\",a\n5,\"say \"\"hi\"\", twice\",5.0\n1,,1\n");
    let run = room.run("predict two.linsep f.csv --keep-columns").exits(0);
    let wanted = "b,\"the, note\",a,prediction\n5,\"say \"\"hi\"\", twice\",5.0,y\n1,,1,x\n";
    assert_eq!(run.out, wanted);
    room.write("bare.csv", "5,5\n1,1\n");
    let run = room.run("predict two.linsep bare.csv --keep-columns --output scores").exits(0);
    assert!(run.out.starts_with("column1,column2,prediction,score:y\n5,5,y,"), "{}", run.out);
}

#[test]
fn ndjson_gives_one_object_for_each_row() {
    let room = Room::with_model();
    let run = room.run("predict two.linsep two.csv --ndjson --output scores --keep-columns");
    let objects: Vec<serde_json::Value> = run
        .exits(0)
        .silent()
        .out
        .lines()
        .map(|line| serde_json::from_str(line).expect("a JSON object"))
        .collect();
    assert_eq!(objects.len(), 6);
    for (object, line) in objects.iter().zip(TWO.lines().skip(1)) {
        let fields: Vec<&str> = line.split(',').collect();
        assert_eq!(object["a"], fields[0]);
        assert_eq!(object["label"], fields[2]);
        assert_eq!(object["prediction"], fields[2]);
        assert!(object["score:y"].is_f64(), "{object}");
    }
}

#[test]
fn every_kind_of_input_gives_the_same_predictions() {
    let room = Room::with_model();
    let wanted = room.run("predict two.linsep two.csv --output scores").exits(0).out;
    room.write("two.csv.gz", gzip(TWO.as_bytes()));
    room.write("two.csv.zst", zstd(TWO.as_bytes()));
    room.write("two.tsv", TWO.replace(',', "\t"));
    room.write("two.svm", "x 1:1 2:2\nx 1:2 2:1\nx 1:1 2:1\ny 1:4 2:5\ny 1:5 2:4\ny 1:5 2:5\n");
    room.write("bare.svm", "1:1 2:2\n1:2 2:1\n1:1 2:1\n1:4 2:5\n1:5 2:4\n1:5 2:5\n");
    for name in ["two.csv.gz", "two.csv.zst", "two.tsv", "two.svm", "bare.svm"] {
        let run = room.run(&format!("predict two.linsep {name} --output scores")).exits(0);
        assert_eq!(run.out, wanted, "{name}");
    }
    for input in [TWO.as_bytes().to_vec(), gzip(TWO.as_bytes()), zstd(TWO.as_bytes())] {
        let run = room.run_on(input, "predict two.linsep - --output scores").exits(0);
        assert_eq!(run.out, wanted);
    }
    room.run("predict two.linsep two.csv --output scores -o out.csv").exits(0).silent();
    assert_eq!(room.read("out.csv"), wanted);
    room.run("predict two.linsep two.csv --output scores -o -").exits(0);
    assert!(!room.exists("-"), "- is standard output");
}

#[test]
fn several_files_are_predicted_one_after_the_other() {
    let room = Room::with_model();
    room.write("parts/1.csv", "a,b\n1,1\n");
    room.write("parts/2.csv", "a,b\n5,5\n");
    for input in ["parts", "parts/1.csv parts/2.csv", "parts/*.csv"] {
        let run = room.run(&format!("predict two.linsep {input}")).exits(0);
        assert_eq!(run.out, "prediction\nx\ny\n", "{input}");
    }
    assert_eq!(room.run("predict two.linsep two.csv --limit 2").out, "prediction\nx\nx\n");
}

#[test]
fn entries_outside_the_model_are_left_out_with_a_note() {
    let room = Room::with_model();
    room.write("f.svm", "1:5 2:5 4000000000:1\n1:1 2:1 3:100\n");
    let run = room.run("predict two.linsep f.svm").exits(0);
    assert_eq!(run.out, "prediction\ny\nx\n");
    assert_eq!(run.err, "note: 2 entries with an index outside the model were left out\n");
}

#[test]
fn a_bar_that_is_not_met_is_exit_code_1_and_the_report_is_printed() {
    let room = Room::with_examples();
    room.run("train examples/banknote.csv").exits(0);
    let evaluate = "evaluate banknote.linsep examples/banknote.csv";
    let report = room.run(evaluate).exits(0).silent().out;
    for (bar, code) in [("accuracy=0.5", 0), ("accuracy=0.9999", 1), ("auc=0.9", 0), ("auc=1", 1)] {
        let run = room.run(&format!("{evaluate} --fail-under {bar}")).exits(code);
        assert_eq!(run.out, report, "{bar}");
        assert_eq!(run.err.contains("below the bar"), code == 1, "{bar}: {}", run.err);
    }
}

#[test]
fn a_bar_on_what_does_not_exist_is_a_usage_error() {
    let room = Room::with_examples();
    room.run("train examples/iris.csv").exits(0);
    for bar in ["log-loss=0.5", "recall=0.5"] {
        let run = room.run(&format!("evaluate iris.linsep examples/iris.csv --fail-under {bar}"));
        assert!(run.exits(2).err.contains("--fail-under: there is no "), "{bar}");
    }
}

#[test]
fn evaluate_agrees_with_the_training_report() {
    let room = Room::with_examples();
    for name in ["iris", "wine", "banknote", "sonar", "digits", "breast_cancer"] {
        let trained = room.run(&format!("train examples/{name}.csv --json")).exits(0).json();
        let line = format!("evaluate {name}.linsep examples/{name}.csv --json");
        let evaluated = room.run(&line).exits(0).json();
        assert_eq!(trained["training"]["errors"], evaluated["errors"], "{name}");
        assert_eq!(trained["training"]["accuracy"], evaluated["accuracy"], "{name}");
    }
}
