//! Short waits order nothing: the deadline of one may come while other threads could run.
//!
//! A kernel that preempts a thread runs others for a slice or more, some milliseconds. A sleep, or a wait with a timeout, that
//! is no longer can end before the preempted thread does its next step, so a strategy is offered the threads in such
//! waits besides those that can run. If it chooses one, the clock jumps to its deadline, as if all that could run had been
//! preempted until then. A replay comes to the same place in the same way: the switch leads to a thread whose
//! deadline has not come ([`Scheduler::jump_to_timer_of`]).
//!
//! Longer waits end only when no thread can run, because programs use them as "long enough for anything". That must stay
//! true of several short ones in a row (a loop that polls every millisecond, up to a second):
//!
//! - A thread is kept from running for at most the limit ([`Control::preempted_ns`](raddle_trace::wire::Control)) from when
//!   it could run, all jumps taken together.
//! - All jumps of a run together are at most [`MOST_LIMITS`] times the limit, and [`SHARE`] of the time worked.

use raddle_trace::wire::{Switch, SwitchReason, ThreadState, flags};

use super::{Moment, Scheduler};
use crate::thread::Tid;
use crate::tls;

/// By how many times the limit the clock may jump in a run while threads could run.
const MOST_LIMITS: u64 = 8;
/// One in so many nanoseconds of work is added to that.
const SHARE: u64 = 4;

impl Scheduler {
    /// Draws whether a wait that begins now may end while threads could run.
    pub(super) fn may_overtake(&mut self) -> bool {
        self.preempted_ns > 0
            && self.replay.is_none()
            && self.flags & flags::REAL_TIME == 0
            && self.strategy.get().overtakes(&mut self.rng)
    }

    /// Adds those whose wait may end now to the `awake` threads in `self.enabled`. Returns how many there are then.
    pub(super) fn collect_overtaking(&mut self, me: Tid, awake: usize, at: Moment) -> usize {
        if self.preempted_ns == 0 || self.replay.is_some() {
            return awake;
        }
        let most_ns = self.longest_jump(me, awake, at);
        let mut count = awake;
        for &id in self.active() {
            let thread = self.threads.get(id);
            let waits = matches!(thread.state, ThreadState::Blocked | ThreadState::Sleeping);
            let is_near = |deadline: u64| deadline.saturating_sub(at.now_ns) <= most_ns;
            let is_short = thread.wait.overtakes && thread.wait.deadline_ns.is_some_and(is_near);
            if waits && is_short && !self.is_enabled_at(id, at) {
                // SAFETY: those awake and those that wait are different threads, and there is room for all.
                unsafe { self.enabled.add(count).write(id) };
                count += 1;
            }
        }
        count
    }

    /// How far the clock may jump while the `awake` threads could run.
    fn longest_jump(&self, me: Tid, awake: usize, at: Moment) -> u64 {
        // SAFETY: `collect_enabled` wrote `awake` entries.
        let enabled = unsafe { core::slice::from_raw_parts(self.enabled, awake) };
        let kept_back = |&id: &Tid| {
            let since = self.threads.get(id).enabled_since.filter(|_| id != me)?;
            Some(self.clock_jumped_ns.saturating_sub(since.jumped_ns))
        };
        let longest = enabled.iter().filter_map(kept_back).max().unwrap_or(0);
        let all = self.preempted_ns.saturating_mul(MOST_LIMITS);
        let left = all
            .saturating_add(at.worked_ns / SHARE)
            .saturating_sub(self.overtaken_ns);
        self.preempted_ns.saturating_sub(longest).min(left)
    }

    /// Moves the clock to the deadline of a thread that was chosen though others could run. If it is `me`, which has just begun
    /// to wait, that is a switch of its own: a schedule without it would give the turn to another thread here.
    pub(crate) fn overtake(&mut self, id: Tid, me: Tid, reason: SwitchReason) {
        let Some(deadline) = self.threads.get(id).wait.deadline_ns else {
            return;
        };
        let before = self.clock_jumped_ns;
        self.jump_to_timer_of(deadline);
        self.overtaken_ns += self.clock_jumped_ns - before;
        if id == me {
            let thread = self.threads.get(me);
            let switch = Switch {
                tick: thread.tick_at(tls::cur()),
                ..self.switch(thread, me, reason)
            };
            self.note_switch(switch);
        }
    }
}
