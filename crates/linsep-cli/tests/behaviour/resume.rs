//! `train --resume`: the same run on the same data, bit for bit, and what was learned carried on to new
//! data.

use crate::common::{Room, Run, SPECIES, TWO, send_signal};
use linsep::file::ModelFile;
use linsep::file::checkpoint::Checkpoint;
use linsep::proof::digest::Version;
use linsep::recipe::{ALL, Kind, Recipe};
use linsep::rng::{Purpose, Stream};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// Runs of `train` that a limit on epochs may end.
#[track_caller]
fn train(room: &Room, line: &str) -> Run {
    let run = room.run(&format!("train {line}"));
    assert!(run.code == 0 || run.code == 5, "train {line}\n{}", run.err);
    run
}

/// Three epochs, then seven in all, are seven epochs: the model files have the same bytes.
#[track_caller]
fn assert_goes_on(room: &Room, line: &str) {
    train(room, &format!("{line} --epochs 3 -o three.linsep"));
    train(room, &format!("{line} --epochs 7 -o seven.linsep"));
    let data = line.split_whitespace().next().unwrap_or("");
    train(room, &format!("--resume three.linsep --epochs 7 {data} -o resumed.linsep"));
    assert_eq!(room.bytes("resumed.linsep"), room.bytes("seven.linsep"), "{line}");
}

fn online() -> impl Iterator<Item = &'static Recipe> {
    ALL.iter().filter(|recipe| recipe.kind == Kind::Online)
}

#[test]
fn three_epochs_and_a_resume_are_seven_epochs_for_every_online_learner() {
    let room = Room::with_examples();
    for recipe in online() {
        for data in ["examples/iris.csv", "examples/heart_scale.svm"] {
            assert_goes_on(&room, &format!("{data} --learner {}", recipe.name));
        }
    }
}

/// A model that names its data by the first version of the digest is the same run on the same data.
#[test]
fn models_with_the_first_version_of_the_digest_go_on() {
    let room = Room::with_examples();
    train(&room, "examples/iris.csv --epochs 3 -o three.linsep");
    train(&room, "examples/iris.csv --epochs 7 -o seven.linsep");
    let path = room.path("three.linsep");
    let mut old = ModelFile::load(&path, None).expect("a model");
    let read = linsep::data::read::read(&[room.path("examples/iris.csv")], &Default::default());
    let data = read.expect("data").data;
    old.data.digest = Version::One;
    old.data.sha256 = data.digest_of(Version::One, 1);
    old.certificate.data = old.data.clone();
    old.save(&path).expect("a file");
    room.run("verify three.linsep examples/iris.csv").exits(1).silent();
    let resume = "--resume three.linsep --epochs 7 -o resumed.linsep";
    train(&room, &format!("{resume} examples/iris.csv"));
    assert_eq!(room.bytes("resumed.linsep"), room.bytes("seven.linsep"));
    let changed = room.read("examples/iris.csv").replacen("5.1", "5.2", 1);
    room.write("changed.csv", &changed);
    train(&room, &format!("{resume} changed.csv"));
    assert_ne!(room.bytes("resumed.linsep"), room.bytes("seven.linsep"));
}

#[test]
fn the_settings_of_a_run_go_on_with_it() {
    let room = Room::with_examples();
    room.write("rates.txt", "1 0.5\n0.25\n");
    room.run("train examples/iris.csv --seed 9 -o start.linsep").exits(0);
    for flags in [
        "--order cyclic --eta 1/k",
        "--order random --scale standard --verdict off",
        "--order worst-first --scale unit",
        "--multiclass ovr --class-weight balanced --seed 12345",
        "--eta table:rates.txt --verdict off",
        "--init start.linsep --verdict off",
        "--init random --test 0.25",
        "--learner averaged --scale standard --eta 10/(10+k)",
        "--learner pocket --multiclass ovr --order random",
        "--learner adaline --normalised on --order random",
        "--learner relaxation --stop clean-window --rho 1.5",
        "--learner margin-perceptron --stop below:0.5",
        "--learner passive-aggressive --stop empty --rule pa2",
    ] {
        assert_goes_on(&room, &format!("examples/iris.csv {flags}"));
    }
}

