// bug: workers report by a load and a store; if a report is lost, main spins for ever
// expect: hang|deadlock
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

static REPORTS: AtomicU32 = AtomicU32::new(0);

fn report() {
    let before = REPORTS.load(Ordering::Acquire);
    REPORTS.store(before + 1, Ordering::Release);
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
