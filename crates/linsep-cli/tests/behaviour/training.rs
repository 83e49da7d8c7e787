//! `train`: test rows, folds, the positive class, settings of the learner, where the model goes.

use crate::common::{Room, TWO, gzip};

#[test]
fn a_share_of_the_rows_is_set_aside_for_testing() {
    let room = Room::with_examples();
    let result = room.run("train examples/iris.csv --test 0.2 --json").exits(0).json();
    assert_eq!(result["training"]["rows"], 120);
    assert_eq!(result["test"]["rows"], 30);
    assert_eq!(result["rows"], 150);
    let text = room.run("train examples/iris.csv --test 0.2").exits(0);
    assert!(text.fact("test").contains(" of 30 wrong, accuracy "));
    assert_eq!(
        text.fact("classes"),
        "setosa (40), versicolor (40), virginica (40)",
        "every class in its share"
    );
}

#[test]
fn a_file_is_tested_on_and_changes_nothing_in_the_model() {
    let room = Room::holding("two.csv", TWO);
    room.write("test.csv", "label,b,a\nx,1,1\ny,5,5\nx,5,5\n");
    room.run("train two.csv -o plain.linsep").exits(0);
    let result = room.run("train two.csv --test test.csv --json").exits(0).json();
    assert_eq!(result["test"]["rows"], 3);
    assert_eq!(result["test"]["errors"], 1);
    assert_eq!(room.bytes("two.linsep"), room.bytes("plain.linsep"));
}

#[test]
fn cross_validation_tests_every_row_once_and_changes_nothing_in_the_model() {
    let room = Room::with_examples();
    room.run("train examples/wine.csv -o plain.linsep").exits(0);
    let result = room.run("train examples/wine.csv --cv 5 --json -o cv.linsep").exits(0).json();
    let cv = &result["cv"];
    assert_eq!(cv["folds"], 5);
    let total = |key: &str| -> u64 {
        let folds = cv[key].as_array().expect("a list");
        assert_eq!(folds.len(), 5);
        folds.iter().map(|n| n.as_u64().expect("a number")).sum()
    };
    assert_eq!(total("fold_rows"), 178);
    assert_eq!(Some(total("fold_errors")), cv["errors"].as_u64());
    assert_eq!(room.bytes("cv.linsep"), room.bytes("plain.linsep"));
}

#[test]
fn folds_do_not_depend_on_the_number_of_threads() {
    let room = Room::with_examples();
    let cv = |threads: u32| {
        let line = format!("train examples/wine.csv --cv 7 --json --threads {threads}");
        room.run(&line).exits(0).json()["cv"].clone()
    };
    assert_eq!(cv(1), cv(2));
    assert_eq!(cv(1), cv(5));
}

#[test]
fn of_two_classes_the_later_is_positive_unless_another_is_chosen() {
    let room = Room::with_examples();
    room.run("train examples/banknote.csv -o usual.linsep").exits(0);
    room.run("train examples/banknote.csv --positive=-1 -o turned.linsep").exits(0);
    let show = |name: &str| room.run(&format!("show {name}.linsep --json")).exits(0).json();
    let (usual, turned) = (show("usual"), show("turned"));
    assert_eq!(usual["classes"], serde_json::json!(["-1", "1"]));
    assert_eq!(turned["classes"], serde_json::json!(["1", "-1"]));
    let negated = usual["planes"][0]["bias"].as_f64().map(|bias| -bias);
    assert_eq!(turned["planes"][0]["bias"].as_f64(), negated);
    let predict = |name: &str| {
        room.run(&format!("predict {name}.linsep examples/banknote.csv --output scores")).out
    };
    assert!(predict("turned").starts_with("prediction,score:-1\n"));
    let classes = |text: String| -> Vec<String> {
        text.lines().skip(1).map(|l| l.split(',').next().unwrap_or("").to_owned()).collect()
    };
    assert_eq!(classes(predict("usual")), classes(predict("turned")));
}

#[test]
fn of_more_classes_one_can_be_told_from_the_rest() {
    let room = Room::with_examples();
    let run = room.run("train examples/iris.csv --positive setosa").exits(0);
    assert_eq!(run.fact("classes"), "rest (100), setosa (50)");
    assert!(run.fact("learner").contains("one plane"));
    assert_eq!(run.fact("training"), "0 of 150 wrong, accuracy 100.00 % [97.50, 100.00]");
    let result = room.run("evaluate iris.linsep examples/iris.csv --json").exits(0).json();
    assert_eq!(result["errors"], 0, "every other label counts as the rest");
    assert_eq!(result["confusion"], serde_json::json!([[100, 0], [0, 50]]));
}

#[test]
fn a_pass_without_mistakes_ends_the_run_and_the_report_says_so() {
    let room = Room::holding("two.csv", TWO);
    let run = room.run("train two.csv").exits(0).silent();
    assert!(run.fact("stopped").starts_with("a pass without mistakes ("), "{}", run.out);
    assert!(run.fact("proved").starts_with("separable: "), "{}", run.out);
    room.run("verify two.linsep two.csv").exits(0).silent();
    assert!(run.fact("training").starts_with("0 of 6 wrong"));
    assert_eq!(run.fact("model"), "two.linsep");
}

#[test]
fn rows_that_no_plane_separates_end_the_run_with_a_proof_that_verifies() {
    let room = Room::new();
    room.run("generate xor -o f.csv").exits(0);
    let run = room.run("train f.csv").exits(0).silent();
    assert!(
        run.fact("stopped").starts_with("proved that no planes separate (10 epochs"),
        "{}",
        run.out
    );
    assert!(run.fact("proved").starts_with("not separable: 4 rows prove it"), "{}", run.out);
    room.run("verify f.linsep f.csv").exits(0).silent();
    room.run("generate and -o g.csv").exits(0);
    room.run("verify f.linsep g.csv").exits(1);
}

