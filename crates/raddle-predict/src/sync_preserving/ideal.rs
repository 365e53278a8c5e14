//! The sync-preserving ideal, grown step by step.
//!
//! An ideal has, of each thread, the events below a bound. It only grows: as the search goes to
//! later pairs of accesses, the ideal of the pair before is where the next one starts.

use std::ops::Range;

use raddle_trace::ids::EventIndex;

use super::SyncPreserving;
use super::frontier::Frontier;
use crate::clocks::{Clock, raise};
use crate::order::Order;
use crate::view::{Kind, Lane, Pos, SyncId, View};

/// Held locks that cost as much as a row of the lock table.
const HELD_A_ROW: usize = 16;

/// A set of events, closed: of each thread, the kept events below a bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ideal {
    bounds: Box<[u32]>,
}

impl Ideal {
    /// Its events in trace order.
    #[must_use]
    pub fn events(&self, view: &View) -> Vec<EventIndex> {
        below(view, &self.bounds)
    }

    /// The same as an order: most of it is the trace's beginning, which is not listed.
    pub(crate) fn order(&self, view: &View) -> Order {
        let missing = |(lane, bound): (usize, &u32)| {
            let own = view.lane_events(Lane(lane as u16));
            let first = own.partition_point(|pos| pos.0 < *bound);
            own.get(first).map(|pos| pos.index())
        };
        let missing = self.bounds.iter().enumerate().filter_map(missing).min();
        let shared = missing.unwrap_or(view.len());
        let rest = from_to(view, shared as u32, &self.bounds);
        Order::new(view.event_indices(), shared, rest)
    }

    /// Whether an event is in it.
    #[must_use]
    pub fn contains(&self, view: &View, pos: Pos) -> bool {
        pos.0 < self.bounds[view.lane(pos).index()]
    }
}

/// The events below a bound of each thread, in trace order.
pub(super) fn below(view: &View, bounds: &Clock) -> Vec<EventIndex> {
    from_to(view, 0, bounds)
}

/// Those from a position on.
fn from_to(view: &View, start: u32, bounds: &Clock) -> Vec<EventIndex> {
    let end = bounds.iter().copied().max().unwrap_or(0);
    (start..end.min(view.len() as u32))
        .map(Pos)
        .filter(|&pos| pos.0 < bounds[view.lane(pos).index()])
        .map(|pos| view.event_index(pos))
        .collect()
}

/// An ideal that grows.
pub(super) struct Closure<'s, 'v> {
    search: &'s SyncPreserving<'v>,
    bounds: Vec<u32>,
    /// The bounds whose acquisitions are closed or on the agenda.
    frontier: Frontier<'s>,
    /// Acquisitions that threads have come by, while they are listed.
    passed: Vec<(Lane, Range<usize>)>,
    /// Locks to look at.
    agenda: Vec<SyncId>,
    on_agenda: Vec<bool>,
    /// By row of the lock table: holds that have begun, if the stamp is the current one.
    begun: Vec<(u32, u32)>,
    stamp: u32,
    /// A row's last acquisition in the ideal, of the lock that is looked at.
    latest: Vec<Option<Pos>>,
    /// A lock that was never released had to be.
    is_impossible: bool,
    /// What was done so far, in rows of locks looked at.
    work: u64,
}

/// What comes of two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Both can be next.
    Race,
    /// The earlier one cannot be next any more.
    EarlierPassed,
    /// The later one cannot be next any more.
    LaterPassed,
    /// Neither these nor later ones can.
    Impossible,
}

impl<'s, 'v> Closure<'s, 'v> {
    pub(super) fn new(search: &'s SyncPreserving<'v>) -> Self {
        let width = search.view.threads().len();
        let syncs = search.view.syncs().len();
        Self {
            search,
            bounds: vec![0; width],
            frontier: Frontier::new(&search.locks, width, syncs),
            passed: Vec::new(),
            agenda: Vec::new(),
            on_agenda: vec![false; syncs],
            begun: vec![(0, 0); search.locks.row_count()],
            stamp: 1,
            latest: Vec::new(),
            is_impossible: false,
            work: 0,
        }
    }

