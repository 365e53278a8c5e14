// The first caller loads the table under a lock; later callers find the pointer set and take no lock.
// bug: the pointer is plain memory, read without the lock while another thread may be setting it
//@ expect: data-race quick set
//@ consequence: none
use std::cell::UnsafeCell;
use std::ptr;
use std::sync::Mutex;
use std::thread;

struct Table {
    squares: [u32; 4],
}

struct Lazy {
    table: UnsafeCell<*const Table>,
    loading: Mutex<u32>,
}

// SAFETY: meant to be shared: the table is set once, under the lock.
unsafe impl Sync for Lazy {}

static LAZY: Lazy = Lazy {
    table: UnsafeCell::new(ptr::null()),
    loading: Mutex::new(0),
};

fn load() -> *const Table {
    Box::into_raw(Box::new(Table {
        squares: [0, 1, 4, 9],
    }))
}

fn table() -> &'static Table {
    // SAFETY: once set, the table stays.
    unsafe {
        let mut table = *LAZY.table.get(); // @quick
        if table.is_null() {
            let mut loads = LAZY.loading.lock().unwrap();
            table = *LAZY.table.get();
            if table.is_null() {
                *loads += 1;
                table = load();
                *LAZY.table.get() = table; // @set
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
