//! Where accesses go, in a flat space of places in which a reused address is another place.
//!
//! Each heap object has a range of places of its own, in the order of allocation; everything else
//! keeps its address. Both passes over a trace show the same events and so get the same places.

use std::collections::BTreeMap;

use raddle_trace::action::Action;
use raddle_trace::event::{Event, EventKind};
use raddle_trace::ids::Address;

use super::blocks::{BlockCache, Line};
use super::ids::ObjectId;

/// Objects lie above every address of a program.
const HEAP_PLACES: u64 = 1 << 56;
/// Objects begin at multiples of this, so that no two share a page of the survey.
const PLACE_ALIGN: u64 = 256;

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
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub(super) start: u64,
    /// One past the last.
    pub(super) end: u64,
    /// Place of `start`.
    pub(super) place: u64,
    pub(super) object: Option<ObjectId>,
}

/// The places of all addresses at a point of the trace.
#[derive(Debug)]
pub(crate) struct Places {
    /// By first address: one past the last, and which.
    live: BTreeMap<u64, (u64, ObjectId)>,
    allocations: Vec<Allocation>,
    /// Of large blocks that are all one extent, such as most of stacks and static memory.
    large_blocks: BlockCache<16, 8>,
    /// Of the rest, such as a heap of small objects.
    small_blocks: BlockCache<6, 12>,
}

impl Default for Places {
    fn default() -> Self {
        Self {
            live: BTreeMap::new(),
            allocations: Vec::new(),
            large_blocks: BlockCache::new(),
            small_blocks: BlockCache::new(),
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
                let (end, object) = self.live.remove(&addr.0)?;
                self.forget(addr.0, end);
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
        let line = self.line(address.0);
        address.0.wrapping_add(line.shift)
    }

    /// The bytes of an access, split at the edges of objects.
    #[inline]
    pub(crate) fn segments(&mut self, addr: Address, len: u64, mut see: impl FnMut(Segment)) {
        let line = self.line(addr.0);
        if len <= line.end - addr.0 {
            if len > 0 {
                see(Segment {
                    place: addr.0.wrapping_add(line.shift),
                    len,
                    object: line.object,
                });
            }
            return;
        }
        self.long_segments(addr, len, see);
    }

    /// The same, for accesses that leave a block or an object.
    #[inline(never)]
    fn long_segments(&self, addr: Address, len: u64, mut see: impl FnMut(Segment)) {
        let (mut at, mut left) = (addr.0, len);
        while left > 0 {
            let extent = self.look_up(at);
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
            self.forget(start, last);
        }
        let object = ObjectId(self.allocations.len() as u32);
        let place = self.allocations.last().map_or(HEAP_PLACES, |last| {
            (last.place + last.size).next_multiple_of(PLACE_ALIGN)
        });
        self.live.insert(addr.0, (end, object));
        self.allocations.push(Allocation { addr, size, place });
        self.forget(addr.0, end);
        object
    }

    /// The line of an address: it contains it, unless that is the very last.
    #[inline]
    fn line(&mut self, address: u64) -> Line {
        let large = self.large_blocks.get(address);
        match large.or_else(|| self.small_blocks.get(address)) {
            Some(line) => *line,
            None => self.load(address),
        }
    }

    #[cold]
    fn load(&mut self, address: u64) -> Line {
        let extent = self.look_up(address);
        match self.large_blocks.covers(&extent, address) {
            true => self.large_blocks.put(&extent, address),
            false => self.small_blocks.put(&extent, address),
        }
    }

    /// What is known of some memory holds no longer.
    fn forget(&mut self, start: u64, end: u64) {
        self.large_blocks.forget(start, end);
        self.small_blocks.forget(start, end);
    }

    fn look_up(&self, address: u64) -> Extent {
        let before = self.live.range(..=address).next_back();
        if let Some((&start, &(end, object))) = before
            && address < end
        {
            return Extent {
                start,
                end,
                place: self.allocations[object.index()].place,
                object: Some(object),
            };
        }
        let start = before.map_or(0, |(_, &(end, _))| end);
        let next = self.live.range(address..).next();
        Extent {
            start,
            end: next.map_or(u64::MAX, |(&start, _)| start),
            place: start,
            object: None,
        }
    }
}
