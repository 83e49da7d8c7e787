//! Work that is given up in the middle.
//!
//! A run is asked to end between its steps, which keeps it whole. But one step may be a proof, a solve or a
//! vote of thousands of planes over all rows and last for minutes, and nobody waits that long for a program
//! that was told to stop. So long loops also call [`check`], about every block of rows or every pivot.
//! After [`request`] it unwinds to the [`catch`] around the work, which then has no result; nothing that was
//! under way can be taken for something that was done.
//!
//! There is one request for the process, as there is one signal and one clock for it. Outside of `catch`,
//! and inside of [`shield`], a request does nothing: what is being saved is saved. A process that does several
//! things at once gives each of them a [`Request`] of its own, which ends that work alone, on all its threads.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Whether a check is to unwind at this moment.
static NOW: AtomicBool = AtomicBool::new(false);

static STATE: Mutex<State> = Mutex::new(State { requested: false, catching: 0, asked: 0 });

thread_local! {
    /// The request that the work of this thread belongs to.
    static OWN: RefCell<Option<Request>> = const { RefCell::new(None) };
}

struct State {
    requested: bool,
    /// How many calls of `catch` are under way, 0 within a shield.
    catching: usize,
    /// How many requests of single pieces of work were made and are still held by somebody.
    asked: usize,
}

/// A request that ends one piece of work, begun by [`Request::catch`], and nothing else.
///
/// ```
/// use linsep_data::cancel::{Request, check};
/// let request = Request::default();
/// assert_eq!(request.catch(|| 1), Some(1));
/// request.ask();
/// assert_eq!(request.catch(|| 2), None);
/// check();
/// ```
#[derive(Clone, Debug, Default)]
pub struct Request(Arc<Asked>);

#[derive(Debug, Default)]
struct Asked(AtomicBool);

impl Drop for Asked {
    fn drop(&mut self) {
        if *self.0.get_mut() {
            change(|state| state.asked -= 1);
        }
    }
}

impl Request {
    /// Asks for the end of the work. It ends at its next [`check`].
    pub fn ask(&self) {
        if !self.0.0.swap(true, Ordering::Relaxed) {
            change(|state| state.asked += 1);
        }
    }

    /// Whether that was asked for.
    pub fn is_asked(&self) -> bool {
        self.0.0.load(Ordering::Relaxed)
    }

    /// The result of `work`, or nothing if it was given up.
    pub fn catch<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        under(Some(self.clone()), || catch(work))
    }
}

/// The request that the work of this thread belongs to.
pub(crate) fn own() -> Option<Request> {
    OWN.with_borrow(Clone::clone)
}

/// The result of `work`, which belongs to this request, or to none.
pub(crate) fn under<T>(request: Option<Request>, work: impl FnOnce() -> T) -> T {
    /// Puts the request of before back, also when the work unwinds.
    struct Before(Option<Request>);
    impl Drop for Before {
        fn drop(&mut self) {
            OWN.set(self.0.take());
        }
    }
    let _before = Before(OWN.replace(request));
    work()
}

/// What unwinds.
struct Cancelled;

/// Asks for the end of everything that is under way within a [`catch`], and of what is begun later.
pub fn request() {
    change(|state| state.requested = true);
}

/// Whether that was asked for.
pub fn is_requested() -> bool {
    state().requested || own_is_asked()
}

fn own_is_asked() -> bool {
    OWN.with_borrow(|own| own.as_ref().is_some_and(Request::is_asked))
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
    let process = {
        let state = state();
        state.requested && state.catching > 0
    };
    if process || own_is_asked() {
        // No message and no hook: this is no fault.
        resume_unwind(Box::new(Cancelled));
    }
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
    let result = catch_unwind(AssertUnwindSafe(|| under(None, work)));
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
    let now = state.requested && state.catching > 0 || state.asked > 0;
    NOW.store(now, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::parallel_map;

    #[test]
    fn a_request_ends_its_own_work_on_all_threads_and_no_other() {
        let (ended, other) = (Request::default(), Request::default());
        let works = |request: &Request| {
            request.catch(|| parallel_map(64, 3, |item| item).len() + inner_is_done() as usize)
        };
        fn inner_is_done() -> bool {
            catch(check).is_some()
        }
        assert_eq!((works(&ended), works(&other)), (Some(65), Some(65)));
        let midway = ended.catch(|| {
            parallel_map(64, 3, |item| {
                if item == 7 {
                    ended.ask();
                }
            })
        });
        assert!(midway.is_none() && ended.is_asked());
        assert_eq!((works(&ended), works(&other)), (None, Some(65)));
        check();
    }
}
