//! Where accesses go, in a flat space of places in which a reused address is another place.
//!
//! Each heap object has a range of places of its own, in the order of allocation; everything else
//! keeps its address. Both passes over a trace show the same events and so get the same places.

use std::collections::BTreeMap;

use raddle_trace::action::Action;
use raddle_trace::event::{Event, EventKind};
use raddle_trace::ids::Address;

use super::ids::ObjectId;

/// Objects lie above every address of a program.
const HEAP_PLACES: u64 = 1 << 56;
/// Objects begin at multiples of this, so that no two share a page of the survey.
const PLACE_ALIGN: u64 = 256;
/// Lines of the lookup cache.
const CACHE_LINES: usize = 256;

/// A run of bytes of one object, or of no object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) place: u64,
    pub(crate) len: u64,
    pub(crate) object: Option<ObjectId>,
}

/// A heap object that is or was live.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allocation {
    pub(crate) addr: Address,
    pub(crate) size: u64,
    pub(crate) place: u64,
}

/// What lies between two addresses: an object, or the gap between two.
#[derive(Clone, Copy, Debug, Default)]
struct Extent {
    start: u64,
    end: u64,
    /// Place of `start`.
    place: u64,
    object: Option<ObjectId>,
    /// The cache is void when anything was allocated or freed since.
    generation: u64,
}

/// The places of all addresses at a point of the trace.
#[derive(Debug)]
pub(crate) struct Places {
    /// By first address: one past the last, and which.
    live: BTreeMap<u64, (u64, ObjectId)>,
    allocations: Vec<Allocation>,
    cache: Vec<Extent>,
    generation: u64,
}

impl Default for Places {
    fn default() -> Self {
        Self {
            live: BTreeMap::new(),
            allocations: Vec::new(),
            cache: vec![Extent::default(); CACHE_LINES],
            generation: 1,
        }
    }
}

impl Places {
    /// Takes note of an allocation or a freeing, and says which object it is about.
    pub(crate) fn observe(&mut self, event: &Event) -> Option<ObjectId> {
        let EventKind::Action { action, .. } = event.kind else {
            return None;
        };
        match action {
            Action::Alloc { addr, size, .. } => Some(self.allocate(addr, size.max(1))),
            Action::Free { addr, .. } => {
                let (_, object) = self.live.remove(&addr.0)?;
                self.generation += 1;
                Some(object)
            }
            _ => None,
        }
    }

    /// All objects so far.
    pub(crate) fn allocations(&self) -> &[Allocation] {
        &self.allocations
    }

    /// The place of an address.
    pub(crate) fn place(&mut self, address: Address) -> u64 {
        let extent = self.extent(address.0);
        extent.place + (address.0 - extent.start)
    }

    /// The bytes of an access, split at the edges of objects.
    #[inline]
    pub(crate) fn segments(&mut self, addr: Address, len: u64, mut see: impl FnMut(Segment)) {
        let (mut at, mut left) = (addr.0, len);
        while left > 0 {
            let extent = self.extent(at);
            let len = (extent.end - at).min(left).max(1);
            see(Segment {
                place: extent.place + (at - extent.start),
                len,
                object: extent.object,
            });
            let Some(next) = at.checked_add(len) else {
                return;
            };
            at = next;
            left -= len;
        }
    }

    /// Whatever still covers the new range was freed without an event.
    fn allocate(&mut self, addr: Address, size: u64) -> ObjectId {
        let end = addr.0.saturating_add(size);
        while let Some((&start, &(last, _))) = self.live.range(..end).next_back() {
            if last <= addr.0 {
                break;
            }
            self.live.remove(&start);
        }
        let object = ObjectId(self.allocations.len() as u32);
        let place = self.allocations.last().map_or(HEAP_PLACES, |last| {
            (last.place + last.size).next_multiple_of(PLACE_ALIGN)
        });
        self.live.insert(addr.0, (end, object));
        self.allocations.push(Allocation { addr, size, place });
        self.generation += 1;
        object
    }

    #[inline]
    fn extent(&mut self, address: u64) -> Extent {
        let line = (address >> 6) as usize % CACHE_LINES;
        let cached = self.cache[line];
        if cached.generation == self.generation && cached.start <= address && address < cached.end {
            return cached;
        }
        let found = self.look_up(address);
        self.cache[line] = found;
        found
    }

    fn look_up(&self, address: u64) -> Extent {
        let generation = self.generation;
        let before = self.live.range(..=address).next_back();
        if let Some((&start, &(end, object))) = before
            && address < end
        {
            return Extent {
                start,
                end,
                place: self.allocations[object.index()].place,
                object: Some(object),
                generation,
            };
        }
        let start = before.map_or(0, |(_, &(end, _))| end);
        let next = self.live.range(address..).next();
        Extent {
            start,
            end: next.map_or(u64::MAX, |(&start, _)| start),
            place: start,
            object: None,
            generation,
        }
    }
}
