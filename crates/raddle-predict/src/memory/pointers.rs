//! Which reads are of pointers that their threads then follow.
//!
//! The trace has values and addresses, not pointers: a read of eight bytes whose value is the address of
//! an object, or lies just below an address that its thread accesses soon after, is taken for one.

use std::collections::{BTreeMap, VecDeque};

use raddle_trace::action::Action;
use raddle_trace::event::{Event, EventKind};
use raddle_trace::ids::{EventIndex, ThreadId};

use crate::findings::source_number;
use crate::table::Table;
use crate::view::{Lane, Pos, View};

/// How far behind a pointer into no object an access may lie. Smaller values are no pointers.
const NEAR_BYTES: u64 = 4096;
/// How many pointers a thread has read lately that it may follow.
const RECENT: usize = 8;

/// A read of a pointer.
#[derive(Clone, Copy, Debug)]
pub(super) struct PointerRead {
    pub(super) read: Pos,
    pub(super) value: u64,
    /// Bytes behind the pointer that belong to what it points to.
    reach: u64,
    /// The first access through it.
    pub(super) access: Option<EventIndex>,
}

/// What instructions do with the pointers that they read.
#[derive(Debug, Default)]
pub(super) struct Pointers {
    /// In the order of the trace.
    pub(super) reads: Vec<PointerRead>,
    /// Instructions whose pointer was freed by the thread that read it.
    freeing: Table<u64, ()>,
    /// Instructions whose pointer was followed.
    following: Table<u64, ()>,
}

/// Pointers that a thread has read.
#[derive(Default)]
struct Reader {
    recent: VecDeque<usize>,
    by_value: Table<u64, usize>,
}

impl Pointers {
    pub(super) fn new(view: &View, events: &[Event]) -> Self {
        let mut pointers = Self::default();
        let mut lanes: Table<u32, Lane> = Table::default();
        for (lane, ThreadId(thread)) in view.threads().iter().enumerate() {
            lanes.insert(*thread, Lane(lane as u16));
        }
        let mut readers: Vec<Reader> = Vec::new();
        readers.resize_with(view.threads().len(), Reader::default);
        let mut live = BTreeMap::new();
        let mut kept = view.positions().peekable();
        for (index, event) in events.iter().enumerate() {
            let index = EventIndex(index as u64);
            let pos = kept.next_if(|pos| view.event_index(*pos) == index);
            let Some(lane) = lanes.get(&event.thread.0) else {
                continue;
            };
            let reader = &mut readers[lane.index()];
            if let Some(footprint) = event.footprint() {
                pointers.follow(view, reader, footprint.addr.0, index);
            }
            match event.kind {
                EventKind::Action { action, .. } => match action {
                    Action::Alloc { addr, size, .. } => {
                        live.insert(addr.0, addr.0.saturating_add(size));
                    }
                    Action::Free { addr, .. } => {
                        live.remove(&addr.0);
                        if let Some(&number) = reader.by_value.get(&addr.0) {
                            let source = view.source(pointers.reads[number].read);
                            pointers.freeing.insert(source_number(source), ());
                        }
                    }
                    _ => {}
                },
                EventKind::Read(access) | EventKind::AtomicLoad(access, _)
                    if access.size == 8 && access.value >= NEAR_BYTES =>
                {
                    let Some(read) = pos else { continue };
                    let object = live.range(..=access.value).next_back();
                    let end = object.map(|(_, end)| *end);
                    let end = end.filter(|end| *end > access.value);
                    let reach = end.map_or(NEAR_BYTES, |end| end - access.value);
                    pointers.push(reader, read, access.value, reach);
                }
                _ => {}
            }
        }
        pointers
    }

    /// Whether an instruction reads pointers that are freed.
    pub(super) fn is_freeing(&self, source: u64) -> bool {
        self.freeing.contains_key(&source)
    }

    /// Whether an instruction reads pointers that are followed.
    pub(super) fn is_following(&self, source: u64) -> bool {
        self.following.contains_key(&source)
    }

    fn push(&mut self, reader: &mut Reader, read: Pos, value: u64, reach: u64) {
        let number = self.reads.len();
        self.reads.push(PointerRead {
            read,
            value,
            reach,
            access: None,
        });
        reader.by_value.insert(value, number);
        if reader.recent.len() == RECENT {
            reader.recent.pop_front();
        }
        reader.recent.push_back(number);
    }

    /// A thread accesses an address: through the pointers that it read last.
    fn follow(&mut self, view: &View, reader: &mut Reader, addr: u64, index: EventIndex) {
        let Self {
            reads, following, ..
        } = self;
        reader.recent.retain(|&number| {
            let read = &mut reads[number];
            let is_through = addr.wrapping_sub(read.value) < read.reach;
            if is_through {
                read.access = Some(index);
                following.insert(source_number(view.source(read.read)), ());
            }
            !is_through
        });
    }
}
