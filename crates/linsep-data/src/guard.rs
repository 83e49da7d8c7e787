//! Decoders of other crates that may panic on damaged input.
//!
//! Readers here return errors. The crates that decode Parquet and Arrow do so too for nearly everything, but their
//! authors allow panics on malformed files. As the last resort, behind every check of sizes, such a panic ends
//! the decoding and nothing else: [`decode`] turns it into its message. A program whose panic hook ends the
//! process asks [`is_decoding`] first.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// The result of `work`, or the message of its panic. What `work` has changed when it panics must not be used.
#[cfg_attr(not(feature = "arrow"), allow(dead_code))] // Only those files have such decoders.
pub(crate) fn decode<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    DEPTH.with(|depth| depth.set(depth.get() + 1));
    let result = catch_unwind(AssertUnwindSafe(work));
    DEPTH.with(|depth| depth.set(depth.get() - 1));
    result.map_err(|panic| message(panic.as_ref()))
}

/// Whether this thread is inside of a decoder whose panics are caught.
pub fn is_decoding() -> bool {
    DEPTH.with(|depth| depth.get() > 0)
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "damaged".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_its_message() {
        assert_eq!(decode(|| 3), Ok(3));
        assert!(!is_decoding());
        let found: Result<(), String> = decode(|| {
            assert!(is_decoding());
            panic!("page {} is short", 7)
        });
        assert_eq!(found, Err("page 7 is short".to_owned()));
        assert!(!is_decoding());
    }
}
