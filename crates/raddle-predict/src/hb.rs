//! Happens-before races.
//!
//! FastTrack (Flanagan and Freund, PLDI 2009): of a cell's accesses only the last write and the
//! last read are remembered, as epochs, until reads are concurrent. Positions are times, so an
//! epoch is a position and its thread. What orders events: program order, must-order, a lock's
//! release and its next acquisitions (two shared ones do not order each other), and atomics by
//! their memory ordering, in the way of C++20: an acquiring load synchronises with the release whose
//! value it takes, read-modify-writes continue a release sequence, fences stand in for the accesses
//! around them. Sequentially consistent operations acquire and release.
//!
//! Differences: atomic accesses race with plain ones only, and since they may be concurrent, the
//! last one of each thread is remembered.
//!
//! The first race of a trace is real; later ones may follow from an earlier one. A pair is reported
//! once for its two instructions.

use raddle_trace::wire::Ordering;

use crate::clocks::{Clock, raise};
use crate::findings::{Pair, Pairs};
use crate::table::Table;
use crate::view::{CellId, Kind, Lane, Pos, View};

const NEVER: u32 = u32::MAX;

/// The races between accesses that happens-before leaves unordered.
#[must_use]
pub fn races(view: &View) -> Vec<Pair> {
    let mut detector = Detector::new(view);
    for pos in view.positions() {
        detector.step(pos);
    }
    detector.races.into_vec()
}

/// A time in a thread.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    pos: u32,
    lane: Lane,
}

impl Epoch {
    const NEVER: Self = Self {
        pos: NEVER,
        lane: Lane(0),
    };

    /// Whether a thread with this clock does not know of it.
    #[inline]
    fn is_news(self, lane: Lane, clock: &Clock) -> bool {
        self.pos != NEVER && self.lane != lane && clock[self.lane.index()] <= self.pos
    }
}

#[derive(Clone, Copy, Debug)]
struct CellState {
    write: Epoch,
    /// The last read, unless there are several.
    read: Epoch,
    /// Where more is known of it: concurrent reads, atomic accesses.
    details: u32,
}

/// Of a cell that was accessed in more than the simplest ways.
#[derive(Debug, Default)]
struct Details {
    /// Concurrent plain reads, one a thread.
    reads: Vec<Epoch>,
    atomic_reads: Vec<Epoch>,
    atomic_writes: Vec<Epoch>,
    /// What an acquiring load learns.
    released: Option<Box<Clock>>,
}

#[derive(Debug, Default)]
struct LockState {
    by_exclusive: Option<Box<Clock>>,
    by_shared: Option<Box<Clock>>,
}

#[derive(Debug, Default)]
struct FenceState {
    /// What relaxed loads saw: an acquire fence learns it.
    seen: Option<Box<Clock>>,
    /// The clock at the last release fence: relaxed stores release it.
    released: Option<Box<Clock>>,
}

struct Detector<'v> {
    view: &'v View,
    width: usize,
    /// A clock for each thread. A thread's own time is set when the clock is copied.
    clocks: Vec<u32>,
    cells: Vec<CellState>,
    details: Vec<Details>,
    locks: Vec<LockState>,
    fences: Vec<FenceState>,
    /// Next must-order edge.
    edge: usize,
    /// Events where edges begin, in order, and how many have been met.
    sources: Vec<Pos>,
    met: usize,
    snapshots: Table<Pos, Box<Clock>>,
    races: Pairs,
}

impl<'v> Detector<'v> {
    fn new(view: &'v View) -> Self {
        let width = view.threads().len();
        let mut sources: Vec<Pos> = view.edges().iter().map(|edge| edge.from).collect();
        sources.sort_unstable();
        sources.dedup();
        let cell = CellState {
            write: Epoch::NEVER,
            read: Epoch::NEVER,
            details: NEVER,
        };
        Self {
            view,
            width,
            clocks: vec![0; width * width],
            cells: vec![cell; view.cells().len()],
            details: Vec::new(),
            locks: std::iter::repeat_with(LockState::default)
                .take(view.syncs().len())
                .collect(),
            fences: std::iter::repeat_with(FenceState::default)
                .take(width)
                .collect(),
            edge: 0,
            sources,
            met: 0,
            snapshots: Table::default(),
            races: Pairs::default(),
        }
    }

