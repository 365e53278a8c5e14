//! Names of events, and events in words.

use std::fmt;

use crate::action::Action;
use crate::event::{Access, EventKind, LockAction, LockChange, LockMode};
use crate::wire::Mark;

impl EventKind {
    /// The word for this kind of event.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Read(_) => "read",
            Self::Write(_) => "write",
            Self::AtomicLoad(..) => "atomic-load",
            Self::AtomicStore(..) => "atomic-store",
            Self::Rmw { .. } => "rmw",
            Self::Cas { .. } => "cas",
            Self::Fence { .. } => "fence",
            Self::RangeRead { .. } => "range-read",
            Self::RangeWrite { .. } => "range-write",
            Self::Value { .. } => "value",
            Self::Enter { .. } => "call",
            Self::Exit { .. } => "return",
            Self::Branches(_) => "branches",
            Self::Action { action, .. } => mark_name(action.mark()),
        }
    }
}

/// The word for a mark.
#[must_use]
pub fn mark_name(mark: Mark) -> &'static str {
    match mark {
        Mark::Empty => "empty",
        Mark::Extra => "extra",
        Mark::Switch => "switch",
        Mark::Branches => "branches",
        Mark::Fork => "fork",
        Mark::Begin => "begin",
        Mark::End => "end",
        Mark::Join => "join",
        Mark::Lock => "lock",
        Mark::Unlock => "unlock",
        Mark::ReadLock => "read-lock",
        Mark::ReadUnlock => "read-unlock",
        Mark::WriteLock => "write-lock",
        Mark::WriteUnlock => "write-unlock",
        Mark::CondWait => "cond-wait",
        Mark::CondWake => "cond-wake",
        Mark::CondNotify => "cond-notify",
        Mark::FutexWait => "futex-wait",
        Mark::FutexWake => "futex-wake",
        Mark::FutexNotify => "futex-notify",
        Mark::SemWait => "sem-wait",
        Mark::SemPost => "sem-post",
        Mark::BarrierArrive => "barrier-arrive",
        Mark::BarrierLeave => "barrier-leave",
        Mark::OnceStart => "once-start",
        Mark::OnceDone => "once-done",
        Mark::OncePass => "once-pass",
        Mark::Alloc => "alloc",
        Mark::Free => "free",
        Mark::Input => "input",
        Mark::Block => "block",
        Mark::Unblock => "unblock",
        Mark::Yield => "yield",
        Mark::Sleep => "sleep",
        Mark::Destroy => "destroy",
        Mark::Fail => "fail",
        Mark::Exit => "exit",
        Mark::Request => "request",
        Mark::Clock => "clock",
        Mark::CopyFrom => "copy-from",
        Mark::CopyTo => "copy-to",
    }
}

impl LockChange {
    /// The word for it: `acquire`, `acquire-shared`, `release`, …
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Acquire(LockMode::Exclusive) => "acquire",
            Self::Acquire(LockMode::Shared) => "acquire-shared",
            Self::Release(LockMode::Exclusive) => "release",
            Self::Release(LockMode::Shared) => "release-shared",
            Self::Downgrade => "downgrade",
        }
    }
}

impl fmt::Display for LockAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.change.name(), self.lock)
    }
}

/// A value: decimal where that is short.
pub(crate) struct Number(pub u64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 1 << 16 {
            write!(f, "{}", self.0)
        } else {
            write!(f, "{:#x}", self.0)
        }
    }
}

impl fmt::Display for EventKind {
    /// The event in words, with addresses as they were: `write 0x5000 (8 bytes) = 7`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name();
        let place = |Access { addr, size, .. }: Access| format!("{addr} ({size} bytes)");
        match *self {
            Self::Read(access)
            | Self::Write(access)
            | Self::AtomicLoad(access, _)
            | Self::AtomicStore(access, _) => {
                write!(f, "{name} {} = {}", place(access), Number(access.value))
            }
            Self::Rmw { access, new, .. } => {
                let (old, new) = (Number(access.value), Number(new));
                write!(f, "{name} {} = {old} -> {new}", place(access))
            }
            Self::Cas {
                access,
                new,
                success,
                ..
            } => {
                let (old, new) = (Number(access.value), Number(new));
                let failed = if success { "" } else { " (failed)" };
                write!(f, "{name} {} = {old} -> {new}{failed}", place(access))
            }
            Self::Fence { order, .. } => write!(f, "{name} {order:?}"),
            Self::RangeRead { addr, len, .. } | Self::RangeWrite { addr, len, .. } => {
                write!(f, "{name} {addr} ({len} bytes)")
            }
            Self::Value { value, .. } => write!(f, "{name} = {}", Number(value)),
            Self::Enter { frame, .. } | Self::Exit { frame, .. } => {
                write!(f, "{name} frame {frame}")
            }
            Self::Branches(outcomes) => {
                write!(f, "{name} ")?;
                outcomes
                    .iter()
                    .try_for_each(|taken| f.write_str(if taken { "1" } else { "0" }))
            }
            Self::Action { action, .. } => write!(f, "{action}"),
        }
    }
}

