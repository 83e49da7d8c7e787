//! The program `linsep` as a library, for whoever ships it inside something else: the Python package does.
//! stdout is the result, stderr is everything else, the exit code is the answer: see `exit.rs`.

mod args;
mod commands;
mod config;
mod context;
mod exit;
mod files;
mod heap;
mod hints;
mod input;
mod kinds;
mod output;
mod progress;
mod spelling;
mod system;
mod units;

use context::Context;
use exit::Failure;
use linsep::Error;
use linsep::data::{buffer, cancel};
use std::ffi::OsString;
use std::process::ExitCode;

pub use heap::Counted;

/// Runs the program with these arguments, the first of which is its name. It is the only thing that the
/// process does: signals, panics and limits of memory are those of the program from now on.
pub fn main(arguments: &[OsString]) -> ExitCode {
    work(arguments, system::processor_seconds())
}

/// The same within another program, whose own start is not counted.
fn work(arguments: &[OsString], loading: f64) -> ExitCode {
    system::begin(loading);
    exit::report_panics();
    system::refuse_long_files_by_error();
    match run(arguments) {
        Ok(code) => code,
        Err(failure) => failure.report(arguments),
    }
}

/// The same with the number of the exit code.
pub fn exit_number(arguments: &[OsString]) -> u8 {
    let code = work(arguments, 0.0);
    (0..=u8::MAX).find(|number| ExitCode::from(*number) == code).unwrap_or(70)
}

fn run(arguments: &[OsString]) -> Result<ExitCode, Failure> {
    if arguments.len() == 1 {
        output::print(args::FIRST_SCREEN)?;
        return Ok(ExitCode::SUCCESS);
    }
    // What is wrong with the settings is told in the form that they ask for.
    exit::report_json(arguments.iter().any(|argument| argument == "--json"));
    let command = config::apply(args::command(), arguments)?;
    let matches = match command.try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) => return exit::usage(error, arguments),
    };
    let context = Context::new(&matches)?;
    if let Some(path) = config::config_path(arguments) {
        context.files.read(&path)?;
    }
    if matches.get_flag("version") {
        output::print(&args::version(context.verbose))?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some((name, matches)) = matches.subcommand() else {
        output::print(args::FIRST_SCREEN)?;
        return Ok(ExitCode::SUCCESS);
    };
    // Work that is given up in the middle has no result.
    let ended = cancel::catch(|| buffer::catch(|| commands::run(name, matches, &context)));
    ended.unwrap_or_else(|| Err(Error::Interrupted.into()))
}
