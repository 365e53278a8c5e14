//! Every sync-preserving race and deadlock of a trace is proved, as sets of places, whichever of their instances
//! has it; and what proofs are called is true. Held against the definitions, on published traces and random ones.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use raddle_judge::{Claim, Judge, Listing, ReadRule, Recording, Sitting, Witness};
use raddle_predict::Order;
use raddle_predict::predictor::{Kind, Method, Options, Predicted, Run, predict};
use raddle_trace::event::Event;
use raddle_trace::file::Trailer;
use raddle_trace::ids::EventIndex;
use raddle_trace::std_format::StdImport;

use crate::machine::Random;
use crate::reference::Reference;

/// An imported trace with what is predicted from it.
struct Imported {
    events: Vec<Event>,
    tables: Trailer,
    predicted: Predicted,
}

/// Orders that lack one of their last events, of each that is proved.
const MOST_LACKING: usize = 4;

/// A sitting accepts what follows the start of an accepted order, and says of orders that lack an event what the judge says.
fn check_sitting(
    judge: &Judge<'_, '_>,
    sitting: &mut Sitting<'_, '_>,
    order: &Order,
    witness: &Witness,
) {
    let (start, rest) = (order.start(), order.rest());
    let departing = |order: Vec<EventIndex>| Witness {
        order,
        ..witness.clone()
    };
    let whole = |rest: &[EventIndex]| {
        let passed = (0..start as u64).map(EventIndex);
        departing(passed.chain(rest.iter().copied()).collect())
    };
    let accepted = sitting.judge(start, &departing(rest.to_vec()));
    assert_eq!(accepted.map_err(|it| it.to_string()).err(), None);
    for lacking in (0..rest.len()).rev().take(MOST_LACKING) {
        let mut rest = rest.to_vec();
        rest.remove(lacking);
        let here = sitting.judge(start, &departing(rest.clone()));
        let there = judge.judge(&whole(&rest));
        let there = there.map(|verdict| verdict.order[start..].to_vec());
        assert_eq!(here.map(|verdict| verdict.order), there);
    }
}

/// Longest deadlocks that the reference looks for.
const LONGEST: usize = 5;

impl Imported {
    fn new(text: &[u8], options: &Options) -> Self {
        let mut import = StdImport::new(text);
        let events: Result<Vec<Event>, _> = import.by_ref().collect();
        let events = events.expect("a trace");
        let tables = Trailer {
            names: Some(import.into_names()),
            ..Trailer::default()
        };
        let run = Run {
            events: &events,
            rule: ReadRule::SameWrite,
            hidden: &[],
            atomic: &[],
            is_own: &|_| true,
            relaxation: None,
        };
        let predicted = predict(run, options).expect("a view");
        Self {
            events,
            tables,
            predicted,
        }
    }

    /// The claims that were proved, each with the method and an order that the judge accepts.
    fn proved(&self, kind: Kind) -> Vec<(Method, Claim)> {
        let recording = Recording::new(&self.events, Some(&self.tables), None).expect("a trace");
        let judge = Judge::new(&recording);
        let mut sitting = Sitting::new(&recording);
        let predictions = self.predicted.predictions.iter();
        let schedules = predictions
            .filter(|it| it.kind == kind)
            .flat_map(|it| &it.schedules);
        let proofs = schedules.filter(|it| it.method.is_proof() && it.claim != Claim::Feasible);
        let mut proved = Vec::new();
        for proof in proofs {
            let witness = Witness {
                order: proof.order.to_vec(),
                listing: Listing::Some,
                rule: ReadRule::SameWrite,
                claim: proof.claim.clone(),
            };
            if let Err(objection) = judge.judge(&witness) {
                panic!("{objection}: {witness:?}");
            }
            check_sitting(&judge, &mut sitting, &proof.order, &witness);
            proved.push((proof.method, proof.claim.clone()));
        }
        proved
    }

    /// Pairs of places with a race that was proved, with what proved them.
    fn races(&self, reference: &Reference) -> BTreeMap<(u64, u64), Method> {
        let proved = self.proved(Kind::DataRace).into_iter();
        let races = proved.map(|(method, claim)| {
            let Claim::Race { a, b } = claim else {
                panic!("no race: {claim:?}");
            };
            let place = |index: EventIndex| reference.places[index.0 as usize];
            let (a, b) = (place(a), place(b));
            ((a.min(b), a.max(b)), method)
        });
        races.collect()
    }

    fn deadlocks(&self, reference: &Reference) -> BTreeSet<Vec<u64>> {
        let proved = self.proved(Kind::Deadlock).into_iter();
        let places = proved.map(|(_, claim)| {
            let events = claim.events().into_iter();
            let mut places: Vec<u64> = events.map(|it| reference.places[it.0 as usize]).collect();
            places.sort_unstable();
            places
        });
        places.collect()
    }

