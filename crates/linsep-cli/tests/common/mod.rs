//! What every test of the program shares: a folder of its own, a run, and what came of it.
//!
//! Every run is checked for a fault inside the program: a panic or a deadly signal fails the test,
//! whatever else it looks at.

// Each test program uses a part of this.
#![allow(dead_code)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// The program under test.
pub(crate) const LINSEP: &str = env!("CARGO_BIN_EXE_linsep");

/// The classes of `examples/iris.csv` in their order.
pub(crate) const SPECIES: [&str; 3] = ["setosa", "versicolor", "virginica"];

/// The same irises with classes 0, 1 and 2 in a column `label` and features `f0` to `f3`.
pub(crate) fn numbered_iris() -> Vec<u8> {
    std::fs::read(repository().join("testdata/tables/iris.csv")).expect("a table")
}

/// A fresh folder in which the program runs.
pub(crate) struct Room(TempDir);

impl Room {
    /// An empty folder.
    pub(crate) fn new() -> Room {
        Room(tempfile::tempdir().expect("a folder for the test"))
    }

    /// A folder with a link to the example data, so that `examples/iris.csv` can be read.
    pub(crate) fn with_examples() -> Room {
        let room = Room::new();
        let examples = repository().join("examples");
        std::os::unix::fs::symlink(examples, room.path("examples")).expect("a link to examples");
        room
    }

    /// A folder with one file.
    pub(crate) fn holding(name: &str, content: impl AsRef<[u8]>) -> Room {
        let room = Room::new();
        room.write(name, content);
        room
    }

    /// A folder with `two.csv`, a table of two classes, and `two.linsep`, the model of it.
    pub(crate) fn with_model() -> Room {
        let room = Room::holding("two.csv", TWO);
        room.run("train two.csv").exits(0);
        room
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).expect("a folder in the test's folder");
        }
        std::fs::write(path, content).expect("a file in the test's folder");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// The content of a file that is no text.
    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// Writes a file with the first occurrence of some bytes replaced by as many others.
    #[allow(dead_code)] // Not every test program changes files.
    pub(crate) fn patch(&self, name: &str, to: &str, (before, after): (&str, &str)) {
        let mut bytes = self.bytes(name);
        assert_eq!(before.len(), after.len(), "the file would get another length");
        let at = bytes.windows(before.len()).position(|part| part == before.as_bytes());
        let at = at.unwrap_or_else(|| panic!("no {before} in {name}"));
        bytes[at..at + after.len()].copy_from_slice(after.as_bytes());
        self.write(to, bytes);
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// The names of everything in the folder, hidden files too.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).expect("the test's folder");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// A command that runs the program here, without settings from the environment.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(LINSEP);
        clean(&mut command).current_dir(self.0.path()).stdin(Stdio::null());
        command
    }

    /// Runs the program with the words of `line`.
    #[track_caller]
    pub(crate) fn run(&self, line: &str) -> Run {
        self.run_args(&line.split_whitespace().collect::<Vec<_>>())
    }

    /// Runs the program with these arguments.
    #[track_caller]
    pub(crate) fn run_args(&self, arguments: &[&str]) -> Run {
        Run::of(self.command().args(arguments), &arguments.join(" "))
    }

    /// Runs the program with the words of `line` and variables of the environment.
    #[track_caller]
    pub(crate) fn run_env(&self, variables: &[(&str, &str)], line: &str) -> Run {
        let mut command = self.command();
        command.args(line.split_whitespace()).envs(variables.iter().copied());
        Run::of(&mut command, line)
    }

    /// Runs the program with the words of `line` and gives it `input` to read.
    #[track_caller]
    pub(crate) fn run_on(&self, input: impl AsRef<[u8]>, line: &str) -> Run {
        let mut command = self.command();
        command.args(line.split_whitespace());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut pipe = child.stdin.take().expect("a pipe");
        let input = input.as_ref().to_vec();
        let feeder = std::thread::spawn(move || {
            // The program may end before it has read everything.
            let _ = pipe.write_all(&input);
        });
        let output = child.wait_with_output().expect("the program ends");
        feeder.join().expect("the feeding thread ends");
        Run::new(output, line)
    }

    /// Runs a shell script in which the program is called `linsep`.
    #[track_caller]
    pub(crate) fn shell(&self, script: &str) -> Run {
        let mut command = Command::new("sh");
        clean(&mut command).args(["-c", script]).current_dir(self.0.path());
        command.env("PATH", path_with_program()).stdin(Stdio::null());
        Run::of(&mut command, script)
    }
}

