//! Exit codes and the printing of errors.
//!
//! 0 done or yes · 1 a definite negative answer · 2 usage · 3 input data · 4 model file · 5 a limit ·
//! 6 reading, writing or memory · 70 a bug · 130 interrupted. A broken pipe ends quietly.
//!
//! With `--json` an error is one JSON object, the last line of stderr.

use crate::context::colour_on_stderr;
use crate::spelling::{quoted, spelled, spelled_with_values};
use linsep::atomic::SYNC_FOLDER;
use linsep::data::error::{escaped_json, escaped_lines};
use linsep::data::memory::SPILL;
use linsep::{Code, Error, Problem, escaped};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// Why the program ends without a result.
pub(crate) enum Failure {
    /// The library or a command says why.
    Error(Error),
    /// Nobody reads the output any more.
    BrokenPipe,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        match &error {
            Error::Io { source, .. } if source.kind() == std::io::ErrorKind::BrokenPipe => {
                Failure::BrokenPipe
            }
            _ => Failure::Error(error),
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Error::io("write", std::path::Path::new("<stdout>"), error).into()
    }
}

impl Failure {
    /// Prints the error of the command with these arguments and gives the exit code.
    pub(crate) fn report(&self, arguments: &[OsString]) -> ExitCode {
        match self {
            Failure::BrokenPipe => ExitCode::SUCCESS,
            Failure::Error(Error::Interrupted) if crate::context::timed_out() => {
                let message = "the time limit was reached before there was a result".to_owned();
                complain(&Error::Limit { code: Code::LIMIT, message }, arguments)
            }
            Failure::Error(error) => complain(error, arguments),
        }
    }
}

/// Prints an error and gives its exit code.
fn complain(error: &Error, arguments: &[OsString]) -> ExitCode {
    match JSON.load(Ordering::Relaxed) {
        true => eprint_json(&as_json(error, arguments)),
        false => eprint_raw(&render(error, arguments, colour_on_stderr())),
    }
    ExitCode::from(code_of(error.code()))
}

static JSON: AtomicBool = AtomicBool::new(false);

/// Says whether errors are JSON objects.
pub(crate) fn report_json(wanted: bool) {
    JSON.store(wanted, Ordering::Relaxed);
}

/// One object in one line, behind whatever notes there were.
fn eprint_json(value: &Value) {
    eprint_raw(&escaped_json(&format!("{value}\n")));
}

/// An error for programs: its code, its words, and where in the data it is.
fn as_json(error: &Error, arguments: &[OsString]) -> Value {
    let code = error.code();
    let mut value = json!({
        "schema": SCHEMA,
        "code": code.to_string(),
        "title": code.title(),
        "exit": code_of(code),
    });
    match error {
        Error::Data(data) => {
            let problem = |problem: &Problem| {
                let place = &problem.place;
                json!({
                    "code": problem.code.to_string(),
                    "message": spelled(&problem.message),
                    "file": place.file,
                    "line": place.line,
                    "column": place.column,
                    "row": place.row,
                    "field": place.field.as_ref().map(|(number, _)| number),
                    "name": place.field.as_ref().and_then(|(_, name)| name.as_deref()),
                    "value": problem.value,
                })
            };
            let problems: Vec<Value> = data.problems.iter().map(problem).collect();
            value["message"] = problems[0]["message"].clone();
            value["help"] = data.problems[0].help.as_deref().map(spelled).into();
            value["command"] = remedy(&data.problems[0], arguments).into();
            value["problems"] = problems.into();
            value["bad_rows"] = data.bad_rows.into();
            value["rows"] = data.rows.into();
        }
        other => {
            value["message"] = words_of(other).into();
            value["help"] = advice(other).into();
        }
    }
    value
}

/// The form of an error for programs.
const SCHEMA: &str = "linsep.error/1";

/// The exit code for an error code.
pub(crate) fn code_of(code: Code) -> u8 {
    match code.group() {
        _ if code == Code::LOSSY || code == Code::NOT_SEPARABLE => 1,
        1 => 3,
        2 => 2,
        4 => 4,
        5 => 5,
        6 => 6,
        7 if code == Code::INTERRUPTED => 130,
        _ => 70,
    }
}

