//! Follows a recorded schedule.
//!
//! The list of switches says at which tick of the running thread the turn goes to whom. Between two
//! switches the thread runs freely. Everything else (clock, addresses, wake order) follows from the
//! schedule, so it need not be recorded. Where the program does something else than the schedule
//! expects, the first such place is written down and the rest of the run is scheduled as `rr`.
//!
//! A guide is a schedule that no run has followed yet: it counts steady ticks, which are the same whether
//! or not a lock was free, lets a thread leave the scheduler as an unguided run would, and does without
//! what a thread that has to wait cannot do.
//!
//! After the last switch the running thread goes on until it cannot (as it did when the whole run was recorded), spins, or
//! has had the turn for longer than any strategy grants; from there on, too, the rest runs as `rr`. After the last switch
//! of a guide it also gives way where it yields or polls: what follows is a fair run.

use raddle_trace::wire::{Divergence, DivergenceKind, Slot, Switch, SwitchReason, ThreadState};

use crate::control;
use crate::inputs;
use crate::sched::Scheduler;
use crate::thread::{Thread, Tid};
use crate::tls;

/// What the ticks of a schedule count.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Ticks {
    /// All slots: the schedule is that of a run.
    Slots,
    /// All but those that another schedule might not have: it is a guide.
    Steady,
}

/// How often a guide lets a thread yield without giving the turn to another. One that yields more often
/// waits for something.
const MOST_YIELDS: u32 = 16;

/// As how many of these counts that a thread polls: it was seen to look at the same hundreds of times.
const YIELDS_A_POLL: u32 = 6;

/// How long, on the program's clock, a thread may go on where no schedule ends its turn, while another one could run. No
/// strategy lets a thread run for so long, so that the end of a recorded run is not affected.
const LONGEST_TURN_NS: u64 = 200_000_000;

/// How far a guide moves the clock for a thread while another one could run. That a thread is kept from
/// running for some seconds is what a guide is for; for an hour, nobody would believe.
const MOST_PATIENCE_NS: u64 = 10_000_000_000;

/// A schedule and how far it was followed.
pub struct Replay {
    switches: *const Switch,
    count: usize,
    at: usize,
    over: bool,
    ticks: Ticks,
    /// How often the running thread has yielded since the last switch.
    yields: u32,
}

/// What the schedule says.
pub enum Followed {
    /// This thread goes on.
    Run(Tid),
    /// This thread goes on as soon as it is back from outside.
    Await(Tid),
    /// Nothing: it has ended, or the program has left it.
    Free,
}

impl Replay {
    /// Over the launcher's region, which stays mapped for the process's life.
    pub fn new(switches: *mut [Switch], ticks: Ticks) -> Self {
        Replay {
            switches: switches.cast(),
            count: switches.len(),
            at: 0,
            over: false,
            ticks,
            yields: 0,
        }
    }

    /// Whether the schedule knows itself when a thread spins.
    pub fn knows_spins(&self) -> bool {
        self.ticks == Ticks::Slots && self.at < self.count
    }

    /// Whether nothing is left to follow.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Whether every switch was made.
    pub fn is_at_end(&self) -> bool {
        self.at >= self.count
    }

    fn next(&self) -> Option<Switch> {
        // SAFETY: below the region's length.
        (self.at < self.count).then(|| unsafe { *self.switches.add(self.at) })
    }

    /// Where a thread with this cursor is, in the schedule's ticks.
    fn tick_of(&self, thread: &Thread, cursor: *mut Slot) -> u64 {
        let slots = thread.tick_at(cursor);
        match self.ticks {
            Ticks::Slots => slots,
            Ticks::Steady => slots - thread.unsteady,
        }
    }

    /// Whether a thread that is about to block outside the scheduler leaves it; `None` if the schedule
    /// does not know.
    pub fn leaves(&self, thread: &Thread, cursor: *mut Slot) -> Option<bool> {
        (self.ticks == Ticks::Slots).then(|| {
            let tick = self.tick_of(thread, cursor);
            self.next()
                .is_some_and(|s| s.from == thread.id && tick >= s.tick)
        })
    }

