// Workers with queues of their own steal from each other; tasks make further tasks. All end when the number of
// unfinished tasks is zero. Attempts in vain are counted in the loop that waits.
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use std::thread;

const WORKERS: usize = 3;

/// A part of the numbers that are added up; large parts are split.
struct Task {
    from: u64,
    to: u64,
}

struct Pool {
    queues: [Mutex<VecDeque<Task>>; WORKERS],
    unfinished: AtomicUsize,
    in_vain: AtomicUsize,
    stolen: AtomicUsize,
}

impl Pool {
    fn new() -> Self {
        Self {
            queues: Default::default(),
            unfinished: AtomicUsize::new(0),
            in_vain: AtomicUsize::new(0),
            stolen: AtomicUsize::new(0),
        }
    }

    fn push(&self, own: usize, task: Task) {
        // Before the task can be taken, so that the count is never too low.
        self.unfinished.fetch_add(1, Ordering::Relaxed);
        self.queues[own].lock().unwrap().push_back(task);
    }

    fn find(&self, own: usize) -> Option<Task> {
        if let Some(task) = self.queues[own].lock().unwrap().pop_back() {
            return Some(task);
        }
        let others = (1..WORKERS).map(|distance| (own + distance) % WORKERS);
        for other in others {
            // A queue that is in use is left alone.
            let Ok(mut queue) = self.queues[other].try_lock() else { continue };
            if let Some(task) = queue.pop_front() {
                self.stolen.fetch_add(1, Ordering::Relaxed);
                return Some(task);
            }
        }
        None
    }

    fn execute(&self, own: usize, Task { from, to }: Task) -> u64 {
        let sum = if to - from > 2 {
            let middle = (from + to) / 2;
            self.push(own, Task { from, to: middle });
            self.push(own, Task { from: middle, to });
            0
        } else {
            (from..to).sum()
        };
        self.unfinished.fetch_sub(1, Ordering::Release);
        sum
    }

    fn work(&self, own: usize) -> u64 {
        let mut sum = 0;
        while self.unfinished.load(Ordering::Acquire) > 0 {
            match self.find(own) {
                Some(task) => sum += self.execute(own, task),
                None => {
                    self.in_vain.fetch_add(1, Ordering::Relaxed);
                    thread::yield_now();
                }
            }
        }
        sum
    }
}

fn main() {
    let pool = Pool::new();
    pool.push(0, Task { from: 0, to: 12 });
    let sums: Vec<u64> = thread::scope(|scope| {
        let pool = &pool;
        let workers: Vec<_> = (0..WORKERS).map(|own| scope.spawn(move || pool.work(own))).collect();
        workers.into_iter().map(|it| it.join().unwrap()).collect()
    });
    assert_eq!(sums.iter().sum::<u64>(), 66);
    assert!(pool.queues.iter().all(|queue| queue.lock().unwrap().is_empty()));
    println!("{sums:?}, {} stolen, {} in vain", pool.stolen.into_inner(), pool.in_vain.into_inner());
}
