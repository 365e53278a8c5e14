// Threads claim slots of an arena and fill them in; a reader adds up the slots that are in use.
// bug: a slot counts as used when it is claimed, which is before it is filled in
//@ expect: data-race fill read
//@ consequence: none|panic
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

struct Arena {
    used: AtomicUsize,
    slots: [UnsafeCell<MaybeUninit<u32>>; 4],
}

// SAFETY: a slot is written by the thread that claimed it.
unsafe impl Sync for Arena {}

static ARENA: Arena = Arena {
    used: AtomicUsize::new(0),
    slots: [const { UnsafeCell::new(MaybeUninit::uninit()) }; 4],
};

fn add(value: u32) {
    let at = ARENA.used.fetch_add(1, Ordering::AcqRel);
    // SAFETY: nobody else has claimed this slot.
    unsafe { (*ARENA.slots[at].get()).write(value) }; // @fill
}

fn sum() -> u32 {
    let used = ARENA.used.load(Ordering::Acquire);
    let mut sum = 0;
    for at in 0..used {
        // SAFETY: the slot is in use.
        sum += unsafe { *(*ARENA.slots[at].get()).as_ptr() }; // @read
    }
    sum
}

fn main() {
    let reader = thread::spawn(sum);
    let writers = [thread::spawn(|| add(10)), thread::spawn(|| add(10))];
    let seen = reader.join().unwrap();
    for writer in writers {
        writer.join().unwrap();
    }
    assert!(seen % 10 == 0);
}
