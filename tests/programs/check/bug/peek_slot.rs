// One thread opens a slot; another peeks into it to have it in the cache.
// bug: the slot need not be open yet; the value is of no interest, the access is
//@ expect: data-race open peek
//@ consequence: panic
use std::thread;

struct Slot {
    size: u64,
}

static FIRST: Slot = Slot { size: 16 };
static mut OPEN: *const Slot = std::ptr::null();

fn open() {
    unsafe { OPEN = &FIRST }; // @open
}

fn peek() {
    let _size = unsafe { (*OPEN).size }; // @peek
}

fn main() {
    let opener = thread::spawn(open);
    let peeker = thread::spawn(peek);
    opener.join().unwrap();
    peeker.join().unwrap();
}
