//! A trace, prepared once for any number of witnesses.
//!
//! Preparation walks the trace in its own order, the one order that is feasible without proof, and
//! notes what a reordering is compared with: which thread an event belongs to, which object or
//! memory it touches, where each byte read came from. It also runs every rule over the trace. An
//! event that a rule refuses there is *unexplained*: something happened that the events do not show
//! (a robust mutex whose owner died, a wait ended by cancellation). Such an event is not judged by
//! the rule; instead it keeps its place: the events on its object must come exactly as they were
//! recorded, and the threads that acted on the object must have come as far.

mod facts;
mod lines;
mod names;
mod objects;
mod origins;
mod places;
mod ties;

use std::collections::BTreeMap;

use raddle_model::Model;
use raddle_trace::event::Event;
use raddle_trace::file::Trailer;
use raddle_trace::ids::{EventIndex, ThreadId};

use crate::table::Table;

pub use names::EventName;

pub(crate) use facts::{Facts, Failed};
pub(crate) use lines::{LineId, Lines};
pub(crate) use objects::{ObjectId, Objects};
pub(crate) use origins::{Origins, is_copy_from};
pub(crate) use places::{AllocationIndex, Places};
pub(crate) use ties::Tie;

/// A trace that cannot be prepared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadTrace {
    /// More events than the judge numbers.
    #[error("the trace has {0} events, and the judge numbers at most {max}", max = u32::MAX)]
    TooLong(usize),
    /// Program order is given by ticks.
    #[error("event {index}: {thread} is at tick {tick}, behind its event before")]
    Ticks {
        /// Which event.
        index: EventIndex,
        /// Whose.
        thread: ThreadId,
        /// Its tick.
        tick: u64,
    },
}

/// A trace prepared for judging.
#[derive(Debug)]
pub struct Recording<'a> {
    events: &'a [Event],
    tables: Option<&'a Trailer>,
    model: Option<&'a Model>,
    pub(crate) lines: Lines,
    pub(crate) places: Places,
    pub(crate) objects: Objects,
    pub(crate) facts: Facts,
    pub(crate) origins: Origins,
    unexplained: Table<usize, Tie>,
}

impl<'a> Recording<'a> {
    /// Prepares a trace. `tables` give source positions and names, `model` the program's code; both
    /// may be missing, and then less can be said and decided.
    pub fn new(
        events: &'a [Event],
        tables: Option<&'a Trailer>,
        model: Option<&'a Model>,
    ) -> Result<Self, BadTrace> {
        let lines = Lines::new(events)?;
        let places = Places::new(events);
        let objects = Objects::new(events, &places);
        let facts = Facts::new(events, &lines, &objects);
        let mut recording = Self {
            events,
            tables,
            model,
            lines,
            places,
            objects,
            facts,
            origins: Origins::default(),
            unexplained: Table::default(),
        };
        recording.unexplained = ties::find(&recording);
        recording.origins = Origins::new(&recording);
        Ok(recording)
    }

    /// The trace's events.
    #[must_use]
    pub fn events(&self) -> &'a [Event] {
        self.events
    }

    /// The program's model, if there is one.
    #[must_use]
    pub fn model(&self) -> Option<&'a Model> {
        self.model
    }

    /// The trace's tables, if there are any.
    #[must_use]
    pub fn tables(&self) -> Option<&'a Trailer> {
        self.tables
    }

    /// Whether accesses carry the values they read and wrote: imported traces do not.
    #[must_use]
    pub fn has_values(&self) -> bool {
        self.tables.is_none_or(|tables| tables.names.is_none())
    }

    /// The events of each thread, in program order.
    #[must_use]
    pub fn threads(&self) -> BTreeMap<ThreadId, Vec<EventIndex>> {
        let index = |&at: &u32| EventIndex(at.into());
        let threads = self.lines.iter();
        threads
            .map(|(id, events)| (id, events.iter().map(index).collect()))
            .collect()
    }

    /// Orders that hold in every witness and that the kinds of the events do not tell, in order: whoever
    /// executes the second event of a pair has executed the first. They are those of unexplained events
    /// and of reads that show writes that were not recorded.
    #[must_use]
    pub fn hidden_orders(&self) -> Vec<(EventIndex, EventIndex)> {
        ties::orders(self)
    }

    /// Events that no rule explains; see the module's documentation.
    #[must_use]
    pub fn unexplained(&self) -> Vec<EventIndex> {
        let mut found: Vec<_> = self
            .unexplained
            .keys()
            .map(|&at| EventIndex(at as u64))
            .collect();
        found.sort_unstable();
        found
    }

    /// Reads that show writes which were not recorded.
    #[must_use]
    pub fn unseen(&self) -> Vec<EventIndex> {
        self.origins.unseen_reads()
    }

    /// What ties an event that rules cannot explain.
    pub(crate) fn tie(&self, at: usize) -> Option<&Tie> {
        self.unexplained.get(&at)
    }

    pub(crate) fn event(&self, at: usize) -> &'a Event {
        &self.events[at]
    }
}
