//! The scheduler: exactly one instrumented thread runs at a time.
//!
//! A thread has the turn or is parked on its own futex word. It gives the turn away at a
//! scheduling point (an event past its limit, a synchronisation call), when it blocks, leaves for
//! a call that may block, or ends. State changes happen under [`SCHED`]'s lock; the turn itself is
//! `current`. Who runs next is the strategy's choice, or the recorded schedule's ([`crate::replay`]).
//!
//! Time is virtual: an event moves the clock by a fixed step, and when only sleepers are left it
//! jumps to the first deadline. So clocks, like everything else, depend on the schedule alone.

mod burning;
mod failure;
mod overtake;
mod stream;
mod turn;
mod wake;

use core::sync::atomic::Ordering;

use raddle_trace::wire::{
    Control, FIRST_SITE_ADDRESS, MAX_THREADS, Mark, OutcomeKind, SLOT_BYTES, Slot, Switch,
    SwitchReason, ThreadRecord, ThreadState, flags,
};

pub use burning::processor_ns;
pub use failure::conclude;
pub use stream::{flush_branches, mark};
pub use turn::{begin, begin_main, block, come_back, end, give_way, hold, leave, point};
pub use wake::{requeue, send_signal, set_woken, settle_exit, settle_exits, wake_waiters};

use crate::control;
use crate::inputs;
use crate::lock::Lock;
use crate::proc;
use crate::record::Recorder;
use crate::replay::{Followed, Replay};
use crate::rng::Rng;
use crate::spin::Watched;
use crate::strategy::{Chosen as ChosenStrategy, RoundRobin, View};
use crate::sys;
use crate::thread::{NOBODY, Since, Thread, ThreadTable, Tid, Wait};

/// Events that a spinning thread may execute before it is looked at again, at first.
const FIRST_SPIN_GRACE: u64 = 2048;
/// The same at last. Whether a spin is for ever cannot be told from events: a loop that adds up what
/// it reads looks the same. A hang is therefore the launcher's verdict, by the clock.
const LAST_SPIN_GRACE: u64 = 1 << 20;

/// Most time on the program's clock between two points, in the mean: kernels have such slices, and programs have timeouts
/// that allow for them.
const SLICE_NS: u64 = 3_000_000;

/// The part of a limited address space that the switches of a run get.
const SHARE_OF_SWITCHES: u64 = 32;

/// How long a process whose threads all wait is left to its children before they look again.
const CHILDREN_POLL_NS: u64 = 2_000_000;
/// By how much a timer ends a wait late: Linux allows itself as much.
const TIMER_SLACK_NS: u64 = 50_000;

/// The scheduler of this process.
pub static SCHED: Lock<Scheduler> = Lock::new(Scheduler::new());

/// See the module's documentation.
pub struct Scheduler {
    /// Every thread of the program.
    pub threads: ThreadTable,
    /// The event stream.
    pub recorder: Recorder,
    /// The thread that has the turn.
    pub current: Tid,
    /// Threads that have not ended, by id.
    active: *mut Tid,
    active_len: usize,
    /// Room for the enabled threads.
    enabled: *mut Tid,
    pub(crate) strategy: ChosenStrategy,
    pub(crate) replay: Option<Replay>,
    pub(crate) rng: Rng,
    flags: u32,
    /// One bit a site number; empty: all are visible.
    visible: *mut [u8],
    /// Copies of the images' sites.
    sites: *mut [u64],
    schedule_out: *mut [Switch],
    records: *mut [ThreadRecord],
    /// Slots written before the current segment, by all threads.
    written: u64,
    /// By how much a slot moves the clock.
    ns_a_tick: u64,
    /// How long the program had worked when the thread that has the turn got it.
    turn_start_ns: u64,
    points: u64,
    clock_jumped_ns: u64,
    /// How long a thread that could run may be kept from it while the clock jumps; see [`overtake`].
    preempted_ns: u64,
    /// How far the clock has jumped while threads could run.
    overtaken_ns: u64,
    tickets: u64,
    outside: u32,
    spin_grace: u64,
    /// Slots after which the run is ended.
    most_ticks: u64,
    /// While nobody has the turn: the switch that waits for its target.
    idle: Option<Switch>,
    /// The only thread that may take the turn back, or NOBODY.
    awaited: Tid,
}

