//! Who accesses which cell: by cell, then by thread, then in trace order.

use super::ids::{CellId, Lane, Pos};
use super::record::Record;
use super::{CellRange, cell_ranges};

/// A thread's accesses to a cell.
#[derive(Clone, Copy, Debug)]
struct Group {
    lane: Lane,
    start: u32,
}

/// The accesses of all cells.
#[derive(Debug, Default)]
pub(super) struct Accesses {
    positions: Vec<Pos>,
    groups: Vec<Group>,
    /// By cell: its first group; one more at the end.
    first_groups: Vec<u32>,
}

impl Accesses {
    /// `lanes` are the events of each thread.
    pub(super) fn new(
        records: &[Record],
        wide: &[Box<[CellRange]>],
        lanes: &[Vec<Pos>],
        cells: usize,
    ) -> Self {
        let cells_of = |pos: Pos| {
            let ranges = cell_ranges(records[pos.index()].cells, wide);
            ranges.flat_map(|(first, last)| first.index()..=last.index())
        };
        // Threads are taken one after another, so a cell's accesses come by thread.
        let mut starts = vec![0u32; cells + 1];
        let mut groups = vec![0u32; cells + 1];
        let mut latest: Vec<Option<Lane>> = vec![None; cells];
        for (lane, own) in lanes.iter().enumerate() {
            let lane = Lane(lane as u16);
            for cell in own.iter().flat_map(|pos| cells_of(*pos)) {
                starts[cell + 1] += 1;
                if latest[cell] != Some(lane) {
                    latest[cell] = Some(lane);
                    groups[cell + 1] += 1;
                }
            }
        }
        for cell in 0..cells {
            starts[cell + 1] += starts[cell];
            groups[cell + 1] += groups[cell];
        }
        let end = Group {
            lane: Lane(0),
            start: starts[cells],
        };
        let mut accesses = Self {
            positions: vec![Pos(0); starts[cells] as usize],
            groups: vec![end; groups[cells] as usize + 1],
            first_groups: groups.clone(),
        };
        latest.fill(None);
        for (lane, own) in lanes.iter().enumerate() {
            let lane = Lane(lane as u16);
            for &pos in own {
                for cell in cells_of(pos) {
                    let start = starts[cell];
                    starts[cell] += 1;
                    accesses.positions[start as usize] = pos;
                    if latest[cell] != Some(lane) {
                        latest[cell] = Some(lane);
                        accesses.groups[groups[cell] as usize] = Group { lane, start };
                        groups[cell] += 1;
                    }
                }
            }
        }
        accesses
    }

    /// The threads that access a cell, each with its accesses.
    pub(super) fn of(&self, cell: CellId) -> impl Iterator<Item = (Lane, &[Pos])> + Clone {
        let first = self.first_groups[cell.index()] as usize;
        let end = self.first_groups[cell.index() + 1] as usize;
        (first..end).map(|group| {
            let Group { lane, start } = self.groups[group];
            let end = self.groups[group + 1].start;
            (lane, &self.positions[start as usize..end as usize])
        })
    }
}
