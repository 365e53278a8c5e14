// hostile: what std does around threads: panic hooks, catch_unwind, thread names, environment, directories, output
use std::collections::HashMap;
use std::io::{Write, stdout};
use std::sync::{Arc, Mutex};
use std::{env, fs, panic, process, thread};

fn main() {
    let seen = Arc::new(Mutex::new(HashMap::new()));
    let hook = panic::take_hook();
    panic::set_hook(hook);
    env::set_var("RADDLE_PROBE", "set");
    let threads: Vec<_> = (0..3)
        .map(|me| {
            let seen = Arc::clone(&seen);
            thread::Builder::new()
                .name(format!("worker {me}"))
                .spawn(move || {
                    let name = thread::current().name().unwrap().to_string();
                    let value = env::var("RADDLE_PROBE").unwrap();
                    let sum = panic::catch_unwind(|| (0..10).sum::<u32>()).unwrap();
                    assert!(fs::metadata("/").unwrap().is_dir() && env::current_dir().is_ok());
                    writeln!(stdout(), "{name}: {value} {sum}").unwrap();
                    seen.lock().unwrap().insert(name, sum);
                })
                .unwrap()
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let seen = seen.lock().unwrap();
    assert!(seen.len() == 3 && seen.values().all(|sum| *sum == 45));
    assert!(!thread::panicking() && process::id() != 0);
}
