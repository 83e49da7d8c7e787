//! Every error code of the library can be met by a user of the program, has the exit code of its
//! group, and is explained by `linsep help CODE`. A new code without a case here fails the test.

mod common;

use common::{Room, Run, TWO, gzip, send_signal};
use linsep::Code;
use linsep::file::ModelFile;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// How to meet an error.
enum Case {
    /// A run of `train FILE FLAGS` on a file with this content.
    Train(&'static str, Vec<u8>, &'static str),
    /// A run on files that are there already.
    Line(&'static str),
    /// Anything else.
    Other(fn(&Room) -> Run),
    /// No input of the program shows it: a fault of its own, or an array, which only the library takes.
    NoInput,
}

/// The exit code and an input for each code. The folder holds `two.csv` and its model.
fn case(code: Code) -> (i32, Case) {
    let table = |text: &str| Case::Train("f.csv", text.into(), "");
    let flagged = |text: &str, flags| Case::Train("f.csv", text.into(), flags);
    let lines = |text: &str| Case::Train("f.svm", text.into(), "--format svmlight");
    let case = match code {
        Code::EMPTY => table(""),
        Code::HEADER_ONLY => table("a,b,label\n"),
        Code::RAGGED => table("a,b,label\n1,2,x\n3,4\n"),
        Code::NOT_A_NUMBER => table("a,b,label\n1,2,x\n1,two,y\n"),
        Code::NOT_FINITE => table("a,b,label\n1,2,x\n1,nan,y\n"),
        Code::OUT_OF_RANGE => table("a,b,label\n1,2,x\n1,1e400,y\n"),
        Code::INEXACT_INTEGER => table("a,b,label\n1,2,x\n1,9007199254740993,y\n"),
        Code::MISSING => table("a,b,label\n1,2,x\n1,,y\n"),
        Code::NOT_UTF8 => Case::Train("f.csv", b"a,label\n1,x\xff\n2,y\n".to_vec(), ""),
        Code::NUL_BYTE => Case::Train("f.csv", b"a,label\n1,x\0\n2,y\n".to_vec(), ""),
        Code::OPEN_QUOTE => table("a,label\n1,\"x\n2,y\n"),
        Code::STRAY_QUOTE => table("a,label\n1,\"x\"z\n2,y\n"),
        Code::TEXT_COLUMN => table("a,b,label\n1,12%,x\n2,15%,y\n"),
        Code::NO_LABEL => flagged(TWO, "--label nope"),
        Code::AMBIGUOUS_LABEL => table("a,b\n1,0.5\n2,1.5\n"),
        Code::ONE_CLASS => table("a,label\n1,x\n2,x\n"),
        Code::MANY_CLASSES => {
            let rows: String = (0..50_002).map(|i| format!("1,{i}\n")).collect();
            Case::Train("f.csv", format!("a,id\n{rows}").into(), "--label id")
        }
        Code::NO_COLUMN => flagged(TWO, "--drop nope"),
        Code::LABEL_VALUE => lines("1 1:1\n1:1 2:2\n"),
        Code::BAD_INDEX => lines("1 1:1\n2 x:2\n"),
        Code::INDEX_ORDER => lines("1 1:1\n2 2:2 1:1\n"),
        Code::INDEX_TOO_LARGE => lines("1 1:1\n2 999999999999:2\n"),
        Code::BAD_PAIR => lines("1 1:1\n2 3\n"),
        Code::BAD_WEIGHT => flagged("a,w,label\n1,-1,x\n2,1,y\n", "--weight w"),
        Code::DAMAGED => Case::Train("f.csv.gz", gzip(TWO.as_bytes())[..30].to_vec(), ""),
        Code::LONG_RECORD => Case::Other(endless_record),
        Code::NO_FEATURES => flagged(TWO, "--drop a,b"),
        Code::UNKNOWN_CLASS => Case::Other(|room| {
            room.write("f.csv", "a,b,label\n1,2,z\n");
            room.run("evaluate two.linsep f.csv")
        }),
        Code::UNKNOWN_LEVEL => Case::Other(|room| {
            room.write("t.csv", "a,colour,label\n1,red,x\n2,blue,y\n");
            room.run("train t.csv --categorical onehot").exits(0);
            room.write("f.csv", "a,colour\n1,green\n");
            room.run("predict t.linsep f.csv")
        }),
        Code::PARTS_DIFFER => Case::Other(|room| {
            room.write("f.csv", "a,c,label\n1,2,x\n");
            room.run("inspect two.csv f.csv")
        }),
        Code::NO_LEVEL => flagged("a,sex,label\n1,f,x\n2,m,y\n", "--reference sex=mal"),
        Code::FOLD => flagged("a,label\n1,x\n2,y\n3,y\n", "--cv 2"),
        Code::WRONG_FORMAT => table("{\n}"),
        Code::DAMAGED_COLUMNS => table("PAR1"),
        Code::WIDTH => Case::Other(|room| {
            room.write("f.csv", "1,2,3,4,5\n");
            room.run("predict two.linsep f.csv")
        }),
        Code::DUPLICATE_NAME => flagged("a,a,label\n1,2,x\n2,1,y\n", "--drop a"),
        Code::NEGATIVE_COUNT => flagged("a,b,label\n1,2,x\n1,-2,y\n", "--learner multinomial-nb"),
        Code::SETTING => Case::Line("train two.csv --eta 0"),
        Code::LOSSY => Case::Other(|room| {
            room.write("f.csv", "a,label\n1,x y\n2,z\n");
            room.run("convert f.csv f.svm")
        }),
        Code::NOT_SEPARABLE => {
            flagged("a,b,label\n0,0,x\n1,1,x\n0,1,y\n1,0,y\n", "--learner hard-margin")
        }
        Code::MODEL_SYNTAX => Case::Line("show two.csv"),
        Code::MODEL_VERSION => Case::Other(|room| edited(room, "model/2", "model/3")),
        Code::MODEL_CHECKSUM => Case::Other(|room| edited(room, r#"\"seed\":0"#, r#"\"seed\":7"#)),
        Code::MODEL_CONTENT => Case::Other(|room| {
            let mut file = ModelFile::load(&room.path("two.linsep"), None).expect("a model");
            file.model.planes.clear();
            file.save(&room.path("m.linsep")).expect("it can be written");
            room.run("show m.linsep")
        }),
        Code::TRACE => Case::Other(|room| {
            room.run("train two.csv --trace t.ndjson").exits(0);
            room.write("f.csv", "a,b,label\n1,2,x\n4,5,y\n");
            room.run("replay t.ndjson f.csv")
        }),
        Code::FOREIGN_MODEL => Case::Line("certify two.csv two.csv --learner svm"),
        // Its classes are x and y, and labels of LIBLINEAR are whole numbers.
        Code::EXPORT => Case::Line("export two.linsep --to liblinear"),
        Code::LIMIT => Case::Line("train two.csv --epochs 1"),
        Code::IO => Case::Line("train nope.csv"),
        Code::MEMORY => flagged(TWO, "--max-memory 1"),
        Code::SHAPE | Code::INTERNAL => Case::NoInput,
        Code::INTERRUPTED => Case::Other(interrupted),
        _ => panic!("the error code {code} has no case in this test: add one"),
    };
    let exit = match code {
        Code::LOSSY | Code::NOT_SEPARABLE => 1,
        code => match code.group() {
            1 => 3,
            2 => 2,
            4 => 4,
            5 => 5,
            6 => 6,
            _ if code == Code::INTERNAL => 70,
            _ => 130,
        },
    };
    (exit, case)
}

/// A record longer than any that is accepted: a file with a hole takes no room on the disk.
fn endless_record(room: &Room) -> Run {
    room.write("f.csv", "1,2,x\n2,1,y\n");
    let file = std::fs::OpenOptions::new().write(true).open(room.path("f.csv")).expect("the file");
    file.set_len(300 << 20).expect("a file with a hole");
    room.run("train f.csv --no-header --max-memory 4GiB")
}

fn edited(room: &Room, from: &str, to: &str) -> Run {
    room.patch("two.linsep", "m.linsep", (from, to));
    room.run("show m.linsep")
}

/// A signal while there is nothing to save yet.
fn interrupted(room: &Room) -> Run {
    let line = "generate blobs --rows 1000000000 -o endless.csv";
    let before = room.names();
    let mut command = room.command();
    command.args(line.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the program starts");
    // The work has begun as soon as there is a new file.
    let started = Instant::now();
    while room.names() == before && started.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(5));
    }
    send_signal("INT", child.id());
    let run = Run::new(child.wait_with_output().expect("the program ends"), line);
    assert_eq!(room.names(), before, "an interrupted run leaves no file");
    run
}

#[test]
fn every_code_can_be_met_and_ends_with_the_exit_code_of_its_group() {
    for &code in Code::ALL {
        let room = Room::with_model();
        let (exit, case) = case(code);
        let run = match case {
            Case::Train(name, content, flags) => {
                room.write(name, content);
                let run = room.run(&format!("train {name} -o out.linsep {flags}"));
                assert!(!room.exists("out.linsep"), "{code} left a model behind");
                run
            }
            Case::Line(line) => room.run(line),
            Case::Other(meet) => meet(&room),
            Case::NoInput => continue,
        };
        let run = run.exits(exit);
        assert!(run.err.starts_with(&format!("error[{code}]: ")), "not {code}:\n{}", run.err);
        assert!(run.err.ends_with(&format!("  more: linsep help {code}\n")), "{}", run.err);
    }
}

/// The words of the library, in which every second piece between backticks is a parameter.
fn with_dashes(words: &str) -> String {
    let pieces = words.split('`').enumerate();
    let spell = |(k, piece): (usize, &str)| match k % 2 {
        0 => piece.to_owned(),
        _ => format!("--{}", piece.replacen('=', " ", 1)),
    };
    pieces.map(spell).collect()
}

#[test]
fn every_code_is_explained_by_help_with_its_exit_code() {
    let room = Room::new();
    for &code in Code::ALL {
        let (exit, _) = case(code);
        let text = room.run(&format!("help {code}")).exits(0).silent().out;
        let head = format!("{code}: {}\nexit code {exit}\n\n", code.title());
        assert_eq!(text, format!("{head}{}\n", with_dashes(code.explanation())));
        let lower = room.run(&format!("help {}", code.to_string().to_lowercase())).exits(0);
        assert_eq!(lower.out, text, "small letters do as well");
    }
}

#[test]
fn an_interrupted_training_leaves_a_model_that_can_be_used() {
    use std::io::{BufRead, BufReader, Read};
    let room = Room::new();
    room.run("generate xor -o f.csv").exits(0);
    let mut command = room.command();
    let flags = ["--verdict", "off", "--epochs", "1000000000000", "--progress", "json"];
    command.args(["train", "f.csv"]).args(flags);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a run");
    let mut err = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut line = String::new();
    err.read_line(&mut line).expect("the first line of progress");
    let progress: serde_json::Value = serde_json::from_str(&line).expect("a JSON object");
    assert!(progress["epochs"].as_u64() > Some(0), "{line}");
    send_signal("INT", child.id());
    let mut rest = String::new();
    err.read_to_string(&mut rest).expect("text");
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(output.status.code(), Some(130), "{rest}");
    assert!(rest.contains("interrupted; the model as it was is in f.linsep\n"), "{rest}");
    assert_eq!(room.run("show f.linsep --json").exits(0).json()["stop"], "interrupted");
    assert_eq!(room.run("predict f.linsep f.csv").exits(0).out.lines().count(), 5);
}
