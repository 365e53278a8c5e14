// A file is sent through one channel: one thread sends the header, others send the parts. The receiver puts it together.
// bug: the receiver takes the first message for the header, but the parts may overtake it
//@ expect: panic
//@ consequence: panic
use std::sync::mpsc::{self, Receiver};
use std::thread;

enum Message {
    Header(usize),
    Part(u32),
}

fn receive(messages: &Receiver<Message>) -> u32 {
    let Ok(Message::Header(count)) = messages.recv() else {
        panic!("no header");
    };
    let mut sum = 0;
    for _ in 0..count {
        if let Ok(Message::Part(part)) = messages.recv() {
            sum += part;
        }
    }
    sum
}

fn main() {
    let (header, messages) = mpsc::channel();
    let part = header.clone();
    let threads = [
        thread::spawn(move || {
            header.send(Message::Header(2)).unwrap();
        }),
        thread::spawn(move || {
            part.send(Message::Part(30)).unwrap();
            part.send(Message::Part(12)).unwrap();
        }),
    ];
    let sum = receive(&messages);
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(sum, 42);
}
