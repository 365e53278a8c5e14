//! Goals on traces written by hand: what the maximal analysis reaches, and what it does not.

use raddle_judge::{Claim, Judge, Listing, ReadRule, Recording, Witness};
use raddle_predict::goal::{Goal, Reached, Sees};
use raddle_predict::maximal::{BUDGET, Maximal};
use raddle_predict::view::{Pos, View};
use raddle_trace::ids::EventIndex;

use crate::text::trace;

/// Puts a goal about numbered events to the analysis; whether it is reached, by an order that the judge
/// accepts.
fn reaches(text: &str, in_order: &[u64], next: &[u64], claim: Claim) -> bool {
    reaches_and_sees(text, in_order, next, None, claim)
}

fn reaches_and_sees(
    text: &str,
    in_order: &[u64],
    next: &[u64],
    sees: Option<(u64, Option<u64>)>,
    claim: Claim,
) -> bool {
    let events = trace(text);
    let view = View::new(&events).unwrap();
    let pos = |index: &u64| view.position(EventIndex(*index)).expect("a kept event");
    let goal = Goal {
        in_order: in_order.iter().map(pos).collect(),
        next: next.iter().map(pos).collect(),
        sees: sees.map(|(read, write)| Sees {
            read: pos(&read),
            write: write.as_ref().map(pos),
        }),
    };
    let all = Pos(0)..Pos(view.len() as u32);
    let mut maximal = Maximal::new(&view, &events, ReadRule::SameValue, all);
    match maximal.reach(&goal, BUDGET) {
        Reached::Unknown => panic!("it is not hard"),
        Reached::Never => false,
        Reached::By(order) => {
            let recording = Recording::new(&events, None, None).unwrap();
            let witness = Witness {
                order,
                listing: Listing::Some,
                rule: ReadRule::SameValue,
                claim,
            };
            if let Err(objection) = Judge::new(&recording).judge(&witness) {
                panic!("{objection}\n{:?}", witness.order);
            }
            true
        }
    }
}

fn in_order(text: &str, events: &[u64]) -> bool {
    reaches(text, events, &[], Claim::Feasible)
}

fn race(text: &str, a: u64, b: u64) -> bool {
    let claim = Claim::Race {
        a: EventIndex(a),
        b: EventIndex(b),
    };
    reaches(text, &[], &[a, b], claim)
}

#[test]
fn a_last_read_may_find_anything() {
    // The read found what T1 wrote; before the write, it is still executed.
    let text = "T1: fork(T2) w(x)=1
                T2: r(x)=1 w(y)=1
                T1: r(y)=1";
    assert!(in_order(text, &[2, 1]));
    // But not what follows it.
    assert!(!in_order(text, &[3, 1]));
    assert!(!in_order(text, &[2, 1, 3]));
}

#[test]
fn a_last_read_waits_for_its_thread() {
    let text = "T1: w(x)=1 fork(T2) w(x)=2
                T2: begin(T1) r(x)=2";
    assert!(in_order(text, &[4, 2]));
    assert!(!in_order(text, &[4, 0]));
}

#[test]
fn a_last_update_writes_something() {
    let text = "T1: fork(T2) w(x)=5 r(x)=5 w(x)=0
                T2: rmw(x)
                T1: w(y)
                T2: r(y)";
    // It found 0, and finds 5 here; as the last event of T1, the read may see what it writes.
    assert!(in_order(text, &[1, 4, 2]));
    assert!(!in_order(text, &[1, 4, 2, 3]));
    assert!(in_order(text, &[3, 4, 5]));
}

#[test]
fn another_notification_wakes_as_well() {
    let text = "T1: fork(T2) fork(T3) wait(c,m)
                T2: notify(c)
                T1: wake(c,T2)
                T3: notify(c)";
    assert!(in_order(text, &[4, 3]));
    // It has to come while T1 waits, and some notification has to.
    assert!(!in_order(text, &[5, 2, 4, 3]));
    assert!(!in_order(text, &[4, 3, 5]));
}

