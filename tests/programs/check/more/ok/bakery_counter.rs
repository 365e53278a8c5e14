// Customers wait at a counter for bread; the baker puts out one loaf and calls all who wait.
//@ none
use std::sync::{Condvar, Mutex};
use std::thread;

static LOAVES: Mutex<Vec<u32>> = Mutex::new(Vec::new());
static BAKED: Condvar = Condvar::new();

fn buy() -> u32 {
    let mut loaves = LOAVES.lock().unwrap();
    while loaves.is_empty() {
        loaves = BAKED.wait(loaves).unwrap();
    }
    loaves.pop().expect("a loaf is there")
}

fn bake() {
    for loaf in 1..=2 {
        LOAVES.lock().unwrap().push(loaf);
        BAKED.notify_all();
    }
}

fn main() {
    let baker = thread::spawn(bake);
    let customers = [thread::spawn(buy), thread::spawn(buy)];
    baker.join().unwrap();
    let bought: u32 = customers.into_iter().map(|it| it.join().unwrap()).sum();
    assert_eq!(bought, 3);
}
