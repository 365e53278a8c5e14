//! What a thread does with its turn: points, waits, leaving and coming back, its begin and end.

use core::sync::atomic::Ordering;

use raddle_trace::wire::{Mark, SLOT_BYTES, Switch, SwitchReason, ThreadState};

use super::stream::make_room;
use super::wake::WAITING;
use super::{Decision, SCHED, Scheduler, wake_up};
use crate::interpose::signal;
use crate::lock::Guard;
use crate::replay::Replay;
use crate::spin::Verdict;
use crate::stack;
use crate::sys;
use crate::thread::{NOBODY, Settled, Thread, Tid, Wait};
use crate::tls;

/// Invisible events in a row behind which there is a point all the same: in another run than the one that showed them to
/// be invisible a thread may wait for somebody there.
const MOST_UNSEEN: u32 = 4096;

/// Waits for the turn, then takes up the stream.
fn park(me: &mut Thread) {
    crate::watchdog::wait_for_turn(me);
    me.parker.store(0, Ordering::Relaxed);
    take_up(me);
    take_signals(me);
}

/// Takes the signals that were sent while the thread did not have the turn. A wait that they
/// interrupt ends as if woken for nothing, which every wait allows for.
fn take_signals(me: &mut Thread) {
    while me.signals != 0 {
        let signal = me.signals.trailing_zeros();
        me.signals &= me.signals - 1;
        me.delivering.store(signal, Ordering::Relaxed);
        sys::signal_self(signal);
        me.delivering.store(0, Ordering::Relaxed);
    }
}

/// Points this thread's cursor at its segment.
fn take_up(me: &mut Thread) {
    tls::set_cur(me.segment);
    let mut s = SCHED.lock();
    s.stop_where_asked(me);
    let limit = s.limit(me.id, me.segment);
    tls::set_lim(limit);
}

/// Gives the turn to whoever should have it; returns when `me` has it again.
fn reschedule(mut s: Guard<'_, Scheduler>, me: &mut Thread, reason: SwitchReason) {
    me.frame = stack::frame();
    match s.decide(me.id, reason) {
        Decision::Run(next) if next == me.id => {
            match me.state {
                ThreadState::Ready => me.roused = false,
                _ => wake_up(me, s.moment()),
            }
            let limit = s.limit(me.id, tls::cur());
            tls::set_lim(limit);
        }
        decision => {
            s.stop(me, tls::cur());
            s.carry_out(decision, me, reason);
            drop(s);
            park(me);
        }
    }
}

/// A scheduling point before an event. `site` is 0 for a synchronisation call on `object`.
pub fn point(me: &mut Thread, site: u64, object: u64) {
    tls::on_own_stack(|| point_here(me, site, object));
}

fn point_here(me: &mut Thread, site: u64, object: u64) {
    let mut s = SCHED.lock();
    make_room(&mut s, me);
    me.pending_site = site;
    me.pending_addr = object;
    if s.replay.is_none() && s.steps() && site != 0 && !s.is_visible(site) {
        me.unseen += 1;
        if me.unseen < MOST_UNSEEN {
            tls::set_lim(tls::cur());
            return;
        }
    }
    me.unseen = 0;
    // A chunk that is full is nobody's point, so that schedules do not depend on where chunks end.
    if site != 0 && !s.steps() && me.tick_at(tls::cur()) < me.due {
        let limit = s.extent(me, tls::cur());
        tls::set_lim(limit);
        return;
    }
    s.points += 1;
    me.visible += 1;
    match judge_spin(&s, me) {
        Verdict::Works => reschedule(s, me, SwitchReason::Preempted),
        Verdict::Pardoned => {
            s.limit(me.id, tls::cur());
            // The next look has to come before the slots are gone that show whether it spins still.
            me.due = me.due.min(me.history.pardoned_until().unwrap_or(u64::MAX));
            tls::set_lim(s.extent(me, tls::cur()));
        }
        Verdict::Spins => {
            me.state = ThreadState::Spinning;
            me.history.park(s.ticks());
            reschedule(s, me, SwitchReason::Spins);
        }
        Verdict::GivesWay => reschedule(s, me, SwitchReason::Spins),
    }
}

