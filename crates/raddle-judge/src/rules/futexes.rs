//! Futexes: a waker wakes as many as it did, and a waiter is woken by one of them.
//!
//! The number woken is the call's result, so it must be the same: all who wait, or as many as the
//! call asked for. That the word is as expected when a wait starts is a matter of values, and judged
//! with the reads.

use raddle_trace::action::Action;
use raddle_trace::ids::ThreadId;

use super::{Rule, Step};
use crate::objection::Objection;
use crate::recording::ObjectId;
use crate::table::Table;

#[derive(Clone, Debug, Default)]
struct Queue {
    /// Who waits, since when.
    waiting: Vec<(ThreadId, u64)>,
    /// Wakes not yet used: when, and how many.
    woken: Vec<(u64, u64)>,
}

impl Queue {
    fn unused(&self) -> u64 {
        self.woken.iter().map(|(_, count)| count).sum()
    }

    /// Waiters that no wake has reached.
    fn asleep(&self) -> u64 {
        (self.waiting.len() as u64).saturating_sub(self.unused())
    }

    fn waits(&self, thread: ThreadId) -> bool {
        self.waiting.iter().any(|(id, _)| *id == thread)
    }

    fn waker(&self, thread: ThreadId) -> Option<usize> {
        let &(_, since) = self.waiting.iter().find(|(id, _)| *id == thread)?;
        self.woken.iter().position(|(when, _)| *when > since)
    }
}

/// The futexes.
#[derive(Clone, Debug, Default)]
pub(super) struct Futexes {
    queues: Table<ObjectId, Queue>,
    clock: u64,
}

impl Rule for Futexes {
    fn check(&self, step: &Step<'_, '_>) -> Result<(), Objection> {
        let (Some(object), Some(action)) = (step.object, step.action()) else {
            return Ok(());
        };
        let none = Queue::default();
        let queue = self.queues.get(&object).unwrap_or(&none);
        match action {
            Action::FutexNotify { woken, most, .. } => {
                let now = queue.asleep();
                if woken == now.min(most) {
                    return Ok(());
                }
                Err(Objection::OtherCountWoken {
                    event: step.name(),
                    now,
                })
            }
            Action::FutexWake { .. } if !queue.waits(step.thread) => {
                Err(Objection::NotWaiting { event: step.name() })
            }
            Action::FutexWake {
                errno: 0,
                waker: Some(_),
                ..
            } if queue.waker(step.thread).is_none() => {
                Err(Objection::NotNotified { event: step.name() })
            }
            Action::FutexWake { errno, waker, .. }
                if (errno != 0 || waker.is_none()) && queue.asleep() == 0 =>
            {
                Err(Objection::WokenInstead { event: step.name() })
            }
            _ => Ok(()),
        }
    }

    fn apply(&mut self, step: &Step<'_, '_>) {
        let (Some(object), Some(action)) = (step.object, step.action()) else {
            return;
        };
        self.clock += 1;
        let queue = self.queues.entry(object).or_default();
        match action {
            Action::FutexWait { .. } => queue.waiting.push((step.thread, self.clock)),
            Action::FutexNotify { woken, .. } => {
                let count = woken.min(queue.asleep());
                if count > 0 {
                    queue.woken.push((self.clock, count));
                }
            }
            Action::FutexWake { errno, waker, .. } => {
                if errno == 0
                    && waker.is_some()
                    && let Some(used) = queue.waker(step.thread)
                {
                    queue.woken[used].1 -= 1;
                    queue.woken.retain(|(_, count)| *count > 0);
                }
                queue.waiting.retain(|(id, _)| *id != step.thread);
            }
            _ => {}
        }
    }
}
