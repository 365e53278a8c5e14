// exercises: `try_lock` in a loop, with a back-off that is kept in memory and grows up to a limit
use std::sync::{Arc, Mutex};
use std::thread;

const ROUNDS: usize = 40;
const MOST_STEPS: u64 = 8;

struct Backoff {
    steps: Box<u64>,
    waits: Box<u64>,
}

impl Backoff {
    fn wait(&mut self) {
        for _ in 0..*self.steps {
            *self.waits += 1;
            std::hint::spin_loop();
        }
        *self.steps = (*self.steps * 2).min(MOST_STEPS);
    }
}

fn add(total: &Mutex<usize>) {
    for _ in 0..ROUNDS {
        let mut backoff = Backoff {
            steps: Box::new(1),
            waits: Box::new(0),
        };
        let mut total = loop {
            match total.try_lock() {
                Ok(total) => break total,
                Err(_) => backoff.wait(),
            }
        };
        *total += 1;
        thread::yield_now();
    }
}

fn main() {
    let total = Arc::new(Mutex::new(0));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let total = Arc::clone(&total);
            thread::spawn(move || add(&total))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(*total.lock().unwrap(), 2 * ROUNDS);
}
