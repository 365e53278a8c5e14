//! The second pass: the events that are kept, with all their attributes.

use std::sync::OnceLock;

use raddle_trace::action::Action;
use raddle_trace::event::{Event, EventKind, LockAction, LockChange, LockMode};
use raddle_trace::ids::{Address, EventIndex, SiteId};
use raddle_trace::wire::{Mark, Ordering};

use super::accesses::Accesses;
use super::calls::Calls;
use super::cells::Cells;
use super::holds::Holds;
use super::ids::{Lane, ObjectId, Pos, SyncId};
use super::order::{EdgeKind, Happening, MustOrder, Request, wanted_mode};
use super::places::Places;
use super::survey::{IndexEdge, Lanes, Making};
use super::{BadTrace, CellRange, Kind, Object, Sync, View, touch_of};
use crate::table::Table;

/// No cell, no operand.
pub(super) const NONE: u32 = u32::MAX;
/// Marks an index into a side table.
pub(super) const ELSEWHERE: u32 = 1 << 31;

/// What an access does.
pub(super) mod flag {
    pub(crate) const READS: u8 = 1;
    pub(crate) const WRITES: u8 = 2;
    pub(crate) const ATOMIC: u8 = 4;
    pub(crate) const SHARED: u8 = 8;
    /// The memory ordering is above it.
    pub(crate) const ORDER_SHIFT: u32 = 4;
}

/// A kept event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub(super) index: u32,
    pub(super) lane: Lane,
    pub(super) kind: Kind,
    pub(super) flags: u8,
    /// The object or thread that it is about, by its kind.
    pub(super) operand: u32,
    /// Its cell, or where its cells are listed.
    pub(super) cells: u32,
    /// Its site, or where its program counter is listed.
    pub(super) source: u32,
    /// What was held: a row of the contexts.
    pub(super) context: u32,
}

const _: () = assert!(size_of::<Record>() == 24);

/// The second pass over a trace: to be shown the same events as the survey.
#[derive(Debug)]
pub struct Recorder {
    lanes: Lanes,
    places: Places,
    cells: Cells,
    /// Events to be kept whatever they are, in order, and how many have been met.
    forced: Vec<u32>,
    met: usize,
    heap_edges: Vec<IndexEdge>,
    makings: Vec<Making>,
    records: Vec<Record>,
    wide: Vec<Box<[CellRange]>>,
    codes: Vec<Address>,
    code_numbers: Table<u64, u32>,
    syncs: Vec<Sync>,
    sync_numbers: Table<u64, SyncId>,
    /// Destruction of an object's predecessor, and who has used the object since.
    successors: Table<SyncId, (Pos, Vec<Lane>)>,
    order: MustOrder,
    holds: Holds,
    calls: Calls,
    events: u32,
}

impl Recorder {
    pub(super) fn new(
        lanes: Lanes,
        cells: Cells,
        forced: Vec<u32>,
        heap_edges: Vec<IndexEdge>,
        makings: Vec<Making>,
    ) -> Self {
        let count = lanes.threads.len();
        Self {
            lanes,
            places: Places::default(),
            cells,
            forced,
            met: 0,
            heap_edges,
            makings,
            records: Vec::new(),
            wide: Vec::new(),
            codes: Vec::new(),
            code_numbers: Table::default(),
            syncs: Vec::new(),
            sync_numbers: Table::default(),
            successors: Table::default(),
            order: MustOrder::new(count),
            holds: Holds::new(count),
            calls: Calls::new(count),
            events: 0,
        }
    }

    /// Marks functions as atomic, by their first instructions: their calls are kept.
    pub fn mark(&mut self, functions: impl IntoIterator<Item = SiteId>) {
        self.calls.mark(functions);
    }

    /// Takes note of an event.
    pub fn observe(&mut self, event: &Event) -> Result<(), BadTrace> {
        let lane = self
            .lanes
            .known_or_latest(event.thread)
            .ok_or(BadTrace::AnotherTrace)?;
        let index = self.events;
        self.events = index.checked_add(1).ok_or(BadTrace::TooLong)?;
        let forced = self.forced.get(self.met) == Some(&index);
        self.met += usize::from(forced);
        self.order.answer(lane, &event.kind);
        let (flags, cells) = self.access(&event.kind);
        let mut record = Record {
            index,
            lane,
            kind: Kind::Access,
            flags,
            operand: NONE,
            cells,
            source: 0,
            context: 0,
        };
        match event.kind {
            EventKind::Read(access) | EventKind::Write(access) => {
                if cells != NONE || forced {
                    let pos = Pos(self.records.len() as u32);
                    record.source = access.site.0 & !ELSEWHERE;
                    self.order.step(lane, pos);
                    record.context = self.holds.plain(lane, pos);
                    self.records.push(record);
                }
            }
            _ => self.other(record, event, forced),
        }
        Ok(())
    }

