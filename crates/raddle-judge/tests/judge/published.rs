//! Published traces of other people's programs, in RAPID's text format.

use std::fs;
use std::path::PathBuf;

use raddle_judge::{Claim, Judge, Listing, Objection, ReadRule, Recording, Witness};
use raddle_trace::event::Event;
use raddle_trace::file::Trailer;
use raddle_trace::ids::EventIndex;
use raddle_trace::std_format::StdImport;

/// Every trace, with its name.
fn traces() -> Vec<(String, Vec<Event>, Trailer)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/std");
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    let read = |path: PathBuf| {
        let text = fs::read(&path).expect("a readable trace");
        let mut import = StdImport::new(&text[..]);
        let events: Result<Vec<Event>, _> = import.by_ref().collect();
        let tables = Trailer {
            names: Some(import.into_names()),
            ..Trailer::default()
        };
        let name = path.display().to_string();
        (name, events.expect("a trace"), tables)
    };
    paths.into_iter().map(read).collect()
}

fn witness(order: Vec<EventIndex>, rule: ReadRule) -> Witness {
    Witness {
        order,
        listing: Listing::Every,
        rule,
        claim: Claim::Feasible,
    }
}

#[test]
fn a_recorded_order_is_feasible() {
    let traces = traces();
    assert!(!traces.is_empty());
    for (name, events, tables) in &traces {
        let recording = Recording::new(events, Some(tables), None).expect("a trace");
        assert_eq!(recording.unexplained(), [], "{name}");
        let judge = Judge::new(&recording);
        for len in 0..=events.len() as u64 {
            let order: Vec<_> = (0..len).map(EventIndex).collect();
            let verdict = judge.judge(&witness(order.clone(), ReadRule::SameWrite));
            let executed = verdict.map(|verdict| verdict.order);
            assert_eq!(executed, Ok(order), "{name}");
        }
    }
}

#[test]
fn values_that_are_not_there_cannot_be_compared() {
    for (name, events, tables) in &traces() {
        let recording = Recording::new(events, Some(tables), None).expect("a trace");
        for rule in [ReadRule::SameValue, ReadRule::Relaxed] {
            let verdict = Judge::new(&recording).judge(&witness(Vec::new(), rule));
            assert_eq!(verdict, Err(Objection::NoValues), "{name}");
        }
    }
}

/// Two neighbours of different threads may change places if they touch different variables.
#[test]
fn neighbours_that_do_not_meet_change_places() {
    let mut changed = 0;
    for (name, events, tables) in &traces() {
        let recording = Recording::new(events, Some(tables), None).expect("a trace");
        let judge = Judge::new(&recording);
        for at in 0..events.len() - 1 {
            let (a, b) = (&events[at], &events[at + 1]);
            let (Some(left), Some(right)) = (a.footprint(), b.footprint()) else {
                continue;
            };
            if a.thread == b.thread || left.addr == right.addr {
                continue;
            }
            let mut order: Vec<_> = (0..events.len() as u64).map(EventIndex).collect();
            order.swap(at, at + 1);
            let verdict = judge.judge(&witness(order, ReadRule::SameWrite));
            assert!(verdict.is_ok(), "{name}: {at} {verdict:?}");
            changed += 1;
        }
    }
    assert!(changed > 0);
}

/// A read of another thread's write is impossible without the write, unless nothing follows it.
#[test]
fn a_read_needs_its_write() {
    let mut refused = 0;
    for (name, events, tables) in &traces() {
        let recording = Recording::new(events, Some(tables), None).expect("a trace");
        let judge = Judge::new(&recording);
        for (read, event) in events
            .iter()
            .enumerate()
            .filter(|(_, event)| event.is_read())
        {
            let touches = |other: &Event| {
                other.is_write()
                    && other.footprint().map(|it| it.addr) == event.footprint().map(|it| it.addr)
            };
            let write = events[..read].iter().rposition(touches);
            let next = events[read + 1..]
                .iter()
                .position(|later| later.thread == event.thread);
            let (Some(write), Some(next)) = (write, next) else {
                continue;
            };
            if events[write].thread == event.thread {
                continue;
            }
            let own = |at: &usize| events[*at].thread == event.thread;
            let order = (0..write).chain((write..=read + 1 + next).filter(own));
            let order = order.map(|at| EventIndex(at as u64)).collect();
            let verdict = judge.judge(&witness(order, ReadRule::SameWrite));
            assert!(verdict.is_err(), "{name}: {read} without {write}");
            refused += usize::from(matches!(verdict, Err(Objection::OtherWrite { .. })));
        }
    }
    assert!(refused > 0);
}