    #[inline]
    fn step(&mut self, pos: Pos) {
        let view = self.view;
        let lane = view.lane(pos);
        while let Some(edge) = view.edges().get(self.edge)
            && edge.to == pos
        {
            self.edge += 1;
            if let Some(snapshot) = self.snapshots.get(&edge.from) {
                join(clock_of(&mut self.clocks, self.width, lane), snapshot);
            }
        }
        let kind = view.kind(pos);
        if kind == Kind::Access {
            self.access(pos, lane);
        } else {
            self.synchronise(pos, lane, kind);
        }
        if self.sources.get(self.met) == Some(&pos) {
            self.met += 1;
            let clock = clock_at(&mut self.clocks, self.width, lane, pos);
            self.snapshots.insert(pos, (&*clock).into());
        }
    }

    fn synchronise(&mut self, pos: Pos, lane: Lane, kind: Kind) {
        let lock = self.view.sync_of(pos);
        match (kind, lock) {
            (Kind::Acquire, Some(lock)) => {
                let clock = clock_of(&mut self.clocks, self.width, lane);
                let state = &self.locks[lock.index()];
                join_some(clock, &state.by_exclusive);
                if !self.view.is_shared_side(pos) {
                    join_some(clock, &state.by_shared);
                }
            }
            (Kind::Release | Kind::Downgrade, Some(lock)) => {
                let clock = clock_at(&mut self.clocks, self.width, lane, pos);
                let state = &mut self.locks[lock.index()];
                if !self.view.is_shared_side(pos) {
                    copy(&mut state.by_exclusive, clock);
                    state.by_shared = None;
                } else {
                    merge(&mut state.by_shared, clock);
                }
            }
            (Kind::Fence, _) => self.fence(pos, lane),
            _ => {}
        }
        self.access(pos, lane);
    }

    #[inline]
    fn access(&mut self, pos: Pos, lane: Lane) {
        let view = self.view;
        let (reads, writes) = (view.reads(pos), view.writes(pos));
        let cells = view.cells_of(pos);
        if view.is_atomic(pos) {
            cells.for_each(|cell| self.atomic(pos, lane, cell, reads, writes));
        } else if writes {
            cells.for_each(|cell| self.write(pos, lane, cell));
        } else if reads {
            cells.for_each(|cell| self.read(pos, lane, cell));
        }
    }

    #[inline]
    fn read(&mut self, pos: Pos, lane: Lane, cell: CellId) {
        let clock = clock_of(&mut self.clocks, self.width, lane);
        let state = &mut self.cells[cell.index()];
        let now = Epoch { pos: pos.0, lane };
        if state.write.is_news(lane, clock) {
            self.races.add(self.view, Pos(state.write.pos), pos, 1);
        }
        if state.details == NEVER && !state.read.is_news(lane, clock) {
            state.read = now;
            return;
        }
        let details = detail(&mut self.details, state);
        for other in &details.atomic_writes {
            if other.is_news(lane, clock) {
                self.races.add(self.view, Pos(other.pos), pos, 1);
            }
        }
        if state.read.pos != NEVER {
            put(&mut details.reads, state.read);
            state.read = Epoch::NEVER;
        }
        put(&mut details.reads, now);
    }

    #[inline]
    fn write(&mut self, pos: Pos, lane: Lane, cell: CellId) {
        let clock = clock_of(&mut self.clocks, self.width, lane);
        let state = &mut self.cells[cell.index()];
        for other in [state.write, state.read] {
            if other.is_news(lane, clock) {
                self.races.add(self.view, Pos(other.pos), pos, 1);
            }
        }
        state.write = Epoch { pos: pos.0, lane };
        state.read = Epoch::NEVER;
        if state.details == NEVER {
            return;
        }
        let details = &mut self.details[state.details as usize];
        let others = [
            &mut details.reads,
            &mut details.atomic_reads,
            &mut details.atomic_writes,
        ];
        for other in others.into_iter().flat_map(|list| list.drain(..)) {
            if other.is_news(lane, clock) {
                self.races.add(self.view, Pos(other.pos), pos, 1);
            }
        }
        details.released = None;
    }

