// Offices print on a common budget of pages; the process ends with a status of its own if the budget was overdrawn.
//@ none
use std::process;
use std::sync::Mutex;
use std::thread;

static PAGES: Mutex<i32> = Mutex::new(10);

fn print(pages: i32) {
    let mut left = PAGES.lock().unwrap();
    if *left >= pages {
        *left -= pages;
    }
}

fn main() {
    let offices: Vec<_> = [7, 2, 6]
        .into_iter()
        .map(|pages| thread::spawn(move || print(pages)))
        .collect();
    for office in offices {
        office.join().unwrap();
    }
    let left = *PAGES.lock().unwrap();
    if left < 0 {
        process::exit(7);
    }
}
