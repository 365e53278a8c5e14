//! Where accesses go: an allocation's identity is part of a place, so that a reused address is
//! another place.
//!
//! Each heap object of the trace is given a range of its own in a flat space of places; what is not
//! on the heap keeps its address. Two accesses touch the same byte of the same object exactly if
//! their segments overlap.

use std::collections::BTreeMap;

use raddle_trace::action::Action;
use raddle_trace::event::{Event, EventKind};
use raddle_trace::ids::Address;

use crate::table::Table;

/// Heap objects are placed above every address of a program.
const HEAP_PLACES: u64 = 1 << 56;
/// Objects start at multiples of this, so that neighbours share no word.
const PLACE_ALIGN: u64 = 64;

/// A futex is a word of this many bytes, which starting to wait compares.
pub(crate) const FUTEX_BYTES: u64 = 4;

/// An allocation, in the order of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct AllocationIndex(pub(crate) u32);

/// A heap object of the trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allocation {
    /// First byte in the program.
    pub(crate) addr: Address,
    /// Bytes asked for, at least 1.
    pub(crate) size: u64,
    /// The event that made it.
    pub(crate) alloc: usize,
    /// The event that freed it.
    pub(crate) free: Option<usize>,
    /// First place.
    place: u64,
}

/// A run of bytes that an event touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// First place.
    pub(crate) place: u64,
    /// Bytes.
    pub(crate) len: u64,
    /// The heap object that they belong to.
    pub(crate) allocation: Option<AllocationIndex>,
}

/// The places that events touch.
#[derive(Debug, Default)]
pub(crate) struct Places {
    allocations: Vec<Allocation>,
    /// By event; accesses to a single object.
    single: Vec<Option<Segment>>,
    /// Accesses that run over an object's edge.
    several: Table<usize, Vec<Segment>>,
    /// The allocation that an `Alloc` or `Free` is about.
    about: Table<usize, AllocationIndex>,
    /// Where the object of a synchronisation event lies.
    objects: Table<usize, u64>,
}

impl Places {
    pub(super) fn new(events: &[Event]) -> Self {
        let mut places = Self {
            single: vec![None; events.len()],
            ..Self::default()
        };
        let mut live = Live::default();
        for (at, event) in events.iter().enumerate() {
            if let Some(footprint) = event.footprint() {
                let whole = live.place(&places, footprint.addr);
                if footprint.len <= whole.len {
                    let len = footprint.len;
                    places.single[at] = (len > 0).then_some(Segment { len, ..whole });
                } else {
                    let segments = live.segments(&places, footprint.addr, footprint.len);
                    places.several.insert(at, segments);
                }
            }
            places.note_action(at, event, &mut live);
        }
        places
    }

    fn note_action(&mut self, at: usize, event: &Event, live: &mut Live) {
        match event.kind {
            EventKind::Action {
                action: Action::Alloc { addr, size, .. },
                ..
            } => {
                let index = AllocationIndex(self.allocations.len() as u32);
                let place = self.allocations.last().map_or(HEAP_PLACES, |last| {
                    (last.place + last.size).next_multiple_of(PLACE_ALIGN)
                });
                let size = size.max(1);
                self.allocations.push(Allocation {
                    addr,
                    size,
                    alloc: at,
                    free: None,
                    place,
                });
                self.about.insert(at, index);
                live.add(addr, size, index);
            }
            EventKind::Action {
                action: Action::Free { addr, .. },
                ..
            } => {
                if let Some(index) = live.remove(addr) {
                    self.allocations[index.0 as usize].free = Some(at);
                    self.about.insert(at, index);
                }
            }
            _ => {
                if let Some(address) = object_address(event) {
                    let place = live.place(self, address);
                    self.objects.insert(at, place.place);
                    if is_futex_wait(event) {
                        let len = FUTEX_BYTES;
                        self.single[at] = Some(Segment { len, ..place });
                    }
                }
            }
        }
    }

    /// What an access touches, in the order of addresses.
    pub(crate) fn segments(&self, at: usize) -> &[Segment] {
        match &self.single[at] {
            Some(segment) => std::slice::from_ref(segment),
            None => self.several.get(&at).map_or(&[], Vec::as_slice),
        }
    }

    /// The allocation that an `Alloc` or `Free` is about, if the trace shows its making.
    pub(crate) fn about(&self, at: usize) -> Option<AllocationIndex> {
        self.about.get(&at).copied()
    }

    /// An allocation.
    pub(crate) fn allocation(&self, index: AllocationIndex) -> &Allocation {
        &self.allocations[index.0 as usize]
    }

    /// Where the object of a synchronisation event lies.
    pub(crate) fn object(&self, at: usize) -> Option<u64> {
        self.objects.get(&at).copied()
    }

    /// Whether two events touch a byte in common.
    pub(crate) fn overlap(&self, a: usize, b: usize) -> bool {
        self.segments(a).iter().any(|left| {
            self.segments(b).iter().any(|right| {
                left.place < right.place + right.len && right.place < left.place + left.len
            })
        })
    }
}

/// The address of what a synchronisation event acts on.
pub(crate) fn object_address(event: &Event) -> Option<Address> {
    if let Some(lock) = event.lock_action() {
        return Some(lock.lock);
    }
    let EventKind::Action { action, .. } = event.kind else {
        return None;
    };
    match action {
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
        Action::Request { lock, wants, .. } if wants != raddle_trace::wire::Mark::Join => {
            Some(lock)
        }
        _ => None,
    }
}

fn is_futex_wait(event: &Event) -> bool {
    matches!(
        event.kind,
        EventKind::Action {
            action: Action::FutexWait { .. },
            ..
        }
    )
}

/// The objects that are allocated at a point of the trace.
#[derive(Default)]
struct Live {
    /// By first address: one past the last, and which.
    ranges: BTreeMap<u64, (u64, AllocationIndex)>,
}

impl Live {
    /// What still covers the new range was freed without an event.
    fn add(&mut self, addr: Address, size: u64, index: AllocationIndex) {
        let end = addr.0.saturating_add(size);
        while let Some((&start, &(last, _))) = self.ranges.range(..end).next_back() {
            if last <= addr.0 {
                break;
            }
            self.ranges.remove(&start);
        }
        self.ranges.insert(addr.0, (end, index));
    }

    fn remove(&mut self, addr: Address) -> Option<AllocationIndex> {
        self.ranges.remove(&addr.0).map(|(_, index)| index)
    }

    /// The bytes from an address to the end of its object, or to the next object's start.
    fn place(&self, places: &Places, address: Address) -> Segment {
        let inside = self.ranges.range(..=address.0).next_back();
        if let Some((&start, &(end, index))) = inside
            && address.0 < end
        {
            return Segment {
                place: places.allocation(index).place + (address.0 - start),
                len: end - address.0,
                allocation: Some(index),
            };
        }
        let next = self.ranges.range(address.0..).next();
        Segment {
            place: address.0,
            len: next.map_or(u64::MAX, |(&start, _)| start) - address.0,
            allocation: None,
        }
    }

    fn segments(&self, places: &Places, addr: Address, len: u64) -> Vec<Segment> {
        let mut segments = Vec::new();
        let mut passed = 0;
        while passed < len {
            let whole = self.place(places, addr.after(passed));
            let len = whole.len.min(len - passed).max(1);
            segments.push(Segment { len, ..whole });
            passed += len;
        }
        segments
    }
}
