//! Who holds which lock, from when to when; locksets; atomic regions.
//!
//! A lock that its holder takes again is one hold, from the first acquisition to the last release.
//! A downgrade ends an exclusive hold and begins a shared one at the same event. A region (PECAN,
//! section 4.1) lasts from the outermost acquisition to its release; creating and joining threads,
//! waiting and notifying end it, and what follows under the same lock is another one.

use raddle_trace::event::{LockChange, LockMode};

use super::ids::{HoldId, Lane, LocksetId, Pos, RegionId, SyncId};
use crate::table::Table;

/// A thread's hold on a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hold {
    /// The lock.
    pub lock: SyncId,
    /// Who.
    pub lane: Lane,
    /// How.
    pub mode: LockMode,
    /// The outermost acquisition, or the downgrade that began it.
    pub acquire: Pos,
    /// The last release, or the downgrade that ended it; none if it was still held at the end.
    pub release: Option<Pos>,
}

/// An atomic region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Whose.
    pub lane: Lane,
    /// Its first event.
    pub first: Pos,
    /// Its last event.
    pub last: Pos,
    /// The hold that makes it one.
    pub outermost: HoldId,
}

/// What was held, and in which region, while a thread executed some events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Context {
    pub(crate) lockset: LocksetId,
    pub(crate) region: Option<RegionId>,
}

/// Locks held, each with its mode, in order.
pub type Lockset = [(SyncId, LockMode)];

/// Interned locksets; number 0 is the empty one.
#[derive(Debug)]
pub(crate) struct Locksets {
    sets: Vec<Box<Lockset>>,
    numbers: std::collections::HashMap<Box<Lockset>, LocksetId>,
    /// By lock and mode: the set of it alone, if it was met.
    alone: Vec<[Option<LocksetId>; 2]>,
    /// Other steps from set to set.
    steps: Table<(u32, u32, u8), LocksetId>,
}

impl Default for Locksets {
    fn default() -> Self {
        let empty: Box<Lockset> = Box::default();
        Self {
            sets: vec![empty.clone()],
            numbers: [(empty, LocksetId(0))].into(),
            alone: Vec::new(),
            steps: Table::default(),
        }
    }
}

impl Locksets {
    /// The locks of a set.
    pub(crate) fn get(&self, id: LocksetId) -> &Lockset {
        &self.sets[id.index()]
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.sets.len()
    }

    /// The set with a lock added or taken away.
    fn step(&mut self, from: LocksetId, lock: SyncId, mode: LockMode, add: bool) -> LocksetId {
        let alone = self.alone.get(lock.index());
        let alone = alone.and_then(|known| known[mode as usize]);
        match alone {
            Some(set) if add && from == LocksetId(0) => return set,
            Some(set) if !add && from == set => return LocksetId(0),
            _ => {}
        }
        let key = (from.0, lock.0, u8::from(add) << 1 | mode as u8);
        if let Some(&known) = self.steps.get(&key) {
            return known;
        }
        let id = self.intern_step(from, lock, mode, add);
        if add && from == LocksetId(0) {
            let needed = self.alone.len().max(lock.index() + 1);
            self.alone.resize(needed, [None; 2]);
            self.alone[lock.index()][mode as usize] = Some(id);
        } else {
            self.steps.insert(key, id);
        }
        id
    }

    fn intern_step(
        &mut self,
        from: LocksetId,
        lock: SyncId,
        mode: LockMode,
        add: bool,
    ) -> LocksetId {
        let mut set = self.get(from).to_vec();
        match (set.binary_search(&(lock, mode)), add) {
            (Err(at), true) => set.insert(at, (lock, mode)),
            (Ok(at), false) => drop(set.remove(at)),
            _ => {}
        }
        let set: Box<Lockset> = set.into();
        let next = LocksetId(self.sets.len() as u32);
        let id = *self.numbers.entry(set.clone()).or_insert(next);
        if id == next {
            self.sets.push(set);
        }
        id
    }
}

#[derive(Clone, Copy, Debug)]
struct Held {
    lock: SyncId,
    mode: LockMode,
    depth: u32,
    hold: HoldId,
}

#[derive(Debug, Default)]
struct LaneState {
    held: Vec<Held>,
    context: Context,
    /// Its row in the table of contexts, if it was used.
    row: Option<u32>,
    latest: Option<Pos>,
}

/// Holds, locksets and regions, kept up to date event by event.
#[derive(Debug, Default)]
pub(super) struct Holds {
    pub(super) holds: Vec<Hold>,
    pub(super) locksets: Locksets,
    pub(super) regions: Vec<Region>,
    pub(super) contexts: Vec<Context>,
    lanes: Vec<LaneState>,
    /// By lock: current holds.
    holders: Vec<Vec<HoldId>>,
}

impl Holds {
    pub(super) fn new(lanes: usize) -> Self {
        Self {
            lanes: std::iter::repeat_with(LaneState::default)
                .take(lanes)
                .collect(),
            ..Self::default()
        }
    }

    /// Another thread's hold that keeps `lane` from a lock.
    pub(super) fn obstacle(&self, lock: SyncId, lane: Lane, mode: LockMode) -> Option<HoldId> {
        let holders = self.holders.get(lock.index())?;
        let excludes = |id: &&HoldId| {
            let hold = &self.holds[id.index()];
            hold.lane != lane && (mode == LockMode::Exclusive || hold.mode == LockMode::Exclusive)
        };
        holders.iter().find(excludes).copied()
    }

    /// Whether a thread holds a lock exclusively.
    pub(super) fn has(&self, lane: Lane, lock: SyncId) -> bool {
        let held = &self.lanes[lane.index()].held;
        held.iter()
            .any(|it| it.lock == lock && it.mode == LockMode::Exclusive)
    }

