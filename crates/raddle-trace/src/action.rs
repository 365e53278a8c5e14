//! The events that the runtime writes itself: synchronisation, memory, the outside, the end.

use crate::event::{Footprint, LockAction, LockChange, LockMode};
use crate::ids::{Address, AllocId, ThreadId};
use crate::wire::{Mark, OutcomeKind, TRIED};

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
    /// Another thread's end was awaited; `errno` 0 means that it was joined.
    Join { thread: ThreadId, errno: u64 },
    /// A mutex or spin lock was acquired; `tried`: by a call that would not have waited.
    Lock { lock: Address, tried: bool },
    /// A mutex or spin lock was released.
    Unlock { lock: Address },
    /// The read side was acquired.
    ReadLock { lock: Address, tried: bool },
    /// The read side was released.
    ReadUnlock { lock: Address },
    /// The write side was acquired.
    WriteLock { lock: Address, tried: bool },
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
    /// Notified a condition variable; `all`: by a broadcast.
    CondNotify {
        cond: Address,
        woken: u64,
        all: bool,
    },
    /// Starts to wait on a futex.
    FutexWait { futex: Address, expected: u64 },
    /// Woke from a futex; `errno` 0 means woken by `waker`.
    FutexWake {
        futex: Address,
        errno: u64,
        waker: Option<ThreadId>,
    },
    /// Woke waiters of a futex, at most so many.
    FutexNotify {
        futex: Address,
        woken: u64,
        most: u64,
    },
    /// A semaphore was decremented, to `value`.
    SemWait { semaphore: Address, value: u64 },
    /// A semaphore was incremented, to `value`.
    SemPost { semaphore: Address, value: u64 },
    /// Arrived at a barrier that waits for `count` threads.
    BarrierArrive {
        barrier: Address,
        round: u64,
        count: u64,
    },
    /// Left a barrier.
    BarrierLeave { barrier: Address, round: u64 },
    /// Starts a once-initialiser or guarded static.
    OnceStart { once: Address },
    /// Finished it, or gave it up by an exception.
    OnceDone { once: Address, succeeded: bool },
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
    /// Bytes came from outside; `buffer` is 0 if they went to several places.
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
    /// A lock is requested and not free; `wants` is the mark it will make. If it was only `tried`, the
    /// call failed and is over.
    Request {
        lock: Address,
        wants: Mark,
        tried: bool,
    },
    /// The virtual clock was read.
    Clock { ns: u64 },
    /// libc reads bytes that it copies for the program, as `realloc` does.
    CopyFrom { addr: Address, len: u64 },
    /// It writes what it has just read.
    CopyTo { addr: Address, len: u64 },
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
                errno: argument,
            },
            Mark::Lock => Self::Lock {
                lock: address,
                tried: argument != 0,
            },
            Mark::Unlock => Self::Unlock { lock: address },
            Mark::ReadLock => Self::ReadLock {
                lock: address,
                tried: argument != 0,
            },
            Mark::ReadUnlock => Self::ReadUnlock { lock: address },
            Mark::WriteLock => Self::WriteLock {
                lock: address,
                tried: argument != 0,
            },
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
                all: second != 1,
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
                most: second,
            },
            Mark::SemWait => Self::SemWait {
                semaphore: address,
                value: argument,
            },
            Mark::SemPost => Self::SemPost {
                semaphore: address,
                value: argument,
            },
            Mark::BarrierArrive => Self::BarrierArrive {
                barrier: address,
                round: argument,
                count: second,
            },
            Mark::BarrierLeave => Self::BarrierLeave {
                barrier: address,
                round: argument,
            },
            Mark::OnceStart => Self::OnceStart { once: address },
            Mark::OnceDone => Self::OnceDone {
                once: address,
                succeeded: argument != 0,
            },
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
                wants: u16::try_from(argument & !TRIED)
                    .ok()
                    .and_then(Mark::from_u16)
                    .ok_or(BadAction::Request(argument))?,
                tried: argument & TRIED != 0,
            },
            Mark::Clock => Self::Clock { ns: argument },
            Mark::CopyFrom => Self::CopyFrom {
                addr: address,
                len: argument,
            },
            Mark::CopyTo => Self::CopyTo {
                addr: address,
                len: argument,
            },
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
            Action::Join { thread, errno } => raw(Mark::Join, thread.0.into(), errno, 0),
            Action::Lock { lock, tried } => raw(Mark::Lock, lock.0, tried.into(), 0),
            Action::Unlock { lock } => raw(Mark::Unlock, lock.0, 0, 0),
            Action::ReadLock { lock, tried } => raw(Mark::ReadLock, lock.0, tried.into(), 0),
            Action::ReadUnlock { lock } => raw(Mark::ReadUnlock, lock.0, 0, 0),
            Action::WriteLock { lock, tried } => raw(Mark::WriteLock, lock.0, tried.into(), 0),
            Action::WriteUnlock { lock } => raw(Mark::WriteUnlock, lock.0, 0, 0),
            Action::CondWait { cond, mutex } => raw(Mark::CondWait, cond.0, mutex.0, 0),
            Action::CondWake {
                cond,
                timed_out,
                notifier,
            } => raw(Mark::CondWake, cond.0, timed_out.into(), maybe(notifier)),
            Action::CondNotify { cond, woken, all } => {
                let most = if all { u64::MAX } else { 1 };
                raw(Mark::CondNotify, cond.0, woken, most)
            }
            Action::FutexWait { futex, expected } => raw(Mark::FutexWait, futex.0, expected, 0),
            Action::FutexWake {
                futex,
                errno,
                waker,
            } => raw(Mark::FutexWake, futex.0, errno, maybe(waker)),
            Action::FutexNotify { futex, woken, most } => {
                raw(Mark::FutexNotify, futex.0, woken, most)
            }
            Action::SemWait { semaphore, value } => raw(Mark::SemWait, semaphore.0, value, 0),
            Action::SemPost { semaphore, value } => raw(Mark::SemPost, semaphore.0, value, 0),
            Action::BarrierArrive {
                barrier,
                round,
                count,
            } => raw(Mark::BarrierArrive, barrier.0, round, count),
            Action::BarrierLeave { barrier, round } => raw(Mark::BarrierLeave, barrier.0, round, 0),
            Action::OnceStart { once } => raw(Mark::OnceStart, once.0, 0, 0),
            Action::OnceDone { once, succeeded } => {
                raw(Mark::OnceDone, once.0, succeeded.into(), 0)
            }
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
            Action::Request { lock, wants, tried } => {
                let tried = if tried { TRIED } else { 0 };
                raw(Mark::Request, lock.0, u64::from(wants as u16) | tried, 0)
            }
            Action::Clock { ns } => raw(Mark::Clock, 0, ns, 0),
            Action::CopyFrom { addr, len } => raw(Mark::CopyFrom, addr.0, len, 0),
            Action::CopyTo { addr, len } => raw(Mark::CopyTo, addr.0, len, 0),
        }
    }
}

