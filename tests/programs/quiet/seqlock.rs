// A sequence lock over words that are atomics: a writer behind a mutex, readers that read again if the sequence moved,
// and a reader that gives up after some attempts and takes the mutex.
use std::sync::atomic::{fence, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::Mutex;
use std::thread;

#[derive(Clone, Copy, PartialEq, Debug)]
struct Quote {
    bid: u64,
    ask: u64,
    time: u64,
}

struct SeqLock {
    sequence: AtomicUsize,
    words: [AtomicU64; 3],
    writer: Mutex<()>,
    retries: AtomicU32,
}

impl SeqLock {
    fn new(quote: Quote) -> Self {
        Self {
            sequence: AtomicUsize::new(0),
            words: [quote.bid, quote.ask, quote.time].map(AtomicU64::new),
            writer: Mutex::new(()),
            retries: AtomicU32::new(0),
        }
    }

    fn load(&self) -> Quote {
        let [bid, ask, time] = [0, 1, 2].map(|i| self.words[i].load(Ordering::Relaxed));
        Quote { bid, ask, time }
    }

    fn update(&self, change: impl FnOnce(Quote) -> Quote) {
        let _held = self.writer.lock().unwrap();
        let quote = change(self.load());
        let sequence = self.sequence.load(Ordering::Relaxed);
        self.sequence.store(sequence + 1, Ordering::Relaxed);
        // A reader that sees one of the words sees the odd sequence, too.
        fence(Ordering::Release);
        for (word, value) in self.words.iter().zip([quote.bid, quote.ask, quote.time]) {
            word.store(value, Ordering::Relaxed);
        }
        self.sequence.store(sequence + 2, Ordering::Release);
    }

    fn try_read(&self) -> Option<Quote> {
        let before = self.sequence.load(Ordering::Acquire);
        let quote = self.load();
        fence(Ordering::Acquire);
        let is_whole = before % 2 == 0 && self.sequence.load(Ordering::Relaxed) == before;
        is_whole.then_some(quote)
    }

    fn read(&self, patience: u32) -> Quote {
        for _ in 0..patience {
            if let Some(quote) = self.try_read() {
                return quote;
            }
            self.retries.fetch_add(1, Ordering::Relaxed);
            thread::yield_now();
        }
        let _held = self.writer.lock().unwrap();
        self.load()
    }
}

fn main() {
    let lock = SeqLock::new(Quote { bid: 100, ask: 102, time: 0 });
    thread::scope(|scope| {
        for step in [1, 3] {
            let lock = &lock;
            scope.spawn(move || {
                for _ in 0..3 {
                    lock.update(|it| Quote { bid: it.bid + step, ask: it.ask + step, time: it.time + 1 });
                }
            });
        }
        for patience in [u32::MAX, 2] {
            let lock = &lock;
            scope.spawn(move || {
                let mut last = 0;
                for _ in 0..3 {
                    let quote = lock.read(patience);
                    assert_eq!(quote.ask, quote.bid + 2);
                    assert!(quote.time >= last);
                    last = quote.time;
                }
            });
        }
    });
    assert_eq!(lock.try_read(), Some(Quote { bid: 112, ask: 114, time: 6 }));
    println!("{} retries", lock.retries.into_inner());
}
