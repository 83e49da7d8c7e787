//! What `train` offers around logistic and svm: support rows, probabilities, the choice of C.

use crate::common::{Room, SPECIES};
use serde_json::Value;

#[test]
fn support_rows_make_up_the_plane() {
    let room = Room::with_examples();
    for loss in ["hinge", "squared-hinge"] {
        let line = format!(
            "train examples/heart_scale.svm --learner svm --loss {loss} --intercept penalised --gap 1e-9 --epochs 20000 --support s.ndjson -o m.linsep --json"
        );
        let report = room.run(&line).exits(0).json();
        let table = room.read("s.ndjson");
        let rows: Vec<Value> =
            table.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(report["support"]["rows"], rows.len());
        assert!(rows.len() > 50 && rows.len() < 270, "{}", rows.len());
        // The bias is that of a column of ones: the sum of the signed multipliers.
        let signed = |row: &Value| {
            let sign = if row["side"] == "positive" { 1.0 } else { -1.0 };
            sign * row["alpha"].as_f64().expect("a multiplier")
        };
        let sum: f64 = rows.iter().map(signed).sum();
        let model = room.run("show m.linsep --json").exits(0).json();
        let bias = model["planes"][0]["bias"].as_f64().expect("a bias");
        assert!((sum - bias).abs() < 1e-3, "{loss}: {sum} {bias}");
        if loss == "hinge" {
            assert!(rows.iter().all(|row| row["alpha"].as_f64().is_some_and(|a| a <= 1.0)));
        }
    }
}

#[test]
fn scores_get_probabilities_from_rows_held_out() {
    let room = Room::with_examples();
    let line = "train examples/breast_cancer.csv --learner svm --scale standard --probabilities platt -o m.linsep --json";
    let report = room.run(line).exits(0).json();
    let slope = report["probability"]["slope"].as_f64().expect("a slope");
    assert!(slope > 0.1, "{report}");
    let out =
        room.run("predict m.linsep examples/breast_cancer.csv --output all --ndjson").exits(0).out;
    let mut sum = 0.0;
    let mut positive = 0;
    for line in out.lines() {
        let row: Value = serde_json::from_str(line).expect("JSON");
        let p = row["proba:1"].as_f64().expect("a probability");
        assert!((p + row["proba:0"].as_f64().expect("a probability") - 1.0).abs() < 1e-9);
        sum += p;
        positive += i32::from(row["prediction"] == "1");
    }
    // As many as are expected are predicted, about.
    assert!((sum - f64::from(positive)).abs() < 25.0, "{sum} {positive}");
    // Any number of threads gives the same bits.
    let model = room.bytes("m.linsep");
    for threads in ["1", "3"] {
        room.run(&format!("{line} --threads {threads}")).exits(0);
        assert_eq!(room.bytes("m.linsep"), model);
    }
}

#[test]
fn the_probabilities_of_several_classes_add_up_to_one() {
    let room = Room::with_examples();
    let line = "train examples/iris.csv --learner svm --probabilities platt -o m.linsep --json";
    let report = room.run(line).exits(0).json();
    let each = report["probability"]["sigmoids"].as_array().expect("one for each class");
    assert_eq!(each.len(), 3, "{report}");
    assert_eq!(each[0]["class"], "setosa");
    let model = room.bytes("m.linsep");
    for threads in ["1", "3"] {
        room.run(&format!("{line} --threads {threads}")).exits(0);
        assert_eq!(room.bytes("m.linsep"), model);
    }
    let out = room.run("predict m.linsep examples/iris.csv --output proba").exits(0).out;
    let mut lines = out.lines();
    assert_eq!(lines.next(), Some("prediction,proba:setosa,proba:versicolor,proba:virginica"));
    let (mut agree, mut rows) = (0, 0);
    for line in lines {
        let (class, rest) = line.split_once(',').expect("several columns");
        let p: Vec<f64> = rest.split(',').map(|p| p.parse().expect("a number")).collect();
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{line}");
        let most = (0..3).max_by(|&a, &b| p[a].total_cmp(&p[b])).expect("classes");
        agree += u32::from(class == SPECIES[most]);
        rows += 1;
    }
    assert!(rows == 150 && agree > 135, "{agree} of {rows}");
}

