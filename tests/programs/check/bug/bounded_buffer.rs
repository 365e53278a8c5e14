// Two producers hand parcels to a counter with room for one; each asks for room, then puts its parcel down.
// bug: asking and putting down lock separately, so both producers may find the same room
//@ expect: atomicity-violation
//@ also: atomic-set-violation
//@ consequence: panic
use std::sync::Mutex;
use std::thread;

const ROOM: usize = 1;

struct Counter {
    parcels: [u32; ROOM],
    used: usize,
}

static COUNTER: Mutex<Counter> = Mutex::new(Counter {
    parcels: [0; ROOM],
    used: 0,
});

fn put_down(counter: &mut Counter, parcel: u32) {
    counter.parcels[counter.used] = parcel;
    counter.used += 1;
}

fn try_put(parcel: u32) -> bool {
    if COUNTER.lock().unwrap().used == ROOM {
        return false;
    }
    put_down(&mut COUNTER.lock().unwrap(), parcel);
    true
}

fn try_take() -> Option<u32> {
    let mut counter = COUNTER.lock().unwrap();
    counter.used = counter.used.checked_sub(1)?;
    Some(counter.parcels[counter.used])
}

fn produce(parcel: u32) {
    while !try_put(parcel) {
        thread::yield_now();
    }
}

fn main() {
    let producers = [7, 9].map(|parcel| thread::spawn(move || produce(parcel)));
    let mut sum = 0;
    for _ in 0..2 {
        sum += loop {
            if let Some(parcel) = try_take() {
                break parcel;
            }
            thread::yield_now();
        };
    }
    for producer in producers {
        producer.join().unwrap();
    }
    assert_eq!(sum, 16);
}
