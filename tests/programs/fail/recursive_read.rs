// bug: a thread takes the read lock a second time; a writer that waits in between keeps it out for ever
// expect: deadlock
use std::sync::RwLock;
use std::thread;

static PRICES: RwLock<[u32; 3]> = RwLock::new([5, 7, 9]);

fn price(item: usize) -> u32 {
    PRICES.read().unwrap()[item]
}

fn total() -> u32 {
    let prices = PRICES.read().unwrap();
    (0..prices.len()).map(price).sum()
}

fn main() {
    let writer = thread::spawn(|| PRICES.write().unwrap()[0] = 6);
    let sum = total();
    writer.join().unwrap();
    assert!(sum == 21 || sum == 22);
}
