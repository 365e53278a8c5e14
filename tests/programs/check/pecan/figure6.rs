// PECAN, figure 6: a connection makes its multiplexer when it gets a handler; a call that comes first finds none. The
// reader takes the lock, the writer does not.
//@ expect: data-race 1 2
//@ consequence: panic
use std::cell::UnsafeCell;
use std::ptr;
use std::sync::Mutex;
use std::thread;

struct Multiplexer {
    channels: u32,
}

struct Connection {
    lock: Mutex<u32>,
    multiplexer: UnsafeCell<*const Multiplexer>,
}

// SAFETY: none: the writer takes no lock.
unsafe impl Sync for Connection {}

static CONNECTION: Connection = Connection {
    lock: Mutex::new(0),
    multiplexer: UnsafeCell::new(ptr::null()),
};

impl Connection {
    fn set_handler(&self, channels: u32) {
        let multiplexer = Box::into_raw(Box::new(Multiplexer { channels }));
        // SAFETY: none, see above.
        unsafe { *self.multiplexer.get() = multiplexer }; // @1
    }

    fn invoke(&self) -> u32 {
        let mut calls = self.lock.lock().unwrap();
        *calls += 1;
        // SAFETY: none, see above.
        let multiplexer = unsafe { *self.multiplexer.get() }; // @2
        drop(calls);
        // SAFETY: a multiplexer is never freed.
        let multiplexer = unsafe { multiplexer.as_ref() };
        multiplexer.expect("the connection is established").channels
    }
}

fn main() {
    let caller = thread::spawn(|| CONNECTION.invoke());
    CONNECTION.set_handler(4);
    assert_eq!(caller.join().unwrap(), 4);
}
