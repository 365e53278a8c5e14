//! What a parked thread does while it waits: it watches the one that runs.
//!
//! A running thread may block in a call that nobody modelled (a foreign library's futex). A parked
//! thread that finds it asleep in the kernel twice in a row, at the same event, takes the turn away. So
//! does one that finds it running for long at the same event: it spins in code without events.
//! It also wakes itself when nobody has the turn because all that could go on are outside.

use core::sync::atomic::Ordering;

use raddle_trace::wire::{Slot, ThreadState};

use crate::proc;
use crate::sched::{SCHED, Scheduler, processor_ns};
use crate::sys;
use crate::thread::{NOBODY, Thread, Tid};

/// How long a thread is parked before it looks around.
const LOOK_EVERY_NS: u64 = 10_000_000;
/// With so many threads alive each looks half as often, and so on.
const CROWD: usize = 32;

/// Parks until the turn is handed to `me`.
pub fn wait_for_turn(me: &mut Thread) {
    let mut suspect = None;
    // What the clock would show by now if it had gone on as real time does since the thread was parked.
    let mut due_ns = None;
    while me.parker.load(Ordering::Acquire) == 0 {
        let s = SCHED.lock();
        let crowd = 1 + s.alive() / CROWD;
        let before_ns = due_ns.unwrap_or_else(|| s.now_ns());
        drop(s);
        let pause = LOOK_EVERY_NS * crowd as u64;
        if !sys::futex_wait(&me.parker, 0, Some(pause)) {
            let now_ns = before_ns + pause;
            due_ns = Some(now_ns);
            suspect = look_around(me, suspect, now_ns);
        }
    }
}

/// A thread that has the turn, outside the runtime, and does nothing that shows.
#[derive(Clone, Copy)]
struct Suspect {
    id: Tid,
    cursor: *mut Slot,
    asleep: bool,
    /// How long it had used the processor when it was first seen there.
    used_ns: u64,
}

/// Returns the thread that has the turn without using it, for the next look.
fn look_around(me: &Thread, before: Option<Suspect>, due_ns: u64) -> Option<Suspect> {
    let mut s = SCHED.lock();
    if me.parker.load(Ordering::Acquire) != 0 {
        return None;
    }
    if s.current == NOBODY {
        s.wake_self_from_idle(me.id, due_ns);
        return None;
    }
    let now = idle_holder(&s)?;
    let is_same = |it: &Suspect| it.id == now.id && it.cursor == now.cursor;
    let Some(before) = before.filter(is_same) else {
        return Some(now);
    };
    let useful = me.state == ThreadState::Sleeping || s.is_enabled(me.id);
    if useful && now.asleep && before.asleep {
        s.steal_turn(now.id);
    }
    let spun_ns = now.used_ns.saturating_sub(before.used_ns);
    if useful && !now.asleep && spun_ns >= s.patience_ns(now.id, now.cursor) {
        s.steal_from_spinning(now.id, now.cursor);
    }
    Some(Suspect {
        used_ns: before.used_ns,
        ..now
    })
}

/// The thread that has the turn, if it is outside the runtime, and whether it sleeps in the kernel.
fn idle_holder(s: &Scheduler) -> Option<Suspect> {
    let holder = s.threads.get(s.current);
    let in_runtime = || holder.depth != 0 || holder.waits_for_runtime.load(Ordering::Relaxed);
    // Asked before and after, because the holder goes on meanwhile.
    let before = in_runtime();
    let asleep = proc::sleeps(holder.os_tid);
    if holder.cur_address.is_null() || before || in_runtime() {
        return None;
    }
    Some(Suspect {
        id: holder.id,
        // SAFETY: the thread-locals of a thread that has the turn are alive.
        cursor: unsafe { *holder.cur_address },
        asleep,
        used_ns: processor_ns(holder.os_tid),
    })
}
