//! A trace, prepared once for all analyses.
//!
//! A [`View`] keeps the events that can matter to another thread, 24 bytes each: accesses to memory
//! that two threads touch and one writes while there are several, everything about locks, threads and other
//! synchronisation, fences, the making and freeing of shared objects, and the end. What one thread
//! does by itself is counted and dropped. Kept events are called by their [`Pos`], and since they
//! stand in trace order, comparing positions compares times.
//!
//! It is made in two passes over the same events, so that a long trace need not be in memory: a
//! [`Survey`] finds out what is shared, a [`Recorder`] keeps it.
//!
//! # What it gives
//!
//! - memory as *cells*, which every access touches wholly or not at all, and the accesses of each;
//! - locks as *holds*, and for each event the set of locks held and its atomic region;
//! - the *calls* in which a lock is taken twice, or whose function is marked as atomic;
//! - *must-order* edges between threads; see [`EdgeKind`] for which of them are conservative;
//! - values are not kept: an analysis that wants them has the event's index.

mod accesses;
mod blocks;
mod calls;
mod cells;
mod holds;
mod ids;
mod order;
mod places;
mod record;
mod shared;
mod sieve;
mod survey;
mod words;

use std::sync::{Arc, OnceLock};

use raddle_trace::action::Action;
use raddle_trace::event::{Event, EventKind};
use raddle_trace::ids::{Address, EventIndex, SiteId, ThreadId};
use raddle_trace::wire::Ordering;

pub use calls::{Call, CallId};
pub use cells::Cell;
pub use holds::{Hold, Lockset, Region};
pub use ids::{CellId, HoldId, Lane, LocksetId, ObjectId, Pos, RegionId, SyncId};
pub use order::{Edge, EdgeKind};
pub use record::Recorder;
pub use shared::Shared;
pub use sieve::{Sieve, Sifted};
pub use survey::Survey;

use accesses::Accesses;
use holds::{Context, Locksets};
use record::{ELSEWHERE, NONE, Record, flag};

/// A trace that cannot be viewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadTrace {
    /// Positions have 32 bits.
    #[error("the trace has more than {max} events", max = u32::MAX)]
    TooLong,
    /// Lanes have 16 bits.
    #[error("the trace has more than {max} threads", max = survey::MAX_LANES)]
    TooManyThreads,
    /// The recorder was shown a thread that the survey was not.
    #[error("the second pass shows other events than the first")]
    AnotherTrace,
}

/// What kind of step an event is. A lock whose code was inlined is both a lock operation and an
/// access: its kind says the former.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names are those of the trace's actions")]
pub enum Kind {
    Access,
    Acquire,
    Release,
    Downgrade,
    Request,
    Fork,
    Begin,
    End,
    Join,
    CondWait,
    CondWake,
    CondNotify,
    FutexWait,
    FutexWake,
    FutexNotify,
    SemWait,
    SemPost,
    BarrierArrive,
    BarrierLeave,
    OnceStart,
    OnceDone,
    OncePass,
    Alloc,
    Free,
    Destroy,
    Fence,
    Fail,
    Exit,
}

impl Kind {
    /// Whether it ends an atomic region (PECAN, section 4.1).
    const fn is_boundary(self) -> bool {
        matches!(
            self,
            Self::Fork
                | Self::Begin
                | Self::End
                | Self::Join
                | Self::CondWait
                | Self::CondWake
                | Self::CondNotify
                | Self::FutexWait
                | Self::FutexWake
                | Self::FutexNotify
                | Self::SemWait
                | Self::SemPost
                | Self::BarrierArrive
                | Self::BarrierLeave
        )
    }
}

/// Where an event comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// An instrumented instruction.
    Site(SiteId),
    /// A call into the runtime.
    Code(Address),
}

/// An object of synchronisation, in one of its lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sync {
    /// Where it is.
    pub addr: Address,
    /// Whether it is a lock.
    pub is_lock: bool,
    /// Whether it was taken while another held it, or given back by somebody who did not, or refused to who
    /// did: it is handed over in ways that no event shows, and who holds it is not known.
    pub is_irregular: bool,
    /// Whether it is an inlined lock whose word is 0 exactly while nobody holds it, so that taking
    /// it is the same whoever held it before.
    pub is_plain_word: bool,
}

