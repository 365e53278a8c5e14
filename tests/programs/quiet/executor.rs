// A hand-written executor: tasks that requeue themselves when they are woken, workers that sleep on a condition
// variable, and an async mutex with a queue of wakers. It ends when all tasks are done.
use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::future::{poll_fn, Future};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

type Job = Pin<Box<dyn Future<Output = ()> + Send>>;

#[derive(Default)]
struct Executor {
    ready: Mutex<VecDeque<Arc<Task>>>,
    changed: Condvar,
    unfinished: AtomicUsize,
}

struct Task {
    job: Mutex<Option<Job>>,
    executor: Arc<Executor>,
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        let executor = self.executor.clone();
        executor.ready.lock().unwrap().push_back(self);
        executor.changed.notify_one();
    }
}

impl Executor {
    fn spawn(self: &Arc<Self>, job: impl Future<Output = ()> + Send + 'static) {
        self.unfinished.fetch_add(1, Ordering::Relaxed);
        let task = Task { job: Mutex::new(Some(Box::pin(job))), executor: self.clone() };
        Arc::new(task).wake();
    }

    fn next(&self) -> Option<Arc<Task>> {
        let ready = self.ready.lock().unwrap();
        let mut ready = self
            .changed
            .wait_while(ready, |it| it.is_empty() && self.unfinished.load(Ordering::Acquire) > 0)
            .unwrap();
        ready.pop_front()
    }

    fn work(&self) {
        while let Some(task) = self.next() {
            let waker = Waker::from(task.clone());
            let mut slot = task.job.lock().unwrap();
            let Some(job) = slot.as_mut() else { continue };
            if job.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
                *slot = None;
                if self.unfinished.fetch_sub(1, Ordering::AcqRel) == 1 {
                    // The lock keeps a worker from falling asleep between its look and its wait.
                    drop(self.ready.lock().unwrap());
                    self.changed.notify_all();
                }
            }
        }
    }
}

/// A mutex whose waiters are tasks.
struct AsyncMutex<T> {
    state: Mutex<(bool, VecDeque<Waker>)>,
    value: UnsafeCell<T>,
}

// SAFETY: the value is accessed between `lock` and `unlock` only, by one task at a time.
unsafe impl<T: Send> Sync for AsyncMutex<T> {}

impl<T> AsyncMutex<T> {
    fn new(value: T) -> Self {
        Self { state: Mutex::default(), value: UnsafeCell::new(value) }
    }

    async fn with<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        poll_fn(|context| {
            let mut state = self.state.lock().unwrap();
            if state.0 {
                state.1.push_back(context.waker().clone());
                return Poll::Pending;
            }
            state.0 = true;
            Poll::Ready(())
        })
        .await;
        // SAFETY: the flag is set by this task.
        let result = change(unsafe { &mut *self.value.get() });
        let mut state = self.state.lock().unwrap();
        state.0 = false;
        let next = state.1.pop_front();
        drop(state);
        if let Some(waker) = next {
            waker.wake();
        }
        result
    }
}

/// Lets other tasks go first, once.
async fn yield_now() {
    let mut has_yielded = false;
    poll_fn(|context| {
        if has_yielded {
            return Poll::Ready(());
        }
        has_yielded = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}

fn main() {
    let executor = Arc::new(Executor::default());
    let ledger = Arc::new(AsyncMutex::new(Vec::new()));
    for number in 0..3 {
        let ledger = ledger.clone();
        executor.spawn(async move {
            for entry in 0..2 {
                ledger.with(|lines| lines.push((number, entry))).await;
                yield_now().await;
            }
        });
    }
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| executor.work());
        }
    });
    let ledger = Arc::into_inner(ledger).expect("tasks that are done have dropped their share");
    let mut lines = ledger.value.into_inner();
    println!("{lines:?}");
    lines.sort();
    assert_eq!(lines, [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]);
}
