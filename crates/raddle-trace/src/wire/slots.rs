//! Slots, sites and marks: what instrumented code and the runtime write.

/// First four bytes of a [`ModuleHeader`].
pub const MODULE_MAGIC: u32 = u32::from_le_bytes(*b"RDMH");

/// Section that holds the site records of an image.
pub const SITES_SECTION: &str = "raddle_sites";

/// Slots behind every limit that may still be written without asking again.
pub const SLACK_SLOTS: usize = 64;

/// A head below this is a [`Mark`], one at or above it is the address of a [`SiteRecord`].
pub const FIRST_SITE_ADDRESS: u64 = 0x1_0000;

/// One event, or one half of a two-slot event, as the hooks write it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// Address of the [`SiteRecord`], or a [`Mark`].
    pub head: u64,
    /// The address accessed, or the mark's object.
    pub addr: u64,
    /// The value read or written, or the mark's argument.
    pub value: u64,
}

/// Bytes of a [`Slot`].
pub const SLOT_BYTES: usize = core::mem::size_of::<Slot>();

/// What an instrumented instruction does. Stored in [`SiteRecord::kind`].
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SiteKind {
    /// Plain load; value read.
    Read = 0,
    /// Plain store; value written.
    Write = 1,
    /// Atomic load; value read.
    AtomicLoad = 2,
    /// Atomic store; value written.
    AtomicStore = 3,
    /// Atomic read-modify-write; two slots.
    Rmw = 4,
    /// Compare-exchange; two slots.
    Cas = 5,
    /// Fence; no address.
    Fence = 6,
    /// A range read by a memory intrinsic; value is the length in bytes.
    RangeRead = 7,
    /// A range written by a memory intrinsic; value is the length in bytes.
    RangeWrite = 8,
    /// The result of a call that is not instrumented, an indirect callee, a switch operand, an
    /// argument that only the outside knows: what offline re-execution cannot compute.
    Value = 9,
    /// Function entry; `addr` is the frame address, `value` the return address.
    Enter = 10,
    /// Function exit; `addr` is the frame address.
    Exit = 11,
}

/// Memory ordering of an atomic site. Stored in [`SiteRecord::order`].
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ordering {
    /// Not an atomic access.
    Plain = 0,
    /// LLVM `unordered` and `monotonic`.
    Relaxed = 1,
    /// Acquire.
    Acquire = 2,
    /// Release.
    Release = 3,
    /// Acquire and release.
    AcqRel = 4,
    /// Sequentially consistent.
    SeqCst = 5,
}

/// The bit of [`SiteRecord::order`] that says that a plain access is volatile.
pub const VOLATILE: u8 = 0x80;

/// What an atomic operation means to a lock, where inlined lock code was recognised by its debug
/// scopes. The object is the address accessed. Stored in [`SiteRecord::role`].
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// An ordinary access.
    None = 0,
    /// Acquires exclusively if the compare-exchange succeeded or the swap's old value was 0.
    Lock = 1,
    /// Releases an exclusive lock, if the operation stored.
    Unlock = 2,
    /// Acquires the read side if the operation stored.
    ReadLock = 3,
    /// Releases the read side, if the operation stored.
    ReadUnlock = 4,
    /// Acquires the write side if the operation stored.
    WriteLock = 5,
    /// Releases the write side, if the operation stored.
    WriteUnlock = 6,
    /// Turns the write side into the read side.
    Downgrade = 7,
}

/// The static part of an event, in section `raddle_sites`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteRecord {
    /// A [`SiteKind`].
    pub kind: u8,
    /// An [`Ordering`], with [`VOLATILE`] if the access is a plain one that the program declares volatile.
    pub order: u8,
    /// Bytes accessed, at most 8; 0 for ranges and for kinds without an access.
    pub size: u8,
    /// A [`Role`].
    pub role: u8,
    /// Position in the module's array, so that a record leads back to its header.
    pub index: u32,
}

/// What precedes each object's records in section `raddle_sites`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModuleHeader {
    /// [`MODULE_MAGIC`].
    pub magic: u32,
    /// Number of records that follow.
    pub count: u32,
    /// Content hash of the module: the key into the program model.
    pub module: u64,
}

