// corrected: the read lock is taken once
use std::sync::RwLock;
use std::thread;

static PRICES: RwLock<[u32; 3]> = RwLock::new([5, 7, 9]);

fn total() -> u32 {
    PRICES.read().unwrap().iter().sum()
}

fn main() {
    let writer = thread::spawn(|| PRICES.write().unwrap()[0] = 6);
    let sum = total();
    writer.join().unwrap();
    assert!(sum == 21 || sum == 22);
}
