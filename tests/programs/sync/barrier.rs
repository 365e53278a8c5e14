// exercises: std::sync::Barrier reused over rounds with exactly one leader a round
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Barrier;
use std::thread;

const THREADS: usize = 3;
const ROUNDS: usize = 4;

fn main() {
    let barrier = Barrier::new(THREADS);
    let leaders = AtomicU32::new(0);
    let cells: [[AtomicU32; THREADS]; 2] = Default::default();
    for cell in &cells[0] {
        cell.store(1, Ordering::Relaxed);
    }
    thread::scope(|scope| {
        for me in 0..THREADS {
            let (barrier, leaders, cells) = (&barrier, &leaders, &cells);
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let (now, next) = (&cells[round % 2], &cells[(round + 1) % 2]);
                    let sum = now[me].load(Ordering::Relaxed)
                        + now[(me + 1) % THREADS].load(Ordering::Relaxed);
                    next[me].store(sum, Ordering::Relaxed);
                    if barrier.wait().is_leader() {
                        leaders.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    assert_eq!(leaders.load(Ordering::Relaxed) as usize, ROUNDS);
    for cell in &cells[ROUNDS % 2] {
        assert_eq!(cell.load(Ordering::Relaxed), 1 << ROUNDS);
    }
}
