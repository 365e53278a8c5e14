// A hang: the request may be taken back before the worker has seen it, which then waits for ever.
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static REQUESTED: AtomicBool = AtomicBool::new(false);

fn serve() {
    while !REQUESTED.load(Ordering::Acquire) {
        spin_loop();
    }
}

fn main() {
    let worker = thread::spawn(serve);
    REQUESTED.store(true, Ordering::Release);
    thread::yield_now();
    REQUESTED.store(false, Ordering::Release);
    worker.join().unwrap();
}