/// A moment on the program's clock.
#[derive(Clone, Copy)]
struct Moment {
    /// Slots written so far.
    ticks: u64,
    /// How long the program has worked: without what it has slept.
    worked_ns: u64,
    /// What the clock shows.
    now_ns: u64,
}

/// What the scheduler decided.
enum Decision {
    Run(Tid),
    /// Wait for a thread that is outside.
    Idle,
    Deadlock,
}

impl Scheduler {
    const fn new() -> Self {
        Scheduler {
            threads: ThreadTable::new(),
            recorder: Recorder::new(),
            current: NOBODY,
            active: core::ptr::null_mut(),
            active_len: 0,
            enabled: core::ptr::null_mut(),
            strategy: ChosenStrategy::RoundRobin(RoundRobin),
            replay: None,
            rng: Rng::new(0),
            flags: 0,
            visible: no_bytes(),
            sites: core::ptr::slice_from_raw_parts_mut(core::ptr::NonNull::dangling().as_ptr(), 0),
            schedule_out: core::ptr::slice_from_raw_parts_mut(
                core::ptr::NonNull::dangling().as_ptr(),
                0,
            ),
            records: core::ptr::slice_from_raw_parts_mut(
                core::ptr::NonNull::dangling().as_ptr(),
                0,
            ),
            written: 0,
            ns_a_tick: 1,
            turn_start_ns: 0,
            points: 0,
            clock_jumped_ns: 0,
            preempted_ns: 0,
            overtaken_ns: 0,
            tickets: 0,
            outside: 0,
            spin_grace: FIRST_SPIN_GRACE,
            most_ticks: u64::MAX,
            idle: None,
            awaited: NOBODY,
        }
    }

    /// Takes over the launcher's regions. Called once, by the only thread.
    pub fn start(&mut self, memory: i32) {
        let head = control::get();
        // SAFETY: the head was checked and stays mapped.
        let control: &Control = unsafe { &*head };
        self.flags = control.flags;
        self.ns_a_tick = control.clock_ns_per_tick.max(1);
        self.preempted_ns = control.preempted_ns;
        self.most_ticks = match control.most_ticks {
            0 => u64::MAX,
            most => most,
        };
        self.rng = Rng::new(control.seed);
        // Those of constant size first, so that they lie at the same addresses in every run.
        self.sites = control::map_region(memory, control.sites);
        self.schedule_out =
            control::map_region_within(memory, control.schedule_out, SHARE_OF_SWITCHES);
        self.records = control::map_region(memory, control.threads);
        let ring = control::map_region(memory, control.ring);
        let recording = control.flags & flags::RECORD != 0;
        self.recorder
            .start(ring, control.chunk_slots, recording, control::socket());
        self.visible = control::map_region(memory, control.visible);
        let capacity = (MAX_THREADS * size_of::<Tid>()) as u64;
        self.active = sys::map_own(capacity).cast();
        self.enabled = sys::map_own(capacity).cast();
        self.strategy = crate::start::strategy(memory, control, &mut self.rng);
        self.replay = crate::start::replay(memory, control);
        inputs::start(memory, control);
    }

    /// Whether a recorded schedule says what happens next.
    pub fn follows_replay(&self) -> bool {
        self.replay.is_some()
    }

    /// Whether nobody but `id` has the turn or will get it by a schedule.
    pub fn is_idle_but_for(&self, id: Tid) -> bool {
        let done = self.replay.as_ref().is_none_or(Replay::is_at_end);
        done && (self.current == NOBODY || self.current == id)
    }

    /// Whether a thread is outside for a descriptor: it may take what has come there.
    pub fn is_awaited(&self, fd: i32) -> bool {
        let awaits = |id: &Tid| {
            let thread = self.threads.get(*id);
            thread.state == ThreadState::Outside && thread.left_for == fd
        };
        self.active().iter().any(awaits)
    }

