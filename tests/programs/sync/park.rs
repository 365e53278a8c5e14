// exercises: thread::park, unpark (before and after), park_timeout, thread::current, Builder names
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

fn main() {
    let turn = Arc::new(AtomicU32::new(0));
    let main_thread = thread::current();
    let worker = {
        let turn = Arc::clone(&turn);
        Builder::new()
            .name("worker".into())
            .stack_size(256 * 1024)
            .spawn(move || {
                assert_eq!(thread::current().name(), Some("worker"));
                for round in 0..6 {
                    while turn.load(Ordering::Acquire) != 2 * round + 1 {
                        thread::park();
                    }
                    turn.store(2 * round + 2, Ordering::Release);
                    main_thread.unpark();
                }
            })
            .unwrap()
    };
    for round in 0..6 {
        turn.store(2 * round + 1, Ordering::Release);
        worker.thread().unpark();
        while turn.load(Ordering::Acquire) != 2 * round + 2 {
            thread::park();
        }
    }
    worker.join().unwrap();

    thread::current().unpark();
    thread::park();
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(4) {
        thread::park_timeout(Duration::from_millis(4));
    }

    let sleeper = thread::spawn(|| {
        let start = Instant::now();
        thread::sleep(Duration::from_millis(2));
        assert!(start.elapsed() >= Duration::from_millis(2));
        thread::park_timeout(Duration::from_millis(50));
    });
    sleeper.thread().unpark();
    sleeper.join().unwrap();
}
