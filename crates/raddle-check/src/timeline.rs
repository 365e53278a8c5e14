//! Where each thread's events are in its own time.
//!
//! A guide names the places at which threads stop in *steady ticks*: slots that the thread has written,
//! without those that only say that a lock was not free. Under another schedule the lock may be free, and
//! the thread does the same things at the same steady ticks all the same.

use std::collections::BTreeSet;

use raddle_trace::action::Action;
use raddle_trace::event::{Event, EventKind};
use raddle_trace::ids::{EventIndex, SiteId, ThreadId};

/// The steady tick of the time when a thread cannot go on.
pub const STUCK: u64 = u64::MAX;

/// A recorded run, thread by thread.
#[derive(Debug)]
pub struct Timeline<'t> {
    events: &'t [Event],
    /// By event: its thread's steady tick before it.
    ticks: Vec<u64>,
    /// By event: how many its thread has executed before.
    ranks: Vec<u32>,
    /// By thread: its events.
    threads: Vec<Vec<EventIndex>>,
    /// Sites after which a thread may wait in code that is not traced.
    waits: BTreeSet<SiteId>,
    /// Whether threads that did nothing more were only kept from it, since the run ended early.
    ends_early: bool,
    /// Events right before which their threads did what is not among these events, in order.
    gaps: &'t [EventIndex],
}

impl<'t> Timeline<'t> {
    /// Of a run in memory.
    #[must_use]
    pub fn new(events: &'t [Event]) -> Self {
        let mut timeline = Self {
            events,
            ticks: Vec::with_capacity(events.len()),
            ranks: Vec::with_capacity(events.len()),
            threads: Vec::new(),
            waits: BTreeSet::new(),
            ends_early: false,
            gaps: &[],
        };
        let mut unsteady: Vec<u64> = Vec::new();
        for (index, event) in (0..).map(EventIndex).zip(events) {
            let thread = event.thread.0 as usize;
            if thread >= timeline.threads.len() {
                timeline.threads.resize(thread + 1, Vec::new());
                unsteady.resize(thread + 1, 0);
            }
            let tick = event.tick.0.saturating_sub(unsteady[thread]);
            timeline.ticks.push(tick);
            timeline.ranks.push(timeline.threads[thread].len() as u32);
            timeline.threads[thread].push(index);
            if is_unsteady(&event.kind) {
                unsteady[thread] += event.kind.slots();
            }
        }
        timeline
    }

    /// The same, of a program in which threads may wait in code that is not traced, after the events of these
    /// sites.
    #[must_use]
    pub fn with_waits(self, waits: BTreeSet<SiteId>) -> Self {
        Self { waits, ..self }
    }

    /// The same, of a run that failed while other threads could have gone on.
    #[must_use]
    pub fn that_ends_early(self) -> Self {
        Self {
            ends_early: true,
            ..self
        }
    }

    /// The same, of a run that was thinned: right before these events, in order, something of their threads is missing.
    #[must_use]
    pub fn with_gaps(self, gaps: &'t [EventIndex]) -> Self {
        Self { gaps, ..self }
    }

    /// Whether something of the run is missing between its events.
    #[must_use]
    pub fn has_gaps(&self) -> bool {
        !self.gaps.is_empty()
    }

    /// Whether it is not known what a thread did right before one of its events.
    #[must_use]
    pub fn is_behind_gap(&self, index: EventIndex) -> bool {
        self.gaps.binary_search(&index).is_ok()
    }

    /// Whether a thread may wait in code that is not traced after an event of this or another run of the program.
    #[must_use]
    pub fn may_wait_after(&self, event: &Event) -> bool {
        event.site().is_some_and(|site| self.waits.contains(&site))
    }

