// A sensor's writer publishes pairs of values with a sequence number; readers copy the pair without a lock.
// bug: the reader looks at the number only before it copies, so it may copy half of an old pair and half of a new
// one
//@ expect: data-race write_x read_x
//@ expect: data-race write_y read_y
//@ also: atomic-set-violation
//@ consequence: panic
use std::cell::UnsafeCell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

struct Position {
    sequence: AtomicU32,
    writing: Mutex<u32>,
    x: UnsafeCell<i32>,
    y: UnsafeCell<i32>,
}

// SAFETY: meant to be shared: the sequence number tells readers when to keep off.
unsafe impl Sync for Position {}

static POSITION: Position = Position {
    sequence: AtomicU32::new(0),
    writing: Mutex::new(0),
    x: UnsafeCell::new(0),
    y: UnsafeCell::new(0),
};

fn publish(x: i32, y: i32) {
    let mut written = POSITION.writing.lock().unwrap();
    *written += 1;
    POSITION.sequence.fetch_add(1, Ordering::SeqCst);
    // SAFETY: there is one writer at a time.
    unsafe {
        *POSITION.x.get() = x; // @write_x
        *POSITION.y.get() = y; // @write_y
    }
    POSITION.sequence.fetch_add(1, Ordering::SeqCst);
}

fn look() -> (i32, i32) {
    while POSITION.sequence.load(Ordering::SeqCst) % 2 != 0 {
        thread::yield_now();
    }
    // SAFETY: nobody is writing.
    unsafe {
        let x = *POSITION.x.get(); // @read_x
        let y = *POSITION.y.get(); // @read_y
        (x, y)
    }
}

fn main() {
    let sensor = thread::spawn(|| publish(3, -3));
    let (x, y) = look();
    assert_eq!(x + y, 0, "half of a pair");
    sensor.join().unwrap();
}