    /// Any event but a plain access.
    fn other(&mut self, mut record: Record, event: &Event, forced: bool) {
        let Record {
            lane, index, cells, ..
        } = record;
        if let Some(lock) = event.kind.refused_lock() {
            self.refuse(lane, lock);
        }
        let lock = event.lock_action();
        let action = match event.kind {
            EventKind::Action { action, .. } => Some(action),
            _ => None,
        };
        let fence = match event.kind {
            EventKind::Fence { order, .. } => Some(order),
            _ => None,
        };
        let kind = action.as_ref().and_then(kind_of);
        let synchronises = kind.is_some_and(|kind| !matches!(kind, Kind::Alloc | Kind::Free));
        let object = action.and_then(|_| self.places.observe(event));
        if cells == NONE && lock.is_none() && !synchronises && fence.is_none() && !forced {
            match event.kind {
                EventKind::Enter { site, frame, .. } => {
                    self.calls.enter(lane, index, site, frame);
                }
                EventKind::Exit { frame, .. } => self.calls.exit(lane, index, frame),
                _ => {}
            }
            return;
        }
        let pos = Pos(self.records.len() as u32);
        record.source = self.source(&event.kind);
        self.order.step(lane, pos);
        if let Some(lock) = lock {
            self.lock(&mut record, pos, lock, &event.kind);
        } else if let (Some(action), Some(kind)) = (action, kind) {
            record.kind = kind;
            self.action(&mut record, pos, action, object);
        } else {
            if let Some(order) = fence {
                record.kind = Kind::Fence;
                record.flags = (order as u8) << flag::ORDER_SHIFT;
            }
            record.context = self.holds.plain(lane, pos);
        }
        self.records.push(record);
    }

    /// A thread tries to take a lock and does not get it. If it seems to hold it, it has handed it over in a way
    /// that no event shows.
    fn refuse(&mut self, lane: Lane, lock: Address) {
        let place = self.places.place(lock);
        if let Some(&lock) = self.sync_numbers.get(&place)
            && self.holds.has(lane, lock)
        {
            self.syncs[lock.index()].is_irregular = true;
        }
    }

    /// Ends the second pass.
    #[must_use]
    pub fn finish(mut self) -> View {
        self.holds.finish();
        let position = |index: u32| {
            let found = self
                .records
                .binary_search_by_key(&index, |record| record.index);
            found.ok().map(|at| Pos(at as u32))
        };
        for &(from, to, kind) in &self.heap_edges {
            if let (Some(from), Some(to)) = (position(from), position(to)) {
                self.order.add(from, to, kind);
            }
        }
        let allocations = self.places.allocations();
        let objects = self.makings.iter().zip(allocations);
        let objects: Vec<Object> = objects
            .map(|(making, allocation)| Object {
                addr: allocation.addr,
                size: allocation.size,
                alloc: EventIndex(making.event.into()),
                free: making.free.map(|free| EventIndex(free.into())),
            })
            .collect();
        self.chain_irregular();
        let records = self.records;
        let (edges, failed) = self.order.finish(|pos| records[pos.index()].lane);
        let mut lanes: Vec<Vec<Pos>> = vec![Vec::new(); self.lanes.threads.len()];
        for (at, record) in records.iter().enumerate() {
            lanes[record.lane.index()].push(Pos(at as u32));
        }
        let accesses = Accesses::new(&records, &self.wide, &lanes, self.cells.cells.len());
        View {
            records,
            wide: self.wide,
            codes: self.codes,
            threads: self.lanes.threads,
            lanes,
            cells: self.cells.cells,
            accesses,
            syncs: self.syncs,
            holds: self.holds.holds,
            locksets: self.holds.locksets,
            contexts: self.holds.contexts,
            regions: self.holds.regions,
            edges,
            failed,
            objects,
            calls: self.calls.finish(self.events),
            events: self.events.into(),
            indices: OnceLock::new(),
        }
    }

