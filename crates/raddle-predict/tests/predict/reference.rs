//! Sync-preserving races and deadlocks, and happens-before races, straight from their definitions.
//!
//! Nothing here is shared with the analyses: it reads plain events (accesses of whole variables, locks,
//! forks and joins), works out for each pair of conflicting accesses, or for each circle of acquisitions, the
//! least prefix that is closed, and looks whether it contains one of them. It is slow and simple, and what
//! predictions are held against.
//!
//! Mathur, Pavlogiannis, Viswanathan, "Optimal prediction of synchronization-preserving races", POPL 2021;
//! Tunç, Mathur, Pavlogiannis, Viswanathan, "Sound Dynamic Deadlock Prediction in Linear Time", PLDI 2023.

use std::collections::{BTreeMap, BTreeSet};

use raddle_trace::action::Action;
use raddle_trace::event::{Event, EventKind};

/// What an event does, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Read(u64),
    Write(u64),
    Acquire(u64),
    Release(u64),
    Other,
}

/// A trace with what follows from single events.
pub struct Reference {
    what: Vec<What>,
    threads: Vec<usize>,
    /// The number of the place in the program.
    pub places: Vec<u64>,
    /// By thread: its events.
    of_thread: Vec<Vec<usize>>,
    /// By event: its number in its thread.
    numbers: Vec<usize>,
    /// By event: the fork that it needs as the first of its thread, or the end that it joins.
    awaits: Vec<Option<usize>>,
    /// By event: the write that it takes its value from.
    reads_from: Vec<Option<usize>>,
    /// Critical sections by lock, in order: acquisition and release.
    sections: BTreeMap<u64, Vec<(usize, Option<usize>)>>,
    /// By event: the locks held at it, each with the acquisition.
    held: Vec<BTreeMap<u64, usize>>,
}

/// How many events of each thread a prefix has.
type Prefix = Vec<usize>;

impl Reference {
    /// Reads a trace of plain accesses, locks, forks and joins.
    pub fn new(events: &[Event]) -> Self {
        let mut threads: BTreeMap<u32, usize> = BTreeMap::new();
        for event in events {
            let next = threads.len();
            threads.entry(event.thread.0).or_insert(next);
        }
        let mut trace = Self {
            what: Vec::new(),
            threads: Vec::new(),
            places: Vec::new(),
            of_thread: vec![Vec::new(); threads.len()],
            numbers: Vec::new(),
            awaits: vec![None; events.len()],
            reads_from: vec![None; events.len()],
            sections: BTreeMap::new(),
            held: Vec::new(),
        };
        let mut writers: BTreeMap<u64, usize> = BTreeMap::new();
        let mut forks: BTreeMap<u32, usize> = BTreeMap::new();
        // By thread: locks held, with depth and acquisition.
        let mut held = vec![BTreeMap::<u64, (usize, usize)>::new(); threads.len()];
        for (at, event) in events.iter().enumerate() {
            let thread = threads[&event.thread.0];
            trace.awaits[at] = forks.remove(&event.thread.0);
            let locks = &mut held[thread];
            let (mut what, place) = match event.kind {
                EventKind::Read(it) => (What::Read(it.addr.0), u64::from(it.site.0)),
                EventKind::Write(it) => (What::Write(it.addr.0), u64::from(it.site.0)),
                EventKind::Action { pc, action } => {
                    (trace.action(action, at, &threads, &mut forks), pc.0)
                }
                other => panic!("no plain event: {other}"),
            };
            trace.held.push(
                locks
                    .iter()
                    .map(|(lock, (_, from))| (*lock, *from))
                    .collect(),
            );
            // Only the outermost of nested acquisitions of one lock counts.
            match what {
                What::Acquire(lock) => {
                    let (depth, _) = locks.entry(lock).or_insert((0, at));
                    *depth += 1;
                    if *depth > 1 {
                        what = What::Other;
                    } else {
                        trace.sections.entry(lock).or_default().push((at, None));
                    }
                }
                What::Release(lock) => {
                    let (depth, from) = locks.get_mut(&lock).expect("a lock that is held");
                    *depth -= 1;
                    if *depth > 0 {
                        what = What::Other;
                    } else {
                        let of_lock = trace.sections.get_mut(&lock).unwrap();
                        let section = of_lock.iter_mut().find(|it| it.0 == *from).unwrap();
                        section.1 = Some(at);
                        locks.remove(&lock);
                    }
                }
                What::Read(variable) => trace.reads_from[at] = writers.get(&variable).copied(),
                What::Write(variable) => drop(writers.insert(variable, at)),
                What::Other => {}
            }
            trace.what.push(what);
            trace.threads.push(thread);
            trace.places.push(place);
            trace.numbers.push(trace.of_thread[thread].len());
            trace.of_thread[thread].push(at);
        }
        trace
    }

