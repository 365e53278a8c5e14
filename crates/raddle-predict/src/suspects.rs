//! The candidates of all analyses, each with the ways to it, as cases for the provers.

use raddle_trace::event::Event;

use crate::candidate::{Candidate, Flaw, Way};
use crate::case::Case;
use crate::clocks::Clocks;
use crate::findings::{self, Pair};
use crate::patterns::{self, Basis, Pattern, PatternKind, Units};
use crate::predictor::{Kind, Method, Run, Weight};
use crate::provers::Patience;
use crate::sync_preserving::{Race, Races, SyncPreserving};
use crate::table::Table;
use crate::view::{Pos, View};
use crate::{deadlock, hb, hybrid};

/// Ways to a candidate that are tried before second ways to others are.
const EAGER_WAYS: usize = 4;

/// The candidates of all analyses.
pub(crate) struct Suspects<'v> {
    view: &'v View,
    clocks: &'v Clocks,
    search: &'v SyncPreserving<'v>,
    pub(crate) cases: Vec<Case>,
    pub(crate) notes: Vec<String>,
}

impl<'v> Suspects<'v> {
    /// None yet.
    pub(crate) fn new(view: &'v View, clocks: &'v Clocks, search: &'v SyncPreserving<'v>) -> Self {
        Self {
            view,
            clocks,
            search,
            cases: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// One case for each two instructions with independent conflicting accesses. Those that have a race which
    /// keeps the order of critical sections come with it; the others, and if `all` these too, with ways to
    /// their groups of instances. Without time, none is looked for.
    pub(crate) fn add_races(&mut self, patience: Patience, all: bool) {
        let (view, search) = (self.view, self.search);
        let limits = hybrid::Limits {
            until: patience.until,
            ..hybrid::Limits::default()
        };
        let candidates = hybrid::candidates(view, self.clocks, limits);
        if candidates.cut_cells > 0 {
            let cells = candidates.cut_cells;
            let note = format!("races: not all accesses to {cells} places in memory were compared");
            self.notes.push(note);
        }
        let has_time = !patience.is_over();
        let found = match has_time {
            true => search.races_until(patience.until),
            false => Races::default(),
        };
        if found.cut_cells > 0 {
            let cells = found.cut_cells;
            let note = format!(
                "races: accesses to {cells} places in memory were not tried for a race that keeps the order of \
                 critical sections, for want of time (--time gives more)"
            );
            self.notes.push(note);
        }
        if found.cut_pairs > 0 {
            let pairs = found.cut_pairs;
            let note = format!(
                "races: for {pairs} pairs of places not every instance was tried for a race that keeps the \
                 order of critical sections, because they are too many"
            );
            self.notes.push(note);
        }
        let key = |a: Pos, b: Pos| findings::key(view, a, b);
        let unordered = match has_time {
            true => hb::races(view),
            false => Vec::new(),
        };
        let unordered: Table<(u64, u64), &Pair> =
            unordered.iter().map(|it| (key(it.a, it.b), it)).collect();
        let mut preserving: Table<(u64, u64), &Race> =
            found.races.iter().map(|it| (key(it.a, it.b), it)).collect();
        let proof = |sources: &(u64, u64), race: Option<&Race>| {
            let pair = unordered.get(sources);
            let open = pair.and_then(|pair| search.race(pair.a, pair.b));
            match (open, race) {
                (Some(race), _) => Some((Method::HappensBefore, race)),
                (None, race) => Some((Method::SyncPreserving, race?.clone())),
            }
        };
        for (pair, groups) in candidates.pairs.iter().zip(&candidates.groups) {
            let sources = key(pair.a, pair.b);
            let proof = proof(&sources, preserving.remove(&sources));
            let mut case = Case::of_race(view, (pair.a, pair.b), pair.instances);
            if all || proof.is_none() {
                let instances = groups.instances(view, &candidates.manners, search.order());
                case.add_races(view, &instances);
            }
            if let Some((method, race)) = proof {
                case.show_race(view, method, &race);
            }
            self.cases.push(case);
        }
        // What is left was not compared above.
        let left = found.races.iter();
        for race in left.filter(|it| preserving.contains_key(&key(it.a, it.b))) {
            let proof = proof(&key(race.a, race.b), Some(race));
            let mut case = Case::of_race(view, (race.a, race.b), 1);
            if let Some((method, race)) = proof {
                case.show_race(view, method, &race);
            }
            self.cases.push(case);
        }
    }

    /// Threads that wait for each other, or for what will not come.
    pub(crate) fn add_deadlocks(&mut self, events: &[Event]) {
        let limits = deadlock::Limits::default();
        let found = deadlock::search(self.view, events, self.clocks, limits);
        if found.is_cut {
            let candidates = found.candidates.len();
            self.notes.push(format!(
                "deadlocks: the search for threads that wait for each other ended after {candidates} \
                 candidates, because there are too many"
            ));
        }
        self.add(found.candidates);
    }

    /// Accesses that may come in the order of a pattern.
    pub(crate) fn add_matches(
        &mut self,
        patterns: &[Pattern],
        Run { atomic, is_own, .. }: Run<'_>,
        patience: Patience,
    ) {
        let view = self.view;
        let mut units = Units::new(view);
        units.mark(view, atomic);
        let limits = patterns::Limits {
            until: patience.until,
            ..patterns::Limits::default()
        };
        let found = patterns::search(view, self.clocks, patterns, &units, limits);
        self.notes.extend(found.cut.notes());
        for found in found.matches {
            let pattern = &patterns[found.pattern];
            let events = found.first.events.iter();
            if !events.clone().all(|pos| is_own(view.event_index(*pos))) {
                continue;
            }
            let kind = match pattern.kind {
                PatternKind::DataRace => Kind::DataRace,
                PatternKind::AtomicityViolation => Kind::AtomicityViolation,
                PatternKind::AtomicSetViolation => Kind::AtomicSetViolation,
                PatternKind::User => Kind::Pattern(pattern.name.clone()),
            };
            let is_users = pattern.kind == PatternKind::User;
            let weight = match found.basis {
                _ if is_users => Weight::Bug,
                Some(Basis::Marked) => Weight::Bug,
                Some(Basis::Lock) if !found.guarded && !found.all_atomic => Weight::Anomaly,
                Some(Basis::Lock | Basis::Suspected) | None => Weight::Suspicion,
            };
            let instances = std::iter::once(&found.first).chain(&found.others);
            let ways: Vec<Way> = instances
                .zip(found.goals(patterns))
                .map(|(instance, goal)| Way {
                    goal,
                    then: Vec::new(),
                    claim: instance.claim(view, pattern),
                })
                .collect();
            let events = found.first.events.iter();
            let events = events.map(|pos| view.event_index(*pos)).collect();
            self.cases.push(Case {
                kind,
                weight,
                instances: found.instances,
                events,
                ways,
                left_out: found.left_out,
                eager: EAGER_WAYS,
                circle: None,
                shape: Some(pattern.shape()),
                schedules: Vec::new(),
                refused: 0,
            });
        }
    }

    /// Likely bugs of other kinds.
    pub(crate) fn add(&mut self, candidates: Vec<Candidate>) {
        for candidate in candidates {
            let Some(first) = candidate.ways.first() else {
                continue;
            };
            let kind = match candidate.flaw {
                Flaw::Deadlock | Flaw::LostWakeUp => Kind::Deadlock,
                Flaw::UseAfterFree => Kind::UseAfterFree,
                Flaw::DoubleFree => Kind::DoubleFree,
                Flaw::NullDereference => Kind::NullDereference,
                Flaw::UninitialisedRead => Kind::UninitialisedRead,
            };
            self.cases.push(Case {
                kind,
                weight: Weight::Bug,
                instances: candidate.instances,
                events: first.telling_events(self.view),
                ways: candidate.ways.clone(),
                left_out: candidate.left_out,
                eager: EAGER_WAYS,
                circle: Some(candidate),
                shape: None,
                schedules: Vec::new(),
                refused: 0,
            });
        }
    }
}