    /// Holds everything against the reference.
    fn check(&self, name: &str) -> Counts {
        let reference = Reference::new(&self.events);
        let (races, expected) = (self.races(&reference), reference.races());
        let missing: Vec<_> = expected
            .iter()
            .filter(|it| !races.contains_key(it))
            .collect();
        assert!(missing.is_empty(), "{name}: races {missing:?} are lost");
        let (deadlocks, circles) = (self.deadlocks(&reference), reference.deadlocks(LONGEST));
        let missing: Vec<_> = circles.difference(&deadlocks).collect();
        assert!(missing.is_empty(), "{name}: deadlocks {missing:?} are lost");
        self.check_labels(name, &reference);
        Counts {
            races: expected.len(),
            deadlocks: circles.len(),
            others: races.len() - expected.len(),
        }
    }

    /// What a proof is called is what it is.
    fn check_labels(&self, name: &str, reference: &Reference) {
        let racing = reference.races();
        for (method, claim) in self.proved(Kind::DataRace) {
            let events: Vec<usize> = claim.events().iter().map(|it| it.0 as usize).collect();
            let is_preserving = reference.meet(&events);
            let is_called_so = matches!(method, Method::SyncPreserving | Method::HappensBefore);
            assert_eq!(
                is_called_so, is_preserving,
                "{name}: {claim:?} by {method:?}"
            );
            let is_unordered = reference.is_unordered(events[0], events[1]);
            assert!(
                method != Method::HappensBefore || is_unordered,
                "{name}: {claim:?} is ordered by happens-before"
            );
            let [a, b] = [events[0], events[1]].map(|it| reference.places[it]);
            let may_be = racing.contains(&(a.min(b), a.max(b)));
            assert!(is_preserving || !may_be, "{name}: {claim:?} by {method:?}");
        }
        for (method, claim) in self.proved(Kind::Deadlock) {
            let events: Vec<usize> = claim.events().iter().map(|it| it.0 as usize).collect();
            let is_called_so = method == Method::SyncPreserving;
            assert_eq!(
                is_called_so,
                reference.meet(&events),
                "{name}: {claim:?} by {method:?}"
            );
        }
    }
}

/// What a trace has: by the definition, and races proved beyond it.
#[derive(Debug, Default)]
struct Counts {
    races: usize,
    deadlocks: usize,
    others: usize,
}

fn published(name: &str) -> Vec<u8> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/std");
    fs::read(folder.join(format!("{name}.std"))).expect("a readable trace")
}

/// No patterns: they take their time, and are not in question here.
fn options() -> Options {
    Options {
        patterns: Vec::new(),
        ..Options::default()
    }
}

#[test]
fn published_traces_lose_no_race_and_no_deadlock() {
    // Pairs of places with a sync-preserving race, places of later accesses, and deadlocks. The latter two are
    // the published results.
    for (name, races, places, deadlocks) in [
        ("Account", 3, 2, 0),
        ("Bensalem", 0, 0, 1),
        ("Deadlock", 2, 1, 0),
        ("DiningPhil", 0, 0, 1),
        ("StringBuffer", 0, 0, 2),
        ("Transfer", 0, 0, 0),
        ("demo_Stack", 11, 11, 0),
    ] {
        let imported = Imported::new(&published(name), &options());
        let counts = imported.check(name);
        eprintln!("{name}: {counts:?}");
        let reference = Reference::new(&imported.events);
        assert_eq!(reference.racy_places().len(), places, "{name}");
        assert_eq!(counts.deadlocks, deadlocks, "{name}: {counts:?}");
        assert_eq!(counts.races, races, "{name}: {counts:?}");
    }
}

/// The methods that proved a race of a trace in which all accesses to `x` are at two places.
fn methods(lines: &[&str]) -> Vec<Method> {
    let text = lines.join("\n") + "\n";
    let imported = Imported::new(text.as_bytes(), &options());
    imported.check(&text);
    let proved = imported.proved(Kind::DataRace).into_iter();
    proved.map(|it| it.0).collect()
}

#[test]
fn a_later_instance_races_where_the_first_is_ordered() {
    let mut lines = vec!["T0|fork(T1)|1", "T0|fork(T2)|1"];
    // What T2 reads of `y` puts its write after that of T1.
    lines.extend(["T1|w(x)|3", "T1|acq(m)|7", "T1|w(y)|4", "T1|rel(m)|8"]);
    lines.extend(["T2|acq(m)|7", "T2|r(y)|5", "T2|rel(m)|8", "T2|w(x)|6"]);
    assert_eq!(methods(&lines), []);
    lines.push("T1|w(x)|3");
    assert_eq!(methods(&lines), [Method::HappensBefore]);
}

