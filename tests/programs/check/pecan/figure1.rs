// PECAN, figure 1: three races on two variables, the last of which leads to the error. The yields make the recorded run
// that of the paper, <1, 5, 2, 3, 6, 7>.
//@ expect: data-race 2 5
//@ expect: data-race 2 6
//@ expect: data-race 3 7
//@ consequence: panic
use std::thread;

static mut X: i32 = 0;
static mut Y: i32 = 0;

fn first(rounds: &mut i32) {
    *rounds = 1; // @1
    thread::yield_now();
    // SAFETY: none: these are the races of the example.
    unsafe {
        X = 1; // @2
        let y = Y; // @3
        assert!(y != 1, "ERROR"); // @4
    }
}

fn second() {
    // SAFETY: none: these are the races of the example.
    unsafe {
        X = 0; // @5
        thread::yield_now();
        let x = X; // @6
        if x == 1 {
            Y = 1; // @7
        }
    }
}

fn main() {
    let mut rounds = 0;
    thread::scope(|scope| {
        scope.spawn(|| first(&mut rounds));
        scope.spawn(second);
    });
    assert_eq!(rounds, 1);
}