#[test]
fn the_best_c_is_chosen_on_rows_held_out() {
    let room = Room::with_examples();
    for learner in ["logistic", "svm --loss hinge --intercept penalised"] {
        let line =
            format!("train examples/heart_scale.svm --learner {learner} --c auto -o m.linsep");
        let report = room.run(&format!("{line} --json --threads 1")).exits(0).json();
        let path = report["c"]["path"].as_array().expect("a path");
        assert_eq!(path.len(), 21);
        let chosen = report["c"]["chosen"].as_f64().expect("a number");
        assert_eq!(report["parameters"]["c"], chosen.to_string());
        let errors = |point: &Value| point["errors"].as_u64().expect("a number");
        let least = path.iter().map(errors).min().expect("points");
        let first = path.iter().find(|point| errors(point) == least).expect("a point");
        assert_eq!(first["c"].as_f64(), Some(chosen), "the smallest of the best");
        // A run from nothing makes as many mistakes on the same folds, where gaps were reached.
        let fixed = room
            .run(&format!("train examples/heart_scale.svm --learner {learner} --c {chosen} --cv 5 -o n.linsep --json"))
            .exits(0)
            .json();
        let apart = fixed["cv"]["errors"].as_u64().expect("a number").abs_diff(least);
        assert!(
            apart <= 3,
            "{learner}: {least} errors on the path, {apart} more or less without it"
        );
        let text = room.run(&format!("{line} --threads 3")).exits(0).out;
        assert_eq!(text.matches(" *").count(), 1, "{text}");
        assert_eq!(room.run(&format!("{line} --json")).exits(0).json()["c"], report["c"]);
    }
}

#[test]
fn the_best_plane_that_was_seen_is_the_model_also_after_a_resume() {
    let room = Room::with_examples();
    // The objective of the last plane rises and falls; that of the best one never rises.
    let line = "train examples/breast_cancer.csv --learner svm --loss hinge --json";
    let primal = |epochs: u64| {
        let run = room.run(&format!("{line} --epochs {epochs} -o b{epochs}.linsep")).exits(5);
        run.json()["remarks"]["objective"]["primal"].as_f64().expect("an objective")
    };
    let found: Vec<f64> = [500, 1000, 1500, 2000, 2500, 3000].map(primal).to_vec();
    assert!(found.is_sorted_by(|a, b| a >= b), "{found:?}");
    let resume = "train --resume b1000.linsep --epochs 2000 examples/breast_cancer.csv";
    room.run(&format!("{resume} -o resumed.linsep")).exits(5);
    assert_eq!(room.bytes("resumed.linsep"), room.bytes("b2000.linsep"));
}

#[test]
fn fits_without_a_penalty_say_when_weights_are_not_unique() {
    let text = "a,b,c,y\n1,2,0,p\n2,4,1,q\n3,6,0,p\n4,8,2,q\n5,10,1,p\n2,4,0,q\n";
    let room = Room::holding("f.csv", text);
    for learner in ["logistic --penalty none", "svm --loss squared-hinge --penalty none"] {
        let run = room.run(&format!("train f.csv --learner {learner}")).exits(0);
        let words = "b is a combination of the bias and columns before it";
        assert!(run.fact("aliased").starts_with(words), "{}", run.out);
        assert!(run.fact("aliased").contains("the weights are not unique"), "{}", run.out);
        let value = room.run(&format!("train f.csv --json --learner {learner}")).exits(0).json();
        assert_eq!(value["remarks"]["aliased"]["columns"], serde_json::json!(["b"]));
        let run = room.run(&format!("train f.csv --drop b --learner {learner}")).exits(0);
        assert!(!run.out.contains("not unique"), "{}", run.out);
    }
    for learner in ["least-squares", "lda", "fisher"] {
        let run = room.run(&format!("train f.csv --learner {learner}")).exits(0);
        assert!(run.fact("columns").ends_with("; the weights are not unique"), "{}", run.out);
    }
    let run = room.run("train f.csv --learner least-squares --l2 1").exits(0);
    assert!(!run.out.contains("not unique"), "{}", run.out);
    // All classes at once.
    let text = "a,b,y\n1,1,p\n2,2,q\n3,3,r\n1,1,q\n2,2,r\n3,3,p\n1,1,r\n2,2,p\n3,3,q\n";
    room.write("k.csv", text);
    let run = room.run("train k.csv --learner logistic --penalty none").exits(0);
    assert!(run.fact("aliased").contains("the weights are not unique"), "{}", run.out);
}

#[test]
fn two_classes_are_named_where_no_fit_exists() {
    let room = Room::holding("f.csv", "x,y\n0,no\n1,no\n2,yes\n3,yes\n");
    let run = room.run("train f.csv --learner logistic --penalty none").exits(2);
    assert!(run.err.contains("a plane separates yes from no"), "{}", run.err);
}