    /// Whether the schedule takes the turn from a thread at the beginning of the call that it has entered.
    pub fn holds(&self, thread: &Thread, cursor: *mut Slot) -> bool {
        let tick = self.tick_of(thread, cursor);
        self.next().is_some_and(|s| {
            // One that left in code without events, and is faster this time, stops before its next call.
            let reasons = [SwitchReason::Left, SwitchReason::Held, SwitchReason::Stop];
            let wanted =
                self.ticks == Ticks::Steady || reasons.iter().any(|it| s.reason == *it as u32);
            wanted && s.from == thread.id && tick >= s.tick
        })
    }

    /// Slots that a thread may write before the next switch.
    pub fn budget(&self, thread: &Thread, cursor: *mut Slot) -> u64 {
        match self.next() {
            Some(s) if s.from == thread.id => s.tick.saturating_sub(self.tick_of(thread, cursor)),
            _ => u64::MAX,
        }
    }

    /// Whether the schedule has the process stop where a thread is that has the turn; if so, the schedule goes on after that.
    pub fn passes_stop(&mut self, thread: &Thread, cursor: *mut Slot) -> bool {
        let tick = self.tick_of(thread, cursor);
        let is_here = self.next().is_some_and(|s| {
            s.reason == SwitchReason::Stop as u32 && s.from == thread.id && tick >= s.tick
        });
        if is_here {
            self.advance();
        }
        is_here
    }

    /// Who goes on, now that `me`, which has the turn, has come to a point or cannot go on.
    pub fn follow(&mut self, s: &mut Scheduler, me: Tid, reason: SwitchReason) -> Followed {
        self.yields += match reason {
            SwitchReason::Yielded => 1,
            SwitchReason::Spins => YIELDS_A_POLL,
            _ => 0,
        };
        let Some(switch) = self.next() else {
            self.over = !s.is_enabled(me) || self.is_unfair(s, me, reason);
            return if self.over {
                Followed::Free
            } else {
                Followed::Run(me)
            };
        };
        let tick = self.tick_of(s.threads.get(me), tls::cur());
        if self.passes_stop(s.threads.get(me), tls::cur()) {
            s.stop_if_asked();
            return self.follow(s, me, reason);
        }
        if switch.from != me {
            return self.diverge(
                DivergenceKind::WrongThread,
                me,
                switch.from.into(),
                me.into(),
            );
        }
        if self.goes_on_here(s, me, switch, reason) {
            return self.go_on_until(s, me, reason, switch);
        }
        let gives_way =
            self.gives_way() || switch.tick == u64::MAX && self.is_unfair(s, me, reason);
        if tick < switch.tick && !self.is_let_off(s, me) && !gives_way {
            return self.go_on_until(s, me, reason, switch);
        }
        if self.ticks == Ticks::Steady {
            self.skip_stuck(s);
        }
        let Some(switch) = self.next() else {
            self.over = true;
            return Followed::Free;
        };
        if switch.to >= s.threads.len() {
            let known = s.threads.len();
            return self.diverge(
                DivergenceKind::NoSuchThread,
                me,
                switch.to.into(),
                known.into(),
            );
        }
        self.await_enabled(s, switch.to);
        let next = s.threads.get(switch.to);
        match next.state {
            ThreadState::Outside => {
                self.advance();
                return Followed::Await(switch.to);
            }
            ThreadState::Blocked | ThreadState::Sleeping if !s.is_enabled(switch.to) => {
                let Some(deadline) = next.wait.deadline_ns else {
                    let state = next.state as u64;
                    return self.diverge(DivergenceKind::NotEnabled, switch.to, 0, state);
                };
                s.jump_to_timer_of(deadline);
            }
            ThreadState::None | ThreadState::Ended => {
                let state = next.state as u64;
                return self.diverge(DivergenceKind::NotEnabled, switch.to, 0, state);
            }
            _ => {}
        }
        self.advance();
        if switch.to == me && self.ticks == Ticks::Slots {
            // It got the turn back when nobody had it (a place of its own for a signal), or its wait ended
            // before others went on. In a guide the steps in between were passed over, and it keeps the turn.
            let tick = s.threads.get(me).tick_at(tls::cur());
            s.note_switch(Switch { tick, ..switch });
        }
        Followed::Run(switch.to)
    }

    /// Whether the recorded run left `me`, at the tick of the switch, the turn for now: a signal ended
    /// its wait, or it slept or waited until its deadline and lost the turn before its next event only.
    fn goes_on_here(&self, s: &Scheduler, me: Tid, switch: Switch, reason: SwitchReason) -> bool {
        let thread = s.threads.get(me);
        let roused = waits(thread.state) && inputs::rouses(thread, 0);
        let preempted = switch.reason == SwitchReason::Preempted as u32;
        let waited = match reason {
            SwitchReason::Yielded => true,
            SwitchReason::Blocked => thread.wait.deadline_ns.is_some(),
            _ => false,
        };
        self.ticks == Ticks::Slots && (roused || (preempted && waited))
    }

