//! From an order of events to a schedule that a run can be asked to follow.
//!
//! A guide is a list of steps: this thread runs until it is right before, or right behind, that event of
//! the recorded run. What no analysis kept of a thread's events comes along with the event after it.

use std::collections::BTreeMap;

use raddle_trace::action::Action;
use raddle_trace::event::EventKind;
use raddle_trace::ids::{EventIndex, ThreadId};
use raddle_trace::wire::{self, SwitchReason};

use crate::observe::Guided;
use crate::timeline::{STUCK, Timeline};

/// How far a thread runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// This event is its next.
    Before(EventIndex),
    /// This event is its last.
    After(EventIndex),
    /// It cannot go on.
    Stuck,
}

/// A thread runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Which, as the recorded run calls it.
    pub thread: ThreadId,
    /// How far.
    pub until: Until,
}

/// A schedule in terms of a recorded run. The thread of the last step goes on behind it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guide {
    /// Its steps.
    pub steps: Vec<Step>,
}

/// What the threads of the recorded run are called in a guided one: threads are numbered as they are
/// created.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbering(BTreeMap<ThreadId, ThreadId>);

impl Numbering {
    /// A thread's number in the guided run; none if the guide does not say who creates it.
    #[must_use]
    pub fn of(&self, thread: ThreadId) -> Option<ThreadId> {
        self.0.get(&thread).copied()
    }

    /// What the threads of the run that has these numbers are called in another one guided from the same run.
    #[must_use]
    pub fn to(&self, other: &Numbering) -> Numbering {
        let both = self
            .0
            .iter()
            .filter_map(|(recorded, here)| Some((*here, other.of(*recorded)?)));
        Numbering(both.collect())
    }

    /// So many threads that are called the same in both runs.
    #[cfg(test)]
    pub(crate) fn same(count: u32) -> Numbering {
        let threads = (0..count).map(ThreadId);
        Numbering(threads.map(|it| (it, it)).collect())
    }

    /// The same from the other run's side.
    #[must_use]
    pub fn reversed(&self) -> Numbering {
        let pairs = self.0.iter();
        Numbering(pairs.map(|(one, other)| (*other, *one)).collect())
    }
}

impl Guide {
    /// Executes these events in this order, and no further: then each of `next` is the next event of its
    /// thread.
    #[must_use]
    pub fn new(timeline: &Timeline<'_>, order: &[EventIndex], next: &[EventIndex]) -> Self {
        let thread_of = |index: EventIndex| timeline.event(index).thread;
        let mut following: BTreeMap<ThreadId, EventIndex> = next
            .iter()
            .map(|index| (thread_of(*index), *index))
            .collect();
        let mut steps = Vec::new();
        for &index in order.iter().rev() {
            let thread = thread_of(index);
            let later = following.insert(thread, index);
            let is_run = steps
                .last()
                .is_some_and(|step: &Step| step.thread == thread);
            if !is_run {
                let until = later.map_or(Until::After(index), Until::Before);
                steps.push(Step { thread, until });
            }
        }
        steps.reverse();
        // A thread of which nothing was kept before the event has still to get there.
        for &index in next {
            let thread = thread_of(index);
            if following[&thread] == index {
                let until = Until::Before(index);
                steps.push(Step { thread, until });
            }
        }
        Self { steps }
    }

    /// The same with more steps behind.
    #[must_use]
    pub fn then(mut self, steps: impl IntoIterator<Item = Step>) -> Self {
        self.steps.extend(steps);
        self
    }

    /// The switches that make a run follow it; none if it runs a thread that nobody has created. From a thread to itself
    /// it is none: it says how far the thread goes before others may go on if it has to wait for a while.
    #[must_use]
    pub fn switches(
        &self,
        timeline: &Timeline<'_>,
        alignment: &Alignment,
    ) -> Option<(Vec<wire::Switch>, Numbering)> {
        let numbering = self.numbering(timeline);
        let mut switches: Vec<wire::Switch> = Vec::new();
        let mut running = (ThreadId(0), 0);
        for (at, step) in self.steps.iter().enumerate() {
            let thread = numbering.of(step.thread)?;
            if thread != running.0 || (at > 0 && running.1 != STUCK) {
                switches.push(preempt(running, thread));
            }
            running = (thread, alignment.tick(timeline, step.until));
        }
        if running.1 != STUCK {
            switches.push(preempt(running, running.0));
        }
        Some((switches, numbering))
    }

    fn numbering(&self, timeline: &Timeline<'_>) -> Numbering {
        let mut numbers = BTreeMap::from([(ThreadId(0), ThreadId(0))]);
        let mut progress: BTreeMap<ThreadId, usize> = BTreeMap::new();
        for step in &self.steps {
            let events = timeline.of_thread(step.thread);
            let end = match step.until {
                Until::Before(index) => timeline.rank(index),
                Until::After(index) => timeline.rank(index) + 1,
                Until::Stuck => events.len(),
            };
            let done = progress.entry(step.thread).or_default();
            for &index in events.get(*done..end).unwrap_or_default() {
                if let EventKind::Action {
                    action: Action::Fork { child },
                    ..
                } = timeline.event(index).kind
                {
                    let number = ThreadId(numbers.len() as u32);
                    numbers.entry(child).or_insert(number);
                }
            }
            *done = end.max(*done);
        }
        Numbering(numbers)
    }
}