/// What came of a run.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
    line: String,
}

impl Run {
    #[track_caller]
    fn of(command: &mut Command, line: &str) -> Run {
        Run::new(command.output().expect("the program starts"), line)
    }

    #[track_caller]
    pub(crate) fn new(output: Output, line: &str) -> Run {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the program writes UTF-8");
        let (out, err) = (text(output.stdout), text(output.stderr));
        let Some(code) = output.status.code() else {
            panic!("linsep {line} died: {}\n{err}", output.status)
        };
        assert!(code != 70 && !err.contains("a fault inside"), "linsep {line} panicked:\n{err}");
        Run { code, out, err, line: line.to_owned() }
    }

    /// Asserts the exit code.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Run {
        let Run { line, out, err, .. } = &self;
        assert_eq!(self.code, code, "exit code of linsep {line}\nstdout:\n{out}\nstderr:\n{err}");
        self
    }

    /// Asserts that every one of these texts is on stderr.
    #[track_caller]
    pub(crate) fn says(self, texts: &[&str]) -> Run {
        for text in texts {
            assert!(
                self.err.contains(text),
                "linsep {}\nno \"{text}\" in:\n{}",
                self.line,
                self.err
            );
        }
        self
    }

    /// Asserts that nothing is on stderr.
    #[track_caller]
    pub(crate) fn silent(self) -> Run {
        assert_eq!(self.err, "", "stderr of linsep {}", self.line);
        self
    }

    /// The JSON object on stdout.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|e| panic!("linsep {}: {e} in\n{}", self.line, self.out))
    }

    /// The value behind a name in the aligned lines on stdout.
    #[track_caller]
    pub(crate) fn fact(&self, name: &str) -> &str {
        let line = self.out.lines().find(|line| line.split_whitespace().next() == Some(name));
        let line = line.unwrap_or_else(|| panic!("no line \"{name}\" in\n{}", self.out));
        line[name.len()..].trim()
    }
}

/// Six rows of two classes that a plane separates.
pub(crate) const TWO: &str = "a,b,label\n1,2,x\n2,1,x\n1,1,x\n4,5,y\n5,4,y\n5,5,y\n";

/// The folder with the README.
pub(crate) fn repository() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    folder.canonicalize().expect("the repository")
}

/// The search path with the folder of the program first.
pub(crate) fn path_with_program() -> std::ffi::OsString {
    let folder = Path::new(LINSEP).parent().expect("a folder").to_path_buf();
    let rest = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder).chain(std::env::split_paths(&rest));
    std::env::join_paths(folders).expect("a search path")
}

/// Takes away whatever in the environment could change the output.
pub(crate) fn clean(command: &mut Command) -> &mut Command {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("LINSEP_") || text.starts_with("CLICOLOR") || text == "NO_COLOR" {
            command.env_remove(&name);
        }
    }
    command.env("COLUMNS", "100")
}

/// Sends a signal to a process that a test has started.
pub(crate) fn send_signal(signal: &str, process: u32) {
    assert!(try_signal(signal, process), "the process {process} has ended already");
}

/// Sends a signal to a process that may have ended at this very moment; whether it was there.
pub(crate) fn try_signal(signal: &str, process: u32) -> bool {
    let mut kill = Command::new("sh");
    kill.args(["-c", &format!("kill -{signal} {process}")]).stderr(Stdio::null());
    kill.status().expect("a shell").success()
}

/// The bytes packed with gzip.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("packing in memory");
    encoder.finish().expect("packing in memory")
}

/// The bytes packed with zstd.
pub(crate) fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::stream::encode_all(bytes, 3).expect("packing in memory")
}