    /// The context of an event that is no lock operation.
    #[inline]
    pub(super) fn plain(&mut self, lane: Lane, pos: Pos) -> u32 {
        let state = &mut self.lanes[lane.index()];
        state.latest = Some(pos);
        if state.context.region.is_none() && !state.held.is_empty() {
            self.open(lane, pos);
        }
        self.row(lane)
    }

    /// An event that ends regions.
    pub(super) fn boundary(&mut self, lane: Lane, pos: Pos) -> u32 {
        self.close(lane);
        self.lanes[lane.index()].latest = Some(pos);
        self.row(lane)
    }

    /// A lock operation; false if it cannot be understood.
    pub(super) fn change(
        &mut self,
        lane: Lane,
        pos: Pos,
        lock: SyncId,
        change: LockChange,
    ) -> (u32, bool) {
        let before = self.lanes[lane.index()].context.lockset;
        let opens = matches!(change, LockChange::Acquire(_));
        if !opens {
            // A release belongs to the region that it ends.
            let row = self.plain(lane, pos);
            let regular = self.give_back(lane, pos, lock, change);
            return (row, regular);
        }
        let LockChange::Acquire(mode) = change else {
            return (self.plain(lane, pos), true);
        };
        let regular = self.obstacle(lock, lane, mode).is_none();
        self.take(lane, pos, lock, mode);
        // It belongs to the region that it begins, and does not hold its own lock yet.
        self.plain(lane, pos);
        let after = self.lanes[lane.index()].context.lockset;
        self.set_lockset(lane, before);
        let row = self.row(lane);
        self.set_lockset(lane, after);
        (row, regular)
    }

    /// Ends the regions that are still open.
    pub(super) fn finish(&mut self) {
        for lane in 0..self.lanes.len() {
            self.close(Lane(lane as u16));
        }
    }

    fn take(&mut self, lane: Lane, pos: Pos, lock: SyncId, mode: LockMode) {
        let held = &mut self.lanes[lane.index()].held;
        if let Some(again) = held.iter_mut().find(|h| h.lock == lock && h.mode == mode) {
            again.depth += 1;
            return;
        }
        let hold = HoldId(self.holds.len() as u32);
        held.push(Held {
            lock,
            mode,
            depth: 1,
            hold,
        });
        self.holds.push(Hold {
            lock,
            lane,
            mode,
            acquire: pos,
            release: None,
        });
        if self.holders.len() <= lock.index() {
            self.holders.resize_with(lock.index() + 1, Vec::new);
        }
        self.holders[lock.index()].push(hold);
        let lockset = self.lanes[lane.index()].context.lockset;
        let lockset = self.locksets.step(lockset, lock, mode, true);
        self.set_lockset(lane, lockset);
    }

    fn give_back(&mut self, lane: Lane, pos: Pos, lock: SyncId, change: LockChange) -> bool {
        let mode = match change {
            LockChange::Release(mode) => mode,
            _ => LockMode::Exclusive,
        };
        let own = |h: &Held| h.lock == lock && h.mode == mode;
        let (owner, regular) = match self.lanes[lane.index()].held.iter().any(own) {
            true => (Some(lane), true),
            // Whoever gives back another's lock takes the hold away.
            false => {
                let holders = self.holders.get(lock.index());
                let holder = holders.and_then(|holders| holders.last());
                (holder.map(|id| self.holds[id.index()].lane), false)
            }
        };
        let Some(owner) = owner else {
            return false;
        };
        let held = &mut self.lanes[owner.index()].held;
        let Some(at) = held
            .iter()
            .rposition(|h| h.lock == lock && (!regular || h.mode == mode))
        else {
            return false;
        };
        held[at].depth -= 1;
        if held[at].depth > 0 {
            return regular;
        }
        let ended = held.remove(at);
        let is_free = held.is_empty();
        self.holds[ended.hold.index()].release = Some(pos);
        self.holders[lock.index()].retain(|&id| id != ended.hold);
        let lockset = self.lanes[owner.index()].context.lockset;
        let lockset = self.locksets.step(lockset, lock, ended.mode, false);
        self.set_lockset(owner, lockset);
        if change == LockChange::Downgrade {
            self.take(owner, pos, lock, LockMode::Shared);
        } else if is_free {
            self.close(owner);
        }
        regular
    }

    fn set_lockset(&mut self, lane: Lane, lockset: LocksetId) {
        let state = &mut self.lanes[lane.index()];
        if state.context.lockset != lockset {
            state.context.lockset = lockset;
            state.row = None;
        }
    }

    fn open(&mut self, lane: Lane, pos: Pos) {
        let state = &mut self.lanes[lane.index()];
        let Some(outermost) = state.held.first() else {
            return;
        };
        let region = Region {
            lane,
            first: pos,
            last: pos,
            outermost: outermost.hold,
        };
        state.context.region = Some(RegionId(self.regions.len() as u32));
        state.row = None;
        self.regions.push(region);
    }

    fn close(&mut self, lane: Lane) {
        let state = &mut self.lanes[lane.index()];
        let Some(region) = state.context.region.take() else {
            return;
        };
        state.row = None;
        let region = &mut self.regions[region.index()];
        region.last = state.latest.unwrap_or(region.first);
    }

    #[inline]
    fn row(&mut self, lane: Lane) -> u32 {
        let contexts = &mut self.contexts;
        let state = &mut self.lanes[lane.index()];
        *state.row.get_or_insert_with(|| {
            contexts.push(state.context);
            (contexts.len() - 1) as u32
        })
    }
}
