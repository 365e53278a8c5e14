//! What the scheduler knows of a thread.

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};

use raddle_trace::wire::{MAX_THREADS, Mark, Slot, ThreadState};

use crate::poll::Polling;
use crate::spin::History;
use crate::sys;
use crate::tls::OWN_STACK_BYTES;

/// A thread's number: 0 is main, then in order of creation.
pub type Tid = u32;

/// No thread.
pub const NOBODY: Tid = u32::MAX;

/// What a blocked thread waits for.
#[derive(Clone, Copy)]
pub struct Wait {
    /// The mark it will make when it goes on.
    pub kind: Mark,
    /// The lock, condition, futex, thread … concerned.
    pub object: u64,
    /// Something has happened to the object: worth another try.
    pub woken: bool,
    /// Virtual time at which it goes on by itself.
    pub deadline_ns: Option<u64>,
    /// It went on because of the deadline.
    pub timed_out: bool,
    /// Order of arrival among all waits.
    pub ticket: u64,
    /// Which thread woke it.
    pub waker: Tid,
    /// Futex: bits it listens to.
    pub bitset: u32,
    /// The end of the object's owner ends the wait too.
    pub robust: bool,
    /// Its deadline may come while other threads could run: they count as preempted for so long.
    pub overtakes: bool,
    /// A word that enables the thread, besides `woken`: address, mask, value. It waits while
    /// `word & mask == value`.
    pub word: Option<(u64, u32, u32)>,
}

impl Wait {
    /// A wait that only a wake ends.
    pub const fn new(kind: Mark, object: u64) -> Self {
        Wait {
            kind,
            object,
            woken: false,
            deadline_ns: None,
            timed_out: false,
            ticket: 0,
            waker: NOBODY,
            bitset: u32::MAX,
            robust: false,
            overtakes: false,
            word: None,
        }
    }

    /// Whether the call that waits acts on a cancellation itself.
    pub fn is_cancellation_point(&self) -> bool {
        const KINDS: [Mark; 4] = [Mark::CondWake, Mark::SemWait, Mark::Join, Mark::Sleep];
        KINDS.contains(&self.kind)
    }

    /// The same, ended by a point in virtual time too.
    pub const fn until(mut self, deadline_ns: Option<u64>) -> Self {
        self.deadline_ns = deadline_ns;
        self
    }
}

/// How a wait ended. Without padding: it is handed over on the program's stack, where padding would leave what the runtime's
/// own stack has there, which is not the same in every run.
#[derive(Clone, Copy)]
pub struct Settled {
    /// Which thread woke it.
    pub waker: Tid,
    bits: u32,
}

impl Settled {
    const TIMED_OUT: u32 = 1;
    const WOKEN: u32 = 2;

    /// Of a wait that is over.
    pub fn of(wait: &Wait) -> Settled {
        let bit = |set: bool, bit: u32| if set { bit } else { 0 };
        Settled {
            waker: wait.waker,
            bits: bit(wait.timed_out, Self::TIMED_OUT) | bit(wait.woken, Self::WOKEN),
        }
    }

    /// Whether its deadline ended it.
    pub fn timed_out(self) -> bool {
        self.bits & Self::TIMED_OUT != 0
    }

    /// Whether a wake ended it.
    pub fn woken(self) -> bool {
        self.bits & Self::WOKEN != 0
    }
}

