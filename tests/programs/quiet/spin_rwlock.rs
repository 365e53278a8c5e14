// A read-write lock in one word: a count of readers, a bit for the writer and a bit for a reader that may become the
// writer. Waiting loops count, and give the processor away.
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::thread;

const WRITER: usize = 1;
const UPGRADER: usize = 2;
const READER: usize = 4;

struct RwSpin<T> {
    state: AtomicUsize,
    value: UnsafeCell<T>,
    waits: AtomicU32,
}

// SAFETY: the state lets in either one writer or any number of readers.
unsafe impl<T: Send + Sync> Sync for RwSpin<T> {}

impl<T> RwSpin<T> {
    fn new(value: T) -> Self {
        Self { state: AtomicUsize::new(0), value: UnsafeCell::new(value), waits: AtomicU32::new(0) }
    }

    fn pause(&self) {
        self.waits.fetch_add(1, Ordering::Relaxed);
        thread::yield_now();
    }

    fn read<R>(&self, look: impl FnOnce(&T) -> R) -> R {
        while self.state.fetch_add(READER, Ordering::Acquire) & WRITER != 0 {
            self.state.fetch_sub(READER, Ordering::Relaxed);
            self.pause();
        }
        // SAFETY: counted, and no writer was in.
        let result = look(unsafe { &*self.value.get() });
        self.state.fetch_sub(READER, Ordering::Release);
        result
    }

    fn write<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        while self.state.compare_exchange_weak(0, WRITER, Ordering::Acquire, Ordering::Relaxed).is_err() {
            self.pause();
        }
        // SAFETY: the state was free of readers and writers.
        let result = change(unsafe { &mut *self.value.get() });
        // Readers may have added themselves for a moment: their counts stay.
        self.state.fetch_and(!WRITER, Ordering::Release);
        result
    }

    /// Reads, and writes what the reading asks for with nothing in between.
    fn update(&self, look: impl FnOnce(&T) -> Option<T>) -> bool {
        loop {
            let state = self.state.load(Ordering::Relaxed);
            let is_free = state & (WRITER | UPGRADER) == 0;
            let claimed = || {
                self.state.compare_exchange_weak(state, state | UPGRADER, Ordering::Acquire, Ordering::Relaxed)
            };
            if is_free && claimed().is_ok() {
                break;
            }
            self.pause();
        }
        // SAFETY: no writer is in, and none comes in while the bit is set.
        let change = look(unsafe { &*self.value.get() });
        let is_changed = change.is_some();
        if let Some(value) = change {
            while self
                .state
                .compare_exchange_weak(UPGRADER, UPGRADER | WRITER, Ordering::Acquire, Ordering::Relaxed)
                .is_err()
            {
                self.pause();
            }
            // SAFETY: all readers have gone.
            unsafe { *self.value.get() = value };
            self.state.fetch_and(!(UPGRADER | WRITER), Ordering::Release);
        } else {
            self.state.fetch_and(!UPGRADER, Ordering::Release);
        }
        is_changed
    }
}

#[derive(Clone)]
struct Range {
    low: u32,
    high: u32,
}

fn main() {
    let range = RwSpin::new(Range { low: 10, high: 20 });
    let updates = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..3 {
                    let width = range.read(|it| it.high - it.low);
                    assert_eq!(width, 10);
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..2 {
                range.write(|it| {
                    it.low += 1;
                    it.high += 1;
                });
            }
        });
        scope.spawn(|| {
            for _ in 0..2 {
                let is_changed =
                    range.update(|it| (it.low % 2 == 0).then(|| Range { low: it.low + 2, high: it.high + 2 }));
                updates.fetch_add(is_changed.into(), Ordering::Relaxed);
            }
        });
    });
    let updates = updates.into_inner();
    let end = range.value.into_inner();
    assert_eq!((end.low, end.high), (12 + 2 * updates, 22 + 2 * updates));
    println!("{updates} updates, {} waits", range.waits.into_inner());
}