/// A heap object of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    /// First byte.
    pub addr: Address,
    /// Its bytes.
    pub size: u64,
    /// Its making; kept in the view if the object is shared.
    pub alloc: EventIndex,
    /// Its freeing.
    pub free: Option<EventIndex>,
}

/// First and last cell of a range.
type CellRange = (CellId, CellId);

/// A trace, prepared for analyses.
#[derive(Debug)]
pub struct View {
    records: Vec<Record>,
    wide: Vec<Box<[CellRange]>>,
    codes: Vec<Address>,
    threads: Vec<ThreadId>,
    lanes: Vec<Vec<Pos>>,
    cells: Vec<Cell>,
    accesses: Accesses,
    syncs: Vec<Sync>,
    holds: Vec<Hold>,
    locksets: Locksets,
    contexts: Vec<Context>,
    regions: Vec<Region>,
    edges: Vec<Edge>,
    failed: Vec<Pos>,
    objects: Vec<Object>,
    calls: Vec<Call>,
    events: u64,
    /// Made when it is asked for.
    indices: OnceLock<Arc<[EventIndex]>>,
}

/// Events.
impl View {
    /// The view of a trace that is in memory.
    pub fn new(events: &[Event]) -> Result<Self, BadTrace> {
        Self::with_marked(events, [])
    }

    /// The same, with functions marked as atomic: their first instructions.
    pub fn with_marked(
        events: &[Event],
        functions: impl IntoIterator<Item = SiteId>,
    ) -> Result<Self, BadTrace> {
        let mut survey = Survey::default();
        events.iter().try_for_each(|event| survey.observe(event))?;
        let mut recorder = survey.finish();
        recorder.mark(functions);
        events
            .iter()
            .try_for_each(|event| recorder.observe(event))?;
        Ok(recorder.finish())
    }