    fn advance(&mut self) {
        self.at += 1;
        self.yields = 0;
    }

    /// Whether a guide does without what is left of a thread's step: the thread waits for others, and
    /// nobody knew that when the guide was made.
    fn is_let_off(&self, s: &Scheduler, id: Tid) -> bool {
        let thread = s.threads.get(id);
        let waits = match thread.state {
            ThreadState::Blocked | ThreadState::Sleeping => match thread.wait.deadline_ns {
                None => thread.state == ThreadState::Blocked,
                // A timeout of the kernel's that comes first is not passed over, either.
                Some(deadline) => {
                    let is_far = deadline > s.now_ns().saturating_add(MOST_PATIENCE_NS);
                    is_far && s.others_can_run(id) || s.is_outside_until(deadline)
                }
            },
            ThreadState::Outside => thread.waits_inside,
            ThreadState::Spinning | ThreadState::None | ThreadState::Ended => true,
            _ => false,
        };
        self.ticks == Ticks::Steady && waits && !s.is_enabled(id)
    }

    /// Whether the running thread has said often enough that others should go first.
    fn gives_way(&self) -> bool {
        self.ticks == Ticks::Steady && self.yields > MOST_YIELDS
    }

    /// Whether the running thread, whose turn has no end in the schedule, should give it to another one that could run: it
    /// has had it for very long, or, where a guide has come to its end, says itself that others should go first.
    fn is_unfair(&self, s: &Scheduler, me: Tid, reason: SwitchReason) -> bool {
        let offers = self.ticks == Ticks::Steady
            && self.is_at_end()
            && matches!(reason, SwitchReason::Yielded | SwitchReason::Spins);
        offers && s.others_can_run(me) || s.keeps_from_others(me, LONGEST_TURN_NS)
    }

    /// Passes over the steps of threads that cannot take them.
    fn skip_stuck(&mut self, s: &Scheduler) {
        while let Some(switch) = self.next()
            && switch.to < s.threads.len()
            && self.is_let_off(s, switch.to)
        {
            self.advance();
        }
    }

    /// Waits while only a child process can enable a thread.
    fn await_enabled(&self, s: &mut Scheduler, id: Tid) {
        let blocked = |s: &Scheduler| {
            let thread = s.threads.get(id);
            thread.state == ThreadState::Blocked && thread.wait.deadline_ns.is_none()
        };
        while blocked(s) && !s.is_enabled(id) && s.await_children() {}
    }

    /// The schedule wants more of `me` before it takes the turn.
    fn go_on_until(
        &mut self,
        s: &mut Scheduler,
        me: Tid,
        reason: SwitchReason,
        switch: Switch,
    ) -> Followed {
        if s.is_enabled(me) {
            return Followed::Run(me);
        }
        if self.ticks == Ticks::Steady && s.threads.get(me).state == ThreadState::Outside {
            return Followed::Await(me);
        }
        match s.threads.get(me).wait.deadline_ns {
            Some(deadline) if waits(s.threads.get(me).state) => {
                match self.ticks {
                    // The recorded run has it among its switches if it matters.
                    Ticks::Slots => s.jump_to_timer_of(deadline),
                    Ticks::Steady => s.overtake(me, me, reason),
                }
                Followed::Run(me)
            }
            _ => {
                let tick = self.tick_of(s.threads.get(me), tls::cur());
                self.diverge(DivergenceKind::StoppedEarly, me, switch.tick, tick)
            }
        }
    }

    fn diverge(
        &mut self,
        kind: DivergenceKind,
        thread: Tid,
        expected: u64,
        actual: u64,
    ) -> Followed {
        self.over = true;
        let divergence = Divergence {
            kind: kind as u32,
            thread,
            switch: self.at as u64,
            expected,
            actual,
        };
        // SAFETY: the head stays mapped; one thread decides at a time.
        unsafe { (*control::get()).divergence = divergence };
        Followed::Free
    }
}

fn waits(state: ThreadState) -> bool {
    matches!(state, ThreadState::Blocked | ThreadState::Sleeping)
}
