//! Random programs: what is predicted is real, and what is real is a candidate.

use std::collections::BTreeSet;

use raddle_judge::{Claim, Judge, Listing, ReadRule, Recording, Witness};
use raddle_predict::clocks::Clocks;
use raddle_predict::hb;
use raddle_predict::hybrid::{self, Limits};
use raddle_predict::sync_preserving::{Race, SyncPreserving};
use raddle_predict::view::{Pos, Survey, View};
use raddle_trace::event::Event;
use raddle_trace::ids::EventIndex;

use crate::machine::{Features, Random, run};
use crate::reorderings;

const FEATURES: Features = Features {
    threads: 4,
    steps: 6,
    inlined_locks: false,
    nested_locks: false,
    waiting: false,
    handing: false,
    freeing: false,
    relaxed: false,
};

fn accepted(events: &[Event], view: &View, race: &Race, rule: ReadRule) {
    let recording = Recording::new(events, None, None).unwrap();
    let witness = Witness {
        order: race.witness(view),
        listing: Listing::Some,
        rule,
        claim: Claim::Race {
            a: view.event_index(race.a),
            b: view.event_index(race.b),
        },
    };
    if let Err(objection) = Judge::new(&recording).judge(&witness) {
        panic!("{objection}\n{witness:?}\n{}", dump(events));
    }
}

