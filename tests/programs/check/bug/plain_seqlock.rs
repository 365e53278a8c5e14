//@ expect: data-race write read
//@ expect: data-race write2 read2

// A sequence lock over plain data: the reader discards what it read while the writer wrote, but it has read it.

use std::sync::atomic::{AtomicU32, Ordering, fence};
use std::thread;
use std::cell::UnsafeCell;

struct Slot(UnsafeCell<u32>);
unsafe impl Sync for Slot {}

static SEQUENCE: AtomicU32 = AtomicU32::new(0);
static FIRST: Slot = Slot(UnsafeCell::new(0));
static SECOND: Slot = Slot(UnsafeCell::new(0));

fn write_pair(value: u32) {
    let before = SEQUENCE.load(Ordering::Relaxed);
    SEQUENCE.store(before + 1, Ordering::Relaxed);
    fence(Ordering::Release);
    unsafe { *FIRST.0.get() = value }; // @write
    unsafe { *SECOND.0.get() = value }; // @write2
    SEQUENCE.store(before + 2, Ordering::Release);
}

fn read_pair() {
    let before = SEQUENCE.load(Ordering::Acquire);
    let one = unsafe { *FIRST.0.get() }; // @read
    let two = unsafe { *SECOND.0.get() }; // @read2
    fence(Ordering::Acquire);
    let after = SEQUENCE.load(Ordering::Relaxed);
    assert!(before != after || before % 2 == 1 || one == two);
}

fn main() {
    let reader = thread::spawn(read_pair);
    let writer = thread::spawn(|| write_pair(7));
    reader.join().unwrap();
    writer.join().unwrap();
}