fn judge_spin(s: &Scheduler, me: &mut Thread) -> Verdict {
    if s.replay.as_ref().is_some_and(Replay::knows_spins) || !s.has_company() {
        return Verdict::Works;
    }
    let cursor = tls::cur();
    let tick = me.tick_at(cursor);
    // SAFETY: the segment's slots up to the cursor were written by this thread.
    let slots = unsafe {
        let count = (cursor as usize - me.segment as usize) / SLOT_BYTES;
        core::slice::from_raw_parts(me.segment, count)
    };
    me.history.take_in_new(slots, me.tick_base);
    let verdict = me.history.judge(tick);
    let (low, size) = me.stack;
    if verdict == Verdict::Works && me.polling.gives_way(slots, tick, low..low + size) {
        return Verdict::GivesWay;
    }
    verdict
}

/// Gives the turn away as a call begins, if the schedule says so. Calls that act on nothing that
/// another thread could wait for have no scheduling point; a guide may want the thread to stop there
/// all the same. Budgets are others in a replay than in the run that it repeats, and must not show in
/// what is left on the program's stack: the look at them is taken on the runtime's own.
pub fn hold(me: &mut Thread) {
    tls::on_own_stack(|| {
        if tls::cur() >= tls::lim() {
            hold_here(me);
        }
    });
}

fn hold_here(me: &mut Thread) {
    let s = SCHED.lock();
    if s.replay.as_ref().is_some_and(|r| r.holds(me, tls::cur())) {
        me.pending_site = 0;
        me.pending_addr = 0;
        reschedule(s, me, SwitchReason::Held);
    }
}

/// Yields or sleeps: lets others go first.
pub fn give_way(me: &mut Thread, deadline_ns: Option<u64>) {
    tls::on_own_stack(|| give_way_here(me, deadline_ns));
}

fn give_way_here(me: &mut Thread, deadline_ns: Option<u64>) {
    let mut s = SCHED.lock();
    me.pending_site = 0;
    me.pending_addr = 0;
    if let Some(deadline) = deadline_ns {
        me.state = ThreadState::Sleeping;
        me.wait = Wait {
            overtakes: s.may_overtake(),
            ..Wait::new(Mark::Sleep, 0).until(Some(deadline))
        };
    } else if judge_spin(&s, me) == Verdict::Spins {
        me.state = ThreadState::Spinning;
        me.history.park(s.ticks());
    }
    reschedule(s, me, SwitchReason::Yielded);
}

/// Blocks until woken or out of time; returns how the wait ended.
pub fn block(me: &mut Thread, wait: Wait) -> Settled {
    tls::on_own_stack(|| block_here(me, wait))
}

fn block_here(me: &mut Thread, wait: Wait) -> Settled {
    let mut s = SCHED.lock();
    s.tickets += 1;
    me.wait = Wait {
        ticket: s.tickets,
        overtakes: wait.deadline_ns.is_some() && s.may_overtake(),
        ..wait
    };
    me.state = ThreadState::Blocked;
    me.pending_site = 0;
    me.pending_addr = wait.object;
    let counts = u32::from(wait.kind != Mark::Join);
    WAITING.fetch_add(counts, Ordering::Relaxed);
    reschedule(s, me, SwitchReason::Blocked);
    WAITING.fetch_sub(counts, Ordering::Relaxed);
    Settled::of(&me.wait)
}

/// Leaves the scheduler before a call that may block, unless the call is known not to block now or
/// nobody else is there. The thread is adrift then, and has to [`come_back`].
pub fn leave(me: &mut Thread, ready_now: bool) {
    tls::on_own_stack(|| leave_here(me, ready_now));
}

fn leave_here(me: &mut Thread, ready_now: bool) {
    let mut s = SCHED.lock();
    let must = s.replay.as_ref().and_then(|r| r.leaves(me, tls::cur()));
    if !must.unwrap_or(!ready_now && s.has_company()) {
        return;
    }
    me.frame = stack::frame();
    me.state = ThreadState::Outside;
    me.adrift = true;
    me.pending_site = 0;
    s.outside += 1;
    s.pass_turn(me, tls::cur(), SwitchReason::Left);
    drop(s);
    tls::set_lim(core::ptr::null_mut());
}

/// Asks for the turn again.
pub fn come_back(me: &mut Thread) {
    me.returns.store(true, Ordering::SeqCst);
    tls::on_own_stack(|| come_back_here(me));
}

fn come_back_here(me: &mut Thread) {
    let mut s = SCHED.lock();
    me.adrift = false;
    me.returns.store(false, Ordering::SeqCst);
    me.waits_inside = false;
    me.state = ThreadState::Ready;
    s.outside -= 1;
    s.take_idle_turn(me.id);
    drop(s);
    park(me);
}

/// Ends `me`, which is not the last thread.
pub fn end(me: &mut Thread) {
    SCHED.lock().end_thread(me);
}

