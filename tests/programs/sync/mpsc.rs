// exercises: mpsc::channel and sync_channel (rendezvous and bounded): send, try_send, recv, try_recv, recv_timeout, iter, disconnection
use std::sync::mpsc::{self, RecvTimeoutError, TryRecvError, TrySendError};
use std::thread;
use std::time::Duration;

fn unbounded() {
    let (sender, receiver) = mpsc::channel();
    let threads: Vec<_> = (0..3_u32)
        .map(|me| {
            let sender = sender.clone();
            thread::spawn(move || (0..5).for_each(|i| sender.send(me * 10 + i).unwrap()))
        })
        .collect();
    drop(sender);
    let mut last = [None; 3];
    let mut sum = 0;
    for message in receiver.iter() {
        let from = (message / 10) as usize;
        assert!(last[from].is_none_or(|before| before < message));
        last[from] = Some(message);
        sum += message;
    }
    assert_eq!(sum, 3 * 10 + 5 * (0 + 10 + 20));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
}

fn rendezvous() {
    let (sender, receiver) = mpsc::sync_channel(0);
    let (answer, answers) = mpsc::sync_channel(1);
    let thread = thread::spawn(move || {
        for message in receiver {
            answer.send(message * 2).unwrap();
        }
    });
    for i in 0..4 {
        sender.send(i).unwrap();
        assert_eq!(answers.recv(), Ok(i * 2));
    }
    drop(sender);
    assert!(answers.recv().is_err());
    thread.join().unwrap();
}

fn bounded_and_timed() {
    let (sender, receiver) = mpsc::sync_channel(1);
    assert_eq!(sender.try_send(1), Ok(()));
    assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
    assert_eq!(receiver.try_recv(), Ok(1));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(
        receiver.recv_timeout(Duration::from_millis(3)),
        Err(RecvTimeoutError::Timeout)
    );
    let thread = thread::spawn(move || (0..4).for_each(|i| sender.send(i).unwrap()));
    let mut received = Vec::new();
    loop {
        match receiver.recv_timeout(Duration::from_secs(1)) {
            Ok(value) => received.push(value),
            Err(RecvTimeoutError::Timeout) => thread::yield_now(),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    assert_eq!(received, [0, 1, 2, 3]);
    thread.join().unwrap();
    let (sender, receiver) = mpsc::channel();
    drop(receiver);
    assert!(sender.send(5).is_err());
}

fn main() {
    unbounded();
    rendezvous();
    bounded_and_timed();
}