#[test]
fn a_later_instance_races_if_critical_sections_change_places() {
    let mut lines = vec!["T0|fork(T1)|1", "T0|fork(T2)|1"];
    lines.extend(["T1|w(x)|3", "T1|acq(m)|7", "T1|w(y)|4", "T1|rel(m)|8"]);
    lines.extend(["T2|acq(m)|7", "T2|r(y)|5", "T2|rel(m)|8"]);
    // Both sides hold the lock here.
    lines.extend(["T2|acq(l)|7", "T2|w(x)|6", "T2|rel(l)|8"]);
    lines.extend(["T1|acq(l)|7", "T1|w(x)|3", "T1|rel(l)|8"]);
    assert_eq!(methods(&lines), []);
    lines.extend(["T2|acq(l)|7", "T2|rel(l)|8", "T2|w(x)|6"]);
    assert_eq!(methods(&lines), [Method::LockReordering]);
}

#[test]
fn what_is_not_tried_is_told_with_numbers() {
    let imported = Imported::new(&published("demo_Stack"), &options());
    let notes = &imported.predicted.notes;
    let expected = "candidates that nothing proved have";
    assert!(notes.iter().any(|it| it.contains(expected)), "{notes:?}");
    let imported = Imported::new(&published("Account"), &options());
    assert_eq!(imported.predicted.notes, [""; 0]);
}

/// A random trace in which few places are executed again and again, by all threads, on other variables and under
/// other locks.
fn random_trace(random: &mut Random) -> String {
    let threads = 2 + random.below(3);
    let (locks, variables) = (1 + random.below(3), 1 + random.below(3));
    let places = 1 + random.below(4);
    let kinds = 5 + random.below(5);
    let nests = random.below(2) == 0;
    let mut held: Vec<Vec<u64>> = vec![Vec::new(); threads as usize];
    let mut text = String::new();
    let mut line = |thread: u64, what: &str, place: u64| {
        text.push_str(&format!("T{thread}|{what}|{place}\n"));
    };
    for thread in 1..threads {
        line(0, &format!("fork(T{thread})"), 1);
    }
    let mut thread = 0;
    for _ in 0..20 + random.below(30) {
        if random.below(3) == 0 {
            thread = random.below(threads);
        }
        let place = random.below(places);
        let own = &mut held[thread as usize];
        match random.below(kinds) {
            0..=2 if own.len() < 2 => {
                let lock = random.below(locks);
                if held.iter().flatten().all(|it| *it != lock) {
                    held[thread as usize].push(lock);
                    line(thread, &format!("acq(l{lock})"), 10 + place);
                }
            }
            2 | 3 => {
                if let Some(lock) = own.pop() {
                    line(thread, &format!("rel(l{lock})"), 20);
                }
            }
            4 if nests && own.is_empty() => {
                let (outer, inner) = (random.below(locks), random.below(locks));
                let is_free = |lock| held.iter().flatten().all(|it| *it != lock);
                if outer != inner && is_free(outer) && is_free(inner) {
                    line(thread, &format!("acq(l{outer})"), 10 + place);
                    line(thread, &format!("acq(l{inner})"), 15 + random.below(places));
                    line(thread, &format!("rel(l{inner})"), 20);
                    line(thread, &format!("rel(l{outer})"), 20);
                }
            }
            kind => {
                let op = if kind % 3 == 0 { "w" } else { "r" };
                let variable = random.below(variables);
                line(thread, &format!("{op}(x{variable})"), 30 + place);
            }
        }
    }
    for (thread, own) in held.iter().enumerate() {
        for lock in own.iter().rev().filter(|_| random.below(4) > 0) {
            line(thread as u64, &format!("rel(l{lock})"), 20);
        }
    }
    text
}

#[test]
fn random_traces_lose_no_race_and_no_deadlock() {
    let mut random = Random(3);
    let mut all = Counts::default();
    for round in 0..3000 {
        let text = random_trace(&mut random);
        let imported = Imported::new(text.as_bytes(), &options());
        let counts = imported.check(&format!("round {round}:\n{text}"));
        all.races += counts.races;
        all.deadlocks += counts.deadlocks;
        all.others += counts.others;
    }
    assert!(all.races > 3000 && all.deadlocks > 100, "{all:?}");
    assert!(all.others > 10, "{all:?}: nothing was to be told apart");
}

#[test]
fn other_instances_of_what_is_proved_have_orders_too() {
    let mut random = Random(4);
    let mut several = 0;
    for round in 0..300 {
        let text = random_trace(&mut random);
        let options = Options {
            alternatives: 2,
            ..options()
        };
        let imported = Imported::new(text.as_bytes(), &options);
        imported.check(&format!("round {round}:\n{text}"));
        for prediction in &imported.predicted.predictions {
            let proofs = prediction
                .schedules
                .iter()
                .filter(|it| it.method.is_proof());
            let claims: Vec<&Claim> = proofs.map(|it| &it.claim).collect();
            let distinct = (1..claims.len()).all(|at| !claims[..at].contains(&claims[at]));
            assert!(distinct && claims.len() <= 3, "{claims:?}");
            several += usize::from(claims.len() > 1);
        }
    }
    assert!(several > 100, "only {several} have several orders");
}
