//! Random goals on random traces: an order that is said to reach a goal does, and the judge accepts it.

use raddle_judge::{Claim, Judge, Listing, ReadRule, Recording, Witness};
use raddle_predict::candidate::Candidate;
use raddle_predict::clocks::Clocks;
use raddle_predict::goal::{Goal, Reached, Sees};
use raddle_predict::sync_preserving::SyncPreserving;
use raddle_predict::view::{Lane, Pos, View};
use raddle_predict::{deadlock, memory};
use raddle_trace::event::{Event, EventKind};
use raddle_trace::ids::{Address, EventIndex};

use crate::machine::{Features, Random, run};

fn features(round: u64) -> Features {
    let every = |rounds: u64| round.is_multiple_of(rounds);
    Features {
        threads: 3 + round % 2,
        steps: 4 + round % 5,
        inlined_locks: every(3),
        waiting: round % 4 == 1,
        freeing: round % 4 == 2,
        nested_locks: every(2),
        handing: round % 7 == 3,
        relaxed: every(5),
    }
}

fn dump(events: &[Event]) -> String {
    let lines = events.iter().enumerate();
    let lines = lines.map(|(at, event)| format!("{at}: {} {}", event.thread, event.kind));
    lines.collect::<Vec<_>>().join("\n")
}

/// What the judge has against an order.
fn objection(
    events: &[Event],
    order: &[EventIndex],
    rule: ReadRule,
    claim: Claim,
) -> Option<String> {
    let recording = Recording::new(events, None, None).unwrap();
    let witness = Witness {
        order: order.to_vec(),
        listing: Listing::Some,
        rule,
        claim,
    };
    let verdict = Judge::new(&recording).judge(&witness);
    verdict.err().map(|objection| objection.to_string())
}

/// A few events, a few of which are next, and what one of them sees.
fn random_goal(view: &View, random: &mut Random) -> Goal {
    let mut pick = || Pos(random.below(view.len() as u64) as u32);
    let mut goal = Goal {
        in_order: vec![pick(), pick(), pick()],
        next: vec![pick(), pick(), pick()],
        sees: None,
    };
    goal.in_order.truncate(random.below(4) as usize);
    goal.next.truncate(random.below(4) as usize);
    let read = goal.next.first().copied().filter(|pos| view.reads(*pos));
    if let Some(read) = read.filter(|_| random.below(2) == 0) {
        let writes: Vec<Pos> = view
            .cells_of(read)
            .flat_map(|cell| view.accesses(cell))
            .flat_map(|(_, accesses)| accesses.iter().copied())
            .filter(|pos| view.writes(*pos))
            .collect();
        let choice = random.below(writes.len() as u64 + 1) as usize;
        let write = writes.get(choice).copied();
        goal.sees = Some(Sees { read, write });
        goal.in_order = write.into_iter().collect();
    }
    goal
}

/// The first thing wrong with an order that is said to reach a goal.
fn fault(view: &View, goal: &Goal, order: &[EventIndex]) -> Option<String> {
    let executed: Vec<Pos> = order
        .iter()
        .map(|index| view.position(*index).unwrap())
        .collect();
    let mut places = goal
        .in_order
        .iter()
        .map(|pos| executed.iter().position(|e| e == pos));
    let mut least = Some(0);
    if !places.all(|place| {
        let fits = place.is_some() && place >= least;
        least = place;
        fits
    }) {
        return Some("not in order".to_owned());
    }
    for next in &goal.next {
        let lane: Lane = view.lane(*next);
        let count = executed
            .iter()
            .filter(|pos| view.lane(**pos) == lane)
            .count();
        if view.lane_events(lane)[count] != *next {
            return Some(format!("{next:?} is not next"));
        }
    }
    let sees = goal.sees?;
    let wrong = view.cells_of(sees.read).any(|cell| {
        let writes = |pos: &&Pos| view.writes(**pos) && view.cells_of(**pos).any(|c| c == cell);
        executed.iter().rev().find(writes).copied() != sees.write
    });
    wrong.then(|| "another write is seen".to_owned())
}

