// corrected: a worker takes its only task from a list if it is there already
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let tasks = Arc::new(Mutex::new(Vec::new()));
    let (done, over) = mpsc::channel::<()>();
    let mine = Arc::clone(&tasks);
    thread::spawn(move || {
        let _done = done;
        let task: Option<u32> = mine.lock().ok().and_then(|mut it| it.pop());
        assert_eq!(task.unwrap_or(7), 7);
    });
    if let Ok(mut tasks) = tasks.lock() {
        tasks.push(7);
    }
    assert!(over.recv().is_err());
}
