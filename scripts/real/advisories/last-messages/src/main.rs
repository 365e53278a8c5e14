//! Two threads send a few messages each; the receiver takes one at most and goes away.

use crossbeam_channel::unbounded;
use std::thread;

fn main() {
    let (sender, receiver) = unbounded::<String>();
    let senders: Vec<_> = (0..2)
        .map(|id| {
            let sender = sender.clone();
            thread::spawn(move || {
                for message in 0..2 {
                    if sender.send(format!("message {message} of {id}")).is_err() {
                        return;
                    }
                }
            })
        })
        .collect();
    drop(sender);
    if let Ok(message) = receiver.try_recv() {
        assert!(message.starts_with("message"));
    }
    drop(receiver);
    for sender in senders {
        sender.join().unwrap();
    }
}