    /// Whether a thread is outside in a call that is over before this time, whatever comes.
    pub fn is_outside_until(&self, time_ns: u64) -> bool {
        let returns = |id: &Tid| {
            let thread = self.threads.get(*id);
            let until = thread.outside_until_ns;
            thread.state == ThreadState::Outside && until.is_some_and(|it| it < time_ns)
        };
        self.active().iter().any(returns)
    }

    /// Whether a thread other than `id` could go on at once.
    pub fn others_can_run(&self, id: Tid) -> bool {
        let mut others = self.active().iter().filter(|it| **it != id);
        others.any(|it| self.is_enabled(*it))
    }

    /// The copy of the images' sites.
    pub fn sites(&self) -> *mut [u64] {
        self.sites
    }

    /// A new thread, which can run once it is [`Scheduler::enable`]d.
    pub fn add_thread(&mut self, creator: Tid) -> Option<*mut Thread> {
        let thread = self.threads.add(creator)?;
        let id = thread.id;
        let pointer: *mut Thread = thread;
        // SAFETY: `active` holds as many entries as there may be threads.
        unsafe { self.active.add(self.active_len).write(id) };
        self.active_len += 1;
        self.strategy
            .get()
            .created(id, &mut self.threads, &mut self.rng);
        // SAFETY: the head stays mapped.
        unsafe { (*control::get()).thread_count = self.threads.len() };
        Some(pointer)
    }

    /// Lets a new thread run.
    pub fn enable(&mut self, id: Tid) {
        self.threads.get_mut(id).state = ThreadState::Ready;
    }

    /// A thread that could not be started after all.
    pub fn remove_thread(&mut self, id: Tid) {
        self.threads.get_mut(id).state = ThreadState::Ended;
        let active = self.active();
        if let Some(at) = active.iter().position(|&t| t == id) {
            // SAFETY: both ranges lie within the active entries.
            unsafe {
                let place = self.active.add(at);
                core::ptr::copy(place.add(1), place, self.active_len - at - 1);
            }
            self.active_len -= 1;
        }
    }

