//! Reads that decide nothing may find other values: what the solver reaches then, and what it still does not.
//!
//! Which reads are free, and what is stored of them, is said by hand; text traces have no code that the judge
//! could execute again. How the two work together, the programs that `raddle check` is run on show.

use std::sync::Arc;

use raddle_judge::ReadRule;
use raddle_predict::goal::{Goal, Reached};
use raddle_predict::maximal::{BUDGET, Leeway, Maximal, Windows};
use raddle_predict::view::{Pos, View};
use raddle_trace::event::Event;
use raddle_trace::ids::{EventIndex, SiteId};

use crate::text::trace;

/// The load of a counter, and the store of what it has become.
const LOAD: SiteId = SiteId(1);
const STORE: SiteId = SiteId(2);

/// What is loaded there only goes into the store.
fn counter() -> Leeway {
    let mut leeway = Leeway::default();
    leeway.free(LOAD);
    leeway.feed(LOAD, STORE, false);
    leeway
}

fn goal(view: &View, in_order: &[u64], next: &[u64]) -> Goal {
    let pos = |index: &u64| view.position(EventIndex(*index)).expect("a kept event");
    Goal {
        in_order: in_order.iter().map(pos).collect(),
        next: next.iter().map(pos).collect(),
        sees: None,
    }
}

/// The order that reaches a goal about numbered events.
fn order(events: &[Event], leeway: Leeway, in_order: &[u64], next: &[u64]) -> Option<Vec<u64>> {
    let view = View::new(events).unwrap();
    let goal = goal(&view, in_order, next);
    let all = Pos(0)..Pos(view.len() as u32);
    let mut maximal =
        Maximal::new(&view, events, ReadRule::SameValue, all).with_leeway(Arc::new(leeway));
    match maximal.reach(&goal, BUDGET) {
        Reached::Unknown => panic!("it is not hard"),
        Reached::Never => None,
        Reached::By(order) => Some(order.iter().map(|event| event.0).collect()),
    }
}

fn reaches(text: &str, leeway: Leeway, in_order: &[u64], next: &[u64]) -> bool {
    order(&trace(text), leeway, in_order, next).is_some()
}

/// Two threads count under a lock; before and behind, they access a variable.
const HANDOFF: &str = "T1: fork(T2) w(y) acq(l) r(x)=0@1 w(x)=1@2 rel(l)
                       T2: acq(l) r(x)=1@1 w(x)=2@2 rel(l) r(y)";

#[test]
fn counting_sections_change_places() {
    assert!(!reaches(HANDOFF, Leeway::default(), &[9, 2], &[]));
    assert!(!reaches(HANDOFF, Leeway::default(), &[], &[1, 10]));
    assert!(reaches(HANDOFF, counter(), &[9, 2], &[]));
    assert!(reaches(HANDOFF, counter(), &[], &[1, 10]));
    let events = trace(HANDOFF);
    let order = order(&events, counter(), &[9, 5], &[]).expect("both sections");
    assert_eq!(order, [0, 1, 6, 7, 8, 9, 2, 3, 4, 5]);
}

#[test]
fn a_read_that_decides_keeps_its_value() {
    // T2's load is another instruction's.
    let text = HANDOFF.replace("r(x)=1@1", "r(x)=1@3");
    assert!(!reaches(&text, counter(), &[9, 2], &[]));
    assert!(!reaches(&text, counter(), &[], &[1, 10]));
}

#[test]
fn a_lock_finds_what_it_found() {
    let text = "T1: fork(T2) w(y) lock(m)@1 unlock(m)@1 T2: lock(m)@1 unlock(m)@1 r(y)";
    let text = text.replace(" T2:", "\nT2:");
    let events = trace(&text);
    assert!(events.iter().all(|event| !counter().is_free(event)));
}

/// T1 counts after T2, T3 looks at the count and goes on.
const WATCHED: &str = "T1: fork(T2) fork(T3)
                       T2: r(x)=0@1 w(x)=1@2
                       T1: r(x)=1@1 w(x)=2@2
                       T3: r(x)=2 r(y)
                       T1: w(y)";

