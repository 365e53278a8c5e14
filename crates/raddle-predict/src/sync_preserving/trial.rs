//! Whether what an order executes later than the trace did is still possible there.
//!
//! Layer 0 is an ideal in trace order and needs no trial. What follows it is carried out event by
//! event: locks are free when they are taken, reads see the write that they saw, memory is not freed
//! yet, and what waits and notifies keeps its order.

use raddle_trace::ids::EventIndex;

use super::SyncPreserving;
use super::layers::{Layers, hold_from, is_last};
use super::reach::is_load;
use crate::clocks::Clock;
use crate::goal::{Goal, Sees};
use crate::reads_from::takes_plain_word;
use crate::table::Table;
use crate::view::{CellId, Hold, HoldId, Kind, Lane, Pos, SyncId, View};

/// The state after layer 0 and some of what follows.
pub(super) struct Trial<'s, 'v> {
    search: &'s SyncPreserving<'v>,
    base: &'s Clock,
    /// What was written after layer 0.
    written: Table<CellId, Pos>,
    /// Memory freed after layer 0.
    freed: Table<Pos, ()>,
    /// Holds that began after layer 0 and last.
    held: Vec<Hold>,
    /// Holds of layer 0 that ended after it.
    ended: Table<HoldId, ()>,
    /// The latest event on an object that waits or notifies, by the trace's order.
    latest: Table<SyncId, Pos>,
}

impl<'s, 'v> Trial<'s, 'v> {
    /// The whole order, if it is possible and leads to the goal.
    pub(super) fn of(
        search: &'s SyncPreserving<'v>,
        layers: &'s Layers,
        goal: &Goal,
    ) -> Option<Vec<EventIndex>> {
        let view = search.view;
        let moved = layers.moved(view);
        let mut trial = Self {
            search,
            base: layers.base(),
            written: Table::default(),
            freed: Table::default(),
            held: Vec::new(),
            ended: Table::default(),
            latest: latest_below(view, layers.base(), &moved),
        };
        for &pos in &moved {
            let is_next = |next: &Pos| view.lane(*next) == view.lane(pos);
            let is_free = is_load(view, pos)
                && is_last(view, pos, layers.top())
                && !goal.next.iter().any(is_next);
            if !trial.step(pos, is_free) {
                return None;
            }
        }
        if goal.sees.is_some_and(|sees| !trial.shows(sees)) {
            return None;
        }
        let mut order = super::ideal::below(view, layers.base());
        order.extend(moved.iter().map(|pos| view.event_index(*pos)));
        Some(order)
    }

    /// Executes an event; false if that is not possible.
    fn step(&mut self, pos: Pos, is_free: bool) -> bool {
        let view = self.search.view;
        let is_possible = (is_free || self.reads_the_same(pos))
            && self.is_allocated(pos)
            && self.keeps_its_turn(pos)
            && view.failed_requests().binary_search(&pos).is_err();
        if !is_possible || !self.change_locks(pos) {
            return false;
        }
        if view.writes(pos) {
            for cell in view.cells_of(pos) {
                self.written.insert(cell, pos);
            }
        }
        if view.kind(pos) == Kind::Free {
            self.freed.insert(pos, ());
        }
        true
    }

    /// Who wrote a cell last.
    fn writer(&self, cell: CellId) -> Option<Pos> {
        let moved = self.written.get(&cell).copied();
        moved.or_else(|| last_write(self.search.view, cell, |lane| self.base[lane.index()]))
    }

    fn reads_the_same(&self, pos: Pos) -> bool {
        let view = self.search.view;
        if !view.reads(pos) || takes_plain_word(view, pos) {
            return true;
        }
        view.cells_of(pos)
            .all(|cell| self.writer(cell) == last_write(view, cell, |_| pos.0))
    }

    /// Whether a next read would see what the goal says.
    fn shows(&self, sees: Sees) -> bool {
        let mut cells = self.search.view.cells_of(sees.read);
        cells.all(|cell| self.writer(cell) == sees.write)
    }

    /// Whether no memory that it touches was freed.
    fn is_allocated(&self, pos: Pos) -> bool {
        let view = self.search.view;
        view.cells_of(pos).all(|cell| {
            let object = view.cells()[cell.index()].object;
            let free = object.and_then(|object| view.objects()[object.index()].free);
            let free = free.and_then(|free| view.position(free));
            free.is_none_or(|free| {
                free.0 >= self.base[view.lane(free).index()] && !self.freed.contains_key(&free)
            })
        })
    }

