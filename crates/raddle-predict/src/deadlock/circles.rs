//! Circles of threads, each waiting for a lock that the next one holds, or for its end.
//!
//! A circle is a list of wishes of different threads in which each waits for the next, in modes that
//! exclude each other, and no two hold a lock that excludes the other's: such a gate lock would keep
//! them apart (Goodlock: Havelund, SPIN 2000). On wishes instead of single acquisitions these are the
//! abstract deadlock patterns of Tunç, Mathur, Pavlogiannis and Viswanathan, "Sound Dynamic Deadlock
//! Prediction in Linear Time", PLDI 2023. Circles have any length. Those of two are found first (`pairs.rs`); the
//! search for longer ones, of which there may be very many, is limited, and looks only at wishes that can be part of one
//! (`knots.rs`).

use std::collections::BTreeMap;

use raddle_trace::event::{Event, LockMode};

use super::knots::in_knots;
use super::pairs::{Pairs, pairs};
use super::wishes::{Wanted, Wish, wishes};
use super::{Circle, Found, Limits, is_over};
use crate::candidate::{Candidate, Flaw, Way};
use crate::clocks::Clocks;
use crate::findings::source_number;
use crate::locksets::Exclusions;
use crate::table::Table;
use crate::view::{Lane, Pos, SyncId, View};

/// How many wishes are put on a path, over the whole search.
const MOST_STEPS: u64 = 1 << 20;
/// How many circles of the same instructions are kept: the threads may all execute the same code.
const MOST_ALIKE: usize = 64;

/// Ways to one candidate, those through different threads included.
const MOST_WAYS: usize = 12;

/// The circles of a view: those of two threads, and at most `most` longer ones. Acquisitions that would not have waited are taken for ones that
/// would.
#[must_use]
pub fn circles(view: &View, most: usize) -> Vec<Circle> {
    let found = circles_of(view, &[], most);
    found.circles
}

/// Circles, and what was left out.
struct Circles {
    circles: Vec<Circle>,
    /// By instructions: circles that were found beyond those kept.
    left_out: BTreeMap<Vec<u64>, u64>,
    is_cut: bool,
}

/// The circles that certain order allows, one candidate for those of the same instructions.
pub(super) fn candidates(view: &View, events: &[Event], clocks: &Clocks, limits: Limits) -> Found {
    let mut found: Vec<Candidate> = Vec::new();
    let mut numbers: BTreeMap<Vec<u64>, usize> = BTreeMap::new();
    let Circles {
        circles,
        left_out,
        is_cut,
    } = circles_of(view, events, limits.circles);
    for circle in circles {
        let ways = ways(view, clocks, &circle, limits.ways);
        if ways.is_empty() {
            continue;
        }
        let sources = sources(view, circle.iter().map(|instances| instances[0]));
        let alike = left_out.get(&sources).copied();
        let number = *numbers.entry(sources).or_insert_with(|| {
            found.push(Candidate {
                flaw: Flaw::Deadlock,
                ways: Vec::new(),
                circles: Vec::new(),
                instances: 0,
                left_out: alike.unwrap_or(0),
            });
            found.len() - 1
        });
        let candidate = &mut found[number];
        let lengths = circle.iter().map(|instances| instances.len() as u64);
        let instances = lengths.fold(1, u64::saturating_mul);
        candidate.instances = candidate.instances.saturating_add(instances);
        let missing = limits.ways.saturating_sub(candidate.ways.len());
        // Other threads are another group: one way of each is kept.
        let missing = match candidate.ways.len() < MOST_WAYS {
            true => missing.max(1),
            false => 0,
        };
        candidate.left_out += u64::from(missing == 0);
        let ways = ways.iter().take(missing);
        candidate
            .ways
            .extend(ways.map(|way| Way::of_circle(view, way)));
        candidate.circles.push(circle);
    }
    Found {
        candidates: found,
        is_cut,
    }
}

/// The instructions of some events, in order.
fn sources(view: &View, events: impl Iterator<Item = Pos>) -> Vec<u64> {
    let mut sources: Vec<u64> = events.map(|pos| source_number(view.source(pos))).collect();
    sources.sort_unstable();
    sources
}

fn circles_of(view: &View, events: &[Event], most: usize) -> Circles {
    let wishes = wishes(view, events);
    let Pairs {
        circles,
        mut left_out,
        is_cut,
    } = pairs(view, &wishes);
    let in_knots = in_knots(view, &wishes);
    let mut search = Search::new(view, &wishes, &in_knots, most);
    for first in (0..wishes.len()).filter(|it| in_knots[*it]) {
        search.extend(first);
    }
    let is_cut = is_cut || search.steps >= MOST_STEPS || search.found.len() >= most;
    for (sources, count) in search.left_out {
        *left_out.entry(sources).or_default() += count;
    }
    let longer = search.found.iter().map(Vec::as_slice);
    let all = circles.iter().map(|it| it.as_slice()).chain(longer);
    let instances = |circle: &[usize]| {
        let of = circle.iter().map(|wish| wishes[*wish].instances.clone());
        of.collect()
    };
    Circles {
        circles: all.map(instances).collect(),
        left_out,
        is_cut,
    }
}

