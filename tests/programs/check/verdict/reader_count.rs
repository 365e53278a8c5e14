//@ none
// A reader-writer lock by hand: readers count themselves under a mutex, the writer waits until the count is zero. A reader
// takes the mutex twice in one call, and others come between, as they should.
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

struct Shelf {
    readers: Mutex<u32>,
    empty: Condvar,
    title: AtomicU32,
    pages: AtomicU32,
    loans: AtomicU32,
}

impl Shelf {
    fn read(&self) -> (u32, u32) {
        *self.readers.lock().unwrap() += 1;
        let book = (
            self.title.load(Ordering::Relaxed),
            self.pages.load(Ordering::Relaxed),
        );
        let loans = self.loans.load(Ordering::Relaxed);
        self.loans.store(loans.max(book.0), Ordering::Relaxed);
        let mut readers = self.readers.lock().unwrap();
        *readers -= 1;
        if *readers == 0 {
            self.empty.notify_all();
        }
        book
    }

    fn write(&self, title: u32) {
        let readers = self.readers.lock().unwrap();
        let readers = self.empty.wait_while(readers, |it| *it > 0).unwrap();
        self.title.store(title, Ordering::Relaxed);
        self.pages.store(title * 100, Ordering::Relaxed);
        drop(readers);
    }
}

fn main() {
    let shelf = Arc::new(Shelf {
        readers: Mutex::new(0),
        empty: Condvar::new(),
        title: AtomicU32::new(1),
        pages: AtomicU32::new(100),
        loans: AtomicU32::new(0),
    });
    let readers: Vec<_> = (0..2)
        .map(|_| {
            let shelf = Arc::clone(&shelf);
            thread::spawn(move || shelf.read())
        })
        .collect();
    shelf.write(2);
    shelf.write(3);
    for reader in readers {
        let (title, pages) = reader.join().unwrap();
        assert_eq!(pages, title * 100);
        println!("read {title}");
    }
}
