//! Candidates for deadlocks: threads that may wait for each other, or for what will not come.
//!
//! | file | what may happen |
//! | --- | --- |
//! | `circles` | threads wait for locks that others hold, or for their ends, in a circle |
//! | `waits` | a notification comes before the wait, or from a thread that waits for the waiter |
//! | `readers` | a reader asks again behind a writer that waits for it |
//!
//! A wait that the run itself did not end is a candidate like the others. They are no more than that:
//! whether the threads can get there is for the provers to say, and what comes of it, for a run.

mod circles;
mod knots;
mod pairs;
mod readers;
mod waits;
mod wishes;

use raddle_trace::action::Action;
use raddle_trace::event::{Event, EventKind};

use crate::candidate::{Candidate, Candidates, Way};
use crate::clocks::Clocks;
use crate::view::{Kind, Pos, View};

pub use circles::circles;

/// Threads that may wait for each other: for each of them, the events that it may be stopped before.
pub type Circle = Vec<Vec<Pos>>;

/// How much is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Circles of more than two threads.
    pub circles: usize,
    /// Ways to each candidate.
    pub ways: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            circles: 1000,
            ways: 4,
        }
    }
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The candidates: of circles, one for each set of places at which threads would wait.
    pub candidates: Vec<Candidate>,
    /// Whether the search for circles, or for readers that ask again, ended before it had seen all.
    pub is_cut: bool,
}

/// The candidates of a view; `events` are what it was made of, `clocks` the certain part of must-order.
#[must_use]
pub fn search(view: &View, events: &[Event], clocks: &Clocks, limits: Limits) -> Found {
    let mut found = circles::candidates(view, events, clocks, limits);
    let mut others = Candidates::new(view, limits.ways);
    waits::find(view, events, clocks, &mut others);
    found.is_cut |= !readers::find(view, clocks, &mut others);
    found.candidates.extend(others.into_vec());
    found
}

/// The candidates alone.
#[must_use]
pub fn candidates(
    view: &View,
    events: &[Event],
    clocks: &Clocks,
    limits: Limits,
) -> Vec<Candidate> {
    search(view, events, clocks, limits).candidates
}

/// What the runtime did, if an event is its.
fn action(view: &View, events: &[Event], pos: Pos) -> Option<Action> {
    let index = usize::try_from(view.event_index(pos).0).ok()?;
    match events.get(index)?.kind {
        EventKind::Action { action, .. } => Some(action),
        _ => None,
    }
}

/// Whether one event has happened whenever another is next. A thread that is about to join another does
/// not know that it ended.
fn is_over(view: &View, clocks: &Clocks, one: Pos, next: Pos) -> bool {
    if view.kind(next) != Kind::Join {
        return clocks.before(view, one, next);
    }
    let own = view.lane_events(view.lane(next));
    let before = own.partition_point(|pos| *pos < next).checked_sub(1);
    before.is_some_and(|before| own[before] == one || clocks.before(view, one, own[before]))
}

/// Events that are all next, whatever becomes of them.
fn together(next: &[Pos], then: &[Pos]) -> Way {
    Way {
        goal: crate::goal::Goal::together(next),
        then: then.to_vec(),
        claim: raddle_judge::Claim::Feasible,
    }
}
