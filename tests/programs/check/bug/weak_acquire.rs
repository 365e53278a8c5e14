//@ expect: data-race write read

// A flag that is loaded relaxed makes nothing known of what was released.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

struct Slot(UnsafeCell<u32>);
unsafe impl Sync for Slot {}

static PAYLOAD: Slot = Slot(UnsafeCell::new(0));
static READY: AtomicBool = AtomicBool::new(false);

fn publish() {
    unsafe { *PAYLOAD.0.get() = 42 }; // @write
    READY.store(true, Ordering::Release);
}

fn consume() {
    if READY.load(Ordering::Relaxed) {
        let value = unsafe { *PAYLOAD.0.get() }; // @read
        assert_eq!(value, 42);
    }
}

fn main() {
    let writer = thread::spawn(publish);
    let reader = thread::spawn(consume);
    writer.join().unwrap();
    reader.join().unwrap();
}
