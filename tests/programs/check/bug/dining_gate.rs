// Five philosophers, five forks, each takes the left fork and then the right one.
// bug: if each has its left fork, all wait for the right one
//@ expect: deadlock
//@ consequence: deadlock
use std::sync::{Arc, Mutex};
use std::thread;

const SEATS: usize = 5;

#[derive(Default)]
struct Table {
    forks: [Mutex<u32>; SEATS],
}

fn dine(table: &Table, seat: usize) {
    let mut left = table.forks[seat].lock().unwrap();
    let mut right = table.forks[(seat + 1) % SEATS].lock().unwrap();
    *left += 1;
    *right += 1;
}

fn main() {
    let table = Arc::new(Table::default());
    let philosophers: Vec<_> = (0..SEATS)
        .map(|seat| {
            let table = Arc::clone(&table);
            thread::spawn(move || dine(&table, seat))
        })
        .collect();
    for philosopher in philosophers {
        philosopher.join().unwrap();
    }
    for fork in &table.forks {
        assert_eq!(*fork.lock().unwrap(), 2);
    }
}
