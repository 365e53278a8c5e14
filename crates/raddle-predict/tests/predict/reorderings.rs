//! All reorderings of a small trace, by trying every order on the judge.
//!
//! Orders that go on alike are one *place*; from each, one step leads on for each event that the judge lets
//! come next. What can be reached is read off the places, or off the walks through them.

use std::collections::{BTreeMap, BTreeSet};

use raddle_judge::{Claim, Judge, Listing, ReadRule, Recording, Witness};
use raddle_trace::action::Action;
use raddle_trace::event::{Event, EventKind};
use raddle_trace::ids::{EventIndex, ThreadId};

/// Places looked at before a trace is given up as too large.
const MOST_PLACES: usize = 6_000;

/// Where orders lead.
struct Place {
    /// One of them.
    order: Vec<EventIndex>,
    /// The first event of each thread that is not executed, if there is one.
    next: Vec<EventIndex>,
    /// By byte, who wrote it.
    writers: BTreeMap<u64, u64>,
    /// The events that the judge lets come next, and where they lead.
    steps: Vec<(EventIndex, usize)>,
}

/// All reorderings of a trace.
pub struct Reorderings<'e> {
    events: &'e [Event],
    places: Vec<Place>,
}

/// Pairs of events that race in some reordering; none if there are too many to try.
pub fn races(events: &[Event]) -> Option<BTreeSet<(u64, u64)>> {
    Reorderings::of(events).map(|all| all.races())
}

impl<'e> Reorderings<'e> {
    /// None if there are too many.
    pub fn of(events: &'e [Event]) -> Option<Self> {
        let recording = Recording::new(events, None, None).unwrap();
        let judge = Judge::new(&recording);
        let threads: Vec<Vec<EventIndex>> = recording.threads().into_values().collect();
        let mut numbers: BTreeMap<State, usize> = BTreeMap::new();
        let mut places = vec![Place::new(events, &threads, Vec::new())];
        let mut at = 0;
        while at < places.len() {
            for event in places[at].next.clone() {
                let mut longer = places[at].order.clone();
                longer.push(event);
                if !is_accepted(&judge, &longer, Claim::Feasible) {
                    continue;
                }
                let state = state(events, &longer);
                let number = *numbers.entry(state).or_insert(places.len());
                if number == places.len() {
                    places.push(Place::new(events, &threads, longer));
                }
                places[at].steps.push((event, number));
            }
            if places.len() > MOST_PLACES {
                return None;
            }
            at += 1;
        }
        Some(Self { events, places })
    }

    /// Claims of a place that the judge accepts there.
    fn claims<T: Ord>(&self, candidates: impl Fn(&Place) -> Vec<(T, Claim)>) -> BTreeSet<T> {
        let recording = Recording::new(self.events, None, None).unwrap();
        let judge = Judge::new(&recording);
        let mut found = BTreeSet::new();
        for place in &self.places {
            for (name, claim) in candidates(place) {
                if !found.contains(&name) && is_accepted(&judge, &place.order, claim) {
                    found.insert(name);
                }
            }
        }
        found
    }

    /// Pairs of events that race.
    pub fn races(&self) -> BTreeSet<(u64, u64)> {
        self.claims(|place| {
            let pairs = pairs(&place.next).into_iter();
            let may_race = pairs.filter(|(a, b)| self.overlap(*a, *b));
            may_race
                .map(|(a, b)| ((a.0.min(b.0), a.0.max(b.0)), Claim::Race { a, b }))
                .collect()
        })
    }

    /// Sets of acquisitions, of two or three threads, that deadlock.
    pub fn deadlocks(&self) -> BTreeSet<BTreeSet<u64>> {
        let acquires = |event: &&EventIndex| {
            use raddle_trace::event::LockChange::Acquire;
            let action = self.events[event.0 as usize].lock_action();
            action.is_some_and(|action| matches!(action.change, Acquire(_)))
        };
        self.claims(|place| {
            let next: Vec<EventIndex> = place.next.iter().filter(acquires).copied().collect();
            let mut cycles: Vec<Vec<EventIndex>> = Vec::new();
            for (a, b) in pairs(&next) {
                cycles.push(vec![a, b]);
                for &c in next.iter().filter(|c| **c != a && **c != b) {
                    cycles.push(vec![a, b, c]);
                    cycles.push(vec![b, a, c]);
                }
            }
            let name = |cycle: &[EventIndex]| cycle.iter().map(|event| event.0).collect();
            let claims = cycles.into_iter();
            claims
                .map(|cycle| (name(&cycle), Claim::Deadlock { cycle }))
                .collect()
        })
    }

