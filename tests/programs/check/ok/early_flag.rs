//@ none
//@ unconfirmed: 0

// The flag is set when the data is there.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

struct Slot(UnsafeCell<u32>);
unsafe impl Sync for Slot {}

static PAYLOAD: Slot = Slot(UnsafeCell::new(0));
static READY: AtomicBool = AtomicBool::new(false);

fn publish() {
    unsafe { *PAYLOAD.0.get() = 42 };
    READY.store(true, Ordering::Release);
}

fn consume() {
    if READY.load(Ordering::Acquire) {
        let value = unsafe { *PAYLOAD.0.get() }; // @read
        println!("{value}");
    }
}

fn main() {
    let writer = thread::spawn(publish);
    let reader = thread::spawn(consume);
    writer.join().unwrap();
    reader.join().unwrap();
}
