// Workers add their times to the statistics; a reporter that sees times but no count yet gives up with a panic of its
// own, which main ignores.
//@ none
use std::sync::Mutex;
use std::thread;

struct Stats {
    total: u32,
    count: u32,
}

static STATS: Mutex<Stats> = Mutex::new(Stats { total: 0, count: 0 });

fn report() -> u32 {
    let stats = STATS.lock().unwrap();
    if stats.total == 0 {
        return 0;
    }
    stats.total / stats.count
}

fn add(time: u32) {
    let mut stats = STATS.lock().unwrap();
    stats.total += time;
    stats.count += 1;
}

fn main() {
    let reporter = thread::spawn(report);
    let worker = thread::spawn(|| add(20));
    let _ = reporter.join();
    worker.join().unwrap();
    assert_eq!(STATS.lock().unwrap().count, 1);
}
