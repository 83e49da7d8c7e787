//! `--max-memory` holds for the whole program, whatever takes the memory; what does not fit is refused with the
//! figure that is needed.

use crate::common::{Room, Run};
use std::process::Stdio;
use std::time::Duration;

const MB: u64 = 1_000_000;

/// What the program itself takes, before it has read anything: its code and the stacks of its threads.
const PROGRAM: u64 = 16 * MB;

/// Runs a command under a limit and checks that the system never saw more than 1.3 times as much beside the
/// program itself and pages of files, which it can take back, and that a refusal names what is needed.
#[track_caller]
fn held(room: &Room, line: &str, limit: u64) -> Run {
    let line = format!("{line} --max-memory {limit}MB --threads 2");
    let mut command = room.command();
    command.args(line.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the program starts");
    let status = format!("/proc/{}/status", child.id());
    let waiter = std::thread::spawn(move || child.wait_with_output().expect("the program ends"));
    let (mut peak, mut files) = (0, 0);
    while !waiter.is_finished() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let bytes = |name: &str| {
            let part = text.lines().find_map(|line| line.strip_prefix(name));
            let kib = part.and_then(|part| part.trim().strip_suffix(" kB")?.trim().parse().ok());
            kib.unwrap_or(0u64) * 1024
        };
        peak = peak.max(bytes("VmHWM:"));
        files = files.max(bytes("RssFile:"));
        std::thread::sleep(Duration::from_millis(2));
    }
    let run = Run::new(waiter.join().expect("the program ends"), &line);
    // The pages of the program itself are among those of files.
    let most = (13 * limit * MB / 10).max(45 * MB) + PROGRAM.max(files);
    assert!(peak <= most, "{line}: {} MB\n{}", peak / MB, run.err);
    if run.code == 6 {
        assert!(run.err.contains("E0602") && run.err.contains("needs at least"), "{}", run.err);
    }
    run
}

/// One index near the largest with a text of 17 digits.
#[test]
fn a_wild_column_costs_nothing_before_it_is_refused() {
    let room = Room::holding("f.svm", "1 1:1 4294967290:0.12345678901234567\n-1 2:1\n");
    for command in ["inspect", "train", "separable", "compare", "plot"] {
        held(&room, &format!("{command} f.svm"), 200).exits(6);
    }
    held(&room, "train f.svm --features #1-#9 -o m.linsep", 200).exits(0);
}

#[test]
fn tables_of_many_classes_are_not_squares() {
    let rows: String =
        (0..6000).map(|i| format!("{},{},c{}\n", i % 97, i % 89, i % 3000)).collect();
    let room = Room::holding("f.csv", format!("a,b,label\n{rows}"));
    held(&room, "train f.csv --learner shared-variance-nb -o m.linsep", 50).exits(0);
    let run = held(&room, "evaluate m.linsep f.csv --json", 50).exits(0);
    let pairs = run.json()["confusion"].as_array().expect("a list").clone();
    assert!(
        pairs.len() <= 6000
            && pairs.iter().all(|pair| pair.as_array().is_some_and(|p| p.len() == 3))
    );
    let counted: u64 = pairs.iter().filter_map(|pair| pair[2].as_u64()).sum();
    assert_eq!(counted, 6000);
    let run = held(&room, "evaluate m.linsep f.csv --plain", 50).exits(0);
    assert_eq!(run.out.lines().filter(|line| line.starts_with("confusion\t")).count(), pairs.len());
}

#[test]
fn a_model_of_many_features_is_shown_without_all_their_names() {
    let room = Room::holding("f.svm", "a 1:1 4000000:2\nb 2:1 3999999:1\n");
    room.run("train f.svm -o m.linsep").exits(0);
    let run = held(&room, "show m.linsep", 400).exits(0);
    assert!(run.out.contains("x4000000") && run.out.contains("3,999,996 zero"), "{}", run.out);
    held(&room, "show m.linsep --json", 400).exits(6).says(&["the text of 4,000,000 features"]);
}

#[test]
fn runs_and_reading_stay_within_the_limit_or_are_refused() {
    let room = Room::new();
    room.run("generate blobs --rows 60000 --features 40 --classes 4 --noise 0.1 -o f.csv").exits(0);
    for line in [
        "train f.csv --learner svm --epochs 2 -o m.linsep",
        "train f.csv --learner logistic --epochs 2 -o m.linsep",
        "inspect f.csv",
        "convert f.csv out.tsv",
    ] {
        for limit in [35, 70] {
            let run = held(&room, line, limit);
            assert!([0, 5, 6].contains(&run.code), "{line} at {limit}: {}\n{}", run.code, run.err);
        }
    }
}