impl Action {
    /// Whether it acquired, or asked for, something in a call that would not have waited for it.
    #[must_use]
    pub fn is_try(&self) -> bool {
        matches!(
            self,
            Self::Lock { tried: true, .. }
                | Self::ReadLock { tried: true, .. }
                | Self::WriteLock { tried: true, .. }
                | Self::Request { tried: true, .. }
        )
    }

    /// The bytes that libc or the kernel touched for the program.
    #[must_use]
    pub fn footprint(&self) -> Option<Footprint> {
        let (addr, len, writes) = match *self {
            Self::Input { buffer, len, .. } if buffer != Address(0) => (buffer, len, true),
            Self::CopyFrom { addr, len } => (addr, len, false),
            Self::CopyTo { addr, len } => (addr, len, true),
            _ => return None,
        };
        Some(Footprint {
            site: None,
            addr,
            len,
            reads: !writes,
            writes,
            atomic: false,
        })
    }

    /// The mark that stands for it in shared memory.
    #[must_use]
    pub fn mark(&self) -> Mark {
        RawAction::from(*self).mark
    }

    /// The action seen as an operation on a lock, if it is one.
    #[must_use]
    pub fn lock_action(&self) -> Option<LockAction> {
        let (lock, change) = match *self {
            Self::Lock { lock, .. } | Self::WriteLock { lock, .. } => {
                (lock, LockChange::Acquire(LockMode::Exclusive))
            }
            Self::ReadLock { lock, .. } => (lock, LockChange::Acquire(LockMode::Shared)),
            Self::Unlock { lock } | Self::WriteUnlock { lock } => {
                (lock, LockChange::Release(LockMode::Exclusive))
            }
            Self::ReadUnlock { lock } => (lock, LockChange::Release(LockMode::Shared)),
            _ => return None,
        };
        Some(LockAction { lock, change })
    }
}
