//! The events that the runtime writes itself: synchronisation, memory, the outside, the end.

use crate::event::{LockAction, LockChange, LockMode};
use crate::ids::{Address, AllocId, ThreadId};
use crate::wire::{Mark, OutcomeKind};

/// What a call into the runtime did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields say it with their names and types")]
pub enum Action {
    /// A thread is created.
    Fork { child: ThreadId },
    /// First event of a thread; main has no creator.
    Begin {
        creator: Option<ThreadId>,
        stack_low: Address,
        stack_size: u64,
    },
    /// Last event of a thread.
    End,
    /// Another thread's end was awaited.
    Join { thread: ThreadId },
    /// A mutex or spin lock was acquired.
    Lock { lock: Address },
    /// A mutex or spin lock was released.
    Unlock { lock: Address },
    /// The read side was acquired.
    ReadLock { lock: Address },
    /// The read side was released.
    ReadUnlock { lock: Address },
    /// The write side was acquired.
    WriteLock { lock: Address },
    /// The write side was released.
    WriteUnlock { lock: Address },
    /// Starts to wait on a condition variable; the mutex was released before.
    CondWait { cond: Address, mutex: Address },
    /// Woke from a condition variable; the mutex is acquired after.
    CondWake {
        cond: Address,
        timed_out: bool,
        notifier: Option<ThreadId>,
    },
    /// Notified a condition variable.
    CondNotify { cond: Address, woken: u64 },
    /// Starts to wait on a futex.
    FutexWait { futex: Address, expected: u64 },
    /// Woke from a futex; `errno` 0 means woken by `waker`.
    FutexWake {
        futex: Address,
        errno: u64,
        waker: Option<ThreadId>,
    },
    /// Woke waiters of a futex.
    FutexNotify { futex: Address, woken: u64 },
    /// A semaphore was decremented.
    SemWait { semaphore: Address },
    /// A semaphore was incremented.
    SemPost { semaphore: Address },
    /// Arrived at a barrier.
    BarrierArrive { barrier: Address, round: u64 },
    /// Left a barrier.
    BarrierLeave { barrier: Address, round: u64 },
    /// Starts a once-initialiser or guarded static.
    OnceStart { once: Address },
    /// Finished it.
    OnceDone { once: Address },
    /// Found it done.
    OncePass { once: Address },
    /// Memory was allocated.
    Alloc {
        addr: Address,
        size: u64,
        id: AllocId,
    },
    /// Memory is freed.
    Free {
        addr: Address,
        size: u64,
        id: AllocId,
    },
    /// Bytes came from outside.
    Input {
        buffer: Address,
        len: u64,
        descriptor: u64,
    },
    /// Left the scheduler for a call that may block.
    Block,
    /// Came back from it.
    Unblock,
    /// Yielded or paused.
    Yield,
    /// Slept.
    Sleep { ns: u64 },
    /// A condition variable, mutex, … was destroyed.
    Destroy { object: Address },
    /// The run failed here.
    Fail { kind: OutcomeKind },
    /// The process is exiting.
    Exit { status: u64 },
    /// A lock is requested and not free; `wants` is the mark it will make.
    Request { lock: Address, wants: Mark },
    /// The virtual clock was read.
    Clock { ns: u64 },
}

/// The numbers that an [`Action`] has in shared memory and in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawAction {
    /// Which action.
    pub mark: Mark,
    /// The object.
    pub object: u64,
    /// The argument.
    pub argument: u64,
    /// The second argument.
    pub second: u64,
}

/// A mark's number means nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadAction {
    /// Not an action.
    #[error("mark {0:?} is not an action")]
    NotAnAction(Mark),
    /// A thread's number does not fit.
    #[error("{mark:?} names thread {number}, and thread numbers are 32 bits wide")]
    Thread {
        /// The mark.
        mark: Mark,
        /// What it said.
        number: u64,
    },
    /// No outcome has this number.
    #[error("failure of unknown kind {0}")]
    Outcome(u64),
    /// A request for something that is no mark.
    #[error("request for unknown mark {0}")]
    Request(u64),
}

impl TryFrom<RawAction> for Action {
    type Error = BadAction;