/// Limits that the tables below press on, meet and leave alone.
const LIMITS: [u64; 3] = [40, 80, 200];

/// Trains with every learner of the registry, each at one of the limits.
fn every_learner(room: &Room, data: &str, first: usize) {
    for (k, recipe) in linsep::recipe::ALL.iter().enumerate() {
        let limit = LIMITS[(k + first) % LIMITS.len()];
        let name = recipe.name;
        let line = format!("train {data} --learner {name} --time-limit 200ms -o m.linsep");
        let run = held(room, &line, limit);
        // A learner may have no use for such rows.
        let known = [0, 1, 2, 3, 5, 6].contains(&run.code);
        assert!(known, "{name} on {data} at {limit}: {}\n{}", run.code, run.err);
    }
}

#[test]
fn every_learner_holds_its_limit_on_dense_rows() {
    let room = Room::new();
    room.run("generate blobs --rows 20000 --features 100 --classes 4 --noise 0.1 -o f.csv")
        .exits(0);
    every_learner(&room, "f.csv", 0);
}

#[test]
fn every_learner_holds_its_limit_on_many_classes() {
    let room = Room::holding("f.svm", many_classes());
    every_learner(&room, "f.svm", 1);
}

#[test]
fn every_learner_holds_its_limit_on_wide_rows() {
    let room = Room::holding("f.svm", wide());
    every_learner(&room, "f.svm", 2);
}

/// Pairs of classes grow with the square of their number; a list of them took more than all rows.
#[test]
fn the_verdict_on_many_classes_is_not_a_square() {
    let room = Room::holding("f.svm", many_classes());
    let run = held(&room, "train f.svm --epochs 1 --time-limit 2s -o m.linsep", 100);
    assert!([0, 5].contains(&run.code), "{}", run.err);
}

#[test]
fn every_command_holds_its_limit() {
    let room = Room::new();
    room.run("generate blobs --rows 20000 --features 100 --classes 4 --noise 0.1 -o dense")
        .exits(0);
    room.write("many", many_classes());
    room.write("wide", wide());
    room.run("train dense --learner lda -o dense.model").exits(0);
    room.run("train many --learner shared-variance-nb -o many.model").exits(0);
    room.run("train wide --verdict off -o wide.model").exits(0);
    let lines = [
        "separable DATA",
        "separable DATA --joint",
        "separable DATA --margin",
        "verify DATA.model DATA",
        "inspect DATA",
        "predict DATA.model DATA --output all -o o.csv",
        "evaluate DATA.model DATA --json",
        "compare DATA --cv 2 --learners perceptron,svm,nearest-mean",
        "train DATA --cv 3 -o o.linsep",
        "train DATA --runs 3 -o o.linsep",
        "train DATA --learner svm --flips f.csv --support s.csv -o o.linsep",
        "train DATA --verdict off --epochs 2 --trace o.ndjson -o o.linsep",
        "train DATA --stream -o o.linsep",
        "convert DATA o.tsv.gz",
        "criterion DATA.model DATA",
        "geometry DATA.model DATA",
        "plot DATA -o o.svg",
    ];
    // Each on two of the three tables, at one of the limits.
    for (k, line) in lines.into_iter().enumerate() {
        for j in [k, k + 1] {
            let data = ["dense", "many", "wide"][j % 3];
            let line = format!("{} --time-limit 200ms", line.replace("DATA", data));
            let run = held(&room, &line, LIMITS[(j + k / 3) % LIMITS.len()]);
            let known = [0, 1, 2, 5, 6].contains(&run.code);
            assert!(known, "{line}: {}\n{}", run.code, run.err);
        }
    }
}

/// 2,000 classes of two rows each.
fn many_classes() -> String {
    let row = |i: u64| {
        let entries = (0..8).map(|k| format!(" {}:{}", 25 * k + 1 + (i * (k + 7)) % 25, 1 + i % 9));
        format!("c{}{}\n", i % 2000, entries.collect::<String>())
    };
    (0..4000).map(row).collect()
}

/// Few rows, many columns.
fn wide() -> String {
    let row = |i: u64| {
        let entries = (0..30).map(|k| {
            format!(" {}:0.{}", 10_000 * k + 1 + (i * (2 * k + 7919)) % 10_000, 1 + (i + k) % 997)
        });
        format!("{}{}\n", i % 2, entries.collect::<String>())
    };
    (0..3000).map(row).collect()
}
