//! Each worker counts in a counter of its own; the main thread adds all counters up until the work is done.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use thread_local::ThreadLocal;

fn main() {
    let counters = Arc::new(ThreadLocal::<AtomicUsize>::new());
    let workers: Vec<_> = (0..3)
        .map(|_| {
            let counters = Arc::clone(&counters);
            thread::spawn(move || {
                for _ in 0..3 {
                    counters.get_or_default().fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    let sum = || {
        counters
            .iter()
            .map(|counter| counter.load(Ordering::Relaxed))
            .sum::<usize>()
    };
    while sum() < 9 {
        thread::yield_now();
    }
    for worker in workers {
        worker.join().unwrap();
    }
}
