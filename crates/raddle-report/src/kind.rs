//! The words of a report: kinds of findings, how sure and how bad they are, and what threads do in them.

use std::fmt;

use raddle_trace::outcome::Ending;

/// What a finding is. The order is the one in which findings are listed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Two accesses to one place that nothing orders, one of them a write.
    DataRace,
    /// Accesses to one variable, meant to be atomic, that another thread came between.
    AtomicityViolation,
    /// The same over several variables that belong together.
    AtomicSetViolation,
    /// Threads that wait for each other.
    Deadlock,
    /// An access to memory that another thread has freed.
    UseAfterFree,
    /// Memory that two threads free.
    DoubleFree,
    /// A pointer used before another thread set it, or after it was cleared.
    NullDereference,
    /// `assert` failed.
    Assertion,
    /// A Rust panic.
    Panic,
    /// Death by a signal.
    Crash,
    /// Threads that spin or wait for ever.
    Hang,
    /// Another exit status than 0.
    Exit,
    /// A branch whose outcome depends on the order of threads.
    ScheduleSensitiveBranch,
    /// A pattern of the user's own, by its name.
    Pattern(String),
}

/// How sure a finding is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// The real program did it.
    Confirmed,
    /// An analysis proved that it can happen; no run has shown it.
    #[default]
    Predicted,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// To be mended.
    #[default]
    Bug,
    /// To be looked at: it may be meant that way.
    Warning,
}

/// What the program was seen to come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Consequence {
    /// Nothing amiss.
    #[default]
    None,
    /// `assert` failed.
    Assertion,
    /// A Rust panic.
    Panic,
    /// Death by a signal, or a memory error that the runtime stopped.
    Crash,
    /// No thread could go on.
    Deadlock,
    /// Threads went on for ever.
    Hang,
    /// Another exit status than 0, of the program or of the oracle.
    Exit,
}

/// What a thread does at a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// Reads memory.
    Read,
    /// Writes memory.
    Write,
    /// Reads and writes memory in one event.
    ReadWrite,
    /// Loads atomically.
    AtomicRead,
    /// Stores atomically.
    AtomicWrite,
    /// Exchanges atomically.
    AtomicReadWrite,
    /// Takes a lock.
    Acquire,
    /// Takes the shared side of a lock.
    AcquireShared,
    /// Gives a lock back.
    Release,
    /// Wants a lock and does not get it.
    Request,
    /// Wants the shared side of a lock and does not get it.
    RequestShared,
    /// Waits for a condition, a semaphore, a barrier, a wake-up.
    Wait,
    /// Wakes a waiter.
    Notify,
    /// Waits for a thread's end.
    Join,
    /// Makes a thread.
    Fork,
    /// Allocates memory.
    Alloc,
    /// Frees memory.
    Free,
    /// Decides a branch.
    Branch,
    /// Fails.
    Fail,
}

impl Kind {
    /// The word for it in machine-readable output.
    #[must_use]
    pub fn name(&self) -> String {
        let name = match self {
            Self::DataRace => "data-race",
            Self::AtomicityViolation => "atomicity-violation",
            Self::AtomicSetViolation => "atomic-set-violation",
            Self::Deadlock => "deadlock",
            Self::UseAfterFree => "use-after-free",
            Self::DoubleFree => "double-free",
            Self::NullDereference => "null-dereference",
            Self::Assertion => "assertion",
            Self::Panic => "panic",
            Self::Crash => "crash",
            Self::Hang => "hang",
            Self::Exit => "exit",
            Self::ScheduleSensitiveBranch => "schedule-sensitive-branch",
            Self::Pattern(name) => return format!("pattern:{name}"),
        };
        name.to_owned()
    }

    /// The letter that its ids begin with.
    #[must_use]
    pub fn letter(&self) -> char {
        match self {
            Self::DataRace => 'R',
            Self::AtomicityViolation => 'A',
            Self::AtomicSetViolation => 'S',
            Self::Deadlock => 'D',
            Self::UseAfterFree | Self::DoubleFree | Self::NullDereference => 'M',
            Self::Assertion | Self::Panic | Self::Crash | Self::Hang | Self::Exit => 'F',
            Self::ScheduleSensitiveBranch => 'B',
            Self::Pattern(_) => 'P',
        }
    }

    /// So many of them, in words: `2 data races`.
    pub(crate) fn counted(&self, count: usize) -> String {
        let plural = match self {
            Self::AtomicityViolation => "atomicity violations",
            Self::AtomicSetViolation => "atomic-set violations",
            Self::UseAfterFree => "uses after free",
            Self::Crash => "crashes",
            Self::ScheduleSensitiveBranch => "schedule-sensitive branches",
            Self::Pattern(name) => return format!("{count} of pattern `{name}`"),
            _ if count == 1 => "",
            _ => return format!("{count} {self}s"),
        };
        match count {
            1 => format!("1 {self}"),
            _ => format!("{count} {plural}"),
        }
    }

    /// Whether it is the way in which a run ended rather than the cause of it.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        self.letter() == 'F'
    }
}

