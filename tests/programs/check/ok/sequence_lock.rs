// A sensor's writers publish pairs of values with a sequence number, odd while a pair is being written; readers copy
// the pair without a lock and try again if the number was odd or has changed.
//@ none
use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::thread;

struct Position {
    sequence: AtomicU32,
    writing: Mutex<u32>,
    x: AtomicI32,
    y: AtomicI32,
}

static POSITION: Position = Position {
    sequence: AtomicU32::new(0),
    writing: Mutex::new(0),
    x: AtomicI32::new(0),
    y: AtomicI32::new(0),
};

fn publish(x: i32, y: i32) {
    let mut written = POSITION.writing.lock().unwrap();
    *written += 1;
    POSITION.sequence.fetch_add(1, Ordering::SeqCst);
    POSITION.x.store(x, Ordering::SeqCst);
    POSITION.y.store(y, Ordering::SeqCst);
    POSITION.sequence.fetch_add(1, Ordering::SeqCst);
}

fn look() -> (i32, i32) {
    loop {
        let before = POSITION.sequence.load(Ordering::SeqCst);
        let x = POSITION.x.load(Ordering::SeqCst);
        let y = POSITION.y.load(Ordering::SeqCst);
        let after = POSITION.sequence.load(Ordering::SeqCst);
        if before % 2 == 0 && before == after {
            return (x, y);
        }
        thread::yield_now();
    }
}

fn main() {
    let sensor = thread::spawn(|| publish(3, -3));
    let (x, y) = look();
    assert_eq!(x + y, 0, "half of a pair");
    sensor.join().unwrap();
}
