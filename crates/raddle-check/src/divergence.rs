//! What a run that left its guide seems to depend on.
//!
//! An order that was proved can fail on the real program where a thread depends on another in a way that
//! leaves no event: a message in a pipe, a file that is there or not. The first step that a thread did not
//! repeat tells which thread that is, and when. What the recorded run had executed before that step, and not
//! after it, is then kept to in the next order, as far as that leaves room for what is sought.

use std::collections::BTreeMap;

use raddle_predict::predictor::Schedule;
use raddle_trace::action::Action;
use raddle_trace::event::{Event, EventKind};
use raddle_trace::ids::{EventIndex, ThreadId};
use raddle_trace::sharing::Private;

use crate::guide::Numbering;
use crate::timeline::{Timeline, is_same_step, is_unsteady};

/// A recorded run, an order of its events, and the run that was to follow it.
#[derive(Clone, Copy)]
pub struct Followed<'a> {
    /// The recorded run.
    pub old: &'a Timeline<'a>,
    /// The other one.
    pub new: &'a Timeline<'a>,
    /// What its threads are called.
    pub numbering: &'a Numbering,
    /// The order, and what it leads to.
    pub schedule: &'a Schedule,
    /// What one of the runs may have been read without.
    pub private: &'a Private,
}

impl Followed<'_> {
    /// Pairs of events of the recorded run, one before the other, that the order has the other way round, or
    /// without the first: those next to the first step that was not repeated. None if all were.
    #[must_use]
    pub fn broken_orders(&self) -> Vec<(EventIndex, EventIndex)> {
        let Some(missed) = self.first_missed() else {
            return Vec::new();
        };
        let old = self.old;
        let thread = old.event(missed).thread;
        let cause = self.cause(missed);
        let done = self.done_before(cause);
        let goals = self.goals();
        let mut pairs = Vec::new();
        for other in old.threads().into_iter().filter(|it| *it != thread) {
            let events = old.of_thread(other);
            let done = done.get(&other).copied().unwrap_or_default();
            let goal = goals.get(&other).copied();
            // What is sought has to stay where it is.
            let needed = events.partition_point(|it| *it < cause);
            let needed = needed.min(goal.unwrap_or(usize::MAX));
            if needed > done {
                pairs.push((events[needed - 1], cause));
            }
            let early = events.partition_point(|it| *it < missed);
            if goal.is_none() && early < done {
                pairs.push((missed, events[early]));
            }
        }
        pairs
    }

    /// The first step of the order that its thread did not do, or did otherwise.
    fn first_missed(&self) -> Option<EventIndex> {
        let mut ends: BTreeMap<ThreadId, usize> = BTreeMap::new();
        let next = self.schedule.next.iter().copied();
        for index in self.schedule.order.iter().chain(next) {
            let end = ends.entry(self.old.event(index).thread).or_default();
            *end = self.old.rank(index).max(*end);
        }
        let missed = ends.into_iter().filter_map(|(thread, end)| {
            let missed = self.first_missed_by(thread, end)?;
            Some((self.time_of(missed), missed))
        });
        missed.min().map(|(_, index)| index)
    }

    /// Whether an event is one that the other run has, too, if its thread does the same.
    fn is_step(&self, event: &Event) -> bool {
        !self.private.has(event) && !is_unsteady(&event.kind)
    }

    fn first_missed_by(&self, thread: ThreadId, end: usize) -> Option<EventIndex> {
        let old = &self.old.of_thread(thread)[..=end];
        let mut new = self
            .numbering
            .of(thread)
            .map_or(&[][..], |it| self.new.of_thread(it))
            .iter()
            .map(|it| self.new.event(*it))
            .filter(|it| self.is_step(it));
        let mut steps = old.iter().filter(|it| self.is_step(self.old.event(**it)));
        steps
            .find(|it| {
                let repeated = new.next();
                repeated.is_none_or(|new| !is_same_step(self.old.event(**it), new))
            })
            .copied()
    }

    /// Where in the order an event is executed: along with the one that its thread has executed there before.
    fn time_of(&self, event: EventIndex) -> usize {
        let thread = self.old.event(event).thread;
        let is_behind = |it: &EventIndex| *it > event && self.old.event(*it).thread == thread;
        let order = self.schedule.order.to_vec();
        let next = order.iter().position(is_behind).unwrap_or(order.len());
        let before = |it: &EventIndex| self.old.event(*it).thread == thread;
        order[..next].iter().rposition(before).unwrap_or(next)
    }

    /// What its thread did last before a step that it did not repeat; if that was a call that may wait, its
    /// beginning.
    fn cause(&self, missed: EventIndex) -> EventIndex {
        let events = self.old.of_thread(self.old.event(missed).thread);
        let before = &events[..self.old.rank(missed)];
        let is = |index: &EventIndex, wanted: Action| matches!(self.old.event(*index).kind, EventKind::Action { action, .. } if action == wanted);
        let last = before.last().copied().unwrap_or(missed);
        match is(&last, Action::Unblock) {
            true => before
                .iter()
                .rev()
                .find(|it| is(it, Action::Block))
                .copied()
                .unwrap_or(last),
            false => last,
        }
    }

    /// How many of their events threads have executed in the order before an event comes.
    fn done_before(&self, event: EventIndex) -> BTreeMap<ThreadId, usize> {
        let order = self.schedule.order.to_vec();
        let (before, behind) = order.split_at(self.time_of(event));
        let mut done: BTreeMap<ThreadId, usize> = BTreeMap::new();
        for index in before {
            done.insert(self.old.event(*index).thread, self.old.rank(*index) + 1);
        }
        // What the order does not name is executed along with what it names before.
        for index in behind.iter().chain(&self.schedule.next).rev() {
            let thread = self.old.event(*index).thread;
            if let Some(done) = done.get_mut(&thread) {
                *done = self.old.rank(*index);
            }
        }
        done
    }

    /// By thread: the last event that is sought of it.
    fn goals(&self) -> BTreeMap<ThreadId, usize> {
        let mut goals: BTreeMap<ThreadId, usize> = BTreeMap::new();
        let claimed = self.schedule.claim.telling_events();
        for index in claimed.iter().chain(&self.schedule.next) {
            let goal = goals.entry(self.old.event(*index).thread).or_default();
            *goal = self.old.rank(*index).max(*goal);
        }
        goals
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guide::{Alignment, Guide};
    use crate::testing::{act, event, fork, read, write};
    use raddle_judge::Claim;
    use raddle_predict::predictor::Method;
    use raddle_trace::event::Event;

    /// T1 sends two messages; T2 receives one and writes, T3 receives the other and reads.
    fn recorded() -> Vec<Event> {
        let mut events: Vec<Event> = (1..=3)
            .map(|child| event(0, u64::from(child) * 2 - 2, fork(child)))
            .collect();
        events.extend([
            event(1, 0, act(Action::Block)),
            event(1, 1, act(Action::Unblock)),
        ]);
        for (thread, access) in [(2, write(7)), (3, read(8))] {
            events.extend([
                event(thread, 0, act(Action::Block)),
                event(thread, 1, act(Action::Unblock)),
                event(thread, 2, access),
            ]);
        }
        events
    }

    const WRITE: EventIndex = EventIndex(7);
    const READ: EventIndex = EventIndex(10);

    fn schedule(order: &[u64]) -> Schedule {
        let (a, b) = (WRITE, READ);
        Schedule::new(
            Method::SyncPreserving,
            order.iter().copied().map(EventIndex).collect(),
            vec![a, b],
            Claim::Race { a, b },
        )
    }

    fn broken(order: &[u64], run: &[Event]) -> Vec<(u64, u64)> {
        let events = recorded();
        let (old, new) = (Timeline::new(&events), Timeline::new(run));
        let schedule = schedule(order);
        let guide = Guide::new(&old, &schedule.order.to_vec(), &schedule.next);
        let (_, numbering) = guide.switches(&old, &Alignment::default()).unwrap();
        let followed = Followed {
            old: &old,
            new: &new,
            numbering: &numbering,
            schedule: &schedule,
            private: &Private::default(),
        };
        let pairs = followed.broken_orders().into_iter();
        pairs.map(|(one, other)| (one.0, other.0)).collect()
    }

    #[test]
    fn a_thread_that_received_nothing_is_kept_behind_what_came_before_it() {
        let order = [0, 1, 2, 5, 6, 8, 9];
        let mut run = recorded();
        run.retain(|it| it.thread != ThreadId(1));
        run.retain(|it| !matches!(it.kind, EventKind::Write(_) | EventKind::Read(_)));
        assert_eq!(
            broken(&order, &run),
            [(4, 5)],
            "T1 has sent before T2 begins to receive; T3 has yet to come to its read"
        );
    }

    #[test]
    fn nothing_is_broken_by_a_run_that_followed() {
        assert_eq!(broken(&[0, 1, 2, 3, 4, 5, 6, 8, 9], &recorded()), []);
    }

    #[test]
    fn what_comes_too_early_is_kept_behind() {
        let mut run = recorded();
        run.retain(|it| !matches!(it.kind, EventKind::Write(_)));
        let events = [0, 1, 2, 3, 4, 8, 9, 5, 6];
        assert_eq!(
            broken(&events, &run),
            [],
            "T3 is one of those that the race is between, and has to come before"
        );
    }
}
