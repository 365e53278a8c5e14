//! The layouts that instrumented code, the runtime and the launcher share.
//!
//! Three parties write and read these bytes without ever calling each other: code that
//! `raddle-instrument` emits, the runtime inside the program (`raddle-rt`), and the launcher
//! outside it (`raddle-run`). This file is the only place where a layout is written down. A change
//! to it bumps [`WIRE_VERSION`], which is part of every instrumented object's cache key.
//!
//! # Instrumented code and runtime
//!
//! The runtime exports three initial-exec thread-locals, one behind another, and four functions:
//!
//! | symbol | type | meaning |
//! | --- | --- | --- |
//! | `__raddle_cur` | tls `ptr` | next free [`Slot`] of the thread that runs |
//! | `__raddle_lim` | tls `ptr` | an event may be written only while `cur < lim` |
//! | `__raddle_bits` | tls `i64` | branch outcomes, newest lowest, above them a sentinel bit; starts at 1 |
//! | `__raddle_slow(site, addr)` | `preserve_mostcc`, cold | called when `cur >= lim`, *before* the event; reload `cur` afterwards |
//! | `__raddle_branches()` | `preserve_mostcc`, cold | called when the sentinel has reached bit 63; resets `bits` to 1 |
//! | `__raddle_image(start, stop, version)` | C | an image announces its `raddle_sites` section, from a constructor |
//! | `__raddle_panic(stage, frame)` | C | a step of a Rust panic, see [`PanicStage`], in the function of this frame |
//!
//! An event is `Slot { head: address of its SiteRecord, addr, value }`. The slot of a write is
//! complete before the store; a read's value is filled in after the load. [`SiteKind::Rmw`] and
//! [`SiteKind::Cas`] take a second slot, `Slot { head: Mark::Extra, addr: new value, value: 1 if
//! the store happened }`, right behind the first, which holds the old value. Every limit leaves
//! room for [`SLACK_SLOTS`] slots, so that an event never has to check twice.
//!
//! Each object's sites are an array in section `raddle_sites`, 8-byte aligned: one
//! [`ModuleHeader`], then `count` [`SiteRecord`]s. The linker concatenates the objects' arrays; a
//! reader walks them header by header.
//!
//! # Runtime and launcher
//!
//! The launcher makes a memory file that begins with [`Control`], and a stream socket; the program
//! inherits both and finds their descriptors in the environment variable [`CONTROL_ENV`]. Events go
//! into a ring of chunks in the memory file, in one total order over all threads (one thread runs
//! at a time; a [`Mark::Switch`] slot says whose events follow). A full chunk is announced as a
//! [`Message`] on the socket; the launcher answers with the same message when the chunk may be
//! written again, after it has emptied the chunk: zeroed its first slot. The runtime zeroes the rest before
//! it writes a chunk again, so that a reader of a killed program's chunk knows where it ends.
//!
//! A program whose memory file says [`flags::SERVE`] makes no run itself but forks one for each
//! [`ServeOrder`], so that many runs cost one start.

/// Version of everything in this file.
pub const WIRE_VERSION: u32 = 3;

/// `"RADDLE01"`, the first eight bytes of the memory file.
pub const CONTROL_MAGIC: u64 = u64::from_le_bytes(*b"RADDLE01");

/// First four bytes of a [`ModuleHeader`].
pub const MODULE_MAGIC: u32 = u32::from_le_bytes(*b"RDMH");

/// The environment variable through which a program finds its launcher: `"<memory fd>,<socket fd>"`.
pub const CONTROL_ENV: &str = "RADDLE_CONTROL";

/// Section that holds the site records of an image.
pub const SITES_SECTION: &str = "raddle_sites";

/// Slots behind every limit that may still be written without asking again.
pub const SLACK_SLOTS: usize = 64;

/// A head below this is a [`Mark`], one at or above it is the address of a [`SiteRecord`].
pub const FIRST_SITE_ADDRESS: u64 = 0x1_0000;

