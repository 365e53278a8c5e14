// exercises: a lock that is taken by compare-exchange in a loop, which counts the attempts of all threads in one place
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

const ROUNDS: usize = 50;

static ATTEMPTS: AtomicUsize = AtomicUsize::new(0);
static LOCKED: AtomicBool = AtomicBool::new(false);

struct Guarded(UnsafeCell<usize>);

// `LOCKED` guards it.
unsafe impl Sync for Guarded {}

static TOTAL: Guarded = Guarded(UnsafeCell::new(0));

fn add() {
    for _ in 0..ROUNDS {
        let taken = || LOCKED.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed);
        while taken().is_err() {
            let attempts = ATTEMPTS.load(Ordering::Relaxed);
            ATTEMPTS.store(attempts + 1, Ordering::Relaxed);
        }
        unsafe { *TOTAL.0.get() += 1 };
        // Another thread that waits for the lock is likely to find it taken.
        thread::yield_now();
        LOCKED.store(false, Ordering::Release);
    }
}

fn main() {
    let threads: Vec<_> = (0..3).map(|_| thread::spawn(add)).collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(unsafe { *TOTAL.0.get() }, 3 * ROUNDS);
}