#[test]
fn a_notification_wakes_one_and_a_broadcast_all() {
    let text = "T1: fork(T2) fork(T3) wait(c,m)
                T2: wait(c,m)
                T3: notify(c) NOTIFY
                T1: wake(c,T3)
                T2: wake(c,T3)";
    let one = text.replace("NOTIFY", "notify(c)");
    assert!(in_order(&one, &[7, 5]));
    assert!(!in_order(&one, &[6, 7, 5]));
    let all = text.replace("notify(c) NOTIFY", "notifyall(c,2) w(x)");
    assert!(in_order(&all, &[6, 7]) && in_order(&all, &[7, 6]));
}

#[test]
fn any_post_serves() {
    let text = "T1: fork(T2) fork(T3)
                T2: post(s,1)
                T3: post(s,2)
                T1: take(s,1) take(s,0)";
    assert!(in_order(text, &[4, 2]));
    assert!(in_order(text, &[4, 3]));
    assert!(!in_order(text, &[5, 3]));
    // One was there.
    let text = "T1: fork(T2)
                T2: post(s,2)
                T1: take(s,1) take(s,0)";
    assert!(in_order(text, &[2, 1]));
    assert!(!in_order(text, &[3, 1]));
}

#[test]
fn a_try_fails_again() {
    let text = "T1: fork(T2) acq(l)
                T2: try(l) w(x)
                T1: rel(l) w(x)";
    assert!(in_order(text, &[1, 2, 4]));
    assert!(!in_order(text, &[4, 2]));
    assert!(!in_order(text, &[2, 1]));
    // Without the try, the release is free to come.
    assert!(race(
        "T1: fork(T2) acq(l) w(x)
                  T2: w(x) try(l)
                  T1: rel(l)",
        2,
        3
    ));
}

#[test]
fn readers_enter_a_lock_that_was_downgraded() {
    let text = "T1: fork(T2) wlock(l)=0 downgrade(l)=1
                T2: rlock(l)=1
                T1: runlock(l)=2 w(x)
                T2: runlock(l)=1 w(x)";
    assert!(in_order(text, &[2, 3, 4, 6]));
    assert!(!in_order(text, &[3, 2]));
    assert!(race(text, 5, 7));
}

#[test]
fn hidden_orders_are_kept() {
    let text = "T1: fork(T2) w(x) r(z)
                T2: r(z) w(x)";
    let events = trace(text);
    let view = View::new(&events).unwrap();
    let all = Pos(0)..Pos(view.len() as u32);
    let goal = Goal::together(&[Pos(1), Pos(2)]);
    let reach = |orders: &[(EventIndex, EventIndex)]| {
        let maximal = Maximal::new(&view, &events, ReadRule::SameValue, all.clone());
        maximal.keeping(orders).reach(&goal, BUDGET)
    };
    assert!(matches!(reach(&[]), Reached::By(_)));
    // Neither end is in the view: `z` is only read.
    let hidden = (EventIndex(2), EventIndex(3));
    assert_eq!(view.position(hidden.0).or(view.position(hidden.1)), None);
    assert_eq!(reach(&[hidden]), Reached::Never);
    // What has to be executed is named.
    let Reached::By(order) = reach(&[(EventIndex(0), EventIndex(3))]) else {
        panic!("it is feasible");
    };
    assert_eq!(order, [EventIndex(0), EventIndex(3)]);
}

#[test]
fn notifications_that_find_nobody_are_free_among_themselves() {
    let text = "T1: fork(T2) fnotify(f,0)
                T2: fnotify(f,0)";
    assert!(in_order(text, &[2, 1]));
    let text = "T1: fork(T2) w(f)=1 fnotify(f,0)
                T2: fwait(f,1)
                T1: fnotify(f,1)
                T2: fwake(f,T1)";
    assert!(!in_order(text, &[3, 2]));
    assert!(!in_order(text, &[5, 4]));
}

