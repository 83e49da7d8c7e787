//! Whatever a command is doing, a signal or the time limit ends it within a second, and what is worth keeping
//! is kept.

use crate::common::{Room, Run, send_signal, try_signal};
use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// What a stop may take, and what a machine under load may add to it.
const SOON: Duration = Duration::from_millis(1000);
const LOAD: Duration = Duration::from_millis(2500);

/// Rows that no plane separates and that keep every learner busy for long.
fn room() -> Room {
    let room = Room::new();
    let line = "generate blobs --rows 6000 --features 60 --classes 6 --noise 0.2 -o f.csv";
    room.run(line).exits(0);
    room
}

fn start(room: &Room, line: &str) -> (std::process::Child, Instant) {
    let mut command: Command = room.command();
    command.args(line.split_whitespace()).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    (command.spawn().expect("the program starts"), Instant::now())
}

/// Runs a command that is told to stop after `time`, by the limit or by one signal.
#[track_caller]
fn stopped(room: &Room, line: &str, time: Duration, by_signal: bool) -> Run {
    let full = match by_signal {
        true => line.to_owned(),
        false => format!("{line} --time-limit {}ms", time.as_millis()),
    };
    let (child, started) = start(room, &full);
    let id = child.id();
    let (done, waiting) = std::sync::mpsc::channel();
    let waiter = std::thread::spawn(move || {
        let output: Output = child.wait_with_output().expect("the program ends");
        let _ = done.send(());
        output
    });
    if by_signal && waiting.recv_timeout(time).is_err() {
        try_signal("TERM", id);
    }
    let output = waiter.join().expect("the program ends");
    let late = started.elapsed().saturating_sub(time);
    let run = Run::new(output, &full);
    assert!(late < SOON + LOAD, "{full} ended {late:?} late\n{}", run.err);
    run
}

#[test]
fn every_learner_ends_at_the_time_limit_with_its_model() {
    let room = room();
    for recipe in linsep::recipe::ALL {
        for by_signal in [false, true] {
            let line = format!("train f.csv --learner {} -o m.linsep", recipe.name);
            let run = stopped(&room, &line, Duration::from_millis(350), by_signal);
            match run.code {
                // It was done, or it has no model for such rows.
                0..=2 => {}
                // Counts are not below 0.
                3 if recipe.name == "multinomial-nb" => {}
                5 | 130 => {
                    if room.exists("m.linsep") {
                        room.run("show m.linsep").exits(0);
                    }
                }
                code => panic!("{line}: exit code {code}\n{}", run.err),
            }
            let _ = std::fs::remove_file(room.path("m.linsep"));
            let left: Vec<String> =
                room.names().into_iter().filter(|n| n.ends_with(".tmp")).collect();
            assert!(left.is_empty(), "{line}: {left:?}");
        }
    }
}

/// What each command is given to do, longer than it has time for if it can take long at all.
const LINES: &[&str] = &[
    "separable f.csv",
    "separable f.csv --joint",
    "separable f.csv --by cycling",
    "compare f.csv --cv 20",
    "train f.csv -o n.linsep --cv 50",
    "train f.csv --learner logistic --multiclass softmax -o n.linsep",
    "train f.csv --learner svm --multiclass crammer-singer --gap 1e-9 -o n.linsep",
    "train f.csv --learner svm --c auto -o n.linsep",
    "train f.csv --learner svm --probabilities platt -o n.linsep",
    "train f.csv --runs 50 -o n.linsep",
    "train f.csv --basis poly:2 -o n.linsep",
    "verify m.linsep f.csv",
    "verify s.linsep f.csv",
    "evaluate m.linsep f.csv",
    "predict m.linsep f.csv -o p.csv",
    "geometry m.linsep f.csv",
    "criterion m.linsep f.csv",
    "inspect f.csv",
    "generate blobs --rows 100000000 -o big.csv",
    "sample m.linsep -n 100000000 -o big.csv",
    "separable two.csv --margin",
    "separable two.csv --removal",
    "separable f.csv --basis poly:2",
    "separable many.svm",
    "separable many.svm --joint",
    "forced two.csv --positive 1 --points two.csv",
    "infer two.csv --penalty firth",
    "certify w.json two.csv --learner svm --gap 1e-12",
    "explain m.linsep f.csv --row 5000",
    "gate parity --inputs 10",
    "plot two.csv --view curves -o p.svg",
    "convert f.csv p.svm.gz",
    "convert f.csv p.parquet",
    "export m.linsep --to c --check f.csv -o p.c",
    "replay t.ndjson f.csv --check",
    "show m.linsep",
    "lab f.csv --no-open",
    "train many.svm --learner hard-margin -o n.linsep",
    "train many.svm --learner svm -o n.linsep",
    "train many.svm --learner least-squares -o n.linsep",
    "train many.svm --learner logistic --multiclass softmax -o n.linsep",
];

