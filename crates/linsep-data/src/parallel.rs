//! Independent pieces of work on several threads, results in order.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Runs `work` on 0..count and returns the results in order, whatever the number of threads.
pub fn parallel_map<T: Send>(
    count: usize,
    threads: usize,
    work: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    if threads.min(count) <= 1 {
        return (0..count).map(work).collect();
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
            work(item);
        }
    };
    std::thread::scope(|scope| {
        // The thread that asks works, too.
        let handles: Vec<_> = (1..threads.min(count)).map(|_| scope.spawn(run)).collect();
        run();
        for handle in handles {
            if let Err(panic) = handle.join() {
                std::panic::resume_unwind(panic);
            }
        }
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
}
