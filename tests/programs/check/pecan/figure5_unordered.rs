// PECAN, figure 5 without the order of v2 before v5: the second thread is started before the lock is taken, and then v3
// and v8 race. To show it the lock (v1) has to move behind v7 together with v3.
//@ expect: data-race v3 v8
//@ consequence: panic
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
    let receiver = thread::spawn(receive); // @v2
    let mut waited = WAITED.lock().unwrap(); // @v1
    // SAFETY: the receiver waits for the lock.
    unsafe { MESSAGE = 7 }; // @v3
    *waited += 1;
    drop(waited); // @v4
    assert_eq!(receiver.join().unwrap(), 7);
}
