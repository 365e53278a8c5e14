//! Another order, when a program did not follow the first; and none, when there is no time.

use std::time::{Duration, Instant};

use raddle_judge::{Claim, Judge, Listing, ReadRule, Recording, Witness};
use raddle_predict::predictor::{self, Kind, Method, Options, Run, Schedule};
use raddle_trace::event::Event;
use raddle_trace::ids::EventIndex;

use crate::text::trace;

/// T1 makes T2 and T3; T2 writes a flag of its own, and a variable that T3 writes too.
const RUN: &str = "T1: fork(T2) fork(T3) w(a)
                   T2: w(x)
                   T3: w(b) w(x)
                   T1: join(T2) join(T3)";

fn run<'a>(events: &'a [Event], is_own: &'a dyn Fn(EventIndex) -> bool) -> Run<'a> {
    Run {
        events,
        rule: ReadRule::SameValue,
        hidden: &[],
        atomic: &[],
        is_own,
        relaxation: None,
    }
}

fn race(run: Run<'_>, events: [u64; 2]) -> Schedule {
    let predicted = predictor::predict(run, &Options::default()).unwrap();
    let race = predicted
        .predictions
        .iter()
        .find(|it| it.kind == Kind::DataRace && it.events == events.map(EventIndex));
    race.expect("T2 and T3 race").schedules[0].clone()
}

fn again(run: Run<'_>, schedule: &Schedule, kept: &[(u64, u64)]) -> Option<Schedule> {
    let kept: Vec<_> = kept
        .iter()
        .map(|&(from, to)| (EventIndex(from), EventIndex(to)))
        .collect();
    predictor::again(run, &Options::default(), schedule, &kept).unwrap()
}

fn place(schedule: &Schedule, event: u64) -> Option<usize> {
    schedule.order.iter().position(|it| it == EventIndex(event))
}

#[test]
fn the_second_order_keeps_to_what_the_first_broke() {
    let events = trace(RUN);
    let run = run(&events, &|_| true);
    let first = race(run, [3, 5]);
    assert!(first.method.is_proof());
    assert_eq!(place(&first, 2), None, "nothing asks for the write of `a`");
    // T3 begins only after it.
    let second = again(run, &first, &[(2, 4)]).expect("there is room for it");
    assert_eq!(second.method, Method::Maximal);
    assert!(place(&second, 2) < place(&second, 4));
    assert!(place(&second, 2).is_some());
    let recording = Recording::new(&events, None, None).unwrap();
    let witness = Witness {
        order: second.order.to_vec(),
        listing: Listing::Some,
        rule: ReadRule::SameValue,
        claim: second.claim.clone(),
    };
    assert!(Judge::new(&recording).judge(&witness).is_ok());
    assert!(matches!(second.claim, Claim::Race { .. }));
}

#[test]
fn there_is_none_if_the_goal_leaves_no_room() {
    let events = trace(RUN);
    let run = run(&events, &|_| true);
    let first = race(run, [3, 5]);
    assert_eq!(again(run, &first, &[(3, 4)]), None, "T2 would have written");
}

#[test]
fn what_a_library_does_is_left_out_of_the_second_order_as_well() {
    // The value that T3 finds in `l` is T2's, which races after it.
    let events = trace(
        "T1: fork(T2) fork(T3) w(a)
         T2: w(x) w(l)=1
         T3: r(l)=1 w(b) w(x)",
    );
    let is_own = |index: EventIndex| !matches!(index.0, 4 | 5);
    let run = run(&events, &is_own);
    let first = race(run, [3, 7]);
    assert_eq!(first.method, Method::Abridged);
    let second = again(run, &first, &[(2, 5)]).expect("there is room for it");
    assert_eq!(second.method, Method::Abridged);
    assert_eq!(place(&second, 5), None, "it is left out");
    assert!(place(&second, 2) < place(&second, 6) && place(&second, 2).is_some());
    assert_eq!(second.claim, first.claim);
}

#[test]
fn when_time_is_up_candidates_are_left_as_they_are() {
    let events = trace(RUN);
    let options = Options {
        until: Some(Instant::now()),
        ..Options::default()
    };
    std::thread::sleep(Duration::from_millis(1));
    let predicted = predictor::predict(run(&events, &|_| true), &options).unwrap();
    assert_eq!(predicted.predictions.len(), 1);
    assert!(predicted.predictions[0].schedules.is_empty());
    assert!(predicted.notes[0].contains("for want of time"));
}
