// exercises: std::sync::Condvar: wait, wait_while, wait_timeout, wait_timeout_while, notify_one, notify_all in a bounded queue
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const CAPACITY: usize = 2;
const ITEMS: u32 = 6;

#[derive(Default)]
struct Queue {
    state: Mutex<(VecDeque<u32>, bool)>,
    not_empty: Condvar,
    not_full: Condvar,
}

impl Queue {
    fn push(&self, item: u32) {
        let mut state = self
            .not_full
            .wait_while(self.state.lock().unwrap(), |state| {
                state.0.len() == CAPACITY
            })
            .unwrap();
        state.0.push_back(item);
        self.not_empty.notify_one();
    }

    fn pop(&self) -> Option<u32> {
        let mut state = self.state.lock().unwrap();
        while state.0.is_empty() && !state.1 {
            state = self.not_empty.wait(state).unwrap();
        }
        let item = state.0.pop_front();
        self.not_full.notify_one();
        item
    }

    fn close(&self) {
        self.state.lock().unwrap().1 = true;
        self.not_empty.notify_all();
    }
}

fn main() {
    let queue = Queue::default();
    let total: u32 = thread::scope(|scope| {
        let consumers: Vec<_> = (0..2)
            .map(|_| scope.spawn(|| std::iter::from_fn(|| queue.pop()).sum::<u32>()))
            .collect();
        let producers: Vec<_> = (0..2)
            .map(|me| {
                let queue = &queue;
                scope.spawn(move || (0..ITEMS).for_each(|i| queue.push(me * 100 + i)))
            })
            .collect();
        producers
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
        queue.close();
        consumers
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum()
    });
    assert_eq!(total, 2 * (ITEMS * (ITEMS - 1) / 2) + 100 * ITEMS);

    let start = Instant::now();
    let (guard, result) = queue
        .not_full
        .wait_timeout_while(
            queue.state.lock().unwrap(),
            Duration::from_millis(5),
            |_| true,
        )
        .unwrap();
    assert!(result.timed_out() && start.elapsed() >= Duration::from_millis(5));
    drop(guard);

    thread::scope(|scope| {
        scope.spawn(|| queue.push(7));
        let mut state = queue.state.lock().unwrap();
        while state.0.is_empty() {
            state = queue
                .not_empty
                .wait_timeout(state, Duration::from_secs(1))
                .unwrap()
                .0;
        }
        assert_eq!(state.0.pop_front(), Some(7));
    });
}
