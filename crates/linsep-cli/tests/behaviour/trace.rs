//! `train --trace`, `train --box` and `replay`: the model stays the same to the last byte, the trace
//! leads back to it, and the boxes say what they are.

use crate::common::{Room, TWO, send_signal};
use std::process::Stdio;
use std::time::{Duration, Instant};

const AND: &str = "x1,x2,label\n0,0,0\n0,1,0\n1,0,0\n1,1,1\n";

/// The planes of a model, as JSON.
fn planes(room: &Room, model: &str) -> serde_json::Value {
    room.run(&format!("show {model} --json")).exits(0).json()["planes"].clone()
}

/// The header and the updates of a trace, whose last line has to name the last update.
fn lines(room: &Room, name: &str) -> Vec<serde_json::Value> {
    let text = room.read(name);
    assert!(text.ends_with('\n'));
    let line = |line| serde_json::from_str(line).expect("a line of JSON");
    let mut lines: Vec<serde_json::Value> = text.lines().map(line).collect();
    let end = lines.pop().expect("a last line");
    assert_eq!(end["updates"], lines.len() - 1);
    lines
}

#[test]
fn a_trace_changes_no_byte_of_the_model_and_leads_back_to_it() {
    let room = Room::with_examples();
    for flags in [
        "examples/iris.csv --verdict off --epochs 5",
        "examples/iris.csv --verdict off --epochs 5 --multiclass ovr",
        "examples/wine.csv --verdict off --scale standard --threads 2",
        "examples/heart_scale.svm --verdict off --epochs 3 --scale unit --order worst-first",
        "examples/heart_scale.svm --learner batch-perceptron --epochs 10 --eta 1/k",
        "examples/sonar.csv --learner relaxation --epochs 4 --test 0.25",
        "examples/banknote.csv --learner passive-aggressive --epochs 2 --class-weight balanced",
        "examples/iris.csv --positive virginica --learner margin-perceptron --epochs 3 --drop #1",
        "examples/iris.csv --learner adaline --epochs 3",
    ] {
        let plain = room.run(&format!("train {flags} -o plain.linsep"));
        let traced = room.run(&format!("train {flags} -o m.linsep --trace t.ndjson"));
        assert_eq!((plain.code, &plain.err.replace("plain", "m")), (traced.code, &traced.err));
        assert_eq!(room.bytes("plain.linsep"), room.bytes("m.linsep"), "{flags}");
        let data = flags.split(' ').next().expect("a file");
        let run = room.run(&format!("replay t.ndjson {data} --check -o again.linsep")).exits(0);
        let updates = lines(&room, "t.ndjson").len() as u64 - 1;
        assert!(run.fact("replayed").replace(',', "").starts_with(&format!("{updates} update")));
        assert_eq!(planes(&room, "again.linsep"), planes(&room, "m.linsep"), "{flags}");
    }
}

#[test]
fn a_line_has_the_fields_that_other_programs_rely_on() {
    let room = Room::with_examples();
    room.run("train examples/iris.csv --trace t.ndjson --trace-criteria jn,jp --seed 4").exits(0);
    let all = lines(&room, "t.ndjson");
    let header = &all[0];
    assert_eq!(header["format"], "linsep.trace/1");
    assert_eq!((&header["rows"], &header["features"]), (&150.into(), &4.into()));
    assert_eq!((&header["learner"], &header["seed"]), (&"perceptron".into(), &4.into()));
    assert_eq!(header["classes"], serde_json::json!(["setosa", "versicolor", "virginica"]));
    assert_eq!(header["start"].as_array().map(Vec::len), Some(3));
    for (k, line) in all[1..].iter().enumerate() {
        assert_eq!(line["k"], k as u64 + 1);
        assert_eq!(line["line"].as_u64(), line["row"].as_u64().map(|row| row + 2));
        let row = line["row"].as_u64().expect("a row");
        assert_eq!(line["plane"], row / 50, "the rows are sorted by class");
        assert_ne!(line["plane"], line["rival"]);
        let [before, after] = ["margin_before", "margin_after"].map(|m| line[m].as_f64());
        assert!(before <= Some(0.0) && after > before, "{line}");
        assert!(line["norm"].as_f64() <= line["bound_upper"].as_f64().map(|b| b * (1.0 + 1e-12)));
        assert!(line["criteria"]["jn"].as_f64().is_some_and(|jn| jn <= 150.0));
        assert!(line["criteria"]["jp"].as_f64().is_some_and(|jp| jp >= 0.0));
    }
}