/// Most images (executable and shared libraries) with sites in one process.
pub const MAX_IMAGES: usize = 64;

/// Most threads over a program's life.
pub const MAX_THREADS: usize = 1 << 16;

/// Deepest stack kept in a [`ThreadRecord`].
pub const STACK_DEPTH: usize = 32;

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
    /// An [`Ordering`].
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

/// A part of the memory file.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// Byte offset, page-aligned.
    pub offset: u64,
    /// Length in bytes.
    pub len: u64,
}

/// How the runtime chooses threads. Stored in [`Control::strategy`].
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StrategyKind {
    /// Runs a thread until it blocks.
    RoundRobin = 0,
    /// Picks uniformly at each scheduling point.
    Random = 1,
    /// Probabilistic concurrency testing, with [`Control::depth`].
    Pct = 2,
    /// Partial order sampling.
    Pos = 3,
    /// Selectively uniform random walk.
    Surw = 4,
    /// Follows [`Control::choices_in`], then runs a thread until it blocks; writes every choice to
    /// [`Control::choices_out`]. The search itself is the launcher's.
    Dfs = 5,
    /// Follows [`Control::schedule_in`], which is what a run did.
    Replay = 6,
    /// Follows [`Control::schedule_in`], which is what a run might do: its ticks are steady ones, which
    /// don't count that a lock was not free (see [`Mark::Request`]), and the tick `u64::MAX` is where the
    /// thread cannot go on.
    Guide = 7,
}

/// Bits of [`Control::flags`].
pub mod flags {
    /// Send full chunks to the launcher; without it one chunk is written over and over.
    pub const RECORD: u32 = 1;
    /// Real clocks and sleeps.
    pub const REAL_TIME: u32 = 2;
    /// A scheduling point at every visible event, instead of event budgets.
    pub const STEP: u32 = 4;
    /// Stop (SIGSTOP) at the failing point, for a debugger.
    pub const STOP_AT_FAILURE: u32 = 8;
    /// Not a run: wait on the socket for orders, each of which makes a run in a child (see
    /// [`ServeOrder`](super::ServeOrder)). Nothing else of the head counts then.
    pub const SERVE: u32 = 16;
}

/// What the launcher asks of a program that serves runs, one byte on its socket.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ServeOrder {
    /// Make a run; with the byte come [`SERVE_DESCRIPTORS`] descriptors: its memory file, its socket,
    /// its standard input, output and error, and the directory in which it works.
    Run = 1,
    /// End the run that is under way, if there is one.
    Kill = 2,
}

/// Descriptors that come with [`ServeOrder::Run`].
pub const SERVE_DESCRIPTORS: usize = 6;

/// What a program that serves runs says on its socket.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServeReport {
    /// A [`ServeReportKind`].
    pub kind: u32,
    /// See [`ServeReportKind`].
    pub value: i32,
}

/// Kinds of [`ServeReport`]s.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ServeReportKind {
    /// It is ready for orders. Said once.
    Ready = 1,
    /// A run has begun; value: its process id.
    Started = 2,
    /// The run is over and nothing of its process group is left; value: its status, as `waitpid` tells it.
    Ended = 3,
}

/// The head of the memory file.
#[repr(C)]
pub struct Control {
    /// [`CONTROL_MAGIC`].
    pub magic: u64,
    /// [`WIRE_VERSION`].
    pub version: u32,
    /// See [`flags`].
    pub flags: u32,
    /// Seed of every choice, and of the program's random numbers.
    pub seed: u64,
    /// A [`StrategyKind`].
    pub strategy: u32,
    /// PCT's depth.
    pub depth: u32,
    /// Scheduling points of a profiling run: visible events with [`flags::STEP`], else ticks. 0 if unknown.
    pub expected: u64,
    /// Virtual clock at the start, nanoseconds since the epoch.
    pub clock_start_ns: u64,
    /// How far an event moves the virtual clock.
    pub clock_ns_per_tick: u64,
    /// Event chunks: `chunk_slots + SLACK_SLOTS` slots each.
    pub ring: Region,
    /// Slots in a chunk, without the slack.
    pub chunk_slots: u64,
    /// Copy of every image's `raddle_sites`, one behind another. A site's number is its offset in
    /// this region divided by the size of a record.
    pub sites: Region,
    /// One bit a site number: set where the site touches memory that threads share. Empty: all are visible.
    pub visible: Region,
    /// [`Switch`]es to follow.
    pub schedule_in: Region,
    /// [`Switch`]es made.
    pub schedule_out: Region,
    /// `u32` indices to choose.
    pub choices_in: Region,
    /// [`Choice`]s made.
    pub choices_out: Region,
    /// `u64` visible events a thread, in thread order, of a profiling run.
    pub weights: Region,
    /// [`ThreadRecord`]s.
    pub threads: Region,

