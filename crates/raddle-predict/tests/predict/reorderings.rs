//! All races of all reorderings of a small trace, by trying every order on the judge.

use std::collections::{BTreeMap, BTreeSet};

use raddle_judge::{Claim, Judge, Listing, ReadRule, Recording, Witness};
use raddle_trace::event::Event;
use raddle_trace::ids::{EventIndex, ThreadId};

/// Orders tried before a trace is given up as too large.
const MOST_STATES: usize = 20_000;

/// Pairs of events that race in some reordering; none if there are too many to try.
pub fn races(events: &[Event]) -> Option<BTreeSet<(u64, u64)>> {
    let recording = Recording::new(events, None, None).unwrap();
    let judge = Judge::new(&recording);
    let threads: Vec<Vec<EventIndex>> = recording.threads().into_values().collect();
    let accepted = |order: &[EventIndex], claim| {
        let witness = Witness {
            order: order.to_vec(),
            listing: Listing::Every,
            rule: ReadRule::SameValue,
            claim,
        };
        judge.judge(&witness).is_ok()
    };
    let mut races = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut open: Vec<Vec<EventIndex>> = vec![Vec::new()];
    while let Some(order) = open.pop() {
        let counts: Vec<usize> = threads
            .iter()
            .map(|own| own.iter().filter(|event| order.contains(event)).count())
            .collect();
        let next: Vec<EventIndex> = threads
            .iter()
            .zip(&counts)
            .filter_map(|(own, &count)| own.get(count).copied())
            .collect();
        for (at, &a) in next.iter().enumerate() {
            for &b in &next[at + 1..] {
                if may_race(events, a, b) && accepted(&order, Claim::Race { a, b }) {
                    races.insert((a.0.min(b.0), a.0.max(b.0)));
                }
            }
        }
        for event in next {
            let mut longer = order.clone();
            longer.push(event);
            let state = state(events, &longer);
            if !seen.contains(&state) && accepted(&longer, Claim::Feasible) {
                seen.insert(state);
                open.push(longer);
            }
            if seen.len() > MOST_STATES {
                return None;
            }
        }
    }
    Some(races)
}

fn may_race(events: &[Event], a: EventIndex, b: EventIndex) -> bool {
    let footprint = |index: EventIndex| events[index.0 as usize].footprint();
    let (Some(a), Some(b)) = (footprint(a), footprint(b)) else {
        return false;
    };
    a.writes | b.writes && a.addr.0 < b.addr.0 + b.len && b.addr.0 < a.addr.0 + a.len
}

/// What the future depends on. Two orders with the same state go on alike.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct State {
    happened: BTreeSet<u64>,
    /// By byte.
    writers: BTreeMap<u64, u64>,
    /// Events that are neither accesses nor about locks, in their order.
    others: Vec<u64>,
    /// What the last event of each thread reads: the judge lets it be wrong.
    last_reads: BTreeMap<ThreadId, Vec<Option<u64>>>,
}

fn state(events: &[Event], order: &[EventIndex]) -> State {
    let mut state = State {
        happened: order.iter().map(|index| index.0).collect(),
        writers: BTreeMap::new(),
        others: Vec::new(),
        last_reads: BTreeMap::new(),
    };
    for index in order {
        let event = &events[index.0 as usize];
        state.last_reads.remove(&event.thread);
        let Some(footprint) = event.footprint() else {
            if event.lock_action().is_none() {
                state.others.push(index.0);
            }
            continue;
        };
        let bytes = footprint.addr.0..footprint.addr.0 + footprint.len;
        if footprint.reads {
            let writers = bytes.clone().map(|byte| state.writers.get(&byte).copied());
            state.last_reads.insert(event.thread, writers.collect());
        }
        if footprint.writes {
            state.writers.extend(bytes.map(|byte| (byte, index.0)));
        }
    }
    state
}