fn dump(events: &[Event]) -> String {
    let lines = events.iter().enumerate();
    let lines = lines.map(|(at, event)| format!("{at}: {} {}", event.thread, event.kind));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn sync_preserving_witnesses_are_feasible() {
    let mut races = 0;
    for (seed, features) in [
        FEATURES,
        Features {
            inlined_locks: true,
            ..FEATURES
        },
        Features {
            waiting: true,
            relaxed: true,
            ..FEATURES
        },
        Features {
            waiting: true,
            inlined_locks: true,
            steps: 10,
            ..FEATURES
        },
    ]
    .into_iter()
    .enumerate()
    {
        let mut random = Random(seed as u64);
        for _ in 0..2000 {
            let events = run(&mut random, features);
            let view = View::new(&events).unwrap();
            for race in SyncPreserving::new(&view).races().races {
                races += 1;
                accepted(&events, &view, &race, ReadRule::SameValue);
                if !features.inlined_locks {
                    accepted(&events, &view, &race, ReadRule::SameWrite);
                }
            }
        }
    }
    assert!(races > 10_000, "only {races} races");
}

#[test]
fn the_first_happens_before_race_is_sync_preserving() {
    let mut random = Random(7);
    let mut found = 0;
    for round in 0..3000 {
        let features = Features {
            inlined_locks: round % 3 == 0,
            waiting: round % 2 == 0,
            ..FEATURES
        };
        let events = run(&mut random, features);
        let view = View::new(&events).unwrap();
        let Some(first) = hb::races(&view).first().copied() else {
            continue;
        };
        let search = SyncPreserving::new(&view);
        let Some(race) = search.race(first.a, first.b) else {
            // The value that a read-modify-write finds may be what its write depends on.
            let is_rmw = |pos| view.reads(pos) && view.writes(pos);
            assert!(
                is_rmw(first.a) || is_rmw(first.b),
                "{first:?} of {}",
                dump(&events)
            );
            continue;
        };
        accepted(&events, &view, &race, ReadRule::SameValue);
        found += 1;
    }
    assert!(found > 1000, "only {found} races");
}

#[test]
fn no_race_of_any_reordering_is_missed_by_the_candidates() {
    let mut random = Random(11);
    let (mut traces, mut races, mut unsound) = (0, 0, 0);
    for round in 0..500 {
        let features = Features {
            threads: 3,
            steps: 3,
            inlined_locks: round % 3 == 0,
            waiting: round % 2 == 0,
            ..FEATURES
        };
        let events = run(&mut random, features);
        let view = View::new(&events).unwrap();
        let Some(real) = reorderings::races(&events) else {
            continue;
        };
        let order = Clocks::must_order(&view, |edge| edge.kind.is_certain());
        let found = hybrid::candidates(&view, &order, Limits::default()).pairs;
        let indices = |a, b| (view.event_index(a).0, view.event_index(b).0);
        let candidates: BTreeSet<(u64, u64)> = found.iter().map(|p| indices(p.a, p.b)).collect();
        let missed: Vec<_> = real.difference(&candidates).collect();
        assert!(missed.is_empty(), "{missed:?} of {}", dump(&events));
        for race in SyncPreserving::new(&view).races().races {
            let pair = indices(race.a, race.b);
            assert!(real.contains(&pair), "{pair:?} of {}", dump(&events));
        }
        traces += 1;
        races += real.len();
        unsound += candidates.len() - real.len();
    }
    assert!(
        traces > 300 && races > 400,
        "{traces} traces, {races} races"
    );
    assert!(unsound > 0, "the condition is necessary, not sufficient");
}

/// The ideal found by closing a set of events, one rule at a time, as the definition has it.
fn is_race_by_definition(view: &View, a: Pos, b: Pos) -> bool {
    let edges: Vec<(Pos, Pos)> = view
        .edges()
        .iter()
        .map(|edge| (edge.from, edge.to))
        .chain(raddle_predict::reads_from::reads_from(view))
        .collect();
    let mut inside: BTreeSet<Pos> = view
        .positions()
        .filter(|&pos| {
            [a, b].iter().any(|&end| {
                let needed = view.edges_to(end).iter().any(|edge| edge.from == pos);
                needed || view.lane(pos) == view.lane(end) && pos < end
            })
        })
        .collect();
    for (end, other) in [(a, b), (b, a)] {
        if view.reads(end) && view.writes(end) && !view.writes(other) {
            let sources = edges.iter().filter(|(_, to)| *to == end);
            inside.extend(sources.map(|(from, _)| *from));
        }
    }
    loop {
        let before = inside.len();
        for pos in inside.clone() {
            inside.extend(
                view.positions()
                    .filter(|&p| view.lane(p) == view.lane(pos) && p < pos),
            );
        }
        for (from, to) in &edges {
            if inside.contains(to) {
                inside.insert(*from);
            }
        }
        for earlier in view.holds() {
            for later in view.holds() {
                let excludes = earlier.mode == raddle_trace::event::LockMode::Exclusive
                    || later.mode == raddle_trace::event::LockMode::Exclusive;
                if earlier.lock == later.lock
                    && earlier.lane != later.lane
                    && earlier.acquire < later.acquire
                    && excludes
                    && inside.contains(&earlier.acquire)
                    && inside.contains(&later.acquire)
                {
                    inside.extend(earlier.release);
                }
            }
        }
        if inside.len() == before {
            return !inside.contains(&a)
                && !inside.contains(&b)
                && !spoils(view, &inside, a, b)
                && !spoils(view, &inside, b, a);
        }
    }
}

/// Whether a read-modify-write's value is overwritten before it comes, and the other only reads.
fn spoils(view: &View, inside: &BTreeSet<Pos>, access: Pos, other: Pos) -> bool {
    let overwrites = |pos: &Pos| {
        view.writes(*pos)
            && *pos > access
            && view
                .cells_of(*pos)
                .any(|cell| view.cells_of(access).any(|own| own == cell))
    };
    view.reads(access)
        && view.writes(access)
        && !view.writes(other)
        && inside.iter().any(overwrites)
}

#[test]
fn the_search_finds_what_the_definition_says() {
    let mut random = Random(5);
    for round in 0..600 {
        let features = Features {
            inlined_locks: round % 3 == 0,
            waiting: round % 2 == 0,
            relaxed: round % 5 == 0,
            ..FEATURES
        };
        let events = run(&mut random, features);
        let view = View::new(&events).unwrap();
        let search = SyncPreserving::new(&view);
        let found: BTreeSet<(Pos, Pos)> = search
            .races()
            .races
            .iter()
            .map(|race| (race.a, race.b))
            .collect();
        for b in view.positions() {
            for a in view.positions().take(b.index()) {
                let overlap = view
                    .cells_of(a)
                    .any(|cell| view.cells_of(b).any(|other| cell == other));
                let accesses = [a, b]
                    .map(|pos| view.kind(pos))
                    .iter()
                    .all(|kind| *kind == raddle_predict::view::Kind::Access);
                if view.lane(a) != view.lane(b) && view.conflict(a, b) && overlap && accesses {
                    let expected = is_race_by_definition(&view, a, b);
                    assert_eq!(
                        found.contains(&(a, b)),
                        expected,
                        "{a:?} {b:?} {}",
                        dump(&events)
                    );
                    assert_eq!(search.race(a, b).is_some(), expected);
                }
            }
        }
    }
}

/// Which events may concern several threads.
fn concerning(events: &[Event]) -> Vec<usize> {
    let mut survey = Survey::default();
    let surveyed = events.iter().try_for_each(|event| survey.observe(event));
    surveyed.unwrap();
    let mut shared = survey.shared();
    let all = events.iter().enumerate();
    let concerning = all.filter(|(_, event)| shared.concerns(event));
    concerning.map(|(at, _)| at).collect()
}

/// Without what concerns one thread only the same races are found, and their witnesses hold for the whole trace.
#[test]
fn what_concerns_one_thread_constrains_nothing() {
    let (mut races, mut passed_over) = (0, 0);
    for features in [
        FEATURES,
        Features {
            freeing: true,
            steps: 10,
            ..FEATURES
        },
        Features {
            waiting: true,
            inlined_locks: true,
            ..FEATURES
        },
    ] {
        let mut random = Random(7);
        for _ in 0..1000 {
            let events = run(&mut random, features);
            let kept = concerning(&events);
            passed_over += events.len() - kept.len();
            let rest: Vec<Event> = kept.iter().map(|at| events[*at]).collect();
            let number = |index: EventIndex| EventIndex(kept[index.0 as usize] as u64);
            let recording = Recording::new(&events, None, None).unwrap();
            let view = View::new(&rest).unwrap();
            let mut found = BTreeSet::new();
            for race in SyncPreserving::new(&view).races().races {
                let [a, b] = [race.a, race.b].map(|pos| number(view.event_index(pos)));
                found.insert((a, b));
                let witness = Witness {
                    order: race.witness(&view).into_iter().map(number).collect(),
                    listing: Listing::Some,
                    rule: ReadRule::SameValue,
                    claim: Claim::Race { a, b },
                };
                let verdict = Judge::new(&recording).judge(&witness);
                assert!(verdict.is_ok(), "{verdict:?}\n{}", dump(&events));
            }
            races += found.len();
            let whole = View::new(&events).unwrap();
            let all = SyncPreserving::new(&whole).races().races.into_iter();
            let all = all.map(|it| (whole.event_index(it.a), whole.event_index(it.b)));
            assert_eq!(found, all.collect(), "{}", dump(&events));
        }
    }
    assert!(races > 100 && passed_over > 100, "{races} {passed_over}");
}
