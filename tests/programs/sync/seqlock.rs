// exercises: a sequence lock: a writer that never waits, readers that retry until they saw an even, unchanged sequence
use std::hint::spin_loop;
use std::sync::atomic::{fence, AtomicU32, Ordering};
use std::thread;

#[derive(Default)]
struct SeqLock {
    sequence: AtomicU32,
    left: AtomicU32,
    right: AtomicU32,
}

impl SeqLock {
    fn write(&self, value: u32) {
        let before = self.sequence.load(Ordering::Relaxed);
        self.sequence.store(before + 1, Ordering::Relaxed);
        fence(Ordering::Release);
        self.left.store(value, Ordering::Relaxed);
        self.right.store(value * 3, Ordering::Relaxed);
        self.sequence.store(before + 2, Ordering::Release);
    }

    fn read(&self) -> (u32, u32) {
        loop {
            let before = self.sequence.load(Ordering::Acquire);
            let pair = (
                self.left.load(Ordering::Relaxed),
                self.right.load(Ordering::Relaxed),
            );
            fence(Ordering::Acquire);
            if before % 2 == 0 && self.sequence.load(Ordering::Relaxed) == before {
                return pair;
            }
            spin_loop();
        }
    }
}

fn main() {
    let lock = SeqLock::default();
    thread::scope(|scope| {
        scope.spawn(|| (1..=8).for_each(|value| lock.write(value)));
        for _ in 0..2 {
            scope.spawn(|| {
                let mut last = 0;
                for _ in 0..6 {
                    let (left, right) = lock.read();
                    assert_eq!(right, left * 3);
                    assert!(left >= last);
                    last = left;
                }
            });
        }
    });
    assert_eq!(lock.read(), (8, 24));
}
