//! Condition variables: a waiter that was notified was notified after it began to wait.
//!
//! Which waiter a notification reaches is the library's choice, so any assignment of notifications
//! to wake-ups is good. A signal reaches one, a broadcast everyone who waits. Taking the oldest
//! notification that fits a wake-up leaves the others the widest choice. A wait may always end by its
//! own timeout, or for no reason where it did so in the trace.

use raddle_trace::action::Action;
use raddle_trace::ids::ThreadId;

use super::{Rule, Step};
use crate::objection::Objection;
use crate::recording::ObjectId;
use crate::table::Table;

/// How many more waiters a notification may wake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    One,
    All,
}

#[derive(Clone, Debug, Default)]
struct Queue {
    /// Who waits, since when.
    waiting: Vec<(ThreadId, u64)>,
    /// Notifications, oldest first.
    notified: Vec<(u64, Reach)>,
}

impl Queue {
    /// The notification that wakes a thread.
    fn waker(&self, thread: ThreadId) -> Option<usize> {
        let &(_, since) = self.waiting.iter().find(|(waits, _)| *waits == thread)?;
        let fits = |(when, _): &(u64, Reach)| *when > since;
        let all = |entry: &(u64, Reach)| fits(entry) && entry.1 == Reach::All;
        let everyone = self.notified.iter().position(all);
        everyone.or_else(|| self.notified.iter().position(fits))
    }
}

/// The condition variables.
#[derive(Clone, Debug, Default)]
pub(super) struct Conditions {
    queues: Table<ObjectId, Queue>,
    clock: u64,
}

impl Rule for Conditions {
    fn check(&self, step: &Step<'_, '_>) -> Result<(), Objection> {
        let (Some(object), Some(Action::CondWake { notifier, .. })) = (step.object, step.action())
        else {
            return Ok(());
        };
        let queue = self.queues.get(&object);
        let waits = |queue: &Queue| queue.waiting.iter().any(|(id, _)| *id == step.thread);
        if !queue.is_some_and(waits) {
            return Err(Objection::NotWaiting { event: step.name() });
        }
        if notifier.is_some() && queue.and_then(|queue| queue.waker(step.thread)).is_none() {
            return Err(Objection::NotNotified { event: step.name() });
        }
        Ok(())
    }

    fn apply(&mut self, step: &Step<'_, '_>) {
        let (Some(object), Some(action)) = (step.object, step.action()) else {
            return;
        };
        self.clock += 1;
        let queue = self.queues.entry(object).or_default();
        match action {
            Action::CondWait { .. } => queue.waiting.push((step.thread, self.clock)),
            Action::CondNotify { all, .. } if !queue.waiting.is_empty() => {
                let reach = if all { Reach::All } else { Reach::One };
                queue.notified.push((self.clock, reach));
            }
            Action::CondWake { notifier, .. } => {
                let waker = notifier.and_then(|_| queue.waker(step.thread));
                if let Some(used) = waker
                    && queue.notified[used].1 == Reach::One
                {
                    queue.notified.remove(used);
                }
                queue.waiting.retain(|(id, _)| *id != step.thread);
                let oldest = queue.waiting.iter().map(|(_, since)| *since).min();
                queue
                    .notified
                    .retain(|(when, _)| oldest.is_some_and(|oldest| *when > oldest));
            }
            _ => {}
        }
    }
}
