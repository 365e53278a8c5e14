// Buffers come from a cache of each thread, which a thread-local's destructor gives back to the common pool; a
// statistic of each thread is registered in a list and read by others at any time.
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::thread;

static POOL: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());
static STATISTICS: LazyLock<Mutex<Vec<Arc<AtomicU64>>>> = LazyLock::new(Mutex::default);
static ALLOCATED: AtomicU64 = AtomicU64::new(0);

struct Cache {
    free: Vec<Vec<u8>>,
    uses: Arc<AtomicU64>,
}

impl Cache {
    fn register() -> Self {
        let uses = Arc::new(AtomicU64::new(0));
        STATISTICS.lock().unwrap().push(uses.clone());
        Self { free: Vec::new(), uses }
    }

    fn take(&mut self) -> Vec<u8> {
        // Only this thread adds, so a load and a store do.
        self.uses.store(self.uses.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        if let Some(buffer) = self.free.pop() {
            return buffer;
        }
        if let Some(buffer) = POOL.lock().unwrap().pop() {
            return buffer;
        }
        ALLOCATED.fetch_add(1, Ordering::Relaxed);
        Vec::with_capacity(8)
    }

    fn give_back(&mut self, mut buffer: Vec<u8>) {
        buffer.clear();
        if self.free.len() < 2 {
            self.free.push(buffer);
        } else {
            POOL.lock().unwrap().push(buffer);
        }
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        POOL.lock().unwrap().append(&mut self.free);
    }
}

thread_local! {
    static CACHE: RefCell<Cache> = RefCell::new(Cache::register());
}

fn with_buffer<R>(work: impl FnOnce(&mut Vec<u8>) -> R) -> R {
    let mut buffer = CACHE.with_borrow_mut(Cache::take);
    assert!(buffer.is_empty());
    let result = work(&mut buffer);
    CACHE.with_borrow_mut(|cache| cache.give_back(buffer));
    result
}

fn total_uses() -> u64 {
    let statistics = STATISTICS.lock().unwrap();
    statistics.iter().map(|uses| uses.load(Ordering::Relaxed)).sum()
}

fn encode(number: u8) -> usize {
    with_buffer(|buffer| {
        buffer.extend([number, number + 1]);
        // A second one while the first is in use.
        buffer.len() + with_buffer(|other| {
            other.push(number);
            other.len()
        })
    })
}

fn main() {
    let workers: Vec<_> = (0..3)
        .map(|number| thread::spawn(move || (0..2).map(|_| encode(number)).sum::<usize>()))
        .collect();
    let watcher = thread::spawn(|| {
        let first = total_uses();
        let second = total_uses();
        assert!(first <= second && second <= 12);
    });
    for worker in workers {
        assert_eq!(worker.join().unwrap(), 6);
    }
    watcher.join().unwrap();
    assert_eq!(total_uses(), 12);
    let allocated = ALLOCATED.load(Ordering::Relaxed);
    // Destructors of thread-locals have run when a join returns.
    assert_eq!(POOL.lock().unwrap().len() as u64, allocated);
    assert!((2..=6).contains(&allocated));
    println!("{allocated} allocated");
}