/// Heads of slots that the runtime writes itself.
///
/// From [`Mark::Fork`] on a mark takes two slots: `{mark, object, argument}` and
/// `{Extra, caller's program counter, second argument}`.
#[repr(u16)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mark {
    /// Nothing was written here.
    Empty = 0,
    /// Second slot of the event before it.
    Extra = 1,
    /// The thread `addr` runs from here; `value` is its tick (slots it has written so far).
    Switch = 2,
    /// `value`: branch outcomes with their sentinel, as in `__raddle_bits`.
    Branches = 3,
    /// Thread `object` is created.
    Fork = 16,
    /// First event of a thread; object: its creator, argument: its stack's lowest address,
    /// second argument: its stack's size.
    Begin = 17,
    /// Last event of a thread.
    End = 18,
    /// The end of thread `object` was awaited; argument: 0 joined, else the errno.
    Join = 19,
    /// A mutex or spin lock was acquired; argument: 1 if the call would not have waited.
    Lock = 20,
    /// A mutex or spin lock was released.
    Unlock = 21,
    /// The read side was acquired; argument: as for `Lock`.
    ReadLock = 22,
    /// The read side was released.
    ReadUnlock = 23,
    /// The write side was acquired; argument: as for `Lock`.
    WriteLock = 24,
    /// The write side was released.
    WriteUnlock = 25,
    /// Starts to wait on a condition variable; argument: the mutex (its `Unlock` comes before).
    CondWait = 26,
    /// Woke from a condition variable (its mutex's `Lock` comes after); argument: 1 if it timed
    /// out, second argument: thread that notified, or `u64::MAX`.
    CondWake = 27,
    /// Notified a condition variable; argument: number woken, second argument: most to wake, 1 or
    /// `u64::MAX`.
    CondNotify = 28,
    /// Starts to wait on a futex; argument: the value expected.
    FutexWait = 29,
    /// Woke from a futex; argument: 0 woken, else the errno; second argument: the thread that
    /// woke it, or `u64::MAX`.
    FutexWake = 30,
    /// Woke waiters of a futex; argument: number woken, second argument: most to wake.
    FutexNotify = 31,
    /// A semaphore was decremented; argument: its value since.
    SemWait = 32,
    /// A semaphore was incremented; argument: its value since.
    SemPost = 33,
    /// Arrived at a barrier; argument: the round, second argument: how many it waits for.
    BarrierArrive = 34,
    /// Left a barrier; argument: the round.
    BarrierLeave = 35,
    /// Starts a once-initialiser or guarded static.
    OnceStart = 36,
    /// Finished it; argument: 1, or 0 if an exception left it.
    OnceDone = 37,
    /// Found it done.
    OncePass = 38,
    /// `object` was allocated, argument: size, second argument: serial number.
    Alloc = 39,
    /// `object` is freed, argument: size, second argument: serial number.
    Free = 40,
    /// Bytes came from outside; object: buffer, or 0 if there are several, argument: length, second
    /// argument: descriptor.
    Input = 41,
    /// Left the scheduler for a call that may block.
    Block = 42,
    /// Came back from it.
    Unblock = 43,
    /// Yielded or paused.
    Yield = 44,
    /// Slept; argument: nanoseconds.
    Sleep = 45,
    /// A condition variable, mutex, … was destroyed.
    Destroy = 46,
    /// The run failed here; argument: an [`OutcomeKind`].
    Fail = 47,
    /// The process is exiting; argument: status.
    Exit = 48,
    /// A lock is requested and not free; argument: the mark it wants to make, with [`TRIED`] if the
    /// call does not wait for it, second argument: then the object's first word.
    Request = 49,
    /// Read a clock; argument: what it showed, in nanoseconds.
    Clock = 50,
    /// libc copies bytes for the program, as `realloc` does: reads `object`, argument: length. What is
    /// written comes next.
    CopyFrom = 51,
    /// Writes what it copies to `object`, argument: length.
    CopyTo = 52,
}

/// The bit of a [`Mark::Request`]'s argument that says that the call fails instead of waiting.
pub const TRIED: u64 = 1 << 16;

/// Of a panic: it has ended its thread, and somebody has joined that. Whether it is a failure is theirs to say.
pub const PANIC_JOINED: u64 = 1;

/// A step of a Rust panic that instrumented code tells the runtime of.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PanicStage {
    /// No panic yet: the program's own part of a thread begins. A panic that leaves it ends the thread.
    Body = 0,
    /// A panic starts.
    Start = 1,
    /// Somebody has caught one.
    Caught = 2,
}
