// Twenty clients each reserve a part of a common quota before they upload.
// bug: the reserved amount is loaded and stored in two steps, so the reservation of another client may be lost
//@ expect: atomicity-violation|panic
//@ also: atomicity-violation
//@ consequence: panic
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const CLIENTS: usize = 20;

static RESERVED: AtomicUsize = AtomicUsize::new(0);

fn reserve(amount: usize) {
    let reserved = RESERVED.load(Ordering::SeqCst);
    RESERVED.store(reserved + amount, Ordering::SeqCst);
}

fn main() {
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| thread::spawn(move || reserve(client + 1)))
        .collect();
    for client in clients {
        client.join().unwrap();
    }
    let total = CLIENTS * (CLIENTS + 1) / 2;
    assert_eq!(RESERVED.load(Ordering::SeqCst), total);
}
