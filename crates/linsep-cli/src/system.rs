//! What the program settles with the operating system before it works.

#![allow(unsafe_code)]

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// When the work began, and the seconds that it took to get there.
static START: Mutex<Option<(Instant, f64)>> = Mutex::new(None);

/// Notes that the work begins, so many seconds after the process did.
pub(crate) fn begin(loading: f64) {
    *START.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), loading));
}

/// Seconds since the start of the program.
pub(crate) fn seconds_so_far() -> f64 {
    let start = START.lock().unwrap_or_else(PoisonError::into_inner);
    start.map_or(0.0, |(start, loading)| loading + start.elapsed().as_secs_f64())
}

/// Seconds of the processor that the process has taken: at its start, the time to load it.
pub(crate) fn processor_seconds() -> f64 {
    #[cfg(unix)]
    {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the call writes to the one place it is given, which outlives it.
        let failed = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) } != 0;
        if failed { 0.0 } else { time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64 }
    }
    #[cfg(not(unix))]
    0.0
}

/// A file that may not grow any further is an error of the write, as on a full disk, and no reason to be
/// killed in the middle of it.
pub(crate) fn refuse_long_files_by_error() {
    #[cfg(unix)]
    // SAFETY: to ignore a signal is always sound; no handler of ours runs.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// Ends the process at once, without what usually runs at the end: another thread may hold what that
/// needs. Files that were being written are removed first.
pub(crate) fn end(code: i32) -> ! {
    linsep::atomic::remove_temporaries();
    #[cfg(unix)]
    // SAFETY: `_exit` ends the process and touches nothing of it.
    unsafe {
        libc::_exit(code)
    }
    #[cfg(not(unix))]
    std::process::exit(code)
}
