// Twenty clients each reserve a part of a common quota before they upload.
//@ none
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const CLIENTS: usize = 20;

static RESERVED: AtomicUsize = AtomicUsize::new(0);

fn reserve(amount: usize) {
    RESERVED.fetch_add(amount, Ordering::SeqCst);
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