#[test]
fn labels_columns_and_weights_of_a_run_go_on_with_it() {
    let room = Room::new();
    let mut text = "kind,a,w,b,c\n".to_owned();
    let mut stream = Stream::new(1, Purpose::Generate(3));
    for k in 0..90 {
        let (kind, word) = (["p", "q", "r"][k % 3], ["red", "blue"][stream.below(2) as usize]);
        let value = |s: &mut Stream| s.below(100) as f64 / 10.0 + (k % 3) as f64 * 2.0;
        text.push_str(&format!(
            "{kind},{},{},{},{word}\n",
            value(&mut stream),
            k % 4,
            if k % 7 == 0 { String::new() } else { value(&mut stream).to_string() }
        ));
    }
    room.write("f.csv", &text);
    for flags in [
        "--missing mean --categorical onehot",
        "--missing zero --categorical onehot --weight w --positive q",
        "--missing mean --drop c --positive p --reading binary64",
    ] {
        let line = format!("f.csv --label kind {flags}");
        train(&room, &format!("{line} --epochs 2 -o short.linsep"));
        train(&room, &format!("{line} --epochs 5 -o long.linsep"));
        train(&room, "f.csv --resume short.linsep --epochs 5 -o resumed.linsep");
        assert_eq!(room.bytes("resumed.linsep"), room.bytes("long.linsep"), "{flags}");
    }
}

#[test]
fn a_checkpoint_goes_on_with_the_same_limits_and_is_gone_when_the_run_is_done() {
    let room = Room::with_examples();
    let flags = "examples/digits.csv --verdict off --order cyclic --multiclass ovr";
    room.run(&format!("train {flags} -o whole.linsep")).exits(0);
    // A limit on the corrections stands for whatever ends a run early.
    let run =
        room.run(&format!("train {flags} --updates 900 --checkpoint-every 1000visits -o m.linsep"));
    let run = run.exits(5);
    run.says(&[
        "the model is in m.linsep; ",
        "resume with: linsep train --resume m.linsep.checkpoint examples/digits.csv",
    ]);
    let saved = std::fs::read(room.path("m.linsep.checkpoint")).expect("a checkpoint");
    let saved = Checkpoint::from_bytes(&saved, Path::new("c")).expect("a whole checkpoint");
    assert_eq!((saved.limits.updates, saved.limits.epochs), (Some(900), None));
    // The limit is part of the run until another is asked for.
    let again = "train --resume m.linsep.checkpoint examples/digits.csv";
    room.run(again).exits(5).says(&["--updates was reached"]);
    assert!(room.exists("m.linsep.checkpoint"));
    room.run(&format!("{again} --updates 1000000000 --epochs 100 --quiet")).exits(5);
    let planes = |name: &str| room.run(&format!("show {name} --json")).exits(0).json();
    assert_eq!(planes("m.linsep"), planes("whole.linsep"));

    room.run("train examples/wine.csv -o whole.linsep").exits(0);
    room.run("train examples/wine.csv --epochs 5 --checkpoint keep.it -o m.linsep").exits(5);
    assert!(room.exists("keep.it"), "the place that was asked for");
    room.run("train examples/wine.csv --resume keep.it --epochs 100 -o m.linsep").exits(0);
    assert_eq!(room.bytes("m.linsep"), room.bytes("whole.linsep"));
    assert!(!room.exists("keep.it"), "a run that is done needs no checkpoint");
    room.run("train examples/wine.csv --checkpoint-every 1ms -o m.linsep").exits(0).silent();
    assert_eq!(room.bytes("m.linsep"), room.bytes("whole.linsep"));
    assert!(!room.names().iter().any(|name| name.contains("checkpoint")), "{:?}", room.names());
}

