// corrected: the worker starts once the opener has sent its message
use std::sync::mpsc;
use std::thread;

enum Message {
    Open(Vec<u32>),
    Add(u32),
}

fn main() {
    let (sender, receiver) = mpsc::channel();
    let opener = {
        let sender = sender.clone();
        thread::spawn(move || sender.send(Message::Open(vec![1])).unwrap())
    };
    let worker = thread::spawn(move || {
        opener.join().unwrap();
        for value in 2..4 {
            sender.send(Message::Add(value)).unwrap();
        }
    });
    let mut list = None;
    for message in receiver {
        match message {
            Message::Open(start) => list = Some(start),
            Message::Add(value) => list.as_mut().expect("the list is open").push(value),
        }
    }
    worker.join().unwrap();
    assert_eq!(list.unwrap(), [1, 2, 3]);
}
