// A worker says that it is up and files its result; the owner waits for the worker to end and then closes the books.
//@ none
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
    worker.join().unwrap();
    let mut books = books.lock().unwrap();
    books.closed = true;
    assert_eq!(books.filed, 720);
}