    fn try_from(raw: RawAction) -> Result<Self, BadAction> {
        let RawAction {
            mark,
            object,
            argument,
            second,
        } = raw;
        let address = Address(object);
        let thread = |number: u64| {
            u32::try_from(number)
                .map(ThreadId)
                .map_err(|_| BadAction::Thread { mark, number })
        };
        let maybe_thread = |number| {
            if number == u64::MAX {
                Ok(None)
            } else {
                thread(number).map(Some)
            }
        };
        Ok(match mark {
            Mark::Empty | Mark::Extra | Mark::Switch | Mark::Branches => {
                return Err(BadAction::NotAnAction(mark));
            }
            Mark::Fork => Self::Fork {
                child: thread(object)?,
            },
            Mark::Begin => Self::Begin {
                creator: maybe_thread(object)?,
                stack_low: Address(argument),
                stack_size: second,
            },
            Mark::End => Self::End,
            Mark::Join => Self::Join {
                thread: thread(object)?,
            },
            Mark::Lock => Self::Lock { lock: address },
            Mark::Unlock => Self::Unlock { lock: address },
            Mark::ReadLock => Self::ReadLock { lock: address },
            Mark::ReadUnlock => Self::ReadUnlock { lock: address },
            Mark::WriteLock => Self::WriteLock { lock: address },
            Mark::WriteUnlock => Self::WriteUnlock { lock: address },
            Mark::CondWait => Self::CondWait {
                cond: address,
                mutex: Address(argument),
            },
            Mark::CondWake => Self::CondWake {
                cond: address,
                timed_out: argument != 0,
                notifier: maybe_thread(second)?,
            },
            Mark::CondNotify => Self::CondNotify {
                cond: address,
                woken: argument,
            },
            Mark::FutexWait => Self::FutexWait {
                futex: address,
                expected: argument,
            },
            Mark::FutexWake => Self::FutexWake {
                futex: address,
                errno: argument,
                waker: maybe_thread(second)?,
            },
            Mark::FutexNotify => Self::FutexNotify {
                futex: address,
                woken: argument,
            },
            Mark::SemWait => Self::SemWait { semaphore: address },
            Mark::SemPost => Self::SemPost { semaphore: address },
            Mark::BarrierArrive => Self::BarrierArrive {
                barrier: address,
                round: argument,
            },
            Mark::BarrierLeave => Self::BarrierLeave {
                barrier: address,
                round: argument,
            },
            Mark::OnceStart => Self::OnceStart { once: address },
            Mark::OnceDone => Self::OnceDone { once: address },
            Mark::OncePass => Self::OncePass { once: address },
            Mark::Alloc => Self::Alloc {
                addr: address,
                size: argument,
                id: AllocId(second),
            },
            Mark::Free => Self::Free {
                addr: address,
                size: argument,
                id: AllocId(second),
            },
            Mark::Input => Self::Input {
                buffer: address,
                len: argument,
                descriptor: second,
            },
            Mark::Block => Self::Block,
            Mark::Unblock => Self::Unblock,
            Mark::Yield => Self::Yield,
            Mark::Sleep => Self::Sleep { ns: argument },
            Mark::Destroy => Self::Destroy { object: address },
            Mark::Fail => Self::Fail {
                kind: u32::try_from(argument)
                    .ok()
                    .and_then(OutcomeKind::from_u32)
                    .ok_or(BadAction::Outcome(argument))?,
            },
            Mark::Exit => Self::Exit { status: argument },
            Mark::Request => Self::Request {
                lock: address,
                wants: u16::try_from(argument)
                    .ok()
                    .and_then(Mark::from_u16)
                    .ok_or(BadAction::Request(argument))?,
            },
            Mark::Clock => Self::Clock { ns: argument },
        })
    }
}

