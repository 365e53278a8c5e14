// corrected: the counter is incremented by one atomic operation
// smallest: yes
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

static HITS: AtomicU32 = AtomicU32::new(0);

fn hit() {
    HITS.fetch_add(1, Ordering::SeqCst);
}

fn main() {
    let other = thread::spawn(hit);
    hit();
    other.join().unwrap();
    assert_eq!(HITS.load(Ordering::SeqCst), 2, "an update was lost");
}
