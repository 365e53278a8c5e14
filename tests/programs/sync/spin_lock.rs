// exercises: hand-made locks that spin: compare_exchange with spin_loop, swap with yield, a ticket lock, Peterson's algorithm
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::thread;

const ROUNDS: u32 = 6;

static LOCKED: AtomicBool = AtomicBool::new(false);
static NEXT: AtomicU32 = AtomicU32::new(0);
static SERVING: AtomicU32 = AtomicU32::new(0);
static WANTS: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];
static TURN: AtomicUsize = AtomicUsize::new(0);
static COUNTS: [AtomicU32; 4] = [const { AtomicU32::new(0) }; 4];

/// An increment that loses updates unless a lock makes it exclusive.
fn bump(which: usize) {
    let before = COUNTS[which].load(Ordering::Relaxed);
    COUNTS[which].store(before + 1, Ordering::Relaxed);
}

fn by_compare_exchange() {
    while LOCKED
        .compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed)
        .is_err()
    {
        spin_loop();
    }
    bump(0);
    LOCKED.store(false, Ordering::Release);
}

fn by_swap() {
    while LOCKED.swap(true, Ordering::Acquire) {
        while LOCKED.load(Ordering::Relaxed) {
            thread::yield_now();
        }
    }
    bump(1);
    LOCKED.store(false, Ordering::Release);
}

fn by_ticket() {
    let ticket = NEXT.fetch_add(1, Ordering::Relaxed);
    while SERVING.load(Ordering::Acquire) != ticket {
        spin_loop();
    }
    bump(2);
    SERVING.store(ticket + 1, Ordering::Release);
}

fn by_peterson(me: usize) {
    WANTS[me].store(true, Ordering::SeqCst);
    TURN.store(1 - me, Ordering::SeqCst);
    while WANTS[1 - me].load(Ordering::SeqCst) && TURN.load(Ordering::SeqCst) == 1 - me {
        spin_loop();
    }
    bump(3);
    WANTS[me].store(false, Ordering::SeqCst);
}

fn main() {
    thread::scope(|scope| {
        for me in 0..2 {
            scope.spawn(move || {
                for _ in 0..ROUNDS {
                    by_compare_exchange();
                    by_swap();
                    by_ticket();
                    by_peterson(me);
                }
            });
        }
    });
    for count in &COUNTS {
        assert_eq!(count.load(Ordering::Relaxed), 2 * ROUNDS);
    }
}
