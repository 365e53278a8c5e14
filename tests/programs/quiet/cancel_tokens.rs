// Cancellation tokens that form a tree: cancelling a token cancels its children, wakes those that wait and runs what
// was registered, once. Children may be made while their parent is being cancelled.
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, Weak};
use std::thread;
use std::time::Duration;

type Callback = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Token {
    is_cancelled: AtomicBool,
    inner: Mutex<Inner>,
    changed: Condvar,
}

#[derive(Default)]
struct Inner {
    children: Vec<Weak<Token>>,
    callbacks: Vec<Callback>,
}

impl Token {
    fn child(&self) -> Arc<Token> {
        let child = Arc::new(Token::default());
        let mut inner = self.inner.lock().unwrap();
        // The flag is set under the lock, so a child is either in the list that is cancelled, or sees it here.
        if self.is_cancelled.load(Ordering::Relaxed) {
            child.is_cancelled.store(true, Ordering::Relaxed);
        } else {
            inner.children.push(Arc::downgrade(&child));
        }
        child
    }

    fn on_cancel(&self, callback: impl FnOnce() + Send + 'static) {
        let mut inner = self.inner.lock().unwrap();
        if self.is_cancelled.load(Ordering::Relaxed) {
            drop(inner);
            callback();
        } else {
            inner.callbacks.push(Box::new(callback));
        }
    }

    fn cancel(&self) {
        let mut inner = self.inner.lock().unwrap();
        if self.is_cancelled.swap(true, Ordering::Release) {
            return;
        }
        let Inner { children, callbacks } = std::mem::take(&mut *inner);
        drop(inner);
        self.changed.notify_all();
        callbacks.into_iter().for_each(|callback| callback());
        children.iter().filter_map(Weak::upgrade).for_each(|child| child.cancel());
    }

    fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Acquire)
    }

    /// Whether it was cancelled before the time was over.
    fn sleep(&self, time: Duration) -> bool {
        let inner = self.inner.lock().unwrap();
        let (_inner, waited) = self.changed.wait_timeout_while(inner, time, |_| !self.is_cancelled()).unwrap();
        !waited.timed_out()
    }
}

fn main() {
    let root = Arc::new(Token::default());
    let callbacks = Arc::new(AtomicUsize::new(0));
    let mut beats = 0u32;
    thread::scope(|scope| {
        let (walker, sleeper) = (root.child(), root.child());
        let count = callbacks.clone();
        sleeper.on_cancel(move || _ = count.fetch_add(1, Ordering::Relaxed));
        scope.spawn(|| {
            let walker = walker;
            while !walker.is_cancelled() {
                beats += 1;
                thread::yield_now();
            }
        });
        scope.spawn(move || while !sleeper.sleep(Duration::from_millis(2)) {});
        scope.spawn(|| {
            let late = root.child();
            let grandchild = late.child();
            let count = callbacks.clone();
            grandchild.on_cancel(move || _ = count.fetch_add(1, Ordering::Relaxed));
            assert!(grandchild.sleep(Duration::from_secs(3600)));
        });
        scope.spawn(|| root.cancel());
        root.cancel();
    });
    assert!(root.child().is_cancelled());
    assert_eq!(callbacks.load(Ordering::Relaxed), 2);
    println!("{beats} beats");
}
