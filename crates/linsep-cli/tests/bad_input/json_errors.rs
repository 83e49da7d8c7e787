//! With `--json` every error is one object, the last line of stderr; the exit code is the same.

use super::Room;
use super::common::{Run, TWO};
use serde_json::Value;

/// The object on stderr, of a run that says why it failed.
#[track_caller]
fn error_of(run: &Run) -> Value {
    let line = run.err.lines().last().unwrap_or_default();
    let value: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e} in\n{}", run.err));
    assert_eq!(value["schema"], "linsep.error/1");
    assert_eq!(value["exit"], run.code);
    assert!(value["title"].is_string() && value["message"].is_string(), "{value}");
    value
}

#[test]
fn errors_of_the_data_have_their_place() {
    let room = Room::holding("f.csv", "a,b,label\n1,2,x\n3,oops,y\n5,6,y\n7,8,y\n2,3,x\n");
    let run = room.run("train f.csv --json").exits(3);
    assert_eq!(run.out, "");
    let value = error_of(&run);
    assert_eq!(value["code"], "E0104");
    let problem = &value["problems"][0];
    assert_eq!((&problem["file"], &problem["line"]), (&"f.csv".into(), &3.into()));
    assert_eq!((&problem["field"], &problem["name"]), (&2.into(), &"b".into()));
    assert_eq!(problem["value"], "oops");
    assert!(value["help"].as_str().is_some_and(|help| help.contains("--")), "{value}");
}

#[test]
fn errors_of_settings_models_and_files_have_code_and_help() {
    let room = Room::holding("two.csv", TWO);
    room.write("broken.linsep", "no model");
    for (line, exit, code) in [
        ("train two.csv --eta 0 --json", 2, "E0201"),
        ("train --json two.csv --n-jobs 4", 2, "E0201"),
        ("train two.csv --threads 0 --json", 2, "E0201"),
        ("classify two.csv --json", 2, "E0201"),
        ("train none.csv --json", 6, "E0601"),
    ] {
        let value = error_of(&room.run(line).exits(exit));
        assert_eq!(value["code"], code, "{line}");
    }
    let value = error_of(&room.run("train two.csv --n-jobs 4 --json").exits(2));
    assert_eq!(value["message"], "unexpected argument '--n-jobs' found");
    assert_eq!(value["help"], "'--n-jobs' is --threads N");
    let value = error_of(&room.run("show broken.linsep --json").exits(4));
    assert!(value["help"].is_string(), "{value}");
    // A limit: the result is on stdout, the error behind it.
    let run = room.run("train two.csv --order cyclic --epochs 1 --json").exits(5);
    assert_eq!(error_of(&run)["code"], "E0501");
    assert_eq!(run.json()["command"], "train");
    // Without the flag errors are for people.
    room.run("train none.csv").exits(6).says(&["error[E0601]"]);
    room.run("train two.csv --help --json").exits(0);
}
