// A request waits for its one answer in a cell; a flag says that the answer is there.
// bug: the flag is stored and loaded relaxed, which does not hand the answer over
//@ expect: data-race answer take
//@ consequence: none|panic
use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

struct Answer {
    is_there: AtomicBool,
    status: UnsafeCell<u16>,
}

// SAFETY: the status is written once, before the flag is set.
unsafe impl Sync for Answer {}

fn send(answer: &Answer) {
    // SAFETY: nobody reads before the flag is set.
    unsafe { *answer.status.get() = 200 }; // @answer
    answer.is_there.store(true, Ordering::Relaxed);
}

fn wait(answer: &Answer) -> u16 {
    while !answer.is_there.load(Ordering::Relaxed) {
        thread::yield_now();
    }
    // SAFETY: the flag is set.
    unsafe { *answer.status.get() } // @take
}

fn main() {
    let answer = Arc::new(Answer {
        is_there: AtomicBool::new(false),
        status: UnsafeCell::new(0),
    });
    let server = thread::spawn({
        let answer = Arc::clone(&answer);
        move || send(&answer)
    });
    assert_eq!(wait(&answer), 200);
    server.join().unwrap();
}
