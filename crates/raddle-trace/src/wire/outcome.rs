//! How a run ended: its failure, where a replay left its schedule, what each thread was at.

/// Deepest stack kept in a [`ThreadRecord`].
pub const STACK_DEPTH: usize = 32;

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
    /// The run has as many events, or switches, as it may. Whether it hangs is for the launcher to find out.
    Hang = 4,
    /// An access to memory that was freed; object: address, code: serial number.
    UseAfterFree = 5,
    /// A second free; object: address, code: serial number.
    DoubleFree = 6,
    /// A free of what was never allocated.
    InvalidFree = 7,
    /// The runtime cannot go on; the message says why.
    Internal = 8,
    /// The machine, or a limit that was set for the process, leaves the runtime too little; the message says of what.
    Surroundings = 9,
    /// `abort` was called. A handler of its signal may go on all the same.
    Abort = 10,
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
