//! The maximal analysis against every reordering of random small traces.

use std::collections::BTreeSet;

use raddle_judge::{Claim, Judge, Listing, Objection, ReadRule, Recording, Verdict, Witness};
use raddle_predict::deadlock;
use raddle_predict::maximal::{Maximal, Proof};
use raddle_predict::view::{Pos, View};
use raddle_solve::Budget;
use raddle_trace::event::Event;
use raddle_trace::ids::EventIndex;

use crate::machine::{Features, Random, run};
use crate::reorderings;
use crate::text::trace;

fn whole<'v>(view: &'v View, events: &[Event]) -> Maximal<'v> {
    Maximal::new(view, events, Pos(0)..Pos(view.len() as u32))
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

/// Whether the race depends on what a read-modify-write finds.
fn hangs_on_a_value(view: &View, a: Pos, b: Pos) -> bool {
    let updates = |pos| view.reads(pos) && view.writes(pos);
    updates(a) && !view.writes(b) || updates(b) && !view.writes(a)
}

#[test]
fn races_are_those_of_all_reorderings() {
    let mut random = Random(21);
    let (mut traces, mut races, mut refuted) = (0, 0, 0);
    for round in 0..400 {
        let features = Features {
            threads: 3,
            steps: 3 + round % 2,
            inlined_locks: round % 3 == 0,
            waiting: false,
            relaxed: round % 5 == 0,
        };
        let events = run(&mut random, features);
        let Some(real) = reorderings::races(&events) else {
            continue;
        };
        traces += 1;
        let view = View::new(&events).unwrap();
        let mut maximal = whole(&view, &events);
        let mut found = BTreeSet::new();
        for (a, b) in conflicts(&view) {
            let (first, second) = (view.event_index(a), view.event_index(b));
            match maximal.together(&[a, b], Budget::unlimited()) {
                Proof::Feasible(order) => {
                    let claim = Claim::Race {
                        a: first,
                        b: second,
                    };
                    match judge(&events, order, claim) {
                        Ok(_) => drop(found.insert((first.0, second.0))),
                        Err(objection) => {
                            assert!(hangs_on_a_value(&view, a, b), "{objection}");
                        }
                    }
                }
                Proof::Infeasible => {
                    refuted += 1;
                    let pair = (first.0, second.0);
                    assert!(!real.contains(&pair), "{pair:?} is missed in round {round}");
                }
                Proof::Unknown(_) => panic!("there is no limit"),
            }
        }
        assert!(found.is_subset(&real));
        races += found.len();
    }
    assert!(
        traces > 200 && races > 300 && refuted > 300,
        "{traces} traces, {races} races, {refuted} pairs refuted"
    );
}

#[test]
fn windows_keep_what_was_before_them() {
    let mut random = Random(23);
    let mut races = 0;
    for round in 0..300 {
        let features = Features {
            threads: 3,
            steps: 8,
            inlined_locks: round % 2 == 0,
            waiting: false,
            relaxed: false,
        };
        let events = run(&mut random, features);
        let view = View::new(&events).unwrap();
        let middle = Pos(view.len() as u32 / 2);
        let mut window = Maximal::new(&view, &events, middle..Pos(view.len() as u32));
        for (a, b) in conflicts(&view).into_iter().filter(|pair| pair.0 >= middle) {
            if let Proof::Feasible(order) = window.together(&[a, b], Budget::unlimited()) {
                let (a_index, b_index) = (view.event_index(a), view.event_index(b));
                let claim = Claim::Race {
                    a: a_index,
                    b: b_index,
                };
                if let Err(objection) = judge(&events, order, claim) {
                    assert!(hangs_on_a_value(&view, a, b), "{objection}");
                }
                races += 1;
            }
        }
    }
    assert!(races > 300, "only {races} races");
}

/// The circles of a trace whose threads can come to wait for each other.
fn deadlocks(text: &str) -> Vec<usize> {
    let events = trace(text);
    let view = View::new(&events).unwrap();
    let mut maximal = whole(&view, &events);
    let mut found = Vec::new();
    for circle in deadlock::circles(&view, 100) {
        let first: Vec<Pos> = circle.iter().map(|instances| instances[0]).collect();
        if let Proof::Feasible(order) = maximal.together(&first, Budget::unlimited()) {
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
