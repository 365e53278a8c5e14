// A flag that is stored and loaded relaxed: every run reads what was published, though nothing orders it.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

struct Slot(UnsafeCell<u32>);
unsafe impl Sync for Slot {}

static PAYLOAD: Slot = Slot(UnsafeCell::new(0));
static READY: AtomicBool = AtomicBool::new(false);

fn publish() {
    unsafe { *PAYLOAD.0.get() = 42 }; // @write
    READY.store(true, Ordering::Relaxed);
}

fn main() {
    let publisher = thread::spawn(publish);
    while !READY.load(Ordering::Relaxed) {
        std::hint::spin_loop();
    }
    let value = unsafe { *PAYLOAD.0.get() }; // @read
    assert_eq!(value, 42);
    publisher.join().unwrap();
    println!("{value}");
}
