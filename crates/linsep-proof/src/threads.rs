//! Independent pieces of a check on several threads, results in order.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Threads of all checks under way, beside those that asked for them.
static HELPING: AtomicUsize = AtomicUsize::new(0);

/// How many threads help with checks at the moment, for what runs beside a check and takes only the time
/// that this leaves.
pub fn threads_at_checks() -> usize {
    HELPING.load(Ordering::Relaxed)
}

/// `run` on every number, results in order. A thread that breaks takes the check with it.
pub(crate) fn side_by_side<A: Send>(
    threads: usize,
    numbers: std::ops::Range<u64>,
    run: &(impl Fn(u64) -> A + Sync),
) -> Vec<A> {
    let count = numbers.end.saturating_sub(numbers.start);
    if (threads as u64).min(count) <= 1 {
        return numbers.map(run).collect();
    }
    let slots: Vec<Mutex<Option<A>>> = (0..count).map(|_| Mutex::new(None)).collect();
    for_each_number(threads, count, &|k| {
        let result = run(numbers.start + k);
        *slots[k as usize].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    });
    let taken = |slot: Mutex<Option<A>>| slot.into_inner().unwrap_or_else(PoisonError::into_inner);
    slots.into_iter().filter_map(taken).collect()
}

/// Rows whose labels one thread looks up at a time: threads of their own are for more.
const LABELS: u64 = 1 << 16;

/// `run` on blocks of rows in which little is done for each, results in order.
pub(crate) fn by_rows<A: Send>(
    threads: usize,
    rows: u64,
    run: &(impl Fn(std::ops::Range<u64>) -> A + Sync),
) -> Vec<A> {
    let block = |k: u64| run(k * LABELS..(k * LABELS + LABELS).min(rows));
    side_by_side(threads, 0..rows.div_ceil(LABELS), &block)
}

/// What was found of label texts. Rows share the text of their label, so most of them need no look at its letters.
pub(crate) struct Known<'a, T> {
    texts: Vec<(&'a str, T)>,
}

impl<'a, T: Copy> Known<'a, T> {
    /// Of no texts.
    pub(crate) fn new() -> Known<'a, T> {
        Known { texts: Vec::new() }
    }

    /// What `find` finds of a text.
    #[inline]
    pub(crate) fn or_find(&mut self, label: &'a str, find: impl FnOnce(&'a str) -> T) -> T {
        /// Texts that are looked through sooner than hashed.
        const MOST: usize = 32;
        if let Some((_, found)) = self.texts.iter().find(|(text, _)| std::ptr::eq(*text, label)) {
            return *found;
        }
        let found = find(label);
        if self.texts.len() < MOST {
            self.texts.push((label, found));
        }
        found
    }
}

/// The threads of all checks, compiled once.
fn for_each_number(threads: usize, count: u64, work: &(dyn Fn(u64) + Sync)) {
    let next = AtomicU64::new(0);
    let run = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return;
            }
            work(number);
        }
    };
    std::thread::scope(|scope| {
        let workers = (threads as u64).min(count);
        // Where the system has no more threads, fewer do the work.
        let start = |_| {
            // Counted before it runs: what makes room for it has to know of it first.
            HELPING.fetch_add(1, Ordering::Relaxed);
            let done = Done;
            let work = move || {
                let _done = done;
                run();
            };
            std::thread::Builder::new().spawn_scoped(scope, work).ok()
        };
        let handles: Vec<_> = (1..workers).map_while(start).collect();
        run();
        for handle in handles {
            if let Err(panic) = handle.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
}

/// A thread of a check that has ended, by unwinding too.
struct Done;

impl Drop for Done {
    fn drop(&mut self) {
        HELPING.fetch_sub(1, Ordering::Relaxed);
    }
}
