//! Locks: one holder, or several that share; a try that failed fails again.
//!
//! Locks of libc and locks whose code was inlined are the same here. The thread that holds a lock may
//! take it again: that it could is what the trace shows, and its own part of a witness is the
//! trace's. A request that its call made good later is no event of the program's and means nothing.

use raddle_trace::event::{LockChange, LockMode};
use raddle_trace::ids::ThreadId;

use super::{Rule, Step};
use crate::objection::Objection;
use crate::recording::{Failed, ObjectId};
use crate::table::Table;

/// A thread's hold on a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hold {
    /// Who.
    pub(crate) thread: ThreadId,
    /// How.
    pub(crate) mode: LockMode,
    /// Since which event.
    pub(crate) since: usize,
}

/// Who holds what.
#[derive(Clone, Debug, Default)]
pub(crate) struct Locks {
    held: Table<ObjectId, Vec<Hold>>,
}

impl Locks {
    /// The holds on a lock, oldest first.
    pub(crate) fn holds(&self, lock: ObjectId) -> &[Hold] {
        self.held.get(&lock).map_or(&[], Vec::as_slice)
    }

    /// A hold of another thread that keeps `thread` from acquiring a lock.
    pub(crate) fn obstacle(
        &self,
        lock: ObjectId,
        thread: ThreadId,
        mode: LockMode,
    ) -> Option<Hold> {
        let excludes = |hold: &&Hold| {
            hold.thread != thread
                && (mode == LockMode::Exclusive || hold.mode == LockMode::Exclusive)
        };
        self.holds(lock).iter().find(excludes).copied()
    }

    fn own(&self, lock: ObjectId, thread: ThreadId, mode: LockMode) -> bool {
        let fits = |hold: &Hold| hold.thread == thread && hold.mode == mode;
        self.holds(lock).iter().any(fits)
    }
}

impl Rule for Locks {
    fn check(&self, step: &Step<'_, '_>) -> Result<(), Objection> {
        let Some(lock) = step.object else {
            return Ok(());
        };
        if let Some(Failed::Lock(mode)) = step.recording.facts.failed(step.at) {
            let fails = self.obstacle(lock, step.thread, mode).is_some()
                || self
                    .holds(lock)
                    .iter()
                    .any(|hold| hold.thread == step.thread);
            return match fails {
                true => Ok(()),
                false => Err(Objection::TrySucceeds { event: step.name() }),
            };
        }
        let Some(action) = step.recording.event(step.at).lock_action() else {
            return Ok(());
        };
        let not_held = || Err(Objection::NotHeld { event: step.name() });
        match action.change {
            LockChange::Acquire(mode) => match self.obstacle(lock, step.thread, mode) {
                None => Ok(()),
                Some(hold) => Err(Objection::LockHeld {
                    event: step.name(),
                    holder: step.recording.thread_name(hold.thread),
                    since: step.recording.name(hold.since),
                }),
            },
            LockChange::Release(mode) if !self.own(lock, step.thread, mode) => not_held(),
            LockChange::Downgrade if !self.own(lock, step.thread, LockMode::Exclusive) => {
                not_held()
            }
            _ => Ok(()),
        }
    }

    fn apply(&mut self, step: &Step<'_, '_>) {
        let action = step.recording.event(step.at).lock_action();
        let (Some(lock), Some(action)) = (step.object, action) else {
            return;
        };
        let holds = self.held.entry(lock).or_default();
        let newest = |mode| {
            let own = |hold: &Hold| hold.thread == step.thread && hold.mode == mode;
            let mode_only = |hold: &Hold| hold.mode == mode;
            let own = holds.iter().rposition(own);
            // Whoever gives back a lock of another's takes the hold away.
            own.or_else(|| holds.iter().rposition(mode_only))
        };
        match action.change {
            LockChange::Acquire(mode) => {
                if let Some(other) = holds
                    .iter()
                    .position(|hold| hold.thread != step.thread && mode == LockMode::Exclusive)
                {
                    // An unexplained acquisition: the holder before is gone.
                    holds.drain(other..);
                }
                holds.push(Hold {
                    thread: step.thread,
                    mode,
                    since: step.at,
                });
            }
            LockChange::Release(mode) => {
                if let Some(place) = newest(mode) {
                    holds.remove(place);
                }
            }
            LockChange::Downgrade => {
                if let Some(place) = newest(LockMode::Exclusive) {
                    holds[place].mode = LockMode::Shared;
                }
            }
        }
    }
}
