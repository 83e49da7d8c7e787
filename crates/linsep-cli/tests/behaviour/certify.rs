//! `certify`: how near the best models of other programs are.

use crate::common::{Room, numbered_iris};
use serde_json::Value;

/// The model of a table as a JSON of weights, and how near the best it says it is.
fn weights(room: &Room, model: &str) -> (Value, Vec<f64>) {
    let file = room.run(&format!("show {model} --json")).exits(0).json();
    let planes = file["planes"].as_array().expect("planes");
    let numbers = |plane: &Value| plane["weights"].clone();
    let weights: Vec<Value> = planes.iter().map(numbers).collect();
    let biases: Vec<Value> = planes.iter().map(|plane| plane["bias"].clone()).collect();
    let claims = file["certificate"]["claims"].as_array().expect("claims");
    let gaps = claims.iter().map(|claim| claim["optimality"]["gap"].as_f64().expect("a gap"));
    let value = match planes.len() {
        1 => {
            serde_json::json!({ "weights": weights[0], "bias": biases[0], "classes": file["classes"] })
        }
        _ => serde_json::json!({ "weights": weights, "bias": biases, "classes": file["classes"] }),
    };
    (value, gaps.collect())
}

#[test]
fn weights_are_as_near_the_best_as_the_model_they_come_from() {
    let room = Room::with_examples();
    for learner in
        ["logistic", "svm --loss squared-hinge", "svm --loss hinge --intercept penalised"]
    {
        room.run(&format!(
            "train examples/heart_scale.svm --learner {learner} --gap 1e-3 -o m.linsep"
        ))
        .exits(0);
        let (json, gaps) = weights(&room, "m.linsep");
        room.write("w.json", json.to_string());
        let line =
            format!("certify w.json examples/heart_scale.svm --learner {learner} --cert c.json");
        let run = room.run(&line).exits(0);
        assert!(run.fact("proved").starts_with("this model is at most "), "{}", run.out);
        let found = room.run(&format!("{line} --json")).exits(0).json();
        let gap = found["gap"].as_f64().expect("a gap");
        // The bound of the model itself is one of those that this run may find.
        assert!(gap <= gaps[0] * 1.001 + 2e-6 && gap >= 0.0, "{learner}: {gap} {gaps:?}");
        // What is written is what verify confirms.
        let verified = room.run("verify c.json examples/heart_scale.svm --json").exits(0).json();
        assert_eq!(verified["claims"][0]["claim"], "optimal");
    }
}

/// Ten steps of LIBLINEAR's size on rounded weights: a model that is good and not the best.
#[test]
fn a_model_of_liblinear_has_its_first_label_on_the_positive_side() {
    let room = Room::with_examples();
    room.run("train examples/heart_scale.svm --learner logistic --intercept penalised --gap 1e-8 -o m.linsep")
        .exits(0);
    let (json, _) = weights(&room, "m.linsep");
    let round = |w: &Value| (w.as_f64().expect("a number") * 100.0).round() / 100.0;
    let columns: Vec<f64> =
        json["weights"].as_array().expect("weights").iter().map(round).collect();
    let lines = |sign: f64| {
        let all = columns.iter().copied().chain([round(&json["bias"])]);
        all.map(|w| format!("{} \n", sign * w)).collect::<String>()
    };
    // The second class of the data is the one of positive scores here.
    let classes: Vec<&str> =
        json["classes"].as_array().expect("classes").iter().map(|c| c.as_str().unwrap()).collect();
    let head = |labels: &str| {
        format!(
            "solver_type L2R_LR\nnr_class 2\nlabel {labels}\nnr_feature {}\nbias 1\nw\n",
            columns.len()
        )
    };
    let turned = format!("{} {}", classes[0], classes[1]);
    let straight = format!("{} {}", classes[1], classes[0]);
    room.write("a.model", head(&straight) + &lines(1.0));
    room.write("b.model", head(&turned) + &lines(-1.0));
    room.write("wrong.model", head(&turned) + &lines(1.0));
    let gap = |name: &str| {
        let run =
            room.run(&format!("certify {name} examples/heart_scale.svm --json")).exits(0).json();
        assert_eq!(run["parameters"]["intercept"], "penalised");
        run["gap"].as_f64().expect("a gap")
    };
    assert!(gap("a.model") < 1e-4 && gap("a.model") > 1e-9);
    assert_eq!(gap("a.model"), gap("b.model"));
    assert!(gap("wrong.model") > 0.5);
    // Another cost is another question.
    let other = room.run("certify a.model examples/heart_scale.svm --c 100 --json").exits(0).json();
    assert!(other["gap"].as_f64().expect("a gap") > 1e-3);
}

#[test]
fn every_plane_of_several_has_a_line() {
    let room = Room::with_examples();
    room.run("train examples/iris.csv --learner svm --multiclass ovr --gap 1e-4 -o m.linsep")
        .exits(0);
    let (json, gaps) = weights(&room, "m.linsep");
    assert_eq!(gaps.len(), 3);
    room.write("w.json", json.to_string());
    let run = room.run("certify w.json examples/iris.csv --learner svm --cert c.json").exits(0);
    assert_eq!(run.out.matches("above the optimum").count(), 3, "{}", run.out);
    room.run("verify c.json examples/iris.csv").exits(0);
}