#[test]
fn memory_is_freed_without_what_is_not_executed() {
    let text = "T1: alloc(p,8) fork(T2)
                T2: w(p)=1
                T1: w(q)=1 free(p)
                T2: r(q)=1";
    let claim = Claim::UseAfterFree {
        free: EventIndex(4),
        access: EventIndex(2),
    };
    assert!(reaches(text, &[4], &[2], claim));
    // What is executed is executed before.
    assert!(!in_order(text, &[4, 2]));
    // Behind a join it cannot happen.
    let text = "T1: alloc(p,8) fork(T2)
                T2: w(p)=1 end
                T1: join(T2) free(p)";
    assert!(!reaches(text, &[5], &[2], Claim::Feasible));
}

#[test]
fn a_race_is_on_live_memory() {
    let text = "T1: alloc(p,8) fork(T2)
                T2: w(p)=1 w(p)=2
                T1: w(p)=3 free(p)";
    assert!(race(text, 2, 4) && race(text, 3, 4));
    let text = "T1: alloc(p,8) fork(T2)
                T2: w(p)=1 w(y)=1
                T1: free(p) w(y)=2";
    assert!(race(text, 3, 5));
}

#[test]
fn memory_is_freed_twice() {
    // In the trace the memory was allocated anew in between.
    let text = "T1: alloc(p,8) fork(T2)
                T2: free(p)
                T1: alloc(p,8)
                T2: free(p)";
    let claim = Claim::DoubleFree {
        first: EventIndex(2),
        second: EventIndex(4),
    };
    assert!(reaches(text, &[2], &[4], claim.clone()));
    assert!(!reaches(text, &[2, 3], &[4], claim));
}

#[test]
fn a_read_sees_what_a_write_left() {
    let text = "T1: fork(T2) w(p)=0 acq(l) w(p)=5 rel(l) w(p)=0
                T2: acq(l) r(p)=0 rel(l)";
    let sees = |write| reaches_and_sees(text, &[], &[7], Some((7, write)), Claim::Feasible);
    assert!(sees(Some(1)) && sees(Some(3)) && sees(Some(5)) && sees(None));
    let text = "T1: w(p)=0 fork(T2) w(p)=5 acq(l) w(p)=6 w(p)=7 rel(l)
                T2: acq(l) r(p)=7 rel(l)";
    let sees = |write| reaches_and_sees(text, &[], &[8], Some((8, write)), Claim::Feasible);
    assert!(sees(Some(0)) && sees(Some(2)) && sees(Some(5)));
    assert!(!sees(Some(4)) && !sees(None));
}

#[test]
fn what_lies_outside_the_window_is_not_known() {
    let events = trace(
        "T1: fork(T2) w(x) w(y)
                        T2: w(x) w(y)",
    );
    let view = View::new(&events).unwrap();
    let window = Pos(1)..Pos(4);
    let mut maximal = Maximal::new(&view, &events, ReadRule::SameValue, window);
    let mut reach = |goal: Goal| maximal.reach(&goal, BUDGET);
    let race = |a, b| Goal::together(&[Pos(a), Pos(b)]);
    assert!(matches!(reach(race(1, 3)), Reached::By(_)));
    assert_eq!(reach(race(2, 4)), Reached::Unknown);
    assert_eq!(reach(race(0, 3)), Reached::Unknown);
    // What lies before it is executed before it.
    let order = |a, b| Goal::in_order(&[Pos(a), Pos(b)]);
    assert!(matches!(reach(order(0, 3)), Reached::By(_)));
    assert_eq!(reach(order(3, 0)), Reached::Never);
}

#[test]
fn without_values_reads_keep_their_writers() {
    let text = "T1: fork(T2) w(x) acq(l) w(x) rel(l) w(y)
                T2: acq(l) r(x) rel(l) w(y)";
    let events = trace(text);
    let view = View::new(&events).unwrap();
    let all = Pos(0)..Pos(view.len() as u32);
    let reached = |rule| {
        let mut maximal = Maximal::new(&view, &events, rule, all.clone());
        // T2 through its critical section before T1 comes to its own.
        let order = maximal.reach(&Goal::in_order(&[Pos(9), Pos(2)]), BUDGET);
        matches!(order, Reached::By(_))
    };
    assert!(reached(ReadRule::SameValue));
    assert!(!reached(ReadRule::SameWrite));
}