    fn active(&self) -> &'static [Tid] {
        // SAFETY: the first `active_len` entries are initialised, and the mapping stays.
        unsafe { core::slice::from_raw_parts(self.active, self.active_len) }
    }

    /// Threads that have not ended.
    pub fn alive(&self) -> usize {
        self.active_len
    }

    /// Whether a thread other than `me` has not ended.
    pub fn has_company(&self) -> bool {
        self.active_len > 1
    }

    /// The thread whose libc handle is `handle`.
    pub fn by_handle(&self, handle: u64) -> Option<Tid> {
        let known = |id: &Tid| self.threads.get(*id).handle == handle;
        (0..self.threads.len()).rev().find(known)
    }

    /// The thread that the kernel calls `os_tid`.
    pub fn by_os_tid(&self, os_tid: u32) -> Tid {
        let known = |id: &&Tid| self.threads.get(**id).os_tid == os_tid;
        self.active().iter().find(known).copied().unwrap_or(NOBODY)
    }

    /// Whether every visible event is a scheduling point.
    pub fn steps(&self) -> bool {
        self.flags & flags::STEP != 0
    }

    /// Slots written so far.
    fn ticks(&self) -> u64 {
        if self.current == NOBODY {
            return self.written;
        }
        let thread = self.threads.get(self.current);
        if thread.segment.is_null() || thread.cur_address.is_null() {
            return self.written;
        }
        // SAFETY: the thread-locals of a thread that has the turn are alive.
        let cursor = unsafe { *thread.cur_address };
        // Until it has taken up its segment, its cursor is an old one.
        if cursor < thread.segment || cursor > self.recorder.hard_end() {
            return self.written;
        }
        self.written + thread.tick_at(cursor) - thread.tick_base
    }

    /// Virtual nanoseconds since the start (real ones with `--real-time`).
    pub fn now_ns(&self) -> u64 {
        self.moment().now_ns
    }

    fn moment(&self) -> Moment {
        let ticks = self.ticks();
        let worked_ns = ticks * self.ns_a_tick;
        let now_ns = if self.flags & flags::REAL_TIME == 0 {
            worked_ns + self.clock_jumped_ns
        } else {
            // SAFETY: the head stays mapped.
            let start = unsafe { (*control::get()).clock_start_ns };
            sys::clock_ns(libc::CLOCK_REALTIME).saturating_sub(start)
        };
        Moment {
            ticks,
            worked_ns,
            now_ns,
        }
    }

    /// Moves the clock to where a timer that is set to `deadline_ns` ends a wait: a little behind, so that
    /// timers which are set close to one another end their waits in any order.
    fn jump_to_timer(&mut self, deadline_ns: u64) {
        self.jump_to(deadline_ns.saturating_add(self.timer_slack()));
    }

    fn timer_slack(&self) -> u64 {
        match self.flags & flags::REAL_TIME {
            0 => TIMER_SLACK_NS,
            _ => 0,
        }
    }

    /// Moves the clock to where it was when the recorded run let a thread go on whose timer is set to
    /// `deadline_ns`: to the end of the first timer, unless that leaves this one running.
    pub fn jump_to_timer_of(&mut self, deadline_ns: u64) {
        let first = self.first_deadline().unwrap_or(deadline_ns);
        let ends_too = deadline_ns <= first.saturating_add(self.timer_slack());
        self.jump_to_timer(if ends_too { first } else { deadline_ns });
    }

    /// Moves the clock to `deadline_ns` if that is ahead.
    pub fn jump_to(&mut self, deadline_ns: u64) {
        let ahead = deadline_ns.saturating_sub(self.now_ns());
        if self.flags & flags::REAL_TIME != 0 {
            sys::sleep_real(ahead);
        } else {
            self.clock_jumped_ns += ahead;
        }
    }

    /// Whether a thread could take the turn.
    pub fn is_enabled(&self, id: Tid) -> bool {
        self.is_enabled_at(id, self.moment())
    }

    fn is_enabled_at(&self, id: Tid, at: Moment) -> bool {
        let thread = self.threads.get(id);
        match thread.state {
            ThreadState::Blocked | ThreadState::Sleeping | ThreadState::Spinning => {
                has_what_it_waits_for(thread, at) || self.is_roused(id)
            }
            ThreadState::Ready => true,
            ThreadState::None | ThreadState::Outside | ThreadState::Ended => false,
        }
    }

    /// Whether a signal ends the wait of a thread here.
    fn is_roused(&self, id: Tid) -> bool {
        let thread = self.threads.get(id);
        thread.signals != 0
            || thread.arrived.load(Ordering::Relaxed) != 0
            || inputs::rouses(thread, 1)
            || (id == self.current && inputs::rouses(thread, 0))
    }

    /// Fills `self.enabled`; see [`View::enabled`] for the order.
    fn collect_enabled(&mut self, me: Tid, reason: SwitchReason, at: Moment) -> usize {
        let mut count = 0;
        let enabled = self.enabled;
        let now = Since {
            worked_ns: at.worked_ns,
            jumped_ns: self.clock_jumped_ns,
        };
        let mut add = |id: Tid| {
            // SAFETY: there are no more enabled threads than threads.
            unsafe { enabled.add(count).write(id) };
            count += 1;
        };
        let me_enabled = me != NOBODY && self.is_enabled_at(me, at);
        let me_last = matches!(reason, SwitchReason::Yielded | SwitchReason::Spins);
        if me_enabled && !me_last {
            add(me);
        }
        for &id in self.active() {
            let is_enabled = id != me && self.is_enabled_at(id, at);
            let thread = self.threads.get_mut(id);
            thread.passed_over(is_enabled, now);
            if is_enabled {
                add(id);
            }
        }
        if me_enabled && me_last {
            add(me);
        }
        count
    }

    fn decide(&mut self, me: Tid, reason: SwitchReason) -> Decision {
        let mut at = self.moment();
        if at.ticks >= self.most_ticks {
            self.fail_and_end(OutcomeKind::Hang, b"the run has as many events as it may");
        }
        if let Some(mut replay) = self.replay.take() {
            let followed = replay.follow(self, me, reason);
            if !replay.is_over() {
                self.replay = Some(replay);
            }
            match followed {
                Followed::Run(next) => return Decision::Run(next),
                Followed::Await(next) => {
                    self.awaited = next;
                    return Decision::Idle;
                }
                Followed::Free => at = self.moment(),
            }
        }
        loop {
            let count = self.collect_enabled(me, reason, at);
            if count > 0 {
                return Decision::Run(self.ask_strategy(me, reason, count, at));
            }
            if self.outside > 0 {
                return Decision::Idle;
            }
            if let Some(deadline) = self.first_deadline() {
                self.jump_to_timer(deadline);
            } else if !self.release_spinners() && !self.await_children() {
                let stuck = !self.has_unknown_threads();
                return if stuck {
                    Decision::Deadlock
                } else {
                    Decision::Idle
                };
            }
            at = self.moment();
        }
    }

    /// Asks which of the `awake` threads that can run, or of those whose wait may end now, goes on.
    fn ask_strategy(&mut self, me: Tid, reason: SwitchReason, awake: usize, at: Moment) -> Tid {
        let count = self.collect_overtaking(me, awake, at);
        // SAFETY: `collect_enabled` and `collect_overtaking` wrote `count` entries.
        let enabled = unsafe { core::slice::from_raw_parts(self.enabled, count) };
        let progress = if self.steps() { self.points } else { at.ticks };
        let mut view = View {
            enabled,
            awake,
            current: if me == NOBODY { enabled[0] } else { me },
            current_enabled: enabled[..awake].contains(&me),
            reason,
            progress,
            worked_ns: at.worked_ns,
            turn_ns: self.turn_ns(at),
            threads: &mut self.threads,
            rng: &mut self.rng,
        };
        let index = self.strategy.get().choose(&mut view);
        // SAFETY: the head stays mapped.
        unsafe { (*control::get()).choice_count = self.strategy.choices_made() as u64 };
        if index >= awake {
            self.overtake(enabled[index], me, reason);
        }
        enabled[index]
    }

    /// How long the thread that has the turn has had it.
    fn turn_ns(&self, at: Moment) -> u64 {
        at.worked_ns.saturating_sub(self.turn_start_ns)
    }

    /// Whether `id`, which has the turn, has had it for so long, and another thread could run.
    pub fn keeps_from_others(&self, id: Tid, longest_ns: u64) -> bool {
        self.turn_ns(self.moment()) >= longest_ns && self.others_can_run(id)
    }

    fn first_deadline(&self) -> Option<u64> {
        let waits = |id: &&Tid| {
            matches!(
                self.threads.get(**id).state,
                ThreadState::Blocked | ThreadState::Sleeping
            )
        };
        let deadline = |id: &Tid| self.threads.get(*id).wait.deadline_ns;
        self.active()
            .iter()
            .filter(waits)
            .filter_map(deadline)
            .min()
    }

    /// Lets every spinning thread go on, for longer each time. False if there is none.
    fn release_spinners(&mut self) -> bool {
        let mut found = false;
        for &id in self.active() {
            let grace = self.spin_grace;
            let thread = self.threads.get_mut(id);
            if thread.state == ThreadState::Spinning {
                thread.state = ThreadState::Ready;
                thread.history.pardon(thread.tick_base + grace);
                found = true;
            }
        }
        if found {
            self.spin_grace = (self.spin_grace * 2).min(LAST_SPIN_GRACE);
        }
        found
    }

    /// Whether the process has threads that the scheduler does not know, libc's own: they may still
    /// wake somebody.
    fn has_unknown_threads(&self) -> bool {
        let is_there = |id: &Tid| {
            let thread = self.threads.get(*id);
            thread.os_tid != 0 && !thread.gone && !proc::is_gone(thread.os_tid)
        };
        let known = (0..self.threads.len()).filter(is_there).count();
        proc::thread_count().is_some_and(|count| count > known)
    }

    /// Gives child processes, which may share memory with this one, a moment to wake somebody. What
    /// they do to a shared object cannot be seen, so every waiter has another look. False if there
    /// are no children.
    pub fn await_children(&mut self) -> bool {
        if !sys::has_children() {
            return false;
        }
        sys::sleep_real(CHILDREN_POLL_NS);
        for &id in self.active() {
            let thread = self.threads.get_mut(id);
            if thread.state == ThreadState::Blocked && thread.wait.kind != Mark::Join {
                thread.wait.woken = true;
            }
        }
        true
    }

    /// Takes `me` off the stream, at its cursor.
    fn stop(&mut self, me: &mut Thread, cursor: *mut Slot) {
        let slots = me.tick_at(cursor) - me.tick_base;
        me.note_writes(cursor);
        me.tick_base += slots;
        me.segment = core::ptr::null_mut();
        self.written += slots;
        self.recorder.end = cursor;
    }

    /// Gives the turn to `next`, which is parked or about to park.
    fn hand_over(&mut self, next: Tid) {
        if self.threads.get(next).state == ThreadState::Spinning {
            self.spin_grace = FIRST_SPIN_GRACE;
        }
        let now = self.moment();
        let tick = self.threads.get(next).tick_base;
        let segment = self.recorder.open_segment(next, tick);
        let soft_end = self.recorder.soft_end();
        self.current = next;
        self.turn_start_ns = self.written * self.ns_a_tick;
        let thread = self.threads.get_mut(next);
        thread.segment = segment;
        thread.soft_end = soft_end;
        thread.polling.settle();
        wake_up(thread, now);
        thread.parker.store(1, Ordering::Release);
        sys::futex_wake(&thread.parker);
        self.publish();
    }

    /// Takes `me`, whose next slot is `cursor`, off the stream and gives the turn to whoever should
    /// have it; to nobody if all that could go on are outside.
    fn pass_turn(&mut self, me: &mut Thread, cursor: *mut Slot, reason: SwitchReason) {
        self.stop(me, cursor);
        let decision = self.decide(me.id, reason);
        self.carry_out(decision, me, reason);
    }

    /// Gives the turn that `me`, which is off the stream, had to another, or to nobody.
    fn carry_out(&mut self, decision: Decision, me: &Thread, reason: SwitchReason) {
        match decision {
            Decision::Run(next) => {
                let switch = self.switch(me, next, reason);
                self.note_switch(switch);
                self.hand_over(next);
            }
            Decision::Idle => {
                self.idle = Some(self.switch(me, NOBODY, reason));
                self.current = NOBODY;
            }
            Decision::Deadlock => self.fail_by_deadlock(),
        }
    }

    /// Notes a switch for the clip.
    pub fn note_switch(&mut self, switch: Switch) {
        // SAFETY: the head stays mapped.
        let control = unsafe { &mut *control::get() };
        let at = control.switch_count as usize;
        if at >= self.schedule_out.len() {
            self.fail_and_end(
                OutcomeKind::Hang,
                b"the run has more context switches than a clip can hold",
            );
        }
        // SAFETY: below the region's length.
        unsafe { self.schedule_out.cast::<Switch>().add(at).write(switch) };
        control.switch_count += 1;
    }

    fn switch(&self, me: &Thread, to: Tid, reason: SwitchReason) -> Switch {
        let site = self.site_number(me.pending_site).unwrap_or(u32::MAX);
        Switch {
            tick: me.tick_base,
            from: me.id,
            to,
            reason: reason as u32,
            site,
        }
    }

    /// The limit of `thread`, whose next slot is `cursor`.
    fn limit(&mut self, thread: Tid, cursor: *mut Slot) -> *mut Slot {
        let mut budget = if self.steps() {
            0
        } else {
            let slice = (SLICE_NS / self.ns_a_tick).max(1);
            let budget = self.strategy.get().budget(slice, &mut self.rng);
            budget.min(self.threads.get(thread).polling.budget())
        };
        if let Some(replay) = &self.replay {
            budget = budget.min(replay.budget(self.threads.get(thread), cursor));
        }
        budget = budget.min(inputs::signal_budget(self.threads.get(thread), cursor));
        let me = self.threads.get_mut(thread);
        me.due = me.tick_at(cursor).saturating_add(budget);
        self.extent(self.threads.get(thread), cursor)
    }

    /// How far `me`, whose next slot is `cursor`, may write: up to its next point or the chunk's end.
    fn extent(&self, me: &Thread, cursor: *mut Slot) -> *mut Slot {
        // Behind a mark the cursor may be in the slack, where there is none.
        let end = self.recorder.soft_end() as u64;
        let room = end.saturating_sub(cursor as u64) / SLOT_BYTES as u64;
        let left = me.due.saturating_sub(me.tick_at(cursor));
        // SAFETY: at most `room` slots behind the cursor, within the chunk.
        unsafe { cursor.add(left.min(room) as usize) }
    }

    fn publish(&self) {
        // SAFETY: the head stays mapped.
        let control = unsafe { &mut *control::get() };
        control.ticks = self.ticks();
        control.points = if self.steps() {
            self.points
        } else {
            control.ticks
        };
        control.current_chunk = self.recorder.chunk();
    }

    /// The number of the site whose record is at `address`.
    fn site_number(&self, address: u64) -> Option<u32> {
        if address < FIRST_SITE_ADDRESS {
            return None;
        }
        // SAFETY: the head stays mapped; images are only added.
        let control = unsafe { &*control::get() };
        let images = &control.images[..control.image_count as usize];
        let image = images
            .iter()
            .find(|i| address.wrapping_sub(i.start) < i.len)?;
        Some(((image.offset + address - image.start) / 8) as u32)
    }

    fn is_visible(&self, site: u64) -> bool {
        if self.visible.is_empty() {
            return true;
        }
        let Some(number) = self.site_number(site) else {
            return true;
        };
        let byte = number as usize / 8;
        // SAFETY: within the region.
        byte >= self.visible.len()
            || unsafe { *self.visible.cast::<u8>().add(byte) } & (1 << (number % 8)) != 0
    }
}

