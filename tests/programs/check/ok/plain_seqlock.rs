//@ none
//@ unconfirmed: 0

// A sequence lock whose data is atomic: what is read meanwhile is discarded, and may be read.

use std::sync::atomic::{AtomicU32, Ordering, fence};
use std::thread;


static SEQUENCE: AtomicU32 = AtomicU32::new(0);
static FIRST: AtomicU32 = AtomicU32::new(0);
static SECOND: AtomicU32 = AtomicU32::new(0);

fn write_pair(value: u32) {
    let before = SEQUENCE.load(Ordering::Relaxed);
    SEQUENCE.store(before + 1, Ordering::Relaxed);
    fence(Ordering::Release);
    FIRST.store(value, Ordering::Relaxed); // @write
    SECOND.store(value, Ordering::Relaxed); // @write2
    SEQUENCE.store(before + 2, Ordering::Release);
}

fn read_pair() {
    let before = SEQUENCE.load(Ordering::Acquire);
    let one = FIRST.load(Ordering::Relaxed); // @read
    let two = SECOND.load(Ordering::Relaxed); // @read2
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
