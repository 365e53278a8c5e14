// Each request gets the next number of a counter.
//@ none
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

static NEXT: AtomicU32 = AtomicU32::new(1);

fn next_id() -> u32 {
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn main() {
    let requests: Vec<_> = (0..3).map(|_| thread::spawn(next_id)).collect();
    let mut ids: Vec<_> = requests.into_iter().map(|it| it.join().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3]);
}
