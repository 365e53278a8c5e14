//! The same in Rust, whose standard library adds some of its own.

use std::sync::atomic::{AtomicU32, Ordering};

static SHARED: AtomicU32 = AtomicU32::new(0);

fn main() {
    let worker = std::thread::spawn(|| SHARED.fetch_add(1, Ordering::SeqCst));
    assert_eq!(worker.join().expect("no panic"), 0);
}
