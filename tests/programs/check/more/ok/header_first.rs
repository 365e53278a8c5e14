// A file is sent through one channel: one thread sends the header, others send the parts. The receiver puts it together.
//@ none
use std::sync::mpsc::{self, Receiver};
use std::thread;

enum Message {
    Header(usize),
    Part(u32),
}

fn receive(messages: &Receiver<Message>) -> u32 {
    let mut sum = 0;
    for message in messages {
        match message {
            Message::Header(count) => assert_eq!(count, 2),
            Message::Part(part) => sum += part,
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
