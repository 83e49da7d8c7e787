//! What every command shares: the global flags, the signal, the clock.

use crate::files::Ledger;
use crate::heap;
use crate::system;
use crate::units;
use clap::ArgMatches;
use linsep::data::cancel;
use linsep::{Error, Result};
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The global flags, resolved.
pub(crate) struct Context {
    pub(crate) json: bool,
    pub(crate) plain: bool,
    pub(crate) quiet: bool,
    pub(crate) verbose: bool,
    pub(crate) progress: ProgressMode,
    pub(crate) threads: usize,
    pub(crate) max_memory: Option<u64>,
    /// Whether a time limit was given.
    pub(crate) time_limited: bool,
    pub(crate) seed: u64,
    /// What the command reads and writes.
    pub(crate) files: Ledger,
    /// Turns true at the first Ctrl-C and at the time limit.
    pub(crate) stop: Arc<AtomicBool>,
}

/// Where progress is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProgressMode {
    Never,
    Line,
    Json,
}

impl Context {
    pub(crate) fn new(matches: &ArgMatches) -> Result<Context> {
        let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
        set_colour(text("color").unwrap_or("auto"));
        crate::exit::report_json(matches.get_flag("json"));
        let quiet = matches.get_flag("quiet");
        let progress = match text("progress").unwrap_or("auto") {
            "json" => ProgressMode::Json,
            "auto" if !quiet && std::io::stderr().is_terminal() => ProgressMode::Line,
            _ => ProgressMode::Never,
        };
        let threads = match text("threads") {
            None => std::thread::available_parallelism().map_or(1, usize::from),
            Some(text) => match text.parse() {
                Ok(threads @ 1..=1024) => threads,
                _ => {
                    return Err(Error::usage(format!(
                        "--threads: \"{text}\" is not between 1 and 1024"
                    )));
                }
            },
        };
        let seed = text("seed").unwrap_or("0");
        let seed = seed.parse().map_err(|_| {
            Error::usage(format!("--seed: \"{seed}\" is no whole number of at least 0"))
        })?;
        let time_limit = text("time-limit")
            .map(|text| named("time-limit", units::duration(text)))
            .transpose()?;
        let stop = catch_signals();
        if let Some(limit) = time_limit {
            watch_time(limit, Arc::clone(&stop))?;
        }
        let memory_limit =
            text("max-memory").map(|text| named("max-memory", units::bytes(text))).transpose()?;
        match memory_limit {
            Some(limit) => heap::limit_memory(limit),
            None => heap::keep_memory(physical_memory(), threads),
        }
        Ok(Context {
            json: matches.get_flag("json"),
            plain: matches.get_flag("plain"),
            quiet,
            verbose: matches.get_flag("verbose"),
            progress,
            threads,
            max_memory: memory_limit.or_else(physical_memory),
            time_limited: time_limit.is_some(),
            seed,
            files: Ledger::default(),
            stop,
        })
    }

    /// Whether the work is to end, by a signal or by the time limit.
    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Puts the name of the flag before what is wrong with its value.
fn named<T>(flag: &str, value: Result<T>) -> Result<T> {
    value.map_err(|error| Error::usage(format!("--{flag}: {error}")))
}

/// The first signal asks the work to end in good order; the second ends the program.
fn catch_signals() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let caught = ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) || IMMEDIATE.load(Ordering::Relaxed) {
            system::end(130);
        }
        give_up_soon();
    });
    // Without a handler a signal ends the program at once, as it would anyway.
    drop(caught);
    stop
}

/// Work that is told to stop has this long to come to an end in good order; then it is given up where it
/// stands.
const GRACE: Duration = Duration::from_millis(300);

fn give_up_soon() {
    std::thread::sleep(GRACE);
    cancel::request();
}

/// Whether the first signal ends the program at once, because there is nothing to save.
static IMMEDIATE: AtomicBool = AtomicBool::new(false);

/// Says that there is nothing to save or to clean up when a signal comes.
pub(crate) fn end_at_once() {
    IMMEDIATE.store(true, Ordering::Relaxed);
}

static TIMED_OUT: AtomicBool = AtomicBool::new(false);

/// Whether the time limit was what ended the work.
pub(crate) fn timed_out() -> bool {
    TIMED_OUT.load(Ordering::Relaxed)
}

fn watch_time(limit: Duration, stop: Arc<AtomicBool>) -> Result<()> {
    let watch = move || {
        std::thread::sleep(limit);
        if !stop.load(Ordering::Relaxed) {
            TIMED_OUT.store(true, Ordering::Relaxed);
            stop.store(true, Ordering::Relaxed);
            give_up_soon();
        }
    };
    let started = std::thread::Builder::new().stack_size(1 << 16).spawn(watch);
    let failed =
        |error| Error::io("start", std::path::Path::new("the clock of --time-limit"), error);
    started.map(drop).map_err(failed)
}

/// The machine's memory, where the system tells it.
fn physical_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib * 1024)
}

static COLOUR: AtomicBool = AtomicBool::new(false);

/// `--color` first, then NO_COLOR, CLICOLOR_FORCE, CLICOLOR and the terminal, in this order.
fn set_colour(choice: &str) {
    let set =
        |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
    let off = |name: &str| std::env::var_os(name).is_some_and(|value| value == "0");
    let colour = match choice {
        "always" => true,
        "never" => false,
        _ if std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) => false,
        _ if set("CLICOLOR_FORCE") => true,
        _ if off("CLICOLOR") => false,
        _ => std::io::stderr().is_terminal(),
    };
    COLOUR.store(colour, Ordering::Relaxed);
}

/// Whether messages on stderr are coloured.
pub(crate) fn colour_on_stderr() -> bool {
    COLOUR.load(Ordering::Relaxed)
}
