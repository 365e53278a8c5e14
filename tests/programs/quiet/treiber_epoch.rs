// Treiber's stack over a small epoch scheme: threads pin the epoch while they look at nodes, and nodes that were popped
// are dropped two epochs later.
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::*};
use std::sync::Mutex;
use std::thread;

const THREADS: usize = 3;
const OUTSIDE: usize = usize::MAX;

struct Node<T> {
    value: ManuallyDrop<T>,
    next: *mut Node<T>,
}

struct Stack<T> {
    top: AtomicPtr<Node<T>>,
    epoch: AtomicUsize,
    pinned: [AtomicUsize; THREADS],
    garbage: Mutex<Vec<(usize, *mut Node<T>)>>,
    reclaimed: AtomicUsize,
}

// SAFETY: values move from one thread to another; nodes are freed when no thread has them any more.
unsafe impl<T: Send> Sync for Stack<T> {}

impl<T> Stack<T> {
    fn new() -> Self {
        Self {
            top: AtomicPtr::default(),
            epoch: AtomicUsize::new(0),
            pinned: [const { AtomicUsize::new(OUTSIDE) }; THREADS],
            garbage: Mutex::default(),
            reclaimed: AtomicUsize::new(0),
        }
    }

    fn push(&self, value: T) {
        let node = Box::into_raw(Box::new(Node { value: ManuallyDrop::new(value), next: ptr::null_mut() }));
        let mut top = self.top.load(Relaxed);
        loop {
            // SAFETY: no other thread knows the node yet.
            unsafe { (*node).next = top };
            match self.top.compare_exchange_weak(top, node, Release, Relaxed) {
                Ok(_) => return,
                Err(now) => top = now,
            }
        }
    }

    fn pop(&self, thread: usize) -> Option<T> {
        // Sequentially consistent with the look at all pins in `retire`.
        self.pinned[thread].store(self.epoch.load(SeqCst), SeqCst);
        let mut top = self.top.load(SeqCst);
        let popped = loop {
            if top.is_null() {
                break None;
            }
            // SAFETY: pinned: the node is not freed.
            let next = unsafe { (*top).next };
            match self.top.compare_exchange(top, next, SeqCst, SeqCst) {
                Ok(_) => break Some(top),
                Err(now) => top = now,
            }
        };
        // SAFETY: the thread that took the node out takes its value, which no other thread looks at.
        let value = popped.map(|node| unsafe { ptr::read(&*(*node).value) });
        self.pinned[thread].store(OUTSIDE, Release);
        if let Some(node) = popped {
            self.retire(node);
        }
        value
    }

    fn retire(&self, node: *mut Node<T>) {
        let mut garbage = self.garbage.lock().unwrap();
        let now = self.epoch.load(SeqCst);
        garbage.push((now, node));
        let is_current = |pin: &AtomicUsize| matches!(pin.load(SeqCst), epoch if epoch == now || epoch == OUTSIDE);
        if self.pinned.iter().all(is_current) {
            // The lock keeps others from turning the epoch at the same time.
            self.epoch.store(now + 1, SeqCst);
            garbage.retain(|&(epoch, node)| {
                let is_old = epoch + 2 <= now + 1;
                if is_old {
                    // SAFETY: whatever had it was pinned in an epoch that is over.
                    drop(unsafe { Box::from_raw(node) });
                    self.reclaimed.fetch_add(1, Relaxed);
                }
                !is_old
            });
        }
    }
}

impl<T> Drop for Stack<T> {
    fn drop(&mut self) {
        while self.pop(0).is_some() {}
        for (_, node) in self.garbage.get_mut().unwrap().drain(..) {
            // SAFETY: the stack is no longer shared.
            drop(unsafe { Box::from_raw(node) });
        }
    }
}

fn main() {
    let stack = Stack::new();
    let (mut count, mut sum) = (0, 0);
    thread::scope(|scope| {
        let stack = &stack;
        let use_it = move |own: usize| {
            let mut got = Vec::new();
            for i in 0..3 {
                stack.push(Box::new(own * 3 + i));
                got.extend(stack.pop(own));
            }
            got
        };
        let workers: Vec<_> = (0..THREADS).map(|own| scope.spawn(move || use_it(own))).collect();
        for value in workers.into_iter().flat_map(|it| it.join().unwrap()) {
            count += 1;
            sum += *value;
        }
    });
    while let Some(value) = stack.pop(0) {
        count += 1;
        sum += *value;
    }
    assert_eq!((count, sum), (9, 36));
    println!("reclaimed early: {}", stack.reclaimed.load(Relaxed));
}