    /// Number of valid bytes in `sites`.
    pub sites_len: u64,
    /// Number of valid entries of `images`.
    pub image_count: u32,
    /// Number of threads created, main included.
    pub thread_count: u32,
    /// Number of [`Switch`]es in `schedule_out`.
    pub switch_count: u64,
    /// Number of [`Choice`]s in `choices_out`.
    pub choice_count: u64,
    /// Slots written by all threads, up to the last slow path.
    pub ticks: u64,
    /// Scheduling points passed, in the unit of `expected`.
    pub points: u64,
    /// The chunk being written.
    pub current_chunk: u32,
    /// 1 once the runtime has taken the program under its control.
    pub started: u32,
    /// How the run failed, if the runtime saw it.
    pub outcome: Outcome,
    /// Where a replay left its schedule.
    pub divergence: Divergence,
    /// Where instrumented images were loaded.
    pub images: [Image; MAX_IMAGES],
    /// Their files, in the same order.
    pub image_paths: [ImagePath; MAX_IMAGES],
    /// Path of the input log to answer from, NUL-terminated; empty: everything is asked of the outside.
    pub inputs_in: Region,
    /// Path of the input log to write, NUL-terminated.
    pub inputs_out: Region,
    /// The signal by which the launcher will end the run, or 0.
    pub stop_signal: u32,
    /// 1 once the program has opened itself to clients and waits for them.
    pub serves: u32,
    /// The kernel's id of the process, 0 before it has started.
    pub pid: u32,
    /// Always 0.
    pub reserved: u32,
    /// Name of a call whose outcome is the outside's and is not recorded; empty if there was none.
    pub uncovered: [u8; UNCOVERED_BYTES],
}

/// Bytes of [`Control::uncovered`].
pub const UNCOVERED_BYTES: usize = 32;

/// `"RDINPUT1"`, the first eight bytes of an input log.
pub const INPUT_MAGIC: u64 = u64::from_le_bytes(*b"RDINPUT1");

/// The head of an input log. [`InputEntry`]s follow, each with its data behind it.
///
/// An input log says what the outside told a program: a record of each call whose outcome does not follow
/// from the program, with its result, its `errno` and the bytes that it filled in, in the order in which
/// the threads had the turn. A replay answers each thread's calls from that thread's entries.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputHead {
    /// [`INPUT_MAGIC`].
    pub magic: u64,
    /// 1 if the program ended by itself or by the launcher's signal, and was not cut off.
    pub complete: u32,
    /// The signal by which the launcher ended the run, or 0.
    pub stop_signal: u32,
    /// The client's exit status; -1 if there was no client.
    pub client: i32,
    /// Always 0.
    pub reserved: u32,
}

/// One call's outcome.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputEntry {
    /// Bytes of data behind the entry: of each part its length (`u32`), then the part.
    pub len: u32,
    /// The thread that called.
    pub thread: u32,
    /// Its tick at the call.
    pub tick: u64,
    /// An [`InputCall`].
    pub call: u16,
    /// `errno` after the call: some that succeed leave one, and `isatty` answers by it.
    pub errno: u16,
    /// Always 0.
    pub reserved: u32,
    /// The descriptor concerned, or `u64::MAX`.
    pub object: u64,
    /// What the call returned.
    pub result: i64,
}