    /// What an event does to memory, and the shared cells that it touches.
    #[inline]
    fn access(&mut self, kind: &EventKind) -> (u8, u32) {
        let Some(touch) = touch_of(kind) else {
            return (0, NONE);
        };
        let bit = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
        let order = (ordering(kind) as u8) << flag::ORDER_SHIFT;
        let flags = bit(touch.reads, flag::READS)
            | bit(touch.writes, flag::WRITES)
            | bit(touch.atomic, flag::ATOMIC)
            | order;
        let cells = &mut self.cells;
        let mut first = None;
        let mut more = Vec::new();
        self.places.segments(touch.addr, touch.len, |segment| {
            let Some(range) = cells.of(segment) else {
                return;
            };
            match first {
                None => first = Some(range),
                Some(_) => more.push(range),
            }
        });
        let cells = match first {
            None => NONE,
            Some((first, last)) if first == last && more.is_empty() => first.0,
            Some(range) => {
                more.insert(0, range);
                self.wide.push(more.into());
                ELSEWHERE | (self.wide.len() - 1) as u32
            }
        };
        (flags, cells)
    }

    fn lock(&mut self, record: &mut Record, pos: Pos, action: LockAction, kind: &EventKind) {
        let LockAction { lock, change } = action;
        let lock = self.sync(lock, record.lane, pos);
        record.operand = lock.0;
        let shared = matches!(
            change,
            LockChange::Acquire(LockMode::Shared) | LockChange::Release(LockMode::Shared)
        );
        record.flags |= u8::from(shared) * flag::SHARED;
        record.kind = match change {
            LockChange::Acquire(_) => {
                self.calls.acquire(record.lane);
                Kind::Acquire
            }
            LockChange::Release(_) => Kind::Release,
            LockChange::Downgrade => Kind::Downgrade,
        };
        let (context, regular) = self.holds.change(record.lane, pos, lock, change);
        record.context = context;
        let sync = &mut self.syncs[lock.index()];
        sync.is_lock = true;
        sync.is_irregular |= !regular;
        sync.is_plain_word &= is_plain_word(kind, change);
    }

    fn action(&mut self, record: &mut Record, pos: Pos, action: Action, object: Option<ObjectId>) {
        let lane = record.lane;
        record.context = match record.kind.is_boundary() {
            true => self.holds.boundary(lane, pos),
            false => self.holds.plain(lane, pos),
        };
        match action {
            Action::Begin { .. } => self.calls.begin(lane, self.events - 1),
            Action::Fork { child } => {
                let child = self.lanes.known(child);
                record.operand = child.map_or(NONE, |lane| lane.0.into());
                self.order.fork(child, pos);
            }
            Action::Join { thread, .. } => {
                let joined = self.lanes.known(thread);
                record.operand = joined.map_or(NONE, |lane| lane.0.into());
                self.order.join(joined, pos);
            }
            Action::Alloc { .. } | Action::Free { .. } => {
                record.operand = object.map_or(NONE, |object| object.0);
            }
            Action::Request { lock, wants, tried } => {
                let (object, obstacle) = match wants {
                    Mark::Join => (SyncId(NONE), None),
                    _ => {
                        let object = self.sync(lock, lane, pos);
                        let mode = wanted_mode(wants);
                        let hold = mode.and_then(|mode| self.holds.obstacle(object, lane, mode));
                        let acquire = hold.map(|hold| self.holds.holds[hold.index()].acquire);
                        (object, acquire)
                    }
                };
                record.operand = object.0;
                record.flags |= u8::from(wants == Mark::ReadLock) * flag::SHARED;
                let request = Request {
                    pos,
                    object,
                    wants,
                    obstacle,
                };
                self.order.request(lane, request, tried);
            }
            Action::CondWake {
                notifier: waker, ..
            }
            | Action::FutexWake { waker, .. } => {
                let waker = waker.and_then(|thread| self.lanes.known(thread));
                self.act(record, pos, action, waker);
            }
            _ => self.act(record, pos, action, None),
        }
    }

    /// An action on an object of synchronisation.
    fn act(&mut self, record: &mut Record, pos: Pos, action: Action, waker: Option<Lane>) {
        let Some(address) = object_address(&action) else {
            return;
        };
        let lane = record.lane;
        let object = self.sync(address, lane, pos);
        record.operand = object.0;
        if let Action::Destroy { object: address } = action {
            let place = self.places.place(address);
            self.sync_numbers.remove(&place);
            let next = self.sync(address, lane, pos);
            self.successors.insert(next, (pos, vec![lane]));
            return;
        }
        self.order
            .act(&Happening { pos, lane, object }, action, waker);
    }

    /// The object of synchronisation at an address, which an event uses.
    fn sync(&mut self, address: Address, lane: Lane, pos: Pos) -> SyncId {
        let place = self.places.place(address);
        let syncs = &mut self.syncs;
        let id = *self.sync_numbers.entry(place).or_insert_with(|| {
            syncs.push(Sync {
                addr: address,
                is_lock: false,
                is_irregular: false,
                is_plain_word: true,
            });
            SyncId(syncs.len() as u32 - 1)
        });
        if let Some((destroyed, users)) = self.successors.get_mut(&id)
            && !users.contains(&lane)
        {
            users.push(lane);
            self.order.add(*destroyed, pos, EdgeKind::Destroyed);
        }
        id
    }

