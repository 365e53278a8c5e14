//! The scheduler: exactly one instrumented thread runs at a time.
//!
//! A thread has the turn or is parked on its own futex word. It gives the turn away at a
//! scheduling point (an event past its limit, a synchronisation call), when it blocks, leaves for
//! a call that may block, or ends. State changes happen under [`SCHED`]'s lock; the turn itself is
//! `current`. Who runs next is the strategy's choice, or the recorded schedule's ([`crate::replay`]).
//!
//! Time is virtual: an event moves the clock by a fixed step, and when only sleepers are left it
//! jumps to the first deadline. So clocks, like everything else, depend on the schedule alone.

use raddle_trace::wire::{
    Control, FIRST_SITE_ADDRESS, Mark, OutcomeKind, SLOT_BYTES, Slot, Switch, SwitchReason,
    ThreadRecord, ThreadState, flags,
};

use crate::control;
use crate::lock::{Guard, Lock};
use crate::record::Recorder;
use crate::replay::{Followed, Replay};
use crate::rng::Rng;
use crate::spin::Verdict;
use crate::stack;
use crate::strategy::{Chosen as ChosenStrategy, RoundRobin, View};
use crate::sys;
use crate::thread::{NOBODY, Thread, ThreadTable, Tid, Wait};
use crate::tls;

