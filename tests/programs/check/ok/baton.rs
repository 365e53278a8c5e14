// Two runners take turns at a log that has no lock of its own: it belongs to whoever has the baton, and the
// condition variable hands it over.
//@ none
use std::cell::UnsafeCell;
use std::sync::{Condvar, Mutex};
use std::thread;

const ROUNDS: u32 = 2;

struct Relay {
    turn: Mutex<usize>,
    passed: Condvar,
    log: UnsafeCell<[u32; 2]>,
}

// SAFETY: the log belongs to the thread whose turn it is.
unsafe impl Sync for Relay {}

static RELAY: Relay = Relay {
    turn: Mutex::new(0),
    passed: Condvar::new(),
    log: UnsafeCell::new([0; 2]),
};

fn wait_for_turn(runner: usize) {
    let mut turn = RELAY.turn.lock().unwrap();
    while *turn != runner {
        turn = RELAY.passed.wait(turn).unwrap();
    }
}

fn pass_to(runner: usize) {
    *RELAY.turn.lock().unwrap() = runner;
    RELAY.passed.notify_all();
}

fn run(runner: usize) {
    let log = RELAY.log.get().cast::<u32>();
    for _ in 0..ROUNDS {
        wait_for_turn(runner);
        // SAFETY: it is this thread's turn.
        unsafe {
            *log += 1;
            *log.add(1) += 1;
        }
        pass_to(1 - runner);
    }
}

fn main() {
    let other = thread::spawn(|| run(1));
    run(0);
    other.join().unwrap();
    // SAFETY: the other thread has ended.
    let log = unsafe { *RELAY.log.get() };
    assert_eq!(log, [2 * ROUNDS; 2], "an entry was lost");
}
