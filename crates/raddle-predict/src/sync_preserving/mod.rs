//! Sync-preserving races: sound, found in nearly linear time.
//!
//! Mathur, Pavlogiannis, Viswanathan, "Optimal prediction of synchronization-preserving races",
//! POPL 2021. A reordering is sync-preserving if critical sections on one lock that both happen
//! keep their order. Two accesses race in such a reordering exactly if neither is in their *ideal*:
//! the least set of events with all that comes before the two in their threads, all that any event
//! in it takes a value from or must come after, and the release of each acquisition in it that comes
//! before another one of the same lock in it. The ideal in trace order is the witness.
//!
//! What differs from the paper:
//!
//! - read/write locks: only acquisitions that exclude each other bring in the release;
//! - must-order edges (see [`crate::view::EdgeKind`]), conservative ones too, close the ideal;
//! - an access may touch several cells, and take its value from several writes;
//! - a read-modify-write races with a read only while it finds the value that it found;
//! - an inlined lock's word justifies itself, see [`crate::reads_from`];
//! - a race is looked for between every two instructions, not only for each later access, and the
//!   search for a pair ends with its first race;
//! - an ideal is not closed further than needed to see that an access is in it, and the work on a
//!   pair of instructions is limited.
//!
//! The same closure answers other questions:
//!
//! - a [`Goal`]: see [`SyncPreserving::reach`], which goes a little further than sync-preserving
//!   reorderings;
//! - deadlocks: see [`SyncPreserving::deadlock`].
//!
//! Every race is real if the program does the same for the same values, and if the trace explains
//! itself: events that no rule of synchronisation allows and values that nobody wrote are not seen
//! here, so a witness from such a trace may be refused. What may be missed: races
//! that need critical sections in another order, or reads that see another write.

mod deadlocks;
mod frontier;
mod ideal;
mod kept;
mod layers;
mod locks;
mod reach;
mod sweep;
mod trial;

use std::time::Instant;

use raddle_trace::ids::EventIndex;

use crate::candidate::{Candidate, Way};
use crate::clocks::{Clock, Clocks};
use crate::goal::{Goal, Reached};
use crate::reads_from::reads_from;
use crate::view::{EdgeKind, Pos, View};

use locks::LockTable;

pub use deadlocks::Deadlock;
pub use ideal::Ideal;

/// A race with its witness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// The earlier access in the trace.
    pub a: Pos,
    /// The later one.
    pub b: Pos,
    /// What is executed before the two.
    pub ideal: Ideal,
}

/// The races found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Races {
    /// One for each pair of instructions that have one, in the order of cells.
    pub races: Vec<Race>,
    /// Pairs of instructions without a race of which not all accesses were looked at, because it
    /// would have taken too long.
    pub cut_pairs: usize,
    /// Cells that were not looked at, for want of time.
    pub cut_cells: usize,
}

/// A candidate that can happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// Which way.
    pub way: Way,
    /// These events, executed in this order, lead there: the kept ones of the view.
    pub order: Vec<EventIndex>,
}

/// A view prepared for the search.
#[derive(Debug)]
pub struct SyncPreserving<'v> {
    view: &'v View,
    /// Program order, must-order, and who reads from whom.
    order: Clocks,
    locks: LockTable,
}

impl<'v> SyncPreserving<'v> {
    /// Prepares a view.
    #[must_use]
    pub fn new(view: &'v View) -> Self {
        let must = view.edges().iter().map(|edge| (edge.from, edge.to));
        let edges = merge_by_end(must, reads_from(view).into_iter());
        Self {
            view,
            order: Clocks::new(view, edges),
            locks: LockTable::new(view),
        }
    }

    /// Looks for a race of each pair of instructions.
    #[must_use]
    pub fn races(&self) -> Races {
        self.races_until(None)
    }

    /// The same, no longer than until some time.
    #[must_use]
    pub fn races_until(&self, until: Option<Instant>) -> Races {
        sweep::races(self, until)
    }

