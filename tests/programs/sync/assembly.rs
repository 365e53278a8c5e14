// exercises: atomics in asm!, in Intel's syntax and in AT&T's: lock inc, xadd, xchg, cmpxchg, mov, on pointers and on a static
use std::arch::asm;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

const THREADS: u32 = 3;
const ROUNDS: u32 = 4;

#[repr(transparent)]
struct Word(UnsafeCell<u32>);

// SAFETY: only assembly accesses it, atomically.
unsafe impl Sync for Word {}

impl Word {
    const fn new() -> Word {
        Word(UnsafeCell::new(0))
    }

    fn increment(&self) {
        unsafe { asm!("lock inc dword ptr [{0}]", in(reg) self.0.get()) };
    }

    fn fetch_add(&self, value: u32) -> u32 {
        let mut value = value;
        unsafe { asm!("lock xadd dword ptr [{0}], {1:e}", in(reg) self.0.get(), inout(reg) value) };
        value
    }

    fn swap(&self, value: u32) -> u32 {
        let mut value = value;
        unsafe { asm!("xchg dword ptr [{0}], {1:e}", in(reg) self.0.get(), inout(reg) value) };
        value
    }

    fn compare_exchange(&self, old: u32, new: u32) -> u32 {
        let found;
        unsafe {
            asm!("lock cmpxchg [{0}], {1:e}", in(reg) self.0.get(), in(reg) new, inout("eax") old => found);
        }
        found
    }

    fn load(&self) -> u32 {
        let value: u32;
        unsafe { asm!("mov {0:e}, dword ptr [{1}]", out(reg) value, in(reg) self.0.get()) };
        value
    }

    fn store(&self, value: u32) {
        unsafe {
            asm!("movl {1:e}, ({0})", in(reg) self.0.get(), in(reg) value, options(att_syntax));
        }
    }
}

struct Plain(UnsafeCell<u32>);

// SAFETY: accessed under LOCK, and after the threads have ended.
unsafe impl Sync for Plain {}

static ARRIVED: Word = Word::new();
static GO: Word = Word::new();
static LIMIT: AtomicU32 = AtomicU32::new(0);
static LOCK: Word = Word::new();
static TICKETS: Word = Word::new();
static TOTAL: Word = Word::new();
static STATIC: Word = Word::new();
static READY: Word = Word::new();
static EXCLUSIVE: Plain = Plain(UnsafeCell::new(0));

/// The first thread lets the others go once all are there.
fn meet(me: u32) {
    ARRIVED.increment();
    while ARRIVED.load() < LIMIT.load(Ordering::Relaxed) {}
    if me == 0 {
        GO.store(1);
    }
    while GO.load() == 0 {}
}

fn work(me: u32) {
    meet(me);
    for _ in 0..ROUNDS {
        assert!(TICKETS.fetch_add(1) < THREADS * ROUNDS);
        while LOCK.swap(1) != 0 {
            unsafe { asm!("pause") };
        }
        // SAFETY: the lock is held.
        unsafe { *EXCLUSIVE.0.get() += 1 };
        LOCK.store(0);
        loop {
            let old = TOTAL.load();
            if TOTAL.compare_exchange(old, old + 5) == old {
                break;
            }
        }
        unsafe { asm!("lock inc dword ptr [rip + {}]", sym STATIC) };
    }
    while READY.load() == 0 {}
}

fn main() {
    LIMIT.store(THREADS, Ordering::Relaxed);
    let threads: Vec<_> = (0..THREADS)
        .map(|me| thread::spawn(move || work(me)))
        .collect();
    READY.store(1);
    for thread in threads {
        thread.join().unwrap();
    }
    let all = THREADS * ROUNDS;
    assert_eq!(TICKETS.load(), all);
    assert_eq!(unsafe { *EXCLUSIVE.0.get() }, all);
    assert_eq!(TOTAL.load(), 5 * all);
    assert_eq!(STATIC.load(), all);
}
