//! What objects of synchronisation make known, as POSIX, C11 and C++ promise it.
//!
//! | object | what is given | to which operation |
//! | --- | --- | --- |
//! | mutex, spin lock, write side | release, or the end of its owner | every later acquisition |
//! | read side | release | later acquisitions of the write side |
//! | semaphore | post | every later wait (glibc's are read-modify-writes of one word) |
//! | condition variable, futex | notification | later wakings that are no timeouts |
//! | barrier | arrival | departures of the same round |
//! | once | end of the initialiser, by an exception too | every later call |
//! | unknown code | whatever was done before it is called | what follows a later call of unknown code |
//!
//! A try that fails makes nothing known. Where the promise is vague, more is taken to be known: that
//! hides races and makes none.

use raddle_trace::action::Action;
use raddle_trace::ids::Address;

use super::clock::{Clock, Lane};
use crate::table::Table;

#[derive(Debug, Default)]
struct Lock {
    by_exclusive: Clock,
    by_shared: Clock,
    /// Which thread has taken it, and not given it back as far as events show.
    holder: Option<Lane>,
}

/// What a giver leaves for takers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Token {
    Semaphore,
    Condition,
    Futex,
    Once,
    /// A round of a barrier.
    Round(u64),
}

/// What an action does to an object of synchronisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The thread learns what others have left.
    Takes,
    /// It leaves what it knows.
    Gives,
    /// Neither.
    None,
}

/// All objects of a run.
#[derive(Debug, Default)]
pub(super) struct Objects {
    locks: Table<u64, Lock>,
    tokens: Table<(u64, Token), Clock>,
    /// What code that is not traced may know.
    pub(super) unknown: Clock,
}

impl Objects {
    /// Which way an action passes knowledge.
    pub(super) fn step(action: &Action) -> Step {
        match action {
            Action::Lock { .. }
            | Action::ReadLock { .. }
            | Action::WriteLock { .. }
            | Action::SemWait { .. }
            | Action::BarrierLeave { .. }
            | Action::OnceStart { .. }
            | Action::OncePass { .. }
            | Action::CondWake {
                timed_out: false, ..
            }
            | Action::FutexWake { errno: 0, .. } => Step::Takes,
            Action::Unlock { .. }
            | Action::ReadUnlock { .. }
            | Action::WriteUnlock { .. }
            | Action::SemPost { .. }
            | Action::BarrierArrive { .. }
            | Action::OnceDone { .. }
            | Action::CondNotify { .. }
            | Action::FutexNotify { .. } => Step::Gives,
            _ => Step::None,
        }
    }

    /// What an action that takes makes known.
    pub(super) fn take(&self, action: &Action, mut learn: impl FnMut(&Clock)) {
        match *action {
            Action::Lock { lock, .. } | Action::WriteLock { lock, .. } => {
                if let Some(lock) = self.locks.get(&lock.0) {
                    learn(&lock.by_exclusive);
                    learn(&lock.by_shared);
                }
            }
            Action::ReadLock { lock, .. } => {
                if let Some(lock) = self.locks.get(&lock.0) {
                    learn(&lock.by_exclusive);
                }
            }
            _ => {
                let clock = token(action).and_then(|key| self.tokens.get(&key));
                clock.into_iter().for_each(learn);
            }
        }
    }

    /// Notes that a thread takes a lock exclusively, or runs an initialiser. If another one holds it as far as events
    /// show, says which: it has ended, and the lock is robust, or handed the lock over in a way that no event shows, or
    /// left the initialiser by an exception.
    pub(super) fn hold(&mut self, action: &Action, lane: Lane) -> Option<Lane> {
        let (Action::Lock { lock, .. }
        | Action::WriteLock { lock, .. }
        | Action::OnceStart { once: lock }) = *action
        else {
            return None;
        };
        let lock = self.locks.entry(lock.0).or_default();
        let before = lock.holder.replace(lane);
        before.filter(|it| *it != lane)
    }

    /// An action gives what its thread knows.
    pub(super) fn give(&mut self, action: &Action, clock: &Clock) {
        match *action {
            Action::Unlock { lock } | Action::WriteUnlock { lock } => {
                let lock = self.locks.entry(lock.0).or_default();
                lock.by_exclusive.join(clock);
                lock.holder = None;
            }
            Action::ReadUnlock { lock } => {
                let lock = self.locks.entry(lock.0).or_default();
                lock.by_shared.join(clock);
            }
            _ => {
                if let Action::OnceDone { once, .. } = *action {
                    self.locks.entry(once.0).or_default().holder = None;
                }
                if let Some(key) = token(action) {
                    self.tokens.entry(key).or_default().join(clock);
                }
            }
        }
    }
}

/// Through what an action passes knowledge.
fn token(action: &Action) -> Option<(u64, Token)> {
    let (Address(object), token) = match *action {
        Action::SemWait { semaphore, .. } | Action::SemPost { semaphore, .. } => {
            (semaphore, Token::Semaphore)
        }
        Action::CondWake { cond, .. } | Action::CondNotify { cond, .. } => (cond, Token::Condition),
        Action::FutexWake { futex, .. } | Action::FutexNotify { futex, .. } => {
            (futex, Token::Futex)
        }
        Action::BarrierArrive { barrier, round, .. } | Action::BarrierLeave { barrier, round } => {
            (barrier, Token::Round(round))
        }
        Action::OnceStart { once } | Action::OnceDone { once, .. } | Action::OncePass { once } => {
            (once, Token::Once)
        }
        _ => return None,
    };
    Some((object, token))
}
