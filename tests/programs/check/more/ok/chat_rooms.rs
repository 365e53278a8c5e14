// Users move between two chat rooms, each under a lock of its own; moving locks the room left and the room entered.
//@ none
use std::sync::Mutex;
use std::thread;

static ROOMS: [Mutex<Vec<u32>>; 2] = [Mutex::new(Vec::new()), Mutex::new(Vec::new())];

fn move_user(user: u32, from: usize, to: usize) {
    let mut first = ROOMS[from.min(to)].lock().unwrap();
    let mut second = ROOMS[from.max(to)].lock().unwrap();
    let (left, entered) = match from < to {
        true => (&mut first, &mut second),
        false => (&mut second, &mut first),
    };
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
