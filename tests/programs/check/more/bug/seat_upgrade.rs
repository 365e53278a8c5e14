// Travellers look under the read lock whether there is a first-class seat left and take it under the write lock.
// bug: between the two locks another traveller may take it, and the number of seats falls below zero
//@ expect: atomicity-violation
//@ also: atomic-set-violation
//@ also: panic
//@ consequence: panic
use std::sync::RwLock;
use std::thread;

static SEATS: RwLock<u32> = RwLock::new(1);

fn upgrade() -> bool {
    if *SEATS.read().unwrap() == 0 {
        return false;
    }
    let mut seats = SEATS.write().unwrap();
    *seats = seats.checked_sub(1).expect("a seat was left");
    true
}

fn main() {
    let travellers: Vec<_> = (0..3).map(|_| thread::spawn(upgrade)).collect();
    let upgraded = travellers
        .into_iter()
        .map(|it| it.join().unwrap())
        .filter(|it| *it)
        .count();
    assert_eq!(upgraded, 1);
}