    /// How many events are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether none are.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// How many events the trace has that are not kept.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.events - self.records.len() as u64
    }

    /// All kept events.
    pub fn positions(&self) -> impl ExactSizeIterator<Item = Pos> + use<> {
        (0..self.records.len() as u32).map(Pos)
    }

    /// Its number in the trace.
    #[must_use]
    pub fn event_index(&self, pos: Pos) -> EventIndex {
        EventIndex(self.records[pos.index()].index.into())
    }

    /// The numbers in the trace of all kept events, in order.
    pub(crate) fn event_indices(&self) -> &Arc<[EventIndex]> {
        let indices = || {
            let all = self.records.iter();
            all.map(|it| EventIndex(it.index.into())).collect()
        };
        self.indices.get_or_init(indices)
    }

    /// The kept event with this number in the trace.
    #[must_use]
    pub fn position(&self, index: EventIndex) -> Option<Pos> {
        let index = u32::try_from(index.0).ok()?;
        let found = self
            .records
            .binary_search_by_key(&index, |record| record.index);
        found.ok().map(|at| Pos(at as u32))
    }

    /// The same of many, quickly where they follow each other as in the trace; none if one of them is not kept.
    pub(crate) fn positions_of(&self, indices: &[EventIndex]) -> Option<Vec<Pos>> {
        let mut next = Pos(0);
        let of = |index: &EventIndex| {
            let record = self.records.get(next.index());
            let pos = match record.is_some_and(|it| EventIndex(it.index.into()) == *index) {
                true => next,
                false => self.position(*index)?,
            };
            next = Pos(pos.0 + 1);
            Some(pos)
        };
        indices.iter().map(of).collect()
    }

    /// Who executed it.
    #[must_use]
    #[inline]
    pub fn lane(&self, pos: Pos) -> Lane {
        self.records[pos.index()].lane
    }

    /// What it is.
    #[must_use]
    #[inline]
    pub fn kind(&self, pos: Pos) -> Kind {
        self.records[pos.index()].kind
    }

    /// Its instruction, or its call.
    #[must_use]
    pub fn source(&self, pos: Pos) -> Source {
        match self.records[pos.index()].source {
            listed if listed & ELSEWHERE != 0 => {
                Source::Code(self.codes[(listed & !ELSEWHERE) as usize])
            }
            site => Source::Site(SiteId(site)),
        }
    }

    /// Whether it reads memory.
    #[must_use]
    #[inline]
    pub fn reads(&self, pos: Pos) -> bool {
        self.records[pos.index()].flags & flag::READS != 0
    }

    /// Whether it writes memory.
    #[must_use]
    #[inline]
    pub fn writes(&self, pos: Pos) -> bool {
        self.records[pos.index()].flags & flag::WRITES != 0
    }

    /// Whether it is an atomic access.
    #[must_use]
    #[inline]
    pub fn is_atomic(&self, pos: Pos) -> bool {
        self.records[pos.index()].flags & flag::ATOMIC != 0
    }

    /// Its memory ordering.
    #[must_use]
    #[inline]
    pub fn ordering(&self, pos: Pos) -> Ordering {
        let order = self.records[pos.index()].flags >> flag::ORDER_SHIFT;
        Ordering::from_u8(order).unwrap_or(Ordering::Plain)
    }

    /// Whether a lock operation or request is on the shared side.
    #[must_use]
    #[inline]
    pub fn is_shared_side(&self, pos: Pos) -> bool {
        self.records[pos.index()].flags & flag::SHARED != 0
    }

    /// The object of synchronisation that it acts on.
    #[must_use]
    #[inline]
    pub fn sync_of(&self, pos: Pos) -> Option<SyncId> {
        let record = &self.records[pos.index()];
        let acts = !matches!(
            record.kind,
            Kind::Access | Kind::Fork | Kind::Join | Kind::Alloc | Kind::Free
        );
        (acts && record.operand != NONE).then_some(SyncId(record.operand))
    }

    /// The thread that it creates or joins.
    #[must_use]
    pub fn other_lane(&self, pos: Pos) -> Option<Lane> {
        let record = &self.records[pos.index()];
        let names = matches!(record.kind, Kind::Fork | Kind::Join) && record.operand != NONE;
        names.then_some(Lane(record.operand as u16))
    }

    /// The heap object that it makes or frees.
    #[must_use]
    pub fn object_of(&self, pos: Pos) -> Option<ObjectId> {
        let record = &self.records[pos.index()];
        let names = matches!(record.kind, Kind::Alloc | Kind::Free) && record.operand != NONE;
        names.then_some(ObjectId(record.operand))
    }

    /// The shared cells that it touches.
    #[inline]
    pub fn cells_of(&self, pos: Pos) -> impl Iterator<Item = CellId> {
        let ranges = cell_ranges(self.records[pos.index()].cells, &self.wide);
        ranges.flat_map(|(first, last)| (first.0..=last.0).map(CellId))
    }

    /// Whether two events make a race if nothing orders them: one writes, one is not atomic. That
    /// they touch the same cell and belong to different threads is not looked at.
    #[must_use]
    #[inline]
    pub fn conflict(&self, a: Pos, b: Pos) -> bool {
        let (a, b) = (&self.records[a.index()], &self.records[b.index()]);
        (a.flags | b.flags) & flag::WRITES != 0 && a.flags & b.flags & flag::ATOMIC == 0
    }

    /// Requests that were not granted: tries that failed.
    #[must_use]
    pub fn failed_requests(&self) -> &[Pos] {
        &self.failed
    }
}

/// Threads, memory, objects.
impl View {
    /// The threads, by lane.
    #[must_use]
    pub fn threads(&self) -> &[ThreadId] {
        &self.threads
    }

    /// A thread's kept events.
    #[must_use]
    pub fn lane_events(&self, lane: Lane) -> &[Pos] {
        &self.lanes[lane.index()]
    }

    /// The cells, by place.
    #[must_use]
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The threads that access a cell, each with its accesses in trace order.
    pub fn accesses(&self, cell: CellId) -> impl Iterator<Item = (Lane, &[Pos])> + Clone {
        self.accesses.of(cell)
    }

    /// The heap objects, those included that are not shared.
    #[must_use]
    pub fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// The objects of synchronisation.
    #[must_use]
    pub fn syncs(&self) -> &[Sync] {
        &self.syncs
    }

