//@ expect: data-race write read
//@ also: data-race make read

// Double-checked locking with a relaxed pointer: the first check sees the pointer, and not what it points to.

use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::thread;

static SETTINGS: AtomicPtr<u32> = AtomicPtr::new(ptr::null_mut());
static MAKING: Mutex<()> = Mutex::new(());

fn get() -> *mut u32 {
    let made = SETTINGS.load(Ordering::Relaxed);
    if !made.is_null() {
        return made;
    }
    let _guard = MAKING.lock().unwrap();
    let made = SETTINGS.load(Ordering::Relaxed);
    if !made.is_null() {
        return made;
    }
    let fresh = Box::into_raw(Box::new(0)); // @make
    unsafe { *fresh = 10 }; // @write
    SETTINGS.store(fresh, Ordering::Relaxed);
    fresh
}

fn read() {
    let limit = unsafe { *get() }; // @read
    assert_eq!(limit, 10);
}

fn main() {
    let one = thread::spawn(read);
    let other = thread::spawn(read);
    one.join().unwrap();
    other.join().unwrap();
}
