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

//!
//! All schedules of a view share what is known of it, and the state that the trace comes to before the first
//! thread stops. Ways that stop the threads at the same events are tried once.

use raddle_trace::ids::EventIndex;

use super::execution::{Followed, Run, Waits, writers};
use super::join::first_fit;
use super::language::Shape;
use super::rehearsal::Rehearsal;
use super::stretches::{Gap, Mutations, Stretches};
use crate::clocks::Clocks;
use crate::view::{Lane, Pos, View};

/// An order of kept events in which the given ones, which end it, come in their order; see [`Scheduler`].
#[must_use]
pub fn schedule(
    view: &View,
    order: &Clocks,
    events: &[Pos],
    shape: Shape,
) -> Option<Vec<EventIndex>> {
    Scheduler::new(view, order).schedule(events, shape)
}

/// A view, prepared for many schedules.
pub struct Scheduler<'v> {
    view: &'v View,
    order: &'v Clocks,
    waits: Waits<'v>,
    writers: Vec<u64>,
    stretches: Stretches,
    rehearsal: Rehearsal<'v>,
}

impl<'v> Scheduler<'v> {
    /// Prepares a view. `order` is what no schedule may break.
    #[must_use]
    pub fn new(view: &'v View, order: &'v Clocks) -> Self {
        let waits = Waits::new(view);
        let writers = writers(view);
        Self {
            view,
            order,
            rehearsal: Rehearsal::new(view, order, &waits, &writers),
            waits,
            writers,
            stretches: Stretches::new(view),
        }
    }

    /// An order of kept events in which the given ones, which end it, come in their order; at once, with
    /// nothing in between, if they are to be adjacent. None if locks or must-order forbid what was tried.
    #[must_use]
    pub fn schedule(&self, events: &[Pos], shape: Shape) -> Option<Vec<EventIndex>> {
        let early = self.visits(events, shape, At::First)?;
        let late = self.visits(events, shape, At::Last);
        let late = late.filter(|late| *late != early);
        let latest = *events.iter().max()?;
        let sought = Sought {
            stops: self.stops(&early, latest),
            visits: std::iter::once(early).chain(late).collect(),
            shape,
            latest,
        };
        // A thread that would be notified before it waits might wait for ever.
        let best = match self.waits.has_waiters() {
            true => self.best(&sought, true),
            false => None,
        };
        let best = best.or_else(|| self.best(&sought, false))?;
        let executed = best.into_executed();
        Some(executed.map(|pos| self.view.event_index(pos)).collect())
    }

    /// The run in which the fewest reads change, the first of them.
    fn best(&self, sought: &Sought, awaits_waiters: bool) -> Option<Run<'_, 'v>> {
        let of_stops = |by_value| sought.stops.iter().map(move |stops| (by_value, stops));
        let ways: Vec<_> = of_stops(false).chain(of_stops(true)).collect();
        let mut best: Option<Run<'_, 'v>> = None;
        // By way: where the trace led to, if it may lead to something better.
        let mut followed: Vec<Option<Followed<'_, 'v>>> = Vec::new();
        for visits in &sought.visits {
            for (number, &(by_value, stops)) in ways.iter().enumerate() {
                let most = best.as_ref().map_or(usize::MAX, |best| best.changed);
                if most == 0 {
                    return best;
                }
                if number == followed.len() {
                    // If nobody would read something else, going by value changes nothing.
                    let same = number.checked_sub(sought.stops.len());
                    let same = same.and_then(|same| followed[same].as_ref());
                    followed.push(match same.is_some_and(|it| it.reads_the_same) {
                        true => None,
                        false => {
                            let mut run = self.run(stops, sought.latest);
                            run.awaits_waiters = awaits_waiters;
                            run.follow_trace(sought.latest, by_value, most)
                        }
                    });
                }
                let Some(mut run) = followed[number].as_ref().map(|it| it.run.clone()) else {
                    continue;
                };
                let is_possible = run.visit(visits, sought.shape).is_ok();
                if is_possible && run.changed < most {
                    best = Some(run);
                }
            }
        }
        best
    }

    /// A run that stops threads before these events, as far as the trace leads before any of them stops.
    fn run(&self, limits: &[Option<Pos>], latest: Pos) -> Run<'_, 'v> {
        let mut run = Run::new(self.view, self.order, &self.waits, &self.writers);
        run.stop(limits);
        let first = run.first_dependent().map_or(latest, |it| it.min(latest));
        run.resume(self.rehearsal.before(first));
        run
    }

    /// Where the threads of a pattern stop before their first visits: the paper's way, with the locks that
    /// protect them unless they come last in the trace, then all with their locks, then none. Each way once.
    fn stops(&self, visits: &[Visit], latest: Pos) -> Vec<Vec<Option<Pos>>> {
        let view = self.view;
        let latest_lane = view.lane(latest);
        let ways: [&dyn Fn(Lane) -> bool; 3] = [&|lane| lane != latest_lane, &|_| true, &|_| false];
        let mut stops: Vec<Vec<Option<Pos>>> = Vec::new();
        for with_lock in ways {
            let mut limits = vec![None; view.threads().len()];
            for visit in visits.iter().rev() {
                let region = view.region_of(visit.first);
                let region = region.filter(|_| with_lock(visit.lane));
                let outermost = region.map(|id| view.regions()[id.index()].outermost);
                let lock = outermost.map(|id| view.holds()[id.index()].acquire);
                limits[visit.lane.index()] = Some(lock.unwrap_or(visit.first));
            }
            if !stops.contains(&limits) {
                stops.push(limits);
            }
        }
        stops
    }

    fn visits(&self, events: &[Pos], shape: Shape, at_gap: At) -> Option<Vec<Visit>> {
        let (view, order) = (self.view, self.order);
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
        let stretches = &self.stretches;
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
}

/// What a schedule is to lead to, and what is tried for it.
struct Sought {
    /// The visits to be made, in one way or another.
    visits: Vec<Vec<Visit>>,
    /// Where threads stop before that: in each way, by thread.
    stops: Vec<Vec<Option<Pos>>>,
    shape: Shape,
    /// The last of the events in the trace.
    latest: Pos,
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

/// The next event of a thread.
fn next_of(view: &View, pos: Pos) -> Option<Pos> {
    let own = view.lane_events(view.lane(pos));
    own.get(own.partition_point(|it| *it <= pos)).copied()
}