#[test]
fn every_command_ends_at_the_time_limit() {
    let room = room();
    room.run("train f.csv --learner lda -o m.linsep").exits(0);
    room.run("train f.csv --learner svm --epochs 2 -o s.linsep").exits(5);
    room.run("train f.csv --verdict off --epochs 5 --trace t.ndjson -o n.linsep").exits(5);
    room.run("generate blobs --rows 3000 --features 60 --margin 0.05 -o two.csv").exits(0);
    let weights = ["0.1"; 60].join(",");
    let json = format!(r#"{{"weights":[{weights}],"bias":0,"classes":["-1","1"]}}"#);
    room.write("w.json", json);
    // 2,000 classes: a look at every pair of them is long.
    let row = |i: u64| {
        let entries = (0..8).map(|k| format!(" {}:{}", 25 * k + 1 + (i * (k + 7)) % 25, 1 + i % 9));
        format!("c{}{}\n", i % 2000, entries.collect::<String>())
    };
    room.write("many.svm", (0..20_000).map(row).collect::<String>());
    for line in LINES {
        let run = stopped(&room, line, Duration::from_millis(400), false);
        assert!([0, 1, 5].contains(&run.code), "{line}: {}\n{}", run.code, run.err);
        assert!(!room.exists("big.csv"), "{line}");
    }
}

/// The flag is one of all commands, so each of them is in the list above, or has nothing to do that takes time.
#[test]
fn no_command_is_left_out_of_the_time_limit() {
    let help = Room::new().run("--help").exits(0).out;
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let name = |line: &str| {
        let line = line.strip_prefix("  ").filter(|line| !line.starts_with(' '))?;
        line.split(' ').next().map(str::to_owned)
    };
    let commands: Vec<String> =
        commands.take_while(|line| !line.is_empty()).filter_map(name).collect();
    assert!(commands.len() > 15, "{commands:?}");
    for command in commands {
        let tried = LINES.iter().any(|line| line.split(' ').next() == Some(command.as_str()));
        let instant = ["help", "completions", "man"].contains(&command.as_str());
        assert!(tried || instant, "{command} has no line in the list");
    }
}

/// Nobody feeds the input, and nobody closes it.
#[test]
fn input_that_gives_nothing_does_not_keep_the_program() {
    let room = Room::new();
    let made = Command::new("mkfifo").arg(room.path("pipe")).status().expect("mkfifo");
    assert!(made.success());
    for line in [
        "train - -o m.linsep",
        "separable -",
        "train - --stream -o m.linsep",
        "train pipe -o m.linsep",
    ] {
        for by_signal in [false, true] {
            let time = Duration::from_millis(400);
            let (mut child, started) = start(
                &room,
                &match by_signal {
                    true => line.to_owned(),
                    false => format!("{line} --time-limit 400ms"),
                },
            );
            // Some rows, and then nothing.
            let mut pipe = child.stdin.take().expect("a pipe");
            let _ = pipe.write_all(b"a,b,label\n1,2,x\n2,1,y\n");
            std::thread::sleep(time);
            if by_signal {
                send_signal("TERM", child.id());
            }
            let status = child.wait().expect("the program ends");
            drop(pipe);
            let late = started.elapsed().saturating_sub(time);
            assert!(late < SOON + LOAD, "{line} ended {late:?} late");
            assert_eq!(status.code(), Some(if by_signal { 130 } else { 5 }), "{line}");
            assert!(!room.exists("m.linsep"), "{line}");
        }
    }
}

/// What a stream has learned from is in the model when the waiting for more rows is broken off.
#[test]
fn a_stream_that_dries_up_keeps_what_it_learned() {
    let room = Room::new();
    let (mut child, _) = start(&room, "train - --stream -o m.linsep");
    let mut pipe = child.stdin.take().expect("a pipe");
    let rows: String = (0..600_000).map(|i| format!("{},{},{}\n", i % 7, i % 5, i % 2)).collect();
    pipe.write_all(format!("a,b,label\n{rows}").as_bytes()).expect("rows");
    pipe.flush().expect("rows");
    std::thread::sleep(Duration::from_millis(2500));
    send_signal("TERM", child.id());
    let started = Instant::now();
    let output = child.wait_with_output().expect("the program ends");
    drop(pipe);
    assert!(started.elapsed() < SOON + LOAD, "{:?}", started.elapsed());
    let run = Run::new(output, "train - --stream").exits(130);
    assert!(run.err.contains("the model as it was is in m.linsep"), "{}", run.err);
    room.run("show m.linsep").exits(0);
}
