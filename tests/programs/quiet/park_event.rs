// Threads wait for one another by park and unpark: a one-shot cell whose reader registers itself, and a baton that goes
// round. Permits that come early, late or twice change nothing.
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, Thread};

const EMPTY: u8 = 0;
const WAITING: u8 = 1;
const FULL: u8 = 2;

struct OneShot<T> {
    state: AtomicU8,
    value: UnsafeCell<Option<T>>,
    reader: UnsafeCell<Option<Thread>>,
}

// SAFETY: the state says which thread may access which cell.
unsafe impl<T: Send> Sync for OneShot<T> {}

impl<T> OneShot<T> {
    fn new() -> Self {
        Self { state: AtomicU8::new(EMPTY), value: UnsafeCell::new(None), reader: UnsafeCell::new(None) }
    }

    fn send(&self, value: T) {
        // SAFETY: only the one sender writes the value, and before it is full nothing reads it.
        unsafe { *self.value.get() = Some(value) };
        if self.state.swap(FULL, Ordering::AcqRel) == WAITING {
            // SAFETY: the reader wrote this before it said that it waits, and leaves it alone now.
            let reader = unsafe { (*self.reader.get()).take() };
            reader.expect("a waiting reader has registered").unpark();
        }
    }

    fn receive(&self) -> T {
        if self.state.load(Ordering::Acquire) == EMPTY {
            // SAFETY: the sender looks at it only if the state says that the reader waits.
            unsafe { *self.reader.get() = Some(thread::current()) };
            let registered =
                self.state.compare_exchange(EMPTY, WAITING, Ordering::AcqRel, Ordering::Acquire);
            while registered.is_ok() && self.state.load(Ordering::Acquire) != FULL {
                thread::park();
            }
        }
        // SAFETY: it is full: the sender is done with the value.
        unsafe { (*self.value.get()).take() }.expect("a full cell has a value")
    }
}

struct Baton {
    turn: AtomicU32,
    runners: [OnceLock<Thread>; 3],
    laps: AtomicPtr<Vec<u32>>,
}

fn run(baton: &Baton, own: u32) {
    baton.runners[own as usize].set(thread::current()).unwrap();
    for lap in 0..2 {
        while baton.turn.load(Ordering::Acquire) % 3 != own {
            thread::park();
        }
        let laps = baton.laps.load(Ordering::Relaxed);
        // SAFETY: the thread whose turn it is accesses the list alone.
        unsafe { (*laps).push(lap * 3 + own) };
        baton.turn.fetch_add(1, Ordering::Release);
        if let Some(next) = baton.runners[(own as usize + 1) % 3].get() {
            // A thread that has not registered yet will see its turn when it looks first.
            next.unpark();
        }
    }
}

fn main() {
    let cell = Arc::new(OneShot::new());
    let sender = cell.clone();
    let sending = thread::spawn(move || sender.send(String::from("arrived")));
    assert_eq!(cell.receive(), "arrived");
    sending.join().unwrap();

    let mut laps = Vec::new();
    let baton = Baton {
        turn: AtomicU32::new(0),
        runners: Default::default(),
        laps: AtomicPtr::new(&mut laps),
    };
    thread::scope(|scope| {
        for own in 0..3 {
            let baton = &baton;
            scope.spawn(move || run(baton, own));
        }
    });
    assert_eq!(laps, [0, 1, 2, 3, 4, 5]);
    println!("{laps:?}");
}
