// A producer files events; if it finds the queue closing, it sends what it has through the last sender instead.
// bug: the closer takes the sender away before it says that the queue is closing, and the producer counts on it
//@ expect: panic
//@ also: atomicity-violation
//@ also: atomic-set-violation
//@ consequence: panic
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;

static IS_CLOSING: AtomicBool = AtomicBool::new(false);
static LAST: Mutex<Option<Sender<u32>>> = Mutex::new(None);
static EVENTS: Mutex<Vec<u32>> = Mutex::new(Vec::new());

fn file(event: u32) {
    if !IS_CLOSING.load(Ordering::SeqCst) {
        EVENTS.lock().unwrap().push(event);
        return;
    }
    let last = LAST.lock().unwrap();
    last.as_ref()
        .expect("a sender is left")
        .send(event)
        .unwrap();
}

fn close() {
    drop(LAST.lock().unwrap().take());
    IS_CLOSING.store(true, Ordering::SeqCst);
}

fn main() {
    let (sender, receiver) = mpsc::channel();
    *LAST.lock().unwrap() = Some(sender);
    let producer = thread::spawn(|| file(1));
    let closer = thread::spawn(close);
    producer.join().unwrap();
    closer.join().unwrap();
    let drained = receiver.iter().count() + EVENTS.lock().unwrap().len();
    assert!(drained <= 1);
}