    /// The events.
    #[must_use]
    pub fn events(&self) -> &'t [Event] {
        self.events
    }

    /// One of them.
    #[must_use]
    pub fn event(&self, index: EventIndex) -> &'t Event {
        &self.events[index.0 as usize]
    }

    /// How many of its thread's events come before it.
    #[must_use]
    pub fn rank(&self, index: EventIndex) -> usize {
        self.ranks[index.0 as usize] as usize
    }

    /// The threads that did anything.
    #[must_use]
    pub fn threads(&self) -> Vec<ThreadId> {
        let numbered = (0..).map(ThreadId).zip(&self.threads);
        let alive = numbered.filter(|(_, events)| !events.is_empty());
        alive.map(|(thread, _)| thread).collect()
    }

    /// A thread's events.
    #[must_use]
    pub fn of_thread(&self, thread: ThreadId) -> &[EventIndex] {
        self.threads
            .get(thread.0 as usize)
            .map_or(&[], Vec::as_slice)
    }

    /// Its thread's steady tick before an event.
    #[must_use]
    pub fn before(&self, index: EventIndex) -> u64 {
        self.ticks[index.0 as usize]
    }

    /// Its thread's steady tick after an event; [`STUCK`] if the thread did nothing more.
    #[must_use]
    pub fn after(&self, index: EventIndex) -> u64 {
        let event = self.event(index);
        let is_last = self.rank(index) + 1 == self.of_thread(event.thread).len();
        let is_unsteady = is_unsteady(&event.kind);
        match is_last {
            true if is_unsteady || !self.ends_early => STUCK,
            _ if is_unsteady => self.before(index),
            _ => self.before(index) + event.kind.slots(),
        }
    }

    /// A thread's `number`-th step, from 0, of the kind that an event of this or another run is.
    #[must_use]
    pub fn nth_alike(&self, thread: ThreadId, like: &Event, number: usize) -> Option<EventIndex> {
        let events = self.of_thread(thread).iter().copied();
        let mut alike = events.filter(|it| is_same_step(self.event(*it), like));
        alike.nth(number)
    }

    /// How many steps like it its thread has executed before an event.
    #[must_use]
    pub fn number_alike(&self, index: EventIndex) -> usize {
        let event = self.event(index);
        let before = &self.of_thread(event.thread)[..self.rank(index)];
        let alike = before
            .iter()
            .filter(|it| is_same_step(self.event(**it), event));
        alike.count()
    }

    /// What a thread did at a steady tick.
    #[must_use]
    pub fn at(&self, thread: ThreadId, tick: u64) -> Option<EventIndex> {
        let events = self.of_thread(thread);
        // A request that was not granted at once has the tick of what it led to.
        let behind = events.partition_point(|event| self.before(*event) <= tick);
        let found = events[behind.checked_sub(1)?];
        (self.before(found) == tick).then_some(found)
    }
}

/// Whether another schedule might not have the event, though its thread does the same.
#[must_use]
pub fn is_unsteady(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::Action {
            action: Action::Request { tried: false, .. },
            ..
        }
    )
}

/// Whether two events of two runs are the same step of the program, whatever values it saw.
#[must_use]
pub fn is_same_step(one: &Event, other: &Event) -> bool {
    match (&one.kind, &other.kind) {
        (
            EventKind::Action { pc, action },
            EventKind::Action {
                pc: other_pc,
                action: other_action,
            },
        ) => {
            pc == other_pc && std::mem::discriminant(action) == std::mem::discriminant(other_action)
        }
        (one, other) => one.site().is_some() && one.site() == other.site(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{event, lock, read, request};

    #[test]
    fn steady_ticks_do_not_count_that_a_lock_was_not_free() {
        let events = [
            event(0, 0, read(1)),
            event(0, 1, request()),
            event(1, 0, read(1)),
            event(0, 3, lock()),
            event(0, 5, read(2)),
        ];
        let timeline = Timeline::new(&events);
        let ticks: Vec<u64> = (0..5).map(|at| timeline.before(EventIndex(at))).collect();
        assert_eq!(ticks, [0, 1, 0, 1, 3]);
        assert_eq!(timeline.at(ThreadId(0), 1), Some(EventIndex(3)));
        assert_eq!(timeline.at(ThreadId(0), 2), None);
        assert_eq!(timeline.after(EventIndex(3)), 3);
        assert_eq!(timeline.after(EventIndex(4)), STUCK);
        assert_eq!(timeline.that_ends_early().after(EventIndex(4)), 4);
    }

    #[test]
    fn steps_are_found_by_number() {
        let events = [read(1), read(2), read(1), read(1)];
        let events: Vec<Event> = (0..)
            .zip(events)
            .map(|(tick, kind)| event(0, tick, kind))
            .collect();
        let timeline = Timeline::new(&events);
        assert_eq!(timeline.number_alike(EventIndex(3)), 2);
        let second = timeline.nth_alike(ThreadId(0), &events[0], 1);
        assert_eq!(second, Some(EventIndex(2)));
        assert_eq!(timeline.nth_alike(ThreadId(1), &events[0], 0), None);
    }
}