/// Exit status of a run that the runtime ended itself.
const ENDED_BY_RUNTIME: i32 = 79;
/// Events that a spinning thread may execute before it is looked at again, at first.
const FIRST_SPIN_GRACE: u64 = 2048;
/// The same at last. Whether a spin is for ever cannot be told from events: a loop that adds up what
/// it reads looks the same. A hang is therefore the launcher's verdict, by the clock.
const LAST_SPIN_GRACE: u64 = 1 << 20;

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
    points: u64,
    clock_jumped_ns: u64,
    tickets: u64,
    outside: u32,
    spin_grace: u64,
    /// While nobody has the turn: the switch that waits for its target.
    idle: Option<Switch>,
    /// The only thread that may take the turn back, or NOBODY.
    awaited: Tid,
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
            records: core::ptr::slice_from_raw_parts_mut(core::ptr::NonNull::dangling().as_ptr(), 0),
            written: 0,
            points: 0,
            clock_jumped_ns: 0,
            tickets: 0,
            outside: 0,
            spin_grace: FIRST_SPIN_GRACE,
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
        self.rng = Rng::new(control.seed);
        let ring = control::map_region(memory, control.ring);
        let recording = control.flags & flags::RECORD != 0;
        self.recorder.start(ring, control.chunk_slots, recording, control::socket());
        self.sites = control::map_region(memory, control.sites);
        self.visible = control::map_region(memory, control.visible);
        self.schedule_out = control::map_region(memory, control.schedule_out);
        self.records = control::map_region(memory, control.threads);
        let capacity = (raddle_trace::wire::MAX_THREADS * size_of::<Tid>()) as u64;
        self.active = sys::map_own(capacity).cast();
        self.enabled = sys::map_own(capacity).cast();
        self.strategy = crate::start::strategy(memory, control, &mut self.rng);
        self.replay = crate::start::replay(memory, control);
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
        self.strategy.get().created(id, &mut self.threads, &mut self.rng);
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

    // ---- time ----

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
        // SAFETY: the head stays mapped.
        let control = unsafe { &*control::get() };
        if control.flags & flags::REAL_TIME != 0 {
            return sys::clock_ns(libc::CLOCK_REALTIME).saturating_sub(control.clock_start_ns);
        }
        self.ticks() * control.clock_ns_per_tick + self.clock_jumped_ns
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

    // ---- who can run ----

    /// Whether a thread could take the turn.
    pub fn is_enabled(&self, id: Tid) -> bool {
        let thread = self.threads.get(id);
        let due = || thread.wait.deadline_ns.is_some_and(|d| d <= self.now_ns());
        match thread.state {
            ThreadState::Blocked | ThreadState::Sleeping | ThreadState::Spinning
                if thread.signals != 0 =>
            {
                true
            }
            ThreadState::Ready => true,
            ThreadState::Blocked => thread.wait.woken || word_changed(&thread.wait) || due(),
            ThreadState::Sleeping => due(),
            ThreadState::Spinning => sees_change(thread),
            ThreadState::None | ThreadState::Outside | ThreadState::Ended => false,
        }
    }

    /// Fills `self.enabled`; see [`View::enabled`] for the order.
    fn collect_enabled(&mut self, me: Tid, reason: SwitchReason) -> usize {
        let mut count = 0;
        let mut add = |id: Tid| {
            // SAFETY: there are no more enabled threads than threads.
            unsafe { self.enabled.add(count).write(id) };
            count += 1;
        };
        let me_enabled = me != NOBODY && self.is_enabled(me);
        let me_last = reason == SwitchReason::Yielded;
        if me_enabled && !me_last {
            add(me);
        }
        for &id in self.active() {
            if id != me && self.is_enabled(id) {
                add(id);
            }
        }
        if me_enabled && me_last {
            add(me);
        }
        count
    }

    fn decide(&mut self, me: Tid, reason: SwitchReason) -> Decision {
        if let Some(mut replay) = self.replay.take() {
            let followed = replay.follow(self, me);
            if !replay.is_over() {
                self.replay = Some(replay);
            }
            match followed {
                Followed::Run(next) => return Decision::Run(next),
                Followed::Await(next) => {
                    self.awaited = next;
                    return Decision::Idle;
                }
                Followed::Free => {}
            }
        }
        loop {
            let count = self.collect_enabled(me, reason);
            if count > 0 {
                return Decision::Run(self.ask_strategy(me, reason, count));
            }
            if self.outside > 0 {
                return Decision::Idle;
            }
            if let Some(deadline) = self.first_deadline() {
                self.jump_to(deadline);
            } else if !self.release_spinners() {
                return Decision::Deadlock;
            }
        }
    }

    fn ask_strategy(&mut self, me: Tid, reason: SwitchReason, count: usize) -> Tid {
        // SAFETY: `collect_enabled` wrote `count` entries.
        let enabled = unsafe { core::slice::from_raw_parts(self.enabled, count) };
        let progress = if self.steps() { self.points } else { self.ticks() };
        let mut view = View {
            enabled,
            current: if me == NOBODY { enabled[0] } else { me },
            current_enabled: enabled.contains(&me),
            reason,
            progress,
            threads: &mut self.threads,
            rng: &mut self.rng,
        };
        let index = self.strategy.get().choose(&mut view);
        // SAFETY: the head stays mapped.
        unsafe { (*control::get()).choice_count = self.strategy.choices_made() as u64 };
        enabled[index]
    }

    fn first_deadline(&self) -> Option<u64> {
        let waits = |id: &&Tid| {
            matches!(self.threads.get(**id).state, ThreadState::Blocked | ThreadState::Sleeping)
        };
        let deadline = |id: &Tid| self.threads.get(*id).wait.deadline_ns;
        self.active().iter().filter(waits).filter_map(deadline).min()
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

    // ---- handing over ----

    /// Takes `me` off the stream, at its cursor.
    fn stop(&mut self, me: &mut Thread, cursor: *mut Slot) {
        let slots = me.tick_at(cursor) - me.tick_base;
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
        let now = self.now_ns();
        let tick = self.threads.get(next).tick_base;
        let segment = self.recorder.open_segment(next, tick);
        self.current = next;
        let thread = self.threads.get_mut(next);
        thread.segment = segment;
        thread.streak = 0;
        wake_up(thread, now);
        thread.parker.store(1, core::sync::atomic::Ordering::Release);
        sys::futex_wake(&thread.parker);
        self.publish();
    }

    /// Notes a switch for the clip.
    fn note_switch(&mut self, switch: Switch) {
        // SAFETY: the head stays mapped.
        let control = unsafe { &mut *control::get() };
        let at = control.switch_count as usize;
        if at >= self.schedule_out.len() {
            self.fail_and_end(OutcomeKind::Internal, b"more context switches than a clip can hold");
        }
        // SAFETY: below the region's length.
        unsafe { self.schedule_out.cast::<Switch>().add(at).write(switch) };
        control.switch_count += 1;
    }

    fn switch(&self, me: &Thread, to: Tid, reason: SwitchReason) -> Switch {
        let site = self.site_number(me.pending_site).unwrap_or(u32::MAX);
        Switch { tick: me.tick_base, from: me.id, to, reason: reason as u32, site }
    }

    /// The limit of `thread`, whose next slot is `cursor`.
    fn limit(&mut self, thread: Tid, cursor: *mut Slot) -> *mut Slot {
        let budget = match &self.replay {
            Some(replay) => {
                let tick = self.threads.get(thread).tick_at(cursor);
                replay.budget(thread, tick)
            }
            None if self.steps() => 0,
            None => self.strategy.get().budget(&mut self.rng),
        };
        let room = (self.recorder.soft_end() as u64 - cursor as u64) / SLOT_BYTES as u64;
        // SAFETY: at most `room` slots behind the cursor, within the chunk.
        unsafe { cursor.add(budget.min(room) as usize) }
    }

    fn publish(&self) {
        // SAFETY: the head stays mapped.
        let control = unsafe { &mut *control::get() };
        control.ticks = self.ticks();
        control.points = if self.steps() { self.points } else { control.ticks };
        control.current_chunk = self.recorder.chunk();
    }

    // ---- sites ----

    /// The number of the site whose record is at `address`.
    fn site_number(&self, address: u64) -> Option<u32> {
        if address < FIRST_SITE_ADDRESS {
            return None;
        }
        // SAFETY: the head stays mapped; images are only added.
        let control = unsafe { &*control::get() };
        let images = &control.images[..control.image_count as usize];
        let image = images.iter().find(|i| address.wrapping_sub(i.start) < i.len)?;
        Some(((image.offset + address - image.start) / 8) as u32)
    }

    fn is_visible(&self, site: u64) -> bool {
        if self.visible.is_empty() {
            return true;
        }
        let Some(number) = self.site_number(site) else { return true };
        let byte = number as usize / 8;
        // SAFETY: within the region.
        byte >= self.visible.len()
            || unsafe { *self.visible.cast::<u8>().add(byte) } & (1 << (number % 8)) != 0
    }

    // ---- failures ----

    /// Writes what every thread was doing into the launcher's table.
    pub fn write_thread_records(&self) {
        for id in 0..self.threads.len().min(self.records.len() as u32) {
            let thread = self.threads.get(id);
            let running = id == self.current;
            let tick = if running { thread.tick_at(tls::cur()) } else { thread.tick_base };
            let frame = if running { stack::frame() } else { thread.frame };
            let mut record = ThreadRecord {
                state: thread.state as u32,
                wait_kind: thread.wait.kind as u32,
                wait_object: thread.wait.object,
                held_by: crate::owner::of(self, &thread.wait),
                os_tid: thread.os_tid,
                tick,
                visible: thread.visible,
                stack_len: 0,
                stack: [0; raddle_trace::wire::STACK_DEPTH],
            };
            record.stack_len = stack::walk(frame, &mut record.stack) as u64;
            // SAFETY: `id` is below the region's length.
            unsafe { self.records.cast::<ThreadRecord>().add(id as usize).write(record) };
        }
        self.publish();
    }

    /// Ends the run: no thread can go on, or the runtime cannot.
    pub fn fail_and_end(&mut self, kind: OutcomeKind, message: &[u8]) -> ! {
        let (thread, tick) = match self.current {
            NOBODY => (0, 0),
            id => (id, self.threads.get(id).tick_at(tls::cur())),
        };
        control::set_outcome(kind, thread, tick, 0, 0, 0, message);
        self.write_thread_records();
        self.recorder.check_accesses();
        if self.flags & flags::STOP_AT_FAILURE != 0 {
            sys::stop_self();
        }
        sys::exit_process(ENDED_BY_RUNTIME);
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
    watched.iter().any(|w| sys::peek(w.addr, w.size as usize).is_none_or(|now| now != w.value))
}

/// Settles a wait whose thread gets the turn.
fn wake_up(thread: &mut Thread, now_ns: u64) {
    if matches!(thread.state, ThreadState::Blocked | ThreadState::Sleeping) {
        let due = thread.wait.deadline_ns.is_some_and(|d| d <= now_ns);
        thread.wait.timed_out = due && !thread.wait.woken;
    }
    if thread.state != ThreadState::Ended {
        thread.state = ThreadState::Ready;
    }
}

// ---- what a thread does ----

/// Waits for the turn, then takes up the stream.
fn park(me: &mut Thread) {
    crate::watchdog::wait_for_turn(me);
    me.parker.store(0, core::sync::atomic::Ordering::Relaxed);
    take_up(me);
    take_signals(me);
}

/// Takes the signals that were sent while the thread did not have the turn. A wait that they
/// interrupt ends as if woken for nothing, which every wait allows for.
fn take_signals(me: &mut Thread) {
    while me.signals != 0 {
        let signal = me.signals.trailing_zeros();
        me.signals &= me.signals - 1;
        sys::signal_self(signal);
    }
}

/// Points this thread's cursor at its segment.
fn take_up(me: &mut Thread) {
    tls::set_cur(me.segment);
    let limit = SCHED.lock().limit(me.id, me.segment);
    tls::set_lim(limit);
}

/// Gives the turn to whoever should have it; returns when `me` has it again.
fn reschedule(mut s: Guard<'_, Scheduler>, me: &mut Thread, reason: SwitchReason) {
    me.frame = stack::frame();
    match s.decide(me.id, reason) {
        Decision::Run(next) if next == me.id => {
            let now = s.now_ns();
            wake_up(me, now);
            me.streak += 1;
            let limit = s.limit(me.id, tls::cur());
            tls::set_lim(limit);
        }
        Decision::Run(next) => {
            s.stop(me, tls::cur());
            let switch = s.switch(me, next, reason);
            s.note_switch(switch);
            s.hand_over(next);
            drop(s);
            park(me);
        }
        Decision::Idle => {
            s.stop(me, tls::cur());
            s.idle = Some(s.switch(me, NOBODY, reason));
            s.current = NOBODY;
            drop(s);
            park(me);
        }
        Decision::Deadlock => s.fail_and_end(OutcomeKind::Deadlock, b"no thread can go on"),
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
        tls::set_lim(tls::cur());
        return;
    }
    s.points += 1;
    me.visible += 1;
    match judge_spin(&s, me) {
        Verdict::Works => reschedule(s, me, SwitchReason::Preempted),
        Verdict::Pardoned => {
            let limit = s.limit(me.id, tls::cur());
            tls::set_lim(limit);
        }
        Verdict::Spins => {
            me.state = ThreadState::Spinning;
            reschedule(s, me, SwitchReason::Spins);
        }
    }
}

fn judge_spin(s: &Scheduler, me: &mut Thread) -> Verdict {
    if s.replay.as_ref().is_some_and(|r| !r.is_at_end()) || !s.has_company() {
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
    me.history.judge(tick)
}

/// Yields or sleeps: lets others go first.
pub fn give_way(me: &mut Thread, deadline_ns: Option<u64>) {
    tls::on_own_stack(|| give_way_here(me, deadline_ns));
}

fn give_way_here(me: &mut Thread, deadline_ns: Option<u64>) {
    let s = SCHED.lock();
    me.pending_site = 0;
    me.pending_addr = 0;
    if let Some(deadline) = deadline_ns {
        me.state = ThreadState::Sleeping;
        me.wait = Wait::new(Mark::Sleep, 0).until(Some(deadline));
    } else if judge_spin(&s, me) == Verdict::Spins {
        me.state = ThreadState::Spinning;
    }
    reschedule(s, me, SwitchReason::Yielded);
}

/// Blocks until woken or out of time; returns the settled wait.
pub fn block(me: &mut Thread, wait: Wait) -> Wait {
    tls::on_own_stack(|| block_here(me, wait))
}

fn block_here(me: &mut Thread, wait: Wait) -> Wait {
    let mut s = SCHED.lock();
    s.tickets += 1;
    me.wait = Wait { ticket: s.tickets, ..wait };
    me.state = ThreadState::Blocked;
    me.pending_site = 0;
    me.pending_addr = wait.object;
    reschedule(s, me, SwitchReason::Blocked);
    me.wait
}

/// Marks every thread that waits for `object` with one of `kinds` as worth another try, or, with
/// `woken` false, as not.
pub fn set_woken(object: u64, kinds: &[Mark], woken: bool) {
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
        let first = s.active().iter().filter(waits).min_by_key(|&&id| s.threads.get(id).wait.ticket);
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
    let here = !matches!(thread.state, ThreadState::Outside | ThreadState::Ended | ThreadState::None);
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

/// Leaves the scheduler before a call that may block, unless the call is known not to block now or
/// nobody else is there. The thread is adrift then, and has to [`come_back`].
pub fn leave(me: &mut Thread, ready_now: bool) {
    tls::on_own_stack(|| leave_here(me, ready_now));
}

fn leave_here(me: &mut Thread, ready_now: bool) {
    let mut s = SCHED.lock();
    let tick = me.tick_at(tls::cur());
    let must = s.replay.as_ref().map(|r| r.switches_at(me.id, tick));
    if !must.unwrap_or(!ready_now && s.has_company()) {
        return;
    }
    me.frame = stack::frame();
    me.state = ThreadState::Outside;
    me.adrift = true;
    me.pending_site = 0;
    s.outside += 1;
    match s.decide(me.id, SwitchReason::Left) {
        Decision::Run(next) => {
            s.stop(me, tls::cur());
            let switch = s.switch(me, next, SwitchReason::Left);
            s.note_switch(switch);
            s.hand_over(next);
        }
        Decision::Idle => {
            s.stop(me, tls::cur());
            s.idle = Some(s.switch(me, NOBODY, SwitchReason::Left));
            s.current = NOBODY;
        }
        Decision::Deadlock => unreachable!("a thread is outside"),
    }
    drop(s);
    tls::set_lim(core::ptr::null_mut());
}

/// Asks for the turn again.
pub fn come_back(me: &mut Thread) {
    tls::on_own_stack(|| come_back_here(me));
}

fn come_back_here(me: &mut Thread) {
    let mut s = SCHED.lock();
    me.adrift = false;
    me.state = ThreadState::Ready;
    s.outside -= 1;
    s.take_idle_turn(me.id);
    drop(s);
    park(me);
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
        self.stop(me, tls::cur());
        match self.decide(id, SwitchReason::Ended) {
            Decision::Run(next) => {
                let switch = self.switch(me, next, SwitchReason::Ended);
                self.note_switch(switch);
                self.hand_over(next);
            }
            Decision::Idle => {
                self.idle = Some(self.switch(me, NOBODY, SwitchReason::Ended));
                self.current = NOBODY;
            }
            Decision::Deadlock => self.fail_and_end(OutcomeKind::Deadlock, b"no thread can go on"),
        }
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
        let tick = victim_thread.tick_at(cursor);
        if self.replay.as_ref().is_some_and(|r| !r.switches_at(victim, tick)) {
            return;
        }
        victim_thread.adrift = true;
        victim_thread.state = ThreadState::Outside;
        self.outside += 1;
        self.stop(victim_thread, cursor);
        match self.decide(victim, SwitchReason::Left) {
            Decision::Run(next) => {
                let switch = self.switch(victim_thread, next, SwitchReason::Left);
                self.note_switch(switch);
                self.hand_over(next);
            }
            Decision::Idle => {
                self.idle = Some(self.switch(victim_thread, NOBODY, SwitchReason::Left));
                self.current = NOBODY;
            }
            Decision::Deadlock => unreachable!("a thread is outside"),
        }
    }

    /// While nobody has the turn and only outside threads could change that, lets a parked thread
    /// go on whose deadline has come in real time, or that merely spins.
    pub fn wake_self_from_idle(&mut self, id: Tid, parked_ns: u64) {
        if self.current != NOBODY || self.awaited != NOBODY {
            return;
        }
        let thread = self.threads.get(id);
        match thread.state {
            ThreadState::Spinning => {}
            ThreadState::Blocked | ThreadState::Sleeping => {
                let Some(deadline) = thread.wait.deadline_ns else { return };
                if deadline > self.now_ns() + parked_ns {
                    return;
                }
                self.jump_to(deadline);
            }
            _ => return,
        }
        self.take_idle_turn(id);
    }
}

/// Waits until the kernel has let go of every thread that ended: only then are its robust mutexes
/// marked and does libc no longer count it.
pub fn settle_exits() {
    let mut s = SCHED.lock();
    for id in 0..s.threads.len() {
        let thread = s.threads.get_mut(id);
        if thread.state == ThreadState::Ended && !thread.gone {
            while !crate::watchdog::is_gone(thread.os_tid) {
                sys::sleep_real(20_000);
            }
            thread.gone = true;
        }
    }
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

/// Writes a mark of the runtime's own, with its second slot.
pub fn mark(me: &mut Thread, mark: Mark, object: u64, argument: u64, pc: u64, second: u64) {
    tls::on_own_stack(|| mark_here(me, mark, object, argument, pc, second));
}

fn mark_here(me: &mut Thread, mark: Mark, object: u64, argument: u64, pc: u64, second: u64) {
    make_room(&mut SCHED.lock(), me);
    let cursor = tls::cur();
    // SAFETY: `make_room` left room for two slots.
    unsafe {
        cursor.write(Slot { head: mark as u64, addr: object, value: argument });
        cursor.add(1).write(Slot { head: Mark::Extra as u64, addr: pc, value: second });
        tls::set_cur(cursor.add(2));
    }
}

/// Writes the pending branch outcomes, if there are any.
pub fn flush_branches(me: &mut Thread) {
    let bits = tls::bits();
    tls::set_bits(1);
    if bits <= 1 {
        return;
    }
    make_room(&mut SCHED.lock(), me);
    let cursor = tls::cur();
    // SAFETY: `make_room` left room.
    unsafe {
        cursor.write(Slot { head: Mark::Branches as u64, addr: 0, value: bits });
        tls::set_cur(cursor.add(1));
    }
}

/// Goes on in a new chunk if this one is full.
fn make_room(s: &mut Scheduler, me: &mut Thread) {
    let cursor = tls::cur();
    if cursor < s.recorder.soft_end() {
        return;
    }
    s.stop(me, cursor);
    me.segment = s.recorder.open_segment(me.id, me.tick_base);
    tls::set_cur(me.segment);
    tls::set_lim(me.segment);
    s.publish();
}