/// The first choices of one event for each thread of which none is over when another is next.
///
/// An event that is over is so for all later choices too, so the lists are gone through once.
fn ways(view: &View, clocks: &Clocks, circle: &Circle, most: usize) -> Vec<Vec<Pos>> {
    let mut found = Vec::new();
    let mut at = vec![0; circle.len()];
    while found.len() < most {
        let choice: Option<Vec<Pos>> = circle
            .iter()
            .zip(&at)
            .map(|(list, at)| list.get(*at).copied())
            .collect();
        let Some(choice) = choice else { break };
        let over = (0..choice.len()).find(|one| {
            let mut others = choice.iter().enumerate().filter(|(other, _)| other != one);
            others.any(|(_, next)| is_over(view, clocks, choice[*one], *next))
        });
        let earliest = (0..choice.len()).min_by_key(|one| choice[*one]);
        if let Some(passed) = over.or(earliest) {
            at[passed] += 1;
        }
        if over.is_none() {
            found.push(choice);
        }
    }
    found
}

/// A search for circles in depth first order. Each is found once, from its first wish.
struct Search<'v> {
    view: &'v View,
    wishes: &'v [Wish],
    exclusions: Exclusions,
    /// Who holds a lock, and who belongs to a thread, in order.
    holding: Table<SyncId, Vec<usize>>,
    of_lane: Table<Lane, Vec<usize>>,
    path: Vec<usize>,
    found: Vec<Vec<usize>>,
    /// How many circles of the same instructions were found.
    alike: BTreeMap<Vec<u64>, usize>,
    left_out: BTreeMap<Vec<u64>, u64>,
    most: usize,
    steps: u64,
}

impl<'v> Search<'v> {
    /// `in_knots` says by wish whether it can be part of a circle; others are not listed.
    fn new(view: &'v View, wishes: &'v [Wish], in_knots: &[bool], most: usize) -> Self {
        let mut holding: Table<SyncId, Vec<usize>> = Table::default();
        let mut of_lane: Table<Lane, Vec<usize>> = Table::default();
        for (number, wish) in wishes.iter().enumerate().filter(|it| in_knots[it.0]) {
            of_lane.entry(wish.lane).or_default().push(number);
            for (lock, _) in view.lockset(wish.held) {
                let holding = holding.entry(*lock).or_default();
                if holding.last() != Some(&number) {
                    holding.push(number);
                }
            }
        }
        Self {
            view,
            wishes,
            exclusions: Exclusions::default(),
            holding,
            of_lane,
            path: Vec::new(),
            found: Vec::new(),
            alike: BTreeMap::new(),
            left_out: BTreeMap::new(),
            most,
            steps: 0,
        }
    }

    fn extend(&mut self, wish: usize) {
        if self.found.len() >= self.most || self.steps >= MOST_STEPS || !self.fits(wish) {
            return;
        }
        self.steps += 1;
        self.path.push(wish);
        let first = self.path[0];
        if self.waits_for(wish, first) && !self.is_pair() {
            self.keep();
        }
        let awaited = match self.wishes[wish].wanted {
            Wanted::Lock(lock, _) => self.holding.get(&lock),
            Wanted::End(lane) => self.of_lane.get(&lane),
        };
        for next in awaited.cloned().unwrap_or_default() {
            if next > first && self.waits_for(wish, next) {
                self.extend(next);
            }
        }
        self.path.pop();
    }

    /// Whether the path is two wishes for locks, which are found elsewhere.
    fn is_pair(&self) -> bool {
        let is_lock = |wish: &usize| matches!(self.wishes[*wish].wanted, Wanted::Lock(..));
        self.path.len() == 2 && self.path.iter().all(is_lock)
    }

    /// Keeps the path, unless there are enough like it.
    fn keep(&mut self) {
        let events = self.path.iter().map(|wish| self.wishes[*wish].instances[0]);
        let sources = sources(self.view, events);
        match self.alike.get_mut(&sources) {
            Some(alike) if *alike == MOST_ALIKE => {
                *self.left_out.entry(sources).or_default() += 1;
                return;
            }
            Some(alike) => *alike += 1,
            None => drop(self.alike.insert(sources, 1)),
        }
        self.found.push(self.path.clone());
    }

    /// Whether a wish can be pending together with those of the path.
    fn fits(&mut self, wish: usize) -> bool {
        let new = &self.wishes[wish];
        let (view, exclusions) = (self.view, &mut self.exclusions);
        self.path.iter().all(|other| {
            let other = &self.wishes[*other];
            other.lane != new.lane && !exclusions.exclude(view, other.held, new.held)
        })
    }

    /// Whether a wish is for a lock that the thread of another wish holds, or for its end. Only what was
    /// not granted shows that a thread cannot take again what it holds.
    fn waits_for(&self, wish: usize, other: usize) -> bool {
        let (wish, other) = (&self.wishes[wish], &self.wishes[other]);
        (wish.lane != other.lane || wish.is_pending)
            && match wish.wanted {
                Wanted::End(lane) => lane == other.lane,
                Wanted::Lock(lock, mode) => {
                    let held = self.view.lockset(other.held);
                    held.iter()
                        .any(|(held, held_mode)| *held == lock && excludes(*held_mode, mode))
                }
            }
    }
}

/// Whether two holds of a lock in these modes exclude each other.
pub(super) fn excludes(a: LockMode, b: LockMode) -> bool {
    a == LockMode::Exclusive || b == LockMode::Exclusive
}
