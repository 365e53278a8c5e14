//! What the scheduler knows of a thread.

use core::sync::atomic::{AtomicU32, AtomicU64};

use raddle_trace::wire::{MAX_THREADS, Mark, Slot, ThreadState};

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
            word: None,
        }
    }

    /// The same, ended by a point in virtual time too.
    pub const fn until(mut self, deadline_ns: Option<u64>) -> Self {
        self.deadline_ns = deadline_ns;
        self
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
    /// It was cancelled.
    pub cancelled: bool,
    /// Signals sent to it that it takes when it gets the turn, a bit each.
    pub signals: u64,
    /// Signals that have come to it from outside and that it takes where the log can say so, a bit each.
    pub arrived: AtomicU64,
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
    /// Points passed in a row without a switch.
    pub streak: u64,
    /// Clock readings in a row, and the tick of the last one.
    pub clock_readings: (u32, u64),
    /// What it read lately.
    pub history: History,
}

impl Thread {
    /// Where the thread is in its own time, given its cursor.
    pub fn tick_at(&self, cur: *mut Slot) -> u64 {
        if self.segment.is_null() {
            return self.tick_base;
        }
        self.tick_base + (cur as u64 - self.segment as u64) / size_of::<Slot>() as u64
    }
}

/// Slots between two clock readings up to which they count as one loop's.
const CLOCK_LOOP_SLOTS: u64 = 64;
/// First and last step by which a clock in such a loop moves on by itself.
const CLOCK_STEP_NS: (u64, u64) = (100, 1_000_000);

impl Thread {
    /// Notes a reading of a clock; returns how far the clock moves because of it. The step doubles
    /// with every sixteen readings of a thread that does little else.
    pub fn clock_reading(&mut self) -> u64 {
        let tick = self.tick_at(crate::tls::cur());
        let (count, last) = self.clock_readings;
        let count = if tick - last <= CLOCK_LOOP_SLOTS {
            count + 1
        } else {
            0
        };
        self.clock_readings = (count, tick);
        (CLOCK_STEP_NS.0 << (count / 16).min(16)).min(CLOCK_STEP_NS.1)
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

/// All threads that ever were.
pub struct ThreadTable {
    base: *mut Thread,
    count: u32,
}

impl ThreadTable {
    /// No threads, no memory.
    pub const fn new() -> Self {
        ThreadTable {
            base: core::ptr::null_mut(),
            count: 0,
        }
    }

    /// Number of threads.
    pub fn len(&self) -> u32 {
        self.count
    }

    /// A new record, or None when the table is full.
    pub fn add(&mut self, creator: Tid) -> Option<&mut Thread> {
        if self.base.is_null() {
            self.base = sys::map_own((MAX_THREADS * size_of::<Thread>()) as u64).cast();
        }
        if self.base.is_null() || self.count as usize == MAX_THREADS {
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
            cancelled: false,
            signals: 0,
            arrived: AtomicU64::new(0),
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
            streak: 0,
            clock_readings: (0, 0),
            history: History::new(),
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
