//! Output that cannot be written: exit code 6, and what was there before stays as it was.

use super::Room;
use super::common::Run;
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

#[test]
fn a_path_below_a_file_cannot_be_written() {
    let room = Room::with_model();
    room.write("file", "a file, not a folder");
    for line in [
        "train two.csv -o file/m.linsep",
        "convert two.csv file/out.csv",
        "predict two.linsep two.csv -o file/out.csv",
        "generate xor -o file/out.csv",
        "train two.csv -o nowhere/m.linsep",
        "train two.csv -o .",
        "convert two.csv nowhere/out.csv.gz",
    ] {
        room.run(line).exits(6).says(&["error[E0601]: cannot write ", "help: "]);
        assert_eq!(room.names(), ["file", "two.csv", "two.linsep"], "{line}");
        assert_eq!(room.read("file"), "a file, not a folder");
    }
}

#[test]
fn rejected_rows_that_cannot_be_written_end_the_run() {
    let room = Room::holding("f.csv", "a,label\n1,x\noops,y\n2,y\n");
    let line = "train f.csv -o out.linsep --bad-rows rejects=nowhere/rejects.csv";
    room.run(line).exits(6).says(&["error[E0601]", "nowhere/rejects.csv"]);
    assert_eq!(room.names(), ["f.csv"]);
}

#[test]
fn a_write_that_fails_halfway_leaves_the_old_file_as_it_was() {
    let room = Room::with_model();
    for (line, target) in [
        ("train two.csv --force -o old.linsep", "old.linsep"),
        ("convert two.csv old.csv", "old.csv"),
        ("convert two.csv old.svm.gz", "old.svm.gz"),
        ("predict two.linsep two.csv -o old.csv", "old.csv"),
        ("generate blobs -o old.csv", "old.csv"),
    ] {
        room.write(target, "the old content");
        let before = room.names();
        // No file may grow beyond 0 bytes, as on a full disk.
        let script = format!("trap '' XFSZ; ulimit -f 0; exec linsep {line}");
        room.shell(&script).exits(6).says(&["error[E0601]: cannot write ", "help: "]);
        assert_eq!(room.read(target), "the old content", "{line}");
        assert_eq!(room.names(), before, "{line}");
    }
}

#[test]
fn bad_input_leaves_the_old_output_as_it_was() {
    let room = Room::with_model();
    room.write("bad.csv", "a,b,label\n1,2,x\n3,oops,y\n");
    for (line, target) in [
        ("train bad.csv --force -o old.linsep", "old.linsep"),
        ("convert bad.csv old.csv", "old.csv"),
        ("predict two.linsep bad.csv -o old.csv", "old.csv"),
    ] {
        room.write(target, "the old content");
        room.run(line).exits(3);
        assert_eq!(room.read(target), "the old content", "{line}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported() {
    let room = Room::with_model();
    for line in [
        "train two.csv -o /dev/full",
        "predict two.linsep two.csv -o /dev/full",
        "convert two.csv /dev/full --to-format csv",
        "generate blobs -o /dev/full",
    ] {
        room.run(line).exits(6).says(&["error[E0601]: cannot write ", "No space left"]);
    }
    for line in [
        "predict two.linsep two.csv",
        "convert two.csv - --to-format svmlight",
        "generate blobs",
        "show two.linsep",
        "inspect two.csv",
        "evaluate two.linsep two.csv",
        "help",
        "--help",
        "--version",
        "man",
    ] {
        room.shell(&format!("exec linsep {line} > /dev/full")).exits(6).says(&["No space left"]);
    }
}

#[test]
fn a_reader_that_goes_away_ends_the_program_quietly() {
    let room = Room::with_model();
    let many: String = (0..200_000).map(|i| format!("{},{},x\n", i % 9, i % 7)).collect();
    room.write("many.csv", format!("a,b,label\n{many}"));
    for line in [
        "generate blobs --rows 1000000",
        "predict two.linsep many.csv --output scores",
        "predict two.linsep many.csv --ndjson",
        "convert many.csv - --to-format csv",
    ] {
        let mut command = room.command();
        command.args(line.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut reader = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut first = String::new();
        reader.read_line(&mut first).expect("a line");
        assert!(first.ends_with('\n'), "{line}: {first}");
        drop(reader);
        let mut err = String::new();
        child.stderr.take().expect("a pipe").read_to_string(&mut err).expect("text");
        let status = child.wait().expect("the program ends");
        assert_eq!((status.code(), err.as_str()), (Some(0), ""), "{line}");
    }
}

#[test]
fn a_conversion_that_would_lose_something_is_refused_unless_allowed() {
    for (text, flags, reason) in [
        ("a,w,label\n1,1,x\n2,2,y\n", "--weight w", "no place for row weights"),
        ("a,label\n1,x y\n2,z\n", "", "cannot hold the label \"x y\""),
        ("a,label\n1,x:y\n2,z\n", "", "cannot hold the label \"x:y\""),
    ] {
        let room = Room::holding("f.csv", text);
        let line = format!("convert f.csv out.svm {flags}");
        let run: Run = room.run(&line).exits(1);
        run.says(&["error[E0202]", reason, "--allow-lossy"]);
        assert_eq!(room.names(), ["f.csv"]);
        room.run(&format!("{line} --allow-lossy")).exits(0).says(&[reason]);
        assert!(room.exists("out.svm"));
    }
}

/// What a command reads it does not write over, whatever the name it goes by.
#[test]
fn an_output_that_is_an_input_is_refused_and_the_input_stays() {
    let room = Room::with_examples();
    let table = std::fs::read_to_string(room.path("examples/iris.csv")).expect("a table");
    room.write("iris.csv", &table);
    room.run("train iris.csv --learner lda -o m.linsep").exits(0);
    let model = std::fs::read(room.path("m.linsep")).expect("a model");
    for command in [
        "train iris.csv -o iris.csv",
        "train iris.csv -o ./iris.csv",
        "train iris.csv -o n.linsep --checkpoint iris.csv --checkpoint-every 1visits",
        "train iris.csv -o n.linsep --trace ./iris.csv --verdict off",
        "train examples/iris.csv -o n.linsep --test iris.csv --trace iris.csv --verdict off",
        "train iris.csv -o n.linsep --trace n.linsep --verdict off",
        "predict m.linsep iris.csv -o iris.csv",
        "predict m.linsep iris.csv -o m.linsep",
        "geometry m.linsep iris.csv --distances iris.csv",
        "compare iris.csv --learners fisher --export-markdown iris.csv",
        "separable iris.csv --cert iris.csv",
        "plot iris.csv -o iris.csv",
        "sample m.linsep -o m.linsep",
        "convert iris.csv iris.csv",
        "gate and --table t.csv --cert t.csv",
    ] {
        let run = room.run(command).exits(2);
        assert!(run.err.contains("E0201"), "{command}: {}", run.err);
        assert_eq!(
            std::fs::read_to_string(room.path("iris.csv")).expect("a table"),
            table,
            "{command}"
        );
        assert_eq!(std::fs::read(room.path("m.linsep")).expect("a model"), model, "{command}");
    }
}
