//! The small numbers by which a view calls things.

/// A kept event: its position among the kept events, which stand in trace order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pos(pub u32);

/// A thread, by the order of first events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lane(pub u16);

/// A cell: bytes that every access touches all or none of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellId(pub u32);

/// A lock or another object of synchronisation, in one of its lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SyncId(pub u32);

/// A heap object, by the order of allocation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub u32);

/// A thread's hold on a lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HoldId(pub u32);

/// An interned set of locks held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocksetId(pub u32);

/// An atomic region: what a thread does while it holds its outermost lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegionId(pub u32);

macro_rules! indices {
    ($($id:ident),*) => { $(
        impl $id {
            /// As an index.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    )* };
}

indices!(
    Pos, Lane, CellId, SyncId, ObjectId, HoldId, LocksetId, RegionId
);