    /// Starts again with nothing.
    pub(super) fn clear(&mut self) {
        self.bounds.fill(0);
        self.frontier.clear();
        for lock in self.agenda.drain(..) {
            self.on_agenda[lock.index()] = false;
        }
        self.stamp += 1;
        self.is_impossible = false;
    }

    /// Where it grows.
    pub(super) fn search(&self) -> &'s SyncPreserving<'v> {
        self.search
    }

    /// How much was done so far.
    pub(super) fn work(&self) -> u64 {
        self.work
    }

    pub(super) fn contains(&self, pos: Pos) -> bool {
        pos.0 < self.bounds[self.search.view.lane(pos).index()]
    }

    pub(super) fn ideal(&self) -> Ideal {
        Ideal {
            bounds: self.bounds.as_slice().into(),
        }
    }

    /// Takes in what two accesses need to be next. Stops as soon as they cannot be; what is left to
    /// close then is closed when the next ones are taken in.
    pub(super) fn raise(&mut self, a: Pos, b: Pos) -> Outcome {
        self.seed(a, b);
        self.seed(b, a);
        loop {
            if self.is_impossible {
                return Outcome::Impossible;
            }
            if self.contains(b) || self.is_spoilt(b, a) {
                return Outcome::LaterPassed;
            }
            if self.contains(a) || self.is_spoilt(a, b) {
                return Outcome::EarlierPassed;
            }
            if !self.close_some() {
                return Outcome::Race;
            }
        }
    }

    /// Takes in an event and all that it needs.
    pub(super) fn execute(&mut self, pos: Pos) {
        let SyncPreserving { view, order, .. } = self.search;
        order.join(view, pos, &mut self.bounds);
    }

    /// Takes in all that comes before an event, and what it must come after for another reason than
    /// that it waits for it.
    pub(super) fn approach(&mut self, pos: Pos) {
        self.search.approach(pos, &mut self.bounds);
    }

    /// Takes in a load, whatever it reads, because nothing of its thread comes after it.
    pub(super) fn execute_last(&mut self, pos: Pos) {
        self.approach(pos);
        raise(
            &mut self.bounds[self.search.view.lane(pos).index()],
            pos.0 + 1,
        );
    }

    /// Takes in all that is missing; false if that cannot be.
    pub(super) fn close(&mut self) -> bool {
        while !self.is_impossible && self.close_some() {}
        !self.is_impossible
    }

    /// Of each thread, the bound below which its events are in the ideal.
    pub(super) fn bounds(&self) -> &Clock {
        &self.bounds
    }

    /// Closes one lock; false if all are.
    fn close_some(&mut self) -> bool {
        self.list_locks();
        let Some(lock) = self.agenda.pop() else {
            return false;
        };
        self.on_agenda[lock.index()] = false;
        self.close_lock(lock);
        true
    }

    /// Whether an access would find another value than it did, and that matters. It stays so as the
    /// ideal grows.
    fn is_spoilt(&self, access: Pos, other: Pos) -> bool {
        let view = self.search.view;
        let overwrites = |(_, accesses): (Lane, &[Pos])| {
            let after = accesses.partition_point(|pos| *pos <= access);
            let later = accesses[after..].iter();
            later
                .take_while(|pos| self.contains(**pos))
                .any(|pos| view.writes(*pos))
        };
        value_matters(view, access, other)
            && view
                .cells_of(access)
                .any(|cell| view.accesses(cell).any(overwrites))
    }

    /// What comes before an access, what it must come after, and, if that matters, what it takes its
    /// value from.
    fn seed(&mut self, access: Pos, other: Pos) {
        let SyncPreserving { view, order, .. } = self.search;
        if value_matters(view, access, other) {
            let lane = view.lane(access).index();
            let own = self.bounds[lane].max(access.0);
            self.bounds[lane] = u32::MAX;
            order.join(view, access, &mut self.bounds);
            self.bounds[lane] = own;
            return;
        }
        self.approach(access);
    }

