// A reader registers itself and parks until a writer has stored a value; the writer unparks the reader that it finds.
//@ none
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, Thread};

static VALUE: AtomicU32 = AtomicU32::new(0);
static READER: Mutex<Option<Thread>> = Mutex::new(None);

fn read() -> u32 {
    *READER.lock().unwrap() = Some(thread::current());
    while VALUE.load(Ordering::SeqCst) == 0 {
        thread::park();
    }
    VALUE.load(Ordering::SeqCst)
}

fn write(value: u32) {
    VALUE.store(value, Ordering::SeqCst);
    if let Some(reader) = READER.lock().unwrap().take() {
        reader.unpark();
    }
}

fn main() {
    let reader = thread::spawn(read);
    let writer = thread::spawn(|| write(9));
    let read = reader.join().unwrap();
    writer.join().unwrap();
    assert!(read == 9 || read == 0);
}
