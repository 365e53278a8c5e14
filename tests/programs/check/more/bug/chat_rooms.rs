// Users move between two chat rooms, each under a lock of its own; moving locks the room left and the room entered.
// bug: two users who move in opposite directions each hold one room and wait for the other
//@ expect: deadlock
//@ consequence: deadlock
use std::sync::Mutex;
use std::thread;

static ROOMS: [Mutex<Vec<u32>>; 2] = [Mutex::new(Vec::new()), Mutex::new(Vec::new())];

fn move_user(user: u32, from: usize, to: usize) {
    let mut left = ROOMS[from].lock().unwrap();
    let mut entered = ROOMS[to].lock().unwrap();
    left.retain(|it| *it != user);
    entered.push(user);
}

fn main() {
    ROOMS[0].lock().unwrap().push(1);
    ROOMS[1].lock().unwrap().push(2);
    let first = thread::spawn(|| move_user(1, 0, 1));
    let second = thread::spawn(|| move_user(2, 1, 0));
    first.join().unwrap();
    second.join().unwrap();
    assert_eq!(*ROOMS[0].lock().unwrap(), [2]);
}
