//! Data beyond `--max-memory` goes to temporary files: the answers are the same to the last bit, and nothing
//! is left of the files.

use crate::common::{LINSEP, Room, Run};
use std::process::Stdio;
use std::time::Duration;

/// Learners of every engine.
const LEARNERS: [&str; 9] = [
    "perceptron --epochs 3 --verdict off",
    "averaged --epochs 2",
    "logistic",
    "svm",
    "svm --loss hinge",
    "least-squares",
    "fisher",
    "lda",
    "shared-variance-nb",
];

/// Trains with and without a limit and compares the models; the rows are in a file under the limit.
#[track_caller]
fn same_models(room: &Room, data: &str, limit: &str) {
    for learner in LEARNERS {
        let line = format!("train {data} --learner {learner}");
        let free = room.run(&format!("{line} -o free.linsep --json"));
        let held = room.run(&format!("{line} -o held.linsep --json --max-memory {limit}"));
        assert_eq!(held.code, free.code, "{line}: {}", held.err);
        assert!(room.bytes("free.linsep") == room.bytes("held.linsep"), "{line}");
        let (free, held) = (free.json()["memory"].clone(), held.json()["memory"].clone());
        assert_eq!(free["store_bytes"], held["store_bytes"], "{line}");
        assert_eq!(free["mapped_bytes"], 0, "{line}");
        assert!(held["mapped_bytes"].as_u64() > Some(4_000_000), "{line}: {held}");
    }
}

#[test]
fn models_of_dense_rows_have_the_same_bytes() {
    let room = Room::new();
    room.run("generate gaussian --rows 60000 --features 50 --noise 0.05 -o f.csv").exits(0);
    same_models(&room, "f.csv", "45MB");
    let run = room.run("train f.csv --learner lda --max-memory 45MB --verbose -o m.linsep");
    assert!(run.exits(0).fact("memory").contains(" MiB in a temporary file, "));
}

#[test]
fn models_of_sparse_rows_have_the_same_bytes() {
    let room = Room::new();
    room.run("generate zipf --rows 100000 --features 1000 --nonzeros 50 -o f.svm").exits(0);
    same_models(&room, "f.svm", "90MB");
}

#[test]
fn every_command_says_the_same_of_rows_in_files() {
    let room = Room::new();
    room.run("generate blobs --rows 60000 --features 50 --margin 0.1 -o f.csv").exits(0);
    room.run("train f.csv --learner logistic -o m.linsep").exits(0);
    for line in [
        "inspect f.csv --json",
        "separable f.csv",
        "verify m.linsep f.csv",
        "evaluate m.linsep f.csv",
        "convert f.csv out.svm",
        "criterion m.linsep f.csv",
    ] {
        let free = room.run(line).exits(0).out;
        let out = line.rsplit(' ').next().filter(|name| name.starts_with("out"));
        let written = out.map(|name| room.bytes(name));
        if let Some(name) = out {
            std::fs::remove_file(room.path(name)).expect("a file to remove");
        }
        let held = room.run(&format!("{line} --max-memory 45MB")).exits(0).out;
        let parts = |text: &str| text.split("\"seconds\"").next().map(str::to_owned);
        assert_eq!(parts(&free), parts(&held), "{line}");
        assert!(out.map(|name| room.bytes(name)) == written, "{line}");
    }
    room.run("convert f.csv out.parquet").exits(0);
    // A file of columns is mapped, also under a limit.
    let free = room.run("train out.parquet --learner lda -o p.linsep").exits(0);
    let held = room.run("train out.parquet --learner lda -o q.linsep --max-memory 90MB").exits(0);
    assert_eq!(free.out.replace("p.linsep", "q.linsep"), held.out);
    assert!(room.bytes("p.linsep") == room.bytes("q.linsep"));
}

#[test]
fn a_folder_without_room_is_an_error_with_a_remedy() {
    let room = Room::new();
    room.run("generate gaussian --rows 60000 --features 50 -o f.csv").exits(0);
    let line = "train f.csv --max-memory 45MB -o m.linsep";
    let says = ["error[E0601]: cannot write temporary files to", "TMPDIR", "raise --max-memory"];
    room.run_env(&[("TMPDIR", "/dev/null/none")], line).exits(6).says(&says);
    let script = format!("ulimit -f 5000; exec {LINSEP} {line}");
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &script]).current_dir(room.path("."));
    let run = Run::new(shell.output().expect("a shell"), &script);
    run.exits(6).says(&says);
    assert_eq!(room.names(), ["f.csv"]);
    room.run(line).exits(0);
}

#[test]
fn a_program_that_is_killed_leaves_no_temporary_file() {
    let room = Room::new();
    room.run("generate gaussian --rows 60000 --features 50 --noise 0.2 -o f.csv").exits(0);
    room.write("tmp/keep", "");
    let line = "train f.csv --learner perceptron --verdict off --epochs 100000 --max-memory 45MB";
    let mut command = room.command();
    command.args(line.split_whitespace()).env("TMPDIR", room.path("tmp"));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a start");
    // The mapping shows that the rows have gone to a file, which has no name by then.
    let maps = format!("/proc/{}/maps", child.id());
    let folder = room.path("tmp").display().to_string();
    let is_mapped = || std::fs::read_to_string(&maps).unwrap_or_default().contains(&folder);
    let mut tries = 0;
    while !is_mapped() && tries < 2000 {
        std::thread::sleep(Duration::from_millis(5));
        tries += 1;
    }
    let names = || std::fs::read_dir(room.path("tmp")).expect("the folder").count();
    assert!(is_mapped() && names() == 1, "after {tries} tries");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert_eq!(names(), 1);
}
