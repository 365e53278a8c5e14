//! A receiver that no longer wants to wait closes its channel, and takes the value if it was sent before.

use std::thread;
use tokio::sync::oneshot;

fn main() {
    let (sender, mut receiver) = oneshot::channel::<String>();
    let sender = thread::spawn(move || sender.send("value".to_string()).is_ok());
    receiver.close();
    let received = receiver.try_recv();
    let sent = sender.join().unwrap();
    if let Ok(value) = &received {
        assert_eq!(value, "value");
    }
    assert!(sent || received.is_err(), "the value is on both sides");
}
