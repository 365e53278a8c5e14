// bug: the thread is unparked before its flag is set, so it may use up the token, see no flag and park for ever
// expect: deadlock
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static DONE: AtomicBool = AtomicBool::new(false);

fn main() {
    let waiter = thread::spawn(|| {
        while !DONE.load(Ordering::Acquire) {
            thread::park();
        }
    });
    waiter.thread().unpark();
    DONE.store(true, Ordering::Release);
    waiter.join().unwrap();
}
