//! A trained model is written before anything that can still fail.

use crate::common::Room;

/// A file that cannot be written to the end: a limit on its size that the model stays below.
#[test]
fn a_trace_that_cannot_be_written_does_not_cost_the_model() {
    let room = Room::new();
    room.run("generate blobs --rows 3000 --noise 0.2 -o f.csv").exits(0);
    let line = "train f.csv --verdict off --epochs 4 --seed 3";
    room.run(&format!("{line} -o whole.linsep")).exits(5);
    let script = format!("ulimit -f 64; exec linsep {line} -o m.linsep --trace t.ndjson");
    let run = room.shell(&script).exits(6);
    run.says(&["error[E0601]", "cannot write t.ndjson", "the model is in m.linsep"]);
    // It is the model of the whole run, not of the part that could be traced.
    assert_eq!(room.bytes("m.linsep"), room.bytes("whole.linsep"));
    assert_eq!(room.names(), ["f.csv", "m.linsep", "whole.linsep"]);
}

#[test]
fn tables_that_cannot_be_written_do_not_cost_the_model() {
    let room = Room::new();
    room.run("generate blobs --rows 300 --noise 0.1 -o f.csv").exits(0);
    for flag in
        ["--flips none/t.csv", "--support none/t.csv", "--flips /dev/full", "--support /dev/full"]
    {
        // A device tells no format.
        if flag.ends_with("full") {
            std::os::unix::fs::symlink("/dev/full", room.path("full.csv")).ok();
        }
        let flag = flag.replace("/dev/full", "full.csv");
        let line = format!("train f.csv --learner svm -o m.linsep {flag}");
        room.run(&line).exits(6).says(&["error[E0601]", "the model is in m.linsep"]);
        room.run("evaluate m.linsep f.csv").exits(0);
        std::fs::remove_file(room.path("m.linsep")).expect("the model");
    }
}

/// A run that has proved nothing yet has no table; it has a model all the same.
#[test]
fn a_run_that_was_ended_early_keeps_its_model_without_tables() {
    let room = Room::new();
    room.run("generate blobs --rows 400 --features 8 --classes 3 --noise 0.2 -o f.csv").exits(0);
    for (flag, learner) in
        [("flips", "svm"), ("flips", "logistic --penalty none"), ("support", "svm")]
    {
        let line = format!("train f.csv --learner {learner} --epochs 1 -o m.linsep --{flag} t.csv");
        let run = room.run(&line).exits(5);
        assert!(run.err.contains("the model is in m.linsep"), "{}", run.err);
        if !room.exists("t.csv") {
            let words = format!("note: there is no table: --{flag}: ");
            assert!(run.err.contains(&words), "{}", run.err);
        }
        room.run("evaluate m.linsep f.csv").exits(0);
        std::fs::remove_file(room.path("m.linsep")).expect("the model");
        let _ = std::fs::remove_file(room.path("t.csv"));
    }
}

#[test]
fn a_test_file_that_cannot_be_used_does_not_cost_the_model() {
    let room = Room::new();
    room.run("generate blobs --rows 100 -o f.csv").exits(0);
    room.write("t.csv", "x1,x2,label\n1,oops,a\n");
    room.run("train f.csv -o m.linsep --test t.csv").exits(3).says(&["the model is in m.linsep"]);
    room.run("evaluate m.linsep f.csv").exits(0);
}
