// A sampler runs until it is told to stop by an atomic flag. What it sampled is plain memory, published by the flag
// that says that it has finished.
//@ none
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

struct Sampler {
    stop: AtomicBool,
    finished: AtomicBool,
    samples: UnsafeCell<u32>,
}

// SAFETY: the samples belong to the running thread until it has set `finished`.
unsafe impl Sync for Sampler {}

static SAMPLER: Sampler = Sampler {
    stop: AtomicBool::new(false),
    finished: AtomicBool::new(false),
    samples: UnsafeCell::new(0),
};

impl Sampler {
    fn run(&self) {
        loop {
            // SAFETY: nobody else looks before `finished` is set.
            unsafe { *self.samples.get() += 1 };
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            thread::yield_now();
        }
        self.finished.store(true, Ordering::Release);
    }

    fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn main() {
    let thread = thread::spawn(|| SAMPLER.run());
    thread::yield_now();
    SAMPLER.stop();
    while !SAMPLER.finished.load(Ordering::Acquire) {
        thread::yield_now();
    }
    // SAFETY: the sampler has finished.
    assert!(unsafe { *SAMPLER.samples.get() } >= 1);
    thread.join().unwrap();
}
