// A small spin lock guards a table of counters.
// bug: the lock is given up with a relaxed store, so the next thread need not see what was written under it
//@ expect: data-race bump bump
//@ consequence: none|panic
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

struct Table {
    is_locked: AtomicBool,
    counters: UnsafeCell<[u32; 2]>,
}

// SAFETY: the counters are used under the lock only.
unsafe impl Sync for Table {}

static TABLE: Table = Table {
    is_locked: AtomicBool::new(false),
    counters: UnsafeCell::new([0; 2]),
};

fn bump(at: usize) {
    while TABLE.is_locked.swap(true, Ordering::Acquire) {
        thread::yield_now();
    }
    // SAFETY: the lock is held.
    unsafe { (*TABLE.counters.get())[at] += 1 }; // @bump
    TABLE.is_locked.store(false, Ordering::Relaxed);
}

fn main() {
    let threads = [
        thread::spawn(|| bump(0)),
        thread::spawn(|| bump(1)),
        thread::spawn(|| bump(0)),
    ];
    for thread in threads {
        thread.join().unwrap();
    }
    // SAFETY: all threads have ended.
    let counters = unsafe { *TABLE.counters.get() };
    assert_eq!(counters, [2, 1]);
}
