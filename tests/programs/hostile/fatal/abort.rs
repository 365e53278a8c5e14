// hostile: a thread ends the process at once while others wait and hold locks
// failure: crash: SIGABRT
use std::sync::Mutex;
use std::thread;

fn main() {
    static LOCK: Mutex<u32> = Mutex::new(0);
    let others: Vec<_> = (0..2)
        .map(|_| thread::spawn(|| (0..3).for_each(|_| *LOCK.lock().unwrap() += 1)))
        .collect();
    let aborting = thread::spawn(|| {
        let _guard = LOCK.lock().unwrap();
        std::process::abort();
    });
    for other in others {
        other.join().unwrap();
    }
    aborting.join().unwrap();
}
