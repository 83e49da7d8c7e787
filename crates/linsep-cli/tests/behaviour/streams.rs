//! stdout is the result, stderr is everything else, the exit code is the answer.

use crate::common::{Room, SPECIES, TWO};
use serde_json::Value;

#[test]
fn notes_go_to_stderr_and_quiet_silences_them() {
    let room = Room::holding("f.csv", "a,b,label\n1,2,x\n2,,y\n3,4,y\n");
    let run = room.run("train f.csv --missing drop-row").exits(0);
    assert_eq!(run.err, "note: 1 row left out because of missing values\n");
    assert!(!run.out.contains("note"), "{}", run.out);
    let quiet = room.run("train f.csv --missing drop-row --quiet").exits(0).silent();
    assert_eq!(quiet.out, run.out, "quiet changes nothing on stdout");
    assert_eq!(room.run("-q train f.csv --missing drop-row").silent().out, run.out);
}

#[test]
fn quiet_does_not_hide_errors() {
    let room = Room::holding("f.csv", "a,b,label\n1,2,x\n2,,y\n");
    let run = room.run("train f.csv --quiet").exits(3).says(&["error[E0108]"]);
    assert_eq!(run.out, "");
}

#[test]
fn verbose_says_how_the_file_was_read_and_how_long_it_took() {
    let room = Room::holding("two.csv", TWO);
    let run = room.run("train two.csv -v").exits(0).says(&["note: table, comma between fields"]);
    assert!(run.fact("seconds").starts_with("start "), "{}", run.out);
    assert_eq!(run.fact("digest").len(), 64);
}

#[test]
fn plain_gives_lines_of_two_fields_between_tabs() {
    let room = Room::holding("two.csv", TWO);
    let run = room.run("train two.csv --plain").exits(0).silent();
    let names: Vec<&str> = run
        .out
        .lines()
        .map(|line| {
            let (name, value) = line.split_once('\t').unwrap_or_else(|| panic!("no tab: {line}"));
            assert!(!value.starts_with(' ') && !value.contains('\t'), "{line}");
            name
        })
        .collect();
    let wanted = ["two.csv", "classes", "learner", "stopped", "proved", "training", "model"];
    assert_eq!(names, wanted);
}

#[test]
fn no_escape_bytes_come_out_of_a_pipe_unless_they_are_asked_for() {
    let room = Room::holding("two.csv", TWO);
    let escape = '\u{1b}';
    for line in ["train nope.csv", "train two.csv", "inspect two.csv", "help", "train --help"] {
        let run = room.run(line);
        assert!(!run.out.contains(escape) && !run.err.contains(escape), "{line}");
    }
    let run = room.run("train nope.csv --color always").exits(6);
    assert!(run.err.starts_with("\u{1b}[1;31merror[E0601]\u{1b}[0m: "), "{:?}", run.err);
    let coloured = |variables: &[(&str, &str)], flags: &str| {
        room.run_env(variables, &format!("train nope.csv {flags}")).err.contains(escape)
    };
    let (no, force) = (("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1"));
    assert!(coloured(&[force], ""));
    assert!(!coloured(&[no, force], ""), "NO_COLOR beats CLICOLOR_FORCE");
    assert!(coloured(&[no], "--color always"), "the flag beats NO_COLOR");
    assert!(!coloured(&[force], "--color never"), "the flag beats CLICOLOR_FORCE");
    assert!(coloured(&[("NO_COLOR", ""), force], ""), "an empty NO_COLOR does not count");
}

#[test]
fn progress_is_not_shown_in_a_pipe() {
    let room = Room::new();
    room.run("generate xor -o f.csv").exits(0);
    let run = room.run("train f.csv --verdict off --time-limit 1s").exits(5);
    assert!(run.err.starts_with("error[E0501]"), "{}", run.err);
    let run = room.run("train f.csv --verdict off --time-limit 1s --progress json").exits(5);
    let first = run.err.lines().next().expect("a line of progress");
    let progress: Value = serde_json::from_str(first).expect("a JSON object");
    assert!(progress["updates"].is_u64() && progress["seconds"].is_f64(), "{first}");
    assert!(progress["margin_ceiling"].as_f64().is_some_and(|c| c < 0.1), "{first}");
}