#[test]
fn what_a_changed_read_stores_does_not_count() {
    // T1 alone leaves 1, and T3 would have to find 2.
    assert!(!reaches(WATCHED, counter(), &[7, 2], &[]));
    // Together they come to 2, but which of them is last is not for the solver to compute.
    assert!(!reaches(WATCHED, counter(), &[5, 2, 3, 7], &[]));
    assert!(reaches(WATCHED, counter(), &[3, 5, 7], &[8]));
    // A free read does not care.
    let text = WATCHED.replace("r(x)=2", "r(x)=2@1");
    assert!(reaches(&text, counter(), &[7, 2], &[]));
}

#[test]
fn a_store_of_something_else_counts() {
    let mut leeway = Leeway::default();
    leeway.free(LOAD);
    // What T1 stores does not come from what it loads.
    assert!(reaches(WATCHED, leeway, &[7, 2], &[]));
}

#[test]
fn a_read_that_keeps_its_value_leaves_its_store_as_it_was() {
    // Whoever wrote 0, T1 stores 1 if it finds it; T3 goes on if it finds that.
    let text = "T1: fork(T2) fork(T3) r(x)=0@1 w(x)=1@2
                T2: w(x)=0 r(x)=0 w(x)=1
                T3: r(x)=1 w(y)
                T2: r(y)";
    assert!(reaches(text, counter(), &[4, 2, 3, 7, 8], &[5]));
    assert!(reaches(text, counter(), &[5, 2, 3, 7, 8], &[6]));
    let text = text.replace("w(x)=0 r(x)=0", "w(x)=5 r(x)=5");
    assert!(!reaches(&text, counter(), &[5, 2, 3, 7, 8], &[6]));
    assert!(reaches(&text, counter(), &[2, 3, 7, 8], &[4]));
}

#[test]
fn what_earlier_turns_of_a_loop_read_is_carried_on() {
    let text = "T1: fork(T2) r(x)=0@1
                T2: w(x)=5
                T1: r(x)=5@1 w(s)=5@2
                T2: r(s)=5 w(y)
                T1: w(y)";
    // The first load finds 5, too.
    assert!(reaches(text, counter(), &[2, 1, 5], &[6, 7]));
    let mut carried = Leeway::default();
    carried.free(LOAD);
    carried.feed(LOAD, STORE, true);
    assert!(!reaches(text, carried.clone(), &[2, 1, 5], &[6, 7]));
    assert!(reaches(text, carried, &[1, 2, 5], &[6, 7]));
}

#[test]
fn an_update_feeds_itself() {
    // It finds 0 and leaves 0.
    let text = "T1: fork(T2) rmw(x)@1
                T2: w(x)=7 r(x)=7 w(x)=0
                T1: r(y)
                T2: w(y)";
    let mut leeway = Leeway::default();
    leeway.free(LOAD);
    leeway.feed(LOAD, LOAD, false);
    assert!(!reaches(text, Leeway::default(), &[2, 1, 5, 3], &[4]));
    assert!(!reaches(text, Leeway::default(), &[3, 1, 5, 4], &[]));
    assert!(reaches(text, leeway.clone(), &[3, 1, 5, 4], &[]));
    // What it leaves of 7 is not known.
    assert!(!reaches(text, leeway, &[2, 1, 3, 4], &[]));
}

#[test]
fn windows_know_whether_they_have_leeway() {
    let events = trace(HANDOFF);
    let view = View::new(&events).unwrap();
    let windows = |leeway| {
        Windows::new(&view, &events, ReadRule::SameValue, 100).with_leeway(Arc::new(leeway))
    };
    let goal = goal(&view, &[], &[1, 10]);
    assert!(windows(counter()).has_leeway(&goal));
    assert!(!windows(Leeway::default()).has_leeway(&goal));
    let mut elsewhere = Leeway::default();
    elsewhere.free(SiteId(77));
    assert!(!windows(elsewhere).has_leeway(&goal));
    assert!(matches!(
        windows(counter()).reach(&goal, BUDGET),
        Reached::By(_)
    ));
}
