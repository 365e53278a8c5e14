//! How a run ended, and what each thread was doing then.

use std::fmt;

use crate::ids::{Address, ThreadId, Tick};
use crate::position::SourcePosition;
use crate::wire::{self, Mark, ThreadState};

/// The signal that `abort` raises.
const SIGABRT: i32 = 6;

/// The way in which a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ending {
    /// Exit status 0 and nothing else amiss.
    Success,
    /// Another exit status.
    Exit(i32),
    /// Killed by a signal.
    Signal(i32),
    /// `assert` failed.
    Assertion,
    /// A Rust panic.
    Panic,
    /// No thread could go on.
    Deadlock,
    /// Every thread spun or waited, and nothing changed.
    Hang,
    /// An access to memory that was freed.
    UseAfterFree,
    /// A second free.
    DoubleFree,
    /// A free of what was never allocated.
    InvalidFree,
    /// The command given as oracle ended with this status.
    Oracle(i32),
    /// The runtime could not go on.
    Internal,
}

/// How a run ended and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The way.
    pub ending: Ending,
    /// The thread that failed, if one did.
    pub thread: Option<ThreadId>,
    /// Its tick.
    pub tick: Option<Tick>,
    /// The object concerned, if there is one.
    pub object: Option<Address>,
    /// Where in the source.
    pub position: Option<SourcePosition>,
    /// The program's or the runtime's words.
    pub message: String,
}

/// What a thread was doing when the run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadInfo {
    /// The thread.
    pub thread: ThreadId,
    /// Its state.
    pub state: ThreadState,
    /// Slots it wrote.
    pub ticks: Tick,
    /// Visible events it executed.
    pub visible: u64,
    /// What it waited for.
    pub wait: Option<Wait>,
    /// Return addresses, innermost first.
    pub stack: Vec<Address>,
}

/// What a blocked thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The mark it wants to make.
    pub wants: Mark,
    /// The lock, condition, thread …
    pub object: Address,
    /// The thread that holds it.
    pub held_by: Option<ThreadId>,
}

/// The runtime left a number that means nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadRecord {
    /// In [`wire::Outcome::kind`].
    #[error("unknown outcome {0}; was the program built by another version of Raddle?")]
    Outcome(u32),
    /// In [`wire::ThreadRecord::state`].
    #[error(
        "{thread} is in unknown state {state}; was the program built by another version of Raddle?"
    )]
    State {
        /// The thread.
        thread: ThreadId,
        /// Its state's number.
        state: u32,
    },
    /// In [`wire::ThreadRecord::wait_kind`].
    #[error(
        "{thread} waits for unknown mark {mark}; was the program built by another version of Raddle?"
    )]
    Wait {
        /// The thread.
        thread: ThreadId,
        /// The mark's number.
        mark: u32,
    },
}

impl Ending {
    /// Names and numbers in text: `exit 3`, `use-after-free`.
    pub(crate) const NAMES: [(&'static str, Self); 9] = [
        ("success", Self::Success),
        ("assertion", Self::Assertion),
        ("panic", Self::Panic),
        ("deadlock", Self::Deadlock),
        ("hang", Self::Hang),
        ("use-after-free", Self::UseAfterFree),
        ("double-free", Self::DoubleFree),
        ("invalid-free", Self::InvalidFree),
        ("internal", Self::Internal),
    ];

    /// Whether the run failed.
    #[must_use]
    pub fn is_failure(self) -> bool {
        self != Self::Success
    }

    /// Whether the process ended by itself, and only its exit status or what it left behind is wrong.
    #[must_use]
    pub fn is_in_order(self) -> bool {
        matches!(self, Self::Exit(_) | Self::Oracle(_))
    }

    /// The word that stands for it in reports: `exit`, `crash`, `deadlock`, …
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Exit(_) => "exit",
            Self::Signal(_) => "signal",
            Self::Oracle(_) => "oracle",
            _ => Self::NAMES
                .iter()
                .find(|(_, ending)| *ending == self)
                .map_or("", |(name, _)| name),
        }
    }

    /// Status or signal, where there is one.
    #[must_use]
    pub const fn code(self) -> Option<i32> {
        match self {
            Self::Exit(code) | Self::Signal(code) | Self::Oracle(code) => Some(code),
            _ => None,
        }
    }

    /// The ending with this name and number; the number must be there exactly if it is needed.
    #[must_use]
    pub fn from_name(name: &str, code: Option<i32>) -> Option<Self> {
        match (name, code) {
            ("exit", Some(code)) => Some(Self::Exit(code)),
            ("signal", Some(code)) => Some(Self::Signal(code)),
            ("oracle", Some(code)) => Some(Self::Oracle(code)),
            (_, None) => Self::NAMES
                .iter()
                .find(|(known, _)| *known == name)
                .map(|pair| pair.1),
            _ => None,
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        self.code().map_or(Ok(()), |code| write!(f, " {code}"))
    }
}

