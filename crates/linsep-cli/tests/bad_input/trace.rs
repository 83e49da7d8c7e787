//! Traces that are of other data, cut or changed, and boxes that do not exist or are contradicted.

use super::Room;
use super::common::TWO;

/// A folder with the table `TWO` and a trace of a run on it.
fn traced() -> Room {
    let room = Room::holding("two.csv", TWO);
    room.run("train two.csv --verdict off --trace t.ndjson").exits(0);
    room
}

/// The trace with a change, refused with exit code 4 at this line.
#[track_caller]
fn refused(change: impl Fn(&str) -> String, line: usize, says: &[&str]) {
    let room = traced();
    let text = room.read("t.ndjson");
    let changed = change(&text);
    assert_ne!(text, changed);
    room.write("t.ndjson", changed);
    let before = room.names();
    for flags in ["", "--check", "-o out.linsep", "--json"] {
        let run = room.run(&format!("replay t.ndjson two.csv {flags}")).exits(4).says(says);
        let place = format!("t.ndjson:{line}: ");
        assert!(run.err.contains("E0405") && run.err.contains(&place), "no {place} in {}", run.err);
        assert_eq!(run.out, "");
        assert_eq!(room.names(), before);
    }
}

/// The text with one line replaced by what `change` makes of it; lines count from 1.
fn with_line(text: &str, number: usize, change: impl Fn(&str) -> String) -> String {
    let lines = text.lines().enumerate();
    lines.map(|(i, line)| if i + 1 == number { change(line) } else { line.into() } + "\n").collect()
}

#[test]
fn a_trace_of_other_data_is_refused() {
    let room = traced();
    // One value differs, one row is missing, the order differs.
    for other in [
        TWO.replace("4,5,y", "4,6,y"),
        TWO.replace("5,5,y\n", ""),
        "a,b,label\n2,1,x\n1,2,x\n1,1,x\n4,5,y\n5,4,y\n5,5,y\n".into(),
    ] {
        room.write("other.csv", other);
        let run = room.run("replay t.ndjson other.csv").exits(4);
        run.says(&["error[E0405]: t.ndjson:1: the trace is of other data", "digest", "help: "]);
    }
    room.run("replay t.ndjson two.csv --limit 4").exits(4).says(&["other data"]);
    room.run("replay nope.ndjson two.csv").exits(6).says(&["error[E0601]", "nope.ndjson"]);
    room.run("replay t.ndjson nope.csv").exits(6).says(&["nope.csv"]);
    // Files that are no traces at all.
    room.run("replay two.csv two.csv").exits(4).says(&["two.csv:1: this is no trace"]);
    room.run("replay two.linsep two.csv").exits(4).says(&["two.linsep:1: "]);
    room.write("empty", "");
    room.run("replay empty two.csv").exits(4).says(&["empty:1: the file is empty"]);
}

#[test]
fn a_trace_that_was_cut_or_changed_is_refused_with_its_line() {
    refused(
        |text| text[..text.len() - 9].to_owned(),
        traced().read("t.ndjson").lines().count(),
        &["cut off"],
    );
    refused(|text| text[..40].to_owned(), 1, &["cut off"]);
    let replace = |number, from: &'static str, to: &'static str| {
        move |text: &str| with_line(text, number, |line| line.replacen(from, to, 1))
    };
    refused(
        replace(1, "linsep.trace/1", "linsep.trace/2"),
        1,
        &["linsep.trace/2", "linsep.trace/1"],
    );
    refused(replace(1, "\"rows\":6", "\"rows\":7"), 1, &["rows, features or classes"]);
    refused(replace(2, "\"k\":1", "\"k\":2"), 2, &["k is 2, after 0 comes 1"]);
    refused(replace(3, "\"k\":2", "\"k\":1"), 3, &["k is 1, after 1 comes 2"]);
    refused(replace(3, "\"row\":", "\"row\":9"), 3, &["takes no part"]);
    refused(replace(3, "\"step\":", "\"step\":1"), 3, &["the rows give"]);
    refused(replace(3, "\"norm\":", "\"norm\":7"), 3, &["norm is 7"]);
    refused(replace(3, "\"mistakes\":", "\"mistakes\":9"), 3, &["mistakes is 9"]);
    refused(replace(3, "{", ""), 3, &["this is no update"]);
    // Another row of the data in the place of the one that was added.
    let other = |line: &str| {
        let mut line: serde_json::Value = serde_json::from_str(line).expect("a line");
        let row = line["row"].as_u64().expect("a row");
        line["row"] = ((row + 1) % 6).into();
        line.to_string()
    };
    refused(|text| with_line(text, 4, other), 4, &["line is ", ", the row stands in "]);
    // The same with the line of the other row.
    let elsewhere = |line: &str| {
        let mut line: serde_json::Value = serde_json::from_str(&other(line)).expect("a line");
        line["line"] = (line["row"].as_u64().expect("a row") + 2).into();
        line.to_string()
    };
    refused(|text| with_line(text, 4, elsewhere), 4, &["the rows give"]);
    // A line twice, a line missing.
    refused(|text| with_line(text, 3, |line| format!("{line}\n{line}")), 4, &["k is 2, after 2"]);
    let without = |text: &str| {
        let lines: Vec<&str> = text.lines().collect();
        format!("{}\n{}\n", lines[..2].join("\n"), lines[3..].join("\n"))
    };
    refused(without, 3, &["k is 3, after 1 comes 2"]);
    // The last lines missing, and lines behind the end.
    let count = traced().read("t.ndjson").lines().count();
    let headed = |text: &str, kept| -> String {
        text.lines().take(kept).map(|line| format!("{line}\n")).collect()
    };
    for kept in [1, 2, count - 1] {
        refused(|text| headed(text, kept), kept, &["no last line", "cut off"]);
    }
    refused(|text| format!("{text}{text}"), count + 1, &["behind the last one"]);
}