#[test]
fn orders_lead_to_random_goals() {
    let mut random = Random(31);
    let (mut plain, mut moved, mut seen) = (0, 0, 0);
    for round in 0..3000 {
        let features = features(round);
        let rule = match features.inlined_locks {
            true => ReadRule::SameValue,
            false => ReadRule::SameWrite,
        };
        let events = run(&mut random, features);
        let view = View::new(&events).unwrap();
        let search = SyncPreserving::new(&view);
        for _ in 0..60 {
            let goal = random_goal(&view, &mut random);
            let Reached::By(order) = search.reach(&goal) else {
                continue;
            };
            let fault = fault(&view, &goal, &order);
            let fault = fault.or_else(|| objection(&events, &order, rule, Claim::Feasible));
            if let Some(fault) = fault {
                panic!("{goal:?} by {order:?}: {fault}\n{}", dump(&events));
            }
            match order.is_sorted() {
                true => plain += 1,
                false => moved += 1,
            }
            seen += usize::from(goal.sees.is_some());
        }
    }
    assert!(
        plain > 3000 && moved > 500 && seen > 300,
        "{plain} in trace order, {moved} not, {seen} with a read"
    );
}

/// Every choice of one event for each thread.
fn choices(circle: &[Vec<Pos>]) -> Vec<Vec<Vec<Pos>>> {
    let mut choices = vec![Vec::new()];
    for instances in circle {
        let longer = |choice: &Vec<Vec<Pos>>| {
            let choice = choice.clone();
            let with = move |pos: &Pos| [choice.clone(), vec![vec![*pos]]].concat();
            instances.iter().map(with).collect::<Vec<_>>()
        };
        choices = choices.iter().flat_map(longer).collect();
    }
    choices
}

#[test]
fn one_walk_over_the_instances_misses_no_deadlock() {
    let mut random = Random(35);
    let (mut found, mut later, mut none) = (0, 0, 0);
    for round in 0..4000 {
        let features = Features {
            steps: 40,
            nested_locks: true,
            waiting: false,
            handing: false,
            ..features(round)
        };
        let mut events = run(&mut random, features);
        // All calls come from one place, so that it has several instances.
        for event in &mut events {
            if let EventKind::Action { pc, .. } = &mut event.kind {
                *pc = Address(1);
            }
        }
        let view = View::new(&events).unwrap();
        let search = SyncPreserving::new(&view);
        for circle in deadlock::circles(&view, 20) {
            if circle.iter().map(Vec::len).product::<usize>() > 100 {
                continue;
            }
            let mut single = choices(&circle).into_iter();
            let is_real = single.any(|choice| search.deadlock(&choice).is_some());
            let deadlock = search.deadlock(&circle);
            assert_eq!(deadlock.is_some(), is_real, "{circle:?}\n{}", dump(&events));
            let Some(deadlock) = deadlock else {
                none += 1;
                continue;
            };
            found += 1;
            let first = circle.iter().map(|instances| instances[0]);
            later += usize::from(!first.eq(deadlock.events.iter().copied()));
            let cycle = deadlock.events.iter().map(|pos| view.event_index(*pos));
            let claim = Claim::Deadlock {
                cycle: cycle.collect(),
            };
            let fault = objection(&events, &deadlock.order, ReadRule::SameValue, claim);
            assert_eq!(fault, None, "{deadlock:?}\n{}", dump(&events));
        }
    }
    assert!(
        found > 300 && later > 3 && none > 100,
        "{found} found, {later} of them not at the first instances, {none} circles without"
    );
}

#[test]
fn candidates_of_random_traces_are_real_if_proved() {
    let mut random = Random(33);
    let (mut proved, mut open) = (0, 0);
    for round in 0..4000 {
        let events = run(&mut random, features(round));
        let view = View::new(&events).unwrap();
        let search = SyncPreserving::new(&view);
        let clocks = Clocks::must_order(&view, |edge| edge.kind.is_certain());
        let limits = deadlock::Limits::default();
        let mut candidates: Vec<Candidate> = deadlock::candidates(&view, &events, &clocks, limits);
        let limits = memory::Limits::default();
        candidates.extend(memory::candidates(&view, &events, &clocks, limits));
        for candidate in &candidates {
            let Some(proof) = search.prove(candidate) else {
                open += 1;
                continue;
            };
            proved += 1;
            let claim = proof.way.claim.clone();
            let fault = objection(&events, &proof.order, ReadRule::SameValue, claim);
            if let Some(fault) = fault {
                panic!(
                    "{candidate:?} by {:?}: {fault}\n{}",
                    proof.order,
                    dump(&events)
                );
            }
        }
    }
    assert!(proved > 200 && open > 50, "{proved} proved, {open} not");
}