    /// Whether it comes after nothing that it came before, on an object that waits or notifies.
    fn keeps_its_turn(&mut self, pos: Pos) -> bool {
        let view = self.search.view;
        let Some(object) = view.sync_of(pos).filter(|_| waits_or_notifies(view, pos)) else {
            return true;
        };
        let latest = self.latest.entry(object).or_insert(pos);
        let keeps = *latest <= pos;
        *latest = (*latest).max(pos);
        keeps
    }

    /// Takes and gives back locks; false if one is not free.
    fn change_locks(&mut self, pos: Pos) -> bool {
        let SyncPreserving { view, locks, .. } = self.search;
        if !matches!(
            view.kind(pos),
            Kind::Acquire | Kind::Release | Kind::Downgrade
        ) {
            return true;
        }
        let Some(lock) = view.sync_of(pos) else {
            return true;
        };
        if view.syncs()[lock.index()].is_irregular {
            return false;
        }
        self.held.retain(|held| held.release != Some(pos));
        for row in locks.row_numbers(lock).map(|number| locks.row(number)) {
            let last = locks.last_begun(row, self.base[row.lane.index()]);
            if let Some(last) = last.filter(|last| view.holds()[last.index()].release == Some(pos))
            {
                self.ended.insert(last, ());
            }
        }
        let Some(new) = hold_from(view, pos) else {
            return true;
        };
        if self.is_held_against(new) {
            return false;
        }
        self.held.push(*new);
        true
    }

    /// Whether a hold is in the way of another.
    fn is_held_against(&self, new: &Hold) -> bool {
        let SyncPreserving { view, locks, .. } = self.search;
        let excludes = |held: &Hold| {
            use raddle_trace::event::LockMode::Exclusive;
            held.lock == new.lock
                && held.lane != new.lane
                && (held.mode == Exclusive || new.mode == Exclusive)
        };
        let rows = locks
            .row_numbers(new.lock)
            .map(|number| locks.row(number))
            .filter(|row| row.is_excluded_by(new));
        let mut from_base =
            rows.filter_map(|row| locks.last_begun(row, self.base[row.lane.index()]));
        let lasts = |id: HoldId| {
            let release = view.holds()[id.index()].release;
            let is_open =
                release.is_none_or(|release| release.0 >= self.base[view.lane(release).index()]);
            is_open && !self.ended.contains_key(&id)
        };
        self.held.iter().any(excludes) || from_base.any(lasts)
    }
}

/// The last write to a cell below a bound of each thread.
fn last_write(view: &View, cell: CellId, bound: impl Fn(Lane) -> u32) -> Option<Pos> {
    let of_thread = |(lane, accesses): (Lane, &[Pos])| {
        let end = accesses.partition_point(|pos| pos.0 < bound(lane));
        let mut before = accesses[..end].iter().rev();
        before.find(|pos| view.writes(**pos)).copied()
    };
    view.accesses(cell).filter_map(of_thread).max()
}

fn waits_or_notifies(view: &View, pos: Pos) -> bool {
    matches!(
        view.kind(pos),
        Kind::CondWait
            | Kind::CondWake
            | Kind::CondNotify
            | Kind::FutexWait
            | Kind::FutexWake
            | Kind::FutexNotify
            | Kind::SemWait
            | Kind::SemPost
            | Kind::BarrierArrive
            | Kind::BarrierLeave
            | Kind::OnceStart
            | Kind::OnceDone
            | Kind::OncePass
            | Kind::Destroy
    )
}

/// By object that a later event waits on or notifies: its latest such event in layer 0, as far as that
/// comes after the first of them in the trace.
fn latest_below(view: &View, base: &Clock, moved: &[Pos]) -> Table<SyncId, Pos> {
    let mut latest = Table::default();
    let mut waiting = moved.iter().filter(|pos| waits_or_notifies(view, **pos));
    let Some(first) = waiting.next() else {
        return latest;
    };
    let first = waiting.min().map_or(*first, |pos| *pos.min(first));
    let end = base.iter().copied().max().unwrap_or(0);
    for pos in (first.0..end).map(Pos) {
        if pos.0 < base[view.lane(pos).index()]
            && waits_or_notifies(view, pos)
            && let Some(object) = view.sync_of(pos)
        {
            latest.insert(object, pos);
        }
    }
    latest
}
