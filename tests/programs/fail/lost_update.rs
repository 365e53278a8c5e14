// bug: a counter of atomics is incremented by a load and a store, so one of two updates may be lost
// expect: panic
// smallest: yes
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

static HITS: AtomicU32 = AtomicU32::new(0);

fn hit() {
    let before = HITS.load(Ordering::SeqCst);
    HITS.store(before + 1, Ordering::SeqCst);
}

fn main() {
    let other = thread::spawn(hit);
    hit();
    other.join().unwrap();
    assert_eq!(HITS.load(Ordering::SeqCst), 2, "an update was lost");
}
