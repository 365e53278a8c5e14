//! Locks with their own parking: a bounded buffer, readers and writers, a fair hand-over, a timeout that passes.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use parking_lot::{Condvar, FairMutex, Mutex, Once, ReentrantMutex, RwLock};

const ITEMS: u32 = 20;

struct Buffer {
    items: Mutex<Vec<u32>>,
    changed: Condvar,
}

impl Buffer {
    fn put(&self, item: u32) {
        let mut items = self.items.lock();
        self.changed
            .wait_while(&mut items, |items| items.len() >= 3);
        items.push(item);
        self.changed.notify_all();
    }

    fn take(&self) -> u32 {
        let mut items = self.items.lock();
        self.changed
            .wait_while(&mut items, |items| items.is_empty());
        self.changed.notify_all();
        items.remove(0)
    }
}

fn main() {
    static STARTED: Once = Once::new();
    let buffer = Arc::new(Buffer {
        items: Mutex::new(Vec::new()),
        changed: Condvar::new(),
    });
    let log = Arc::new(RwLock::new(Vec::new()));
    let turn = Arc::new(FairMutex::new(0));
    let nested = Arc::new(ReentrantMutex::new(()));
    let consumers: Vec<_> = (0..2)
        .map(|_| {
            let (buffer, log) = (Arc::clone(&buffer), Arc::clone(&log));
            let (turn, nested) = (Arc::clone(&turn), Arc::clone(&nested));
            thread::spawn(move || {
                STARTED.call_once(|| ());
                for _ in 0..ITEMS / 2 {
                    let item = buffer.take();
                    let known = log.read().contains(&item);
                    assert!(!known);
                    log.write().push(item);
                    *turn.lock() += 1;
                    let _outer = nested.lock();
                    let _inner = nested.lock();
                }
            })
        })
        .collect();
    for item in 0..ITEMS {
        buffer.put(item);
    }
    for consumer in consumers {
        consumer.join().unwrap();
    }
    let mut seen = log.write().clone();
    seen.sort_unstable();
    assert_eq!(seen, (0..ITEMS).collect::<Vec<_>>());
    assert_eq!(*turn.lock(), ITEMS);
    let mut empty = buffer.items.lock();
    let waited = buffer.changed.wait_for(&mut empty, Duration::from_secs(60));
    assert!(waited.timed_out());
}