/// The planes of a machine for all classes are compared together, from either form of file.
#[test]
fn one_machine_for_all_classes_has_one_gap() {
    let room = Room::with_examples();
    let train = "train examples/iris.csv --intercept penalised -o m.linsep";
    for (learner, scheme) in [("svm", "crammer-singer"), ("logistic", "softmax")] {
        room.run(&format!("{train} --learner {learner} --multiclass {scheme}")).exits(0);
        let (json, gaps) = weights(&room, "m.linsep");
        assert_eq!(gaps.len(), 1);
        room.write("w.json", json.to_string());
        let certify = format!(
            "certify w.json examples/iris.csv --learner {learner} --intercept penalised --gap 1e-4"
        );
        let run = room.run(&format!("{certify} --multiclass {scheme} --cert c.json")).exits(0);
        assert!(run.fact("proved").starts_with("this model is at most "), "{}", run.out);
        assert!(run.fact("learner").contains(scheme), "{}", run.out);
        let verified = room.run("verify c.json examples/iris.csv --json").exits(0).json();
        assert_eq!(verified["claims"][0]["about"], "optimal (joint)");
        let found = room.run(&format!("{certify} --multiclass {scheme} --json")).exits(0).json();
        let gap = found["gap"].as_f64().expect("a gap");
        // The bound of the model itself is one of those that this run may find.
        assert!((0.0..=gaps[0] * 1.001 + 1e-4).contains(&gap), "{scheme}: {gap} {gaps:?}");
        // As planes that each stand against the rest they are another question.
        let apart = room.run(&format!("{certify} --json")).exits(0).json();
        assert_eq!(apart["planes"].as_array().map(Vec::len), Some(3));
        assert!(apart["gap"].as_f64().expect("a gap") > 10.0 * gap);
        // A changed certificate is refused: the objective, the bound, a weight.
        let proof: Value = serde_json::from_str(&room.read("c.json")).expect("a certificate");
        let optimality = &proof["claims"][0]["optimality"];
        for (what, factor) in [("primal", 0.999), ("bound", 1.001 + gap)] {
            let mut altered = proof.clone();
            let number = optimality[what].as_f64().expect("a number");
            altered["claims"][0]["optimality"][what] = (number * factor).into();
            room.write("altered.json", altered.to_string());
            room.run("verify altered.json examples/iris.csv").exits(1);
        }
        let mut altered = proof.clone();
        altered["claims"][0]["planes"][1]["weights"][2] = 7.5.into();
        room.write("altered.json", altered.to_string());
        room.run("verify altered.json examples/iris.csv").exits(1);
    }
}

#[test]
fn a_model_of_liblinear_of_crammer_and_singer_says_so_itself() {
    // LIBLINEAR knows classes by numbers.
    let room = Room::with_examples();
    room.write("iris.csv", numbered_iris());
    room.run("train iris.csv --learner svm --multiclass crammer-singer --intercept none --gap 1e-5 -o m.linsep")
        .exits(0);
    let (json, gaps) = weights(&room, "m.linsep");
    // LIBLINEAR lists labels in the order in which it met them, a line for each column.
    let order = [2, 0, 1];
    let columns = json["weights"][0].as_array().expect("weights").len();
    let line = |column: usize| {
        let words = order.map(|k| json["weights"][k][column].to_string());
        format!("{} \n", words.join(" "))
    };
    let head = "solver_type MCSVM_CS\nnr_class 3\nlabel 2 0 1\nnr_feature 4\nbias -1\nw\n";
    let lines: String = (0..columns).map(line).collect();
    room.write("cs.model", format!("{head}{lines}"));
    let run = room.run("certify cs.model iris.csv --gap 1e-5 --json").exits(0).json();
    assert_eq!(run["parameters"]["multiclass"], "crammer-singer");
    assert_eq!(run["parameters"]["intercept"], "none");
    let gap = run["gap"].as_f64().expect("a gap");
    assert!((0.0..=gaps[0] * 1.001 + 1e-5).contains(&gap), "{gap} {gaps:?}");
    // Labels that are exchanged make a bad model, and it is called that.
    room.write("turned.model", format!("{}{lines}", head.replace("2 0 1", "0 2 1")));
    let turned = room.run("certify turned.model iris.csv --json").exits(0).json();
    assert!(turned["gap"].as_f64().expect("a gap") > 0.5);
    // Of two classes the one plane is asked for.
    let two = "solver_type MCSVM_CS\nnr_class 2\nlabel 1 -1\nnr_feature 1\nbias -1\nw\n1 -1\n";
    room.write("two.model", two);
    room.run("certify two.model examples/heart_scale.svm").exits(4).says(&[
        "error[E0406]",
        "two planes of two classes",
        "--loss hinge",
    ]);
    room.run("certify cs.model iris.csv --multiclass softmax").exits(2).says(&["softmax"]);
}
