//! What one thread does to others: wakes, signals, ends.

use core::sync::atomic::{AtomicU32, Ordering};

use raddle_trace::wire::{Mark, ThreadState};

use super::SCHED;
use crate::proc;
use crate::sys;
use crate::thread::{Thread, Tid};
use crate::tls;

/// Looks for a thread's end before there is a pause between them, and how long that is.
const QUICK_LOOKS: u32 = 16;
const LOOK_EVERY_NS: u64 = 20_000;

/// Threads that wait for something other than the end of a thread. Who has the turn and finds none need not
/// look for them: a thread counts itself before it gives the turn away, and until it has the turn again.
pub(super) static WAITING: AtomicU32 = AtomicU32::new(0);

/// Marks every thread that waits for `object` with one of `kinds` as worth another try, or, with
/// `woken` false, as not.
pub fn set_woken(object: u64, kinds: &[Mark], woken: bool) {
    if WAITING.load(Ordering::Relaxed) == 0 {
        return;
    }
    let mut s = SCHED.lock();
    for &id in s.active() {
        let waker = s.current;
        let thread = s.threads.get_mut(id);
        let waits = thread.state == ThreadState::Blocked && thread.wait.object == object;
        if waits && kinds.contains(&thread.wait.kind) {
            thread.wait.woken = woken;
            thread.wait.waker = waker;
        }
    }
}

/// Wakes up to `most` waiters of `object`, longest-waiting first. Returns how many.
pub fn wake_waiters(object: u64, kind: Mark, most: u64, bitset: u32) -> u64 {
    if WAITING.load(Ordering::Relaxed) == 0 {
        return 0;
    }
    let mut s = SCHED.lock();
    let waker = s.current;
    let mut count = 0;
    while count < most {
        let waits = |id: &&Tid| {
            let thread = s.threads.get(**id);
            thread.state == ThreadState::Blocked
                && thread.wait.object == object
                && thread.wait.kind == kind
                && !thread.wait.woken
                && thread.wait.bitset & bitset != 0
        };
        let first = s
            .active()
            .iter()
            .filter(waits)
            .min_by_key(|&&id| s.threads.get(id).wait.ticket);
        let Some(&id) = first else { break };
        let wait = &mut s.threads.get_mut(id).wait;
        wait.woken = true;
        wait.waker = waker;
        count += 1;
    }
    count
}

/// Sends a signal to another thread, which takes it when it gets the turn. False if the thread is
/// outside the scheduler: the kernel may deliver it.
pub fn send_signal(target: Tid, signal: u32) -> bool {
    let mut s = SCHED.lock();
    let thread = s.threads.get_mut(target);
    let here = !matches!(
        thread.state,
        ThreadState::Outside | ThreadState::Ended | ThreadState::None
    );
    if here {
        thread.signals |= 1 << signal;
    }
    here
}

/// Moves up to `most` waiters of one futex to another. Returns how many.
pub fn requeue(from: u64, to: u64, most: u64) -> u64 {
    let mut s = SCHED.lock();
    let mut count = 0;
    for &id in s.active() {
        let thread = s.threads.get_mut(id);
        let waits = thread.state == ThreadState::Blocked
            && thread.wait.object == from
            && thread.wait.kind == Mark::FutexWake
            && !thread.wait.woken;
        if waits && count < most {
            thread.wait.object = to;
            count += 1;
        }
    }
    count
}

/// Waits until the kernel has let go of every thread that ended: only then are its robust mutexes
/// marked and does libc no longer count it.
pub fn settle_exits() {
    tls::on_own_stack(|| {
        let mut s = SCHED.lock();
        for id in 0..s.threads.len() {
            settle(s.threads.get_mut(id));
        }
    });
}

/// The same of one thread.
pub fn settle_exit(id: Tid) {
    tls::on_own_stack(|| settle(SCHED.lock().threads.get_mut(id)));
}

fn settle(thread: &mut Thread) {
    if thread.state != ThreadState::Ended || thread.gone {
        return;
    }
    // It has little left to do.
    let mut looks = 0;
    while !proc::is_gone(thread.os_tid) {
        looks += 1;
        match looks < QUICK_LOOKS {
            true => sys::yield_real(),
            false => sys::sleep_real(LOOK_EVERY_NS),
        }
    }
    thread.gone = true;
}
