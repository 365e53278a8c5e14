//! The maximal analysis against every reordering of random small traces.

use raddle_judge::{
    Claim, Judge, Listing, Objection, ReadRule, Recording, Region, Verdict, Witness,
};
use raddle_predict::deadlock;
use raddle_predict::goal::{Goal, Reached, Sees};
use raddle_predict::maximal::{Maximal, Windows};
use raddle_predict::view::{Kind, Pos, View};
use raddle_solve::Budget;
use raddle_trace::event::{Event, EventKind};
use raddle_trace::ids::EventIndex;

use crate::machine::{Features, Random, run};
use crate::reorderings::Reorderings;
use crate::text::trace;

fn whole<'v>(view: &'v View, events: &'v [Event]) -> Maximal<'v> {
    Maximal::new(
        view,
        events,
        ReadRule::SameValue,
        Pos(0)..Pos(view.len() as u32),
    )
}

fn judge(events: &[Event], order: Vec<EventIndex>, claim: Claim) -> Result<Verdict, Objection> {
    let recording = Recording::new(events, None, None).unwrap();
    let witness = Witness {
        order,
        listing: Listing::Some,
        rule: ReadRule::SameValue,
        claim,
    };
    Judge::new(&recording).judge(&witness)
}

/// Pairs of accesses that race if they can be next together.
fn conflicts(view: &View) -> Vec<(Pos, Pos)> {
    let mut pairs = Vec::new();
    for b in view.positions() {
        for a in view.positions().take(b.index()) {
            let mut cells = view.cells_of(a);
            let overlap = cells.any(|cell| view.cells_of(b).any(|other| cell == other));
            if view.lane(a) != view.lane(b) && view.conflict(a, b) && overlap {
                pairs.push((a, b));
            }
        }
    }
    pairs
}

/// Goals of one kind, put to the analysis and to all reorderings.
#[derive(Default)]
struct Tally {
    reached: usize,
    never: usize,
}

/// A trace, with all its reorderings.
struct Trial<'e> {
    events: &'e [Event],
    view: &'e View,
    real: Reorderings<'e>,
    maximal: Maximal<'e>,
}

impl<'e> Trial<'e> {
    fn new(events: &'e [Event], view: &'e View) -> Option<Self> {
        Some(Self {
            events,
            view,
            real: Reorderings::of(events)?,
            maximal: whole(view, events),
        })
    }

    /// The analysis reaches what can be reached, by an order that the judge accepts.
    fn check(&mut self, goal: &Goal, claim: Claim, is_real: bool, tally: &mut Tally) {
        let dump = || dump(self.events);
        match self.maximal.reach(goal, Budget::unlimited()) {
            Reached::By(order) => {
                tally.reached += 1;
                let mut at = 0;
                for pos in &goal.in_order {
                    let index = self.view.event_index(*pos);
                    let found = order[at..].iter().position(|event| *event == index);
                    at += found.unwrap_or_else(|| panic!("{index:?} is not in order"));
                }
                if let Err(objection) = judge(self.events, order.clone(), claim) {
                    panic!("{goal:?} by {order:?}: {objection}\n{}", dump());
                }
                assert!(is_real, "{goal:?} by {order:?}\n{}", dump());
            }
            Reached::Never => {
                tally.never += 1;
                assert!(!is_real, "{goal:?} is missed\n{}", dump());
            }
            Reached::Unknown => panic!("there is no limit"),
        }
    }

    fn index(&self, pos: Pos) -> EventIndex {
        self.view.event_index(pos)
    }

    fn overlap(&self, a: Pos, b: Pos) -> bool {
        let mut cells = self.view.cells_of(a);
        cells.any(|cell| self.view.cells_of(b).any(|other| cell == other))
    }