/// A thread has come to a tick, and another one goes on.
fn preempt((from, tick): (ThreadId, u64), to: ThreadId) -> wire::Switch {
    wire::Switch {
        tick,
        from: from.0,
        to: to.0,
        reason: SwitchReason::Preempted as u32,
        site: u32::MAX,
    }
}

/// When the steps of a guide end in a run that is not quite like the recorded one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alignment {
    /// Steady ticks before events of the recorded run, and behind them, where they are others.
    moved: BTreeMap<EventIndex, (u64, u64)>,
}

impl Alignment {
    fn tick(&self, timeline: &Timeline<'_>, until: Until) -> u64 {
        let (Until::Before(index) | Until::After(index)) = until else {
            return STUCK;
        };
        let recorded = || (timeline.before(index), timeline.after(index));
        let moved = self.moved.get(&index).copied();
        let (before, after) = moved.unwrap_or_else(recorded);
        match until {
            Until::After(_) => after,
            _ => before,
        }
    }

    /// Takes note of the first step that ended elsewhere than it should have, in a run that followed the
    /// guide so far; false if there is none.
    pub fn correct(&mut self, guide: &Guide, run: &Guided<'_>) -> bool {
        for step in &guide.steps {
            let (Until::Before(index) | Until::After(index)) = step.until else {
                continue;
            };
            let Some(found) = run.find(index) else {
                continue;
            };
            let after = Until::After(index);
            let known = (
                self.tick(run.old, Until::Before(index)),
                self.tick(run.old, after),
            );
            let seen = (run.new.before(found), run.new.after(found));
            let differs = match step.until {
                Until::After(_) => known.1 != seen.1,
                _ => known.0 != seen.0,
            };
            if differs {
                self.moved.insert(index, seen);
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{event, fork, read, write};
    use raddle_trace::event::Event;

    /// Main starts two threads, each of which reads and writes.
    fn run() -> Vec<Event> {
        vec![
            event(0, 0, fork(1)),
            event(0, 2, fork(2)),
            event(1, 0, read(1)),
            event(1, 1, write(2)),
            event(2, 0, read(1)),
            event(2, 1, write(2)),
        ]
    }

    fn indices(numbers: &[u64]) -> Vec<EventIndex> {
        numbers.iter().copied().map(EventIndex).collect()
    }

    fn ticks(guide: &Guide, events: &[Event]) -> Vec<(u32, u64, u32)> {
        let timeline = Timeline::new(events);
        let (switches, _) = guide.switches(&timeline, &Alignment::default()).unwrap();
        let told = switches.iter().map(|it| (it.from, it.tick, it.to));
        told.collect()
    }

    #[test]
    fn an_order_becomes_steps_that_end_before_the_next_event() {
        let events = run();
        let timeline = Timeline::new(&events);
        let guide = Guide::new(&timeline, &indices(&[0, 1, 2, 4]), &indices(&[3, 5]));
        assert_eq!(
            ticks(&guide, &events),
            [(0, STUCK, 1), (1, 1, 2), (2, 1, 2)],
            "T2, which comes last, goes on"
        );
        let both = guide.then([Step {
            thread: ThreadId(1),
            until: Until::After(EventIndex(3)),
        }]);
        assert_eq!(ticks(&both, &events), [(0, STUCK, 1), (1, 1, 2), (2, 1, 1)]);
    }

    #[test]
    fn threads_of_which_nothing_was_kept_get_to_their_event() {
        let events = run();
        let timeline = Timeline::new(&events);
        let guide = Guide::new(&timeline, &indices(&[0, 1]), &indices(&[3, 5]));
        assert_eq!(
            ticks(&guide, &events),
            [(0, STUCK, 1), (1, 1, 2), (2, 1, 2)]
        );
    }

    #[test]
    fn threads_are_numbered_as_the_guide_creates_them() {
        let events = [
            event(0, 0, fork(1)),
            event(0, 2, fork(2)),
            event(1, 0, fork(3)),
            event(2, 0, fork(4)),
            event(3, 0, read(1)),
            event(4, 0, read(1)),
        ];
        let timeline = Timeline::new(&events);
        let guide = Guide::new(&timeline, &indices(&[0, 1, 3, 5, 2, 4]), &[]);
        let (_, numbering) = guide.switches(&timeline, &Alignment::default()).unwrap();
        assert_eq!(numbering.of(ThreadId(4)), Some(ThreadId(3)));
        assert_eq!(numbering.of(ThreadId(3)), Some(ThreadId(4)));
        assert_eq!(numbering.of(ThreadId(5)), None);
    }

    #[test]
    fn a_thread_that_nobody_creates_cannot_be_run() {
        let events = run();
        let timeline = Timeline::new(&events);
        let guide = Guide::new(&timeline, &indices(&[2]), &[]);
        assert_eq!(guide.switches(&timeline, &Alignment::default()), None);
    }
}