#[test]
fn points_that_the_trace_does_not_have_are_usage_errors() {
    let room = traced();
    let before = room.names();
    for (flags, word) in [
        ("--at 999999 -o out.linsep", "--at 999999: the trace has the updates 1 to "),
        ("--at x", "--at: \"x\""),
        ("--from -1", "--from: \"-1\""),
        ("--from 5 --to 4", "--to is before --from"),
        ("-o -", "a model is a file"),
        ("--positive y", "--positive"),
    ] {
        room.run(&format!("replay t.ndjson two.csv {flags}")).exits(2).says(&[word]);
    }
    room.run("replay t.ndjson").exits(2).says(&["<DATA>"]);
    assert_eq!(room.names(), before);
}

#[test]
fn boxes_and_traces_that_cannot_be_are_usage_errors() {
    let room = Room::holding("two.csv", TWO);
    room.write("three.csv", "a,label\n1,x\n2,y\n3,z\n");
    for (flags, words) in [
        ("--box nosuch", &["nosuch", "possible values: 000-batch, 000-single, 001"][..]),
        ("--literal", &["--box"]),
        ("--box 002 --order shuffle", &["--order shuffle", "--box 002", "order cyclic"]),
        ("--box 002 --eta 0.5", &["--eta 0.5", "--box 002"]),
        ("--box 002 --verdict on", &["--verdict on", "--box 002"]),
        ("--box 002 --learner pocket", &["--learner pocket", "--box 002"]),
        ("--box 000-batch --learner perceptron", &["--learner perceptron", "--box 000-batch"]),
        ("--box 000-batch --init random", &["init"]),
        ("--box 001 --literal --eta 2", &["--eta 2", "--box 001"]),
        ("--box 003 --below 1", &["below"]),
        ("--trace -", &["--trace: a trace is a file"]),
        ("--trace two.csv", &["--trace: two.csv is read by this command"]),
        ("--trace out.linsep", &["both write to out.linsep"]),
        ("--trace t --trace-criteria jn,jx", &["--trace-criteria: ", "jx"]),
        ("--trace-criteria jn", &["--trace"]),
        ("--trace t --trace-margin maybe", &["auto, on, off"]),
        (
            "--trace t --learner fisher",
            &["--trace: fisher has", "nothing to trace", "learners that can: perceptron"],
        ),
        (
            "--trace t --learner descent --criterion jd",
            &["--trace: descent with criterion jd has", "learners that can: perceptron"],
        ),
    ] {
        let run = room.run(&format!("train two.csv -o out.linsep {flags}")).exits(2).says(words);
        assert_eq!(run.out, "", "{flags}");
        assert_eq!(room.names(), ["three.csv", "two.csv"], "{flags}");
    }
    let run = room.run("train three.csv --box 002").exits(2);
    run.says(&["box 002 is about two classes, the data has 3", "--positive"]);
    let run = room.run("train three.csv --multiclass ovr --updates 3 --trace t").exits(2);
    run.says(&["--updates"]);
    room.run("train two.csv --trace nowhere/t.ndjson").exits(6).says(&["nowhere/t.ndjson"]);
    assert_eq!(room.names(), ["three.csv", "two.csv"]);
}