impl From<Action> for RawAction {
    fn from(action: Action) -> Self {
        let raw = |mark, object, argument, second| Self {
            mark,
            object,
            argument,
            second,
        };
        let maybe = |thread: Option<ThreadId>| thread.map_or(u64::MAX, |id| id.0.into());
        match action {
            Action::Fork { child } => raw(Mark::Fork, child.0.into(), 0, 0),
            Action::Begin {
                creator,
                stack_low,
                stack_size,
            } => raw(Mark::Begin, maybe(creator), stack_low.0, stack_size),
            Action::End => raw(Mark::End, 0, 0, 0),
            Action::Join { thread } => raw(Mark::Join, thread.0.into(), 0, 0),
            Action::Lock { lock } => raw(Mark::Lock, lock.0, 0, 0),
            Action::Unlock { lock } => raw(Mark::Unlock, lock.0, 0, 0),
            Action::ReadLock { lock } => raw(Mark::ReadLock, lock.0, 0, 0),
            Action::ReadUnlock { lock } => raw(Mark::ReadUnlock, lock.0, 0, 0),
            Action::WriteLock { lock } => raw(Mark::WriteLock, lock.0, 0, 0),
            Action::WriteUnlock { lock } => raw(Mark::WriteUnlock, lock.0, 0, 0),
            Action::CondWait { cond, mutex } => raw(Mark::CondWait, cond.0, mutex.0, 0),
            Action::CondWake {
                cond,
                timed_out,
                notifier,
            } => raw(Mark::CondWake, cond.0, timed_out.into(), maybe(notifier)),
            Action::CondNotify { cond, woken } => raw(Mark::CondNotify, cond.0, woken, 0),
            Action::FutexWait { futex, expected } => raw(Mark::FutexWait, futex.0, expected, 0),
            Action::FutexWake {
                futex,
                errno,
                waker,
            } => raw(Mark::FutexWake, futex.0, errno, maybe(waker)),
            Action::FutexNotify { futex, woken } => raw(Mark::FutexNotify, futex.0, woken, 0),
            Action::SemWait { semaphore } => raw(Mark::SemWait, semaphore.0, 0, 0),
            Action::SemPost { semaphore } => raw(Mark::SemPost, semaphore.0, 0, 0),
            Action::BarrierArrive { barrier, round } => {
                raw(Mark::BarrierArrive, barrier.0, round, 0)
            }
            Action::BarrierLeave { barrier, round } => raw(Mark::BarrierLeave, barrier.0, round, 0),
            Action::OnceStart { once } => raw(Mark::OnceStart, once.0, 0, 0),
            Action::OnceDone { once } => raw(Mark::OnceDone, once.0, 0, 0),
            Action::OncePass { once } => raw(Mark::OncePass, once.0, 0, 0),
            Action::Alloc { addr, size, id } => raw(Mark::Alloc, addr.0, size, id.0),
            Action::Free { addr, size, id } => raw(Mark::Free, addr.0, size, id.0),
            Action::Input {
                buffer,
                len,
                descriptor,
            } => raw(Mark::Input, buffer.0, len, descriptor),
            Action::Block => raw(Mark::Block, 0, 0, 0),
            Action::Unblock => raw(Mark::Unblock, 0, 0, 0),
            Action::Yield => raw(Mark::Yield, 0, 0, 0),
            Action::Sleep { ns } => raw(Mark::Sleep, 0, ns, 0),
            Action::Destroy { object } => raw(Mark::Destroy, object.0, 0, 0),
            Action::Fail { kind } => raw(Mark::Fail, 0, u64::from(kind as u32), 0),
            Action::Exit { status } => raw(Mark::Exit, 0, status, 0),
            Action::Request { lock, wants } => {
                raw(Mark::Request, lock.0, u64::from(wants as u16), 0)
            }
            Action::Clock { ns } => raw(Mark::Clock, 0, ns, 0),
        }
    }
}

impl Action {
    /// The mark that stands for it in shared memory.
    #[must_use]
    pub fn mark(&self) -> Mark {
        RawAction::from(*self).mark
    }

    /// The action seen as an operation on a lock, if it is one.
    #[must_use]
    pub fn lock_action(&self) -> Option<LockAction> {
        let (lock, change) = match *self {
            Self::Lock { lock } | Self::WriteLock { lock } => {
                (lock, LockChange::Acquire(LockMode::Exclusive))
            }
            Self::ReadLock { lock } => (lock, LockChange::Acquire(LockMode::Shared)),
            Self::Unlock { lock } | Self::WriteUnlock { lock } => {
                (lock, LockChange::Release(LockMode::Exclusive))
            }
            Self::ReadUnlock { lock } => (lock, LockChange::Release(LockMode::Shared)),
            _ => return None,
        };
        Some(LockAction { lock, change })
    }
}
