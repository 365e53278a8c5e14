// Each request gets the next number of a counter.
// bug: the counter is a `static mut` that all threads raise without a lock
//@ expect: data-race next next
//@ also: data-race next read
//@ also: atomicity-violation
//@ consequence: panic|none
use std::thread;

static mut NEXT: u32 = 1;

fn next_id() -> u32 {
    // SAFETY: requests are expected to come from one thread.
    unsafe {
        NEXT += 1; // @next
        NEXT - 1 // @read
    }
}

fn main() {
    let requests: Vec<_> = (0..3).map(|_| thread::spawn(next_id)).collect();
    let mut ids: Vec<_> = requests.into_iter().map(|it| it.join().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3]);
}