    fn source(&mut self, kind: &EventKind) -> u32 {
        match *kind {
            EventKind::Action { pc, .. } => {
                let codes = &mut self.codes;
                *self.code_numbers.entry(pc.0).or_insert_with(|| {
                    codes.push(pc);
                    ELSEWHERE | (codes.len() - 1) as u32
                })
            }
            _ => kind.site().map_or(0, |site| site.0 & !ELSEWHERE),
        }
    }

    /// Locks that were used against the rules keep the order of their operations.
    fn chain_irregular(&mut self) {
        let mut latest: Table<u32, Pos> = Table::default();
        if !self.syncs.iter().any(|sync| sync.is_irregular) {
            return;
        }
        for (at, record) in self.records.iter().enumerate() {
            let locks = matches!(record.kind, Kind::Acquire | Kind::Release | Kind::Downgrade);
            if locks && self.syncs[record.operand as usize].is_irregular {
                let pos = Pos(at as u32);
                if let Some(before) = latest.insert(record.operand, pos) {
                    self.order.add(before, pos, EdgeKind::Irregular);
                }
            }
        }
    }
}

/// What an action is to analyses, if it is more than an access.
fn kind_of(action: &Action) -> Option<Kind> {
    Some(match action {
        Action::Fork { .. } => Kind::Fork,
        Action::Begin { .. } => Kind::Begin,
        Action::End => Kind::End,
        Action::Join { .. } => Kind::Join,
        Action::CondWait { .. } => Kind::CondWait,
        Action::CondWake { .. } => Kind::CondWake,
        Action::CondNotify { .. } => Kind::CondNotify,
        Action::FutexWait { .. } => Kind::FutexWait,
        Action::FutexWake { .. } => Kind::FutexWake,
        Action::FutexNotify { .. } => Kind::FutexNotify,
        Action::SemWait { .. } => Kind::SemWait,
        Action::SemPost { .. } => Kind::SemPost,
        Action::BarrierArrive { .. } => Kind::BarrierArrive,
        Action::BarrierLeave { .. } => Kind::BarrierLeave,
        Action::OnceStart { .. } => Kind::OnceStart,
        Action::OnceDone { .. } => Kind::OnceDone,
        Action::OncePass { .. } => Kind::OncePass,
        Action::Alloc { .. } => Kind::Alloc,
        Action::Free { .. } => Kind::Free,
        Action::Destroy { .. } => Kind::Destroy,
        Action::Request { .. } => Kind::Request,
        Action::Fail { .. } => Kind::Fail,
        Action::Exit { .. } => Kind::Exit,
        _ => return None,
    })
}

fn object_address(action: &Action) -> Option<Address> {
    match *action {
        Action::CondWait { cond, .. }
        | Action::CondWake { cond, .. }
        | Action::CondNotify { cond, .. } => Some(cond),
        Action::FutexWait { futex, .. }
        | Action::FutexWake { futex, .. }
        | Action::FutexNotify { futex, .. } => Some(futex),
        Action::SemWait { semaphore, .. } | Action::SemPost { semaphore, .. } => Some(semaphore),
        Action::BarrierArrive { barrier, .. } | Action::BarrierLeave { barrier, .. } => {
            Some(barrier)
        }
        Action::OnceStart { once } | Action::OnceDone { once, .. } | Action::OncePass { once } => {
            Some(once)
        }
        Action::Destroy { object } => Some(object),
        _ => None,
    }
}

#[inline]
fn ordering(kind: &EventKind) -> Ordering {
    match kind {
        EventKind::AtomicLoad(_, atomicity)
        | EventKind::AtomicStore(_, atomicity)
        | EventKind::Rmw { atomicity, .. }
        | EventKind::Cas { atomicity, .. } => atomicity.order,
        _ => Ordering::Plain,
    }
}

/// Whether an inlined lock's word is 0 before this acquisition, or after this release.
fn is_plain_word(kind: &EventKind, change: LockChange) -> bool {
    match (*kind, change) {
        (
            EventKind::Rmw { access, .. } | EventKind::Cas { access, .. },
            LockChange::Acquire(LockMode::Exclusive),
        ) => access.value == 0,
        (EventKind::Rmw { new, .. } | EventKind::Cas { new, .. }, LockChange::Release(_)) => {
            new == 0
        }
        (EventKind::AtomicStore(access, _), LockChange::Release(_)) => access.value == 0,
        _ => false,
    }
}