#[test]
fn a_point_of_a_run_is_a_model() {
    let room = Room::holding("and.csv", AND);
    room.run("train and.csv --box 002 --trace t.ndjson").exits(0);
    for (k, expected) in [(0, [0., 0., 0.]), (7, [-3., 1., 0.]), (18, [-4., 3., 2.])] {
        let run = room.run(&format!("replay t.ndjson and.csv --at {k} --json -o k.linsep"));
        let result = run.exits(0).json();
        assert_eq!((&result["at"], &result["replayed"]), (&k.into(), &k.into()));
        let [b, w1, w2] = expected;
        let plane = serde_json::json!([{ "weights": [w1, w2], "bias": b }]);
        assert_eq!(result["planes"], plane);
        assert_eq!(planes(&room, "k.linsep"), plane);
    }
    // The last one separates, and the model of it says so with a proof.
    room.run("verify k.linsep and.csv").exits(0);
    // Update 2 adds (1, 1) and so breaks the other three; update 3 breaks none.
    let result =
        room.run("replay t.ndjson and.csv --from 2 --to 3 --broken --json").exits(0).json();
    let updates = result["updates"].as_array().expect("a list").clone();
    assert_eq!(updates.len(), 2);
    assert_eq!(updates[0]["broken"], serde_json::json!([0, 1, 2]));
    assert_eq!(updates[1]["broken"], serde_json::json!([]));
}

#[test]
fn the_same_data_in_another_format_replays() {
    let room = Room::with_examples();
    room.run("train examples/wine.csv --trace t.ndjson --verdict off --epochs 4 -o w.linsep")
        .exits(5);
    room.run("convert examples/wine.csv wine.svm").exits(0);
    room.run("convert examples/wine.csv wine.tsv.zst").exits(0);
    room.run("replay t.ndjson wine.tsv.zst --check").exits(0);
}

#[test]
fn the_report_compares_the_bound_with_the_run() {
    let room = Room::holding("and.csv", AND);
    let run = room.run("train and.csv --box 002 --trace t.ndjson").exits(0);
    assert_eq!(run.fact("trace"), "t.ndjson, 18 updates");
    assert!(run.fact("bound").starts_with("at most 51 updates"), "{}", run.fact("bound"));
    assert!(run.fact("bound").ends_with("; converged after 18"));
    // The exact search ends a run before the perceptron does; then the model is not its own.
    let run = room.run("train and.csv --trace t.ndjson").exits(0);
    assert!(run.fact("stopped").starts_with("the exact search found a separating plane"));
    assert!(run.fact("weights").contains("not the perceptron's own"));
    assert!(run.fact("bound").ends_with("; not converged: 8"), "{}", run.fact("bound"));
    let end = room.read("t.ndjson").lines().last().map(str::to_owned).unwrap_or_default();
    assert!(end.contains("the exact search found, not the perceptron's own"), "{end}");
    room.run("replay t.ndjson and.csv --check").exits(0);
    let run = room.run("train and.csv --verdict off --trace t.ndjson").exits(0);
    assert!(run.fact("bound").contains("; converged after "), "{}", run.fact("bound"));
    let end = room.read("t.ndjson").lines().last().map(str::to_owned).unwrap_or_default();
    assert!(!end.contains("model"), "{end}");
    let result = room.run("train and.csv --box 002 --trace t.ndjson --json").exits(0).json();
    assert_eq!(result["box"]["name"], "002");
    assert_eq!(result["trace"]["updates"], 18);
    let bound = result["trace"]["bound"].as_f64().expect("a bound");
    assert!((51.0..51.001).contains(&bound));
    let run = room.run("train and.csv --box 002 --trace t.ndjson --trace-margin off").exits(0);
    assert!(!run.out.contains("bound"));
    assert!(!room.read("t.ndjson").contains("bound_lower"));
}

