// bug: the collector panics if it comes before the first sample; main joins it and does not look how it ended
// expect: panic
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let samples = Arc::new(Mutex::new(Vec::new()));
    let theirs = Arc::clone(&samples);
    let sensor = thread::spawn(move || theirs.lock().unwrap().push(21));
    let theirs = Arc::clone(&samples);
    let collector = thread::spawn(move || {
        let sample = theirs.lock().map(|it| it.last().copied());
        if let Ok(sample) = sample {
            assert_eq!(sample.expect("a sample"), 21);
        }
    });
    let _ = sensor.join();
    let _ = collector.join();
}