impl fmt::Display for Action {
    /// The action in words: `lock 0x5000`, `alloc 0x5000 (24 bytes) A3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(mark_name(self.mark()))?;
        let unless_none = |f: &mut fmt::Formatter<'_>, errno| match errno {
            0 => Ok(()),
            errno => write!(f, " errno {errno}"),
        };
        let if_tried = |tried| if tried { " (tried)" } else { "" };
        match *self {
            Self::Fork { child } => write!(f, " {child}"),
            Self::Join { thread, errno } => {
                write!(f, " {thread}")?;
                unless_none(f, errno)
            }
            Self::Begin { creator, .. } => creator.map_or(Ok(()), |by| write!(f, " by {by}")),
            Self::Lock { lock, tried }
            | Self::ReadLock { lock, tried }
            | Self::WriteLock { lock, tried } => write!(f, " {lock}{}", if_tried(tried)),
            Self::Unlock { lock: object }
            | Self::ReadUnlock { lock: object }
            | Self::WriteUnlock { lock: object }
            | Self::OnceStart { once: object }
            | Self::OncePass { once: object }
            | Self::Destroy { object } => write!(f, " {object}"),
            Self::OnceDone { once, succeeded } => {
                write!(f, " {once}{}", if succeeded { "" } else { " (given up)" })
            }
            Self::SemWait { semaphore, value } | Self::SemPost { semaphore, value } => {
                write!(f, " {semaphore} to {value}")
            }
            Self::CondWait { cond, mutex } => write!(f, " {cond} mutex {mutex}"),
            Self::CondWake {
                cond,
                timed_out,
                notifier,
            } => {
                write!(f, " {cond}")?;
                notifier.map_or(Ok(()), |by| write!(f, " by {by}"))?;
                f.write_str(if timed_out { " timed out" } else { "" })
            }
            Self::CondNotify { cond, woken, all } => {
                write!(
                    f,
                    " {cond} woken {woken} of {}",
                    if all { "all" } else { "1" }
                )
            }
            Self::FutexNotify { futex, woken, most } => {
                write!(f, " {futex} woken {woken} of {}", Number(most))
            }
            Self::FutexWait { futex, expected } => {
                write!(f, " {futex} expected {}", Number(expected))
            }
            Self::FutexWake {
                futex,
                errno,
                waker,
            } => {
                write!(f, " {futex}")?;
                waker.map_or(Ok(()), |by| write!(f, " by {by}"))?;
                unless_none(f, errno)
            }
            Self::BarrierArrive {
                barrier,
                round,
                count,
            } => write!(f, " {barrier} round {round} of {count}"),
            Self::BarrierLeave { barrier, round } => write!(f, " {barrier} round {round}"),
            Self::Alloc { addr, size, id } | Self::Free { addr, size, id } => {
                write!(f, " {addr} ({size} bytes) {id}")
            }
            Self::Input {
                buffer,
                len,
                descriptor,
            } => {
                write!(f, " {buffer} ({len} bytes) descriptor {descriptor}")
            }
            Self::CopyFrom { addr, len } | Self::CopyTo { addr, len } => {
                write!(f, " {addr} ({len} bytes)")
            }
            Self::Sleep { ns } | Self::Clock { ns } => write!(f, " {ns} ns"),
            Self::Fail { kind } => write!(f, " {kind:?}"),
            Self::Exit { status } => write!(f, " {status}"),
            Self::Request { lock, wants, tried } => {
                write!(f, " {lock} to {}{}", mark_name(wants), if_tried(tried))
            }
            Self::End | Self::Block | Self::Unblock | Self::Yield => Ok(()),
        }
    }
}
