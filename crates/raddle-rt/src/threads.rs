//! Life of threads: stacks at fixed places, the trampoline, the end after the last destructor.

use core::ffi::c_void;
use core::sync::atomic::{AtomicU64, Ordering};

use raddle_trace::wire::{Mark, ThreadState};

use crate::real::Start;
use crate::sched::{self, SCHED};
use crate::sys;
use crate::thread::Thread;
use crate::tls;

/// Where thread stacks are placed, one behind another, never at the same address twice.
const STACKS: u64 = 0x1000_0000_0000;
/// Bytes below a stack that cannot be accessed.
pub const GUARD: u64 = 4096;
/// glibc calls destructors of thread-specific data in so many rounds.
const DESTRUCTOR_ROUNDS: u32 = 4;

static NEXT_STACK: AtomicU64 = AtomicU64::new(STACKS);
static mut END_KEY: libc::pthread_key_t = 0;

unsafe extern "C" {
    static __libc_stack_end: *const c_void;
}

/// Prepares main, the first thread.
pub fn note_main(main: &mut Thread) {
    // SAFETY: no other thread exists; the key is written once.
    unsafe {
        main.handle = libc::pthread_self();
        END_KEY = late_key();
        let top = __libc_stack_end as u64;
        let size = 8 << 20;
        main.stack = (top.saturating_sub(size), size);
    }
    watch_end();
}

/// A key whose destructor comes after those of the program's keys, because destructors are called by
/// number and the program gets the numbers below. Numbers above need memory from `malloc`.
fn late_key() -> libc::pthread_key_t {
    const LAST_WITHOUT_MEMORY: libc::pthread_key_t = 31;
    let mut below = [0; LAST_WITHOUT_MEMORY as usize];
    let mut count = 0;
    let mut key = 0;
    // SAFETY: keys are made and deleted by their only owner.
    unsafe {
        while libc::pthread_key_create(&raw mut key, Some(last_destructor)) == 0
            && key < LAST_WITHOUT_MEMORY
        {
            below[count] = key;
            count += 1;
        }
        for &unwanted in &below[..count] {
            libc::pthread_key_delete(unwanted);
        }
    }
    key
}

/// Has [`last_destructor`] called when this thread ends.
fn watch_end() {
    // SAFETY: the key was made by `note_main`.
    unsafe { libc::pthread_setspecific(END_KEY, core::ptr::without_provenance(1)) };
}

/// A stack of at least `bytes`, with a guard page below. None if there is no memory.
pub fn new_stack(bytes: u64) -> Option<(u64, u64)> {
    let bytes = bytes.checked_next_multiple_of(1 << 16)?;
    // Only the thread that has the turn creates another.
    let start = NEXT_STACK.load(Ordering::Relaxed);
    let next = start.checked_add(bytes)?.checked_add(1 << 16)?;
    let mapped = sys::map_anonymous(start, bytes + GUARD);
    if mapped.is_null() {
        return None;
    }
    NEXT_STACK.store(next, Ordering::Relaxed);
    sys::protect_none(start, GUARD);
    Some((start + GUARD, bytes))
}

/// Unmaps the stack of a thread that the kernel no longer knows.
pub fn free_stack(thread: &mut Thread) {
    if core::mem::take(&mut thread.own_stack) {
        sys::unmap(thread.stack.0 - GUARD, thread.stack.1 + GUARD);
    }
}

/// Unmaps the stacks of detached threads that are gone by now.
pub fn reap_detached() {
    let mut s = SCHED.lock();
    for id in 0..s.threads.len() {
        let thread = s.threads.get_mut(id);
        let over = thread.state == ThreadState::Ended && thread.detached && thread.own_stack;
        if over && crate::proc::is_gone(thread.os_tid) {
            free_stack(thread);
        }
    }
}

/// What a scheduled thread runs instead of its start routine.
pub extern "C" fn trampoline(record: *mut c_void) -> *mut c_void {
    // SAFETY: the creator passed the thread's own record, which stays at its address.
    let me = unsafe { &mut *record.cast::<Thread>() };
    me.depth = 1;
    // SAFETY: takes no arguments.
    me.handle = unsafe { libc::pthread_self() };
    sched::begin(me);
    watch_end();
    let (low, size) = me.stack;
    sched::mark(me, Mark::Begin, me.creator.into(), low, 0, size);
    let (start, argument) = me.start;
    me.depth = 0;
    // SAFETY: the address came from the program's `pthread_create`.
    let start: Start = unsafe { core::mem::transmute::<u64, Start>(start) };
    // While the thread waited for its first turn, the runtime left values in them that depend on how long that took.
    tls::forget_arguments();
    start(argument as *mut c_void)
}

/// Takes a thread under control that libc started by itself (to notify of a timer, say), when it
/// first executes instrumented code.
pub fn adopt() {
    let control = crate::control::get();
    // SAFETY: the head stays mapped once it is.
    if control.is_null() || unsafe { (*control).started == 0 } {
        return;
    }
    let Some(me) = SCHED.lock().adopt_thread() else {
        return;
    };
    // SAFETY: a record stays at its address, and this one is the calling thread's alone.
    let me = unsafe { &mut *me };
    me.depth = 1;
    // SAFETY: takes no arguments.
    me.handle = unsafe { libc::pthread_self() };
    me.detached = true;
    sched::begin(me);
    watch_end();
    sched::mark(me, Mark::Begin, u64::MAX, 0, 0, 0);
    me.depth = 0;
}

/// Ends the thread when all its destructors have run. Registered as the destructor of a key, it
/// puts itself off until glibc's last round.
unsafe extern "C" fn last_destructor(_value: *mut c_void) {
    let me = tls::me();
    if me.is_null() {
        return;
    }
    // SAFETY: the thread's own record.
    let me = unsafe { &mut *me };
    me.end_rounds += 1;
    if me.end_rounds < DESTRUCTOR_ROUNDS {
        return watch_end();
    }
    me.depth = 1;
    if me.adrift {
        sched::come_back(me);
    }
    if SCHED.lock().alive() == 1 {
        // The last thread's end is the process's: libc calls `exit` on it, if it counts no other.
        sched::settle_exits();
        me.depth = 0;
        return;
    }
    sched::flush_branches(me);
    sched::mark(me, Mark::End, 0, 0, 0, 0);
    sched::end(me);
    tls::set_cur(core::ptr::null_mut());
    tls::set_lim(core::ptr::null_mut());
}