#[test]
fn the_default_limit_is_no_failure_but_a_limit_of_the_user_is() {
    let room = Room::new();
    room.run("generate xor -o f.csv").exits(0);
    let run = room.run("train f.csv --verdict off").exits(0).silent();
    assert!(run.fact("stopped").starts_with("the default limit on epochs"), "{}", run.out);
    let run = room.run("train f.csv --verdict off --epochs 100").exits(5);
    assert!(run.fact("stopped").starts_with("the epoch limit (100 epochs"), "{}", run.out);
    let run = room.run("train f.csv --verdict off --updates 7").exits(5);
    assert!(run.fact("stopped").contains("7 updates"), "{}", run.out);
    let run = room.run("train f.csv --verdict off --time-limit 50ms").exits(5);
    assert!(run.fact("stopped").starts_with("the time limit"), "{}", run.out);
    let result = room.run("train f.csv --verdict off --epochs 3 --json").exits(5).json();
    assert_eq!(result["epochs"], 3);
    assert_eq!(result["stop"], "epoch-limit");
}

#[test]
fn a_time_limit_that_ends_cross_validation_keeps_the_finished_model() {
    let room = Room::new();
    room.run("generate blobs --rows 5000 --features 5 --margin 0.0005 -o f.csv").exits(0);
    let run = room.run("train f.csv --cv 5000 --time-limit 2s --threads 2").exits(5);
    let run = run.says(&["error[E0501]: --time-limit was reached", "the model is in f.linsep"]);
    assert!(!run.out.contains("folds"), "half a cross-validation is none\n{}", run.out);
    assert_eq!(room.run("show f.linsep --json").exits(0).json()["stop"], "finished");
}

#[test]
fn the_same_seed_gives_the_same_model_and_another_seed_another() {
    let room = Room::with_examples();
    let model = |seed: u32| {
        room.run(&format!("train examples/iris.csv --seed {seed} -o m.linsep")).exits(0);
        room.run("show m.linsep --json").exits(0).json()["planes"].clone()
    };
    assert_eq!(model(3), model(3));
    assert_ne!(model(3), model(4));
}

#[test]
fn every_setting_of_the_learner_is_accepted_and_recorded() {
    let room = Room::with_examples();
    for (flag, value) in [
        ("eta", "0.25"),
        ("order", "cyclic"),
        ("order", "shuffle"),
        ("order", "random"),
        ("init", "zero"),
        ("init", "random"),
        ("ties", "strict"),
        ("scale", "none"),
        ("scale", "pow2"),
        ("scale", "standard"),
        ("scale", "maxabs"),
        ("scale", "unit"),
        ("class-weight", "balanced"),
        ("multiclass", "joint"),
        ("multiclass", "ovr"),
    ] {
        let line = format!("train examples/wine.csv --{flag} {value} --json");
        let result = room.run(&line).exits(0).json();
        assert_eq!(result["parameters"][flag], value);
        let errors = result["training"]["errors"].as_u64().expect("a number");
        assert!(errors < 178 - 71, "--{flag} {value}: no better than always the largest class");
        let shown = room.run("show wine.linsep --json").exits(0).json();
        assert_eq!(shown["parameters"][flag], value);
    }
}

#[test]
fn a_run_can_start_from_the_planes_of_a_model() {
    let room = Room::holding("two.csv", TWO);
    room.run("train two.csv -o first.linsep").exits(0);
    let again = room.run("train two.csv --init first.linsep --json -o second.linsep").exits(0);
    assert_eq!(again.json()["updates"], 0, "the planes make no mistake, so nothing is corrected");
    let planes = |name: &str| room.run(&format!("show {name} --json")).json()["planes"].clone();
    assert_eq!(planes("first.linsep"), planes("second.linsep"));
}

#[test]
fn the_model_is_named_after_the_data() {
    let room = Room::new();
    room.write("data/flowers.csv", TWO);
    room.write("data/packed.csv.gz", gzip(TWO.as_bytes()));
    for (input, model) in
        [("data/flowers.csv", "flowers.linsep"), ("data/packed.csv.gz", "packed.linsep")]
    {
        let run = room.run(&format!("train {input}")).exits(0);
        assert_eq!(run.fact("model"), model);
        assert!(room.exists(model), "{model} is in the folder of the call");
    }
    assert_eq!(room.run_on(TWO, "train -").exits(0).fact("model"), "model.linsep");
    room.run("train data/flowers.csv --output-file data/other.linsep").exits(0);
    assert!(room.exists("data/other.linsep"));
}

#[test]
fn a_dry_run_checks_everything_and_writes_nothing() {
    let room = Room::holding("two.csv", TWO);
    let run = room.run("train two.csv --dry-run").exits(0);
    assert!(run.fact("two.csv").starts_with("6 rows x 2 features"));
    room.run("train two.csv --dry-run --label nope").exits(3);
    room.run("convert two.csv out.svm --dry-run").exits(0);
    room.run("generate blobs -o out.csv --dry-run").exits(0);
    assert_eq!(room.names(), ["two.csv"]);
}

#[test]
fn an_existing_model_is_replaced_and_keeps_its_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let room = Room::holding("two.csv", TWO);
    room.run("train two.csv --learner lda").exits(0);
    let path = room.path("two.linsep");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).expect("a mode");
    room.run("train two.csv").exits(0);
    room.run("show two.linsep").exits(0);
    let mode = std::fs::metadata(&path).expect("the model").permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    assert_eq!(room.names(), ["two.csv", "two.linsep"], "no temporary file is left");
}