impl fmt::Display for Kind {
    /// In plain words: `data race`, `atomic-set violation`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DataRace => "data race",
            Self::AtomicityViolation => "atomicity violation",
            Self::AtomicSetViolation => "atomic-set violation",
            Self::Deadlock => "deadlock",
            Self::UseAfterFree => "use after free",
            Self::DoubleFree => "double free",
            Self::NullDereference => "null dereference",
            Self::Assertion => "failed assertion",
            Self::Panic => "panic",
            Self::Crash => "crash",
            Self::Hang => "hang",
            Self::Exit => "failing exit",
            Self::ScheduleSensitiveBranch => "schedule-sensitive branch",
            Self::Pattern(name) => return write!(f, "pattern `{name}`"),
        })
    }
}

impl Status {
    /// The word for it in machine-readable output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Predicted => "predicted",
        }
    }
}

impl Severity {
    /// The word for it in machine-readable output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bug => "bug",
            Self::Warning => "warning",
        }
    }
}

impl Consequence {
    /// The word for it in machine-readable output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Assertion => "assertion",
            Self::Panic => "panic",
            Self::Crash => "crash",
            Self::Deadlock => "deadlock",
            Self::Hang => "hang",
            Self::Exit => "exit",
        }
    }

    /// Whether the program failed.
    #[must_use]
    pub fn is_failure(self) -> bool {
        self != Self::None
    }
}

impl From<Ending> for Consequence {
    /// A run that the runtime itself could not go on with says nothing about the program.
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Success | Ending::Internal => Self::None,
            Ending::Exit(_) | Ending::Oracle(_) => Self::Exit,
            Ending::Assertion => Self::Assertion,
            Ending::Panic => Self::Panic,
            Ending::Deadlock => Self::Deadlock,
            Ending::Hang => Self::Hang,
            Ending::Signal(_) | Ending::UseAfterFree | Ending::DoubleFree | Ending::InvalidFree => {
                Self::Crash
            }
        }
    }
}

impl Access {
    /// The word for it in machine-readable output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::ReadWrite => "read-write",
            Self::AtomicRead => "atomic-read",
            Self::AtomicWrite => "atomic-write",
            Self::AtomicReadWrite => "atomic-read-write",
            Self::Acquire => "acquire",
            Self::AcquireShared => "acquire-shared",
            Self::Release => "release",
            Self::Request => "request",
            Self::RequestShared => "request-shared",
            Self::Wait => "wait",
            Self::Notify => "notify",
            Self::Join => "join",
            Self::Fork => "fork",
            Self::Alloc => "alloc",
            Self::Free => "free",
            Self::Branch => "branch",
            Self::Fail => "fail",
        }
    }

    /// What a thread does that does it to something with a name: `writes`, `waits to lock`.
    pub(crate) const fn verb(self) -> &'static str {
        match self {
            Self::Read => "reads",
            Self::Write => "writes",
            Self::ReadWrite => "updates",
            Self::AtomicRead => "atomically reads",
            Self::AtomicWrite => "atomically writes",
            Self::AtomicReadWrite => "atomically updates",
            Self::Acquire => "locks",
            Self::AcquireShared => "read-locks",
            Self::Release => "unlocks",
            Self::Request => "waits to lock",
            Self::RequestShared => "waits to read-lock",
            Self::Wait => "waits for",
            Self::Notify => "notifies",
            Self::Join => "waits for the end of",
            Self::Fork => "spawns",
            Self::Alloc => "allocates",
            Self::Free => "frees",
            Self::Branch => "branches on",
            Self::Fail => "fails on",
        }
    }

    /// What a thread does that does it to something without a name.
    pub(crate) const fn phrase(self) -> &'static str {
        match self {
            Self::ReadWrite => "reads and writes",
            Self::AtomicReadWrite => "atomically reads and writes",
            Self::Acquire => "takes a lock",
            Self::AcquireShared => "takes a read lock",
            Self::Release => "gives back a lock",
            Self::Request => "waits for a lock",
            Self::RequestShared => "waits for a read lock",
            Self::Wait => "waits",
            Self::Join => "waits for a thread to end",
            Self::Fork => "spawns a thread",
            Self::Alloc => "allocates memory",
            Self::Free => "frees memory",
            Self::Branch => "branches",
            Self::Fail => "fails",
            _ => self.verb(),
        }
    }

    /// The doing as a thing: `read`, `update`.
    pub(crate) const fn noun(self) -> &'static str {
        match self {
            Self::ReadWrite => "update",
            Self::AtomicRead => "atomic read",
            Self::AtomicWrite => "atomic write",
            Self::AtomicReadWrite => "atomic update",
            Self::Acquire => "lock",
            Self::AcquireShared => "read lock",
            Self::Release => "unlock",
            Self::Alloc => "allocation",
            Self::Fail => "failure",
            _ => self.name(),
        }
    }

    /// Whether it changes memory.
    #[must_use]
    pub const fn writes(self) -> bool {
        matches!(
            self,
            Self::Write | Self::ReadWrite | Self::AtomicWrite | Self::AtomicReadWrite
        )
    }

    /// Whether the thread stands still there.
    #[must_use]
    pub const fn blocks(self) -> bool {
        matches!(
            self,
            Self::Request | Self::RequestShared | Self::Wait | Self::Join
        )
    }
}
