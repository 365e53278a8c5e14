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

use crate::findings::{Pair, Pairs};
use crate::forest::{Forest, Root};
use crate::table::Table;
use crate::view::{CellId, Kind, Lane, Pos, View};

const NEVER: u32 = u32::MAX;
/// Nodes of clocks that are always kept.
const FEW_NODES: usize = 1 << 15;

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
    fn is_news(self, lane: Lane, forest: &Forest, clock: Root) -> bool {
        self.pos != NEVER && self.lane != lane && forest.get(clock, self.lane) <= self.pos
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
    released: Option<Root>,
}

#[derive(Debug, Default)]
struct LockState {
    by_exclusive: Option<Root>,
    by_shared: Option<Root>,
}

#[derive(Debug, Default)]
struct FenceState {
    /// What relaxed loads saw: an acquire fence learns it.
    seen: Option<Root>,
    /// The clock at the last release fence: relaxed stores release it.
    released: Option<Root>,
}

struct Detector<'v> {
    view: &'v View,
    forest: Forest,
    /// The forest's nodes at which those are dropped that no clock needs any more.
    most_nodes: usize,
    /// A clock for each thread. A thread's own time is set when the clock is copied.
    clocks: Vec<Root>,
    cells: Vec<CellState>,
    details: Vec<Details>,
    locks: Vec<LockState>,
    fences: Vec<FenceState>,
    /// Next must-order edge.
    edge: usize,
    /// Events where edges begin, in order, and how many have been met.
    sources: Vec<Pos>,
    met: usize,
    snapshots: Table<Pos, Root>,
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
            forest: Forest::new(width),
            most_nodes: FEW_NODES,
            clocks: vec![Root::default(); width],
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
                let clock = &mut self.clocks[lane.index()];
                *clock = self.forest.join(*clock, *snapshot);
            }
        }
        if self.forest.len() > self.most_nodes {
            self.drop_nodes();
        }
        let kind = view.kind(pos);
        if kind == Kind::Access {
            self.access(pos, lane);
        } else {
            self.synchronise(pos, lane, kind);
        }
        if self.sources.get(self.met) == Some(&pos) {
            self.met += 1;
            let clock = self.clock_at(lane, pos);
            self.snapshots.insert(pos, clock);
        }
    }

    /// A thread's clock at an event of its own, which it includes.
    #[inline]
    fn clock_at(&mut self, lane: Lane, pos: Pos) -> Root {
        let clock = &mut self.clocks[lane.index()];
        *clock = self.forest.raised(*clock, lane, pos.0 + 1);
        *clock
    }

    /// Drops what no clock needs any more.
    #[cold]
    fn drop_nodes(&mut self) {
        let locks = self.locks.iter_mut();
        let locks = locks.flat_map(|it| [&mut it.by_exclusive, &mut it.by_shared]);
        let fences = self.fences.iter_mut();
        let fences = fences.flat_map(|it| [&mut it.seen, &mut it.released]);
        let details = self.details.iter_mut().map(|it| &mut it.released);
        let others = locks.chain(fences).chain(details).flatten();
        let clocks = self.clocks.iter_mut().chain(self.snapshots.values_mut());
        self.forest.retain(clocks.chain(others));
        self.most_nodes = FEW_NODES.max(2 * self.forest.len());
    }

    fn synchronise(&mut self, pos: Pos, lane: Lane, kind: Kind) {
        let lock = self.view.sync_of(pos);
        match (kind, lock) {
            (Kind::Acquire, Some(lock)) => {
                let clock = &mut self.clocks[lane.index()];
                let state = &self.locks[lock.index()];
                join_some(&mut self.forest, clock, state.by_exclusive);
                if !self.view.is_shared_side(pos) {
                    join_some(&mut self.forest, clock, state.by_shared);
                }
            }
            (Kind::Release | Kind::Downgrade, Some(lock)) => {
                let clock = self.clock_at(lane, pos);
                let state = &mut self.locks[lock.index()];
                if !self.view.is_shared_side(pos) {
                    state.by_exclusive = Some(clock);
                    state.by_shared = None;
                } else {
                    merge(&mut self.forest, &mut state.by_shared, clock);
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
        let (forest, clock) = (&mut self.forest, &mut self.clocks[lane.index()]);
        let state = &mut self.cells[cell.index()];
        let now = Epoch { pos: pos.0, lane };
        if state.write.is_news(lane, forest, *clock) {
            self.races.add(self.view, Pos(state.write.pos), pos, 1);
        }
        if state.details == NEVER && !state.read.is_news(lane, forest, *clock) {
            state.read = now;
            return;
        }
        let details = detail(&mut self.details, state);
        for other in &details.atomic_writes {
            if other.is_news(lane, forest, *clock) {
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
        let (forest, clock) = (&mut self.forest, &mut self.clocks[lane.index()]);
        let state = &mut self.cells[cell.index()];
        for other in [state.write, state.read] {
            if other.is_news(lane, forest, *clock) {
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
            if other.is_news(lane, forest, *clock) {
                self.races.add(self.view, Pos(other.pos), pos, 1);
            }
        }
        details.released = None;
    }

    fn atomic(&mut self, pos: Pos, lane: Lane, cell: CellId, reads: bool, writes: bool) {
        let order = self.view.ordering(pos);
        let (forest, clock) = (&mut self.forest, &mut self.clocks[lane.index()]);
        let state = &mut self.cells[cell.index()];
        let now = Epoch { pos: pos.0, lane };
        let details = detail(&mut self.details, state);
        let reads_before: &[Epoch] = if writes { &details.reads } else { &[] };
        let read = if writes { state.read } else { Epoch::NEVER };
        for other in [state.write, read].iter().chain(reads_before) {
            if other.is_news(lane, forest, *clock) {
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
                true => *clock = forest.join(*clock, *released),
                false => merge(forest, &mut fences.seen, *released),
            }
        }
        if !writes {
            return;
        }
        let release = if releases(order) {
            *clock = forest.raised(*clock, lane, pos.0 + 1);
            Some(*clock)
        } else {
            fences.released
        };
        match (reads, release) {
            // A read-modify-write continues the release sequence.
            (true, Some(release)) => merge(forest, &mut details.released, release),
            (true, None) => {}
            (false, release) => details.released = release,
        }
    }

    fn fence(&mut self, pos: Pos, lane: Lane) {
        let order = self.view.ordering(pos);
        if acquires(order) {
            let clock = &mut self.clocks[lane.index()];
            join_some(&mut self.forest, clock, self.fences[lane.index()].seen);
        }
        if releases(order) {
            self.fences[lane.index()].released = Some(self.clock_at(lane, pos));
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

fn join_some(forest: &mut Forest, clock: &mut Root, other: Option<Root>) {
    if let Some(other) = other {
        *clock = forest.join(*clock, other);
    }
}

fn merge(forest: &mut Forest, into: &mut Option<Root>, other: Root) {
    let known = into.unwrap_or_default();
    *into = Some(forest.join(known, other));
}
