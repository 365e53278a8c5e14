//! Holds by lock and thread, for questions about the last one below a bound.

use std::ops::Range;

use raddle_trace::event::LockMode;

use super::frontier::Acquisitions;
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

/// The holds of a view.
#[derive(Debug, Default)]
pub(super) struct LockTable {
    /// By lock, then thread, then mode, then acquisition.
    holds: Vec<HoldId>,
    /// Acquisitions in the same order as `holds`.
    acquired: Vec<Pos>,
    /// Releases, likewise.
    released: Vec<Option<Pos>>,
    rows: Vec<Row>,
    /// By lock: its first row; one more at the end.
    first_rows: Vec<u32>,
    /// Acquisitions of each thread, of locks that several threads take.
    by_lane: Vec<Acquisitions>,
    /// Those of these locks that were given back by another thread than took them.
    passed_on: Vec<SyncId>,
}

impl LockTable {
    pub(super) fn new(view: &View) -> Self {
        let all = view.holds();
        let mut table = Self {
            by_lane: vec![Acquisitions::default(); view.threads().len()],
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
            table.released.push(hold.release);
        }
        while table.first_rows.len() <= view.syncs().len() {
            table.first_rows.push(table.rows.len() as u32);
        }
        table.holds = holds;
        table.list_acquisitions(view);
        table
    }

    fn list_acquisitions(&mut self, view: &View) {
        let is_contended: Vec<bool> = (0..view.syncs().len() as u32)
            .map(|lock| {
                let rows = &self.rows[self.row_numbers(SyncId(lock))];
                rows.iter().any(|row| row.lane != rows[0].lane)
            })
            .collect();
        let contended = |hold: &&Hold| is_contended[hold.lock.index()];
        for hold in view.holds().iter().filter(contended) {
            let is_local = hold
                .release
                .is_none_or(|release| view.lane(release) == hold.lane);
            self.by_lane[hold.lane.index()].push(hold, is_local);
            if !is_local {
                self.passed_on.push(hold.lock);
            }
        }
        self.passed_on.sort_unstable();
        self.passed_on.dedup();
    }

    /// A thread's acquisitions of locks that others take too.
    pub(super) fn acquisitions(&self, lane: Lane) -> &Acquisitions {
        &self.by_lane[lane.index()]
    }

    /// Locks that were given back by another thread than took them, in order.
    pub(super) fn passed_on(&self) -> &[SyncId] {
        &self.passed_on
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
        count_below(acquired, from as usize, |pos| pos.0 < bound) as u32
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

    /// Where a row's hold ends.
    pub(super) fn released(&self, row: Row, number: u32) -> Option<Pos> {
        self.released[(row.start + number) as usize]
    }
}

/// How many of a list come first that are below a bound; `from` of them are known to be.
pub(super) fn count_below<T>(list: &[T], from: usize, is_below: impl Fn(&T) -> bool) -> usize {
    let (mut low, mut step) = (from, 1);
    while low + step <= list.len() && is_below(&list[low + step - 1]) {
        low += step;
        step *= 2;
    }
    let high = (low + step - 1).min(list.len());
    low + list[low..high].partition_point(is_below)
}