macro_rules! input_calls {
    ($($variant:ident = $number:literal $name:literal,)*) => {
        /// A call whose outcome is the outside's. Stored in [`InputEntry::call`].
        #[repr(u16)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum InputCall {
            $(#[doc = concat!("`", $name, "`.")] $variant = $number,)*
        }

        impl InputCall {
            /// What the call is called.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(InputCall::$variant => $name,)* }
            }

            /// The call with this number.
            #[must_use]
            pub fn from_number(number: u64) -> Option<InputCall> {
                match number { $($number => Some(InputCall::$variant),)* _ => None }
            }
        }
    };
}

input_calls! {
    Signal = 1 "a signal",
    Read = 2 "read",
    Write = 3 "write",
    Open = 4 "open",
    Descriptor = 5 "a new descriptor",
    Socket = 6 "a socket's setting",
    Accept = 7 "accept",
    Connect = 8 "connect",
    Poll = 9 "poll",
    Epoll = 10 "epoll",
    Control = 11 "fcntl or ioctl",
    Seek = 12 "lseek",
    Stat = 13 "stat",
    Path = 14 "a call with a path",
    Directory = 15 "readdir",
    Map = 16 "mmap",
    SignalWait = 17 "sigwait",
    Child = 18 "a child process",
    Name = 19 "getaddrinfo",
    System = 20 "a fact of the system",
}

/// Where one image's sites were at run time.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// Address of the section in the process.
    pub start: u64,
    /// Its length in bytes.
    pub len: u64,
    /// Where its copy starts in [`Control::sites`], in bytes.
    pub offset: u64,
}

/// Bytes of [`ImagePath::bytes`].
pub const IMAGE_PATH_BYTES: usize = 184;

/// The file that an image was loaded from.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ImagePath {
    /// Valid bytes of `bytes`; 0 if the path is unknown or too long.
    pub len: u64,
    /// The path.
    pub bytes: [u8; IMAGE_PATH_BYTES],
}

/// A context switch: the thread that runs hands over when it has written `tick` slots.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Switch {
    /// Tick of the thread that stops.
    pub tick: u64,
    /// The thread that stops.
    pub from: u32,
    /// The thread that goes on.
    pub to: u32,
    /// A [`SwitchReason`].
    pub reason: u32,
    /// Low 32 bits: number of the site it was about to execute, or `u32::MAX` if none is known.
    pub site: u32,
}

/// Why a thread stopped.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SwitchReason {
    /// The strategy took the turn away.
    Preempted = 0,
    /// It waits for a lock, a notification, another thread.
    Blocked = 1,
    /// It yielded or sleeps.
    Yielded = 2,
    /// It ended.
    Ended = 3,
    /// It left the scheduler for a call that may block.
    Left = 4,
    /// It spins on values that nobody has changed.
    Spins = 5,
    /// A guide took the turn away where no strategy does: as a call into the runtime began.
    Held = 6,
}

/// A choice that [`StrategyKind::Dfs`] made.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Number of enabled threads, the running one first if it is enabled, the others by id.
    pub alternatives: u32,
    /// Index of the one chosen.
    pub chosen: u32,
    /// 1 if the running thread could have gone on: another choice is a preemption.
    pub preemptible: u32,
    /// The thread chosen.
    pub thread: u32,
}

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

/// How a run failed. Stored in [`Outcome::kind`].
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OutcomeKind {
    /// Nothing failed as far as the runtime saw.
    None = 0,
    /// `assert` failed; the message says which.
    Assertion = 1,
    /// A Rust panic.
    Panic = 2,
    /// No thread can go on.
    Deadlock = 3,
    /// Every thread spins or waits, and nothing changes.
    Hang = 4,
    /// An access to memory that was freed; object: address, code: serial number.
    UseAfterFree = 5,
    /// A second free; object: address, code: serial number.
    DoubleFree = 6,
    /// A free of what was never allocated.
    InvalidFree = 7,
    /// The runtime cannot go on; the message says why.
    Internal = 8,
}

