// Threads that wait for one another both ways, so that no order of whole threads exists: a rendezvous channel, an
// exchanger in which partners swap values, and a handshake of two flags.
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::sync::{Condvar, Mutex};
use std::thread;

/// Two threads meet and swap what they bring. Later pairs wait until the pair before has gone.
struct Exchanger<T> {
    state: Mutex<Meeting<T>>,
    changed: Condvar,
}

enum Meeting<T> {
    Empty,
    Waiting(T),
    Swapped(T),
}

impl<T> Exchanger<T> {
    fn new() -> Self {
        Self { state: Mutex::new(Meeting::Empty), changed: Condvar::new() }
    }

    fn swap(&self, own: T) -> T {
        let state = self.state.lock().unwrap();
        let mut state = self.changed.wait_while(state, |it| matches!(it, Meeting::Swapped(_))).unwrap();
        match std::mem::replace(&mut *state, Meeting::Empty) {
            Meeting::Waiting(other) => {
                *state = Meeting::Swapped(own);
                self.changed.notify_all();
                other
            }
            _ => {
                *state = Meeting::Waiting(own);
                // Only the partner turns this into `Swapped`, and no other thread takes it from there.
                let mut state = self.changed.wait_while(state, |it| !matches!(it, Meeting::Swapped(_))).unwrap();
                let Meeting::Swapped(other) = std::mem::replace(&mut *state, Meeting::Empty) else { unreachable!() };
                self.changed.notify_all();
                other
            }
        }
    }
}

/// Each of two threads tells the other that it is there, and goes on when the other is.
fn handshake(own: &AtomicU32, other: &AtomicU32, round: u32) -> u32 {
    own.store(round, Ordering::Release);
    let mut looks = 0;
    while other.load(Ordering::Acquire) < round {
        looks += 1;
        thread::yield_now();
    }
    looks
}

fn main() {
    let (ping, pong) = (mpsc::sync_channel(0), mpsc::sync_channel(0));
    thread::scope(|scope| {
        scope.spawn(move || {
            for number in 0..3 {
                ping.0.send(number).unwrap();
                assert_eq!(pong.1.recv(), Ok(number * 2));
            }
        });
        scope.spawn(move || {
            while let Ok(number) = ping.1.recv() {
                pong.0.send(number * 2).unwrap();
            }
        });
    });

    let exchanger = Exchanger::new();
    let mut received: Vec<usize> = thread::scope(|scope| {
        let exchanger = &exchanger;
        let threads: Vec<_> = (0..4).map(|own| scope.spawn(move || exchanger.swap(own))).collect();
        threads.into_iter().map(|it| it.join().unwrap()).collect()
    });
    println!("partners: {received:?}");
    assert!(received.iter().enumerate().all(|(own, other)| own != *other && received[*other] == own));
    received.sort();
    assert_eq!(received, [0, 1, 2, 3]);

    let flags: [AtomicU32; 2] = Default::default();
    let looks = thread::scope(|scope| {
        let first = scope.spawn(|| (1..4).map(|round| handshake(&flags[0], &flags[1], round)).sum::<u32>());
        let second = scope.spawn(|| (1..4).map(|round| handshake(&flags[1], &flags[0], round)).sum::<u32>());
        first.join().unwrap() + second.join().unwrap()
    });
    println!("{looks} looks");
}
