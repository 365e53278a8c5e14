//! The search: for each cell, two threads and two instructions, one walk over their accesses.
//!
//! The walk goes through the later accesses in order. For each, earlier ones of the other thread
//! that are in the ideal are passed: ideals grow, so they are in every later one too. The first
//! that is not in it is a race, and if there is any between the two lists, one is found.

use super::ideal::{Closure, Outcome, is_candidate};
use super::{Race, Races, SyncPreserving};
use crate::findings::{key, source_number};
use crate::locksets::Exclusions;
use crate::table::Table;
use crate::view::{CellId, Lane, LocksetId, Pos, View};

/// Accesses of one thread to one cell that are treated alike, in order.
struct List {
    lockset: LocksetId,
    accesses: Vec<Pos>,
}

pub(super) fn races(search: &SyncPreserving<'_>) -> Races {
    let view = search.view;
    let mut walk = Walk {
        view,
        closure: Closure::new(search),
        exclusions: Exclusions::default(),
        limits: Limits::new(view),
        found: Table::default(),
        cut: Table::default(),
        spent: Table::default(),
        races: Vec::new(),
    };
    for cell in (0..view.cells().len() as u32).map(CellId) {
        let threads: Vec<(Lane, Vec<List>)> = view
            .accesses(cell)
            .map(|(lane, accesses)| (lane, lists(view, accesses)))
            .collect();
        for (earlier_lane, earlier) in &threads {
            for (later_lane, later) in &threads {
                if earlier_lane == later_lane {
                    continue;
                }
                for a in earlier {
                    later.iter().for_each(|b| walk.compare(a, b));
                }
            }
        }
    }
    let is_open = |key: &&(u64, u64)| !walk.found.contains_key(*key);
    Races {
        cut_pairs: walk.cut.keys().filter(is_open).count(),
        races: walk.races,
    }
}

/// How many rows of locks are looked at, so that the search stays nearly linear whatever the trace.
struct Limits {
    of_walk: u64,
    of_pair: u64,
    of_all: u64,
}

impl Limits {
    fn new(view: &View) -> Self {
        let events = view.len() as u64;
        Self {
            of_walk: 10_000 + events / 64,
            of_pair: 50_000 + events / 8,
            of_all: 1_000_000 + 4 * events,
        }
    }
}

/// Accesses by instruction, locks held, and what they do.
fn lists(view: &View, accesses: &[Pos]) -> Vec<List> {
    let mut numbers: Table<(u64, u32, u8), usize> = Table::default();
    let mut lists: Vec<List> = Vec::new();
    for &pos in accesses.iter().filter(|&&pos| is_candidate(view, pos)) {
        let lockset = view.lockset_of(pos);
        let source = source_number(view.source(pos));
        let flags = u8::from(view.writes(pos)) << 1 | u8::from(view.is_atomic(pos));
        let number = *numbers
            .entry((source, lockset.0, flags))
            .or_insert_with(|| {
                lists.push(List {
                    lockset,
                    accesses: Vec::new(),
                });
                lists.len() - 1
            });
        lists[number].accesses.push(pos);
    }
    lists
}

struct Walk<'s, 'v> {
    view: &'v View,
    closure: Closure<'s, 'v>,
    exclusions: Exclusions,
    limits: Limits,
    /// Instructions between which a race is known.
    found: Table<(u64, u64), ()>,
    /// Instructions of which not all was looked at, and how much was.
    cut: Table<(u64, u64), ()>,
    spent: Table<(u64, u64), u64>,
    races: Vec<Race>,
}

impl Walk<'_, '_> {
    /// Looks for a race between an access of `earlier` and a later one of `later`.
    fn compare(&mut self, earlier: &List, later: &List) {
        let view = self.view;
        let (Some(&a), Some(&b)) = (earlier.accesses.first(), later.accesses.first()) else {
            return;
        };
        let key = key(view, a, b);
        if !view.conflict(a, b)
            || self
                .exclusions
                .exclude(view, earlier.lockset, later.lockset)
            || self.found.contains_key(&key)
        {
            return;
        }
        let spent = self.spent.entry(key).or_insert(0);
        let start_work = self.closure.work();
        let allowed = self.limits.of_pair.saturating_sub(*spent);
        let allowed = allowed.min(self.limits.of_all.saturating_sub(start_work));
        let allowed = start_work + allowed.min(self.limits.of_walk);
        let race = search(&mut self.closure, earlier, later, allowed);
        *spent += self.closure.work() - start_work;
        match race {
            Walked::Race(race) => {
                self.found.insert(key, ());
                self.races.push(race);
            }
            Walked::Nothing => {}
            Walked::Cut => {
                self.cut.insert(key, ());
            }
        }
    }
}

/// What a walk ends with.
enum Walked {
    Race(Race),
    Nothing,
    Cut,
}

fn search(closure: &mut Closure<'_, '_>, earlier: &List, later: &List, allowed: u64) -> Walked {
    closure.clear();
    let mut next = 0;
    for &b in &later.accesses {
        while let Some(&a) = earlier.accesses.get(next).filter(|a| **a < b) {
            if closure.work() >= allowed {
                return Walked::Cut;
            }
            match closure.raise(a, b) {
                Outcome::Race => {
                    let ideal = closure.ideal();
                    return Walked::Race(Race { a, b, ideal });
                }
                Outcome::Impossible => return Walked::Nothing,
                Outcome::LaterPassed => break,
                Outcome::EarlierPassed => {
                    let rest = &earlier.accesses[next..];
                    next += rest.partition_point(|a| closure.contains(*a)).max(1);
                }
            }
        }
    }
    Walked::Nothing
}
