// corrected: the collector goes without a sample; a helper that always panics is main's own way to stop it
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let samples = Arc::new(Mutex::new(Vec::new()));
    let theirs = Arc::clone(&samples);
    let sensor = thread::spawn(move || theirs.lock().unwrap().push(21));
    let theirs = Arc::clone(&samples);
    let collector = thread::spawn(move || {
        let sample = theirs.lock().map(|it| it.last().copied());
        if let Ok(Some(sample)) = sample {
            assert_eq!(sample, 21);
        }
    });
    let helper = thread::spawn(|| panic!("stop"));
    let _ = sensor.join();
    let _ = collector.join();
    assert!(helper.join().is_err());
}
