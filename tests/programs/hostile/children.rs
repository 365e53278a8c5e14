// hostile: helpers started with std::process from several threads, fed and read through pipes, killed and waited for
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

static FED: AtomicU32 = AtomicU32::new(0);

fn feeds(me: u32) {
    let mut child = Command::new("cat")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let writer = thread::spawn(move || write!(input, "told by {me}").unwrap());
    let mut text = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    writer.join().unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(text, format!("told by {me}"));
    FED.fetch_add(1, Ordering::Relaxed);
}

fn main() {
    let mut threads: Vec<_> = (0..2).map(|me| thread::spawn(move || feeds(me))).collect();
    threads.push(thread::spawn(|| {
        let output = Command::new("sh")
            .args(["-c", "echo $GIVEN; exit 3"])
            .env("GIVEN", "yes")
            .output()
            .unwrap();
        assert_eq!(
            (output.status.code(), output.stdout.as_slice()),
            (Some(3), &b"yes\n"[..])
        );
    }));
    threads.push(thread::spawn(|| {
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        child.kill().unwrap();
        assert!(!child.wait().unwrap().success());
    }));
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(FED.load(Ordering::Relaxed), 2);
    // Nobody waits for this one, and the process ends while it waits for the lock.
    let lock: &'static std::sync::Mutex<()> = Box::leak(Box::default());
    let guard = lock.lock().unwrap();
    thread::spawn(|| drop(lock.lock()));
    drop(guard);
    std::process::exit(0);
}
