// A worker fills a shared report, says that it is done, and ends; main then takes the report out of its `Arc`.
//@ none
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
            drop(report);
            done.send(()).unwrap();
        }
    });
    is_done.recv().unwrap();
    let report = Arc::try_unwrap(report).expect("main is the last owner");
    worker.join().unwrap();
    assert_eq!(report.lines.into_inner().unwrap().len(), 1);
}