    fn races(&mut self, tally: &mut Tally) {
        let real = self.real.races();
        for (a, b) in conflicts(self.view) {
            let (first, second) = (self.index(a), self.index(b));
            let claim = Claim::Race {
                a: first,
                b: second,
            };
            let is_real = real.contains(&(first.0, second.0));
            self.check(&Goal::together(&[a, b]), claim, is_real, tally);
        }
    }

    fn deadlocks(&mut self, tally: &mut Tally) {
        let real = self.real.deadlocks();
        for circle in deadlock::circles(self.view, 20) {
            let first: Vec<Pos> = circle.iter().map(|instances| instances[0]).collect();
            let cycle: Vec<EventIndex> = first.iter().map(|pos| self.index(*pos)).collect();
            let is_real = real.contains(&cycle.iter().map(|event| event.0).collect());
            let claim = Claim::Deadlock { cycle };
            self.check(&Goal::together(&first), claim, is_real, tally);
        }
    }

    /// Three accesses of one variable, the second by another thread, that no serial order explains.
    fn triples(&mut self, random: &mut Random, tally: &mut Tally) {
        let view = self.view;
        let accesses: Vec<Pos> = view
            .positions()
            .filter(|pos| view.cells_of(*pos).next().is_some())
            .collect();
        let mut triples = Vec::new();
        for &a in &accesses {
            for &c in accesses.iter().filter(|c| **c > a) {
                for &b in &accesses {
                    let apart = view.lane(a) == view.lane(c) && view.lane(b) != view.lane(a);
                    let conflict = |x, y| (view.writes(x) || view.writes(y)) && self.overlap(x, y);
                    if apart && conflict(a, b) && conflict(b, c) {
                        triples.push([a, b, c]);
                    }
                }
            }
        }
        for _ in 0..20.min(triples.len()) {
            let [a, b, c] = triples.swap_remove(random.below(triples.len() as u64) as usize);
            let indices = [a, b, c].map(|pos| self.index(pos));
            let claim = Claim::Unserialisable {
                events: indices.to_vec(),
                regions: vec![Region::Marked {
                    first: indices[0],
                    last: indices[2],
                }],
            };
            let is_real = self.real.in_order(&indices);
            self.check(&Goal::in_order(&[a, b, c]), claim, is_real, tally);
        }
    }

    fn uses_after_free(&mut self, tally: &mut Tally) {
        let view = self.view;
        let real = self.real.uses_after_free();
        let frees = view.positions().filter(|pos| view.kind(*pos) == Kind::Free);
        for free in frees.collect::<Vec<_>>() {
            for access in view.positions() {
                let object = view.cells_of(access).next();
                let object = object.and_then(|cell| view.cells()[cell.index()].object);
                if object.is_none() || object != view.object_of(free) {
                    continue;
                }
                let goal = Goal {
                    in_order: vec![free],
                    next: vec![access],
                    sees: None,
                };
                let (free, access) = (self.index(free), self.index(access));
                let is_real = real.contains(&(free.0, access.0));
                self.check(&goal, Claim::UseAfterFree { free, access }, is_real, tally);
            }
        }
    }

    /// Loads that find what another write than in the trace left, or nothing.
    fn sights(&mut self, tally: &mut Tally) {
        let view = self.view;
        for read in view.positions() {
            let cells: Vec<_> = view
                .cells_of(read)
                .map(|it| view.cells()[it.index()])
                .collect();
            let event = &self.events[self.index(read).0 as usize];
            let is_load = matches!(event.kind, EventKind::Read(_) | EventKind::AtomicLoad(..));
            let size: u64 = cells.iter().map(|cell| cell.len).sum();
            if !is_load || event.footprint().is_none_or(|it| it.len != size) {
                continue;
            }
            let bytes: Vec<u64> = cells
                .iter()
                .flat_map(|cell| cell.addr.0..cell.addr.0 + cell.len)
                .collect();
            // What an update writes depends on what it finds.
            let stores = |pos: &Pos| view.writes(*pos) && !view.reads(*pos);
            let writes = view.positions().filter(stores);
            let writes: Vec<Pos> = writes.filter(|pos| self.overlap(*pos, read)).collect();
            for write in writes.into_iter().map(Some).chain([None]) {
                let goal = Goal {
                    in_order: Vec::new(),
                    next: vec![read],
                    sees: Some(Sees { read, write }),
                };
                let writer = write.map(|write| self.index(write));
                let is_real = self.real.sees(self.index(read), &bytes, writer);
                self.check(&goal, Claim::Feasible, is_real, tally);
            }
        }
    }
}

