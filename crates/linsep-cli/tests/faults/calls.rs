//! Every call that a command makes on its files fails once, and the disk is full at several places.
//!
//! Whatever happens: the exit code is that of an error of writing or that of a run without a fault, the
//! file and the reason are named, an output is the old one or the new one as a whole, inputs are as they
//! were, nothing stays behind, and neither a finished model nor an answer is lost to another file.

use crate::common::{Room, Run};
use crate::interposer::{Call, Fault, Interposer};
use crate::room::{Files, OLD, files, only_outputs_changed, reset, room};
use crate::writers::{WRITERS, Writer};

/// The numbers and words of the errors, as Linux has them.
const INTERRUPTED: i32 = 4;
const ERRORS: [(i32, &str); 3] =
    [(INTERRUPTED, "Interrupted"), (5, "Input/output error"), (28, "No space left on device")];

/// What a command does when nothing fails.
struct Clean {
    new: Files,
    out: String,
    calls: Vec<Call>,
    bytes: u64,
}

/// A command in its folder, with the library that lets it fail.
struct Trial<'a> {
    faults: &'a Interposer,
    room: &'a Room,
    writer: &'a Writer,
    inputs: Files,
}

impl Trial<'_> {
    /// Runs the command with outputs that exist or do not.
    fn run(&self, exist: bool, fault: Fault) -> (Run, Vec<Call>, Files) {
        reset(self.room, self.writer, exist);
        let (output, calls) = self.faults.run(self.room, self.writer.line, fault);
        let run = Run::new(output, &format!("{} with {fault:?}", self.writer.line));
        (run, calls, files(self.room))
    }

    fn clean(&self, exist: bool) -> Clean {
        let (run, calls, after) = self.run(exist, Fault::Nothing);
        let run = run.exits(self.writer.exit);
        let what = self.writer.line;
        only_outputs_changed(self.writer, &self.inputs, &after, what);
        let is_output = |name: &str| self.writer.files.contains(&name);
        let new: Files = after.into_iter().filter(|(name, _)| is_output(name)).collect();
        assert!(!new.is_empty(), "{what} wrote nothing");
        for (name, content) in &new {
            assert!(content != OLD, "{what} did not write {name}");
        }
        if let Some(rejects) = new.get("r.csv") {
            let text = String::from_utf8_lossy(rejects);
            assert!(
                text.lines().last().is_some_and(|row| row.starts_with("oops")),
                "{what}: {text}"
            );
        }
        for name in ["open", "write", "fsync", "rename", "close"] {
            assert!(calls.iter().any(|call| call.name == name), "{what}: no call of {name} seen");
        }
        let bytes = new.values().map(|content| content.len() as u64).sum();
        Clean { new, out: run.out, calls, bytes }
    }

    /// Runs the command with a fault and checks everything; false if the fault was not met.
    fn holds(&self, exist: bool, fault: Fault, clean: &Clean) -> bool {
        let (run, calls, after) = self.run(exist, fault);
        let what =
            format!("{} with {fault:?}, outputs exist: {exist}\n{}", self.writer.line, run.err);
        let Some(at) = calls.iter().position(|call| call.error != 0) else {
            assert!(run.code == self.writer.exit, "exit code {}: {what}", run.code);
            return false;
        };
        let failed = &calls[at];
        let what = format!("{failed:?} in {what}");
        if failed.name != "unlink" {
            only_outputs_changed(self.writer, &self.inputs, &after, &what);
        }
        let old = exist.then_some(OLD);
        for name in self.writer.files {
            let found = after.get(*name).map(Vec::as_slice);
            let new = clean.new.get(*name).map(Vec::as_slice);
            if found == old || found == new {
                continue;
            }
            // A checkpoint that was written on the way is a whole file, too.
            assert!(found.is_some() && name.ends_with(".checkpoint"), "{name} is damaged: {what}");
            let data = self.writer.line.split(' ').nth(1).unwrap_or_default();
            let line = format!("train {data} --resume {name} --epochs 9 --dry-run -o n.linsep");
            self.room.run(&line).exits(0);
        }
        self.says(&run, failed, &after, (exist, fault), clean, &what);
        if !matches!(fault, Fault::Full(_)) {
            self.keeps(&run, &calls[..at], failed, &after, clean, &what);
        }
        true
    }

    /// The exit code and the message fit what failed.
    fn says(
        &self,
        run: &Run,
        failed: &Call,
        after: &Files,
        (exist, fault): (bool, Fault),
        clean: &Clean,
        what: &str,
    ) {
        // A call that is only interrupted is made again. The content of a file that is closed is safe already,
        // and a file that cannot be removed does no harm.
        if failed.error == INTERRUPTED || ["close", "unlink"].contains(&failed.name.as_str()) {
            assert!(run.code == self.writer.exit, "exit code {}: {what}", run.code);
            return;
        }
        // What cannot be looked at once may still be read.
        let is_input = failed.file.as_ref().is_some_and(|name| self.inputs.contains_key(name));
        if is_input && run.code == self.writer.exit {
            let outputs = after.iter().filter(|(name, _)| clean.new.contains_key(*name));
            assert!(outputs.eq(&clean.new), "{what}");
            return;
        }
        let is_full = matches!(fault, Fault::Full(_));
        let goes_on = run.err.contains("note: no checkpoint: cannot ");
        match run.code {
            6 => assert!(run.err.contains("error[E0601]"), "{what}"),
            code => assert!(goes_on && code == self.writer.exit, "exit code {code}: {what}"),
        }
        let reason = ERRORS.iter().find(|(number, _)| *number == failed.error);
        assert!(reason.is_some_and(|(_, words)| run.err.contains(words)), "no reason: {what}");
        let named = |name: &str| run.err.contains(name);
        match &failed.file {
            // One file is enough where none can be written.
            Some(name) if !is_full => assert!(named(name), "{name} is not named: {what}"),
            _ => assert!(self.writer.files.iter().any(|name| named(name)), "no name: {what}"),
        }
        if exist && run.err.contains("an existing file was left as it was") {
            // Of a checkpoint, one from earlier in the run may be there.
            let named = |name: &&&str| run.err.contains(&format!("cannot write {name}: "));
            let names = self.writer.files.iter().filter(named);
            for name in names.filter(|name| !name.ends_with(".checkpoint")) {
                let found = after.get(*name).map(Vec::as_slice);
                assert!(found == Some(OLD), "{name} is not as it was: {what}");
            }
        }
    }

    /// Neither a finished model nor an answer is lost.
    fn keeps(
        &self,
        run: &Run,
        before: &[Call],
        failed: &Call,
        after: &Files,
        clean: &Clean,
        what: &str,
    ) {
        let Some(file) = failed.file.as_deref() else { return };
        if self.writer.answers && self.writer.files.contains(&file) {
            let first = |text: &str| -> Vec<String> {
                let line = text.lines().next().unwrap_or_default();
                line.split_whitespace().map(str::to_owned).collect()
            };
            assert!(
                !run.out.is_empty() && first(&run.out) == first(&clean.out),
                "no answer: {what}"
            );
        }
        if !self.writer.beside.contains(&file) {
            return;
        }
        // A file that cannot even be begun ends the run before its work.
        let first =
            !before.iter().any(|call| call.name == "rename" && call.file.as_deref() == Some(file));
        let begins = match file {
            name if name.ends_with(".checkpoint") => first,
            name if name.ends_with(".ndjson") => ["open", "fchmod"].contains(&failed.name.as_str()),
            _ => false,
        };
        if !begins {
            let model = self.writer.files[0];
            assert!(after.get(model) == clean.new.get(model), "the model is lost: {what}");
            if run.code == 6 {
                assert!(run.err.contains(&format!("the model is in {model}")), "{what}");
            }
        }
    }
}

