//! A candidate of any kind on its way to a prediction: first to the provers, then, if it is among the first of
//! its rank, with a schedule that is guessed.

use std::cell::OnceCell;
use std::ops::Range;

use raddle_judge::Claim;
use raddle_trace::ids::EventIndex;

use crate::candidate::{Candidate, Way};
use crate::clocks::Clocks;
use crate::goal::Goal;
use crate::guess;
use crate::instances::Instances;
use crate::order::Order;
use crate::patterns::{self, Scheduler, Shape};
use crate::predictor::{Kind, Method, Prediction, Schedule, Weight};
use crate::provers::Provers;
use crate::sync_preserving::Race;
use crate::view::{Pos, View};

/// Ways to a candidate that nobody proves for which a schedule is guessed.
const MOST_GUESSES: usize = 2;

/// A candidate of any kind.
pub(crate) struct Case {
    pub(crate) kind: Kind,
    pub(crate) weight: Weight,
    pub(crate) instances: u64,
    /// Events by which a user knows it.
    pub(crate) events: Vec<EventIndex>,
    /// Ways to it, the most promising first; one for each group of instances.
    pub(crate) ways: Vec<Way>,
    /// Groups of instances that no way leads to.
    pub(crate) left_out: u64,
    /// How many of the ways are asked about at once; the others only if there is time.
    pub(crate) eager: usize,
    /// Threads that wait for each other, if it is a deadlock.
    pub(crate) circle: Option<Candidate>,
    /// How its accesses are to come, if it is a pattern of accesses.
    pub(crate) shape: Option<Shape>,
    /// What was found for it.
    pub(crate) schedules: Vec<Schedule>,
    /// Ways of which the provers answered that they cannot be gone, none of them giving up.
    pub(crate) refused: usize,
}

/// By what predictions are sorted: what is only suspected last, proved ones first.
pub(crate) fn rank(weight: Weight, is_proved: bool, kind: &Kind) -> (bool, bool, Kind) {
    (weight == Weight::Suspicion, !is_proved, kind.clone())
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
        rank(self.weight, self.is_proved(), &self.kind)
    }

    /// A race of two instructions, with an instance.
    pub(crate) fn of_race(view: &View, (a, b): (Pos, Pos), instances: u64) -> Self {
        let way = race(view, a, b);
        Self {
            kind: Kind::DataRace,
            weight: Weight::Bug,
            instances,
            events: way.claim.telling_events(),
            ways: vec![way],
            left_out: 0,
            eager: 1,
            circle: None,
            shape: Some(Shape::Adjacent),
            schedules: Vec::new(),
            refused: 0,
        }
    }

    /// Adds ways to other instances of a race.
    pub(crate) fn add_races(&mut self, view: &View, instances: &Instances) {
        self.left_out += instances.left_out;
        for &(a, b) in &instances.pairs {
            let way = race(view, a, b);
            if self.ways.iter().all(|known| known.goal != way.goal) {
                self.ways.push(way);
            }
        }
    }

    /// Takes a race for proved.
    pub(crate) fn show_race(&mut self, view: &View, method: Method, found: &Race) {
        let way = race(view, found.a, found.b);
        let order = found.ideal.order(view);
        self.schedules.push(schedule_by(view, &way, method, order));
    }

    pub(crate) fn is_proved(&self) -> bool {
        self.schedules.iter().any(|it| it.method.is_proof())
    }

    /// Puts it to the provers, from cheap to dear: the ways that are asked about at once.
    pub(crate) fn prove(&mut self, view: &View, provers: &mut Provers<'_>) {
        if self.is_proved() {
            return;
        }
        let by_circle = self.circle.as_ref().and_then(|it| provers.of_candidate(it));
        if let Some((way, method, order)) = by_circle {
            let found = schedule(view, &way, method, order);
            self.schedules.push(found);
            return;
        }
        self.prove_ways(view, provers, 0..self.eager);
    }

    /// Puts some of its ways to the provers; false if none of them can be gone.
    pub(crate) fn prove_ways(
        &mut self,
        view: &View,
        provers: &mut Provers<'_>,
        ways: Range<usize>,
    ) -> bool {
        let ways = &self.ways[ways.start.min(self.ways.len())..ways.end.min(self.ways.len())];
        provers.take_gave_up();
        let Some((way, method, order)) = provers.reach(ways) else {
            if !provers.take_gave_up() {
                self.refused += ways.len();
            }
            return false;
        };
        let tight = patterns::tighten(view, order.clone(), &way.goal);
        let is_judged = method == Method::ControlFlow && tight != order;
        let mut found = vec![schedule(view, way, method, tight)];
        // It stands as it was judged.
        found.extend(is_judged.then(|| schedule(view, way, method, order)));
        self.schedules.extend(found);
        true
    }

    /// Whether a schedule leads a way.
    pub(crate) fn has_gone(&self, way: usize) -> bool {
        let goal = &self.ways[way].goal;
        self.schedules.iter().any(|it| it.goal == *goal)
    }

    /// Adds an order to another instance of a race, if one keeps the order of critical sections.
    pub(crate) fn preserve(&mut self, view: &View, provers: &Provers<'_>, way: usize) -> bool {
        let way = &self.ways[way];
        let &[a, b] = way.goal.next.as_slice() else {
            return false;
        };
        let Some(order) = provers.preserve(a, b) else {
            return false;
        };
        let found = schedule(view, way, Method::SyncPreserving, order);
        self.schedules.push(found);
        true
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
        let all_refused = self.refused >= self.ways.len() && self.left_out == 0;
        Prediction {
            is_refused: all_refused && !self.is_proved(),
            kind: self.kind,
            events: self.events,
            weight: self.weight,
            schedules: self.schedules,
            instances: self.instances,
        }
    }
}

/// The way to a race.
fn race(view: &View, a: Pos, b: Pos) -> Way {
    let (one, other) = (view.event_index(a), view.event_index(b));
    Way {
        goal: Goal::together(&[a, b]),
        then: Vec::new(),
        claim: Claim::Race { a: one, b: other },
    }
}

fn schedule(view: &View, way: &Way, method: Method, order: Vec<EventIndex>) -> Schedule {
    let order = Order::sharing(view.event_indices(), &order);
    schedule_by(view, way, method, order)
}

fn schedule_by(view: &View, way: &Way, method: Method, order: Order) -> Schedule {
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
        events: way.telling_events(view),
        goal: way.goal.clone(),
    }
}
