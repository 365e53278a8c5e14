//! A stack without locks (indices with a version against ABA), and counters.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

const NODES: u32 = 1024;
const ROUNDS: usize = 500_000;

struct Stack {
    top: AtomicU64,
    next: Vec<AtomicU32>,
    pushes: AtomicU64,
    pops: AtomicU64,
}

impl Stack {
    fn push(&self, node: u32) {
        let mut old = self.top.load(Ordering::SeqCst);
        loop {
            self.next[node as usize].store(old as u32, Ordering::Relaxed);
            let new = ((old >> 32) + 1) << 32 | u64::from(node);
            match self
                .top
                .compare_exchange_weak(old, new, Ordering::SeqCst, Ordering::SeqCst)
            {
                Ok(_) => break,
                Err(now) => old = now,
            }
        }
        self.pushes.fetch_add(1, Ordering::Relaxed);
    }

    fn pop(&self) -> Option<u32> {
        let mut old = self.top.load(Ordering::SeqCst);
        loop {
            let node = old as u32;
            if node == 0 {
                return None;
            }
            let after = self.next[node as usize].load(Ordering::Relaxed);
            let new = ((old >> 32) + 1) << 32 | u64::from(after);
            match self
                .top
                .compare_exchange_weak(old, new, Ordering::SeqCst, Ordering::SeqCst)
            {
                Ok(_) => break,
                Err(now) => old = now,
            }
        }
        self.pops.fetch_add(1, Ordering::Relaxed);
        Some(old as u32)
    }
}

fn main() {
    let stack = Stack {
        top: AtomicU64::new(0),
        next: (0..=NODES).map(|_| AtomicU32::new(0)).collect(),
        pushes: AtomicU64::new(0),
        pops: AtomicU64::new(0),
    };
    (1..=NODES).for_each(|node| stack.push(node));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    if let Some(node) = stack.pop() {
                        stack.push(node);
                    }
                }
            });
        }
    });
    println!("{}", stack.pushes.into_inner() - stack.pops.into_inner());
}