    /// Puts the locks on the agenda that new events acquire and that are held where the ideal ends.
    fn list_locks(&mut self) {
        self.passed.clear();
        for (lane, bound) in self.bounds.iter().enumerate() {
            let lane = Lane(lane as u16);
            let passed = self.frontier.advance(lane, *bound);
            if !passed.is_empty() {
                self.passed.push((lane, passed));
            }
        }
        if !self.passed.is_empty() {
            self.work += (self.passed.len() + self.frontier.held_count() / HELD_A_ROW) as u64;
        }
        let frontier = &self.frontier;
        for (lane, passed) in self.passed.drain(..) {
            let mut list = |lock: SyncId| {
                if !self.on_agenda[lock.index()] {
                    self.on_agenda[lock.index()] = true;
                    self.agenda.push(lock);
                }
            };
            if passed.len() > frontier.held_count() {
                frontier.held().for_each(list);
                continue;
            }
            for acquisition in self.search.locks.acquisitions(lane).get(passed) {
                if frontier.is_held(acquisition.lock) {
                    list(acquisition.lock);
                }
            }
        }
    }

    /// Of two holds of a lock that exclude each other, the earlier one ends: for each thread, it is
    /// enough that its last hold does that begins before the last one that excludes it.
    fn close_lock(&mut self, lock: SyncId) {
        let SyncPreserving { view, order, locks } = self.search;
        let rows = locks.row_numbers(lock);
        let is_passed_on = locks.passed_on().binary_search(&lock).is_ok();
        self.work += rows.len() as u64;
        self.latest.clear();
        let (mut any, mut exclusive) = (Latest::default(), Latest::default());
        for number in rows.clone() {
            let row = locks.row(number);
            let (stamp, known) = self.begun[number];
            let known = if stamp == self.stamp { known } else { 0 };
            let begun = locks.begun(row, known, self.bounds[row.lane.index()]);
            self.begun[number] = (self.stamp, begun);
            let last = begun.checked_sub(1).map(|last| locks.acquired(row, last));
            self.latest.push(last);
            if let Some(last) = last {
                any.add(row.lane, last);
                if row.is_exclusive() {
                    exclusive.add(row.lane, last);
                }
            }
        }
        for (at, number) in rows.clone().enumerate() {
            let row = locks.row(number);
            let Some(own) = self.latest[at] else {
                continue;
            };
            let excluding = if row.is_exclusive() { &any } else { &exclusive };
            let Some(last) = excluding.of_others(row.lane) else {
                continue;
            };
            let begun = match own < last {
                true => self.begun[number].1,
                false => locks.begun_of(row, self.begun[number].1, last),
            };
            let Some(hold) = begun.checked_sub(1) else {
                continue;
            };
            let Some(release) = locks.released(row, hold) else {
                self.is_impossible = true;
                return;
            };
            let lane = match is_passed_on {
                true => view.lane(release),
                false => row.lane,
            };
            if release.0 >= self.bounds[lane.index()] {
                order.join(view, release, &mut self.bounds);
            }
        }
    }
}

/// The latest of some events, whichever thread is left out.
#[derive(Clone, Copy, Debug, Default)]
struct Latest {
    of_all: Option<(Pos, Lane)>,
    /// Of the threads but that of `of_all`.
    of_rest: Option<Pos>,
}

impl Latest {
    fn add(&mut self, lane: Lane, pos: Pos) {
        match self.of_all {
            Some((known, owner)) if owner == lane => self.of_all = Some((known.max(pos), owner)),
            Some((known, _)) if pos < known => self.of_rest = self.of_rest.max(Some(pos)),
            before => {
                self.of_all = Some((pos, lane));
                self.of_rest = before.map(|(known, _)| known);
            }
        }
    }

    fn of_others(&self, lane: Lane) -> Option<Pos> {
        match self.of_all {
            Some((_, owner)) if owner == lane => self.of_rest,
            latest => latest.map(|(pos, _)| pos),
        }
    }
}

/// Whether a read-modify-write needs its value to be the write of a race: the other does not write.
fn value_matters(view: &View, access: Pos, other: Pos) -> bool {
    view.reads(access) && view.writes(access) && !view.writes(other)
}

/// Whether an access can be an end of a race here: lock operations are not.
pub(super) fn is_candidate(view: &View, pos: Pos) -> bool {
    view.kind(pos) == Kind::Access
}
