//! An order of events, kept short where it is the trace's.
//!
//! Orders that prove something execute most of the trace up to where it happens. Hundreds of them are kept at a time,
//! and what they have in common is kept once: the kept events of a view in trace order, of which each order says how
//! many it begins with.

use std::sync::Arc;

use raddle_trace::ids::EventIndex;

/// An order of events.
#[derive(Clone, Debug, Default)]
pub struct Order {
    /// Events in trace order, of which it begins with the first `shared`.
    kept: Arc<[EventIndex]>,
    shared: usize,
    rest: Vec<EventIndex>,
}

impl Order {
    /// An order that begins with as many of these events as it can.
    pub(crate) fn sharing(kept: &Arc<[EventIndex]>, events: &[EventIndex]) -> Self {
        let same = events.iter().zip(kept.iter());
        let shared = same.take_while(|(one, other)| one == other).count();
        Self {
            kept: kept.clone(),
            shared,
            rest: events[shared..].to_vec(),
        }
    }

    /// An order of the first so many of these events and some others.
    pub(crate) fn new(kept: &Arc<[EventIndex]>, shared: usize, rest: Vec<EventIndex>) -> Self {
        Self {
            kept: kept.clone(),
            shared,
            rest,
        }
    }

    /// How many events of the trace it begins with, if all that one thread does by itself is executed along.
    #[must_use]
    pub fn start(&self) -> usize {
        let last = self.kept[..self.shared].last();
        last.map_or(0, |last| last.0 as usize + 1)
    }

    /// What comes after its start.
    #[must_use]
    pub fn rest(&self) -> &[EventIndex] {
        &self.rest
    }

    /// All of its events.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = EventIndex> + '_ {
        let shared = self.kept[..self.shared].iter();
        shared.chain(&self.rest).copied()
    }

    /// The same as a list.
    #[must_use]
    pub fn to_vec(&self) -> Vec<EventIndex> {
        self.iter().collect()
    }
}

impl PartialEq for Order {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Order {}

impl From<Vec<EventIndex>> for Order {
    fn from(rest: Vec<EventIndex>) -> Self {
        Self {
            rest,
            ..Self::default()
        }
    }
}
