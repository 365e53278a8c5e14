//! Which object an address belongs to at a point of the trace.

use std::collections::BTreeMap;
use std::fmt;

use crate::action::Action;
use crate::event::{Event, EventKind};
use crate::ids::{Address, AllocId};

/// A place in memory that stays the same place even if its address is reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Location {
    /// In a heap object.
    Heap {
        /// The object.
        alloc: AllocId,
        /// Bytes from its start.
        offset: u64,
    },
    /// Anywhere else: static memory, a stack, memory of unknown origin.
    Other(Address),
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Heap { alloc, offset } => write!(f, "{alloc}+{offset}"),
            Self::Other(address) => write!(f, "{address}"),
        }
    }
}

impl Location {
    /// The place `bytes` further on.
    #[must_use]
    pub const fn after(self, bytes: u64) -> Self {
        match self {
            Self::Heap { alloc, offset } => Self::Heap {
                alloc,
                offset: offset.wrapping_add(bytes),
            },
            Self::Other(address) => Self::Other(address.after(bytes)),
        }
    }
}

/// The live allocations, kept up to date by showing it each event in trace order.
#[derive(Clone, Debug, Default)]
pub struct Allocations {
    /// By first address; ranges never overlap.
    live: BTreeMap<u64, Object>,
}

#[derive(Clone, Copy, Debug)]
struct Object {
    /// One past the last address, and past the first one even if the size is 0.
    end: u64,
    id: AllocId,
}

impl Allocations {
    /// Takes note of an event; only `Alloc` and `Free` matter.
    pub fn observe(&mut self, event: &Event) {
        match event.kind {
            EventKind::Action {
                action: Action::Alloc { addr, size, id },
                ..
            } => {
                self.allocate(addr, size, id);
            }
            EventKind::Action {
                action: Action::Free { addr, .. },
                ..
            } => {
                self.live.remove(&addr.0);
            }
            _ => {}
        }
    }

    /// The place that an address is now.
    #[must_use]
    pub fn locate(&self, address: Address) -> Location {
        match self.live.range(..=address.0).next_back() {
            Some((&start, object)) if address.0 < object.end => Location::Heap {
                alloc: object.id,
                offset: address.0 - start,
            },
            _ => Location::Other(address),
        }
    }

    /// Anything that still covers the new range was freed without our seeing it.
    fn allocate(&mut self, addr: Address, size: u64, id: AllocId) {
        let end = addr.0.saturating_add(size.max(1));
        while let Some((&start, object)) = self.live.range(..end).next_back() {
            if object.end <= addr.0 {
                break;
            }
            self.live.remove(&start);
        }
        self.live.insert(addr.0, Object { end, id });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{ThreadId, Tick};

    fn show(allocations: &mut Allocations, action: Action) {
        let kind = EventKind::Action {
            pc: Address(0),
            action,
        };
        allocations.observe(&Event {
            thread: ThreadId(0),
            tick: Tick(0),
            kind,
        });
    }

    fn alloc(addr: u64, size: u64, id: u64) -> Action {
        Action::Alloc {
            addr: Address(addr),
            size,
            id: AllocId(id),
        }
    }

    #[test]
    fn a_reused_address_is_another_object() {
        let mut allocations = Allocations::default();
        let heap = |alloc, offset| Location::Heap {
            alloc: AllocId(alloc),
            offset,
        };
        show(&mut allocations, alloc(100, 16, 1));
        assert_eq!(allocations.locate(Address(108)), heap(1, 8));
        assert_eq!(
            allocations.locate(Address(116)),
            Location::Other(Address(116))
        );
        show(
            &mut allocations,
            Action::Free {
                addr: Address(100),
                size: 16,
                id: AllocId(1),
            },
        );
        assert_eq!(
            allocations.locate(Address(108)),
            Location::Other(Address(108))
        );
        show(&mut allocations, alloc(100, 16, 2));
        assert_eq!(allocations.locate(Address(108)), heap(2, 8));
    }

    #[test]
    fn an_allocation_ends_what_it_overlaps() {
        let mut allocations = Allocations::default();
        show(&mut allocations, alloc(100, 10, 1));
        show(&mut allocations, alloc(110, 10, 2));
        show(&mut allocations, alloc(120, 10, 3));
        show(&mut allocations, alloc(105, 10, 4));
        assert_eq!(
            allocations.locate(Address(101)),
            Location::Other(Address(101))
        );
        assert_eq!(
            allocations.locate(Address(118)),
            Location::Other(Address(118))
        );
        assert_eq!(allocations.locate(Address(114)).to_string(), "A4+9");
        assert_eq!(allocations.locate(Address(121)).to_string(), "A3+1");
    }
}
