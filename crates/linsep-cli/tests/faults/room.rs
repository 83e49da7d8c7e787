//! The folder in which the commands run, and what has to hold in it whatever goes wrong.

use crate::common::{Room, TWO};
use crate::writers::Writer;
use std::collections::BTreeMap;

/// What an output holds before a command runs.
pub(crate) const OLD: &[u8] = b"the old content";

/// A folder with everything that the commands read.
pub(crate) fn room() -> Room {
    let room = Room::holding("two.csv", TWO);
    room.write("bad.csv", format!("{TWO}oops,5,y\n"));
    // More than one buffer of output, from few rows: the names of the classes are long.
    let name = |row: usize| if row.is_multiple_of(2) { "x".repeat(400) } else { "y".repeat(400) };
    let long: String = (0..3000).map(|row| format!("{row},{},{}\n", row % 2, name(row))).collect();
    room.write("long.csv", format!("a,b,label\n{long}"));
    let weights = r#"{"weights":[0.5,0.5],"bias":-3,"classes":["x","y"]}"#;
    room.write("weights.json", weights);
    for line in [
        "generate blobs --rows 60 --noise 0.1 -o mix.csv",
        "train two.csv --verdict off --trace two.trace -o two.model",
        "train bad.csv --bad-rows skip --allow-bad 1 --verdict off --trace bad.trace -o bad.model",
        "train two.csv --learner lda -o lda.model",
        "train long.csv -o long.model",
        "separable bad.csv --bad-rows skip --allow-bad 1 --cert good.json",
    ] {
        room.run(line).exits(0);
    }
    room
}

/// The files of a folder with their content.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

pub(crate) fn files(room: &Room) -> Files {
    room.names().into_iter().map(|name| (name.clone(), room.bytes(&name))).collect()
}

/// Puts the outputs of a command back to what they were, or takes them away.
pub(crate) fn reset(room: &Room, writer: &Writer, exist: bool) {
    for name in writer.files {
        match exist {
            true => room.write(name, OLD),
            false => {
                let _ = std::fs::remove_file(room.path(name));
            }
        }
    }
    for name in room.names().iter().filter(|name| name.ends_with(".tmp")) {
        std::fs::remove_file(room.path(name)).expect("a file that stayed behind");
    }
}

/// Asserts that no file but an output has changed and that no temporary file stays.
#[track_caller]
pub(crate) fn only_outputs_changed(writer: &Writer, before: &Files, after: &Files, what: &str) {
    let is_input = |name: &&String| !writer.files.contains(&name.as_str());
    for name in before.keys().chain(after.keys()).filter(is_input) {
        assert!(before.get(name) == after.get(name), "{name} was touched: {what}");
    }
}
