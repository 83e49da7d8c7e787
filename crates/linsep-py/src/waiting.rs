//! Long work beside Python. It runs on a thread of its own with the interpreter released; the thread that
//! asked waits, looks for signals, and leaves at the first one. The work then ends at its next check, and
//! nobody waits for a proof that has none.

use crate::errors::{exception, fault};
use linsep::Result;
use linsep::data::cancel::Request;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How long a signal waits at most before it is seen.
const LOOK: Duration = Duration::from_millis(25);

/// How long work may take to end once it was asked to.
const LEAVE: Duration = Duration::from_millis(50);

/// As deep as the stack of a main thread.
const STACK: usize = 8 << 20;

/// The result of `work`, or the exception of a signal that came meanwhile.
pub(crate) fn wait<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> PyResult<T> {
    let request = Request::default();
    let own = request.clone();
    let (sender, mut receiver) = channel();
    let run = move || {
        let result = catch_unwind(AssertUnwindSafe(|| own.catch(work)));
        // Nobody listens where a signal came first.
        let _ = sender.send(result);
    };
    let thread = std::thread::Builder::new().name("linsep".into()).stack_size(STACK);
    thread.spawn(run)?;
    loop {
        let (back, message) = py.detach(move || {
            let message = receiver.recv_timeout(LOOK);
            (receiver, message)
        });
        receiver = back;
        match message {
            Ok(Ok(Some(result))) => return result.map_err(|error| exception(py, error)),
            Ok(Ok(None)) => return Err(PyKeyboardInterrupt::new_err(())),
            Ok(Err(cause)) => return Err(fault(&words_of(cause.as_ref()))),
            Err(RecvTimeoutError::Disconnected) => return Err(fault("the work vanished")),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Err(signal) = py.check_signals() {
            request.ask();
            py.detach(move || {
                let _ = receiver.recv_timeout(LEAVE);
            });
            return Err(signal);
        }
    }
}

/// What a panic said.
fn words_of(cause: &(dyn std::any::Any + Send)) -> String {
    let text = cause.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| cause.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "something that has no words".into())
}
