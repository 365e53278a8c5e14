// A listener that finds that there were events reads the newest one out of the log.
//@ none
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

static COUNT: AtomicUsize = AtomicUsize::new(0);
static LOG: Mutex<Vec<u32>> = Mutex::new(Vec::new());

fn listen() -> u32 {
    let count = COUNT.load(Ordering::SeqCst);
    if count == 0 {
        return 0;
    }
    LOG.lock().unwrap()[count - 1]
}

fn publish(event: u32) {
    LOG.lock().unwrap().push(event);
    COUNT.fetch_add(1, Ordering::SeqCst);
}

fn main() {
    let listener = thread::spawn(listen);
    let source = thread::spawn(|| publish(5));
    let heard = listener.join().unwrap();
    source.join().unwrap();
    assert!(heard == 0 || heard == 5);
}
