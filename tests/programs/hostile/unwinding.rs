// hostile: panics through threads and locks, thread-locals whose drop locks and spawns, threads that outlive main
use std::cell::RefCell;
use std::panic;
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

static DEPARTED: Mutex<u32> = Mutex::new(0);
static CHANGED: Condvar = Condvar::new();

/// The lock may be poisoned: its holders panic on purpose.
fn departed() -> MutexGuard<'static, u32> {
    DEPARTED.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Farewell(Vec<u32>);

impl Drop for Farewell {
    fn drop(&mut self) {
        let extra = self.0.len() as u32;
        thread::spawn(move || {
            *departed() += extra;
            CHANGED.notify_all();
        })
        .join()
        .unwrap();
    }
}

thread_local!(static LOCAL: RefCell<Farewell> = const { RefCell::new(Farewell(Vec::new())) });

fn lives(me: u32) {
    LOCAL.with_borrow_mut(|local| local.0.push(me));
    let caught = panic::catch_unwind(|| {
        let _guard = departed();
        if me % 2 == 0 {
            panic!("on purpose");
        }
    });
    assert_eq!(caught.is_err(), me % 2 == 0);
    if me == 3 {
        panic!("{me} is unlucky");
    }
}

fn main() {
    panic::set_hook(Box::new(|_| ()));
    let threads: Vec<_> = (0..5).map(|me| thread::spawn(move || lives(me))).collect();
    let failed = threads.into_iter().filter_map(|thread| thread.join().err());
    let messages: Vec<String> = failed.map(|it| *it.downcast::<String>().unwrap()).collect();
    assert_eq!(messages, ["3 is unlucky"]);
    let mut seen = departed();
    while *seen < 5 {
        seen = CHANGED.wait(seen).unwrap_or_else(PoisonError::into_inner);
    }
    drop(seen);
    // A pool that nobody ends: its threads wait for work when main returns.
    let (send, receive) = channel::<Box<dyn FnOnce() + Send>>();
    let receive = Arc::new(Mutex::new(receive));
    let (done, finished) = channel();
    for _ in 0..3 {
        let receive = Arc::clone(&receive);
        thread::spawn(move || loop {
            let work = receive.lock().unwrap().recv();
            work.unwrap()();
        });
    }
    for i in 0..6 {
        let done = done.clone();
        send.send(Box::new(move || done.send(i).unwrap())).unwrap();
    }
    let sum: u32 = finished.iter().take(6).sum();
    assert_eq!(sum, 15);
    thread::spawn(|| loop {
        thread::yield_now();
    });
    // The sender lives for ever, so the pool has no reason to end.
    std::mem::forget(send);
}
