//! Channels with select, a work-stealing deque, epoch-based reclamation, scoped threads, a wait group.

use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam::channel::{bounded, select, tick, unbounded};
use crossbeam::deque::{Injector, Steal, Worker};
use crossbeam::epoch::{self, Atomic, Owned};
use crossbeam::sync::WaitGroup;

const TASKS: u64 = 30;

fn work(injector: &Injector<u64>, total: &AtomicU64) {
    let own = Worker::new_fifo();
    loop {
        let task = own
            .pop()
            .map_or_else(|| injector.steal_batch_and_pop(&own), Steal::Success);
        match task {
            Steal::Success(task) => _ = total.fetch_add(task, Ordering::Relaxed),
            Steal::Retry => std::thread::yield_now(),
            Steal::Empty => return,
        }
    }
}

/// Replaces a shared value many times; whoever reads it sees one of the values.
fn replace(shared: &Atomic<u64>, values: std::ops::Range<u64>) {
    for value in values {
        let guard = epoch::pin();
        let old = shared.swap(Owned::new(value), Ordering::AcqRel, &guard);
        // SAFETY: the old value was just made unreachable, and readers are pinned.
        unsafe {
            assert!(*old.deref() < TASKS);
            guard.defer_destroy(old);
        }
    }
}

fn main() {
    let injector = Injector::new();
    (0..TASKS).for_each(|task| injector.push(task));
    let (total, shared) = (AtomicU64::new(0), Atomic::new(0));
    crossbeam::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|_| work(&injector, &total));
        }
        scope.spawn(|_| replace(&shared, 1..TASKS / 2));
        scope.spawn(|_| replace(&shared, TASKS / 2..TASKS));
    })
    .unwrap();
    assert_eq!(total.into_inner(), TASKS * (TASKS - 1) / 2);

    let (numbers, received) = bounded(1);
    let (words, spoken) = unbounded();
    let group = WaitGroup::new();
    for _ in 0..2 {
        let (numbers, words, group) = (numbers.clone(), words.clone(), group.clone());
        std::thread::spawn(move || {
            for number in 0..5 {
                numbers.send(number).unwrap();
                words.send("word").unwrap();
            }
            drop(group);
        });
    }
    drop((numbers, words));
    let beat = tick(std::time::Duration::from_millis(1));
    let (mut sum, mut count) = (0, 0);
    while count < 20 {
        select! {
            recv(received) -> number => if let Ok(number) = number { sum += number; count += 1 },
            recv(spoken) -> word => if word.is_ok() { count += 1 },
            recv(beat) -> _ => {}
        }
    }
    group.wait();
    assert_eq!(sum, 20);
}
