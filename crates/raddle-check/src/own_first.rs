//! A run in which libraries get out of the user's way.
//!
//! What a library does when a thread starts and ends may order threads that the user's own code does not order:
//! Rust's standard library enters each thread into a table, under a lock. Where one thread ends before the
//! next one starts, that lock orders all that they do, and hides what the user's code is lacking. In the
//! order made here, each thread has started before the others go on, and none has left the user's code for
//! good before all are done with it; otherwise it is that of the recorded run.

use std::collections::{BTreeMap, BTreeSet};

use raddle_run::Error;
use raddle_trace::action::Action;
use raddle_trace::event::{Event, EventKind};
use raddle_trace::ids::{EventIndex, ThreadId};

use crate::bench::{Bench, Ran};
use crate::guide::{Alignment, Guide};
use crate::timeline::Timeline;
use crate::unordered::Made;

/// A thread's part in the user's code: its first and last event there.
type Own = BTreeMap<ThreadId, (usize, usize)>;

/// Makes such a run; none if the recorded one is like this already.
///
/// # Errors
/// If the program cannot be run.
pub(crate) fn run(
    bench: &mut Bench,
    made: Made<'_>,
    recorded: &Timeline<'_>,
    is_own: impl Fn(EventIndex) -> bool,
) -> Result<Option<Ran>, Error> {
    let Some(order) = order(made.events, is_own) else {
        return Ok(None);
    };
    let guide = Guide::new(recorded, &order, &[]);
    match guide.switches(recorded, &Alignment::default()) {
        Some((switches, _)) => bench.guided(made.plan, switches).map(Some),
        None => Ok(None),
    }
}

/// The order; none if it is that of the run.
pub(crate) fn order(
    events: &[Event],
    is_own: impl Fn(EventIndex) -> bool,
) -> Option<Vec<EventIndex>> {
    let mut own = Own::new();
    for (at, event) in events.iter().enumerate() {
        if is_own(EventIndex(at as u64)) {
            let part = own.entry(event.thread).or_insert((at, at));
            part.1 = at;
        }
    }
    let mut order = Order::new(events, own);
    for at in 0..events.len() {
        order.take(at);
    }
    order.take_endings(None);
    let order = order.order;
    let is_changed = order.iter().zip(0..).any(|(index, at)| index.0 != at);
    is_changed.then_some(order)
}

struct Order<'e> {
    events: &'e [Event],
    own: Own,
    /// By thread: its events before the user's code.
    starts: BTreeMap<ThreadId, Vec<usize>>,
    /// Events after the user's code that are put off.
    endings: BTreeMap<ThreadId, Vec<usize>>,
    taken: BTreeSet<usize>,
    order: Vec<EventIndex>,
}

impl<'e> Order<'e> {
    fn new(events: &'e [Event], own: Own) -> Self {
        let mut starts: BTreeMap<ThreadId, Vec<usize>> = BTreeMap::new();
        for (at, event) in events.iter().enumerate() {
            if own.get(&event.thread).is_some_and(|part| at < part.0) {
                starts.entry(event.thread).or_default().push(at);
            }
        }
        Self {
            events,
            own,
            starts,
            endings: BTreeMap::new(),
            taken: BTreeSet::new(),
            order: Vec::new(),
        }
    }

    /// An event is next in the run.
    fn take(&mut self, at: usize) {
        let event = &self.events[at];
        let is_ending = self.own.get(&event.thread).is_some_and(|part| at > part.1);
        if is_ending {
            self.endings.entry(event.thread).or_default().push(at);
            return;
        }
        if let EventKind::Action { action, .. } = event.kind
            && let Action::Join { thread, .. } = action
        {
            self.take_endings(Some(thread));
        }
        self.push(at);
    }

    fn push(&mut self, at: usize) {
        if !self.taken.insert(at) {
            return;
        }
        self.order.push(EventIndex(at as u64));
        if let EventKind::Action { action, .. } = self.events[at].kind
            && let Action::Fork { child } = action
        {
            for start in self.starts.remove(&child).unwrap_or_default() {
                self.push(start);
            }
        }
    }

    /// What was put off, of one thread or of all.
    fn take_endings(&mut self, thread: Option<ThreadId>) {
        let mut left: Vec<usize> = match thread {
            Some(thread) => self.endings.remove(&thread).unwrap_or_default(),
            None => {
                let all = std::mem::take(&mut self.endings);
                all.into_values().flatten().collect()
            }
        };
        left.sort_unstable();
        for at in left {
            self.push(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{act, event, read};

    #[test]
    fn threads_start_first_and_end_last() {
        let fork = |child| {
            act(Action::Fork {
                child: ThreadId(child),
            })
        };
        let join = |thread| {
            act(Action::Join {
                thread: ThreadId(thread),
                errno: 0,
            })
        };
        let events = [
            event(0, 0, fork(1)),
            event(0, 1, fork(2)),
            event(1, 0, read(1)),
            event(1, 1, read(2)), // The user's.
            event(1, 2, read(3)),
            event(2, 0, read(4)),
            event(2, 1, read(5)), // The user's.
            event(0, 2, join(1)),
        ];
        let is_own = |index: EventIndex| [0, 1, 3, 6, 7].contains(&index.0);
        let order: Vec<u64> = order(&events, is_own)
            .unwrap()
            .iter()
            .map(|it| it.0)
            .collect();
        assert_eq!(order, [0, 2, 1, 5, 3, 6, 4, 7]);
    }

    #[test]
    fn a_run_that_is_like_this_already_is_not_made_again() {
        let events = [event(0, 0, read(1)), event(1, 0, read(1))];
        assert_eq!(order(&events, |_| true), None);
    }
}
