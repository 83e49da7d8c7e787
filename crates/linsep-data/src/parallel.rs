//! Independent pieces of work on several threads, results in order.

use crate::cancel;
use linsep_proof::threads_at_checks;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Threads of all maps under way, beside those that asked for them.
static HELPING: AtomicUsize = AtomicUsize::new(0);

/// Whether of so many threads one has nothing to do: no map or check is under way that has work for it. For what can
/// wait, so that it takes no time from what is waited for.
pub(crate) fn has_idle(threads: usize) -> bool {
    1 + HELPING.load(Ordering::Relaxed) + threads_at_checks() < threads
}

/// Runs `work` on 0..count and returns the results in order, whatever the number of threads.
pub fn parallel_map<T: Send>(
    count: usize,
    threads: usize,
    work: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    if threads.min(count) <= 1 {
        let checked = |item| {
            cancel::check();
            work(item)
        };
        return (0..count).map(checked).collect();
    }
    let slots: Vec<Mutex<Option<T>>> = (0..count).map(|_| Mutex::new(None)).collect();
    for_each_item(count, threads, &|item| {
        let result = work(item);
        *slots[item].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    });
    let taken = |slot: Mutex<Option<T>>| slot.into_inner().unwrap_or_else(PoisonError::into_inner);
    slots.into_iter().filter_map(taken).collect()
}

/// The threads of all maps, compiled once: only what a map does with an item has its own code.
fn for_each_item(count: usize, threads: usize, work: &(dyn Fn(usize) + Sync)) {
    let next = AtomicUsize::new(0);
    let run = || {
        loop {
            let item = next.fetch_add(1, Ordering::Relaxed);
            if item >= count {
                return;
            }
            cancel::check();
            work(item);
        }
    };
    let request = cancel::own();
    std::thread::scope(|scope| {
        // The thread that asks works, too; where the system has no more threads, it works alone.
        let start = |_| {
            let request = request.clone();
            // Counted before it runs: what makes room for it has to know of it first.
            let helping = Helping::new();
            let work = move || {
                let _helping = helping;
                cancel::under(request, run);
            };
            std::thread::Builder::new().spawn_scoped(scope, work).ok()
        };
        let handles: Vec<_> = (1..threads.min(count)).map_while(start).collect();
        run();
        for handle in handles {
            if let Err(panic) = handle.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
}

/// A thread of a map, counted until it ends, by unwinding too.
struct Helping;

impl Helping {
    fn new() -> Helping {
        HELPING.fetch_add(1, Ordering::Relaxed);
        Helping
    }
}

impl Drop for Helping {
    fn drop(&mut self) {
        HELPING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Runs `work` on pieces of `size` places of `out`, each with its number. Every thread has a state of its
/// own, made by `start`; the pieces do not depend on the number of threads.
pub fn parallel_chunks<T: Send, S: Send>(
    out: &mut [T],
    size: usize,
    threads: usize,
    start: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize, &mut [T]) + Sync,
) {
    let pieces: Vec<Mutex<&mut [T]>> = out.chunks_mut(size).map(Mutex::new).collect();
    let states = Mutex::new(Vec::new());
    let states = || states.lock().unwrap_or_else(PoisonError::into_inner);
    for_each_item(pieces.len(), threads, &|item| {
        let free = states().pop();
        let mut state = free.unwrap_or_else(&start);
        work(&mut state, item, &mut pieces[item].lock().unwrap_or_else(PoisonError::into_inner));
        states().push(state);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_on_threads_keeps_its_order() {
        let squares = parallel_map(1000, 7, |i| i * i);
        assert_eq!(squares, (0..1000).map(|i| i * i).collect::<Vec<_>>());
        assert!(parallel_map(0, 3, |i| i).is_empty());
    }

    #[test]
    fn pieces_are_filled_where_they_stand() {
        for (len, threads) in [(0, 2), (1, 1), (999, 1), (1000, 3), (1001, 8)] {
            let mut out = vec![0; len];
            parallel_chunks(
                &mut out,
                10,
                threads,
                || 1,
                |one, number, piece| {
                    piece.iter_mut().zip(10 * number..).for_each(|(place, i)| *place = i + *one);
                },
            );
            assert_eq!(out, (1..=len).collect::<Vec<_>>());
        }
    }
}
