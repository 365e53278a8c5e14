//! Takes the turn from a thread that spins in code without events.
//!
//! A library that is not instrumented may wait by reading memory again and again, without a call that shows it (OpenMP's
//! `taskwait`). The thread that it waits for needs the turn. So a thread that has used the processor for long since its
//! last event, outside the runtime, is treated like one that sleeps in a call nobody modelled: it is adrift, goes on
//! beside the others and asks for the turn before its next event. Its switch is in the schedule, so replays take the turn from
//! it at the same event, as soon as they see it there.
//!
//! What is measured is time on the processor, not the wall's: on a busy machine a thread may not get on for other reasons.
//! The thread runs while the turn is taken from it. It must not be in the middle of a hook, or have looked whether it is
//! adrift just before: it has to be seen running, at the same event and outside the runtime, for [`SETTLE_NS`] after it was
//! told.

use core::sync::atomic::{AtomicBool, Ordering};

use raddle_trace::wire::Slot;

use super::Scheduler;
use crate::replay::Replay;
use crate::sys;
use crate::thread::{Thread, Tid};

/// How long a thread may use the processor between two events: the first time, when another one has spun in this process,
/// and where a schedule says that it leaves.
const PATIENCE_NS: [u64; 3] = [100_000_000, 20_000_000, 1_000_000];
/// Longer than a hook, or the way into the runtime, takes.
const SETTLE_NS: u64 = 20_000;
/// How long a thread is waited for to use as much, in looks of a twentieth of a millisecond.
const LOOKS: u32 = 200;
const LOOK_EVERY_NS: u64 = 50_000;

/// Whether a thread has been found spinning.
static HAS_SPUN: AtomicBool = AtomicBool::new(false);

/// How long a thread of this process has used the processor.
pub fn processor_ns(os_tid: u32) -> u64 {
    // The kernel's number of the clock of a thread.
    const OF_THREAD: i32 = 6;
    sys::clock_ns((!(os_tid as i32) << 3) | OF_THREAD)
}

impl Scheduler {
    /// How long `victim`, whose next slot is `cursor`, may use the processor before the turn is taken from it.
    pub fn patience_ns(&self, victim: Tid, cursor: *mut Slot) -> u64 {
        let leaves = |replay: &Replay| replay.leaves(self.threads.get(victim), cursor);
        let schedule = self.replay.as_ref().filter(|it| !it.is_at_end());
        match schedule.map(leaves) {
            Some(Some(true)) => PATIENCE_NS[2],
            Some(Some(false)) => u64::MAX,
            _ if HAS_SPUN.load(Ordering::Relaxed) => PATIENCE_NS[1],
            _ => PATIENCE_NS[0],
        }
    }

    /// Takes the turn from `victim`, which runs without events, unless it is about to do its next one.
    pub fn steal_from_spinning(&mut self, victim: Tid, cursor: *mut Slot) {
        let thread = self.threads.pointer(victim);
        // SAFETY: a thread's record stays at its address, and so do its thread-locals while it has the turn. It may read
        // `adrift` at any time; what it sees is told apart below.
        let thread = unsafe {
            *(*thread).lim_address = core::ptr::null_mut();
            (&raw mut (*thread).adrift).write_volatile(true);
            &mut *thread
        };
        if stays_outside(thread, cursor) || is_returning(thread) {
            HAS_SPUN.store(true, Ordering::Relaxed);
            return self.take_turn_from(thread);
        }
        // SAFETY: as above.
        unsafe { (&raw mut thread.adrift).write_volatile(false) };
        // It may have seen the mark before it was taken back, and asks for the turn then.
        sys::sleep_real(LOOK_EVERY_NS);
        if is_returning(thread) {
            thread.adrift = true;
            self.take_turn_from(thread);
        }
    }
}

/// Whether a thread goes on running outside the runtime, with the same event as its next.
fn stays_outside(thread: &Thread, cursor: *mut Slot) -> bool {
    let start = processor_ns(thread.os_tid);
    for _ in 0..LOOKS {
        let used = processor_ns(thread.os_tid) - start;
        // SAFETY: the thread-locals of a thread that has the turn are alive; it may write them meanwhile.
        let now = unsafe { thread.cur_address.read_volatile() };
        // SAFETY: a field of the thread's own record, which it may write meanwhile.
        let depth = unsafe { (&raw const thread.depth).read_volatile() };
        if now != cursor || depth != 0 {
            return false;
        }
        if used >= SETTLE_NS {
            return true;
        }
        sys::sleep_real(LOOK_EVERY_NS);
    }
    false
}

/// Whether a thread that has entered the runtime is about to ask for the turn: it waits for the scheduler's lock then, which
/// the caller holds.
fn is_returning(thread: &Thread) -> bool {
    for _ in 0..LOOKS {
        // SAFETY: a field of the thread's own record, which it may write meanwhile.
        let depth = unsafe { (&raw const thread.depth).read_volatile() };
        if thread.returns.load(Ordering::SeqCst) {
            return true;
        }
        if depth == 0 || thread.waits_for_runtime.load(Ordering::SeqCst) {
            return thread.returns.load(Ordering::SeqCst);
        }
        sys::sleep_real(LOOK_EVERY_NS);
    }
    false
}
