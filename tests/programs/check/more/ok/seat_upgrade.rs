// Travellers look under the read lock whether there is a first-class seat left and take it under the write lock.
//@ none
use std::sync::RwLock;
use std::thread;

static SEATS: RwLock<u32> = RwLock::new(1);

fn upgrade() -> bool {
    if *SEATS.read().unwrap() == 0 {
        return false;
    }
    let mut seats = SEATS.write().unwrap();
    match seats.checked_sub(1) {
        Some(left) => {
            *seats = left;
            true
        }
        None => false,
    }
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
