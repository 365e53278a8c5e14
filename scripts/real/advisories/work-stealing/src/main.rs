//! A worker pushes tasks and pops them, twice; a thief takes batches of them. Each task is to be done once.

use crossbeam_deque::{Steal, Worker};
use std::thread;

const ROUND: usize = 80;

fn main() {
    let worker = Worker::new_lifo();
    let stealer = worker.stealer();
    let thief = thread::spawn(move || {
        let own = Worker::new_lifo();
        let mut done = Vec::new();
        for _ in 0..4 {
            if let Steal::Success(task) = stealer.steal_batch_and_pop(&own) {
                done.push(task);
            }
            while let Some(task) = own.pop() {
                done.push(task);
            }
        }
        done
    });

    let mut done = Vec::new();
    for round in 0..2 {
        for task in 0..ROUND {
            worker.push(Box::new(round * ROUND + task));
        }
        while let Some(task) = worker.pop() {
            done.push(task);
        }
    }
    done.extend(thief.join().unwrap());

    done.sort();
    let all: Vec<_> = (0..2 * ROUND).map(Box::new).collect();
    assert_eq!(done, all);
}