/// A thread's record. It stays at its address for the process's life.
pub struct Thread {
    /// Its number.
    pub id: Tid,
    /// Whether it can run.
    pub state: ThreadState,
    /// What it waits for, while `Blocked` or `Sleeping`.
    pub wait: Wait,
    /// 1 when the turn was handed to it.
    pub parker: AtomicU32,
    /// The kernel's id.
    pub os_tid: u32,
    /// libc's handle.
    pub handle: u64,
    /// Who created it.
    pub creator: Tid,
    /// Slots written before the current segment.
    pub tick_base: u64,
    /// Slots among those written that another schedule might not have: waits for locks that were not
    /// free.
    pub unsteady: u64,
    /// First slot of the current segment.
    pub segment: *mut Slot,
    /// The soft end of the chunk that the segment is in.
    pub soft_end: *mut Slot,
    /// The tick of its next scheduling point, unless a call is one before.
    pub due: u64,
    /// Where its thread-local cursor and limit are.
    pub cur_address: *mut *mut Slot,
    /// See `cur_address`.
    pub lim_address: *mut *mut Slot,
    /// The frame of the program's own part of a Rust thread, 0 if it has none.
    pub body: u64,
    /// Calls of the runtime under way on this thread; hooks pass through while it is not 0.
    pub depth: u32,
    /// It does not have the turn, though it may run: it left for a call that may block, or somebody
    /// took the turn away while it slept in the kernel. It has to ask for the turn first.
    pub adrift: bool,
    /// What it left the scheduler for may be another thread's to give: a lock of libc's own, the other end
    /// of a pipe.
    pub waits_inside: bool,
    /// The descriptor that it left the scheduler for last, or -1.
    pub left_for: i32,
    /// When the call that it makes is over though nothing has come, if it has such a limit.
    pub outside_until_ns: Option<u64>,
    /// It was cancelled.
    pub cancelled: bool,
    /// It asked to be cancelled asynchronously. libc is not told: its signal would unwind a thread that waits in
    /// the runtime without the turn. It acts as it leaves the runtime, so at its events too.
    pub cancelled_anywhere: bool,
    /// Signals sent to it that it takes when it gets the turn, a bit each.
    pub signals: u64,
    /// Signals that have come to it from outside and that it takes where the log can say so, a bit each.
    pub arrived: AtomicU64,
    /// It was given the turn because a signal has come, and not for what it waits for.
    pub roused: bool,
    /// What it allocates is libc's own business, which a replay does not do again.
    pub foreign: bool,
    /// The signal that it is sending itself, or 0.
    pub delivering: AtomicU32,
    /// It has ended, and the kernel no longer runs it.
    pub gone: bool,
    /// Nobody will join it.
    pub detached: bool,
    /// The event it is about to execute: site and address, 0 if none.
    pub pending_site: u64,
    /// See `pending_site`.
    pub pending_addr: u64,
    /// Visible events executed.
    pub visible: u64,
    /// Rounds of its last destructor.
    pub end_rounds: u32,
    /// Frame pointer at its last stop, for stacks.
    pub frame: u64,
    /// Lowest address and size of its stack, 0 if unknown.
    pub stack: (u64, u64),
    /// Whether `stack` is the runtime's to unmap.
    pub own_stack: bool,
    /// End of the stack on which the runtime works for it.
    pub own_stack_top: u64,
    /// Its start routine and argument.
    pub start: (u64, u64),
    /// The strategy's.
    pub priority: u64,
    /// When the thread could run, if it has not since.
    pub enabled_since: Option<Since>,
    /// It has started to end the process.
    pub ends_process: bool,
    /// Invisible events in a row, where every visible one is a point.
    pub unseen: u32,
    /// It waits for a lock of the runtime's own.
    pub waits_for_runtime: AtomicBool,
    /// It has seen that it is adrift and asks for the turn.
    pub returns: AtomicBool,
    /// Its latest readings of clocks.
    clock_readings: ClockReadings,
    /// What it read lately.
    pub history: History,
    /// Whether it polled lately.
    pub polling: Polling,
}

impl Thread {
    /// Where the thread is in its own time, given its cursor.
    pub fn tick_at(&self, cur: *mut Slot) -> u64 {
        if self.segment.is_null() {
            return self.tick_base;
        }
        self.tick_base + (cur as u64 - self.segment as u64) / size_of::<Slot>() as u64
    }

    /// Whether the thread has never had the turn.
    pub fn is_new(&self) -> bool {
        self.tick_base == 0 && self.segment.is_null()
    }

    /// Takes note of whether the thread could run while another one does.
    pub fn passed_over(&mut self, is_enabled: bool, now: Since) {
        self.enabled_since = is_enabled.then(|| self.enabled_since.unwrap_or(now));
    }
}

/// Since when a thread could run, on the program's clock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Since {
    /// How long the program had worked.
    pub worked_ns: u64,
    /// How far the clock had jumped.
    pub jumped_ns: u64,
}

/// How a thread has read clocks lately.
#[derive(Clone, Copy, Default)]
struct ClockReadings {
    /// How many in a row.
    count: u32,
    /// The tick of the last one.
    last: u64,
    /// Whether the thread has changed memory since.
    wrote: bool,
}

/// Slots between two clock readings up to which they count as one loop's.
const CLOCK_LOOP_SLOTS: u64 = 64;
/// Readings after which the clock in such a loop moves in steps twice as large.
const CLOCK_LOOP_READINGS: u32 = 1024;
/// First and last step by which a clock moves on by itself.
const CLOCK_STEP_NS: (u64, u64) = (100, 1_000_000);

impl Thread {
    /// Notes a reading of a clock; returns how far the clock moves because of it. The steps grow with
    /// the readings of a thread that does little else, and leaves nothing behind: who looks at the
    /// clock a thousand times between two pieces of work is not waiting.
    pub fn clock_reading(&mut self) -> u64 {
        let cursor = crate::tls::cur();
        self.note_writes(cursor);
        let tick = self.tick_at(cursor);
        let readings = &mut self.clock_readings;
        readings.count = match tick - readings.last <= CLOCK_LOOP_SLOTS && !readings.wrote {
            true => readings.count + 1,
            false => 0,
        };
        readings.last = tick;
        readings.wrote = false;
        let doublings = (readings.count / CLOCK_LOOP_READINGS).min(16);
        (CLOCK_STEP_NS.0 << doublings).min(CLOCK_STEP_NS.1)
    }

