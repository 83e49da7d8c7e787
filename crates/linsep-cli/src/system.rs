//! What the program settles with the operating system before it works.

#![allow(unsafe_code)]

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
