//! Independent pieces of work on several threads, results in order.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs `work` on 0..count and returns the results in order, whatever the number of threads.
pub fn parallel_map<T: Send>(
    count: usize,
    threads: usize,
    work: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let workers = threads.min(count);
    if workers <= 1 {
        return (0..count).map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let mut results: Vec<(usize, T)> = std::thread::scope(|scope| {
        let run = || {
            let mut mine = Vec::new();
            loop {
                let item = next.fetch_add(1, Ordering::Relaxed);
                if item >= count {
                    return mine;
                }
                mine.push((item, work(item)));
            }
        };
        // The thread that asks works, too.
        let handles: Vec<_> = (1..workers).map(|_| scope.spawn(run)).collect();
        let mut results = run();
        for handle in handles {
            match handle.join() {
                Ok(more) => results.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    });
    results.sort_unstable_by_key(|(item, _)| *item);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Runs `work` on pieces of `size` places of `out`, each with its number. Every thread has a state of its
/// own, made by `start`; the pieces do not depend on the number of threads.
pub fn parallel_chunks<T: Send, S>(
    out: &mut [T],
    size: usize,
    threads: usize,
    start: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize, &mut [T]) + Sync,
) {
    let workers = threads.min(out.len().div_ceil(size));
    let pieces = Mutex::new(out.chunks_mut(size).enumerate());
    let run = || {
        let mut state = start();
        loop {
            // A poisoned lock means that another thread panicked; the scope reports that.
            let Some((number, piece)) = pieces.lock().ok().and_then(|mut rest| rest.next()) else {
                return;
            };
            work(&mut state, number, piece);
        }
    };
    std::thread::scope(|scope| {
        // The thread that asks works, too.
        for _ in 1..workers {
            scope.spawn(run);
        }
        run();
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
