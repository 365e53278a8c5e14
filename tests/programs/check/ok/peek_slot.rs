// One thread opens a slot; another peeks into it to have it in the cache.
//@ none
use std::thread;

struct Slot {
    size: u64,
}

static FIRST: Slot = Slot { size: 16 };
static mut OPEN: *const Slot = std::ptr::null();

fn open() {
    unsafe { OPEN = &FIRST };
}

fn peek() {
    let _size = unsafe { (*OPEN).size };
}

fn main() {
    let opener = thread::spawn(open);
    opener.join().unwrap();
    let peeker = thread::spawn(peek);
    peeker.join().unwrap();
}
