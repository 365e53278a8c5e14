// hostile: no panic leaves a thread, but the machinery around it is used: hooks, thread names, backtraces captured, environment, args
use std::backtrace::Backtrace;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::{env, panic, thread};

fn main() {
    let seen = Arc::new(Mutex::new(HashMap::new()));
    let hook = panic::take_hook();
    panic::set_hook(hook);
    let threads: Vec<_> = (0..3)
        .map(|me| {
            let seen = Arc::clone(&seen);
            thread::Builder::new()
                .name(format!("worker {me}"))
                .spawn(move || {
                    let trace = Backtrace::force_capture().to_string();
                    let name = thread::current().name().unwrap().to_string();
                    seen.lock().unwrap().insert(name, trace.len());
                })
                .unwrap()
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let seen = seen.lock().unwrap();
    assert!(seen.len() == 3 && seen.values().all(|length| *length > 0));
    assert!(env::args().count() >= 1 && !thread::panicking());
}
