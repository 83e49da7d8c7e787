//! Independent pieces of work on several threads, results in order.

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
