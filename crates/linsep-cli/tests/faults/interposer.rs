//! The library that lets calls of the system fail (`interposer.c`), and what it wrote down.

use crate::common::Room;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// The library, compiled for this test.
pub(crate) struct Interposer {
    folder: TempDir,
}

/// What is to fail.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    Nothing,
    /// The call of this number, with this error.
    Call(usize, i32),
    /// Every write behind this many bytes.
    Full(u64),
}

/// A call on a file of the folder.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) name: String,
    /// The file that is meant, which is not the temporary one; nothing for the folder.
    pub(crate) file: Option<String>,
    /// The error that it was given.
    pub(crate) error: i32,
}

impl Interposer {
    /// None, with the reason on stderr, where there is no such thing.
    pub(crate) fn new() -> Option<Interposer> {
        // Somebody has to learn that nothing was tested.
        #[allow(clippy::print_stderr)]
        let skipped = |reason: &str| {
            eprintln!("skipped: {reason}");
            None
        };
        if !cfg!(all(target_os = "linux", target_env = "gnu")) {
            return skipped(
                "calls are made to fail by LD_PRELOAD, with the GNU C library on Linux",
            );
        }
        let folder = tempfile::tempdir().expect("a folder");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/interposer.c");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-O1", "-o"]).arg(folder.path().join("faults.so"));
        let Ok(output) = compiler.arg(source).arg("-ldl").output() else {
            return skipped("there is no C compiler called cc");
        };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(Interposer { folder })
    }

    /// Runs a command under a fault, with the calls that it made.
    pub(crate) fn run(&self, room: &Room, line: &str, fault: Fault) -> (Output, Vec<Call>) {
        let log = self.folder.path().join("log");
        let _ = std::fs::remove_file(&log);
        let mut command = room.command();
        command.args(line.split(' ')).args(["--threads", "1"]);
        // What is there before is nothing that the command would write over unasked.
        command.env("LINSEP_FORCE", "1");
        command.env("LD_PRELOAD", self.folder.path().join("faults.so"));
        command.env("FAULT_ROOM", folder_of(room)).env("FAULT_LOG", &log);
        match fault {
            Fault::Nothing => {}
            Fault::Call(number, error) => {
                command.env("FAULT_CALL", number.to_string());
                command.env("FAULT_ERRNO", error.to_string());
            }
            Fault::Full(bytes) => {
                command.env("FAULT_BYTES", bytes.to_string());
            }
        }
        let output = command.output().expect("the program starts");
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        (output, text.lines().map(|line| call(line, room)).collect())
    }
}

fn folder_of(room: &Room) -> PathBuf {
    room.path(".").canonicalize().expect("the test's folder")
}

fn call(line: &str, room: &Room) -> Call {
    let fields: Vec<&str> = line.split('\t').collect();
    let [_, name, path, error] = fields[..] else { panic!("the log has the line {line}") };
    let path = Path::new(path);
    let is_folder = path == Path::new(".") || path == folder_of(room);
    let file = path.file_name().filter(|_| !is_folder).map(|name| {
        let name = name.to_string_lossy();
        match name.strip_suffix(".tmp") {
            // .NAME.PROCESS.NUMBER.tmp
            Some(rest) => rest.rsplitn(3, '.').nth(2).unwrap_or_default()[1..].to_owned(),
            None => name.into_owned(),
        }
    });
    let error = error.parse().expect("the number of an error");
    Call { name: name.to_owned(), file, error }
}
