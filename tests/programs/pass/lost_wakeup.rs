// corrected: the flag is set and read under the lock, and read again after each wake-up
use std::sync::{Condvar, Mutex};
use std::thread;

static READY: Mutex<bool> = Mutex::new(false);
static CHANGED: Condvar = Condvar::new();

fn wait_until_ready() {
    let mut ready = READY.lock().unwrap();
    while !*ready {
        ready = CHANGED.wait(ready).unwrap();
    }
}

fn main() {
    let waiter = thread::spawn(wait_until_ready);
    *READY.lock().unwrap() = true;
    CHANGED.notify_one();
    waiter.join().unwrap();
}
