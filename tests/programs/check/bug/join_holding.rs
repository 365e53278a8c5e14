// A worker says that it is up and files its result; the owner closes the books and waits for the worker to end.
// bug: the owner waits while it holds the books, which the worker may still need
//@ expect: deadlock
//@ consequence: deadlock
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

#[derive(Default)]
struct Books {
    filed: u32,
    closed: bool,
}

fn main() {
    let books = Arc::new(Mutex::new(Books::default()));
    let (up, is_up) = mpsc::channel();
    let worker = thread::spawn({
        let books = Arc::clone(&books);
        move || {
            up.send(()).unwrap();
            let result = (1..=6).product::<u32>();
            books.lock().unwrap().filed += result;
        }
    });
    is_up.recv().unwrap();
    let mut books = books.lock().unwrap();
    worker.join().unwrap();
    books.closed = true;
    assert_eq!(books.filed, 720);
}
