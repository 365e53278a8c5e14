// The first caller loads the table under a lock; later callers find the pointer set and take no lock. The pointer is
// atomic: the release store publishes the table, the acquire load receives it.
//@ none
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::thread;

struct Table {
    squares: [u32; 4],
}

struct Lazy {
    table: AtomicPtr<Table>,
    loading: Mutex<u32>,
}

static LAZY: Lazy = Lazy {
    table: AtomicPtr::new(ptr::null_mut()),
    loading: Mutex::new(0),
};

fn load() -> *mut Table {
    Box::into_raw(Box::new(Table {
        squares: [0, 1, 4, 9],
    }))
}

fn table() -> &'static Table {
    // SAFETY: once set, the table stays.
    unsafe {
        let mut table = LAZY.table.load(Ordering::Acquire);
        if table.is_null() {
            let mut loads = LAZY.loading.lock().unwrap();
            table = LAZY.table.load(Ordering::Relaxed);
            if table.is_null() {
                *loads += 1;
                table = load();
                LAZY.table.store(table, Ordering::Release);
            }
        }
        &*table
    }
}

fn main() {
    let other = thread::spawn(|| table().squares[3]);
    let sum = table().squares[2] + other.join().unwrap();
    assert_eq!(sum, 13);
    assert_eq!(*LAZY.loading.lock().unwrap(), 1);
}
