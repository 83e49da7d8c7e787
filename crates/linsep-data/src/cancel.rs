//! Work that is given up in the middle.
//!
//! A run is asked to end between its steps, which keeps it whole. But one step may be a proof, a solve or a
//! vote of thousands of planes over all rows and last for minutes, and nobody waits that long for a program
//! that was told to stop. So long loops also call [`check`], about every block of rows or every pivot.
//! After [`request`] it unwinds to the [`catch`] around the work, which then has no result; nothing that was
//! under way can be taken for something that was done.
//!
//! There is one request for the process, as there is one signal and one clock for it. Outside of `catch`,
//! and inside of [`shield`], a request does nothing: what is being saved is saved.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Whether a check is to unwind at this moment.
static NOW: AtomicBool = AtomicBool::new(false);

static STATE: Mutex<State> = Mutex::new(State { requested: false, catching: 0 });

struct State {
    requested: bool,
    /// How many calls of `catch` are under way, 0 within a shield.
    catching: usize,
}

/// What unwinds.
struct Cancelled;

/// Asks for the end of everything that is under way within a [`catch`], and of what is begun later.
pub fn request() {
    change(|state| state.requested = true);
}

/// Whether that was asked for.
pub fn is_requested() -> bool {
    state().requested
}

/// Gives up the work under way if that was asked for.
#[inline]
pub fn check() {
    if NOW.load(Ordering::Relaxed) {
        give_up();
    }
}

#[cold]
#[inline(never)]
fn give_up() {
    // No message and no hook: this is no fault.
    resume_unwind(Box::new(Cancelled));
}

/// The result of `work`, or nothing if it was given up.
pub fn catch<T>(work: impl FnOnce() -> T) -> Option<T> {
    if is_requested() {
        return None;
    }
    change(|state| state.catching += 1);
    // What the work leaves behind is not looked at unless it is whole; see the callers.
    let result = catch_unwind(AssertUnwindSafe(work));
    change(|state| state.catching -= 1);
    match result {
        Ok(result) => Some(result),
        Err(cause) if cause.is::<Cancelled>() => None,
        Err(fault) => resume_unwind(fault),
    }
}

/// The result of `work`, which is not given up.
pub fn shield<T>(work: impl FnOnce() -> T) -> T {
    let mut before = 0;
    change(|state| before = std::mem::take(&mut state.catching));
    let result = catch_unwind(AssertUnwindSafe(work));
    change(|state| state.catching = before);
    result.unwrap_or_else(|fault| resume_unwind(fault))
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Changes the state and what follows from it.
fn change(how: impl FnOnce(&mut State)) {
    let mut state = state();
    how(&mut state);
    NOW.store(state.requested && state.catching > 0, Ordering::Relaxed);
}