#[test]
fn boxes_run_by_name_and_say_what_was_mended() {
    let room = Room::holding("and.csv", AND);
    for name in ["000-batch", "000-single", "001", "002", "003", "004-batch", "004-sequential"] {
        let run = room.run(&format!("train and.csv --box {name}")).exits(0);
        assert!(run.fact("box").starts_with(&format!("{name}, ")));
        assert!(run.fact("training").starts_with("0 of 4 wrong"), "{name}");
        assert_eq!(run.out.contains("mended: "), ["001", "003"].contains(&name), "{name}");
        room.run(&format!("train and.csv --box {name} --dry-run")).exits(0);
    }
    let run = room.run("train and.csv --box 001 --literal --trace t.ndjson").exits(0);
    assert!(run.fact("loop").starts_with("never started: E_p = 0"));
    assert!(run.fact("stopped").contains("(0 epochs, 0 updates)"));
    assert_eq!(lines(&room, "t.ndjson").len(), 1, "a header and no update");
    room.run("replay t.ndjson and.csv").exits(0);
    let run = room.run("train and.csv --box 003 --literal --below 100").exits(0);
    assert!(run.fact("loop").starts_with("no end"), "{}", run.out);
    let run = room.run("train and.csv --box 003 --literal --below 0").exits(0);
    assert!(run.fact("loop").starts_with("never started"), "{}", run.out);
}

#[test]
fn an_interrupted_run_leaves_a_trace_of_what_was_done() {
    let room = Room::new();
    room.run("generate blobs --rows 3000 --noise 0.3 --seed 2 -o b.csv").exits(0);
    let mut command = room.command();
    command.args(["train", "b.csv", "--verdict", "off", "--epochs", "100000000"]);
    command.args(["--trace", "t.ndjson", "--trace-margin", "off"]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the program starts");
    // The file that grows is there as soon as the run has begun.
    let begun = Instant::now();
    while !room.names().iter().any(|name| name.ends_with(".tmp")) {
        assert!(begun.elapsed() < Duration::from_secs(60), "the run does not begin");
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(300));
    send_signal("INT", child.id());
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert_eq!(room.names(), ["b.csv", "b.linsep", "t.ndjson"]);
    assert!(lines(&room, "t.ndjson").len() > 1);
    room.run("replay t.ndjson b.csv -o r.linsep").exits(0);
    assert_eq!(planes(&room, "r.linsep"), planes(&room, "b.linsep"));
}

#[test]
fn a_trace_that_stands_is_replaced_whole_or_left() {
    let room = Room::holding("two.csv", TWO);
    room.write("t.ndjson", "old");
    room.run("train two.csv --learner least-squares --trace t.ndjson").exits(2);
    assert_eq!(room.read("t.ndjson"), "old");
    room.run("train two.csv --trace t.ndjson --dry-run").exits(0);
    assert_eq!(room.read("t.ndjson"), "old");
    room.run("train two.csv --trace t.ndjson").exits(0);
    assert!(room.read("t.ndjson").starts_with("{\"format\":\"linsep.trace/1\""));
}

/// The model of a replayed run has the rule of the run, whatever the scheme.
#[test]
fn a_replayed_model_predicts_as_the_trained_one() {
    let room = Room::with_examples();
    for scheme in ["joint", "ovr", "ovr-k-1"] {
        let flags = format!("--multiclass {scheme} --verdict off --epochs 5");
        room.run(&format!("train examples/iris.csv {flags} --trace t -o m.linsep")).exits(5);
        room.run("replay t examples/iris.csv -o r.linsep").exits(0);
        let of = |model: &str| {
            room.run(&format!("predict {model} examples/iris.csv --output scores")).exits(0).out
        };
        assert_eq!(of("m.linsep"), of("r.linsep"), "{scheme}");
    }
    // A trace that lost its last lines is not one that ended there.
    let text = std::fs::read_to_string(room.path("t")).expect("a trace");
    let lines: Vec<&str> = text.lines().collect();
    for kept in [1, 2, lines.len() - 1] {
        room.write("cut", format!("{}\n", lines[..kept].join("\n")));
        let run = room.run("replay cut examples/iris.csv").exits(4);
        assert!(run.err.contains("cut off"), "{kept}: {}", run.err);
    }
}