/// Registers the calling thread as `me` and waits for its first turn.
pub fn begin(me: &mut Thread) {
    me.os_tid = sys::gettid();
    me.cur_address = tls::cur_address();
    me.lim_address = tls::lim_address();
    tls::set_bits(1);
    tls::set_me(me);
    tls::set_stack_top(me.own_stack_top);
    tls::on_own_stack(|| park(me));
}

/// Makes the calling thread main, with the turn.
pub fn begin_main(me: &mut Thread) {
    let id = me.id;
    SCHED.lock().hand_over(id);
    begin(me);
}

impl Scheduler {
    /// Gives the turn to `id` if nobody has it and it is the one that may take it.
    fn take_idle_turn(&mut self, id: Tid) {
        if self.current != NOBODY || (self.awaited != NOBODY && self.awaited != id) {
            return;
        }
        if let Some(switch) = self.idle.take() {
            self.note_switch(Switch { to: id, ..switch });
        }
        self.awaited = NOBODY;
        self.hand_over(id);
    }

    /// A thread that nobody created under control; it takes the turn if nobody has it.
    pub fn adopt_thread(&mut self) -> Option<*mut Thread> {
        let thread = self.add_thread(NOBODY)?;
        // SAFETY: the record was just made.
        let id = unsafe { (*thread).id };
        self.enable(id);
        self.take_idle_turn(id);
        Some(thread)
    }

    /// Ends a thread that is not the last one; the turn goes to another.
    fn end_thread(&mut self, me: &mut Thread) {
        let id = me.id;
        for &other in self.active() {
            let waiting = self.threads.get(other);
            let joins = waiting.wait.kind == Mark::Join && waiting.wait.object == u64::from(id);
            let robust = waiting.wait.robust && crate::owner::of(self, &waiting.wait) == id;
            if waiting.state == ThreadState::Blocked && (joins || robust) {
                let wait = &mut self.threads.get_mut(other).wait;
                wait.woken = true;
                wait.waker = id;
            }
        }
        self.remove_thread(id);
        signal::ended(me, self.threads.pointer(self.active()[0]));
        me.pending_site = 0;
        self.pass_turn(me, tls::cur(), SwitchReason::Ended);
    }

    /// Takes the turn from a thread that sleeps in the kernel in a call nobody modelled.
    pub fn steal_turn(&mut self, victim: Tid) {
        let thread = self.threads.pointer(victim);
        // SAFETY: the victim has registered its thread-locals, which live as long as it does; it
        // is asleep in the kernel.
        let (victim_thread, cursor) = unsafe {
            (*(*thread).lim_address) = core::ptr::null_mut();
            (&mut *thread, *(*thread).cur_address)
        };
        let replay = self.replay.as_ref();
        if replay.and_then(|r| r.leaves(victim_thread, cursor)) == Some(false) {
            return;
        }
        victim_thread.adrift = true;
        self.take_turn_from(victim_thread);
    }

    /// Gives the turn of a thread that is adrift to another.
    pub(super) fn take_turn_from(&mut self, victim: &mut Thread) {
        // SAFETY: the victim has registered its thread-locals, which live as long as it does.
        let cursor = unsafe { *victim.cur_address };
        victim.waits_inside = true;
        victim.state = ThreadState::Outside;
        self.outside += 1;
        self.pass_turn(victim, cursor, SwitchReason::Left);
    }

    /// While nobody has the turn and only threads outside could change that, lets a parked thread
    /// go on whose deadline has come in real time, or that merely spins. If those outside are gone,
    /// all the others wait for ever. `due_ns` is the clock of when it was parked, gone on as real time: jumps since then
    /// are the time that those outside have waited meanwhile, not more of it.
    pub fn wake_self_from_idle(&mut self, id: Tid, due_ns: u64) {
        if self.current != NOBODY || self.awaited != NOBODY {
            return;
        }
        if self.outside == 0 && !self.has_unknown_threads() {
            self.fail_by_deadlock();
        }
        let thread = self.threads.get(id);
        match thread.state {
            _ if thread.arrived.load(Ordering::Relaxed) != 0 => {}
            ThreadState::Spinning => {}
            ThreadState::Blocked | ThreadState::Sleeping => {
                let Some(deadline) = thread.wait.deadline_ns else {
                    return;
                };
                if deadline > self.now_ns().max(due_ns) {
                    return;
                }
                self.jump_to_timer_of(deadline);
            }
            _ => return,
        }
        self.take_idle_turn(id);
    }
}
