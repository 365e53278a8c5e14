//! The search: for each cell, two threads and two instructions, one walk over their accesses.
//!
//! The walk goes through the later accesses in order. For each, earlier ones of the other thread
//! that are in the ideal are passed: ideals grow, so they are in every later one too. The first
//! that is not in it is a race, and if there is any between the two lists, one is found.

use std::time::Instant;

use super::ideal::{Closure, Outcome, is_candidate};
use super::{Race, Races, SyncPreserving};
use crate::locksets::Exclusions;
use crate::manners::{MannerId, MannerNumbers, Manners};
use crate::table::Table;
use crate::view::{CellId, Lane, Pos, View};

pub(super) fn races(search: &SyncPreserving<'_>, until: Option<Instant>) -> Races {
    let view = search.view;
    let manners = Manners::new(view, |pos| is_candidate(view, pos));
    let mut walk = Walk {
        view,
        manners: &manners,
        closure: Closure::new(search),
        exclusions: Exclusions::default(),
        limits: Limits::new(view),
        found: Table::default(),
        cut: Table::default(),
        spent: Table::default(),
        races: Vec::new(),
    };
    let mut numbers = MannerNumbers::new(&manners);
    let mut lists = Lists::default();
    let cells = view.cells().len();
    let mut cut_cells = 0;
    for cell in (0..cells as u32).map(CellId) {
        if until.is_some_and(|until| Instant::now() > until) {
            cut_cells = cells - cell.index();
            break;
        }
        lists.fill(view, &manners, &mut numbers, cell);
        let threads = lists.lists.chunk_by(|a, b| a.lane == b.lane);
        for (at, earlier) in threads.clone().enumerate() {
            for (_, later) in threads
                .clone()
                .enumerate()
                .filter(|(other, _)| *other != at)
            {
                for a in earlier {
                    later.iter().for_each(|b| walk.compare(&lists, a, b));
                }
            }
        }
    }
    let is_open = |key: &&(u64, u64)| !walk.found.contains_key(*key);
    Races {
        cut_pairs: walk.cut.keys().filter(is_open).count(),
        races: walk.races,
        cut_cells,
    }
}

/// Accesses of one thread to one cell in one manner, in order.
#[derive(Clone, Copy, Debug)]
struct List {
    lane: Lane,
    manner: MannerId,
    start: u32,
    end: u32,
}

/// The lists of a cell, by thread, then first access.
#[derive(Debug, Default)]
struct Lists {
    lists: Vec<List>,
    /// The accesses of all lists, one list after another.
    accesses: Vec<Pos>,
    /// By access of the cell, as the view has them: its list, if it is in one.
    of_access: Vec<Option<u32>>,
}

impl Lists {
    fn fill(&mut self, view: &View, manners: &Manners, numbers: &mut MannerNumbers, cell: CellId) {
        self.lists.clear();
        self.of_access.clear();
        for (lane, accesses) in view.accesses(cell) {
            numbers.forget();
            for &pos in accesses {
                let list = manners
                    .of(pos)
                    .map(|manner| self.count(numbers, lane, manner));
                self.of_access.push(list);
            }
        }
        let mut end = 0;
        for list in &mut self.lists {
            let count = list.end;
            (list.start, list.end) = (end, end);
            end += count;
        }
        self.accesses.resize(end as usize, Pos(0));
        let all = view.accesses(cell).flat_map(|(_, accesses)| accesses);
        for (&pos, list) in all.zip(&self.of_access) {
            if let Some(list) = *list {
                let list = &mut self.lists[list as usize];
                self.accesses[list.end as usize] = pos;
                list.end += 1;
            }
        }
    }

    /// Counts an access, in place of the end of its list.
    #[inline]
    fn count(&mut self, numbers: &mut MannerNumbers, lane: Lane, manner: MannerId) -> u32 {
        let next = self.lists.len() as u32;
        let number = numbers.get_or_insert(manner, next);
        if number == next {
            self.lists.push(List {
                lane,
                manner,
                start: 0,
                end: 0,
            });
        }
        self.lists[number as usize].end += 1;
        number
    }

    fn accesses(&self, list: &List) -> &[Pos] {
        &self.accesses[list.start as usize..list.end as usize]
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

struct Walk<'s, 'v> {
    view: &'v View,
    manners: &'s Manners,
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
    fn compare(&mut self, lists: &Lists, earlier: &List, later: &List) {
        let a = self.manners.get(earlier.manner);
        let b = self.manners.get(later.manner);
        let key = (a.source.min(b.source), a.source.max(b.source));
        if !a.conflicts(b)
            || self.exclusions.exclude(self.view, a.lockset, b.lockset)
            || self.found.contains_key(&key)
        {
            return;
        }
        let (earlier, later) = (lists.accesses(earlier), lists.accesses(later));
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

fn search(closure: &mut Closure<'_, '_>, earlier: &[Pos], later: &[Pos], allowed: u64) -> Walked {
    closure.clear();
    let mut next = 0;
    for &b in later {
        while let Some(&a) = earlier.get(next).filter(|a| **a < b) {
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
                    let rest = &earlier[next..];
                    next += rest.partition_point(|a| closure.contains(*a)).max(1);
                }
            }
        }
    }
    Walked::Nothing
}
