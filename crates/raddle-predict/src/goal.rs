//! What an order of events has to lead to: the terms in which candidates are put to the provers.

use raddle_trace::ids::EventIndex;

use crate::view::{Pos, View};

/// A place in some reordering of the trace that an analysis wants to get to.
///
/// A reordering executes a prefix of each thread's events. It reaches the goal if it executes the events of
/// `in_order`, in that order, and none of `next`, which are then the first that it leaves in their threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Goal {
    /// Events that are executed, one before the other. Whatever the last event of a thread reads, it is executed.
    pub in_order: Vec<Pos>,
    /// Events of different threads that are all next.
    pub next: Vec<Pos>,
    /// What one of the next events would read.
    pub sees: Option<Sees>,
}

/// A next read would find in every cell what this write left there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sees {
    /// The read.
    pub read: Pos,
    /// The write; none: what the cell held in the beginning, or since its object was made.
    pub write: Option<Pos>,
}

/// What became of a goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reached {
    /// These events, executed in this order, lead there: the kept ones of the view, and others where an
    /// order that the view does not show has to be kept.
    By(Vec<EventIndex>),
    /// No reordering that the analysis looks at leads there.
    Never,
    /// The analysis gave up.
    Unknown,
}

impl Goal {
    /// All of these are next at the same time: two accesses, which then race; acquisitions in a circle, which
    /// then deadlock.
    #[must_use]
    pub fn together(events: &[Pos]) -> Self {
        Self {
            next: events.to_vec(),
            ..Self::default()
        }
    }

    /// These are executed, one before the other.
    #[must_use]
    pub fn in_order(events: &[Pos]) -> Self {
        Self {
            in_order: events.to_vec(),
            ..Self::default()
        }
    }

    /// The events that it names.
    pub fn events(&self) -> impl Iterator<Item = Pos> {
        let sees = self.sees.iter();
        let seen = sees.flat_map(|it| [Some(it.read), it.write].into_iter().flatten());
        let named = self.in_order.iter().chain(&self.next).copied();
        named.chain(seen)
    }

    /// The first and the last event that it names, in the trace; none if it names none.
    #[must_use]
    pub fn span(&self) -> Option<(Pos, Pos)> {
        let first = self.events().min()?;
        Some((first, self.events().max()?))
    }

    /// Whether it asks for nothing that program order forbids at first sight: next events are of different
    /// threads, and what is executed of such a thread comes before it.
    #[must_use]
    pub fn is_sensible(&self, view: &View) -> bool {
        let next = &self.next;
        let distinct = next.iter().enumerate().all(|(at, one)| {
            let others = &next[at + 1..];
            others
                .iter()
                .all(|other| view.lane(*other) != view.lane(*one))
        });
        let executed = &self.in_order;
        let before = executed.iter().all(|event| {
            next.iter()
                .all(|one| view.lane(*one) != view.lane(*event) || event < one)
        });
        let ordered = executed.iter().enumerate().all(|(at, one)| {
            executed[at + 1..]
                .iter()
                .all(|later| view.lane(*later) != view.lane(*one) || one < later)
        });
        distinct && before && ordered
    }
}