/// Lets every call of some commands fail.
fn all_calls_fail(is_mine: impl Fn(&str) -> bool) {
    let Some(faults) = Interposer::new() else { return };
    let room = room();
    let mut runs = 0;
    for writer in WRITERS.iter().filter(|writer| is_mine(writer.command())) {
        if writer.files.is_empty() {
            room.run(writer.line).exits(writer.exit);
            continue;
        }
        reset(&room, writer, false);
        let trial = Trial { faults: &faults, room: &room, writer, inputs: files(&room) };
        for (exist, error) in [(true, 5), (false, 28)] {
            let clean = trial.clean(exist);
            let met =
                (1..).take_while(|n| trial.holds(exist, Fault::Call(*n, error), &clean)).count();
            assert!(met >= clean.calls.len(), "{}: {met} calls failed", writer.line);
            runs += met;
            if !exist {
                continue;
            }
            for (k, call) in clean.calls.iter().enumerate() {
                if ["open", "read", "write", "fsync"].contains(&call.name.as_str()) {
                    trial.holds(exist, Fault::Call(k + 1, INTERRUPTED), &clean);
                }
            }
            for bytes in [0, 1, clean.bytes / 4, clean.bytes / 2, clean.bytes - 1] {
                assert!(trial.holds(exist, Fault::Full(bytes), &clean), "{}", writer.line);
            }
        }
        reset(&room, writer, false);
    }
    assert!(runs > 0, "no command was tried");
}

#[test]
fn training_survives_every_failed_call() {
    all_calls_fail(|command| command == "train");
}

#[test]
fn tables_survive_every_failed_call() {
    all_calls_fail(|command| TABLES.contains(&command));
}

#[test]
fn proofs_survive_every_failed_call() {
    all_calls_fail(|command| PROOFS.contains(&command));
}

#[test]
fn all_other_files_survive_every_failed_call() {
    all_calls_fail(|command| {
        command != "train" && !TABLES.contains(&command) && !PROOFS.contains(&command)
    });
}

const TABLES: &[&str] = &["predict", "convert", "generate", "sample", "geometry"];
const PROOFS: &[&str] = &["separable", "forced", "verify", "certify"];
