// corrected: workers report by one atomic operation
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

static REPORTS: AtomicU32 = AtomicU32::new(0);

fn report() {
    REPORTS.fetch_add(1, Ordering::AcqRel);
}

fn main() {
    let workers = [thread::spawn(report), thread::spawn(report)];
    while REPORTS.load(Ordering::Acquire) != 2 {
        spin_loop();
    }
    for worker in workers {
        worker.join().unwrap();
    }
}