impl Outcome {
    /// An ending about which nothing else is known.
    #[must_use]
    pub const fn new(ending: Ending) -> Self {
        Self {
            ending,
            thread: None,
            tick: None,
            object: None,
            position: None,
            message: String::new(),
        }
    }

    /// What the runtime saw; `None` if it saw nothing fail.
    pub fn from_wire(raw: &wire::Outcome) -> Result<Option<Self>, BadRecord> {
        use wire::OutcomeKind as Kind;
        let ending = match Kind::from_u32(raw.kind).ok_or(BadRecord::Outcome(raw.kind))? {
            Kind::None => return Ok(None),
            Kind::Assertion => Ending::Assertion,
            Kind::Panic => Ending::Panic,
            Kind::Deadlock => Ending::Deadlock,
            Kind::Hang => Ending::Hang,
            Kind::UseAfterFree => Ending::UseAfterFree,
            Kind::DoubleFree => Ending::DoubleFree,
            Kind::InvalidFree => Ending::InvalidFree,
            Kind::Abort => Ending::Signal(SIGABRT),
            Kind::Internal | Kind::Surroundings => Ending::Internal,
        };
        let len = usize::try_from(raw.message_len)
            .unwrap_or(usize::MAX)
            .min(raw.message.len());
        Ok(Some(Self {
            ending,
            thread: Some(ThreadId(raw.thread)),
            tick: Some(Tick(raw.tick)),
            object: (raw.object != 0).then_some(Address(raw.object)),
            position: None,
            message: String::from_utf8_lossy(&raw.message[..len]).into_owned(),
        }))
    }
}

impl ThreadInfo {
    /// What the runtime noted of a thread.
    pub fn from_wire(thread: ThreadId, raw: &wire::ThreadRecord) -> Result<Self, BadRecord> {
        let state = ThreadState::from_u32(raw.state).ok_or(BadRecord::State {
            thread,
            state: raw.state,
        })?;
        let wants = u16::try_from(raw.wait_kind)
            .ok()
            .and_then(Mark::from_u16)
            .ok_or(BadRecord::Wait {
                thread,
                mark: raw.wait_kind,
            })?;
        let wait = (wants != Mark::Empty).then_some(Wait {
            wants,
            object: Address(raw.wait_object),
            held_by: (raw.held_by != u32::MAX).then_some(ThreadId(raw.held_by)),
        });
        let depth = usize::try_from(raw.stack_len)
            .unwrap_or(usize::MAX)
            .min(raw.stack.len());
        Ok(Self {
            thread,
            state,
            ticks: Tick(raw.tick),
            visible: raw.visible,
            wait,
            stack: raw.stack[..depth].iter().copied().map(Address).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ending_reads_its_name_and_number() {
        let coded = [Ending::Exit(-3), Ending::Signal(11), Ending::Oracle(1)];
        for ending in Ending::NAMES.map(|pair| pair.1).into_iter().chain(coded) {
            assert_eq!(
                Ending::from_name(ending.name(), ending.code()),
                Some(ending)
            );
        }
        assert_eq!(Ending::from_name("exit", None), None);
        assert_eq!(Ending::from_name("panic", Some(1)), None);
        assert_eq!(Ending::from_name("", None), None);
    }
}