    /// Freeings, each with an access that may come after it.
    pub fn uses_after_free(&self) -> BTreeSet<(u64, u64)> {
        let is_free = |event: &&EventIndex| {
            matches!(
                self.events[event.0 as usize].kind,
                EventKind::Action {
                    action: Action::Free { .. },
                    ..
                }
            )
        };
        self.claims(|place| {
            let frees = place.order.iter().filter(is_free);
            let pairs = frees.flat_map(|free| place.next.iter().map(move |next| (*free, *next)));
            pairs
                .map(|(free, access)| {
                    let claim = Claim::UseAfterFree { free, access };
                    ((free.0, access.0), claim)
                })
                .collect()
        })
    }

    /// Whether a read can come right after a state in which one write has written all these bytes last;
    /// or nobody, if there is no write.
    pub fn sees(&self, read: EventIndex, bytes: &[u64], write: Option<EventIndex>) -> bool {
        self.places.iter().any(|place| {
            let comes = place.steps.iter().any(|(event, _)| *event == read);
            let writer = |byte: &u64| place.writers.get(byte).copied();
            comes
                && bytes
                    .iter()
                    .all(|byte| writer(byte) == write.map(|write| write.0))
        })
    }

    /// Whether events can be executed, one before the other.
    pub fn in_order(&self, events: &[EventIndex]) -> bool {
        let mut seen = BTreeSet::from([(0, 0)]);
        let mut open = vec![(0, 0)];
        while let Some((at, done)) = open.pop() {
            if done == events.len() {
                return true;
            }
            for &(event, to) in &self.places[at].steps {
                let done = match events[done..].iter().position(|one| *one == event) {
                    Some(0) => done + 1,
                    Some(_) => continue,
                    None => done,
                };
                if seen.insert((to, done)) {
                    open.push((to, done));
                }
            }
        }
        false
    }

    fn overlap(&self, a: EventIndex, b: EventIndex) -> bool {
        let footprint = |index: EventIndex| self.events[index.0 as usize].footprint();
        let (Some(a), Some(b)) = (footprint(a), footprint(b)) else {
            return false;
        };
        a.writes | b.writes && a.addr.0 < b.addr.0 + b.len && b.addr.0 < a.addr.0 + a.len
    }
}

impl Place {
    fn new(events: &[Event], threads: &[Vec<EventIndex>], order: Vec<EventIndex>) -> Self {
        let next = threads.iter().filter_map(|own| {
            let count = own.iter().filter(|event| order.contains(event)).count();
            own.get(count).copied()
        });
        Self {
            next: next.collect(),
            writers: state(events, &order).writers,
            order,
            steps: Vec::new(),
        }
    }
}

fn pairs(events: &[EventIndex]) -> Vec<(EventIndex, EventIndex)> {
    let firsts = events.iter().enumerate();
    firsts
        .flat_map(|(at, &a)| events[at + 1..].iter().map(move |&b| (a, b)))
        .collect()
}

fn is_accepted(judge: &Judge<'_, '_>, order: &[EventIndex], claim: Claim) -> bool {
    let witness = Witness {
        order: order.to_vec(),
        listing: Listing::Every,
        rule: ReadRule::SameValue,
        claim,
    };
    judge.judge(&witness).is_ok()
}

/// What the future depends on. Two orders with the same state go on alike.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct State {
    happened: BTreeSet<u64>,
    /// By byte.
    writers: BTreeMap<u64, u64>,
    /// Events that are neither accesses nor about locks nor about threads, in their order.
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
            if event.lock_action().is_none() && !is_about_threads(event) {
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

/// Of these it matters only whether they have happened.
fn is_about_threads(event: &Event) -> bool {
    matches!(
        event.kind,
        EventKind::Action {
            action: Action::Fork { .. } | Action::Begin { .. } | Action::End | Action::Join { .. },
            ..
        }
    )
}