    /// The witness of a race between two accesses, if they have a sync-preserving one.
    #[must_use]
    pub fn race(&self, a: Pos, b: Pos) -> Option<Race> {
        let view = self.view;
        let (a, b) = (a.min(b), a.max(b));
        let overlap = view
            .cells_of(a)
            .any(|cell| view.cells_of(b).any(|other| cell == other));
        if view.lane(a) == view.lane(b) || !view.conflict(a, b) || !overlap {
            return None;
        }
        if !ideal::is_candidate(view, a) || !ideal::is_candidate(view, b) {
            return None;
        }
        let mut closure = ideal::Closure::new(self);
        let is_race = closure.raise(a, b) == ideal::Outcome::Race;
        is_race.then(|| Race {
            a,
            b,
            ideal: closure.ideal(),
        })
    }

    /// An order that reaches a goal, if the events that it names can be brought there by executing
    /// what they need and nothing else.
    ///
    /// Most of the order is a sync-preserving ideal in trace order. What the goal wants later than the
    /// trace has it follows as one or more *layers*, each in trace order again, so that here critical
    /// sections may change places; see `layers.rs`. [`Reached::Never`] says only that no such order
    /// leads there.
    #[must_use]
    pub fn reach(&self, goal: &Goal) -> Reached {
        reach::reach(self, goal)
    }

    /// Whether an order of events keeps the order of critical sections. [`Self::reach`] finds others, too.
    #[must_use]
    pub fn is_preserving(&self, order: &[EventIndex]) -> bool {
        kept::keeps_sections(self.view, order)
    }

    /// What no reordering changes here: program order, must-order, and reads-from.
    pub(crate) fn order(&self) -> &Clocks {
        &self.order
    }

    /// The first way to a candidate that can be gone.
    #[must_use]
    pub fn prove(&self, candidate: &Candidate) -> Option<Proof> {
        let mut circles = candidate.circles.iter();
        if let Some(deadlock) = circles.find_map(|circle| self.deadlock(circle)) {
            return Some(Proof {
                way: Way::of_circle(self.view, &deadlock.events),
                order: deadlock.order,
            });
        }
        candidate
            .ways
            .iter()
            .find_map(|way| match self.reach(&way.goal) {
                Reached::By(order) => Some(Proof {
                    way: way.clone(),
                    order,
                }),
                Reached::Never | Reached::Unknown => None,
            })
    }

    /// Joins what is executed before an event can be next: all that comes before it in its thread, and
    /// what it must come after, unless it waits for just that.
    fn approach(&self, pos: Pos, into: &mut Clock) {
        self.order.join_before(self.view, pos, into);
        let edges = self.view.edges_to(pos).iter();
        for edge in edges.filter(|edge| !is_awaited(edge.kind)) {
            self.order.join(self.view, edge.from, into);
        }
    }
}

/// Whether whoever is about to execute the end of such an edge may be waiting for its beginning.
fn is_awaited(kind: EdgeKind) -> bool {
    matches!(
        kind,
        EdgeKind::Join
            | EdgeKind::Notify
            | EdgeKind::Semaphore
            | EdgeKind::Barrier
            | EdgeKind::Once
            | EdgeKind::Futex
    )
}

impl Race {
    /// What is executed before the two accesses, in order: the kept events of it.
    #[must_use]
    pub fn witness(&self, view: &View) -> Vec<EventIndex> {
        self.ideal.events(view)
    }
}

/// Two lists of edges, each by ascending ends, as one.
fn merge_by_end(
    left: impl Iterator<Item = (Pos, Pos)>,
    right: impl Iterator<Item = (Pos, Pos)>,
) -> impl Iterator<Item = (Pos, Pos)> {
    let (mut left, mut right) = (left.peekable(), right.peekable());
    std::iter::from_fn(move || match (left.peek(), right.peek()) {
        (Some((_, a)), Some((_, b))) if a <= b => left.next(),
        (Some(_), None) => left.next(),
        _ => right.next(),
    })
}