    fn atomic(&mut self, pos: Pos, lane: Lane, cell: CellId, reads: bool, writes: bool) {
        let order = self.view.ordering(pos);
        let clock = clock_of(&mut self.clocks, self.width, lane);
        let state = &mut self.cells[cell.index()];
        let now = Epoch { pos: pos.0, lane };
        let details = detail(&mut self.details, state);
        let reads_before: &[Epoch] = if writes { &details.reads } else { &[] };
        let read = if writes { state.read } else { Epoch::NEVER };
        for other in [state.write, read].iter().chain(reads_before) {
            if other.is_news(lane, clock) {
                self.races.add(self.view, Pos(other.pos), pos, 1);
            }
        }
        match writes {
            true => put(&mut details.atomic_writes, now),
            false => put(&mut details.atomic_reads, now),
        }
        let fences = &mut self.fences[lane.index()];
        if reads && let Some(released) = &details.released {
            match acquires(order) {
                true => join(clock, released),
                false => merge(&mut fences.seen, released),
            }
        }
        if !writes {
            return;
        }
        let release: Option<&Clock> = if releases(order) {
            raise(&mut clock[lane.index()], pos.0 + 1);
            Some(clock)
        } else {
            fences.released.as_deref()
        };
        match (reads, release) {
            // A read-modify-write continues the release sequence.
            (true, Some(release)) => merge(&mut details.released, release),
            (true, None) => {}
            (false, Some(release)) => copy(&mut details.released, release),
            (false, None) => details.released = None,
        }
    }

    fn fence(&mut self, pos: Pos, lane: Lane) {
        let order = self.view.ordering(pos);
        if acquires(order) {
            let clock = clock_of(&mut self.clocks, self.width, lane);
            join_some(clock, &self.fences[lane.index()].seen);
        }
        if releases(order) {
            let clock = clock_at(&mut self.clocks, self.width, lane, pos);
            copy(&mut self.fences[lane.index()].released, clock);
        }
    }
}

fn acquires(order: Ordering) -> bool {
    matches!(
        order,
        Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst
    )
}

fn releases(order: Ordering) -> bool {
    matches!(
        order,
        Ordering::Release | Ordering::AcqRel | Ordering::SeqCst
    )
}

#[inline]
fn clock_of(clocks: &mut [u32], width: usize, lane: Lane) -> &mut Clock {
    &mut clocks[lane.index() * width..][..width]
}

/// A thread's clock at an event of its own, which it includes.
#[inline]
fn clock_at(clocks: &mut [u32], width: usize, lane: Lane, pos: Pos) -> &mut Clock {
    let clock = clock_of(clocks, width, lane);
    raise(&mut clock[lane.index()], pos.0 + 1);
    clock
}

fn detail<'d>(all: &'d mut Vec<Details>, state: &mut CellState) -> &'d mut Details {
    if state.details == NEVER {
        state.details = all.len() as u32;
        all.push(Details::default());
    }
    &mut all[state.details as usize]
}

/// Remembers the last epoch of each thread.
fn put(list: &mut Vec<Epoch>, epoch: Epoch) {
    match list.iter_mut().find(|known| known.lane == epoch.lane) {
        Some(known) => *known = epoch,
        None => list.push(epoch),
    }
}

#[inline]
fn join(clock: &mut Clock, other: &Clock) {
    for (mine, &theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(theirs);
    }
}

fn join_some(clock: &mut Clock, other: &Option<Box<Clock>>) {
    if let Some(other) = other {
        join(clock, other);
    }
}

fn merge(into: &mut Option<Box<Clock>>, other: &Clock) {
    match into {
        Some(clock) => join(clock, other),
        None => *into = Some(other.into()),
    }
}

fn copy(into: &mut Option<Box<Clock>>, other: &Clock) {
    match into {
        Some(clock) => clock.copy_from_slice(other),
        None => *into = Some(other.into()),
    }
}
