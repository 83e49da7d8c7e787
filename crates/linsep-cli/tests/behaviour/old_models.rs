//! Models of version 1 with claims and runs: what they prove, how they go on and how they are upgraded.
//! `testdata/models/runs` holds them; linsep 0.1 wrote them on iris before there was version 2.

use crate::common::{Room, numbered_iris};
use serde_json::Value;
use std::path::Path;

fn room_with(name: &str) -> Room {
    let room = Room::with_examples();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/models/runs");
    let old = std::fs::read(folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    room.write("old", old);
    room.write("iris.csv", numbered_iris());
    room
}

const MODELS: [(&str, i32); 6] = [
    ("averaged.linsep", 1),
    ("perceptron.linsep", 1),
    ("separable.linsep", 0),
    ("softmax.linsep", 0),
    // Its run was ended early: the bounds of two planes show nothing.
    ("svm.linsep", 1),
    ("voted.linsep", 1),
];

#[test]
fn an_upgraded_model_says_and_proves_the_same() {
    for (name, code) in MODELS {
        let room = room_with(name);
        let upgraded = room.run("convert old new.linsep").exits(0);
        assert_eq!(upgraded.out, "new.linsep  linsep.model/2\n");
        let file = "iris.csv";
        let old = room.run(&format!("verify old {file}")).exits(code).out;
        assert_eq!(room.run(&format!("verify new.linsep {file}")).exits(code).out, old, "{name}");
        let predicted =
            |model: &str| room.run(&format!("predict {model} {file} --output scores")).exits(0).out;
        assert_eq!(predicted("old"), predicted("new.linsep"), "{name}");
        let shown = |model: &str| {
            let mut value = room.run(&format!("show {model} --json")).exits(0).json();
            assert_eq!(value["format"], "linsep.model/2");
            assert!(
                value["planes"][0]["weights"].is_array() && value["planes"][0]["bias"].is_f64()
            );
            value["certificate"]["format"] = Value::Null;
            // In version 1 the states inside a state were texts of JSON.
            value["run"]["state"] = Value::Null;
            value
        };
        assert_eq!(shown("old"), shown("new.linsep"), "{name}");
        // A second time nothing changes.
        room.run("convert new.linsep again.linsep").exits(0);
        assert_eq!(room.bytes("again.linsep"), room.bytes("new.linsep"), "{name}");
    }
}

/// A run of version 1 goes on to the bytes of a run that was never interrupted.
#[test]
fn a_run_of_version_1_goes_on() {
    for (name, flags) in [
        ("perceptron.linsep", ""),
        ("voted.linsep", "--learner voted --multiclass ovo --most 20"),
        ("svm.linsep", "--learner svm"),
        ("averaged.linsep", "--learner averaged"),
        ("averaged.linsep.checkpoint", "--learner averaged"),
    ] {
        let room = room_with(name);
        room.run(&format!("train iris.csv {flags} --epochs 5 -o whole.linsep"));
        let mut from = vec!["old"];
        if !name.ends_with("checkpoint") {
            room.run("convert old new.linsep").exits(0);
            from.push("new.linsep");
        }
        for from in from {
            room.run(&format!("train iris.csv --resume {from} --epochs 5 -o more.linsep"));
            assert_eq!(room.bytes("more.linsep"), room.bytes("whole.linsep"), "{name} from {from}");
        }
    }
}

#[test]
fn what_is_for_data_is_refused_for_a_model() {
    let room = room_with("separable.linsep");
    for flags in ["--label x", "--to-format csv", "--features 0", "--bad-rows skip --allow-bad 1"] {
        let run = room.run(&format!("convert old new.linsep {flags}")).exits(2);
        run.says(&["is for data; old is a model"]);
        assert!(!room.exists("new.linsep"), "{flags}");
    }
    room.run("convert old new.linsep --dry-run").exits(0).says(&["nothing was written"]);
    assert!(!room.exists("new.linsep"));
    let report = room.run("convert old new.linsep --json").exits(0).json();
    assert_eq!(
        (&report["format"], &report["command"]),
        (&"linsep.model/2".into(), &"convert".into())
    );
    room.patch("old", "broken", ("\"seed\": 0", "\"seed\": 1"));
    room.run("convert broken other.linsep").exits(4).says(&["error[E0403]: broken: "]);
    assert!(!room.exists("other.linsep"));
}

/// Claims refer to the planes of the model, and `verify` says what they are about.
#[test]
fn verify_says_what_a_claim_is_about() {
    let room = room_with("separable.linsep");
    for (flags, subjects) in [
        ("--positive 0", vec!["model"]),
        ("--learner hard-margin --positive 0", vec!["data", "model"]),
        ("--learner svm --gap 1e-2", vec!["model"; 3]),
        ("--learner lda", vec!["model"]),
        ("", vec!["data"]),
    ] {
        room.run(&format!("train iris.csv {flags} -o m.linsep"));
        let report = room.run("verify m.linsep iris.csv --json").exits(0).json();
        let claims = report["claims"].as_array().expect("claims");
        let found: Vec<&str> =
            claims.iter().filter_map(|claim| claim["subject"].as_str()).collect();
        assert_eq!(found, subjects, "{flags}");
    }
}