    fn action(
        &mut self,
        action: Action,
        at: usize,
        threads: &BTreeMap<u32, usize>,
        forks: &mut BTreeMap<u32, usize>,
    ) -> What {
        match action {
            Action::Lock { lock, .. } => What::Acquire(lock.0),
            Action::Unlock { lock } => What::Release(lock.0),
            Action::Fork { child } => {
                forks.insert(child.0, at);
                What::Other
            }
            Action::Join { thread, .. } => {
                let joined = threads.get(&thread.0).map(|it| &self.of_thread[*it]);
                let last = joined.and_then(|it| it.last().copied());
                self.awaits[at] = last.or(self.awaits[at]);
                What::Other
            }
            Action::Begin { .. } | Action::End | Action::Request { .. } => What::Other,
            other => panic!("no plain action: {other:?}"),
        }
    }

    fn contains(&self, prefix: &Prefix, at: usize) -> bool {
        self.numbers[at] < prefix[self.threads[at]]
    }

    /// Takes in an event with all that comes before it in its thread, and all that these need.
    fn take(&self, prefix: &mut Prefix, at: usize) {
        let thread = self.threads[at];
        while prefix[thread] <= self.numbers[at] {
            let event = self.of_thread[thread][prefix[thread]];
            prefix[thread] += 1;
            for needed in [self.awaits[event], self.reads_from[event]]
                .into_iter()
                .flatten()
            {
                self.take(prefix, needed);
            }
        }
    }

    /// Takes in what comes before an event, and the fork that makes it possible.
    fn take_before(&self, prefix: &mut Prefix, at: usize) {
        match self.numbers[at].checked_sub(1) {
            Some(before) => self.take(prefix, self.of_thread[self.threads[at]][before]),
            None => self.awaits[at]
                .iter()
                .for_each(|fork| self.take(prefix, *fork)),
        }
    }

    /// Closes a prefix under the releases of critical sections that are followed by others of their locks;
    /// false if there is none of one.
    fn close(&self, prefix: &mut Prefix) -> bool {
        loop {
            let before = prefix.clone();
            for sections in self.sections.values() {
                let mut later = false;
                for &(acquire, release) in sections.iter().rev() {
                    if !self.contains(prefix, acquire) {
                        continue;
                    }
                    match release {
                        _ if !later => {}
                        Some(release) => self.take(prefix, release),
                        None => return false,
                    }
                    later = true;
                }
            }
            if *prefix == before {
                return true;
            }
        }
    }

    /// Whether events of different threads can be next at the same time in a reordering that keeps the order
    /// of critical sections.
    pub fn meet(&self, events: &[usize]) -> bool {
        let mut prefix = vec![0; self.of_thread.len()];
        events
            .iter()
            .for_each(|at| self.take_before(&mut prefix, *at));
        self.close(&mut prefix) && !events.iter().any(|at| self.contains(&prefix, *at))
    }

    /// Pairs of conflicting accesses of different threads.
    fn conflicts(&self) -> Vec<(usize, usize)> {
        let mut accesses: BTreeMap<u64, Vec<(usize, bool)>> = BTreeMap::new();
        for (at, what) in self.what.iter().enumerate() {
            match *what {
                What::Read(variable) => accesses.entry(variable).or_default().push((at, false)),
                What::Write(variable) => accesses.entry(variable).or_default().push((at, true)),
                _ => {}
            }
        }
        let mut pairs = Vec::new();
        for list in accesses.values() {
            for (number, &(b, b_writes)) in list.iter().enumerate() {
                let earlier = list[..number].iter();
                let conflicting = earlier.filter(|(a, a_writes)| {
                    self.threads[*a] != self.threads[b] && (*a_writes || b_writes)
                });
                pairs.extend(conflicting.map(|(a, _)| (*a, b)));
            }
        }
        pairs
    }

