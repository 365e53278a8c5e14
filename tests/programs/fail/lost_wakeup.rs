// bug: the flag is read before the lock is taken, so a notification between the two is lost
// expect: deadlock
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};
use std::thread;

static READY: AtomicBool = AtomicBool::new(false);
static LOCK: Mutex<()> = Mutex::new(());
static CHANGED: Condvar = Condvar::new();

fn wait_until_ready() {
    if !READY.load(Ordering::SeqCst) {
        let guard = LOCK.lock().unwrap();
        let _guard = CHANGED.wait(guard).unwrap();
    }
}

fn main() {
    let waiter = thread::spawn(wait_until_ready);
    READY.store(true, Ordering::SeqCst);
    CHANGED.notify_one();
    waiter.join().unwrap();
}
