//! The manner of an access: its instruction, the locks held, and what it does. Accesses of one manner
//! are mostly treated alike, so each has the manner's number.

use crate::findings::source_number;
use crate::table::Table;
use crate::view::{LocksetId, Pos, View};

/// A manner, by the order of first accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MannerId(u32);

impl MannerId {
    const NONE: Self = Self(u32::MAX);
}

/// How accesses are made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    pub(crate) source: u64,
    pub(crate) lockset: LocksetId,
    pub(crate) writes: bool,
    pub(crate) is_atomic: bool,
}

impl Manner {
    /// See [`View::conflict`].
    pub(crate) fn conflicts(&self, other: &Self) -> bool {
        (self.writes || other.writes) && !(self.is_atomic && other.is_atomic)
    }
}

/// The manners of a view's accesses.
#[derive(Debug)]
pub(crate) struct Manners {
    by_event: Vec<MannerId>,
    manners: Vec<Manner>,
}

impl Manners {
    /// Those of some events; others have none.
    pub(crate) fn new(view: &View, keep: impl Fn(Pos) -> bool) -> Self {
        let mut numbers: Table<(u64, u64), MannerId> = Table::default();
        let mut manners = Vec::new();
        let number = |pos: Pos| {
            if !keep(pos) || view.cells_of(pos).next().is_none() {
                return MannerId::NONE;
            }
            let manner = Manner {
                source: source_number(view.source(pos)),
                lockset: view.lockset_of(pos),
                writes: view.writes(pos),
                is_atomic: view.is_atomic(pos),
            };
            let flags = u64::from(manner.writes) << 1 | u64::from(manner.is_atomic);
            let key = (manner.source, u64::from(manner.lockset.0) << 2 | flags);
            *numbers.entry(key).or_insert_with(|| {
                manners.push(manner);
                MannerId(manners.len() as u32 - 1)
            })
        };
        Self {
            by_event: view.positions().map(number).collect(),
            manners,
        }
    }

    /// How an event accesses memory.
    #[inline]
    pub(crate) fn of(&self, pos: Pos) -> Option<MannerId> {
        let manner = self.by_event[pos.index()];
        (manner != MannerId::NONE).then_some(manner)
    }

    #[inline]
    pub(crate) fn get(&self, id: MannerId) -> &Manner {
        &self.manners[id.0 as usize]
    }
}

/// A number for each manner met, until forgotten all at once.
#[derive(Debug)]
pub(crate) struct MannerNumbers {
    /// A number, if the stamp is the current one.
    stamped: Vec<(u32, u32)>,
    stamp: u32,
}

impl MannerNumbers {
    pub(crate) fn new(manners: &Manners) -> Self {
        Self {
            stamped: vec![(0, 0); manners.manners.len()],
            stamp: 1,
        }
    }

    /// The number of a manner; the one given if it is new.
    #[inline]
    pub(crate) fn get_or_insert(&mut self, manner: MannerId, new: u32) -> u32 {
        let (stamp, number) = &mut self.stamped[manner.0 as usize];
        if *stamp != self.stamp {
            (*stamp, *number) = (self.stamp, new);
        }
        *number
    }

    pub(crate) fn forget(&mut self) {
        if self.stamp == u32::MAX {
            self.stamped.fill((0, 0));
            self.stamp = 0;
        }
        self.stamp += 1;
    }
}
