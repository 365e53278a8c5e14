//! The first pass: who touches what, and which events the heap's order needs.

use std::collections::BTreeMap;

use raddle_trace::action::Action;
use raddle_trace::event::{Event, EventKind};
use raddle_trace::ids::ThreadId;
use raddle_trace::sharing::SiteSet;

use super::cells::Cells;
use super::ids::{Lane, ObjectId};
use super::order::EdgeKind;
use super::places::Places;
use super::record::Recorder;
use super::shared::Shared;
use super::sieve::Sieve;
use super::words::{Words, Writes};
use super::{BadTrace, touch_of};
use crate::table::Table;

/// Threads that a view tells apart.
pub(super) const MAX_LANES: usize = 1 << 16;

/// What is remembered of a heap object, in all tables together.
const BYTES_AN_OBJECT: usize = 160;

/// A heap object's making.
#[derive(Clone, Copy, Debug)]
pub(super) struct Making {
    pub(super) lane: Lane,
    pub(super) event: u32,
    pub(super) free: Option<u32>,
}

/// An order between two events of the trace.
pub(super) type IndexEdge = (u32, u32, EdgeKind);

/// The first pass over a trace: to be shown each event, in trace order.
#[derive(Debug, Default)]
pub struct Survey {
    lanes: Lanes,
    places: Places,
    words: Words,
    makings: Vec<Making>,
    /// Who has touched whose object.
    visited: Table<(ObjectId, Lane), ()>,
    latest_visit: Option<(ObjectId, Lane)>,
    /// Memory that was freed and not given out again: by first address, one past the last, who, when.
    freed: BTreeMap<u64, (u64, Lane, u32)>,
    edges: Vec<IndexEdge>,
    events: u32,
    crew: Crew,
}

/// Whether other threads have been there.
#[derive(Debug, Default)]
struct Crew {
    /// Whether a thread was created, or a second one seen.
    is_several: bool,
    created: Table<u32, ()>,
    /// Whether a thread was seen that nobody created: what came before it in the trace need not come before it.
    has_strangers: bool,
}

impl Crew {
    fn creates(&mut self, child: ThreadId) {
        self.is_several = true;
        self.created.insert(child.0, ());
    }

    fn joins(&mut self, thread: ThreadId) {
        self.is_several = true;
        self.has_strangers |= !self.created.contains_key(&thread.0);
    }

    fn writes(&self, writes: bool) -> Writes {
        match (writes, self.is_several) {
            (false, _) => Writes::Nothing,
            (true, false) => Writes::Alone,
            (true, true) => Writes::Among,
        }
    }
}

/// Threads in the order of their first events.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    numbers: Table<u32, Lane>,
    latest: Option<(ThreadId, Lane)>,
    pub(super) threads: Vec<ThreadId>,
}

impl Lanes {
    /// A thread's lane.
    #[inline]
    pub(super) fn of(&mut self, thread: ThreadId) -> Result<Lane, BadTrace> {
        if let Some((latest, lane)) = self.latest
            && latest == thread
        {
            return Ok(lane);
        }
        let lane = match self.numbers.get(&thread.0) {
            Some(&lane) => lane,
            None => {
                let next = self.threads.len();
                if next >= MAX_LANES {
                    return Err(BadTrace::TooManyThreads);
                }
                let lane = Lane(next as u16);
                self.threads.push(thread);
                self.numbers.insert(thread.0, lane);
                lane
            }
        };
        self.latest = Some((thread, lane));
        Ok(lane)
    }

    /// The lane of a thread that has one, quickly if it is the latest again.
    #[inline]
    pub(super) fn known_or_latest(&mut self, thread: ThreadId) -> Option<Lane> {
        if let Some((latest, lane)) = self.latest
            && latest == thread
        {
            return Some(lane);
        }
        let lane = self.known(thread)?;
        self.latest = Some((thread, lane));
        Some(lane)
    }

    /// The lane of a thread that has one.
    pub(super) fn known(&self, thread: ThreadId) -> Option<Lane> {
        self.numbers.get(&thread.0).copied()
    }
}

