// exercises: a producer that pushes to a full ring again and again, and counts its attempts in memory of its own
use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const ROOM: usize = 4;
const ITEMS: u64 = 200;

struct Ring {
    slots: [UnsafeCell<u64>; ROOM],
    head: AtomicUsize,
    tail: AtomicUsize,
}

// One thread pushes and one pops; a slot belongs to either by what `head` and `tail` say.
unsafe impl Sync for Ring {}

impl Ring {
    fn try_push(&self, item: u64) -> Result<(), u64> {
        let tail = self.tail.load(Ordering::Relaxed);
        if tail - self.head.load(Ordering::Acquire) == ROOM {
            return Err(item);
        }
        unsafe { *self.slots[tail % ROOM].get() = item };
        self.tail.store(tail + 1, Ordering::Release);
        Ok(())
    }

    fn try_pop(&self) -> Option<u64> {
        let head = self.head.load(Ordering::Relaxed);
        if head == self.tail.load(Ordering::Acquire) {
            return None;
        }
        let item = unsafe { *self.slots[head % ROOM].get() };
        self.head.store(head + 1, Ordering::Release);
        Some(item)
    }
}

struct Attempts {
    pushes: Box<u64>,
    failures: Box<u64>,
}

fn main() {
    let ring = Arc::new(Ring {
        slots: std::array::from_fn(|_| UnsafeCell::new(0)),
        head: AtomicUsize::new(0),
        tail: AtomicUsize::new(0),
    });
    let full = Arc::clone(&ring);
    let producer = thread::spawn(move || {
        let mut attempts = Attempts {
            pushes: Box::new(0),
            failures: Box::new(0),
        };
        for item in 0..ITEMS {
            *attempts.pushes += 1;
            while full.try_push(item).is_err() {
                *attempts.failures += 1;
            }
        }
        assert_eq!(*attempts.pushes, ITEMS);
    });
    for expected in 0..ITEMS {
        let mut attempts = Box::new(0_u64);
        let item = loop {
            match ring.try_pop() {
                Some(item) => break item,
                None => *attempts += 1,
            }
        };
        assert_eq!(item, expected);
    }
    producer.join().unwrap();
}
