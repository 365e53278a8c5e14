// A worker fills a shared report, says that it is done, and ends; main then takes the report out of its `Arc`.
// bug: the worker says so before it has dropped its share, so main may not be the only owner yet
//@ expect: panic|atomicity-violation
//@ also: atomicity-violation
//@ consequence: panic
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Debug, Default)]
struct Report {
    lines: Mutex<Vec<String>>,
}

fn main() {
    let report = Arc::new(Report::default());
    let (done, is_done) = mpsc::channel();
    let worker = thread::spawn({
        let report = Arc::clone(&report);
        move || {
            report.lines.lock().unwrap().push("all well".to_owned());
            done.send(()).unwrap();
            drop(report);
        }
    });
    is_done.recv().unwrap();
    let report = Arc::try_unwrap(report).expect("main is the last owner");
    worker.join().unwrap();
    assert_eq!(report.lines.into_inner().unwrap().len(), 1);
}
