// bug: a worker takes its only task from a list that may still be empty, and nobody looks how it ends
// expect: panic
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let tasks = Arc::new(Mutex::new(Vec::new()));
    let (done, over) = mpsc::channel::<()>();
    let mine = Arc::clone(&tasks);
    thread::spawn(move || {
        let _done = done;
        let task: u32 = mine.lock().unwrap().pop().expect("a task");
        assert_eq!(task, 7);
    });
    tasks.lock().unwrap().push(7);
    assert!(over.recv().is_err());
}
