//! A signal at any moment leaves files that are whole, and nothing else.
//!
//! The moments are random with a fixed seed and lie within the time that a command takes when it is left
//! alone. A model, a trace or a checkpoint of a run that was stopped is another one than that of the whole
//! run, so such a file is opened by the command that reads it.

use crate::common::{Room, clean, send_signal};
use crate::room::{Files, OLD, files};
use std::os::unix::process::ExitStatusExt;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

/// What is run, the files that it writes, and the commands that read what came of a part of the run.
type Case = (&'static str, &'static [(&'static str, Option<&'static str>)]);

const CASES: &[Case] = &[
    ("train f.csv --learner svm --gap 1e-9 -o o.linsep", &[("o.linsep", Some("show o.linsep"))]),
    (
        "train f.csv --verdict off --epochs 40 --trace o.ndjson -o o.linsep",
        &[
            ("o.linsep", Some("show o.linsep")),
            ("o.ndjson", Some("replay o.ndjson f.csv --from 1 --to 1")),
        ],
    ),
    (
        "train f.csv --verdict off --epochs 40 --checkpoint o.checkpoint --checkpoint-every 9000visits -o o.linsep",
        &[
            ("o.linsep", Some("show o.linsep")),
            ("o.checkpoint", Some("train f.csv --resume o.checkpoint --dry-run -o n.linsep")),
        ],
    ),
    ("train f.csv --stream -o o.linsep", &[("o.linsep", Some("show o.linsep"))]),
    (
        "train f.csv --learner svm --flips o.csv --support s.csv -o o.linsep",
        &[
            ("o.linsep", Some("show o.linsep")),
            ("o.csv", Some("inspect o.csv --label label --features row")),
            ("s.csv", Some("inspect s.csv --label label --features row")),
        ],
    ),
    ("separable f.csv --cert o.json", &[("o.json", Some("verify o.json f.csv"))]),
    ("convert f.csv o.svm.gz", &[("o.svm.gz", None)]),
    ("predict m.linsep f.csv --output scores -o o.csv", &[("o.csv", None)]),
    (
        "geometry m.linsep f.csv --class 1 --distances o.csv --reflected r.csv",
        &[("o.csv", None), ("r.csv", None)],
    ),
    ("generate blobs --rows 40000 -o o.csv", &[("o.csv", None)]),
    ("sample m.linsep -n 10000 -o o.csv.zst", &[("o.csv.zst", None)]),
    ("plot f.csv --axes x1,x2 -o o.svg", &[("o.svg", None)]),
    (
        "compare f.csv --learners fisher,lda --cv 2 --knn 0 --no-time --export-markdown o.md",
        &[("o.md", None)],
    ),
];

fn room() -> Room {
    let room = Room::new();
    room.run("generate blobs --rows 4000 --features 12 --classes 3 --noise 0.1 -o f.csv").exits(0);
    room.run("train f.csv --learner lda -o m.linsep").exits(0);
    room
}

/// Starts a command and sends it signals at these moments.
fn signalled(room: &Room, line: &str, signals: &[(&str, Duration)]) -> (Output, Duration) {
    let mut command = room.command();
    clean(&mut command).args(line.split(' '));
    command.env("LINSEP_FORCE", "1");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let started = Instant::now();
    let child = command.spawn().expect("the program starts");
    for (signal, moment) in signals {
        std::thread::sleep(moment.saturating_sub(started.elapsed()));
        // A process that nobody has waited for can always be sent one.
        send_signal(signal, child.id());
    }
    (child.wait_with_output().expect("the program ends"), started.elapsed())
}

/// Numbers between 0 and 1, the same in every run.
struct Moments(u64);

impl Moments {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[test]
fn a_signal_at_any_moment_leaves_whole_files() {
    let room = room();
    let inputs = files(&room);
    let mut moments = Moments(20);
    let mut stopped = 0;
    for (line, outputs) in CASES {
        let (output, whole_time) = signalled(&room, line, &[]);
        let usual = output.status.code().expect("an exit code");
        assert!([0, 1, 5].contains(&usual), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        let new = files(&room);
        for k in 0..4 {
            let exist = k % 2 == 0;
            for (name, _) in *outputs {
                match exist {
                    true => room.write(name, OLD),
                    false => drop(std::fs::remove_file(room.path(name))),
                }
            }
            let signal = if k < 2 { "TERM" } else { "INT" };
            let first = whole_time.mul_f64(moments.next());
            let mut signals = vec![(signal, first)];
            // The second one ends the program at once.
            if k == 3 {
                signals.push((signal, first + Duration::from_millis(20).mul_f64(moments.next())));
            }
            let (output, _) = signalled(&room, line, &signals);
            let err = String::from_utf8_lossy(&output.stderr);
            let what = format!("{line}, {signals:?}: {}\n{err}", output.status);
            let after = files(&room);
            // Before there is a handler a signal ends the process as it ends every other.
            let is_early = output.status.signal().is_some();
            match output.status.code() {
                Some(130) => stopped += 1,
                Some(code) => assert!(code == usual, "{what}"),
                None => assert!(matches!(output.status.signal(), Some(2 | 15)), "{what}"),
            }
            let old = exist.then_some(OLD);
            for (name, reader) in *outputs {
                let found = after.get(*name).map(Vec::as_slice);
                if found == old || (!is_early && found == new.get(*name).map(Vec::as_slice)) {
                    continue;
                }
                let reader = reader.filter(|_| found.is_some() && !is_early);
                let Some(reader) = reader else { panic!("{name} is damaged: {what}") };
                let run = room.run(reader);
                assert!(run.code <= 1, "{name} cannot be read: {what}\n{}", run.err);
            }
            let is_output = |name: &str| outputs.iter().any(|(output, _)| *output == name);
            let others: Files = after.into_iter().filter(|(name, _)| !is_output(name)).collect();
            assert!(others == inputs, "{:?}: {what}", others.keys());
        }
        outputs.iter().for_each(|(name, _)| drop(std::fs::remove_file(room.path(name))));
    }
    assert!(stopped >= CASES.len() / 2, "only {stopped} runs were stopped");
}