const fn no_bytes() -> *mut [u8] {
    core::ptr::slice_from_raw_parts_mut(core::ptr::NonNull::dangling().as_ptr(), 0)
}

fn word_changed(wait: &Wait) -> bool {
    wait.word.is_some_and(|(address, mask, value)| {
        // SAFETY: the word belongs to the object that the waiting call was given.
        unsafe { *(address as *const u32) & mask != value }
    })
}

fn sees_change(thread: &Thread) -> bool {
    let watched = &thread.history.watched[..thread.history.watched_len];
    watched.iter().any(Watched::is_changed)
}

/// Whether a thread could go on though no signal has come to it.
fn has_what_it_waits_for(thread: &Thread, at: Moment) -> bool {
    let due = thread.wait.deadline_ns.is_some_and(|d| d <= at.now_ns);
    match thread.state {
        ThreadState::Blocked => thread.wait.woken || due || word_changed(&thread.wait),
        ThreadState::Sleeping => due,
        ThreadState::Spinning => thread.history.is_due(at.ticks) || sees_change(thread),
        _ => true,
    }
}

/// Settles a wait whose thread gets the turn.
fn wake_up(thread: &mut Thread, at: Moment) {
    thread.roused = !has_what_it_waits_for(thread, at);
    if matches!(thread.state, ThreadState::Blocked | ThreadState::Sleeping) {
        let due = thread.wait.deadline_ns.is_some_and(|d| d <= at.now_ns);
        thread.wait.timed_out = due && !thread.wait.woken;
    }
    if thread.state != ThreadState::Ended {
        thread.state = ThreadState::Ready;
    }
}
