//! The program `linsep`, see `lib.rs`.

use std::ffi::OsString;
use std::process::ExitCode;

#[global_allocator]
static HEAP: linsep_cli::Counted = linsep_cli::Counted;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    linsep_cli::main(&arguments)
}
