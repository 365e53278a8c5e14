// An async channel between tasks on different threads, each thread with a `block_on` that parks. A join of two futures
// polls both with the same waker.
use std::collections::VecDeque;
use std::future::{poll_fn, Future};
use std::pin::{pin, Pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

struct Parked {
    thread: Thread,
    is_woken: AtomicBool,
}

impl Wake for Parked {
    fn wake(self: Arc<Self>) {
        if !self.is_woken.swap(true, Ordering::AcqRel) {
            self.thread.unpark();
        }
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let parked = Arc::new(Parked { thread: thread::current(), is_woken: AtomicBool::new(false) });
    let waker = Waker::from(parked.clone());
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        while !parked.is_woken.swap(false, Ordering::AcqRel) {
            thread::park();
        }
    }
}

struct Channel<T> {
    state: Mutex<State<T>>,
}

struct State<T> {
    messages: VecDeque<T>,
    senders: usize,
    receiver: Option<Waker>,
    blocked: Vec<Waker>,
}

const CAPACITY: usize = 2;

impl<T> Channel<T> {
    fn new(senders: usize) -> Self {
        let state = State { messages: VecDeque::new(), senders, receiver: None, blocked: Vec::new() };
        Self { state: Mutex::new(state) }
    }

    async fn send(&self, message: T) {
        let mut message = Some(message);
        poll_fn(|context| {
            let mut state = self.state.lock().unwrap();
            if state.messages.len() == CAPACITY {
                state.blocked.push(context.waker().clone());
                return Poll::Pending;
            }
            state.messages.extend(message.take());
            if let Some(waker) = state.receiver.take() {
                waker.wake();
            }
            Poll::Ready(())
        })
        .await
    }

    fn close(&self) {
        let mut state = self.state.lock().unwrap();
        state.senders -= 1;
        if let Some(waker) = state.receiver.take() {
            waker.wake();
        }
    }

    async fn receive(&self) -> Option<T> {
        poll_fn(|context| {
            let mut state = self.state.lock().unwrap();
            if let Some(message) = state.messages.pop_front() {
                state.blocked.drain(..).for_each(Waker::wake);
                return Poll::Ready(Some(message));
            }
            if state.senders == 0 {
                return Poll::Ready(None);
            }
            state.receiver = Some(context.waker().clone());
            Poll::Pending
        })
        .await
    }
}

/// Both futures, at the same time.
async fn join(first: impl Future<Output = u32>, second: impl Future<Output = u32>) -> (u32, u32) {
    let (mut first, mut second) = (pin!(first), pin!(second));
    let mut done = (None, None);
    fn advance(future: Pin<&mut impl Future<Output = u32>>, done: &mut Option<u32>, context: &mut Context) {
        if done.is_none() {
            if let Poll::Ready(output) = future.poll(context) {
                *done = Some(output);
            }
        }
    }
    poll_fn(|context| {
        advance(first.as_mut(), &mut done.0, context);
        advance(second.as_mut(), &mut done.1, context);
        match done {
            (Some(first), Some(second)) => Poll::Ready((first, second)),
            _ => Poll::Pending,
        }
    })
    .await
}

async fn sum(channel: &Channel<Box<u32>>) -> u32 {
    let mut sum = 0;
    while let Some(message) = channel.receive().await {
        sum += *message;
    }
    sum
}

fn main() {
    let (odd, even) = (Channel::new(2), Channel::new(2));
    let send = |numbers: [u32; 4]| {
        block_on(async {
            for number in numbers {
                let channel = if number % 2 == 1 { &odd } else { &even };
                channel.send(Box::new(number)).await;
            }
            odd.close();
            even.close();
        })
    };
    thread::scope(|scope| {
        scope.spawn(|| send([1, 2, 3, 4]));
        scope.spawn(|| send([5, 6, 7, 8]));
        let sums = block_on(join(sum(&odd), sum(&even)));
        assert_eq!(sums, (16, 20));
    });
    println!("received");
}