#[test]
fn an_interrupted_run_is_saved_and_goes_on() {
    let room = Room::new();
    room.run("generate blobs --rows 300 --features 4 --noise 0.2 -o f.csv").exits(0);
    let flags = ["train", "f.csv", "--verdict", "off", "--epochs", "200000", "--progress", "json"];
    let mut command = room.command();
    command.args(flags).args(["--checkpoint-every", "1h"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a run");
    let mut err = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut line = String::new();
    err.read_line(&mut line).expect("the first line of progress");
    send_signal("INT", child.id());
    let mut rest = String::new();
    err.read_to_string(&mut rest).expect("text");
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(output.status.code(), Some(130), "{rest}");
    let words = "interrupted; the model as it was is in f.linsep; \
                 resume with: linsep train --resume f.linsep.checkpoint f.csv\n";
    assert!(rest.ends_with(words), "{rest}");
    let done = room.run("show f.linsep --json").exits(0).json();
    let epochs = done["epochs"].as_u64().expect("a number") + 50;
    // Both the checkpoint and the model know the whole state, wherever the signal came.
    let from_model = format!("train f.csv --resume f.linsep --epochs {epochs} -o a.linsep");
    room.run(&from_model).exits(5);
    let from_checkpoint =
        format!("train f.csv --resume f.linsep.checkpoint --epochs {epochs} -o b.linsep");
    room.run(&from_checkpoint).exits(5);
    room.run(&format!("train f.csv --verdict off --epochs {epochs} -o whole.linsep")).exits(5);
    assert_eq!(room.bytes("a.linsep"), room.bytes("whole.linsep"));
    assert_eq!(room.bytes("b.linsep"), room.bytes("whole.linsep"));
}

#[test]
fn a_time_limit_saves_the_run() {
    let room = Room::new();
    room.run("generate xor -o f.csv").exits(0);
    let flags = "--verdict off --time-limit 100ms --checkpoint-every 1h";
    let run = room.run(&format!("train f.csv {flags}")).exits(5);
    run.says(&[
        "--time-limit was reached",
        "resume with: linsep train --resume f.linsep.checkpoint f.csv",
    ]);
    let done = room.run("show f.linsep --json").exits(0).json()["epochs"].as_u64();
    let epochs = done.expect("a number") + 10;
    room.run(&format!("train f.csv --resume f.linsep.checkpoint --epochs {epochs}")).exits(5);
    room.run(&format!("train f.csv --verdict off --epochs {epochs} -o whole.linsep")).exits(5);
    assert_eq!(room.bytes("f.linsep"), room.bytes("whole.linsep"));
}

/// The same rows in one file and in two: one pass over both is a pass over the first, carried on with
/// the second. The rate falls and the weights are averaged, so counters have to be carried on too.
#[test]
fn new_data_goes_on_where_the_old_data_ended() {
    let room = Room::with_examples();
    let text = std::fs::read_to_string(room.path("examples/banknote.csv")).expect("a table");
    let (header, rows) = text.split_once('\n').expect("a header");
    let mut rows: Vec<&str> = rows.lines().collect();
    let mut stream = Stream::new(5, Purpose::Generate(4));
    stream.shuffle(&mut rows);
    let file = |rows: &[&str]| format!("{header}\n{}\n", rows.join("\n"));
    room.write("both.csv", file(&rows));
    room.write("first.csv", file(&rows[..500]));
    room.write("second.csv", file(&rows[500..]));
    for learner in [
        "perceptron --verdict off --eta 1/k",
        "averaged --eta step:1,0.1,30",
        "margin-perceptron --eta 5/(5+k)",
        "relaxation",
        "passive-aggressive",
        "adaline --eta 0.001",
    ] {
        let flags = format!("--learner {learner} --order cyclic --scale none --epochs 1");
        train(&room, &format!("both.csv {flags} -o both.linsep"));
        train(&room, &format!("first.csv {flags} -o m.linsep"));
        train(&room, "second.csv --resume m.linsep --epochs 1");
        let show = |name: &str| room.run(&format!("show {name} --json")).exits(0).json();
        let (both, parts) = (show("both.linsep"), show("m.linsep"));
        assert_eq!(parts["planes"], both["planes"], "{learner}");
        let file = linsep::file::ModelFile::load(&room.path("m.linsep"), None).expect("a model");
        let earlier = file.run.expect("a run").earlier;
        assert_eq!((earlier.epochs, earlier.visits), (1, 500), "{learner}");
        assert_eq!(Some(earlier.updates + file.updates), both["updates"].as_u64(), "{learner}");
    }
}

#[test]
fn a_model_carries_on_with_every_online_learner() {
    let room = Room::with_examples();
    let text = std::fs::read_to_string(room.path("examples/iris.csv")).expect("a table");
    let lines: Vec<&str> = text.lines().collect();
    // Rows of the second and third class only: the first is known from before.
    room.write("later.csv", [&lines[..1], &lines[61..]].concat().join("\n"));
    for recipe in online() {
        let name = recipe.name;
        room.run(&format!("train examples/iris.csv --learner {name} -o m.linsep")).exits(0);
        if name == "ho-kashyap" {
            // It looks at all rows at once.
            let refused = room.run("train later.csv --resume m.linsep").exits(4);
            assert!(refused.err.contains("other rows"), "{}", refused.err);
            continue;
        }
        let result = room.run("train later.csv --resume m.linsep --json").exits(0).json();
        assert_eq!(result["learner"], name);
        assert_eq!(result["classes"], serde_json::json!(SPECIES), "{name}");
        assert_eq!(result["model"], "m.linsep", "the model goes on in its place");
        let before = &result["earlier"];
        assert!(before["epochs"].as_u64() > Some(0), "{name}: {before}");
        let text = room.run("train later.csv --resume m.linsep -o n.linsep --epochs 1");
        assert!(text.fact("stopped").contains("; before that "), "{name}: {}", text.out);
        room.run("verify n.linsep later.csv");
        room.run("predict n.linsep examples/iris.csv").exits(0);
    }
}

#[test]
fn a_resumed_run_on_new_data_can_be_resumed_itself() {
    let room = Room::with_examples();
    room.write("two.csv", TWO);
    room.run("train examples/iris.csv --epochs 2 -o m.linsep").exits(5);
    let text = std::fs::read_to_string(room.path("examples/iris.csv")).expect("a table");
    let lines: Vec<&str> = text.lines().collect();
    room.write("part.csv", [&lines[..1], &lines[20..120]].concat().join("\n"));
    room.run("train part.csv --resume m.linsep --epochs 2 -o short.linsep").exits(5);
    room.run("train part.csv --resume short.linsep --epochs 5 -o a.linsep").exits(5);
    room.run("train part.csv --resume m.linsep --epochs 5 -o b.linsep").exits(5);
    assert_eq!(room.bytes("a.linsep"), room.bytes("b.linsep"));
}

/// A run that is killed again and again, at any moment, ends with the bytes of one that never was.
#[test]
fn fifty_kills_change_no_bit_of_the_model() {
    let room = Room::new();
    room.run("generate blobs --rows 4000 --features 12 --noise 0.2 -o f.csv").exits(0);
    let mut moments = Stream::new(4, Purpose::Generate(9));
    let (mut kills, mut torn) = (0, 0);
    for flags in ["--learner averaged --eta 1/k", "--learner pocket --order random"] {
        let line = format!("train f.csv {flags} --epochs 150 --quiet");
        room.run(&format!("{line} -o whole.linsep")).exits(5);
        let whole = room.bytes("whole.linsep");
        let aim = kills + 25;
        while kills < aim {
            let saved = room.exists("m.linsep.checkpoint");
            let line = match saved {
                true => "train f.csv --resume m.linsep.checkpoint --quiet".to_owned(),
                false => format!("{line} -o m.linsep"),
            };
            let mut command = room.command();
            command.args(line.split_whitespace()).args(["--checkpoint-every", "3ms"]);
            let mut child =
                command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a run");
            std::thread::sleep(Duration::from_micros(moments.below(90_000)));
            child.kill().expect("a signal can be sent");
            let status = child.wait().expect("the program ends");
            if status.code().is_some() {
                // It was faster: its model must be right, and the next run starts anew.
                assert_eq!(status.code(), Some(5));
                assert_eq!(room.bytes("m.linsep"), whole, "{flags}");
                std::fs::remove_file(room.path("m.linsep.checkpoint")).expect("a checkpoint");
                continue;
            }
            kills += 1;
            if let Ok(bytes) = std::fs::read(room.path("m.linsep.checkpoint")) {
                torn += u32::from(Checkpoint::from_bytes(&bytes, Path::new("c")).is_err());
            }
        }
        let resume = match room.exists("m.linsep.checkpoint") {
            true => "train f.csv --resume m.linsep.checkpoint --quiet".to_owned(),
            false => format!("{line} -o m.linsep"),
        };
        room.run(&format!("{resume} --checkpoint-every 1s")).exits(5);
        assert_eq!(room.bytes("m.linsep"), whole, "{flags}");
        std::fs::remove_file(room.path("m.linsep.checkpoint")).expect("a checkpoint");
    }
    assert_eq!((kills, torn), (50, 0), "a checkpoint is whole whenever it is there");
}
