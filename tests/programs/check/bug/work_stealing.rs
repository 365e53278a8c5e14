// Each worker has a queue of jobs; an idle worker steals from the front of another's queue, the owner takes from the
// back.
// bug: the owner asks whether there is a job and takes it in two critical sections; a thief may be quicker
//@ expect: atomicity-violation
//@ also: atomic-set-violation
//@ consequence: panic
use std::sync::{Arc, Mutex};
use std::thread;

const ROOM: usize = 4;

/// Jobs from `front` up to `back`.
struct Deque {
    jobs: [u32; ROOM],
    front: usize,
    back: usize,
}

struct Worker {
    queue: Mutex<Deque>,
}

impl Worker {
    fn is_idle(&self) -> bool {
        let queue = self.queue.lock().unwrap();
        queue.front == queue.back
    }

    fn push(&self, job: u32) {
        let mut queue = self.queue.lock().unwrap();
        let back = queue.back;
        queue.jobs[back] = job;
        queue.back += 1;
    }

    fn pop(&self) -> Option<u32> {
        let mut queue = self.queue.lock().unwrap();
        if queue.front == queue.back {
            return None;
        }
        queue.back -= 1;
        Some(queue.jobs[queue.back])
    }

    fn steal(&self) -> Option<u32> {
        let mut queue = self.queue.lock().unwrap();
        if queue.front == queue.back {
            return None;
        }
        queue.front += 1;
        Some(queue.jobs[queue.front - 1])
    }

    /// A big job leaves half of itself as a new one.
    fn execute(&self, job: u32) -> u32 {
        if job > 1 {
            self.push(job / 2);
            thread::yield_now();
        }
        job.div_ceil(2)
    }

    fn work(&self) -> u32 {
        let mut done = 0;
        while !self.is_idle() {
            let job = self.pop().expect("the queue is not empty");
            done += self.execute(job);
        }
        done
    }
}

fn main() {
    let deque = Deque {
        jobs: [2, 0, 0, 0],
        front: 0,
        back: 1,
    };
    let owner = Arc::new(Worker {
        queue: Mutex::new(deque),
    });
    let thief = thread::spawn({
        let owner = Arc::clone(&owner);
        move || owner.steal().unwrap_or(0)
    });
    let done = owner.work();
    assert_eq!(done + thief.join().unwrap(), 2);
}
