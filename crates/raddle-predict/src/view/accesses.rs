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
        let mut starts = vec![0u32; cells + 1];
        for record in records {
            for_each_cell(record, wide, |cell| starts[cell.index() + 1] += 1);
        }
        for cell in 0..cells {
            starts[cell + 1] += starts[cell];
        }
        // Threads are taken one after another, so a cell's accesses come by thread.
        let mut positions = vec![Pos(0); starts[cells] as usize];
        let mut groups: Vec<(CellId, Group)> = Vec::new();
        let mut latest: Vec<Option<Lane>> = vec![None; cells];
        for (lane, own) in lanes.iter().enumerate() {
            let lane = Lane(lane as u16);
            for &pos in own {
                for_each_cell(&records[pos.index()], wide, |cell| {
                    let start = starts[cell.index()];
                    starts[cell.index()] += 1;
                    positions[start as usize] = pos;
                    if latest[cell.index()] != Some(lane) {
                        latest[cell.index()] = Some(lane);
                        groups.push((cell, Group { lane, start }));
                    }
                });
            }
        }
        groups.sort_unstable_by_key(|(cell, group)| (*cell, group.start));
        let mut first_groups = vec![0u32; cells + 1];
        for (cell, _) in &groups {
            first_groups[cell.index() + 1] += 1;
        }
        for cell in 0..cells {
            first_groups[cell + 1] += first_groups[cell];
        }
        let end = Group {
            lane: Lane(0),
            start: positions.len() as u32,
        };
        let groups = groups.into_iter().map(|(_, group)| group);
        Self {
            positions,
            groups: groups.chain([end]).collect(),
            first_groups,
        }
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

/// The shared cells that an event touches.
#[inline]
fn for_each_cell(record: &Record, wide: &[Box<[CellRange]>], mut see: impl FnMut(CellId)) {
    for (first, last) in cell_ranges(record.cells, wide) {
        (first.0..=last.0).map(CellId).for_each(&mut see);
    }
}
