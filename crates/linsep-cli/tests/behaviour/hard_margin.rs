//! `train --learner hard-margin`: the report, the model with its certificate, and what is refused.

use crate::common::Room;
use serde_json::Value;

const AND: &str = "u,v,label\n0,0,0\n0,1,0\n1,0,0\n1,1,1\n";
const XOR: &str = "u,v,label\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n";

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("one JSON object")
}

#[test]
fn the_model_carries_the_exact_margin_and_its_own_plane() {
    let room = Room::holding("and.csv", AND);
    let run = room.run("train and.csv --learner hard-margin --support held.csv --json").exits(0);
    let value = json(&run.out);
    assert_eq!(
        value["certificate"]["claims"],
        serde_json::json!(["geometric-margin", "separable"])
    );
    assert_eq!(value["remarks"]["distance"]["gamma2"], "1/8");
    assert_eq!(value["support"]["rows"], 3);
    let held = room.read("held.csv");
    assert!(held.contains("3,and.csv,5,1,1,positive,4.0\n"), "{held}");
    let model = json(&room.run("show and.linsep --json").exits(0).out);
    assert_eq!(model["planes"][0]["weights"], serde_json::json!([2.0, 2.0]));
    assert_eq!(model["planes"][0]["bias"], -3.0);
    let verified = room.run("verify and.linsep and.csv").exits(0).out;
    assert!(verified.contains("the largest geometric margin is the root of 1/8"), "{verified}");
}

/// A digit of the plane, of the margin or of a multiplier in the model file, and a row of the data.
#[test]
fn a_model_or_data_that_was_changed_is_refused() {
    let room = Room::holding("and.csv", AND);
    room.run("train and.csv --learner hard-margin").exits(0);
    for change in [("\"1/8\"", "\"1/7\""), ("\"lambda\":\"1\"", "\"lambda\":\"3\"")] {
        room.patch("and.linsep", "m.linsep", change);
        room.run("verify m.linsep and.csv").exits(4).says(&["error[E0403]"]);
    }
    let (mut model, three) = (room.bytes("and.linsep"), (-3f64).to_le_bytes());
    let at = model.windows(8).position(|bytes| bytes == three).expect("the bias");
    model[at..at + 8].copy_from_slice(&(-3.5f64).to_le_bytes());
    room.write("m.linsep", model);
    room.run("verify m.linsep and.csv").exits(4).says(&["error[E0403]"]);
    for moved in [AND.replace("1,1,1", "1,1.25,1"), AND.replace("0,1,0", "0,1,1")] {
        room.write("moved.csv", moved);
        let found = room.run("verify and.linsep moved.csv").exits(1).out;
        assert!(found.contains("FALSE"), "{found}");
    }
}

#[test]
fn rows_that_no_plane_separates_end_with_1_and_no_model() {
    let room = Room::holding("xor.csv", XOR);
    let run = room.run("train xor.csv --learner hard-margin").exits(1);
    run.says(&["error[E0203]", "no plane separates 1 from 0", "lines 2, 3, 4, 5", "help: "]);
    assert!(!room.exists("xor.linsep"));
    // With their product the rows are separable, and the margin is that of phi(x).
    room.run("train xor.csv --learner hard-margin --basis u*v").exits(0);
    room.run("verify xor.linsep xor.csv").exits(0);
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let room = Room::holding("and.csv", AND);
    for flags in ["--c 1", "--gap 0.1", "--scale pow2", "--multiclass joint", "--basis rbf:2,1"] {
        let run = room.run(&format!("train and.csv --learner hard-margin {flags}")).exits(2);
        run.says(&["error[E0201]"]);
        assert!(!room.exists("and.linsep"), "{flags}");
    }
    let run = room.run("train and.csv --learner hard-margin --checkpoint-every 1s").exits(2);
    run.says(&["hard-margin solves in one go"]);
}

/// Too much data for whole numbers: the model is there, says what is open, and the exit code says so too.
#[test]
fn a_margin_that_is_not_found_ends_with_5_and_the_best_plane() {
    let line = |row: u32| {
        let side = if row.is_multiple_of(2) { 1 } else { -1 };
        format!("{side} 1:{side} {}:0.5\n", 2 + row % 2099)
    };
    let room = Room::holding("wide.svm", (0..5000).map(line).collect::<String>());
    let run = room.run("train wide.svm --learner hard-margin --json").exits(5);
    assert_eq!(
        json(&run.out)["certificate"]["claims"],
        serde_json::json!(["separable", "unproved"])
    );
    run.says(&["E0501", "stays at least", "the model is in wide.linsep"]);
    let verified = room.run("verify wide.linsep wide.svm").exits(1).out;
    assert!(verified.contains("true        separable"), "{verified}");
    assert!(verified.contains("unproved    unproved: the search for the largest margin"));
    let found = room.run("evaluate wide.linsep wide.svm --json").exits(0).json();
    assert_eq!(found["errors"], 0);
}