    fn share_a_lock(&self, a: usize, b: usize) -> bool {
        self.held[a]
            .keys()
            .any(|lock| self.held[b].contains_key(lock))
    }

    /// Pairs of places, the smaller first, of which some accesses race in a sync-preserving reordering.
    pub fn races(&self) -> BTreeSet<(u64, u64)> {
        let mut found = BTreeSet::new();
        for (a, b) in self.conflicts() {
            let (one, other) = (self.places[a], self.places[b]);
            let places = (one.min(other), one.max(other));
            if !found.contains(&places) && !self.share_a_lock(a, b) && self.meet(&[a, b]) {
                found.insert(places);
            }
        }
        found
    }

    /// Places of later accesses that race with an earlier one.
    pub fn racy_places(&self) -> BTreeSet<u64> {
        let mut found = BTreeSet::new();
        for (a, b) in self.conflicts() {
            let place = self.places[b];
            if !found.contains(&place) && !self.share_a_lock(a, b) && self.meet(&[a, b]) {
                found.insert(place);
            }
        }
        found
    }

    /// Whether happens-before leaves two accesses unordered: program order, forks, joins, and each release
    /// before the next acquisition of its lock.
    pub fn is_unordered(&self, a: usize, b: usize) -> bool {
        let (a, b) = (a.min(b), a.max(b));
        let mut after = vec![false; self.what.len()];
        after[a] = true;
        for at in a + 1..=b {
            let own = &self.of_thread[self.threads[at]][..self.numbers[at]];
            let by_thread = own.last().is_some_and(|before| after[*before]);
            let by_thread = by_thread || self.awaits[at].is_some_and(|it| after[it]);
            let by_lock = match self.what[at] {
                What::Acquire(lock) => {
                    let sections = self.sections[&lock].iter();
                    let mut earlier = sections.filter(|(acquire, _)| *acquire < at);
                    earlier.any(|(_, release)| release.is_some_and(|it| it < at && after[it]))
                }
                _ => false,
            };
            after[at] = by_thread || by_lock;
        }
        !after[b]
    }

    /// Sets of places of acquisitions that deadlock in a sync-preserving reordering. Each waits for a lock
    /// that the next one's thread holds, all are of different threads, and no two hold a lock in common.
    pub fn deadlocks(&self, longest: usize) -> BTreeSet<Vec<u64>> {
        let acquisitions = self.what.iter().enumerate();
        let nested: Vec<(usize, u64)> = acquisitions
            .filter_map(|(at, what)| match *what {
                What::Acquire(lock) if !self.held[at].is_empty() => Some((at, lock)),
                _ => None,
            })
            .collect();
        let mut found = BTreeSet::new();
        for &first in &nested {
            self.extend(&nested, &mut vec![first], longest, &mut found);
        }
        found
    }

    fn extend(
        &self,
        nested: &[(usize, u64)],
        path: &mut Vec<(usize, u64)>,
        longest: usize,
        found: &mut BTreeSet<Vec<u64>>,
    ) {
        let (first, wanted) = (path[0], path[path.len() - 1].1);
        if path.len() > 1 && self.held[first.0].contains_key(&wanted) {
            let events: Vec<usize> = path.iter().map(|it| it.0).collect();
            let mut places: Vec<u64> = events.iter().map(|at| self.places[*at]).collect();
            places.sort_unstable();
            if !found.contains(&places) && self.meet(&events) {
                found.insert(places);
            }
        }
        if path.len() == longest {
            return;
        }
        for &next in nested {
            let fits = path.iter().all(|other| {
                self.threads[other.0] != self.threads[next.0] && !self.share_a_lock(other.0, next.0)
            });
            if fits && next.0 > first.0 && self.held[next.0].contains_key(&wanted) {
                path.push(next);
                self.extend(nested, path, longest, found);
                path.pop();
            }
        }
    }
}
