//! Which accesses of a unit another thread can get between, as far as locks are concerned.
//!
//! Whether locks keep two spots of a cell apart depends on their threads and locksets alone. A cell that is accessed all
//! through a long run has a spot for each communication of its threads, but few such *companies* of spots: each lockset is
//! held against these.

use super::spots::{SpotId, Spots};
use super::stretches::Mutations;
use crate::table::Table;
use crate::view::{CellId, Lane, LocksetId, View};

/// Spots of a cell that have thread, locks and kind of access in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Company {
    lane: Lane,
    lockset: LocksetId,
    /// [`FOREIGN_READ`] and [`FOREIGN_WRITE`], as others see it.
    accesses: u8,
}

/// How other threads may access the cells of units meanwhile.
#[derive(Debug)]
pub(super) struct Exposure {
    companies: Vec<Company>,
    /// By cell: where its companies begin; one more at the end.
    starts: Vec<u32>,
    /// By spot: its company.
    of: Vec<u32>,
    /// By company: whether it may come between accesses of another thread's unit.
    intrudes: Vec<bool>,
    /// By cell, thread and what it holds: how other threads access the cell meanwhile.
    known: Table<(CellId, Lane, LocksetId), u8>,
}

const FOREIGN_READ: u8 = 1;
const FOREIGN_WRITE: u8 = 2;

impl Exposure {
    pub(super) fn new(view: &View, spots: &Spots) -> Self {
        let mut companies = Vec::new();
        let mut starts = Vec::with_capacity(view.cells().len() + 1);
        let mut of = vec![0; spots.len()];
        let mut alike: Vec<(Company, SpotId)> = Vec::new();
        let place = |id: SpotId| (spots.get(id).cell, spots.get(id).lane);
        for ids in spots.by_cell().chunk_by(|a, b| place(*a) == place(*b)) {
            let cell = place(ids[0]).0;
            starts.resize(cell.index() + 1, companies.len() as u32);
            alike.clear();
            alike.extend(ids.iter().map(|&id| (Company::new(view, spots, id), id)));
            alike.sort_unstable();
            for same in alike.chunk_by(|a, b| a.0 == b.0) {
                for (_, id) in same {
                    of[id.index()] = companies.len() as u32;
                }
                companies.push(same[0].0);
            }
        }
        starts.resize(view.cells().len() + 1, companies.len() as u32);
        Self {
            intrudes: vec![false; companies.len()],
            companies,
            starts,
            of,
            known: Table::default(),
        }
    }

    /// Whether a conflicting access may come while a spot's thread holds these locks.
    pub(super) fn is_exposed(
        &mut self,
        mutations: &mut Mutations<'_>,
        spots: &Spots,
        id: SpotId,
        lockset: LocksetId,
    ) -> bool {
        let spot = spots.get(id);
        let key = (spot.cell, spot.lane, lockset);
        let foreign = match self.known.get(&key) {
            Some(&known) => known,
            None => {
                let found = self.look(mutations, key);
                self.known.insert(key, found);
                found
            }
        };
        match mutations.view.writes(spot.first) {
            true => foreign != 0,
            false => foreign & FOREIGN_WRITE != 0,
        }
    }

    /// Whether a spot may come between accesses of another thread's unit to its cell.
    pub(super) fn intrudes(&self, id: SpotId) -> bool {
        self.intrudes[self.of[id.index()] as usize]
    }

    fn look(
        &mut self,
        mutations: &mut Mutations<'_>,
        (cell, lane, lockset): (CellId, Lane, LocksetId),
    ) -> u8 {
        let mut found = 0;
        let range = self.starts[cell.index()]..self.starts[cell.index() + 1];
        for number in range.start as usize..range.end as usize {
            let other = self.companies[number];
            if other.lane != lane && !mutations.exclude(lockset, other.lockset) {
                self.intrudes[number] = true;
                found |= other.accesses;
            }
        }
        found
    }
}

impl Company {
    fn new(view: &View, spots: &Spots, id: SpotId) -> Self {
        let spot = spots.get(id);
        let reads = u8::from(view.reads(spot.first)) * FOREIGN_READ;
        let writes = u8::from(view.writes(spot.first)) * FOREIGN_WRITE;
        Self {
            lane: spot.lane,
            lockset: view.lockset_of(spot.first),
            accesses: reads | writes,
        }
    }
}
