// PECAN, figure 4: two threads of three events each, the middle ones race. To bring v2 next to v5, v3 has to move
// along.
//@ expect: data-race v2 v5
//@ consequence: none
use std::thread;

static mut SHARED: i32 = 0;
static mut LEFT: i32 = 0;
static mut RIGHT: i32 = 0;

fn left() {
    // SAFETY: none: the second access is the race of the example.
    unsafe {
        LEFT = 1; // @v1
        SHARED = 2; // @v2
        LEFT += 1; // @v3
    }
}

fn right() {
    // SAFETY: none: the second access is the race of the example.
    unsafe {
        RIGHT = 4; // @v4
        SHARED = 5; // @v5
        RIGHT += 1; // @v6
    }
}

fn main() {
    let threads = [thread::spawn(left), thread::spawn(right)];
    for thread in threads {
        thread.join().unwrap();
    }
    // SAFETY: both threads have ended.
    let (own, shared) = unsafe { (LEFT + RIGHT, SHARED) };
    assert!(own == 7 && shared != 0);
}
