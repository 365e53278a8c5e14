// bug: the worker says that it is done before its last use of the buffer, which main then frees
// expect: use-after-free
use std::sync::mpsc;
use std::thread;

struct Buffer {
    bytes: [u8; 64],
    used: usize,
}

struct Shared(*mut Buffer);

// The pointer is handed to one worker only.
unsafe impl Send for Shared {}

fn main() {
    let buffer = Box::into_raw(Box::new(Buffer {
        bytes: [0; 64],
        used: 0,
    }));
    let (done, finished) = mpsc::channel();
    let shared = Shared(buffer);
    let worker = thread::spawn(move || {
        let shared = shared;
        let buffer = shared.0;
        unsafe { (*buffer).bytes[0] = 7 };
        done.send(()).unwrap();
        unsafe { (*buffer).used += 1 };
    });
    finished.recv().unwrap();
    drop(unsafe { Box::from_raw(buffer) });
    worker.join().unwrap();
}
