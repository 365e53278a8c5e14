//@ expect: data-race write read
//@ also: data-race

// Two Treiber stacks between which nodes go round. A node goes back relaxed: whoever takes it next writes it while it
// may still be read.

use std::cell::UnsafeCell;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::thread;

struct Node {
    value: u32,
    next: *mut Node,
}

struct Memory(UnsafeCell<Node>);
unsafe impl Sync for Memory {}

static NODE: Memory = Memory(UnsafeCell::new(Node { value: 0, next: ptr::null_mut() }));
static FULL: AtomicPtr<Node> = AtomicPtr::new(ptr::null_mut());
static SPARE: AtomicPtr<Node> = AtomicPtr::new(ptr::null_mut());

fn push(stack: &AtomicPtr<Node>, node: *mut Node, order: Ordering) {
    let mut head = stack.load(Ordering::Relaxed);
    loop {
        unsafe { (*node).next = head };
        match stack.compare_exchange_weak(head, node, order, Ordering::Relaxed) {
            Ok(_) => return,
            Err(found) => head = found,
        }
    }
}

fn take_all(stack: &AtomicPtr<Node>) -> *mut Node {
    loop {
        let head = stack.swap(ptr::null_mut(), Ordering::Acquire);
        if !head.is_null() {
            return head;
        }
        thread::yield_now();
    }
}

fn produce() {
    for round in 0..2 {
        let node = take_all(&SPARE);
        unsafe { (*node).value = round }; // @write
        push(&FULL, node, Ordering::Release);
    }
}

fn consume() {
    for round in 0..2 {
        let node = take_all(&FULL);
        let value = unsafe { (*node).value }; // @read
        assert_eq!(value, round);
        push(&SPARE, node, Ordering::Relaxed);
    }
}

fn main() {
    push(&SPARE, NODE.0.get(), Ordering::Release);
    let producer = thread::spawn(produce);
    let consumer = thread::spawn(consume);
    producer.join().unwrap();
    consumer.join().unwrap();
}
