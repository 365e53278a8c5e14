// PECAN, figure 5: v3 and v8 hold no common lock and no edge orders them, but they cannot be next to each other: the
// first thread starts the second one (v2) while it holds the lock, and the second has to get that lock (v6) on its way
// to v8.
//@ none
use std::sync::Mutex;
use std::thread;

static WAITED: Mutex<u32> = Mutex::new(0);
static mut MESSAGE: u32 = 0;

fn receive() -> u32 {
    let mut waited = WAITED.lock().unwrap(); // @v6
    *waited += 1;
    drop(waited); // @v7
    // SAFETY: the message was written under the lock that was just taken.
    unsafe { MESSAGE } // @v8
}

fn main() {
    let mut waited = WAITED.lock().unwrap(); // @v1
    let receiver = thread::spawn(receive); // @v2
    // SAFETY: the receiver waits for the lock.
    unsafe { MESSAGE = 7 }; // @v3
    *waited += 1;
    drop(waited); // @v4
    assert_eq!(receiver.join().unwrap(), 7);
}
