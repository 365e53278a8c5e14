//! The layouts that instrumented code, the runtime and the launcher share.
//!
//! Three parties write and read these bytes without ever calling each other: code that
//! `raddle-instrument` emits, the runtime inside the program (`raddle-rt`), and the launcher
//! outside it (`raddle-run`). This module is the only place where a layout is written down. A change
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

mod inputs;
mod outcome;
mod slots;

pub use inputs::*;
pub use outcome::*;
pub use slots::*;

/// Version of everything in this module.
pub const WIRE_VERSION: u32 = 7;

/// `"RADDLE01"`, the first eight bytes of the memory file.
pub const CONTROL_MAGIC: u64 = u64::from_le_bytes(*b"RADDLE01");

/// The environment variable through which a program finds its launcher: `"<memory fd>,<socket fd>"`.
pub const CONTROL_ENV: &str = "RADDLE_CONTROL";

/// Most images (executable and shared libraries) with sites in one process.
pub const MAX_IMAGES: usize = 64;

/// Most threads over a program's life.
pub const MAX_THREADS: usize = 1 << 16;

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
    /// Stop (SIGSTOP) at the failing point, and where the schedule says so, for a debugger.
    pub const STOP: u32 = 8;
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
    /// How long a thread that could run may be taken to be off its processor, on the virtual clock: waits
    /// with a deadline that is no further away may end meanwhile. 0: only when no thread can run.
    pub preempted_ns: u64,
    /// Slots of all threads together after which the runtime ends the run, with [`OutcomeKind::Hang`]; 0 if there is no
    /// limit.
    pub most_ticks: u64,
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
    /// It does not: the process stops for a debugger, if [`flags::STOP`] is set, and the same thread goes on. Only in
    /// schedules that are followed.
    Stop = 7,
}

/// A choice that [`StrategyKind::Dfs`] made.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Number of threads to choose from: the running one first if it can go on, the others that can run by id,
    /// then those whose wait for a deadline may end now.
    pub alternatives: u32,
    /// Index of the one chosen.
    pub chosen: u32,
    /// How many of them, from the first, cost no preemption: one, if the running thread could have gone on,
    /// else all that could run.
    pub free: u32,
    /// The thread chosen.
    pub thread: u32,
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

impl Message {
    /// As it is sent.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 8] {
        (u64::from(self.slots) << 32 | u64::from(self.chunk)).to_le_bytes()
    }

    /// Undoes [`Message::to_bytes`].
    #[must_use]
    pub fn from_bytes(bytes: [u8; 8]) -> Self {
        let number = u64::from_le_bytes(bytes);
        Self {
            chunk: number as u32,
            slots: (number >> 32) as u32,
        }
    }
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
