//! Schedules that make a predicted anomaly happen (PECAN, section 6).
//!
//! Algorithms 3 and 4, made general. What a pattern's events do not depend on is executed as in the
//! trace, up to the last of them. Each thread of the pattern stops before its first event, or, so that
//! its locks move with it, before the acquisition of the outermost lock that protects the event; what
//! depends on that stops too. Then the threads' visits are made in the pattern's order. Between two visits
//! a thread stops at a gap v_x into which the events in between fit. What follows the last event is left
//! out.
//!
//! The paper moves nodes and leaves it to re-execution to find out that a schedule violates a lock. Here
//! events are executed one by one on a state of locks and must-order. An event that has to wait for
//! another thread first lets that thread come as far as needed: to the event that must be before, or to
//! the release of a lock. If that thread may not go on, there is no schedule of this form. Which threads
//! stop before their locks and which at the events themselves is tried in a few ways, the paper's first,
//! and whether a thread also stops when it would read what another event wrote than in the trace. A thread
//! that waits to be notified may have to stop while it does, and who notifies it has to let it wait first.
//!
//! Values are not looked at: a thread may read something else and go another way, which the execution
//! of the schedule shows. Of several schedules the one is taken in which the fewest reads change.

use raddle_trace::ids::EventIndex;

use super::execution::{Run, Waits, writers};
use super::join::first_fit;
use super::language::Shape;
use super::stretches::{Gap, Mutations, Stretches};
use crate::clocks::Clocks;
use crate::view::{Lane, Pos, View};

/// An order of kept events in which the given ones, which end it, come in their order; at once, with
/// nothing in between, if they are to be adjacent. None if locks or must-order forbid what was tried.
#[must_use]
pub fn schedule(
    view: &View,
    order: &Clocks,
    events: &[Pos],
    shape: Shape,
) -> Option<Vec<EventIndex>> {
    let early = visits(view, order, events, shape, At::First)?;
    let late = visits(view, order, events, shape, At::Last).filter(|late| *late != early);
    let latest = *events.iter().max()?;
    let waits = Waits::new(view);
    let latest_lane = view.lane(latest);
    let writers = writers(view);
    let stops: [&dyn Fn(Lane) -> bool; 3] = [&|lane| lane != latest_lane, &|_| true, &|_| false];
    let stops = stops.into_iter();
    let mut best: Option<Run<'_, '_>> = None;
    // A thread that would be notified before it waits might wait for ever.
    for awaits_waiters in [waits.has_waiters(), false] {
        let all_visits = std::iter::once(&early).chain(&late);
        for visits in all_visits {
            for by_value in [false, true] {
                for with_lock in stops.clone() {
                    if best.as_ref().is_some_and(|best| best.changed == 0) {
                        break;
                    }
                    let mut run = Run::new(view, order, &waits, &writers);
                    run.awaits_waiters = awaits_waiters;
                    let dependent = run.stop(visits, with_lock);
                    run.follow_trace(latest, &dependent, by_value);
                    let is_possible = run.visit(visits, shape).is_ok();
                    if is_possible && best.as_ref().is_none_or(|it| run.changed < it.changed) {
                        best = Some(run);
                    }
                }
            }
        }
        if best.is_some() || !awaits_waiters {
            break;
        }
    }
    let executed = best?.executed.into_iter();
    Some(executed.map(|pos| view.event_index(pos)).collect())
}

/// Steps of one thread that follow each other in the pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Visit {
    pub(super) lane: Lane,
    pub(super) first: Pos,
    pub(super) last: Pos,
    /// Where the thread stops until its next visit: an event that it does not execute.
    pub(super) until: Option<Pos>,
}

/// Which of the gaps that others fit into a thread stops at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    First,
    /// The last one that all of them fit into.
    Last,
}

fn visits(
    view: &View,
    order: &Clocks,
    events: &[Pos],
    shape: Shape,
    at_gap: At,
) -> Option<Vec<Visit>> {
    let mut visits: Vec<Visit> = Vec::new();
    for &pos in events {
        let lane = view.lane(pos);
        match visits.last_mut() {
            Some(visit) if visit.lane == lane && visit.last < pos => visit.last = pos,
            _ => visits.push(Visit {
                lane,
                first: pos,
                last: pos,
                until: None,
            }),
        }
    }
    if shape == Shape::Adjacent && visits.len() != events.len() {
        return None;
    }
    let mut mutations = Mutations::new(view, order);
    let stretches = Stretches::new(view);
    let mut gaps: Vec<Gap> = Vec::new();
    for at in 0..visits.len() {
        let next = visits[at + 1..]
            .iter()
            .position(|it| it.lane == visits[at].lane);
        let Some(next) = next.map(|between| at + 1 + between) else {
            continue;
        };
        let (first, last) = (visits[at].last, visits[next].first);
        if first >= last {
            return None;
        }
        stretches.gaps(view, first, last, &mut gaps);
        let between = visits[at + 1..next]
            .iter()
            .flat_map(|it| [it.first, it.last]);
        let between: Vec<Pos> = between.collect();
        let gap = match at_gap {
            At::First => gaps[first_fit(&mut mutations, &between, &gaps)?],
            At::Last => *gaps.iter().rev().find(|gap| {
                let mut between = between.iter();
                between.all(|&event| mutations.fits(event, **gap))
            })?,
        };
        visits[at].until = Some(next_of(view, gap.after)?);
    }
    Some(visits)
}

/// The next event of a thread.
fn next_of(view: &View, pos: Pos) -> Option<Pos> {
    let own = view.lane_events(view.lane(pos));
    own.get(own.partition_point(|it| *it <= pos)).copied()
}
