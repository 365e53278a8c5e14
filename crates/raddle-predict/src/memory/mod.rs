//! Candidates for memory errors between threads.
//!
//! | file | what may happen |
//! | --- | --- |
//! | `freed` | an access comes after another thread's `free` of its object |
//! | `stale` | a thread reads a pointer after another has freed what it points to, and before that one has overwritten it: it would free it again, or use it |
//! | `null` | a pointer is read while it is null, or before it was first written, and then followed |
//!
//! `pointers` finds out which reads are of pointers that their threads follow. A candidate is pruned if
//! certain must-order forbids it, or if both sides are whole regions of one lock in which the thread
//! looked at the pointer first: what remains is for the provers and for a run to decide.
//!
//! An object's accesses, a cell's accesses and the events are each gone through once, but for sorting.

mod freed;
mod null;
mod pointers;
mod regions;
mod stale;
mod stores;

use raddle_trace::event::Event;

use crate::candidate::{Candidate, Candidates};
use crate::clocks::Clocks;
use crate::findings::source_number;
use crate::view::{Pos, View};

use pointers::Pointers;
use regions::Regions;

/// How much is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Ways to each candidate.
    pub ways: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { ways: 4 }
    }
}

/// What every search looks at.
struct Scene<'v> {
    view: &'v View,
    events: &'v [Event],
    clocks: &'v Clocks,
    pointers: Pointers,
    regions: Regions<'v>,
}

impl Scene<'_> {
    /// The event of the trace.
    fn event(&self, pos: Pos) -> &Event {
        &self.events[self.view.event_index(pos).0 as usize]
    }

    /// The instructions of two events.
    fn sources(&self, one: Pos, other: Pos) -> (u64, u64) {
        let source = |pos| source_number(self.view.source(pos));
        (source(one), source(other))
    }

    /// Whether certain must-order has one event before another.
    fn is_before(&self, one: Pos, other: Pos) -> bool {
        self.clocks.before(self.view, one, other)
    }
}

/// The candidates of a view; `events` are what it was made of, `clocks` the certain part of must-order.
#[must_use]
pub fn candidates(
    view: &View,
    events: &[Event],
    clocks: &Clocks,
    limits: Limits,
) -> Vec<Candidate> {
    let mut scene = Scene {
        view,
        events,
        clocks,
        pointers: Pointers::new(view, events),
        regions: Regions::new(view),
    };
    let mut found = Candidates::new(view, limits.ways);
    freed::find(&mut scene, &mut found);
    stale::find(&mut scene, &mut found);
    null::find(&mut scene, &mut found);
    found.into_vec()
}
