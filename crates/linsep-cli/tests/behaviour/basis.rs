//! `--basis`: the report, the JSON, the model and its certificate, from training to verification.

use crate::common::Room;
use serde_json::Value;

const XOR: &str = "x1,x2,label\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n";

#[test]
fn xor_goes_from_training_to_verification_on_raw_columns() {
    let room = Room::holding("xor.csv", XOR);
    room.run("separable xor.csv").exits(1);
    let run = room.run("separable xor.csv --basis x1*x2 --cert proof.json").exits(0).silent();
    assert!(run.out.contains("in phi(x): x1*x2 (2 columns make 3 features)"), "{}", run.out);
    let run = room.run("verify proof.json xor.csv").exits(0).silent();
    assert!(run.out.contains("basis       x1*x2: the claims are about phi(x)"), "{}", run.out);
    let run = room.run("train xor.csv --basis x1*x2").exits(0).silent();
    assert!(run.out.contains("linear in phi(x): x1*x2"), "{}", run.out);
    assert!(run.out.contains("proved      separable"), "{}", run.out);
    room.run("verify xor.linsep xor.csv").exits(0).silent();
    let shown = room.run("show xor.linsep").exits(0).silent().out;
    assert!(shown.contains("form        linear in phi(x): x1*x2"), "{shown}");
    assert!(shown.contains("\n  x1*x2 "), "{shown}");
    room.write("new.csv", "x2,x1\n1,1\n1,0\n");
    assert_eq!(room.run("predict xor.linsep new.csv").exits(0).out, "prediction\n0\n1\n");
    let run = room.run("evaluate xor.linsep xor.csv --fail-under accuracy=1").exits(0);
    assert!(run.out.contains("0 of 4"), "{}", run.out);
    room.write("other.csv", XOR.replace("1,1,0", "1,2,0"));
    room.run("verify xor.linsep other.csv").exits(1);
    room.run("verify proof.json other.csv").exits(1);
}

#[test]
fn a_model_without_a_basis_is_linear_in_x() {
    let room = Room::with_model();
    let shown = room.run("show two.linsep").exits(0).out;
    assert!(shown.contains("form        linear in x\n"), "{shown}");
    let value: Value = serde_json::from_str(&room.run("show two.linsep --json").out).unwrap();
    assert!(value["basis"].is_null());
}

#[test]
fn the_json_has_the_basis() {
    let room = Room::holding("xor.csv", XOR);
    let json = |line: &str| -> Value {
        serde_json::from_str(&room.run(line).exits(0).silent().out).expect("one JSON object")
    };
    let product: Value = serde_json::from_str("[[[0,1],[1,1]]]").unwrap();
    let trained = json("train xor.csv --basis x1*x2 --json");
    assert_eq!((&trained["basis"], &trained["features"]), (&product, &3.into()));
    assert_eq!(json("separable xor.csv --basis x2*x1 --json")["basis"], product);
    let shown = json("show xor.linsep --json");
    assert_eq!((&shown["basis"], &shown["features"][2]), (&product, &"x1*x2".into()));
    assert_eq!(json("verify xor.linsep xor.csv --json")["basis"], product);
    assert_eq!(json("separable xor.csv --basis poly:3 --json")["basis"], "poly:3");
    assert!(
        json("train xor.csv --epochs 3000 --basis rbf:4,0.5 -o r.linsep --json")["basis"]
            == "rbf:4,0.5"
    );
}