impl Survey {
    /// Takes note of an event.
    pub fn observe(&mut self, event: &Event) -> Result<(), BadTrace> {
        let lanes = self.lanes.threads.len();
        let lane = self.lanes.of(event.thread)?;
        if lanes > 0 && lane.index() == lanes {
            self.crew.joins(event.thread);
        }
        let index = self.events;
        self.events = index.checked_add(1).ok_or(BadTrace::TooLong)?;
        if let Some(touch) = touch_of(&event.kind) {
            let (words, makings) = (&mut self.words, &self.makings);
            let writes = self.crew.writes(touch.writes);
            let mut visited = None;
            self.places.segments(touch.addr, touch.len, |segment| {
                words.touch(lane, segment, writes);
                let foreign = segment.object.filter(|o| makings[o.index()].lane != lane);
                visited = foreign.or(visited);
            });
            if let Some(object) = visited {
                self.visit(object, lane, index);
            }
        }
        let EventKind::Action { action, .. } = event.kind else {
            return Ok(());
        };
        let object = self.places.observe(event);
        match (action, object) {
            (Action::Alloc { addr, size, .. }, Some(_)) => {
                self.makings.push(Making {
                    lane,
                    event: index,
                    free: None,
                });
                self.recycle(addr.0, addr.0.saturating_add(size.max(1)), lane, index);
            }
            (Action::Free { addr, .. }, Some(object)) => {
                let made = self.places.allocations()[object.index()];
                let end = addr.0.saturating_add(made.size);
                self.freed.insert(addr.0, (end, lane, index));
                let writes = self.crew.writes(true);
                self.words.free(lane, made.place, made.size, writes);
                let making = &mut self.makings[object.index()];
                making.free = Some(index);
                if making.lane != lane {
                    self.edges.push((making.event, index, EdgeKind::Heap));
                }
            }
            (Action::Fork { child }, _) => self.crew.creates(child),
            _ => {}
        }
        Ok(())
    }

    fn cells(words: Words, crew: &Crew, places: &Places) -> Cells {
        let mut words = words;
        if crew.has_strangers {
            words.doubt_alone();
        }
        Cells::new(words, places.allocations())
    }

    /// Ends the first pass; the same events are then shown to the recorder.
    #[must_use]
    pub fn finish(self) -> Recorder {
        let cells = Self::cells(self.words, &self.crew, &self.places);
        let mut forced: Vec<u32> = self
            .edges
            .iter()
            .flat_map(|&(from, to, _)| [from, to])
            .collect();
        let mut objects: Vec<ObjectId> =
            cells.cells.iter().filter_map(|cell| cell.object).collect();
        objects.dedup();
        for object in objects {
            let making = self.makings[object.index()];
            forced.push(making.event);
            forced.extend(making.free);
        }
        forced.sort_unstable();
        forced.dedup();
        Recorder::new(self.lanes, cells, forced, self.edges, self.makings)
    }

    /// Ends the first pass; the same events are then shown to the sieve. Some sites are `always` of concern.
    #[must_use]
    pub fn sieve(self, always: SiteSet) -> Sieve {
        let shared = Shared::new(Self::cells(self.words, &self.crew, &self.places));
        Sieve::new(self.lanes, shared, always)
    }

    /// Ends the first pass; the same events are then shown to what tells which of them concern one thread only.
    #[must_use]
    pub fn shared(self) -> Shared {
        Shared::new(Self::cells(self.words, &self.crew, &self.places))
    }

    /// Bytes that it takes, more or less: they grow with the memory that the trace touches.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.words.bytes() + self.makings.len() * BYTES_AN_OBJECT
    }

    /// A thread touches an object that another made.
    fn visit(&mut self, object: ObjectId, lane: Lane, index: u32) {
        if self.latest_visit == Some((object, lane)) {
            return;
        }
        self.latest_visit = Some((object, lane));
        if self.visited.insert((object, lane), ()).is_none() {
            let making = self.makings[object.index()];
            self.edges.push((making.event, index, EdgeKind::Heap));
        }
    }

    /// Memory is given out again.
    fn recycle(&mut self, start: u64, end: u64, lane: Lane, index: u32) {
        while let Some((&first, &(last, by, when))) = self.freed.range(..end).next_back() {
            if last <= start {
                break;
            }
            self.freed.remove(&first);
            if by != lane {
                self.edges.push((when, index, EdgeKind::Recycled));
            }
            if end < last {
                self.freed.insert(end, (last, by, when));
            }
            if first < start {
                self.freed.insert(first, (start, by, when));
            }
        }
    }
}
