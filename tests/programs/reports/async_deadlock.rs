//! Two tasks of a small executor take two asynchronous locks in opposite order.

use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::future::Future;
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

type Task = Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>;

struct Queue {
    ready: Mutex<VecDeque<Arc<Runnable>>>,
    changed: Condvar,
}

struct Runnable {
    task: Task,
    queue: Arc<Queue>,
}

impl Wake for Runnable {
    fn wake(self: Arc<Self>) {
        let queue = self.queue.clone();
        queue.ready.lock().unwrap().push_back(self);
        queue.changed.notify_one();
    }
}

fn spawn(queue: &Arc<Queue>, future: impl Future<Output = ()> + Send + 'static) {
    let task: Task = Mutex::new(Some(Box::pin(future)));
    Arc::new(Runnable { task, queue: queue.clone() }).wake();
}

fn work(queue: &Queue) {
    loop {
        let mut ready = queue.ready.lock().unwrap();
        let runnable = loop {
            match ready.pop_front() {
                Some(runnable) => break runnable,
                None => ready = queue.changed.wait(ready).unwrap(),
            }
        };
        drop(ready);
        let waker = Waker::from(runnable.clone());
        let mut task = runnable.task.lock().unwrap();
        let Some(future) = task.as_mut() else { continue };
        if future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
            *task = None;
            DONE.lock().unwrap().0 += 1;
            if DONE.lock().unwrap().0 == 2 {
                std::process::exit(0);
            }
        }
    }
}

static DONE: Mutex<(u32,)> = Mutex::new((0,));

struct Lock<T> {
    state: Mutex<(bool, Vec<Waker>)>,
    value: UnsafeCell<T>,
}

unsafe impl<T: Send> Sync for Lock<T> {}

struct Guard<'a, T>(&'a Lock<T>);

struct Locking<'a, T>(&'a Lock<T>);

impl<T> Lock<T> {
    fn new(value: T) -> Self {
        Self { state: Mutex::default(), value: value.into() }
    }

    fn lock(&self) -> Locking<'_, T> {
        Locking(self)
    }
}

impl<'a, T> Future for Locking<'a, T> {
    type Output = Guard<'a, T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.0.state.lock().unwrap();
        if state.0 {
            state.1.push(context.waker().clone());
            return Poll::Pending;
        }
        state.0 = true;
        Poll::Ready(Guard(self.0))
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock().unwrap();
        state.0 = false;
        state.1.drain(..).for_each(Waker::wake);
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        unsafe { &mut *self.0.value.get() }
    }
}

async fn credit(savings: Arc<Lock<i64>>, current: Arc<Lock<i64>>) {
    let mut from = savings.lock().await;
    let mut to = current.lock().await;
    *from -= 10;
    *to += 10;
}

async fn debit(savings: Arc<Lock<i64>>, current: Arc<Lock<i64>>) {
    let mut from = current.lock().await;
    let mut to = savings.lock().await;
    *from -= 10;
    *to += 10;
}

fn main() {
    let queue = Arc::new(Queue { ready: Mutex::default(), changed: Condvar::new() });
    let (savings, current) = (Arc::new(Lock::new(100)), Arc::new(Lock::new(100)));
    spawn(&queue, credit(savings.clone(), current.clone()));
    spawn(&queue, debit(savings, current));
    let other = queue.clone();
    thread::spawn(move || work(&other));
    work(&queue);
}
