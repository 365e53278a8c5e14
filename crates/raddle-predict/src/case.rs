//! A candidate of any kind on its way to a prediction: first to the provers, then, if it is among the first of
//! its rank, with a schedule that is guessed.

use std::cell::OnceCell;

use raddle_trace::ids::EventIndex;

use crate::candidate::{Candidate, Way};
use crate::clocks::Clocks;
use crate::guess;
use crate::patterns::{self, Scheduler, Shape};
use crate::predictor::{Kind, Method, Prediction, Schedule};
use crate::provers::Provers;
use crate::view::{Pos, View};

/// Ways to a candidate that nobody proves for which a schedule is guessed.
const MOST_GUESSES: usize = 2;

/// A candidate of any kind.
pub(crate) struct Case {
    pub(crate) kind: Kind,
    pub(crate) suspected: bool,
    pub(crate) instances: u64,
    /// Events by which a user knows it.
    pub(crate) events: Vec<EventIndex>,
    /// Ways to it, the most promising first.
    pub(crate) ways: Vec<Way>,
    /// Threads that wait for each other, if it is a deadlock.
    pub(crate) circle: Option<Candidate>,
    /// Whether the observed order leaves its events unordered.
    pub(crate) unordered: bool,
    /// How its accesses are to come, if it is a pattern of accesses.
    pub(crate) shape: Option<Shape>,
    /// What was found for it.
    pub(crate) schedules: Vec<Schedule>,
    /// Whether the provers answered that no way to it can be gone, and none gave up.
    pub(crate) is_refused: bool,
}

/// By what predictions are sorted: what is only suspected last, proved ones first.
pub(crate) fn rank(suspected: bool, is_proved: bool, kind: &Kind) -> (bool, bool, Kind) {
    (suspected, !is_proved, kind.clone())
}

/// Which cases schedules are guessed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guesses {
    All,
    /// Only those that a prover has found an order for.
    Proved,
}

impl Guesses {
    pub(crate) fn want(self, case: &Case) -> bool {
        self == Self::All || case.is_proved()
    }
}

/// A view, and what guesses about it have in common.
pub(crate) struct Guesser<'v> {
    view: &'v View,
    clocks: &'v Clocks,
    /// Made when it is needed.
    scheduler: OnceCell<Scheduler<'v>>,
}

impl<'v> Guesser<'v> {
    pub(crate) fn new(view: &'v View, clocks: &'v Clocks) -> Self {
        Self {
            view,
            clocks,
            scheduler: OnceCell::new(),
        }
    }

    fn scheduler(&self) -> &Scheduler<'v> {
        let scheduler = || Scheduler::new(self.view, self.clocks);
        self.scheduler.get_or_init(scheduler)
    }
}

impl Case {
    pub(crate) fn start(&self) -> Option<Pos> {
        let way = self.ways.first()?;
        way.goal.span().map(|(first, _)| first)
    }

    pub(crate) fn rank(&self) -> (bool, bool, Kind) {
        rank(self.suspected, self.is_proved(), &self.kind)
    }

    fn is_proved(&self) -> bool {
        self.schedules.iter().any(|it| it.method.is_proof())
    }

    /// Puts it to the provers, from cheap to dear.
    pub(crate) fn prove(&mut self, view: &View, provers: &mut Provers<'_>) {
        provers.take_gave_up();
        self.reach(view, provers);
        self.is_refused = !provers.take_gave_up() && self.schedules.is_empty();
    }

    fn reach(&mut self, view: &View, provers: &mut Provers<'_>) {
        let schedules = &mut self.schedules;
        let by_circle = self.circle.as_ref().and_then(|it| provers.of_candidate(it));
        if let Some((way, order)) = by_circle {
            schedules.push(schedule(view, &way, Method::SyncPreserving, order));
        } else if let Some((way, method, order)) = provers.reach(&self.ways) {
            let method = match method {
                Method::SyncPreserving if self.unordered => Method::HappensBefore,
                other => other,
            };
            let tight = patterns::tighten(view, order.clone(), &way.goal);
            let is_judged = method == Method::ControlFlow && tight != order;
            schedules.push(schedule(view, way, method, tight));
            // It stands as it was judged.
            schedules.extend(is_judged.then(|| schedule(view, way, method, order)));
        }
    }

    /// Adds what PECAN would try. A program may leave an order that was proved, where it does what the trace
    /// does not show. And of what is only suspected it matters what comes of it, which may depend on the way
    /// there.
    pub(crate) fn guess(&mut self, guesser: &Guesser<'_>) {
        let guesses = match self.schedules.is_empty() {
            true => MOST_GUESSES,
            false => 1,
        };
        let ways = self.ways.iter().take(guesses);
        let guessed = ways.filter_map(|way| self.guess_way(way, guesser));
        let guessed: Vec<Schedule> = guessed.collect();
        self.schedules.extend(guessed);
    }

    fn guess_way(&self, way: &Way, guesser: &Guesser<'_>) -> Option<Schedule> {
        let view = guesser.view;
        let Some(shape) = self.shape else {
            let order = guess::order(view, guesser.clocks, &way.goal)?;
            return Some(schedule(view, way, Method::Pecan, order));
        };
        let accesses = match shape {
            Shape::Adjacent => &way.goal.next,
            Shape::InOrder => &way.goal.in_order,
        };
        let mut order = guesser.scheduler().schedule(accesses, shape)?;
        // What is next is not executed yet.
        order.truncate(order.len().saturating_sub(way.goal.next.len()));
        Some(schedule(view, way, Method::Pecan, order))
    }

    /// As a prediction, with the ways that lead there.
    pub(crate) fn told(self) -> Prediction {
        Prediction {
            kind: self.kind,
            events: self.events,
            suspected: self.suspected,
            schedules: self.schedules,
            instances: self.instances,
            is_refused: self.is_refused,
        }
    }
}

fn schedule(view: &View, way: &Way, method: Method, order: Vec<EventIndex>) -> Schedule {
    let indices = |positions: &[Pos]| -> Vec<EventIndex> {
        let of = positions.iter().map(|pos| view.event_index(*pos));
        of.collect()
    };
    Schedule {
        method,
        order,
        next: indices(&way.goal.next),
        then: indices(&way.then),
        claim: way.claim.clone(),
        goal: way.goal.clone(),
    }
}