    /// Orders that no reordering may break, by their ends.
    #[must_use]
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The edges that end at an event.
    #[must_use]
    pub fn edges_to(&self, pos: Pos) -> &[Edge] {
        let start = self.edges.partition_point(|edge| edge.to < pos);
        let end = self.edges.partition_point(|edge| edge.to <= pos);
        &self.edges[start..end]
    }
}

/// Locks.
impl View {
    /// The holds, by their acquisitions.
    #[must_use]
    pub fn holds(&self) -> &[Hold] {
        &self.holds
    }

    /// The set of locks held when an event was executed: an acquisition does not hold its lock yet,
    /// a release still does.
    #[must_use]
    pub fn lockset_of(&self, pos: Pos) -> LocksetId {
        self.contexts[self.records[pos.index()].context as usize].lockset
    }

    /// The locks of a set.
    #[must_use]
    pub fn lockset(&self, id: LocksetId) -> &Lockset {
        self.locksets.get(id)
    }

    /// How many different locksets there are.
    #[must_use]
    pub fn lockset_count(&self) -> usize {
        self.locksets.len()
    }

    /// The atomic region of an event; none if no lock was held.
    #[must_use]
    pub fn region_of(&self, pos: Pos) -> Option<RegionId> {
        self.contexts[self.records[pos.index()].context as usize].region
    }

    /// The atomic regions.
    #[must_use]
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// Calls in which a lock is taken twice, and of functions marked as atomic: by thread, then by entry.
    #[must_use]
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// The innermost of these calls in which two events of a thread happen.
    #[must_use]
    pub fn call_around(&self, first: Pos, last: Pos) -> Option<CallId> {
        let (lane, event) = (self.lane(first), self.event_index(first));
        let after = self
            .calls
            .partition_point(|call| (call.lane, call.enter) <= (lane, event));
        let nearest = after.checked_sub(1)?;
        let mut at = (self.calls[nearest].lane == lane).then_some(CallId(nearest as u32));
        while let Some(id) = at {
            let call = &self.calls[id.0 as usize];
            if call.contains(event) && call.contains(self.event_index(last)) {
                break;
            }
            at = call.parent;
        }
        at
    }
}

/// The ranges of cells that a record's field stands for.
#[inline]
fn cell_ranges(field: u32, wide: &[Box<[CellRange]>]) -> impl Iterator<Item = CellRange> {
    let (one, listed): (Option<CellRange>, &[CellRange]) = match field {
        NONE => (None, &[]),
        listed if listed & ELSEWHERE != 0 => (None, &wide[(listed & !ELSEWHERE) as usize]),
        cell => (Some((CellId(cell), CellId(cell))), &[]),
    };
    one.into_iter().chain(listed.iter().copied())
}

/// The bytes that an event touches.
#[derive(Clone, Copy, Debug)]
struct Touch {
    addr: Address,
    len: u64,
    reads: bool,
    writes: bool,
    atomic: bool,
}

/// What an event touches.
#[inline]
fn touch_of(kind: &EventKind) -> Option<Touch> {
    match kind {
        EventKind::Read(access) | EventKind::Write(access) => {
            let reads = matches!(kind, EventKind::Read(_));
            Some(Touch {
                addr: access.addr,
                len: access.size.into(),
                reads,
                writes: !reads,
                atomic: false,
            })
        }
        _ => touch_of_others(kind),
    }
}

/// What an event other than a plain access touches. Starting to wait on a futex reads its word.
fn touch_of_others(kind: &EventKind) -> Option<Touch> {
    const FUTEX_BYTES: u64 = 4;
    if let EventKind::Action {
        action: Action::FutexWait { futex, .. },
        ..
    } = *kind
    {
        return Some(Touch {
            addr: futex,
            len: FUTEX_BYTES,
            reads: true,
            writes: false,
            atomic: true,
        });
    }
    let footprint = kind.footprint()?;
    Some(Touch {
        addr: footprint.addr,
        len: footprint.len,
        reads: footprint.reads,
        writes: footprint.writes,
        atomic: footprint.atomic,
    })
}
