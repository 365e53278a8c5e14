// Heat flows along a rod: each thread has a stretch of it, `Barrier` separates the steps, its leader counts them, and
// the threads agree on the end by a maximum that each step finds anew.
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;

const THREADS: usize = 3;
const EACH: usize = 2;
const LENGTH: usize = THREADS * EACH + 2;

struct Rod {
    cells: [[UnsafeCell<u32>; LENGTH]; 2],
    barrier: Barrier,
    largest_change: [AtomicU32; 2],
    steps: Mutex<Vec<thread::ThreadId>>,
}

// SAFETY: within a step a thread writes its own cells of one row and reads the other row; the barrier separates steps.
unsafe impl Sync for Rod {}

impl Rod {
    fn new(ends: [u32; 2]) -> Self {
        let start = |cell| match cell {
            0 => ends[0],
            _ if cell == LENGTH - 1 => ends[1],
            _ => 0,
        };
        let row = || std::array::from_fn(|cell| UnsafeCell::new(start(cell)));
        Self {
            cells: [row(), row()],
            barrier: Barrier::new(THREADS),
            largest_change: Default::default(),
            steps: Mutex::default(),
        }
    }

    fn get(&self, row: usize, cell: usize) -> u32 {
        // SAFETY: as above.
        unsafe { *self.cells[row][cell].get() }
    }

    /// The number of steps until nothing changes by more than `limit`.
    fn flow(&self, own: usize, limit: u32) -> usize {
        for step in 0.. {
            let (from, to) = (step % 2, (step + 1) % 2);
            let mut change = 0;
            for cell in 1 + own * EACH..1 + (own + 1) * EACH {
                let mean = (self.get(from, cell - 1) + self.get(from, cell + 1)) / 2;
                change = change.max(mean.abs_diff(self.get(from, cell)));
                // SAFETY: the cell is this thread's own.
                unsafe { *self.cells[to][cell].get() = mean };
            }
            self.largest_change[from].fetch_max(change, Ordering::Relaxed);
            self.barrier.wait();
            let largest = self.largest_change[from].load(Ordering::Relaxed);
            // All have read it before it is used again: that is after the next barrier.
            if self.barrier.wait().is_leader() {
                self.largest_change[from].store(0, Ordering::Relaxed);
                self.steps.lock().unwrap().push(thread::current().id());
            }
            if largest <= limit {
                return step + 1;
            }
        }
        unreachable!()
    }
}

fn main() {
    let rod = Rod::new([80, 0]);
    let steps: Vec<_> = thread::scope(|scope| {
        let rod = &rod;
        let threads: Vec<_> = (0..THREADS).map(|own| scope.spawn(move || rod.flow(own, 8))).collect();
        threads.into_iter().map(|it| it.join().unwrap()).collect()
    });
    assert!(steps.iter().all(|count| *count == steps[0]));
    assert_eq!(rod.steps.into_inner().unwrap().len(), steps[0]);
    println!("{} steps", steps[0]);
}