#[test]
fn a_certificate_whose_parts_name_different_bases_contradicts_itself() {
    let room = Room::holding("xor.csv", XOR);
    room.run("separable xor.csv --basis x1*x2 --cert proof.json").exits(0);
    let text = room.read("proof.json");
    let mut value: Value = serde_json::from_str(&text).unwrap();
    value["basis"] = Value::Null;
    room.write("changed.json", value.to_string());
    room.run("verify changed.json xor.csv").exits(4).says(&["error[E0404]", "basis"]);
    value["basis"] = "poly:2".into();
    room.write("changed.json", value.to_string());
    room.run("verify changed.json xor.csv").exits(4).says(&["error[E0404]"]);
    value["input"]["basis"] = "poly:2".into();
    room.write("changed.json", value.to_string());
    room.run("verify changed.json xor.csv").exits(1);
    value["basis"] = "poly:12".into();
    room.write("changed.json", value.to_string());
    room.run("verify changed.json xor.csv").exits(4).says(&["error[E0401]", "poly:2 to poly:6"]);
}

#[test]
fn gaussians_train_predict_and_claim_nothing() {
    let room = Room::holding("xor.csv", XOR);
    let run = room.run("train xor.csv --basis rbf:4,0.5 --seed 3").exits(0);
    assert!(run.out.contains("proved      nothing: Gaussian basis functions"), "{}", run.out);
    assert!(run.out.contains("0 of 4 wrong"), "{}", run.out);
    let model = room.bytes("xor.linsep");
    room.run("train xor.csv --basis rbf:4,0.5 --seed 3 --threads 2").exits(0);
    assert_eq!(room.bytes("xor.linsep"), model, "the same centres, the same bits");
    room.run("verify xor.linsep xor.csv").exits(1);
    assert_eq!(room.run("predict xor.linsep xor.csv").exits(0).out, "prediction\n0\n1\n1\n0\n");
}

#[test]
fn a_basis_goes_with_tests_folds_levels_and_other_learners() {
    let room = Room::with_examples();
    for learner in ["perceptron", "least-squares", "lda", "shared-variance-nb", "averaged"] {
        let line = "train examples/iris.csv --basis poly:2 --test 0.3 --cv 3 -o m.linsep";
        room.run(&format!("{line} --learner {learner}")).exits(0);
        room.run("predict m.linsep examples/iris.csv").exits(0);
    }
    room.run("train examples/iris.csv --basis poly:2 --learner lda -o m.linsep").exits(0);
    room.run("verify m.linsep examples/iris.csv").exits(0);
    room.write("words.csv", "size,colour,label\n1,red,a\n2,blue,b\n3,red,b\n4,blue,a\n");
    let line = "train words.csv --categorical onehot --basis size*colour=red -o w.linsep";
    let run = room.run(line).exits(0);
    assert!(run.out.contains("size*colour=red"), "{}", run.out);
    room.run("verify w.linsep words.csv").exits(0);
    room.run("train words.csv --categorical onehot --basis #1*#2 -o w.linsep").exits(3);
}

/// A picture shows the columns, and the curved boundary of the model in them.
#[test]
fn a_model_with_a_basis_is_drawn_in_its_columns() {
    let room = Room::new();
    room.run("generate xor -o xor.csv").exits(0);
    room.run("train xor.csv --basis x1*x2 -o m.linsep").exits(0);
    room.run("plot xor.csv m.linsep -o xor.svg").exits(0);
    let svg = std::fs::read_to_string(room.path("xor.svg")).expect("a picture");
    assert!(svg.contains("0 of 4 rows wrong"), "{svg}");
    assert!(svg.contains("class=\"boundary\""), "{svg}");
}

/// Columns move all their basis functions at once, so no flip of a single feature is told.
#[test]
fn explain_tells_no_flips_of_basis_functions() {
    let room = Room::new();
    room.run("generate xor -o xor.csv").exits(0);
    room.run("train xor.csv --basis x1*x2 -o m.linsep").exits(0);
    let found = room.run("explain m.linsep xor.csv --row 3 --json").exits(0).json();
    assert!(found["nearest"].is_null(), "{found}");
    assert_eq!(found["flips"], serde_json::json!([]));
    let text = room.run("explain m.linsep xor.csv --row 3").exits(0).out;
    assert!(text.contains("functions of the columns"), "{text}");
}