/// What a value must be.
type Is = fn(&Value) -> bool;

/// Asserts that an object has these keys and that each is what it must be.
#[track_caller]
fn has(object: &Value, keys: &[(&str, Is)]) {
    for (key, is) in keys {
        let value = object.get(key).unwrap_or_else(|| panic!("no key {key} in {object:#}"));
        assert!(is(value), "{key} is {value}");
    }
}

fn is_digest(value: &Value) -> bool {
    value.as_str().is_some_and(|t| t.len() == 64 && t.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn is_share(value: &Value) -> bool {
    value.as_f64().is_some_and(|share| (0.0..=1.0).contains(&share))
}

#[test]
fn train_json_has_every_key_that_is_promised() {
    let room = Room::with_examples();
    let run = room.run("train examples/iris.csv --json --test 0.2 --cv 3 -o m.linsep");
    let result = run.exits(0).silent().json();
    has(
        &result,
        &[
            ("schema", |v| v == "linsep.result/1"),
            ("command", |v| v == "train"),
            ("rows", |v| v == 150),
            ("features", |v| v == 4),
            ("classes", |v| *v == serde_json::json!(SPECIES)),
            ("learner", |v| v == "perceptron"),
            ("parameters", |v| v["eta"] == "1" && v["order"] == "shuffle"),
            ("stop", Value::is_string),
            ("epochs", Value::is_u64),
            ("updates", Value::is_u64),
            ("certificate", |v| v["claim"] == "inseparable"),
            ("model", |v| v == "m.linsep"),
            ("digest", is_digest),
        ],
    );
    for (part, rows) in [("training", 120), ("test", 30), ("cv", 150)] {
        assert_eq!(result[part]["rows"], rows, "{part}");
        has(&result[part], &[("errors", Value::is_u64), ("accuracy", is_share)]);
    }
    assert_eq!(result["cv"]["folds"], 3);
    for part in ["start", "read", "digest", "train", "prove", "evaluate", "write", "rest"] {
        assert!(result["seconds"][part].as_f64().is_some_and(|s| s >= 0.0), "{part}");
    }
    let plain = room.run("train examples/iris.csv --json -o m.linsep").exits(0).json();
    assert!(plain.get("test").is_none() && plain.get("cv").is_none(), "only when asked for");
}

#[test]
fn evaluate_json_has_every_key_that_is_promised() {
    let room = Room::with_examples();
    room.run("train examples/banknote.csv").exits(0);
    let result = room.run("evaluate banknote.linsep examples/banknote.csv --json").exits(0).json();
    has(
        &result,
        &[
            ("schema", |v| v == "linsep.result/1"),
            ("rows", |v| v == 1372),
            ("errors", Value::is_u64),
            ("accuracy", is_share),
            ("auc", is_share),
            ("log_loss", Value::is_null),
        ],
    );
    let sum = |row: &Value| row.as_array().expect("a row").iter().filter_map(Value::as_u64).sum();
    let confusion = result["confusion"].as_array().expect("a table");
    assert_eq!(confusion.iter().map(sum).collect::<Vec<u64>>(), [762, 610]);
    let wrong = confusion[0][1].as_u64().zip(confusion[1][0].as_u64()).map(|(a, b)| a + b);
    assert_eq!(result["errors"].as_u64(), wrong);
    for class in result["per_class"].as_array().expect("a list") {
        has(class, &[("class", Value::is_string), ("rows", Value::is_u64)]);
        has(class, &[("precision", is_share), ("recall", is_share), ("f1", is_share)]);
    }
    room.run("train examples/iris.csv").exits(0);
    let result = room.run("evaluate iris.linsep examples/iris.csv --json").exits(0).json();
    assert!(result["auc"].is_null(), "there is no AUC of three classes");
}

#[test]
fn inspect_json_has_every_key_that_is_promised() {
    let room = Room::holding("f.csv", "a,b,c,label\n1,1,7,x\n2,2,7,y\n2,2,7,x\n");
    let result = room.run("inspect f.csv --json").exits(0).silent().json();
    has(
        &result,
        &[
            ("schema", |v| v == "linsep.result/1"),
            ("rows", |v| v == 3),
            ("features", |v| v == 3),
            ("nonzeros", |v| v == 9),
            ("encoding", Value::is_string),
            ("bytes_per_value", Value::is_number),
            ("digest", is_digest),
        ],
    );
    let classes = serde_json::json!([{ "name": "x", "rows": 2 }, { "name": "y", "rows": 1 }]);
    assert_eq!(result["classes"], classes);
    let problems = result["problems"].as_array().expect("a list");
    for word in ["constant: c", "same values: a, b", "equal but differ in class"] {
        let found = problems.iter().any(|p| p.as_str().is_some_and(|p| p.contains(word)));
        assert!(found, "no problem \"{word}\" among {problems:?}");
    }
}

#[test]
fn show_json_has_every_key_that_is_promised() {
    let room = Room::with_model();
    let result = room.run("show two.linsep --json").exits(0).silent().json();
    assert_eq!(result["classes"], serde_json::json!(["x", "y"]));
    assert_eq!(result["features"], serde_json::json!(["a", "b"]));
    assert_eq!(result["rule"], "sign");
    let planes = result["planes"].as_array().expect("a list");
    assert_eq!(planes.len(), 1);
    assert!(planes[0]["bias"].is_f64());
    assert_eq!(planes[0]["weights"].as_array().map(Vec::len), Some(2));
}

#[test]
fn convert_json_names_the_file_and_the_digest() {
    let room = Room::holding("two.csv", TWO);
    let result = room.run("convert two.csv out.svm --json -q").exits(0).silent().json();
    has(&result, &[("rows", |v| v == 6), ("features", |v| v == 2), ("digest", is_digest)]);
    assert_eq!(result["output"], "out.svm");
    let digest = room.run("inspect out.svm --json").exits(0).json()["digest"].clone();
    assert_eq!(result["digest"], digest);
}

#[test]
fn version_and_build_are_printed() {
    let room = Room::new();
    let version = format!("linsep {}\n", env!("CARGO_PKG_VERSION"));
    for line in ["--version", "-V"] {
        assert_eq!(room.run(line).exits(0).silent().out, version);
    }
    let run = room.run("--version -v").exits(0).silent();
    assert!(run.out.starts_with(&version));
    assert_eq!(run.fact("formats"), "csv tsv svmlight gzip zstd");
    assert!(run.fact("target").contains(std::env::consts::OS));
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    let room = Room::new();
    let commands =
        ["train", "predict", "evaluate", "show", "inspect", "convert", "generate", "help", "man"];
    for shell in ["bash", "zsh", "fish"] {
        let text = room.run(&format!("completions {shell}")).exits(0).silent().out;
        assert!(commands.iter().all(|command| text.contains(command)), "{shell}:\n{text}");
        assert!(text.contains("categorical"), "the flags are there too");
    }
    assert!(room.run("completions bash").out.contains("complete -F _linsep"));
    assert!(room.run("completions zsh").out.starts_with("#compdef linsep\n"));
    assert!(room.run("completions fish").out.contains("complete -c linsep"));
    let text = room.run("man").exits(0).silent().out;
    assert!(text.contains(".TH linsep 1") && text.contains(".SH NAME"), "{text}");
    for command in commands {
        assert!(text.contains(&format!("linsep\\-{command}")), "{command}");
        let page = room.run(&format!("man {command}")).exits(0).silent().out;
        assert!(page.contains(".SH SYNOPSIS"), "{command}");
    }
}

#[test]
fn without_arguments_the_program_says_what_it_can_do() {
    let room = Room::new();
    let run = room.run("").exits(0).silent();
    assert!(run.out.starts_with("linsep: linear classification with proof\n"), "{}", run.out);
    assert!(run.out.lines().count() <= 12, "it fits a small screen");
}
