// corrected: the flag is set before the thread is unparked
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static DONE: AtomicBool = AtomicBool::new(false);

fn main() {
    let waiter = thread::spawn(|| {
        while !DONE.load(Ordering::Acquire) {
            thread::park();
        }
    });
    DONE.store(true, Ordering::Release);
    waiter.thread().unpark();
    waiter.join().unwrap();
}