fn dump(events: &[Event]) -> String {
    let lines = events.iter().enumerate();
    let lines = lines.map(|(at, event)| format!("{at}: {} {}", event.thread, event.kind));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn goals_are_reached_exactly_if_some_reordering_reaches_them() {
    let mut random = Random(21);
    let mut traces = 0;
    let mut tallies: [Tally; 5] = Default::default();
    let [races, deadlocks, triples, frees, sights] = &mut tallies;
    for round in 0..600 {
        let features = Features {
            threads: 3,
            steps: 3 + round % 3,
            inlined_locks: round % 3 == 0,
            nested_locks: round % 4 == 3,
            waiting: round % 4 == 1,
            handing: round % 4 == 2,
            freeing: round % 2 == 0,
            relaxed: round % 5 == 0,
        };
        let events = run(&mut random, features);
        let view = View::new(&events).unwrap();
        let Some(mut trial) = Trial::new(&events, &view) else {
            continue;
        };
        traces += 1;
        trial.races(races);
        trial.deadlocks(deadlocks);
        trial.triples(&mut random, triples);
        trial.uses_after_free(frees);
        trial.sights(sights);
    }
    let counts = tallies.map(|tally| (tally.reached, tally.never));
    assert!(traces > 500, "{traces} traces");
    let at_least = [(500, 100), (10, 1), (300, 100), (50, 20), (500, 200)];
    for ((reached, never), (some, others)) in counts.into_iter().zip(at_least) {
        assert!(reached >= some && never >= others, "{counts:?}");
    }
}

#[test]
fn windows_keep_what_was_before_them() {
    let mut random = Random(23);
    let (mut races, mut triples) = (0, 0);
    for round in 0..300 {
        let features = Features {
            threads: 3,
            steps: 8,
            inlined_locks: round % 2 == 0,
            nested_locks: round % 5 == 0,
            waiting: false,
            handing: round % 3 == 0,
            freeing: round % 7 == 0,
            relaxed: false,
        };
        let events = run(&mut random, features);
        let view = View::new(&events).unwrap();
        let (middle, end) = (Pos(view.len() as u32 / 2), Pos(view.len() as u32));
        let mut window = Maximal::new(&view, &events, ReadRule::SameValue, middle..end);
        let mut windows = Windows::new(&view, &events, ReadRule::SameValue, 8);
        for (a, b) in conflicts(&view) {
            let (first, second) = (view.event_index(a), view.event_index(b));
            let claim = Claim::Race {
                a: first,
                b: second,
            };
            let goal = Goal::together(&[a, b]);
            for reached in [
                window.reach(&goal, Budget::unlimited()),
                windows.reach(&goal, Budget::unlimited()),
            ] {
                match reached {
                    Reached::By(order) => {
                        races += 1;
                        if let Err(objection) = judge(&events, order, claim.clone()) {
                            panic!("{goal:?}: {objection}\n{}", dump(&events));
                        }
                    }
                    Reached::Never => {}
                    Reached::Unknown => assert!(a < middle, "{goal:?}"),
                }
            }
            let goal = Goal::in_order(&[b, a]);
            if let Reached::By(order) = windows.reach(&goal, Budget::unlimited()) {
                triples += 1;
                let place = |index| order.iter().position(|event| *event == index);
                assert!(place(second) < place(first));
                if let Err(objection) = judge(&events, order, Claim::Feasible) {
                    panic!("{goal:?}: {objection}\n{}", dump(&events));
                }
            }
        }
    }
    assert!(
        races > 600 && triples > 300,
        "{races} races, {triples} swaps"
    );
}

#[test]
fn what_is_forbidden_at_sight_is_never_reached() {
    let mut random = Random(29);
    let (mut reached, mut never) = (0, 0);
    for round in 0..300 {
        let features = Features {
            threads: 3,
            steps: 8,
            inlined_locks: round % 2 == 0,
            nested_locks: round % 5 == 0,
            waiting: round % 3 == 0,
            handing: round % 4 == 0,
            freeing: round % 7 == 0,
            relaxed: false,
        };
        let events = run(&mut random, features);
        let view = View::new(&events).unwrap();
        let mut whole = whole(&view, &events);
        // All of the trace is in one window.
        let mut windows = Windows::new(&view, &events, ReadRule::SameValue, 8 * view.len());
        for (a, b) in conflicts(&view) {
            for goal in [
                Goal::together(&[a, b]),
                Goal::in_order(&[b, a]),
                Goal::in_order(&[a, b]),
            ] {
                let solved = whole.reach(&goal, Budget::unlimited());
                let found = windows.reach(&goal, Budget::unlimited());
                let is_reached = matches!(solved, Reached::By(_));
                assert_eq!(
                    is_reached,
                    matches!(found, Reached::By(_)),
                    "{goal:?}\n{}",
                    dump(&events)
                );
                *(if is_reached { &mut reached } else { &mut never }) += 1;
            }
        }
    }
    assert!(
        reached > 1000 && never > 500,
        "{reached} reached, {never} not"
    );
}

/// The circles of a trace whose threads can come to wait for each other.
fn deadlocks(text: &str) -> Vec<usize> {
    let events = trace(text);
    let view = View::new(&events).unwrap();
    let mut maximal = whole(&view, &events);
    let mut found = Vec::new();
    for circle in deadlock::circles(&view, 100) {
        let first: Vec<Pos> = circle.iter().map(|instances| instances[0]).collect();
        if let Reached::By(order) = maximal.reach(&Goal::together(&first), Budget::unlimited()) {
            let cycle = first.iter().map(|pos| view.event_index(*pos)).collect();
            judge(&events, order, Claim::Deadlock { cycle }).unwrap();
            found.push(first.len());
        }
    }
    found
}

#[test]
fn opposite_orders_deadlock() {
    let text = "T1: fork(T2) acq(a) acq(b) rel(b) rel(a)
                T2: acq(b) acq(a) rel(a) rel(b)";
    assert_eq!(deadlocks(text), [2]);
}

#[test]
fn a_gate_keeps_threads_apart() {
    let text = "T1: fork(T2) acq(g) acq(a) acq(b) rel(b) rel(a) rel(g)
                T2: acq(g) acq(b) acq(a) rel(a) rel(b) rel(g)";
    assert_eq!(deadlocks(text), []);
}

#[test]
fn a_join_orders_the_threads() {
    let text = "T1: fork(T2)
                T2: acq(b) acq(a) rel(a) rel(b) end
                T1: join(T2) acq(a) acq(b) rel(b) rel(a)";
    assert_eq!(deadlocks(text), []);
}

#[test]
fn philosophers_wait_in_a_circle() {
    let text = "T1: fork(T2) fork(T3) fork(T4)
                T1: acq(a) acq(b) rel(b) rel(a)
                T2: acq(b) acq(c) rel(c) rel(b)
                T3: acq(c) acq(d) rel(d) rel(c)
                T4: acq(d) acq(a) rel(a) rel(d)";
    assert_eq!(deadlocks(text), [4]);
}

#[test]
fn a_value_read_orders_what_locks_do_not() {
    let text = "T1: fork(T2) acq(a) acq(b) rel(b) rel(a) w(x)
                T2: r(x) acq(b) acq(a) rel(a) rel(b)";
    assert_eq!(deadlocks(text), []);
}
