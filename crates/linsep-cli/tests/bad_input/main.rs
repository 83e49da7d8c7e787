//! Wrong input is refused with its exact exit code, a message that names the place and the remedy,
//! no output file, and never a panic.

#[path = "../common/mod.rs"]
mod common;

mod basis;
mod flags;
mod hostile;
mod json_errors;
mod models;
mod optimal;
mod optimisers;
mod output;
mod overwriting;
mod packed;
mod pictures;
mod reductions;
mod resume;
mod svmlight;
mod table;
mod teaching;
mod trace;

use common::Room;

/// Runs `train`, `separable` and `convert` on a file with this content. Each must end with exit code
/// 3, print every text of `says` on stderr and nothing on stdout, and leave nothing behind.
#[track_caller]
fn refused(name: &str, content: impl AsRef<[u8]>, flags: &str, says: &[&str]) {
    refused_by(&["train", "separable", "convert"], name, content, flags, says);
}

/// The same for these commands only.
#[track_caller]
fn refused_by(
    commands: &[&str],
    name: &str,
    content: impl AsRef<[u8]>,
    flags: &str,
    says: &[&str],
) {
    let room = Room::holding(name, content);
    for command in commands {
        let target = match *command {
            "train" => "-o out.linsep",
            "convert" => "out.tsv",
            _ => "",
        };
        let run = room.run(&format!("{command} {name} {target} {flags}")).exits(3).says(says);
        assert_eq!(run.out, "", "stdout of {command}");
        assert_eq!(room.names(), [name], "{command} left something behind");
    }
}

/// Runs `predict` and `evaluate` on a file with this content and the model of the table `TWO`.
#[track_caller]
fn refused_for_a_model(name: &str, content: impl AsRef<[u8]>, says: &[&str]) {
    let room = Room::with_model();
    room.write(name, content);
    let before = room.names();
    room.run(&format!("predict two.linsep {name} -o out.csv")).exits(3).says(says);
    room.run(&format!("evaluate two.linsep {name}")).exits(3).says(says);
    assert_eq!(room.names(), before, "something was left behind");
}
