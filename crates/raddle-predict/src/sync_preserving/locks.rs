//! Holds by lock and thread, for questions about the last one below a bound.

use std::ops::Range;

use raddle_trace::event::LockMode;

use crate::view::{Hold, HoldId, Lane, Pos, SyncId, View};

/// A thread's holds on a lock in one mode, by their acquisitions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) lane: Lane,
    mode: LockMode,
    start: u32,
    end: u32,
}

impl Row {
    /// Whether its holds exclude all of other threads, and not only exclusive ones.
    pub(super) fn is_exclusive(self) -> bool {
        self.mode == LockMode::Exclusive
    }

    /// Whether none of its holds can overlap with this one.
    pub(super) fn is_excluded_by(self, hold: &Hold) -> bool {
        self.lane != hold.lane
            && (self.mode == LockMode::Exclusive || hold.mode == LockMode::Exclusive)
    }
}

/// An acquisition, as a thread comes by it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acquisition {
    pub(super) pos: Pos,
    pub(super) lock: SyncId,
}

/// The holds of a view.
#[derive(Debug, Default)]
pub(super) struct LockTable {
    /// By lock, then thread, then mode, then acquisition.
    holds: Vec<HoldId>,
    /// Acquisitions in the same order as `holds`.
    acquired: Vec<Pos>,
    rows: Vec<Row>,
    /// By lock: its first row; one more at the end.
    first_rows: Vec<u32>,
    /// Acquisitions of each thread.
    by_lane: Vec<Vec<Acquisition>>,
    /// Locks that several threads take.
    contended: Vec<SyncId>,
}

impl LockTable {
    pub(super) fn new(view: &View) -> Self {
        let all = view.holds();
        let mut table = Self {
            by_lane: vec![Vec::new(); view.threads().len()],
            ..Self::default()
        };
        let mut holds: Vec<HoldId> = (0..all.len() as u32).map(HoldId).collect();
        holds.sort_unstable_by_key(|id| {
            let hold = &all[id.index()];
            (hold.lock, hold.lane, hold.mode, hold.acquire)
        });
        let mut next_lock = 0;
        for (at, id) in holds.iter().enumerate() {
            let hold = &all[id.index()];
            let is_new_lock = hold.lock.0 >= next_lock;
            while hold.lock.0 >= next_lock {
                table.first_rows.push(table.rows.len() as u32);
                next_lock += 1;
            }
            match table.rows.last_mut() {
                Some(row) if !is_new_lock && (row.lane, row.mode) == (hold.lane, hold.mode) => {
                    row.end = at as u32 + 1;
                }
                _ => table.rows.push(Row {
                    lane: hold.lane,
                    mode: hold.mode,
                    start: at as u32,
                    end: at as u32 + 1,
                }),
            }
            table.acquired.push(hold.acquire);
        }
        while table.first_rows.len() <= view.syncs().len() {
            table.first_rows.push(table.rows.len() as u32);
        }
        table.holds = holds;
        for lock in (0..view.syncs().len() as u32).map(SyncId) {
            let rows = &table.rows[table.row_numbers(lock)];
            if rows.iter().any(|row| row.lane != rows[0].lane) {
                table.contended.push(lock);
            }
        }
        for hold in all {
            if table.contended.binary_search(&hold.lock).is_err() {
                continue;
            }
            table.by_lane[hold.lane.index()].push(Acquisition {
                pos: hold.acquire,
                lock: hold.lock,
            });
        }
        table
    }

    /// Locks that several threads take.
    pub(super) fn contended(&self) -> &[SyncId] {
        &self.contended
    }

    /// The rows of a lock, by their numbers.
    pub(super) fn row_numbers(&self, lock: SyncId) -> Range<usize> {
        let first = self.first_rows[lock.index()] as usize;
        first..self.first_rows[lock.index() + 1] as usize
    }

    /// A row by its number.
    pub(super) fn row(&self, number: usize) -> Row {
        self.rows[number]
    }

    /// How many rows there are.
    pub(super) fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// How many holds of a row begin below a bound; `from` of them are known to.
    pub(super) fn begun(&self, row: Row, from: u32, bound: u32) -> u32 {
        let acquired = &self.acquired[row.start as usize..row.end as usize];
        let (mut low, mut step) = (from as usize, 1);
        while low + step <= acquired.len() && acquired[low + step - 1].0 < bound {
            low += step;
            step *= 2;
        }
        let high = (low + step - 1).min(acquired.len());
        (low + acquired[low..high].partition_point(|pos| pos.0 < bound)) as u32
    }

    /// How many of a row's first `most` holds begin before an event.
    pub(super) fn begun_of(&self, row: Row, most: u32, before: Pos) -> u32 {
        let acquired = &self.acquired[row.start as usize..][..most as usize];
        acquired.partition_point(|pos| *pos < before) as u32
    }

    /// A row's hold by its number in it.
    pub(super) fn hold(&self, row: Row, number: u32) -> HoldId {
        self.holds[(row.start + number) as usize]
    }

    /// A row's last hold that begins below a bound.
    pub(super) fn last_begun(&self, row: Row, bound: u32) -> Option<HoldId> {
        let begun = self.begun(row, 0, bound);
        begun.checked_sub(1).map(|last| self.hold(row, last))
    }

    /// Where a row's hold begins.
    pub(super) fn acquired(&self, row: Row, number: u32) -> Pos {
        self.acquired[(row.start + number) as usize]
    }

    /// Acquisitions of contended locks that a thread comes by from one bound to another.
    pub(super) fn between(&self, lane: Lane, from: u32, to: u32) -> &[Acquisition] {
        let list = &self.by_lane[lane.index()];
        let start = list.partition_point(|acquisition| acquisition.pos.0 < from);
        let end = list.partition_point(|acquisition| acquisition.pos.0 < to);
        &list[start..end]
    }
}
