// bug: two threads take the same two locks in opposite orders
// expect: deadlock
// smallest: yes
use std::sync::Mutex;
use std::thread;

static LEFT: Mutex<u32> = Mutex::new(1);
static RIGHT: Mutex<u32> = Mutex::new(2);

fn left_to_right() {
    let mut left = LEFT.lock().unwrap();
    let mut right = RIGHT.lock().unwrap();
    *right += *left;
    *left = 0;
}

fn right_to_left() {
    let mut right = RIGHT.lock().unwrap();
    let mut left = LEFT.lock().unwrap();
    *left += *right;
    *right = 0;
}

fn main() {
    let other = thread::spawn(left_to_right);
    right_to_left();
    other.join().unwrap();
    assert_eq!(*LEFT.lock().unwrap() + *RIGHT.lock().unwrap(), 3);
}
