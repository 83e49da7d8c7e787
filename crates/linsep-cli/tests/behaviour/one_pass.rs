//! `train --stream`: every row once, in constant memory, with the bits of one epoch over all rows.

use crate::common::{Room, TWO};
use serde_json::Value;
use std::io::Write;
use std::process::Stdio;

fn shown(room: &Room, name: &str) -> Value {
    let mut shown = room.run(&format!("show {name} --json")).exits(0).json();
    // Nothing is proved about rows that are gone, and the run says that it was a stream; everything else is
    // the same.
    shown["certificate"] = Value::Null;
    shown["run"] = Value::Null;
    shown
}

/// A stream gives what one epoch in the order of the file gives.
#[track_caller]
fn assert_one_epoch(room: &Room, data: &str, flags: &str) {
    let text = std::fs::read(room.path(data)).expect("a file");
    room.run_on(text, &format!("train - --stream {flags} -o stream.linsep")).exits(0).silent();
    room.run(&format!("train {data} --stream {flags} -o file.linsep")).exits(0).silent();
    let verdict = if flags.contains("--learner") { "" } else { "--verdict off" };
    let scale = if flags.contains("--scale") { "" } else { "--scale none" };
    let whole =
        format!("train {data} {flags} {verdict} {scale} --order cyclic --epochs 1 -o whole.linsep");
    room.run(&whole).exits(5);
    assert_eq!(shown(room, "stream.linsep"), shown(room, "whole.linsep"), "{data} {flags}");
    assert_eq!(room.bytes("stream.linsep"), room.bytes("file.linsep"), "{data} {flags}");
}

#[test]
fn a_stream_gives_the_bits_of_one_epoch() {
    let room = Room::with_examples();
    room.run("generate blobs --rows 20000 --features 7 --classes 3 --noise 0.1 -o three.csv")
        .exits(0);
    room.run("generate zipf --rows 9000 --features 3000 --noise 0.1 -o wide.svm").exits(0);
    for learner in [
        "",
        "--learner averaged --eta 1/k",
        "--learner margin-perceptron --b 0.5",
        "--learner relaxation --rho 1.5 --scale unit",
        "--learner passive-aggressive --rule pa2 --c 0.1",
        "--learner adaline --eta 0.0001",
        "--learner adaline --normalised on",
        "--learner averaged --multiclass ovr",
    ] {
        for data in ["three.csv", "wide.svm", "examples/banknote.csv"] {
            assert_one_epoch(&room, data, learner);
        }
    }
    assert_one_epoch(&room, "three.csv", "--positive 1 --ties 001");
    assert_one_epoch(&room, "three.csv", "--limit 11111");
}

#[test]
fn a_stream_can_go_on_with_another() {
    let room = Room::new();
    room.run("generate blobs --rows 20000 --features 4 --noise 0.1 -o both.csv").exits(0);
    let text = room.read("both.csv");
    let lines: Vec<&str> = text.lines().collect();
    let part = |rows: &[&str]| format!("{}\n{}\n", lines[0], rows.join("\n"));
    let (first, second) = (part(&lines[1..7000]), part(&lines[7000..]));
    let flags = "--learner averaged --eta 1/k";
    room.run_on(&text, &format!("train - --stream {flags} -o both.linsep")).exits(0);
    room.run_on(first, &format!("train - --stream {flags} -o m.linsep")).exits(0);
    room.run_on(second, "train - --stream --resume m.linsep").exits(0).silent();
    let planes = |name: &str| shown(&room, name)["planes"].clone();
    assert_eq!(planes("m.linsep"), planes("both.linsep"));
}

#[test]
fn classes_are_those_of_the_first_part_or_those_that_are_named() {
    let room = Room::new();
    let mut text = "x,label\n".to_owned();
    (0..80_000)
        .for_each(|k| text.push_str(&format!("{k},{}\n", if k % 2 == 0 { "a" } else { "b" })));
    let late = format!("{text}5,c\n");
    let run = room.run_on(&late, "train - --stream --label label").exits(3);
    run.says(&["error[E0128]", "no class \"c\"", "<stdin>:80002", "--classes"]);
    assert_eq!(room.names(), [""; 0], "nothing is written");
    let run = room.run_on(&late, "train - --stream --classes c,a,b --json").exits(0);
    assert_eq!(run.json()["classes"], serde_json::json!(["a", "b", "c"]));
    // Of classes that are sorted apart the first part has one only.
    let sorted = format!("x,label\n{}{}", "1,a\n".repeat(100_000), "2,b\n".repeat(40_000));
    let run =
        room.run_on(&sorted, "train - --stream").exits(3).says(&["error[E0116]", "--classes"]);
    assert_eq!(run.out, "");
    let result = room.run_on(&sorted, "train - --stream --classes a,b --json").exits(0).json();
    assert_eq!((&result["rows"], &result["stream"]), (&140_000.into(), &true.into()));
    // With one class against the rest every label is known.
    let result =
        room.run_on(&late, "train - --stream --classes a,b,d --positive a --json").exits(0);
    assert_eq!(result.json()["classes"], serde_json::json!(["rest", "a"]));
}

#[test]
fn the_report_says_what_the_pass_came_to() {
    let room = Room::holding("two.csv", TWO);
    let run = room.run("train two.csv --stream --test two.csv").exits(0).silent();
    assert!(run.fact("two.csv").starts_with("6 rows x 2 features"), "{}", run.out);
    assert!(run.fact("stopped").starts_with("the end of the stream ("));
    assert!(run.fact("proved").starts_with("nothing: "));
    assert!(run.fact("pass").ends_with("%)") && run.fact("test").contains(" of 6 wrong"));
    room.run("verify two.linsep two.csv").exits(1);
    room.run("predict two.linsep two.csv").exits(0);
}

/// Feeds so many megabytes and tells how many kilobytes the program held at most.
fn peak(room: &Room, megabytes: usize) -> u64 {
    let mut command = room.command();
    command.args(["train", "-", "--stream", "--threads", "2", "--quiet", "-o", "m.linsep"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("a run");
    let mut pipe = child.stdin.take().expect("a pipe");
    let mut block = String::new();
    while block.len() < 1 << 20 {
        let k = block.len() % 1000;
        block.push_str(&format!(
            "{k},{},{}\n",
            1000 - k,
            if k.is_multiple_of(3) { "a" } else { "b" }
        ));
    }
    pipe.write_all(b"u,v,label\n").expect("a header");
    for _ in 0..megabytes {
        pipe.write_all(block.as_bytes()).expect("rows");
    }
    // The pipe is still open, so the program is still there.
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).expect("a status");
    drop(pipe);
    assert!(child.wait().expect("the program ends").success());
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

#[test]
#[cfg(target_os = "linux")]
fn memory_stays_flat_however_long_the_stream_is() {
    let room = Room::new();
    let (short, long) = (peak(&room, 8), peak(&room, 32));
    assert!(long < short + 4 * 1024, "{short} kB for 8 MB, {long} kB for 32 MB");
}

#[test]
fn without_the_flag_standard_input_is_held_and_learned_from_as_a_file_is() {
    let room = Room::holding("two.csv", TWO);
    room.run("train two.csv -o file.linsep").exits(0);
    room.run_on(TWO, "train - -o pipe.linsep").exits(0);
    assert_eq!(room.bytes("file.linsep"), room.bytes("pipe.linsep"));
}