/// Bytes of [`Outcome::message`].
pub const MESSAGE_BYTES: usize = 1000;

/// How the run failed, written once.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// An [`OutcomeKind`].
    pub kind: u32,
    /// The thread.
    pub thread: u32,
    /// Its tick.
    pub tick: u64,
    /// The object concerned.
    pub object: u64,
    /// More about it, by kind: of a panic, [`PANIC_JOINED`].
    pub code: u64,
    /// Program counter of the call that failed, or 0.
    pub pc: u64,
    /// Valid bytes of `message`.
    pub message_len: u64,
    /// UTF-8 text.
    pub message: [u8; MESSAGE_BYTES],
}

/// Where a replay could not follow its schedule. `kind` 0: it followed.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Divergence {
    /// A [`DivergenceKind`].
    pub kind: u32,
    /// The thread concerned.
    pub thread: u32,
    /// Index of the [`Switch`] that could not be followed.
    pub switch: u64,
    /// What the schedule expected: a tick or a thread.
    pub expected: u64,
    /// What came instead.
    pub actual: u64,
}

/// In which way a replay diverged. Stored in [`Divergence::kind`].
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DivergenceKind {
    /// It did not.
    None = 0,
    /// The thread blocked or ended at tick `actual`, before tick `expected` of its next switch.
    StoppedEarly = 1,
    /// The thread that should go on is not able to (`actual` is its [`ThreadState`]).
    NotEnabled = 2,
    /// The thread that should go on does not exist.
    NoSuchThread = 3,
    /// Another thread was running.
    WrongThread = 4,
    /// The schedule ended and no thread could be chosen by it; `expected` 0, `actual` enabled threads.
    Ended = 5,
    /// The thread asked the outside for something else: `expected` and `actual` are [`InputCall`]s.
    Input = 6,
}

/// State of a thread. Stored in [`ThreadRecord::state`].
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ThreadState {
    /// Never started.
    None = 0,
    /// Has the turn, or could take it.
    Ready = 1,
    /// Waits for `wait_object`.
    Blocked = 2,
    /// In a call outside the scheduler.
    Outside = 3,
    /// Spins on values that nobody has changed.
    Spinning = 4,
    /// Sleeps on the virtual clock.
    Sleeping = 5,
    /// Over.
    Ended = 6,
}

/// What a thread was doing when the run ended.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ThreadRecord {
    /// A [`ThreadState`].
    pub state: u32,
    /// The [`Mark`] it wants to make (`Lock`, `CondWake`, `Join`, …), if blocked.
    pub wait_kind: u32,
    /// The lock, condition, thread … it waits for.
    pub wait_object: u64,
    /// The thread that holds `wait_object`, or `u32::MAX`.
    pub held_by: u32,
    /// Operating system's thread id.
    pub os_tid: u32,
    /// Slots written.
    pub tick: u64,
    /// Visible events executed.
    pub visible: u64,
    /// Valid entries of `stack`.
    pub stack_len: u64,
    /// Return addresses, innermost first.
    pub stack: [u64; STACK_DEPTH],
}

/// Runtime → launcher: the chunk is full. Launcher → runtime: it may be written again.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// Index of the chunk.
    pub chunk: u32,
    /// Slots written in it.
    pub slots: u32,
}

const _: () = {
    assert!(SLOT_BYTES == 24);
    assert!(core::mem::size_of::<SiteRecord>() == 8);
    assert!(core::mem::size_of::<ModuleHeader>() == 16);
    assert!(core::mem::size_of::<Switch>() == 24);
    assert!(core::mem::size_of::<Choice>() == 16);
    assert!(core::mem::size_of::<Message>() == 8);
    assert!(core::mem::size_of::<ServeReport>() == 8);
    assert!(core::mem::size_of::<InputHead>() == 24);
    assert!(core::mem::size_of::<InputEntry>() == 40);
    assert!(core::mem::size_of::<Control>() <= 16384);
};
