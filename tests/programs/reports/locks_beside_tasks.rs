//! A cycle of two locks, in a program that also has a suspended task.

use std::future::Future;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};
use std::thread;

static LEFT: Mutex<u32> = Mutex::new(0);
static RIGHT: Mutex<u32> = Mutex::new(0);

struct Never;

impl Future for Never {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }
}

async fn idle() {
    Never.await;
}

fn main() {
    let mut task = Box::pin(idle());
    let _ = task.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    let other = thread::spawn(|| {
        let _left = LEFT.lock().unwrap();
        let _right = RIGHT.lock().unwrap();
    });
    {
        let _right = RIGHT.lock().unwrap();
        let _left = LEFT.lock().unwrap();
    }
    other.join().unwrap();
}
