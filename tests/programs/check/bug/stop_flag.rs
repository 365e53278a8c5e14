// A sampler runs until it is told to stop.
// bug: the flag is a plain bool that one thread writes while the other reads it
//@ expect: data-race poll stop
//@ consequence: none
use std::cell::UnsafeCell;
use std::sync::Mutex;
use std::thread;

struct Sampler {
    stop: UnsafeCell<bool>,
    samples: Mutex<u32>,
}

// SAFETY: meant to be shared: the lock keeps the samples apart.
unsafe impl Sync for Sampler {}

static SAMPLER: Sampler = Sampler {
    stop: UnsafeCell::new(false),
    samples: Mutex::new(0),
};

impl Sampler {
    fn run(&self) {
        loop {
            let mut samples = self.samples.lock().unwrap();
            *samples += 1;
            drop(samples);
            // SAFETY: a bool is read in one go.
            let stop = unsafe { *self.stop.get() }; // @poll
            if stop {
                break;
            }
            thread::yield_now();
        }
    }

    fn stop(&self) {
        // SAFETY: a bool is written in one go.
        unsafe { *self.stop.get() = true }; // @stop
    }
}

fn main() {
    let thread = thread::spawn(|| SAMPLER.run());
    thread::yield_now();
    SAMPLER.stop();
    thread.join().unwrap();
    assert!(*SAMPLER.samples.lock().unwrap() >= 1);
}
