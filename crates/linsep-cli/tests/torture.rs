//! Small files as pandas, R, polars, spreadsheets and people write them: what is understood of each, or the
//! error that helps. `testdata/torture/expected.txt` has all of it; LINSEP_UPDATE_TRANSCRIPTS=1 writes it anew.

mod common;

use common::{Room, repository};

/// The file with what is expected of the others.
const EXPECTED: &str = "expected.txt";

fn files() -> Vec<String> {
    let folder = std::fs::read_dir(repository().join("testdata/torture")).expect("the folder");
    let mut names: Vec<String> = folder
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter(|name| name != EXPECTED)
        .collect();
    names.sort();
    names
}

fn understood(room: &Room, name: &str) -> String {
    let run = room.run_args(&["convert", name, "-", "--to-format", "csv"]);
    format!("== {name}: exit {}\n{}{}", run.code, run.err, run.out)
}

#[test]
fn files_as_people_have_them_are_read_or_refused_with_help() {
    let room = Room::new();
    let folder = repository().join("testdata/torture");
    let names = files();
    assert!(names.len() >= 60, "{} files", names.len());
    let mut found = String::new();
    for name in &names {
        room.write(name, std::fs::read(folder.join(name)).expect("a file"));
        found.push_str(&understood(&room, name));
    }
    if std::env::var_os("LINSEP_UPDATE_TRANSCRIPTS").is_some() {
        std::fs::write(folder.join(EXPECTED), &found).expect("the expected output");
    }
    let wanted = std::fs::read_to_string(folder.join(EXPECTED)).expect("the expected output");
    for (found, wanted) in found.split("== ").zip(wanted.split("== ")) {
        assert_eq!(found, wanted);
    }
    assert_eq!(found.len(), wanted.len());
}

#[test]
fn whatever_is_refused_for_its_rows_can_be_inspected() {
    let room = Room::new();
    let folder = repository().join("testdata/torture");
    for name in files() {
        room.write(&name, std::fs::read(folder.join(&name)).expect("a file"));
        let read = room.run_args(&["convert", &name, "-", "--to-format", "csv"]);
        let inspected = room.run_args(&["inspect", &name]);
        if read.code == 0 {
            assert_eq!(inspected.code, 0, "{name}\n{}", inspected.err);
        }
        let of_rows = ["E0104", "E0108", "E0113", "E0115"];
        if of_rows.iter().any(|code| read.err.contains(code)) {
            assert_eq!(inspected.code, 0, "{name}\n{}", inspected.err);
            assert!(inspected.fact("train").starts_with("linsep train"), "{}", inspected.out);
        }
    }
}
