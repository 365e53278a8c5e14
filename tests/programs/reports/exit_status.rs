// An exit status that no race leads to: the server may be asked before it has started.
use std::process::exit;
use std::sync::Mutex;
use std::thread;

static STARTED: Mutex<bool> = Mutex::new(false);

fn ask() {
    let started = *STARTED.lock().unwrap();
    if !started {
        exit(4);
    }
}

fn main() {
    let server = thread::spawn(|| *STARTED.lock().unwrap() = true);
    let client = thread::spawn(ask);
    server.join().unwrap();
    client.join().unwrap();
}