    /// Looks at what the thread has written to its segment since its last reading of a clock.
    pub fn note_writes(&mut self, cursor: *mut Slot) {
        let (tick, last) = (self.tick_at(cursor), self.clock_readings.last);
        if self.segment.is_null() || tick - last > CLOCK_LOOP_SLOTS {
            return;
        }
        let since = (tick - last.max(self.tick_base)) as usize;
        // SAFETY: the slots of its segment up to the cursor were written by this thread.
        let slots = unsafe { core::slice::from_raw_parts(cursor.sub(since), since) };
        let (low, size) = self.stack;
        self.clock_readings.wrote |= crate::spin::any_writes(slots, low..low + size);
    }
}

/// Where the runtime's stacks are: below those of the program's threads, so that a debugger takes
/// the program's frames for outer ones.
const OWN_STACKS: u64 = 0x0800_0000_0000;

/// Maps the runtime's stack for a thread; 0, for none, if there is no memory.
fn own_stack_top(id: Tid) -> u64 {
    let start = OWN_STACKS + u64::from(id) * 2 * OWN_STACK_BYTES;
    let mapped = sys::map_anonymous(start, OWN_STACK_BYTES);
    if mapped.is_null() {
        0
    } else {
        start + OWN_STACK_BYTES
    }
}

/// The part of a limited address space that the table of threads gets.
const SHARE_OF_THREADS: u64 = 32;

/// All threads that ever were.
pub struct ThreadTable {
    base: *mut Thread,
    count: u32,
    /// Most threads that there is room for.
    capacity: usize,
}

impl ThreadTable {
    /// No threads, no memory.
    pub const fn new() -> Self {
        ThreadTable {
            base: core::ptr::null_mut(),
            count: 0,
            capacity: 0,
        }
    }

    /// Number of threads.
    pub fn len(&self) -> u32 {
        self.count
    }

    /// A new record, or None when the table is full.
    pub fn add(&mut self, creator: Tid) -> Option<&mut Thread> {
        if self.base.is_null() {
            let most = (MAX_THREADS * size_of::<Thread>()) as u64;
            let bytes = sys::within_limit(most, SHARE_OF_THREADS);
            self.base = sys::map_own_within(bytes, most).cast();
            self.capacity = bytes as usize / size_of::<Thread>();
        }
        if self.count as usize == self.capacity {
            return None;
        }
        let id = self.count;
        self.count += 1;
        let thread = Thread {
            id,
            state: ThreadState::None,
            wait: Wait::new(Mark::Empty, 0),
            parker: AtomicU32::new(0),
            os_tid: 0,
            handle: 0,
            creator,
            tick_base: 0,
            unsteady: 0,
            segment: core::ptr::null_mut(),
            soft_end: core::ptr::null_mut(),
            due: 0,
            cur_address: core::ptr::null_mut(),
            lim_address: core::ptr::null_mut(),
            body: 0,
            depth: 0,
            adrift: false,
            waits_inside: false,
            left_for: -1,
            outside_until_ns: None,
            cancelled: false,
            cancelled_anywhere: false,
            signals: 0,
            arrived: AtomicU64::new(0),
            roused: false,
            foreign: false,
            delivering: AtomicU32::new(0),
            gone: false,
            detached: false,
            pending_site: 0,
            pending_addr: 0,
            visible: 0,
            end_rounds: 0,
            frame: 0,
            stack: (0, 0),
            own_stack: false,
            own_stack_top: own_stack_top(id),
            start: (0, 0),
            priority: 0,
            enabled_since: None,
            ends_process: false,
            unseen: 0,
            waits_for_runtime: AtomicBool::new(false),
            returns: AtomicBool::new(false),
            clock_readings: ClockReadings::default(),
            history: History::new(),
            polling: Polling::new(),
        };
        // SAFETY: `id` is below the capacity that was mapped, and nobody has a reference to it yet.
        unsafe {
            let place = self.base.add(id as usize);
            place.write(thread);
            Some(&mut *place)
        }
    }

    /// The record of an existing thread, for as long as the process lives.
    pub fn pointer(&self, id: Tid) -> *mut Thread {
        assert!(id < self.count, "thread {id} does not exist");
        // SAFETY: within the mapped table.
        unsafe { self.base.add(id as usize) }
    }

    /// A thread's record.
    pub fn get(&self, id: Tid) -> &Thread {
        // SAFETY: initialised by `add`; the scheduler's lock orders accesses.
        unsafe { &*self.pointer(id) }
    }

    /// A thread's record, to change.
    pub fn get_mut(&mut self, id: Tid) -> &mut Thread {
        // SAFETY: initialised by `add`; the scheduler's lock orders accesses.
        unsafe { &mut *self.pointer(id) }
    }
}