/// Prints a message of the command-line parser: help to stdout, complaints to stderr.
pub(crate) fn usage(mut error: clap::Error, arguments: &[OsString]) -> Result<ExitCode, Failure> {
    crate::hints::add_to(&mut error, arguments);
    if error.use_stderr() && JSON.load(Ordering::Relaxed) {
        eprint_json(&usage_as_json(&error));
        return Ok(ExitCode::from(2));
    }
    let text = error.render();
    let plain = text.to_string();
    // What the user wrote may stand in it, and only our own colours are to pass.
    let is_safe = escaped_lines(&plain) == plain;
    let text = match colour_on_stderr() && is_safe {
        true => text.ansi().to_string(),
        false => escaped_lines(&plain),
    };
    if error.use_stderr() {
        eprint_raw(&text);
        Ok(ExitCode::from(2))
    } else {
        crate::output::print_raw(&text)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// What the parser complains about, as every other error.
fn usage_as_json(error: &clap::Error) -> Value {
    let text = error.render().to_string();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let message: Vec<&str> = lines.iter().copied().take_while(|line| !line.is_empty()).collect();
    let message = message.join(" ");
    let tips = lines.iter().filter_map(|line| line.strip_prefix("tip: ")).collect::<Vec<_>>();
    json!({
        "schema": SCHEMA,
        "code": Code::SETTING.to_string(),
        "title": Code::SETTING.title(),
        "exit": 2,
        "message": message.strip_prefix("error: ").unwrap_or(&message),
        "help": (!tips.is_empty()).then(|| tips.join("; ")),
    })
}

/// Writes to stderr what can do nothing to a terminal.
pub(crate) fn eprint_all(text: &str) {
    eprint_raw(&escaped_lines(text));
}

/// Writes to stderr as it is; there is nowhere to complain if that fails.
pub(crate) fn eprint_raw(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// An internal fault ends with exit code 70 and says so; the data is never printed.
pub(crate) fn report_panics() {
    std::panic::set_hook(Box::new(|panic| {
        if linsep::data::guard::is_decoding() {
            // A damaged file; the reader says where.
            return;
        }
        let place = panic.location().map(|at| format!("{}:{}", at.file(), at.line()));
        let place = place.as_deref().unwrap_or("unknown place");
        let help = "this is a bug; please report it with the command that was run";
        match JSON.load(Ordering::Relaxed) {
            true => eprint_json(&json!({
                "schema": SCHEMA,
                "code": Code::INTERNAL.to_string(),
                "title": Code::INTERNAL.title(),
                "exit": 70,
                "message": format!("a fault inside linsep at {place}"),
                "help": help,
            })),
            false => eprint_all(&format!(
                "error[{}]: a fault inside linsep\n  --> {place}\n  help: {help}\n",
                Code::INTERNAL
            )),
        }
        crate::system::end(70);
    }));
}

fn render(error: &Error, arguments: &[OsString], colour: bool) -> String {
    let (red, cyan, plain) =
        if colour { ("\x1b[1;31m", "\x1b[36m", "\x1b[0m") } else { ("", "", "") };
    let mut text = String::new();
    let code = error.code();
    match error {
        Error::Data(data) => {
            for problem in &data.problems {
                let _ = writeln!(
                    text,
                    "{red}error[{}]{plain}: {}",
                    problem.code,
                    escaped(&spelled(&problem.message))
                );
                text.push_str(&escaped(&render_place(problem)));
            }
            let mut help: Vec<String> = Vec::new();
            if data.bad_rows > 1 || data.problems.len() > 1 {
                let more = if data.more { "at least " } else { "" };
                help.push(format!("{more}{} of {} rows are bad", data.bad_rows, data.rows));
            }
            help.extend(data.problems[0].help.as_deref().map(|help| escaped(&spelled(help))));
            help.extend(remedy(&data.problems[0], arguments).map(|command| escaped(&command)));
            for line in help {
                let _ = writeln!(text, "  {cyan}help{plain}: {line}");
            }
        }
        other => {
            let words = escaped(&words_of(other));
            let _ = writeln!(text, "{red}error[{code}]{plain}: {words}");
            if let Some(help) = advice(other) {
                let _ = writeln!(text, "  {cyan}help{plain}: {help}");
            }
        }
    }
    let _ = writeln!(text, "  {cyan}more{plain}: linsep help {code}");
    text
}

/// The command that was given with the flag that a gap in the data asks for.
fn remedy(problem: &Problem, arguments: &[OsString]) -> Option<String> {
    let help = problem.help.as_deref().filter(|_| problem.code == Code::MISSING)?;
    let rule = ["median", "drop-row"]
        .into_iter()
        .find(|rule| help.contains(&format!("missing={rule}`")))?;
    // A name that is no text cannot be printed so that it would work.
    let given: Vec<String> =
        arguments.iter().skip(1).map(|a| a.to_str().map(quoted)).collect::<Option<_>>()?;
    let words: Vec<String> = std::iter::once("linsep".to_owned()).chain(given).collect();
    Some(format!("{} --missing {rule}", words.join(" ")))
}

/// What an error says that is not about data.
fn words_of(error: &Error) -> String {
    match error {
        Error::Model { .. } => spelled_with_values(&error.to_string()),
        _ => spelled(&error.to_string()),
    }
}

fn render_place(problem: &Problem) -> String {
    let mut text = format!("  --> {}\n", problem.place);
    match (&problem.place.excerpt, &problem.value) {
        (Some(excerpt), value) => {
            let value = value.as_deref().map(|value| format!(" \"{value}\"")).unwrap_or_default();
            let marks = "^".repeat(excerpt.len);
            let _ = writeln!(text, "   |  {}", excerpt.text);
            let _ = writeln!(text, "   |  {}{marks}{value}", " ".repeat(excerpt.start));
        }
        (None, Some(value)) => {
            let _ = writeln!(text, "   |  \"{value}\"");
        }
        (None, None) => {}
    }
    text
}

fn advice(error: &Error) -> Option<&'static str> {
    match error {
        Error::Inseparable { .. } => Some(
            "linsep separable shows the conflict; svm learns from such rows; of K classes --multiclass ovo only separates pairs",
        ),
        Error::Memory { .. } => Some("raise --max-memory, or use fewer rows with --limit"),
        Error::Io { action: SYNC_FOLDER, .. } => {
            Some("the new file is complete and in its place, but a power cut may still undo it")
        }
        Error::Io { action: SPILL, .. } => Some(
            "name a folder with more room in the environment variable TMPDIR, raise --max-memory, or use fewer rows with --limit",
        ),
        Error::Io { action, source, .. } => match (*action, source.kind()) {
            ("read", std::io::ErrorKind::NotFound) => Some("check the path"),
            ("read", _) => None,
            (_, std::io::ErrorKind::NotFound) => {
                Some("check the path; an existing file was left as it was")
            }
            _ => Some("an existing file was left as it was"),
        },
        Error::Model { code: Code::TRACE, .. } => {
            Some("give the data of the run with the same rows, or write the trace again")
        }
        Error::Model { code: Code::FOREIGN_MODEL, .. } => {
            Some("linsep help certify shows the two forms that are read")
        }
        Error::Model { .. } => Some("train the model again, or fetch the file again"),
        _ => None,
    }
}
