// A camera that must not block: frames that do not fit into the channel are dropped or tried again a limited number of
// times. The receiver waits with a timeout and does other work in the meantime.
use std::sync::mpsc::{sync_channel, Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError};
use std::thread;
use std::time::Duration;

const FRAMES: u32 = 6;

#[derive(Default, Debug)]
struct Sent {
    sent: u32,
    dropped: u32,
    failed_attempts: u32,
}

fn film(channel: SyncSender<Box<u32>>, patience: u32) -> Sent {
    let mut result = Sent::default();
    'frames: for number in 0..FRAMES {
        let mut frame = Box::new(number);
        for _ in 0..=patience {
            match channel.try_send(frame) {
                Ok(()) => {
                    result.sent += 1;
                    continue 'frames;
                }
                Err(TrySendError::Full(back)) => {
                    frame = back;
                    result.failed_attempts += 1;
                    thread::yield_now();
                }
                Err(TrySendError::Disconnected(_)) => unreachable!("the receiver stays until the end"),
            }
        }
        result.dropped += 1;
    }
    result
}

#[derive(Default, Debug)]
struct Received {
    frames: u32,
    idle: u32,
    pauses: u32,
}

fn show(channel: Receiver<Box<u32>>) -> Received {
    let mut result = Received::default();
    let mut last = None;
    loop {
        match channel.recv_timeout(Duration::from_millis(1)) {
            Ok(frame) => {
                assert!(last.is_none_or(|it| it < *frame));
                last = Some(*frame);
                result.frames += 1;
            }
            Err(RecvTimeoutError::Timeout) => result.idle += 1,
            Err(RecvTimeoutError::Disconnected) => return result,
        }
        match channel.try_recv() {
            Ok(frame) => {
                last = Some(*frame);
                result.frames += 1;
            }
            Err(TryRecvError::Empty) => result.pauses += 1,
            // The next look says so again.
            Err(TryRecvError::Disconnected) => {}
        }
    }
}

fn main() {
    for patience in [0, 3] {
        let (sender, receiver) = sync_channel(2);
        let camera = thread::spawn(move || film(sender, patience));
        let screen = thread::spawn(move || show(receiver));
        let (sent, received) = (camera.join().unwrap(), screen.join().unwrap());
        assert_eq!(sent.sent + sent.dropped, FRAMES);
        assert_eq!(received.frames, sent.sent);
        assert!(sent.failed_attempts >= sent.dropped);
        println!("{sent:?} {received:?}");
    }
}
