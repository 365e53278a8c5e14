//! Accesses that behave alike.
//!
//! A *spot* stands for all accesses of a thread to a cell that come from one instruction, under the
//! same locks, between the same communications with other threads. Accesses to the words of locks and
//! to other objects of synchronisation are left out: they are how atomicity is made, not broken.

use super::stretches::{ContextId, Stretches};
use crate::findings::source_number;
use crate::table::Table;
use crate::view::{CellId, Kind, Lane, Pos, View};

/// A number for accesses that behave alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct SpotId(pub(super) u32);

impl SpotId {
    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Accesses that behave alike.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub(super) cell: CellId,
    pub(super) lane: Lane,
    pub(super) context: ContextId,
    pub(super) source: u64,
    pub(super) first: Pos,
    pub(super) last: Pos,
    pub(super) count: u64,
}

/// All spots.
#[derive(Debug, Default)]
pub(super) struct Spots {
    spots: Vec<Spot>,
    /// By event: where its spots begin in `listed`; one more at the end.
    starts: Vec<u32>,
    listed: Vec<SpotId>,
    /// Spots by cell, thread and first access.
    by_cell: Vec<SpotId>,
    /// Accesses of which not all cells were looked at.
    pub(super) cut: u64,
}

/// Cells of one access that are looked at.
const MAX_CELLS: usize = 64;

impl Spots {
    pub(super) fn new(view: &View, stretches: &Stretches) -> Self {
        let skipped = synchronisation_cells(view);
        let mut numbers: Table<(u64, u64, ContextId), SpotId> = Table::default();
        let mut spots = Self::default();
        spots.starts.reserve(view.len() + 1);
        for pos in view.positions() {
            spots.starts.push(spots.listed.len() as u32);
            if view.kind(pos) != Kind::Access {
                continue;
            }
            let mut cells = view.cells_of(pos).filter(|cell| !skipped[cell.index()]);
            let Some(first) = cells.next() else {
                continue;
            };
            let context = stretches.context(view, pos);
            let source = source_number(view.source(pos));
            let flags = u64::from(view.reads(pos)) << 2
                | u64::from(view.writes(pos)) << 1
                | u64::from(view.is_atomic(pos));
            for cell in std::iter::once(first).chain(cells.by_ref().take(MAX_CELLS - 1)) {
                let key = (source, u64::from(cell.0) << 3 | flags, context);
                let next = SpotId(spots.spots.len() as u32);
                let id = *numbers.entry(key).or_insert(next);
                if id == next {
                    spots.spots.push(Spot {
                        cell,
                        lane: view.lane(pos),
                        context,
                        source,
                        first: pos,
                        last: pos,
                        count: 0,
                    });
                }
                let spot = &mut spots.spots[id.index()];
                spot.last = pos;
                spot.count += 1;
                spots.listed.push(id);
            }
            spots.cut += u64::from(cells.next().is_some());
        }
        spots.starts.push(spots.listed.len() as u32);
        spots.sort_by_cell();
        spots
    }

    pub(super) fn len(&self) -> usize {
        self.spots.len()
    }

    pub(super) fn get(&self, id: SpotId) -> &Spot {
        &self.spots[id.index()]
    }

    /// The spots of an event.
    pub(super) fn of(&self, pos: Pos) -> &[SpotId] {
        let (start, end) = (self.starts[pos.index()], self.starts[pos.index() + 1]);
        &self.listed[start as usize..end as usize]
    }

    /// All spots, by cell, thread and first access.
    pub(super) fn by_cell(&self) -> &[SpotId] {
        &self.by_cell
    }

    fn sort_by_cell(&mut self) {
        self.by_cell = (0..self.spots.len() as u32).map(SpotId).collect();
        let spots = &self.spots;
        self.by_cell.sort_by_key(|id| {
            let spot = &spots[id.index()];
            (spot.cell, spot.lane, spot.first)
        });
    }
}

/// Cells that lock operations and other synchronisation touch.
fn synchronisation_cells(view: &View) -> Vec<bool> {
    let mut found = vec![false; view.cells().len()];
    for pos in view.positions() {
        if view.sync_of(pos).is_some() {
            view.cells_of(pos)
                .for_each(|cell| found[cell.index()] = true);
        }
    }
    found
}
