// exercises: Rust atomics of every width and ordering: fetch_*, swap, compare_exchange, fetch_update, AtomicPtr, fences
use std::ptr;
use std::sync::atomic::{
    fence, AtomicBool, AtomicI16, AtomicI64, AtomicPtr, AtomicU32, AtomicU8, AtomicUsize,
    Ordering::*,
};
use std::thread;

struct Node {
    value: usize,
    next: *mut Node,
}

/// A stack to which threads push; it is taken apart when they are done.
static HEAD: AtomicPtr<Node> = AtomicPtr::new(ptr::null_mut());
static BYTE: AtomicU8 = AtomicU8::new(0);
static SHORT: AtomicI16 = AtomicI16::new(0);
static WORD: AtomicU32 = AtomicU32::new(0);
static WIDE: AtomicI64 = AtomicI64::new(0);
static HIGHEST: AtomicUsize = AtomicUsize::new(0);
static DATA: AtomicU32 = AtomicU32::new(0);
static READY: AtomicBool = AtomicBool::new(false);

fn push(value: usize) {
    let node = Box::into_raw(Box::new(Node {
        value,
        next: HEAD.load(Relaxed),
    }));
    // The node is ours until the exchange succeeds.
    while let Err(now) = HEAD.compare_exchange_weak(unsafe { (*node).next }, node, AcqRel, Acquire)
    {
        unsafe { (*node).next = now };
    }
}

fn main() {
    thread::scope(|scope| {
        for me in 0..3_usize {
            scope.spawn(move || {
                for i in 0..5 {
                    push(me * 10 + i);
                    BYTE.fetch_add(1, Relaxed);
                    SHORT.fetch_sub(2, Acquire);
                    WORD.fetch_xor(1 << me, Release);
                    WIDE.fetch_add(1 << 33, AcqRel);
                    HIGHEST.fetch_max(me * 10 + i, SeqCst);
                    WIDE.fetch_update(SeqCst, Relaxed, |wide| Some(wide + 1))
                        .unwrap();
                }
            });
        }
        scope.spawn(|| {
            DATA.store(42, Relaxed);
            fence(Release);
            READY.store(true, Relaxed);
        });
        if READY.load(Relaxed) {
            fence(Acquire);
            assert_eq!(DATA.load(Relaxed), 42);
        }
    });
    assert_eq!(BYTE.load(SeqCst), 15);
    assert_eq!(SHORT.load(Acquire), -30);
    assert_eq!(WORD.swap(9, SeqCst), 0b111);
    assert_eq!(WIDE.load(Relaxed), (15 << 33) + 15);
    assert_eq!(HIGHEST.load(Relaxed), 24);
    assert_eq!(WORD.compare_exchange(8, 1, SeqCst, SeqCst), Err(9));
    let (mut sum, mut node) = (0, HEAD.swap(ptr::null_mut(), Acquire));
    while !node.is_null() {
        let boxed = unsafe { Box::from_raw(node) };
        sum += boxed.value;
        node = boxed.next;
    }
    assert_eq!(sum, 3 * 10 + 5 * 30);
}
